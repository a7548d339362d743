//! The verifier against a slow and obvious one: rules as sentences about the whole prefix.

use deadheat_trace::verify::{Options, Rule, Verifier};
use deadheat_trace::{Event, EventIndex, LockId, Mode, Op, Pc, Step, SyncId, ThreadId};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        cases: 4 * ProptestConfig::default().cases,
        ..ProptestConfig::default()
    }
}

fn thread(step: &Step) -> ThreadId {
    step.event.thread()
}

/// Steps of a thread on an object that are of these operations.
fn count(prefix: &[Step], who: Option<ThreadId>, sync: SyncId, ops: &[Op]) -> usize {
    let of = |step: &&Step| {
        who.is_none_or(|who| thread(step) == who)
            && step.event.sync() == sync
            && ops.contains(&step.event.op())
    };
    prefix.iter().filter(of).count()
}

/// How often a thread holds a lock after a prefix that breaks no rule.
fn held(prefix: &[Step], who: ThreadId, lock: SyncId, read: bool) -> usize {
    let (take, give) = match read {
        true => (Op::ReadAcquire, Op::ReadRelease),
        false => (Op::Acquire, Op::Release),
    };
    count(prefix, Some(who), lock, &[take]) - count(prefix, Some(who), lock, &[give])
}

const THREADS: u32 = 3;

/// The rules that a step breaks after a prefix that breaks none, gaps left aside.
fn broken(prefix: &[Step], step: &Step) -> Vec<Rule> {
    let (me, op) = (thread(step), step.event.op());
    let (sync, lock, peer) = (step.event.sync(), step.event.lock(), step.event.peer());
    let ran = |who: ThreadId| prefix.iter().any(|s| thread(s) == who);
    let did = |who: ThreadId, op: Op| {
        let mut own = prefix.iter().filter(|s| thread(s) == who);
        own.any(|s| s.event.op() == op)
    };
    let done_to = |op: Op, who: ThreadId| {
        let mut to = prefix.iter().filter(|s| s.event.peer() == who);
        to.any(|s| s.event.op() == op)
    };
    let others = || (0..THREADS).map(ThreadId).filter(|who| *who != me);
    let alive = |who: &ThreadId| !did(*who, Op::End);
    let writer = others()
        .filter(alive)
        .find(|who| held(prefix, *who, sync, false) > 0);
    // Whoever took it last has it, if it has not been given back.
    let taken = |s: &&Step| s.event.op() == Op::Acquire && s.event.sync() == sync;
    let last_taker = prefix.iter().rev().find(taken).map(thread);
    let owner = last_taker.filter(|who| held(prefix, *who, sync, false) > 0);
    let reader = others()
        .filter(alive)
        .find(|who| held(prefix, *who, sync, true) > 0);
    let last_of = |ops: &[Op]| {
        let mut own = prefix.iter().rev().filter(|s| thread(s) == me);
        own.find(|s| ops.contains(&s.event.op()))
            .map(|s| (s.event.op(), s.event.sync()))
    };

    let mut rules = Vec::new();
    if did(me, Op::End) {
        rules.push(Rule::RunsAfterEnd);
    } else if done_to(Op::Join, me) {
        rules.push(Rule::RunsAfterJoin);
    }
    match op {
        Op::Begin if ran(me) && rules.is_empty() => rules.push(Rule::BeginNotFirst),
        Op::Fork if done_to(Op::Fork, peer) => rules.push(Rule::ForkedTwice(peer)),
        Op::Fork if ran(peer) || peer == me => rules.push(Rule::ForkAfterRun(peer)),
        Op::Join if did(peer, Op::Begin) && !did(peer, Op::End) => {
            rules.push(Rule::JoinBeforeEnd(peer));
        }
        Op::Acquire => match (writer, reader) {
            (Some(owner), _) => rules.push(Rule::AcquireHeld(lock, owner)),
            (None, Some(reader)) => rules.push(Rule::AcquireRead(lock, reader)),
            _ => {}
        },
        Op::Release if held(prefix, me, sync, false) == 0 => {
            rules.push(Rule::ReleaseNotHeld(lock, owner));
        }
        Op::ReadAcquire => rules.extend(writer.map(|owner| Rule::ReadAcquireHeld(lock, owner))),
        Op::ReadRelease if held(prefix, me, sync, true) == 0 => {
            rules.push(Rule::ReadReleaseNotHeld(lock));
        }
        Op::Wake if last_of(&[Op::Wait, Op::Wake]) != Some((Op::Wait, sync)) => {
            rules.push(Rule::WakeWithoutWait(sync));
        }
        Op::BarrierExit => {
            let own = [Op::BarrierEnter, Op::BarrierExit];
            if last_of(&own) != Some((Op::BarrierEnter, sync)) {
                rules.push(Rule::ExitWithoutEnter(sync));
            }
            // The barrier waits for two.
            let came = count(prefix, None, sync, &[Op::BarrierEnter]);
            let went = count(prefix, None, sync, &[Op::BarrierExit]);
            if went + 1 > came / 2 * 2 {
                rules.push(Rule::ExitTooEarly(sync));
            }
        }
        Op::Take => {
            // The semaphore starts at one.
            let came = count(prefix, None, sync, &[Op::Post]);
            let went = count(prefix, None, sync, &[Op::Take]);
            if went + 1 > came + 1 {
                rules.push(Rule::TakeFromEmpty(sync));
            }
        }
        Op::Free => {
            let mut same = prefix
                .iter()
                .rev()
                .filter(|s| s.event.addr() == step.event.addr());
            match same.find(|s| matches!(s.event.op(), Op::Alloc | Op::Free)) {
                Some(last) if last.event.op() == Op::Alloc => {}
                Some(_) => rules.push(Rule::DoubleFree(step.event.addr())),
                None => rules.push(Rule::FreeUnknown(step.event.addr())),
            }
        }
        Op::Leave => {
            let own = |op| {
                prefix
                    .iter()
                    .filter(|s| thread(s) == me && s.event.op() == op)
                    .count()
            };
            if own(Op::Enter) == own(Op::Leave) {
                rules.push(Rule::LeaveWithoutEnter);
            }
        }
        _ => {}
    }
    rules
}

