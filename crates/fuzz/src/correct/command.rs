//! The command: makes programs, builds them, has every command judge them, and keeps what is wrong.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use clap::Args;

use super::build::{self, Built};
use super::catalogue::{self, Language, Piece};
use super::judge::{self, Verdict, Way, Wrong};
use super::program::{Dice, Program};
use super::table::Table;

/// Correct programs with unusual synchronisation: nothing may be found, all has to end, results stay the same
#[derive(Args, Clone, Debug)]
pub struct Correct {
    /// Deadheat itself
    #[arg(long, value_name = "FILE", default_value = "target/release/deadheat")]
    pub deadheat: PathBuf,
    /// The seed of the programs
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How many programs of each language
    #[arg(long, value_name = "K", default_value_t = 100)]
    pub count: usize,
    /// Each piece by itself, instead
    #[arg(long)]
    pub alone: bool,
    /// Also pieces about which Deadheat is known to be wrong
    #[arg(long)]
    pub known: bool,
    /// Without pieces for which a command takes seconds
    #[arg(long)]
    pub quick: bool,
    /// c, cpp, rust or all
    #[arg(long, value_name = "NAME", default_value = "all")]
    pub language: String,
    /// Only pieces whose names begin with this
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub only: String,
    /// Only this command, by its name in the table; may be given several times
    #[arg(long, value_name = "NAME")]
    pub way: Vec<String>,
    /// How many programs are run at the same time
    #[arg(long, value_name = "J", default_value_t = 2)]
    pub jobs: usize,
    /// Where programs are kept about which a command was wrong
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Seconds that a command may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub limit: u64,
    /// Print kinds of waits and who can end them, instead of pieces and commands
    #[arg(long)]
    pub table: bool,
}

impl Correct {
    /// As without options, with this executable.
    #[must_use]
    pub fn with(deadheat: &Path) -> Correct {
        Correct {
            deadheat: deadheat.to_owned(),
            seed: 1,
            count: 100,
            alone: false,
            known: false,
            quick: false,
            language: "all".to_owned(),
            only: String::new(),
            way: Vec::new(),
            jobs: 2,
            keep: None,
            limit: 60,
            table: false,
        }
    }
}

/// How many programs there are in a file.
const BATCH: usize = 25;

/// Programs about which commands were wrong, and the table of all.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What was tried.
    pub table: Table,
    /// How many programs.
    pub programs: usize,
    /// What was wrong: the program, the way, and the disagreement.
    pub wrong: Vec<(Program, Way, Wrong)>,
}

impl Correct {
    /// Runs it; whether no command was wrong.
    ///
    /// # Errors
    /// If something cannot be built, started or written.
    pub fn run(&self) -> Result<bool, String> {
        let outcome = self.measure()?;
        match self.table {
            true => print!("{}", outcome.table.by_wait()),
            false => print!("{}", outcome.table.by_piece()),
        }
        eprintln!(
            "{} programs, {} disagreements",
            outcome.programs,
            outcome.wrong.len()
        );
        for (program, way, wrong) in &outcome.wrong {
            eprintln!("{}: {}: {}", way.name(), program.title(), wrong.what);
        }
        Ok(outcome.wrong.is_empty())
    }

    /// Tries all programs that were asked for.
    ///
    /// # Errors
    /// If something cannot be built, started or written.
    pub fn measure(&self) -> Result<Outcome, String> {
        let deadheat = std::path::absolute(&self.deadheat).map_err(|error| error.to_string())?;
        let mut batches = Vec::new();
        for language in self.languages()? {
            let programs = self.programs(language);
            batches.extend(programs.chunks(BATCH).map(|some| (language, some.to_vec())));
        }
        let outcome = Mutex::new(Outcome::default());
        let next = Mutex::new(batches.into_iter());
        let failed = Mutex::new(None);
        std::thread::scope(|scope| {
            for _ in 0..self.jobs.max(1) {
                scope.spawn(|| {
                    loop {
                        let batch = lock(&next).next();
                        let Some((language, programs)) = batch else {
                            return;
                        };
                        if let Err(error) = self.try_all(&deadheat, language, &programs, &outcome) {
                            *lock(&failed) = Some(error);
                            return;
                        }
                    }
                });
            }
        });
        if let Some(error) = lock(&failed).take() {
            return Err(error);
        }
        Ok(std::mem::take(&mut *lock(&outcome)))
    }

    fn languages(&self) -> Result<Vec<Language>, String> {
        let named =
            |language: &Language| self.language == "all" || self.language == language.name();
        let languages: Vec<Language> = Language::ALL.into_iter().filter(named).collect();
        match languages.is_empty() {
            true => Err(format!("there is no language {}", self.language)),
            false => Ok(languages),
        }
    }

