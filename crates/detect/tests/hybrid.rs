//! `hybrid` against the formula over all pairs, its figures, channels and marks.

mod oracle;
mod reported;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use deadheat_detect::{Channels, Detector, Hybrid, HybridOptions, Mark, Marked, Races};
use deadheat_trace::{EventIndex, LockId, Op, Pc, Steps, Tables, ThreadId, Trace, text};
use oracle::order::{Before, Rules, conflicts, held_at, touched};
use oracle::random::{Shape, traces_of_parts};
use proptest::prelude::*;
use reported::{Pairs, pairs};

fn run(options: HybridOptions, trace: &Trace) -> (Hybrid, Races) {
    let mut hybrid = Hybrid::new(options);
    let mut races = Races::new();
    for (index, step) in trace.steps.iter().enumerate() {
        hybrid.step(EventIndex(index as u64), step, &trace.tables, &mut races);
    }
    (hybrid, races)
}

/// Whether some lock keeps two steps apart.
fn excluded(held: &[HashMap<LockId, bool>], i: usize, j: usize) -> bool {
    let both = held[i].iter();
    both.filter_map(|(lock, shared)| Some((shared, held[j].get(lock)?)))
        .any(|(a, b)| !a || !b)
}

/// The formula.
fn expected(trace: &Trace, rules: &Rules) -> Pairs {
    let held = held_at(trace);
    let races = Before::new(trace, rules).races(trace);
    races
        .into_iter()
        .filter(|(i, j)| !excluded(&held, *i, *j))
        .collect()
}

/// The bytes that pairs race on, in which life, with the first second access of each.
fn locations(trace: &Trace, pairs: &Pairs) -> BTreeMap<(u64, usize), usize> {
    let steps = &trace.steps;
    let mut first = BTreeMap::new();
    for (i, j) in pairs {
        for byte in touched(steps, *i).intersection(&touched(steps, *j)) {
            let life = (0..*j).rfind(|k| {
                let start = steps[*k].event.addr().0;
                steps[*k].event.op() == Op::Alloc
                    && (start..start + steps[*k].written().unwrap()).contains(byte)
            });
            let life = life.map_or(0, |k| k + 1);
            if *i + 1 < life {
                continue;
            }
            let at = first.entry((*byte, life)).or_insert(*j);
            *at = (*at).min(*j);
        }
    }
    first
}

fn seconds(pairs: &Pairs) -> BTreeSet<usize> {
    pairs.iter().map(|pair| pair.1).collect()
}

