//! Traces as JSON lines: one object per step, for scripts.
//!
//! | key | in | holds |
//! |---|---|---|
//! | `index` | all | the step's position in its trace, from 0 |
//! | `thread` | all | the thread's number |
//! | `thread_name` | all, if it has one | |
//! | `op` | all | `read`, `write`, `atomic_read`, `atomic_write`, `atomic_rmw`, `fence`, `acquire`, `release`, `read_acquire`, `read_release`, `request`, `read_request`, `fork`, `begin`, `end`, `join`, `wait`, `wake`, `timeout`, `notify`, `notify_all`, `barrier_enter`, `barrier_exit`, `post`, `take`, `send`, `receive`, `futex_wait`, `futex_woken`, `futex_wake`, `init`, `destroy`, `alloc`, `free`, `enter`, `leave`, `branch`, `external_write`, `lost`, `refused`, `read_refused`, `take_refused`, `join_request`, `take_request`, `wake_request` |
//! | `addr` | accesses, `alloc`, `free` | a string in hexadecimal, `"0x7f001000"` |
//! | `variable` | the same, in text traces | the variable's name, `"x"` or `"x+2"` |
//! | `size` | accesses, `alloc` | bytes, a number |
//! | `read`, `written` | accesses | the value, a string in hexadecimal, if the trace has it; of accesses larger than eight bytes the first eight |
//! | `order` | atomic accesses, `fence` | `relaxed`, `consume`, `acquire`, `release`, `acq_rel`, `seq_cst` |
//! | `object`, `object_id`, `kind` | locks and all other synchronisation | its name, its number, and `lock`, `condition`, `barrier`, `semaphore`, `channel` or `futex` |
//! | `peer`, `peer_name` | `fork`, `join`, `join_request` | the other thread |
//! | `count` | `init`, `lost` and others that carry one | a number: a barrier's threads, a semaphore's start, events missing |
//! | `target` | `enter`, `leave`, `branch`, if they have one | a string in hexadecimal |
//! | `location` | all | `file:line`, a number, `module+0xoffset`, or `-` |
//! | `functions` | all, where the program is at hand | a list, innermost first: `function`, `file`, `line`, `column`, `inlined` |
//! | `branch` | all that a branch was passed before | what it depends on: a list of locations, `"before"` for what was read before the function was entered, or `"everything"` |
//! | `address_depends` | accesses whose address depends on reads | the same |
//!
//! Addresses and values are strings because JSON numbers are exact in most readers only up to
//! 2^53. Keys whose value is not known are left out. Keys may be added later; none will change.

use std::io::{BufWriter, Write};

use serde::Serialize;

use crate::op_name::op_name;
use crate::{Addr, Annotate, Function, Op, Order, Step, Steps, SyncKind, Tables, WriteError};

#[derive(Default, Serialize)]
struct Line {
    index: u64,
    thread: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_name: Option<String>,
    op: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    addr: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variable: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object_id: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    location: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    functions: Vec<Function>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address_depends: Option<Vec<String>>,
}

/// Writes a trace as JSON lines; says how many.
///
/// ```
/// use deadheat_trace::{json, text};
///
/// let trace = text::parse("T0|w(x:4=5)|main.c:7\n")?;
/// let mut out = Vec::new();
/// json::write(&mut trace.stream(), &mut out)?;
/// assert_eq!(
///     String::from_utf8(out)?,
///     "{\"index\":0,\"thread\":0,\"op\":\"write\",\"addr\":\"0x860000000000\",\
///      \"variable\":\"x\",\"size\":4,\"written\":\"0x5\",\"location\":\"main.c:7\"}\n"
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write<S: Steps, W: Write>(steps: &mut S, out: W) -> Result<u64, WriteError<S::Error>> {
    write_annotated(steps, out, &mut ())
}

/// Writes a trace as JSON lines with what somebody else knows about it; says how many.
pub fn write_annotated<S: Steps, W: Write>(
    steps: &mut S,
    out: W,
    annotate: &mut dyn Annotate,
) -> Result<u64, WriteError<S::Error>> {
    let mut out = BufWriter::new(out);
    let mut count = 0;
    while let Some(step) = steps.next_step().map_err(WriteError::Read)? {
        let index = steps.last_index().map_or(count, |index| index.0);
        let mut line = line(index, &step, steps.tables());
        if let Some(location) = annotate.location(&step.event, steps.tables()) {
            line.location = location;
        }
        line.functions = annotate.functions(&step.event, steps.tables());
        let known = annotate.known(&step.event);
        (line.branch, line.address_depends) = (known.branch, known.address);
        serde_json::to_writer(&mut out, &line).map_err(std::io::Error::from)?;
        out.write_all(b"\n")?;
        count += 1;
    }
    out.flush()?;
    Ok(count)
}

fn line(index: u64, step: &Step, tables: &Tables) -> Line {
    let event = &step.event;
    let op = event.op();
    let thread_name = |index: usize| {
        let thread = tables.threads.get(index);
        thread.and_then(|thread| thread.name.clone())
    };
    let mut line = Line {
        index,
        thread: event.thread().0,
        thread_name: thread_name(event.thread().index()),
        op: op_name(op),
        location: tables.location(event.pc()),
        ..Line::default()
    };
    match op {
        Op::Begin | Op::End | Op::Exit => {}
        Op::Enter | Op::Leave | Op::Branch => {
            line.target = (event.target() != 0).then(|| hex(event.target()));
        }
        Op::Lost => line.count = step.written(),
        Op::Fence => line.order = Some(order(event.order())),
        Op::Fork | Op::Join | Op::JoinRequest => {
            line.peer = Some(event.peer().0);
            line.peer_name = thread_name(event.peer().index());
        }
        Op::Alloc | Op::Free => {
            line.addr = Some(hex(event.addr().0));
            line.variable = variable(event.addr(), tables);
            line.size = step.written();
        }
        op if op.is_access() => {
            line.addr = Some(hex(event.addr().0));
            line.variable = variable(event.addr(), tables);
            line.size = Some(event.size());
            line.read = step.read().map(hex);
            line.written = step.written().map(hex);
            line.order = op.is_atomic().then(|| order(event.order()));
        }
        _ => {
            let id = event.sync();
            let object = tables.syncs.get(id.index());
            line.object = Some(tables.sync_name(id));
            line.object_id = Some(id.0);
            line.kind = object.map(|object| kind(object.kind));
            line.count = step.written();
        }
    }
    line
}

fn hex(number: u64) -> String {
    format!("{number:#x}")
}

fn variable(addr: Addr, tables: &Tables) -> Option<String> {
    let (name, offset) = tables.variable_at(addr)?;
    Some(match offset {
        0 => name.to_owned(),
        _ => format!("{name}+{offset}"),
    })
}

fn order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "relaxed",
        Order::Consume => "consume",
        Order::Acquire => "acquire",
        Order::Release => "release",
        Order::AcqRel => "acq_rel",
        Order::SeqCst => "seq_cst",
    }
}

fn kind(kind: SyncKind) -> &'static str {
    match kind {
        SyncKind::Lock => "lock",
        SyncKind::Condition => "condition",
        SyncKind::Barrier => "barrier",
        SyncKind::Semaphore => "semaphore",
        SyncKind::Channel => "channel",
        SyncKind::Futex => "futex",
    }
}
