//! Contents that make no sense although their checksums are right.

mod file_oracle;
mod file_writer;

use deadheat_trace::file::Damage;
use deadheat_trace::{Op, Steps};
use deadheat_wire::word::{self, ext};
use deadheat_wire::{BlockHeader, FileHeader};
use file_oracle::all;
use file_writer::{CODE, Recording, StreamWriter, read};

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
    let half = word::half(word::READ1, word::HALF_PC_BIAS, word::HALF_ADDR_BIAS + 8);
    let mut cases: Vec<(&str, Vec<u64>)> = vec![
        ("zero", vec![0]),
        ("half a pair that is no access", vec![15]),
        (
            "a pair without its lower half",
            vec![half << word::HALF_BITS],
        ),
        (
            "a pair whose upper half is no access",
            vec![half | 11 << word::HALF_BITS],
        ),
        (
            "a synchronisation without its second word",
            vec![sync_word(Op::Acquire as u64)],
        ),
        ("operation 0", vec![sync_word(0), long]),
        (
            "an operation that is not known",
            vec![sync_word(Op::ALL.len() as u64 + 1), long],
        ),
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
        ("a repetition of what is no pair", vec![word::repeat(1, 1)]),
        ("a repetition from nowhere", vec![word::repeat(0, 1)]),
        (
            "a repetition from before the block",
            vec![word::repeat(100, 1)],
        ),
        (
            "a repetition from very far",
            vec![word::repeat((1 << 31) - 1, word::MAX_REPEAT)],
        ),
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
        if !values {
            let input = vec![range(ext::INPUT, 1), 2];
            cases.push(("an input where there are no values", input));
        }
        if values {
            let access = |code| word::access(word::READ1 + code, word::PC_BIAS, 8);
            cases.push(("a read without its value", vec![access(0)]));
            cases.push(("an input without its value", vec![range(ext::INPUT, 1)]));
            cases.push(("a pair among values", vec![half, 1]));
            cases.push(("a repetition among values", vec![word::repeat(2, 1)]));
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

/// A repetition goes back to full pairs and to nothing else; what stands before it is read.
#[test]
fn repetitions_that_make_no_sense() {
    let half = word::half(word::READ1, word::HALF_PC_BIAS, word::HALF_ADDR_BIAS + 8);
    let pair = half | half << word::HALF_BITS;
    let full = word::access(word::READ1, word::PC_BIAS, 8);
    let cases = [
        ("of no word", vec![pair, word::repeat(1, 0)], 2),
        ("half a pair", vec![half, word::repeat(1, 1)], 1),
        ("an access", vec![pair, full, word::repeat(2, 1)], 3),
        (
            "a repetition",
            vec![pair, word::repeat(1, 3), word::repeat(1, 1)],
            8,
        ),
        (
            "over a repetition",
            vec![pair, word::repeat(1, 3), pair, word::repeat(3, 1)],
            10,
        ),
        ("before the block", vec![pair, pair, word::repeat(4, 1)], 4),
    ];
    for (what, words, reads) in cases {
        let opened = with_words(false, &words).open();
        let mut reader = opened.read();
        let mut seen = Vec::new();
        while let Ok(Some(step)) = reader.next_step() {
            seen.push(step.event.op());
        }
        let mut expected = vec![Op::Read; 1 + reads];
        expected.extend([Op::Lost, Op::Read]);
        assert_eq!(seen, expected, "{what}");
        let at_the_end = |damage: &Damage| matches!(damage, Damage::Malformed { bytes: 8, .. });
        assert!(
            matches!(reader.damage(), [damage] if at_the_end(damage)),
            "{what}"
        );
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
