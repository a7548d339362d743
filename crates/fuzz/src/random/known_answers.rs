//! Programs whose truth everybody knows, for the interpreter.

use super::interpret::{Rules, Truth, truth};
use super::program::{
    Act, Arithmetic, Asking, ChannelKind, Language, MutexKind, Node, Order, Program, SemaphoreKind,
    Value, Var,
};

pub(super) const X: Var = Var::Plain(0);

pub(super) fn program(threads: Vec<Vec<Act>>) -> Program {
    let nodes = |acts: Vec<Act>| acts.into_iter().map(Node::from).collect::<Vec<_>>();
    let mut program = Program {
        plain: 2,
        atomics: vec![4],
        areas: 2,
        blocks: 1,
        mutexes: vec![MutexKind::Normal, MutexKind::Normal, MutexKind::Checked],
        rwlocks: 1,
        semaphores: vec![(SemaphoreKind::Own, 0)],
        channels: vec![ChannelKind::Pipe],
        conditions: 1,
        barriers: vec![2],
        onces: vec![nodes(vec![write(3)])],
        threads: threads.into_iter().map(nodes).collect(),
        ..Program::empty(0, Language::C)
    };
    program.number();
    assert!(super::valid::is_valid(&program), "{program:?}");
    program
}

pub(super) fn write(number: i16) -> Act {
    Act::Write {
        var: X,
        value: Value::Const(number),
    }
}

pub(super) fn read() -> Act {
    Act::Read { local: 0, var: X }
}

pub(super) fn truth_of(program: &Program, rules: Rules) -> Truth {
    truth(program, rules, 100_000).expect("a small program")
}

pub(super) fn ask(program: &Program, signals_order: bool) -> Truth {
    let rules = Rules {
        signals_order,
        ..Rules::LOOSE
    };
    truth_of(program, rules)
}

/// What main does around one thread that it creates and joins.
pub(super) fn with_main(main: Vec<Act>, thread: Vec<Act>) -> Truth {
    let mut all = vec![Act::Create { thread: 1 }];
    all.extend(main);
    all.push(Act::Join { thread: 1 });
    all.push(Act::Print { var: X });
    ask(&program(vec![all, thread]), false)
}

fn published(store: Order, load: Order, before: Option<Order>, after: Option<Order>) -> bool {
    let fence = |order: Option<Order>| order.map(|order| Act::Fence { order });
    let mut writer = vec![write(1)];
    writer.extend(fence(before));
    writer.push(Act::Store {
        atomic: 0,
        value: Value::Const(1),
        order: store,
    });
    let mut body: Vec<Node> = fence(after).into_iter().map(Node::from).collect();
    body.push(read().into());
    let load = Act::Load {
        local: 1,
        atomic: 0,
        order: load,
    };
    let reader = vec![
        load,
        Act::If {
            local: 1,
            equals: 1,
            body,
        },
    ];
    with_main(writer, reader).races.is_empty()
}

#[test]
fn two_writes_race_and_locks_prevent_that() {
    let truth = with_main(vec![write(1)], vec![write(2)]);
    assert_eq!(truth.races.len(), 1);
    assert_eq!(truth.outputs.len(), 2);
    let section = |number| {
        vec![
            Act::Lock { mutex: 0 },
            write(number),
            Act::Unlock { mutex: 0 },
        ]
    };
    let truth = with_main(section(1), section(2));
    assert!(truth.races.is_empty() && truth.deadlocks.is_empty());
    assert_eq!(truth.outputs.len(), 2);
    let other = vec![Act::Lock { mutex: 1 }, write(2), Act::Unlock { mutex: 1 }];
    assert_eq!(with_main(section(1), other).races.len(), 1);
}

#[test]
fn publication_needs_both_orders_or_fences() {
    assert!(published(Order::Release, Order::Acquire, None, None));
    assert!(published(Order::SeqCst, Order::SeqCst, None, None));
    assert!(!published(Order::Relaxed, Order::Acquire, None, None));
    assert!(!published(Order::Release, Order::Relaxed, None, None));
    assert!(published(
        Order::Relaxed,
        Order::Relaxed,
        Some(Order::Release),
        Some(Order::Acquire)
    ));
    assert!(published(
        Order::Relaxed,
        Order::Acquire,
        Some(Order::AcqRel),
        None
    ));
    assert!(!published(
        Order::Relaxed,
        Order::Relaxed,
        Some(Order::Acquire),
        Some(Order::Acquire)
    ));
}

/// A release store, something in the middle, and an acquire load that sees what the middle left.
fn release_sequence(middle: Act) -> bool {
    let store = Act::Store {
        atomic: 0,
        value: Value::Const(1),
        order: Order::Release,
    };
    let main = vec![
        Act::Create { thread: 1 },
        Act::Create { thread: 2 },
        write(1),
        store,
        Act::Join { thread: 1 },
        Act::Join { thread: 2 },
    ];
    let load = |equals, body: Vec<Node>| {
        let order = if equals == 2 {
            Order::Acquire
        } else {
            Order::Relaxed
        };
        vec![
            Act::Load {
                local: 1,
                atomic: 0,
                order,
            },
            Act::If {
                local: 1,
                equals,
                body,
            },
        ]
    };
    let program = program(vec![
        main,
        load(1, vec![middle.into()]),
        load(2, vec![read().into()]),
    ]);
    ask(&program, false).races.is_empty()
}

#[test]
fn only_read_modify_writes_go_on_with_a_release_sequence() {
    let order = Order::Relaxed;
    assert!(release_sequence(Act::Fetch {
        local: 0,
        atomic: 0,
        how: Arithmetic::Add,
        by: 1,
        order
    }));
    assert!(!release_sequence(Act::Store {
        atomic: 0,
        value: Value::Const(2),
        order
    }));
}

