//! The paper's model of a trace in CSPM, for the refinement checker FDR.
//!
//! Threads are processes `T<thread>_<n>`, one for each segment and the synchronisation that ends it; the parameter is the
//! object whose accesses are shown, so that one file has the model of every object. Deviations from the paper's
//! figures:
//!
//! * Mutexes, forks and the rest never end, so the whole never does: instead of `PROGRAM ; LIVE`, all threads come together
//!   in `live`, for ever, once they are through. `LIVE` is refined in failures if and only if they always can.
//! * Who comes to a barrier and who leaves it may do so in any order.
//! * Read-write locks and semaphores have processes; of re-entrant locks the outermost pairs are shown; what else comes before
//!   something is a `signal`.
//! * An object that accesses take apart is several here, so that two accesses to one always have bytes in common.
//!
//! * [`model`]: what the processes are.
//! * [`written`]: how they are written.

mod model;
#[cfg(test)]
mod tests;
mod written;

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use deadheat_trace::Tables;

use self::model::Model;
use super::Observation;
use super::objects::Object;
use super::simplified::Simplified;

/// Writes the model of a trace.
pub fn cspm(observation: &Observation, tables: &Tables) -> String {
    let simplified = Simplified::of(
        observation.steps,
        observation.lock_words,
        observation.is_judged,
        &AtomicBool::new(false),
    );
    let objects = taken_apart(&simplified);
    let model = Model::of(observation, &simplified, &objects);
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = model.write(&mut text, &objects, tables);
    text
}

/// The objects in parts that no access takes apart.
fn taken_apart(simplified: &Simplified) -> Vec<Object> {
    let mut parts = Vec::new();
    for accesses in simplified
        .accesses
        .chunk_by(|one, other| one.object == other.object)
    {
        let life = simplified.objects.all[accesses[0].object as usize].life;
        let ends = accesses
            .iter()
            .flat_map(|access| [access.start, access.end]);
        let cuts: Vec<u64> = ends.collect::<BTreeSet<u64>>().into_iter().collect();
        parts.extend(cuts.windows(2).map(|cuts| Object {
            life,
            start: cuts[0],
            end: cuts[1],
        }));
    }
    parts
}
