//! One record of a report, from its lines.

use std::os::unix::ffi::OsStringExt;
use std::str::SplitAsciiWhitespace;

use deadheat_wire::watch::{AccessKind, MAGIC, Place, VERSION};

use super::{Access, Finding, Frame, Lock, Memory, Message, Module, Stack, Thread};

/// A record that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// A line does not say what it should.
    #[error("not a line of a watch report: {0:?}")]
    Line(String),
    /// The file is of a later version.
    #[error("the watch report has version {0}, this program reads up to {VERSION}")]
    Version(u32),
    /// Something is missing.
    #[error("a {record} without {what} in a watch report")]
    Missing {
        /// The record.
        record: String,
        /// What it should have.
        what: &'static str,
    },
}

type Result<T> = std::result::Result<T, ParseError>;

/// The record in `text`, without the empty line that ends it.
pub fn record(text: &str) -> Result<Message> {
    let mut lines = text.lines();
    let head = Line::of(lines.next().unwrap_or(""));
    let details: Vec<Line> = lines.map(Line::of).collect();
    let mut words = head.words();
    let kind = words.next().unwrap_or("");
    if kind == MAGIC {
        let version = head.decimal(&mut words)?;
        if version > VERSION {
            return Err(ParseError::Version(version));
        }
        return Ok(Message::Begin {
            pid: head.decimal(&mut words)?,
            detector: head.word(&mut words)?.to_owned(),
        });
    }
    let pid = head.decimal(&mut words)?;
    match kind {
        "module" => Ok(Message::Module {
            pid,
            module: module(&head, words)?,
        }),
        "thread" => Ok(Message::Thread {
            pid,
            thread: Thread {
                number: head.decimal(&mut words)?,
                parent: match head.word(&mut words)? {
                    "-" => None,
                    number => Some(number.parse().map_err(|_| head.error())?),
                },
                tid: head.decimal(&mut words)?,
                entry: head.hex(&mut words)?,
                created: details.first().map_or(Ok(Stack::default()), Line::stack)?,
            },
        }),
        "name" => Ok(Message::Name {
            pid,
            number: head.decimal(&mut words)?,
            name: String::from_utf8_lossy(&unescape(head.rest(3)).ok_or_else(|| head.error())?)
                .into_owned(),
        }),
        "race" => {
            let number = head.decimal(&mut words)?;
            Ok(Message::Race(finding("race", pid, number, &details)?))
        }
        "flag" => {
            let number = head.decimal(&mut words)?;
            Ok(Message::Flag(finding("flag", pid, number, &details)?))
        }
        "note" => Ok(Message::Note {
            pid,
            text: head.rest(2).to_owned(),
        }),
        "cannot" => Ok(Message::Cannot {
            pid,
            text: head.rest(2).to_owned(),
        }),
        "summary" => Ok(Message::Summary {
            pid,
            figures: words.map(|word| head.figure(word)).collect::<Result<_>>()?,
        }),
        _ => Err(head.error()),
    }
}

/// A line, to be taken apart and to be named in errors.
struct Line<'a>(&'a str);

impl<'a> Line<'a> {
    fn of(text: &'a str) -> Self {
        Line(text)
    }

    fn words(&self) -> SplitAsciiWhitespace<'a> {
        self.0.split_ascii_whitespace()
    }

    /// What follows the first `count` words and one space.
    fn rest(&self, count: usize) -> &'a str {
        let mut rest = self.0;
        for _ in 0..count {
            rest = rest.split_once(' ').map_or("", |(_, rest)| rest);
        }
        rest
    }

    fn error(&self) -> ParseError {
        ParseError::Line(self.0.to_owned())
    }

    fn word(&self, words: &mut SplitAsciiWhitespace<'a>) -> Result<&'a str> {
        words.next().ok_or_else(|| self.error())
    }

    fn decimal<T: std::str::FromStr>(&self, words: &mut SplitAsciiWhitespace<'a>) -> Result<T> {
        self.word(words)?.parse().map_err(|_| self.error())
    }

    fn hex(&self, words: &mut SplitAsciiWhitespace<'a>) -> Result<u64> {
        u64::from_str_radix(self.word(words)?, 16).map_err(|_| self.error())
    }

    fn figure(&self, word: &str) -> Result<(String, u64)> {
        word.split_once('=')
            .and_then(|(name, value)| Some((name.to_owned(), value.parse().ok()?)))
            .ok_or_else(|| self.error())
    }

    fn stack(&self) -> Result<Stack> {
        let mut words = self.words();
        if self.word(&mut words)? != "stack" {
            return Err(self.error());
        }
        if self.0.ends_with(" -") {
            return Ok(Stack::default());
        }
        let frame = |word: &str| {
            let (pc, repeated) = match word.strip_suffix('*') {
                Some(pc) => (pc, true),
                None => (word, false),
            };
            let pc = u64::from_str_radix(pc, 16).map_err(|_| self.error())?;
            Ok(Frame { pc, repeated })
        };
        words.map(frame).collect::<Result<_>>().map(Stack)
    }
}

