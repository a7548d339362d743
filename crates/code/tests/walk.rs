//! A thread's way through its functions.

mod support;

use deadheat_code::{Depends, Facts, Passed, Place, Walk};
use support::{Build, Program};

const SOURCE: &str = r"
int x, y, z;
__attribute__((noinline)) void callee(void) {
    y = 1;          // callee writes
    if (x)          // callee reads
        z = 1;      // callee writes z
}
void caller(void) {
    x = 1;          // caller starts
    callee();       // caller calls
    z = 2;          // caller ends
}
";

struct Thread {
    walk: Walk,
    modules: Vec<Option<Facts>>,
    program: Program,
}

impl Thread {
    fn new() -> Thread {
        let build = Build {
            compiler: "gcc",
            level: 1,
        };
        let program = Program::new(build, "walk.c", SOURCE);
        let modules = vec![Some(program.facts.clone()), None];
        Thread {
            walk: Walk::default(),
            modules,
            program,
        }
    }

    fn place(&self, comment: &str) -> Option<Place> {
        let address = self.program.site(comment);
        Some(Place { module: 0, address })
    }

    fn at(&mut self, comment: &str) -> Passed {
        self.walk.at(self.place(comment), &self.modules)
    }

    fn enter(&mut self, comment: &str) -> Passed {
        let place = self.place(comment);
        self.walk.enter(place, None, &self.modules)
    }

    /// From code of another module, of which nothing is known.
    fn enter_from_elsewhere(&mut self) -> Passed {
        let place = Place {
            module: 1,
            address: 0x1234,
        };
        self.walk.enter(Some(place), None, &self.modules)
    }

    fn leave(&mut self) -> Passed {
        self.walk.leave(&self.modules)
    }
}

#[test]
fn each_activation_has_its_own_way() {
    let mut thread = Thread::new();
    let on_x = thread.program.branch_on(&["callee reads"]);
    assert_eq!(thread.enter_from_elsewhere(), Passed::UNKNOWN);
    assert_eq!(thread.at("caller starts"), Passed::Straight);
    assert_eq!(thread.enter("caller calls"), Passed::Straight);
    assert_eq!(thread.at("callee writes"), Passed::Straight);
    assert_eq!(thread.at("callee reads"), Passed::Straight);
    assert_eq!(thread.at("callee writes z"), on_x);
    assert_eq!(thread.leave(), Passed::Straight);
    assert_eq!(thread.at("caller ends"), Passed::Straight);
    assert_eq!(thread.leave(), Passed::Straight);
    assert_eq!(thread.walk.depth(), 0);
    assert_eq!(thread.leave(), Passed::UNKNOWN, "nothing is left to leave");
}

#[test]
fn a_way_that_the_code_does_not_have_is_unknown() {
    let mut thread = Thread::new();
    thread.enter_from_elsewhere();
    assert_eq!(thread.at("caller starts"), Passed::Straight);
    assert_eq!(
        thread.at("caller ends"),
        Passed::UNKNOWN,
        "the call is missing"
    );
    assert_eq!(
        thread.at("callee reads"),
        Passed::UNKNOWN,
        "another function"
    );
}

#[test]
fn a_callee_that_is_known_is_compared() {
    let mut thread = Thread::new();
    thread.enter_from_elsewhere();
    thread.at("caller starts");
    let (call, wrong) = (thread.place("caller calls"), thread.place("caller ends"));
    thread.walk.enter(call, wrong, &thread.modules);
    assert_eq!(thread.at("callee writes"), Passed::UNKNOWN);
}

#[test]
fn an_activation_from_unknown_code_interrupts() {
    let mut thread = Thread::new();
    thread.enter_from_elsewhere();
    assert_eq!(thread.at("caller starts"), Passed::Straight);
    assert_eq!(thread.enter_from_elsewhere(), Passed::UNKNOWN);
    assert_eq!(thread.at("callee writes"), Passed::Straight);
    thread.leave();
    assert_eq!(thread.enter("caller calls"), Passed::UNKNOWN);
}

#[test]
fn behind_a_gap_nothing_is_known() {
    let mut thread = Thread::new();
    thread.enter_from_elsewhere();
    thread.at("caller starts");
    thread.walk.lost();
    assert_eq!(
        thread.enter("caller calls"),
        Passed::Branched(Depends::Everything)
    );
    assert_eq!(thread.at("callee writes"), Passed::Straight);
}