#[test]
fn locks_in_two_orders_deadlock() {
    let both = |a, b| {
        vec![
            Act::Lock { mutex: a },
            Act::Lock { mutex: b },
            Act::Unlock { mutex: b },
            Act::Unlock { mutex: a },
        ]
    };
    assert_eq!(with_main(both(0, 1), both(1, 0)).deadlocks.len(), 1);
    assert!(with_main(both(0, 1), both(0, 1)).deadlocks.is_empty());
    // One that nobody waits for does not end the process: main does.
    let main = vec![
        Act::Create { thread: 1 },
        Act::Yield,
        Act::Lock { mutex: 0 },
    ];
    let truth = ask(&program(vec![main, vec![Act::Lock { mutex: 0 }]]), false);
    assert!(!truth.stuck.is_empty());
    // But main may come second at the lock.
    assert_eq!(truth.deadlocks.len(), 1);
}

#[test]
fn a_checked_mutex_refuses_its_owner() {
    let body = vec![write(9).into(), Act::Unlock { mutex: 2 }.into()];
    let again = Act::IfLock {
        mutex: 2,
        asking: Asking::Checked,
        body,
    };
    let truth = with_main(
        vec![Act::Lock { mutex: 2 }, again, Act::Unlock { mutex: 2 }],
        vec![],
    );
    assert_eq!(truth.outputs.into_iter().collect::<Vec<_>>(), ["0\n"]);
    assert!(truth.deadlocks.is_empty());
}

#[test]
fn signals_are_lost_without_a_flag() {
    let waiter = vec![
        Act::Lock { mutex: 0 },
        Act::Wait {
            condition: 0,
            mutex: 0,
        },
        read(),
        Act::Unlock { mutex: 0 },
    ];
    let truth = with_main(vec![write(1), Act::Signal { condition: 0 }], waiter);
    assert_eq!(truth.deadlocks.len(), 1);
    // The signaller holds nothing: the two accesses are unordered by C++, and ordered by POSIX.
    assert_eq!(truth.races.len(), 1);
    let waiter = vec![
        Act::Lock { mutex: 0 },
        Act::Await {
            condition: 0,
            mutex: 0,
            var: X,
            until: 1,
        },
        Act::Unlock { mutex: 0 },
    ];
    let main = vec![
        Act::Lock { mutex: 0 },
        write(1),
        Act::Signal { condition: 0 },
        Act::Unlock { mutex: 0 },
    ];
    let truth = with_main(main, waiter);
    assert!(truth.deadlocks.is_empty() && truth.races.is_empty());
}

#[test]
fn semaphores_barriers_and_once_order() {
    let post = vec![write(1), Act::Post { semaphore: 0 }];
    assert!(
        with_main(post.clone(), vec![Act::Acquire { semaphore: 0 }, read()])
            .races
            .is_empty()
    );
    assert_eq!(
        with_main(post, vec![read(), Act::Acquire { semaphore: 0 }])
            .races
            .len(),
        1
    );
    let meet = Act::Barrier { barrier: 0 };
    assert!(
        with_main(vec![write(1), meet.clone()], vec![meet.clone(), read()])
            .races
            .is_empty()
    );
    let truth = with_main(vec![meet.clone(), write(1)], vec![meet, read()]);
    assert_eq!(truth.races.len(), 1);
    let once = Act::Once { once: 0 };
    assert!(
        with_main(vec![once.clone(), read()], vec![once.clone(), read()])
            .races
            .is_empty()
    );
    assert_eq!(with_main(vec![read()], vec![once, read()]).races.len(), 1);
}

#[test]
fn readers_do_not_order_readers() {
    let shared = |act| {
        vec![
            Act::LockShared { rwlock: 0 },
            act,
            Act::UnlockShared { rwlock: 0 },
        ]
    };
    let exclusive = |act| {
        vec![
            Act::LockExclusive { rwlock: 0 },
            act,
            Act::UnlockExclusive { rwlock: 0 },
        ]
    };
    assert!(
        with_main(exclusive(write(1)), shared(read()))
            .races
            .is_empty()
    );
    assert_eq!(with_main(shared(write(1)), shared(read())).races.len(), 1);
}

#[test]
fn lost_updates_fail_in_some_orders() {
    let raise = || {
        vec![
            Act::Load {
                local: 0,
                atomic: 0,
                order: Order::SeqCst,
            },
            Act::Store {
                atomic: 0,
                value: Value::Local(0, 1),
                order: Order::SeqCst,
            },
        ]
    };
    let mut main = vec![Act::Create { thread: 1 }];
    main.extend(raise());
    main.extend([
        Act::Join { thread: 1 },
        Act::Load {
            local: 1,
            atomic: 0,
            order: Order::SeqCst,
        },
        Act::Check {
            local: 1,
            equals: 2,
        },
        Act::Print {
            var: Var::Atomic(0),
        },
    ]);
    let truth = ask(&program(vec![main, raise()]), false);
    assert_eq!(truth.failures.len(), 1);
    assert!(truth.races.is_empty());
    assert!(truth.outputs.contains("2\n"));
}

#[test]
fn the_end_of_main_ends_everybody() {
    let main = vec![Act::Create { thread: 1 }, Act::Print { var: X }];
    let truth = ask(
        &program(vec![main, vec![Act::Acquire { semaphore: 0 }, write(1)]]),
        false,
    );
    assert!(truth.deadlocks.is_empty() && truth.races.is_empty());
    let main = vec![Act::Create { thread: 1 }, Act::Leave];
    let truth = ask(
        &program(vec![main, vec![Act::Acquire { semaphore: 0 }]]),
        false,
    );
    assert_eq!(truth.deadlocks.len(), 1);
}
