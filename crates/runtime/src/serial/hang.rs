//! Does the program hang? Every thread waits, or goes round in a loop that nothing will ever end.
//!
//! A loop that changes nothing and comes back to where it was, with the same registers and the same
//! stack, does so for ever: what it will do is decided by what it has and what it reads, and nobody
//! is left who could change either. That is looked at, not guessed. After many events without any
//! change to memory, locks or anything else, the loops are run step by step for a while (the
//! processor's trap flag). Each time a thread returns from a hook that has read something, its
//! registers and stack are compared with those of an earlier such time (Brent's way of finding a
//! cycle). A thread that counts its attempts, or sums something up, never comes back; nor does one
//! that asks for the time, which is an event.
//!
//! Some loops cannot be judged so: those that call code without instrumentation outside of the
//! program's own file, system calls and the processor's clock and random numbers. What code without
//! instrumentation in the program's own file keeps in memory is not seen.

use core::arch::asm;
use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::endings::{Hope, World};
use super::scheduler::Scheduler;
use super::task::State;
use super::{signals, timers, turn};
use crate::intercept::real;
use crate::local::local;
use crate::threads::Thread;
use crate::{message, process, record, sys};

/// After how many events without a change the loops are looked at for the first time, and by what
/// that grows from one time to the next.
const PATIENCE: u64 = 50_000;
const GROWTH: u64 = 4;
/// How many instructions are looked at each time.
const MOST_STEPS: u64 = 100_000;
/// An instruction that is looked at takes as long as so many events: a program that reads for long between two
/// changes is looked at again and again, and must not spend most of its time so.
const EVENTS_PER_STEP: u64 = 512;
/// The largest stack that is compared.
const MOST_STACK: usize = 1 << 20;
/// The processor traps after each instruction.
const TRAP_FLAG: u64 = 0x100;

/// The look that is under way; 0: none.
static LOOK: AtomicU32 = AtomicU32::new(0);
/// How many instructions it may still see.
static LEFT: AtomicU64 = AtomicU64::new(MOST_STEPS);
/// The program's own code.
static CODE: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// What is known of a thread's loop.
#[derive(Clone, Copy)]
pub struct Loop {
    /// In which look that was.
    look: u32,
    /// Where it returns to from a hook that has read something, and what it has read.
    returns: (usize, u64),
    /// What it looked like at an earlier return; how many there were since, and are to be.
    known: u64,
    since: u32,
    power: u32,
    /// Whether it came to be the same again.
    is_closed: bool,
    /// Whether it was refused a lock meanwhile.
    is_refused: bool,
    /// Where its stack begins; 0: not known.
    pub stack: usize,
}

impl Loop {
    /// Nothing is known.
    pub const fn new() -> Self {
        Loop {
            look: 0,
            returns: (0, 0),
            known: 0,
            since: 0,
            power: 0,
            is_closed: false,
            is_refused: false,
            stack: 0,
        }
    }

    /// It stands so at a return.
    fn at(&mut self, state: u64) {
        if self.since > 0 && self.known == state {
            self.is_closed = true;
        } else if self.since >= self.power {
            self.known = state;
            self.power = (self.power * 2).max(1);
            self.since = 1;
        } else {
            self.since += 1;
        }
    }
}

/// How long nothing has changed.
pub struct Quiet {
    changes: u64,
    lock_changes: u64,
    events: u64,
    next: u64,
    /// All events of the run when the last look began.
    looked_at: u64,
}

impl Quiet {
    /// Something has just changed.
    pub const fn new() -> Self {
        Quiet {
            changes: 0,
            lock_changes: 0,
            events: 0,
            next: PATIENCE,
            looked_at: 0,
        }
    }

    /// Whether the next look may begin, after all these events and a look that saw so many instructions; if not,
    /// it is put off.
    fn may_look(&mut self, events: u64, steps: u64) -> bool {
        let earliest = self.looked_at + steps * EVENTS_PER_STEP;
        let is_time = events >= earliest;
        match is_time {
            true => self.looked_at = events,
            false => self.next = self.events + (earliest - events),
        }
        is_time
    }
}

/// The running thread has read something, or was refused a lock, and returns to `pc`.
#[inline]
pub fn mark(me: *mut Thread, pc: usize, what: u64, is_refused: bool) {
    if LOOK.load(Ordering::Relaxed) != 0 {
        mark_slowly(me, pc, what, is_refused);
    }
}

#[cold]
fn mark_slowly(me: *mut Thread, pc: usize, what: u64, is_refused: bool) {
    let look = LOOK.load(Ordering::Relaxed);
    // SAFETY: the running thread's own record.
    let known = unsafe { &mut (*me).task.turns };
    if known.look != look {
        *known = Loop {
            look,
            stack: known.stack,
            ..Loop::new()
        };
    }
    known.returns = (pc, what);
    known.is_refused |= is_refused;
    // SAFETY: sets a flag of the processor; the handler is there, and the signal not blocked.
    unsafe {
        asm!(
            "pushfq",
            "or qword ptr [rsp], {flag}",
            "popfq",
            flag = const TRAP_FLAG,
        )
    };
}

