//! Which schedules there are: the program is run again and again from one state, each time in another order, until all orders that
//! matter have been seen. Follows the second phase of the *prefix* paper with the program itself in place of a model of it.

mod execution;

pub use execution::{
    Deed, Ending, Execution, Manner, Pending, Program, Standing, Transition, Turn,
};
