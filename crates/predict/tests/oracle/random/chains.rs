//! Windows in which values are passed on: one thread writes, another reads and writes because of it, a third
//! acts upon that. Who may race with whom then hangs on values that hang on values.

use deadheat_predict::{Border, Content};
use deadheat_trace::{Addr, Event, Op, Pc, Step, ThreadId};

/// What the threads do, in their order.
const SCRIPTS: [&[Op]; 3] = [
    &[Op::Write, Op::Write],
    &[Op::Read, Op::Write],
    &[Op::Read, Op::Branch, Op::Write, Op::Read],
];
const VARIABLES: u64 = 0x1000;

/// Who comes next, and with what: the lowest bit of `what` is the variable, the next the value.
pub(super) fn make(choices: &[(u8, u8)]) -> (Vec<Step>, Border) {
    let mut done = [0; SCRIPTS.len()];
    let mut holds = [0; 2];
    let mut steps = Vec::new();
    for &(who, what) in choices {
        let able: Vec<usize> = (0..SCRIPTS.len())
            .filter(|&thread| done[thread] < SCRIPTS[thread].len())
            .collect();
        let Some(&thread) = able.get(usize::from(who) % able.len().max(1)) else {
            break;
        };
        let op = SCRIPTS[thread][done[thread]];
        done[thread] += 1;
        let (id, pc) = (ThreadId(thread as u32), Pc(steps.len() as u32));
        let variable = usize::from(what & 1);
        let addr = Addr(VARIABLES + 8 * variable as u64);
        let access = Step::new(Event::access(id, op, addr, 8, pc));
        steps.push(match op {
            Op::Read => access.with_read(holds[variable]),
            Op::Write => {
                holds[variable] = u64::from(what >> 1 & 1);
                access.with_written(holds[variable])
            }
            _ => Step::new(Event::new(id, op, 0, pc)),
        });
    }
    let mut border = Border::default();
    for variable in 0..2 {
        let (bytes, known) = (0, 0xFF);
        let word = (VARIABLES + 8 * variable) / 8;
        border.memory.insert(word, Content { bytes, known });
    }
    (steps, border)
}
