//! The checker on windows that no program produced, with schedules and cuts that make no sense: a verdict, always the
//! same, and no panic.

mod oracle;

use deadheat_predict::check::{Observed, Simulation, check};
use deadheat_predict::{Block, Border, Content, Cut, Goal, Hold, Holding, NOBODY, Window};
use deadheat_trace::{Addr, Event, EventIndex, LockId, Op, Order, Pc, Step, ThreadId};
use oracle::Needed;
use oracle::random::{Shape, windows_of_parts};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Few different numbers, and the largest.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0u64..4, 2 => 0x1000u64..0x1018, 1 => Just((1 << 48) - 3), 1 => Just(u64::MAX)]
}

fn steps() -> impl Strategy<Value = Step> {
    let event = (0usize..Op::ALL.len(), 0u32..4, number(), 0u16..20);
    let values = (option::of(number()), option::of(number()));
    (event, values).prop_map(|((op, thread, target, size), (read, written))| {
        let (op, thread) = (Op::ALL[op], ThreadId(thread));
        let (addr, pc) = (Addr(target), Pc(0));
        let event = match op {
            op if op.is_atomic() => Event::atomic(thread, op, addr, size as u8, Order::SeqCst, pc),
            op if op.is_access() => Event::access(thread, op, addr, size, pc),
            _ => Event::new(thread, op, target, pc),
        };
        let step = Step::new(event);
        let step = read.map_or(step, |value| step.with_read(value));
        written.map_or(step, |value| step.with_written(value))
    })
}

fn borders() -> impl Strategy<Value = Border> {
    let hold = prop_oneof![Just(Hold::Read), Just(Hold::Write)];
    let held = (0u32..4, 0u32..4, hold, 0u32..3).prop_map(|(thread, lock, hold, times)| Holding {
        thread: ThreadId(thread),
        lock: LockId(lock),
        hold,
        times,
    });
    let block = (number(), number()).prop_map(|(start, bytes)| {
        let start = Addr(start);
        Block { start, bytes }
    });
    let word = (0u64..0x210, any::<u64>(), any::<u8>());
    let word = word.prop_map(|(at, bytes, known)| (at, Content { bytes, known }));
    (vec(held, 0..3), vec(word, 0..4), vec(block, 0..3)).prop_map(|(held, memory, blocks)| Border {
        held,
        memory: memory.into_iter().collect(),
        blocks,
    })
}

fn nonsense() -> impl Strategy<Value = Window> {
    let needed = prop_oneof![0u32..16, Just(NOBODY)];
    (vec(steps(), 0..14), vec(needed, 0..16), borders()).prop_map(|(steps, needed_by, border)| {
        Window {
            start: EventIndex(0),
            steps,
            needed_by,
            border,
            counts: Vec::new(),
        }
    })
}

fn cuts() -> impl Strategy<Value = Cut> {
    let goal = prop_oneof![Just(Goal::Race), Just(Goal::Deadlock)];
    let positions = vec(prop_oneof![0u32..16, Just(NOBODY)], 0..4);
    (goal, positions).prop_map(|(goal, next)| Cut { goal, next })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_window_gets_a_verdict(window in nonsense(), schedule in vec(0u32..16, 0..16), cut in cuts()) {
        let verdict = check(&window, &cut, &schedule);
        prop_assert_eq!(check(&window, &cut, &schedule), verdict);
    }

    /// Wherever such a window leads, all that is next can be asked about.
    #[test]
    fn any_window_can_be_executed(window in nonsense(), choices in vec(any::<u8>(), 0..16)) {
        let observed = Observed::new(&window);
        let mut simulation = Simulation::new(&observed);
        for choice in choices {
            let able: Vec<u32> = simulation.next().filter(|&at| simulation.can(at).is_ok()).collect();
            for a in simulation.next() {
                for b in simulation.next() {
                    for goal in [Goal::Race, Goal::Deadlock] {
                        let _ = simulation.reached(&Cut { goal, next: vec![a, b] });
                    }
                }
            }
            let Some(&next) = able.get(usize::from(choice) % able.len().max(1)) else {
                break;
            };
            prop_assert!(simulation.run(next).is_ok(), "what can be executed is");
        }
    }

    #[test]
    fn any_schedule_gets_a_verdict(
        window in windows_of_parts(Shape::EVERYTHING, Needed::ByBranch),
        schedule in vec(0u32..16, 0..16),
        cut in cuts(),
    ) {
        let verdict = check(&window, &cut, &schedule);
        prop_assert_eq!(check(&window, &cut, &schedule), verdict);
    }
}
