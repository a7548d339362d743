//! The marks at the ends of lines, as they are written: not yet paired with their partners.

use crate::header::is_file_name;
use crate::{Located, NearMiss, Problem, Request};

const RACE_FORM: &str = "// RACE: x with line 17, y with line 20 (weak)";
const NORACE_FORM: &str = "// NORACE: x, y";
const FAILURE_FORM: &str = "// FAILURE";
const DEADLOCK_FORM: &str = "// DEADLOCK: waits for c holding a and b, with line 30";

/// One line's half of a race.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RaceClaim {
    pub line: u32,
    pub object: String,
    pub partner: u32,
    /// The partner's file, where it is another one.
    pub file: Option<String>,
    pub weak: bool,
}

/// One line's part of a deadlock.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DeadlockClaim {
    pub request: Request,
    pub partners: Vec<u32>,
}

/// All marks of a file, in the order of their lines.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    pub races: Vec<RaceClaim>,
    pub near_misses: Vec<NearMiss>,
    pub deadlocks: Vec<DeadlockClaim>,
    pub failures: Vec<u32>,
}

/// Reads the marks below the header, which takes the first `header_lines` lines.
pub(crate) fn read(text: &str, header_lines: u32) -> Located<Marks> {
    let mut marks = Marks::default();
    for (line, text) in (1..).zip(text.lines()).skip(header_lines as usize) {
        let mut comments = text.split("//");
        let code = comments.next().unwrap_or_default();
        for comment in comments {
            read_mark(&mut marks, line, code, comment.trim()).map_err(|problem| (line, problem))?;
        }
    }
    Ok(marks)
}

fn read_mark(marks: &mut Marks, line: u32, code: &str, comment: &str) -> Result<(), Problem> {
    let end = comment
        .find(|letter: char| !letter.is_ascii_uppercase())
        .unwrap_or(comment.len());
    let (keyword, rest) = comment.split_at(end);
    let form = match keyword {
        "RACE" => RACE_FORM,
        "NORACE" => NORACE_FORM,
        "DEADLOCK" => DEADLOCK_FORM,
        "FAILURE" => FAILURE_FORM,
        "NODEADLOCK" => return Err(Problem::OutsideHeader(keyword.to_owned())),
        _ => return Ok(()),
    };
    if keyword == "NORACE" && rest.is_empty() {
        return Err(Problem::OutsideHeader(keyword.to_owned()));
    }
    if code.trim().is_empty() {
        return Err(Problem::NoCode(keyword.to_owned()));
    }
    if keyword == "FAILURE" && rest.is_empty() {
        marks.failures.push(line);
        return Ok(());
    }
    rest.strip_prefix(':')
        .filter(|_| keyword != "FAILURE")
        .and_then(|body| match keyword {
            "RACE" => read_races(marks, line, body),
            "NORACE" => read_near_misses(marks, line, body),
            _ => read_deadlock(marks, line, body),
        })
        .ok_or_else(|| Problem::Malformed {
            keyword: keyword.to_owned(),
            expected: form,
        })
}

fn read_races(marks: &mut Marks, line: u32, body: &str) -> Option<()> {
    for claim in body.split(',') {
        let (object, partner) = claim.split_once(" with line ")?;
        let (partner, weak) = match partner.trim().strip_suffix(" (weak)") {
            Some(partner) => (partner, true),
            None => (partner.trim(), false),
        };
        let (partner, file) = match partner.split_once(" of ") {
            Some((partner, file)) => (partner, Some(file_name(file)?)),
            None => (partner, None),
        };
        marks.races.push(RaceClaim {
            line,
            object: name(object)?,
            partner: line_number(partner)?,
            file,
            weak,
        });
    }
    Some(())
}

fn read_near_misses(marks: &mut Marks, line: u32, body: &str) -> Option<()> {
    for object in body.split(',') {
        marks.near_misses.push(NearMiss {
            line,
            object: name(object)?,
        });
    }
    Some(())
}

fn read_deadlock(marks: &mut Marks, line: u32, body: &str) -> Option<()> {
    let body = body.trim().strip_prefix("waits for ")?;
    let (request, partners) = match body.split_once(", with line") {
        None => (body, Vec::new()),
        Some((request, partners)) => (request, partner_lines(partners)?),
    };
    let (waits_for, holds) = match request.split_once(" holding ") {
        None => (request, Vec::new()),
        Some((waits_for, holds)) => (
            waits_for,
            holds.split(" and ").map(name).collect::<Option<Vec<_>>>()?,
        ),
    };
    let request = Request {
        line,
        waits_for: name(waits_for)?,
        holds,
    };
    marks.deadlocks.push(DeadlockClaim { request, partners });
    Some(())
}

/// Reads what follows `with line`: ` 30`, or `s 30, 41` for several.
fn partner_lines(text: &str) -> Option<Vec<u32>> {
    let (plural, numbers) = match text.strip_prefix('s') {
        Some(numbers) => (true, numbers),
        None => (false, text),
    };
    let lines: Option<Vec<u32>> = numbers
        .strip_prefix(' ')?
        .split(',')
        .map(line_number)
        .collect();
    lines.filter(|lines| (lines.len() > 1) == plural)
}

