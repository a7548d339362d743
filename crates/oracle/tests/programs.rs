//! The programs under test are well marked: every file reads without an error (so every partner
//! line mirrors its mark), says what is expected, and keeps to the house rules.

use std::path::{Path, PathBuf};

use deadheat_oracle::{Oracle, TargetKind, read_folder};

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs")
}

/// All sources below a folder of `programs/`.
fn sources(folder: &str) -> Vec<Oracle> {
    read_folder(programs().join(folder)).unwrap_or_else(|error| panic!("{error}"))
}

fn all_sources() -> Vec<Oracle> {
    ["papers", "zoo", "scenarios", "rust"].map(sources).concat()
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
    let figures = papers.iter().filter(|oracle| !is_of_tables(oracle));
    let names: Vec<&str> = figures.map(stem).collect();
    assert_eq!(names, expected);
}

/// Whether a program is after a row of a paper's table: such programs do several things, and are longer.
fn is_of_tables(oracle: &Oracle) -> bool {
    oracle.path.parent() == Some(&programs().join("papers/tables"))
}

#[test]
fn every_program_after_a_table_says_which_row_it_is_and_what_it_prints() {
    let tables = sources("papers/tables");
    assert!(tables.len() >= 24, "{} programs", tables.len());
    for oracle in &tables {
        let text = std::fs::read_to_string(&oracle.path).expect("it was read a moment ago");
        let path = oracle.path.display();
        let papers = ["hybrid", "maximal", "interleave"];
        let names_row = papers
            .iter()
            .any(|paper| text.starts_with(&format!("// After \"{paper}\", table")));
        assert!(names_row, "{path}: which table?");
        assert!(
            oracle.directives.stdout.is_some(),
            "{path}: no EXPECT-STDOUT"
        );
    }
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
    for oracle in ["zoo", "scenarios", "rust"].map(sources).concat() {
        let (name, path) = (stem(&oracle), oracle.path.display());
        assert_eq!(name.ends_with("_race"), oracle.has_race(), "{path}");
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
fn most_scenarios_have_an_error_and_many_only_look_like_it() {
    let all = [sources("scenarios"), sources("rust/scenarios")].concat();
    let has_error = |oracle: &&Oracle| oracle.has_race() || !oracle.deadlocks.is_empty();
    let wrong = all.iter().filter(has_error).count();
    assert!(all.len() >= 48, "{} scenarios", all.len());
    assert!(
        (all.len() / 2..=all.len() * 2 / 3).contains(&wrong),
        "{wrong} of {}",
        all.len()
    );
    for oracle in &all {
        let (name, has_deadlock) = (stem(oracle), !oracle.deadlocks.is_empty());
        assert_eq!(name.ends_with("_deadlock"), has_deadlock, "{name}");
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
                // What the C library calls its streams.
                let object = request.waits_for.strip_prefix("_IO_2_1_");
                let object =
                    object.map_or(&*request.waits_for, |stream| stream.trim_end_matches('_'));
                assert!(
                    code.contains(object),
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
fn rust_programs_are_where_cargo_finds_them_and_say_what_they_print() {
    let rust = sources("rust");
    let mut programs = 0;
    for oracle in &rust {
        let path = oracle.path.display();
        let Some(target) = oracle.cargo_target() else {
            assert!(oracle.directives.part_of.is_some(), "{path}: no PART-OF");
            continue;
        };
        let manifest = std::fs::read_to_string(target.folder.join("Cargo.toml"))
            .unwrap_or_else(|error| panic!("{path}: no package: {error}"));
        let name = format!("name = \"{}\"\n", target.package);
        assert!(
            manifest.contains(&name),
            "{path}: not in {}",
            target.package
        );
        if matches!(target.kind, TargetKind::Program | TargetKind::Example) {
            programs += 1;
            assert!(
                oracle.directives.stdout.is_some(),
                "{path}: no EXPECT-STDOUT"
            );
        }
    }
    assert!(programs > 0, "there are programs");
}

/// Programs that are about time: nothing depends on who wakes up first.
const SLEEPERS: [&str; 6] = [
    "sleep",
    "tokio_channels",
    "signal_threads",
    "wait_alarm",
    "wait_cancel",
    "wait_child_signal",
];

/// Programs that are about ending otherwise than with exit code 0.
const FAILING: [&str; 2] = ["exit", "panic_main"];

#[test]
fn no_order_is_slept_for_and_no_program_is_long() {
    for oracle in all_sources() {
        let text = std::fs::read_to_string(&oracle.path).expect("it was read a moment ago");
        let path = oracle.path.display();
        for call in ["sleep(", "sleep_for(", "sleep_until("] {
            let sleeps = text.contains(call) && !SLEEPERS.contains(&stem(&oracle));
            assert!(!sleeps, "{path}: calls {call}...)");
        }
        let kind = oracle.cargo_target().map(|target| target.kind);
        let most = if is_of_tables(&oracle) { 160 } else { 90 };
        let is_short = text.lines().count() <= most || kind == Some(TargetKind::Library);
        assert!(is_short, "{path}: more than {most} lines");
        let fails = oracle.directives.exit != 0;
        assert_eq!(
            fails,
            FAILING.contains(&stem(&oracle)),
            "{path}: its exit code"
        );
    }
}
