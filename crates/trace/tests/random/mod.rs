//! Random traces for property tests: well-typed, not necessarily well-formed.
//!
//! Every operation with everything it can carry, names that need quoting or clash, threads and
//! objects that no event mentions. Nothing that an event cannot mean: a value that its size
//! cannot hold, a read with a written value.

use deadheat_trace::{
    Addr, Event, Mode, Op, Order, Pc, Step, SyncKind, SyncObject, Tables, Thread, ThreadId, Trace,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

const KINDS: [SyncKind; 6] = [
    SyncKind::Lock,
    SyncKind::Condition,
    SyncKind::Barrier,
    SyncKind::Semaphore,
    SyncKind::Channel,
    SyncKind::Futex,
];
const NAMES: [&str; 18] = [
    "worker",
    "T0",
    "T1",
    "T2",
    "T01",
    "L0",
    "L1",
    "C1",
    "a b",
    "x|y",
    "#c",
    "",
    "a=b",
    "0x12",
    "ns::m",
    "ä\n\t\"\\",
    "L1_2",
    "T1_2",
];
const LOCATIONS: [&str; 8] = [
    "-",
    "0",
    "-7",
    "2147483647",
    "main.c:7",
    "my file.c:7:9",
    "\"odd\".c:1",
    "libc.so.6+0x1f",
];
/// Sizes of variables' cells, as powers of two.
const CLASSES: [u32; 4] = [3, 3, 4, 7];

/// What a step is made of before it is known what there is to point to.
#[derive(Clone, Debug)]
struct Draft {
    op: Op,
    thread: usize,
    target: u64,
    place: Place,
    size: u64,
    order: u8,
    read: Option<u64>,
    written: Option<u64>,
    pc: usize,
}

#[derive(Clone, Debug)]
enum Place {
    Program(u64),
    Variable(usize, u64),
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![
        (0u64..1 << 46).prop_map(Place::Program),
        (0usize..8, 0u64..128).prop_map(|(variable, offset)| Place::Variable(variable, offset)),
    ]
}

fn draft() -> impl Strategy<Value = Draft> {
    let value = || option::of(prop_oneof![0u64..20, any::<u64>()]);
    let size = prop_oneof![Just(8u64), 1u64..=16, 1u64..=65535];
    (
        (select(&Op::ALL[..]), 0usize..8, any::<u64>(), place()),
        (size, 0u8..6, value(), value(), 0usize..8),
    )
        .prop_map(
            |((op, thread, target, place), (size, order, read, written, pc))| Draft {
                op,
                thread,
                target,
                place,
                size,
                order,
                read,
                written,
                pc,
            },
        )
}

fn tables() -> impl Strategy<Value = Tables> {
    let name = || option::of(select(&NAMES[..]).prop_map(str::to_owned));
    let thread = (name(), option::of(0u32..6), option::of(0u32..8));
    let sync = (select(&KINDS[..]), name(), option::of(1u64..1 << 47));
    let locations = Just(LOCATIONS.map(str::to_owned).to_vec()).prop_shuffle();
    let notes = vec(select(&NAMES[..]).prop_map(str::to_owned), 0..3);
    (
        vec(thread, 1..6),
        vec(sync, 1..6),
        1usize..8,
        locations,
        notes,
    )
        .prop_map(|(threads, syncs, variables, locations, notes)| {
            let count = threads.len() as u32;
            let threads = threads.into_iter().map(|(name, parent, at)| Thread {
                name,
                parent: parent.filter(|id| *id < count).map(ThreadId),
                created_at: at.map(Pc),
            });
            let syncs = syncs.into_iter().map(|(kind, name, addr)| SyncObject {
                kind,
                addr: Addr(addr.unwrap_or(0)),
                name,
            });
            Tables {
                threads: threads.collect(),
                syncs: syncs.collect(),
                variables: (0..variables)
                    .map(|i| (Addr(cell(i).0), NAMES[i].to_owned()))
                    .collect(),
                locations,
                notes,
                ..Tables::default()
            }
        })
}

/// The cell of the `i`-th variable, its address and size: per size, the cells lie side by side.
fn cell(i: usize) -> (u64, u64) {
    let class = CLASSES[i % CLASSES.len()];
    let before = (0..i).filter(|j| CLASSES[j % CLASSES.len()] == class);
    let index = before.count() as u64;
    let base = (1 << 47) + (u64::from(class) << 41) + (index << class);
    (base, 1 << class)
}

impl Draft {
    fn step(&self, tables: &Tables) -> Step {
        let pick = |len: usize| self.target as usize % len;
        let thread = ThreadId((self.thread % tables.threads.len()) as u32);
        let pc = Pc((self.pc % tables.locations.len()) as u32);
        let order = Order::from_number(self.order);
        let (addr, room) = match self.place {
            Place::Program(addr) => (addr, u64::MAX),
            Place::Variable(i, offset) => {
                let (base, size) = cell(i % tables.variables.len());
                (base + offset % size, size - offset % size)
            }
        };
        let op = self.op;
        let event = |target| Event::new(thread, op, target, pc);
        let with_written = |event: Event| match self.written {
            Some(value) => Step::new(event).with_written(value),
            None => Step::new(event),
        };
        match op {
            Op::Fence => Step::new(Event::atomic(thread, op, Addr(0), 0, order, pc)),
            Op::Begin | Op::End => Step::new(event(u64::from(thread.0))),
            Op::Exit => Step::new(event(0)),
            Op::Enter | Op::Leave | Op::Branch => Step::new(event(self.target % 3)),
            Op::Lost => with_written(event(0)),
            Op::Fork | Op::Join | Op::JoinRequest => {
                Step::new(event(pick(tables.threads.len()) as u64))
            }
            Op::Free => Step::new(event(addr)),
            Op::Alloc => match self.written {
                Some(size) => Step::new(event(addr)).with_written(size % room.min(1 << 40) + 1),
                None => Step::new(event(addr)),
            },
            op if op.is_access() => {
                let largest = if op.is_atomic() { 16 } else { 65535 };
                let size = self.size.min(largest).min(room);
                let mask = u64::MAX >> (64 - 8 * size.min(8));
                let event = match op.is_atomic() {
                    true => Event::atomic(thread, op, Addr(addr), size as u8, order, pc),
                    false => Event::access(thread, op, Addr(addr), size as u16, pc),
                };
                let mut step = Step::new(event);
                if let (true, Some(value)) = (op.reads(), self.read) {
                    step = step.with_read(value & mask);
                }
                if let (true, Some(value)) = (op.writes(), self.written) {
                    step = step.with_written(value & mask);
                }
                step
            }
            _ => match sync_of(op, self.target as usize, tables) {
                Some(id) if matches!(op, Op::Acquire | Op::Release) => Step::new(event(id)),
                Some(id) => with_written(event(id)),
                None => Step::new(Event::new(thread, Op::Branch, 0, pc)),
            },
        }
    }
}

/// An object that the operation can be done to.
fn sync_of(op: Op, pick: usize, tables: &Tables) -> Option<u64> {
    let kind = match op {
        Op::Init | Op::Destroy => None,
        Op::Wait | Op::Wake | Op::WakeRequest | Op::Timeout | Op::Notify | Op::NotifyAll => {
            Some(SyncKind::Condition)
        }
        Op::BarrierEnter | Op::BarrierExit => Some(SyncKind::Barrier),
        Op::Post | Op::Take | Op::TakeRefused | Op::TakeRequest => Some(SyncKind::Semaphore),
        Op::Send | Op::Receive | Op::ReceiveRefused => Some(SyncKind::Channel),
        Op::FutexWait | Op::FutexWoken | Op::FutexWake => Some(SyncKind::Futex),
        _ => Some(SyncKind::Lock),
    };
    let fits = |id: &usize| kind.is_none_or(|kind| tables.syncs[*id].kind == kind);
    let fitting: Vec<usize> = (0..tables.syncs.len()).filter(fits).collect();
    let id = fitting.get(pick % fitting.len().max(1))?;
    Some(*id as u64)
}

/// How many cases a test tries is set by `PROPTEST_CASES`; failures are printed, not kept in files.
pub fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Any trace that the text format can say.
pub fn trace() -> impl Strategy<Value = Trace> {
    let mode = prop_oneof![Just(Mode::Serial), Just(Mode::Parallel)];
    (mode, tables(), vec(draft(), 0..40)).prop_map(|(mode, tables, drafts)| Trace {
        mode,
        steps: drafts.iter().map(|draft| draft.step(&tables)).collect(),
        tables,
    })
}
