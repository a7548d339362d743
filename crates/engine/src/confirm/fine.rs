//! One run of the program under an enforced schedule.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use deadheat_analysis::budget;
use deadheat_explore::{Plan, Verdict};
use deadheat_run::again::Again;
use deadheat_run::launch;
use deadheat_run::store::info::Ended;
use deadheat_session::error::{Error, Result};
use deadheat_session::scratch;
use deadheat_trace::file::TraceFile;
use deadheat_wire::plan::{AT, PLAN, PlanHeader, VALUE, VERDICT};

/// Where the program's output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// To the user.
    Shown,
    /// It is kept, to be looked at.
    Captured,
}

/// How long it may go on after its schedule has ended.
pub const BEHIND: Duration = Duration::from_secs(5);

/// How much longer the program may take for each copy.
const OF_COPY: Duration = Duration::from_millis(500);

/// How a schedule is enforced.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// Where the program's output goes.
    pub output: Output,
    /// On kernel threads, for a debugger.
    pub real: bool,
    /// After so many seconds without a step the schedule is given up.
    pub watchdog: u64,
    /// So long the program may take.
    pub limit: Option<Duration>,
    /// How many copies of it follow schedules of their own.
    pub copies: usize,
}

impl Manner {
    /// As usual, for a program whose recorded run has so many events.
    pub fn of(output: Output, events: u64) -> Self {
        Manner {
            output,
            real: false,
            watchdog: 10,
            limit: (output == Output::Captured).then(|| budget::patience(events)),
            copies: 0,
        }
    }
}
/// How much of a program's output is looked at.
const MOST_OUTPUT: u64 = 1 << 20;

/// A run under an enforced schedule.
pub struct Enforced {
    /// What the runtime said; nothing if the program ended before it could.
    pub verdict: Option<Verdict>,
    /// What it said of each copy, where there was one.
    pub of_copies: Vec<Option<Verdict>>,
    /// How the program ended.
    pub ended: Ended,
    /// It did not end by itself in time.
    pub hung: bool,
    /// It was stopped in a deadlock.
    pub deadlocked: bool,
    /// It was stopped because nothing would ever end it.
    pub lasts: bool,
    /// Its threads got something else from the system than in the recorded run.
    pub other_inputs: bool,
    /// What it printed, if that was captured.
    pub stdout: Vec<u8>,
    /// What it said on standard error.
    pub stderr: Vec<u8>,
    /// Where it was about to do something last, as an address in its memory.
    pub last: Option<u64>,
    /// What the variable of a race held in the end, if it lives as long as the program.
    pub value: Option<u64>,
}

impl Enforced {
    /// Whether the clock has ended it: it went nowhere.
    pub fn went_nowhere(&self) -> bool {
        self.hung || matches!(self.verdict, Some(Verdict::Passed { .. }))
    }

    /// Whether the goals were reached.
    pub fn is_reached(&self) -> bool {
        self.verdict.as_ref().is_some_and(Verdict::is_reached)
    }
}

/// A run that is under way.
pub struct Running {
    started: launch::Started,
    limit: Option<Duration>,
    copies: usize,
    /// The plan, the verdict, the run's own trace and its output.
    folder: tempfile::TempDir,
}

/// Runs the program by a plan.
pub fn run(again: &Again, plan: &Plan, manner: Manner) -> Result<Enforced> {
    start(again, plan, manner)?.finish()
}

/// Starts the program under a plan.
pub fn start(again: &Again, plan: &Plan, manner: Manner) -> Result<Running> {
    let refused = |error: std::io::Error| {
        Error::not_started(format!("cannot keep a schedule to enforce: {error}"))
    };
    let folder = tempfile::Builder::new()
        .prefix("replay-")
        .tempdir_in(scratch::on_disk())
        .map_err(refused)?;
    let at = |name: &str| folder.path().join(name);
    let written = File::create(at("plan")).and_then(|mut file| plan.write_to(&mut file));
    written.map_err(refused)?;
    let mut options = format!(
        "{}:mode=serial:policy=run-to-block:preempt=access:silent=1:watchdog={}:tool={}",
        again.invocation.options,
        manner.watchdog,
        std::process::id()
    );
    if manner.real {
        options.push_str(":threads=real");
    }
    let mut launch = again.launch(vec![
        (launch::TRACE.into(), at(TRACE).into()),
        (launch::OPTIONS.into(), options.into()),
        (PLAN.into(), at("plan").into()),
    ]);
    if manner.output == Output::Captured {
        let file = |name: &str| File::create(at(name)).map_err(refused);
        launch.output = Some((file("stdout")?, file("stderr")?));
    }
    Ok(Running {
        started: launch.start()?,
        limit: manner
            .limit
            .map(|limit| limit + OF_COPY * manner.copies as u32),
        copies: manner.copies,
        folder,
    })
}

