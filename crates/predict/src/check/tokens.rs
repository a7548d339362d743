//! What waits for something that others give: conditions, semaphores, barriers, channels, futexes.

use std::collections::BTreeSet;

use deadheat_trace::{Event, Op};
use rustc_hash::{FxHashMap, FxHashSet};

use super::barriers::Barrier;
use super::lives::{NONE, Objects};
use super::observed::positions;
use super::{Broken, Observed};
use crate::Window;

/// What events wait for, as it was observed.
#[derive(Default)]
pub(super) struct Needs {
    /// By position; what is not here waits for nothing (or for a semaphore).
    waits: FxHashMap<u32, Need>,
    /// Numbers for all `Wait`s and `FutexWait`s, by position.
    sleeps: FxHashMap<u32, u32>,
    /// `Wait`s, with their objects, by the release right before, which is one with them.
    parts: FxHashMap<u32, (u32, u32)>,
    /// By object: the entries of a barrier and the messages of a channel, in the order observed.
    given: Vec<Vec<u32>>,
    /// By object: what a semaphore held at the border, or when it was made.
    posted: Vec<u32>,
    /// By object: whether it is known what it takes to end a wait there.
    known: Vec<bool>,
    /// Wakes that came after a notification.
    notified: FxHashSet<u32>,
    /// Attempts at a semaphore that held nothing, if it held so much at the border.
    refused: FxHashMap<u32, u32>,
}

/// What one event waits for.
#[derive(Clone, Copy)]
enum Need {
    /// A call after this sleep (by number); if it began before the window, at any time.
    Call { sleep: Option<u32> },
    /// So many of the given, from the first.
    Given(u32),
}

/// While the window is read.
#[derive(Default)]
struct Reading {
    /// Who sleeps where, and since which position.
    asleep: FxHashMap<(u32, u32), u32>,
    /// By object: the last call so far.
    called: FxHashMap<u32, u32>,
    /// By object: what a semaphore holds beyond what it held at the border.
    level: FxHashMap<u32, u32>,
    barriers: FxHashMap<u32, Barrier>,
    /// By object: what a semaphore was made with.
    made_with: FxHashMap<u32, u32>,
    /// Semaphores that were tried for in vain.
    refused: FxHashSet<u32>,
    /// The last event of each thread.
    last: FxHashMap<u32, (u32, Op)>,
}

impl Needs {
    pub fn new(window: &Window, objects: &Objects) -> Self {
        let mut needs = Needs {
            given: vec![Vec::new(); objects.all.len()],
            posted: vec![0; objects.all.len()],
            known: vec![false; objects.all.len()],
            ..Needs::default()
        };
        let mut reading = Reading::default();
        for (position, op) in positions(window) {
            let object = objects.of[position as usize];
            let thread = window.steps[position as usize].event.thread().0;
            let before = reading.last.insert(thread, (position, op));
            if let (Op::Wait, Some((release, Op::Release | Op::ReadRelease))) = (op, before) {
                needs.parts.insert(release, (position, object));
            }
            if object != NONE {
                let step = &window.steps[position as usize];
                needs.note(&mut reading, position, op, thread, object);
                if matches!(op, Op::BarrierEnter | Op::BarrierExit | Op::Init) {
                    let barrier = reading.barriers.entry(object).or_default();
                    barrier.note(position, thread, op, step.written());
                }
                if let (Op::Init, Some(held)) = (op, step.written()) {
                    let held = u32::try_from(held).unwrap_or(u32::MAX);
                    reading.made_with.insert(object, held);
                }
            }
        }
        for (&object, &held) in &reading.made_with {
            let posted = &mut needs.posted[object as usize];
            if !reading.refused.contains(&object) {
                *posted = (*posted).max(held);
            }
            needs.known[object as usize] = *posted == held;
        }
        for (&object, barrier) in &reading.barriers {
            if !barrier.is_empty() {
                needs.known[object as usize] = barrier.is_known();
            }
            let each = barrier.needs().into_iter();
            let given = each.map(|(position, count)| (position, Need::Given(count)));
            needs.waits.extend(given);
        }
        needs
    }

    fn note(&mut self, reading: &mut Reading, position: u32, op: Op, thread: u32, object: u32) {
        let given = &mut self.given[object as usize];
        match op {
            Op::Wait | Op::FutexWait => {
                self.sleeps.insert(position, self.sleeps.len() as u32);
                reading.asleep.insert((thread, object), position);
            }
            Op::Timeout => {
                reading.asleep.remove(&(thread, object));
            }
            Op::Wake | Op::FutexWoken => {
                let since = reading.asleep.remove(&(thread, object));
                let called = reading.called.get(&object);
                let called = called.is_some_and(|&call| since.is_none_or(|since| since < call));
                if called && op == Op::Wake && since.is_some() {
                    self.notified.insert(position);
                }
                if called || op == Op::Wake && since.is_some() {
                    let sleep = since.and_then(|since| self.sleeps.get(&since).copied());
                    self.waits.insert(position, Need::Call { sleep });
                }
            }
            Op::Notify | Op::NotifyAll | Op::FutexWake => {
                reading.called.insert(object, position);
            }
            Op::Post => *reading.level.entry(object).or_default() += 1,
            Op::Take => match reading.level.get_mut(&object) {
                Some(level) if *level > 0 => *level -= 1,
                _ => self.posted[object as usize] += 1,
            },
            Op::TakeRefused => {
                reading.refused.insert(object);
                let level = reading.level.get(&object);
                if level.is_none_or(|&level| level == 0) {
                    self.refused.insert(position, self.posted[object as usize]);
                }
            }
            Op::BarrierEnter | Op::Send => given.push(position),
            Op::Receive => {
                let need = Need::Given(given.len() as u32);
                self.waits.insert(position, need);
            }
            _ => {}
        }
    }
}

