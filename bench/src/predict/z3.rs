//! Z3 with the paper's formula.

use std::io::Write as _;
use std::process::{Command, Stdio};

use deadheat_predict::{Cut, Window};

use super::formula;
use crate::measure::children;

/// How long it may look for an answer, in seconds.
pub const LIMIT: u32 = 15;
/// How long it may take with reading the formula; it does not always keep to the other limit.
pub const WHOLE: u32 = 30;

/// What came of a question.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// CPU seconds of the search alone: neither of making the formula nor of reading it. If it was stopped from outside,
    /// reading is in it.
    pub seconds: f64,
    /// Whether there was an answer.
    pub is_answered: bool,
}

/// What this Z3 calls itself.
pub fn version() -> Result<String, String> {
    let output = Command::new("z3").arg("--version").output();
    let output = output.map_err(|error| format!("z3: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let number = text.split_whitespace().nth(2).unwrap_or("?");
    Ok(number.to_owned())
}

/// Asks whether a race is possible by the paper's formula.
pub fn ask(window: &Window, cut: &Cut) -> Result<Asked, String> {
    let formula = formula::smt_lib(window, cut);
    let failed = |error: std::io::Error| format!("z3: {error}");
    let before = children();
    let mut z3 = Command::new("z3")
        .arg(format!("-t:{}", LIMIT * 1000))
        .arg(format!("-T:{WHOLE}"))
        .args(["-st", "-in"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut stdin) = z3.stdin.take() {
        stdin.write_all(formula.as_bytes()).map_err(failed)?;
    }
    let output = z3.wait_with_output().map_err(failed)?;
    let cpu = children() - before;
    let text = String::from_utf8_lossy(&output.stdout);
    let figure = |name: &str| {
        let mut words = text.split([' ', '\n', '(', ')']).filter(|w| !w.is_empty());
        words.find(|word| *word == name)?;
        words.next()?.parse::<f64>().ok()
    };
    let (Some(search), Some(total)) = (figure(":time"), figure(":total-time")) else {
        let is_stopped = text.trim() == "timeout";
        let stopped = Asked {
            seconds: cpu.min(LIMIT.into()),
            is_answered: false,
        };
        return is_stopped
            .then_some(stopped)
            .ok_or(format!("z3 says {text}"));
    };
    Ok(Asked {
        seconds: cpu * (search / total.max(1e-3)).min(1.0),
        is_answered: text.starts_with("sat") || text.starts_with("unsat"),
    })
}
