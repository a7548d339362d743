//! The runtime's options: one table, for the runtime, which obeys them, and for the commands, which
//! explain them and hand them on in `DEADHEAT_OPTIONS=name=value:name=value`.

/// An option: a number, or one of several words (then its value is the word's index).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Described {
    /// Its name in the variable.
    pub name: &'static str,
    /// What it can be; a number if there are no words.
    pub words: &'static [&'static str],
    /// Its value if nobody says anything.
    pub default: u64,
    /// What it does.
    pub help: &'static str,
}

macro_rules! options {
    ($($constant:ident = $name:literal, $words:expr, $default:expr, $help:literal;)*) => {
        $(
            #[doc = $help]
            pub const $constant: Described =
                Described { name: $name, words: &$words, default: $default, help: $help };
        )*
        /// All of them.
        pub const ALL: [Described; [$($name),*].len()] = [$($constant),*];
    };
}

options! {
    MODE = "mode", ["parallel", "serial", "watch"], 0,
        "parallel: threads run free; serial: one at a time, in an exact order, with values; watch: \
         nothing is recorded, races are told as they happen";
    SEED = "seed", [], 0, "the seed of a serial recording's schedule";
    POLICY = "policy", ["random", "pct", "round-robin", "run-to-block", "points"], 0,
        "who runs next in a serial recording";
    THREADS = "threads", ["green", "real"], 0,
        "serial: contexts on one kernel thread, or kernel threads that pass a token";
    PREEMPT = "preempt", ["sync", "access"], 1,
        "serial: where the scheduler may switch: at synchronisation only, or at accesses too";
    DEPTH = "depth", [], 3,
        "policy pct: how many priority changes, plus one; points: so often a coin has to show heads \
         for a thread that reaches a point to let others go first";
    LENGTH = "length", [], 10_000, "policy pct: about how many steps the program takes";
    WATCHDOG = "watchdog", [], 5,
        "serial: seconds without a step after which another thread gets the turn; 0: never";
    CLOCK = "clock", ["virtual", "real"], 0,
        "serial: whether the program sees a time that is the same in every run, or the real one";
    EPOCH = "epoch", [], 1_800_000_000, "serial: the date at the program's start, in seconds since 1970";
    RANDOM = "random", ["seeded", "real"], 0,
        "serial: whether the system's random numbers follow from the seed, or are the real ones";
    MAX_SIZE = "max_size", [], 2 << 30,
        "bytes that a recording may take on the disk, with its buffers; 0: as many as there are";
    KEEP_FREE = "keep_free", [], 1 << 30,
        "bytes of the disk that a recording leaves free; if not set, no more than a twentieth of the disk";
    DETECTOR = "detector", ["hb", "simple", "detailed"], 0, "watch: what races are found by";
    ON_RACE = "on_race", ["continue", "wait"], 0,
        "watch: whether the thread that finds a race goes on, or waits for the tool";
    TOOL = "tool", [], 0, "the process that answers those who wait (watching, or at a schedule's goal)";
    MEMORY = "memory", [], 4096,
        "watch: megabytes of the process above which old accesses are forgotten; 0: never";
    NO_HB = "no_hb", ["0", "1"], 0, "detailed: locks alone decide";
    NO_OVERSIZED = "no_oversized", ["0", "1"], 0, "detailed: without the oversized-lockset rule";
    NO_SUBSET = "no_subset", ["0", "1"], 0, "detailed: without the lockset-subset rule";
    SILENT = "silent", ["0", "1"], 0,
        "serial: no event is written, only how the run ended (for runs whose schedule is known)";
    WHOLE = "whole", [], 0,
        "serial: with DEADHEAT_SHARED, so many events are recorded whole; 0: all of them";
    UNTIL = "until", [], 0,
        "serial: with DEADHEAT_SHARED, after so many events the program is killed; 0: never";
    AT_FULL = "at_full", ["go-on", "end"], 0,
        "serial: whether the program goes on or is killed when no more can be recorded";
    HELP = "help", ["0", "1"], 0, "1: lists the options";
}

impl Described {
    /// The number that this text stands for, if the option can be that.
    pub fn value(&self, text: &[u8]) -> Option<u64> {
        match self.words {
            [] => number(text),
            words => {
                let index = words.iter().position(|word| word.as_bytes() == text)?;
                Some(index as u64)
            }
        }
    }
}

/// How much of a disk of this size a recording leaves free, if [`KEEP_FREE`] was set to this.
pub fn left_free(keep_free: Option<u64>, disk: u64) -> u64 {
    keep_free.unwrap_or(KEEP_FREE.default.min(disk / 20))
}

/// The option of this name.
pub fn named(name: &str) -> Option<Described> {
    ALL.into_iter().find(|option| option.name == name)
}

fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |sum, digit| match digit {
        b'0'..=b'9' => sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbers_or_words() {
        assert_eq!(SEED.value(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(SEED.value(b"18446744073709551616"), None);
        assert_eq!((SEED.value(b""), SEED.value(b"1a")), (None, None));
        assert_eq!((POLICY.value(b"pct"), POLICY.value(b"1")), (Some(1), None));
        assert_eq!(named("policy"), Some(POLICY));
        assert_eq!(named("polcy"), None);
    }

    #[test]
    fn small_disks_are_not_left_alone() {
        assert_eq!(left_free(None, 1 << 40), 1 << 30);
        assert_eq!(left_free(None, 1000), 50);
        assert_eq!(left_free(Some(900), 1000), 900);
        assert_eq!(left_free(Some(0), 1 << 40), 0);
    }

    #[test]
    fn defaults_are_among_the_words() {
        for option in ALL {
            let words = option.words.len() as u64;
            assert!(words == 0 || option.default < words, "{}", option.name);
        }
    }
}
