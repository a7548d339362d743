//! Numbers of threads that are the same in all runs of a search: a thread is known by who has created
//! it, and how many others that one had created before. Counted in the order of their creation, a
//! number would be another thread's as soon as two creators come the other way round.

use deadheat_wire::explore::Birth;

use super::board::Shared;

/// The number of a creator's next thread; it is not below `first` if it is a new one. `None` if there
/// are too many.
pub fn number(board: Shared, creator: u32, earlier: u32, first: u32) -> Option<u32> {
    let wanted = Birth {
        creator: creator + 1,
        earlier,
    };
    let mut number = 0;
    while let Some(birth) = board.birth(number) {
        if number >= first && birth.creator == 0 {
            *birth = wanted;
        }
        if *birth == wanted {
            return Some(number);
        }
        number += 1;
    }
    None
}
