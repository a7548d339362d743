//! The solver from outside: against brute force, with its certificates, and in odd situations.

mod behaviour;
mod brute_force;
mod certificates;
mod oracle;
