//! The checker, rule by rule: what it accepts, and what it says of what it does not.

mod oracle;

use deadheat_predict::check::{Broken, Observed, Simulation, Violation};
use deadheat_predict::{Block, Content, Cut, Goal, Hold, Holding, Window};
use deadheat_trace::{Addr, LockId, SyncId, ThreadId};
use oracle::{Needed, window};

/// Executes events by their lines, from 1; what the last breaks, all before it being allowed.
#[track_caller]
fn broken(window: &Window, lines: &[u32]) -> Option<Broken> {
    let observed = Observed::new(window);
    let mut simulation = Simulation::new(&observed);
    let (last, before) = lines.split_last().expect("there is a last one");
    for line in before {
        simulation
            .run(line - 1)
            .expect("only the last breaks a rule");
    }
    match simulation.run(last - 1) {
        Ok(()) => None,
        Err(Violation::Step {
            broken,
            event,
            step,
        }) => {
            assert_eq!((event, step), (last - 1, before.len()));
            Some(broken)
        }
        Err(other) => panic!("{other}"),
    }
}

/// As [`broken`], for a text trace in which branches depend on reads.
#[track_caller]
fn of(trace: &str, lines: &[u32]) -> Option<Broken> {
    broken(&window(trace, Needed::ByBranch), lines)
}

#[track_caller]
fn reached(window: &Window, goal: Goal, schedule: &[u32], next: &[u32]) -> Result<(), Violation> {
    let from_0 = |lines: &[u32]| -> Vec<u32> { lines.iter().map(|line| line - 1).collect() };
    let next = from_0(next);
    Observed::new(window).check(&Cut { goal, next }, &from_0(schedule))
}

#[track_caller]
fn race(trace: &str, schedule: &[u32], next: &[u32]) -> Result<(), Violation> {
    reached(&window(trace, Needed::ByBranch), Goal::Race, schedule, next)
}

#[test]
fn program_order() {
    let trace = "T0|w(x=1)|1\nT0|w(x=2)|2\nT1|w(x=3)|3\n";
    assert_eq!(of(trace, &[3, 1, 2]), None);
    assert_eq!(of(trace, &[2]), Some(Broken::NotInTurn(0)));
    assert_eq!(of(trace, &[1, 1]), Some(Broken::Again));
    assert_eq!(of(trace, &[4]), Some(Broken::OutOfRange(3)));
}

#[test]
fn threads() {
    let trace = "T0|fork(T1)|1\nT1|r(x=0)|2\nT0|join(T1)|3\n";
    assert_eq!(of(trace, &[2]), Some(Broken::NotForked(0)));
    assert_eq!(of(trace, &[1, 3]), Some(Broken::NotEnded(1)));
    assert_eq!(of(trace, &[1, 2, 3]), None);
}

#[test]
fn an_end_that_is_not_told_depends_on_all_reads() {
    let told = "T0|w(x=1)|1\nT1|r(x=1)|2\nT1|end|3\nT2|join(T1)|4\n";
    assert_eq!(of(told, &[2, 3, 4]), None);
    let not_told = "T0|w(x=1)|1\nT1|r(x=1)|2\nT2|join(T1)|3\n";
    assert_eq!(of(not_told, &[2, 3]), Some(Broken::ReadElse(1)));
    assert_eq!(of(not_told, &[1, 2, 3]), None);
}

#[test]
fn locks() {
    let trace = "T0|acq(m)|1\nT0|acq(m)|2\nT0|rel(m)|3\nT0|rel(m)|4\nT1|acq(m)|5\n";
    let held = Broken::Held {
        lock: LockId(0),
        holder: ThreadId(0),
    };
    assert_eq!(of(trace, &[1, 5]), Some(held.clone()));
    assert_eq!(of(trace, &[1, 2, 3, 5]), Some(held));
    assert_eq!(of(trace, &[1, 2, 3, 4, 5]), None);
    assert_eq!(of("T0|rel(m)|1\n", &[1]), Some(Broken::NotHeld(LockId(0))));
}

#[test]
fn read_write_locks() {
    let trace = "T0|rdlock(m)|1\nT0|rdunlock(m)|2\nT1|rdlock(m)|3\nT1|rdunlock(m)|4\nT2|acq(m)|5\n";
    assert_eq!(of(trace, &[1, 3]), None);
    let held = |holder| Broken::Held {
        lock: LockId(0),
        holder: ThreadId(holder),
    };
    assert_eq!(of(trace, &[1, 3, 2, 5]), Some(held(1)));
    assert_eq!(of(trace, &[5, 1]), Some(held(2)));
}

