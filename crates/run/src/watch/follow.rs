//! Follows the report of a watched program.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deadheat_report::text::{self, Look};
use deadheat_report::{Finding, Suppressions};
use deadheat_trace::watch::{self, Message, Place, Reader};

use super::debugger::OnRace;
use super::process::Process;

/// Between two looks at the file. Nobody waits for it but people, and threads that were stopped for
/// them.
const PAUSE: Duration = Duration::from_millis(20);

/// Reads a report as it grows.
pub struct Follower<'a> {
    report: File,
    answers: File,
    reader: Reader,
    processes: HashMap<u32, Process>,
    suppressions: &'a Suppressions,
    /// What to do when something is found.
    pub on_race: OnRace,
    /// How findings look that are printed as they come; not at all if `None`.
    pub show: Option<Look>,
    told: Told,
    by_id: HashMap<String, usize>,
    figures: BTreeMap<String, u64>,
}

/// All that a report told.
#[derive(Default)]
pub struct Told {
    /// Each finding once.
    pub findings: Vec<Finding>,
    /// Flagged memory.
    pub places: Vec<Place>,
    /// How many findings were held back.
    pub suppressed: u64,
    /// What the user should know.
    pub notes: Vec<String>,
    /// Why the program did not run.
    pub cannot: Option<String>,
    /// Whether a process began to be watched.
    pub began: bool,
    /// What was counted.
    pub figures: Vec<(String, u64)>,
}

impl<'a> Follower<'a> {
    /// Will follow the report at this path, keep quiet, and let the program go on.
    pub fn new(report: &Path, answers: &Path, suppressions: &'a Suppressions) -> io::Result<Self> {
        Ok(Follower {
            report: File::open(report)?,
            answers: File::options().write(true).open(answers)?,
            reader: Reader::default(),
            processes: HashMap::new(),
            suppressions,
            on_race: OnRace::Continue,
            show: None,
            told: Told::default(),
            by_id: HashMap::new(),
            figures: BTreeMap::new(),
        })
    }

    /// Reads until the program is over and all that it told is read.
    pub fn until(&mut self, over: &AtomicBool) {
        loop {
            // Asked before reading: what was written before the end is then read below.
            let last = over.load(Ordering::Acquire);
            self.read();
            if last {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// What was told.
    pub fn finish(mut self) -> Told {
        let remarks = self.processes.values().flat_map(Process::remarks);
        let mut remarks: Vec<String> = remarks.collect();
        remarks.sort();
        remarks.dedup();
        self.told.notes.extend(remarks);
        self.told.figures = self.figures.into_iter().collect();
        self.told
    }

    fn read(&mut self) {
        let mut bytes = Vec::new();
        if let Err(error) = self.report.read_to_end(&mut bytes) {
            self.note(format!("the report cannot be read: {error}"));
        }
        self.reader.feed(&bytes);
        while let Some(message) = self.reader.next() {
            match message {
                Ok(message) => self.message(message),
                Err(error) => self.note(format!("a record of the report is damaged: {error}")),
            }
        }
    }

    fn message(&mut self, message: Message) {
        match message {
            Message::Begin { pid, detector } => {
                self.told.began = true;
                self.processes.insert(pid, Process::new(detector));
            }
            Message::Module { pid, module } => self.process(pid).add_module(module),
            Message::Thread { pid, thread } => self.process(pid).add_thread(thread),
            Message::Name { pid, number, name } => self.process(pid).name_thread(number, name),
            Message::Race(found) => self.found(&found),
            Message::Flag(found) => {
                if let Some(place) = found
                    .place
                    .filter(|place| !self.told.places.contains(place))
                {
                    self.told.places.push(place);
                }
                self.found(&found);
            }
            Message::Note { text, .. } => self.note(text),
            Message::Cannot { text, .. } => self.told.cannot = Some(text),
            Message::Summary { figures, .. } => {
                for (name, value) in figures {
                    *self.figures.entry(name).or_default() += value;
                }
            }
        }
    }

    fn process(&mut self, pid: u32) -> &mut Process {
        self.processes.entry(pid).or_default()
    }

    fn found(&mut self, found: &watch::Finding) {
        let finding = self.process(found.pid).explain(found);
        if self.suppressions.match_finding(&finding) {
            self.told.suppressed += 1;
            return self.answer(found);
        }
        if let Some(at) = self.by_id.get(&finding.id) {
            self.told.findings[*at].count += 1;
            return self.answer(found);
        }
        if let Some(look) = &self.show {
            anstream::eprintln!("{}", text::finding(&finding, look));
        }
        let thread = self.process(found.pid).kernel_thread(found.later.thread);
        let place = finding.accesses.last().map(|access| &access.place);
        let function = place.and_then(|place| place.function.as_deref());
        self.on_race.act(found.pid, thread, function);
        self.by_id
            .insert(finding.id.clone(), self.told.findings.len());
        self.told.findings.push(finding);
        self.answer(found);
    }

    /// Lets a thread that waits go on.
    fn answer(&mut self, found: &watch::Finding) {
        if let Some(offset) = found.wait
            && let Err(error) = self.answers.write_all_at(&[1], offset)
        {
            self.note(format!("a stopped thread cannot be told to go on: {error}"));
        }
    }

    fn note(&mut self, note: String) {
        if !self.told.notes.contains(&note) {
            self.told.notes.push(note);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A program that is watched tells this. Its thread waits at the first byte of the answers.
    const REPORT: &str = "\
deadheat-watch 1 7 hb

thread 7 1 - 71 0

race 7 1
 wait 0
 earlier write abc 4 1
 stack 10
 later write abc 4 2
 stack 20
 memory global

summary 7 accesses=12

";

    /// Deadheat looks at this test itself (`tests/itself.rs`), so it is small.
    #[test]
    fn a_report_is_followed_side_by_side_with_its_program() {
        let folder = tempfile::tempdir().unwrap();
        let [report, answers] = ["report", "answers"].map(|name| folder.path().join(name));
        let mut program = File::create(&report).unwrap();
        std::fs::write(&answers, [0]).unwrap();
        let suppressions = Suppressions::default();
        let mut follower = Follower::new(&report, &answers, &suppressions).unwrap();
        let over = AtomicBool::new(false);
        let (begin, end) = REPORT.split_once("summary").unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| follower.until(&over));
            for line in begin.split_inclusive('\n') {
                program.write_all(line.as_bytes()).unwrap();
            }
            while std::fs::read(&answers).unwrap() != [1] {
                std::thread::yield_now();
            }
            program.write_all(b"summary").unwrap();
            program.write_all(end.as_bytes()).unwrap();
            over.store(true, Ordering::Release);
        });
        let told = follower.finish();
        assert!(told.began);
        assert_eq!(told.findings.len(), 1);
        assert_eq!(told.figures, [("accesses".to_owned(), 12)]);
    }
}
