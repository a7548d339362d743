//! Disks without room, folders that cannot be written to, and limits of the system.

use std::path::Path;
use std::process::Command;

use super::Row;
use super::tools::{Mode, Tools, is_documented, run_usual};

/// Limits as `ulimit` has them, and what they are.
const LIMITS: [(&str, &str); 6] = [
    ("-n 10", "at most 10 open files"),
    ("-f 64", "files of at most 64 kB"),
    ("-s 128", "stacks of at most 128 kB"),
    ("-v 400000", "at most 400 MB of address space"),
    ("-c 0 -l 0", "no core dumps, no locked memory"),
    ("-d 100000", "at most 100 MB of data"),
];

/// All of it.
pub fn rows(tools: &Tools) -> Result<Vec<Row>, String> {
    let [ours, plain] = tools.build("threads")?;
    let mut rows = vec![
        full(tools)?,
        read_only(tools, &ours)?,
        no_shared_memory(tools, &ours)?,
    ];
    eprintln!("bench: limits of the system");
    for (limit, what) in LIMITS {
        rows.push(limited(tools, &ours, &plain, limit, what)?);
    }
    Ok(rows)
}

/// A program under a limit of the system, in every mode: it does what it does under that limit by itself, or is refused.
fn limited(
    tools: &Tools,
    ours: &Path,
    plain: &Path,
    limit: &str,
    what: &str,
) -> Result<Row, String> {
    let store = tools.work.join("store");
    let script = format!("ulimit {limit}; exec \"$0\" \"$@\"");
    let args = ["200", "20"];
    let limited = |program: &Path| {
        let mut shell = Command::new("bash");
        shell.args(["-c", &script]).arg(program);
        shell.env("DEADHEAT_STORE", &store).current_dir(&tools.work);
        shell
    };
    let expected = run_usual(limited(plain).args(args))?.stdout;
    let mut row = Row::new(what);
    let mut refused = Vec::new();
    for mode in Mode::ALL {
        tools.clear(&store);
        let mut command = limited(&tools.deadheat);
        let output = run_usual(command.args(mode.arguments()).arg(ours).args(args))?;
        let is_refused = output.status.code() == Some(3);
        if is_refused {
            refused.push(mode.name());
        }
        let has_trace = store.join("recordings/000001/trace.dht").exists();
        let readable = !has_trace || tools.is_readable(&store)?;
        let is_same = output.stdout == expected;
        row.count(is_documented(&output) && (is_same || is_refused), readable);
    }
    if !refused.is_empty() {
        row.remark = format!("not {}, with the reason", refused.join(" or "));
    }
    Ok(row)
}

/// A file system in memory, as long as this lives.
struct Mounted<'a>(&'a Path);

impl<'a> Mounted<'a> {
    fn new(at: &'a Path, options: &str) -> Result<Option<Self>, String> {
        std::fs::create_dir_all(at).map_err(|error| format!("{}: {error}", at.display()))?;
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(at);
        let is_there = run_usual(&mut mount)?.status.success();
        Ok(is_there.then_some(Mounted(at)))
    }
}

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = run_usual(Command::new("umount").arg(self.0));
    }
}

/// A disk that becomes full while the program runs: it ends as usual, and what was recorded until then can be read.
fn full(tools: &Tools) -> Result<Row, String> {
    eprintln!("bench: full disks");
    let [ours, _] = tools.build("locks")?;
    let mut row = Row::new("the disk becomes full");
    let at = tools.work.join("full");
    for kilobytes in [100, 300, 700, 1000, 3000, 10_000, 50_000] {
        for mode in [Mode::Parallel, Mode::Serial] {
            let Some(_mounted) = Mounted::new(&at, &format!("size={kilobytes}k"))? else {
                row.remark = "not tried: file systems cannot be mounted here".to_owned();
                return Ok(row);
            };
            let mut command = tools.deadheat(&at);
            // Otherwise the recording stops while there is room.
            command.env("DEADHEAT_OPTIONS", "keep_free=0");
            command.args(mode.arguments()).arg(&ours).arg("1000000");
            let output = run_usual(&mut command)?;
            let ran = output.stdout == b"1000000\n";
            let has_trace = at.join("recordings/000001/trace.dht").exists();
            let readable = !has_trace || tools.is_readable(&at)?;
            row.count(is_documented(&output) && (ran || !has_trace), readable);
        }
    }
    row.remark = "disks of 0.1 to 50 MB".to_owned();
    Ok(row)
}

/// A store that cannot be written to: nothing is started, and the reason is said.
fn read_only(tools: &Tools, program: &Path) -> Result<Row, String> {
    eprintln!("bench: read-only folders");
    let mut row = Row::new("the store is read-only");
    let at = tools.work.join("read-only");
    let Some(_mounted) = Mounted::new(&at, "ro")? else {
        row.remark = "not tried: file systems cannot be mounted here".to_owned();
        return Ok(row);
    };
    for mode in [Mode::Parallel, Mode::Serial] {
        let mut command = tools.deadheat(&at);
        let output = run_usual(command.args(mode.arguments()).arg(program))?;
        let told = super::tools::told(&output);
        let is_refused = output.status.code() == Some(3) && told.contains("DEADHEAT_STORE");
        row.count(is_refused && output.stdout.is_empty(), true);
    }
    row.remark = "refused, with the reason".to_owned();
    Ok(row)
}

/// No room in shared memory, where a search would have its board: it takes another place.
fn no_shared_memory(tools: &Tools, program: &Path) -> Result<Row, String> {
    eprintln!("bench: no shared memory");
    let mut row = Row::new("no space in shared memory");
    let store = tools.work.join("store");
    let mount = "mount -t tmpfs -o size=4k tmpfs /dev/shm || exit 99; exec \"$0\" \"$@\"";
    for (arguments, size) in [
        (&["record", "--"][..], ["4", "2"]),
        (&["record", "--serial", "--"], ["4", "2"]),
        (&["watch", "--"], ["4", "2"]),
        (&["explore", "--"], ["2", "2"]),
    ] {
        tools.clear(&store);
        let mut command = Command::new("unshare");
        command.args(["--mount", "bash", "-c", mount]);
        command
            .env("DEADHEAT_STORE", &store)
            .current_dir(&tools.work);
        command.arg(&tools.deadheat).args(arguments).arg(program);
        let output = run_usual(command.args(size))?;
        if output.status.code() == Some(99) {
            row.remark = "not tried: file systems cannot be mounted here".to_owned();
            return Ok(row);
        }
        let readable = arguments[0] != "record" || tools.is_readable(&store)?;
        row.count(output.status.code() == Some(0), readable);
    }
    row.remark = "recorded, watched and explored".to_owned();
    Ok(row)
}
