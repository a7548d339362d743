//! From a witness to the file that the runtime follows.

use deadheat_explore::{Collected, Goal, GoalKind, Origin, Planner, Request};
use deadheat_report::Kind;
use deadheat_trace::file::TraceFile;
use deadheat_trace::{Event, EventIndex, Mode, Op, Pc, Steps, Tables, ThreadId};

use crate::error::{Error, Result};
use crate::input;
use crate::progress::Watched;
use crate::unseen::Unseen;
use crate::witness::{Digest, Witness};

/// What plans of a witness are made of, and its trace's tables. The trace is read once as the analysis saw it, and beside that as it was
/// recorded: what readers add to it the runtime knows nothing of.
pub fn of(witness: &Witness) -> Result<(Collected, Tables)> {
    let path = &witness.trace.path;
    let shown = path.display();
    let request = Request {
        start: EventIndex(witness.start),
        schedule: witness
            .schedule
            .iter()
            .map(|(thread, count)| (ThreadId(*thread), *count))
            .collect(),
        goal: Goal {
            kind: match witness.kind {
                Kind::Race => GoalKind::Race,
                Kind::Deadlock => GoalKind::Deadlock,
            },
            next: witness
                .next
                .iter()
                .map(|next| EventIndex(next.index))
                .collect(),
        },
    };
    let raw = TraceFile::open(path).map_err(|error| input::broken(path, &error.into()))?;
    let mut raw = raw.read();
    let mut recorded = next_of(&mut raw);
    let mut steps = Watched::new(input::open(path)?, "planning");
    if steps.mode() != Mode::Serial {
        return Err(Error::usage(format!(
            "{shown} is no serial recording: its schedule is not exact"
        )));
    }
    let mut unseen = Unseen::of(steps.tables());
    let mut planner = Planner::new(&request);
    let mut digest = Digest::new();
    let mut events = 0;
    while let Some(step) = steps
        .next_step()
        .map_err(|error| input::broken(path, &error))?
    {
        let event = &step.event;
        let is_recorded = recorded.is_some_and(|raw| {
            raw.event.op() == event.op()
                && raw.event.thread() == event.thread()
                && raw.event.pc() == event.pc()
        });
        let origin = match is_recorded {
            false => Origin::MadeUp,
            true if is_soft(event) && unseen.is_without_hooks(event.pc()) => Origin::Foreign,
            true => Origin::Own,
        };
        planner.step(&step, origin, steps.tables());
        digest.add(event);
        events += 1;
        if is_recorded {
            recorded = next_of(&mut raw);
        }
    }
    witness.is_about(events, &digest.text())?;
    let collected = planner
        .finish()
        .map_err(|error| Error::usage(format!("the witness of {}: {error}", witness.finding)))?;
    Ok((collected, steps.tables().clone()))
}

/// Whether code without hooks may have done it.
fn is_soft(event: &Event) -> bool {
    let is_call = matches!(
        event.op(),
        Op::Read
            | Op::Write
            | Op::Alloc
            | Op::Free
            | Op::FutexWait
            | Op::FutexWoken
            | Op::FutexWake
    );
    is_call && event.pc() != Pc::UNKNOWN
}

fn next_of(raw: &mut deadheat_trace::file::Reader<'_>) -> Option<deadheat_trace::Step> {
    let Ok(step) = raw.next_step();
    step
}
