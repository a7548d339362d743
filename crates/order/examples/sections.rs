//! How the solver is meant to be used, at size: a made-up run of threads with locks and shared
//! variables, and for random pairs of events the question whether both can come next at once, with
//! locks kept and with relevant reads seeing the values that they saw. Clauses are added only where
//! the order that was found breaks a rule.
//!
//! `cargo run --release -p deadheat-order --example sections -- EVENTS THREADS LOCKS VARIABLES PAIRS`

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};
use std::time::{Duration, Instant};

use deadheat_order::{Limit, Lit, Model, Node, Outcome, Solver};

#[derive(Clone, Copy, PartialEq)]
enum Op {
    Acquire(usize),
    Release(usize),
    Write(usize, u32),
    Read(usize, u32, bool),
}

#[derive(Clone, Copy)]
struct Event {
    thread: usize,
    index: u32,
    op: Op,
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }
}

struct Run {
    threads: usize,
    events: Vec<Event>,
    by_thread: Vec<Vec<usize>>,
    /// Of an acquire: the release.
    release: HashMap<usize, usize>,
    writes: Vec<Vec<usize>>,
}

fn make_run(random: &mut Random, size: usize, threads: usize, locks: usize, vars: usize) -> Run {
    let mut run = Run {
        threads,
        events: Vec::new(),
        by_thread: vec![Vec::new(); threads],
        release: HashMap::new(),
        writes: vec![Vec::new(); vars],
    };
    let mut held: Vec<Vec<(usize, usize)>> = vec![Vec::new(); threads];
    let mut owner = vec![false; locks];
    let mut values = vec![0; vars];
    while run.events.len() < size {
        let thread = random.below(threads);
        let op = match random.below(100) {
            0..15 => {
                let lock = random.below(locks);
                if owner[lock] || held[thread].len() > 1 {
                    continue;
                }
                owner[lock] = true;
                held[thread].push((lock, run.events.len()));
                Op::Acquire(lock)
            }
            15..35 => {
                let Some((lock, acquire)) = held[thread].pop() else {
                    continue;
                };
                owner[lock] = false;
                run.release.insert(acquire, run.events.len());
                Op::Release(lock)
            }
            35..60 => {
                let variable = random.below(vars);
                values[variable] = random.below(4) as u32;
                run.writes[variable].push(run.events.len());
                Op::Write(variable, values[variable])
            }
            _ => {
                let variable = random.below(vars);
                Op::Read(variable, values[variable], random.below(100) < 60)
            }
        };
        let index = run.by_thread[thread].len() as u32;
        run.by_thread[thread].push(run.events.len());
        run.events.push(Event { thread, index, op });
    }
    run
}

struct Question<'a> {
    run: &'a Run,
    solver: Solver,
    point: Node,
    choices: HashMap<usize, Vec<(Option<usize>, Lit)>>,
    asked: HashSet<(usize, Option<usize>, usize)>,
    rounds: u32,
    clauses: u32,
    solving: Duration,
}

