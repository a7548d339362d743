//! The program, run again and again from one state: as copies of one that stands there, or from its very beginning where
//! it cannot be copied.

use std::ffi::OsString;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::{Duration, Instant};

use deadheat_explore::Plan;
use deadheat_explore::search::{Cut, Deed, Ending, Execution, Manner, Program, Site, Turn};
use deadheat_run::again::Again;
use deadheat_run::launch::{self, Started};
use deadheat_run::recorder::{self, Place, Recorded};
use deadheat_run::store::Recording;
use deadheat_run::store::info::Ended;
use deadheat_session::error::{Error, Result};
use deadheat_session::scratch;
use deadheat_trace::Tables;
use deadheat_wire::explore::{self as wire, EXPLORE, ending, standing, state};
use deadheat_wire::plan::{PLAN, VERDICT};

use super::board::{Shared, is_idle};
use super::limits::Limits;
use super::notes::Notes;
use crate::failure::Panic;

/// How long one run may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the program may take to where the search begins.
const WAY: Duration = Duration::from_secs(60);

/// A folder with a board: in memory, if there is such a place with room for it. Runs print into files there, too.
fn folder() -> Result<(tempfile::TempDir, Shared)> {
    let mut last = None;
    for place in scratch::in_memory().into_iter().chain([scratch::on_disk()]) {
        let folder = tempfile::Builder::new()
            .prefix("explore-")
            .tempdir_in(place);
        let made = folder.and_then(|folder| {
            let board = Shared::create(&folder.path().join("board"))?;
            Ok((folder, board))
        });
        match made {
            Ok(made) => return Ok(made),
            Err(error) => last = Some(error),
        }
    }
    Err(refused(last.unwrap_or(std::io::ErrorKind::NotFound.into())))
}

/// The runtime's variables of a first run, which is recorded as the search's runs go by themselves: one that does not end is cut short. The
/// folder is needed as long as it runs.
pub fn first(limits: &Limits) -> Result<(tempfile::TempDir, Vec<(OsString, OsString)>)> {
    let (folder, board) = folder()?;
    board.set(wire::Board {
        recorded: 1,
        longest: limits.steps(),
        ..board.board()
    });
    let variables = vec![(EXPLORE.into(), board.path.clone().into())];
    Ok((folder, variables))
}

/// A program whose schedules are searched.
pub struct Copies<'a> {
    again: &'a Again,
    /// What leads to where the search begins, if that is not the beginning.
    plan: Option<Plan>,
    folder: tempfile::TempDir,
    board: Shared,
    /// The program that is copied.
    server: Option<Started>,
    /// Where its threads stood.
    places: Vec<wire::Place>,
    /// How many runs there were.
    pub runs: u64,
    /// What the program wants to do to the world outside, as bits of [`wire::effect`].
    pub effects: u32,
    /// Whether runs are copies.
    pub is_copied: bool,
    /// What the last run printed.
    pub printed: [Vec<u8>; 2],
    /// What it has noted.
    notes: Notes,
}

impl<'a> Copies<'a> {
    /// Makes everything ready. `tables` are those of a recorded run, `snapshots`: copies are wanted.
    pub fn new(
        again: &'a Again,
        tables: &Tables,
        plan: Option<Plan>,
        snapshots: bool,
    ) -> Result<Self> {
        let (folder, board) = folder()?;
        board.set(wire::Board {
            snapshots: u32::from(snapshots),
            ..board.board()
        });
        let mut copies = Copies {
            again,
            plan,
            folder,
            board,
            server: None,
            places: Vec::new(),
            runs: 0,
            effects: 0,
            is_copied: false,
            printed: [Vec::new(), Vec::new()],
            notes: Notes::of(tables),
        };
        if snapshots {
            copies.serve()?;
        }
        Ok(copies)
    }

    /// The runtime's variables of a run.
    fn variables(&self) -> Result<Vec<(OsString, OsString)>> {
        let at = |name: &str| self.folder.path().join(name);
        let mut variables = vec![(EXPLORE.into(), self.board.path.clone().into())];
        if let Some(plan) = &self.plan {
            for old in ["plan", "plan.taken", &format!("plan{VERDICT}")] {
                let _ = std::fs::remove_file(at(old));
            }
            let mut file = File::create(at("plan")).map_err(refused)?;
            plan.write_to(&mut file).map_err(refused)?;
            variables.push((PLAN.into(), at("plan").into()));
        }
        Ok(variables)
    }

