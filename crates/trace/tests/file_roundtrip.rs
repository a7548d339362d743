//! What is written is what is read: every kind of record, any cutting into blocks, any window.

mod file_oracle;
mod file_writer;

use deadheat_trace::file::Checkpoints;
use deadheat_trace::{EventIndex, Mode, Op, Order, Steps};
use file_oracle::{all, expected};
use file_writer::{Act, CODE, Recording, Run, What, sync, with_operand};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Operations that a record with a sequence number may have, besides atomic ones.
const SYNCS: [Op; 35] = [
    Op::Acquire,
    Op::Release,
    Op::ReadAcquire,
    Op::ReadRelease,
    Op::Request,
    Op::ReadRequest,
    Op::Fork,
    Op::Begin,
    Op::End,
    Op::Join,
    Op::Wait,
    Op::Wake,
    Op::Timeout,
    Op::Notify,
    Op::NotifyAll,
    Op::BarrierEnter,
    Op::BarrierExit,
    Op::Post,
    Op::Take,
    Op::Send,
    Op::Receive,
    Op::FutexWait,
    Op::FutexWoken,
    Op::FutexWake,
    Op::Init,
    Op::Destroy,
    Op::Alloc,
    Op::Free,
    Op::Refused,
    Op::ReadRefused,
    Op::TakeRefused,
    Op::ReceiveRefused,
    Op::JoinRequest,
    Op::TakeRequest,
    Op::WakeRequest,
];
const ATOMICS: [Op; 3] = [Op::AtomicRead, Op::AtomicWrite, Op::AtomicRmw];
/// Far from low addresses, further than half a pair can reach.
const HIGH: u64 = 1 << 46;
const SIZES: [u64; 5] = [1, 2, 4, 8, 16];

/// One act of every kind, near and far from each other.
fn every_kind() -> Vec<Act> {
    let values = [0x1122_3344_5566_7788, 0x99AA_BBCC_DDEE_FF00];
    let mut acts = Vec::new();
    for size in SIZES {
        for write in [false, true] {
            acts.push(What::Access {
                write,
                addr: 0x7FFF_0000_1000 + size,
                size,
                values,
            });
        }
        for (op, order) in ATOMICS
            .into_iter()
            .zip([Order::Acquire, Order::Release, Order::SeqCst])
        {
            acts.push(What::Atomic {
                op,
                addr: 0x1000,
                size,
                order,
                read: values,
                written: [1, 2],
            });
        }
    }
    for bytes in [1, 7, 8, 9, 4096] {
        let contents = Some((0..bytes).map(|i| i as u8).collect());
        acts.push(What::Range {
            write: bytes % 2 == 0,
            addr: 0x5001,
            bytes,
            contents,
        });
    }
    for bytes in [1, 4097, 32768, 65536, 65537, 1 << 20] {
        acts.push(What::Range {
            write: bytes % 2 == 0,
            addr: 0x5001,
            bytes,
            contents: None,
        });
    }
    for order in 0..6 {
        acts.push(What::Fence(Order::from_number(order)));
    }
    for op in SYNCS {
        acts.push(sync(op, 1));
        acts.push(with_operand(op, 2, 3));
    }
    for kind in 0..4 {
        for op in [Op::Init, Op::Destroy] {
            acts.push(What::Sync {
                op,
                object: 0x9000,
                kind,
                operand: None,
            });
        }
    }
    for callee in [CODE.start + 40, CODE.end - 1, CODE.start] {
        acts.extend([What::Enter { callee }, What::Leave]);
    }
    acts.push(What::Lost(77));
    let pcs = [0, 1, 2, 4096, 8191, 4097, 0, 0xF_FFFF].into_iter().cycle();
    acts.into_iter()
        .zip(pcs)
        .map(|(what, pc)| what.at(CODE.start + pc))
        .collect()
}

