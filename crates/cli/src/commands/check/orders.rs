//! A look at other orders of a program whose recorded run proves nothing: what went wrong may lie on paths that this run
//! did not take.
//!
//! It is the search of `deadheat explore`, only short: of programs that do not do much, as copies, a few hundred executions.

use deadheat_trace::Steps;

use super::Args;
use crate::again;
use crate::analysis::Analysis;
use crate::error::Result;
use crate::explore::copies::Copies;
use crate::explore::whole::{self, Explored};
use crate::input;
use crate::recorder::Recorded;
use crate::store::Store;
use deadheat_report::{Kind, Rung};

/// How many events a run may have whose program is executed in other orders.
const MOST_EVENTS: u64 = 50_000;

impl Args {
    /// Executes the program in other orders, if its run proves nothing; `None` if it does, or the program cannot be copied.
    pub(super) fn other_orders(
        &self,
        store: &Store,
        recorded: &Recorded,
        analysis: &mut Analysis,
    ) -> Option<Explored> {
        let proves = |analysis: &Analysis| {
            let mut findings = analysis.findings.iter();
            // A run that dies says nothing of what others do.
            findings.any(|finding| finding.rung != Rung::Warning && finding.kind != Kind::Failure)
        };
        if self.orders == 0
            || self.leave_out.is_some()
            || self.lean
            || self.no_confirm
            || recorded.deadlocked
            || proves(analysis)
            || analysis.events > MOST_EVENTS * u64::from(self.runs)
        {
            return None;
        }
        match self.executed(store, recorded) {
            Ok(explored) => explored,
            Err(error) => {
                let remark = format!("other orders were not executed: {error}");
                analysis.remarks.push(remark);
                None
            }
        }
    }

    fn executed(&self, store: &Store, recorded: &Recorded) -> Result<Option<Explored>> {
        let trace = &recorded.traces[0];
        let again = again::of(trace)?;
        let tables = input::open(trace)?.tables().clone();
        let copies = Copies::new(&again, &tables, None, true)?;
        if !copies.is_copied {
            return Ok(None);
        }
        let search = self.limits.glance(self.orders);
        let archive = self.archive(store);
        let usual = Some(recorded.ended);
        Ok(Some(whole::search(
            copies, &tables, usual, &archive, &search,
        )?))
    }
}