fn line_number(text: &str) -> Option<u32> {
    text.trim().parse().ok().filter(|&line| line > 0)
}

/// The name of a file in the same folder.
fn file_name(text: &str) -> Option<String> {
    is_file_name(text).then(|| text.to_owned())
}

/// A name as written in a mark: an expression for the object, without commas.
fn name(text: &str) -> Option<String> {
    let name = text.trim();
    let is_sentence = [" with ", " holding ", " and "]
        .iter()
        .any(|word| name.contains(word));
    (!name.is_empty() && !name.contains(',') && !is_sentence).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        let (line, problem) = read(text, 0).unwrap_err();
        assert_eq!(line, 1);
        problem.to_string()
    }

    #[test]
    fn several_races_on_one_line() {
        let marks = read(
            "x = y; // RACE: x with line 17, p->y[2] with line 20 (weak)",
            0,
        )
        .unwrap();
        let x = RaceClaim {
            line: 1,
            object: "x".to_owned(),
            partner: 17,
            file: None,
            weak: false,
        };
        let y = RaceClaim {
            line: 1,
            object: "p->y[2]".to_owned(),
            partner: 20,
            file: None,
            weak: true,
        };
        assert_eq!(marks.races, [x, y]);
    }

    #[test]
    fn a_partner_in_another_file() {
        let marks = read("x++; // RACE: x with line 7 of half.c (weak)", 0).unwrap();
        let [claim] = &marks.races[..] else {
            panic!("{marks:?}");
        };
        assert_eq!((claim.partner, claim.weak), (7, true));
        assert_eq!(claim.file.as_deref(), Some("half.c"));
    }

    #[test]
    fn a_line_can_carry_different_marks() {
        let text = "f(\"a//b\"); // RACE: x with line 2 // NORACE: y, z";
        let marks = read(text, 0).unwrap();
        assert_eq!(marks.races.len(), 1);
        let objects: Vec<&str> = marks.near_misses.iter().map(|miss| &*miss.object).collect();
        assert_eq!(objects, ["y", "z"]);
    }

    #[test]
    fn deadlocks_in_all_their_forms() {
        let text = "\
lock(b); // DEADLOCK: waits for b holding a, with line 2
lock(c); // DEADLOCK: waits for c holding a and b, with lines 1, 3
wait(d); // DEADLOCK: waits for d
";
        let marks = read(text, 0).unwrap();
        let parts: Vec<_> = marks
            .deadlocks
            .iter()
            .map(|claim| {
                (
                    &*claim.request.waits_for,
                    claim.request.holds.join("+"),
                    &*claim.partners,
                )
            })
            .collect();
        let expected: [(&str, String, &[u32]); 3] = [
            ("b", "a".to_owned(), &[2]),
            ("c", "a+b".to_owned(), &[1, 3]),
            ("d", String::new(), &[]),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn prose_in_comments_is_left_alone() {
        let marks = read(
            "x++; // racy, see RACE below\n// A RACE is a dead heat.\n",
            0,
        )
        .unwrap();
        assert!(marks.races.is_empty() && marks.near_misses.is_empty());
    }

    #[test]
    fn malformed_races_are_errors() {
        for text in [
            "x++; // RACE",
            "x++; // RACE x with line 3",
            "x++; // RACE: x",
            "x++; // RACE: x with line",
            "x++; // RACE: x with line three",
            "x++; // RACE: x with line 0",
            "x++; // RACE: with line 3",
            "x++; // RACE: x with line 3,",
            "x++; // RACE: x with line 3 (strong)",
            "x++; // RACE: x with line 3 of ",
            "x++; // RACE: x with line 3 of half.c and more",
            "x++; // RACE: x with line 3 of ../half.c",
        ] {
            assert!(
                problem(text).starts_with("malformed RACE: expected `// RACE: x with"),
                "{text}"
            );
        }
    }

    #[test]
    fn malformed_near_misses_and_deadlocks_are_errors() {
        assert!(problem("x++; // NORACE: x,").starts_with("malformed NORACE"));
        assert!(problem("x++; // NORACE x").starts_with("malformed NORACE"));
        for text in [
            "l(a); // DEADLOCK: a with line 3",
            "l(a); // DEADLOCK: waits for a holding , with line 3",
            "l(a); // DEADLOCK: waits for a holding b with line 3",
            "l(a); // DEADLOCK: waits for a holding b, with lines 3",
            "l(a); // DEADLOCK: waits for a holding b, with line 3, 4",
            "l(a); // DEADLOCK: waits for a, b holding c",
        ] {
            assert!(problem(text).starts_with("malformed DEADLOCK"), "{text}");
        }
    }

    #[test]
    fn marks_have_their_places() {
        assert_eq!(
            problem("x++; // NORACE"),
            "`NORACE` for the whole program belongs into the header"
        );
        assert_eq!(
            problem("}; // NODEADLOCK"),
            "`NODEADLOCK` for the whole program belongs into the header"
        );
        assert_eq!(
            problem("  // RACE: x with line 3"),
            "`RACE` stands on a line without code"
        );
    }
}
