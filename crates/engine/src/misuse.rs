//! Mutexes that are taken after they were destroyed: that fails, and the program goes on without the lock.

use std::collections::HashMap;
use std::path::Path;

use deadheat_report::{Finding, Kind, Rung};
use deadheat_run::input;
use deadheat_session::error::Result;
use deadheat_trace::{Op, Steps, SyncKind, Tables};
use deadheat_wire::DESTROYED;

use crate::explore::evidence::explained;

/// What the method is called in findings.
const METHOD: &str = "recorded";
/// Where in a mutex its own channel lies, on which whoever destroys it sends.
const CHANNEL: u64 = 8;

/// The first such taking in a recorded run, and where the mutex was destroyed.
pub fn of(trace: &Path, tables: &Tables) -> Result<Option<Finding>> {
    if !tables.notes.iter().any(|note| note == DESTROYED) {
        return Ok(None);
    }
    let Some(pair) = taking(trace)? else {
        return Ok(None);
    };
    let mut accesses = Vec::new();
    for (index, what) in pair
        .into_iter()
        .zip(["taking of a destroyed mutex", "destruction"])
    {
        let found = explained(trace, [index, index], |explain, [at, _]| {
            explain.failure(at, Rung::Observed, METHOD)
        })?;
        for mut access in found.into_iter().flat_map(|finding| finding.accesses) {
            access.op = what.to_owned();
            access.size = 0;
            accesses.push(access);
        }
    }
    Ok(Some(Finding::new(
        Kind::Failure,
        Rung::Observed,
        METHOD,
        accesses,
    )))
}

/// Which event is the taking, and which the destruction before it.
fn taking(trace: &Path) -> Result<Option<[usize; 2]>> {
    let mut destroyed = HashMap::new();
    let mut steps = input::open(trace)?;
    let mut index = 0;
    while let Some(step) = steps
        .next_step()
        .map_err(|error| input::broken(trace, &error))?
    {
        let event = step.event;
        if matches!(event.op(), Op::Init | Op::Destroy | Op::Receive)
            && let Some(object) = steps.tables().syncs.get(event.sync().index())
        {
            match (event.op(), object.kind) {
                (Op::Init, SyncKind::Lock) => {
                    destroyed.remove(&object.addr.0);
                }
                (Op::Destroy, SyncKind::Lock) => {
                    destroyed.insert(object.addr.0, index);
                }
                (Op::Receive, _) => {
                    let mutex = object.addr.0.wrapping_sub(CHANNEL);
                    if let Some(at) = destroyed.get(&mutex) {
                        return Ok(Some([index, *at]));
                    }
                }
                _ => {}
            }
        }
        index += 1;
    }
    Ok(None)
}
