//! Where other runs of a program should let threads change turns: at places around which a recorded run looks suspicious. The
//! runtime's policy `points` has whoever comes to such a place let all others go first.
//!
//! Suspicious are the places of what was found and not proven, and of questions without an answer; and *lost updates* (the patterns
//! of AVIO, Lu, Tucek, Qin and Zhou, 2006): a thread has read something in one critical section, and writes it in a later one without
//! having read it again, or looks at it again at another place, so that another thread's write in between is lost or seen by half. There the place is
//! where the later section begins: where the first function is called for it, as locks are often taken in functions that many call, or where
//! its lock is taken. An atomic access is a section of its own.
//!
//! This only says where to look. What is missed is still found by other seeds, as far as they go.

use std::path::Path;

use deadheat_run::input;
use deadheat_run::lists;
use deadheat_session::error::{Error, Result};
use deadheat_trace::{EventIndex, Op, Pc, Step, Steps, Tables, ThreadId};
use deadheat_wire::points::MAGIC;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::analysis::{self, Analysis};
use crate::config::Config;

/// Sections of a thread that are further apart belong to nothing common.
const NEAR: u32 = 16;
/// Words that are followed, and those that are kept of a place.
const MOST_WORDS: usize = 1 << 20;
const WORDS: usize = 8;
/// Places that are listed: those that the run comes to least often.
const MOST: usize = 256;

/// Suspicious places: addresses in the program's file, first those that the run comes to least often.
pub struct Points(Vec<u64>);

impl Points {
    /// Those of a trace, after its analysis.
    pub fn of(trace: &Path, analysis: &Analysis, config: &Config) -> Result<Self> {
        let input = input::open(trace)?;
        let mut found = Neighbourhoods::default();
        let unsettled = analysis
            .runs
            .iter()
            .filter_map(|run| run.prediction.as_ref());
        let unsettled = unsettled.flat_map(|prediction| prediction.unknown.iter().flatten());
        let unsettled: FxHashSet<EventIndex> = unsettled.copied().collect();
        let races = analysis.runs.iter().flat_map(|run| run.races.places());
        let mut places: FxHashMap<Pc, u64> = races.map(|pc| (pc, 0)).collect();
        let what = "looking for suspicious places";
        let (_, steps) = analysis::read(trace, input, what, config, |index, step, _| {
            if unsettled.contains(&index) {
                places.entry(step.event.pc()).or_default();
            }
            if let Some(times) = places.get_mut(&step.event.pc()) {
                *times += 1;
            }
            found.step(step);
        })?;
        for (pc, times) in found.places() {
            places.entry(pc).or_insert(times);
        }
        let mut rarest: Vec<(u64, Pc)> =
            places.into_iter().map(|(pc, times)| (times, pc)).collect();
        rarest.sort_unstable();
        rarest.truncate(MOST);
        let tables = steps.tables();
        let addresses = rarest.iter().filter_map(|(_, pc)| of_program(*pc, tables));
        Ok(Points(addresses.collect()))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Writes the rarest of them beside a trace: all but for so many halves.
    pub fn write(&self, trace: &Path, halves: u32) -> Result<()> {
        let count = self.0.len().div_ceil(1 << halves.min(16));
        let mut addresses = self.0[..count].to_vec();
        addresses.sort_unstable();
        addresses.dedup();
        let numbers = addresses.iter().flat_map(|address| address.to_le_bytes());
        let bytes: Vec<u8> = MAGIC.into_iter().chain(numbers).collect();
        let path = lists::points(trace);
        std::fs::write(&path, bytes).map_err(|error| {
            Error::not_started(format!("cannot write {}: {error}", path.display()))
        })
    }
}

/// The address in the program's own file: libraries may lie elsewhere the next time.
fn of_program(pc: Pc, tables: &Tables) -> Option<u64> {
    let (module, address) = tables.module_of(pc)?;
    (module.start == tables.modules.first()?.start).then_some(address)
}

/// Follows a trace, and keeps where later sections of such pairs begin.
#[derive(Default)]
struct Neighbourhoods {
    threads: Vec<Thread>,
    words: FxHashMap<u64, Word>,
    found: FxHashMap<Pc, Found>,
}

#[derive(Clone, Copy, Default)]
struct Thread {
    /// How many locks it holds, where it took the first, and how many times it did.
    held: u32,
    begins: Option<Pc>,
    /// Where it has called a function first, since it has held a lock.
    called: Option<Pc>,
    section: u32,
}

#[derive(Default)]
struct Word {
    /// Who has written it; several have.
    writer: Option<ThreadId>,
    has_several: bool,
    /// The last access of each thread that has accessed it last.
    last: Vec<Access>,
}

#[derive(Clone, Copy)]
struct Access {
    thread: ThreadId,
    section: u32,
    begins: Pc,
    reads: bool,
}

#[derive(Default)]
struct Found {
    words: Vec<(u64, ThreadId)>,
    times: u64,
}

impl Neighbourhoods {
    fn step(&mut self, step: &Step) {
        let (event, op) = (&step.event, step.event.op());
        let index = event.thread().index();
        if index >= self.threads.len() {
            self.threads.resize_with(index + 1, Thread::default);
        }
        let thread = &mut self.threads[index];
        match op {
            Op::Acquire | Op::ReadAcquire => {
                if thread.held == 0 {
                    thread.begins = thread.called.take().or(Some(event.pc()));
                    thread.section += 1;
                }
                thread.held += 1;
            }
            Op::Release | Op::ReadRelease => {
                thread.held = thread.held.saturating_sub(1);
                thread.called = None;
            }
            Op::Enter if thread.held == 0 => {
                thread.called = thread.called.or(Some(event.pc()));
            }
            op if op.is_atomic() => {
                thread.section += 1;
                let access = Access {
                    thread: event.thread(),
                    section: thread.section,
                    begins: event.pc(),
                    reads: op == Op::AtomicRead,
                };
                self.access(event.addr().0 >> 3, access, op.writes());
            }
            Op::Read | Op::Write if thread.held > 0 => {
                let access = Access {
                    thread: event.thread(),
                    section: thread.section,
                    begins: thread.begins.unwrap_or(Pc::UNKNOWN),
                    reads: op == Op::Read,
                };
                self.access(event.addr().0 >> 3, access, op.writes());
            }
            _ => {}
        }
    }

