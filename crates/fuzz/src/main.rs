//! `deadheat-fuzz`: generated programs against Deadheat's commands.

use clap::Parser;
use std::process::ExitCode;

/// Generated programs whose truth is known, against Deadheat's commands
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Small random programs against an interpreter that tries all interleavings
    Random(deadheat_fuzz::random::command::Options),
    /// Programs that are correct by construction, with unusual synchronisation
    Correct(deadheat_fuzz::correct::command::Correct),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match &arguments.what {
        What::Random(options) => deadheat_fuzz::random::command::run(options),
        What::Correct(options) => options.run().map(|agrees| match agrees {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        }),
    };
    result.unwrap_or_else(|problem| {
        eprintln!("deadheat-fuzz: {problem}");
        ExitCode::from(2)
    })
}
