//! Recordings of long runs hold what threads share, and nothing else.
//!
//! A serial run can be repeated. So the first one is recorded whole only as far as a short program goes, and
//! shows for the rest of it which memory threads share (`serial/shared` in the runtime); the next one is
//! recorded without the rest. That one looks again: if it shares more, as it took another way, what
//! it shares is added, and it is repeated. If that does not help, the run is recorded whole, as long as it is.
//!
//! What is left out constrains no schedule; `deadheat_predict`'s `leave_out` argues it. In such a recording
//! an event is taken to depend on all that its thread has read before: the program's code tells nothing of
//! ways on which accesses are missing.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deadheat_session::error::{Error, Result};
use deadheat_session::signals;
use deadheat_session::terminal::{count, counted};
use deadheat_wire::shared::{Entry, FOUND, Header, MAGIC, SHARED, UNUSABLE};

use crate::again::{self, Again};
use crate::launch;
use crate::recorder::{Place, Plan, Recorded};
use crate::store::info::Ended;
use crate::store::invocation::beside;
use crate::store::{Recording, traces_beside};

/// How often a run is repeated that shares more than the one before, as long as that takes no longer
/// than the run itself, or not long.
const TRIES: usize = 3;
/// See [`TRIES`].
const NOT_LONG: Duration = Duration::from_secs(10);

/// The longest run that is recorded whole, in events; or none is too long. (A write counts twice.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Longest(Option<u64>);

impl Default for Longest {
    fn default() -> Self {
        Longest(Some(2_000_000))
    }
}

impl fmt::Display for Longest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(events) => write!(f, "{events}"),
            None => f.write_str("never"),
        }
    }
}

impl Longest {
    /// `2000000`, `never`.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        match text {
            "never" => Ok(Longest(None)),
            _ => text
                .parse()
                .map(|events| Longest(Some(events)))
                .map_err(|_| "a number of events such as 2000000, or never".to_owned()),
        }
    }
}

/// Which memory the threads of a program share, as far as its runs have shown.
#[derive(Default)]
pub struct Sharing {
    /// 64 words each: which are shared, and which are accessed together with the next.
    words: BTreeMap<u64, Bits>,
}

#[derive(Clone, Copy, Default)]
struct Bits {
    shared: u64,
    linked: u64,
}

/// What a run has shown.
struct Found {
    header: Header,
    /// None if there was no room for all of them.
    entries: Option<Vec<Entry>>,
}

impl Found {
    /// What a run has left beside its trace; `None` if it did not look for it.
    fn take(shared: &Path) -> Option<Self> {
        let path = with_suffix(shared, FOUND);
        let bytes = fs::read(&path).ok()?;
        let _ = fs::remove_file(&path);
        let mut numbers = bytes.chunks_exact(8).map(|bytes| {
            let bytes = bytes.first_chunk().copied();
            u64::from_le_bytes(bytes.unwrap_or_default())
        });
        let mut next = || numbers.next();
        let header = Header {
            magic: next()?.to_le_bytes(),
            events: next()?,
            left_out: next()?,
            missed: next()?,
            entries: next()?,
        };
        let mut entry = || {
            Some(Entry {
                index: next()?,
                shared: next()?,
                linked: next()?,
            })
        };
        let entries = match header.entries {
            UNUSABLE => None,
            many => (0..many).map(|_| entry()).collect(),
        };
        (header.magic == MAGIC).then_some(Found { header, entries })
    }

