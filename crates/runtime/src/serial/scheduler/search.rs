//! Who goes next in a run of a search: by the tool's wishes, then whoever went last as long as it can.

use core::sync::atomic::Ordering;

use deadheat_wire::explore::{ending, standing};

use super::super::endings::{self, Hope, World};
use super::super::explore::Phase;
use super::super::explore::server;
use super::super::replay::Deed;
use super::super::task::{State, Waited};
use super::super::{signals, timers, turn};
use super::{CHANNELS_END, Scheduler};
use crate::threads::Thread;
use crate::{process, record, sys, threads};

/// What puts a thread behind all others.
const LAST: u32 = 3;
/// How long a thread may stay in a call that is to go on before others who could, in milliseconds.
const PATIENCE: u64 = 1000;
/// How long the world outside is given at a time, in milliseconds.
const PAUSE: u64 = 5;

/// Whether a thread can take the turn that is wished for.
enum Able {
    Yes(*mut Thread),
    /// It is in a call, and will be back.
    Later,
    No,
}

impl Scheduler {
    /// Whether a search decides who goes next. It begins when there are two threads, or at a plan's end.
    #[inline]
    pub(super) fn is_searched(&mut self) -> bool {
        match self.explorer.phase {
            Phase::Off => false,
            Phase::On => true,
            Phase::Before => {
                let begins = self.count > 1 && self.replay.plan.is_none();
                if begins {
                    self.explorer.begin(self.away);
                }
                begins
            }
        }
    }

    /// A thread does something in a run of a search.
    #[inline]
    pub fn explored(&mut self, me: *mut Thread, deed: Deed, value: Option<u64>, tried: bool) {
        if self.explorer.is_on() {
            self.explorer.happened(me, deed, value, tried);
        }
    }

    /// A thread ends the process in a run of a search. It may do so by dying, so this is the last moment to say where the
    /// others are.
    pub fn explored_end(&mut self, me: *mut Thread, deed: Deed) {
        if self.explorer.is_on() {
            self.explorer.happened(me, deed, None, false);
            self.tell_places();
        }
    }

    /// The number of the thread that is about to be created, which a plan may have given.
    pub fn number_of_child(&mut self, me: *mut Thread, planned: Option<u32>) -> Option<u32> {
        // SAFETY: the running thread's own record.
        let (creator, task) = unsafe { ((*me).id, &mut (*me).task) };
        let earlier = task.children;
        task.children += 1;
        let first = threads::first_free();
        planned.or_else(|| self.explorer.number_of_child(creator, earlier, first))
    }

    /// A plan has led to where the search begins.
    pub(super) fn begin_search(&mut self) {
        if self.explorer.phase == Phase::Before {
            self.explorer.begin(self.away);
        }
    }

    /// Who goes next. `me`: the running thread, if it can go on. `None` as in `next`.
    pub(super) fn search(
        &mut self,
        me: Option<*mut Thread>,
        can_wait: bool,
    ) -> Option<*mut Thread> {
        self.explorer.settle();
        loop {
            let arrivals = turn::arrivals();
            if self.count == 0 {
                return None;
            }
            self.welcome();
            let next = match self.explorer.wanted() {
                Some(thread) => match self.able(thread) {
                    Able::Yes(thread) => Some(thread),
                    Able::Later => None,
                    // What happened when nobody could go on made it able before.
                    Able::No if self.away == 0 && self.explorer.repeats() => None,
                    Able::No => self.refuse(),
                },
                None => self.by_itself(me),
            };
            if let Some(next) = next {
                self.explorer.grant();
                return Some(next);
            }
            if self.away > 0 && !can_wait {
                return None;
            }
            if self.time_passes() {
                continue;
            }
            if server::copy() == 0 && self.look_for_first_time() {
                continue;
            }
            let is_wished = self.explorer.wanted().is_some() && self.ready > 0;
            if is_wished && self.away > 0 {
                // Natively others would go on meanwhile, and may be what it waits for.
                if !turn::wait_for_arrivals_until(arrivals, PATIENCE) {
                    self.tell_places();
                    self.explorer.waits_outside();
                }
            } else if self.away > 0 && process::shares_memory() {
                // Another process may end what a thread here waits for, which nobody is told.
                let waited = self.wait_for_sharers(arrivals);
                let is_certain = self.is_busy_away() || endings::has_living_children();
                let patience = self.patience();
                if !is_certain && patience > 0 && waited >= patience {
                    self.waits_outside();
                }
            } else if self.is_busy_away() {
                turn::wait_for_arrivals_until(arrivals, PATIENCE);
            } else if self.away > 0 {
                let patience = self.patience();
                if patience == 0 || endings::has_living_children() {
                    turn::wait_for_arrivals(arrivals);
                } else if !turn::wait_for_arrivals_until(arrivals, patience) {
                    self.waits_outside();
                }
            } else if self.looked_at != self.log.events && self.look_inside() {
                self.looked_at = self.log.events;
            } else if self.explorer.wanted().is_some() {
                self.refuse();
            } else if !self.stuck(arrivals, can_wait) {
                return None;
            }
        }
    }

