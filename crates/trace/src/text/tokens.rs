//! The way out: what threads and objects are called in the text, each by a token of its own.

use std::collections::HashSet;

use super::cursor::{plain_length, quote};
use super::names;
use crate::{SyncId, SyncKind, SyncObject, Tables, Thread, ThreadId};

/// What the threads are called.
#[derive(Default)]
pub(super) struct ThreadTokens {
    tokens: Vec<String>,
    used: HashSet<String>,
}

impl ThreadTokens {
    /// How many threads have a token.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Calls the next thread by its name if that can be written and is not taken, and otherwise
    /// by its number.
    pub fn add(&mut self, thread: &Thread) -> &str {
        let id = ThreadId(self.tokens.len() as u32);
        let name = thread.name.as_deref().filter(|name| is_word(name));
        let token = unused(&mut self.used, name, &id.to_string());
        self.tokens.push(token);
        &self.tokens[id.index()]
    }

    /// What a thread is called, once it has been added.
    pub fn get(&self, id: ThreadId) -> Option<&str> {
        self.tokens.get(id.index()).map(String::as_str)
    }
}

/// The entry of a thread; an empty one if the tables do not have it.
pub(super) fn thread(tables: &Tables, index: usize) -> Thread {
    tables.threads.get(index).cloned().unwrap_or_default()
}

/// What the objects are called, ready to be written.
#[derive(Default)]
pub(super) struct SyncTokens {
    written: Vec<String>,
    /// One namespace per [`SyncKind`].
    used: [HashSet<String>; 6],
}

impl SyncTokens {
    /// How many objects have a token.
    pub fn len(&self) -> usize {
        self.written.len()
    }

    /// Calls the next object by its name, and says which name a reader will take that for.
    pub fn add(&mut self, object: &SyncObject) -> Option<String> {
        let id = SyncId(self.written.len() as u32);
        let name = object.name.as_deref().filter(|name| !name.is_empty());
        let default = format!("{}{}", object.kind.letter(), id.0);
        let token = unused(&mut self.used[object.kind as usize], name, &default);
        let understood = names::sync_name(&token, object.kind, id);
        self.written.push(written_name(&token));
        understood
    }

    /// What an object is called, once it has been added.
    pub fn get(&self, id: SyncId) -> Option<&str> {
        self.written.get(id.index()).map(String::as_str)
    }
}

/// The kind of an object; a lock if the tables do not have it.
pub(super) fn kind(tables: &Tables, id: SyncId) -> SyncKind {
    let object = tables.syncs.get(id.index());
    object.map_or(SyncKind::Lock, |object| object.kind)
}

/// A name as it is written: in quotes where it would be read as something else.
pub(super) fn written_name(name: &str) -> String {
    if !name.is_empty() && plain_length(name) == name.len() {
        name.to_owned()
    } else {
        quote(name)
    }
}

/// Whether a name can stand for a thread: a word that is no comment.
fn is_word(name: &str) -> bool {
    let unfit = |c: char| c.is_whitespace() || c.is_control() || c == '|';
    !name.is_empty() && !name.starts_with('#') && !name.contains(unfit)
}

/// The name, or the default, or the default with a number behind it: the first that is free.
pub(super) fn unused(used: &mut HashSet<String>, name: Option<&str>, default: &str) -> String {
    let mut token = name.unwrap_or(default).to_owned();
    let mut attempt = 1;
    while !used.insert(token.clone()) {
        token = match attempt {
            1 => default.to_owned(),
            n => format!("{default}_{n}"),
        };
        attempt += 1;
    }
    token
}
