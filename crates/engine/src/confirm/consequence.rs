//! What follows from a race: from where both threads stand, the program is run on with either thread first, and what
//! comes of it is compared. What a run shows is what happened in it; that others end in the same way is not promised.

use deadheat_explore::After;
use deadheat_report::{Consequence, Ending, Finding, Kind, Names, own_place};
use deadheat_run::store::info::Ended;
use deadheat_session::error::Result;
use deadheat_session::signals;

use super::Case;
use super::fine::{self, Enforced, Output};

/// What follows from a confirmed finding; `first` is the run in which its first side went first.
pub fn of(case: &Case, finding: &Finding, first: Enforced) -> Result<Option<Consequence>> {
    if finding.kind != Kind::Race {
        return Ok(Some(of_one(case, &first)));
    }
    let names = Names::of(&case.tables);
    let second = case.enforce(After::Go, 1, Output::Captured)?;
    if !second.is_reached() || signals::is_stopped() {
        return Ok(None);
    }
    let mut differs = Vec::new();
    // How a run would have ended that we have ended is not known.
    let is_known = !first.hung && !second.hung;
    if is_known && (first.ended, first.deadlocked) != (second.ended, second.deadlocked) {
        differs.push("how the program ends".to_owned());
    }
    if is_known && first.stdout != second.stdout {
        differs.push("what it prints".to_owned());
    }
    if let (Some(one), Some(other)) = (first.value, second.value)
        && one != other
    {
        differs.push("what the variable holds in the end".to_owned());
    }
    let named = |order: &str, run: &Enforced| Ending {
        order: order.to_owned(),
        ..ending(run, &names)
    };
    Ok(Some(Consequence {
        endings: vec![named("ab", &first), named("ba", &second)],
        differs,
    }))
}

/// What followed in the one run that there was.
pub fn of_one(case: &Case, run: &Enforced) -> Consequence {
    Consequence {
        endings: vec![ending(run, &Names::of(&case.tables))],
        differs: Vec::new(),
    }
}

/// What follows where all threads wait in loops for something that nobody changes any more.
pub fn of_one_that_lasts() -> Consequence {
    Consequence {
        endings: vec![Ending {
            order: String::new(),
            told: "does not end".to_owned(),
            exit: None,
            signal: None,
            value: None,
            message: None,
            stdout: String::new(),
        }],
        differs: Vec::new(),
    }
}

/// How a run ended.
fn ending(run: &Enforced, names: &Names) -> Ending {
    let place = run.last.map(|place| own_place(&names.frames_at(place)));
    let told = match (run.hung, run.deadlocked, run.ended) {
        (_, true, _) => "ends in a deadlock".to_owned(),
        (true, _, _) => {
            let most = fine::BEHIND.as_secs();
            format!("goes on for more than {most} s (it was ended then)")
        }
        (_, _, Ended::Exit(0)) => "exits with 0".to_owned(),
        (_, _, Ended::Exit(code)) => format!("exits with {code}"),
        (_, _, Ended::Signal(signal)) => {
            let at = place
                .as_ref()
                .map_or_else(String::new, |place| format!(" in {}", place.told()));
            format!("crashes with {}{at}", signal_name(signal))
        }
    };
    let failed = run.ended != Ended::Exit(0) && !run.deadlocked && !run.hung;
    Ending {
        order: String::new(),
        told,
        exit: match run.ended {
            Ended::Exit(code) if !run.deadlocked && !run.hung => Some(code),
            _ => None,
        },
        signal: match run.ended {
            Ended::Signal(signal) if !run.hung => Some(signal),
            _ => None,
        },
        value: run.value,
        message: failed.then(|| last_line(&run.stderr)).flatten(),
        stdout: String::from_utf8_lossy(&run.stdout[..run.stdout.len().min(MOST_SHOWN)]).into(),
    }
}

/// How much of the output a report has.
const MOST_SHOWN: usize = 4096;

/// The last line that the program itself said on standard error.
fn last_line(stderr: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(stderr);
    let own = text.lines().filter(|line| !line.starts_with("deadheat: "));
    // What Rust says of a panic stands before the calls that led to it.
    let mut from_panic = own
        .clone()
        .skip_while(|line| !line.contains("panicked at "));
    if from_panic.next().is_some()
        && let Some(message) = from_panic.next().map(str::trim)
        && !message.is_empty()
    {
        return Some(message.to_owned());
    }
    own.map(str::trim)
        .rfind(|line| !line.is_empty())
        .map(str::to_owned)
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGKILL => "SIGKILL",
        libc::SIGTERM => "SIGTERM",
        libc::SIGPIPE => "SIGPIPE",
        _ => return format!("signal {signal}"),
    };
    name.to_owned()
}
