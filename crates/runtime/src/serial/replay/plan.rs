//! The file of the schedule, mapped.

use core::mem::size_of;

use deadheat_wire::plan::{
    AT, After, MAGIC, PlanEvent, PlanGoal, PlanHeader, PlanOffshoot, PlanSegment, PlanSite,
    PlanThread, Region, VALUE, VERDICT, VERSION,
};

use crate::options::MAX_PATH;
use crate::{memory, message, sys};

/// A schedule. All parts stay in memory as long as the process.
pub struct Plan {
    /// Its head.
    pub header: PlanHeader,
    /// The threads.
    pub threads: &'static [PlanThread],
    /// The order: that of the trunk, or of the offshoot that this copy follows.
    pub segments: &'static [PlanSegment],
    /// Those of all.
    all_segments: &'static [PlanSegment],
    /// What happens where.
    sites: &'static [PlanSite],
    /// What happens, thread by thread.
    pub events: &'static [PlanEvent],
    /// What is to be reached.
    pub goals: &'static [PlanGoal],
    /// That of all.
    all_goals: &'static [PlanGoal],
    /// Schedules that leave the trunk.
    pub offshoots: &'static [PlanOffshoot],
    /// Where the blocks lie in this run, by region; 0 while that is not known.
    pub regions: &'static mut [u64],
    /// Where the last announcement is told, in the file.
    at: *mut u64,
    /// Where the verdict goes, with a closing zero.
    pub verdict: [u8; MAX_PATH],
}

/// An event, with what it has in common with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// An `Op`.
    pub op: u8,
    /// Code without hooks did it.
    pub soft: bool,
    /// How many bytes it accesses.
    pub size: u16,
    /// Its place is in a library.
    pub moves: bool,
    /// Where it is, or 0.
    pub pc: u64,
    /// A [`Region`].
    pub region: u32,
    /// The address in the region, or a thread's number.
    pub target: u64,
}

/// The path with something added and a closing zero, if it fits.
fn with_suffix(path: &[u8], suffix: &[u8]) -> Option<[u8; MAX_PATH]> {
    let mut full = [0; MAX_PATH];
    let end = path.len() + suffix.len();
    (end < MAX_PATH).then_some(())?;
    full[..path.len()].copy_from_slice(path);
    full[path.len()..end].copy_from_slice(suffix);
    Some(full)
}

/// The path up to its closing zero, with it.
pub fn ended(path: &[u8; MAX_PATH]) -> &[u8] {
    let end = path.iter().position(|byte| *byte == 0).unwrap_or(0);
    &path[..=end]
}

impl Plan {
    /// Maps the plan at `path`. `None` if another process follows it already; a plan that cannot be used is said.
    pub fn open(path: &[u8]) -> Option<Plan> {
        let (path, verdict, taken) = (
            with_suffix(path, b"")?,
            with_suffix(path, VERDICT.as_bytes())?,
            with_suffix(path, b".taken")?,
        );
        let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_CLOEXEC;
        match sys::open(ended(&taken), flags, 0o600) {
            file if file >= 0 => sys::close(file as i32),
            error if error == -(libc::EEXIST as isize) => return None,
            _ => {}
        }
        let file = sys::open(ended(&path), libc::O_RDWR | libc::O_CLOEXEC, 0);
        if file < 0 {
            message::say(format_args!(
                "the schedule cannot be read (error {})",
                -file
            ));
            return None;
        }
        let plan = Plan::of_file(file as i32, verdict);
        sys::close(file as i32);
        if plan.is_none() {
            message::say(format_args!("the schedule is damaged"));
        }
        plan
    }

