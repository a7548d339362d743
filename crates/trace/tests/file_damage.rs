//! Damaged recordings: what is left is read, what is missing is said, nothing is made up.

mod file_oracle;
mod file_writer;

use std::collections::{BTreeMap, BTreeSet};

use deadheat_trace::file::{Damage, TraceFile};
use deadheat_trace::{Op, Order, Steps, ThreadId, Trace};
use deadheat_wire::word::{self, ext};
use deadheat_wire::{BlockHeader, BlockKind, FileHeader};
use file_oracle::{all, merged, pc};
use file_writer::{
    Act, CODE, Recording, Run, StreamWriter, What, end_block, on_disk, read, sync, write,
};
use proptest::collection::vec;
use proptest::prelude::*;

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

/// The steps of two threads where the middle block of the second is missing: the gap is told at
/// its start and, for others have run meanwhile, at its end; and what follows it has its place.
#[test]
fn a_missing_block_is_a_gap_at_both_of_its_ends() {
    let at = CODE.start;
    let run: Run = vec![
        (0, sync(Op::Begin, 0).at(at)),       // 1
        (1, sync(Op::Begin, 1).at(at)),       // 2
        (1, write(0x10, 1, 0).at(at)),        // 3
        (0, sync(Op::Acquire, 0x100).at(at)), // 4
        (1, sync(Op::Acquire, 0x200).at(at)), // 5, missing
        (0, write(0x20, 1, 0).at(at)),        // 6
        (1, sync(Op::Release, 0x200).at(at)), // 7, missing
        (0, sync(Op::Release, 0x100).at(at)), // 8
        (1, write(0x30, 1, 0).at(at)),        // 9, in the third block
        (1, sync(Op::End, 1).at(at)),         // 10
    ];
    let mut cuts = [false, false, false, false, true, false, false, false, true].into_iter();
    let mut recording = Recording::new(false, &run, || cuts.next() == Some(true));
    let middle = recording.places.iter().position(|place| *place == (1, 1));
    assert_eq!(middle, Some(4));
    let missing = (0..recording.blocks.len()).find(|block| {
        let header = recording.block_header(*block);
        (header.kind(), header.stream, header.ordinal) == (Some(BlockKind::Events), 1, 1)
    });
    recording.blocks.remove(missing.unwrap());
    let opened = recording.open();
    let seen: Vec<_> = all(&opened)
        .steps
        .iter()
        .map(|s| (s.event.thread().0, s.event.op()))
        .collect();
    assert_eq!(
        seen,
        [
            (0, Op::Begin),
            (1, Op::Begin),
            (1, Op::Write),
            (1, Op::Lost),
            (0, Op::Acquire),
            (0, Op::Write),
            (1, Op::Lost),
            (1, Op::Write),
            (0, Op::Release),
            (1, Op::End),
        ]
    );
    let thread = Some(ThreadId(1));
    assert_eq!(
        opened.damage(),
        [Damage::Missing {
            thread,
            ordinal: 2,
            blocks: 1
        }]
    );
}

/// Puts words behind an act of a block; another block follows.
fn with_words(values: bool, words: &[u64]) -> Recording {
    let mut recording = Recording::new(values, &vec![(0, read(8, 1, 1).at(CODE.start))], || false);
    recording.edit(recording.event_blocks()[0], |_, payload| {
        payload.extend(words)
    });
    let mut next = StreamWriter::new(0, values);
    next.act(&read(8, 1, 1).at(CODE.start), 0);
    next.cut();
    next.act(&read(8, 1, 2).at(CODE.start), 0);
    next.cut();
    let end = recording.blocks.len() - 1;
    recording.blocks.insert(end, next.blocks.remove(1));
    recording
}

