//! A program's threads as straight code with jumps: loops unrolled, waits in loops spelled out.

use super::program::{Act, Asking, Node, Program};

/// One step, or a jump, which is none.
#[allow(missing_docs)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// A statement without a body of its own.
    Do(Act),
    /// The read of `var += by`, into the hidden register.
    AddRead(Act),
    /// The write of it.
    AddWrite(Act),
    /// The read of a copy, into the hidden register.
    CopyRead(Act),
    /// The write of it.
    CopyWrite(Act),
    /// `while (var != until)`: a read; leaves the loop if it is so.
    AwaitRead { act: Act, out: usize },
    /// Asks for a lock; goes to `otherwise` if it is not had.
    AskLock {
        mutex: usize,
        asking: Asking,
        otherwise: usize,
    },
    /// The same of a read-write lock.
    AskRwlock {
        rwlock: usize,
        exclusive: bool,
        otherwise: usize,
    },
    /// The same of a semaphore.
    AskSemaphore {
        semaphore: usize,
        timed: bool,
        otherwise: usize,
    },
    /// Goes on if the local variable has this value, else to `otherwise`.
    Branch {
        local: usize,
        equals: i16,
        otherwise: usize,
    },
    /// Goes there.
    Jump(usize),
    /// Begins what is done once, or goes to `past` when it is done.
    OnceBegin { once: usize, past: usize },
    /// It is done.
    OnceEnd { once: usize },
    /// The end of the thread; of main: of the process.
    End,
}

/// A step and the statement that it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The statement's number; 0 for the end.
    pub id: u32,
    /// What is done.
    pub op: Op,
}

/// The code of one thread.
#[must_use]
pub fn flatten(program: &Program, thread: usize) -> Vec<Step> {
    let mut code = Vec::new();
    if let Some(body) = program.threads.get(thread) {
        block(program, body, &mut code);
    }
    code.push(Step { id: 0, op: Op::End });
    code
}

fn block(program: &Program, nodes: &[Node], code: &mut Vec<Step>) {
    for node in nodes {
        one(program, node, code);
    }
}

/// Puts a step with a target that is known when the body behind it is there.
fn guarded(
    program: &Program,
    id: u32,
    body: &[Node],
    code: &mut Vec<Step>,
    op: impl Fn(usize) -> Op,
) {
    let at = code.len();
    code.push(Step { id, op: op(0) });
    block(program, body, code);
    let past = code.len();
    if let Some(step) = code.get_mut(at) {
        step.op = op(past);
    }
}

fn one(program: &Program, node: &Node, code: &mut Vec<Step>) {
    let id = node.id;
    match &node.act {
        act @ Act::Add { .. } => {
            let ops = [Op::AddRead(act.clone()), Op::AddWrite(act.clone())];
            code.extend(ops.map(|op| Step { id, op }));
        }
        act @ Act::Copy { .. } => {
            let ops = [Op::CopyRead(act.clone()), Op::CopyWrite(act.clone())];
            code.extend(ops.map(|op| Step { id, op }));
        }
        Act::IfLock {
            mutex,
            asking,
            body,
        } => guarded(program, id, body, code, |otherwise| Op::AskLock {
            mutex: *mutex,
            asking: *asking,
            otherwise,
        }),
        Act::IfRwlock {
            rwlock,
            exclusive,
            body,
            ..
        } => guarded(program, id, body, code, |otherwise| Op::AskRwlock {
            rwlock: *rwlock,
            exclusive: *exclusive,
            otherwise,
        }),
        Act::IfAcquire {
            semaphore,
            timed,
            body,
        } => guarded(program, id, body, code, |otherwise| Op::AskSemaphore {
            semaphore: *semaphore,
            timed: *timed,
            otherwise,
        }),
        Act::If {
            local,
            equals,
            body,
        } => guarded(program, id, body, code, |otherwise| Op::Branch {
            local: *local,
            equals: *equals,
            otherwise,
        }),
        Act::Repeat { times, body } => {
            for _ in 0..*times {
                block(program, body, code);
            }
        }
        Act::Await {
            condition, mutex, ..
        } => {
            let at = code.len();
            let wait = Act::Wait {
                condition: *condition,
                mutex: *mutex,
            };
            code.push(Step {
                id,
                op: Op::AwaitRead {
                    act: node.act.clone(),
                    out: at + 3,
                },
            });
            code.push(Step {
                id: id + 1,
                op: Op::Do(wait),
            });
            code.push(Step {
                id,
                op: Op::Jump(at),
            });
        }
        Act::Once { once } => {
            let at = code.len();
            code.push(Step { id, op: Op::End });
            if let Some(body) = program.onces.get(*once) {
                block(program, body, code);
            }
            code.push(Step {
                id,
                op: Op::OnceEnd { once: *once },
            });
            let past = code.len();
            if let Some(step) = code.get_mut(at) {
                step.op = Op::OnceBegin { once: *once, past };
            }
        }
        Act::Yield | Act::Sleep => {}
        act => code.push(Step {
            id,
            op: Op::Do(act.clone()),
        }),
    }
}
