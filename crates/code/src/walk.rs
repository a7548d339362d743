//! Follows one thread's events and says what was passed before each.
//!
//! The events of a thread are those of nested activations of functions: an entry, events, calls
//! that are activations of their own, an exit. Facts speak of two consecutive events of one
//! activation, so the walk keeps the stack of activations and for each where it last was.
//!
//! Every event must be there: where some are left out, as accesses that repeat are in parallel
//! recordings, another way than the one taken may look like it.
//!
//! A function's entry is told with the place of its call only. Which function it is shows at its
//! first event.

use crate::{Facts, Passed, Point};

/// An address in the file of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The module, by a number of the caller's choice.
    pub module: u32,
    /// The address in its file.
    pub address: u64,
}

/// Where a walk gets its facts from.
pub trait Modules {
    /// The facts of a module, if there are any.
    fn facts(&self, module: u32) -> Option<&Facts>;
}

impl<F: Fn(u32) -> Option<&'static Facts>> Modules for F {
    fn facts(&self, module: u32) -> Option<&Facts> {
        self(module)
    }
}

impl Modules for [Option<Facts>] {
    fn facts(&self, module: u32) -> Option<&Facts> {
        self.get(module as usize)?.as_ref()
    }
}

impl Modules for Vec<Option<Facts>> {
    fn facts(&self, module: u32) -> Option<&Facts> {
        self.as_slice().facts(module)
    }
}

/// One activation of a function.
#[derive(Clone, Copy, Debug)]
struct Activation {
    last: Last,
    /// Something in the function's code, if the recording has it.
    callee: Option<Place>,
}

/// Where an activation was last.
#[derive(Clone, Copy, Debug)]
enum Last {
    Entry,
    After(Place),
    Unknown,
}

/// One thread's way through its functions. Feed it every event of the thread, in order.
///
/// ```
/// use deadheat_code::{Facts, Passed, Place, Walk};
///
/// let modules: Vec<Option<Facts>> = vec![None];
/// let place = |address| Some(Place { module: 0, address });
/// let mut walk = Walk::default();
/// assert_eq!(walk.enter(place(0x1000), None, &modules), Passed::UNKNOWN);
/// assert_eq!(walk.at(place(0x1234), &modules), Passed::UNKNOWN);
/// assert_eq!(walk.leave(&modules), Passed::UNKNOWN);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Walk {
    activations: Vec<Activation>,
}

impl Walk {
    /// An event of the present activation; what was passed before it. `None` is a place that is
    /// in no module.
    pub fn at<M: Modules + ?Sized>(&mut self, place: Option<Place>, modules: &M) -> Passed {
        let Some(activation) = self.activations.last_mut() else {
            return Passed::UNKNOWN;
        };
        activation.go_on(place, Point::After, modules)
    }

    /// A function is entered: `call` is the place of the call, `callee` one in the function's own
    /// code if that is known. What was passed before the call.
    pub fn enter<M: Modules + ?Sized>(
        &mut self,
        call: Option<Place>,
        callee: Option<Place>,
        modules: &M,
    ) -> Passed {
        let passed = match self.activations.last_mut() {
            Some(activation) => activation.go_on(call, Point::Into, modules),
            None => Passed::UNKNOWN,
        };
        self.activations.push(Activation {
            last: Last::Entry,
            callee,
        });
        passed
    }

    /// The present function is left; what was passed before.
    pub fn leave<M: Modules + ?Sized>(&mut self, modules: &M) -> Passed {
        let Some(activation) = self.activations.pop() else {
            return Passed::UNKNOWN;
        };
        let (from, place) = match (activation.last, activation.callee) {
            (Last::Entry, Some(callee)) => (Point::Entry(callee.address), callee),
            (Last::After(place), _) => (Point::After(place.address), place),
            _ => return Passed::UNKNOWN,
        };
        match modules.facts(place.module) {
            Some(facts) => facts.between(from, Point::Exit(place.address)),
            None => Passed::UNKNOWN,
        }
    }

    /// Events are missing here: nothing is known of where the thread is.
    pub fn lost(&mut self) {
        for activation in &mut self.activations {
            activation.last = Last::Unknown;
        }
    }

    /// How many activations there are.
    pub fn depth(&self) -> usize {
        self.activations.len()
    }
}

impl Activation {
    /// Goes on to a place, which is what `point` makes of its address.
    fn go_on<M: Modules + ?Sized>(
        &mut self,
        place: Option<Place>,
        point: fn(u64) -> Point,
        modules: &M,
    ) -> Passed {
        let passed = match place {
            Some(place) => self.passed_to(place, point, modules),
            None => Passed::UNKNOWN,
        };
        self.last = place.map_or(Last::Unknown, Last::After);
        passed
    }

    fn passed_to<M: Modules + ?Sized>(
        &self,
        to: Place,
        point: fn(u64) -> Point,
        modules: &M,
    ) -> Passed {
        let Some(facts) = modules.facts(to.module) else {
            return Passed::UNKNOWN;
        };
        let from = match self.last {
            Last::Entry => match self.callee {
                Some(callee)
                    if callee.module != to.module
                        || !facts.same_function(callee.address, to.address) =>
                {
                    return Passed::UNKNOWN;
                }
                _ => Point::Entry(to.address),
            },
            Last::After(last) if last.module == to.module => Point::After(last.address),
            _ => return Passed::UNKNOWN,
        };
        facts.between(from, point(to.address))
    }
}
