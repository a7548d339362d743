//! Why a schedule could not be followed, in words.

use deadheat_explore::{Plan, Verdict};
use deadheat_report::{Names, own_place};
use deadheat_trace::{Op, Tables, ThreadId};

/// What the runtime said about a plan, for people. `ended`: how the program ended. Names are looked for where they are needed only.
pub fn why(verdict: Option<&Verdict>, plan: &Plan, tables: &Tables, ended: &str) -> String {
    let deed = |op: Op, place: u64| match place {
        0 => told(op).to_owned(),
        _ => {
            let names = Names::of(tables);
            format!(
                "{} at {}",
                told(op),
                own_place(&names.frames_at(place)).told()
            )
        }
    };
    let expected = |thread: ThreadId, done: u64| match plan.expected(thread, done) {
        Some((op, place)) => deed(op, place),
        None => "nothing more".to_owned(),
    };
    let step = |done: &u64| format!("(step {done} of the thread)");
    match verdict {
        None => format!("the program {ended} before the schedule was through"),
        Some(Verdict::Reached(_)) => "the schedule was followed to its end".to_owned(),
        Some(Verdict::Diverged { thread, done, came }) => format!(
            "{thread} came to {} where the schedule has {} {}",
            deed(came.op, if plan.is_steady() { came.place } else { 0 }),
            expected(*thread, *done),
            step(done)
        ),
        Some(Verdict::Blocked { thread, done, .. }) => format!(
            "{thread} has to wait where the schedule lets it go on {}",
            step(done)
        ),
        Some(Verdict::Ended { thread, done }) => format!(
            "the program ended where the schedule has {thread} go on with {} {}",
            expected(*thread, *done),
            step(done)
        ),
        Some(Verdict::Got { thread, .. }) => {
            format!("{thread} got the lock that it should have waited for")
        }
        Some(Verdict::Passed { thread, done }) => format!(
            "{thread} did not come to {} for a long time {}",
            expected(*thread, *done),
            step(done)
        ),
    }
}

/// What an operation is called in a sentence.
fn told(op: Op) -> &'static str {
    match op {
        Op::Read => "a read",
        Op::Write => "a write",
        Op::AtomicRead | Op::AtomicWrite | Op::AtomicRmw => "an atomic access",
        Op::Acquire | Op::ReadAcquire => "the taking of a lock",
        Op::Release | Op::ReadRelease => "the release of a lock",
        Op::Fork => "the creation of a thread",
        Op::Join => "the end of a thread",
        Op::Begin => "a thread's beginning",
        Op::End => "a thread's end",
        Op::Exit => "the end of the program",
        Op::Wait | Op::FutexWait => "a wait",
        Op::Wake | Op::FutexWoken => "the end of a wait",
        Op::Timeout => "a time-out",
        Op::Notify | Op::NotifyAll | Op::FutexWake => "a notification",
        Op::BarrierEnter | Op::BarrierExit => "a barrier",
        Op::Post | Op::Take | Op::TakeRefused | Op::TakeRequest => "a semaphore",
        Op::Refused | Op::ReadRefused => "an attempt at a lock in vain",
        Op::ReceiveRefused => "a look for data in vain",
        Op::Alloc => "an allocation",
        Op::Free => "a release of memory",
        _ => "a synchronisation",
    }
}
