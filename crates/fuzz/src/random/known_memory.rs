//! Programs whose truth everybody knows, for the interpreter: memory by bytes, heap blocks, channels.

use super::interpret::Rules;
use super::known_answers::{ask, program, read, truth_of, with_main, write};
use super::program::{Act, Arithmetic, Order, Value, Var};

fn part(at: u8, width: u8) -> Var {
    Var::Part { area: 0, at, width }
}

fn write_part(at: u8, width: u8) -> Act {
    Act::Write {
        var: part(at, width),
        value: Value::Const(1),
    }
}

#[test]
fn parts_race_where_their_bytes_overlap() {
    let races = |a: Act, b: Act| with_main(vec![a], vec![b]).races.len();
    assert_eq!(races(write_part(0, 4), write_part(2, 1)), 1);
    assert_eq!(races(write_part(0, 4), write_part(4, 4)), 0);
    assert_eq!(races(write_part(0, 8), write_part(7, 1)), 1);
    let fill = |bytes| Act::Fill {
        area: 0,
        value: 2,
        bytes,
    };
    assert_eq!(races(fill(3), write_part(2, 2)), 1);
    assert_eq!(races(fill(2), write_part(2, 2)), 0);
    // A copy reads the one and writes the other.
    let copy = || Act::Copy {
        from: 0,
        to: 1,
        bytes: 4,
    };
    assert_eq!(races(copy(), write_part(3, 1)), 1);
    assert_eq!(races(copy(), write_part(4, 1)), 0);
    assert_eq!(races(copy(), copy()), 1);
}

#[test]
fn wide_reads_see_what_narrow_writes_left() {
    let fill = Act::Fill {
        area: 0,
        value: 2,
        bytes: 2,
    };
    let main = vec![
        write_part(1, 1),
        fill,
        write_part(3, 1),
        Act::Print { var: part(0, 4) },
    ];
    let truth = ask(&program(vec![main]), false);
    let expected = format!("{}\n", 0x0100_0202);
    assert_eq!(truth.outputs.into_iter().collect::<Vec<_>>(), [expected]);
}

#[test]
fn who_frees_races_with_who_uses() {
    let var = Var::Block {
        block: 0,
        at: 4,
        width: 2,
    };
    let truth = with_main(vec![Act::Free { block: 0 }], vec![Act::Touch { var }]);
    assert_eq!(truth.races.len(), 1);
    assert_eq!(truth.dangling.len(), 1);
    assert!(!truth.corrupts);
    let section = |act| vec![Act::Lock { mutex: 0 }, act, Act::Unlock { mutex: 0 }];
    let write = Act::Write {
        var,
        value: Value::Const(1),
    };
    let truth = with_main(section(Act::Free { block: 0 }), section(write));
    assert!(truth.races.is_empty() && truth.corrupts);
}

#[test]
fn channels_order_and_end() {
    let (channel, local) = (0, 0);
    let receive = || Act::Receive { channel, local };
    let sent = vec![write(1), Act::Send { channel }];
    assert!(
        with_main(sent.clone(), vec![receive(), read()])
            .races
            .is_empty()
    );
    assert_eq!(with_main(sent, vec![read(), receive()]).races.len(), 1);
    // Nobody sends: who reads waits for ever, unless it is closed.
    assert_eq!(with_main(vec![], vec![receive()]).deadlocks.len(), 1);
    let closed = vec![write(1), Act::Close { channel }];
    let truth = with_main(closed.clone(), vec![receive()]);
    assert!(truth.deadlocks.is_empty());
    // Whether the end orders is left open.
    let main = |order| {
        let mut all = vec![Act::Create { thread: 1 }];
        all.extend(closed.clone());
        all.push(Act::Join { thread: 1 });
        let rules = Rules {
            channels_order_all: order,
            ..Rules::LOOSE
        };
        let program = program(vec![all, vec![receive(), read()]]);
        truth_of(&program, rules).races.len()
    };
    assert_eq!((main(false), main(true)), (1, 0));
}

#[test]
fn arithmetic_is_done_in_one_piece() {
    let fetch = |how, by| Act::Fetch {
        local: 0,
        atomic: 0,
        how,
        by,
        order: Order::Relaxed,
    };
    let main = vec![
        fetch(Arithmetic::Add, 6),
        fetch(Arithmetic::Xor, 3),
        fetch(Arithmetic::And, 4),
        fetch(Arithmetic::Or, 2),
        fetch(Arithmetic::Sub, 1),
        Act::Print {
            var: Var::Atomic(0),
        },
    ];
    let truth = ask(&program(vec![main]), false);
    assert_eq!(truth.outputs.into_iter().collect::<Vec<_>>(), ["5\n"]);
}

#[test]
fn a_read_modify_write_is_after_what_it_acquires() {
    let plain = Act::Read {
        local: 0,
        var: Var::Atomic(0),
    };
    let add = Act::Fetch {
        local: 1,
        atomic: 0,
        how: Arithmetic::Add,
        by: 1,
        order: Order::Release,
    };
    let swap = |success| Act::Cas {
        local: 0,
        atomic: 0,
        expected: 1,
        desired: 2,
        success,
        failure: Order::Relaxed,
    };
    let races = |order| {
        let thread = vec![plain.clone(), add.clone()];
        with_main(vec![swap(order)], thread).races.len()
    };
    assert_eq!((races(Order::Acquire), races(Order::Relaxed)), (0, 1));
}
