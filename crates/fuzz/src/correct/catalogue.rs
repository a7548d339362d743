//! The pieces that programs are made of, read from the files under `pieces/`.
//!
//! A piece begins with a line `//: name | kind, traits | wait | who ends it` and goes up to the next. `$` stands for the number of its
//! use. It can call `write$`, `read$` (the payload's value), `bump$` and `good$(condition)`, and has, by its
//! kind,
//!
//! * *handover*: `give$` in one thread, after which `take$` in another returns: what was written before is
//!   there;
//! * *exclusion*: `enter$` and `leave$`;
//! * *own*: `run$`, which returns `read$()` or `good$(..)`, with whatever threads and processes it starts;
//!
//! and, if it wishes, `setup$` before all threads and `finish$` after them. Its traits: `meets`, if giving
//! waits for the taker; `uses X`,
//! if there is only one X in a process; `known`, if Deadheat is known to be wrong about it; `slow`, if a
//! command takes seconds.

/// What a program is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    /// C11 with gcc.
    C,
    /// C++20 with g++.
    Cpp,
    /// Rust with the standard library.
    Rust,
}

impl Language {
    /// All of them.
    pub const ALL: [Language; 3] = [Language::C, Language::Cpp, Language::Rust];

    /// As it is written on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cpp => "cpp",
            Language::Rust => "rust",
        }
    }
}

/// What a piece does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// From one thread to another.
    Handover,
    /// One thread at a time.
    Exclusion,
    /// All by itself.
    Own,
}

/// One way to synchronise, or to wait.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its name, unique in its language.
    pub name: String,
    /// Its language.
    pub language: Language,
    /// What it does.
    pub kind: Kind,
    /// Whether giving waits for the other thread, too.
    pub meets: bool,
    /// Whether Deadheat is known to be wrong about it: `docs/limits.md` says so, or an open issue. Only tried
    /// if asked for.
    pub known: bool,
    /// Whether a command takes seconds for it.
    pub slow: bool,
    /// What there is only one of in a process, such as the alarm.
    pub uses: Option<String>,
    /// The call that waits.
    pub wait: String,
    /// Who can end it.
    pub ender: String,
    /// Its text.
    pub text: String,
}

impl Piece {
    /// Whether its text defines this function.
    #[must_use]
    pub fn has(&self, function: &str) -> bool {
        self.text.contains(&format!(" {function}$("))
    }
}

const FILES: &[(Language, &str)] = &[
    (Language::C, include_str!("pieces/exclusion.c")),
    (Language::C, include_str!("pieces/handover_threads.c")),
    (Language::C, include_str!("pieces/joins.c")),
    (Language::C, include_str!("pieces/handover_atomics.c")),
    (Language::C, include_str!("pieces/handover_descriptors.c")),
    (Language::C, include_str!("pieces/handover_streams.c")),
    (Language::C, include_str!("pieces/handover_signals.c")),
    (Language::C, include_str!("pieces/handover_queues.c")),
    (Language::C, include_str!("pieces/processes.c")),
    (Language::C, include_str!("pieces/endings.c")),
    (Language::C, include_str!("pieces/endings_signals.c")),
    (Language::C, include_str!("pieces/cancellation.c")),
    (Language::Cpp, include_str!("pieces/cpp.cpp")),
    (Language::Rust, include_str!("pieces/rust.rs")),
];

/// All pieces of a language.
#[must_use]
pub fn pieces(language: Language) -> Vec<Piece> {
    let files = FILES.iter().filter(|(of, _)| *of == language);
    files.flat_map(|(_, text)| read(language, text)).collect()
}

fn read(language: Language, text: &str) -> Vec<Piece> {
    let parts = text.split("//: ").skip(1);
    parts.map(|part| read_piece(language, part)).collect()
}

/// # Panics
/// If the line is not of the form above: the catalogue is part of the program.
fn read_piece(language: Language, part: &str) -> Piece {
    let (line, text) = part.split_once('\n').unwrap_or((part, ""));
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    let [name, kind, wait, ender] = fields[..] else {
        panic!("the catalogue has a piece without four fields: {line}");
    };
    let mut traits = kind.split(',').map(str::trim);
    let kind = match traits.next() {
        Some("handover") => Kind::Handover,
        Some("exclusion") => Kind::Exclusion,
        Some("own") => Kind::Own,
        other => panic!("the catalogue has a piece of the kind {other:?}: {line}"),
    };
    let traits: Vec<&str> = traits.collect();
    Piece {
        name: name.to_owned(),
        language,
        kind,
        meets: traits.contains(&"meets"),
        known: traits.contains(&"known"),
        slow: traits.contains(&"slow"),
        uses: traits
            .iter()
            .find_map(|one| one.strip_prefix("uses ").map(str::to_owned)),
        wait: wait.to_owned(),
        ender: ender.to_owned(),
        text: text.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_has_what_its_kind_needs_and_a_name_of_its_own() {
        for language in Language::ALL {
            let pieces = pieces(language);
            assert!(!pieces.is_empty());
            for (at, piece) in pieces.iter().enumerate() {
                let needs: &[&str] = match piece.kind {
                    Kind::Handover => &["give", "take"],
                    Kind::Exclusion => &["enter", "leave"],
                    Kind::Own => &["run"],
                };
                for need in needs {
                    assert!(piece.has(need), "{} has no {need}", piece.name);
                }
                assert!(pieces[..at].iter().all(|other| other.name != piece.name));
            }
        }
    }
}
