//! Lines of STD whose names are known are understood at first sight. That changes nothing: a reader whose buffer has room
//! for one byte never sees a whole line at once, and reads the same.

use std::io::BufReader;

use deadheat_trace::text::{Flavor, Reader};
use deadheat_trace::{Step, Steps};
use proptest::prelude::*;

/// What is read: the steps, where their names lead, and how it ends.
fn read(reader: Result<Reader<impl std::io::BufRead>, impl ToString>) -> (Vec<Step>, Vec<String>) {
    let mut reader = match reader {
        Ok(reader) => reader,
        Err(error) => return (Vec::new(), vec![error.to_string()]),
    };
    let (mut steps, mut said) = (Vec::new(), Vec::new());
    loop {
        match reader.next_step() {
            Ok(Some(step)) => {
                said.push(format!("{:?} on line {}", step.event, reader.line()));
                steps.push(step);
            }
            Ok(None) => break,
            Err(error) => {
                said.push(error.to_string());
                break;
            }
        }
    }
    said.push(format!("{:?}", reader.tables()));
    (steps, said)
}

fn line() -> impl Strategy<Value = String> {
    let thread = prop_oneof![
        4 => "[TU][01]",
        1 => Just("a thread with a long name".to_owned()),
        1 => "[T |]{0,2}",
    ];
    let op = prop_oneof![
        6 => prop_oneof![Just("r"), Just("w"), Just("acq"), Just("rel")],
        1 => prop_oneof![Just("fork"), Just("join"), Just("begin"), Just("re"), Just("")],
    ];
    let name = prop_oneof![
        6 => "[xy]{1,2}",
        1 => Just("x)".to_owned()),
        1 => Just("fifteen_letters".to_owned()),
        1 => Just("sixteen_letters_".to_owned()),
        1 => "[x |()]{0,3}",
    ];
    let location = prop_oneof![6 => "[0-9]{1,2}", 1 => "[+-]?[0-9]{1,3}", 1 => "[0-9x|]{0,3}"];
    let end =
        prop_oneof![6 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r\r\n"), 1 => Just(")\n")];
    (thread, op, name, location, end).prop_map(|(thread, op, name, location, end)| {
        format!("{thread}|{op}({name})|{location}{end}")
    })
}

/// Lines come again and again, as in loops.
fn text() -> impl Strategy<Value = String> {
    let lines = prop::collection::vec(line(), 1..6);
    let times = prop::collection::vec(0usize..6, 0..40);
    (lines, times, any::<bool>()).prop_map(|(lines, times, is_cut)| {
        let all = times.iter().map(|at| lines[at % lines.len()].as_str());
        let mut text: String = all.collect();
        if is_cut {
            text.truncate(text.trim_end().len());
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_known_is_read_as_what_is_not(text in text()) {
        let at_once = read(Reader::new(text.as_bytes(), Flavor::Std));
        let slow = BufReader::with_capacity(1, text.as_bytes());
        prop_assert_eq!(at_once, read(Reader::new(slow, Flavor::Std)));
    }
}
