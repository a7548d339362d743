//! The writer of the full format. What it writes reads back as the same trace.
//!
//! Threads, objects and variables are numbered by a reader in the order in which they appear;
//! where that would not give the numbers they have, or loses something, a directive says it.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};

use super::cursor::quote;
use super::tokens::{self, SyncTokens, ThreadTokens, written_name};
use super::{FORMAT, VERSION, Written, location, words};
use crate::cells::{Allotment, Cell};
use crate::hash::FastMap;
use crate::{
    Addr, Annotate, Event, Mode, Op, Pc, Step, Steps, SyncId, Tables, Thread, ThreadId, WriteError,
};

/// Values up to this one are written in decimal.
const LARGEST_DECIMAL: u64 = 9999;

pub(super) fn write<S: Steps, W: Write>(
    steps: &mut S,
    out: W,
    annotate: &mut dyn Annotate,
    functions: bool,
) -> Result<Written, WriteError<S::Error>> {
    let mut writer = Writer {
        out: BufWriter::new(out),
        threads: ThreadTokens::default(),
        told: Vec::new(),
        met: 0,
        syncs: SyncTokens::default(),
        variables: FastMap::default(),
        variable_names: HashSet::new(),
        cells: Allotment::default(),
        locations: FastMap::default(),
        notes: 0,
        annotate,
        functions,
    };
    let mode = match steps.mode() {
        Mode::Serial => "serial",
        Mode::Parallel => "parallel",
    };
    writeln!(writer.out, "#! {FORMAT} {VERSION} {mode}")?;
    let mut written = Written::default();
    while let Some(step) = steps.next_step().map_err(WriteError::Read)? {
        writer.step(&step, steps.tables())?;
        written.lines += 1;
    }
    writer.finish(steps.tables())?;
    Ok(written)
}

struct Writer<'a, W: Write> {
    out: BufWriter<W>,
    threads: ThreadTokens,
    /// What a reader will know of each thread that has a token.
    told: Vec<Thread>,
    /// How many threads a reader has met so far.
    met: usize,
    syncs: SyncTokens,
    /// By the address of the cell.
    variables: FastMap<u64, String>,
    variable_names: HashSet<String>,
    /// What a reader has handed out so far.
    cells: Allotment,
    locations: FastMap<Pc, String>,
    notes: usize,
    annotate: &'a mut dyn Annotate,
    /// Whether the functions of each place are written.
    functions: bool,
}

