//! Random windows that a program could have produced.
//!
//! A window is made step by step on a simulated memory, with locks and all the rest: each step takes one of the things that some
//! thread can do next. Fewer and smaller choices make a shorter and simpler window, so failures shrink.

mod chains;
mod maker;
mod objects;
mod signals;

use deadheat_predict::Window;
use deadheat_trace::Step;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{Needed, needed_by};
use maker::Maker;

/// What windows have.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// At most so many, from 2 to 4.
    pub threads: u32,
    /// How many steps at most (one more if the last is a pair).
    pub steps: usize,
    /// Up to 3.
    pub locks: u32,
    /// At most so many, up to 3.
    pub variables: u64,
    /// How many different values are written.
    pub values: u64,
    pub branches: bool,
    /// Threads that are created and joined.
    pub forks: bool,
    /// How much of the rest.
    pub rest: Rest,
}

/// What there may be beyond the paper's events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rest {
    /// The first lock is re-entrant, the last a read-write lock; requests, and attempts that succeed.
    pub locks: bool,
    /// Attempts that are refused, at locks and at semaphores if there are any.
    pub refused: bool,
    pub conditions: bool,
    pub semaphores: bool,
    pub barriers: bool,
    pub channels: bool,
    pub futexes: bool,
    pub atomics: bool,
    pub heap: bool,
    pub external: bool,
    /// Accesses of parts of variables.
    pub parts: bool,
    /// Accesses whose values are not known.
    pub unknown: bool,
    /// Things that began before the window.
    pub border: bool,
    /// Objects are initialised and destroyed.
    pub lives: bool,
    /// Events are missing somewhere.
    pub gaps: bool,
}

impl Shape {
    /// The paper's events.
    pub const PAPER: Shape = Shape {
        threads: 3,
        steps: 10,
        locks: 1,
        variables: 2,
        values: 2,
        branches: true,
        forks: true,
        rest: Rest {
            locks: false,
            refused: false,
            conditions: false,
            semaphores: false,
            barriers: false,
            channels: false,
            futexes: false,
            atomics: false,
            heap: false,
            external: false,
            parts: false,
            unknown: false,
            border: false,
            lives: false,
            gaps: false,
        },
    };

    /// Locks of all kinds, a single variable: deadlocks.
    pub const LOCKS: Shape = Shape {
        threads: 3,
        steps: 14,
        locks: 3,
        variables: 1,
        values: 1,
        rest: Rest {
            locks: true,
            border: true,
            ..Shape::PAPER.rest
        },
        ..Shape::PAPER
    };

    /// Refused attempts at locks of all kinds and at semaphores.
    pub const REFUSED: Shape = Shape {
        locks: 2,
        values: 2,
        rest: Rest {
            refused: true,
            semaphores: true,
            ..Shape::LOCKS.rest
        },
        ..Shape::LOCKS
    };

    /// All that threads wait for in vain: locks, joins, conditions, semaphores, barriers.
    pub const WAITS: Shape = Shape {
        steps: 16,
        locks: 2,
        rest: Rest {
            locks: false,
            border: false,
            conditions: true,
            semaphores: true,
            barriers: true,
            lives: true,
            ..Shape::LOCKS.rest
        },
        ..Shape::LOCKS
    };

    /// Everything that there is.
    pub const EVERYTHING: Shape = Shape {
        threads: 3,
        steps: 14,
        locks: 2,
        rest: Rest {
            locks: true,
            refused: true,
            conditions: true,
            semaphores: true,
            barriers: true,
            channels: true,
            futexes: true,
            atomics: true,
            heap: true,
            external: true,
            parts: true,
            unknown: true,
            border: true,
            lives: true,
            gaps: true,
        },
        ..Shape::PAPER
    };
}

/// Random windows of a shape.
pub fn windows(shape: Shape, needed: Needed) -> impl Strategy<Value = Window> {
    // More than there is room for, so that most windows are as long as they may be.
    let choices = vec((any::<u8>(), any::<u16>()), 0..=6 * shape.steps);
    (any::<u32>(), choices).prop_map(move |(start, choices)| {
        let shape = Shape {
            threads: 2 + (start >> 10) % (shape.threads - 1),
            variables: 1 + u64::from(start >> 12) % shape.variables,
            ..shape
        };
        let mut maker = Maker::new(shape, start);
        for (who, what) in choices {
            if maker.length() < shape.steps {
                maker.step(who, what);
            }
        }
        let (steps, border) = maker.finish();
        Window {
            needed_by: needed_by(&steps, needed),
            steps,
            border,
            ..Window::default()
        }
    })
}

/// Random windows that have some of what a shape has beyond the paper's events: what there is comes up more often.
pub fn windows_of_parts(all: Shape, needed: Needed) -> impl Strategy<Value = Window> {
    any::<u16>().prop_flat_map(move |some| {
        // About a third of it.
        let has = |bit: u32, there: bool| there && some.rotate_left(bit) & 5 == 5;
        let rest = Rest {
            locks: has(0, all.rest.locks),
            conditions: has(1, all.rest.conditions),
            semaphores: has(2, all.rest.semaphores),
            barriers: has(3, all.rest.barriers),
            channels: has(4, all.rest.channels),
            futexes: has(5, all.rest.futexes),
            atomics: has(6, all.rest.atomics),
            heap: has(7, all.rest.heap),
            external: has(8, all.rest.external),
            parts: has(9, all.rest.parts),
            unknown: has(10, all.rest.unknown),
            border: has(11, all.rest.border),
            lives: has(12, all.rest.lives),
            gaps: has(13, all.rest.gaps),
            refused: has(14, all.rest.refused),
        };
        windows(Shape { rest, ..all }, needed)
    })
}

/// Random runs of programs that wait at a condition.
pub fn signals(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let code = (0..signals::KINDS.len()).prop_map(|kind| signals::KINDS[kind]);
    let threads = vec(vec(code, 1..=3), 2..=3);
    (threads, vec(any::<u8>(), most))
        .prop_map(move |(threads, choices)| signals::run(&threads, &choices, most))
}

/// Random windows of the paper's events in which values are passed on from thread to thread.
pub fn chains(needed: Needed) -> impl Strategy<Value = Window> {
    vec((any::<u8>(), any::<u8>()), 0..=20).prop_map(move |choices| {
        let (steps, border) = chains::make(&choices);
        Window {
            needed_by: needed_by(&steps, needed),
            steps,
            border,
            ..Window::default()
        }
    })
}
