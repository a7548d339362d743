//! Kinds of waits and who can end them, each tried: what `deadheat_fuzz::correct` has in its catalogue, each
//! piece by itself.

use deadheat_fuzz::correct::command::Correct;

use super::tools::Tools;

/// The table, with what it is.
pub fn section(tools: &Tools) -> Result<String, String> {
    eprintln!("bench: waits");
    let correct = Correct {
        alone: true,
        known: true,
        way: ["check", "explore", "watch"].map(str::to_owned).to_vec(),
        ..Correct::with(&tools.deadheat)
    };
    let outcome = correct.measure()?;
    Ok(format!(
        "\n### Waits and who can end them\n\n\
         {} programs, each correct by construction, with one way to synchronise or to wait. *yes*: it printed what it has \
         to print and ended, and nothing was found in it.\n\n{}",
        outcome.programs,
        outcome.table.by_wait()
    ))
}
