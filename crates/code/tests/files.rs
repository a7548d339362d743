//! Programs' files: stripped, damaged, cached.

mod support;

use std::process::Command;

use deadheat_code::{Binary, Error, Facts, Point};
use proptest::prelude::*;
use support::{Build, Program, changed};

const SOURCE: &str = r"
int x, y;
static inline __attribute__((always_inline)) int inner(void) {
    return x;           // inner reads
}
void outer(void) {
    if (inner())        // outer calls
        y = 1;          // outer writes
}
";

fn program() -> Program {
    let build = Build {
        compiler: "gcc",
        level: 1,
    };
    Program::new(build, "small.c", SOURCE)
}

/// All that can be asked.
fn ask_everything(binary: &Binary) -> usize {
    let facts = Facts::of(binary);
    let ways = facts.ways().count();
    for pc in facts.sites() {
        binary.frames(pc - 1);
        facts.address(pc);
        facts.between(Point::Entry(pc), Point::After(pc));
    }
    for address in (0..0x5000).step_by(0x40) {
        binary.frames(address);
        binary.variable(address);
    }
    ways
}

#[test]
fn functions_and_lines_innermost_first() {
    let p = program();
    let frames = p.binary.frames(p.site("inner reads") - 1);
    let shown: Vec<_> = frames
        .iter()
        .map(|frame| {
            (
                frame.function.as_deref().unwrap(),
                frame.line.unwrap(),
                frame.inlined,
            )
        })
        .collect();
    assert_eq!(shown, [("inner", 4, true), ("outer", 7, false)]);
    assert!(frames[0].file.as_deref().unwrap().ends_with("small.c"));
    assert_eq!(
        p.binary.frames(p.site("inner reads") - 1),
        frames,
        "asked again"
    );
    assert_eq!(p.binary.frames(u64::MAX), []);
}

#[test]
fn names_are_demangled() {
    let build = Build {
        compiler: "gcc",
        level: 0,
    };
    let source = "namespace ns { int x; void set(int *p) { *p = x; // sets\n } }\n";
    let p = Program::new(build, "names.cpp", source);
    let site = p.sites("sets")[0];
    let name = p.binary.frames(site - 1)[0].function.clone();
    assert_eq!(name.as_deref(), Some("ns::set(int*)"));
}

#[test]
fn a_program_without_debug_information_still_has_names_and_facts() {
    let p = program();
    let site = p.site("outer writes");
    let strip = |option: &str| {
        let path = p.path().with_extension(option.trim_start_matches('-'));
        let mut strip = Command::new("strip");
        let done = strip
            .arg(option)
            .arg(p.path())
            .arg("-o")
            .arg(&path)
            .status();
        assert!(done.unwrap().success());
        Binary::open(&path).unwrap()
    };
    let named = strip("--strip-debug");
    let frames = named.frames(site - 1);
    assert_eq!(frames[0].function.as_deref(), Some("outer"));
    assert_eq!((frames.len(), frames[0].line), (1, None));
    let ways = |facts: &Facts| facts.ways().collect::<Vec<_>>();
    assert_eq!(ways(&Facts::of(&named)), ways(&p.facts));
    let nameless = strip("--strip-all");
    assert_eq!(nameless.frames(site - 1), []);
    assert_eq!(
        ways(&Facts::of(&nameless)),
        ways(&p.facts),
        "hooks are imports"
    );
}

#[test]
fn what_is_no_program_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Binary::open(&folder.path().join("missing"));
    assert!(matches!(missing, Err(Error::Unreadable { .. })));
    for content in [&b""[..], b"#!/bin/sh\n", b"\x7fELF"] {
        let path = changed(folder.path(), content);
        assert!(Binary::open(&path).is_err(), "{content:?}");
    }
    assert!(Binary::open(folder.path()).is_err());
    let mut bytes = std::fs::read(program().path()).unwrap();
    bytes[18] = 183; // aarch64
    let other = Binary::open(&changed(folder.path(), &bytes));
    assert!(matches!(other, Err(Error::OtherMachine { .. })));
}

#[test]
fn facts_are_kept_by_build_id() {
    let p = program();
    let folder = tempfile::tempdir().unwrap();
    let ways = |facts: Facts| facts.ways().collect::<Vec<_>>();
    let made = ways(Facts::load_or_make(&p.binary, folder.path()));
    assert_eq!(made, ways(p.facts.clone()));
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(files.len(), 1);
    let file = files[0].as_ref().unwrap().path();
    let whole = std::fs::read(&file).unwrap();
    // It is what is read: a table of another program under this name would be refused.
    assert_eq!(ways(Facts::load_or_make(&p.binary, folder.path())), made);
    for damage in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[damage] ^= 1 << (damage % 8);
        std::fs::write(&file, &bytes).unwrap();
        assert_eq!(ways(Facts::load_or_make(&p.binary, folder.path())), made);
        assert_eq!(std::fs::read(&file).unwrap(), whole, "made again");
    }
    for length in 0..whole.len() {
        std::fs::write(&file, &whole[..length]).unwrap();
        assert_eq!(ways(Facts::load_or_make(&p.binary, folder.path())), made);
    }
    let nowhere = folder.path().join("file");
    std::fs::write(&nowhere, "").unwrap();
    assert_eq!(ways(Facts::load_or_make(&p.binary, &nowhere)), made);
}

#[test]
fn without_a_build_id_nothing_is_kept() {
    let p = program();
    let plain = p.path().with_extension("plain");
    let mut copy = Command::new("objcopy");
    copy.arg("--remove-section=.note.gnu.build-id");
    assert!(copy.arg(p.path()).arg(&plain).status().unwrap().success());
    let binary = Binary::open(&plain).unwrap();
    assert_eq!(binary.build_id(), None);
    let folder = tempfile::tempdir().unwrap();
    assert!(Facts::load_or_make(&binary, folder.path()).ways().count() > 0);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn damaged_files_give_errors_or_parts_of_the_answer() {
    let p = program();
    let whole = std::fs::read(p.path()).unwrap();
    assert!(ask_everything(&p.binary) > 0);
    let folder = tempfile::tempdir().unwrap();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let flips = prop::collection::vec((0..whole.len(), 0..8u32), 0..20);
    // Headers are a small part of the file and the most delicate.
    let in_headers = prop::collection::vec((0..0x400usize, 0..8u32), 0..4);
    let damage = (0..=whole.len(), flips, in_headers);
    runner
        .run(&damage, |(length, flips, in_headers)| {
            let mut bytes = whole.clone();
            for (at, bit) in flips.into_iter().chain(in_headers) {
                bytes[at] ^= 1 << bit;
            }
            if length % 2 == 0 {
                bytes.truncate(length);
            }
            if let Ok(binary) = Binary::open(&changed(folder.path(), &bytes)) {
                ask_everything(&binary);
            }
            Ok(())
        })
        .unwrap();
}