impl Question<'_> {
    fn node(&mut self, event: usize) -> Node {
        let Event { thread, index, .. } = self.run.events[event];
        let node = self.solver.node(thread as u32, index);
        self.solver.suggest_rank(node, event as u64);
        node
    }

    fn before(&mut self, x: usize, y: usize) -> Lit {
        let (x, y) = (self.node(x), self.node(y));
        self.solver.before(x, y)
    }

    fn clause(&mut self, lits: &[Lit]) {
        self.clauses += 1;
        self.solver.add_clause(lits);
    }

    fn excluded(&mut self, x: usize) -> Lit {
        let node = self.node(x);
        self.solver.before(self.point, node)
    }

    fn linear(&self, model: &Model) -> Vec<usize> {
        let cut = model.downset(self.point);
        let mut waits: HashMap<usize, Vec<(usize, u32)>> = HashMap::new();
        for (x, y) in model.edges() {
            if (y.chain() as usize) < self.run.threads && (x.chain() as usize) < self.run.threads {
                let y = self.run.by_thread[y.chain() as usize][y.index() as usize];
                waits
                    .entry(y)
                    .or_default()
                    .push((x.chain() as usize, x.index()));
            }
        }
        let mut done = vec![0u32; self.run.threads];
        let mut heap = BinaryHeap::new();
        let mut blocked: HashMap<(usize, u32), Vec<usize>> = HashMap::new();
        let first = |t: usize, done: &[u32]| {
            (done[t] < cut[t]).then(|| self.run.by_thread[t][done[t] as usize])
        };
        heap.extend((0..self.run.threads).filter_map(|t| first(t, &done).map(Reverse)));
        let mut order = Vec::new();
        while let Some(Reverse(event)) = heap.pop() {
            let missing = waits.get(&event).and_then(|list| {
                list.iter()
                    .find(|&&(thread, index)| done[thread] <= index)
                    .copied()
            });
            if let Some(missing) = missing {
                blocked.entry(missing).or_default().push(event);
                continue;
            }
            order.push(event);
            let Event { thread, index, .. } = self.run.events[event];
            done[thread] += 1;
            heap.extend(first(thread, &done).map(Reverse));
            heap.extend(
                blocked
                    .remove(&(thread, index))
                    .into_iter()
                    .flatten()
                    .map(Reverse),
            );
        }
        assert_eq!(
            order.len(),
            cut.iter().take(self.run.threads).sum::<u32>() as usize
        );
        order
    }

    /// Adds clauses for what `order` breaks; returns whether it broke anything.
    fn refine(&mut self, order: &[usize], model: &Model) -> bool {
        let before = self.clauses;
        let mut open: HashMap<usize, usize> = HashMap::new();
        let mut last: HashMap<usize, usize> = HashMap::new();
        for &event in order {
            match self.run.events[event].op {
                Op::Acquire(lock) => {
                    if let Some(&other) = open.get(&lock) {
                        self.exclude(other, event);
                    }
                    open.insert(lock, event);
                }
                Op::Release(lock) => {
                    if open
                        .get(&lock)
                        .is_some_and(|acquire| self.run.release.get(acquire) == Some(&event))
                    {
                        open.remove(&lock);
                    }
                }
                Op::Write(variable, _) => {
                    last.insert(variable, event);
                }
                Op::Read(variable, value, relevant) => {
                    let seen = last.get(&variable).copied();
                    let got = seen.map_or(0, |write| match self.run.events[write].op {
                        Op::Write(_, value) => value,
                        _ => 0,
                    });
                    if relevant && got != value {
                        self.correct(event, variable, value, seen, model);
                    }
                }
            }
        }
        self.clauses > before
    }

    fn exclude(&mut self, x: usize, y: usize) {
        let mut lits = vec![self.excluded(x), self.excluded(y)];
        if let Some(&release) = self.run.release.get(&x) {
            lits.push(self.before(release, y));
        }
        if let Some(&release) = self.run.release.get(&y) {
            lits.push(self.before(release, x));
        }
        self.clause(&lits);
    }

    fn correct(
        &mut self,
        read: usize,
        variable: usize,
        value: u32,
        seen: Option<usize>,
        model: &Model,
    ) {
        if !self.choices.contains_key(&read) {
            let mut choices = Vec::new();
            let mut some = vec![self.excluded(read)];
            let run = self.run;
            for &write in &run.writes[variable] {
                let order = self.before(write, read);
                if run.events[write].op == Op::Write(variable, value) && order != Lit::FALSE {
                    let choice = self.solver.new_variable();
                    self.clause(&[!choice, order]);
                    choices.push((Some(write), choice));
                    some.push(choice);
                }
            }
            if value == 0 {
                let choice = self.solver.new_variable();
                choices.push((None, choice));
                some.push(choice);
            }
            if let Some(observed) = run.writes[variable].iter().rfind(|&&w| w < read)
                && let Some(&(_, choice)) = choices.iter().find(|c| c.0 == Some(*observed))
            {
                self.solver.prefer(choice);
            }
            self.clause(&some);
            self.choices.insert(read, choices);
        }
        let chosen = self.choices[&read]
            .iter()
            .find(|&&(_, choice)| model.is_true(choice));
        if let (Some(&(write, choice)), Some(seen)) = (chosen, seen)
            && self.asked.insert((read, write, seen))
        {
            let later = self.before(read, seen);
            match write {
                Some(write) => {
                    let earlier = self.before(seen, write);
                    self.clause(&[!choice, earlier, later]);
                }
                None => self.clause(&[!choice, later]),
            }
        }
    }
}

