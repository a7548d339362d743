//! Is this schedule one that the rules allow, and does it lead to its cut?
//!
//! A plain simulation, step by step, by the rules in the crate's documentation and nothing else. It shares
//! no code with the search for schedules, and every schedule that is shown to anyone has passed it.
//!
//! [`Observed`] is what a window tells, read once; [`Simulation`] is where an execution stands. The files:
//! `observed` and `simulation`; one for each kind of rule (`cells` and `memory`, `locks`, `tokens`, `lives`,
//! `barriers`, `counts`); `goal` for the end; `violation` for what is said of a schedule that is none.
//!
//! Reading the window is linear but for a sort of the addresses; each step costs what its event touches.

mod barriers;
mod cells;
mod counts;
mod goal;
mod lives;
mod locks;
mod memory;
mod observed;
mod simulation;
mod tokens;
mod violation;

pub use observed::Observed;
pub use simulation::Simulation;
pub use violation::{Broken, Violation};

use crate::{Cut, Window};

/// Executes a schedule, and asks at its end whether all events of the cut are next and what the cut says they are.
///
/// ```
/// use deadheat_predict::{Cut, Goal, NOBODY, Window, check::check};
/// use deadheat_trace::text;
///
/// let trace = text::parse("T0|acq(m)|1\nT0|w(x=1)|2\nT0|rel(m)|3\nT1|r(x=1)|4\n")?;
/// let needed_by = vec![NOBODY; 4];
/// let window = Window { steps: trace.steps, needed_by, ..Window::default() };
/// let cut = Cut { goal: Goal::Race, next: vec![1, 3] };
/// assert!(check(&window, &cut, &[0]).is_ok());
/// assert!(check(&window, &cut, &[]).is_err());
/// # Ok::<(), text::ParseError>(())
/// ```
pub fn check(window: &Window, cut: &Cut, schedule: &[u32]) -> Result<(), Violation> {
    let observed = Observed::new(window);
    let mut simulation = Simulation::new(&observed);
    for &position in schedule {
        simulation.run(position)?;
    }
    simulation.reached(cut)
}
