//! One pair at a time in windows of several sizes.

use std::fmt::Write;
use std::time::{Duration, Instant};

use deadheat_bench::runs::Run;
use deadheat_predict::{
    Answer, Asker, Budget, Cut, Goal, Model, Reads, Reduced, Stage, Window, candidates, needed_by,
};

use super::{name, quantile, time, z3};
use crate::measure::own;

/// So many pairs of a window are asked about, evenly chosen.
const PAIRS: usize = 100;
/// How long a pair may take.
const BUDGET: Duration = Duration::from_secs(60);

/// The windows, and how many of the pairs Z3 is asked about.
const WINDOWS: [([u32; 4], usize); 4] = [
    ([1_000, 4, 10, 50], 10),
    ([10_000, 8, 20, 200], 4),
    ([10_000, 16, 50, 400], 4),
    ([50_000, 8, 20, 500], 0),
];

/// What was measured of a window.
pub struct Figures {
    name: String,
    /// All pairs that the quick check leaves, and those that were asked about.
    candidates: usize,
    asked: usize,
    /// Answers by stage: yes, no.
    settled: [[usize; 2]; Stage::ALL.len()],
    unknown: usize,
    /// CPU seconds, sorted.
    seconds: Vec<f64>,
    /// The same pairs with Z3: its seconds and ours.
    z3: Vec<(z3::Asked, f64)>,
}

/// A window with its candidates.
pub struct Asking {
    window: Window,
    reduced: Reduced,
}

impl Asking {
    /// The window that a run is.
    pub fn new(run: &Run) -> Self {
        let steps = run.steps();
        let needed = needed_by(&steps, Reads::ByBranch);
        let window = Window::whole(steps, needed);
        let reduced = Reduced::of(&window);
        Asking { window, reduced }
    }

    /// Asks about some pairs; with how many there are: the pairs in the whole window, the answers and the
    /// CPU seconds.
    pub fn ask(&self, most: usize) -> (usize, Vec<(Cut, Answer, Stage, f64)>) {
        let model = Model::new(&self.reduced.window);
        let found = candidates(&model, |_| true, |_| false);
        let all: Vec<[u32; 2]> = found
            .pairs
            .into_iter()
            .flat_map(|(_, pairs)| pairs)
            .collect();
        let mut asker = Asker::new(&model);
        let every = all.len().div_ceil(most).max(1);
        let asked = all.iter().step_by(every).map(|pair| {
            let cut = Cut {
                goal: Goal::Race,
                next: pair.to_vec(),
            };
            let budget = Budget {
                deadline: Some(Instant::now() + BUDGET),
                ..Budget::default()
            };
            let before = own();
            let (answer, stage) = asker.ask(&cut, &budget);
            let seconds = own() - before;
            let next = pair.iter().map(|event| self.reduced.position(*event));
            let whole = Cut {
                goal: Goal::Race,
                next: next.collect(),
            };
            (whole, answer, stage, seconds)
        });
        (all.len(), asked.collect())
    }
}

/// Measures all windows.
pub fn measure() -> Result<Vec<Figures>, String> {
    let mut all = Vec::new();
    for ([events, threads, locks, variables], with_z3) in WINDOWS {
        let run = Run {
            events: events as usize,
            threads,
            locks,
            variables,
            ..Run::default()
        };
        eprintln!("bench: pairs, {}", name(&run));
        all.push(window(&run, with_z3)?);
    }
    Ok(all)
}

fn window(run: &Run, with_z3: usize) -> Result<Figures, String> {
    let asking = Asking::new(run);
    let (candidates, asked) = asking.ask(PAIRS);
    let mut figures = Figures {
        name: name(run),
        candidates,
        asked: asked.len(),
        settled: Default::default(),
        unknown: 0,
        seconds: asked.iter().map(|(.., seconds)| *seconds).collect(),
        z3: Vec::new(),
    };
    figures.seconds.sort_by(f64::total_cmp);
    for (_, answer, stage, _) in &asked {
        match answer {
            Answer::Reached(_) => figures.settled[*stage as usize][0] += 1,
            Answer::Impossible => figures.settled[*stage as usize][1] += 1,
            Answer::Unknown => figures.unknown += 1,
        }
    }
    let every = asked.len().div_ceil(with_z3.max(1)).max(1);
    for (cut, _, _, seconds) in asked.iter().step_by(every).take(with_z3) {
        eprintln!("bench: Z3, {:?}", cut.next);
        figures.z3.push((z3::ask(&asking.window, cut)?, *seconds));
    }
    Ok(figures)
}

/// Writes the tables.
pub fn write(out: &mut String, all: &[Figures]) -> std::fmt::Result {
    writeln!(out, "### One pair at a time\n")?;
    writeln!(
        out,
        "CPU time for one pair of accesses that the quick check leaves, in one thread; {PAIRS} of the pairs of each window, evenly \
         chosen. By\nstage: how many of these it proved to race and not to. No pair was left without an answer \
         unless it is said.\n"
    )?;
    writeln!(
        out,
        "| window | candidates | asked | closure | saturation | search | median | 95 % | longest |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|---|---|")?;
    for figures in all {
        let stage = |stage: Stage| {
            let [yes, no] = figures.settled[stage as usize];
            format!("{yes} / {no}")
        };
        let unknown = match figures.unknown {
            0 => String::new(),
            unknown => format!(" ({unknown} without an answer)"),
        };
        writeln!(
            out,
            "| {} | {} | {}{unknown} | {} | {} | {} | {} | {} | {} |",
            figures.name,
            figures.candidates,
            figures.asked,
            stage(Stage::Closure),
            stage(Stage::Saturation),
            stage(Stage::Search),
            time(quantile(&figures.seconds, 0.5)),
            time(quantile(&figures.seconds, 0.95)),
            time(quantile(&figures.seconds, 1.0)),
        )?;
    }
    writeln!(
        out,
        "\nZ3 {} on the paper's formula (QF_IDL) for some of the same pairs of the same windows: CPU time of its search alone, without \
         making and\nreading the formula. It is stopped after {} s of that, or {} s in all; a stopped one counts with the CPU time that it had \
         had by then,\nreading included, at most {} s. Ratios are Z3's time to ours, pair by pair.\n",
        z3::version().unwrap_or_default(),
        z3::LIMIT,
        z3::WHOLE,
        z3::LIMIT
    )?;
    writeln!(
        out,
        "| window | pairs | stopped | Z3, median | ours, median | median ratio | smallest ratio |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|---|")?;
    for figures in all.iter().filter(|figures| !figures.z3.is_empty()) {
        let sorted = |of: &dyn Fn(&(z3::Asked, f64)) -> f64| {
            let mut numbers: Vec<f64> = figures.z3.iter().map(of).collect();
            numbers.sort_by(f64::total_cmp);
            numbers
        };
        let ratios = sorted(&|(z3, ours)| z3.seconds / ours.max(1e-6));
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {:.0} | {:.1} |",
            figures.name,
            figures.z3.len(),
            figures.z3.iter().filter(|(z3, _)| !z3.is_answered).count(),
            time(quantile(&sorted(&|(z3, _)| z3.seconds), 0.5)),
            time(quantile(&sorted(&|(_, ours)| *ours), 0.5)),
            quantile(&ratios, 0.5),
            ratios[0],
        )?;
    }
    Ok(())
}
