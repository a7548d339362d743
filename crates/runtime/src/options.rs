//! The runtime's options, from `DEADHEAT_TRACE` and `DEADHEAT_OPTIONS=name=value:name=value`.
//!
//! One table gives each option its name, default and help text. The environment is read from
//! `/proc/self/environ`: the runtime starts before the C library's own `environ` is set.

use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use deadheat_wire::{explore, inputs, leave_out, plan, watch};

use crate::{memory, message, sys};

/// An option: a number, or one of several words (then the number is the word's index).
pub struct Opt {
    name: &'static str,
    words: &'static [&'static str],
    help: &'static str,
    value: AtomicU64,
}

impl Opt {
    const fn new(
        name: &'static str,
        words: &'static [&'static str],
        default: u64,
        help: &'static str,
    ) -> Self {
        Opt {
            name,
            words,
            help,
            value: AtomicU64::new(default),
        }
    }

    /// Its value.
    pub fn get(&self) -> u64 {
        self.value.load(Ordering::Relaxed)
    }

    fn set(&self, text: &[u8]) -> bool {
        let number = match self.words.iter().position(|word| word.as_bytes() == text) {
            Some(index) => Some(index as u64),
            None if self.words.is_empty() => parse_number(text),
            None => None,
        };
        if let Some(number) = number {
            self.value.store(number, Ordering::Relaxed);
        }
        number.is_some()
    }
}

macro_rules! options {
    ($($constant:ident = $name:literal, $words:expr, $default:expr, $help:literal;)*) => {
        $(#[doc = $help] pub static $constant: Opt = Opt::new($name, &$words, $default, $help);)*
        static TABLE: [&Opt; [$($name),*].len()] = [$(&$constant),*];
    };
}

options! {
    MODE = "mode", ["parallel", "serial", "watch"], 0,
        "parallel: threads run free; serial: one at a time, in an exact order, with values; watch: \
         nothing is recorded, races are told as they happen";
    SEED = "seed", [], 0, "the seed of a serial recording's schedule";
    POLICY = "policy", ["random", "pct", "round-robin", "run-to-block"], 0,
        "who runs next in a serial recording";
    THREADS = "threads", ["green", "real"], 0,
        "serial: contexts on one kernel thread, or kernel threads that pass a token";
    PREEMPT = "preempt", ["sync", "access"], 1,
        "serial: where the scheduler may switch: at synchronisation only, or at accesses too";
    DEPTH = "depth", [], 3, "policy pct: how many priority changes, plus one";
    LENGTH = "length", [], 10_000, "policy pct: about how many steps the program takes";
    WATCHDOG = "watchdog", [], 5,
        "serial: seconds without a step after which another thread gets the turn; 0: never";
    CLOCK = "clock", ["virtual", "real"], 0,
        "serial: whether the program sees a time that is the same in every run, or the real one";
    EPOCH = "epoch", [], 1_800_000_000, "serial: the date at the program's start, in seconds since 1970";
    RANDOM = "random", ["seeded", "real"], 0,
        "serial: whether the system's random numbers follow from the seed, or are the real ones";
    DETECTOR = "detector", ["hb", "simple", "detailed"], 0, "watch: what races are found by";
    ON_RACE = "on_race", ["continue", "wait"], 0,
        "watch: whether the thread that finds a race goes on, or waits for the tool";
    TOOL = "tool", [], 0, "the process that answers those who wait (watching, or at a schedule's goal)";
    MEMORY = "memory", [], 4096,
        "watch: megabytes of the process above which old accesses are forgotten; 0: never";
    NO_HB = "no_hb", ["0", "1"], 0, "detailed: locks alone decide";
    NO_OVERSIZED = "no_oversized", ["0", "1"], 0, "detailed: without the oversized-lockset rule";
    NO_SUBSET = "no_subset", ["0", "1"], 0, "detailed: without the lockset-subset rule";
    HELP = "help", ["0", "1"], 0, "1: lists the options";
}

/// [`MODE`]'s number for a serial recording.
pub const SERIAL: u64 = 1;
/// [`MODE`]'s number for watching.
pub const WATCH: u64 = 2;
/// [`DETECTOR`]'s number for the simple mode.
pub const SIMPLE: u64 = 1;
/// [`DETECTOR`]'s number for the detailed mode.
pub const DETAILED: u64 = 2;

fn parse_number(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |sum, digit| match digit {
        b'0'..=b'9' => sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')),
        _ => None,
    })
}

/// The longest path of a trace.
pub const MAX_PATH: usize = 4096;

