//! How a recorded program was started, exactly: what it takes to start it again.
//!
//! It lies beside the trace, as `trace.dht.invocation`; a copy of the standard input, if there is one, as
//! `trace.dht.stdin`. Both may hold secrets: only their owner can read them. The file is a list of entries `name=value`,
//! each with a zero byte behind it, since nothing else is missing from arguments and variables:
//!
//! ```text
//! deadheat-invocation=1        version
//! program=/src/prog            absolute
//! identity=build-id 5a3c...    or: contents 0123...
//! folder=/src
//! stdin=pipe                   see `stdin::Kind`
//! options=mode=serial:seed=7   the runtime's
//! filled=32768                 in steady runs, see `Launch::filled`
//! arg=./prog                   the name it was called by, then its arguments
//! env=HOME=/home/me            a variable
//! ```
//! Entries with other names are passed over.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::is_process_suffix;
use crate::launch::Variables;
use crate::program::Program;
use crate::stdin::{self, Kind};

const MAGIC: &str = "deadheat-invocation";
const VERSION: &[u8] = b"1";

/// How a program was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// The program's absolute path.
    pub program: PathBuf,
    /// What tells it from another program at that path; see [`identity`].
    pub identity: String,
    /// The folder it ran in.
    pub folder: PathBuf,
    /// What its standard input was.
    pub stdin: Kind,
    /// The runtime's options.
    pub options: String,
    /// In steady runs, how much arguments and environment filled.
    pub filled: Option<usize>,
    /// Its name as the user gave it, and its arguments.
    pub command: Vec<OsString>,
    /// Its variables, without the runtime's.
    pub environment: Variables,
}

/// Why an invocation cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is none, or of a later version.
    #[error("it is not in a form that this version of Deadheat knows")]
    Unknown,
}

/// A program's build id, or a checksum of its file if it has none.
pub fn identity(program: &Program) -> io::Result<String> {
    if let Some(id) = &program.build_id {
        return Ok(format!("build-id {id}"));
    }
    let bytes = std::fs::read(&program.path)?;
    let word = |chunk: &[u8]| {
        let bytes = chunk.iter().rev();
        bytes.fold(0, |word: u64, byte| word << 8 | u64::from(*byte))
    };
    let mut words: Vec<u64> = bytes.chunks(8).map(word).collect();
    words.push(bytes.len() as u64);
    Ok(format!("contents {:016x}", deadheat_wire::checksum(&words)))
}

/// Where what goes with a trace lies: `trace.dht.stdin` for `stdin`. Traces of other processes
/// (`trace.dht.77`) share that of the first.
pub fn beside(trace: &Path, what: &str) -> PathBuf {
    let name = trace.as_os_str().as_bytes();
    let stem = name.iter().rposition(|byte| *byte == b'.');
    let number = stem.and_then(|at| Some((at, std::str::from_utf8(&name[at..]).ok()?)));
    let name = match number {
        Some((at, suffix)) if is_process_suffix(suffix) => &name[..at],
        _ => name,
    };
    let mut path = OsStr::from_bytes(name).to_owned();
    path.push(".");
    path.push(what);
    path.into()
}

impl Invocation {
    /// Where that of a trace lies.
    pub fn path(trace: &Path) -> PathBuf {
        beside(trace, "invocation")
    }

    /// Where the copy of the standard input lies.
    pub fn stdin_path(trace: &Path) -> PathBuf {
        beside(trace, "stdin")
    }

