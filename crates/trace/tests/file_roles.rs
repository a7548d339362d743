//! Locks that are words: their taking and giving stands beside the accesses that do it.

mod file_oracle;
mod file_writer;

use deadheat_trace::file::TraceFile;
use deadheat_trace::{Op, Order, Pc, Role, Roles, Steps, Trace, verify};
use file_oracle::all;
use file_writer::{CODE, Recording, Run, What, sync, write};
use proptest::prelude::*;

const WORD: u64 = 0x2000;
/// What the places in the program are for, by their distance from the start of the code.
const PLACES: [(u32, Role); 9] = [
    (0x10, Role::Lock),
    (0x20, Role::Unlock),
    (0x30, Role::ReadLock),
    (0x40, Role::ReadUnlock),
    (0x50, Role::Downgrade),
    (0x60, Role::Inner),
    (0x70, Role::None),
    (0x80, Role::TryLock),
    (0x90, Role::TryReadLock),
];

fn place(role: Role) -> u64 {
    let found = PLACES.iter().find(|(_, of)| *of == role).unwrap();
    CODE.start + u64::from(found.0)
}

fn roles() -> Roles {
    Roles::new(|pc: Pc| {
        let found = PLACES.iter().find(|(at, _)| *at == pc.0);
        found.map_or(Role::None, |(_, role)| *role)
    })
}

fn change(from: u64, to: u64) -> What {
    What::Atomic {
        op: Op::AtomicRmw,
        addr: WORD,
        size: 4,
        order: Order::AcqRel,
        read: [from, 0],
        written: [to, 0],
    }
}

fn look(value: u64) -> What {
    What::Atomic {
        op: Op::AtomicRead,
        addr: WORD,
        size: 4,
        order: Order::Acquire,
        read: [value, 0],
        written: [0, 0],
    }
}

fn ops(trace: &Trace) -> Vec<Op> {
    trace.steps.iter().map(|step| step.event.op()).collect()
}

/// The trace of a run, with roles and without.
fn read(serial: bool, run: &Run) -> (Trace, Trace) {
    let mut opened = Recording::new(serial, run, || false).open();
    let plain = all(&opened);
    opened.file.set_roles(roles());
    (all(&opened), plain)
}

#[test]
fn a_change_of_the_word_takes_and_gives_the_lock() {
    for serial in [true, false] {
        let run: Run = vec![
            (0, change(0, 1).at(place(Role::Lock))),
            (0, look(1).at(place(Role::Lock))),
            (0, change(1, 0).at(place(Role::Unlock))),
        ];
        let (trace, plain) = read(serial, &run);
        assert_eq!(
            ops(&trace),
            [
                Op::Acquire,
                Op::AtomicRmw,
                Op::AtomicRead,
                Op::AtomicRmw,
                Op::Release
            ]
        );
        assert_eq!(ops(&plain), [Op::AtomicRmw, Op::AtomicRead, Op::AtomicRmw]);
        let lock = trace.steps[0].event.lock();
        assert_eq!(lock, trace.steps[4].event.lock());
        assert_eq!(trace.tables.syncs[0].addr.0, WORD);
        assert_eq!(trace.steps[1].event.pc(), trace.steps[0].event.pc());
    }
}

#[test]
fn readers_say_what_they_have_made_up() {
    for serial in [true, false] {
        let run: Run = vec![
            (0, change(0, 1).at(place(Role::Lock))),
            (0, look(1).at(place(Role::Lock))),
            (0, change(1, 0).at(place(Role::Unlock))),
            (0, change(0, 9).at(place(Role::Lock))),
            (0, change(9, 1).at(place(Role::Downgrade))),
        ];
        let mut opened = Recording::new(serial, &run, || false).open();
        let plain = all(&opened);
        opened.file.set_roles(roles());
        let mut reader = opened.file.read();
        let mut recorded = Vec::new();
        let mut made_up = 0;
        while let Ok(Some(step)) = reader.next_step() {
            match reader.is_made_up() {
                true => made_up += 1,
                false => recorded.push(step),
            }
        }
        assert_eq!((recorded, made_up), (plain.steps, 5));
    }
}

#[test]
fn locks_that_were_only_tried_for_say_so() {
    let run: Run = vec![
        (0, change(0, 1).at(place(Role::TryLock))),
        (0, change(1, 0).at(place(Role::Unlock))),
        (0, change(0, 1).at(place(Role::TryReadLock))),
        (0, change(1, 0).at(place(Role::ReadUnlock))),
        (0, change(0, 1).at(place(Role::Lock))),
    ];
    let (trace, _) = read(true, &run);
    let taken = |op: Op| matches!(op, Op::Acquire | Op::ReadAcquire);
    let taken = trace.steps.iter().filter(|step| taken(step.event.op()));
    let tried: Vec<(Op, bool)> = taken
        .map(|step| (step.event.op(), step.was_tried()))
        .collect();
    assert_eq!(
        tried,
        [
            (Op::Acquire, true),
            (Op::ReadAcquire, true),
            (Op::Acquire, false)
        ]
    );
}

