//! Lines that start with `#!`: facts about the trace that are not events.
//!
//! ```text
//! #! deadheat-trace 1 serial
//! #! thread T1 name=worker parent=T0 at=main.c:12
//! #! lock L3 addr=0x7f0010
//! #! variable buffer 64
//! #! note "the program was killed"
//! ```

use super::cursor::Cursor;
use super::error::{Fault, Problem};
use super::line::check_thread;
use super::names::{self, Names};
use super::{FORMAT, VERSION, location, words};
use crate::{Addr, Mode, SyncKind, Thread};

/// What begins a directive.
pub(super) const MARK: &str = "#!";

/// The mode that a line says if it is the header; `None` if it is none.
pub(super) fn header(line: &str) -> Result<Option<Mode>, Fault> {
    let mut cursor = Cursor::new(line, 0);
    cursor.skip_spaces();
    if !cursor.eat(MARK) {
        return Ok(None);
    }
    if word(&mut cursor) != FORMAT {
        return Ok(None);
    }
    cursor.skip_spaces();
    let version_at = cursor.at();
    let version = word(&mut cursor);
    match version.parse::<u32>() {
        Ok(VERSION) => {}
        Ok(number) if number > VERSION => {
            let version = version.to_owned();
            return Err(Fault::new(version_at, Problem::Newer { version }));
        }
        _ => {
            return Err(Fault::expected(
                version_at,
                "the format's version, 1",
                version,
            ));
        }
    }
    cursor.skip_spaces();
    let mode_at = cursor.at();
    let mode = match word(&mut cursor) {
        "serial" => Mode::Serial,
        "parallel" => Mode::Parallel,
        other => return Err(Fault::expected(mode_at, "serial or parallel", other)),
    };
    end(&mut cursor)?;
    Ok(Some(mode))
}

/// Applies a directive other than the header.
pub(super) fn apply(line: &str, names: &mut Names) -> Result<(), Fault> {
    let mut cursor = Cursor::new(line, 0);
    cursor.skip_spaces();
    cursor.eat(MARK);
    cursor.skip_spaces();
    let at = cursor.at();
    match word(&mut cursor) {
        "thread" => thread(&mut cursor, names),
        "variable" => {
            cursor.skip_spaces();
            let name_at = cursor.at();
            let name = cursor.name("a variable's name")?;
            cursor.skip_spaces();
            let bytes = match cursor.rest() {
                "" => crate::cells::SMALLEST,
                _ => cursor.number("a number of bytes such as 64")?,
            };
            end(&mut cursor)?;
            names.declare(&name, bytes, name_at)
        }
        "note" => {
            cursor.skip_spaces();
            let note = cursor.quoted()?;
            end(&mut cursor)?;
            names.tables.notes.push(note);
            Ok(())
        }
        FORMAT => Err(Fault::new(at, Problem::LateHeader)),
        other => match words::kind(other) {
            Some(kind) => object(kind, &mut cursor, names),
            None => {
                const WHAT: &str = "deadheat-trace, thread, variable, note, lock, cond, barrier, \
                                    sem, chan or futex";
                Err(Fault::expected(at, WHAT, other))
            }
        },
    }
}

/// `thread T1 name=worker parent=T0 at=main.c:12`, or `unnamed`; what is not said is not known.
fn thread(cursor: &mut Cursor<'_>, names: &mut Names) -> Result<(), Fault> {
    cursor.skip_spaces();
    let at = cursor.at();
    let token = word(cursor);
    check_thread(token, at)?;
    let id = names.thread(token, at)?;
    let mut thread = Thread {
        name: names::thread_name(token, id),
        ..Thread::default()
    };
    while let Some((key, key_at)) = key(cursor) {
        match key {
            "unnamed" => thread.name = None,
            "name=" => thread.name = Some(setting(cursor)?),
            "parent=" => {
                let at = cursor.at();
                let parent = setting(cursor)?;
                check_thread(&parent, at)?;
                thread.parent = Some(names.thread(&parent, at)?);
            }
            "at=" => {
                let at = cursor.at();
                let text = setting(cursor)?;
                let place = location::any(&text)
                    .ok_or_else(|| Fault::expected(at, location::ANY, &text))?;
                thread.created_at = Some(names.location(&place)?);
            }
            other => {
                let what = "name=, unnamed, parent= or at=";
                return Err(Fault::expected(key_at, what, other));
            }
        }
    }
    names.tables.threads[id.index()] = thread;
    Ok(())
}

/// `lock L3 addr=0x7f0010 name="my lock"`, or `unnamed`.
fn object(kind: SyncKind, cursor: &mut Cursor<'_>, names: &mut Names) -> Result<(), Fault> {
    cursor.skip_spaces();
    let at = cursor.at();
    let token = match cursor.rest().starts_with('"') {
        true => cursor.quoted()?,
        false => word(cursor).to_owned(),
    };
    if token.is_empty() {
        return Err(Fault::expected(at, "a name", ""));
    }
    let id = names.sync(kind, &token, at)?;
    let (mut name, mut addr) = (names::sync_name(&token, kind, id), Addr(0));
    while let Some((key, key_at)) = key(cursor) {
        match key {
            "unnamed" => name = None,
            "name=" => name = Some(setting(cursor)?),
            "addr=" => addr = Addr(cursor.number("an address such as 0x7f001000")?),
            other => {
                let what = "name=, unnamed or addr=";
                return Err(Fault::expected(key_at, what, other));
            }
        }
    }
    let object = &mut names.tables.syncs[id.index()];
    object.name = name;
    object.addr = addr;
    Ok(())
}

/// The next key, with its `=` if it has one, and where it stands.
fn key<'a>(cursor: &mut Cursor<'a>) -> Option<(&'a str, usize)> {
    cursor.skip_spaces();
    let (start, at) = (cursor.rest(), cursor.at());
    cursor.until(|c| c == '=' || c.is_whitespace());
    cursor.eat("=");
    let key = &start[..cursor.at() - at];
    (!key.is_empty()).then_some((key, at))
}

/// What stands behind a key: a word, or a string in quotes.
fn setting(cursor: &mut Cursor<'_>) -> Result<String, Fault> {
    if cursor.rest().starts_with('"') {
        return cursor.quoted();
    }
    let at = cursor.at();
    match cursor.until(char::is_whitespace) {
        "" => Err(Fault::expected(at, "a word or a string in quotes", "")),
        text => Ok(text.to_owned()),
    }
}

fn word<'a>(cursor: &mut Cursor<'a>) -> &'a str {
    cursor.skip_spaces();
    cursor.until(char::is_whitespace)
}

fn end(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    cursor.skip_spaces();
    cursor.end("the end of the line")
}
