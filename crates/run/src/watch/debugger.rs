//! What happens to the program where a race is found.
//!
//! The thread that made the second access waits in the runtime just before the access; the others
//! run on until the program is stopped as a whole, or the debugger stops them.

use std::process::Command;

use deadheat_session::terminal::{BOLD, say, styled};

use crate::orphans;

/// What to do when a race is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRace {
    /// Report it and go on.
    Continue,
    /// Stop the whole program, so that any debugger can be attached.
    Stop,
    /// Start gdb in the thread that made the second access.
    Gdb,
}

impl OnRace {
    /// Does it to process `pid`; `thread` is the kernel's number of the thread that waits, `function`
    /// where its access is.
    pub fn act(self, pid: u32, thread: Option<u32>, function: Option<&str>) {
        match self {
            OnRace::Continue => {}
            OnRace::Stop => stop(pid, thread),
            OnRace::Gdb => gdb(pid, thread, function),
        }
    }
}

fn stop(pid: u32, thread: Option<u32>) {
    // SAFETY: kill has no memory-safety requirement; the process was started by us, or by one
    // that was, and at worst is gone.
    let stopped = unsafe { libc::kill(pid as i32, libc::SIGSTOP) } == 0;
    if !stopped {
        return say(format_args!("process {pid} cannot be stopped: it is gone"));
    }
    let thread = thread.map_or_else(String::new, |thread| format!(", in thread {thread}"));
    say(format_args!(
        "{} before the second access{thread}",
        styled(BOLD, format_args!("process {pid} is stopped"))
    ));
    say(format_args!(
        "look at it with `gdb -p {pid}`; let it go on with `kill -CONT {pid}`"
    ));
}

fn gdb(pid: u32, thread: Option<u32>, function: Option<&str>) {
    let mut gdb = Command::new("gdb");
    gdb.args(["-q", "-ex", "set pagination off"]);
    gdb.arg("-p").arg(pid.to_string());
    if let Some(thread) = thread {
        gdb.arg("-ex").arg(format!(
            "python [t.switch() for t in gdb.selected_inferior().threads() if t.ptid[1] == {thread}]"
        ));
    }
    let plain = |name: &&str| {
        name.chars()
            .all(|char| char.is_alphanumeric() || char == '_')
    };
    if let Some(function) = function.filter(plain) {
        gdb.arg("-ex").arg(format!("frame function {function}"));
    }
    say(format_args!(
        "gdb is in the thread before its access; when you leave it, the program goes on"
    ));
    match orphans::run_beside(&mut gdb) {
        Ok(_) => {}
        Err(error) => {
            say(format_args!("gdb cannot be started: {error}"));
            stop(pid, thread);
        }
    }
}
