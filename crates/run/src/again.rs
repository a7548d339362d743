//! Runs a recorded program again, as it was when it was recorded: the same program, arguments, variables,
//! folder and standard input, what its threads got from the system, and addresses that are the same.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use deadheat_session::error::{Error, Result};
use deadheat_trace::file::TraceFile;
use deadheat_wire::inputs::INPUTS;
use deadheat_wire::leave_out::LEAVE_OUT;

use crate::launch::{self, Launch};
use crate::lists;
use crate::program::Program;
use crate::stdin::{self, Kind, Source};
use crate::store::invocation::{Invocation, beside, identity};

/// A recorded program that can be run again.
#[derive(Clone, Debug)]
pub struct Again {
    /// The program, which is still the same.
    pub program: Program,
    /// How it was started.
    pub invocation: Invocation,
    /// Where the copy of its standard input is, if there is one.
    stdin: PathBuf,
    /// What its threads got from the system, for the runtime.
    inputs: PathBuf,
    /// Which accesses were left out, if some were.
    leave_out: PathBuf,
    points: PathBuf,
}

/// Everything that it takes to run the program of this trace again.
pub fn of(trace: &Path) -> Result<Again> {
    let shown = trace.display();
    let cannot = |why: String| Error::not_started(format!("cannot run {shown} again: {why}"));
    let invocation = Invocation::read(trace).map_err(|error| {
        let path = Invocation::path(trace);
        cannot(format!("{}: {error}", path.display()))
            .note("How the program was started is kept beside its trace since this version of Deadheat.")
            .help("record it again")
    })?;
    let program = Program::find(invocation.program.as_os_str())?;
    let path = program.path.display();
    let now = identity(&program).map_err(|error| cannot(format!("{path}: {error}")))?;
    if now != invocation.identity {
        return Err(
            Error::not_started(format!("{path} was built anew since it was recorded"))
                .note("A schedule is one of the program that was recorded.")
                .help("record it again"),
        );
    }
    if !invocation.folder.is_dir() {
        let folder = invocation.folder.display();
        return Err(cannot(format!("the folder {folder} is gone"))
            .help("make it again, or record the program again"));
    }
    let stdin = Invocation::stdin_path(trace);
    if matches!(invocation.stdin, Kind::File | Kind::Pipe) && !stdin.is_file() {
        let stdin = stdin.display();
        return Err(cannot(format!("its standard input, {stdin}, is gone")).help("record it again"));
    }
    let inputs = beside(trace, "inputs");
    if !is_younger(&inputs, trace) {
        write_inputs(&inputs)?;
    }
    Ok(Again {
        program,
        invocation,
        stdin,
        inputs,
        leave_out: lists::leave_out(trace),
        points: lists::points(trace),
    })
}

/// Whether a file was made from the trace that is there, not from one that was there before.
fn is_younger(made: &Path, trace: &Path) -> bool {
    let changed = |path: &Path| path.metadata().and_then(|data| data.modified()).ok();
    changed(made).is_some_and(|made| Some(made) >= changed(trace))
}

/// Writes what the threads of a trace got from the system beside it.
fn write_inputs(to: &Path) -> Result<()> {
    let trace = TraceFile::open(to.with_extension(""));
    let trace = trace.map_err(|error| Error::usage(error.to_string()))?;
    let folder = to.parent().unwrap_or(Path::new("."));
    // In one piece: others may do the same at the same time.
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
        file.write_all(&trace.inputs().to_bytes())?;
        Ok(file.persist(to)?)
    });
    let refused = |error| Error::not_started(format!("cannot write {}: {error}", to.display()));
    written.map(drop).map_err(refused)
}

impl Again {
    /// The run, with these variables of the runtime's: at least `launch::OPTIONS`.
    pub fn launch(&self, mut variables: Vec<(OsString, OsString)>) -> Launch<'_> {
        variables.push((INPUTS.into(), self.inputs.clone().into()));
        if self.leave_out.is_file() {
            variables.push((LEAVE_OUT.into(), self.leave_out.clone().into()));
        }
        variables.extend(lists::points_variable(&self.points));
        Launch {
            program: &self.program,
            command: &self.invocation.command,
            environment: Cow::Borrowed(&self.invocation.environment),
            variables,
            folder: Some(&self.invocation.folder),
            stdin: Source::Again(self.invocation.stdin, self.stdin.clone()),
            output: None,
            steady: self.invocation.filled.is_some(),
            filled: self.invocation.filled,
            is_users: false,
        }
    }

    /// Whether addresses are as they were, as far as the schedule does not change them.
    pub fn is_steady(&self) -> bool {
        self.invocation.filled.is_some() && launch::can_be_steady()
    }

    /// Writes down beside another trace that it is this run again, with these options.
    pub fn describe(&self, options: &str, trace: &Path) -> io::Result<()> {
        let copy = Invocation::stdin_path(trace);
        if self.stdin.is_file() && !copy.exists() {
            io::copy(&mut File::open(&self.stdin)?, &mut stdin::create(&copy)?)?;
        }
        let lists = [
            (&self.leave_out, lists::leave_out(trace)),
            (&self.points, lists::points(trace)),
        ];
        for (list, copy) in lists {
            if list.is_file() && !copy.exists() {
                std::fs::copy(list, copy)?;
            }
        }
        let invocation = Invocation {
            options: options.to_owned(),
            ..self.invocation.clone()
        };
        invocation.write(trace)
    }
}
