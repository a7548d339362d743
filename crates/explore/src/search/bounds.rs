//! Preemption bounds: orders in which a thread is interrupted although it could go on are looked at last.
//!
//! Follows Musuvathi and Qadeer, *Iterative Context Bounding for Systematic Testing of Multithreaded Programs* (PLDI 2007): all that can be had without
//! a preemption first, then with one, and so on. Deviation: within a round, the partial-order reduction may leave out an order whose
//! only equals need more preemptions (Coons, Musuvathi and McKinley, OOPSLA 2013). So a round that has put off something claims
//! nothing, and the round that puts off nothing is a search without bound.

/// How many preemptions a run may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Bound {
    /// As many as it takes, from the first run on.
    #[default]
    None,
    /// None in the first round, one more in each round, until a round puts off nothing or this many are allowed.
    Rising(Option<u32>),
}

impl Bound {
    /// How many are allowed in this round, if there is such a round; the rounds are numbered from 0.
    pub(super) fn of_round(self, round: u32) -> Option<Option<u32>> {
        match self {
            Bound::None => (round == 0).then_some(None),
            Bound::Rising(None) => Some(Some(round)),
            Bound::Rising(Some(most)) => (round <= most).then_some(Some(round)),
        }
    }
}

/// Whether giving the turn to a thread interrupts the one that went before: `default` is who would go on by itself, and that is whoever went
/// before for as long as it can.
pub(super) fn interrupts(before: Option<u32>, default: u32, thread: u32) -> bool {
    before == Some(default) && thread != default
}
