//! Many programs: batches on several threads, figures, and what disagrees made small and kept.

use super::build::{self, Build};
use super::compare::{Disagreement, Judge, Wrong};
use super::generate::generate;
use super::known::{Known, know};
use super::program::{Language, Program};
use super::render::render;
use super::scan;
use super::shrink::shrink;
use super::table::Figures;
use super::trial::{self, Outcome, Plan};
use crate::tool::{Report, Tool};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long a program is made smaller, at most: one that hangs takes its time each time.
const SHRINKING: Duration = Duration::from_secs(90);

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Campaign {
    /// The command under test.
    pub tool: Tool,
    /// The first seed.
    pub seed: u64,
    /// How many programs of each language.
    pub count: usize,
    /// In which languages.
    pub languages: Vec<Language>,
    /// How many at a time.
    pub jobs: usize,
    /// How many in one file.
    pub batch: usize,
    /// How many states a program may have.
    pub states: usize,
    /// Every so many programs one finding is replayed 20 times.
    pub replay_every: u64,
    /// Where what disagrees is kept.
    pub keep: Option<PathBuf>,
    /// How often a shrinking program may be run.
    pub shrink: usize,
    /// Whether to put them to `scan`, too: that needs the analyser beside the command.
    pub scan: bool,
    /// Whether to say how far it is.
    pub progress: bool,
}

/// Something that is wrong with a program.
#[derive(Debug)]
pub struct Disagreeing {
    /// The language.
    pub language: Language,
    /// The seed.
    pub seed: u64,
    /// What is wrong.
    pub wrong: Disagreement,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Summary {
    /// Figures for each language.
    pub figures: Vec<(Language, Figures)>,
    /// Everything that is wrong.
    pub wrong: Vec<Disagreeing>,
}

struct Work<'a> {
    campaign: &'a Campaign,
    folder: &'a Path,
    summary: Mutex<Summary>,
}

/// Runs a campaign.
///
/// # Errors
///
/// If there is no folder to work in.
pub fn run(campaign: &Campaign) -> Result<Summary, String> {
    let folder = tempfile::tempdir().map_err(|e| format!("no temporary folder: {e}"))?;
    let per_batch = campaign
        .batch
        .min(campaign.count.div_ceil(campaign.jobs.max(1)))
        .max(1);
    let mut batches = Vec::new();
    for language in &campaign.languages {
        let mut first = 0;
        while first < campaign.count {
            batches.push((
                *language,
                campaign.seed + first as u64,
                per_batch.min(campaign.count - first),
            ));
            first += per_batch;
        }
    }
    let work = Work {
        campaign,
        folder: folder.path(),
        summary: Mutex::new(Summary {
            figures: campaign
                .languages
                .iter()
                .map(|l| (*l, Figures::default()))
                .collect(),
            wrong: Vec::new(),
        }),
    };
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..campaign.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some((language, seed, count)) = batches.get(number) else {
                        break;
                    };
                    work.batch(*language, *seed, *count, Build::of(number, *language));
                }
            });
        }
    });
    work.summary
        .into_inner()
        .map_err(|_| "a thread of the campaign died".to_owned())
}

