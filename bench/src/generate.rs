//! Traces made up from a seed: valid, repeatable, of any length, for measuring detectors.
//!
//! The first thread forks the others, all run, and the first joins them. Every variable belongs to a
//! lock, and is accessed while that lock is held, or belongs to one thread. How much of it is otherwise
//! says [`Shape::careless`]: then any variable is accessed, whatever is held. Threads run in turns of
//! random length.

use deadheat_trace::{
    Addr, Event, LockId, Mode, Op, Pc, Step, Steps, SyncKind, SyncObject, Tables, Thread, ThreadId,
};

/// What a generated trace is like. Shares are per mille.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many events, at least; the locks still held are given back and the threads joined.
    pub events: u64,
    /// How many threads.
    pub threads: u32,
    /// How many locks.
    pub locks: u32,
    /// How many variables.
    pub variables: u32,
    /// How many locks a thread holds at once, at most.
    pub nesting: usize,
    /// Accesses that are made inside critical sections, of all.
    pub guarded: u32,
    /// Accesses that go to the hot variables, a tenth of all.
    pub hot: u32,
    /// Reads, of all accesses.
    pub reads: u32,
    /// Accesses to any variable, without regard to what protects it.
    pub careless: u32,
    /// Another seed, another trace.
    pub seed: u64,
}

impl Default for Shape {
    fn default() -> Self {
        Shape {
            events: 1_000_000,
            threads: 10,
            locks: 50,
            variables: 10_000,
            nesting: 3,
            guarded: 500,
            hot: 500,
            reads: 600,
            careless: 1,
            seed: 1,
        }
    }
}

/// The stream of a generated trace.
///
/// ```
/// use deadheat_bench::generate::{Generator, Shape};
/// use deadheat_trace::Steps;
///
/// let shape = Shape { events: 1000, ..Shape::default() };
/// let trace = Generator::new(shape).collect_trace()?;
/// assert!(trace.steps.len() >= 1000);
/// # Ok::<(), std::convert::Infallible>(())
/// ```
pub struct Generator {
    shape: Shape,
    tables: Tables,
    dice: Dice,
    made: u64,
    held: Vec<Vec<u32>>,
    is_held: Vec<bool>,
    phase: Phase,
    running: u32,
    turn: u32,
}

#[derive(Clone, Copy)]
enum Phase {
    Fork(u32),
    Run,
    GiveBack(u32),
    Join(u32),
    Done,
}

/// Accesses of one variable: reads and writes, careful and careless, each at a place of its own.
const PLACES: u32 = 4;
/// Places of everything that is no access: fork, join, acquire, release.
const OTHER_PLACES: u32 = 4;
const FIRST_ADDR: u64 = 0x10_0000;

impl Generator {
    /// A trace of some shape, from its beginning.
    pub fn new(shape: Shape) -> Self {
        let shape = Shape {
            threads: shape.threads.max(1),
            variables: shape.variables.max(1),
            ..shape
        };
        Generator {
            tables: tables(&shape),
            dice: Dice(shape.seed),
            made: 0,
            held: vec![Vec::new(); shape.threads as usize],
            is_held: vec![false; shape.locks as usize],
            phase: Phase::Fork(1),
            running: 0,
            turn: 0,
            shape,
        }
    }

    fn run(&mut self) -> Event {
        if self.turn == 0 {
            self.running = self.dice.below(self.shape.threads);
            self.turn = 1 + self.dice.below(30);
        }
        self.turn -= 1;
        let thread = self.running;
        let depth = self.held[thread as usize].len();
        // An access follows in three of four cases, so sections have about as many accesses as
        // lie between them if half of them are to be guarded.
        if self.dice.below(4) == 0 {
            let deeper = depth < self.shape.nesting && self.dice.per_mille(self.entering(depth));
            if deeper && let Some(event) = self.acquire(thread) {
                return event;
            }
            if depth > 0 {
                return self.release(thread);
            }
        }
        self.access(thread)
    }

    /// How often a thread takes one more lock when it could.
    fn entering(&self, depth: usize) -> u32 {
        match depth {
            0 => self.shape.guarded,
            _ => self.shape.guarded / 4,
        }
    }

    fn acquire(&mut self, thread: u32) -> Option<Event> {
        let count = self.is_held.len() as u32;
        let lock = (count > 0).then(|| self.dice.below(count))?;
        if self.is_held[lock as usize] {
            return None;
        }
        self.is_held[lock as usize] = true;
        self.held[thread as usize].push(lock);
        Some(self.lock_event(thread, Op::Acquire, lock))
    }

    fn release(&mut self, thread: u32) -> Event {
        let lock = self.held[thread as usize].pop().unwrap_or_default();
        self.is_held[lock as usize] = false;
        self.lock_event(thread, Op::Release, lock)
    }

