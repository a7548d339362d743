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
use std::fs;
use std::path::{Path, PathBuf};

use deadheat_wire::shared::{Entry, FOUND, Header, MAGIC, SHARED};

use crate::again::{self, Again};
use crate::error::{Error, Result};
use crate::launch;
use crate::recorder::{Place, Plan, Recorded};
use crate::signals;
use crate::store::invocation::beside;
use crate::store::traces_beside;

/// So many events are recorded whole: what a short program has. (A write counts twice.)
const WHOLE: u64 = 2_000_000;
/// How often a run is repeated that shares more than the one before.
const TRIES: usize = 3;

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
    entries: Vec<Entry>,
}

impl Found {
    /// What a run has left beside its trace; `None` if it could not.
    fn take(shared: &Path) -> Option<Self> {
        let path = with_suffix(shared, FOUND);
        let bytes = fs::read(&path).ok()?;
        let _ = fs::remove_file(&path);
        let mut numbers = bytes.chunks_exact(8).map(|bytes| {
            let bytes = bytes.first_chunk().copied();
            u64::from_le_bytes(bytes.unwrap_or_default())
        });
        let magic = numbers.next()?.to_le_bytes();
        let mut next = || numbers.next();
        let header = Header {
            magic,
            events: next()?,
            left_out: next()?,
            missed: next()?,
            entries: next()?,
        };
        let mut entries = Vec::new();
        while let Some(index) = next() {
            let (shared, linked) = (next()?, next()?);
            entries.push(Entry {
                index,
                shared,
                linked,
            });
        }
        let is_whole = header.magic == MAGIC && entries.len() as u64 == header.entries;
        is_whole.then_some(Found { header, entries })
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

impl Sharing {
    /// Records a run: whole if it is short, what threads share if it is long.
    pub fn record(&mut self, plan: Plan) -> Result<Recorded> {
        let is_ended = plan.asked_after.is_some();
        if is_ended || !plan.variables.is_empty() || !plan.steady || !launch::can_be_steady() {
            return plan.run();
        }
        let trace = plan.place.trace();
        let shared = beside(&trace, "shared");
        let recorded = self.recorded(plan, &trace, &shared);
        for path in [with_suffix(&shared, FOUND), shared] {
            let _ = fs::remove_file(path);
        }
        recorded
    }

    fn recorded(&mut self, mut plan: Plan, trace: &Path, shared: &Path) -> Result<Recorded> {
        let (options, typed) = (plan.options.clone(), plan.typed.clone());
        plan.options = format!("{options}:whole={WHOLE}");
        plan.variables = vec![(SHARED.into(), shared.into())];
        let is_known = !self.words.is_empty();
        if is_known {
            self.write(shared)?;
        }
        let first = plan.run()?;
        let found = Found::take(shared);
        match &found {
            Some(found) if is_known && found.header.missed == 0 => return Ok(first),
            Some(found) if !is_known && found.header.events <= WHOLE => return Ok(first),
            // It could not say so, but it was short.
            None if first.contents.complete && !is_known => return Ok(first),
            _ => {}
        }
        let again = again::of(trace)?;
        let repeat = Repeat {
            again: &again,
            first: &first,
            trace,
            options: &options,
            typed: &typed,
        };
        let mut found = found;
        for _ in 0..TRIES {
            let Some(last) = found.take() else {
                break;
            };
            if signals::is_stopped() {
                return Ok(first);
            }
            self.take_in(last);
            self.write(shared)?;
            let next = repeat.record(Some(shared))?;
            let is_same = next.ended == first.ended && !next.is_cut;
            match Found::take(shared) {
                Some(last) if last.header.missed == 0 && is_same => return repeat.keep(next),
                last => found = last,
            }
        }
        if signals::is_stopped() {
            return Ok(first);
        }
        let whole = repeat.record(None)?;
        repeat.keep(whole)
    }

    /// Adds what a run has shown.
    fn take_in(&mut self, found: Found) {
        for entry in found.entries {
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
    typed: &'a [std::ffi::OsString],
}

impl Repeat<'_> {
    fn path(&self) -> PathBuf {
        self.trace.with_file_name("repeated.dht")
    }

    /// Records it without what is not `shared`, or whole.
    fn record(&self, shared: Option<&Path>) -> Result<Recorded> {
        for path in traces_beside(&self.path()) {
            let _ = fs::remove_file(path);
        }
        let variables = shared.map(|path| (SHARED.into(), path.into()));
        let plan = Plan {
            program: self.again.program.clone(),
            command: self.again.invocation.command.clone(),
            typed: self.typed.to_vec(),
            options: self.options.to_owned(),
            steady: true,
            place: Place::file(&self.path())?,
            again: Some(self.again.clone()),
            aside: false,
            variables: variables.into_iter().collect(),
            output: launch::nowhere(),
            limit: Some(self.first.took * 4 + std::time::Duration::from_secs(20)),
            asked_after: None,
        };
        plan.run()
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
            *old = new;
        }
        for what in ["live", "invocation", "stdin", "inputs"] {
            let _ = fs::remove_file(beside(&path, what));
        }
        // A recording whose end is missing goes on in there.
        let _ = fs::remove_file(beside(self.trace, "live"));
        repeated.takes_place_of(self.first);
        Ok(repeated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(entries: &[(u64, u64, u64)]) -> Found {
        let entry = |(index, shared, linked): &(u64, u64, u64)| Entry {
            index: *index,
            shared: *shared,
            linked: *linked,
        };
        Found {
            header: Header {
                magic: MAGIC,
                events: 0,
                left_out: 0,
                missed: 0,
                entries: entries.len() as u64,
            },
            entries: entries.iter().map(entry).collect(),
        }
    }

    #[test]
    fn words_that_are_accessed_together_are_shared_together() {
        let mut sharing = Sharing::default();
        sharing.take_in(found(&[(7, 0, 1 << 63), (8, 1, 0)]));
        assert_eq!(sharing.words[&7].shared, 1 << 63, "the one before it");
        sharing.take_in(found(&[(9, 0b1000, 0b110), (10, 0, 0b11)]));
        assert_eq!(sharing.words[&9].shared, 0b1110);
        assert_eq!(sharing.words[&10].shared, 0, "nobody shares those");
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shared");
        let mut sharing = Sharing::default();
        sharing.take_in(found(&[(3, 0b101, 0), (4, 0, 0), (1 << 30, u64::MAX, 0)]));
        sharing.write(&path).unwrap();
        fs::rename(&path, with_suffix(&path, FOUND)).unwrap();
        let read = Found::take(&path).unwrap();
        let words: Vec<(u64, u64)> = read
            .entries
            .iter()
            .map(|it| (it.index, it.shared))
            .collect();
        assert_eq!(words, [(3, 0b101), (1 << 30, u64::MAX)]);
        assert!(Found::take(&path).is_none(), "it is taken once");
    }
}