#[test]
fn locks_held_at_the_border() {
    let mut window = window("T0|rel(m)|1\nT1|acq(m)|2\n", Needed::ByBranch);
    window.border.held.push(Holding {
        thread: ThreadId(0),
        lock: LockId(0),
        hold: Hold::Write,
        times: 1,
    });
    assert_eq!(broken(&window, &[1, 2]), None);
    assert!(matches!(broken(&window, &[2]), Some(Broken::Held { .. })));
}

#[test]
fn conditions() {
    let trace = "\
T0|wait(c)|1
T1|wait(c)|2
T2|notify(c)|3
T0|wake(c)|4
T2|notify(c)|5
T1|wake(c)|6
T2|notifyall(c)|7
";
    let lost = Some(Broken::NotNotified(SyncId(0)));
    assert_eq!(of(trace, &[1, 3, 4]), None);
    assert_eq!(of(trace, &[3, 1, 4]), lost, "nobody waited when it came");
    assert_eq!(of(trace, &[1, 2, 3, 6, 4]), lost, "one wakes one");
    assert_eq!(of(trace, &[1, 2, 3, 6, 5, 4]), None);
    assert_eq!(of(trace, &[1, 2, 3, 5, 7, 4, 6]), None);
    // The first notification came too early for the second thread: it must be left to the first.
    assert_eq!(of(trace, &[1, 3, 2, 5, 4, 6]), None);
    assert_eq!(
        of("T0|wake(c)|1\nT1|notify(c)|2\n", &[1]),
        None,
        "told before the window"
    );
    assert_eq!(of("T1|notify(c)|1\nT0|wake(c)|2\n", &[2]), lost);
}

#[test]
fn semaphores() {
    let trace = "T0|take(s)|1\nT0|post(s)|2\nT1|take(s)|3\n";
    let nothing = Some(Broken::NothingPosted(SyncId(0)));
    assert_eq!(
        of(trace, &[3]),
        None,
        "what was there can be taken by anyone"
    );
    assert_eq!(of(trace, &[3, 1]), nothing);
    assert_eq!(of(trace, &[1, 2, 3]), None);
}

#[test]
fn refused_attempts_at_locks() {
    let trace =
        "T0|acq(m)|1\nT1|refused(m)|2\nT0|rel(m)|3\nT2|acq(m)|4\nT2|refused(m)|5\nT2|rel(m)|6\n";
    let free = Some(Broken::NotRefused(LockId(0)));
    assert_eq!(of(trace, &[2]), free);
    assert_eq!(of(trace, &[1, 2]), None);
    assert_eq!(of(trace, &[1, 3, 2]), free);
    assert_eq!(of(trace, &[4, 2]), None, "anybody will do");
    assert_eq!(of(trace, &[4, 5]), None, "even the thread itself");
    let readers = "T0|rdlock(m)|1\nT1|refused(m)|2\nT0|rdunlock(m)|3\nT2|acq(m)|4\nT1|rdrefused(m)|5\nT2|rel(m)|6\n";
    assert_eq!(of(readers, &[2]), free);
    assert_eq!(of(readers, &[1, 2, 5]), free, "readers let readers in");
    assert_eq!(of(readers, &[1, 2, 3, 4, 5]), None);
}

#[test]
fn refused_attempts_at_semaphores() {
    let trace = "T0|take(s)|1\nT1|takerefused(s)|2\nT0|post(s)|3\n";
    let some = Some(Broken::SomethingPosted(SyncId(0)));
    assert_eq!(of(trace, &[2]), some);
    assert_eq!(of(trace, &[1, 2]), None);
    assert_eq!(of(trace, &[1, 3, 2]), some);
    // Whoever took what was posted before the attempt was not seen.
    let unknown = "T0|post(s)|1\nT1|takerefused(s)|2\n";
    assert_eq!(of(unknown, &[2]), some);
    assert_eq!(of(unknown, &[1, 2]), some);
}