/// Reads the options; the path of the trace to write (without a closing zero) if there is one. When
/// watching: of the report.
pub fn read() -> Option<&'static [u8]> {
    let environment = environment();
    let variables = || environment.split(|byte| *byte == 0);
    for variable in variables() {
        if let Some(list) = variable.strip_prefix(b"DEADHEAT_OPTIONS=") {
            apply(list);
        }
    }
    if HELP.get() == 1 {
        help();
    }
    let files = [
        (&SELECT, watch::SELECT),
        (&PLAN, plan::PLAN),
        (&INPUTS, inputs::INPUTS),
        (&LEAVE_OUT, leave_out::LEAVE_OUT),
        (&EXPLORE, explore::EXPLORE),
    ];
    for (file, name) in files {
        if let Some(path) = variables().find_map(|variable| value(variable, name)) {
            file.set(path);
        }
    }
    let name = if MODE.get() == WATCH {
        watch::REPORT
    } else {
        "DEADHEAT_TRACE"
    };
    variables()
        .find_map(|variable| value(variable, name))
        .filter(|path| !path.is_empty() && path.len() < MAX_PATH - 16)
}

/// The value of a variable, if it has this name.
fn value<'a>(variable: &'a [u8], name: &str) -> Option<&'a [u8]> {
    variable.strip_prefix(name.as_bytes())?.strip_prefix(b"=")
}

/// A file that a variable names.
pub struct Named {
    start: AtomicPtr<u8>,
    len: AtomicUsize,
}

/// The file of selected places.
pub static SELECT: Named = Named::none();
/// The schedule to enforce.
pub static PLAN: Named = Named::none();
/// What threads got from the system in an earlier run.
pub static INPUTS: Named = Named::none();
/// Accesses that are not recorded.
pub static LEAVE_OUT: Named = Named::none();
/// The board of a search.
pub static EXPLORE: Named = Named::none();

impl Named {
    const fn none() -> Self {
        Named {
            start: AtomicPtr::new(core::ptr::null_mut()),
            len: AtomicUsize::new(0),
        }
    }

    /// `path` is a variable's value in the environment's copy.
    fn set(&self, path: &'static [u8]) {
        self.len.store(path.len(), Ordering::Relaxed);
        self.start
            .store(path.as_ptr().cast_mut(), Ordering::Relaxed);
    }

    /// Its path, with a closing zero.
    pub fn path(&self) -> Option<&'static [u8]> {
        let start = self.start.load(Ordering::Relaxed);
        let len = self.len.load(Ordering::Relaxed);
        // SAFETY: a variable in the environment's copy, which stays; a zero byte follows it there.
        (len > 0).then(|| unsafe { core::slice::from_raw_parts(start, len + 1) })
    }
}

fn apply(list: &[u8]) {
    for item in list
        .split(|byte| *byte == b':')
        .filter(|item| !item.is_empty())
    {
        let mut parts = item.splitn(2, |byte| *byte == b'=');
        let name = parts.next().unwrap_or(&[]);
        let value = parts.next().unwrap_or(b"1");
        let text = |bytes| core::str::from_utf8(bytes).unwrap_or("(not text)");
        match TABLE.iter().find(|option| option.name.as_bytes() == name) {
            None => message::say(format_args!(
                "DEADHEAT_OPTIONS: no option {:?}; help=1 lists them",
                text(name)
            )),
            Some(option) if !option.set(value) => message::say(format_args!(
                "DEADHEAT_OPTIONS: {} cannot be {:?}; help=1 lists what it can be",
                option.name,
                text(value)
            )),
            Some(_) => {}
        }
    }
}

fn help() {
    message::say(format_args!("DEADHEAT_OPTIONS=name=value:name=value"));
    for option in TABLE {
        match option.words {
            [] => message::say(format_args!(
                "  {}={}  {}",
                option.name,
                option.get(),
                option.help
            )),
            words => message::say(format_args!(
                "  {}={}  {} {:?}",
                option.name,
                words.get(option.get() as usize).unwrap_or(&""),
                option.help,
                words
            )),
        }
    }
}

/// The environment that the process was started with, in memory that stays.
fn environment() -> &'static [u8] {
    const MOST: usize = 4 << 20; // the kernel's own limit on 4 KiB pages is about 6 MB
    let memory: *mut u8 = memory::pages(MOST);
    let file = sys::open(b"/proc/self/environ\0", libc::O_RDONLY | libc::O_CLOEXEC, 0);
    if memory.is_null() || file < 0 {
        return &[];
    }
    // SAFETY: MOST bytes were just mapped, and nobody else knows of them.
    let bytes = unsafe { core::slice::from_raw_parts_mut(memory, MOST) };
    let mut len = 0;
    while len < MOST {
        let got = sys::read(file as i32, &mut bytes[len..]);
        if got <= 0 {
            break;
        }
        len += got as usize;
    }
    sys::close(file as i32);
    &bytes[..len]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_applied_and_nonsense_is_not() {
        apply(b"seed=42:policy=pct:mode=nonsense:depth=x:unknown=1:");
        assert_eq!(
            (SEED.get(), POLICY.get(), MODE.get(), DEPTH.get()),
            (42, 1, 0, 3)
        );
    }

    #[test]
    fn numbers_end_at_overflow() {
        assert_eq!(parse_number(b"18446744073709551615"), Some(u64::MAX));
        assert_eq!(parse_number(b"18446744073709551616"), None);
        assert_eq!(parse_number(b""), None);
        assert_eq!(parse_number(b"1a"), None);
    }
}
