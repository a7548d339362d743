//! Turns that lead to both sides of a race.
//!
//! A search derives them from a run in which the sides were not next at the same time. The second
//! side's thread may come there in another number of turns: how many steps code without hooks takes
//! can depend on what other threads have done unseen.

use deadheat_explore::search::{Deed, Execution, Manner, Program, Turn};
use deadheat_session::error::Result;

use super::copies::Copies;
use super::evidence::{Side, repeating};

/// How many turns more are tried.
const MORE: usize = 256;

/// Turns that do, if these do not; `None` if they do, or none are found.
pub fn turns_to_both(
    copies: &mut Copies,
    turns: &[Turn],
    [_, second]: [Side; 2],
    manner: &Manner,
) -> Result<Option<Vec<Turn>>> {
    let own = Turn {
        thread: second.0,
        variant: 0,
    };
    let mut all = turns.to_vec();
    all.extend([own; MORE]);
    // It is over where the thread cannot go on.
    let execution = copies.run(&all, &repeating(turns, manner))?;
    if does(&execution, turns.len(), &second) {
        return Ok(None);
    }
    // The nearest one is the one that was meant.
    let places = 0..execution.transitions.len();
    let found = places.filter(|place| does(&execution, *place, &second));
    let nearest = found.min_by_key(|place| place.abs_diff(turns.len()));
    Ok(nearest.map(|place| all[..place].to_vec()))
}

/// Whether a side is what was done at a place of a run.
fn does(execution: &Execution, place: usize, (thread, wanted): &Side) -> bool {
    let is_it = |deed: &Deed| deed.site() == wanted.site();
    let done = execution.transitions.get(place);
    done.is_some_and(|done| done.thread == *thread && done.deeds.iter().any(is_it))
}