#[test]
fn every_record_comes_back_in_both_modes() {
    let run: Run = every_kind().into_iter().map(|act| (0, act)).collect();
    for serial in [true, false] {
        for each_in_its_block in [false, true] {
            let opened = Recording::new(serial, &run, || each_in_its_block).open();
            let trace = all(&opened);
            assert_eq!(
                trace.mode,
                if serial { Mode::Serial } else { Mode::Parallel }
            );
            let expected = expected(serial, &run);
            for (read, expected) in trace.steps.iter().zip(&expected) {
                assert_eq!(read, expected);
            }
            assert_eq!(trace.steps.len(), expected.len());
            assert_eq!(
                (opened.damage(), opened.closed()),
                (&[][..], Some("the program ended"))
            );
        }
    }
}

/// A loop takes the words of its first time around and one more, whatever is before and behind.
#[test]
fn loops_come_back() {
    for (accesses, rounds) in [(1, 10), (2, 10), (3, 11), (7, 2000), (2, 70_000)] {
        let act = |i: u64| {
            let (round, place) = (i / accesses, i % accesses);
            let access = What::Access {
                write: place == 0,
                addr: 0x1000 + place * 0x10_0000 + round * (place + 1) * 8,
                size: 8,
                values: [0; 2],
            };
            (0, access.at(CODE.start + place * 4))
        };
        let mut run: Run = (0..accesses * rounds).map(act).collect();
        run.insert(0, (0, sync(Op::Begin, 0).at(CODE.start)));
        run.push((0, sync(Op::End, 0).at(CODE.start)));
        let recording = Recording::new(false, &run, || false);
        let words = recording.blocks[recording.event_blocks()[0]].len() as u64;
        assert!(
            words < 25 + 4 * accesses + accesses * rounds / 60_000 * 10,
            "{words}"
        );
        let opened = recording.open();
        assert_eq!(all(&opened).steps, expected(false, &run));
        let checkpoints = Checkpoints::new(&opened);
        assert_eq!(checkpoints.events(), run.len() as u64);
        for start in [1, run.len() / 2, run.len() - 3] {
            let window = checkpoints.window(EventIndex(start as u64), 50);
            let rest = &expected(false, &run)[start..];
            assert_eq!(window.steps, rest[..rest.len().min(50)]);
        }
    }
}

/// Every operation that there is stands in some record.
#[test]
fn no_operation_was_forgotten() {
    let run: Run = every_kind().into_iter().map(|act| (0, act)).collect();
    let trace = all(&Recording::new(true, &run, || false).open());
    for op in Op::ALL {
        // (What a process ends with is written by programs only; their tests have it.)
        let unrecorded = matches!(op, Op::Branch | Op::ExternalWrite | Op::Exit);
        let seen = trace.steps.iter().any(|step| step.event.op() == op);
        assert_eq!(seen, !unrecorded, "{op:?}");
    }
}

fn what() -> impl Strategy<Value = What> {
    let addr = || prop_oneof![0x1000u64..0x1040, HIGH..HIGH + 0x40, 0u64..HIGH];
    let value = || prop_oneof![Just(0u64), any::<u64>()];
    let values = || [value(), value()];
    let size = || select(&SIZES[..]);
    let order = || (0u8..6).prop_map(Order::from_number);
    // Few addresses, so that objects meet; heap blocks around them.
    let object = || (0u64..6).prop_map(|n| 0x1000 + n * 8);
    let contents = vec(any::<u8>(), 1..40);
    prop_oneof![
        6 => (any::<bool>(), addr(), size(), values())
            .prop_map(|(write, addr, size, values)| What::Access { write, addr, size, values }),
        1 => (any::<bool>(), addr(), 1u64..200_000)
            .prop_map(|(write, addr, bytes)| What::Range { write, addr, bytes, contents: None }),
        1 => (any::<bool>(), addr(), contents).prop_map(|(write, addr, contents)| What::Range {
            write,
            addr,
            bytes: contents.len() as u64,
            contents: Some(contents),
        }),
        1 => (select(&ATOMICS[..]), addr(), size(), order(), values(), values()).prop_map(
            |(op, addr, size, order, read, written)| What::Atomic {
                op, addr, size, order, read, written
            }
        ),
        1 => order().prop_map(What::Fence),
        3 => (select(&SYNCS[..]), object(), 0u64..4, option::of(0u64..64)).prop_map(
            |(op, object, kind, operand)| match op {
                Op::Fork | Op::Begin | Op::End | Op::Join | Op::JoinRequest => sync(op, object % 7),
                op => What::Sync { op, object, kind, operand },
            }
        ),
        1 => (CODE.start..CODE.end).prop_map(|callee| What::Enter { callee }),
        1 => Just(What::Leave),
        1 => (0u64..100).prop_map(What::Lost),
    ]
}