    /// Whether the recording lacks nothing that it was to have.
    fn has_all(&self) -> bool {
        self.entries.is_some() && self.header.missed == 0
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

impl Sharing {
    /// Records a run: whole if it is not too long, else what threads share.
    pub fn record(&mut self, plan: Plan, longest: Longest) -> Result<Recorded> {
        let is_special = plan.asked_after.is_some() || !plan.variables.is_empty();
        let Longest(Some(whole)) = longest else {
            return plan.run();
        };
        if is_special || !plan.steady || !launch::can_be_steady() {
            return plan.run();
        }
        let trace = plan.place.trace();
        let shared = beside(&trace, "shared");
        let recorded = self.recorded(plan, &trace, &shared, whole);
        for path in [with_suffix(&shared, FOUND), shared] {
            let _ = fs::remove_file(path);
        }
        recorded
    }

    fn recorded(
        &mut self,
        mut plan: Plan,
        trace: &Path,
        shared: &Path,
        whole: u64,
    ) -> Result<Recorded> {
        let (options, typed) = (plan.options.clone(), plan.typed.clone());
        plan.options = format!("{options}:whole={whole}");
        plan.variables = vec![(SHARED.into(), shared.into())];
        let is_known = !self.words.is_empty();
        if is_known {
            self.write(shared)?;
        }
        let mut first = plan.run()?;
        let Some(mut found) = Found::take(shared) else {
            // Nothing looked, so nothing was left out.
            return Ok(first);
        };
        let executed = found.header.events;
        if is_known && found.has_all() || !is_known && executed <= whole {
            return Ok(first);
        }
        let again = again::of(trace)?;
        let repeat = Repeat {
            again: &again,
            first: &first,
            trace,
            options: &options,
            typed: &typed,
            // What was ended from outside is repeated up to where it was.
            until: first.is_cut.then_some(executed),
        };
        let mut spent = Duration::ZERO;
        for _ in 0..TRIES {
            let Some(entries) = found.entries else {
                break;
            };
            if signals::is_stopped() || spent > first.took.max(NOT_LONG) {
                break;
            }
            self.take_in(entries);
            self.write(shared)?;
            // What cannot be recorded again, for want of room or of anything else, was recorded once.
            let Ok(next) = repeat.record(Some(shared)) else {
                break;
            };
            spent += next.took;
            match Found::take(shared) {
                Some(last) if last.has_all() && repeat.is_same(&next) => {
                    return repeat.keep(next);
                }
                Some(last) => found = last,
                None => break,
            }
        }
        let why = match signals::is_stopped() {
            true => "it was not, as it was stopped".to_owned(),
            false => match repeat.record(None) {
                Ok(whole) => return repeat.keep(whole),
                Err(error) => format!("that failed: {error}"),
            },
        };
        repeat.remove();
        if !is_known {
            let recorded = whole.min(first.contents.events);
            first.remark(format!(
                "only the first {} of {} were recorded: a long run is recorded when it is \
                 repeated, and {why}",
                counted(recorded, "event"),
                count(executed),
            ));
        }
        Ok(first)
    }

    /// Adds what a run has shown.
    fn take_in(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            let bits = self.words.entry(entry.index).or_default();
            bits.shared |= entry.shared;
            bits.linked |= entry.linked;
        }
        self.spread();
    }

    /// Words that are accessed together are all shared or none.
    fn spread(&mut self) {
        let is_set = |words: &BTreeMap<u64, Bits>, word: u64, of: fn(&Bits) -> u64| {
            let bits = words.get(&(word / 64));
            bits.is_some_and(|bits| of(bits) >> (word % 64) & 1 != 0)
        };
        let linked: Vec<u64> = self
            .words
            .iter()
            .flat_map(|(index, bits)| {
                let bits = bits.linked;
                let all = (0..64).filter(move |bit| bits >> bit & 1 != 0);
                let index = *index;
                all.map(move |bit| index * 64 + bit)
            })
            .collect();
        let mut at = 0;
        while at < linked.len() {
            let first = at;
            while linked.get(at + 1) == Some(&(linked[at] + 1)) {
                at += 1;
            }
            let together = linked[first]..=linked[at] + 1;
            at += 1;
            if together
                .clone()
                .any(|word| is_set(&self.words, word, |bits| bits.shared))
            {
                for word in together {
                    self.words.entry(word / 64).or_default().shared |= 1 << (word % 64);
                }
            }
        }
    }

    /// Writes down what the next recording is to have.
    fn write(&self, path: &Path) -> Result<()> {
        let wanted = self.words.iter().filter(|(_, bits)| bits.shared != 0);
        let numbers = wanted
            .clone()
            .flat_map(|(index, bits)| [*index, bits.shared, 0]);
        let header = [u64::from_le_bytes(MAGIC), 0, 0, 0, wanted.count() as u64];
        let bytes: Vec<u8> = header
            .into_iter()
            .chain(numbers)
            .flat_map(u64::to_le_bytes)
            .collect();
        fs::write(path, bytes).map_err(|error| {
            Error::not_started(format!("cannot write {}: {error}", path.display()))
        })
    }
}

/// A run that is repeated.
struct Repeat<'a> {
    again: &'a Again,
    first: &'a Recorded,
    trace: &'a Path,
    options: &'a str,
    typed: &'a [OsString],
    /// After so many events it is over, if the first one was ended then.
    until: Option<u64>,
}

