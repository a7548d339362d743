//! What a watched process has told about itself, and its findings with names.

use std::collections::HashMap;

use deadheat_report::{
    Access, Finding, Frame, Kind, Lock, Memory, Names, Object, Rung, Thread, own_place,
};
use deadheat_trace::watch::{self, AccessKind, Stack};
use deadheat_trace::{Addr, Module, Pc, Tables};

/// A process.
#[derive(Default)]
pub struct Process {
    detector: String,
    tables: Tables,
    names: Option<Names>,
    threads: HashMap<u32, watch::Thread>,
    thread_names: HashMap<u32, String>,
}

impl Process {
    /// One that has just started, or that has become another program.
    pub fn new(detector: String) -> Self {
        Process {
            detector,
            ..Process::default()
        }
    }

    /// A module was loaded.
    pub fn add_module(&mut self, module: watch::Module) {
        let after = self.tables.modules.last();
        let first_pc = after.map_or(0, |last| {
            let length = u32::try_from(last.end - last.start).unwrap_or(u32::MAX);
            last.first_pc.0.saturating_add(length)
        });
        self.tables.modules.push(Module {
            path: module.path,
            build_id: module.build_id,
            start: module.start,
            end: module.end,
            bias: module.bias,
            first_pc: Pc(first_pc),
        });
        self.names = None;
    }

    /// A thread was created.
    pub fn add_thread(&mut self, thread: watch::Thread) {
        self.thread_names.remove(&thread.number);
        self.threads.insert(thread.number, thread);
    }

    /// A thread was named.
    pub fn name_thread(&mut self, number: u32, name: String) {
        self.thread_names.insert(number, name);
    }

    /// The kernel thread of a thread.
    pub fn kernel_thread(&self, number: u32) -> Option<u32> {
        self.threads.get(&number).map(|thread| thread.tid)
    }

    /// A finding, with names.
    pub fn explain(&mut self, found: &watch::Finding) -> Finding {
        let tables = &self.tables;
        let names = self.names.get_or_insert_with(|| Names::of(tables));
        let process = Named {
            names,
            threads: &self.threads,
            thread_names: &self.thread_names,
        };
        let (rung, method) = match &*self.detector {
            "hb" => (Rung::Observed, "happens-before"),
            "simple" => (Rung::Warning, "lockset"),
            _ => (Rung::Warning, "hybrid"),
        };
        let sides = found.earlier.iter().chain([&found.later]);
        let accesses = sides.map(|access| process.access(access)).collect();
        let mut finding = Finding::new(Kind::Race, rung, method, accesses);
        finding.object = Some(process.object(found));
        finding
    }

    /// What the user should know about the program's files.
    pub fn remarks(&self) -> Vec<String> {
        self.names.as_ref().map_or_else(Vec::new, Names::remarks)
    }
}

/// A process with names at hand.
struct Named<'a> {
    names: &'a Names,
    threads: &'a HashMap<u32, watch::Thread>,
    thread_names: &'a HashMap<u32, String>,
}

impl Named<'_> {
    fn access(&self, access: &watch::Access) -> Access {
        let stack = self.stack(&access.stack);
        let op = match access.kind {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
            AccessKind::AtomicRead => "atomic read",
            AccessKind::AtomicWrite => "atomic write",
            AccessKind::Free => "free",
        };
        Access {
            thread: self.thread(access.thread),
            op: op.to_owned(),
            size: access.bytes,
            address: access.address,
            place: own_place(&stack),
            stack,
            folded: access.stack.0.iter().any(|frame| frame.repeated),
            locks: access
                .locks
                .iter()
                .flatten()
                .map(|lock| self.lock(lock))
                .collect(),
            waits_for: None,
            index: None,
        }
    }

    fn stack(&self, stack: &Stack) -> Vec<Frame> {
        let places = stack.0.iter();
        places
            .flat_map(|frame| self.names.frames_at(frame.pc))
            .collect()
    }

    fn lock(&self, lock: &watch::Lock) -> Lock {
        let name = self.names.variable(Addr(lock.address));
        Lock {
            name: name.map_or_else(|| format!("{:#x}", lock.address), |global| global.shown),
            address: lock.address,
            read: !lock.write,
            acquired_at: self.stack(&lock.taken),
        }
    }

    fn thread_name(&self, number: u32) -> String {
        let name = self.thread_names.get(&number).cloned();
        name.unwrap_or_else(|| format!("T{number}"))
    }

    fn thread(&self, number: u32) -> Thread {
        let known = self.threads.get(&number);
        Thread {
            number,
            name: self.thread_name(number),
            parent: known.and_then(|thread| thread.parent),
            created_at: known.map_or_else(Vec::new, |thread| self.stack(&thread.created)),
        }
    }

    fn object(&self, found: &watch::Finding) -> Object {
        let (later, earlier) = (&found.later, found.earlier.as_ref());
        let start = earlier.map_or(later.address, |earlier| earlier.address.max(later.address));
        let end = |access: &watch::Access| access.address.saturating_add(access.bytes);
        let end = earlier.map_or(end(later), |earlier| end(earlier).min(end(later)));
        let (name, memory) = self.memory(start, &found.memory);
        Object {
            name,
            address: start,
            size: end.saturating_sub(start),
            memory,
        }
    }

    fn memory(&self, addr: u64, memory: &watch::Memory) -> (String, Memory) {
        match memory {
            watch::Memory::Heap {
                start,
                bytes,
                thread,
                allocated,
            } => (
                format!("a heap block of {bytes} bytes"),
                Memory::Heap {
                    start: *start,
                    length: *bytes,
                    offset: addr.saturating_sub(*start),
                    thread: self.thread_name(*thread),
                    allocated_at: self.stack(allocated),
                },
            ),
            watch::Memory::Stack { thread, .. } => {
                let thread = self.thread_name(*thread);
                (format!("the stack of {thread}"), Memory::Stack { thread })
            }
            watch::Memory::Global => match self.names.variable(Addr(addr)) {
                Some(global) => (
                    global.shown,
                    Memory::Global {
                        variable: global.name,
                        offset: global.offset,
                        declared: global.declared,
                    },
                ),
                None => (format!("{addr:#x}"), Memory::Unknown),
            },
        }
    }
}
