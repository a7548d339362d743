//! The predictor against brute force: the same cuts, each with a schedule that the checker accepts.

mod oracle;

use deadheat_predict::check::check;
use deadheat_predict::{Answer, Asker, Budget, Cut, Goal, Model, Reduced, Window};
use deadheat_trace::Op;
use proptest::prelude::*;

use oracle::random::{Rest, Shape, windows, windows_of_parts};
use oracle::{Needed, reachable, window};

/// All cuts that are asked for, one after the other, against those that can be reached.
fn agrees(window: &Window, cuts: &[Cut], reachable: impl Fn(&Cut) -> bool) {
    let reduced = Reduced::of(window);
    let model = Model::new(&reduced.window);
    let mut asker = Asker::new(&model);
    for cut in cuts {
        let expected = reachable(cut);
        let Some(inner) = reduced.cut(cut) else {
            assert!(!expected, "left out: {cut:?}\n{:#?}", told(window));
            continue;
        };
        match asker.ask(&inner, &Budget::default()) {
            (Answer::Reached(schedule), stage) => {
                let schedule = reduced.schedule(&schedule, cut);
                if let Err(violation) = check(window, cut, &schedule) {
                    panic!(
                        "{violation} ({stage:?})\n{cut:?} by {schedule:?}\n{:#?}",
                        told(window)
                    );
                }
                assert!(expected, "the oracle has missed {cut:?}");
            }
            (Answer::Impossible, stage) => {
                assert!(
                    !expected || oracle::is_mixed(window, &cut.next) || is_elsewhere(window, cut),
                    "missed by {stage:?}: {cut:?}\n{:#?}",
                    told(window)
                );
            }
            (Answer::Unknown, stage) => panic!("{stage:?} gave up on {cut:?}\n{:#?}", told(window)),
        }
    }
}

/// A refused attempt could have failed for another reason than it did, and must for this cut: the predictor does not look for
/// such reasons. So a race may be missed, but none that needs no other reason.
fn is_elsewhere(window: &Window, cut: &Cut) -> bool {
    !reachable::is_reached_with_pins(window, cut)
}

fn told(window: &Window) -> Vec<String> {
    let steps = window.steps.iter().zip(&window.needed_by).enumerate();
    steps
        .map(|(at, (step, need))| format!("{at}: {step:?} needed by {need}"))
        .collect()
}

fn races(window: &Window) {
    let expected = reachable::races(window);
    let cuts: Vec<Cut> = oracle::candidates(window)
        .into_iter()
        .map(|next| Cut {
            goal: Goal::Race,
            next: next.to_vec(),
        })
        .collect();
    agrees(window, &cuts, |cut| {
        expected.contains_key(&[cut.next[0], cut.next[1]])
    });
}

/// Of waits for conditions only those are looked for that no notification follows: one that somebody else uses up may.
fn deadlocks(window: &Window) {
    let expected = reachable::deadlocks(window);
    let is_woken = |at: &u32| window.steps[*at as usize].event.op() == Op::Wake;
    let cuts: Vec<Cut> = expected
        .keys()
        .filter(|next| !next.iter().any(is_woken))
        .map(|next| Cut {
            goal: Goal::Deadlock,
            next: next.clone(),
        })
        .collect();
    agrees(window, &cuts, |_| true);
}

/// Found by `races_of_everything`. What code that nobody saw wrote covers bytes that only its own thread uses: nobody has
/// accessed those before, so it depends on all that others did from the beginning, `T1`'s post too.
#[test]
fn an_external_write_is_one_write_whoever_shares_its_bytes() {
    let trace = "\
        T1|post(s)|0\n\
        T0|acq(b)|1\n\
        T0|w(x+4:8=1)|2\n\
        T0|acq(a)|3\n\
        T0|w(x+4:8=0)|4\n\
        T0|rel(a)|5\n\
        T0|acq(a)|6\n\
        T2|extern(x:8=1)|7\n\
        T2|r(x+2:4=0)|8\n\
        T2|branch|9\n\
        T0|w(x+4:8=0)|10\n\
        T2|r(x:8=1)|11\n\
        T2|r(x+2:4=0)|12\n\
        T2|w(x:8=0)|13\n";
    let mut window = window(trace, Needed::ByBranch);
    window.needed_by[7] = 9;
    races(&window);
    deadlocks(&window);
}

