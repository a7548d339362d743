//! The search against small programs that can be looked at from all sides.

mod counts;
mod generate;
mod goals;
mod model;
mod oracle;
mod truth;
