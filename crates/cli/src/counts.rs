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
//! All that the release does has to be the standard library's own code for its own types: [`is_std`].
//! A program's destructor would be called from a function whose name has the destructor's type (as
//! `drop_in_place::<prog::Guard>`), or through a pointer to a `dyn` object ([`calls_anything`]), and functions
//! of the program have hooks: that call is an event. Panics are told by their functions, too.

use deadheat_code::Frame;
use deadheat_predict::{Count, Release};
use deadheat_report::Binaries;
use deadheat_trace::{Op, Pc, Step, Tables, ThreadId};
use rustc_hash::FxHashMap;

/// Finds the operations on reference counts of a trace.
pub struct Counting {
    binaries: Binaries,
    sites: FxHashMap<Pc, Site>,
    /// The functions that counts go down in, each place where it is inlined apart.
    instances: FxHashMap<Vec<Frame>, u32>,
    threads: FxHashMap<ThreadId, Thread>,
    found: Vec<(u32, Count)>,
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

/// What an atomic operation at a place is to a count.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Role {
    #[default]
    None,
    Up,
    Down,
    /// Down, and the last owner releases.
    Releases,
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

    /// All operations on counts, by position.
    pub fn finish(self) -> Vec<(u32, Count)> {
        self.found
    }

    fn count(&mut self, position: u32, step: &Step, site: Site) {
        let count = match site.role {
            Role::None => return,
            Role::Up => Count::Up,
            Role::Down | Role::Releases => Count::Down(None),
        };
        let number = self.found.len();
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
        let (depth, found) = (thread.depth, &mut self.found);
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
                found[open.number].1 = Count::Down(Some(Release { first, last }));
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

const ARC: &str = "<alloc::sync::Arc<";
const DROP: &str = " as core::ops::drop::Drop>::drop";
const CLONE: &str = " as core::clone::Clone>::clone";

fn name(frame: &Frame) -> &str {
    frame.function.as_deref().unwrap_or_default()
}

/// Whether this is a function of `Arc`.
fn is_arc(frame: &Frame, function: &str) -> bool {
    let name = name(frame);
    name.starts_with(ARC) && name.ends_with(function)
}

/// What an atomic operation is to a count: by the function that the atomic's own functions are inlined into.
fn role(frames: &[Frame]) -> Role {
    let mut callers = frames.iter();
    let mut inside = Vec::new();
    let user = loop {
        match callers.next() {
            Some(frame) if is_atomic(frame) => inside.push(frame),
            Some(frame) => break frame,
            None => return Role::None,
        }
    };
    let does = |function: &str| {
        let mut inside = inside.iter();
        inside.any(|frame| name(frame).ends_with(function))
    };
    let name = name(user);
    let is_weak = name.starts_with("<alloc::sync::Weak<") && name.ends_with(DROP);
    let of_scope = |function: &str| name == format!("deadheat_stdsync::scope::{function}");
    if does("::fetch_add") {
        match is_arc(user, CLONE) || of_scope("increment_num_running_threads") {
            true => Role::Up,
            false => Role::None,
        }
    } else if does("::fetch_sub") {
        match () {
            () if is_arc(user, DROP) => Role::Releases,
            () if is_weak || of_scope("decrement_num_running_threads") => Role::Down,
            () => Role::None,
        }
    } else {
        Role::None
    }
}

/// Whether this is a function of an atomic type.
fn is_atomic(frame: &Frame) -> bool {
    let name = name(frame);
    let name = name.strip_prefix('<').unwrap_or(name);
    name.starts_with("core::sync::atomic::")
}

fn is_plain(frame: &Frame) -> bool {
    let name = name(frame);
    is_std(name) && !calls_anything(name) && !unwinds(name)
}

/// Whether a function is the standard library's, for types of the standard library: all paths in its name begin there.
fn is_std(name: &str) -> bool {
    let mut has_path = name == "__rust_try";
    let mut rest = name;
    while let Some(start) =
        rest.find(|c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '{'))
    {
        let (before, word) = rest.split_at(start);
        let end = match word.as_bytes()[0] {
            b'{' => word.find('}').map_or(word.len(), |at| at + 1),
            _ => {
                let end = word[1..].find(|c: char| !c.is_alphanumeric() && c != '_');
                end.map_or(word.len(), |at| at + 1)
            }
        };
        let (word, after) = word.split_at(end);
        let is_root = !before.ends_with("::") && after.starts_with("::") && !word.starts_with('{');
        if is_root && !matches!(word, "core" | "alloc" | "std" | "deadheat_stdsync") {
            return false;
        }
        has_path |= is_root;
        // A type of no crate is one of the language's.
        let stands_alone = !before.ends_with("::") && !after.starts_with("::");
        if stands_alone && !is_of_language(word) {
            return false;
        }
        rest = after;
    }
    has_path
}

/// Whether a word is of the language: a type, a keyword, a name of an associated type, a number, a lifetime.
fn is_of_language(word: &str) -> bool {
    let is_number = word.starts_with(|c: char| c.is_ascii_digit());
    let is_marked = word.starts_with(['\'', '{']);
    is_number
        || is_marked
        || matches!(
            word,
            "as" | "dyn"
                | "mut"
                | "const"
                | "for"
                | "bool"
                | "char"
                | "str"
                | "u8"
                | "u16"
                | "u32"
                | "u64"
                | "u128"
                | "usize"
                | "i8"
                | "i16"
                | "i32"
                | "i64"
                | "i128"
                | "isize"
                | "f32"
                | "f64"
                | "Output"
                | "__rust_try"
                | "true"
                | "false"
        )
}

/// Whether a function is about an object of which only a trait is known: it may call anything.
fn calls_anything(name: &str) -> bool {
    let name = name.strip_prefix("core::ptr::drop_in_place::<");
    let mut target = name.unwrap_or_default();
    const AROUND: [&str; 6] = [
        "alloc::boxed::Box<",
        "alloc::sync::Arc<",
        "alloc::rc::Rc<",
        "&mut ",
        "&",
        "[",
    ];
    while let Some(inner) = AROUND.iter().find_map(|around| target.strip_prefix(around)) {
        target = inner;
    }
    target.starts_with("dyn ")
}

/// Whether a function is one that panics go through. (That they may be caught says nothing.)
fn unwinds(name: &str) -> bool {
    let inside = name.replace("panicking::catch_unwind", "");
    [
        "panicking::",
        "panic_unwind",
        "rust_panic",
        "begin_panic",
        "resume_unwind",
        "_Unwind",
    ]
    .iter()
    .any(|part| inside.contains(part))
}
