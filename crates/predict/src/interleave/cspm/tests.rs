//! What is written is what the processes are, and looks like CSPM.

use std::collections::BTreeSet;

use deadheat_trace::text;

use super::*;
use crate::interleave::LockWords;

fn model(trace: &str) -> String {
    let trace = text::parse(trace).unwrap();
    let observation = Observation {
        steps: &trace.steps,
        is_judged: &|_| true,
        lock_words: &LockWords::default(),
    };
    cspm(&observation, &trace.tables)
}

/// Everything that CSPM knows by itself and the models use.
const BUILT_IN: [&str; 20] = [
    "channel", "datatype", "assert", "if", "then", "else", "and", "not", "member", "union",
    "inter", "diff", "empty", "Events", "STOP", "T", "F", "0", "1", "2",
];

/// Looks for what a parser would stumble over: brackets that do not match, names that nobody has declared.
fn check(model: &str) {
    let code: Vec<&str> = model
        .lines()
        .filter(|line| !line.starts_with("--"))
        .collect();
    let text = code.join("\n");
    let mut open = Vec::new();
    let squeezed = text
        .replace("[|", "(")
        .replace("|]", ")")
        .replace("{|", "{")
        .replace("|}", "}")
        .replace("[T=", "")
        .replace("[F=", "")
        .replace("[]", "");
    for letter in squeezed.chars() {
        match letter {
            '(' | '{' | '[' => open.push(letter),
            ')' => assert_eq!(open.pop(), Some('('), "{text}"),
            '}' => assert_eq!(open.pop(), Some('{'), "{text}"),
            ']' => assert_eq!(open.pop(), Some('['), "{text}"),
            _ => {}
        }
    }
    assert!(open.is_empty(), "{text}");

    let words = |line: &str| -> Vec<String> {
        let words = line.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        words
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let mut known: BTreeSet<String> = BUILT_IN.iter().map(|word| (*word).to_owned()).collect();
    for line in &code {
        let is_type = line.starts_with("datatype") || line.starts_with("channel");
        let declared = match is_type {
            true => line.split(':').next().unwrap_or(line),
            // What stands before the sign: a name and its parameters.
            false if !line.starts_with([' ', 'a']) => line.split(" =").next().unwrap_or(""),
            false => "",
        };
        known.extend(words(declared));
        // What a choice runs over.
        for bound in line.split("[] ").skip(1) {
            known.extend(
                words(bound.split(" :").next().unwrap_or(""))
                    .into_iter()
                    .take(1),
            );
        }
    }
    for line in &code {
        for word in words(line) {
            assert!(known.contains(&word), "{word} in {line:?}");
        }
    }
}

const LISTING: &str = "\
T0|fork(T1)|1
T0|w(y)|2
T0|acq(m)|3
T0|w(x)|4
T0|rel(m)|5
T1|begin|6
T1|acq(m)|7
T1|w(x)|8
T1|rel(m)|9
T1|w(y)|10
T1|end|11
T0|join(T1)|12
";

#[test]
fn the_paper_s_listing() {
    let model = model(LISTING);
    check(&model);
    let expected = [
        "T0_0(o) = fork.t0.t1 -> T0_1(o)",
        "T0_1(o) = ACCESSES(t0, {}, {o0}, {}, {}, o, T0_2(o))",
        "T0_2(o) = lock.t0.m0 -> T0_3(o)",
        "T0_5(o) = join.t0.t1 -> T0_6(o)",
        "T0_6(o) = live -> T0_6(o)",
        "T1_0(o) = begin.t1 -> T1_1(o)",
        "T1_5(o) = finish.t1 -> T1_6(o)",
        "assert LIVE [F= PROGRAM(none) \\ diff(Events, {live})",
        "assert STOP [T= (PROGRAM(o1) [| SEEN |] RACE(o1)) \\ diff(Events, {race})",
    ];
    for line in expected {
        assert!(model.lines().any(|there| there == line), "{line}\n{model}");
    }
}

#[test]
fn everything_that_there_is() {
    let model = model(
        "\
T0|fork(T1)|1
T0|post(s)|2
T0|acq(m)|3
T0|acq(m)|4
T0|w(x)|5
T0|notify(c)|6
T0|rel(m)|7
T0|rel(m)|8
T0|benter(b)|9
T1|begin|10
T1|benter(b)|11
T0|bexit(b)|12
T1|bexit(b)|13
T1|acq(m)|14
T1|r(x)|15
T1|rel(m)|16
T1|rdlock(l)|17
T1|rdunlock(l)|18
T1|take(s)|19
T0|aw(f:4)|20
T1|ar(f:4)|21
T1|w(f:4)|22
",
    );
    check(&model);
    for part in [
        "MUTEX(m",
        "RWLOCK(m",
        "SIGNAL(t0, c",
        "BARRIER(b0, {t0, t1}, {t0, t1})",
        "SEMAPHORE(s",
        "FORK(t0, t1)",
    ] {
        assert!(model.contains(part), "{part}\n{model}");
    }
    // Of a re-entrant lock the outermost pair is shown.
    assert_eq!(model.matches(" lock.t0.m").count(), 1, "{model}");
}

#[test]
fn a_trace_without_anything() {
    check(&model("T0|w(x)|1\n"));
}
