//! What the runtime says about a schedule that it was to enforce. The text is described in [`deadheat_wire::plan`].

use deadheat_trace::{Op, ThreadId};
use deadheat_wire::plan::{VERDICT_MAGIC, VERSION};

/// Something that a thread did or was about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deed {
    /// What.
    pub op: Op,
    /// To what.
    pub address: u64,
    /// How many bytes.
    pub size: u64,
    /// Where in the program, as an address in its memory.
    pub place: u64,
}

/// How it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All goals stand: what each thread is about to do.
    Reached(Vec<(ThreadId, Deed)>),
    /// A thread did something else than the schedule says.
    Diverged {
        /// Who.
        thread: ThreadId,
        /// After how many of its events.
        done: u64,
        /// What it was about to do.
        came: Deed,
    },
    /// The schedule wants a thread to go on that cannot.
    Blocked {
        /// Who.
        thread: ThreadId,
        /// After how many of its events.
        done: u64,
        /// What it waits for; 0: it does not exist.
        object: u64,
    },
    /// The program ended first.
    Ended {
        /// The thread that should have gone on.
        thread: ThreadId,
        /// After how many of its events.
        done: u64,
    },
    /// A thread that should have waited for ever got its lock.
    Got {
        /// Who.
        thread: ThreadId,
        /// The lock.
        object: u64,
    },
    /// A thread took no step for too long.
    Passed {
        /// Who.
        thread: ThreadId,
        /// After how many of its events.
        done: u64,
    },
}

/// A verdict that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the verdict cannot be understood: {0:?}")]
pub struct VerdictError(String);

impl Verdict {
    /// Whether the goals were reached.
    pub fn is_reached(&self) -> bool {
        matches!(self, Verdict::Reached(_))
    }

    /// Reads the text of a verdict.
    ///
    /// ```
    /// use deadheat_explore::Verdict;
    /// let text = "deadheat-verdict 3 4711\nreached\n at 0 1 2 7f00 4 401000\n at 1 2 1 7f00 4 401020\n";
    /// assert!(Verdict::parse(text)?.is_reached());
    /// # Ok::<(), deadheat_explore::VerdictError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, VerdictError> {
        parse(text).ok_or_else(|| VerdictError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<Verdict> {
    let mut lines = text.lines();
    let mut head = lines.next()?.split(' ');
    (head.next() == Some(VERDICT_MAGIC)).then_some(())?;
    (head.next()?.parse() == Ok(VERSION)).then_some(())?;
    let words: Vec<&str> = lines.next()?.split(' ').collect();
    let number = |at: usize| words.get(at)?.parse::<u64>().ok();
    let thread = || Some(ThreadId(u32::try_from(number(1)?).ok()?));
    let hex = |at: usize| u64::from_str_radix(words.get(at)?, 16).ok();
    Some(match words[0] {
        "reached" => {
            let mut goals = Vec::new();
            for line in lines {
                let words: Vec<&str> = line.strip_prefix(" at ")?.split(' ').collect();
                let thread = ThreadId(words.get(1)?.parse().ok()?);
                goals.push((thread, deed(words.get(2..)?)?));
            }
            Verdict::Reached(goals)
        }
        "diverged" => {
            let came: Vec<&str> = lines.next()?.strip_prefix(" came ")?.split(' ').collect();
            Verdict::Diverged {
                thread: thread()?,
                done: number(2)?,
                came: deed(&came)?,
            }
        }
        "blocked" => Verdict::Blocked {
            thread: thread()?,
            done: number(2)?,
            object: hex(3)?,
        },
        "ended" => Verdict::Ended {
            thread: thread()?,
            done: number(2)?,
        },
        "got" => Verdict::Got {
            thread: thread()?,
            object: hex(2)?,
        },
        "passed" => Verdict::Passed {
            thread: thread()?,
            done: number(2)?,
        },
        _ => return None,
    })
}

fn deed(words: &[&str]) -> Option<Deed> {
    let [op, address, size, place] = words else {
        return None;
    };
    Some(Deed {
        op: Op::from_number(op.parse().ok()?)?,
        address: u64::from_str_radix(address, 16).ok()?,
        size: size.parse().ok()?,
        place: u64::from_str_radix(place, 16).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_read_and_nonsense_is_not() {
        let with = |rest: &str| Verdict::parse(&format!("deadheat-verdict 3 7\n{rest}\n"));
        let thread = ThreadId(3);
        assert_eq!(with("ended 3 17"), Ok(Verdict::Ended { thread, done: 17 }));
        let object = 0xff;
        assert_eq!(
            with("blocked 3 17 ff"),
            Ok(Verdict::Blocked {
                thread,
                done: 17,
                object
            })
        );
        let came = Deed {
            op: Op::Write,
            address: 0x10,
            size: 4,
            place: 0x20,
        };
        assert_eq!(
            with("diverged 3 1\n came 2 10 4 20"),
            Ok(Verdict::Diverged {
                thread,
                done: 1,
                came
            })
        );
        for nonsense in [
            "",
            "reached\n at 0",
            "diverged 3 1",
            "blocked 3 17 g",
            "won 1 2",
        ] {
            assert!(with(nonsense).is_err(), "{nonsense}");
        }
        assert!(Verdict::parse("deadheat-verdict 1 7\nended 3 17\n").is_err());
    }
}
