//! Histories against the definition over all pairs.

use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::{Access, History, Hold, Node, Options, Record, SliceSlots, Store};

#[derive(Clone, Debug)]
struct Made {
    thread: u32,
    time: u32,
    writes: bool,
    holds: Vec<Hold>,
    /// What its thread knows of the others.
    known: [u32; 3],
}

/// Accesses of three threads; now and then one sends all that it knows to another. Most hold the
/// first lock, one way or the other.
fn accesses() -> impl Strategy<Value = Vec<Made>> {
    let first = prop::option::weighted(0.8, 0..3u8);
    let others = vec((1..5u32, 0..3u8), 0..4);
    let one = (0..3u32, prop::bool::weighted(0.4), first, others, 0..8u32);
    vec(one, 0..24).prop_map(|choices| {
        let mut clocks = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
        let mut all = Vec::new();
        for (thread, writes, first, mut locks, receiver) in choices {
            locks.extend(first.map(|kind| (0, kind)));
            locks.sort_unstable();
            locks.dedup_by_key(|lock| lock.0);
            let holds = locks.into_iter().map(|(lock, kind)| match kind {
                0 => Hold::shared(lock),
                _ => Hold::exclusive(lock),
            });
            let me = thread as usize;
            all.push(Made {
                thread,
                time: clocks[me][me],
                writes,
                holds: holds.collect(),
                known: clocks[me],
            });
            if receiver < 3 && receiver != thread {
                let sent = clocks[me];
                for (mine, theirs) in clocks[receiver as usize].iter_mut().zip(sent) {
                    *mine = (*mine).max(theirs);
                }
                clocks[me][me] += 1;
            }
        }
        all
    })
}

fn race(a: &Made, b: &Made, happens_before: bool) -> bool {
    let excluded = a
        .holds
        .iter()
        .any(|x| b.holds.iter().any(|y| x.excludes(*y)));
    let ordered = happens_before && a.time <= b.known[a.thread as usize];
    a.thread != b.thread && (a.writes || b.writes) && !excluded && !ordered
}

/// The accesses that race with an earlier one, by history; whether any answer was unsure.
fn racing(all: &[Made], options: impl Fn(usize) -> Options) -> (Vec<usize>, bool) {
    let mut nodes = [Node::EMPTY; 200];
    let mut records = vec![Record::filler(0usize); 50];
    let mut store = Store {
        nodes: SliceSlots::new(&mut nodes),
        records: SliceSlots::new(&mut records),
    };
    let mut history = History::new();
    let (mut found, mut unsure) = (Vec::new(), false);
    for (i, made) in all.iter().enumerate() {
        let access = Access {
            thread: made.thread,
            time: made.time,
            writes: made.writes,
            holds: &made.holds,
            payload: i,
        };
        let options = options(i);
        let known = |thread: u32| made.known[thread as usize];
        let outcome = history.add(&mut store, &access, &options, known, |old| {
            assert!(race(&all[old.payload], made, options.happens_before));
        });
        assert!(!outcome.full);
        if outcome.race {
            found.push(i);
        }
        unsure |= outcome.unsure;
    }
    (found, unsure)
}

fn most_locks(all: &[Made]) -> u32 {
    all.iter()
        .map(|made| made.holds.len() as u32)
        .max()
        .unwrap_or(0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    /// With or without every rule the same accesses race; or the first of them, if that is all
    /// that is wanted.
    #[test]
    fn rules_lose_no_race(
        all in accesses(),
        happens_before: bool,
        subset: bool,
        oversized: bool,
        overtake: bool,
        go_on: bool,
    ) {
        let options = Options {
            happens_before,
            subset,
            most_locks: oversized.then(|| most_locks(&all)),
            overtake,
            go_on,
        };
        let pair = |j: &usize| (0..*j).any(|i| race(&all[i], &all[*j], happens_before));
        let mut expected: Vec<usize> = (0..all.len()).filter(pair).collect();
        expected.truncate(if go_on { usize::MAX } else { 1 });
        let (found, unsure) = racing(&all, |_| options);
        prop_assert_eq!(found, expected);
        prop_assert!(!unsure);
    }

    /// If the number of locks is learned, a race is missed only behind an unsure answer.
    #[test]
    fn what_a_small_number_hides_is_said(all in accesses()) {
        let options = |i: usize| Options {
            most_locks: Some(most_locks(&all[..=i]).max(1)),
            go_on: true,
            ..Options::PAPER
        };
        let pair = |j: &usize| (0..*j).any(|i| race(&all[i], &all[*j], true));
        let expected: Vec<usize> = (0..all.len()).filter(pair).collect();
        let (found, unsure) = racing(&all, options);
        prop_assert!(found == expected || unsure);
    }
}

#[test]
fn a_small_number_of_locks_leaves_accesses_out() {
    let lock = |lock| vec![Hold::exclusive(lock)];
    let read = |holds: Vec<Hold>| Made {
        thread: 0,
        time: 1,
        writes: false,
        holds,
        known: [1, 0, 0],
    };
    let mut all: Vec<Made> = (0..3).map(|number| read(lock(number))).collect();
    let many = [0, 1].map(Hold::exclusive).to_vec();
    all.push(Made {
        thread: 1,
        writes: true,
        known: [0, 1, 0],
        ..read(many)
    });
    let at_most = |most| Options {
        most_locks: Some(most),
        ..Options::PAPER
    };
    assert_eq!(racing(&all, |_| at_most(2)), (vec![3], false));
    // The read with lock 2 is left out: who races with it alone would hold two locks.
    assert_eq!(racing(&all, |_| at_most(1)), (vec![], true));
}

#[test]
fn full_memory_is_said() {
    let mut nodes = [Node::EMPTY; 2];
    let mut records = [Record::EMPTY; 2];
    let mut store = Store {
        nodes: SliceSlots::new(&mut nodes),
        records: SliceSlots::new(&mut records),
    };
    let mut history = History::new();
    let add = |lock: u32, history: &mut History, store: &mut Store<_, _>| {
        let holds = [Hold::exclusive(lock)];
        let access = Access {
            thread: 0,
            time: 1,
            writes: true,
            holds: &holds,
            payload: (),
        };
        history.add(store, &access, &Options::PAPER, |_| 0, |_| {})
    };
    assert!(add(1, &mut history, &mut store).remembered);
    assert!(add(2, &mut history, &mut store).full);
    history.clear(&mut store);
    assert!(add(2, &mut history, &mut store).remembered);
}
