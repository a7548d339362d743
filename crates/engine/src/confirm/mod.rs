//! Enforces witnesses on the program itself.
//!
//! * [`plan`]: from a witness to the file that the runtime follows.
//! * [`fine`]: one run under such a schedule, and what came of it.
//! * [`coarse`]: the same for schedules of synchronisation only, with threads that otherwise run free.
//! * [`consequence`]: what follows from a race in each of its two orders.
//! * [`candidates`]: schedules that nobody has proven, on trial.
//! * [`shown`]: what a schedule of synchronisation has shown, kept and shown again.
//! * `shrink`: the same with fewer switches.
//! * [`debugger`]: a run that ends in gdb.
//! * `together`: many witnesses of one long run in one run of the program.
//! * [`unordered`]: races by happens-before, by the run that shows them.
//! * `why`: why a schedule could not be followed.

pub mod candidates;
pub mod coarse;
pub mod consequence;
pub mod debugger;
pub mod fine;
pub mod plan;
pub mod shown;
mod shrink;
mod together;
pub mod unordered;
mod why;

use std::path::{Path, PathBuf};

use deadheat_analysis::budget::{self, Allowance, LONG};
use deadheat_analysis::witness::Witness;
use deadheat_explore::{After, Collected, Plan, Verdict};
use deadheat_report::{Finding, Kind, Rung, text};
use deadheat_run::again::{self, Again};
use deadheat_session::error::{Error, Result};
use deadheat_session::progress::Counted;
use deadheat_session::signals;
use deadheat_session::terminal::say;
use deadheat_trace::Tables;

use fine::{Enforced, Manner, Output};

/// A witness that can be enforced.
pub struct Case {
    /// The witness.
    pub witness: Witness,
    /// What plans of its events are made of.
    pub collected: Collected,
    /// What the runtime follows.
    pub plan: Plan,
    /// The program.
    pub again: Again,
    /// What the trace's numbers stand for.
    pub tables: Tables,
}

impl Case {
    /// Makes everything ready that it takes to run into the finding of this witness.
    pub fn of(path: &Path) -> Result<Self> {
        Case::new(Witness::read(path)?)
    }

    /// The same for a witness in memory.
    pub fn new(witness: Witness) -> Result<Self> {
        let again = again::of(&witness.trace.path)?;
        let (collected, tables) = plan::of(&witness)?;
        let plan = collected.plan(&collected.schedule, again.is_steady());
        let plan = plan.map_err(|error| {
            Error::usage(format!("the witness of {}: {error}", witness.finding))
        })?;
        Ok(Case {
            witness,
            collected,
            plan,
            again,
            tables,
        })
    }

    /// Whether the finding is that the program does not end.
    pub fn lasts(&self) -> bool {
        self.witness.kind == Kind::Failure && self.witness.ends.is_none()
    }

    /// Whether a run has come to the finding. A failure may come before the runtime can say that the schedule is through.
    pub fn stands(&self, run: &Enforced) -> bool {
        match self.witness.ends {
            None if self.lasts() => run.is_reached() && run.lasts,
            None => run.is_reached(),
            Some(ended) => {
                let left = run
                    .verdict
                    .as_ref()
                    .is_some_and(|verdict| !verdict.is_reached());
                !left && !run.hung && !run.deadlocked && run.ended == ended
            }
        }
    }

    /// Runs the program into the finding, and on as `after` says.
    pub fn enforce(&self, after: After, first: u32, output: Output) -> Result<Enforced> {
        let plan = self.plan.clone().then(after, first);
        let manner = Manner::of(output, self.executed());
        fine::run(&self.again, &plan, manner)
    }

    /// What it costs to run the program into the finding and to its end.
    fn cost_of_whole(&self) -> u64 {
        budget::run(0, self.executed())
    }

    /// How many events the recorded run had, with those that its trace lacks.
    fn executed(&self) -> u64 {
        self.witness.trace.events + self.tables.left_out.unwrap_or(0)
    }