#[test]
fn barriers() {
    let trace = "\
T0|benter(b)|1
T1|benter(b)|2
T0|bexit(b)|3
T0|benter(b)|4
T1|bexit(b)|5
";
    assert_eq!(of(trace, &[1, 3]), Some(Broken::NotEntered(1)));
    assert_eq!(
        of(trace, &[2, 1, 5]),
        None,
        "the next round is none of its business"
    );
    // Whoever leaves without having entered may have waited for all that came.
    let cut = "T0|benter(b)|1\nT1|bexit(b)|2\nT0|bexit(b)|3\nT0|benter(b)|4\nT1|benter(b)|5\nT1|bexit(b)|6\n";
    assert_eq!(of(cut, &[2]), Some(Broken::NotEntered(0)));
    assert_eq!(of(cut, &[1, 2, 5]), None);
    assert_eq!(of(cut, &[1, 2, 5, 6]), Some(Broken::NotEntered(3)));
    // Four came to a barrier for two before anyone left: who met whom is not known.
    let crowd = "\
T0|init(barrier:b=2)|1
T0|benter(b)|2
T1|benter(b)|3
T2|benter(b)|4
T0|bexit(b)|5
T3|benter(b)|6
T2|bexit(b)|7
";
    assert_eq!(of(crowd, &[1, 2, 3, 4, 7]), Some(Broken::NotEntered(5)));
}

#[test]
fn channels_and_futexes() {
    let channel = "T0|send(c)|1\nT1|recv(c)|2\nT0|send(c)|3\n";
    assert_eq!(of(channel, &[2]), Some(Broken::NotSent(0)));
    assert_eq!(of(channel, &[1, 2]), None);
    let futex = "T0|fwait(f)|1\nT1|fwake(f)|2\nT0|fwoken(f)|3\n";
    assert_eq!(of(futex, &[2, 1, 3]), Some(Broken::NotWoken(SyncId(0))));
    assert_eq!(of(futex, &[1, 2, 3]), None);
    assert_eq!(
        of("T0|fwait(f)|1\nT0|fwoken(f)|2\nT1|fwake(f)|3\n", &[1, 2]),
        None
    );
}

#[test]
fn lives_of_objects() {
    let trace = "T0|init(lock:m)|1\nT1|acq(m)|2\nT1|rel(m)|3\nT2|destroy(lock:m)|4\n";
    assert_eq!(of(trace, &[2]), Some(Broken::NotBorn(0)));
    assert_eq!(of(trace, &[1, 4, 2]), Some(Broken::Gone(3)));
    assert_eq!(of(trace, &[1, 2, 3, 4]), None);
}

const BLOCK: &str = "T0|alloc(0x1000:16)|1\nT1|w(0x1008:8=1)|2\nT2|free(0x1000)|3\nT0|alloc(0x1000:16)|4\nT1|w(0x1008:8=1)|5\n";

#[test]
fn lives_of_memory() {
    assert_eq!(of(BLOCK, &[2]), Some(Broken::NotBorn(0)));
    assert_eq!(of(BLOCK, &[1, 3, 2]), Some(Broken::Gone(2)));
    assert_eq!(of(BLOCK, &[1, 4, 2, 5, 3]), None, "two blocks");
}

#[test]
fn a_release_of_memory_races() {
    assert_eq!(race(BLOCK, &[1], &[2, 3]), Ok(()));
    assert!(matches!(
        race(BLOCK, &[1, 4, 2], &[5, 3]),
        Err(Violation::NoRace(..))
    ));
    // The size is known from before the window; else only the first byte is.
    let trace = "T1|w(0x1008:8=1)|1\nT1|w(0x1000:8=1)|2\nT2|free(0x1000)|3\n";
    assert!(race(trace, &[], &[1, 3]).is_err());
    assert_eq!(race(trace, &[1], &[2, 3]), Ok(()));
    let mut window = window(trace, Needed::ByBranch);
    let (start, bytes) = (Addr(0x1000), 16);
    window.border.blocks.push(Block { start, bytes });
    assert_eq!(reached(&window, Goal::Race, &[], &[1, 3]), Ok(()));
    assert_eq!(broken(&window, &[3, 1]), Some(Broken::Gone(2)));
}

#[test]
fn gaps() {
    let trace = "T0|w(x=1)|1\nT1|r(x=1)|2\nT1|lost|3\nT2|r(y=0)|4\n";
    assert_eq!(of(trace, &[1, 2, 4]), None);
    assert_eq!(of(trace, &[1, 4]), Some(Broken::BeforeGap(1)));
    assert_eq!(of(trace, &[2, 1, 4]), Some(Broken::BeforeGap(1)));
}

#[test]
fn branches_need_reads() {
    let trace = "T0|w(x=1)|1\nT1|r(x=1)|2\nT1|w(y=1)|3\nT1|branch|4\n";
    assert_eq!(of(trace, &[2, 3]), None);
    assert_eq!(of(trace, &[2, 3, 4]), Some(Broken::ReadElse(1)));
    assert_eq!(of(trace, &[1, 2, 3, 4]), None);
}

