//! Puts a program to its work, by itself or under a command of Deadheat's.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use super::cost::{Cost, Look};
use super::programs::{Job, Load, Service};
use super::web;

/// So many seconds nobody waits for longer.
pub const PATIENCE: &str = "300";

/// So many bytes a file may have: a recording that grows on ends there, and the program goes on.
const LARGEST: &str = "--fsize=4294967296";

/// What `timeout` ends with if it had to stop the command.
const CUT: i32 = 124;

/// A run that has ended.
pub struct Worked {
    /// The exit code; `None` if the run was stopped or killed.
    pub code: Option<i32>,
    /// What is compared: what the program printed, fetched, or told its clients.
    pub result: Vec<u8>,
    /// What was said on standard error.
    pub said: String,
    /// Seconds.
    pub took: f64,
    /// What it has cost.
    pub cost: Cost,
}

/// Runs the program, behind the words of `before`, in a folder of its own.
pub fn work(
    folder: &Path,
    before: &[&str],
    program: &Path,
    job: Job<'_>,
) -> Result<Worked, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", program.display());
    fs::create_dir_all(folder).map_err(failed)?;
    let text = numbers(job.input);
    fs::write(folder.join("input"), &text).map_err(failed)?;
    let (printed, said) = (folder.join("printed"), folder.join("said"));
    let mut command = Command::new("timeout");
    command
        .args(["-k", "5", PATIENCE])
        .args(["env", "--ignore-signal=XFSZ", "prlimit", LARGEST])
        .args(before)
        .arg(program)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        // Not that of the project around it.
        .env("DEADHEAT_STORE", ".deadheat")
        // Some of libuv's tests are about rights; all want this if there are none to be about.
        .env("UV_RUN_AS_ROOT", "1")
        .stdin(Stdio::null())
        .stdout(File::create(&printed).map_err(failed)?)
        .stderr(File::create(&said).map_err(failed)?);
    let look = Look::begin();
    let started = Instant::now();
    let (status, result) = match job.load {
        Load::Once(arguments) => {
            let status = command.args(*arguments).status().map_err(failed)?;
            (status, fs::read(&printed).map_err(failed)?)
        }
        Load::Tests(arguments) => {
            let status = command.arg("--test-threads=1").args(*arguments).status();
            let status = status.map_err(failed)?;
            (status, settled(&fs::read(&printed).map_err(failed)?))
        }
        Load::Fetches(arguments) => {
            let url = web::serve(text.into_bytes()).map_err(failed)?;
            let status = command.args(put(arguments, "URL", &url)).status();
            let status = status.map_err(failed)?;
            (status, fs::read(folder.join("out")).unwrap_or_default())
        }
        Load::Serves(service) => serve(folder, &mut command, service).map_err(failed)?,
    };
    Ok(Worked {
        code: status.code().filter(|code| *code != CUT),
        result,
        said: String::from_utf8_lossy(&fs::read(&said).map_err(failed)?).into_owned(),
        took: started.elapsed().as_secs_f64(),
        cost: look.end(),
    })
}

/// Starts the server and lets its clients talk to it.
fn serve(
    folder: &Path,
    command: &mut Command,
    service: &Service,
) -> std::io::Result<(ExitStatus, Vec<u8>)> {
    let port = free_port()?.to_string();
    for (name, text) in service.files {
        fs::write(folder.join(name), text.replace("PORT", &port))?;
    }
    let mut server = command
        .args(put(service.arguments, "PORT", &port))
        .spawn()?;
    let clients = Command::new("timeout")
        .current_dir(folder)
        .args([PATIENCE, "bash", "-c", service.clients, "clients", &port])
        .output()?;
    Ok((server.wait()?, clients.stdout))
}

/// The arguments, with something in the place of a word.
fn put<'a>(arguments: &'a [&str], word: &str, by: &'a str) -> Vec<&'a str> {
    let put = |argument: &&'a str| if *argument == word { by } else { *argument };
    arguments.iter().map(put).collect()
}

/// What tests print, whatever their order and however long they take.
fn settled(printed: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(printed);
    let without_time = |line: &str| match line.split_once("; finished in ") {
        Some((before, _)) => before.to_owned(),
        None => line.to_owned(),
    };
    let mut lines: Vec<String> = text.lines().map(without_time).collect();
    lines.sort();
    lines.join("\n").into_bytes()
}

/// Lines of numbers, so many bytes of them.
fn numbers(size: usize) -> String {
    let numbers = (1..).map(|number| format!("{number}\n"));
    let mut text: String = numbers.take(size.div_ceil(2)).collect();
    text.truncate(size);
    text
}

/// A port that nobody listens at now.
fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::{numbers, put, settled};

    #[test]
    fn tests_are_compared_without_order_and_times() {
        let one = b"test a ... ok\ntest b ... ok\nok. 2 passed; finished in 0.01s\n";
        let other = b"test b ... ok\ntest a ... ok\nok. 2 passed; finished in 7.00s\n";
        let failed = b"test b ... ok\ntest a ... FAILED\nok. 2 passed; finished in 0.01s\n";
        assert_eq!(settled(one), settled(other));
        assert_ne!(settled(one), settled(failed));
    }

    #[test]
    fn inputs_have_their_size_and_words_are_put_in() {
        assert_eq!(numbers(7), "1\n2\n3\n4");
        assert_eq!(numbers(0), "");
        assert_eq!(put(&["-p", "PORT"], "PORT", "80"), ["-p", "80"]);
    }
}
