//! How time grows with the window, threads, locks and pairs.

use std::fmt::Write;

use deadheat_bench::runs::Run;

use super::pairs::Asking;
use super::{quantile, time};

/// So many pairs of each window are asked about.
const PAIRS: usize = 30;

/// One kind of figure, and what it is in each run.
struct Series {
    what: &'static str,
    values: [u32; 4],
    run: fn(u32) -> Run,
}

const SERIES: [Series; 4] = [
    Series {
        what: "events",
        values: [2_500, 5_000, 10_000, 20_000],
        run: |events| Run {
            events: events as usize,
            ..Run::default()
        },
    },
    Series {
        what: "threads",
        values: [2, 4, 8, 16],
        run: |threads| Run {
            threads,
            ..Run::default()
        },
    },
    Series {
        what: "locks",
        values: [5, 10, 20, 40],
        run: |locks| Run {
            locks,
            ..Run::default()
        },
    },
    Series {
        what: "tasks without a lock, per mille",
        values: [25, 50, 100, 200],
        run: |careless| Run {
            careless,
            ..Run::default()
        },
    },
];

/// What was measured of one run.
pub struct Figure {
    what: &'static str,
    value: u32,
    candidates: usize,
    /// CPU seconds, sorted.
    seconds: Vec<f64>,
}

/// Measures all series.
pub fn measure() -> Vec<Figure> {
    let mut figures = Vec::new();
    for series in &SERIES {
        for value in series.values {
            eprintln!("bench: growth, {} {}", value, series.what);
            let asking = Asking::new(&(series.run)(value));
            let (candidates, asked) = asking.ask(PAIRS);
            let mut seconds: Vec<f64> = asked.iter().map(|(.., seconds)| *seconds).collect();
            seconds.sort_by(f64::total_cmp);
            figures.push(Figure {
                what: series.what,
                value,
                candidates,
                seconds,
            });
        }
    }
    figures
}

/// Writes the table.
pub fn write(out: &mut String, figures: &[Figure]) -> std::fmt::Result {
    let usual = Run::default();
    writeln!(out, "\n### How time grows\n")?;
    writeln!(
        out,
        "CPU time for one pair, {PAIRS} of each window, if one figure of the window with {} events, {} threads, {} locks and {} \
         variables\nchanges. For all candidates: the mean, times their number.\n",
        usual.events, usual.threads, usual.locks, usual.variables
    )?;
    writeln!(
        out,
        "| | candidates | median | mean | longest | for all candidates |"
    )?;
    writeln!(out, "|---|---|---|---|---|---|")?;
    for figure in figures {
        let mean = figure.seconds.iter().sum::<f64>() / figure.seconds.len().max(1) as f64;
        writeln!(
            out,
            "| {} {} | {} | {} | {} | {} | {} |",
            figure.value,
            figure.what,
            figure.candidates,
            time(quantile(&figure.seconds, 0.5)),
            time(mean),
            time(quantile(&figure.seconds, 1.0)),
            time(mean * figure.candidates as f64),
        )?;
    }
    Ok(())
}
