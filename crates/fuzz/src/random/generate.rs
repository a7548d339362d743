//! Programs from seeds: a few scenarios that share threads and variables, most of them right but for one
//! omission.

use super::program::{
    Act, Arithmetic, LOCALS, Language, MutexKind, Node, Order, Program, Style, Value, Var,
};
use super::rng::Rng;
use super::valid::is_valid;

/// The order of seeds and programs changes with this number.
pub const VERSION: u64 = 2;

/// A program that is being made.
pub(crate) struct Builder {
    pub(crate) rng: Rng,
    pub(crate) program: Program,
    /// What each thread does between its creation and its end; main's is between creations and joins.
    pub(crate) work: Vec<Vec<Node>>,
    /// What main does when all have been joined.
    pub(crate) after: Vec<Node>,
}

impl Builder {
    pub(crate) fn language(&self) -> Language {
        self.program.language
    }

    /// A new plain variable, or one that is there.
    pub(crate) fn plain(&mut self) -> Var {
        if self.program.plain > 1 && self.rng.percent(25) {
            return Var::Plain(self.rng.below(self.program.plain));
        }
        self.program.plain += 1;
        Var::Plain(self.program.plain - 1)
    }

    pub(crate) fn atomic(&mut self) -> usize {
        if !self.program.atomics.is_empty() && self.rng.percent(30) {
            return self.rng.below(self.program.atomics.len());
        }
        self.new_atomic()
    }

    pub(crate) fn new_atomic(&mut self) -> usize {
        let width = self.rng.pick(&[4, 4, 4, 1, 2, 8]).copied().unwrap_or(4);
        self.program.atomics.push(width);
        self.program.atomics.len() - 1
    }

    /// A read-modify-write that makes 1 of 0 and 2 of 1, or something else.
    pub(crate) fn fetch(&mut self, atomic: usize) -> Act {
        let how = [
            Arithmetic::Sub,
            Arithmetic::Or,
            Arithmetic::And,
            Arithmetic::Xor,
        ];
        let how = self
            .rng
            .pick(&how)
            .copied()
            .filter(|_| self.rng.percent(30));
        Act::Fetch {
            local: self.local(),
            atomic,
            how: how.unwrap_or(Arithmetic::Add),
            by: 1,
            order: self.any_order(),
        }
    }

    pub(crate) fn mutex(&mut self) -> usize {
        if !self.program.mutexes.is_empty() && self.rng.percent(30) {
            return self.rng.below(self.program.mutexes.len());
        }
        let kinds: &[MutexKind] = match self.language() {
            Language::C => &[
                MutexKind::Normal,
                MutexKind::Normal,
                MutexKind::Normal,
                MutexKind::Recursive,
                MutexKind::Checked,
                MutexKind::Spin,
                MutexKind::Timed,
            ],
            Language::Cpp => &[
                MutexKind::Normal,
                MutexKind::Normal,
                MutexKind::Recursive,
                MutexKind::Timed,
            ],
            Language::Rust => &[MutexKind::Normal],
        };
        let kind = self.rng.pick(kinds).copied().unwrap_or(MutexKind::Normal);
        self.program.mutexes.push(kind);
        self.program.mutexes.len() - 1
    }

    /// A mutex that a condition can wait with.
    pub(crate) fn plain_mutex(&mut self) -> usize {
        self.program.mutexes.push(MutexKind::Normal);
        self.program.mutexes.len() - 1
    }

    pub(crate) fn local(&mut self) -> usize {
        self.rng.below(LOCALS)
    }

    pub(crate) fn order(&mut self, from: &[Order]) -> Order {
        self.rng.pick(from).copied().unwrap_or(Order::SeqCst)
    }

    pub(crate) fn store_order(&mut self) -> Order {
        self.order(&[
            Order::Relaxed,
            Order::Release,
            Order::Release,
            Order::SeqCst,
        ])
    }

    pub(crate) fn load_order(&mut self) -> Order {
        self.order(&[
            Order::Relaxed,
            Order::Acquire,
            Order::Acquire,
            Order::SeqCst,
        ])
    }

    pub(crate) fn any_order(&mut self) -> Order {
        self.order(&[
            Order::Relaxed,
            Order::Acquire,
            Order::Release,
            Order::AcqRel,
            Order::SeqCst,
        ])
    }

    /// An order for a compare-and-exchange that fails: C wants none that is stronger than the other.
    pub(crate) fn failure_order(&mut self, success: Order) -> Order {
        match self.load_order() {
            order if self.language() != Language::C || success == Order::SeqCst => order,
            Order::Acquire | Order::SeqCst if success.acquires() => Order::Acquire,
            _ => Order::Relaxed,
        }
    }

    /// At least `least` threads, in any order; main may be among them.
    pub(crate) fn participants(&mut self, least: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.work.len()).collect();
        for i in (1..all.len()).rev() {
            let j = self.rng.below(i + 1);
            all.swap(i, j);
        }
        let many = least.max(1 + self.rng.below(all.len()));
        all.truncate(many.min(3));
        all
    }

    pub(crate) fn put(&mut self, thread: usize, acts: Vec<Act>) {
        if let Some(work) = self.work.get_mut(thread) {
            work.extend(acts.into_iter().map(Node::from));
        }
    }

    /// One or two accesses of a variable.
    pub(crate) fn accesses(&mut self, var: Var) -> Vec<Act> {
        let local = self.local();
        let number = 1 + i16::try_from(self.rng.below(3)).unwrap_or(0);
        match self.rng.below(6) {
            0 => vec![Act::Add { var, by: number }],
            1 => vec![
                Act::Read { local, var },
                Act::Write {
                    var,
                    value: Value::Local(local, 1),
                },
            ],
            2 | 3 => vec![Act::Read { local, var }],
            _ => vec![Act::Write {
                var,
                value: Value::Const(number),
            }],
        }
    }
}