#[test]
fn equal_values_will_do() {
    let trace = "T0|w(x=1)|1\nT1|r(x=1)|2\nT1|branch|3\nT2|w(x=1)|4\nT2|w(x=2)|5\n";
    assert_eq!(of(trace, &[4, 2, 3]), None);
    assert_eq!(of(trace, &[4, 5, 2, 3]), Some(Broken::ReadElse(1)));
}

#[test]
fn a_thread_that_read_something_else_writes_something_else() {
    let trace = "T4|w(z=1)|1\nT3|r(z=1)|2\nT3|w(x=1)|3\nT1|r(x=1)|4\nT1|branch|5\n";
    assert_eq!(of(trace, &[2, 3, 4, 5]), Some(Broken::ReadElse(3)));
    assert_eq!(of(trace, &[1, 2, 3, 4, 5]), None);
}

#[test]
fn accesses_that_overlap() {
    let trace = "T0|w(0x1000:4=0x01020304)|1\nT1|w(0x1002:1=2)|2\nT1|w(0x1001:1=9)|3\nT2|r(0x1001:2=0x0209)|4\nT2|branch|5\n";
    assert_eq!(of(trace, &[1, 2, 3, 4, 5]), None);
    assert_eq!(of(trace, &[2, 3, 4, 5]), None, "the same bytes of others");
    assert_eq!(of(trace, &[1, 2, 4, 5]), Some(Broken::ReadElse(3)));
    assert_eq!(of(trace, &[2, 3, 1, 4, 5]), Some(Broken::ReadElse(3)));
}

#[test]
fn values_that_are_not_known() {
    let trace = "T0|w(x)|1\nT1|r(x)|2\nT1|branch|3\nT2|w(x)|4\n";
    assert_eq!(of(trace, &[1, 2, 3]), None);
    assert_eq!(of(trace, &[1, 4, 2, 3]), Some(Broken::ReadElse(1)));
    assert_eq!(of(trace, &[2, 3]), Some(Broken::ReadElse(1)));
    // The write's value is not known, the read's is.
    let trace = "T0|w(x)|1\nT1|r(x=5)|2\nT1|branch|3\nT2|w(x=5)|4\n";
    assert_eq!(of(trace, &[1, 2, 3]), None);
    assert_eq!(of(trace, &[1, 4, 2, 3]), None);
}

#[test]
fn a_read_saw_what_the_recording_says() {
    let trace = "T0|w(x=1)|1\nT1|r(x=2)|2\nT1|branch|3\nT2|w(x=2)|4\n";
    assert_eq!(of(trace, &[1, 2, 3]), Some(Broken::ReadElse(1)));
    assert_eq!(of(trace, &[4, 2, 3]), None);
}

#[test]
fn values_at_the_border() {
    let mut window = window(
        "T0|w(0x1000:8=3)|1\nT0|w(0x1000:8=7)|2\nT1|r(0x1000:8=7)|3\nT1|branch|4\n",
        Needed::ByBranch,
    );
    assert_eq!(broken(&window, &[3, 4]), Some(Broken::ReadElse(2)));
    let (bytes, known) = (7, 0xFF);
    window.border.memory.insert(0x200, Content { bytes, known });
    assert_eq!(broken(&window, &[3, 4]), None);
    let known = 0x7F;
    window.border.memory.insert(0x200, Content { bytes, known });
    assert_eq!(broken(&window, &[3, 4]), Some(Broken::ReadElse(2)));
}

#[test]
fn memory_that_is_handed_out_holds_nothing_of_before() {
    let trace = "T0|alloc(0x1000:8)|1\nT0|w(0x1000:8=7)|2\nT1|r(0x1000:8=7)|3\nT1|branch|4\n";
    let mut window = window(trace, Needed::ByBranch);
    let (bytes, known) = (7, 0xFF);
    window.border.memory.insert(0x200, Content { bytes, known });
    assert_eq!(broken(&window, &[1, 3, 4]), Some(Broken::ReadElse(2)));
    assert_eq!(broken(&window, &[1, 2, 3, 4]), None);
}

