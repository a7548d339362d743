//! What came of a schedule, as text in a file of its own: see [`deadheat_wire::plan`].

use core::fmt::{self, Write};

use deadheat_wire::plan::{VERDICT_MAGIC, VERSION};

use super::super::explore::outside;
use super::plan::{Plan, ended};
use super::{Deed, Replay};
use crate::sys;

/// Room for a verdict.
const ROOM: usize = 4096;

struct Text {
    bytes: [u8; ROOM],
    len: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = ROOM - self.len;
        let taken = text.len().min(room);
        self.bytes[self.len..self.len + taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.len += taken;
        Ok(())
    }
}

/// How it went.
pub enum Verdict {
    /// All goals stand.
    Reached,
    /// A thread was about to do something else than the schedule says.
    Diverged(u32, u64, Deed),
    /// A thread that should go on cannot: it waits for this.
    Blocked(u32, u64, usize),
    /// The program ended before.
    Ended(u32, u64),
    /// A thread that should wait for ever got this lock.
    Got(u32, usize),
    /// A thread took no step for too long.
    Passed(u32, u64),
}

/// Writes it.
pub fn write(plan: &Plan, replay: &Replay, verdict: &Verdict) {
    let mut text = Text {
        bytes: [0; ROOM],
        len: 0,
    };
    let _ = writeln!(text, "{VERDICT_MAGIC} {VERSION} {}", sys::getpid());
    let _ = tell(&mut text, plan, replay, verdict);
    let flags = libc::O_CREAT | libc::O_EXCL | libc::O_WRONLY | libc::O_CLOEXEC;
    let (folder, path) = (libc::AT_FDCWD as usize, ended(&plan.verdict).as_ptr());
    // A copy is kept from opening files, but for the runtime's own.
    let call = [
        folder,
        path as usize,
        flags as usize,
        0o600,
        0,
        outside::PASS,
    ];
    let file = sys::call(libc::SYS_openat, call);
    if file >= 0 {
        sys::write(file as i32, &text.bytes[..text.len]);
        sys::close(file as i32);
    }
}

fn tell(text: &mut Text, plan: &Plan, replay: &Replay, verdict: &Verdict) -> fmt::Result {
    match verdict {
        Verdict::Reached => {
            writeln!(text, "reached")?;
            for (number, goal) in plan.goals.iter().enumerate() {
                let thread = plan.threads[goal.thread as usize].id;
                let deed = replay.stands_before(goal.thread as usize);
                writeln!(text, " at {number} {thread} {}", deed.unwrap_or_default())?;
            }
            Ok(())
        }
        Verdict::Diverged(thread, number, deed) => {
            writeln!(text, "diverged {thread} {number}\n came {deed}")
        }
        Verdict::Blocked(thread, number, object) => {
            writeln!(text, "blocked {thread} {number} {object:x}")
        }
        Verdict::Ended(thread, number) => writeln!(text, "ended {thread} {number}"),
        Verdict::Got(thread, object) => writeln!(text, "got {thread} {object:x}"),
        Verdict::Passed(thread, number) => writeln!(text, "passed {thread} {number}"),
    }
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Deed {
            op, addr, size, pc, ..
        } = self;
        write!(f, "{op} {addr:x} {size} {pc:x}")
    }
}
