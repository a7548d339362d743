//! From numbers to names: functions and lines of places, variables of addresses, locks, threads.

use std::path::{Path, PathBuf};

use deadheat_trace::{Addr, Pc, SyncId, Tables};

use crate::binaries::Binaries;
use crate::finding::Frame;

/// What the numbers of a trace, or of a running program, stand for.
pub struct Names {
    binaries: Binaries,
    here: Option<PathBuf>,
}

impl Names {
    /// For a trace or program with these tables.
    pub fn of(tables: &Tables) -> Self {
        Names {
            binaries: Binaries::of(tables),
            here: std::env::current_dir().ok(),
        }
    }

    /// What the user should know of the program's files.
    pub fn remarks(&self) -> Vec<String> {
        self.binaries.remarks()
    }

    /// The functions at a place of a trace, innermost first; one frame at least.
    pub fn frames(&self, pc: Pc, tables: &Tables) -> Vec<Frame> {
        if let Some(text) = tables.locations.get(pc.index()) {
            return vec![text_frame(text)];
        }
        let frames = self.binaries.frames(pc);
        if frames.is_empty() {
            return vec![self.unknown(tables.location(pc))];
        }
        let module = tables.module_of(pc).map(|(module, _)| &module.path);
        self.shown(&frames, module.map(|path| file_name(path)))
    }

    /// The functions at an address of the running program that a call returns to.
    pub fn frames_at(&self, address: u64) -> Vec<Frame> {
        let found = self.binaries.find_address(address);
        let frames = found.map_or_else(Vec::new, |(binary, address)| {
            binary.frames(address.saturating_sub(1))
        });
        match frames.is_empty() {
            true => vec![self.unknown(format!("{address:#x}"))],
            false => {
                let module = found.map(|(binary, _)| file_name(binary.path()));
                self.shown(&frames, module)
            }
        }
    }

    fn unknown(&self, place: String) -> Frame {
        Frame {
            module: Some(place),
            ..Frame::default()
        }
    }

    fn shown(&self, frames: &[deadheat_code::Frame], module: Option<String>) -> Vec<Frame> {
        let frame = |frame: &deadheat_code::Frame| Frame {
            function: frame.function.as_deref().map(str::to_owned),
            file: frame
                .file
                .as_deref()
                .map(|file| seen_from(self.here.as_deref(), file)),
            line: frame.line,
            column: frame.column,
            module: module.clone(),
            inlined: frame.inlined,
            foreign: is_foreign(frame),
        };
        let theirs = frames.iter().filter(|frame| !is_scaffold(frame));
        theirs.map(frame).collect()
    }

    /// The variable at an address: its name with the part of it, its own name, how far in, and where
    /// it is declared.
    pub fn variable(&self, addr: Addr) -> Option<Global> {
        let found = self.binaries.variable(addr)?;
        let declared = found.declared;
        Some(Global {
            shown: format!("{}{}", found.name, found.part),
            name: found.name,
            offset: found.offset,
            declared: declared
                .map(|(file, line)| format!("{}:{line}", seen_from(self.here.as_deref(), &file))),
        })
    }

    /// The name of a lock or other object: the variable that it is, or a letter and its number.
    pub fn lock(&self, id: SyncId, tables: &Tables) -> String {
        let addr = tables
            .syncs
            .get(id.index())
            .map_or(Addr(0), |sync| sync.addr);
        match self.variable(addr) {
            Some(variable) => variable.shown,
            None => tables.sync_name(id),
        }
    }
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// A source file's path, as seen from a folder, without the detours (`build/../src`) that build systems make.
pub fn seen_from(here: Option<&Path>, file: &str) -> String {
    let direct = file.contains("/../").then(|| without_detours(file));
    let file = direct.as_deref().unwrap_or(file);
    let here = here.and_then(|here| here.to_str());
    let inside = here.and_then(|here| file.strip_prefix(here)?.strip_prefix('/'));
    inside.unwrap_or(file).to_owned()
}

fn without_detours(file: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in file.split('/') {
        match (part, parts.last()) {
            ("..", Some(before)) if !["", ".", ".."].contains(before) => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// A global variable that an address lies in.
pub struct Global {
    /// The name with the part that the address lies in.
    pub shown: String,
    /// The name of the whole.
    pub name: String,
    /// How far in.
    pub offset: u64,
    /// `file:line`.
    pub declared: Option<String>,
}

/// Where the runtime's source is, as the debug information has it.
const RUNTIME: &str = "deadheat/crates/runtime/";

/// Whether a function stands below every thread and tells nothing.
fn is_scaffold(frame: &deadheat_code::Frame) -> bool {
    let file = frame.file.as_deref().unwrap_or_default();
    file.starts_with(RUNTIME) || frame.function.as_deref() == Some("__libc_start_call_main")
}

/// Whether a function's source came with the compiler, or with Deadheat.
pub fn is_foreign(frame: &deadheat_code::Frame) -> bool {
    is_foreign_file(frame.file.as_deref().unwrap_or_default())
}

/// Whether a source file came with the compiler, or with Deadheat.
pub fn is_foreign_file(file: &str) -> bool {
    let theirs = ["/rustc/", "/usr/include/", "/usr/lib/"];
    let is_theirs = theirs.iter().any(|folder| file.starts_with(folder));
    is_theirs || file.contains("/rustlib/src/") || file.starts_with(RUNTIME) || is_stand_in(file)
}

/// Whether it stands in for a function of Rust's standard library. Where it was compiled is put before its path.
fn is_stand_in(file: &str) -> bool {
    const FOLDER: &str = "deadheat/stdsync/";
    let at = file.find(FOLDER);
    at.is_some_and(|at| at == 0 || file[..at].ends_with('/'))
}

/// A location of a text trace: `file:line:column`, `file:line`, a number, or anything.
fn text_frame(text: &str) -> Frame {
    let numbered = |text: &str| {
        let (before, number) = text.rsplit_once(':')?;
        Some((before.to_owned(), number.parse::<u32>().ok()?))
    };
    let (file, line, column) = match numbered(text) {
        None => (text.to_owned(), None, None),
        Some((before, number)) => match numbered(&before) {
            Some((file, line)) => (file, Some(line), Some(number)),
            None => (before, Some(number), None),
        },
    };
    Frame {
        file: Some(file),
        line,
        column,
        ..Frame::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_seen_from_where_the_user_is() {
        let seen = |file: &str| seen_from(Some(Path::new("/home/p")), file);
        assert_eq!(seen("/home/p/src/a.c"), "src/a.c");
        assert_eq!(seen("/home/p/build/../src/a.c"), "src/a.c");
        assert_eq!(seen("/home/p/a/b/../../../q/a.c"), "/home/q/a.c");
        assert_eq!(seen("/usr/include/a.h"), "/usr/include/a.h");
        assert_eq!(seen("../src/a.c"), "../src/a.c");
        assert_eq!(seen("/../a.c"), "/../a.c");
        assert_eq!(seen("x/../../a.c"), "../a.c");
    }
}
