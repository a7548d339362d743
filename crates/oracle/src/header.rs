//! The header: the comment lines at the top of a file, with verdicts on the whole program and the
//! directives that say how to build and run it.

use crate::{Located, Problem};

/// How to build and run a program, as its header says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directives {
    /// `RUN`: the program's arguments.
    pub run: Vec<String>,
    /// `CFLAGS`: additional flags for the compiler, C or C++.
    pub cflags: Vec<String>,
    /// `LDLIBS`: additional libraries, for the end of the command line.
    pub ldlibs: Vec<String>,
    /// `ALSO`: shared objects that are built beside the program.
    pub also: Vec<Extra>,
    /// `PART-OF`: the file is no program but belongs to the one named here.
    pub part_of: Option<String>,
    /// `EXPECT-STDOUT`: all that the program prints; `None` when nothing is said about it.
    pub stdout: Option<String>,
    /// `EXPECT-EXIT`: the exit code; 0 when nothing is said about it.
    pub exit: i32,
}

/// A shared object that is built beside a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extra {
    /// The source, in the program's folder.
    pub source: String,
    /// The shared object, in the folder of the built program.
    pub output: String,
}

/// The header as read.
#[derive(Debug, Default)]
pub(crate) struct Header {
    /// How many lines of the file it takes.
    pub lines: u32,
    pub no_race: bool,
    pub no_deadlock: bool,
    pub directives: Directives,
}

/// Reads the comment lines (and blank ones among them) up to the first line of code.
pub(crate) fn read(text: &str) -> Located<Header> {
    let mut header = Header::default();
    let mut seen: Vec<&str> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let comment = match text.trim() {
            "" => "",
            code => match code.strip_prefix("//!").or(code.strip_prefix("//")) {
                Some(comment) => comment.trim(),
                None => break,
            },
        };
        header.lines = line;
        read_line(&mut header, &mut seen, comment).map_err(|problem| (line, problem))?;
    }
    Ok(header)
}

fn read_line<'a>(
    header: &mut Header,
    seen: &mut Vec<&'a str>,
    comment: &'a str,
) -> Result<(), Problem> {
    let Some((keyword, value)) = keyword(comment) else {
        return Ok(());
    };
    let directives = &mut header.directives;
    let words = || {
        value
            .unwrap_or_default()
            .split_whitespace()
            .map(str::to_owned)
    };
    let malformed = |expected| Problem::Malformed {
        keyword: keyword.to_owned(),
        expected,
    };

    const ONCE: [&str; 5] = ["NORACE", "NODEADLOCK", "RUN", "PART-OF", "EXPECT-EXIT"];
    if ONCE.contains(&keyword) && seen.contains(&keyword) {
        return Err(Problem::Repeated(keyword.to_owned()));
    }
    seen.push(keyword);

    match (keyword, value) {
        ("NORACE", None) => header.no_race = true,
        ("NODEADLOCK", None) => header.no_deadlock = true,
        ("NORACE" | "RACE" | "DEADLOCK", Some(_)) => {
            return Err(Problem::NoCode(keyword.to_owned()));
        }
        ("NODEADLOCK", Some(_)) => return Err(malformed("// NODEADLOCK")),
        ("RACE", None) => return Err(malformed("// RACE: x with line 17")),
        ("DEADLOCK", None) => {
            return Err(malformed(
                "// DEADLOCK: waits for b holding a, with line 30",
            ));
        }
        ("RUN", Some(_)) => directives.run = words().collect(),
        ("CFLAGS", Some(_)) => directives.cflags.extend(words()),
        ("LDLIBS", Some(_)) => directives.ldlibs.extend(words()),
        ("ALSO", Some(value)) => {
            let (source, output) = value
                .split_once(" -> ")
                .filter(|(source, output)| is_file_name(source) && is_file_name(output))
                .ok_or_else(|| malformed("// ALSO: plugin.c -> libplugin.so"))?;
            directives.also.push(Extra {
                source: source.to_owned(),
                output: output.to_owned(),
            });
        }
        ("PART-OF", Some(value)) if is_file_name(value) => {
            directives.part_of = Some(value.to_owned());
        }
        ("PART-OF", Some(_)) => return Err(malformed("// PART-OF: program.c")),
        ("EXPECT-STDOUT", Some(value)) => {
            let stdout = directives.stdout.get_or_insert_default();
            stdout.push_str(value);
            stdout.push('\n');
        }
        ("EXPECT-EXIT", Some(value)) => {
            directives.exit = value.parse().map_err(|_| malformed("// EXPECT-EXIT: 0"))?;
        }
        (_, Some(_)) => return Err(Problem::UnknownDirective(keyword.to_owned())),
        (_, None) => {}
    }
    Ok(())
}