/// The look is over.
fn give_up() {
    LOOK.store(0, Ordering::Relaxed);
}

/// After each instruction, while a look is under way.
extern "C" fn trapped(_: i32, _: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes the registers of what it has interrupted.
    let registers = unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    let spent = LEFT.load(Ordering::Relaxed).saturating_sub(1);
    LEFT.store(spent, Ordering::Relaxed);
    if spent == 0 {
        give_up();
    }
    if LOOK.load(Ordering::Relaxed) == 0 {
        registers[libc::REG_EFL as usize] &= !(TRAP_FLAG as i64);
        return;
    }
    // SAFETY: the thread's own state.
    let (inside, thread) = unsafe { ((*local()).inside, (*local()).thread) };
    if inside != 0 || thread.is_null() {
        return;
    }
    let at = registers[libc::REG_RIP as usize] as usize;
    let own = [0, 1].map(|end| CODE[end].load(Ordering::Relaxed));
    if !(own[0]..own[1]).contains(&at) || is_unforeseeable(at) {
        give_up();
        return;
    }
    // SAFETY: the running thread's own record; it is in its own code, so nobody else uses it.
    let known = unsafe { &mut (*thread).task.turns };
    let (pc, what) = known.returns;
    if pc == 0 || at != pc || known.look != LOOK.load(Ordering::Relaxed) {
        return;
    }
    known.returns = (0, 0);
    let kept = [
        libc::REG_RBX,
        libc::REG_RBP,
        libc::REG_RSP,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
    ];
    let stack = registers[libc::REG_RSP as usize] as usize;
    let state = kept.iter().fold(mix(pc as u64, what), |sum, register| {
        mix(sum, registers[*register as usize] as u64)
    });
    match known.stack.checked_sub(stack) {
        Some(bytes) if bytes <= MOST_STACK => {
            let words = (0..bytes / 8).map(|index| {
                // SAFETY: the thread's own stack, from where it is to where it has begun.
                unsafe { ((stack + index * 8) as *const u64).read_volatile() }
            });
            known.at(words.fold(state, mix));
        }
        _ => give_up(),
    }
}

