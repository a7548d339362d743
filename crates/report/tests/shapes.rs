//! What people read of each kind of finding.

mod support;

use deadheat_report::text::{self, Look};
use deadheat_report::{Consequence, Ending, Finding, Frame, Kind, Rung, Way};
use support::{deadlock, explained, marked, race, tell, way};

const WIDE: Look = Look {
    stacks: false,
    width: 100,
};

fn plain(finding: &Finding, look: Look) -> String {
    anstream::adapter::strip_str(&text::finding(finding, &look)).to_string()
}

/// A trace of the program in `tests/sources`: `@` stands for its file.
fn bank(text: &str) -> String {
    text.replace('@', "tests/sources/bank.c")
}

const RACE: &str = "\
main|w(balance=100)|@:4
main|fork(T1)|@:39:5
main|fork(T2)|@:40:5
T1|enter|@:39
T1|acq(m)|@:8:5
T1|r(balance=100)|@:9:23
T1|w(balance=110)|@:9:13 <1>
T1|rel(m)|@:10:5
T2|r(balance=110)|@:14:10 <2>
T2|w(balance=109)|@:14:10
";

fn confirmed_race() -> Finding {
    let (trace, sides) = marked(&bank(RACE));
    let mut finding = race(&trace, [sides[0], sides[1]], Rung::Confirmed);
    finding.accesses[0].place.function = Some("deposit".to_owned());
    finding.accesses[0].stack[0].function = Some("deposit".to_owned());
    finding.accesses[0].stack[1].function = Some("main".to_owned());
    tell(&trace, way(3, &[3, 4, 5], &sides), &mut finding);
    finding.count = 3;
    finding.witness = Some("witness-c2eba0bd.json".to_owned());
    finding.replay = Some("deadheat replay c2eba0bd".to_owned());
    let ending = |order: &str, value| Ending {
        order: order.to_owned(),
        told: "exits with 0".to_owned(),
        exit: Some(0),
        signal: None,
        value: Some(value),
        message: None,
        stdout: String::new(),
    };
    finding.consequence = Some(Consequence {
        endings: vec![ending("ab", 109), ending("ba", 110)],
        differs: vec!["what the variable holds in the end".to_owned()],
    });
    finding
}

#[test]
fn a_race_with_its_lines() {
    insta::assert_snapshot!(plain(&confirmed_race(), WIDE));
}

#[test]
fn a_race_with_stacks() {
    let look = Look {
        stacks: true,
        ..WIDE
    };
    insta::assert_snapshot!(plain(&confirmed_race(), look));
}

#[test]
fn a_race_in_a_narrow_terminal() {
    let told = plain(&confirmed_race(), Look { width: 44, ..WIDE });
    insta::assert_snapshot!(told);
    let told = plain(&confirmed_race(), Look { width: 70, ..WIDE });
    insta::assert_snapshot!("a_race_in_a_terminal_of_70", told);
}

#[test]
fn a_race_in_two_files() {
    let text = bank(RACE).replace(
        "T2|r(balance=110)|tests/sources/bank.c:14:10",
        "T2|r(balance=110)|tests/sources/audit.c:4:21",
    );
    let (trace, sides) = marked(&text);
    let mut finding = race(&trace, [sides[0], sides[1]], Rung::Witness);
    finding.not_enforced = Some("T2 does not come there".to_owned());
    tell(&trace, way(3, &[3, 4, 5], &sides), &mut finding);
    insta::assert_snapshot!(plain(&finding, WIDE));
}

#[test]
fn a_race_without_sources() {
    let (trace, sides) = marked(&RACE.replace('@', "gone.c"));
    let mut finding = race(&trace, [sides[0], sides[1]], Rung::Witness);
    tell(&trace, way(3, &[3, 4, 5], &sides), &mut finding);
    insta::assert_snapshot!(plain(&finding, WIDE));
}

#[test]
fn a_file_that_has_become_shorter_is_not_shown() {
    let text = bank(RACE).replace("bank.c:14:10", "bank.c:1400:10");
    let (trace, sides) = marked(&text);
    let finding = race(&trace, [sides[0], sides[1]], Rung::Witness);
    let told = plain(&finding, WIDE);
    assert!(
        told.contains("9 |     balance = balance + amount;"),
        "{told}"
    );
    assert!(
        told.contains("read of 8 bytes by T2:\n      tests/sources/bank.c:1400\n"),
        "{told}"
    );
}

