//! Whether what a thread does is what the schedule says.

use deadheat_wire::Op;
use deadheat_wire::plan::Region;

use super::plan::Planned;
use super::{Deed, Phase, Replay, is_write_of_copy};

impl Replay {
    /// A thread does something. `Err` if the schedule says otherwise: what it should not have done.
    #[inline]
    pub fn happened(&mut self, index: usize, deed: Deed) -> Result<(), Deed> {
        self.follower(index).next = None;
        if self.phase == Phase::Leading {
            self.led = true;
            return Ok(());
        }
        if self.expected(index).is_none() {
            return match self.goal(index) {
                _ if self.is_unsaid(&deed) => Ok(()),
                Some(goal) if !is_write_of_copy(&goal, &deed) => Err(deed),
                _ => Ok(()),
            };
        }
        if !self.take(index, &deed) {
            return self.out_of_order(index, deed);
        }
        match self.follower(index).put_off.take() {
            Some(write) if !self.take(index, &write) && !self.skip(index, &write) => Err(write),
            _ => Ok(()),
        }
    }

    /// A copy is recorded as its read and then its write, but may be announced the other way around.
    #[cold]
    fn out_of_order(&mut self, index: usize, deed: Deed) -> Result<(), Deed> {
        let expected = self.expected(index);
        let is_copy = expected.is_some_and(|event| is_write_of_copy(&event, &deed));
        let follower = self.follower(index);
        if is_copy && follower.put_off.is_none() {
            follower.put_off = Some(deed);
            return Ok(());
        }
        match self.skip(index, &deed) {
            true => Ok(()),
            false => Err(self.follower(index).put_off.unwrap_or(deed)),
        }
    }

    /// Code without hooks may do less, more, or something else than it did: what it depends on is not seen. Passes over what is
    /// missing, and over what is new; false if it is something else.
    fn skip(&mut self, index: usize, deed: &Deed) -> bool {
        let done = self.seen(index).done;
        while self.expected(index).is_some_and(|event| event.soft) {
            self.follower(index).done += 1;
            if self.take(index, deed) {
                return true;
            }
        }
        self.follower(index).done = done;
        if self.is_unsaid(deed) {
            return true;
        }
        let may_be_new = deed.is_range
            || matches!(
                Op::from_number(deed.op),
                Some(Op::Alloc | Op::Free | Op::FutexWait | Op::FutexWoken | Op::FutexWake)
            );
        may_be_new && !self.is_own_place(index, deed.pc)
    }

    /// Whether the plan may pass over this without a word: it is made from a recording that lacks accesses to
    /// memory that threads do not share.
    pub(super) fn is_unsaid(&self, deed: &Deed) -> bool {
        let is_partial = self
            .plan
            .as_ref()
            .is_some_and(|plan| plan.header.partial != 0);
        is_partial && (deed.op == Op::Read as u8 || deed.op == Op::Write as u8)
    }

    /// Whether a thread does something at this place that is not passed over.
    fn is_own_place(&self, index: usize, pc: usize) -> bool {
        let Some(plan) = &self.plan else {
            return false;
        };
        let thread = &plan.threads[index];
        let own = &plan.events[thread.first as usize..(thread.first + thread.count) as usize];
        own.iter()
            .map(|event| plan.planned(event))
            .any(|event| !event.soft && event.pc != 0 && self.same_place(&event, pc))
    }

    /// Counts the next event, or events if it is a range, if this is it.
    #[inline]
    fn take(&mut self, index: usize, deed: &Deed) -> bool {
        if deed.size > 8 && self.is_unsaid(deed) {
            return self.take_pieces(index, deed);
        }
        let Some(plan) = &self.plan else {
            return true;
        };
        let done = self.seen(index).done;
        let Some(first) = plan.event(index, done) else {
            return false;
        };
        let addressed = match self.address(&first) {
            Some(addr) => addr == deed.addr,
            None => !self.is_unsaid(deed) || self.was_there(&first, deed.addr),
        };
        if first.op != deed.op || !self.same_place(&first, deed.pc) || !addressed {
            return false;
        }
        let mut taken = 1;
        if deed.op <= Op::Write as u8 {
            let mut bytes = usize::from(first.size);
            while bytes < deed.size {
                match plan.event(index, done + taken) {
                    Some(piece) if piece.op == deed.op => bytes += usize::from(piece.size),
                    _ => return false,
                }
                taken += 1;
            }
            if bytes != deed.size {
                return false;
            }
        }
        if first.op == Op::Alloc as u8
            && let Some(plan) = &mut self.plan
        {
            plan.regions[first.region as usize] = deed.addr as u64;
        }
        if let Some(plan) = &self.plan {
            plan.passed(index, done, done + taken);
        }
        self.follower(index).done += taken;
        true
    }

    /// The same for an access to a range of which the plan may have some pieces, in the order of their addresses; false
    /// if the next event is none of them.
    fn take_pieces(&mut self, index: usize, deed: &Deed) -> bool {
        let end = deed.addr.saturating_add(deed.size);
        let (mut from, mut taken) = (deed.addr, 0);
        while let Some(piece) = self
            .plan
            .as_ref()
            .and_then(|plan| plan.event(index, self.seen(index).done + taken))
        {
            let at = self
                .address(&piece)
                .unwrap_or_else(|| self.recorded_at(&piece).unwrap_or(from));
            let upto = at.saturating_add(usize::from(piece.size));
            let is_inside = at >= from && upto <= end;
            if piece.op != deed.op || !self.same_place(&piece, deed.pc) || !is_inside {
                break;
            }
            from = upto;
            taken += 1;
        }
        self.follower(index).done += taken;
        taken > 0
    }

    /// Where an event's address lies in this run; `None` if that is not compared.
    pub fn address(&self, event: &Planned) -> Option<usize> {
        let plan = self.plan.as_ref()?;
        match Region(event.region) {
            Region::ANY => None,
            Region::FIXED => (plan.header.steady != 0).then_some(event.target as usize),
            Region(block) => match plan.regions[block as usize] {
                0 => None,
                start => Some((start + event.target) as usize),
            },
        }
    }

    /// Whether an access whose address is not compared otherwise was at this one. Others than those of the plan may
    /// happen at its place.
    fn was_there(&self, event: &Planned, addr: usize) -> bool {
        self.recorded_at(event).is_none_or(|at| at == addr)
    }

    /// Where it was in the recorded run, if addresses are the same in this one.
    fn recorded_at(&self, event: &Planned) -> Option<usize> {
        let is_steady = self.plan.as_ref()?.header.steady != 0;
        let is_known = Region(event.region) == Region::ANY && event.target != 0;
        (is_steady && is_known).then_some(event.target as usize)
    }

    /// Whether an event is at this place.
    pub(super) fn same_place(&self, event: &Planned, pc: usize) -> bool {
        const PAGE: u64 = 0xFFF;
        let steady = self
            .plan
            .as_ref()
            .is_none_or(|plan| plan.header.steady != 0);
        let differs = event.pc ^ pc as u64;
        event.pc == 0
            || if steady && !event.moves {
                differs == 0
            } else {
                differs & PAGE == 0
            }
    }
}
