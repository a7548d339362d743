//! The verifier's memory against a slow and obvious one: a map of bytes.

use std::collections::BTreeMap;

use deadheat_trace::verify::{Options, Verifier};
use deadheat_trace::{Addr, Event, EventIndex, Mode, Op, Order, Pc, Step, Tables, ThreadId};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: 4 * ProptestConfig::default().cases,
        ..ProptestConfig::default()
    })]

    #[test]
    fn reads_are_compared_byte_by_byte(drawn in vec(access(), 0..60)) {
        let mut bytes: BTreeMap<u64, u8> = BTreeMap::new();
        let mut verifier = Verifier::new(Mode::Serial, Options::default());
        let mut blocks: BTreeMap<u64, u64> = BTreeMap::new();
        for (index, step) in drawn.iter().enumerate() {
            let event = &step.event;
            let (addr, size) = (event.addr().0, event.size());
            let known = size.min(8);
            let mut expected = None;
            if let Some(value) = step.read() {
                let value = value.to_le_bytes();
                let mut before = value;
                for i in 0..known {
                    let byte = bytes.insert(addr + i, value[i as usize]);
                    before[i as usize] = byte.unwrap_or(value[i as usize]);
                }
                if before != value {
                    expected = Some(u64::from_le_bytes(before));
                }
            }
            if event.op().writes() {
                for i in 0..size {
                    match step.written() {
                        Some(value) if i < 8 => {
                            bytes.insert(addr + i, value.to_le_bytes()[i as usize]);
                        }
                        _ => drop(bytes.remove(&(addr + i))),
                    }
                }
            }
            let forgotten = match event.op() {
                Op::Alloc => {
                    let size = step.written().unwrap_or(0);
                    blocks.insert(addr, size);
                    size
                }
                Op::Free => blocks.remove(&addr).unwrap_or(0),
                Op::Lost => {
                    blocks.clear();
                    bytes.clear();
                    0
                }
                _ => 0,
            };
            bytes.retain(|at, _| *at < addr || *at >= addr + forgotten);
            let found = verifier.step(EventIndex(index as u64), step).mismatch;
            prop_assert_eq!(found.map(|m| m.expected), expected, "{} {:?}", index, drawn);
        }
        let report = verifier.finish(&Tables::default());
        prop_assert_eq!(report.steps, drawn.len() as u64);
    }
}

/// Accesses around the ends of a page and of 64 bytes, with values that differ in few bytes.
fn access() -> impl Strategy<Value = Step> {
    let value = || proptest::option::of(select(vec![0, 1, 0x0101_0101_0101_0101, u64::MAX]));
    let sizes = vec![1u64, 2, 3, 4, 8, 8, 16, 40];
    let ops = vec![
        Op::Read,
        Op::Read,
        Op::Read,
        Op::Write,
        Op::AtomicRead,
        Op::AtomicRmw,
        Op::ExternalWrite,
        Op::Alloc,
        Op::Free,
        Op::Lost,
    ];
    (
        select(ops),
        prop_oneof![0xFB4u64..0xFC4, 0xFF4u64..0x1004],
        select(sizes),
        value(),
        value(),
    )
        .prop_map(|(op, addr, size, read, written)| {
            let mask = u64::MAX >> (64 - 8 * size.min(8));
            let event = match op {
                Op::Alloc => {
                    let event = Event::new(ThreadId(0), op, addr, Pc(0));
                    return Step::new(event).with_written(size);
                }
                Op::Free | Op::Lost => {
                    return Step::new(Event::new(ThreadId(0), op, addr & !3, Pc(0)));
                }
                op if op.is_atomic() => {
                    let (order, size) = (Order::SeqCst, size as u8);
                    Event::atomic(ThreadId(0), op, Addr(addr), size, order, Pc(0))
                }
                op => Event::access(ThreadId(0), op, Addr(addr), size as u16, Pc(0)),
            };
            let mut step = Step::new(event);
            if let (true, Some(value)) = (op.reads(), read) {
                step = step.with_read(value & mask);
            }
            if let (true, Some(value)) = (op.writes(), written) {
                step = step.with_written(value & mask);
            }
            step
        })
}
