//! The programs under test are well marked: every file reads without an error (so every partner
//! line mirrors its mark), says what is expected, and keeps to the house rules.

use std::path::{Path, PathBuf};

use deadheat_oracle::{Oracle, read_folder};

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs")
}

/// All sources below a folder of `programs/`.
fn sources(folder: &str) -> Vec<Oracle> {
    read_folder(programs().join(folder)).unwrap_or_else(|error| panic!("{error}"))
}

fn all_sources() -> Vec<Oracle> {
    [sources("papers"), sources("zoo")].concat()
}

fn stem(oracle: &Oracle) -> &str {
    oracle
        .path
        .file_stem()
        .and_then(|stem| stem.to_str())
        .expect("a file name in UTF-8")
}

#[test]
fn every_source_decides_whether_it_has_races() {
    for oracle in all_sources() {
        assert!(
            oracle.decides_races(),
            "{}: no verdict on races",
            oracle.path.display()
        );
    }
}

#[test]
fn the_figures_of_the_papers_are_there() {
    let expected = [
        "hybrid_fig1",
        "hybrid_fig2",
        "hybrid_fig4",
        "listing1",
        "maximal_array",
        "maximal_fig1",
        "maximal_fig2_case1",
        "maximal_fig2_case2",
        "prefix_fig4",
        "prefix_fig6",
        "prefix_fig7",
        "static_fig2",
    ];
    let papers = sources("papers");
    let names: Vec<&str> = papers.iter().map(stem).collect();
    assert_eq!(names, expected);
}

#[test]
fn the_same_accesses_race_in_one_case_of_the_figure_and_not_in_the_other() {
    let papers = sources("papers");
    let case = |name| {
        papers
            .iter()
            .find(|oracle| stem(oracle) == name)
            .expect("a figure")
    };
    assert_eq!(case("maximal_fig2_case1").races.len(), 1);
    assert!(case("maximal_fig2_case2").no_race);
}

#[test]
fn names_tell_the_verdict() {
    for oracle in sources("zoo") {
        let (name, path) = (stem(&oracle), oracle.path.display());
        assert_eq!(name.ends_with("_race"), !oracle.races.is_empty(), "{path}");
        if name.ends_with("_deadlock") {
            assert!(
                !oracle.deadlocks.is_empty(),
                "{path}: no deadlock is marked"
            );
        }
        if name.ends_with("_nodeadlock") {
            assert!(oracle.no_deadlock, "{path}: the header lacks NODEADLOCK");
        }
    }
}

#[test]
fn marked_lines_have_code_that_names_the_object() {
    for oracle in all_sources() {
        let text = std::fs::read_to_string(&oracle.path).expect("it was read a moment ago");
        for deadlock in &oracle.deadlocks {
            for request in &deadlock.requests {
                let line = text
                    .lines()
                    .nth(request.line as usize - 1)
                    .unwrap_or_default();
                let code = line.split("//").next().unwrap_or_default();
                let place = format!("{}:{}", oracle.path.display(), request.line);
                assert!(
                    code.contains(&request.waits_for),
                    "{place}: {} is not there",
                    request.waits_for
                );
            }
        }
    }
}

#[test]
fn parts_and_programs_know_each_other() {
    let all = all_sources();
    for oracle in &all {
        let folder = oracle.path.parent().expect("a folder");
        for extra in &oracle.directives.also {
            let source = folder.join(&extra.source);
            let part = all.iter().find(|other| other.path == source);
            let part = part.unwrap_or_else(|| panic!("{} is missing", source.display()));
            assert!(
                part.directives.part_of.is_some(),
                "{}: no PART-OF",
                source.display()
            );
        }
        if let Some(program) = &oracle.directives.part_of {
            assert!(folder.join(program).is_file(), "{program} is missing");
        }
    }
}

#[test]
fn no_order_is_slept_for_and_no_program_is_long() {
    for oracle in all_sources() {
        let text = std::fs::read_to_string(&oracle.path).expect("it was read a moment ago");
        let path = oracle.path.display();
        for call in ["sleep(", "sleep_for(", "sleep_until("] {
            assert!(!text.contains(call), "{path}: calls {call}...)");
        }
        assert!(text.lines().count() <= 80, "{path}: more than 80 lines");
        assert!(oracle.directives.exit == 0, "{path}: fails by design");
    }
}
