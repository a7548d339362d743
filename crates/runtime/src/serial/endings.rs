//! Who can end a wait? The one place that knows, for every kind of wait.
//!
//! | wait | threads of this process | signal handler | time | cancellation | outside |
//! |---|---|---|---|---|---|
//! | lock | its owner | no: it may not unlock | timed calls | no | if process-shared |
//! | semaphore | any | `sem_post` | timed calls | yes | if process-shared, libc's own threads |
//! | condition, barrier, once | any | no | timed calls | conditions | as above |
//! | futex | any | no, but `EINTR` | timed calls | no | if process-shared |
//! | join | the thread's end | no | timed calls | yes | no |
//! | sleep | - | yes | always | yes | - |
//! | descriptor | whoever has the other end | `write` | timed calls | yes | unless all ends are here |
//! | signal | any (`pthread_kill`) | yes | `sigtimedwait` | yes | any process |
//!
//! A handler may also leave any wait by `siglongjmp`. That counts while a signal is certain to
//! come: from a timer, or from a child that lives. The scheduler asks [`hope`] once no thread can
//! run and no time limit is left. Only where it answers [`Hope::None`] is it a deadlock.

use core::sync::atomic::{AtomicI32, Ordering};

use crate::intercept::shared;
use crate::{process, sys};

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A mutex, read-write lock or spin lock.
    Lock,
    /// A semaphore.
    Semaphore,
    /// A condition variable.
    Condition,
    /// A barrier.
    Barrier,
    /// Somebody who initialises something.
    Once,
    /// A futex.
    Futex,
    /// A thread's end.
    Join,
    /// Time.
    Sleep,
    /// Something on a descriptor that others outside may hold.
    Descriptor,
    /// The same, but all of its ends are certain to be in this process.
    OwnDescriptor,
    /// A signal.
    Signal,
}

impl Kind {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Lock => "lock",
            Kind::Semaphore => "semaphore",
            Kind::Condition => "condition",
            Kind::Barrier => "barrier",
            Kind::Once => "initialisation",
            Kind::Futex => "futex",
            Kind::Join => "the end of a thread,",
            Kind::Sleep => "time,",
            Kind::Descriptor => "a descriptor, channel",
            Kind::OwnDescriptor => "a pipe that only this process has, channel",
            Kind::Signal => "a signal,",
        }
    }

    /// Whether `pthread_cancel` ends it.
    pub fn is_cancellation_point(self) -> bool {
        !matches!(self, Kind::Lock | Kind::Barrier | Kind::Once | Kind::Futex)
    }

    /// Whether it ends once a signal handler has run in the waiting thread. (The caller may begin
    /// anew.)
    pub fn ends_by_handler(self) -> bool {
        matches!(
            self,
            Kind::Semaphore
                | Kind::Futex
                | Kind::Sleep
                | Kind::Descriptor
                | Kind::OwnDescriptor
                | Kind::Signal
        )
    }

    /// Whether what a handler may do without error, `sem_post` or `write`, can end it in another
    /// thread; or the signal itself.
    fn is_served_by_handlers(self) -> bool {
        matches!(
            self,
            Kind::Semaphore | Kind::Descriptor | Kind::OwnDescriptor | Kind::Signal
        )
    }

    /// Whether it can be a wait for something that is shared with other processes, or with threads
    /// of libc's own.
    fn may_be_shared(self) -> bool {
        !matches!(self, Kind::Join | Kind::Sleep | Kind::OwnDescriptor)
    }
}

/// What may still end the waits of a process in which no thread can run and no time limit is left.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Hope {
    /// Nothing: it is a deadlock.
    None,
    /// Only a child's signal whose handler jumps out of the wait. Worth waiting for a while; then
    /// it is a deadlock.
    Unlikely,
    /// Somebody may exist, or not: another process that sends a signal, a thread of libc's own.
    /// Worth waiting for a while.
    Perhaps,
    /// Somebody who lives and may act: a child process, a call that is under way. Worth waiting for
    /// as long as it takes.
    Somebody,
}

/// What is known of the world outside.
#[derive(Clone, Copy, Default)]
pub struct World {
    /// Threads are in calls without the turn, and do not merely wait there for something outside.
    pub away: bool,
    /// Child processes live.
    pub children: bool,
    /// A handler is there for a signal that others may send.
    pub handlers: bool,
    /// Libc may run threads of its own: timers and notifications by thread, asynchronous I/O.
    pub helpers: bool,
    /// Objects are shared with other processes: those that lie in memory that they can reach.
    pub shared: bool,
}

/// A wait of a thread.
#[derive(Clone, Copy)]
pub struct Wait {
    /// What it waits for.
    pub kind: Kind,
    /// Which one.
    pub object: usize,
}

impl World {
    /// As it is now.
    pub fn now(away: bool) -> Self {
        World {
            away,
            children: has_living_children(),
            handlers: process::has_handlers(),
            helpers: process::has_helpers(),
            shared: process::shares_memory(),
        }
    }

    /// Who can end a loop that only asks: another process that reaches what it asks for, a signal's handler, a thread of libc's own.
    pub fn hope_of_loops(&self) -> Hope {
        match self.shared || self.handlers || self.helpers {
            // Whatever a child may do: it can be waited for.
            _ if self.children => Hope::Somebody,
            true => Hope::Perhaps,
            false => Hope::None,
        }
    }

