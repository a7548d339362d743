//! The lives of threads: created, begun, ended, waited for; and what each is in the middle of.

use super::violation::Rule;
use crate::{Op, Step, SyncId, Tables, ThreadId};

/// The state of all threads.
#[derive(Default)]
pub(super) struct Threads {
    threads: Vec<Life>,
    /// How many times events were missing.
    gaps: u32,
}

const RAN: u8 = 1;
const BEGUN: u8 = 2;
const ENDED: u8 = 4;
const FORKED: u8 = 8;
const JOINED: u8 = 16;
/// It was said that the thread goes on after its end; once is enough.
const SAID: u8 = 32;

#[derive(Clone, Copy, Default)]
struct Life {
    flags: u8,
    /// The gap after which what follows was noted.
    gap: u32,
    /// How many functions it is in.
    depth: u32,
    /// The condition it waits at.
    waits: Option<SyncId>,
    /// The barrier it has entered.
    entered: Option<SyncId>,
}

impl Threads {
    /// A step of a thread that is none of its turning points.
    #[inline]
    pub fn runs(&mut self, thread: ThreadId) -> Option<Rule> {
        let life = self.life(thread);
        if life.flags & (RAN | ENDED | JOINED) == RAN {
            return None;
        }
        life.runs()
    }

    /// Any step: whether the thread can be where it says it is.
    pub fn event(&mut self, step: &Step) -> Option<Rule> {
        let (thread, op) = (step.event.thread(), step.event.op());
        let began = op == Op::Begin && self.life(thread).flags & RAN != 0;
        let ran = self.runs(thread);
        let peer = step.event.peer();
        let gap = self.gaps;
        let own = match op {
            Op::Begin => {
                self.life(thread).flags |= BEGUN;
                began.then_some(Rule::BeginNotFirst)
            }
            Op::End => {
                self.life(thread).flags |= ENDED;
                None
            }
            Op::Fork => {
                let life = self.life(peer);
                let before = life.flags;
                life.flags |= FORKED;
                if before & FORKED != 0 {
                    Some(Rule::ForkedTwice(peer))
                } else {
                    (before & RAN != 0).then_some(Rule::ForkAfterRun(peer))
                }
            }
            Op::Join => {
                let life = self.life(peer);
                let runs = life.flags & (BEGUN | ENDED) == BEGUN && life.gap == gap;
                life.flags |= JOINED;
                runs.then(|| {
                    life.flags |= SAID;
                    Rule::JoinBeforeEnd(peer)
                })
            }
            Op::Exit => None,
            _ => self.current(thread).inside(op, step.event.sync(), gap > 0),
        };
        ran.or(own)
    }

    /// Whether a thread has come to its end.
    pub fn has_ended(&self, thread: ThreadId) -> bool {
        let life = self.threads.get(thread.index());
        life.is_some_and(|life| life.flags & ENDED != 0)
    }

    /// Events are missing.
    pub fn lose(&mut self) {
        self.gaps += 1;
    }

    /// Whether a thread that was created has not run, and whether another one was meant.
    pub fn never_ran(&self, thread: ThreadId, tables: &Tables) -> Option<Rule> {
        let life = self.threads.get(thread.index())?;
        if life.flags & (FORKED | RAN) != FORKED || self.gaps > 0 {
            return None;
        }
        let name = tables.thread_name(thread);
        let number = trailing_number(&name);
        let orphans =
            self.threads.iter().zip(0..).filter_map(|(life, id)| {
                (life.flags & (FORKED | RAN) == RAN).then_some(ThreadId(id))
            });
        let mut candidates = orphans.filter(|id| {
            let other = tables.thread_name(*id);
            !number.is_empty() && trailing_number(&other) == number
        });
        let meant = candidates.next();
        Some(Rule::NeverRan { thread, meant })
    }

    #[inline]
    fn life(&mut self, thread: ThreadId) -> &mut Life {
        let index = thread.index();
        if index >= self.threads.len() {
            self.threads.resize(index + 1, Life::default());
        }
        &mut self.threads[index]
    }

    /// What is known of a thread since the last gap.
    fn current(&mut self, thread: ThreadId) -> &mut Life {
        let gap = self.gaps;
        let life = self.life(thread);
        if life.gap != gap {
            *life = Life {
                flags: life.flags,
                gap,
                ..Life::default()
            };
        }
        life
    }
}

impl Life {
    #[cold]
    fn runs(&mut self) -> Option<Rule> {
        self.flags |= RAN;
        let gone = self.flags & (ENDED | JOINED) != 0 && self.flags & SAID == 0;
        gone.then(|| {
            self.flags |= SAID;
            match self.flags & ENDED {
                0 => Rule::RunsAfterJoin,
                _ => Rule::RunsAfterEnd,
            }
        })
    }

    /// A step inside of functions, waits and barriers; behind a gap the start may be missing.
    fn inside(&mut self, op: Op, sync: SyncId, gap: bool) -> Option<Rule> {
        let broken = match op {
            Op::Enter => {
                self.depth += 1;
                None
            }
            Op::Leave => match self.depth.checked_sub(1) {
                Some(depth) => {
                    self.depth = depth;
                    None
                }
                None => Some(Rule::LeaveWithoutEnter),
            },
            Op::Wait => {
                self.waits = Some(sync);
                None
            }
            Op::Wake | Op::Timeout => {
                let waited = self.waits.take();
                (waited != Some(sync)).then_some(Rule::WakeWithoutWait(sync))
            }
            Op::BarrierEnter => {
                self.entered = Some(sync);
                None
            }
            Op::BarrierExit => {
                let entered = self.entered.take();
                (entered != Some(sync)).then_some(Rule::ExitWithoutEnter(sync))
            }
            _ => None,
        };
        broken.filter(|_| !gap)
    }
}

/// The digits that a name ends in.
fn trailing_number(name: &str) -> &str {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    &name[stem.len()..]
}