impl Work<'_> {
    fn with(&self, language: Language, change: impl FnOnce(&mut Figures)) {
        if let Ok(mut summary) = self.summary.lock()
            && let Some((_, figures)) = summary.figures.iter_mut().find(|(l, _)| *l == language)
        {
            change(figures);
        }
    }

    fn batch(&self, language: Language, first: u64, count: usize, build: Build) {
        let mut known = Vec::new();
        for seed in first..first + count as u64 {
            match know(generate(seed, language), self.campaign.states) {
                Some(one) => known.push(one),
                None => self.with(language, |f| f.too_large += 1),
            }
        }
        if known.is_empty() {
            return;
        }
        let folder = self.folder.join(format!("{}-{first}", language.ending()));
        let programs: Vec<&Program> = known.iter().map(|k| &k.program).collect();
        let built = match build::build(&self.campaign.tool, &folder, &programs, build) {
            Ok(built) => built,
            Err(problem) => {
                self.wrong(language, first, build_failed(problem));
                return;
            }
        };
        let scanned = self.scanned(language, first, &built);
        for (n, one) in known.iter().enumerate() {
            let seed = one.program.seed;
            let plan = Plan {
                only: None,
                replays: if seed % self.campaign.replay_every.max(1) == 0 {
                    20
                } else {
                    0
                },
                seed: seed % 7,
            };
            let outcome = match trial::run(&self.campaign.tool, &built, n, one, &plan) {
                Ok(outcome) => outcome,
                Err(problem) => {
                    self.wrong(language, seed, build_failed(problem.to_string()));
                    continue;
                }
            };
            let judge = built
                .batch
                .lines
                .get(n)
                .map(|lines| Judge::new(one, lines, &built.file, build.optimised));
            if let Some(judge) = judge {
                let warned = scanned.as_ref().map(|report| scan::warned(report, &judge));
                self.with(language, |f| f.add(&judge, &outcome, warned));
            }
            self.disagreements(one, &outcome, &plan, build);
        }
        let _ = fs::remove_dir_all(&folder);
        self.say_how_far();
    }

    /// What `scan` says about a file, if it is asked.
    fn scanned(&self, language: Language, first: u64, built: &build::Built) -> Option<Report> {
        if !self.campaign.scan || built.build != Build::default() {
            return None;
        }
        match scan::scan(&self.campaign.tool, built) {
            Ok(Ok(report)) => return Some(report),
            Ok(Err(wrong)) => self.wrong(language, first, wrong),
            Err(problem) => self.wrong(language, first, build_failed(problem.to_string())),
        }
        None
    }

    fn say_how_far(&self) {
        if !self.campaign.progress {
            return;
        }
        if let Ok(summary) = self.summary.lock() {
            let programs: usize = summary.figures.iter().map(|(_, f)| f.programs).sum();
            eprintln!(
                "fuzz: {programs} programs, {} disagreements",
                summary.wrong.len()
            );
        }
    }

    fn wrong(&self, language: Language, seed: u64, wrong: Disagreement) {
        if self.campaign.progress {
            eprintln!("fuzz: {language} seed {seed}: {wrong}");
        }
        if let Ok(mut summary) = self.summary.lock() {
            summary.wrong.push(Disagreeing {
                language,
                seed,
                wrong,
            });
        }
    }

    /// Keeps what is wrong with a program, the first of each kind made small.
    fn disagreements(&self, known: &Known, outcome: &Outcome, plan: &Plan, build: Build) {
        let mut kinds: Vec<(&'static str, Wrong)> = Vec::new();
        for wrong in &outcome.wrong {
            self.wrong(known.program.language, known.program.seed, wrong.clone());
            if !kinds.contains(&(wrong.command, wrong.wrong)) {
                kinds.push((wrong.command, wrong.wrong));
            }
        }
        let Some(keep) = &self.campaign.keep else {
            return;
        };
        for (command, wrong) in kinds {
            let name = format!(
                "{}-{}-{command}-{wrong:?}",
                known.program.language.ending(),
                known.program.seed
            );
            let folder = self.folder.join(format!("shrink-{name}"));
            let plan = Plan {
                only: Some(command),
                ..plan.clone()
            };
            let mut last = None;
            let begin = Instant::now();
            let mut still = |program: &Program| {
                if begin.elapsed() > SHRINKING {
                    return false;
                }
                let Some(known) = know(program.clone(), self.campaign.states) else {
                    return false;
                };
                match self.once_more(&folder, &known, &plan, build) {
                    Some((text, outcome)) if outcome.wrong.iter().any(|w| w.wrong == wrong) => {
                        last = Some(describe(&known, &text, &outcome, build));
                        true
                    }
                    _ => false,
                }
            };
            let first = still(&known.program);
            if first {
                shrink(&known.program, self.campaign.shrink, &mut still);
            }
            let text = last.unwrap_or_else(|| {
                let seen = format!("seen once only: {:#?}\n{:#?}", outcome.wrong, outcome.ran);
                format!("// {}\n", seen.replace('\n', "\n// "))
            });
            let _ = fs::create_dir_all(keep);
            let _ = fs::write(
                keep.join(format!("{name}.{}", known.program.language.ending())),
                text,
            );
            let _ = fs::remove_dir_all(&folder);
        }
    }

    fn once_more(
        &self,
        folder: &Path,
        known: &Known,
        plan: &Plan,
        build: Build,
    ) -> Option<(String, Outcome)> {
        let built = build::build(&self.campaign.tool, folder, &[&known.program], build).ok()?;
        let outcome = trial::run(&self.campaign.tool, &built, 0, known, plan).ok()?;
        Some((built.batch.text, outcome))
    }
}

fn build_failed(detail: String) -> Disagreement {
    Disagreement {
        command: "build",
        wrong: Wrong::Build,
        detail,
    }
}

/// A program's text with its truth and what was said about it, as comments.
fn describe(known: &Known, text: &str, outcome: &Outcome, build: Build) -> String {
    let batch = super::render::render(&[&known.program]);
    let lines = batch.lines.first().cloned().unwrap_or_default();
    let judge = Judge::new(known, &lines, "", build.optimised);
    let mut out = String::from(text);
    let built = build.arguments(known.program.language).join(" ");
    let _ = writeln!(out, "// seed {}, {built}", known.program.seed);
    let _ = writeln!(out, "// truth: races {:?}", judge.most.races);
    let _ = writeln!(
        out,
        "// truth: deadlocks {:?}, threads for ever at {:?}",
        judge.most.deadlocks, judge.most.stuck
    );
    let _ = writeln!(
        out,
        "// truth: failures {:?}, outputs {:?}",
        judge.most.failures, known.most.outputs
    );
    for wrong in &outcome.wrong {
        let _ = writeln!(out, "// {}", wrong.to_string().replace('\n', "\n// "));
    }
    for ran in &outcome.ran {
        let said = format!(
            "{}: {:?}\n{}{}",
            ran.command, ran.code, ran.stdout, ran.stderr
        );
        let _ = writeln!(out, "// {}", said.replace('\n', "\n// "));
    }
    out
}

/// Writes the file of a batch, to look at what one command says of it.
///
/// # Errors
///
/// If it cannot be written.
pub fn write(
    first: u64,
    count: usize,
    language: Language,
    states: usize,
    folder: &Path,
) -> io::Result<()> {
    let known: Vec<Known> = (first..first + count as u64)
        .filter_map(|seed| know(generate(seed, language), states))
        .collect();
    let programs: Vec<&Program> = known.iter().map(|k| &k.program).collect();
    fs::create_dir_all(folder)?;
    let file = folder.join(format!("batch.{}", language.ending()));
    fs::write(file, render(&programs).text)
}

/// The program of a seed with its truth, as text.
#[must_use]
pub fn show(seed: u64, language: Language, states: usize) -> String {
    let program = generate(seed, language);
    let batch = super::render::render(&[&program]);
    match know(program, states) {
        Some(known) => describe(&known, &batch.text, &Outcome::default(), Build::default()),
        None => format!("{}// more than {states} states\n", batch.text),
    }
}