    fn programs(&self, language: Language) -> Vec<Program> {
        let mut pieces = catalogue::pieces(language);
        pieces.retain(|piece| {
            piece.name.starts_with(&self.only)
                && (self.known || !piece.known)
                && !(self.quick && piece.slow)
        });
        if self.alone {
            return pieces.iter().map(Program::alone).collect();
        }
        let one = |number: usize| {
            let mut dice = Dice::new(self.seed.wrapping_mul(1_000_003) + number as u64);
            Program::random(&pieces, &mut dice)
        };
        (0..self.count).map(one).collect()
    }

    fn ways(&self) -> Vec<Way> {
        let named = |way: &Way| {
            *way == Way::Native
                || self.way.is_empty()
                || self.way.iter().any(|name| name == way.name())
        };
        Way::ALL.into_iter().filter(named).collect()
    }

    fn try_all(
        &self,
        deadheat: &Path,
        language: Language,
        programs: &[Program],
        outcome: &Mutex<Outcome>,
    ) -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let built = build::build(deadheat, language, programs, folder.path())?;
        for (number, program) in programs.iter().enumerate() {
            lock(outcome).programs += 1;
            let pieces: Vec<Piece> = program.uses.iter().map(|one| one.piece.clone()).collect();
            for way in self.ways() {
                let verdict = self.judge(deadheat, &built, number, program, way, folder.path())?;
                lock(outcome).table.add(&pieces, way, &verdict);
                if let Verdict::Wrong(wrong) = verdict {
                    let (program, wrong) = self.shrink(deadheat, language, program, way, *wrong)?;
                    eprintln!("{} {}: {}", way.name(), program.title(), wrong.what);
                    let mut outcome = lock(outcome);
                    self.keep(outcome.wrong.len(), &program, way, &wrong)?;
                    outcome.wrong.push((program, way, wrong));
                    if way == Way::Native {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    fn judge(
        &self,
        deadheat: &Path,
        built: &Built,
        number: usize,
        program: &Program,
        way: Way,
        folder: &Path,
    ) -> Result<Verdict, String> {
        let limit = Duration::from_secs(self.limit);
        judge::judge(
            deadheat,
            built,
            number,
            &program.expected(),
            way,
            folder,
            limit,
        )
    }

    /// The smallest program with fewer pieces about which the command is still wrong.
    fn shrink(
        &self,
        deadheat: &Path,
        language: Language,
        program: &Program,
        way: Way,
        wrong: Wrong,
    ) -> Result<(Program, Wrong), String> {
        for at in 0..program.uses.len() {
            let Some(fewer) = program.without(at) else {
                break;
            };
            let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
            let programs = std::slice::from_ref(&fewer);
            let built = build::build(deadheat, language, programs, folder.path())?;
            let verdict = self.judge(deadheat, &built, 0, &fewer, way, folder.path())?;
            if let Verdict::Wrong(wrong) = verdict {
                return self.shrink(deadheat, language, &fewer, way, *wrong);
            }
        }
        Ok((program.clone(), wrong))
    }

    /// Writes what was wrong into the folder: the text, the command and what it said.
    fn keep(
        &self,
        number: usize,
        program: &Program,
        way: Way,
        wrong: &Wrong,
    ) -> Result<(), String> {
        let Some(folder) = &self.keep else {
            return Ok(());
        };
        let said = |error: std::io::Error| format!("{}: {error}", folder.display());
        std::fs::create_dir_all(folder).map_err(said)?;
        let language = program.uses[0].piece.language;
        let names: Vec<&str> = program
            .uses
            .iter()
            .map(|one| one.piece.name.as_str())
            .collect();
        let name = format!(
            "{number}-{}-{}-{}",
            way.name().replace(' ', "-"),
            language.name(),
            names.join("-")
        );
        let text = super::language::text(language, std::slice::from_ref(program));
        let said_of = format!(
            "{}\nexpected: {}\n{}\n{}\n{}",
            program.title(),
            program.expected(),
            wrong.what,
            wrong.command,
            wrong.output
        );
        let end = match language {
            Language::C => "c",
            Language::Cpp => "cpp",
            Language::Rust => "rs",
        };
        std::fs::write(folder.join(format!("{name}.{end}")), text).map_err(said)?;
        std::fs::write(folder.join(format!("{name}.txt")), said_of).map_err(said)?;
        Ok(())
    }
}

/// Nobody panics while holding one of these.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
