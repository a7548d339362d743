//! What happens to programs, recordings and commands under conditions that nobody wishes for.
//!
//! Every row counts: how often it was tried, how often all went as it should (the program ended as it does by
//! itself, or the command said what was wrong with a documented exit code), and how many recordings were lost, that is
//! cannot be read or break the rules of a trace. Nothing is random: the same numbers are drawn in every run of this.

mod clock;
mod fuzz;
mod hostile;
mod killed;
mod large;
mod places;
mod soak;
mod tools;
mod waits;

use std::fmt::Write;

use crate::kernel::Place;
use tools::Tools;

/// One row of the table.
pub struct Row {
    /// What was done.
    what: String,
    /// How often.
    tried: u64,
    /// How often all went as it should.
    survived: u64,
    /// Recordings that cannot be read, of those that were to be.
    lost: u64,
    /// What is worth saying.
    remark: String,
}

impl Row {
    /// Nothing was tried yet.
    fn new(what: impl Into<String>) -> Self {
        Row {
            what: what.into(),
            tried: 0,
            survived: 0,
            lost: 0,
            remark: String::new(),
        }
    }

    /// One more attempt: whether it went well, and whether its recording can be read, if there is one.
    fn count(&mut self, survived: bool, readable: bool) {
        self.tried += 1;
        self.survived += u64::from(survived);
        self.lost += u64::from(!readable);
    }
}

/// Tries everything; the section of the results.
pub fn measure(place: &Place, runs: usize) -> Result<String, String> {
    let tools = Tools::new(place)?;
    let mut rows = soak::rows(&tools, runs)?;
    rows.extend(killed::rows(&tools, runs)?);
    rows.extend(places::rows(&tools)?);
    rows.extend(clock::rows(&tools, runs)?);
    rows.extend(hostile::rows(&tools)?);
    rows.extend(fuzz::rows(&tools, runs)?);
    rows.extend(large::rows(&tools)?);
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = write_table(&mut text, &rows);
    text.push_str(&waits::section(&tools)?);
    Ok(text)
}

fn write_table(out: &mut String, rows: &[Row]) -> std::fmt::Result {
    writeln!(out, "## Abuse\n")?;
    writeln!(
        out,
        "Programs under load, recorded (threads running free, and one at a time) and watched; programs and recorders that are killed; \
         full and read-only disks; limits of the system; clocks that are set; hostile names in every report; damaged input for every reader. *Survived*: the program printed and ended as it \
         does without Deadheat, or the command ended with a documented exit code and said what was wrong. *Lost*: recordings that \
         cannot be read afterwards or break the rules of a trace.\n"
    )?;
    writeln!(out, "| what | tried | survived | lost | |")?;
    writeln!(out, "|---|---|---|---|---|")?;
    for row in rows {
        writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            row.what, row.tried, row.survived, row.lost, row.remark
        )?;
    }
    Ok(())
}
