//! The examples of the paper.

use deadheat_predict::check::check;
use deadheat_predict::{Answer, Asker, Budget, Cut, Goal, Model, Reads, Reduced, Window, needed_by};
use deadheat_trace::text;

/// Whether the events at these lines (from 1) of a text trace can be next at once.
fn races(trace: &str, lines: [u32; 2], reads: Reads) -> bool {
    let trace = text::parse(trace).unwrap();
    let window = Window {
        needed_by: needed_by(&trace.steps, reads),
        steps: trace.steps,
        ..Window::default()
    };
    let cut = Cut {
        goal: Goal::Race,
        next: lines.map(|line| line - 1).to_vec(),
    };
    let reduced = Reduced::of(&window);
    let inner = reduced.cut(&cut).unwrap();
    let model = Model::new(&reduced.window);
    let (answer, _) = Asker::new(&model).ask(&inner, &Budget::default());
    match answer {
        Answer::Reached(schedule) => {
            let schedule = reduced.schedule(&schedule, &cut);
            check(&window, &cut, &schedule).unwrap();
            true
        }
        Answer::Impossible => false,
        Answer::Unknown => panic!("without a limit there is an answer"),
    }
}

const FIGURE_1: &str = "\
t1|fork(t2)|1
t1|acq(l)|2
t1|w(x=1)|3
t1|w(y=1)|4
t1|rel(l)|5
t2|begin|6
t2|acq(l)|7
t2|r(y=1)|8
t2|rel(l)|9
t2|r(x=1)|10
t2|branch|11
t2|w(z=1)|12
t2|end|13
t1|join(t2)|14
t1|r(z=1)|15
t1|branch|16
";

#[test]
fn figure_1() {
    assert!(races(FIGURE_1, [3, 10], Reads::ByBranch));
    assert!(!races(FIGURE_1, [12, 15], Reads::ByBranch));
    // Read values must be kept without branches.
    assert!(!races(FIGURE_1, [3, 10], Reads::ByNext));
}