    fn of_file(file: i32, verdict: [u8; MAX_PATH]) -> Option<Plan> {
        let end = sys::call(
            libc::SYS_lseek,
            [file as usize, 0, libc::SEEK_END as usize, 0, 0, 0],
        );
        let bytes = usize::try_from(end).ok()?;
        (bytes >= size_of::<PlanHeader>()).then_some(())?;
        let start = sys::map(bytes, file, 0);
        (!start.is_null()).then_some(())?;
        let mut at = Part {
            start,
            at: 0,
            bytes,
        };
        let header = *at.take::<PlanHeader>(1)?.first()?;
        (header.magic == MAGIC && header.version == VERSION).then_some(())?;
        let threads = at.take(u64::from(header.threads))?;
        let segments: &[PlanSegment] = at.take(header.segments)?;
        let sites: &[PlanSite] = at.take(header.sites)?;
        let events: &[PlanEvent] = at.take(header.events)?;
        let goals: &[PlanGoal] = at.take(u64::from(header.goals))?;
        let offshoots: &[PlanOffshoot] = at.take(u64::from(header.offshoots))?;
        let trunk = segments.get(..usize::try_from(header.trunk).ok()?)?;
        let inside = |thread: &PlanThread| {
            let end = thread.first.checked_add(thread.count);
            end.is_some_and(|end| end <= header.events)
        };
        let known = |thread: u32| (thread as usize) < threads.len();
        let (regions, last_site) = (header.regions.max(2), sites.len());
        let good = |event: &PlanEvent| event.region < regions && (event.site as usize) < last_site;
        let whole = threads.iter().all(inside)
            && segments.iter().all(|segment| known(segment.thread))
            && goals
                .iter()
                .all(|goal| known(goal.thread) && good(&goal.event))
            && events.chunks(AT_ONCE).all(|some| {
                let are_good = some.iter().all(good);
                let_go(some);
                are_good
            })
            && offshoots.iter().all(|offshoot| {
                segments_of(offshoot, segments).is_some() && goals_of(offshoot, goals).is_some()
            });
        whole.then_some(())?;
        let count = header.regions.max(2) as usize;
        let regions: *mut u64 = memory::pages(count);
        (!regions.is_null()).then_some(())?;
        Some(Plan {
            header,
            threads,
            segments: trunk,
            all_segments: segments,
            sites,
            events,
            goals: if offshoots.is_empty() { goals } else { &[] },
            all_goals: goals,
            offshoots,
            // SAFETY: just mapped, zeroed, and nobody else knows of it.
            regions: unsafe { core::slice::from_raw_parts_mut(regions, count) },
            // SAFETY: within the mapping, which is as long as the header at least.
            at: unsafe { start.add(AT) }.cast(),
            verdict,
        })
    }

    /// From here on the plan is that of an offshoot, which has so many events of each thread; false if there is no memory
    /// for it. Its verdict has its number behind its name.
    pub fn leave_trunk(&mut self, number: usize, count: impl Fn(usize) -> u64) -> bool {
        let Some(offshoot) = self.offshoots.get(number) else {
            return false;
        };
        let segments = segments_of(offshoot, self.all_segments);
        let goals = goals_of(offshoot, self.all_goals);
        let threads: *mut PlanThread = memory::pages(self.threads.len().max(1));
        let (Some(segments), Some(goals), false) = (segments, goals, threads.is_null()) else {
            return false;
        };
        for (index, thread) in self.threads.iter().enumerate() {
            let own = segments.iter().rev();
            let mut own = own.filter(|segment| segment.thread as usize == index);
            let wanted = own.next().map_or_else(|| count(index), |last| last.upto);
            let count = wanted.min(thread.count);
            // SAFETY: there is room for so many, and nobody else knows of it.
            unsafe { threads.add(index).write(PlanThread { count, ..*thread }) };
        }
        // SAFETY: all of them were written, and the memory stays.
        self.threads = unsafe { core::slice::from_raw_parts(threads, self.threads.len()) };
        let mut digits = [b'.'; 11];
        let (mut left, mut first) = (number, digits.len());
        while first > 1 && (left > 0 || first == digits.len()) {
            first -= 1;
            digits[first] = b'0' + (left % 10) as u8;
            left /= 10;
        }
        let path = ended(&self.verdict);
        let Some(verdict) = with_suffix(&path[..path.len() - 1], &digits[first - 1..]) else {
            return false;
        };
        self.verdict = verdict;
        (self.segments, self.goals) = (segments, goals);
        (self.header.goal, self.header.after) = (offshoot.kind, After::Stop as u32);
        self.offshoots = &[];
        true
    }

    /// Tells what the first goal's variable holds in the end, if it is one that lives as long as the program.
    pub fn tell_value(&self) {
        let Some(goal) = self.goals.first() else {
            return;
        };
        let bytes = u64::from(self.planned(&goal.event).size);
        if self.header.steady == 0
            || goal.event.region != Region::FIXED.0
            || !matches!(bytes, 1 | 2 | 4 | 8)
        {
            return;
        }
        let mut value = [0; 8];
        for (at, byte) in value.iter_mut().enumerate().take(bytes as usize) {
            // SAFETY: a variable of the program itself, whose memory stays; the compiler knows nothing of what changes it.
            *byte = unsafe { ((goal.event.target as usize + at) as *const u8).read_volatile() };
        }
        // SAFETY: within the mapping and aligned, as in `tell_place`; the value comes before what makes it count.
        unsafe {
            let place = self.at.byte_add(VALUE - AT);
            place.write_volatile(u64::from_le_bytes(value));
            place.add(1).write_volatile(bytes);
        }
    }

