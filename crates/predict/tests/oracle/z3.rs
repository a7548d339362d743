//! The paper's formula, given to Z3.
//!
//! The formula is not the paper's definition. It orders events behind the race too and so rejects races that schedules lead to; and it
//! asks nothing of events that are needed only to write a value or to give a lock back, and so accepts some that none leads to
//! (`tests/papers.rs` has both).

use std::io::Write as _;
use std::process::{Command, Stdio};

use deadheat_predict::{Cut, Window};

use super::formula::smt_lib;

/// What Z3 said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Sat,
    Unsat,
    Timeout,
}

/// Asks whether the two events of a race can come next to each other by the paper's formula.
pub fn verdict(window: &Window, cut: &Cut, seconds: u32) -> Verdict {
    let formula = smt_lib(window, cut);
    let limit = format!("-T:{seconds}");
    let mut z3 = Command::new("z3")
        .args([limit.as_str(), "-in"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 is installed: scripts/install-debian-packages test");
    let mut stdin = z3.stdin.take().expect("it was asked for");
    stdin.write_all(formula.as_bytes()).expect("z3 reads");
    drop(stdin);
    let output = z3.wait_with_output().expect("z3 ends");
    match String::from_utf8_lossy(&output.stdout).trim() {
        "sat" => Verdict::Sat,
        "unsat" => Verdict::Unsat,
        "timeout" | "unknown" => Verdict::Timeout,
        other => panic!("z3 says {other}"),
    }
}
