//! The search against small programs that can be looked at from all sides.

mod counts;
mod dependence;
mod generate;
mod goals;
mod instruction;
mod model;
mod oracle;
mod runs;
mod truth;
