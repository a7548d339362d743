//! A trace as the paper models it: synchronisation, and of all accesses only which segment of a thread accesses
//! which shared object.
//!
//! A *segment* is what a thread does between two synchronisations. Wherever in it an access stands, the
//! same schedules lead there, so a segment is one event, at its first access to an object, and what it accesses is
//! kept beside. Synchronisation whose order is known from elsewhere (see [`super::order`]) is said by messages: a
//! `Send` behind the first event, a `Receive` before the second.

use std::sync::atomic::{AtomicBool, Ordering};

use deadheat_trace::{Event, Op, Step};
use rustc_hash::{FxHashMap, FxHashSet};

use super::objects::{Blocks, Objects, PART, is_access};
use super::order::{self, LockWords};

/// An event of the simplified trace.
#[derive(Clone, Copy, Debug)]
pub struct Happening {
    /// What happens, in words that the model of windows knows.
    pub step: Step,
    /// Where that is in the trace.
    pub at: u32,
    /// What it is.
    pub what: What,
}

/// What an event of the simplified trace is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// An event of the trace.
    Synchronisation,
    /// A segment that accesses shared objects.
    Segment,
    /// Said by nobody, but known.
    Message,
}

/// What a segment does to an object.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The object.
    pub object: u32,
    /// The segment: its place among the happenings.
    pub segment: u32,
    /// Which bytes.
    pub start: u64,
    /// One past the last.
    pub end: u64,
    /// How.
    pub kind: Kind,
    /// The first access of this kind to these bytes, and the last, in the trace.
    pub first: u32,
    /// See `first`.
    pub last: u32,
}

/// How bytes are accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// They are written, or released.
    pub writes: bool,
    /// In one piece.
    pub is_atomic: bool,
}

impl Kind {
    fn of(op: Op) -> Self {
        Kind {
            writes: op.writes() || op == Op::Free,
            is_atomic: op.is_atomic(),
        }
    }

    /// Whether two accesses of these kinds to common bytes can race.
    pub fn conflicts_with(self, other: Kind) -> bool {
        (self.writes || other.writes) && !(self.is_atomic && other.is_atomic)
    }
}

/// The simplified trace.
#[derive(Debug, Default)]
pub struct Simplified {
    /// What happens, in the observed order.
    pub happenings: Vec<Happening>,
    /// The shared objects.
    pub objects: Objects,
    /// What is done to them: by object, then by segment.
    pub accesses: Vec<Access>,
}

/// What a thread has done in its present segment.
#[derive(Default)]
struct Segment {
    /// Its place among the happenings, if it has accessed an object.
    place: Option<u32>,
    /// Its accesses by object and kind.
    accesses: FxHashMap<(u32, Kind), Vec<u32>>,
}

/// So many of a segment's accesses to one object are looked at before one more is kept.
const LOOKED_AT: usize = 8;

struct Simplifier {
    result: Simplified,
    blocks: Blocks,
    segments: Vec<Segment>,
}

impl Simplified {
    /// Simplifies a trace, and makes nothing of it once `stop` is true. `is_judged` says which accesses count.
    pub fn of(
        steps: &[Step],
        words: &LockWords,
        is_judged: impl Fn(&Event) -> bool,
        stop: &AtomicBool,
    ) -> Self {
        let objects = Objects::of(steps, &is_judged, stop);
        let steps = match stop.load(Ordering::Relaxed) {
            true => &[],
            false => steps,
        };
        let mut receives: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let mut sends: FxHashSet<u32> = FxHashSet::default();
        for (from, to) in order::edges(steps, words, &objects) {
            sends.insert(from);
            receives.entry(to).or_default().push(from);
        }
        let mut simplifier = Simplifier {
            result: Simplified {
                objects,
                ..Simplified::default()
            },
            blocks: Blocks::default(),
            segments: Vec::new(),
        };
        let parts = steps.chunks(PART);
        let parts = parts.take_while(|_| !stop.load(Ordering::Relaxed));
        for (at, step) in (0..).zip(parts.flatten()) {
            for from in receives.remove(&at).unwrap_or_default() {
                simplifier.message(at, step, Op::Receive, from);
            }
            simplifier.step(at, step, &is_judged);
            if sends.contains(&at) {
                simplifier.message(at, step, Op::Send, at);
            }
        }
        let mut result = simplifier.result;
        result
            .accesses
            .sort_unstable_by_key(|access| (access.object, access.segment, access.first));
        result
    }
}

/// Messages that nobody has sent have numbers from here on, above those of any object of a trace.
const MESSAGES: u64 = 1 << 31;

/// Whether an event is synchronisation.
pub fn is_synchronisation(op: Op) -> bool {
    !op.is_access()
        && !matches!(
            op,
            Op::Fence | Op::Enter | Op::Leave | Op::Branch | Op::Alloc | Op::Free | Op::Exit
        )
}

