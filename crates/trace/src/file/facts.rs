//! Meta blocks: what a recording says about the program besides its events.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use deadheat_wire::meta::{self, u32_at, u64_at};
use deadheat_wire::word::ADDR_MASK;

use super::code::{CodeMap, ELSEWHERE};
use crate::{Event, Module, Pc, Tables, Thread, ThreadId};

/// The bytes that the record of a thread takes, at least.
const THREAD_RECORD: u64 = 24;
/// Thread numbers that are believed in any recording.
const FEW_THREADS: u64 = 1024;

/// What is known so far.
#[derive(Debug, Default)]
pub(super) struct Facts {
    tables: Tables,
    /// Where threads were created: as addresses, while modules are still to come.
    created: Vec<(ThreadId, u64)>,
    last_thread: u32,
    /// Why the recording stopped before the program ended.
    pub stopped: Option<String>,
}

impl Facts {
    /// Nothing yet, about a recording of this length. Threads are numbered from zero and each
    /// has a record, so the length bounds their numbers: without that, a few bytes could ask for
    /// a table of millions.
    pub fn new(length: u64) -> Self {
        let last = (length / THREAD_RECORD).max(FEW_THREADS);
        Facts {
            last_thread: u32::try_from(last)
                .map_or(Event::MAX_THREAD, |n| n.min(Event::MAX_THREAD)),
            ..Facts::default()
        }
    }

    /// Whether a thread can have this number.
    pub fn may_be_thread(&self, number: u32) -> bool {
        number <= self.last_thread
    }

    /// Adds the records of a meta block. False if one makes no sense; it is passed over.
    pub fn read(&mut self, payload: &[u64]) -> bool {
        let bytes = bytes_of(payload);
        let mut read = 0;
        let mut good = true;
        for (kind, body) in meta::records(&bytes) {
            read += (8 + body.len()).next_multiple_of(8);
            good &= match kind {
                meta::MODULE => self.module(body),
                meta::THREAD => self.thread(body),
                meta::THREAD_NAME => self.thread_name(body),
                meta::NOTE => self.note(body),
                meta::STOPPED => self.stop(body),
                meta::LEFT_OUT => self.left_out(body),
                // A later addition.
                _ => Some(()),
            }
            .is_some();
        }
        good && read >= bytes.len()
    }

    /// Everything, the code of the modules, and the largest number of a thread.
    pub fn finish(mut self) -> (Tables, CodeMap, u32) {
        let code = CodeMap::new(&self.tables.modules);
        for (thread, address) in self.created {
            self.tables.threads[thread.index()].created_at = code.locate(address);
        }
        (self.tables, code, self.last_thread)
    }

    fn module(&mut self, body: &[u8]) -> Option<()> {
        let (start, end, bias) = (u64_at(body, 0)?, u64_at(body, 8)?, u64_at(body, 16)?);
        let (id_length, path_length) = (u32_at(body, 24)? as usize, u32_at(body, 28)? as usize);
        let (build_id, path) = body.get(32..)?.split_at_checked(id_length)?;
        // A path that did not fit was cut.
        let path = &path[..path.len().min(path_length)];
        let first_pc = self.tables.modules.last().map_or(0, |last| {
            u64::from(last.first_pc.0) + (last.end - last.start)
        });
        let fits =
            start < end && end <= ADDR_MASK + 1 && first_pc + (end - start) <= ELSEWHERE.into();
        self.tables.modules.push(Module {
            path: PathBuf::from(OsStr::from_bytes(path)),
            build_id: build_id.to_vec(),
            start,
            end,
            bias,
            first_pc: fits.then_some(Pc(first_pc as u32))?,
        });
        Some(())
    }

    fn left_out(&mut self, body: &[u8]) -> Option<()> {
        self.tables.left_out = Some(u64_at(body, 0)?);
        Some(())
    }

    /// The entry of a thread, which is made if it is not there.
    fn entry(&mut self, number: u32) -> Option<&mut Thread> {
        if !self.may_be_thread(number) {
            return None;
        }
        Some(thread_entry(&mut self.tables, ThreadId(number)))
    }

    fn thread(&mut self, body: &[u8]) -> Option<()> {
        let (number, parent, pc) = (u32_at(body, 0)?, u32_at(body, 4)?, u64_at(body, 8)?);
        let parent = match parent {
            meta::NO_THREAD => None,
            parent if self.may_be_thread(parent) => Some(ThreadId(parent)),
            _ => return None,
        };
        self.entry(number)?.parent = parent;
        if parent.is_some() {
            self.created.push((ThreadId(number), pc));
        }
        Some(())
    }

    fn thread_name(&mut self, body: &[u8]) -> Option<()> {
        let name = body.get(8..)?;
        let length = (u32_at(body, 4)? as usize).min(name.len());
        let name = String::from_utf8_lossy(&name[..length]).into_owned();
        self.entry(u32_at(body, 0)?)?.name = Some(name);
        Some(())
    }

    fn note(&mut self, body: &[u8]) -> Option<()> {
        let note = String::from_utf8_lossy(body).into_owned();
        self.tables.notes.push(note);
        Some(())
    }

    fn stop(&mut self, body: &[u8]) -> Option<()> {
        self.stopped = Some(String::from_utf8_lossy(body).into_owned());
        Some(())
    }
}

/// The entry of a thread that can be, which is made if it is not there.
pub(super) fn thread_entry(tables: &mut Tables, thread: ThreadId) -> &mut Thread {
    if tables.threads.len() <= thread.index() {
        tables
            .threads
            .resize_with(thread.index() + 1, Thread::default);
    }
    &mut tables.threads[thread.index()]
}

/// Why the recording was closed.
pub(super) fn closing_note(payload: &[u64]) -> String {
    let bytes = bytes_of(payload);
    let note = meta::records(&bytes).find(|(kind, _)| *kind == meta::NOTE);
    String::from_utf8_lossy(note.map_or(&[][..], |(_, body)| body)).into_owned()
}

fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