#[test]
fn readers_and_downgrades() {
    let run: Run = vec![
        (0, change(0, 1).at(place(Role::ReadLock))),
        (0, change(1, 0).at(place(Role::ReadUnlock))),
        (0, change(0, 9).at(place(Role::Lock))),
        (0, change(9, 1).at(place(Role::Downgrade))),
        (0, change(1, 0).at(place(Role::ReadUnlock))),
    ];
    let (trace, _) = read(true, &run);
    let locks: Vec<Op> = ops(&trace)
        .into_iter()
        .filter(|op| *op != Op::AtomicRmw)
        .collect();
    assert_eq!(
        locks,
        [
            Op::ReadAcquire,
            Op::ReadRelease,
            Op::Acquire,
            Op::Release,
            Op::ReadAcquire,
            Op::ReadRelease
        ]
    );
    assert_eq!(verify::verify(&mut trace.stream()).unwrap().errors, 0);
}

#[test]
fn the_caller_of_an_inner_place_tells() {
    let enter = |role: Role| {
        What::Enter {
            callee: place(Role::Inner),
        }
        .at(place(role))
    };
    let inner = || change(0, 1).at(place(Role::Inner));
    let leave = |role: Role| What::Leave.at(place(role));
    for serial in [true, false] {
        let run: Run = vec![
            (0, enter(Role::Lock)),
            (0, enter(Role::Inner)),
            (0, inner()),
            (0, leave(Role::Inner)),
            (0, leave(Role::Lock)),
            (0, enter(Role::None)),
            (0, inner()),
            (0, leave(Role::None)),
            (0, inner()),
        ];
        let (trace, _) = read(serial, &run);
        let acquired = |op: &&Op| **op == Op::Acquire;
        assert_eq!(
            ops(&trace).iter().filter(acquired).count(),
            1,
            "{:?}",
            ops(&trace)
        );
    }
}

#[test]
fn threads_are_in_functions_of_their_own() {
    let run: Run = vec![
        (0, What::Enter { callee: CODE.start }.at(place(Role::Lock))),
        (
            1,
            What::Enter { callee: CODE.start }.at(place(Role::Unlock)),
        ),
        (0, change(0, 1).at(place(Role::Inner))),
        (1, change(1, 0).at(place(Role::Inner))),
    ];
    let (trace, _) = read(true, &run);
    let acquire = trace
        .steps
        .iter()
        .find(|step| step.event.op() == Op::Acquire)
        .unwrap();
    let release = trace
        .steps
        .iter()
        .find(|step| step.event.op() == Op::Release)
        .unwrap();
    assert_eq!((acquire.event.thread().0, release.event.thread().0), (0, 1));
}

#[test]
fn a_lock_ends_with_its_memory() {
    let block = 0x1F00;
    let alloc = |op, size| What::Sync {
        op,
        object: block,
        kind: 0,
        operand: size,
    };
    let run: Run = vec![
        (0, alloc(Op::Alloc, Some(0x200)).at(CODE.start)),
        (0, change(0, 1).at(place(Role::Lock))),
        (0, change(1, 0).at(place(Role::Unlock))),
        (0, alloc(Op::Free, None).at(CODE.start)),
        (0, alloc(Op::Alloc, Some(0x200)).at(CODE.start)),
        (0, change(0, 1).at(place(Role::Lock))),
        (0, change(1, 0).at(place(Role::Unlock))),
    ];
    let (trace, _) = read(true, &run);
    assert_eq!(trace.tables.syncs.len(), 2);
}

/// What a thread may do next, with anything between.
fn act() -> impl Strategy<Value = (What, u64)> {
    let pc = (0..PLACES.len()).prop_map(|at| CODE.start + u64::from(PLACES[at].0));
    let what = prop_oneof![
        Just(change(0, 1)),
        Just(look(1)),
        Just(write(0x3000, 4, 5)),
        Just(sync(Op::Acquire, 0x4000)),
        Just(What::Enter { callee: CODE.start }),
        Just(What::Leave),
    ];
    (what, pc)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Without the steps that were put in, it is the plain trace; and positions in it, from
    /// wherever one starts to read, are the same.
    #[test]
    fn nothing_else_changes(
        acts in prop::collection::vec((0..3u32, act()), 0..60),
        serial: bool,
        cuts in prop::collection::vec(prop::bool::weighted(0.2), 60),
    ) {
        let run: Run = acts.into_iter().map(|(thread, (what, pc))| (thread, what.at(pc))).collect();
        let mut cuts = cuts.into_iter();
        let mut opened = Recording::new(serial, &run, || cuts.next().unwrap_or(false)).open();
        let plain = all(&opened);
        opened.file.set_roles(roles());
        let trace = all(&opened);
        let put_in = |op: Op, addr: Option<u64>| {
            let locks = [Op::Acquire, Op::Release, Op::ReadAcquire, Op::ReadRelease];
            locks.contains(&op) && addr == Some(WORD)
        };
        let left: Vec<_> = trace
            .steps
            .iter()
            .filter(|step| {
                let object = trace.tables.syncs.get(step.event.target() as usize);
                !put_in(step.event.op(), object.map(|object| object.addr.0))
            })
            .map(|step| (step.event.op(), step.event.pc(), step.event.thread(), step.read()))
            .collect();
        let expected: Vec<_> = plain
            .steps
            .iter()
            .map(|step| (step.event.op(), step.event.pc(), step.event.thread(), step.read()))
            .collect();
        prop_assert_eq!(left, expected);
        again(&opened.file, &trace)?;
    }
}

/// A reader that is copied on the way goes on as the first one does.
fn again(file: &TraceFile, trace: &Trace) -> Result<(), TestCaseError> {
    let mut reader = file.read();
    for start in 0..trace.steps.len() {
        let Ok(rest) = reader.clone().collect_trace();
        prop_assert_eq!(&rest.steps[..], &trace.steps[start..]);
        let Ok(_) = reader.next_step();
    }
    Ok(())
}