    /// Tells where the running thread is about to do something: should it crash there, that is known.
    #[inline]
    pub fn tell_place(&self, pc: usize) {
        // SAFETY: within the mapping, aligned like the header; only the thread that has the turn writes.
        unsafe { self.at.write_volatile(pc as u64) };
    }

    /// An event, with what it has in common with others.
    #[inline]
    pub fn planned(&self, event: &PlanEvent) -> Planned {
        let site = &self.sites[event.site as usize];
        Planned {
            op: site.op,
            soft: site.soft != 0,
            size: site.size,
            moves: site.moves != 0,
            pc: site.pc,
            region: event.region,
            target: event.target,
        }
    }

    /// The `number`th event of a thread.
    #[inline]
    pub fn event(&self, thread: usize, number: u64) -> Option<Planned> {
        let thread = self.threads.get(thread)?;
        (number < thread.count)
            .then(|| self.planned(&self.events[(thread.first + number) as usize]))
    }

    /// A thread has done so many events, the last of them just now: those long before need not be in memory.
    #[inline]
    pub fn passed(&self, thread: usize, before: u64, done: u64) {
        if before / AT_ONCE as u64 != done / AT_ONCE as u64 {
            self.let_go_before(thread, before);
        }
    }

    #[cold]
    fn let_go_before(&self, thread: usize, done: u64) {
        let own = self.threads.get(thread).map(|own| own.first + done);
        let upto = own.and_then(|upto| usize::try_from(upto).ok());
        let from = upto.and_then(|upto| upto.checked_sub(2 * AT_ONCE));
        if let (Some(from), Some(upto)) = (from, upto)
            && let Some(some) = self.events.get(from..upto)
        {
            let_go(some);
        }
    }

    /// The event that a thread stands before in the end, if it has a goal.
    pub fn goal(&self, thread: usize) -> Option<Planned> {
        let mut goals = self.goals.iter();
        let own = goals.find(|goal| goal.thread as usize == thread)?;
        Some(self.planned(&own.event))
    }
}

/// The segments of an offshoot, if the plan has them.
fn segments_of<'a>(offshoot: &PlanOffshoot, all: &'a [PlanSegment]) -> Option<&'a [PlanSegment]> {
    let first = usize::try_from(offshoot.segment).ok()?;
    let end = first.checked_add(usize::try_from(offshoot.segments).ok()?)?;
    all.get(first..end)
}

/// Its goals.
fn goals_of<'a>(offshoot: &PlanOffshoot, all: &'a [PlanGoal]) -> Option<&'a [PlanGoal]> {
    let first = offshoot.goal as usize;
    all.get(first..first.checked_add(offshoot.goals as usize)?)
}

/// So many events are let go of at once.
const AT_ONCE: usize = 1 << 16;

/// Events that need not be in memory: a plan is as long as the run. Whoever looks at them again reads them from the file.
fn let_go(events: &[PlanEvent]) {
    const PAGE: usize = 4096;
    let range = events.as_ptr_range();
    let first = (range.start as usize).next_multiple_of(PAGE);
    let last = range.end as usize & !(PAGE - 1);
    if first < last {
        // The file is mapped as one that others see, and these pages are whole ones of events, which nobody writes.
        let advice = libc::MADV_DONTNEED as usize;
        sys::call(libc::SYS_madvise, [first, last - first, advice, 0, 0, 0]);
    }
}

/// What is left of the mapped file.
struct Part {
    start: *mut u8,
    at: usize,
    bytes: usize,
}

impl Part {
    /// The next `count` values. `T` is one of the plan's types, all of which are plain numbers.
    fn take<T: 'static>(&mut self, count: u64) -> Option<&'static [T]> {
        let count = usize::try_from(count).ok()?;
        let length = count.checked_mul(size_of::<T>())?;
        let end = self.at.checked_add(length)?;
        (end <= self.bytes).then_some(())?;
        // SAFETY: within the mapping, which stays; it starts at a page and all parts are multiples of
        // eight bytes long, so it is aligned; any bytes are a valid value.
        let part = unsafe { core::slice::from_raw_parts(self.start.add(self.at).cast(), count) };
        self.at = end;
        Some(part)
    }
}