fn module<'a>(head: &Line<'a>, mut words: SplitAsciiWhitespace<'a>) -> Result<Module> {
    let [start, end, bias] = [
        head.hex(&mut words)?,
        head.hex(&mut words)?,
        head.hex(&mut words)?,
    ];
    let build_id = match head.word(&mut words)? {
        "-" => Vec::new(),
        hex => bytes_of_hex(hex).ok_or_else(|| head.error())?,
    };
    let path = unescape(head.rest(6)).ok_or_else(|| head.error())?;
    Ok(Module {
        start,
        end,
        bias,
        build_id,
        path: std::ffi::OsString::from_vec(path).into(),
    })
}

fn bytes_of_hex(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits
        .len()
        .is_multiple_of(2)
        .then(|| digits.chunks(2).map(byte).collect())?
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
        }
    }
    Some(bytes)
}

/// What a `stack` line belongs to.
enum Open {
    Earlier,
    Later,
    Memory,
}

fn finding(record: &str, pid: u32, number: u32, details: &[Line]) -> Result<Finding> {
    let missing = |what| ParseError::Missing {
        record: record.to_owned(),
        what,
    };
    let (mut wait, mut place, mut memory) = (None, None, Memory::Global);
    let mut accesses: [Option<Access>; 2] = [None, None];
    let mut open = Open::Later;
    for line in details {
        let mut words = line.words();
        match line.word(&mut words)? {
            "wait" => wait = Some(line.decimal(&mut words)?),
            "place" => {
                let words = line.0.trim_start().strip_prefix("place ").unwrap_or("");
                place = Some(Place::parse(words).ok_or_else(|| line.error())?);
            }
            which @ ("earlier" | "later") => {
                let kind = line.word(&mut words)?;
                let access = Access {
                    kind: AccessKind::from_word(kind).ok_or_else(|| line.error())?,
                    address: line.hex(&mut words)?,
                    bytes: line.decimal(&mut words)?,
                    thread: line.decimal(&mut words)?,
                    stack: Stack::default(),
                    locks: Some(Vec::new()),
                };
                open = if which == "earlier" {
                    Open::Earlier
                } else {
                    Open::Later
                };
                accesses[usize::from(which == "later")] = Some(access);
            }
            "memory" => {
                memory = memory_of(line, words)?;
                open = Open::Memory;
            }
            "stack" if matches!(open, Open::Memory) => {
                if let Memory::Heap { allocated, .. } = &mut memory {
                    *allocated = line.stack()?;
                }
            }
            word @ ("stack" | "lock" | "locks") => {
                let access = accesses[usize::from(matches!(open, Open::Later))]
                    .as_mut()
                    .ok_or_else(|| line.error())?;
                match (word, &mut access.locks) {
                    ("lock", Some(locks)) => locks.push(Lock {
                        write: line.word(&mut words)? == "write",
                        address: line.hex(&mut words)?,
                        taken: Stack::default(),
                    }),
                    ("stack", Some(locks)) if !locks.is_empty() => {
                        if let Some(lock) = locks.last_mut() {
                            lock.taken = line.stack()?;
                        }
                    }
                    ("stack", _) => access.stack = line.stack()?,
                    _ => access.locks = None,
                }
            }
            _ => return Err(line.error()),
        }
    }
    let [earlier, later] = accesses;
    Ok(Finding {
        pid,
        number,
        wait,
        place,
        earlier,
        later: later.ok_or_else(|| missing("its later access"))?,
        memory,
    })
}

fn memory_of<'a>(line: &Line<'a>, mut words: SplitAsciiWhitespace<'a>) -> Result<Memory> {
    let words = &mut words;
    Ok(match line.word(words)? {
        "heap" => Memory::Heap {
            start: line.hex(words)?,
            bytes: line.decimal(words)?,
            thread: line.decimal(words)?,
            allocated: Stack::default(),
        },
        "stack" => Memory::Stack {
            thread: line.decimal(words)?,
            low: line.hex(words)?,
            top: line.hex(words)?,
        },
        "global" => Memory::Global,
        _ => return Err(line.error()),
    })
}