#[test]
fn a_race_that_was_seen_in_the_run() {
    let (trace, sides) = marked(&bank(RACE));
    let mut finding = race(&trace, [sides[0], sides[1]], Rung::Observed);
    let recorded = Way {
        start: sides[1],
        next: vec![sides[1]],
        also: sides.clone(),
        ..Way::default()
    };
    tell(&trace, recorded, &mut finding);
    insta::assert_snapshot!(plain(&finding, WIDE));
}

#[test]
fn a_warning() {
    let (trace, sides) = marked(&bank(RACE));
    let mut finding = race(&trace, [sides[0], sides[1]], Rung::Warning);
    finding.reasons.push("2 of 3 accesses hold m".to_owned());
    finding
        .hints
        .push("every write stores the same value (7)".to_owned());
    insta::assert_snapshot!(plain(&finding, WIDE));
}

const RING: &str = "\
main|fork(T1)|@:39:5
main|fork(T2)|@:40:5
main|fork(T3)|@:41:5
T1|acq(a)|@:20:5
T1|acq(b)|@:21:5 <1>
T1|rel(b)|@:22
T1|rel(a)|@:22
T2|acq(b)|@:26:5
T2|acq(c)|@:27:5 <2>
T2|rel(c)|@:28
T2|rel(b)|@:28
T3|acq(c)|@:32:5
T3|acq(a)|@:33:5 <3>
";

#[test]
fn a_deadlock_of_two() {
    let text = bank(RING)
        .replace("acq(c)", "acq(a)")
        .replace("rel(c)", "rel(a)");
    let (trace, sides) = marked(&text);
    let sides = &sides[..2];
    let mut finding = deadlock(&trace, sides, Rung::Witness);
    tell(&trace, way(3, &[3, 7], sides), &mut finding);
    insta::assert_snapshot!(plain(&finding, WIDE));
}

#[test]
fn a_deadlock_of_three() {
    let (trace, sides) = marked(&bank(RING));
    let mut finding = deadlock(&trace, &sides, Rung::Confirmed);
    tell(&trace, way(3, &[3, 7, 11], &sides), &mut finding);
    finding.consequence = Some(Consequence {
        endings: vec![Ending {
            order: String::new(),
            told: "ends in a deadlock".to_owned(),
            exit: None,
            signal: None,
            value: None,
            message: None,
            stdout: String::new(),
        }],
        differs: Vec::new(),
    });
    insta::assert_snapshot!(plain(&finding, WIDE));
}

#[test]
fn a_failure() {
    let text = "\
main|w(balance=100)|@:4
main|fork(T1)|@:39:5
T1|w(balance=0)|@:9:13
main|r(balance=0)|@:14:10 <1>
";
    let (trace, sides) = marked(&bank(text));
    let mut finding = explained(&trace, |explain| {
        explain.failure(sides[0], Rung::Confirmed, "explore")
    });
    tell(&trace, way(4, &[], &[]), &mut finding);
    finding.consequence = Some(Consequence {
        endings: vec![Ending {
            order: String::new(),
            told: "crashes with SIGABRT in fee bank.c:14".to_owned(),
            exit: None,
            signal: Some(6),
            value: None,
            message: Some("Assertion `balance' failed.".to_owned()),
            stdout: String::new(),
        }],
        differs: Vec::new(),
    });
    insta::assert_snapshot!(plain(&finding, WIDE));
}

/// Functions of the standard library around the program's own.
fn in_library(finding: &mut Finding) {
    for access in &mut finding.accesses {
        let library = |function: &str| Frame {
            function: Some(function.to_owned()),
            file: Some("/rustc/0/library/alloc/src/vec/mod.rs".to_owned()),
            line: Some(7),
            inlined: true,
            ..Frame::default()
        };
        access.place.function = Some("hits::main".to_owned());
        access.stack = vec![
            library("alloc::raw_vec::RawVec<T>::grow_one"),
            library("alloc::vec::Vec<T>::push_mut"),
            library("alloc::vec::Vec<T>::push"),
            access.place.clone(),
            Frame {
                file: Some("/rustc/0/library/core/src/ops/function.rs".to_owned()),
                ..library("core::ops::function::FnOnce::call_once")
            },
        ];
    }
}

