//! The options that say how a program is recorded, shared by the commands that record.

use clap::ValueEnum;
use deadheat_run::launch;

use crate::settings::variable;

/// How to record.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Recording")]
pub struct Schedule {
    /// The seed of the schedule (serial): the same seed gives the same trace.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Who runs next (serial).
    #[arg(long, value_enum, value_name = "NAME")]
    pub policy: Option<Policy>,

    /// Contexts on one kernel thread, or real threads that pass a token (serial).
    #[arg(long, value_enum, value_name = "KIND")]
    pub threads: Option<Threads>,

    /// Where the scheduler may switch: at synchronisation only, or at accesses too (serial).
    #[arg(long, value_enum, value_name = "WHERE")]
    pub preempt: Option<Preempt>,

    /// Priority changes of policy pct, plus one (serial).
    #[arg(long, value_name = "N")]
    pub depth: Option<u64>,

    /// Seconds without a step after which another thread gets the turn, 0 for never (serial).
    #[arg(long, value_name = "SECONDS")]
    pub watchdog: Option<u64>,

    /// Stop recording when it takes so much on the disk, such as 500M or 10G; the program goes on. [default: 2 GiB]
    #[arg(long, value_name = "SIZE", value_parser = largest)]
    pub max_size: Option<u64>,

    /// Stop recording when no more than this is free on the disk; 0: when it is full. [default: 1 GiB, or 5 % of a small disk]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub keep_free: Option<u64>,
}

/// Who runs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Policy {
    /// Anyone, at every step.
    Random,
    /// Whoever has the highest of random, sometimes changing priorities.
    Pct,
    /// Each in turn.
    RoundRobin,
    /// The same until it blocks.
    RunToBlock,
}

/// What the program's threads run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Threads {
    /// Contexts on one kernel thread: fast.
    Green,
    /// Kernel threads that pass a token: for programs that the other way does not suit.
    Real,
}

/// Where the scheduler may switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Preempt {
    /// At synchronisation.
    Sync,
    /// At synchronisation and at every access.
    Access,
}

impl Schedule {
    /// The schedule of the run with this number, the first as asked for: the others have other seeds, and every other one has policy pct
    /// unless the user wants another.
    pub fn numbered(&self, number: u32) -> Schedule {
        let seed = self.seed.unwrap_or(0);
        match number {
            0 => self.clone(),
            _ => Schedule {
                seed: Some(seed.wrapping_add(number.into())),
                policy: self.policy.or((number % 2 == 1).then_some(Policy::Pct)),
                ..self.clone()
            },
        }
    }

    /// So many of them.
    pub fn several(&self, count: u32) -> Vec<Schedule> {
        (0..count).map(|number| self.numbered(number)).collect()
    }

    /// Whether anything is asked for that only a serial recording has.
    pub fn wants_serial(&self) -> bool {
        self.seed.is_some()
            || self.policy.is_some()
            || self.threads.is_some()
            || self.preempt.is_some()
            || self.depth.is_some()
            || self.watchdog.is_some()
    }