    /// Lets everybody try again who can. In a copy of the program nothing comes from outside.
    fn look_inside(&mut self) -> bool {
        if server::copy() == 0 {
            return self.look_again(Waited::Idle);
        }
        let mut any = false;
        for index in self.ready..self.count {
            let task = self.task(index);
            let is_inside = task.retries && task.object >= CHANNELS_END;
            if task.state == State::Blocked && is_inside {
                task.outcome = Waited::Idle;
                self.make_ready(index);
                any = true;
            }
        }
        any
    }

    /// Fires the first timer, if there is one.
    fn time_passes(&mut self) -> bool {
        let first = timers::first();
        if first == u64::MAX {
            return false;
        }
        self.steps = self.steps.max(first);
        timers::fire(self.steps);
        self.explorer.met_timer();
        true
    }

    /// Counts in those who came back from calls. Time does not pass by itself.
    fn welcome(&mut self) {
        if super::LOOK_AGAIN.swap(0, Ordering::AcqRel) != 0 {
            self.heed_outside();
        }
        signals::route(self);
        for index in self.ready..self.count {
            let task = self.task(index);
            if task.state == State::Away && task.context.parked.load(Ordering::Acquire) != 0 {
                self.make_ready(index);
            }
        }
    }

    fn id_at(&self, index: usize) -> u32 {
        // SAFETY: records of threads that have not ended.
        unsafe { (*self.tasks[index]).id }
    }

    /// Whether a thread has nothing to do until others have done something, as far as it looks.
    fn lets_others(&mut self, index: usize) -> bool {
        let changes = self.explorer.changes;
        self.task(index).spin.lets_others(changes)
    }

    fn spins(&mut self, index: usize) -> bool {
        let changes = self.explorer.changes;
        self.task(index).spin.is_on(changes)
    }

    /// The turn that is wished for cannot be taken.
    fn refuse(&mut self) -> ! {
        self.tell_places();
        self.explorer.refuse()
    }

    /// Whether a thread can go on, possibly because its time is up, or because nobody else could before.
    fn able(&mut self, id: u32) -> Able {
        let Some(index) = (0..self.count).find(|index| self.id_at(*index) == id) else {
            return Able::No;
        };
        let state = self.task(index).state;
        let is_timed = self.task(index).until != u64::MAX;
        match state {
            State::Ready if self.explorer.is_parked(id) => Able::No,
            State::Ready if self.spins(index) => match self.explorer.repeats() {
                true => Able::Yes(self.indulge(index)),
                false => Able::No,
            },
            State::Ready => Able::Yes(self.tasks[index]),
            State::Away => Able::Later,
            State::Blocked if is_timed => Able::Yes(self.time_out(index)),
            State::Blocked | State::Ended => Able::No,
        }
    }

    /// The wait whose time is up first, and when.
    fn first_timed(&mut self) -> Option<(u64, usize)> {
        let mut first = None;
        for index in self.ready..self.count {
            let task = self.task(index);
            let is_timed = task.state == State::Blocked && task.until != u64::MAX;
            if is_timed && first.is_none_or(|(until, _)| task.until < until) {
                first = Some((task.until, index));
            }
        }
        first
    }

    /// Ends a wait by time.
    fn time_out(&mut self, index: usize) -> *mut Thread {
        let thread = self.tasks[index];
        let until = self.task(index).until;
        self.steps = self.steps.max(until);
        self.task(index).outcome = Waited::TimedOut;
        self.make_ready(index);
        thread
    }