#[test]
fn words_that_make_no_sense() {
    let sync_word = |op: u64| word::tagged(word::SYNC, op, 0x10);
    let range = |kind, addr| word::tagged(word::EXT, kind, addr);
    let long = word::numbered(word::MAX_SEQ, word::WIDE_PC_BIAS);
    let mut cases: Vec<(&str, Vec<u64>)> = vec![
        ("zero", vec![0]),
        ("a number below the tags", vec![15]),
        (
            "a synchronisation without its second word",
            vec![sync_word(Op::Acquire as u64)],
        ),
        ("operation 0", vec![sync_word(0), long]),
        ("an operation that is not known", vec![sync_word(40), long]),
        ("operation 63", vec![sync_word(63), long]),
        (
            "an operand that is not there",
            vec![sync_word(Op::Alloc as u64 | 1 << 12), long],
        ),
        (
            "an atomic access of 32 bytes",
            vec![sync_word(Op::AtomicRead as u64 | 5 << 9), long, 0, 0],
        ),
        (
            "a thread that cannot be",
            vec![word::tagged(word::SYNC, Op::Fork as u64, 1 << 22), long],
        ),
        (
            "a thread beyond 32 bits",
            vec![word::tagged(word::SYNC, Op::Join as u64, 1 << 32), long],
        ),
        ("a switch to no thread", vec![range(ext::SWITCH, 1 << 22)]),
        (
            "a range without its second word",
            vec![range(ext::RANGE_READ, 8)],
        ),
        (
            "a range beyond memory",
            vec![range(ext::RANGE_WRITE, word::ADDR_MASK), long],
        ),
        (
            "a range with too many values",
            vec![range(ext::RANGE_READ | ext::VALUES, 8), 4097 << 24],
        ),
        (
            "a range whose values are not there",
            vec![range(ext::RANGE_READ | ext::VALUES, 8), 9 << 24, 0],
        ),
        ("an extension that is not known", vec![range(5, 8), 0]),
        ("extension 0", vec![range(0, 8), 0]),
    ];
    for op in [
        Op::Read,
        Op::Write,
        Op::Enter,
        Op::Leave,
        Op::Branch,
        Op::ExternalWrite,
        Op::Lost,
    ] {
        cases.push((
            "an operation that does not synchronise",
            vec![sync_word(op as u64), long],
        ));
    }
    for values in [true, false] {
        let mut cases = cases.clone();
        if values {
            let access = |code| word::access(word::READ1 + code, word::PC_BIAS, 8);
            cases.push(("a read without its value", vec![access(0)]));
            cases.push((
                "sixteen bytes with eight of their values",
                vec![access(4), 1],
            ));
            cases.push((
                "an atomic one without its value",
                vec![sync_word(Op::AtomicRmw as u64), long, 1],
            ));
        }
        for (what, words) in cases {
            let opened = with_words(values, &words).open();
            let block = with_words(values, &[]).event_blocks()[0];
            let before: usize = with_words(values, &[]).blocks[..=block]
                .iter()
                .map(Vec::len)
                .sum();
            let mut reader = opened.read();
            let mut seen = Vec::new();
            while let Ok(Some(step)) = reader.next_step() {
                seen.push(step.event.op());
            }
            assert_eq!(seen, [Op::Read, Op::Lost, Op::Read], "{what}");
            let offset = (FileHeader::WORDS + before) as u64 * 8;
            let bytes = words.len() as u64 * 8;
            assert_eq!(
                reader.damage(),
                [Damage::Malformed { offset, bytes }],
                "{what}"
            );
        }
    }
}

#[test]
fn a_header_with_a_thread_that_cannot_be() {
    for wrong in [
        |header: &mut BlockHeader| header.thread = 1 << 22,
        |header: &mut BlockHeader| {
            header.stream = u32::MAX;
        },
    ] {
        let mut recording = with_words(true, &[]);
        recording.edit(recording.event_blocks()[0], |header, _| wrong(header));
        let opened = recording.open();
        assert!(matches!(
            opened.damage()[..],
            [Damage::Malformed { .. }, Damage::Missing { .. }]
        ));
        let ops: Vec<_> = all(&opened)
            .steps
            .iter()
            .map(|step| step.event.op())
            .collect();
        assert_eq!(ops, [Op::Lost, Op::Read]);
    }
}

#[test]
fn damaged_contents_and_nothing_else() {
    let mut recording = with_words(true, &[]);
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
            header.skipped = u64::MAX;
            header.ordinal = u32::MAX;
            header.seq_before = u64::MAX;
            header.pc = u64::MAX;
        });
    }
    let opened = recording.open();
    assert_eq!(opened.skipped(), u64::MAX);
    assert!(all(&opened).steps.len() > 10);
}

