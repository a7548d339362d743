//! Puts a program to its work, by itself or under a command of Deadheat's.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::programs::Load;

/// So many seconds nobody waits for longer.
pub const PATIENCE: &str = "100";

/// What `timeout` ends with if it had to stop the command.
const CUT: i32 = 124;

/// A run that has ended.
pub struct Worked {
    /// The exit code; `None` if the run was stopped or killed.
    pub code: Option<i32>,
    /// What is compared: what the program printed, or what its clients got.
    pub result: Vec<u8>,
    /// What was said on standard error.
    pub said: String,
    /// Seconds.
    pub took: f64,
}

/// Runs the program, behind the words of `before`, in a folder of its own.
pub fn work(folder: &Path, before: &[&str], program: &Path, load: &Load) -> Result<Worked, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", program.display());
    fs::create_dir_all(folder).map_err(failed)?;
    let (printed, said) = (folder.join("printed"), folder.join("said"));
    let mut command = Command::new("timeout");
    command
        .args(["-k", "5", PATIENCE])
        .args(before)
        .arg(program)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(File::create(&printed).map_err(failed)?)
        .stderr(File::create(&said).map_err(failed)?);
    let started = Instant::now();
    let (status, result) = match load {
        Load::Once(arguments, size) => {
            let numbers = (1..).map(|number| format!("{number}\n"));
            let mut text: String = numbers.take(size / 2).collect();
            text.truncate(*size);
            fs::write(folder.join("input"), text).map_err(failed)?;
            let status = command.args(*arguments).status().map_err(failed)?;
            (status, fs::read(&printed).map_err(failed)?)
        }
        Load::Serves(arguments, clients) => {
            let port = free_port().map_err(failed)?.to_string();
            command.args(arguments.iter().map(|argument| match *argument {
                "PORT" => port.as_str(),
                other => other,
            }));
            let mut server = command.spawn().map_err(failed)?;
            let clients = Command::new("timeout")
                .args([PATIENCE, "bash", "-c", clients, "clients", &port])
                .output()
                .map_err(failed)?;
            (server.wait().map_err(failed)?, clients.stdout)
        }
    };
    Ok(Worked {
        code: status.code().filter(|code| *code != CUT),
        result,
        said: String::from_utf8_lossy(&fs::read(&said).map_err(failed)?).into_owned(),
        took: started.elapsed().as_secs_f64(),
    })
}

/// A port that nobody listens at now.
fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