    /// Writes it down for a trace, in place of an earlier one.
    pub fn write(&self, trace: &Path) -> io::Result<()> {
        let path = Self::path(trace);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => stdin::create(&path)?.write_all(&self.bytes()),
        }
    }

    /// Reads that of a trace.
    pub fn read(trace: &Path) -> Result<Self, ReadError> {
        Self::parse(&std::fs::read(Self::path(trace))?).ok_or(ReadError::Unknown)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut entry = |name: &str, parts: [&[u8]; 3]| {
            bytes.extend_from_slice(name.as_bytes());
            bytes.push(b'=');
            bytes.extend(parts.concat());
            bytes.push(0);
        };
        entry(MAGIC, [VERSION, b"", b""]);
        entry("program", [self.program.as_os_str().as_bytes(), b"", b""]);
        entry("identity", [self.identity.as_bytes(), b"", b""]);
        entry("folder", [self.folder.as_os_str().as_bytes(), b"", b""]);
        entry("stdin", [self.stdin.name().as_bytes(), b"", b""]);
        entry("options", [self.options.as_bytes(), b"", b""]);
        if let Some(filled) = self.filled {
            entry("filled", [filled.to_string().as_bytes(), b"", b""]);
        }
        for arg in &self.command {
            entry("arg", [arg.as_bytes(), b"", b""]);
        }
        for (name, value) in &self.environment {
            entry("env", [name.as_bytes(), b"=", value.as_bytes()]);
        }
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
        let os = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
        let mut entries = bytes
            .split(|byte| *byte == 0)
            .filter_map(|entry| split(entry, 0));
        if entries.next() != Some((MAGIC.as_bytes(), VERSION)) {
            return None;
        }
        let mut read = Invocation::default();
        for (name, value) in entries {
            match name {
                b"program" => read.program = os(value).into(),
                b"identity" => read.identity = text(value)?,
                b"folder" => read.folder = os(value).into(),
                b"stdin" => read.stdin = Kind::named(value),
                b"options" => read.options = text(value)?,
                b"filled" => read.filled = Some(text(value)?.parse().ok()?),
                b"arg" => read.command.push(os(value)),
                b"env" => {
                    // A name may begin with the sign.
                    let (name, value) = split(value, 1)?;
                    read.environment.insert(os(name), os(value));
                }
                _ => {}
            }
        }
        (!read.command.is_empty()).then_some(read)
    }
}

/// Splits at the first `=` that is not among the first `skipped` bytes.
fn split(entry: &[u8], skipped: usize) -> Option<(&[u8], &[u8])> {
    let at = entry.iter().skip(skipped).position(|byte| *byte == b'=')? + skipped;
    Some((&entry[..at], &entry[at + 1..]))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn os(bytes: &[u8]) -> OsString {
        OsStr::from_bytes(bytes).to_owned()
    }

    fn example() -> Invocation {
        let variables = [
            (os(b"A"), os(b"b=c\nd")),
            (os(b"=X"), os(b"")),
            (os(b"\xFF"), os(b"\xFE\xC0")),
        ];
        Invocation {
            program: "/src/prog".into(),
            identity: "build-id 5a".into(),
            folder: os(b"/src/\xFF").into(),
            stdin: Kind::Pipe,
            options: "mode=serial:seed=7".into(),
            filled: Some(32768),
            command: vec!["./prog".into(), os(b""), os(b"\xFF= ")],
            environment: variables.into(),
        }
    }

    #[test]
    fn what_is_written_is_read_byte_for_byte() {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("trace.dht");
        example().write(&trace).unwrap();
        assert_eq!(Invocation::read(&trace).unwrap(), example());
        let path = Invocation::path(&trace);
        let mode = || path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
        let other = Invocation {
            filled: None,
            ..example()
        };
        other.write(&trace).unwrap();
        assert_eq!(mode(), 0o600, "also in place of another");
        assert_eq!(
            Invocation::read(&folder.path().join("trace.dht.77")).unwrap(),
            other
        );
    }

    #[test]
    fn nonsense_is_refused() {
        let whole = example().bytes();
        assert!(Invocation::parse(b"").is_none());
        assert!(Invocation::parse(b"deadheat-invocation=2\0arg=x\0").is_none());
        assert!(Invocation::parse(b"deadheat-invocation=1\0").is_none());
        assert!(Invocation::parse(b"deadheat-invocation=1\0arg=x\0filled=many\0").is_none());
        assert!(Invocation::parse(b"deadheat-invocation=1\0arg=x\0later=y\0").is_some());
        for end in 0..whole.len() {
            let _ = Invocation::parse(&whole[..end]); // whatever it is, no panic
        }
    }

    #[test]
    fn a_program_without_a_build_id_is_known_by_its_contents() {
        let folder = tempfile::tempdir().unwrap();
        let mut program = Program {
            path: folder.path().join("prog"),
            kind: crate::program::Kind::Script,
            build_id: None,
        };
        let of = |contents: &str| {
            std::fs::write(&program.path, contents).unwrap();
            identity(&program).unwrap()
        };
        assert_eq!(of("#!/bin/sh"), of("#!/bin/sh"));
        assert_ne!(of("#!/bin/sh"), of("#!/bin/sh\0"));
        program.build_id = Some("5a".into());
        assert_eq!(identity(&program).unwrap(), "build-id 5a");
    }

    #[test]
    fn what_goes_with_a_trace_is_named_after_it() {
        let named = |trace: &str| beside(Path::new(trace), "stdin").display().to_string();
        assert_eq!(named("a/trace.dht"), "a/trace.dht.stdin");
        assert_eq!(named("a/trace.dht.77"), "a/trace.dht.stdin");
        assert_eq!(named("run"), "run.stdin");
    }
}
