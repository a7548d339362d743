//! What a run leaves behind: processes that its program started, and that outlive it.
//!
//! This process becomes the subreaper of everything below it, so whoever loses its parent becomes its
//! child, whatever group or session it is in; nothing that a program does escapes that. Once the
//! program has ended, a child that nobody here started, and that was not there before, is such an orphan.
//! It is killed and waited for; its own children are the next orphans, until there are none.
//!
//! * A run of ours (a search, a replay) leaves nothing: all are ended at once.
//! * In the user's run (`record`, `watch`, the run that `check` records) a process with a session of
//!   its own is a daemon, and stays. Others have `PATIENCE` to end by themselves, as a child whose
//!   parent did not wait for it would.
//! * A run that is asked to end when its time is up is over only then: whatever the program has left until
//!   then, daemons too, is asked to end as well, and has `PATIENCE` for it.
//!
//! An orphan sees this process as its parent, not process 1, as under any other subreaper (`systemd --user`).
//! Rejected: a process group of the program's own (it could not read from the terminal, and one `setsid`
//! leaves it),
//! `PR_SET_PDEATHSIG` (the child of a child never hears of it), control groups (not every user may make one).

use std::io;
use std::process::{Command, ExitStatus};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How long those may stay that a run of the user's has left.
const PATIENCE: Duration = Duration::from_secs(2);

/// What was started here and lives: no orphans.
static STARTED: Mutex<Vec<i32>> = Mutex::new(Vec::new());

fn started() -> std::sync::MutexGuard<'static, Vec<i32>> {
    STARTED
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Children of this process that were there before a run: somebody else's.
pub struct Before(Vec<i32>);

/// What becomes of what a run has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// It is ended at once.
    Ended,
    /// It may end by itself, and daemons stay.
    Awaited,
    /// All of it is asked to end.
    Asked,
}

impl Before {
    /// From now on orphans are ours.
    pub fn now() -> Self {
        // SAFETY: no pointers. Where it is refused, orphans are not found, and nothing else changes.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
        Before(children())
    }

    /// This process was started here; forgotten once it was waited for.
    pub fn started(&self, process: u32) {
        started().push(process as i32);
    }

    /// What a program has left so far, and lives.
    pub fn left(&self) -> Vec<i32> {
        let ours = started().clone();
        let is_left = |child: &i32| !self.0.contains(child) && !ours.contains(child);
        let left = children().into_iter().filter(is_left);
        left.filter(|process| !has_ended(*process)).collect()
    }

    /// The program has ended and was waited for: ends what it has left; how many lived for too long.
    pub fn end_others(&self, program: u32, manner: Manner) -> usize {
        started().retain(|known| *known != program as i32);
        let since = Instant::now();
        let (mut asked, mut killed) = (Vec::new(), Vec::new());
        let is_at_once = manner == Manner::Ended;
        loop {
            let mut lives = false;
            for process in self.left() {
                if manner == Manner::Awaited && is_daemon(process) {
                    continue;
                }
                lives = true;
                if manner == Manner::Asked && !asked.contains(&process) {
                    // SAFETY: no memory is involved; a child that was not waited for, so the number is its.
                    unsafe { libc::kill(process, libc::SIGTERM) };
                    asked.push(process);
                }
                if is_at_once || since.elapsed() > PATIENCE {
                    // SAFETY: no memory is involved; a child that was not waited for, so the number is its.
                    unsafe { libc::kill(process, libc::SIGKILL) };
                    if !killed.contains(&process) {
                        killed.push(process);
                    }
                }
            }
            // One that the system does not let go must not keep us.
            if !lives || since.elapsed() > 2 * PATIENCE {
                return killed.len();
            }
            std::thread::sleep(Duration::from_micros(if is_at_once { 200 } else { 20_000 }));
        }
    }
}

