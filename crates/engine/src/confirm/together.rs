//! Many witnesses of one long run in one run of the program: it follows the recorded run, and where a witness leaves that, a
//! copy of the program follows the witness.
//!
//! What a copy comes to is real: it is the program, in the state to which the schedule leads, kept from the world outside. What no
//! copy has come to is not refuted by that, since a copy may not do all that the program does: it is enforced by itself.

use deadheat_analysis::budget::{self, Allowance};
use deadheat_analysis::unseen::Unseen;
use deadheat_analysis::witness::{Digest, Witness};
use deadheat_explore::{After, Plan, Request, TrunkPlanner};
use deadheat_report::Kind;
use deadheat_run::again::{self, Again};
use deadheat_run::input;
use deadheat_session::error::{Error, Result};
use deadheat_session::progress::Watched;
use deadheat_trace::Steps;

use super::fine::{self, Manner, Output};
use super::plan::{is_soft, request_of};

/// Whether a copy can follow it: it leads to where threads stand, and skips nothing that the recorded run did.
pub fn can_follow(witness: &Witness) -> bool {
    let is_exact = witness.synchronisation.is_none() && witness.skipped().is_empty();
    witness.kind != Kind::Failure && !witness.next.is_empty() && is_exact
}

/// How many of these witnesses, the first ones, the allowance pays for; all of them lie in this order in their trace.
fn paid(witnesses: &[Witness], allowance: &Allowance) -> usize {
    let cost = |count: usize| {
        let some = &witnesses[..count];
        let furthest = some.iter().map(end).max().unwrap_or(0);
        let own: u64 = some.iter().map(|one| budget::copy(length(one))).sum();
        allowance
            .cost_of_run(furthest, furthest)
            .saturating_add(own)
    };
    let mut count = witnesses.len();
    while count > 1 && allowance.times(cost(count)) == 0 {
        count /= 2;
    }
    match allowance.pays(cost(count)) {
        true => count,
        false => 0,
    }
}

/// How many events its own part has.
fn length(witness: &Witness) -> u64 {
    witness.schedule.iter().map(|(_, count)| count).sum()
}

/// Behind which event of the trace nothing matters to it.
fn end(witness: &Witness) -> u64 {
    let goals = witness.next.iter().map(|next| next.index + 1);
    goals.max().unwrap_or(0).max(witness.start)
}

/// Has copies of the program follow these witnesses, as many of the first ones as the allowance pays for. By witness: whether it
/// stands; all of them are of one trace.
pub fn which_stand(witnesses: &[Witness], allowance: &Allowance) -> Result<Vec<bool>> {
    let mut stand = vec![false; witnesses.len()];
    let count = paid(witnesses, allowance);
    let some = &witnesses[..count];
    let Some(first) = some.first() else {
        return Ok(stand);
    };
    let again = again::of(&first.trace.path)?;
    let plan = plan(some, &again)?;
    let manner = Manner {
        copies: count,
        ..Manner::of(Output::Captured, executed(first)?)
    };
    let run = fine::run(&again, &plan.then(After::Stop, 0), manner)?;
    if run.went_nowhere() {
        allowance.charge_for_hang();
    }
    for (stands, verdict) in stand.iter_mut().zip(&run.of_copies) {
        *stands = verdict.as_ref().is_some_and(|one| one.is_reached());
    }
    Ok(stand)
}

/// How many events the recorded run of a witness had, with those that its trace lacks.
pub fn executed(witness: &Witness) -> Result<u64> {
    let tables = input::open(&witness.trace.path)?;
    Ok(witness.trace.events + tables.tables().left_out.unwrap_or(0))
}

/// The plan for all of them.
fn plan(witnesses: &[Witness], again: &Again) -> Result<Plan> {
    let path = &witnesses[0].trace.path;
    let requests: Vec<Request> = witnesses.iter().map(request_of).collect();
    let steps = input::open(path)?;
    let digest = Digest::of(&steps).text();
    witnesses
        .iter()
        .try_for_each(|witness| witness.is_about(&digest))?;
    let mut steps = Watched::new(steps, "planning");
    let mut unseen = Unseen::of(steps.tables());
    let mut planner = TrunkPlanner::new(&requests, |event, tables| {
        is_soft(event) && unseen.is_without_hooks(event, tables)
    });
    while !planner.is_complete()
        && let Some(step) = steps
            .next_step()
            .map_err(|error| input::broken(path, &error))?
    {
        planner.step(&step, steps.is_made_up(), steps.tables());
    }
    let plan = planner.finish(again.is_steady());
    plan.map_err(|error| Error::usage(format!("the witnesses of {}: {error}", path.display())))
}