fn options(subset: bool, oversized: bool, overtake: bool) -> HybridOptions {
    HybridOptions {
        subset,
        oversized,
        overtake,
        use_channels: false,
        ..HybridOptions::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// With and without every rule: only races, and every access that races with some earlier one;
    /// if one race of a location is enough, a race on the same locations.
    #[test]
    fn the_formula(
        trace in traces_of_parts(Shape { steps: 24, locks: 3, ..Shape::EVERYTHING }),
        subset: bool,
        oversized: bool,
        overtake: bool,
    ) {
        let expected = expected(&trace, &Rules::messages());
        let mut options = options(subset, oversized, overtake);
        // All three locks, and what atomic accesses hold.
        options.most_locks = 4;
        let (hybrid, races) = run(options.clone(), &trace);
        let reported = pairs(&races);
        prop_assert!(reported.is_subset(&expected), "{reported:?} {expected:?}");
        prop_assert_eq!(seconds(&reported), seconds(&expected));
        prop_assert_eq!(locations(&trace, &reported), locations(&trace, &expected));
        prop_assert_eq!(hybrid.unsure_locations(), 0);
        options.go_on = false;
        let (_, first) = run(options, &trace);
        let first = pairs(&first);
        prop_assert!(first.is_subset(&expected));
        let all = locations(&trace, &expected);
        let found = locations(&trace, &first);
        prop_assert!(found.keys().eq(all.keys()), "{found:?} {all:?}");
    }

    /// If the number of locks is learned, what is missed is said, and a second run finds it.
    #[test]
    fn a_learned_number_of_locks(trace in traces_of_parts(Shape { steps: 24, locks: 3, ..Shape::EVERYTHING })) {
        let expected = locations(&trace, &expected(&trace, &Rules::messages()));
        let (hybrid, races) = run(options(true, true, true), &trace);
        if hybrid.unsure_locations() == 0 {
            prop_assert_eq!(locations(&trace, &pairs(&races)), expected.clone());
        }
        let again = HybridOptions { most_locks: hybrid.most_locks(), ..options(true, true, true) };
        let (hybrid, races) = run(again, &trace);
        prop_assert_eq!(hybrid.unsure_locations(), 0);
        prop_assert_eq!(locations(&trace, &pairs(&races)), expected);
    }

    /// Channels known before: the formula with their order.
    #[test]
    fn channels_order(trace in traces_of_parts(Shape::EVERYTHING)) {
        let channels = Channels::find(&mut trace.stream()).unwrap();
        let locks = (0..2).map(LockId).filter(|lock| channels.contains(*lock)).collect();
        let rules = Rules { locks, ..Rules::messages() };
        let expected = expected(&trace, &rules);
        let options = HybridOptions { channels, most_locks: 4, ..HybridOptions::default() };
        let reported = pairs(&run(options, &trace).1);
        prop_assert!(reported.is_subset(&expected), "{reported:?} {expected:?}");
        prop_assert_eq!(locations(&trace, &reported), locations(&trace, &expected));
    }

    /// Every pair that races by happens-before is one of hybrid, with channels or without: the
    /// order has less, and two accesses that a lock excludes are ordered by it.
    #[test]
    fn hb_is_within(trace in traces_of_parts(Shape::EVERYTHING), use_channels: bool) {
        let hb = Before::new(&trace, &Rules::happens_before(&trace)).races(&trace);
        let channels = Channels::find(&mut trace.stream()).unwrap();
        let locks = (0..2).map(LockId).filter(|lock| use_channels && channels.contains(*lock));
        let rules = Rules { locks: locks.collect(), ..Rules::messages() };
        prop_assert!(hb.is_subset(&expected(&trace, &rules)));
        let options = HybridOptions { most_locks: 4, channels, use_channels, ..HybridOptions::default() };
        let found = pairs(&run(options, &trace).1);
        prop_assert!(seconds(&hb).is_subset(&seconds(&found)));
    }

    /// Without happens-before: locks alone, from when a second thread comes.
    #[test]
    fn locks_alone(trace in traces_of_parts(Shape { heap: false, ..Shape::EVERYTHING })) {
        let mut options = options(true, true, true);
        options.happens_before = false;
        options.most_locks = 4;
        let (_, races) = run(options, &trace);
        let held = held_at(&trace);
        let steps = &trace.steps;
        let counts = |k: usize, byte: u64| {
            let users = (0..=k).filter(|k| touched(steps, *k).contains(&byte));
            let threads: BTreeSet<ThreadId> = users.map(|k| steps[k].event.thread()).collect();
            threads.len() > 1
        };
        let all = conflicts(&trace).into_iter().filter(|(i, j)| {
            let shared = touched(steps, *i).into_iter().any(|byte| {
                touched(steps, *j).contains(&byte) && counts(*i, byte)
            });
            shared && !excluded(&held, *i, *j)
        });
        let all: Pairs = all.collect();
        let reported = pairs(&races);
        prop_assert!(reported.is_subset(&all), "{reported:?} {all:?}");
        prop_assert_eq!(seconds(&reported), seconds(&all));
    }
}

fn warnings(text: &str) -> Vec<(u64, u64)> {
    let trace = text::parse(text).unwrap();
    let channels = Channels::find(&mut trace.stream()).unwrap();
    let options = HybridOptions {
        channels,
        ..HybridOptions::default()
    };
    let (_, races) = run(options, &trace);
    let found = races.found().iter().map(|found| &found.race);
    found
        .map(|race| (race.first.index.0, race.second.index.0))
        .collect()
}

const POOL: &str = "
    A|w(object)|1
    A|acq(pool)|2
    A|w(top)|2
    A|rel(pool)|2
    B|acq(pool)|3
    B|r(top)|3
    B|rel(pool)|3
    B|w(object)|4
";

#[test]
fn an_object_through_a_pool() {
    // Nothing says that the lock hands objects over.
    assert_eq!(warnings(POOL), [(0, 7)]);
    // Somewhere else, later, somebody waits there.
    let blocking = format!("{POOL}C|acq(pool)|5\nC|rel(pool)|5\nC|wait(filled)|5\n");
    assert_eq!(warnings(&blocking), []);
    let notifying = format!("{POOL}C|acq(pool)|5\nC|notify(filled)|5\n");
    assert_eq!(warnings(&notifying), []);
}

#[test]
fn locks_made_at_the_same_place_are_of_one_kind() {
    let kind = format!(
        "A|init(lock:pool)|pool.c:1\nA|init(lock:other)|pool.c:1\n{POOL}C|acq(other)|5\nC|rel(other)|5\nC|wait(filled)|5\n"
    );
    assert_eq!(warnings(&kind), []);
    let elsewhere = kind.replacen("pool.c:1", "pool.c:2", 1);
    assert_eq!(warnings(&elsewhere), [(2, 9)]);
}

#[test]
fn marked_functions_hand_over() {
    let calls = "
        A|w(object)|1
        A|enter|10
        A|acq(pool)|give
        A|w(top)|give
        A|rel(pool)|give
        A|leave|10
        B|enter|20
        B|enter|take
        B|acq(pool)|lock
        B|leave|take
        B|r(top)|take
        B|rel(pool)|take
        B|leave|20
        B|w(object)|4
    "
    .replace("|give", "|give.c:1")
    .replace("|take", "|take.c:1")
    .replace("|lock", "|lock.c:1");
    let trace = text::parse(&calls).unwrap();
    let with_marks = |give: &str| {
        let mark = |pc: Pc, tables: &Tables| match tables.location(pc).as_str() {
            place if place == give => Some(Mark {
                pair: 0,
                sends: true,
            }),
            "take.c:1" => Some(Mark {
                pair: 0,
                sends: false,
            }),
            _ => None,
        };
        let mut steps = Marked::new(trace.stream(), |pc| mark(pc, &trace.tables));
        let mut hybrid = Hybrid::new(HybridOptions::default());
        let mut races = Races::new();
        while let Some(step) = steps.next_step().unwrap() {
            let index = steps.last_index().unwrap();
            assert!(
                [Op::Send, Op::Receive].contains(&step.event.op())
                    || step == trace.steps[index.index()]
            );
            hybrid.step(index, &step, steps.tables(), &mut races);
        }
        pairs(&races)
    };
    assert_eq!(with_marks("give.c:1"), Pairs::new());
    assert_eq!(with_marks("nothing"), Pairs::from([(0, 13)]));
}

#[test]
fn figure_1() {
    let text = "
        main|w(flag)|1
        main|w(child)|2
        main|fork(T1)|3
        main|acq(lock)|4
        main|r(child)|4
        T1|r(flag)|5
        T1|w(child)|6
        main|r(child)|7
        main|rel(lock)|7
    ";
    assert_eq!(warnings(text), [(4, 6), (6, 7)]);
}

/// The words of locks that are atomics order nothing.
#[test]
fn words_of_locks() {
    let text = "
        #! lock m addr=0x5000
        A|w(x)|1
        A|rmw(0x5000:4,acq)|2
        A|acq(m)|2
        A|rel(m)|3
        A|aw(0x5000:4,rel)|3
        B|rmw(0x5000:4,acq)|4
        B|acq(m)|4
        B|rel(m)|5
        B|aw(0x5000:4,rel)|5
        B|w(x)|6
    ";
    assert_eq!(warnings(text), [(0, 9)]);
    let no_lock = text.replace("0x5000:4,", "0x6000:4,");
    assert_eq!(warnings(&no_lock), []);
}