    /// Whoever is to be pushed; else the running thread; else the one with the smallest number; else whoever's time is up
    /// first; else one that only asks the same over and over.
    fn by_itself(&mut self, me: Option<*mut Thread>) -> Option<*mut Thread> {
        let me = me.map(|me| self.index(me));
        let hint = self.explorer.hint();
        let mut best: Option<([u32; 3], usize)> = None;
        let mut spinner: Option<(u32, u32, usize)> = None;
        for index in 0..self.ready {
            let id = self.id_at(index);
            if self.explorer.is_parked(id) {
                continue;
            }
            if self.lets_others(index) {
                // Who has only yielded can go on; of those who ask the same over and over, all get their chances.
                let chances = match self.spins(index) {
                    true => self.task(index).spin.indulged() + 1,
                    false => 0,
                };
                if spinner.is_none_or(|(known, other, _)| (chances, id) < (known, other)) {
                    spinner = Some((chances, id, index));
                }
                continue;
            }
            let rank = if hint == Some(id) {
                [0, 0, 0]
            } else if me == Some(index) {
                [1, 0, 0]
            } else {
                // Those who yield in turn would keep others away for good.
                [2, self.task(index).yields, id]
            };
            let rank = match self.explorer.is_last(id) {
                true => [LAST, rank[0], rank[2]],
                false => rank,
            };
            if best.is_none_or(|(known, _)| rank < known) {
                best = Some((rank, index));
            }
        }
        if let Some((_, index)) = best {
            return Some(self.tasks[index]);
        }
        if let Some((until, index)) = self.first_timed()
            && until <= timers::first()
        {
            return Some(self.time_out(index));
        }
        if timers::first() != u64::MAX {
            return None;
        }
        let (chances, _, index) = spinner?;
        if chances > 1 {
            self.look_outside_later();
        }
        match self.spins(index) {
            true => Some(self.indulge(index)),
            false => Some(self.tasks[index]),
        }
    }

    /// Who can run spins for others. Those of them who wait for the world outside look again, a little later; in a
    /// copy of the program nothing comes from there.
    fn look_outside_later(&mut self) {
        let mut blocked = self.ready..self.count;
        let is_any = blocked.any(|index| {
            let task = self.task(index);
            let is_outside = task.retries && task.object < CHANNELS_END;
            task.state == State::Blocked && is_outside && task.until == u64::MAX
        });
        if is_any && server::copy() == 0 {
            turn::wait_for_arrivals_until(turn::arrivals(), PAUSE);
            self.look_outside(Waited::Woken);
        }
    }

    /// Lets a thread go on that asks the same over and over: nobody else can.
    fn indulge(&mut self, index: usize) -> *mut Thread {
        if self.task(index).spin.indulge() {
            self.spins_in_vain();
        }
        self.tasks[index]
    }

    /// Who can run spins for others, and they wait. It goes on if somebody outside may end what they wait for.
    fn spins_in_vain(&mut self) {
        let world = World::now(self.away > 0);
        let hope = self.hope(&world).max(world.hope_of_loops());
        // Whoever was hoped for may have done it before it was gone: then they ask once more.
        let had_hope = core::mem::replace(&mut self.had_hope, hope != Hope::None);
        if hope == Hope::None && !had_hope {
            self.tell_places();
            self.ends_with(ending::LIVELOCK);
        }
        if server::copy() != 0 && self.away == 0 {
            self.tell_places();
            self.explorer.waits_outside();
        }
        let (changes, now) = (self.explorer.changes, sys::milliseconds());
        if self.vain_since.0 != changes {
            self.vain_since = (changes, now);
        }
        let patience = self.patience();
        let is_certain = hope == Hope::Somebody || patience == 0;
        if !is_certain && now - self.vain_since.1 >= patience {
            self.waits_outside();
        }
        turn::wait_for_arrivals_until(turn::arrivals(), PAUSE);
    }

    /// Says where everybody is.
    pub(super) fn tell_places(&mut self) {
        for index in 0..self.count {
            let id = self.id_at(index);
            let spins = self.spins(index);
            let task = self.task(index);
            let how = match task.state {
                State::Blocked if task.until != u64::MAX => standing::TIMED,
                State::Blocked => standing::BLOCKED,
                State::Ready if spins => standing::SPINNING,
                _ => standing::READY,
            };
            self.explorer.stands(id, how);
        }
    }

    /// Nobody can go on. In a copy of the program nobody outside will change that; but in the
    /// program somebody might. False if the caller must wait elsewhere.
    fn stuck(&mut self, arrivals: u32, can_wait: bool) -> bool {
        if self.hope(&World::now(false)) == Hope::None {
            self.tell_places();
            self.ends_with(ending::DEADLOCK);
        }
        if server::copy() == 0 {
            return self.hope_for_others(arrivals, can_wait);
        }
        self.tell_places();
        self.explorer.waits_outside()
    }

    /// The run is over; if it was recorded, the recording is closed.
    pub(super) fn ends_with(&mut self, how: u32) -> ! {
        if self.explorer.is_silent() {
            self.explorer.end(how);
        }
        self.explorer.told(how);
        if how == ending::DEADLOCK {
            self.deadlock();
        }
        record::close(deadheat_wire::HANGS, true);
        sys::exit_group(0)
    }

    /// The process ends by itself.
    pub(super) fn search_ends(&mut self) {
        if self.explorer.is_on() {
            self.explorer.settle();
            self.tell_places();
            self.explorer.told(ending::OWN);
        }
    }
}
