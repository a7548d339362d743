//! Which atomic operations are on reference counts of Rust's standard library, and what the last
//! owner does: by the functions that events are in.
//!
//! `Arc::clone` adds one and looks at what it read for an overflow only. `Arc::drop` takes one off
//! and returns if that was not 1; else it has a fence (or an acquiring load) and calls `drop_slow`, and then
//! returns too. Debugging information says which of these functions an event is in, inlined or not.
//! The release of the last owner, the fence and the call, is followed event by event. It is known
//! if `drop_slow` has hooks: from the entry up to the exit; or if it has none and frees the
//! count's own block at its end. If anything else comes in between, it is not known.
//!
//! All that the release does has to be the standard library's own code for its own types: see [`names`].

mod names;
#[cfg(test)]
mod tests;

use deadheat_code::Frame;
use deadheat_predict::{Count, Release};
use deadheat_report::Binaries;
use deadheat_trace::{Op, Pc, Step, Tables, ThreadId};
use rustc_hash::FxHashMap;

use names::{DROP, Role, is_arc, is_plain, role};

/// Finds the operations on reference counts of a trace.
pub struct Counting {
    binaries: Binaries,
    sites: FxHashMap<Pc, Site>,
    /// The functions that counts go down in, each place where it is inlined apart.
    instances: FxHashMap<Vec<Frame>, u32>,
    threads: FxHashMap<ThreadId, Thread>,
    found: Vec<(u32, Count)>,
    /// How many that were found are forgotten.
    forgotten: usize,
}

/// What is known of a place.
#[derive(Clone, Copy, Default)]
struct Site {
    role: Role,
    /// In which `Arc::drop` it is, and whether right there.
    drop: Option<(u32, bool)>,
    /// In `Arc::drop_slow`.
    is_slow: bool,
    /// The standard library's own code for its own types, which does not unwind.
    is_plain: bool,
}

#[derive(Default)]
struct Thread {
    depth: u32,
    open: Vec<Open>,
}

/// A release whose end has not come.
struct Open {
    /// Which of those found.
    number: usize,
    /// The address of the count, which is that of its block.
    address: u64,
    depth: u32,
    instance: u32,
    phase: Phase,
    first: u32,
    last: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The fence comes next.
    Fence,
    /// It is called as a function; whether it was there.
    FenceCall(bool),
    /// `drop_slow` comes next, or does something without having hooks.
    Slow,
    /// It has hooks.
    SlowCall,
}

/// What an event is to a release.
#[derive(PartialEq, Eq)]
enum Part {
    Inside,
    /// Its last event.
    Last,
    /// The release is not what it should be.
    Never,
}

impl Counting {
    /// For a recording with these tables.
    pub fn of(tables: &Tables) -> Self {
        Counting {
            binaries: Binaries::of(tables),
            sites: FxHashMap::default(),
            instances: FxHashMap::default(),
            threads: FxHashMap::default(),
            found: Vec::new(),
            forgotten: 0,
        }
    }

    /// The next step of the trace, with its position.
    pub fn step(&mut self, position: u32, step: &Step) {
        let event = &step.event;
        let op = event.op();
        // No step of the thread's way.
        if op == Op::ExternalWrite {
            return;
        }
        let thread = self.threads.entry(event.thread()).or_default();
        if matches!(op, Op::Begin | Op::End | Op::Exit | Op::Lost) {
            *thread = Thread::default();
            return;
        }
        let is_count = op == Op::AtomicRmw;
        if is_count || !thread.open.is_empty() {
            let site = self.site(event.pc());
            self.follow(position, step, site);
            if is_count {
                self.count(position, step, site);
            }
        }
        let thread = self.threads.entry(event.thread()).or_default();
        match op {
            Op::Enter => thread.depth += 1,
            Op::Leave if thread.depth == 0 => thread.open.clear(),
            Op::Leave => thread.depth -= 1,
            _ => {}
        }
    }

    /// Whether a thread is in what may be a release.
    pub fn is_releasing(&self, thread: ThreadId) -> bool {
        let thread = self.threads.get(&thread);
        thread.is_some_and(|thread| !thread.open.is_empty())
    }

    /// All operations on counts from a position on, with positions counted from there.
    pub fn from(&self, position: u32) -> Vec<(u32, Count)> {
        let first = self.found.partition_point(|(at, _)| *at < position);
        let here = |(at, count): &(u32, Count)| {
            let count = match *count {
                Count::Down(Some(Release { first, last })) => Count::Down(Some(Release {
                    first: first - position,
                    last: last - position,
                })),
                other => other,
            };
            (at - position, count)
        };
        self.found[first..].iter().map(here).collect()
    }