#[test]
fn a_race_of_rust_inside_the_library() {
    let text = "\
main|fork(T1)|tests/sources/hits.rs:5:17
main|w(block:8)|tests/sources/hits.rs:6:32 <1>
T1|w(block:8)|tests/sources/hits.rs:5:66 <2>
";
    let (trace, sides) = marked(text);
    let mut finding = race(&trace, [sides[0], sides[1]], Rung::Witness);
    in_library(&mut finding);
    tell(&trace, way(1, &[], &sides), &mut finding);
    insta::assert_snapshot!(plain(&finding, WIDE));
    // As it is read from a report.
    let text = serde_json::to_string(&finding).unwrap();
    let again: Finding = serde_json::from_str(&text).unwrap();
    assert_eq!(plain(&again, WIDE), plain(&finding, WIDE));
}

#[test]
fn names_of_templates_are_cut_in_a_line_and_whole_in_stacks() {
    let mut finding = confirmed_race();
    let name = format!("deposit<{}int>", "std::vector<".repeat(40));
    finding.accesses[0].place.function = Some(name.clone());
    finding.accesses[0].stack[0].function = Some(name.clone());
    let told = plain(&finding, WIDE);
    assert!(
        told.contains("T1 in deposit<std::vector<") && !told.contains(&name),
        "{told}"
    );
    let look = Look {
        stacks: true,
        ..WIDE
    };
    assert!(plain(&finding, look).contains(&name));
}

#[test]
fn nobody_waits_for_a_source_that_is_a_pipe() {
    let folder = std::env::temp_dir().join(format!("deadheat-pipe-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let pipe = folder.join("pipe.c");
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(made.success());
    let mut finding = confirmed_race();
    finding.accesses[0].place.file = Some(pipe.to_str().unwrap().to_owned());
    let told = plain(&finding, WIDE);
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(told.contains("write of 8 bytes by T1:"), "{told}");
}

#[test]
fn hostile_sources_and_names() {
    let text = "\
main|fork(T1)|tests/sources/hostile.c:1
main|w(x=1)|tests/sources/hostile.c:2:30 <1>
T1|w(x=2)|tests/sources/hostile.c:4:2017 <2>
";
    let (trace, sides) = marked(text);
    let mut finding = race(&trace, [sides[0], sides[1]], Rung::Witness);
    tell(&trace, way(1, &[], &sides), &mut finding);
    finding.accesses[0].thread.name = "\u{1b}[31mred\u{202E}".to_owned();
    finding.accesses[1].op = "write\n".to_owned();
    finding.suggestion = Some("do\u{7} this".to_owned());
    let shown = text::finding(&finding, &WIDE);
    assert!(
        !shown.contains("\u{1b}[2J")
            && !shown.contains("\u{1b}[31mred")
            && !shown.contains('\u{7}')
    );
    assert!(!shown.contains('\u{202E}') && shown.lines().all(|line| line.len() < 600));
    insta::assert_snapshot!(plain(&finding, WIDE));
    // Lines and columns that make no sense.
    for (line, column) in [
        (0, 0),
        (3, 1),
        (3, 999),
        (5, 1),
        (u32::MAX, u32::MAX),
        (2, 47),
    ] {
        for side in &mut finding.accesses {
            side.place.line = Some(line);
            side.place.column = Some(column);
        }
        plain(&finding, WIDE);
    }
    for file in ["tests/sources", "/dev/zero", "\0", ""] {
        finding.accesses[0].place.file = Some(file.to_owned());
        plain(&finding, WIDE);
    }
}

#[test]
fn a_finding_of_nothing() {
    let nothing = Finding::new(Kind::Failure, Rung::Warning, "x", Vec::new());
    assert_eq!(
        plain(&nothing, WIDE),
        format!("possible failure (x) [{}]\n", nothing.id)
    );
}