    fn access(&mut self, number: u64, access: Access, writes: bool) {
        if self.words.len() >= MOST_WORDS && !self.words.contains_key(&number) {
            return;
        }
        let word = self.words.entry(number).or_default();
        if writes {
            word.has_several |= word.writer.is_some_and(|writer| writer != access.thread);
            word.writer = Some(access.thread);
        }
        let known = word
            .last
            .iter_mut()
            .find(|last| last.thread == access.thread);
        let Some(last) = known else {
            word.last.push(access);
            return;
        };
        let before = std::mem::replace(last, access);
        let is_later = before.section != access.section && access.section - before.section <= NEAR;
        // What is written was read before, and not since then.
        if is_later && before.reads && (writes || before.begins != access.begins) {
            let found = self.found.entry(access.begins).or_default();
            found.times += 1;
            let of = (number, access.thread);
            if found.words.len() < WORDS && !found.words.contains(&of) {
                found.words.push(of);
            }
        }
    }

    /// Where another thread writes what is meant, and how often a thread came there.
    fn places(&self) -> impl Iterator<Item = (Pc, u64)> {
        let others_write = |(number, thread): &(u64, ThreadId)| {
            let word = self.words.get(number);
            let is_other = |writer: ThreadId| writer != *thread;
            word.is_some_and(|word| word.has_several || word.writer.is_some_and(is_other))
        };
        let found = self.found.iter();
        let found = found.filter(move |(_, found)| found.words.iter().any(others_write));
        found.map(|(pc, found)| (*pc, found.times))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of the places that a trace makes suspicious.
    fn places(text: &str) -> Vec<String> {
        let trace = deadheat_trace::text::parse(text).unwrap();
        let mut found = Neighbourhoods::default();
        trace.steps.iter().for_each(|step| found.step(step));
        let places = found.places();
        places.map(|(pc, _)| trace.tables.location(pc)).collect()
    }

    #[test]
    fn an_update_in_two_sections_may_be_lost() {
        let update = |thread| {
            format!(
                "{thread}|acq(m)|1\n{thread}|r(x)|2\n{thread}|rel(m)|3\n\
                 {thread}|acq(m)|4\n{thread}|w(x)|5\n{thread}|rel(m)|6\n"
            )
        };
        let both = format!("{}{}", update("T0"), update("T1"));
        assert_eq!(places(&both), ["4"]);
        assert!(places(&update("T0")).is_empty(), "nobody else writes");
    }

    #[test]
    fn an_update_in_one_section_may_not() {
        let update = "T0|acq(m)|1\nT0|r(x)|2\nT0|w(x)|3\nT0|rel(m)|4\n";
        let all = [update, &update.replace("T0", "T1")].concat().repeat(3);
        assert!(places(&all).is_empty());
    }

    #[test]
    fn an_atomic_look_and_an_atomic_change_are_two() {
        let update = "T0|ar(x)|1\nT0|aw(x)|2\n";
        let both = format!("{update}{}", update.replace("T0", "T1"));
        assert_eq!(places(&both), ["2"]);
    }
}
