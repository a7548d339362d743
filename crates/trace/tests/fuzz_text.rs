//! Whatever bytes it gets, the text reader reads a trace that goes round, or says on which line
//! it cannot. It never panics.

mod meaning;
mod mutate;

use std::fs;
use std::path::Path;

use deadheat_trace::text::{self, Flavor, ParseError, Reader};
use deadheat_trace::{Steps, Trace, json, stats, verify};
use meaning::{meaning, write};
use mutate::{Mutator, Random, fuzz};

const TOKENS: [&[u8]; 40] = [
    b"|",
    b"(",
    b")",
    b"=",
    b":",
    b"+",
    b",",
    b"->",
    b"?",
    b"\"",
    b"\\",
    b"\\u{7c}",
    b"0x",
    b"-",
    b"#",
    b"#! ",
    b"\n",
    b"\r\n",
    b"#! deadheat-trace 1 serial\n",
    b"#! thread T1 name=",
    b" at=",
    b" parent=T0",
    b" unnamed",
    b"#! variable x 64\n",
    b"#! note \"a\"\n",
    b"#! lock m addr=0x1\n",
    b"T0|",
    b"rmw(x=1->2,acqrel)",
    b"fence(seqcst)",
    b"init(barrier:b=3)",
    b"alloc(p:64)",
    b"lost(1)",
    b"begin",
    b"end",
    b"fork(T1)",
    b"|-\n",
    b"|main.c:7\n",
    b"\xFF",
    b"\xEF\xBB\xBF",
    b"::",
];

fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces");
    let paths = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths.collect();
    paths.sort();
    // The beginnings: short files are checked often.
    let start = |bytes: Vec<u8>| {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').take(20);
        lines.flatten().copied().collect::<Vec<u8>>()
    };
    let files = paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e != "md"));
    files
        .map(|path| start(fs::read(path).unwrap()))
        .chain([EVERY_OP.into()])
        .collect()
}

const EVERY_OP: &[u8] = b"\
#! thread main name=\"a b\" at=\"x y.c:1\"
main|ar(x=1,acq)|main.c:3
main|aw(x:4=-1,rel)|main.c:3:9
main|rmw(x+4:4=?->0x2,acqrel)|-
main|fence(con)|lib.so+0x1f
main|r(0x7f0010:2=5)|
main|rdlock(\"a=b\")|1
main|wait(c)|1
main|init(barrier:b=3)|1
main|fwake(f=1)|1
main|alloc(p:100)|1
main|w(p+96:4)|1
main|extern(p)|1
main|enter(0x5)|1
main|lost(7)|-
#! note \"n\"
";

fn read(bytes: &[u8], flavor: Flavor) -> Result<Trace, ParseError> {
    Reader::new(bytes, flavor)?.collect_trace()
}

fn check(bytes: &[u8]) {
    for flavor in [Flavor::Full, Flavor::Std] {
        match read(bytes, flavor) {
            Ok(trace) => check_trace(&trace),
            Err(error) => {
                let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
                assert!((1..=lines).contains(&error.line), "{error}");
                assert!(error.column >= 1 && error.to_string().starts_with("line "));
            }
        }
    }
}

fn check_trace(trace: &Trace) {
    let once = write(trace, Flavor::Full);
    let back = text::parse(&once).unwrap_or_else(|error| panic!("{error}\n{once}"));
    assert_eq!(meaning(&back), meaning(trace), "{once}");
    assert_eq!(write(&back, Flavor::Full), once);
    let std = write(trace, Flavor::Std);
    text::parse_std(&std).unwrap_or_else(|error| panic!("{error}\n{std}"));
    json::write(&mut trace.stream(), std::io::sink()).unwrap();
    stats::of(&mut trace.stream()).unwrap();
    let report = verify::verify(&mut trace.stream()).unwrap();
    let said = report.violations.iter().map(|v| v.describe(&trace.tables));
    assert!(said.into_iter().all(|line| !line.is_empty()));
    let repaired = verify::repair(trace.stream()).collect_trace().unwrap();
    assert_eq!(
        verify::verify(&mut repaired.stream()).unwrap().mismatches,
        0
    );
}

#[test]
fn mutants_of_valid_files() {
    let corpus = corpus();
    corpus.iter().for_each(|file| check(file));
    let mutator = Mutator {
        corpus: &corpus,
        tokens: &TOKENS,
    };
    fuzz(&mutator, check);
}

#[test]
fn arbitrary_bytes() {
    let mut random = Random::new(7);
    for _ in 0..2000 {
        let length = random.below(200);
        let bytes: Vec<u8> = (0..length).map(|_| random.next() as u8).collect();
        check(&bytes);
        let pieces = (0..length / 4).map(|_| *random.pick(&TOKENS));
        check(&pieces.collect::<Vec<_>>().concat());
    }
}

/// Every deletion of one character from every line: either something that goes round, or an
/// error on that line.
#[test]
fn deletions_of_single_characters() {
    let everything = corpus();
    let lines = everything
        .iter()
        .flat_map(|file| file.split(|byte| *byte == b'\n'));
    for line in lines {
        let line = std::str::from_utf8(line).unwrap();
        for (at, c) in line.char_indices() {
            let shorter = format!("{}{}", &line[..at], &line[at + c.len_utf8()..]);
            let text = format!("T9|w(x9=1)|1\n\n{shorter}\nT9|r(x9=1)|2\n");
            match text::parse(&text) {
                Ok(trace) => check_trace(&trace),
                Err(error) => {
                    assert_eq!(error.line, 3, "{text}{error}");
                    assert!(error.column <= shorter.chars().count() + 1, "{text}{error}");
                }
            }
        }
    }
}