/// A run in which each act's target is its own position.
fn numbered_run() -> impl Strategy<Value = Run> {
    let act = |number: u64, synchronises| match synchronises {
        true => sync(Op::Join, number).at(CODE.start),
        false => read(number, 1, 0).at(CODE.start),
    };
    vec((0u32..3, any::<bool>()), 0..60).prop_map(move |acts| {
        let acts = acts.into_iter().zip(0..);
        acts.map(|((thread, synchronises), i)| (thread, act(i, synchronises)))
            .collect()
    })
}

fn number(act: &Act) -> u64 {
    match act.what {
        What::Sync { object, .. } => object,
        What::Access { addr, .. } => addr,
        _ => unreachable!(),
    }
}

/// The blocks of a stream as they should be seen: their ordinals, and `None` for each gap.
/// Blocks that are damaged rather than gone are known to be missing at the end, too.
fn with_gaps(there: &BTreeSet<u32>, damaged: &BTreeSet<u32>) -> Vec<Option<u32>> {
    let known = there.union(damaged).max().map_or(0, |last| last + 1);
    let mut seen: Vec<_> = (0..known)
        .map(|n| there.contains(&n).then_some(n))
        .collect();
    seen.dedup();
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Without some blocks the rest is read in the same order as ever, and there is a gap exactly
    /// where something is missing.
    #[test]
    fn what_is_left_stays_in_order(
        serial in any::<bool>(),
        run in numbered_run(),
        cuts in vec(prop::bool::weighted(0.4), 60),
        gone in vec(prop::bool::weighted(0.3), 60),
        damaged in any::<bool>(),
    ) {
        let mut cuts = cuts.into_iter();
        let mut recording = Recording::new(serial, &run, || cuts.next() == Some(true));
        let mut lost = BTreeSet::new();
        for (block, gone) in recording.event_blocks().into_iter().zip(gone).rev() {
            let header = recording.block_header(block);
            if !gone {
                continue;
            }
            lost.insert((header.stream, header.ordinal));
            if damaged {
                recording.blocks[block][BlockHeader::WORDS] ^= 1 << 50;
            } else {
                recording.blocks.remove(block);
            }
        }
        let place = |number: u64| recording.places[number as usize];
        let order = if serial { run.clone() } else { merged(&run) };
        let numbers = order.iter().map(|(_, act)| number(act));
        let expected: Vec<u64> = numbers.filter(|n| !lost.contains(&place(*n))).collect();

        let opened = recording.open();
        let (gaps, seen): (Vec<_>, Vec<_>) =
            all(&opened).steps.into_iter().partition(|step| step.event.op() == Op::Lost);
        let targets: Vec<u64> = seen.iter().map(|step| step.event.target()).collect();
        prop_assert_eq!(targets, expected);
        prop_assert!(gaps.is_empty() || !lost.is_empty());

        for stream in 0..3 {
            let of_stream = |places: &mut dyn Iterator<Item = (u32, u32)>| -> BTreeSet<u32> {
                places.filter(|place| place.0 == stream).map(|place| place.1).collect()
            };
            let places = &recording.places;
            let there = of_stream(&mut places.iter().filter(|p| !lost.contains(p)).copied());
            let known = of_stream(&mut lost.iter().filter(|_| damaged).copied());
            let mut shown = Vec::new();
            for step in all(&opened).steps {
                if step.event.op() != Op::Lost {
                    let (of, ordinal) = place(step.event.target());
                    shown.extend((of == stream).then_some(Some(ordinal)));
                } else if (serial && stream == 0) || (!serial && step.event.thread().0 == stream) {
                    shown.push(None);
                }
            }
            shown.dedup();
            prop_assert_eq!(shown, with_gaps(&there, &known), "stream {}", stream);
        }
    }
}

#[test]
fn pcs_in_tests_are_what_readers_make_of_them() {
    let run = vec![(0, write(8, 1, 1).at(CODE.start + 12))];
    let trace = all(&Recording::new(true, &run, || false).open());
    assert_eq!(trace.steps[0].event.pc(), pc(CODE.start + 12));
    assert_eq!(trace.tables.location(trace.steps[0].event.pc()), "prog+0xc");
}
