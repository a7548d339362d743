//! The engine is a library: a program is checked from Rust, and its findings are walked.

mod support;

use std::path::Path;

use deadheat_analysis::Analysis;
use deadheat_engine::check::{Check, Observer, Silent, Verified};
use deadheat_report::{Finding, Kind, Rung};
use deadheat_run::Store;
use deadheat_run::recorder::Recorded;
use support::{Sandbox, succeed};

/// Two threads that count, of which one takes the lock.
const RACE: &str = "\
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void *careful(void *unused) {
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *careless(void *unused) {
    count++;
    return unused;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, careful, 0);
    pthread_create(&two, 0, careless, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
";

/// A check of the program, built, with recordings of its own.
fn check(here: &Sandbox) -> Check<'static> {
    here.file("prog.c", RACE);
    succeed(&mut here.deadheat(["cc", "-pthread", "-g", "prog.c", "-o", "prog"]));
    let program = here.path().join("prog");
    Check {
        store: Store::of_folder(here.path()).unwrap(),
        ..Check::of(vec![program.into()]).unwrap()
    }
}

#[test]
fn a_program_is_checked_from_rust() {
    let here = Sandbox::new();
    let checked = check(&here).run(&mut Silent).unwrap().unwrap();
    let [race] = &checked.analysis.findings[..] else {
        panic!("{:?}", checked.analysis.findings);
    };
    assert_eq!((race.kind, race.rung), (Kind::Race, Rung::Confirmed));
    assert!(!checked.is_open);
}

#[derive(Default)]
struct Heard {
    threads: Vec<usize>,
    sure: Vec<usize>,
}

impl Observer for Heard {
    fn recorded(&mut self, number: usize, recorded: &Recorded, verified: &Verified) {
        assert_eq!(number, self.threads.len());
        assert!(verified.report.is_well_formed() && !recorded.deadlocked);
        self.threads.push(verified.stats.threads.len());
    }

    fn found_early(&mut self, trace: &Path, _: &mut Analysis) {
        panic!("{} is not long", trace.display());
    }

    fn run_ended(&mut self, _: usize, _: u64, _: &[Finding], found: &[Finding]) {
        let sure = found.iter().filter(|one| one.rung == Rung::Confirmed);
        self.sure.push(sure.count());
    }
}

#[test]
fn an_observer_hears_of_every_run() {
    let here = Sandbox::new();
    let check = Check {
        runs: 2,
        ..check(&here)
    };
    let mut heard = Heard::default();
    check.run(&mut heard).unwrap();
    assert_eq!(heard.threads, [3, 3]);
    // What the first run has confirmed is not enforced again.
    assert_eq!(heard.sure, [1, 0]);
}

#[test]
fn what_is_suppressed_is_not_found() {
    let here = Sandbox::new();
    let mut check = check(&here);
    check.suppressions.read("race:careless\n").unwrap();
    let checked = check.run(&mut Silent).unwrap().unwrap();
    assert!(checked.analysis.findings.is_empty());
}
