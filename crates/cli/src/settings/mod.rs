//! Options that are set once instead of typed each time: in `deadheat.toml` or `Cargo.toml`, and in
//! `DEADHEAT_OPTIONS`.
//!
//! The table of what can be set is clap's own definition of the commands ([`table`]); what is set
//! becomes arguments in front of those that the user has typed ([`apply`]). So a setting has the
//! effect of the flag, its values are checked by the same parser, and nothing is written twice.
//!
//! What counts, first to last: the command line, `DEADHEAT_OPTIONS`, the command's own table in
//! the file, the top of the file, the default.

pub mod apply;
pub mod args;
pub mod file;
pub mod list;
pub mod table;
pub mod variable;

/// One option that is set somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Whose option; of every command that has it, if `None`.
    pub command: Option<String>,
    /// The option's name.
    pub name: String,
    /// What it is set to.
    pub given: Given,
    /// Where, for people: a file and a line, or the variable.
    pub place: String,
}

/// What an option is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given {
    /// `true` or `false`.
    Flag(bool),
    /// A text or a number.
    One(String),
    /// A list of them.
    Several(Vec<String>),
}

impl std::fmt::Display for Given {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Given::Flag(flag) => write!(f, "{flag}"),
            Given::One(text) => f.write_str(text),
            Given::Several(texts) => f.write_str(&texts.join(", ")),
        }
    }
}