/// The run's own trace.
const TRACE: &str = "trace.dht";

impl Running {
    /// The process.
    pub fn id(&self) -> u32 {
        self.started.id()
    }

    /// What the runtime has said so far.
    pub fn verdict(&self) -> Result<Option<Verdict>> {
        read_verdict(&self.folder.path().join(format!("plan{VERDICT}")))
    }

    /// Whether the program has ended.
    pub fn has_ended(&mut self) -> Result<bool> {
        self.started.has_ended()
    }

    /// Ends it.
    pub fn kill(&mut self) {
        self.started.kill();
    }

    /// Waits so long for its end, and less once its schedule has ended; whether it was ended then.
    fn kill_after(&mut self, limit: Duration) -> Result<bool> {
        let verdict = self.folder.path().join(format!("plan{VERDICT}"));
        let mut ended: Option<Instant> = None;
        self.started.kill_when(|since| {
            if ended.is_none() && verdict.exists() {
                ended = Some(Instant::now());
            }
            since > limit || ended.is_some_and(|ended| ended.elapsed() > BEHIND)
        })
    }

    /// Waits for its end.
    pub fn finish(mut self) -> Result<Enforced> {
        let killed = match self.limit {
            Some(limit) => self.kill_after(limit)?,
            None => false,
        };
        let (started, folder) = (self.started, self.folder);
        let outcome = started.wait()?;
        let at = |name: &str| folder.path().join(name);
        let verdict = read_verdict(&at(&format!("plan{VERDICT}")))?;
        let of_copy = |number| read_verdict(&at(&format!("plan{VERDICT}.{number}")));
        let of_copies = (0..self.copies).map(of_copy).collect::<Result<_>>()?;
        let told = head(&at("plan"), size_of::<PlanHeader>() as u64);
        let last = word(&told, AT).filter(|place| *place != 0);
        let value_bytes = word(&told, VALUE + 8).filter(|bytes| *bytes != 0);
        let trace = TraceFile::open(at(TRACE)).ok();
        let is_closed_for = |reason: &str| {
            trace
                .as_ref()
                .is_some_and(|file| file.closed() == Some(reason))
        };
        let deadlocked = is_closed_for("deadlock");
        let lasts = is_closed_for(deadheat_wire::HANGS);
        Ok(Enforced {
            verdict,
            of_copies,
            ended: Ended::from_status(outcome.status),
            hung: killed,
            deadlocked,
            lasts,
            other_inputs: trace.is_some_and(|file| has_other_inputs(&file)),
            stdout: head(&at("stdout"), MOST_OUTPUT),
            stderr: head(&at("stderr"), MOST_OUTPUT),
            last,
            value: value_bytes.and_then(|_| word(&told, VALUE)),
        })
    }
}

/// What the runtime has said, if it has.
pub fn read_verdict(path: &Path) -> Result<Option<Verdict>> {
    let Ok(text) = std::fs::read_to_string(path) else {
        return Ok(None);
    };
    let unknown =
        |error| Error::not_started(format!("how the schedule ended is not known: {error}"));
    Verdict::parse(&text).map(Some).map_err(unknown)
}

/// The first so many bytes of a file.
fn head(path: &Path, most: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(path) {
        // What cannot be read is not compared.
        let _ = file.take(most).read_to_end(&mut bytes);
    }
    bytes
}

/// A word of what the runtime has left in the plan's file.
fn word(plan: &[u8], at: usize) -> Option<u64> {
    let bytes = plan.get(at..at + 8)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

/// Whether the runtime says that threads got something else from the system than in the recorded run.
fn has_other_inputs(trace: &TraceFile) -> bool {
    let mut notes = trace.tables().notes.iter();
    notes.any(|note| note == deadheat_wire::inputs::OTHER)
}
