//! Random valid traces.
//!
//! A trace is made step by step: each takes one of the things that some thread can do next. So every
//! trace is one that a program can have, and shrinking the choices shrinks the trace.

mod maker;

use deadheat_trace::Trace;
use proptest::collection::vec;
use proptest::prelude::*;

use self::maker::Maker;

/// Which atomics traces have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomics {
    None,
    /// Writes release, reads acquire.
    Strong,
    /// All memory orders, and fences.
    All,
}

/// What kinds of traces to make.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// At least 2.
    pub threads: u32,
    /// How many steps at most.
    pub steps: usize,
    pub variables: u64,
    pub locks: u32,
    /// The last lock may be held for reading.
    pub read_locks: bool,
    pub conditions: bool,
    pub barriers: bool,
    pub semaphores: bool,
    pub channels: bool,
    pub atomics: Atomics,
    /// Accesses of parts of variables.
    pub parts: bool,
    pub heap: bool,
}

impl Shape {
    /// Accesses, locks, forks and joins: what STD can say.
    pub const PLAIN: Shape = Shape {
        threads: 3,
        steps: 16,
        variables: 2,
        locks: 2,
        read_locks: false,
        conditions: false,
        barriers: false,
        semaphores: false,
        channels: false,
        atomics: Atomics::None,
        parts: false,
        heap: false,
    };

    /// Everything whose effect on other orders of events is known.
    pub const REORDERABLE: Shape = Shape {
        read_locks: true,
        conditions: true,
        barriers: true,
        semaphores: true,
        atomics: Atomics::Strong,
        ..Shape::PLAIN
    };

    /// Everything.
    pub const EVERYTHING: Shape = Shape {
        steps: 20,
        channels: true,
        atomics: Atomics::All,
        parts: true,
        heap: true,
        ..Shape::REORDERABLE
    };
}

/// Random traces of a shape. Every step has a place of its own: its position.
pub fn traces(shape: Shape) -> impl Strategy<Value = Trace> {
    let choices = vec((any::<u16>(), any::<u16>()), 0..=shape.steps);
    let flags = (any::<bool>(), any::<bool>());
    (flags, choices).prop_map(move |((forks, silent), choices)| {
        let mut maker = Maker::new(shape, forks, silent);
        for (who, what) in choices {
            maker.step(who, what);
        }
        maker.trace()
    })
}

/// Random traces that have some of the things that a shape has: what there is comes up more often.
pub fn traces_of_parts(all: Shape) -> impl Strategy<Value = Trace> {
    any::<[bool; 8]>().prop_flat_map(move |some| {
        let [
            read_locks,
            conditions,
            barriers,
            semaphores,
            channels,
            atomics,
            parts,
            heap,
        ] = some;
        traces(Shape {
            read_locks: all.read_locks && read_locks,
            conditions: all.conditions && conditions,
            barriers: all.barriers && barriers,
            semaphores: all.semaphores && semaphores,
            channels: all.channels && channels,
            atomics: if atomics { all.atomics } else { Atomics::None },
            parts: all.parts && parts,
            heap: all.heap && heap,
            variables: if parts { all.variables } else { 1 },
            ..all
        })
    })
}
