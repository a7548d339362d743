//! The formula of section 3.2 of Huang, Meredith and Rosu (PLDI 2014) as SMT-LIB. For windows of the paper's events.
//!
//! All events of the window get a place in an order, `a` and `b` of the race the same. Where an acquisition has no
//! release in the window, its section lasts to the end.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use deadheat_predict::{Cut, Window};
use deadheat_trace::{Op, Step};

/// The formula as SMT-LIB.
pub fn smt_lib(window: &Window, cut: &Cut) -> String {
    Formula::new(window, cut.next[0] as usize, cut.next[1] as usize).text()
}

struct Formula<'w> {
    window: &'w Window,
    a: usize,
    b: usize,
    /// The event of the same thread before, and all others that must happen before it directly.
    just_before: Vec<Vec<usize>>,
    out: String,
}

impl<'w> Formula<'w> {
    fn new(window: &'w Window, a: usize, b: usize) -> Self {
        let (just_before, out) = (must_happen_before(&window.steps), String::new());
        Formula {
            window,
            a,
            b,
            just_before,
            out,
        }
    }

    fn text(mut self) -> String {
        self.out.push_str("(set-logic QF_IDL)\n");
        for (at, step) in self.window.steps.iter().enumerate() {
            if at != self.b {
                let _ = writeln!(self.out, "(declare-const o{at} Int)");
            }
            if matches!(step.event.op(), Op::Read | Op::Write | Op::Branch) {
                let _ = writeln!(self.out, "(declare-const f{at} Bool)");
            }
        }
        self.order();
        self.locks();
        self.feasible();
        for event in [self.a, self.b] {
            for branch in self.last_branches(event) {
                let _ = writeln!(self.out, "(assert f{branch})");
            }
        }
        self.out.push_str("(check-sat)\n");
        self.out
    }

    fn o(&self, at: usize) -> String {
        format!("o{}", if at == self.b { self.a } else { at })
    }

    fn less(&self, first: usize, second: usize) -> String {
        format!("(< {} {})", self.o(first), self.o(second))
    }

    /// Must happen-before.
    fn order(&mut self) {
        for at in 0..self.window.steps.len() {
            for &before in &self.just_before[at] {
                let _ = writeln!(self.out, "(assert {})", self.less(before, at));
            }
        }
    }

    /// Sections of the same lock do not overlap.
    fn locks(&mut self) {
        let mut sections: BTreeMap<u32, Vec<(usize, Option<usize>)>> = BTreeMap::new();
        let mut open: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for (at, step) in self.window.steps.iter().enumerate() {
            let key = (step.event.thread().0, step.event.lock().0);
            match step.event.op() {
                Op::Acquire => {
                    open.insert(key, at);
                }
                Op::Release => {
                    let acquire = open.remove(&key).expect("the paper's locks are balanced");
                    sections.entry(key.1).or_default().push((acquire, Some(at)));
                }
                _ => {}
            }
        }
        for ((_, lock), acquire) in open {
            sections.entry(lock).or_default().push((acquire, None));
        }
        for sections in sections.values() {
            for (i, one) in sections.iter().enumerate() {
                for other in &sections[..i] {
                    let ways = [(one, other), (other, one)].map(|(first, second)| {
                        let release = first.1;
                        release.map_or("false".into(), |release| self.less(release, second.0))
                    });
                    let _ = writeln!(self.out, "(assert (or {} {}))", ways[0], ways[1]);
                }
            }
        }
    }

    /// What it takes for reads, writes and branches to be as they were.
    fn feasible(&mut self) {
        let steps = &self.window.steps;
        for (at, step) in steps.iter().enumerate() {
            let needs = match step.event.op() {
                Op::Read => self.reads_the_same(at, step),
                Op::Write | Op::Branch => {
                    let own = steps[..at].iter().enumerate();
                    let own = own.filter(|(_, earlier)| {
                        earlier.event.op() == Op::Read
                            && earlier.event.thread() == step.event.thread()
                    });
                    let reads = own.map(|(read, _)| format!(" f{read}"));
                    format!("(and true{})", reads.collect::<String>())
                }
                _ => continue,
            };
            let _ = writeln!(self.out, "(assert (=> f{at} {needs}))");
        }
    }

    fn reads_the_same(&self, read: usize, step: &Step) -> String {
        let steps = self.window.steps.iter().enumerate();
        let target = step.event.target();
        let writes = steps
            .filter(|(_, other)| other.event.op() == Op::Write && other.event.target() == target);
        let writes: Vec<(usize, &Step)> = writes.collect();
        let mut ways = String::from("(or false");
        for &(write, its) in &writes {
            if its.written() != step.read() {
                continue;
            }
            let _ = write!(ways, " (and f{write} {}", self.less(write, read));
            for &(other, _) in writes.iter().filter(|&&(other, _)| other != write) {
                let (before, after) = (self.less(other, write), self.less(read, other));
                let _ = write!(ways, " (or {before} {after})");
            }
            ways.push(')');
        }
        let word = self.window.border.memory.get(&(target / 8));
        if step.read() == Some(word.map_or(0, |word| word.bytes)) {
            ways.push_str(" (and true");
            for &(other, _) in &writes {
                let _ = write!(ways, " {}", self.less(read, other));
            }
            ways.push(')');
        }
        ways.push(')');
        ways
    }

    /// The last branch of each thread that must happen before an event.
    fn last_branches(&self, event: usize) -> Vec<usize> {
        let mut before = BTreeSet::new();
        let mut open = vec![event];
        while let Some(at) = open.pop() {
            let new = self.just_before[at].iter();
            open.extend(new.filter(|&&earlier| before.insert(earlier)));
        }
        let mut last = BTreeMap::new();
        for at in before {
            let event = self.window.steps[at].event;
            if event.op() == Op::Branch {
                last.insert(event.thread(), at);
            }
        }
        last.into_values().collect()
    }
}

/// For each event those that must happen before it, directly: the one before in its thread, a fork, an end.
fn must_happen_before(steps: &[Step]) -> Vec<Vec<usize>> {
    let mut just_before = vec![Vec::new(); steps.len()];
    let mut last = BTreeMap::new();
    let mut forks = BTreeMap::new();
    for (at, step) in steps.iter().enumerate() {
        let thread = step.event.thread();
        just_before[at].extend(last.insert(thread, at).or(forks.remove(&thread)));
        match step.event.op() {
            Op::Fork => {
                forks.insert(step.event.peer(), at);
            }
            Op::Join => just_before[at].extend(last.get(&step.event.peer()).copied()),
            _ => {}
        }
    }
    just_before
}
