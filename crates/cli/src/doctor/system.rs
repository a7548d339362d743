//! The kernel's settings, limits, and the debugger.

use std::process::{Command, Stdio};

use deadheat_run::launch;

use super::Check;
use super::compilers::is_on_path;

/// Descriptors that a program with its recording and a few hundred threads' files needs.
const FEW_FILES: u64 = 256;

/// Looks at all of it.
pub fn checks() -> Vec<Check> {
    vec![
        addresses(),
        debugger(),
        overcommit(),
        address_space(),
        open_files(),
        stack(),
    ]
}

/// Replays are exact only if addresses are the same in every run.
fn addresses() -> Check {
    const NAME: &str = "steady addresses";
    if launch::can_be_steady() {
        return Check::ok(
            NAME,
            "programs can be run with the same addresses each time",
        );
    }
    let check = Check::degraded(
        NAME,
        "the system does not let programs be run without address randomisation: replays may diverge",
    );
    match container() {
        Some(name) => check.help(format!(
            "this is a container ({name}); start it with: --security-opt seccomp=unconfined"
        )),
        None => check.help("allow personality(2), or: sysctl kernel.randomize_va_space=0"),
    }
}

/// Attaches gdb to a process, as `--gdb` and `--on-race gdb` do.
fn debugger() -> Check {
    const NAME: &str = "gdb";
    if !is_on_path("gdb") {
        return Check::missing(
            NAME,
            "not found; only `replay --gdb` and `watch --on-race gdb` need it",
        )
        .help("on Debian: apt-get install gdb");
    }
    match attaches() {
        Ok(true) => Check::ok(NAME, "attaches to programs"),
        Ok(false) => {
            let scope = read_number("/proc/sys/kernel/yama/ptrace_scope").unwrap_or(0);
            let check = Check::degraded(
                NAME,
                format!("may not attach to programs (kernel.yama.ptrace_scope is {scope})"),
            );
            match (container(), scope) {
                (Some(name), 0) => check.help(format!(
                    "this is a container ({name}); start it with: --cap-add SYS_PTRACE"
                )),
                _ => check.help("as root: sysctl kernel.yama.ptrace_scope=0"),
            }
        }
        Err(error) => Check::degraded(NAME, format!("cannot be tried: {error}")),
    }
}

fn attaches() -> std::io::Result<bool> {
    // A process that waits for its input, which ends with us.
    let mut waiting = Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    let output = Command::new("gdb")
        .args(["-q", "-nx", "-batch", "-p"])
        .arg(waiting.id().to_string())
        .args(["-ex", "info inferiors"])
        .stdin(Stdio::null())
        .env("DEBUGINFOD_URLS", "")
        .output();
    let process = format!("process {}", waiting.id());
    drop(waiting.stdin.take());
    waiting.wait()?;
    let said = output?.stdout;
    Ok(String::from_utf8_lossy(&said).contains(&process))
}

/// Live detection reserves much more memory than it uses.
fn overcommit() -> Check {
    const NAME: &str = "vm.overcommit_memory";
    match read_number("/proc/sys/vm/overcommit_memory") {
        Some(2) => Check::degraded(
            NAME,
            "2: memory cannot be reserved, so `watch` may not start",
        )
        .help("as root: sysctl vm.overcommit_memory=0"),
        Some(value) => Check::ok(NAME, value.to_string()),
        None => Check::ok(NAME, "unknown"),
    }
}

fn address_space() -> Check {
    const NAME: &str = "address space";
    match limit(libc::RLIMIT_AS) {
        None => Check::ok(NAME, "unlimited"),
        Some(bytes) => Check::degraded(
            NAME,
            format!(
                "limited to {} MB: `watch` reserves far more than it uses",
                bytes >> 20
            ),
        )
        .help("ulimit -v unlimited"),
    }
}

fn open_files() -> Check {
    const NAME: &str = "open files";
    match limit(libc::RLIMIT_NOFILE) {
        Some(files) if files < FEW_FILES => {
            Check::degraded(NAME, format!("{files} at most")).help(format!("ulimit -n {FEW_FILES}"))
        }
        Some(files) => Check::ok(NAME, format!("{files} at most")),
        None => Check::ok(NAME, "unlimited"),
    }
}

/// Without a limit the kernel lays memory out from the bottom up.
fn stack() -> Check {
    const NAME: &str = "stack";
    const LEAST: u64 = 1 << 20;
    match limit(libc::RLIMIT_STACK) {
        Some(bytes) if bytes < LEAST => {
            Check::degraded(NAME, format!("{} kB at most", bytes >> 10)).help("ulimit -s 8192")
        }
        Some(bytes) => Check::ok(NAME, format!("{} kB at most", bytes >> 10)),
        None => Check::ok(NAME, "unlimited"),
    }
}

/// A limit on this process; `None` if there is none.
fn limit(what: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the kernel writes one rlimit to where it is told, which is one of ours.
    let done = unsafe { libc::getrlimit(what, &raw mut limit) };
    (done == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

fn read_number(path: &str) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// The kind of container that this is, as far as it can be told.
fn container() -> Option<&'static str> {
    let is_there = |path: &str| std::path::Path::new(path).exists();
    if is_there("/.dockerenv") {
        Some("docker")
    } else if is_there("/run/.containerenv") {
        Some("podman")
    } else if std::env::var_os("KUBERNETES_SERVICE_HOST").is_some() {
        Some("kubernetes")
    } else {
        None
    }
}
