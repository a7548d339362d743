//! The example in the documentation of recordings is one.

mod file_oracle;
mod file_writer;

use std::path::Path;

use deadheat_trace::Op;
use file_oracle::all;

#[test]
fn the_dump_is_a_recording() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/trace-format.md");
    let book = std::fs::read_to_string(path).unwrap();
    let dump = book.split("```dump\n").nth(1).unwrap();
    let mut bytes = Vec::new();
    for line in dump.split("```").next().unwrap().lines() {
        let (offset, words) = line.split_once(": ").unwrap();
        let words = words.split("  ").next().unwrap().split(' ');
        for word in words {
            bytes.extend(u64::from_str_radix(word, 16).unwrap().to_le_bytes());
        }
        assert!(usize::from_str_radix(offset, 16).unwrap() < 0x430);
    }
    let opened = file_writer::open(&bytes);
    assert_eq!(opened.damage(), []);
    assert_eq!(opened.closed(), Some("the program ended"));
    let trace = all(&opened);
    let ops: Vec<Op> = trace.steps.iter().map(|step| step.event.op()).collect();
    let expected = [
        Op::Begin,
        Op::Enter,
        Op::Acquire,
        Op::Read,
        Op::Write,
        Op::Release,
        Op::Leave,
    ];
    assert_eq!(ops, expected);
    assert_eq!(trace.steps[3].read(), Some(0));
    assert_eq!(trace.steps[4].written(), Some(1));
    assert_eq!(trace.steps[3].event.addr(), trace.steps[4].event.addr());
}

/// The checksums that the documentation gives.
#[test]
fn the_checksums_are_right() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/trace-format.md");
    let book = std::fs::read_to_string(path).unwrap();
    for words in [&[][..], &[1, 2, 3, 4, 5]] {
        let sum = format!("{:016x}", deadheat_wire::checksum(words));
        assert!(book.contains(&sum), "{sum}");
    }
}