fn ask(run: &Run, a: usize, b: usize, deadline: Instant) -> (&'static str, Question<'_>) {
    let mut lengths: Vec<u32> = run.by_thread.iter().map(|t| t.len() as u32).collect();
    lengths.push(1);
    let solver = Solver::new(&lengths);
    let point = solver.node(run.threads as u32, 0);
    let mut question = Question {
        run,
        solver,
        point,
        choices: HashMap::new(),
        asked: HashSet::new(),
        rounds: 0,
        clauses: 0,
        solving: Duration::ZERO,
    };
    question.solver.suggest_rank(point, a.min(b) as u64);
    for event in [a, b] {
        let node = question.node(event);
        let mut added = question.solver.add_edge(point, node);
        if node.index() > 0 {
            let previous = question.solver.node(node.chain(), node.index() - 1);
            added = added.and(question.solver.add_edge(previous, point));
        }
        if added.is_err() {
            return ("ordered", question);
        }
    }
    let limit = Limit {
        deadline: Some(deadline),
        ..Limit::default()
    };
    loop {
        question.rounds += 1;
        let start = Instant::now();
        let outcome = question.solver.solve(&[], &limit);
        question.solving += start.elapsed();
        match outcome {
            Outcome::Impossible(_) => return ("impossible", question),
            Outcome::GaveUp(_) => return ("gave up", question),
            Outcome::Solved(model) => {
                question.solver.verify(&model, &[]).expect("a solution");
                let order = question.linear(&model);
                if !question.refine(&order, &model) {
                    return ("possible", question);
                }
            }
        }
    }
}

fn main() {
    let numbers: Vec<usize> = std::env::args()
        .skip(1)
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let get = |k: usize, default| numbers.get(k).copied().unwrap_or(default);
    let (size, threads, locks, vars) = (get(0, 10_000), get(1, 8), get(2, 20), get(3, 200));
    let mut random = Random(0x9E37_79B9_7F4A_7C15 + get(5, 0) as u64);
    let run = make_run(&mut random, size, threads, locks, vars);
    let mut total: HashMap<&str, u32> = HashMap::new();
    let mut times = BTreeSet::new();
    let mut all = Duration::ZERO;
    for number in 0..get(4, 20) {
        let (a, b) = loop {
            let (a, b) = (random.below(size), random.below(size));
            if run.events[a].thread != run.events[b].thread && a.abs_diff(b) < size / 4 {
                break (a, b);
            }
        };
        let (verdict, question) = ask(&run, a, b, Instant::now() + Duration::from_secs(20));
        *total.entry(verdict).or_default() += 1;
        times.insert((question.solving, number));
        all += question.solving;
        println!(
            "{number:3} {verdict:10} {:9.2?} solving, {} rounds, {} clauses, {:?}",
            question.solving,
            question.rounds,
            question.clauses,
            question.solver.statistics()
        );
    }
    let times: Vec<Duration> = times.into_iter().map(|(time, _)| time).collect();
    println!(
        "{total:?}; solving: median {:?}, 90% {:?}, longest {:?}, all {all:?}",
        times[times.len() / 2],
        times[times.len() * 9 / 10],
        times[times.len() - 1]
    );
}
