//! What a trace says, whatever the numbers of its locations.

use deadheat_trace::text::{self, Flavor};
use deadheat_trace::{Pc, Tables, Trace};

/// The trace as text.
pub fn write(trace: &Trace, flavor: Flavor) -> String {
    let mut out = Vec::new();
    text::write(&mut trace.stream(), &mut out, flavor).unwrap();
    String::from_utf8(out).unwrap()
}

/// Everything but the numbers of locations, which a reader gives anew.
pub fn meaning(trace: &Trace) -> impl PartialEq + std::fmt::Debug + use<> {
    let place = |pc: Pc| trace.tables.location(pc);
    let steps: Vec<String> = trace
        .steps
        .iter()
        .map(|step| {
            let event = format!("{step:?}");
            let pc = format!("|{}", step.event.pc());
            event.replace(&pc, &format!("|{}", place(step.event.pc())))
        })
        .collect();
    let threads: Vec<_> = trace
        .tables
        .threads
        .iter()
        .map(|t| (t.name.clone(), t.parent, t.created_at.map(place)))
        .collect();
    let Tables {
        syncs,
        variables,
        notes,
        ..
    } = trace.tables.clone();
    (trace.mode, steps, threads, syncs, variables, notes)
}
