//! Programs as source: many in one file, each statement on a line of its own, chosen by the first argument.

mod c;
mod cpp;
mod rust;
mod shared;
mod style;

use super::program::{Act, Language, Node, Program};
use std::collections::BTreeMap;

/// Source text that knows its lines.
#[derive(Debug, Default)]
pub struct Text {
    /// What was written.
    pub out: String,
    line: u32,
}

impl Text {
    fn put(&mut self, indent: usize, line: &str) -> u32 {
        self.line += 1;
        for _ in 0..indent {
            self.out.push_str("    ");
        }
        self.out.push_str(line);
        self.out.push('\n');
        self.line
    }
}

/// A file of programs.
#[derive(Debug)]
pub struct Batch {
    /// Its text.
    pub text: String,
    /// For each program the lines of its statements.
    pub lines: Vec<BTreeMap<u32, u32>>,
}

/// How a language writes it.
trait Writer {
    /// What stands before all programs.
    fn prelude(&self) -> Vec<String>;
    /// The variables and objects of a program, and declarations of its functions.
    fn globals(&self, n: usize, program: &Program) -> Vec<String>;
    /// The first lines of what is done once.
    fn open_once(&self, n: usize, once: usize) -> String;
    /// The first lines of a thread.
    fn open_thread(&self, n: usize, program: &Program, thread: usize) -> Vec<String>;
    /// The last lines of a thread, without the brace.
    fn close_thread(&self, program: &Program, thread: usize) -> Vec<String>;
    /// A statement without a body.
    fn leaf(&self, n: usize, program: &Program, act: &Act) -> String;
    /// The line that opens a statement's body.
    fn open(&self, n: usize, program: &Program, act: &Act) -> String;
    /// The function that chooses among so many programs.
    fn main(&self, many: usize) -> Vec<String>;
}

/// A file of these programs, which are all of one language.
#[must_use]
pub fn render(programs: &[&Program]) -> Batch {
    let language = programs.first().map_or(Language::C, |p| p.language);
    let writer: &dyn Writer = match language {
        Language::C => &c::C,
        Language::Cpp => &cpp::Cpp,
        Language::Rust => &rust::Rust,
    };
    let mut text = Text::default();
    let mut lines = Vec::new();
    for line in writer.prelude() {
        text.put(0, &line);
    }
    for (n, program) in programs.iter().enumerate() {
        lines.push(one(writer, &mut text, n, program));
    }
    for line in writer.main(programs.len()) {
        text.put(0, &line);
    }
    Batch {
        text: text.out,
        lines,
    }
}

fn one(writer: &dyn Writer, text: &mut Text, n: usize, program: &Program) -> BTreeMap<u32, u32> {
    let mut lines = BTreeMap::new();
    text.put(0, "");
    text.put(0, &format!("// Program {n}, seed {}", program.seed));
    for line in writer.globals(n, program) {
        text.put(0, &line);
    }
    for (once, body) in program.onces.iter().enumerate() {
        text.put(0, &writer.open_once(n, once));
        block(writer, text, n, program, body, 1, &mut lines);
        text.put(0, "}");
    }
    for thread in (0..program.threads.len()).rev() {
        for (at, line) in writer.open_thread(n, program, thread).iter().enumerate() {
            text.put(usize::from(at > 0), line);
        }
        if let Some(body) = program.threads.get(thread) {
            block(writer, text, n, program, body, 1, &mut lines);
        }
        for line in writer.close_thread(program, thread) {
            text.put(1, &line);
        }
        text.put(0, "}");
    }
    lines
}

fn block(
    writer: &dyn Writer,
    text: &mut Text,
    n: usize,
    program: &Program,
    nodes: &[Node],
    indent: usize,
    lines: &mut BTreeMap<u32, u32>,
) {
    for node in nodes {
        if let Act::Await {
            condition, mutex, ..
        } = &node.act
        {
            lines.insert(
                node.id,
                text.put(indent, &writer.open(n, program, &node.act)),
            );
            let wait = Act::Wait {
                condition: *condition,
                mutex: *mutex,
            };
            lines.insert(
                node.id + 1,
                text.put(indent + 1, &writer.leaf(n, program, &wait)),
            );
            text.put(indent, "}");
        } else if let Some(body) = node.act.body() {
            lines.insert(
                node.id,
                text.put(indent, &writer.open(n, program, &node.act)),
            );
            block(writer, text, n, program, body, indent + 1, lines);
            text.put(indent, "}");
        } else {
            lines.insert(
                node.id,
                text.put(indent, &writer.leaf(n, program, &node.act)),
            );
        }
    }
}

/// The name of a local variable.
fn local(n: usize) -> String {
    if n + 1 == super::program::LOCALS {
        "tls".to_owned()
    } else {
        format!("l{n}")
    }
}