impl Repeat<'_> {
    fn path(&self) -> PathBuf {
        self.trace.with_file_name("repeated.dht")
    }

    /// What was recorded of it, and is not kept.
    fn remove(&self) {
        let path = self.path();
        for trace in traces_beside(&path) {
            let _ = fs::remove_file(beside(&trace, "live"));
            let _ = fs::remove_file(trace);
        }
        for what in ["live", "invocation", "stdin", "inputs"] {
            let _ = fs::remove_file(beside(&path, what));
        }
    }

    /// Records it without what is not `shared`, or whole. Nobody wants more of the run than is recorded.
    fn record(&self, shared: Option<&Path>) -> Result<Recorded> {
        self.remove();
        let variables = shared.map(|path| (SHARED.into(), path.into()));
        let options = match self.until {
            Some(events) if shared.is_some() => format!("{}:until={events}", self.options),
            _ => self.options.to_owned(),
        };
        let options = format!("{options}:at_full=end");
        let limit = match shared {
            Some(_) => self.first.took * 2 + Duration::from_secs(20),
            None => self.first.took + Duration::from_secs(20),
        };
        let plan = Plan {
            program: self.again.program.clone(),
            command: self.again.invocation.command.clone(),
            typed: self.typed.to_vec(),
            options,
            steady: true,
            place: Place::file(&self.path())?,
            again: Some(self.again.clone()),
            aside: false,
            variables: variables.into_iter().collect(),
            output: launch::nowhere(),
            limit: Some(limit),
            asked_after: None,
        };
        plan.run()
    }

    /// Whether a repeated run has ended as the first one has.
    fn is_same(&self, next: &Recorded) -> bool {
        if ended_full(next) {
            return true;
        }
        let ended = match self.until {
            // It has killed itself there.
            Some(_) => Ended::Signal(libc::SIGKILL),
            None => self.first.ended,
        };
        next.ended == ended && !next.is_cut
    }

    /// The repeated run is the recording from now on.
    fn keep(&self, mut repeated: Recorded) -> Result<Recorded> {
        let refused = |error: std::io::Error| {
            let path = self.trace.display();
            Error::not_started(format!("cannot write {path}: {error}"))
        };
        for path in traces_beside(self.trace) {
            fs::remove_file(path).map_err(refused)?;
        }
        let path = self.path();
        for old in &mut repeated.traces {
            // Those of other processes have their numbers behind the name.
            let name = old.file_name().unwrap_or_default().to_string_lossy();
            let own = path.file_name().unwrap_or_default().to_string_lossy();
            let new = with_suffix(self.trace, name.strip_prefix(&*own).unwrap_or_default());
            fs::rename(&*old, &new).map_err(refused)?;
            // A recording whose end is missing goes on in there.
            if fs::rename(beside(old, "live"), beside(&new, "live")).is_err() {
                let _ = fs::remove_file(beside(&new, "live"));
            }
            *old = new;
        }
        for what in ["invocation", "stdin", "inputs"] {
            let _ = fs::remove_file(beside(&path, what));
        }
        if ended_full(&repeated) {
            repeated.ended = self.first.ended;
        }
        if self.until.is_some() {
            (repeated.ended, repeated.is_cut) = (self.first.ended, true);
        }
        repeated.takes_place_of(self.first);
        self.describe(&repeated)?;
        Ok(repeated)
    }

    /// What the store says about the recording is true of the repeated run.
    fn describe(&self, repeated: &Recorded) -> Result<()> {
        let Some(recording) = Recording::of_trace(self.trace) else {
            return Ok(());
        };
        let Some(mut info) = recording.info() else {
            return Ok(());
        };
        info.ended = Some(repeated.ended);
        info.seconds = Some(repeated.took.as_secs_f64());
        info.trace = Some(repeated.contents);
        recording.describe(&info)
    }
}

/// Whether a repeated run was ended as nothing more could be recorded.
fn ended_full(run: &Recorded) -> bool {
    run.is_stopped && !run.is_cut && run.ended == Ended::Signal(libc::SIGKILL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(all: &[(u64, u64, u64)]) -> Vec<Entry> {
        let entry = |(index, shared, linked): &(u64, u64, u64)| Entry {
            index: *index,
            shared: *shared,
            linked: *linked,
        };
        all.iter().map(entry).collect()
    }

    #[test]
    fn words_that_are_accessed_together_are_shared_together() {
        let mut sharing = Sharing::default();
        sharing.take_in(entries(&[(7, 0, 1 << 63), (8, 1, 0)]));
        assert_eq!(sharing.words[&7].shared, 1 << 63, "the one before it");
        sharing.take_in(entries(&[(9, 0b1000, 0b110), (10, 0, 0b11)]));
        assert_eq!(sharing.words[&9].shared, 0b1110);
        assert_eq!(sharing.words[&10].shared, 0, "nobody shares those");
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shared");
        let mut sharing = Sharing::default();
        sharing.take_in(entries(&[(3, 0b101, 0), (4, 0, 0), (1 << 30, u64::MAX, 0)]));
        sharing.write(&path).unwrap();
        fs::rename(&path, with_suffix(&path, FOUND)).unwrap();
        let read = Found::take(&path).unwrap();
        let words: Vec<(u64, u64)> = read
            .entries
            .unwrap()
            .iter()
            .map(|it| (it.index, it.shared))
            .collect();
        assert_eq!(words, [(3, 0b101), (1 << 30, u64::MAX)]);
        assert!(Found::take(&path).is_none(), "it is taken once");
    }
}