    fn access(&mut self, thread: u32) -> Event {
        let careless = self.dice.per_mille(self.shape.careless);
        let reads = self.dice.per_mille(self.shape.reads);
        let variables = self.shape.variables;
        let range = match self.dice.per_mille(self.shape.hot) {
            true => variables.div_ceil(10),
            false => variables,
        };
        let drawn = self.dice.below(range);
        let variable = match self.held[thread as usize].last() {
            _ if careless => drawn,
            Some(lock) => owned_by(*lock, self.owners(), drawn, variables),
            None => owned_by(self.shape.locks + thread, self.owners(), drawn, variables),
        };
        let op = if reads { Op::Read } else { Op::Write };
        let place = variable * PLACES + u32::from(reads) * 2 + u32::from(careless);
        let addr = Addr(FIRST_ADDR + u64::from(variable) * 8);
        Event::access(ThreadId(thread), op, addr, 8, Pc(OTHER_PLACES + place))
    }

    fn owners(&self) -> u32 {
        self.shape.locks + self.shape.threads
    }

    fn lock_event(&self, thread: u32, op: Op, lock: u32) -> Event {
        let place = if op == Op::Acquire { 2 } else { 3 };
        Event::new(ThreadId(thread), op, u64::from(LockId(lock).0), Pc(place))
    }

    fn next_event(&mut self) -> Option<Event> {
        loop {
            match self.phase {
                Phase::Fork(child) if child < self.shape.threads => {
                    self.phase = Phase::Fork(child + 1);
                    return Some(Event::new(ThreadId(0), Op::Fork, child.into(), Pc(0)));
                }
                Phase::Fork(_) => self.phase = Phase::Run,
                Phase::Run if self.made < self.shape.events => return Some(self.run()),
                Phase::Run => self.phase = Phase::GiveBack(0),
                Phase::GiveBack(thread) if thread < self.shape.threads => {
                    if !self.held[thread as usize].is_empty() {
                        return Some(self.release(thread));
                    }
                    self.phase = Phase::GiveBack(thread + 1);
                }
                Phase::GiveBack(_) => self.phase = Phase::Join(1),
                Phase::Join(child) if child < self.shape.threads => {
                    self.phase = Phase::Join(child + 1);
                    return Some(Event::new(ThreadId(0), Op::Join, child.into(), Pc(1)));
                }
                Phase::Join(_) => self.phase = Phase::Done,
                Phase::Done => return None,
            }
        }
    }
}

impl Iterator for Generator {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let event = self.next_event()?;
        self.made += 1;
        Some(Step::new(event))
    }
}

impl Steps for Generator {
    type Error = std::convert::Infallible;

    fn next_step(&mut self) -> Result<Option<Step>, Self::Error> {
        Ok(self.next())
    }

    fn tables(&self) -> &Tables {
        &self.tables
    }

    fn mode(&self) -> Mode {
        Mode::Serial
    }
}

/// The variable of an owner that is nearest to a drawn one; owners take turns.
fn owned_by(owner: u32, owners: u32, drawn: u32, variables: u32) -> u32 {
    let variable = drawn - drawn % owners + owner;
    if variable < variables {
        variable
    } else {
        owner % variables
    }
}

fn tables(shape: &Shape) -> Tables {
    let child = Thread {
        parent: Some(ThreadId(0)),
        ..Thread::default()
    };
    let mut threads = vec![child; shape.threads as usize];
    threads[0].parent = None;
    let lock = SyncObject {
        kind: SyncKind::Lock,
        addr: Addr(0),
        name: None,
    };
    let places = OTHER_PLACES + shape.variables * PLACES;
    Tables {
        threads,
        syncs: vec![lock; shape.locks as usize],
        locations: (0..places).map(|place| place.to_string()).collect(),
        ..Tables::default()
    }
}

/// Numbers that follow from a seed: splitmix64 (Steele, Lea and Flood, OOPSLA 2014).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    fn below(&mut self, limit: u32) -> u32 {
        (((self.next() >> 32) * u64::from(limit)) >> 32) as u32
    }

    fn per_mille(&mut self, share: u32) -> bool {
        self.below(1000) < share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_trace::{text, verify};

    fn small() -> Shape {
        Shape {
            events: 20_000,
            threads: 5,
            locks: 7,
            variables: 100,
            careless: 20,
            ..Shape::default()
        }
    }

    #[test]
    fn a_generated_trace_is_valid_and_the_same_again() {
        let trace = Generator::new(small()).collect_trace().unwrap();
        let report = verify::verify(&mut trace.stream()).unwrap();
        assert!(report.violations.is_empty(), "{:?}", report.violations);
        assert_eq!(trace, Generator::new(small()).collect_trace().unwrap());
        let other = Shape { seed: 2, ..small() };
        assert_ne!(trace, Generator::new(other).collect_trace().unwrap());
    }

    #[test]
    fn std_says_all_of_it() {
        let mut out = Vec::new();
        let written = text::write(&mut Generator::new(small()), &mut out, text::Flavor::Std);
        assert!(written.unwrap().dropped.is_empty());
        let again = text::parse_std(std::str::from_utf8(&out).unwrap()).unwrap();
        assert_eq!(again.steps.len(), Generator::new(small()).count());
    }

    #[test]
    fn nothing_to_lock_or_share() {
        for (threads, locks, variables) in [(1, 0, 1), (3, 0, 1), (2, 1, 1)] {
            let shape = Shape {
                threads,
                locks,
                variables,
                ..small()
            };
            let trace = Generator::new(shape).collect_trace().unwrap();
            let report = verify::verify(&mut trace.stream()).unwrap();
            assert!(report.violations.is_empty());
        }
    }
}
