//! What a refused attempt keeps apart: each trace once as it is, once without its attempt.

mod oracle;

use deadheat_predict::{Answer, Asker, Budget, Cut, Goal, Model, Reduced};
use oracle::{Needed, reachable, window};

/// Whether the accesses on two lines race, by the predictor and by brute force.
fn races(trace: &str, lines: [u32; 2]) -> [bool; 2] {
    let window = window(trace, Needed::ByBranch);
    let cut = Cut {
        goal: Goal::Race,
        next: lines.map(|line| line - 1).to_vec(),
    };
    let reduced = Reduced::of(&window);
    let model = Model::new(&reduced.window);
    let inner = reduced.cut(&cut).expect("accesses to shared memory stay");
    let (answer, _) = Asker::new(&model).ask(&inner, &Budget::default());
    [
        matches!(answer, Answer::Reached(_)),
        reachable::schedule_to(&window, &cut).is_some(),
    ]
}

/// Replaces the attempt by something that means nothing.
fn without(trace: &str, attempt: &str) -> String {
    assert!(trace.contains(attempt));
    trace.replace(attempt, "enter")
}

/// The worker holds `working` after its preparation only; see `trylock_path_good.c`.
const PATH: &str = "\
T0|acq(prepared)|1
T0|w(data=1)|2
T0|rel(prepared)|3
T0|acq(working)|4
T1|refused(working)|5
T1|acq(prepared)|6
T1|rel(prepared)|7
T1|r(data=1)|8
T0|rel(working)|9
";

#[test]
fn a_failed_trylock_tells_that_somebody_has_begun() {
    assert_eq!(races(PATH, [2, 8]), [false; 2]);
    assert_eq!(races(&without(PATH, "refused(working)"), [2, 8]), [true; 2]);
    // Readers do not keep readers out: nobody knows why this was refused.
    let reading = PATH
        .replace("acq(working)", "rdlock(working)")
        .replace("rel(working)", "rdunlock(working)")
        .replace("refused", "rdrefused");
    assert_eq!(races(&reading, [2, 8]), [false; 2]);
}

#[test]
fn a_failed_trylock_comes_before_the_release() {
    let trace = "\
T0|acq(m)|1
T1|w(x=1)|2
T1|acq(n)|3
T1|rel(n)|4
T1|refused(m)|5
T1|w(y=1)|6
T0|rel(m)|7
T0|w(y=2)|8
T0|acq(n)|9
T0|rel(n)|10
T0|w(x=2)|11
";
    // The attempt may have to be made for what comes after it, not for what comes before it.
    assert_eq!(races(trace, [6, 8]), [true; 2]);
    assert_eq!(races(trace, [2, 11]), [true; 2]);
    // The other thread's section must be over before, and with it what made the attempt fail.
    let inside = "\
T0|acq(m)|1
T1|acq(n)|2
T1|refused(m)|3
T1|w(x=1)|4
T1|rel(n)|5
T0|rel(m)|6
T0|acq(n)|7
T0|rel(n)|8
T0|w(x=2)|9
";
    assert_eq!(races(inside, [4, 9]), [false; 2]);
    assert_eq!(races(&without(inside, "refused(m)"), [4, 9]), [true; 2]);
    // The second time it is taken it is never given back, so what comes behind the attempt can wait.
    let again =
        "T0|acq(m)|1\nT1|refused(m)|2\nT1|w(x=1)|3\nT0|rel(m)|4\nT0|w(x=2)|5\nT0|acq(m)|6\n";
    assert_eq!(races(again, [3, 5]), [true; 2]);
}

#[test]
fn a_lock_that_nobody_is_known_to_hold() {
    let trace = "T1|refused(m)|1\nT1|w(x=1)|2\nT0|w(x=2)|3\n";
    assert_eq!(races(trace, [2, 3]), [false; 2]);
    assert_eq!(races(&without(trace, "refused(m)"), [2, 3]), [true; 2]);
}

#[test]
fn a_failed_sem_trywait_comes_before_the_post() {
    let trace = "\
T0|take(s)|1
T0|acq(m)|2
T0|w(x=1)|3
T0|rel(m)|4
T0|take(s)|5
T1|takerefused(s)|6
T1|acq(m)|7
T1|rel(m)|8
T1|w(x=2)|9
T0|post(s)|10
";
    assert_eq!(races(trace, [3, 9]), [false; 2]);
    assert_eq!(races(&without(trace, "takerefused(s)"), [3, 9]), [true; 2]);
}