/// What has been given and not used up, while a schedule is executed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Tokens {
    objects: Vec<Token>,
    /// By the number of a sleep: how many calls its object had seen when it began.
    asleep: Vec<u32>,
    /// The same for when the lock was released to sleep.
    released: Vec<u32>,
}

#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Token {
    /// How many calls came: of a condition or futex.
    calls: u32,
    /// Those calls that wake one, and have not.
    unused: BTreeSet<u32>,
    /// How many calls had come when the last came that wakes all.
    all: u32,
    /// What a semaphore holds.
    posted: u32,
    /// How many of what is given were given, without one missing before.
    given: u32,
}

impl Tokens {
    /// As at the border.
    pub fn new(observed: &Observed<'_>) -> Self {
        let posted = observed.needs.posted.iter();
        let each = posted.map(|&posted| Token {
            posted,
            ..Token::default()
        });
        Tokens {
            objects: each.collect(),
            asleep: vec![0; observed.needs.sleeps.len()],
            released: vec![u32::MAX; observed.needs.sleeps.len()],
        }
    }

    /// Whether what an event waits for is there.
    pub fn can(
        &self,
        observed: &Observed<'_>,
        event: &Event,
        position: u32,
        object: u32,
    ) -> Result<(), Broken> {
        let token = &self.objects[object as usize];
        if event.op() == Op::Take {
            return match token.posted {
                0 => Err(Broken::NothingPosted(event.sync())),
                _ => Ok(()),
            };
        }
        if event.op() == Op::TakeRefused {
            // Somebody may have posted whom nobody saw.
            let at_border = observed.needs.posted[object as usize];
            let was_empty = observed.needs.refused.get(&position) == Some(&at_border);
            return match (token.posted, was_empty) {
                (0, true) => Ok(()),
                _ => Err(Broken::SomethingPosted(event.sync())),
            };
        }
        match observed.needs.waits.get(&position) {
            None => Ok(()),
            Some(&Need::Call { sleep }) => {
                let since = self.since(sleep);
                if token.all > since || token.unused.range(since..).next().is_some() {
                    return Ok(());
                }
                Err(match event.op() {
                    Op::Wake => Broken::NotNotified(event.sync()),
                    _ => Broken::NotWoken(event.sync()),
                })
            }
            Some(&Need::Given(count)) if token.given >= count => Ok(()),
            Some(Need::Given(_)) => {
                let missing = observed.needs.given[object as usize][token.given as usize];
                Err(match event.op() {
                    Op::Receive => Broken::NotSent(missing),
                    _ => Broken::NotEntered(missing),
                })
            }
        }
    }

    /// Whether an event waits for something that is not there, and that is certain: of a semaphore it is known what it held,
    /// of a barrier whom it waits for, and a condition's wait was ended by a notification when it was observed.
    pub fn lacks(
        &self,
        observed: &Observed<'_>,
        event: &Event,
        position: u32,
        object: u32,
    ) -> bool {
        let is_certain = match event.op() {
            Op::Wake => observed.needs.notified.contains(&position),
            Op::Take | Op::BarrierExit => observed.needs.known[object as usize],
            _ => false,
        };
        let token = &self.objects[object as usize];
        let was_called = match observed.needs.waits.get(&position) {
            Some(&Need::Call { sleep: Some(sleep) }) => {
                let since = self.released[sleep as usize];
                token.all > since || token.unused.range(since..).next().is_some()
            }
            _ => false,
        };
        is_certain && !was_called && self.can(observed, event, position, object).is_err()
    }

    /// Executes an event; `executed` says whether one has been, this one included.
    pub fn run(
        &mut self,
        observed: &Observed<'_>,
        event: &Event,
        position: u32,
        object: u32,
        executed: impl Fn(u32) -> bool,
    ) {
        if let Some(&(wait, condition)) = observed.needs.parts.get(&position) {
            let sleep = observed.needs.sleeps[&wait] as usize;
            self.released[sleep] = self.objects[condition as usize].calls;
        }
        let token = &mut self.objects[object as usize];
        match event.op() {
            Op::Wait | Op::FutexWait => {
                if let Some(&sleep) = observed.needs.sleeps.get(&position) {
                    self.asleep[sleep as usize] = token.calls;
                }
            }
            Op::Notify => {
                token.unused.insert(token.calls);
                token.calls += 1;
            }
            // A futex is told how many to wake; some were, which ones is not known.
            Op::NotifyAll | Op::FutexWake => {
                token.calls += 1;
                token.all = token.calls;
            }
            Op::Wake => {
                if let Some(&Need::Call { sleep }) = observed.needs.waits.get(&position) {
                    let since = self.since(sleep);
                    let token = &mut self.objects[object as usize];
                    // The oldest: those who began to sleep later cannot use it.
                    if token.all <= since
                        && let Some(&oldest) = token.unused.range(since..).next()
                    {
                        token.unused.remove(&oldest);
                    }
                }
            }
            Op::Post => token.posted = token.posted.saturating_add(1),
            Op::Take => token.posted = token.posted.saturating_sub(1),
            Op::BarrierEnter | Op::Send => {
                let given = &observed.needs.given[object as usize];
                let more = given[token.given as usize..].iter();
                token.given += more.take_while(|&&at| executed(at)).count() as u32;
            }
            _ => {}
        }
    }

    fn since(&self, sleep: Option<u32>) -> u32 {
        sleep.map_or(0, |sleep| self.asleep[sleep as usize])
    }
}