/// Splits off a leading word in capitals: `WORD` alone, or `WORD: value`. Verdict words count as
/// such in any company, so that a misspelt mark is not taken for prose.
fn keyword(comment: &str) -> Option<(&str, Option<&str>)> {
    let end = comment
        .find(|letter: char| !(letter.is_ascii_uppercase() || letter == '-'))
        .unwrap_or(comment.len());
    let (word, rest) = comment.split_at(end);
    if let Some(value) = rest.strip_prefix(':') {
        return (word.len() > 1).then_some((word, Some(value.trim())));
    }
    let alone = rest.is_empty() && !word.is_empty();
    let is_verdict = matches!(word, "RACE" | "NORACE" | "DEADLOCK" | "NODEADLOCK");
    match (alone, is_verdict) {
        (true, _) => Some((word, None)),
        (false, true) => Some((word, Some(rest.trim()))),
        (false, false) => None,
    }
}

/// Whether it names a file in the same folder.
pub(crate) fn is_file_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|letter: char| letter.is_whitespace() || letter == '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> (u32, String) {
        let (line, problem) = read(text).unwrap_err();
        (line, problem.to_string())
    }

    #[test]
    fn a_header_ends_with_the_first_code() {
        let header = read("// Words.\n\n// NORACE\nint x;\n// NODEADLOCK\n").unwrap();
        assert_eq!(header.lines, 3);
        assert!(header.no_race && !header.no_deadlock);
    }

    #[test]
    fn rusts_inner_documentation_is_a_comment_too() {
        let header = read("//! Words.\n//! NORACE\n// RUN: 2\nfn main() {}\n").unwrap();
        assert!(header.no_race);
        assert_eq!(
            (header.lines, &header.directives.run[..]),
            (3, &["2".to_owned()][..])
        );
    }

    #[test]
    fn directives_are_read() {
        let text = "\
// RUN: a  b
// CFLAGS: -std=c++20
// CFLAGS: -Wno-x
// LDLIBS: -latomic -ldl
// ALSO: plugin.c -> libplugin.so
// EXPECT-STDOUT: one  two
// EXPECT-STDOUT:
// EXPECT-STDOUT: three: four
// EXPECT-EXIT: 3
// NODEADLOCK
";
        let header = read(text).unwrap();
        let plugin = Extra {
            source: "plugin.c".to_owned(),
            output: "libplugin.so".to_owned(),
        };
        assert!(header.no_deadlock);
        assert_eq!(
            header.directives,
            Directives {
                run: vec!["a".to_owned(), "b".to_owned()],
                cflags: vec!["-std=c++20".to_owned(), "-Wno-x".to_owned()],
                ldlibs: vec!["-latomic".to_owned(), "-ldl".to_owned()],
                also: vec![plugin],
                part_of: None,
                stdout: Some("one  two\n\nthree: four\n".to_owned()),
                exit: 3,
            }
        );
    }

    #[test]
    fn prose_is_not_a_directive() {
        let header = read("// From \"static\": TSan says: no.\n// POSIX is fine, Verdict: none.\n");
        assert_eq!(header.unwrap().directives, Directives::default());
    }

    #[test]
    fn nothing_said_is_told_apart_from_nothing_printed() {
        assert_eq!(read("// Words.\n").unwrap().directives.stdout, None);
        let silent = read("// EXPECT-STDOUT:\n").unwrap();
        assert_eq!(silent.directives.stdout, Some("\n".to_owned()));
    }

    #[test]
    fn a_misspelt_directive_is_an_error() {
        let (line, text) = problem("// Words.\n// EXPECT-STDOT: x\n");
        assert_eq!((line, &*text), (2, "unknown directive `EXPECT-STDOT`"));
    }

    #[test]
    fn malformed_directives_name_their_form() {
        assert_eq!(
            problem("// EXPECT-EXIT: no\n").1,
            "malformed EXPECT-EXIT: expected `// EXPECT-EXIT: 0`"
        );
        assert!(
            problem("// ALSO: plugin.c libplugin.so\n")
                .1
                .starts_with("malformed ALSO")
        );
        assert!(
            problem("// ALSO: ../plugin.c -> libplugin.so\n")
                .1
                .starts_with("malformed ALSO")
        );
        assert!(
            problem("// PART-OF: two words\n")
                .1
                .starts_with("malformed PART-OF")
        );
        assert!(problem("// RACE\n").1.starts_with("malformed RACE"));
    }

    #[test]
    fn marks_of_lines_do_not_belong_into_a_header() {
        assert_eq!(
            problem("// NORACE: x\n").1,
            "`NORACE` stands on a line without code"
        );
        assert_eq!(
            problem("// NORACE here\n").1,
            "`NORACE` stands on a line without code"
        );
        assert_eq!(
            problem("// RACE: x with line 2\n").1,
            "`RACE` stands on a line without code"
        );
    }

    #[test]
    fn what_can_be_said_once_is_said_once() {
        assert_eq!(
            problem("// RUN: a\n// RUN: b\n"),
            (2, "second `RUN`".to_owned())
        );
        assert_eq!(
            problem("// NORACE\n// NORACE\n"),
            (2, "second `NORACE`".to_owned())
        );
    }
}
