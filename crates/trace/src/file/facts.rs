//! Meta blocks: what a recording says about the program besides its events.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use deadheat_wire::meta::{self, u32_at, u64_at};

use crate::{Event, Module, Pc, Tables, Thread, ThreadId};

/// Adds the records of a meta block to the tables. Malformed ones are passed over.
pub(super) fn read(payload: &[u8], tables: &mut Tables) {
    for (kind, body) in meta::records(payload) {
        // `None` is a malformed record; the block's checksum makes that a writer's bug.
        let _ = match kind {
            meta::MODULE => module(body, tables),
            meta::THREAD => thread(body, tables),
            meta::THREAD_NAME => thread_name(body, tables),
            meta::NOTE => note(body, tables),
            _ => None,
        };
    }
}

/// Why the recording was closed.
pub(super) fn closing_note(payload: &[u8]) -> String {
    let note = meta::records(payload).find(|(kind, _)| *kind == meta::NOTE);
    String::from_utf8_lossy(note.map_or(&[][..], |(_, body)| body)).into_owned()
}

fn module(body: &[u8], tables: &mut Tables) -> Option<()> {
    let (start, end, bias) = (u64_at(body, 0)?, u64_at(body, 8)?, u64_at(body, 16)?);
    let (id_length, path_length) = (u32_at(body, 24)? as usize, u32_at(body, 28)? as usize);
    let build_id = body.get(32..32usize.checked_add(id_length)?)?.to_vec();
    // A path that did not fit was cut.
    let path = body.get(32 + id_length..)?;
    let path = PathBuf::from(OsStr::from_bytes(&path[..path.len().min(path_length)]));
    let first_pc = match tables.modules.last() {
        Some(last) => {
            let length = u32::try_from(last.end - last.start).ok()?;
            Pc(last.first_pc.0.checked_add(length)?)
        }
        None => Pc(0),
    };
    u32::try_from(end.checked_sub(start)?).ok()?;
    tables.modules.push(Module { path, build_id, start, end, bias, first_pc });
    Some(())
}

/// The entry of a thread, which is made if it is not there.
fn entry(number: u32, tables: &mut Tables) -> Option<&mut Thread> {
    if number > Event::MAX_THREAD {
        return None;
    }
    if tables.threads.len() <= number as usize {
        tables.threads.resize_with(number as usize + 1, Thread::default);
    }
    tables.threads.get_mut(number as usize)
}

fn thread(body: &[u8], tables: &mut Tables) -> Option<()> {
    let (number, parent, pc) = (u32_at(body, 0)?, u32_at(body, 4)?, u64_at(body, 8)?);
    let created_at = super::code::locate(&tables.modules, pc);
    let thread = entry(number, tables)?;
    thread.parent = (parent != meta::NO_THREAD).then_some(ThreadId(parent));
    thread.created_at = if thread.parent.is_some() { created_at } else { None };
    Some(())
}

fn thread_name(body: &[u8], tables: &mut Tables) -> Option<()> {
    let name = body.get(8..)?;
    let length = (u32_at(body, 4)? as usize).min(name.len());
    let name = String::from_utf8_lossy(&name[..length]).into_owned();
    entry(u32_at(body, 0)?, tables)?.name = Some(name);
    Some(())
}

fn note(body: &[u8], tables: &mut Tables) -> Option<()> {
    tables.notes.push(String::from_utf8_lossy(body).into_owned());
    Some(())
}
