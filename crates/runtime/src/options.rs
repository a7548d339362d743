//! The runtime's options, from `DEADHEAT_TRACE` and `DEADHEAT_OPTIONS=name=value:name=value`.
//!
//! `deadheat_wire::options` gives each option its name, default and help text. The environment is read from
//! `/proc/self/environ`: the runtime starts before the C library's own `environ` is set.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use deadheat_wire::options::{self as described, Described};
use deadheat_wire::{explore, inputs, leave_out, plan, points, shared, watch};

use crate::{memory, message, sys};

/// An option and its value.
pub struct Opt {
    described: Described,
    value: AtomicU64,
    is_given: AtomicBool,
}

impl Opt {
    const fn new(described: Described) -> Self {
        Opt {
            described,
            value: AtomicU64::new(described.default),
            is_given: AtomicBool::new(false),
        }
    }

    /// Its value.
    pub fn get(&self) -> u64 {
        self.value.load(Ordering::Relaxed)
    }

    /// Its value if somebody has set it.
    pub fn given(&self) -> Option<u64> {
        self.is_given.load(Ordering::Relaxed).then(|| self.get())
    }

    fn set(&self, text: &[u8]) -> bool {
        let number = self.described.value(text);
        if let Some(number) = number {
            self.value.store(number, Ordering::Relaxed);
            self.is_given.store(true, Ordering::Relaxed);
        }
        number.is_some()
    }
}

macro_rules! options {
    ($($constant:ident),* $(,)?) => {
        $(
            #[doc = concat!("[`described::", stringify!($constant), "`].")]
            pub static $constant: Opt = Opt::new(described::$constant);
        )*
        static TABLE: [&Opt; described::ALL.len()] = [$(&$constant),*];
    };
}

options!(
    MODE,
    SEED,
    POLICY,
    THREADS,
    PREEMPT,
    DEPTH,
    LENGTH,
    WATCHDOG,
    CLOCK,
    EPOCH,
    RANDOM,
    MAX_SIZE,
    KEEP_FREE,
    DETECTOR,
    ON_RACE,
    TOOL,
    MEMORY,
    NO_HB,
    NO_OVERSIZED,
    NO_SUBSET,
    SILENT,
    WHOLE,
    UNTIL,
    AT_FULL,
    HELP,
);

/// [`MODE`]'s number for a serial recording.
pub const SERIAL: u64 = 1;
/// [`MODE`]'s number for watching.
pub const WATCH: u64 = 2;
/// [`DETECTOR`]'s number for the simple mode.
pub const SIMPLE: u64 = 1;
/// [`DETECTOR`]'s number for the detailed mode.
pub const DETAILED: u64 = 2;

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
        (&POINTS, points::POINTS),
        (&EXPLORE, explore::EXPLORE),
        (&SHARED, shared::SHARED),
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
/// Places at which others go first.
pub static POINTS: Named = Named::none();
/// Which memory threads share.
pub static SHARED: Named = Named::none();
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
        let known = TABLE
            .iter()
            .find(|option| option.described.name.as_bytes() == name);
        // A name that is not here is a command's: the commands know all names, and say so if there is none.
        if let Some(option) = known
            && !option.set(value)
        {
            message::say(format_args!(
                "DEADHEAT_OPTIONS: {} cannot be {:?}; help=1 lists what it can be",
                option.described.name,
                text(value)
            ));
        }
    }
}

fn help() {
    message::say(format_args!("DEADHEAT_OPTIONS=name=value:name=value"));
    for option in TABLE {
        let Described {
            name, words, help, ..
        } = option.described;
        match words {
            [] => message::say(format_args!("  {name}={}  {help}", option.get())),
            words => message::say(format_args!(
                "  {name}={}  {help} {words:?}",
                words.get(option.get() as usize).unwrap_or(&""),
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
        assert_eq!((SEED.given(), DEPTH.given()), (Some(42), None));
    }
}
