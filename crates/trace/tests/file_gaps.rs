//! Blocks that are missing: the rest is read in the same order as ever, with gaps between.

mod file_oracle;
mod file_writer;

use std::collections::BTreeSet;

use deadheat_trace::file::Damage;
use deadheat_trace::{Op, ThreadId};
use deadheat_wire::{BlockHeader, BlockKind};
use file_oracle::{all, merged};
use file_writer::{Act, CODE, Recording, Run, What, read, sync, write};
use proptest::collection::vec;
use proptest::prelude::*;

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
        wrong in 0usize..4,
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
                let word = wrong % header.words as usize;
                recording.blocks[block][BlockHeader::WORDS + word] ^= 1 << 62;
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
