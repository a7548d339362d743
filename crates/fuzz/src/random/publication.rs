//! Something plain, and an atomic variable that says that it is there.

use super::generate::Builder;
use super::program::{Act, Arithmetic, Node, Order, Value, Var};

fn exchange(b: &mut Builder, local: usize, atomic: usize, expected: i16, desired: i16) -> Act {
    let success = b.any_order();
    let failure = b.failure_order(success);
    Act::Cas {
        local,
        atomic,
        expected,
        desired,
        success,
        failure,
    }
}

/// Something plain is written and published by an atomic variable, with orders that may do or not.
pub(super) fn publication(b: &mut Builder) {
    let var = b.plain();
    let atomic = b.atomic();
    let who = b.participants(2);
    let [writer, reader, rest @ ..] = who.as_slice() else {
        return;
    };
    let mut acts = b.accesses(var);
    if b.rng.percent(25) {
        let order = b.order(&[Order::Release, Order::AcqRel, Order::SeqCst, Order::Acquire]);
        acts.push(Act::Fence { order });
    }
    let local = b.local();
    acts.push(match b.rng.below(6) {
        0 => b.fetch(atomic),
        1 => Act::Exchange {
            local,
            atomic,
            value: Value::Const(1),
            order: b.any_order(),
        },
        2 => exchange(b, local, atomic, 0, 1),
        _ => Act::Store {
            atomic,
            value: Value::Const(1),
            order: b.store_order(),
        },
    });
    if b.rng.percent(15) {
        acts.push(Act::Store {
            atomic,
            value: Value::Const(2),
            order: b.store_order(),
        });
    }
    b.put(*writer, acts);
    for middle in rest {
        let local = b.local();
        let act = match b.rng.below(3) {
            0 => b.fetch(atomic),
            1 => Act::Store {
                atomic,
                value: Value::Const(2),
                order: b.store_order(),
            },
            _ => exchange(b, local, atomic, 1, 2),
        };
        b.put(*middle, vec![act]);
    }
    let local = b.local();
    let mut acts = Vec::new();
    let equals = 1 + i16::from(!rest.is_empty() && b.rng.percent(60));
    let equals = match b.rng.below(7) {
        0 => {
            acts.push(Act::Fetch {
                local,
                atomic,
                how: Arithmetic::Add,
                by: 2,
                order: b.any_order(),
            });
            equals
        }
        1 => {
            acts.push(exchange(b, local, atomic, equals, 5));
            i16::from(b.rng.percent(60))
        }
        2 => {
            acts.push(Act::Read {
                local,
                var: Var::Atomic(atomic),
            });
            equals
        }
        _ => {
            acts.push(Act::Load {
                local,
                atomic,
                order: b.load_order(),
            });
            equals
        }
    };
    let mut body = Vec::new();
    if b.rng.percent(25) {
        let order = b.order(&[Order::Acquire, Order::AcqRel, Order::SeqCst, Order::Release]);
        body.push(Act::Fence { order });
    }
    body.extend(b.accesses(var));
    let body = body.into_iter().map(Node::from).collect();
    acts.push(Act::If {
        local,
        equals,
        body,
    });
    b.put(*reader, acts);
}