/// Objects 0 and 1 are locks, 2 and 3 conditions, 4 a barrier of two, 5 a semaphore at one.
fn step() -> impl Strategy<Value = Step> {
    use Op::*;
    let ops = vec![
        Acquire,
        Acquire,
        Release,
        Release,
        ReadAcquire,
        ReadRelease,
        Fork,
        Begin,
        End,
        Join,
        Wait,
        Wake,
        BarrierEnter,
        BarrierExit,
        Post,
        Take,
        Alloc,
        Free,
        Enter,
        Leave,
        Branch,
    ];
    (select(ops), 0..THREADS, 0..THREADS, 0u64..2).prop_map(|(op, who, peer, which)| {
        let target = match op {
            Fork | Join => u64::from(peer),
            Wait | Wake => 2 + which,
            BarrierEnter | BarrierExit => 4,
            Post | Take => 5,
            Alloc | Free => 0x100 + which * 0x10,
            Acquire | Release | ReadAcquire | ReadRelease => which,
            _ => 0,
        };
        Step::new(Event::new(ThreadId(who), op, target, Pc(0)))
    })
}

/// The start of every trace: a thread of its own sets up the barrier and the semaphore.
fn setup() -> [Step; 2] {
    let init =
        |sync, count| Step::new(Event::new(ThreadId(9), Op::Init, sync, Pc(0))).with_written(count);
    [init(4, 2), init(5, 1)]
}

fn first_violations(steps: &[Step]) -> Option<(usize, Vec<Rule>)> {
    let mut verifier = Verifier::new(Mode::Parallel, Options::default());
    for (index, step) in steps.iter().enumerate() {
        let found = verifier.step(EventIndex(index as u64), step);
        if !found.violations.is_empty() {
            return Some((index, found.violations.iter().map(|v| v.rule).collect()));
        }
    }
    None
}