    /// Who can end a wait without a time limit that no thread of this process will end. `is_reachable`:
    /// whether other processes can reach its object's memory.
    pub fn hope(&self, kind: Kind, is_reachable: impl FnOnce() -> bool) -> Hope {
        let by_handler = self.handlers && kind.is_served_by_handlers();
        let by_process = self.shared && kind.may_be_shared() && is_reachable();
        let by_helper = self.helpers && kind.may_be_shared();
        match kind {
            _ if self.children && (by_handler || by_process) => Hope::Somebody,
            Kind::Descriptor if self.children => Hope::Somebody,
            Kind::Signal | Kind::Descriptor => Hope::Perhaps,
            _ if by_handler || by_process || by_helper => Hope::Perhaps,
            _ if self.children && self.handlers => Hope::Unlikely,
            _ => Hope::None,
        }
    }
}

/// What may end the waits of all threads of a process, none of which can run. One that goes on may
/// let all others go on.
pub fn hope(world: &World, waits: impl Iterator<Item = Wait>) -> Hope {
    if world.away {
        return Hope::Somebody;
    }
    waits.fold(Hope::None, |best, wait| {
        best.max(world.hope(wait.kind, || shared::is_reachable(wait.object)))
    })
}

/// Who forked this process; 0 if it was started as a program.
static PARENT: AtomicI32 = AtomicI32::new(0);

/// This process was just forked.
pub fn begin_as_child() {
    PARENT.store(parent(), Ordering::Relaxed);
}

fn parent() -> i32 {
    sys::call(libc::SYS_getppid, [0; 6]) as i32
}

/// Whether a process lives that may share memory with this one: a child, or who forked it.
pub fn others_live() -> bool {
    has_living_children() || PARENT.load(Ordering::Relaxed) == parent()
}

/// Whether time passes for nobody but the threads of this process.
pub fn is_alone() -> bool {
    match process::shares_memory() {
        true => !others_live(),
        false => !has_living_children(),
    }
}

/// Whether a child process has not ended.
pub fn has_living_children() -> bool {
    // SAFETY: a plain record; zero is a valid value of all its parts.
    let mut info: libc::siginfo_t = unsafe { core::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    let args = [
        libc::P_ALL as usize,
        0,
        &raw mut info as usize,
        options as usize,
        0,
        0,
    ];
    if sys::call(libc::SYS_waitid, args) != 0 {
        return false;
    }
    // SAFETY: filled in by the kernel, or zero. One that has ended hides whether others live: they
    // are taken to.
    unsafe { info.si_pid() == 0 || process::has_children_behind(info.si_pid()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Kind; 11] = [
        Kind::Lock,
        Kind::Semaphore,
        Kind::Condition,
        Kind::Barrier,
        Kind::Once,
        Kind::Futex,
        Kind::Join,
        Kind::Sleep,
        Kind::Descriptor,
        Kind::OwnDescriptor,
        Kind::Signal,
    ];

    /// Waits for something in memory of this process alone.
    fn waits(kinds: [Kind; 2]) -> impl Iterator<Item = Wait> {
        static PRIVATE: u32 = 0;
        let object = &raw const PRIVATE as usize;
        kinds.into_iter().map(move |kind| Wait { kind, object })
    }

    #[test]
    fn what_others_cannot_reach_they_do_not_end() {
        let world = World {
            shared: true,
            ..World::default()
        };
        for kind in [Kind::Lock, Kind::Semaphore, Kind::Condition, Kind::Barrier] {
            assert_eq!(world.hope(kind, || true), Hope::Perhaps, "{kind:?}");
            assert_eq!(world.hope(kind, || false), Hope::None, "{kind:?}");
        }
        assert_eq!(hope(&world, waits([Kind::Lock, Kind::Lock])), Hope::None);
    }

    #[test]
    fn alone_only_the_world_of_descriptors_and_signals_is_open() {
        let world = World::default();
        for kind in ALL {
            let open = matches!(kind, Kind::Descriptor | Kind::Signal);
            assert_eq!(world.hope(kind, || true) != Hope::None, open, "{kind:?}");
        }
        assert_eq!(hope(&world, waits([Kind::Lock, Kind::Join])), Hope::None);
    }

    #[test]
    fn a_handler_ends_what_it_may_post_to() {
        let world = World {
            handlers: true,
            ..World::default()
        };
        assert_eq!(world.hope(Kind::Semaphore, || true), Hope::Perhaps);
        assert_eq!(world.hope(Kind::OwnDescriptor, || true), Hope::Perhaps);
        assert_eq!(world.hope(Kind::Lock, || true), Hope::None);
        assert_eq!(hope(&world, waits([Kind::Lock, Kind::Lock])), Hope::None);
        let hope = hope(&world, waits([Kind::Join, Kind::Semaphore]));
        assert_eq!(hope, Hope::Perhaps);
    }

    #[test]
    fn a_child_that_may_signal_is_worth_waiting_for() {
        let world = World {
            handlers: true,
            children: true,
            ..World::default()
        };
        let hopeful = ALL
            .iter()
            .filter(|kind| world.hope(**kind, || true) == Hope::Somebody);
        assert!(hopeful.clone().all(|kind| kind.is_served_by_handlers()));
        assert_eq!(hopeful.count(), 4);
        assert_eq!(world.hope(Kind::Lock, || true), Hope::Unlikely);
        let alone = World {
            children: true,
            ..World::default()
        };
        assert_eq!(alone.hope(Kind::Lock, || true), Hope::None);
    }
}