impl<W: Write> Writer<'_, W> {
    fn step(&mut self, step: &Step, tables: &Tables) -> io::Result<()> {
        let event = &step.event;
        self.tell_notes(tables)?;
        self.tell_threads(event, tables)?;
        match event.op() {
            op if op.is_access() => self.tell_variable(event.addr(), event.size(), tables)?,
            Op::Alloc => {
                let size = step.written().unwrap_or(0);
                self.tell_variable(event.addr(), size, tables)?;
            }
            Op::Free => self.tell_variable(event.addr(), 0, tables)?,
            op if words::kind_of(op).is_some() || matches!(op, Op::Init | Op::Destroy) => {
                self.tell_syncs(event.sync().index(), tables)?;
            }
            _ => {}
        }
        self.tell_known(event, tables)?;
        self.thread(event.thread())?;
        write!(self.out, "|{}", words::op_word(event.op()))?;
        self.target(step, tables)?;
        self.out.write_all(b"|")?;
        self.location(event, tables)?;
        self.out.write_all(b"\n")
    }

    /// What somebody else knows of the event about to be written.
    fn tell_known(&mut self, event: &Event, tables: &Tables) -> io::Result<()> {
        let known = self.annotate.known(event);
        if let Some(depends) = known.branch {
            writeln!(self.out, "# branch on {}", in_comment(&depends.join(", ")))?;
            self.thread(event.thread())?;
            write!(self.out, "|{}|", words::op_word(Op::Branch))?;
            self.location(event, tables)?;
            self.out.write_all(b"\n")?;
        }
        if let Some(depends) = known.address {
            let depends = in_comment(&depends.join(", "));
            writeln!(self.out, "# address depends on {depends}")?;
        }
        if self.functions {
            for place in self.annotate.functions(event, tables) {
                let name = place.function.as_deref().unwrap_or("?");
                let file = place.file.as_deref().unwrap_or("?");
                let line = place.line.unwrap_or(0);
                let inlined = if place.inlined { " (inlined)" } else { "" };
                let line = in_comment(&format!("{name} at {file}:{line}{inlined}"));
                writeln!(self.out, "#   {line}")?;
            }
        }
        Ok(())
    }

    fn target(&mut self, step: &Step, tables: &Tables) -> io::Result<()> {
        let event = &step.event;
        let op = event.op();
        match op {
            Op::Begin | Op::End | Op::Exit => return Ok(()),
            Op::Enter | Op::Leave | Op::Branch => {
                return match event.target() {
                    0 => Ok(()),
                    target => write!(self.out, "({target:#x})"),
                };
            }
            Op::Lost => {
                return match step.written() {
                    None => Ok(()),
                    Some(count) => write!(self.out, "({count})"),
                };
            }
            _ => {}
        }
        self.out.write_all(b"(")?;
        match op {
            Op::Fork | Op::Join | Op::JoinRequest => self.thread(event.peer())?,
            Op::Fence => write!(self.out, "{}", words::order_word(event.order()))?,
            Op::Alloc | Op::Free => {
                self.place(event.addr())?;
                if let (Op::Alloc, Some(size)) = (op, step.written()) {
                    write!(self.out, ":{size}")?;
                }
            }
            op if op.is_access() => self.access(step)?,
            _ => {
                let id = event.sync();
                if matches!(op, Op::Init | Op::Destroy) {
                    let kind = words::kind_word(tokens::kind(tables, id));
                    write!(self.out, "{kind}:")?;
                }
                match (op, step.written()) {
                    (_, None) => self.sync(id)?,
                    (Op::Acquire | Op::Release, Some(value)) => {
                        self.quoted_sync(id)?;
                        write!(self.out, "={value}")?;
                    }
                    (_, Some(value)) => {
                        self.sync(id)?;
                        write!(self.out, "={value}")?;
                    }
                }
            }
        }
        self.out.write_all(b")")
    }

    fn access(&mut self, step: &Step) -> io::Result<()> {
        let event = &step.event;
        let named = self.place(event.addr())?;
        if !named || event.size() != crate::cells::SMALLEST {
            write!(self.out, ":{}", event.size())?;
        }
        let (read, written) = (step.read(), step.written());
        if event.op() == Op::AtomicRmw {
            if read.is_some() || written.is_some() {
                let show = |value| value_text(value).unwrap_or_else(|| "?".to_owned());
                write!(self.out, "={}->{}", show(read), show(written))?;
            }
        } else if let Some(value) = value_text(if event.op().reads() { read } else { written }) {
            write!(self.out, "={value}")?;
        }
        if event.op().is_atomic() {
            write!(self.out, ",{}", words::order_word(event.order()))?;
        }
        Ok(())
    }

    /// Writes an address; says whether it was by a variable's name.
    fn place(&mut self, addr: Addr) -> io::Result<bool> {
        let cell = Cell::of(addr).and_then(|cell| Some((cell, self.variables.get(&cell.base.0)?)));
        let Some((cell, name)) = cell else {
            write!(self.out, "{:#x}", addr.0)?;
            return Ok(false);
        };
        self.out.write_all(name.as_bytes())?;
        match addr.0 - cell.base.0 {
            0 => {}
            offset => write!(self.out, "+{offset}")?,
        }
        Ok(true)
    }

    fn thread(&mut self, id: ThreadId) -> io::Result<()> {
        match self.threads.get(id) {
            Some(token) => self.out.write_all(token.as_bytes()),
            None => write!(self.out, "{id}"),
        }
    }

    fn sync(&mut self, id: SyncId) -> io::Result<()> {
        match self.syncs.get(id) {
            Some(token) => self.out.write_all(token.as_bytes()),
            None => write!(self.out, "?{}", id.0),
        }
    }

    /// The same where a plain name would take in what follows.
    fn quoted_sync(&mut self, id: SyncId) -> io::Result<()> {
        match self.syncs.get(id) {
            Some(token) if !token.starts_with('"') => self.out.write_all(quote(token).as_bytes()),
            _ => self.sync(id),
        }
    }

    fn location(&mut self, event: &Event, tables: &Tables) -> io::Result<()> {
        // It may be another one each time, depending on who called.
        if let Some(text) = self.annotate.location(event, tables) {
            return self.out.write_all(location::readable(&text).as_bytes());
        }
        let text = self
            .locations
            .entry(event.pc())
            .or_insert_with(|| location::readable(&tables.location(event.pc())).into_owned());
        self.out.write_all(text.as_bytes())
    }

    fn tell_notes(&mut self, tables: &Tables) -> io::Result<()> {
        while let Some(note) = tables.notes.get(self.notes) {
            writeln!(self.out, "#! note {}", quote(note))?;
            self.notes += 1;
        }
        Ok(())
    }

    /// Makes sure that a reader gives the threads of the event about to be written their numbers,
    /// and knows what the tables know of them.
    fn tell_threads(&mut self, event: &Event, tables: &Tables) -> io::Result<()> {
        let mut unsaid = self.name_threads(event.thread(), None, tables);
        if matches!(event.op(), Op::Fork | Op::Join | Op::JoinRequest) {
            let fork = (event.op() == Op::Fork).then_some(event);
            unsaid = unsaid.max(self.name_threads(event.peer(), fork, tables));
        }
        // In order: a reader numbers threads as it meets them.
        for index in self.met..unsaid {
            self.tell_thread(index, tables)?;
        }
        self.met = self.threads.len();
        Ok(())
    }

    /// Gives all threads up to this one a token. Returns one past the last that the event alone
    /// does not tell everything about; `fork` is the event if it creates the thread.
    fn name_threads(&mut self, id: ThreadId, fork: Option<&Event>, tables: &Tables) -> usize {
        let end = (id.index() + 1).min(tables.threads.len());
        let mut unsaid = 0;
        while self.threads.len() < end {
            let index = self.threads.len();
            let thread = &tables.threads[index];
            let token = self.threads.add(thread);
            let mut known = Thread {
                name: super::names::thread_name(token, ThreadId(index as u32)),
                ..Thread::default()
            };
            let last = index == id.index();
            if let (Some(fork), true) = (fork, last) {
                known.parent = Some(fork.thread());
                known.created_at = Some(fork.pc());
            }
            if !last || known != *thread {
                unsaid = index + 1;
            }
            self.told.push(known);
        }
        unsaid
    }

    fn tell_thread(&mut self, index: usize, tables: &Tables) -> io::Result<()> {
        let mut thread = tokens::thread(tables, index);
        let id = ThreadId(index as u32);
        // A parent that a reader has not met would get its number now; it is told at the end.
        let met = self.met.max(index + 1);
        thread.parent = thread.parent.filter(|parent| parent.index() < met);
        let token = self.threads.get(id).unwrap_or_default().to_owned();
        write!(self.out, "#! thread {token}")?;
        match &thread.name {
            Some(name) if *name == token && token != id.to_string() => {}
            Some(name) => write!(self.out, " name={}", quote(name))?,
            None if token == id.to_string() => {}
            None => write!(self.out, " unnamed")?,
        }
        if let Some(parent) = thread.parent {
            write!(self.out, " parent=")?;
            self.thread(parent)?;
        }
        if let Some(pc) = thread.created_at {
            let fork = Event::new(ThreadId(0), Op::Fork, 0, pc);
            let known = self.annotate.location(&fork, tables);
            let text = known.unwrap_or_else(|| tables.location(pc));
            let text = quote_if_spaced(&location::readable(&text));
            write!(self.out, " at={text}")?;
        }
        self.told[index] = thread;
        writeln!(self.out)
    }

    fn tell_syncs(&mut self, index: usize, tables: &Tables) -> io::Result<()> {
        let end = (index + 1).min(tables.syncs.len());
        while self.syncs.len() < end {
            let next = self.syncs.len();
            let object = &tables.syncs[next];
            let understood = self.syncs.add(object);
            let known = understood == object.name && object.addr == Addr(0);
            if next == index && known {
                continue;
            }
            write!(self.out, "#! {} ", words::kind_word(object.kind))?;
            self.sync(SyncId(next as u32))?;
            if understood != object.name {
                match &object.name {
                    Some(name) => write!(self.out, " name={}", quote(name))?,
                    None => write!(self.out, " unnamed")?,
                }
            }
            if object.addr != Addr(0) {
                write!(self.out, " addr={:#x}", object.addr.0)?;
            }
            writeln!(self.out)?;
        }
        Ok(())
    }

    /// Makes sure that a reader gives the variable at this address the cell that it has.
    fn tell_variable(&mut self, addr: Addr, size: u64, tables: &Tables) -> io::Result<()> {
        let Some(cell) = Cell::of(addr) else {
            return Ok(());
        };
        if self.cells.has(cell) || !tables.variables.contains_key(&cell.base) {
            return Ok(());
        }
        let first = self.cells.next(cell.size).unwrap_or(cell);
        let needs = (addr.0 - cell.base.0).saturating_add(size.max(1));
        for (&base, name) in tables.variables.range(first.base..=cell.base) {
            let name = super::tokens::unused(&mut self.variable_names, Some(name), name);
            let written = match name.starts_with("0x") || name.starts_with("0X") {
                true => quote(&name),
                false => written_name(&name),
            };
            if base != cell.base || Cell::size_for(needs) != Some(cell.size) {
                writeln!(self.out, "#! variable {written} {}", cell.size)?;
            }
            self.variables.insert(base.0, written);
        }
        self.cells.advance_past(cell);
        Ok(())
    }

    /// What no event told.
    fn finish(&mut self, tables: &Tables) -> io::Result<()> {
        self.tell_notes(tables)?;
        let threads = tables.threads.len();
        self.name_threads(ThreadId(threads as u32), None, tables);
        for index in self.met..threads {
            self.tell_thread(index, tables)?;
        }
        self.met = threads;
        for index in 0..threads {
            if self.told[index] != tables.threads[index] {
                self.tell_thread(index, tables)?;
            }
        }
        self.tell_syncs(tables.syncs.len(), tables)?;
        for &base in tables.variables.keys() {
            let Some(cell) = Cell::of(base) else { continue };
            if !self.cells.has(cell) {
                self.tell_variable(base, cell.size, tables)?;
                if let Some(name) = self.variables.get(&base.0) {
                    writeln!(self.out, "#! variable {name} {}", cell.size)?;
                }
            }
        }
        self.out.flush()
    }
}

/// Text that cannot end a comment.
fn in_comment(text: &str) -> String {
    text.replace(char::is_control, "?")
}

fn value_text(value: Option<u64>) -> Option<String> {
    value.map(|value| match value {
        0..=LARGEST_DECIMAL => value.to_string(),
        _ => format!("{value:#x}"),
    })
}

fn quote_if_spaced(text: &str) -> String {
    match text.contains(|c: char| c.is_whitespace() || c == '"') {
        true => quote(text),
        false => text.to_owned(),
    }
}