#[test]
fn external_writes() {
    let trace = "\
T0|r(x=0)|1
T1|w(y=1)|2
T0|extern(x=5)|3
T2|r(x=5)|4
T2|branch|5
";
    assert_eq!(of(trace, &[1, 2, 3, 4, 5]), None);
    assert_eq!(
        of(trace, &[1, 3, 2, 4, 5]),
        Some(Broken::ReadElse(3)),
        "it may depend on the second thread"
    );
    let own = "T0|r(x=0)|1\nT1|w(y=1)|2\nT0|extern(x=5)|3\nT0|r(x=5)|4\nT0|branch|5\n";
    assert_eq!(of(own, &[1, 3, 4, 5]), None, "nobody else looks at it");
}

#[test]
fn atomics_are_what_they_read() {
    let trace = "T0|aw(f=1)|1\nT1|rmw(f=1->2)|2\nT2|r(f=2)|3\n";
    assert_eq!(of(trace, &[2]), Some(Broken::WouldReadElse));
    assert_eq!(of(trace, &[1, 2]), None);
    // It writes only if it reads what it read. A plain read races with that, a plain write in any case.
    assert!(race(trace, &[], &[2, 3]).is_err());
    assert_eq!(race(trace, &[1], &[2, 3]), Ok(()));
    let plain = "T0|w(f=1)|1\nT1|rmw(f=1->2)|2\nT2|ar(f=2)|3\n";
    assert_eq!(race(plain, &[], &[1, 2]), Ok(()));
    assert_eq!(race(plain, &[], &[1, 3]), Ok(()));
    assert!(matches!(
        race(plain, &[1], &[2, 3]),
        Err(Violation::NoRace(..))
    ));
}

#[test]
fn races_are_two_conflicting_accesses() {
    let trace = "T0|r(x)|1\nT1|r(x)|2\nT2|w(y)|3\nT3|extern(x=1)|4\nT4|w(x)|5\nT4|w(x)|6\n";
    assert_eq!(race(trace, &[], &[1, 5]), Ok(()));
    for pair in [[1, 2], [1, 3], [4, 5]] {
        assert!(matches!(
            race(trace, &[], &pair),
            Err(Violation::NoRace(..))
        ));
    }
    assert!(matches!(
        race(trace, &[], &[1, 6]),
        Err(Violation::NotNext { .. })
    ));
    assert_eq!(
        race(trace, &[], &[5, 5]),
        Err(Violation::SameThread(4, 4, ThreadId(4)))
    );
    assert_eq!(race(trace, &[], &[1]), Err(Violation::Size(1)));
    assert_eq!(race(trace, &[], &[1, 2, 5]), Err(Violation::Size(3)));
}

#[test]
fn a_request_that_gives_up_is_no_deadlock() {
    let trace = "\
T0|acq(m)|1
T1|acq(n)|2
T1|req(m)|3
T1|refused(m)|4
T1|rel(n)|5
T0|acq(n)|6
";
    let window = window(trace, Needed::ByBranch);
    let next = reached(&window, Goal::Deadlock, &[1, 2], &[3, 6]);
    assert_eq!(next, Err(Violation::NoRequest(2)));
}

#[test]
fn deadlocks_are_requests_that_wait() {
    let trace = "\
T0|acq(m)|1
T0|acq(n)|2
T0|rel(n)|3
T0|rel(m)|4
T1|acq(n)|5
T1|acq(\"m\"=1)|6
T1|rel(m)|7
T1|acq(m)|8
";
    let window = window(trace, Needed::ByBranch);
    let at = |schedule: &[u32], next: &[u32]| reached(&window, Goal::Deadlock, schedule, next);
    assert_eq!(
        at(&[1, 5], &[2, 6]),
        Err(Violation::NoRequest(5)),
        "it was only tried for"
    );
    assert_eq!(at(&[5, 6, 7, 1], &[2, 8]), Ok(()));
    let lock = LockId(0);
    assert_eq!(
        at(&[5, 6, 7], &[1, 8]),
        Err(Violation::NotBlocked { event: 0, lock })
    );
    assert_eq!(at(&[5], &[6, 1]), Err(Violation::NoRequest(5)));
}

/// Nobody knows where else a thread would have ended, had it been cancelled sooner or later.
#[test]
fn a_thread_is_cancelled_where_it_was() {
    let trace = "T0|fork(T1)|1\nT1|begin|2\nT1|w(x=1)|3\nT0|send(t=2)|4\nT1|w(y=1)|5\nT1|end|6\n";
    // Before it has come there, and after it has gone on.
    assert_eq!(of(trace, &[1, 2, 4]), Some(Broken::Cancelled(3)));
    assert_eq!(of(trace, &[1, 2, 3, 5]), Some(Broken::Cancelled(3)));
    assert_eq!(of(trace, &[1, 2, 3, 4, 5]), None);
}
