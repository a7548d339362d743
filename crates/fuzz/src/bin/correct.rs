//! Runs `correct` until `main.rs` has it.
use clap::Parser;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    correct: deadheat_fuzz::correct::command::Correct,
}

fn main() {
    match Line::parse().correct.run() {
        Ok(true) => {}
        Ok(false) => std::process::exit(1),
        Err(error) => {
            eprintln!("correct: {error}");
            std::process::exit(2);
        }
    }
}