    /// Whether a run that did not come to the finding refutes it: the program has done something else than the schedule says,
    /// though it got the same from the system, and repeats its own recording up to there. What it does where it does not is
    /// outside of what was proven.
    fn is_refuted_by(&self, run: &Enforced) -> Result<bool> {
        let is_other = match &run.verdict {
            Some(Verdict::Passed { .. }) | None => false,
            Some(verdict) => !verdict.is_reached(),
        };
        if !is_other || run.hung || run.other_inputs {
            return Ok(false);
        }
        let goals = self.witness.next.iter().map(|next| next.index);
        let whole = goals.max().map_or(self.witness.start, |last| last + 1);
        let recorded = Case::new(self.witness.as_recorded(whole))?;
        let again = recorded.enforce(After::Stop, 0, Output::Captured)?;
        Ok(recorded.stands(&again))
    }

    /// Why a schedule could not be followed, in words.
    pub fn why(&self, enforced: &Enforced) -> String {
        let ended = enforced.ended.told();
        why::why(enforced.verdict.as_ref(), &self.plan, &self.tables, &ended)
    }
}

/// Enforces the witnesses of all findings, the shortest first, as far as the allowance goes, and says on them
/// how it went.
pub fn all(
    findings: &mut [Finding],
    trace: &Path,
    remarks: &mut Vec<String>,
    allowance: &Allowance,
) {
    let folder = trace.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut waiting: Vec<usize> = (0..findings.len())
        .filter(|at| findings[*at].rung == Rung::Witness)
        .collect();
    waiting.sort_by_key(|at| last_event(&findings[*at]));
    let path = |finding: &Finding| folder.join(deadheat_analysis::witness::file_name(&finding.id));
    let mut later = Vec::new();
    match stand_together(findings, &waiting, path, allowance) {
        Ok(stood) => later = stood,
        Err(error) => note(remarks, "witnesses were not enforced together", &error),
    }
    waiting.retain(|at| later.iter().all(|(stood, _)| stood != at));
    let mut progress = Counted::new("enforcing witnesses", waiting.len() as u64);
    for at in waiting {
        if signals::is_stopped() {
            break;
        }
        let finding = &mut findings[at];
        let path = path(finding);
        match one(finding, &path, allowance) {
            Ok(Next::Done) => {}
            Ok(Next::FollowUp) => later.push((at, path)),
            Err(error) => note(remarks, "witnesses were not enforced", &error),
        }
        progress.advance();
    }
    // What follows from those that stand, where runs are long: all have had their turn.
    for (at, path) in later {
        if let Err(error) = follow_up_later(&mut findings[at], &path, allowance) {
            note(remarks, "what follows was not looked at", &error);
        }
    }
}

/// Which of these findings of a long run stand, by one run of the program for all their witnesses; and where the witnesses are.
fn stand_together(
    findings: &mut [Finding],
    waiting: &[usize],
    path: impl Fn(&Finding) -> PathBuf,
    allowance: &Allowance,
) -> Result<Vec<(usize, PathBuf)>> {
    let mut paths = Vec::new();
    let mut witnesses = Vec::new();
    for at in waiting {
        let path = path(&findings[*at]);
        let witness = Witness::read(&path)?;
        if together::can_follow(&witness) {
            paths.push((*at, path));
            witnesses.push(witness);
        }
    }
    let is_long = match &witnesses[..] {
        [first, _, ..] => together::executed(first)? > LONG,
        _ => false,
    };
    if !is_long || signals::is_stopped() {
        return Ok(Vec::new());
    }
    let stand = together::which_stand(&witnesses, allowance)?;
    let mut stood = Vec::new();
    for (((at, path), witness), stands) in paths.into_iter().zip(&witnesses).zip(stand) {
        if stands {
            keep(&mut findings[at], witness, &path)?;
            stood.push((at, path));
        }
    }
    Ok(stood)
}

/// Looks at what follows from a finding that stands, if that is paid for.
fn follow_up_later(finding: &mut Finding, path: &Path, allowance: &Allowance) -> Result<()> {
    if signals::is_stopped() || allowance.is_over() {
        return Ok(());
    }
    let mut case = Case::of(path)?;
    if !allowance.pays(case.cost_of_whole()) {
        return Ok(());
    }
    let first = case.enforce(After::Go, 0, Output::Captured)?;
    follow_up(finding, &mut case, path, first, allowance)
}

/// The last event of a trace that a finding is about.
fn last_event(finding: &Finding) -> u64 {
    let indexes = finding.accesses.iter().filter_map(|access| access.index);
    indexes.max().unwrap_or(0)
}

