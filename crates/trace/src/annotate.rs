//! What writers add to a trace that the trace itself does not hold: the functions and lines of
//! places, the branches before events. Somebody else knows; the writers ask.

use serde::Serialize;

use crate::{Event, Tables};

/// Somebody who knows more about a trace's events than the trace says.
pub trait Annotate {
    /// Where the step that was read last happened, or one that was made up before it, in one of the
    /// forms that a location has in text. `None`: what the trace's own tables say.
    fn location(&mut self, event: &Event, tables: &Tables) -> Option<String>;

    /// The functions at its place, innermost first.
    fn functions(&mut self, event: &Event, tables: &Tables) -> Vec<Function>;

    /// What is known of the step that was read last, or of one that was made up before it.
    fn known(&mut self, event: &Event) -> Known;
}

/// A function at an event's place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Function {
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The source file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Whether it was inlined into the one that follows.
    pub inlined: bool,
}

/// What is known of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Set if a branch was passed since the thread's step before: on what it depends.
    pub branch: Option<Vec<String>>,
    /// Set if the address of the access is computed from what was read: from what.
    pub address: Option<Vec<String>>,
}

/// Nobody who knows anything.
impl Annotate for () {
    fn location(&mut self, _event: &Event, _tables: &Tables) -> Option<String> {
        None
    }

    fn functions(&mut self, _event: &Event, _tables: &Tables) -> Vec<Function> {
        Vec::new()
    }

    fn known(&mut self, _event: &Event) -> Known {
        Known::default()
    }
}
