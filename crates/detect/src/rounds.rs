//! The rounds of a barrier, as long as they are the same in every schedule: what whoever leaves comes after.
//!
//! Whoever leaves comes after all who came to its round. A round is over when the first one leaves. That it is the same in every
//! schedule is taken for granted only as long as nothing speaks against it: no more threads use the barrier than it waits for, if
//! that is known; each round has as many; and who leaves has come, once.

use rustc_hash::FxHashSet;

/// A barrier.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    /// How many it waits for, if that is known.
    count: Option<u64>,
    /// Who has come so far.
    users: FxHashSet<u32>,
    /// Those that somebody has yet to leave.
    open: Vec<Round>,
}

#[derive(Clone, Debug, Default)]
struct Round {
    inside: Vec<u32>,
    came: u64,
    is_over: bool,
    /// What those who came knew.
    known: Vec<u32>,
}

/// The rounds are not those of every schedule, or not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unclear;

impl Rounds {
    /// It is made, to wait for so many if that is known.
    pub fn init(&mut self, count: Option<u64>) -> Result<(), Unclear> {
        let is_idle = self.open.is_empty();
        *self = Rounds {
            count,
            ..Rounds::default()
        };
        if is_idle { Ok(()) } else { Err(Unclear) }
    }

    /// A thread comes that knows this.
    pub fn enter(&mut self, thread: u32, clock: &[u32]) -> Result<(), Unclear> {
        self.users.insert(thread);
        let is_inside = self.open.iter().any(|round| round.inside.contains(&thread));
        if is_inside
            || self
                .count
                .is_some_and(|count| self.users.len() as u64 > count)
        {
            return Err(Unclear);
        }
        if self.open.last().is_none_or(|round| round.is_over) {
            self.open.push(Round::default());
        }
        if let Some(round) = self.open.last_mut() {
            round.inside.push(thread);
            round.came += 1;
            if round.known.len() < clock.len() {
                round.known.resize(clock.len(), 0);
            }
            for (known, time) in round.known.iter_mut().zip(clock) {
                *known = (*known).max(*time);
            }
        }
        Ok(())
    }

    /// A thread leaves: what all of its round knew when they came.
    pub fn exit(&mut self, thread: u32) -> Result<Vec<u32>, Unclear> {
        let mut open = self.open.iter();
        let at = open.position(|round| round.inside.contains(&thread));
        let at = at.ok_or(Unclear)?;
        let round = &mut self.open[at];
        if self.count.is_some_and(|count| round.came != count) {
            return Err(Unclear);
        }
        round.is_over = true;
        round.inside.retain(|inside| *inside != thread);
        Ok(match round.inside.is_empty() {
            true => self.open.remove(at).known,
            false => round.known.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_leaves_comes_after_all_who_came_to_its_round() {
        let mut rounds = Rounds::default();
        rounds.init(Some(2)).unwrap();
        rounds.enter(0, &[1, 0]).unwrap();
        rounds.enter(1, &[0, 1]).unwrap();
        assert_eq!(rounds.exit(1), Ok(vec![1, 1]));
        // The next round begins while somebody has yet to leave the last one.
        rounds.enter(1, &[1, 2]).unwrap();
        assert_eq!(rounds.exit(0), Ok(vec![1, 1]));
        rounds.enter(0, &[2, 1]).unwrap();
        assert_eq!(rounds.exit(0), Ok(vec![2, 2]));
        assert_eq!(rounds.exit(1), Ok(vec![2, 2]));
        assert_eq!(rounds.init(Some(3)), Ok(()));
    }

    #[test]
    fn rounds_that_may_be_others_are_unclear() {
        let of = |count, came: &[u32]| {
            let mut rounds = Rounds::default();
            rounds.init(count).unwrap();
            let all = came.iter().map(|thread| rounds.enter(*thread, &[]));
            (all.collect::<Result<Vec<()>, Unclear>>(), rounds)
        };
        // More threads than it waits for; one who is there already; one who leaves too early, or never came.
        assert!(of(Some(2), &[0, 1, 2]).0.is_err());
        assert!(of(None, &[0, 0]).0.is_err());
        assert_eq!(of(Some(2), &[0]).1.exit(0), Err(Unclear));
        assert_eq!(of(None, &[0]).1.exit(1), Err(Unclear));
        assert_eq!(of(None, &[0]).1.init(None), Err(Unclear));
        assert!(of(None, &[0, 1, 2]).0.is_ok());
    }
}