/// Found by `races_of_everything`. What T1 reads of its own bytes depends on T0's read, as code that nobody saw has written them
/// together with bytes that T0 has read: it does not write what it wrote if T0 has not read, and so T1 may do anything.
#[test]
fn an_external_write_shares_all_its_bytes() {
    let trace = "\
        T0|acq(m)|0\n\
        T1|r(x+8:8=0)|1\n\
        T1|w(x+8:8=1)|2\n\
        T0|r(x+4:8=0x100000000)|3\n\
        T1|extern(x+8:8=0)|4\n\
        T1|w(x+8:4=1)|5\n\
        T1|r(x+8:8=1)|6\n\
        T1|extern(x+8:8=0)|7\n\
        T1|w(x:8=0)|8\n\
        T0|ar(y:8=0)|9\n\
        T0|branch|10\n\
        T1|w(x+10:4=1)|11\n\
        T1|ar(x:8=0)|12\n\
        T1|w(x+10:4=0)|13\n";
    let window = window(trace, Needed::ByBranch);
    races(&window);
    deadlocks(&window);
}

/// Found by `larger_windows_lose_nothing`. A lock is used after its end: all that was done with it before comes before that.
#[test]
fn a_second_life_comes_after_all_of_the_first() {
    let trace = "\
        T0|acq(m)|0\n\
        T0|rel(m)|1\n\
        T2|acq(m)|2\n\
        T2|rel(m)|3\n\
        T0|destroy(lock:m)|4\n\
        T0|w(x=1)|5\n\
        T1|acq(m)|6\n\
        T1|r(x=1)|7\n";
    let window = window(trace, Needed::ByBranch);
    races(&window);
    deadlocks(&window);
}

/// Found by `races_of_everything`. The block that T0 wrote to is given back and handed out anew.
#[test]
fn accesses_to_different_lives_of_memory_are_no_race() {
    let trace = "\
        T0|alloc(x:16)|0\n\
        T0|fork(T1)|1\n\
        T0|fork(T2)|2\n\
        T0|w(x:8=0)|3\n\
        T2|free(x)|4\n\
        T1|alloc(x:16)|5\n\
        T0|r(x:8)|6\n\
        T1|r(x:8)|7\n";
    let window = window(trace, Needed::ByBranch);
    races(&window);
    let reduced = Reduced::of(&window);
    let model = Model::new(&reduced.window);
    let cut = Cut {
        goal: Goal::Race,
        next: vec![3, 7],
    };
    let asked = reduced.cut(&cut).expect("both are shared");
    let (answer, _) = Asker::new(&model).ask(&asked, &Budget::default());
    assert_eq!(answer, Answer::Impossible);
}

/// A window is never asked about what lies behind a gap in it: another one begins there.
const WITHOUT_GAPS: Shape = Shape {
    rest: Rest {
        gaps: false,
        ..Shape::EVERYTHING.rest
    },
    ..Shape::EVERYTHING
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn races_of_the_paper_s_events(window in windows(Shape { steps: 14, ..Shape::PAPER }, Needed::ByBranch)) {
        races(&window);
    }

    #[test]
    fn races_without_control_flow(window in windows(Shape { steps: 14, ..Shape::PAPER }, Needed::ByNext)) {
        races(&window);
    }

    #[test]
    fn races_with_all_kinds_of_locks(window in windows(Shape::LOCKS, Needed::ByBranch)) {
        races(&window);
        deadlocks(&window);
    }

    #[test]
    fn waits_in_vain(window in windows(Shape::WAITS, Needed::ByBranch)) {
        deadlocks(&window);
    }

    #[test]
    fn races_with_refused_attempts(window in windows(Shape::REFUSED, Needed::ByBranch)) {
        races(&window);
        deadlocks(&window);
    }

    #[test]
    fn races_of_everything(window in windows_of_parts(WITHOUT_GAPS, Needed::ByBranch)) {
        races(&window);
        deadlocks(&window);
    }
}
