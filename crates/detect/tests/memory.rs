//! What detectors hold does not grow with the length of a trace that goes on doing the same.

use deadheat_detect::{Detector, Hb, Hybrid, HybridOptions, Races, Shb, Simple};
use deadheat_trace::{EventIndex, Step, Trace, text};

/// Threads that lock, wait, send and access, over and over; some accesses race.
const ROUND: &str = "
    A|acq(m)|1
    A|w(x)|2
    A|notify(c)|3
    A|rel(m)|4
    B|acq(m)|5
    B|rel(m)|6
    B|wait(c)|6
    C|rdlock(n)|7
    C|r(y)|8
    C|rdunlock(n)|9
    A|post(s)|10
    A|notify(c)|11
    B|wake(c)|6
    B|acq(m)|6
    B|r(x)|12
    B|rel(m)|13
    C|take(s)|14
    C|w(z)|15
    B|r(z)|16
    A|aw(f,rel)|17
    B|ar(f,rlx)|18
    B|fence(acq)|19
    C|rmw(f,rlx)|20
    A|alloc(p:64)|21
    A|w(p+8:8)|22
    B|r(p+8:4)|23
    A|free(p)|24
    A|benter(b)|25
    B|benter(b)|26
    A|bexit(b)|27
    B|bexit(b)|28
";

fn memory_after(rounds: &[usize], mut detector: impl Detector, trace: &Trace) -> Vec<usize> {
    let mut races = Races::new();
    let mut all = Vec::new();
    let mut index = 0;
    let mut show = |step: &Step, detector: &mut dyn Detector| {
        detector.step(EventIndex(index), step, &trace.tables, &mut races);
        index += 1;
    };
    for more in rounds {
        for _ in 0..*more {
            for step in &trace.steps {
                show(step, &mut detector);
            }
        }
        all.push(detector.memory());
    }
    all
}

#[test]
fn it_stays() {
    let trace = text::parse(ROUND).unwrap();
    let rounds = [50, 5000];
    let check = |name: &str, memory: Vec<usize>| {
        assert!(
            memory[0] > 0 && memory[1] <= memory[0],
            "{name}: {memory:?}"
        );
    };
    check("hb", memory_after(&rounds, Hb::new(), &trace));
    check("shb", memory_after(&rounds, Shb::new(), &trace));
    check("lockset", memory_after(&rounds, Simple::new(), &trace));
    let hybrid = Hybrid::new(HybridOptions::default());
    check("hybrid", memory_after(&rounds, hybrid, &trace));
}

/// Without dropping what later accesses stand for, a history grows with every message.
#[test]
fn the_papers_rules_alone_do_not_do_it() {
    let trace = text::parse(ROUND).unwrap();
    let options = HybridOptions {
        overtake: false,
        ..HybridOptions::default()
    };
    let memory = memory_after(&[50, 500], Hybrid::new(options), &trace);
    assert!(memory[1] > 2 * memory[0], "{memory:?}");
}
