//! From a schedule of recorded events back to the program: what the runtime is to enforce, and what came of it.
//!
//! * [`prefix`]: where a search for a suspected race begins.
//! * [`plan`]: the file that the runtime follows, made from a trace and a schedule.
//! * [`verdict`]: what the runtime says about it.
//! * [`search`]: which schedules there are, if nobody has recorded them.

pub mod plan;
pub mod prefix;
mod regions;
pub mod search;
pub mod verdict;

pub use plan::{
    After, CoarsePlanner, CoarseRequest, Collected, Goal, GoalKind, Plan, PlanError, Planner,
    Request, TrunkPlanner,
};
pub use verdict::{Deed, Verdict, VerdictError};