/// The same for the model of windows, which has rules of its own for conditions: here messages say what they order.
fn in_window(step: &Step) -> Step {
    let event = &step.event;
    match event.op() {
        Op::Wait | Op::Wake | Op::Timeout | Op::Notify | Op::NotifyAll => Step::new(Event::new(
            event.thread(),
            Op::Branch,
            event.target(),
            event.pc(),
        )),
        _ => *step,
    }
}

impl Simplifier {
    fn segment(&mut self, event: &Event) -> &mut Segment {
        let thread = event.thread().index();
        if thread >= self.segments.len() {
            self.segments.resize_with(thread + 1, Segment::default);
        }
        &mut self.segments[thread]
    }

    fn happens(&mut self, at: u32, step: Step, what: What) -> u32 {
        self.result.happenings.push(Happening { step, at, what });
        self.result.happenings.len() as u32 - 1
    }

    /// A message stands beside an event of the same thread, and ends its segment.
    fn message(&mut self, at: u32, beside: &Step, op: Op, number: u32) {
        let event = &beside.event;
        let target = MESSAGES | u64::from(number);
        let message = Event::new(event.thread(), op, target, event.pc());
        *self.segment(event) = Segment::default();
        self.happens(at, Step::new(message), What::Message);
    }

    fn step(&mut self, at: u32, step: &Step, is_judged: &impl Fn(&Event) -> bool) {
        let event = &step.event;
        let (op, start) = (event.op(), event.addr().0);
        match op {
            Op::Alloc => {
                self.blocks.allocate(step);
            }
            Op::Free => {
                if let Some((life, end)) = self.blocks.release(start)
                    && is_judged(event)
                {
                    self.access(at, event, life, start, end);
                }
            }
            _ if is_access(op) && is_judged(event) => {
                let life = self.blocks.life(start);
                self.access(at, event, life, start, start + event.size());
            }
            _ if is_synchronisation(op) => {
                *self.segment(event) = Segment::default();
                self.happens(at, in_window(step), What::Synchronisation);
            }
            _ => {}
        }
    }

    fn access(&mut self, at: u32, event: &Event, life: u32, start: u64, end: u64) {
        let touched: Vec<_> = self.result.objects.touched(life, start, end).collect();
        for (object, bytes) in touched {
            let segment = match self.segment(event).place {
                Some(place) => place,
                None => {
                    let begins = Event::new(event.thread(), Op::Branch, 0, event.pc());
                    let place = self.happens(at, Step::new(begins), What::Segment);
                    self.segment(event).place = Some(place);
                    place
                }
            };
            let access = Access {
                object,
                segment,
                start: start.max(bytes.start),
                end: end.min(bytes.end),
                kind: Kind::of(event.op()),
                first: at,
                last: at,
            };
            self.keep(event, access);
        }
    }

    /// Keeps an access, unless the segment has the same, or one that it goes on with.
    fn keep(&mut self, event: &Event, access: Access) {
        let number = self.result.accesses.len() as u32;
        let known = self
            .segment(event)
            .accesses
            .entry((access.object, access.kind))
            .or_default();
        let recent: Vec<u32> = known.iter().rev().take(LOOKED_AT).copied().collect();
        known.push(number);
        for other in recent {
            let other = &mut self.result.accesses[other as usize];
            let meets = other.start <= access.start && access.start <= other.end;
            if meets {
                other.end = other.end.max(access.end);
                other.last = access.last;
                self.segment(event)
                    .accesses
                    .entry((access.object, access.kind))
                    .or_default()
                    .pop();
                return;
            }
        }
        self.result.accesses.push(access);
    }
}

#[cfg(test)]
mod tests {
    use deadheat_trace::text;

    use super::*;

    fn simplified(trace: &str) -> Simplified {
        let steps = text::parse(trace).unwrap().steps;
        Simplified::of(
            &steps,
            &LockWords::default(),
            |_| true,
            &AtomicBool::new(false),
        )
    }

    #[test]
    fn what_repeats_in_a_segment_is_there_once() {
        let found = simplified(
            "T0|w(x:8)|1\nT0|w(x:8)|2\nT0|r(y:8)|3\nT0|acq(m)|4\nT0|w(x:8)|5\nT0|rel(m)|6\nT1|r(x:4)|7\n",
        );
        let whats: Vec<What> = found.happenings.iter().map(|event| event.what).collect();
        use What::{Segment, Synchronisation};
        assert_eq!(
            whats,
            [Segment, Synchronisation, Segment, Synchronisation, Segment]
        );
        // The object is the four bytes that both access.
        let of_first = found.accesses.iter().filter(|access| access.segment == 0);
        let bytes: Vec<u64> = of_first.map(|access| access.end - access.start).collect();
        assert_eq!(bytes, [4]);
        assert_eq!(found.accesses.len(), 3);
    }

    #[test]
    fn neighbouring_bytes_become_one_access() {
        let found = simplified("T0|w(x:4)|1\nT0|w(x+4:4)|2\nT1|r(x:8)|3\n");
        assert_eq!(found.accesses.len(), 2);
        assert_eq!(found.accesses[0].end - found.accesses[0].start, 8);
        assert_eq!((found.accesses[0].first, found.accesses[0].last), (0, 1));
    }
}