    /// The options that are numbers, by their names in the runtime.
    fn numbers(&self) -> [(&'static str, Option<u64>); 5] {
        [
            ("seed", self.seed),
            ("depth", self.depth),
            ("watchdog", self.watchdog),
            ("max_size", self.max_size),
            ("keep_free", self.keep_free),
        ]
    }

    /// The same, as arguments of a command that has these options.
    pub fn arguments(&self) -> Vec<String> {
        let words = [
            ("policy", self.policy.map(named)),
            ("threads", self.threads.map(named)),
            ("preempt", self.preempt.map(named)),
        ];
        let numbers = self.numbers();
        let numbers = numbers.map(|(name, value)| (name, value.map(|value| value.to_string())));
        numbers
            .into_iter()
            .chain(words)
            .filter_map(|(name, value)| Some(format!("--{}={}", name.replace('_', "-"), value?)))
            .collect()
    }

    /// The runtime's options: ours, then those in the user's `DEADHEAT_OPTIONS`, then what was given on
    /// the command line; the last counts.
    pub fn options(&self, serial: bool) -> String {
        self.options_after(serial, &variable::for_runtime())
    }

    fn options_after(&self, serial: bool, inherited: &str) -> String {
        let mut list = vec!["mode=parallel".to_owned()];
        list.extend((!inherited.is_empty()).then(|| inherited.to_owned()));
        if serial || self.wants_serial() {
            list.push("mode=serial".into());
        }
        for (name, value) in self.numbers() {
            list.extend(value.map(|value| format!("{name}={value}")));
        }
        list.extend(self.policy.map(|word| format!("policy={}", named(word))));
        list.extend(self.threads.map(|word| format!("threads={}", named(word))));
        list.extend(self.preempt.map(|word| format!("preempt={}", named(word))));
        if list.len() > 1 && list[1].starts_with("mode=") {
            list.remove(0);
        }
        list.join(":")
    }
}

/// Whether this list of options asks for a serial recording.
pub fn is_serial(options: &str) -> bool {
    launch::option(options, "mode") == Some("serial")
}

/// The smallest size that a recording can be held to: less has no room for the buffers of a few threads.
const SMALLEST: u64 = 1_000_000;

/// How large a recording may become.
fn largest(text: &str) -> Result<u64, String> {
    match bytes(text)? {
        enough @ SMALLEST.. => Ok(enough),
        _ => Err("a recording needs 1M at least".to_owned()),
    }
}

/// A number of bytes, such as `500M`.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => 1,
        "K" | "KB" => 1000,
        "M" | "MB" => 1_000_000,
        "G" | "GB" => 1_000_000_000,
        "T" | "TB" => 1_000_000_000_000,
        "KIB" => 1 << 10,
        "MIB" => 1 << 20,
        "GIB" => 1 << 30,
        "TIB" => 1 << 40,
        _ => return Err(A_SIZE.to_owned()),
    };
    let number: u64 = digits.parse().map_err(|_| A_SIZE.to_owned())?;
    let bytes = number.checked_mul(unit);
    bytes.ok_or_else(|| "that is larger than any disk".to_owned())
}

const A_SIZE: &str = "a size such as 500M, 2G or 1GiB";

fn named(word: impl ValueEnum) -> String {
    word.to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_told_to_the_runtime() {
        let none = Schedule::default();
        assert_eq!(none.options_after(false, ""), "mode=parallel");
        assert_eq!(none.options_after(true, ""), "mode=serial");
        assert_eq!(
            none.options_after(true, "depth=2"),
            "mode=parallel:depth=2:mode=serial"
        );
        let some = Schedule {
            seed: Some(7),
            policy: Some(Policy::RoundRobin),
            ..Schedule::default()
        };
        assert_eq!(
            some.options_after(false, ""),
            "mode=serial:seed=7:policy=round-robin"
        );
        assert!(is_serial(&some.options_after(false, "mode=parallel")));
        assert!(is_serial(&none.options_after(false, "mode=serial")));
        assert!(!is_serial(&none.options_after(false, "help=1")));
    }

    #[test]
    fn limits_do_not_mean_serial_and_reach_everybody() {
        let limited = Schedule {
            max_size: Some(5_000_000),
            keep_free: Some(0),
            ..Schedule::default()
        };
        assert_eq!(
            limited.options_after(false, "max_size=1"),
            "mode=parallel:max_size=1:max_size=5000000:keep_free=0"
        );
        assert_eq!(
            limited.arguments(),
            ["--max-size=5000000", "--keep-free=0"],
            "for what cargo runs"
        );
    }

    #[test]
    fn sizes_are_numbers_with_units() {
        assert_eq!(bytes("0"), Ok(0));
        assert_eq!(bytes("512"), Ok(512));
        assert_eq!(
            (bytes("500M"), bytes("500mb")),
            (Ok(500_000_000), Ok(500_000_000))
        );
        assert_eq!(
            (bytes("2G"), bytes("2GiB")),
            (Ok(2_000_000_000), Ok(2 << 30))
        );
        for wrong in ["", "M", "1.5G", "-1", "5X", "5 M", "1e9", "5Ö"] {
            assert_eq!(bytes(wrong), Err(A_SIZE.to_owned()), "{wrong}");
        }
        assert!(bytes("18446744073709551615T").is_err());
        assert_eq!(largest("1M"), Ok(1_000_000));
        assert!(largest("999k").is_err());
    }
}