    /// The runtime's options.
    fn options(&self) -> String {
        format!(
            "{}:mode=serial:policy=run-to-block:preempt=access:watchdog=10:tool={}",
            self.again.invocation.options,
            std::process::id()
        )
    }

    /// Where the program prints.
    fn output(&self) -> Result<(File, File)> {
        let file = |suffix: &str| {
            File::create(self.folder.path().join(format!("board{suffix}"))).map_err(refused)
        };
        let [out, err] = wire::OUTPUT;
        Ok((file(out)?, file(err)?))
    }

    /// Starts the program.
    fn start(&self) -> Result<Started> {
        let mut variables = self.variables()?;
        let trace = self.folder.path().join("trace.dht");
        variables.push((launch::TRACE.into(), trace.into()));
        variables.push((launch::OPTIONS.into(), self.options().into()));
        let mut launch = self.again.launch(variables);
        launch.output = Some(self.output()?);
        launch.start()
    }

    /// Starts the program that is copied, and waits until it stands where the search begins.
    fn serve(&mut self) -> Result<()> {
        let mut server = self.start()?;
        let since = Instant::now();
        while self.board.now() == state::AWAY && !server.has_ended()? {
            if since.elapsed() > WAY {
                server.kill();
                server.wait()?;
                return Err(Error::not_started(
                    "the program did not come to where the search begins in time",
                ));
            }
            self.board.wait(state::AWAY, Duration::from_millis(5));
        }
        self.is_copied = self.board.board().snapshots == 2;
        if self.is_copied {
            self.places = self.board.places();
            // That was before the search.
            self.board.take_printed();
            self.server = Some(server);
        } else {
            server.kill();
            server.wait()?;
        }
        Ok(())
    }

    /// What a thread is about to do where the search begins; `None` if the plan was not followed to there.
    pub fn next_of(&mut self, thread: u32) -> Result<Option<Deed>> {
        if self.is_copied {
            let place = self.places.get(thread as usize);
            let place = place.filter(|place| place.standing != standing::GONE);
            let next = place.map(|place| place.next);
            return Ok(next.and_then(|next| self.notes.deed(&next, &self.board)));
        }
        let manner = Manner {
            parked: Some(thread),
            longest: 1,
            ..Manner::default()
        };
        let execution = self.run(&[], &manner)?;
        let has_begun = self.board.now() == state::RUN;
        let pending = execution.pending.iter();
        let mut own = pending.filter(|pending| pending.thread == thread);
        Ok(own.find_map(|pending| pending.deed).filter(|_| has_begun))
    }

    fn ask(&mut self, turns: &[Turn], manner: &Manner, recorded: bool) {
        let count = self.board.wish(turns.iter().map(|turn| wire::Turn {
            thread: turn.thread,
            variant: turn.variant,
        }));
        let plus_one = |thread: Option<u32>| thread.map_or(0, |thread| thread + 1);
        self.board.put_places(&self.places);
        self.board.set(wire::Board {
            recorded: u32::from(recorded),
            turns: count as u32,
            first: plus_one(manner.first),
            parked: plus_one(manner.parked),
            last: manner.last,
            repeated: manner.repeated,
            longest: manner.longest.min(wire::MOST_NOTED as u32),
            process: 0,
            status: 0,
            ending: ending::OWN,
            refused: 0,
            noted: 0,
            transitions: 0,
            effects: 0,
            yielded: 0,
            ..self.board.board()
        });
        self.runs += 1;
    }

    /// One run as a copy; whether it hung.
    fn copy(&mut self) -> Result<bool> {
        self.board.go(state::RUN);
        let since = Instant::now();
        let mut hung = false;
        while !is_idle(self.board.now()) {
            self.board.wait(state::RUN, Duration::from_millis(100));
            if since.elapsed() > PATIENCE && !hung {
                hung = true;
                let process = self.board.board().process as libc::pid_t;
                if process > 0 {
                    // SAFETY: the copy that the server waits for; should it have ended by now, it is not waited for yet.
                    unsafe { libc::kill(process, libc::SIGKILL) };
                }
            }
            if let Some(server) = &mut self.server
                && since.elapsed() > Duration::from_millis(90)
                && server.has_ended()?
            {
                return Err(Error::not_started("the program that was copied has ended"));
            }
        }
        Ok(hung)
    }