fn mix(sum: u64, word: u64) -> u64 {
    (sum.rotate_left(29) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Whether the instruction there asks the kernel, the processor's clock or its random numbers.
fn is_unforeseeable(at: usize) -> bool {
    // SAFETY: an instruction that is about to be executed; it may be shorter than three bytes, but
    // functions are followed by others, or by padding.
    let [first, second, third] = unsafe { (at as *const [u8; 3]).read_unaligned() };
    match (first, second) {
        (0x0F, 0x05 | 0x31 | 0x34 | 0xC7) => true,
        (0x0F, 0x01) => third == 0xF9,
        // With a prefix before it.
        (0x66 | 0xF3 | 0x40..=0x4F, 0x0F) => third == 0xC7,
        _ => false,
    }
}

/// Makes ready for the first look; false if there can be none.
fn prepare() -> bool {
    let is_free = process::handler_of(libc::SIGTRAP) == 0;
    if !is_free || signals::mask() & signals::bit(libc::SIGTRAP) != 0 {
        return false;
    }
    if CODE[0].load(Ordering::Relaxed) != 0 {
        return true;
    }
    let mut own = [0usize; 2];
    // SAFETY: the visitor is for an array of two; the action is a whole record, and what it calls
    // keeps to what a handler may do: it touches its own thread's state and nothing else.
    unsafe {
        libc::dl_iterate_phdr(Some(visit), (&raw mut own).cast());
        let mut action: libc::sigaction = core::mem::zeroed();
        action.sa_sigaction = trapped as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        if own[1] == 0 || real::sigaction(libc::SIGTRAP, &raw const action as usize, 0) != 0 {
            return false;
        }
    }
    CODE[1].store(own[1], Ordering::Relaxed);
    CODE[0].store(own[0], Ordering::Relaxed);
    true
}

/// The first module is the program: where its code lies.
unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _: usize,
    place: *mut c_void,
) -> core::ffi::c_int {
    // SAFETY: what the C library passes, and the array of `prepare`.
    unsafe {
        let info = &*info;
        let own = &mut *place.cast::<[usize; 2]>();
        for index in 0..info.dlpi_phnum as usize {
            let part = &*info.dlpi_phdr.add(index);
            if part.p_type == libc::PT_LOAD && part.p_flags & libc::PF_X != 0 {
                let start = (info.dlpi_addr + part.p_vaddr) as usize;
                *own = [start, start + part.p_memsz as usize];
            }
        }
    }
    1
}

impl Scheduler {
    /// One more event. Ends the program if it hangs.
    #[inline]
    pub(super) fn look_for_hang(&mut self, me: *mut Thread) -> Option<*mut Thread> {
        if self.quiet.changes != self.log.changes {
            self.quiet.changes = self.log.changes;
            self.quiet.lock_changes = self.log.lock_changes;
            self.quiet.events = 0;
            self.quiet.next = PATIENCE;
            give_up();
        }
        self.quiet.events += 1;
        match self.quiet.events < self.quiet.next {
            true => None,
            false => self.look_closely(me),
        }
    }

    #[cold]
    fn look_closely(&mut self, me: *mut Thread) -> Option<*mut Thread> {
        static LOOKS: AtomicU32 = AtomicU32::new(0);
        if self.quiet.events == self.quiet.next {
            self.quiet.lock_changes = self.log.lock_changes;
            if !turn::is_green() || !self.can_hang() || !prepare() {
                self.quiet.next *= GROWTH;
                self.quiet.events += 1;
                return None;
            }
            let seen = MOST_STEPS - LEFT.load(Ordering::Relaxed);
            if !self.quiet.may_look(self.log.events, seen) {
                return None;
            }
            LEFT.store(MOST_STEPS, Ordering::Relaxed);
            LOOK.store(LOOKS.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            return None;
        }
        let look = LOOK.load(Ordering::Relaxed);
        if look == 0 {
            // It has not shown.
            self.quiet.next = self.quiet.events * GROWTH;
            return None;
        }
        let mut is_refused = false;
        let mut next = None;
        let mut all_closed = true;
        for index in 0..self.count {
            let task = self.task(index);
            let goes_on = task.state != State::Blocked || task.until != u64::MAX;
            let is_closed = task.turns.look == look && task.turns.is_closed;
            is_refused |= is_closed && task.turns.is_refused;
            if goes_on && !is_closed {
                all_closed = false;
                if index < self.ready {
                    next = Some(self.tasks[index]);
                }
            }
        }
        // Who was refused a lock that changes hands meanwhile may get it another time.
        let is_steady = !is_refused || self.quiet.lock_changes == self.log.lock_changes;
        if all_closed && !is_steady {
            give_up();
        } else if all_closed && self.can_hang() {
            self.hangs();
        }
        // Those whose loops are known let the others show theirs.
        next.filter(|next| *next != me)
    }

    /// Whether nobody but the threads can change anything.
    pub(super) fn can_hang(&mut self) -> bool {
        let is_free = !self.replay.is_on() && !self.explorer.is_on();
        if !is_free || self.away > 0 || timers::first() != u64::MAX {
            return false;
        }
        let world = World::now(false);
        let is_alone = !(world.children || world.handlers || world.helpers || world.shared);
        is_alone && self.hope_of_limitless(&world) == Hope::None
    }

    /// Says so, closes the recording and ends the program.
    fn hangs(&mut self) -> ! {
        give_up();
        message::say(format_args!(
            "the program does not end: every thread waits, or goes round in a loop that changes \
             nothing and came back to the same state"
        ));
        for index in 0..self.count {
            // SAFETY: records of threads that have not ended.
            let thread = unsafe { &*self.tasks[index] };
            match thread.task.state {
                State::Blocked if thread.task.until == u64::MAX => self.say_wait(index),
                _ => message::say(format_args!("  T{} goes round in a loop", thread.id)),
            }
        }
        record::close(deadheat_wire::HANGS, true);
        sys::exit_group(66)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that sums up memory, and writes the sum down now and then.
    #[test]
    fn what_is_looked_at_is_a_small_part_of_the_run() {
        let mut quiet = Quiet::new();
        let (mut steps, mut last, mut looks) = (0, 0, 0);
        for event in 1..=100_000_000_u64 {
            quiet.events += 1;
            if event % 60_000 == 0 {
                (quiet.events, quiet.next) = (0, PATIENCE);
            }
            if quiet.events == quiet.next && quiet.may_look(event, last) {
                last = MOST_STEPS;
                steps += last;
                looks += 1;
            }
        }
        assert!(looks > 1, "{looks}");
        assert!(steps * EVENTS_PER_STEP <= 100_000_000 + MOST_STEPS * EVENTS_PER_STEP);
    }

    #[test]
    fn the_first_look_is_early() {
        let mut quiet = Quiet::new();
        assert!(quiet.may_look(PATIENCE, 0));
        assert!(!quiet.may_look(2 * PATIENCE, MOST_STEPS));
        assert_eq!(quiet.next, MOST_STEPS * EVENTS_PER_STEP - PATIENCE);
    }
}