/// Runs a command of the user's while a program may be running: it is no orphan.
pub fn run_beside(command: &mut Command) -> io::Result<ExitStatus> {
    let mut all = started();
    let mut child = command.spawn()?;
    all.push(child.id() as i32);
    drop(all);
    let ended = child.wait();
    started().retain(|known| *known != child.id() as i32);
    ended
}

/// Waits for a child if it has ended; whether it had.
fn has_ended(process: i32) -> bool {
    // SAFETY: no status is asked for. It is a child that nobody else waits for.
    unsafe { libc::waitpid(process, std::ptr::null_mut(), libc::WNOHANG | libc::__WALL) != 0 }
}

/// Whether a process has made a session of its own.
fn is_daemon(process: i32) -> bool {
    // SAFETY: no pointers.
    let [theirs, ours] = [process, 0].map(|process| unsafe { libc::getsid(process) });
    theirs > 0 && theirs != ours
}

/// The children of this process, ended ones as well.
fn children() -> Vec<i32> {
    // SAFETY: an all-zero `siginfo_t` is a valid one, and lives through the call, which takes nothing away.
    let has_none = unsafe {
        let mut info: libc::siginfo_t = std::mem::zeroed();
        let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
        libc::waitid(libc::P_ALL, 0, &mut info, options) != 0
    };
    if has_none {
        return Vec::new(); // As nearly always: no need to look at all processes.
    }
    let own = std::process::id() as i32;
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter(|process| parent_of(*process) == Some(own))
        .collect()
}

/// The parent of a process, the second word behind its name, which is in brackets and may be anything.
fn parent_of(process: i32) -> Option<i32> {
    let text = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let (_, behind) = text.rsplit_once(") ")?;
    behind.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts a shell that leaves what it is told to start, and waits for the shell only.
    fn left_by(script: &str, manner: Manner) -> (Duration, usize) {
        let before = Before::now();
        let mut shell = Command::new("sh").args(["-c", script]).spawn().unwrap();
        before.started(shell.id());
        shell.wait().unwrap();
        let since = Instant::now();
        let killed = before.end_others(shell.id(), manner);
        (since.elapsed(), killed)
    }

    fn runs(argument: &str) -> bool {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        entries
            .map(|entry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default())
            .any(|line| line == format!("sleep\0{argument}\0").as_bytes())
    }

    // One test: what one of several leaves is an orphan to all.
    #[test]
    fn what_is_left_is_ended_and_daemons_of_the_user_stay() {
        let (took, killed) = left_by(
            "sleep 1001 & (sleep 1002 & setsid sleep 1003 &) &",
            Manner::Ended,
        );
        assert!(took < PATIENCE, "{took:?}");
        assert!(killed >= 1, "{killed}"); // one may be ended before it has started the next
        assert!(!["1001", "1002", "1003"].into_iter().any(runs));

        let (took, killed) = left_by("sleep 0.2 &", Manner::Awaited);
        assert!(took < PATIENCE && killed == 0, "{took:?}, {killed}");

        let (_, killed) = left_by(
            "setsid sleep 7.25 >/dev/null 2>&1 & sleep 1004 & sleep 0.3",
            Manner::Awaited,
        );
        assert_eq!((killed, runs("1004"), runs("7.25")), (1, false, true));

        let stubborn = "setsid sh -c 'trap : TERM; sleep 1006; sleep 1006' >/dev/null 2>&1 &";
        let script = format!("setsid sleep 1005 >/dev/null 2>&1 & {stubborn} sleep 0.3");
        let (_, killed) = left_by(&script, Manner::Asked);
        // The shell that minds, and what it sleeps by; the other one has ended when it was asked.
        assert!((1..=2).contains(&killed), "{killed}");
        assert!(!runs("1005") && !runs("1006"));

        let before = Before::now();
        assert!(!before.0.is_empty(), "the daemon");
        assert_eq!(before.end_others(0, Manner::Ended), 0);
        assert!(runs("7.25"), "it was there before");
    }
}
