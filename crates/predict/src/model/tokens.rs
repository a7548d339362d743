//! Things that one thread leaves and another takes: notifications of conditions, posts of semaphores,
//! wake-ups of futexes.
//!
//! A taker needs a giver of its own that came before it (and, at a condition, after it began to wait);
//! notifications of all and futexes' serve any number. What a semaphore held at the border, or when it was made, is as many
//! givers that came before everything (that is: before all that is done to it).

use deadheat_trace::Op;
use rustc_hash::FxHashMap;

use super::NONE;
use super::threads::Threads;
use crate::Window;

/// An event that needs a giver.
pub struct Consumer {
    /// The event.
    pub event: u32,
    /// The givers must come after this one; [`NONE`] if any will do.
    pub since: u32,
    /// The object, an index into [`Tokens::objects`].
    pub object: u32,
    /// The giver in the window's own order: an event, [`Tokens::BORDER`], or [`NONE`] if there is
    /// none (then it can never be executed: nobody knows why it could be).
    pub observed: u32,
}

/// What is given.
#[derive(Default)]
pub struct Object {
    /// The events that give, in the window's order, and whether each serves any number.
    pub givers: Vec<(u32, bool)>,
    /// How many tokens there were at the border.
    pub at_border: u32,
    /// It is a semaphore, and that is what it was made with.
    pub is_known: bool,
    /// Who needs one, in the window's order; indexes into [`Tokens::consumers`].
    pub consumers: Vec<u32>,
}

/// The tokens of a window.
#[derive(Default)]
pub struct Tokens {
    /// Those who need one.
    pub consumers: Vec<Consumer>,
    /// What they need it of.
    pub objects: Vec<Object>,
    of_event: FxHashMap<u32, u32>,
    /// What an event gives: the object, and whether it serves any number.
    of_giver: FxHashMap<u32, (u32, bool)>,
}

/// While the window is read.
#[derive(Default)]
struct Reading {
    objects: FxHashMap<u64, u32>,
    /// When each thread began to wait at each object.
    waiting: FxHashMap<(u32, u64), u32>,
    /// What semaphores held when they were made, [`None`] where that is of no use: it is not told, it is told more than
    /// once, or an attempt was refused.
    made_with: FxHashMap<u64, Option<u32>>,
}

impl Tokens {
    /// The giver is one of those that were there at the border.
    pub const BORDER: u32 = u32::MAX - 1;

    /// The tokens of a window.
    pub fn of(window: &Window, threads: &Threads) -> Self {
        let mut tokens = Tokens::default();
        let mut reading = Reading::default();
        for (position, step) in window.steps.iter().enumerate() {
            let (event, thread) = (position as u32, threads.of[position]);
            let (op, target) = (step.event.op(), step.event.target());
            match op {
                Op::Wait | Op::FutexWait => {
                    reading.waiting.insert((thread, target), event);
                }
                Op::Timeout => {
                    reading.waiting.remove(&(thread, target));
                }
                Op::Notify | Op::Post => tokens.give(&mut reading, target, event, false),
                Op::NotifyAll | Op::FutexWake => tokens.give(&mut reading, target, event, true),
                Op::Wake | Op::FutexWoken => {
                    let since = reading.waiting.remove(&(thread, target)).unwrap_or(NONE);
                    let object = tokens.object(&mut reading, target);
                    let givers = &tokens.objects[object as usize].givers;
                    let had_any = match (op, since) {
                        (_, NONE) => !givers.is_empty(),
                        (Op::Wake, _) => true,
                        _ => givers.last().is_some_and(|(giver, _)| *giver > since),
                    };
                    if had_any {
                        tokens.take(object, event, since);
                    }
                }
                Op::Take => {
                    let object = tokens.object(&mut reading, target);
                    tokens.take(object, event, NONE);
                }
                Op::Init => {
                    let held = step.written().and_then(|held| u32::try_from(held).ok());
                    let known = reading.made_with.entry(target);
                    known.and_modify(|known| *known = None).or_insert(held);
                }
                Op::TakeRefused => {
                    reading.made_with.insert(target, None);
                }
                _ => {}
            }
        }
        tokens.match_observed(window);
        for (target, held) in reading.made_with {
            if let (Some(object), Some(held)) = (reading.objects.get(&target), held) {
                let object = &mut tokens.objects[*object as usize];
                object.at_border = object.at_border.max(held);
                object.is_known = object.at_border == held;
            }
        }
        tokens
    }

    fn object(&mut self, reading: &mut Reading, target: u64) -> u32 {
        *reading.objects.entry(target).or_insert_with(|| {
            self.objects.push(Object::default());
            self.objects.len() as u32 - 1
        })
    }

    fn give(&mut self, reading: &mut Reading, target: u64, event: u32, serves_all: bool) {
        let object = self.object(reading, target);
        self.objects[object as usize]
            .givers
            .push((event, serves_all));
        self.of_giver.insert(event, (object, serves_all));
    }

    fn take(&mut self, object: u32, event: u32, since: u32) {
        let number = self.consumers.len() as u32;
        self.consumers.push(Consumer {
            event,
            since,
            object,
            observed: NONE,
        });
        self.objects[object as usize].consumers.push(number);
        self.of_event.insert(event, number);
    }

    /// Finds a giver for each in the window's own order: the earliest that is left. Takers in their order with the
    /// earliest possible each: if there is a way to serve all, this is one.
    fn match_observed(&mut self, window: &Window) {
        for object in &mut self.objects {
            let mut used = vec![false; object.givers.len()];
            for number in &object.consumers {
                let consumer = &mut self.consumers[*number as usize];
                let first = match consumer.since {
                    NONE => 0,
                    since => object.givers.partition_point(|(giver, _)| *giver < since),
                };
                let before = |giver: &u32| *giver < consumer.event;
                let free = (first..object.givers.len())
                    .take_while(|at| before(&object.givers[*at].0))
                    .find(|at| !used[*at]);
                consumer.observed = match free {
                    Some(at) => {
                        used[at] = !object.givers[at].1;
                        object.givers[at].0
                    }
                    None if window.steps[consumer.event as usize].event.op() == Op::Take => {
                        object.at_border += 1;
                        Self::BORDER
                    }
                    None => NONE,
                };
            }
        }
    }

    /// What an event needs, if it needs a giver.
    #[inline]
    pub fn consumer(&self, event: u32) -> Option<&Consumer> {
        let number = self.of_event.get(&event)?;
        Some(&self.consumers[*number as usize])
    }

    /// The object that an event gives something of.
    #[inline]
    pub fn gives(&self, event: u32) -> Option<u32> {
        self.of_giver.get(&event).map(|(object, _)| *object)
    }

    /// Whether a giver serves any number.
    pub fn serves_all(&self, giver: u32) -> bool {
        self.of_giver
            .get(&giver)
            .is_some_and(|(_, serves_all)| *serves_all)
    }
}
