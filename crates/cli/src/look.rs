//! How findings look in the terminal, as the user wants it.

use deadheat_report::text::Look;

/// How findings look in the terminal.
#[derive(Clone, Debug, clap::Args)]
pub struct LookArgs {
    /// Also show all functions that led to each side of a finding.
    #[arg(long)]
    stacks: bool,
}

impl LookArgs {
    /// The look.
    pub fn look(&self) -> Look {
        Look::of_terminal(self.stacks)
    }
}
