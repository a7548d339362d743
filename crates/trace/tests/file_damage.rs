//! Damaged recordings: what is left is read, what is missing is said, nothing is made up.

mod file_oracle;
mod file_writer;

use std::collections::BTreeMap;

use deadheat_trace::file::{Damage, TraceFile};
use deadheat_trace::{Op, Order, Steps, ThreadId, Trace};
use deadheat_wire::{BlockHeader, BlockKind, FileHeader};
use file_oracle::{all, pc};
use file_writer::{CODE, Recording, Run, What, end_block, on_disk, read, sync, write};

/// Two threads that pass a number on under a lock, with a little of everything.
fn small_run() -> Run {
    let at = |line: u64| CODE.start + line * 4;
    let atomic = What::Atomic {
        op: Op::AtomicRmw,
        addr: 0x2000,
        size: 4,
        order: Order::AcqRel,
        read: [1, 0],
        written: [2, 0],
    };
    let range = What::Range {
        write: true,
        addr: 0x3000,
        bytes: 11,
        contents: Some(vec![7; 11]),
    };
    vec![
        (0, sync(Op::Begin, 0).at(at(0))),
        (0, sync(Op::Fork, 1).at(at(1))),
        (0, sync(Op::Acquire, 0x100).at(at(2))),
        (1, sync(Op::Begin, 1).at(at(20))),
        (0, write(0x1000, 8, 5).at(at(3))),
        (0, sync(Op::Release, 0x100).at(at(4))),
        (1, sync(Op::Acquire, 0x100).at(at(21))),
        (0, atomic.clone().at(at(5))),
        (1, read(0x1000, 8, 5).at(at(22))),
        (1, range.at(at(23))),
        (
            1,
            What::Enter {
                callee: CODE.start + 0x8000,
            }
            .at(at(24)),
        ),
        (1, sync(Op::Release, 0x100).at(CODE.start + 0x8004)),
        (1, What::Leave.at(at(24))),
        (1, atomic.at(at(25))),
        (1, sync(Op::End, 1).at(at(26))),
        (0, sync(Op::Join, 1).at(at(6))),
        (0, read(0x1001, 2, 0).at(at(7))),
    ]
}

/// The same with a block for every two acts.
fn small(serial: bool) -> Recording {
    let mut acts = 0;
    Recording::new(serial, &small_run(), || {
        acts += 1;
        acts % 2 == 0
    })
}

/// The steps of each thread; objects by what they are, for their numbers depend on what is there.
fn by_thread(trace: &Trace) -> BTreeMap<ThreadId, Vec<String>> {
    let mut threads = BTreeMap::<_, Vec<_>>::new();
    for step in &trace.steps {
        let named = step
            .event
            .is_lock_op()
            .then(|| &trace.tables.syncs[step.event.sync().index()]);
        let text = match named {
            Some(object) => format!("{:?} {object:?} {}", step.event.op(), step.event.pc()),
            None => format!("{step:?}"),
        };
        threads.entry(step.event.thread()).or_default().push(text);
    }
    threads
}

#[test]
fn cut_off_anywhere() {
    for serial in [true, false] {
        let bytes = small(serial).bytes();
        let whole = by_thread(&all(&file_writer::open(&bytes)));
        for length in 0..bytes.len() {
            let (_folder, path) = on_disk(&bytes[..length]);
            let Ok(file) = TraceFile::open(path) else {
                assert!(length < FileHeader::WORDS * 8);
                continue;
            };
            let trace = all(&file);
            for (thread, steps) in by_thread(&trace) {
                assert!(
                    whole[&thread].starts_with(&steps),
                    "{length}: {thread} {steps:?}"
                );
            }
            let mut damage = file.damage().iter();
            let last = damage.next_back();
            assert_eq!(last, Some(&Damage::NotClosed { salvaged: 0 }), "{length}");
            match damage.next() {
                Some(Damage::Unreadable { offset, bytes }) => {
                    assert_eq!((offset + bytes) as usize, length);
                    assert!(*bytes > 0);
                }
                other => assert_eq!(other, None, "{length}"),
            }
            assert_eq!(damage.next(), None);
        }
    }
}