/// The program that a seed names, whatever it takes to know its truth.
#[must_use]
pub fn generate(seed: u64, language: Language) -> Program {
    let mut attempt = 0_u64;
    loop {
        let salt = VERSION.wrapping_mul(0x1_0000).wrapping_add(attempt);
        let mut rng =
            Rng::new(seed ^ salt.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ (language as u64) << 60);
        rng.number();
        let mut program = build(rng, seed, language);
        program.number();
        if (is_valid(&program) && program.size() >= 4) || attempt > 1000 {
            return program;
        }
        attempt += 1;
    }
}

fn build(rng: Rng, seed: u64, language: Language) -> Program {
    let mut b = Builder {
        rng,
        program: Program::empty(seed, language),
        work: Vec::new(),
        after: Vec::new(),
    };
    if language == Language::C && b.rng.percent(25) {
        b.program.style = Style::C11;
    }
    let workers = [1, 2, 2, 2, 2, 3, 3]
        .get(b.rng.below(7))
        .copied()
        .unwrap_or(2);
    b.work = vec![Vec::new(); workers + 1];
    let scenarios = 1 + b.rng.below(2) + usize::from(b.rng.percent(20));
    for _ in 0..scenarios {
        super::scenarios::add(&mut b);
    }
    frame(&mut b);
    for _ in 0..3 {
        if b.rng.percent(15) {
            mutate(&mut b);
        }
    }
    b.program
}

/// Puts the threads together: who creates and joins whom, what main prints, how it ends.
fn frame(b: &mut Builder) {
    let workers = b.work.len() - 1;
    let mut threads: Vec<Vec<Node>> = std::mem::take(&mut b.work);
    let nested = (workers > 1 && b.rng.percent(15)).then_some(workers);
    let mut main: Vec<Node> = Vec::new();
    let mut own = threads.first().cloned().unwrap_or_default();
    for child in 1..=workers {
        if Some(child) == nested {
            continue;
        }
        main.push(Act::Create { thread: child }.into());
        if !own.is_empty() && b.rng.percent(15) {
            let early = b.rng.below(own.len() + 1);
            let rest = own.split_off(early);
            main.append(&mut own);
            own = rest;
        }
    }
    main.append(&mut own);
    if let Some(child) = nested
        && let Some(parent) = threads.get_mut(1)
    {
        let at = b.rng.below(parent.len() + 1);
        parent.insert(at, Act::Create { thread: child }.into());
        let end = if b.rng.percent(85) {
            Act::Join { thread: child }
        } else {
            Act::Detach { thread: child }
        };
        parent.push(end.into());
    }
    let careless = b.rng.percent(12);
    for child in 1..=workers {
        if Some(child) == nested {
            continue;
        }
        if !careless {
            main.push(Act::Join { thread: child }.into());
        } else if b.language() == Language::Cpp || b.rng.percent(50) {
            main.push(Act::Detach { thread: child }.into());
        }
    }
    main.append(&mut b.after);
    let plain = (0..b.program.plain).map(Var::Plain);
    let atomic = (0..b.program.atomics.len()).map(Var::Atomic);
    let (at, width) = (0, 4);
    let parts = (0..b.program.areas).map(|area| Var::Part { area, at, width });
    for var in plain.chain(atomic).chain(parts) {
        if b.rng.percent(60) {
            main.push(Act::Print { var }.into());
        }
    }
    if b.rng.percent(6) {
        main.push(match b.rng.below(3) {
            0 if b.language() == Language::C => Act::Leave.into(),
            1 if b.language() != Language::Rust => Act::Exit { flush: false }.into(),
            _ => Act::Exit { flush: true }.into(),
        });
    }
    if b.rng.percent(3) && workers > 0 {
        let at = 1 + b.rng.below(workers);
        if let Some(worker) = threads.get_mut(at) {
            worker.push(Act::Exit { flush: true }.into());
        }
    }
    if let Some(first) = threads.first_mut() {
        *first = main;
    }
    b.program.threads = threads;
}

/// Takes a statement away, or swaps two, if the program still means something.
fn mutate(b: &mut Builder) {
    let mut changed = b.program.clone();
    let thread = b.rng.below(changed.threads.len());
    let Some(body) = changed.threads.get_mut(thread) else {
        return;
    };
    if body.len() < 2 {
        return;
    }
    let at = b.rng.below(body.len() - 1);
    if b.rng.percent(50) {
        body.swap(at, at + 1);
    } else {
        body.remove(at);
    }
    if is_valid(&changed) {
        b.program = changed;
    }
}

#[cfg(test)]
mod tests {
    use super::super::known::know;
    use super::*;

    #[test]
    fn seeds_name_programs_that_mean_something() {
        for language in Language::ALL {
            for seed in 0..200 {
                let program = generate(seed, language);
                assert!(is_valid(&program), "{language} {seed}: {program:#?}");
                assert_eq!(program, generate(seed, language));
            }
        }
    }

    #[test]
    fn most_programs_are_small_enough() {
        let known = (0..60)
            .filter(|seed| know(generate(*seed, Language::C), 20_000).is_some())
            .count();
        assert!(known > 30, "{known} of 60");
    }
}
