//! The rules of the detailed mode on recordings of the benchmarks' programs: they save memory, and a race
//! on every location that has one is found with them and without (O'Callahan and Choi, theorems 2 and 3).

mod support;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use deadheat_bench::setting::{Flagged, Setting};
use deadheat_detect::{Channels, Detector, Hybrid, Races, Simple};
use deadheat_oracle::Oracle;
use deadheat_trace::file::TraceFile;
use deadheat_trace::{Addr, EventIndex, Steps, Trace};
use support::{Sandbox, succeed};

const KERNELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/kernels");

/// How much of a recording is looked at: without rules every access is compared with all before it.
const MOST_STEPS: usize = 120_000;

fn source(program: &str) -> PathBuf {
    Path::new(KERNELS).join(program).with_extension("c")
}

/// The beginning of a serial recording of one round.
fn record(program: &str) -> Trace {
    let here = Sandbox::new();
    let mut cc = here.deadheat(["cc", "-O2", "-g", "-pthread", "-o", program]);
    succeed(cc.arg(source(program)));
    let path = here.path().join("trace.dht");
    let mut run = here.command(here.path().join(program));
    succeed(
        run.arg("1")
            .env("DEADHEAT_TRACE", &path)
            .env("DEADHEAT_OPTIONS", "mode=serial:seed=1"),
    );
    let file = TraceFile::open(&path).unwrap();
    let mut trace = file.read().collect_trace().unwrap();
    trace.steps.truncate(MOST_STEPS);
    trace
}

fn show<D: Detector>(detector: &mut D, trace: &Trace, only: Option<&Flagged>) -> Races {
    let mut races = Races::new();
    for (index, step) in trace.steps.iter().enumerate() {
        if only.is_none_or(|only| only.wants(&step.event)) {
            detector.step(EventIndex(index as u64), step, &trace.tables, &mut races);
        }
    }
    races
}

/// What the detailed mode does with a recording.
struct Outcome {
    racing: BTreeSet<Addr>,
    remembered: u64,
}

fn detailed(setting: Setting, trace: &Trace) -> Outcome {
    let channels = Channels::find(&mut trace.stream()).unwrap();
    let mut hybrid = Hybrid::new(setting.options(&channels).unwrap());
    let flagged = Flagged::by(&show(&mut Simple::new(), trace, None));
    let only = (setting == Setting::Flagged).then_some(&flagged);
    let races = show(&mut hybrid, trace, only);
    assert_eq!(hybrid.unsure_locations(), 0);
    Outcome {
        racing: races.variables().into_iter().collect(),
        remembered: hybrid.remembered(),
    }
}

/// Compares the settings; what the rules remember, without oversized-lockset, and without both.
fn compare(program: &str) -> [u64; 3] {
    let oracle = Oracle::read(source(program)).unwrap();
    assert!(oracle.decides_races());
    let objects: BTreeSet<&str> = oracle.races.iter().map(|race| &*race.object).collect();
    let trace = record(program);
    let all = detailed(Setting::Detailed, &trace);
    // Each of these objects is one word.
    assert_eq!(all.racing.len(), objects.len(), "{objects:?}");
    let rules_off = [Setting::NoOversized, Setting::NoOpts].map(|setting| {
        let less = detailed(setting, &trace);
        assert_eq!(less.racing, all.racing, "{setting:?}");
        less.remembered
    });
    let flagged = detailed(Setting::Flagged, &trace);
    assert!(flagged.racing.is_subset(&all.racing));
    assert!(flagged.remembered <= all.remembered);
    [all.remembered, rules_off[0], rules_off[1]]
}

#[test]
fn a_bound_that_is_read_without_its_lock() {
    let [all, _, none] = compare("tsp");
    assert!(all * 10 < none, "{all} {none}");
}

#[test]
fn a_grid_with_barriers() {
    let [all, _, none] = compare("sor");
    assert!(all < none, "{all} {none}");
}

#[test]
fn many_pairs_of_locks_around_data_that_is_only_read() {
    let [all, no_oversized, none] = compare("server");
    assert!(
        all < no_oversized && no_oversized < none,
        "{all} {no_oversized} {none}"
    );
}

#[test]
fn messages_through_a_buffer() {
    let [all, _, none] = compare("prodcons");
    assert!(all * 10 < none, "{all} {none}");
}