    /// What lies before a position is not asked for any more.
    pub fn forget_before(&mut self, position: u32) {
        let behind = self.found.partition_point(|(at, _)| *at < position);
        self.found.drain(..behind);
        self.forgotten += behind;
    }

    fn count(&mut self, position: u32, step: &Step, site: Site) {
        let count = match site.role {
            Role::None => return,
            Role::Up => Count::Up,
            Role::Down | Role::Releases => Count::Down(None),
        };
        let number = self.forgotten + self.found.len();
        self.found.push((position, count));
        if let (Role::Releases, Some(1), Some((instance, _)), true) =
            (site.role, step.read(), site.drop, site.is_plain)
        {
            let thread = self.threads.entry(step.event.thread()).or_default();
            thread.open.push(Open {
                number,
                address: step.event.addr().0,
                depth: thread.depth,
                instance,
                phase: Phase::Fence,
                first: u32::MAX,
                last: 0,
            });
        }
    }

    /// Tells all open releases of the thread.
    fn follow(&mut self, position: u32, step: &Step, site: Site) {
        let Some(thread) = self.threads.get_mut(&step.event.thread()) else {
            return;
        };
        let (depth, found, forgotten) = (thread.depth, &mut self.found, self.forgotten);
        thread.open.retain_mut(|open| {
            let part = match site.is_plain {
                true => open.part(depth, step, site),
                false => Part::Never,
            };
            if part == Part::Never {
                return false;
            }
            open.first = open.first.min(position);
            open.last = position;
            if part == Part::Last {
                let Open { first, last, .. } = *open;
                let count = open.number.checked_sub(forgotten);
                if let Some((_, count)) = count.and_then(|at| found.get_mut(at)) {
                    *count = Count::Down(Some(Release { first, last }));
                }
            }
            part == Part::Inside
        });
    }

    /// What is known of a place, looked up once.
    fn site(&mut self, pc: Pc) -> Site {
        if let Some(site) = self.sites.get(&pc) {
            return *site;
        }
        let frames = self.binaries.frames(pc);
        let is_plain = !frames.is_empty() && frames.iter().all(is_plain);
        let mut site = Site {
            role: role(&frames),
            is_slow: frames.iter().any(|frame| is_arc(frame, ">::drop_slow")),
            drop: None,
            is_plain,
        };
        if let Some(at) = frames.iter().position(|frame| is_arc(frame, DROP)) {
            let mut instance = frames[at..].to_vec();
            // Only where it was called from tells it from others.
            (instance[0].line, instance[0].column) = (None, None);
            instance[0].file = None;
            let number = self.instances.len() as u32;
            let number = *self.instances.entry(instance).or_insert(number);
            site.drop = Some((number, at == 0));
        }
        self.sites.insert(pc, site);
        site
    }
}

impl Open {
    fn part(&mut self, depth: u32, step: &Step, site: Site) -> Part {
        let event = &step.event;
        let op = event.op();
        let acquires = op == Op::Fence || op == Op::AtomicRead && event.addr().0 == self.address;
        if depth > self.depth {
            let returns = op == Op::Leave && depth - 1 == self.depth;
            self.phase = match self.phase {
                Phase::SlowCall if returns => return Part::Last,
                Phase::FenceCall(true) if returns => Phase::Slow,
                Phase::FenceCall(_) if returns => return Part::Never,
                Phase::FenceCall(seen) => Phase::FenceCall(seen || acquires),
                other => other,
            };
            return Part::Inside;
        }
        let (is_here, is_direct) = match site.drop {
            Some((instance, is_direct)) => (instance == self.instance, is_direct),
            None => (false, false),
        };
        if !is_here && !site.is_slow {
            return Part::Never;
        }
        self.phase = match (self.phase, op) {
            (Phase::Fence, _) if acquires && is_here => Phase::Slow,
            (Phase::Fence, Op::Enter) if is_here => Phase::FenceCall(false),
            // Where the count is, for the load.
            (Phase::Fence, Op::Read) if is_here => Phase::Fence,
            (Phase::Slow, Op::Enter) if is_here && is_direct => Phase::SlowCall,
            (Phase::Slow, Op::Free) if event.addr().0 == self.address => return Part::Last,
            (Phase::Slow, Op::Free) if site.is_slow => Phase::Slow,
            _ => return Part::Never,
        };
        Part::Inside
    }
}