/// Keeps an error as a remark, once.
fn note(remarks: &mut Vec<String>, what: &str, error: &Error) {
    let remark = format!("{what}: {}", error.what());
    if !remarks.contains(&remark) {
        remarks.push(remark);
    }
}

/// What is to be done about a finding whose witness was enforced.
enum Next {
    Done,
    /// It stands; what follows from it was not looked at.
    FollowUp,
}

/// What is said of a witness that there was nothing left for.
pub(super) const UNPAID: &str = "the budget ended before its turn: --budget gives more";

fn one(finding: &mut Finding, path: &Path, allowance: &Allowance) -> Result<Next> {
    let prefix = last_event(finding) + 1;
    if !allowance.pays(allowance.cost_of_run(prefix, prefix)) {
        finding.not_enforced = Some(UNPAID.to_owned());
        return Ok(Next::Done);
    }
    let mut case = Case::of(path)?;
    let is_long = case.executed() > LONG;
    let after = match is_long && case.witness.kind != Kind::Failure {
        true => After::Stop,
        false => After::Go,
    };
    let Some(run) = stand(finding, &case, path, after, allowance)? else {
        return Ok(Next::Done);
    };
    if after == After::Stop {
        return Ok(Next::FollowUp);
    }
    follow_up(finding, &mut case, path, run, allowance)?;
    Ok(Next::Done)
}

/// Enforces a witness; if the finding stands, it is confirmed: the witness is made shorter and kept, and what
/// follows is looked at.
pub fn settle(finding: &mut Finding, mut case: Case, path: &Path) -> Result<()> {
    let endless = Allowance::endless();
    match stand(finding, &case, path, After::Go, &endless)? {
        Some(run) => follow_up(finding, &mut case, path, run, &endless),
        None => Ok(()),
    }
}

/// Enforces a witness; the run, if the finding stands. Its witness is kept then.
fn stand(
    finding: &mut Finding,
    case: &Case,
    path: &Path,
    after: After,
    allowance: &Allowance,
) -> Result<Option<Enforced>> {
    let run = case.enforce(after, 0, Output::Captured)?;
    if run.went_nowhere() {
        allowance.charge_for_hang();
    }
    if case.stands(&run) {
        keep(finding, &case.witness, path)?;
        return Ok(Some(run));
    }
    // A run that was ended with the search says nothing.
    if signals::is_stopped() {
        return Ok(None);
    }
    let why = case.why(&run);
    match finding.rung == Rung::Witness && case.is_refuted_by(&run)? {
        true => finding.refute(why),
        false if finding.refuted.is_some() => {}
        false => finding.not_enforced = Some(why),
    }
    Ok(None)
}

/// Makes the witness of a finding that stands shorter, and looks at what follows from it; `first` is a run in
/// which its first side went first.
fn follow_up(
    finding: &mut Finding,
    case: &mut Case,
    path: &Path,
    mut first: Enforced,
    allowance: &Allowance,
) -> Result<()> {
    if case.witness.kind != Kind::Failure
        && let Some(run) = shrink::shrink(case)?
    {
        first = run;
    }
    keep(finding, &case.witness, path)?;
    // The run was ended with the search, after it had come to the finding: what follows is not known.
    if signals::is_stopped() {
        return Ok(());
    }
    finding.consequence = match case.lasts() {
        true => Some(consequence::of_one_that_lasts()),
        false if finding.kind == Kind::Race && !allowance.pays(case.cost_of_whole()) => None,
        false => consequence::of(case, finding, first)?,
    };
    Ok(())
}

/// Keeps the witness of a finding that was seen to stand.
fn keep(finding: &mut Finding, witness: &Witness, path: &Path) -> Result<()> {
    let mut enforced = witness.clone();
    enforced.enforced = true;
    let kept = enforced.write(path);
    kept.map_err(|error| Error::not_started(format!("{}: {error}", path.display())))?;
    let here = std::env::current_dir().unwrap_or_default();
    let shown = path.strip_prefix(&here).unwrap_or(path);
    let is_new = finding.rung != Rung::Confirmed;
    finding.witness = Some(shown.display().to_string());
    finding.rung = Rung::Confirmed;
    finding.not_enforced = None;
    // That was another schedule.
    finding.refuted = None;
    finding.replay = Some(format!("deadheat replay {}", finding.id));
    // The report may take minutes yet.
    if is_new && witness.trace.events > LONG {
        say(text::in_a_line(finding));
    }
    Ok(())
}