fn act() -> impl Strategy<Value = Act> {
    // A few pcs, so that pairs meet.
    let near = CODE.start + 0x8000..CODE.start + 0x8010;
    let pc = prop_oneof![4 => near, 1 => CODE.clone()];
    (what(), pc).prop_map(|(what, pc)| what.at(pc))
}

/// A loop: a few accesses each time around, each so much further than the time before.
fn walk() -> impl Strategy<Value = Vec<Act>> {
    let access = (
        0u64..16,
        any::<bool>(),
        select(&SIZES[..]),
        0u64..4,
        0u64..32,
    );
    (vec(access, 1..6), 1u64..20).prop_map(|(body, rounds)| {
        let around = |round: u64| {
            body.iter().map(move |&(pc, write, size, array, stride)| {
                let access = What::Access {
                    write,
                    addr: 0x1000 + array * 0x10_0000 + round * stride,
                    size,
                    values: [round, 0],
                };
                access.at(CODE.start + 0x8000 + pc)
            })
        };
        (0..rounds).flat_map(around).collect()
    })
}

fn run() -> impl Strategy<Value = Run> {
    let acts = prop_oneof![5 => act().prop_map(|act| vec![act]), 1 => walk()];
    (1u32..5).prop_flat_map(move |threads| {
        vec((0..threads, acts.clone()), 0..60).prop_map(|all| {
            let acts = all.into_iter();
            acts.flat_map(|(thread, acts)| acts.into_iter().map(move |act| (thread, act)))
                .collect()
        })
    })
}

/// A run, how it was recorded, where its blocks end and in which order they stand in the file.
fn recorded() -> impl Strategy<Value = (bool, Run, Vec<bool>, Vec<usize>)> {
    let cuts = prop_oneof![vec(prop::bool::weighted(0.2), 60), vec(Just(false), 60)];
    let order = Just((0..100).collect::<Vec<usize>>()).prop_shuffle();
    (any::<bool>(), run(), cuts, order)
}

fn write((serial, run, cuts, order): &(bool, Run, Vec<bool>, Vec<usize>)) -> Recording {
    let mut cuts = cuts.iter();
    let mut recording = Recording::new(*serial, run, || cuts.next() == Some(&true));
    // Modules stand before what refers to them, the end at the end; else any order will do.
    let blocks = recording.blocks.len();
    let mut between: Vec<_> = recording.blocks.drain(1..blocks - 1).zip(order).collect();
    between.sort_by_key(|(_, place)| **place);
    recording
        .blocks
        .splice(1..1, between.into_iter().map(|(block, _)| block));
    recording
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn runs_come_back(recorded in recorded()) {
        let opened = write(&recorded).open();
        let (serial, run, ..) = &recorded;
        prop_assert_eq!(opened.damage(), &[]);
        let mut reader = opened.read();
        for expected in expected(*serial, run) {
            prop_assert_eq!(reader.next_step(), Ok(Some(expected)));
        }
        for _ in 0..2 {
            prop_assert_eq!(reader.next_step(), Ok(None));
        }
        prop_assert_eq!(reader.damage(), &[]);
    }

    #[test]
    fn windows_are_slices(recorded in recorded(), at in vec((0u64..400, 0usize..400), 1..8)) {
        let opened = write(&recorded).open();
        let whole = all(&opened);
        let checkpoints = Checkpoints::new(&opened);
        prop_assert_eq!(checkpoints.events(), whole.steps.len() as u64);
        for (start, length) in at {
            let window = checkpoints.window(EventIndex(start), length);
            let rest = whole.steps.get(start as usize..).unwrap_or(&[]);
            prop_assert_eq!(&window.steps, &rest[..length.min(rest.len())]);
            if let Some(reader) = checkpoints.read_from(EventIndex(start)) {
                prop_assert_eq!(reader.tables(), &whole.tables);
            }
        }
    }
}
