//! What is known of a program: its truth, read strictly and generously where languages leave something open.

use super::interpret::{Rules, Truth, truth};
use super::program::{ChannelKind, Language, Program, SemaphoreKind};

/// A program with its truth: what must be found if everything is looked at, and what may be said.
#[derive(Debug, Clone)]
pub struct Known {
    /// The program.
    pub program: Program,
    /// By the strictest reading of what orders: this is there, however languages and libraries are read.
    pub least: Truth,
    /// By the most generous one: nothing else is there.
    pub most: Truth,
}

/// What is known of a program, if it has at most so many states, and does not write into freed memory.
#[must_use]
pub fn know(program: Program, limit: usize) -> Option<Known> {
    let rules = Rules::LOOSE;
    let strict = Rules {
        readers_order: program.language == Language::Rust && program.rwlocks > 0,
        signals_order: program.conditions > 0,
        channels_order_all: !program.channels.is_empty(),
        ..rules
    };
    let mut most = truth(&program, rules, limit)?;
    if most.corrupts {
        return None;
    }
    let least = if strict == rules {
        most.clone()
    } else {
        truth(&program, strict, limit)?
    };
    if program.language == Language::Rust && program.conditions > 0 {
        most.merge(truth(
            &program,
            Rules {
                wakes_many: true,
                ..rules
            },
            limit,
        )?);
    }
    Some(Known {
        program: without_endless_descriptors(program, &most),
        least,
        most,
    })
}

/// A program that waits for ever at a socket or an eventfd may wait for somebody outside, and is waited for.
/// So those that can get stuck have pipes and semaphores instead.
fn without_endless_descriptors(mut program: Program, truth: &Truth) -> Program {
    if !truth.stuck.is_empty() {
        program.channels.fill(ChannelKind::Pipe);
        for semaphore in &mut program.semaphores {
            semaphore.0 = SemaphoreKind::Own;
        }
    }
    program
}
