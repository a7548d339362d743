//! A share of the differential fuzzer: fixed seeds, a few programs of each language. `bench/run fuzz` runs
//! thousands.

use deadheat_fuzz::random::campaign::{Campaign, run};
use deadheat_fuzz::random::program::Language;
use deadheat_fuzz::tool::Tool;

fn agree(language: Language, count: usize) {
    let tool = Tool::find(Some(env!("CARGO_BIN_EXE_deadheat").into())).unwrap();
    let campaign = Campaign {
        tool,
        seed: 20_000,
        count,
        languages: vec![language],
        jobs: 2,
        batch: 32,
        states: 1_000,
        replay_every: 5,
        keep: None,
        shrink: 0,
        scan: false,
        progress: false,
    };
    let summary = run(&campaign).unwrap();
    assert!(summary.wrong.is_empty(), "{:#?}", summary.wrong);
    assert!(
        summary.figures.iter().all(|(_, f)| f.programs > count / 3),
        "{:?}",
        summary.figures
    );
}

#[test]
fn programs_in_c() {
    agree(Language::C, 8);
}

#[test]
fn programs_in_cpp() {
    agree(Language::Cpp, 4);
}

#[test]
fn programs_in_rust() {
    agree(Language::Rust, 4);
}
