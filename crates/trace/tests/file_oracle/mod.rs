//! What a reader should make of a run: by the definition, without any cleverness.
#![allow(dead_code)] // Not every test uses everything.

use std::collections::HashMap;

use deadheat_trace::file::TraceFile;
use deadheat_trace::{Addr, Event, Op, Pc, Step, Steps, SyncKind, ThreadId, Trace};

use crate::file_writer::{Act, CODE, Run, What};

/// The pc of an address in a recording whose only module is at [`CODE`].
pub fn pc(address: u64) -> Pc {
    assert!(CODE.contains(&address));
    Pc((address - CODE.start) as u32)
}

/// The order of a parallel recording: synchronisation as it happened, accesses directly behind
/// the synchronisation of their thread before them; where there is none, first of all.
pub fn merged(run: &Run) -> Run {
    let mut last = HashMap::new();
    let mut keyed = Vec::new();
    for ((thread, act), seq) in run.iter().zip(1u64..) {
        if act.what.is_sync() {
            last.insert(*thread, seq);
        }
        let key = last.get(thread).copied().unwrap_or(0);
        keyed.push((key, *thread, act.clone()));
    }
    keyed.sort_by_key(|(key, thread, _)| (*key, *thread));
    keyed
        .into_iter()
        .map(|(_, thread, act)| (thread, act))
        .collect()
}

/// The steps of a run in this order.
pub fn steps(serial: bool, run: &Run) -> Vec<Step> {
    let mut objects = Objects::default();
    let all = run
        .iter()
        .flat_map(|(thread, act)| of_act(serial, *thread, act, &mut objects));
    all.collect()
}

/// The steps of a whole recording.
pub fn expected(serial: bool, run: &Run) -> Vec<Step> {
    if serial {
        steps(true, run)
    } else {
        steps(false, &merged(run))
    }
}

/// Reads everything.
pub fn all(file: &TraceFile) -> Trace {
    let Ok(trace) = file.read().collect_trace();
    trace
}

/// Each life of each object, in the order of first use.
#[derive(Default)]
struct Objects {
    lives: Vec<(u64, SyncKind, bool)>,
    heap: HashMap<u64, u64>,
}

impl Objects {
    fn id(&mut self, addr: u64, kind: SyncKind) -> u64 {
        let found = self
            .lives
            .iter()
            .rposition(|life| *life == (addr, kind, true));
        found.unwrap_or_else(|| {
            self.lives.push((addr, kind, true));
            self.lives.len() - 1
        }) as u64
    }

    fn end(&mut self, addr: u64, bytes: u64) {
        let inside = |at| at >= addr && at - addr < bytes;
        for (_, _, alive) in self.lives.iter_mut().filter(|(at, ..)| inside(*at)) {
            *alive = false;
        }
    }
}

fn kind_of(op: Op, number: u64) -> SyncKind {
    const NUMBERED: [SyncKind; 4] = [
        SyncKind::Lock,
        SyncKind::Condition,
        SyncKind::Barrier,
        SyncKind::Semaphore,
    ];
    match op {
        Op::Init | Op::Destroy => NUMBERED[number as usize],
        Op::Wait | Op::Wake | Op::WakeRequest | Op::Timeout | Op::Notify | Op::NotifyAll => {
            SyncKind::Condition
        }
        Op::BarrierEnter | Op::BarrierExit => SyncKind::Barrier,
        Op::Post | Op::Take | Op::TakeRefused | Op::TakeRequest => SyncKind::Semaphore,
        Op::Send | Op::Receive | Op::ReceiveRefused => SyncKind::Channel,
        Op::FutexWait | Op::FutexWoken | Op::FutexWake => SyncKind::Futex,
        _ => SyncKind::Lock,
    }
}

fn masked(value: u64, size: u64) -> u64 {
    if size < 8 {
        value % (1 << (8 * size))
    } else {
        value
    }
}

fn with_value(event: Event, write: bool, value: u64) -> Step {
    match write {
        true => Step::new(event).with_written(value),
        false => Step::new(event).with_read(value),
    }
}

fn of_act(serial: bool, thread: u32, act: &Act, objects: &mut Objects) -> Vec<Step> {
    let thread = ThreadId(thread);
    let plain = |write: bool, addr: u64, size: u64| {
        let op = if write { Op::Write } else { Op::Read };
        Event::access(thread, op, Addr(addr), size as u16, pc(act.pc))
    };
    match &act.what {
        What::Access {
            write,
            addr,
            size: 16,
            values,
        } if serial => (0..2)
            .map(|half| {
                with_value(
                    plain(*write, addr + 8 * half, 8),
                    *write,
                    values[half as usize],
                )
            })
            .collect(),
        What::Access {
            write,
            addr,
            size,
            values,
        } => {
            let event = plain(*write, *addr, *size);
            match serial {
                true => vec![with_value(event, *write, masked(values[0], *size))],
                false => vec![Step::new(event)],
            }
        }
        What::Range {
            write,
            addr,
            bytes,
            contents,
        } => match contents {
            Some(contents) if serial => contents
                .chunks(8)
                .zip((*addr..).step_by(8))
                .map(|(chunk, at)| {
                    let value = chunk
                        .iter()
                        .rev()
                        .fold(0, |value, byte| value << 8 | u64::from(*byte));
                    with_value(plain(*write, at, chunk.len() as u64), *write, value)
                })
                .collect(),
            _ => (0..bytes.div_ceil(32768))
                .map(|i| plain(*write, addr + i * 32768, (bytes - i * 32768).min(32768)))
                .map(Step::new)
                .collect(),
        },
        What::Atomic {
            op,
            addr,
            size,
            order,
            read,
            written,
        } => {
            let event = Event::atomic(thread, *op, Addr(*addr), *size as u8, *order, pc(act.pc));
            let mut step = Step::new(event);
            if serial && *size <= 8 {
                if op.reads() {
                    step = step.with_read(masked(read[0], *size));
                }
                if op.writes() {
                    step = step.with_written(masked(written[0], *size));
                }
            }
            vec![step]
        }
        What::Fence(order) => {
            vec![Step::new(Event::atomic(
                thread,
                Op::Fence,
                Addr(0),
                0,
                *order,
                pc(act.pc),
            ))]
        }
        What::Enter { .. } => vec![Step::new(Event::new(thread, Op::Enter, 0, pc(act.pc)))],
        What::Leave => vec![Step::new(Event::new(thread, Op::Leave, 0, pc(act.pc)))],
        What::Lost(count) => {
            let event = Event::new(thread, Op::Lost, 0, Pc::UNKNOWN);
            vec![Step::new(event).with_written(*count)]
        }
        What::Sync {
            op,
            object,
            kind,
            operand,
        } => {
            let target = match op {
                Op::Fork | Op::Join | Op::JoinRequest | Op::Begin | Op::End => *object,
                Op::Alloc => {
                    objects.end(*object, operand.unwrap_or(0));
                    objects.heap.insert(*object, operand.unwrap_or(0));
                    *object
                }
                Op::Free => {
                    if let Some(size) = objects.heap.remove(object) {
                        objects.end(*object, size);
                    }
                    *object
                }
                op => {
                    if *op == Op::Init {
                        objects.end(*object, 1);
                    }
                    let id = objects.id(*object, kind_of(*op, *kind));
                    if *op == Op::Destroy {
                        objects.end(*object, 1);
                    }
                    id
                }
            };
            let step = Step::new(Event::new(thread, *op, target, pc(act.pc)));
            vec![operand.map_or(step, |operand| step.with_written(operand))]
        }
    }
}