    /// One run from the very beginning; whether it hung.
    fn anew(&mut self) -> Result<bool> {
        self.board.set(wire::Board {
            state: state::AWAY,
            snapshots: 0,
            ..self.board.board()
        });
        let mut started = self.start()?;
        let hung = started.kill_after(WAY + PATIENCE)?;
        let status = started.wait()?.status;
        self.board.set(wire::Board {
            status: std::os::unix::process::ExitStatusExt::into_raw(status) as u32,
            ..self.board.board()
        });
        Ok(hung)
    }

    /// Records one run; there are no copies from here on.
    pub fn record(
        &mut self,
        turns: &[Turn],
        manner: &Manner,
        typed: Vec<OsString>,
        to: Recording,
    ) -> Result<(Execution, Recorded)> {
        self.stop();
        self.is_copied = false;
        self.places.clear();
        self.ask(turns, manner, true);
        self.board.set(wire::Board {
            state: state::AWAY,
            snapshots: 0,
            ..self.board.board()
        });
        let plan = recorder::Plan {
            program: self.again.program.clone(),
            command: self.again.invocation.command.clone(),
            typed,
            options: self.options(),
            steady: true,
            place: Place::Store(to),
            again: Some(self.again.clone()),
            aside: false,
            variables: self.variables()?,
            output: Some(self.output()?),
            limit: Some(WAY + PATIENCE),
            asked_after: None,
        };
        let recorded = plan.run()?;
        let status = match recorded.ended {
            Ended::Exit(code) => code << 8,
            Ended::Signal(signal) => signal,
        };
        self.board.set(wire::Board {
            status: status as u32,
            ..self.board.board()
        });
        Ok((self.read(false), recorded))
    }

    /// Ends the program that is copied.
    fn stop(&mut self) {
        if let Some(mut server) = self.server.take() {
            server.kill();
            // It was killed; how it ended does not matter.
            let _ = server.wait();
        }
    }

    /// What happened.
    fn read(&mut self, hung: bool) -> Execution {
        let board = self.board.board();
        self.effects |= board.effects;
        self.printed = self.board.take_printed();
        let transitions = self.notes.transitions(&self.board);
        let pending = self.notes.pending(&self.board);
        let ending = match board.ending {
            _ if hung => Ending::Hung,
            ending::DEADLOCK => Ending::Deadlock,
            ending::LIVELOCK => Ending::Livelock,
            ending::LONG => Ending::Long,
            ending::OUTSIDE => Ending::Outside,
            ending::REFUSED => Ending::Refused(board.refused as usize),
            _ => match board.status as i32 {
                // A call that the kernel did not let through, from where no handler runs: while a process is started.
                status if libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSYS => {
                    self.effects |= wire::effect::PROCESSES;
                    Ending::Outside
                }
                status if libc::WIFSIGNALED(status) => Ending::Killed(libc::WTERMSIG(status)),
                status => Ending::Exited(libc::WEXITSTATUS(status)),
            },
        };
        let mut outcome = DefaultHasher::new();
        self.printed[0].hash(&mut outcome);
        std::mem::discriminant(&ending).hash(&mut outcome);
        board.status.hash(&mut outcome);
        Execution {
            transitions,
            pending,
            ending,
            outcome: outcome.finish(),
            named: Panic::of(&self.printed[1]).map(|panic| panic.place()),
            yielded: board.yielded,
        }
    }
}

impl Copies<'_> {
    /// What the place is called that an operation belongs to.
    pub fn told(&self, site: Site) -> String {
        self.notes.told(site)
    }

    /// What is left out in programs that have timers, or joins that fail.
    pub fn left_out(&self) -> impl Iterator<Item = Cut> {
        let kinds = [
            (wire::effect::TIMERS, Cut::Timers),
            (wire::effect::REFUSED_JOINS, Cut::Joins),
            (wire::effect::CALLS, Cut::Calls),
            (wire::effect::HANDLERS, Cut::Handlers),
        ];
        let effects = self.effects;
        let met = kinds.into_iter().filter(move |(bit, _)| effects & bit != 0);
        met.map(|(_, cut)| cut)
    }
}

impl Drop for Copies<'_> {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Program for Copies<'_> {
    type Error = Error;

    fn run(&mut self, turns: &[Turn], manner: &Manner) -> Result<Execution> {
        self.ask(turns, manner, false);
        let hung = match self.is_copied {
            true => self.copy()?,
            false => self.anew()?,
        };
        Ok(self.read(hung))
    }
}

fn refused(error: std::io::Error) -> Error {
    Error::not_started(format!("cannot set up a search: {error}"))
}
