//! From a witness to the file that the runtime follows.

use deadheat_analysis::unseen::Unseen;
use deadheat_analysis::witness::{Digest, Witness};
use deadheat_explore::{Collected, Goal, GoalKind, Planner, Request};
use deadheat_report::Kind;
use deadheat_run::input;
use deadheat_session::error::{Error, Result};
use deadheat_session::progress::Watched;
use deadheat_trace::{Event, EventIndex, Mode, Op, Pc, Steps, Tables, ThreadId};

/// What plans of a witness are made of, and its trace's tables. The trace is read as far as the schedule needs it. What readers add to
/// it the runtime knows nothing of.
pub fn of(witness: &Witness) -> Result<(Collected, Tables)> {
    let path = &witness.trace.path;
    let shown = path.display();
    let request = request_of(witness);
    let steps = input::open(path)?;
    if steps.mode() != Mode::Serial {
        return Err(Error::usage(format!(
            "{shown} is no serial recording: its schedule is not exact"
        )));
    }
    witness.is_about(&Digest::of(&steps).text())?;
    let mut steps = Watched::new(steps, "planning");
    let mut unseen = Unseen::of(steps.tables());
    let is_foreign =
        |event: &Event, tables: &Tables| is_soft(event) && unseen.is_without_hooks(event, tables);
    let mut planner = Planner::new(&request, is_foreign);
    while !planner.is_complete()
        && let Some(step) = steps
            .next_step()
            .map_err(|error| input::broken(path, &error))?
    {
        planner.step(&step, steps.is_made_up(), steps.tables());
    }
    let collected = planner
        .finish()
        .map_err(|error| Error::usage(format!("the witness of {}: {error}", witness.finding)))?;
    Ok((collected, steps.tables().clone()))
}

/// What a witness asks for.
pub fn request_of(witness: &Witness) -> Request {
    Request {
        start: EventIndex(witness.start),
        schedule: witness
            .schedule
            .iter()
            .map(|(thread, count)| (ThreadId(*thread), *count))
            .collect(),
        skipped: witness.skipped(),
        goal: Goal {
            kind: match witness.kind {
                // All that it has to show has happened by its end.
                _ if witness.next.is_empty() => GoalKind::None,
                Kind::Race => GoalKind::Race,
                Kind::Deadlock => GoalKind::Deadlock,
                Kind::Failure => GoalKind::None,
            },
            next: witness
                .next
                .iter()
                .map(|next| EventIndex(next.index))
                .collect(),
        },
    }
}

/// Whether code without hooks may have done it.
pub fn is_soft(event: &Event) -> bool {
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
