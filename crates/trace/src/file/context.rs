//! What the records of all streams refer to, as it changes along the way.

use std::sync::Arc;

use super::code::Locator;
use super::facts::thread_entry;
use super::objects::Objects;
use super::trace_file::TraceFile;
use crate::{Op, Tables, ThreadId};

/// Code, objects and threads.
#[derive(Clone, Debug)]
pub(super) struct Context<'a> {
    pub code: Locator<'a>,
    pub objects: Objects,
    pub tables: Arc<Tables>,
    /// The largest number that a thread can have.
    pub last_thread: u32,
}

impl<'a> Context<'a> {
    /// At the start of a recording.
    pub fn new(file: &'a TraceFile) -> Self {
        Context {
            code: Locator::new(&file.code),
            objects: Objects::default(),
            tables: Arc::clone(&file.tables),
            last_thread: file.last_thread,
        }
    }

    /// Makes sure that a thread is in the tables.
    pub fn know(&mut self, thread: ThreadId) {
        if self.tables.threads.len() <= thread.index() {
            thread_entry(Arc::make_mut(&mut self.tables), thread);
        }
    }

    /// What an event that is no access is about; `None` for operations that do not synchronise
    /// and for threads that cannot be.
    pub fn target(&mut self, op: Op, target: u64, kind: u64, operand: Option<u64>) -> Option<u64> {
        let Context {
            objects, tables, ..
        } = self;
        let id = match op {
            Op::Fork | Op::Join | Op::Begin | Op::End => {
                let number = u32::try_from(target).ok()?;
                (number <= self.last_thread).then(|| self.know(ThreadId(number)))?;
                return Some(target);
            }
            Op::Alloc => {
                objects.allocated(target, operand.unwrap_or(0));
                return Some(target);
            }
            Op::Free => {
                objects.freed(target);
                return Some(target);
            }
            Op::Read | Op::Write | Op::Enter | Op::Leave | Op::Branch => return None,
            Op::ExternalWrite | Op::Lost => return None,
            Op::Init => objects.initialised(kind, target, tables),
            Op::Destroy => objects.destroyed(kind, target, tables),
            _ => objects.of(op, target, tables),
        };
        Some(id.0.into())
    }
}