proptest! {
    #![proptest_config(config())]

    /// Long prefixes without a violation are rare, so those that break a rule are left out of the
    /// trace, as the obvious verifier sees it, and only asked about.
    #[test]
    fn the_verifier_says_what_the_rules_say(drawn in vec(step(), 0..60)) {
        let mut steps = setup().to_vec();
        for step in drawn {
            let expected = broken(&steps, &step);
            steps.push(step);
            let found = first_violations(&steps);
            if expected.is_empty() {
                prop_assert_eq!(found, None, "{:?}", steps);
            } else {
                let at = steps.len() - 1;
                let (index, rules) = found.unwrap_or_default();
                prop_assert_eq!(index, at, "{:?} {:?}", steps, expected);
                // A step that should not be there at all may break others on top.
                let gone = matches!(expected[0], Rule::RunsAfterEnd | Rule::RunsAfterJoin);
                prop_assert_eq!(rules[0], expected[0], "{:?}", steps);
                prop_assert!(gone || rules == expected, "{:?} {:?}", steps, rules);
                steps.pop();
            }
        }
    }
}

/// What one lock may look like behind a gap: its owner, and how often each thread reads it.
type LockState = (Option<(u32, u32)>, [u32; THREADS as usize]);

fn possible_states() -> Vec<LockState> {
    let mut states = vec![(None, [0; 3])];
    for who in 0..THREADS {
        states.extend((1..=4).map(|count| (Some((who, count)), [0; 3])));
    }
    for a in 0..4u32 {
        for b in 0..4 {
            states.extend((0..4).map(|c| (None, [a, b, c])));
        }
    }
    states
}

/// The state after a step; `None` if the step is not possible in it.
fn after(state: LockState, step: &Step) -> Option<LockState> {
    let (owner, mut readers) = state;
    let me = thread(step).0;
    let others_read = (0..THREADS).any(|who| who != me && readers[who as usize] > 0);
    match (step.event.op(), owner) {
        (Op::Acquire, Some((who, n))) if who == me => Some((Some((me, n + 1)), readers)),
        (Op::Acquire, None) if !others_read => Some((Some((me, 1)), readers)),
        (Op::Release, Some((who, 1))) if who == me => Some((None, readers)),
        (Op::Release, Some((who, n))) if who == me => Some((Some((me, n - 1)), readers)),
        (Op::ReadAcquire, owner) if owner.is_none_or(|(who, _)| who == me) => {
            readers[me as usize] += 1;
            Some((owner, readers))
        }
        (Op::ReadRelease, owner) => {
            readers[me as usize] = readers[me as usize].checked_sub(1)?;
            Some((owner, readers))
        }
        _ => None,
    }
}

proptest! {
    #![proptest_config(config())]

    /// Behind a gap a violation is reported only if no state of the lock before explains the rest.
    #[test]
    fn gaps_excuse_what_they_can(
        drawn in vec((select(vec![Op::Acquire, Op::Release, Op::ReadAcquire, Op::ReadRelease]),
                      0..THREADS), 0..12)
    ) {
        let mut steps = vec![Step::new(Event::new(ThreadId(0), Op::Lost, 0, Pc(0)))];
        let mut states = possible_states();
        for (op, who) in drawn {
            let step = Step::new(Event::new(ThreadId(who), op, 0, Pc(0)));
            steps.push(step);
            states = states.into_iter().filter_map(|state| after(state, &step)).collect();
            match first_violations(&steps) {
                Some((_, rules)) => {
                    prop_assert!(states.is_empty(), "{:?} {:?}", steps, rules);
                    break;
                }
                None if states.is_empty() => break,
                None => {}
            }
        }
    }
}

#[test]
fn the_oracle_knows_locks() {
    let at = |who, op| Step::new(Event::new(ThreadId(who), op, 0, Pc(0)));
    let prefix = [at(0, Op::Acquire)];
    let rules = broken(&prefix, &at(1, Op::Acquire));
    assert_eq!(rules, [Rule::AcquireHeld(LockId(0), ThreadId(0))]);
}
