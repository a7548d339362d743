//! The lives of synchronisation objects.
//!
//! Recordings give an object a new number when it is initialised again, text traces perhaps not: there a life ends
//! with its `Destroy`, or where an `Init` follows on something else. As nobody knows what a program does that starts the second
//! life before the first is over, all of the first comes before it.

use deadheat_trace::Op;
use rustc_hash::FxHashMap;

use super::observed::positions;
use super::simulation::State;
use super::{Broken, Observed};
use crate::Window;

/// No object.
pub(super) const NONE: u32 = u32::MAX;

/// All objects of a window, each in one of its lives.
#[derive(Default)]
pub(super) struct Objects {
    /// The object that each position speaks of, or [`NONE`].
    pub of: Vec<u32>,
    pub all: Vec<Object>,
    /// The first life of each object, by its number.
    pub first: FxHashMap<u32, u32>,
}

/// An object in one of its lives.
#[derive(Default)]
pub(super) struct Object {
    /// Where it is initialised and destroyed.
    init: Option<u32>,
    destroy: Option<u32>,
    /// The same object in its life before.
    before: Option<u32>,
    /// All that is done to it.
    positions: Vec<u32>,
}

impl Objects {
    pub fn new(window: &Window) -> Self {
        let mut objects = Objects::default();
        let mut current = FxHashMap::default();
        for (position, op) in positions(window) {
            if !is_of_object(op) {
                objects.of.push(NONE);
                continue;
            }
            let id = window.steps[position as usize].event.sync().0;
            let known = current.get(&id).copied();
            let goes_on = known.filter(|&object: &u32| {
                op != Op::Init && objects.all[object as usize].destroy.is_none()
            });
            let number = goes_on.unwrap_or_else(|| {
                let number = objects.all.len() as u32;
                let before = known;
                objects.all.push(Object {
                    before,
                    ..Object::default()
                });
                objects.first.entry(id).or_insert(number);
                current.insert(id, number);
                number
            });
            objects.of.push(number);
            let object = &mut objects.all[number as usize];
            object.positions.push(position);
            match op {
                Op::Init => object.init = Some(position),
                Op::Destroy => object.destroy = Some(position),
                _ => {}
            }
        }
        objects
    }
}

fn is_of_object(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        Acquire
            | Release
            | ReadAcquire
            | ReadRelease
            | Request
            | ReadRequest
            | Refused
            | ReadRefused
            | Wait
            | Wake
            | Timeout
            | Notify
            | NotifyAll
            | BarrierEnter
            | BarrierExit
            | Post
            | Take
            | TakeRefused
            | Send
            | Receive
            | ReceiveRefused
            | FutexWait
            | FutexWoken
            | FutexWake
            | Init
            | Destroy
    )
}

/// Whether the object that an event speaks of is there.
pub(super) fn can(observed: &Observed<'_>, state: &State, position: u32) -> Result<(), Broken> {
    let number = observed.objects.of[position as usize];
    if number == NONE {
        return Ok(());
    }
    let object = &observed.objects.all[number as usize];
    let executed = |&at: &u32| state.executed(observed, at);
    if let Some(init) = object.init.filter(|&init| init != position)
        && !executed(&init)
    {
        return Err(Broken::NotBorn(init));
    }
    if let Some(destroy) = object.destroy.filter(executed) {
        return Err(Broken::Gone(destroy));
    }
    // The life before has ended if this one has begun.
    if let Some(before) = object.before
        && !object.positions.first().is_some_and(executed)
    {
        let before = &observed.objects.all[before as usize].positions;
        if let Some(&open) = before.iter().find(|&at| !executed(at)) {
            return Err(Broken::EarlierLife(open));
        }
    }
    Ok(())
}
