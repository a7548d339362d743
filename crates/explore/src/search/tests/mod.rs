//! The search against small programs that can be looked at from all sides.

mod counts;
mod dependence;
mod generate;
mod goals;
mod model;
mod oracle;
mod truth;
