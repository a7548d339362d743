//! What came of a plan, as text in a file of its own: see [`deadheat_wire::plan`].

use core::fmt::{self, Write};

use deadheat_wire::plan::{VERDICT_MAGIC, VERSION};

use super::order::{Deed, Plan};
use crate::serial::replay::plan::ended;
use crate::sys;

/// Room for a verdict; what does not fit is cut.
const ROOM: usize = 8192;

struct Text {
    bytes: [u8; ROOM],
    len: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let taken = text.len().min(ROOM - self.len);
        self.bytes[self.len..self.len + taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.len += taken;
        Ok(())
    }
}

/// How it went. Threads are those of the plan, with how many of their events had happened.
pub enum Verdict<'a> {
    /// All happened in the plan's order, and the goals stand: who is about to do what.
    Reached(&'a [(u32, Deed)]),
    /// A thread was about to do something else than the plan says.
    Diverged(u32, u64, Deed),
    /// A thread that should go on cannot, as this is taken.
    Blocked(u32, u64, usize),
    /// The program ended before.
    Ended(u32, u64),
    /// A thread that should wait for ever could have this lock.
    Got(u32, usize),
    /// A thread took no step for too long.
    Passed(u32, u64),
}

/// Writes it.
pub fn write(plan: &Plan, verdict: &Verdict) {
    let mut text = Text {
        bytes: [0; ROOM],
        len: 0,
    };
    // Writing to it does not fail.
    let _ = writeln!(text, "{VERDICT_MAGIC} {VERSION} {}", sys::getpid());
    let _ = tell(&mut text, verdict);
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_CLOEXEC;
    let file = sys::open(ended(&plan.verdict), flags, 0o600);
    if file >= 0 {
        sys::write(file as i32, &text.bytes[..text.len]);
        sys::close(file as i32);
    }
}

fn tell(text: &mut Text, verdict: &Verdict) -> fmt::Result {
    match verdict {
        Verdict::Reached(goals) => {
            writeln!(text, "reached")?;
            for (number, (thread, deed)) in goals.iter().enumerate() {
                writeln!(text, " at {number} {thread} {deed}")?;
            }
            Ok(())
        }
        Verdict::Diverged(thread, done, deed) => {
            writeln!(text, "diverged {thread} {done}\n came {deed}")
        }
        Verdict::Blocked(thread, done, object) => {
            writeln!(text, "blocked {thread} {done} {object:x}")
        }
        Verdict::Ended(thread, done) => writeln!(text, "ended {thread} {done}"),
        Verdict::Got(thread, object) => writeln!(text, "got {thread} {object:x}"),
        Verdict::Passed(thread, done) => writeln!(text, "passed {thread} {done}"),
    }
}