#[test]
fn any_flipped_bit_is_noticed() {
    for serial in [true, false] {
        let mut bytes = small(serial).bytes();
        let whole = by_thread(&all(&file_writer::open(&bytes)));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.dht");
        // Every third: each bit of a byte has its turn, and each byte has two or three.
        for bit in (0..bytes.len() * 8).step_by(3) {
            bytes[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(&path, &bytes).unwrap();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Ok(file) = TraceFile::open(&path) else {
                assert!(bit / 8 < FileHeader::WORDS * 8);
                continue;
            };
            let mut reader = file.read();
            let mut trace = Trace {
                steps: Vec::new(),
                ..all(&file)
            };
            while let Ok(Some(step)) = reader.next_step() {
                trace.steps.push(step);
            }
            assert!(file.damage().len() + reader.damage().len() > 0, "bit {bit}");
            trace.steps.retain(|step| step.event.op() != Op::Lost);
            for (thread, steps) in by_thread(&trace) {
                let mut of_whole = whole[&thread].iter();
                let found = steps.iter().all(|step| of_whole.any(|other| other == step));
                // Without the module's record nobody knows where the code is.
                assert!(
                    found || file.tables().modules.is_empty(),
                    "bit {bit}: {steps:?}"
                );
            }
        }
    }
}

fn two_reads() -> Run {
    let read = |value| (0, read(8, 1, value).at(CODE.start));
    vec![read(1), read(2)]
}

#[test]
fn damaged_contents_and_nothing_else() {
    let mut recording = Recording::new(true, &two_reads(), || true);
    let blocks = recording.event_blocks();
    for block in blocks {
        *recording.blocks[block].last_mut().unwrap() ^= 1;
    }
    let opened = recording.open();
    let mut reader = opened.read();
    let Ok(Some(step)) = reader.next_step() else {
        panic!("the gap is a step")
    };
    assert_eq!(step.event.op(), Op::Lost);
    assert_eq!(reader.next_step(), Ok(None));
    assert_eq!(reader.damage().len(), 2);
    assert!(matches!(
        reader.damage()[0],
        Damage::Contents { bytes: 24, .. }
    ));
}

#[test]
fn blocks_that_are_there_twice() {
    let mut recording = small(false);
    let block = recording.event_blocks()[0];
    recording
        .blocks
        .insert(block, recording.blocks[block].clone());
    let opened = recording.open();
    assert_eq!(all(&opened).steps, all(&small(false).open()).steps);
    let thread = Some(ThreadId(0));
    assert_eq!(opened.damage(), [Damage::Repeated { thread, blocks: 1 }]);
}

/// A program that could not execute another goes on behind the end.
#[test]
fn an_end_is_one_only_if_nothing_follows() {
    let mut recording = small(true);
    let middle = recording.event_blocks()[1];
    recording
        .blocks
        .insert(middle, end_block("the program executed another"));
    assert_eq!(recording.open().closed(), Some("the program ended"));
    recording.blocks.pop();
    assert_eq!(recording.open().closed(), None);
}

/// A thread that was not waited for may write after the program's end: that was one all the same.
#[test]
fn who_comes_late_does_not_open_it_again() {
    let mut recording = small(true);
    let last = recording.event_blocks().len() - 1;
    let late = recording.blocks.remove(recording.event_blocks()[last]);
    recording.blocks.push(late);
    let opened = recording.open();
    assert_eq!(opened.closed(), Some("the program ended"));
    assert_eq!(opened.damage(), []);
    assert_eq!(all(&opened).steps, all(&small(true).open()).steps);
}

/// A page of zeros, and a megabyte of what looks like the start of blocks.
#[test]
fn the_next_good_block_is_found() {
    for filling in [
        vec![0; 512],
        vec![u64::from(u32::from_le_bytes(*b"DHB1")); 1 << 17],
    ] {
        let mut recording = small(true);
        let before: usize = recording.blocks[..3].iter().map(Vec::len).sum();
        let bytes = filling.len() as u64 * 8;
        recording.blocks.insert(3, filling);
        let opened = recording.open();
        let offset = (FileHeader::WORDS + before) as u64 * 8;
        assert_eq!(opened.damage(), [Damage::Unreadable { offset, bytes }]);
        assert_eq!(all(&opened).steps, all(&small(true).open()).steps);
    }
}

/// A header that claims more than there is hides nothing that follows.
#[test]
fn a_length_beyond_the_end() {
    let mut recording = small(true);
    let header = BlockHeader::new(BlockKind::Events, 0);
    let long = header.seal(&vec![0; 100_000]).to_vec();
    recording.blocks.insert(3, long);
    let opened = recording.open();
    assert!(matches!(
        opened.damage()[..],
        [Damage::Unreadable { bytes: 72, .. }]
    ));
    assert_eq!(all(&opened).steps, all(&small(true).open()).steps);
}

/// Numbers at their limits do not overflow.
#[test]
fn ordinals_and_counts_at_their_limits() {
    let mut recording = small(false);
    for block in recording.event_blocks().into_iter().take(2) {
        recording.edit(block, |header, _| {
            header.ordinal = u32::MAX;
            header.seq_before = u64::MAX;
            header.pc = u64::MAX;
        });
    }
    let opened = recording.open();
    assert!(all(&opened).steps.len() > 10);
}

#[test]
fn pcs_in_tests_are_what_readers_make_of_them() {
    let run = vec![(0, write(8, 1, 1).at(CODE.start + 12))];
    let trace = all(&Recording::new(true, &run, || false).open());
    assert_eq!(trace.steps[0].event.pc(), pc(CODE.start + 12));
    assert_eq!(trace.tables.location(trace.steps[0].event.pc()), "prog+0xc");
}
