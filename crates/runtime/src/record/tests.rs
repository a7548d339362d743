//! What cursors lay down is what readers read: random events through the real writer, a file and
//! the real reader.

use std::io::Write;

use deadheat_trace::file::TraceFile;
use deadheat_trace::{Op as Read, Steps};
use deadheat_wire::{BlockHeader, BlockKind, FileHeader, Op, Order, meta, word};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::Cursor;

/// An event, and how it is to come back.
#[derive(Clone, Debug)]
enum Event {
    Access {
        write: bool,
        size_code: u64,
        addr: usize,
        pc: usize,
    },
    Enter {
        caller: usize,
        callee: usize,
    },
    Leave {
        caller: usize,
    },
    Sync {
        object: usize,
        pc: usize,
        operand: Option<u64>,
    },
    Range {
        addr: usize,
        length: usize,
        pc: usize,
    },
}

const CODE: usize = 0x5555_0000_0000;
const CODE_LENGTH: usize = 1 << 26;

/// Pcs near each other, and far.
fn pc() -> impl Strategy<Value = usize> {
    let near = 0..600usize;
    let far = 0..CODE_LENGTH - 1;
    prop_oneof![3 => near, 1 => far].prop_map(|offset| CODE + offset)
}

/// Addresses in a few regions, near each other in each.
fn addr() -> impl Strategy<Value = usize> {
    (0..4usize, 0..300_000usize).prop_map(|(region, offset)| 0x1000_0000 << (region * 4) | offset)
}

fn event() -> impl Strategy<Value = Event> {
    let access = (any::<bool>(), 0..5u64, addr(), pc()).prop_map(|(write, size_code, addr, pc)| {
        Event::Access {
            write,
            size_code,
            addr,
            pc,
        }
    });
    let operand = prop_oneof![Just(None), any::<u64>().prop_map(Some)];
    prop_oneof![
        12 => access,
        1 => (pc(), pc()).prop_map(|(caller, callee)| Event::Enter { caller, callee }),
        1 => pc().prop_map(|caller| Event::Leave { caller }),
        1 => (addr(), pc(), operand)
            .prop_map(|(object, pc, operand)| Event::Sync { object, pc, operand }),
        1 => (addr(), 1..2000usize, pc())
            .prop_map(|(addr, length, pc)| Event::Range { addr, length, pc }),
    ]
}

/// An access in a loop: its pc, its array, and how much further it is each time around.
#[derive(Clone, Debug)]
struct Walker {
    write: bool,
    size_code: u64,
    pc: usize,
    array: usize,
    stride: usize,
}

fn walker() -> impl Strategy<Value = Walker> {
    let pc = 0..200usize;
    (any::<bool>(), 0..5u64, pc, 0..4usize, 0..64usize).prop_map(
        |(write, size_code, pc, array, stride)| Walker {
            write,
            size_code,
            pc: CODE + pc,
            array,
            stride,
        },
    )
}

/// A loop around another, with something between now and then.
fn walk() -> impl Strategy<Value = Vec<Event>> {
    let between = prop::option::weighted(0.3, event());
    let body = || prop::collection::vec(walker(), 1..5);
    (body(), body(), between, 1..12usize, 1..40usize).prop_map(
        |(outer, inner, between, rounds, inner_rounds)| {
            let around = |body: &[Walker], round: usize| -> Vec<Event> {
                let access = |walker: &Walker| Event::Access {
                    write: walker.write,
                    size_code: walker.size_code,
                    addr: (0x1000_0000 << (walker.array * 4)) + round * walker.stride,
                    pc: walker.pc,
                };
                body.iter().map(access).collect()
            };
            let mut events = Vec::new();
            for round in 0..rounds {
                events.extend(around(&outer, round));
                for inner_round in 0..inner_rounds {
                    events.extend(around(&inner, round * 3 + inner_round));
                }
                events.extend(between.clone().filter(|_| round % 3 == 1));
            }
            events
        },
    )
}

/// Events of all kinds, and loops between them.
fn events() -> impl Strategy<Value = Vec<Event>> {
    let some = prop_oneof![8 => event().prop_map(|event| vec![event]), 1 => walk()];
    prop::collection::vec(some, 0..60).prop_map(|events| events.concat())
}

/// Lays the events down, as a thread that records does.
fn lay_down(events: &[Event]) -> Vec<u64> {
    let mut buffer = vec![0u64; events.len() * 8 + 64];
    let mut cursor = Cursor::none();
    cursor.start(buffer.as_mut_ptr(), buffer.len());
    for (seq, event) in events.iter().enumerate() {
        // SAFETY: the buffer has eight words for each event.
        unsafe {
            match *event {
                Event::Access {
                    write,
                    size_code,
                    addr,
                    pc,
                } => {
                    let kind = if write { word::WRITE1 } else { word::READ1 } + size_code;
                    cursor.packed_access(kind, addr, pc);
                }
                Event::Enter { caller, callee } => cursor.enter(caller, callee),
                Event::Leave { caller } => cursor.leave(caller),
                Event::Sync {
                    object,
                    pc,
                    operand,
                } => {
                    let detail = word::sync_detail(Op::Alloc, Order::Relaxed, 0, operand.is_some());
                    let first = word::tagged(word::SYNC, detail, object as u64);
                    cursor.record(first, seq as u64 + 1, pc, [operand.as_slice(), &[]]);
                }
                Event::Range { addr, length, pc } => {
                    let first = word::tagged(word::EXT, word::ext::RANGE_WRITE, addr as u64);
                    cursor.record(first, length as u64, pc, [&[], &[]]);
                }
            }
        }
    }
    let words = (cursor.cur as usize - buffer.as_ptr() as usize) / 8;
    buffer.truncate(words);
    buffer
}

/// A recording with these words as its only block.
fn recording(words: &[u64]) -> tempfile::NamedTempFile {
    let mut facts = [0; 64];
    let mut writer = meta::Writer::new(&mut facts);
    writer
        .begin(meta::MODULE)
        .u64(CODE as u64)
        .u64((CODE + CODE_LENGTH) as u64)
        .u64(0);
    writer.u32(0).u32(4).bytes(b"prog").end();
    writer
        .begin(meta::THREAD)
        .u32(0)
        .u32(meta::NO_THREAD)
        .u64(0)
        .end();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut put = |words: &[u64]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        file.write_all(&bytes).unwrap();
    };
    put(&FileHeader::new(0, 0, 1).to_words());
    put(&BlockHeader::new(BlockKind::Meta, 0).seal(writer.words()));
    put(writer.words());
    put(&BlockHeader::new(BlockKind::Events, 0).seal(words));
    put(words);
    put(&BlockHeader::new(BlockKind::End, 0).seal(&[]));
    file
}

proptest! {
    #[test]
    fn what_is_laid_down_is_read(events in events()) {
        let file = recording(&lay_down(&events));
        let file = TraceFile::open(file.path()).unwrap();
        prop_assert_eq!(file.damage(), &[]);
        let mut reader = file.read();
        for event in &events {
            let Ok(Some(step)) = reader.next_step() else {
                return Err(TestCaseError::fail(format!("{event:?} is missing")));
            };
            let found = step.event;
            let at = |pc: usize| deadheat_trace::Pc((pc - CODE) as u32);
            match *event {
                Event::Access { write, size_code, addr, pc } => {
                    prop_assert_eq!(found.op(), if write { Read::Write } else { Read::Read });
                    prop_assert_eq!((found.size(), found.addr().0), (1 << size_code, addr as u64));
                    prop_assert_eq!(found.pc(), at(pc));
                }
                Event::Enter { caller, .. } => {
                    prop_assert_eq!((found.op(), found.pc()), (Read::Enter, at(caller)));
                }
                Event::Leave { caller } => {
                    prop_assert_eq!((found.op(), found.pc()), (Read::Leave, at(caller)));
                }
                Event::Sync { object, pc, operand } => {
                    prop_assert_eq!((found.op(), found.pc()), (Read::Alloc, at(pc)));
                    prop_assert_eq!((found.target(), step.written()), (object as u64, operand));
                }
                Event::Range { addr, length, pc } => {
                    prop_assert_eq!((found.op(), found.pc()), (Read::Write, at(pc)));
                    prop_assert_eq!((found.addr().0, found.size()), (addr as u64, length as u64));
                }
            }
        }
        prop_assert_eq!(reader.next_step(), Ok(None));
    }
}

fn read_at(addr: usize, pc: usize) -> Event {
    Event::Access {
        write: false,
        size_code: 2,
        addr,
        pc: CODE + pc,
    }
}

/// Distances and counts of the REPEAT records among these words.
fn repeated(words: &[u64]) -> Vec<(u64, u64)> {
    let is_repeat =
        |word: &&u64| word::tag(**word) == word::EXT && word::detail(**word) == word::ext::REPEAT;
    let repeats = words.iter().filter(is_repeat);
    repeats.map(|word| word::split_repeat(*word)).collect()
}

#[test]
fn accesses_near_each_other_take_half_a_word() {
    // No two strides are the same, so nothing repeats.
    let walk: Vec<_> = (0..1000)
        .flat_map(|i| {
            [(0x1000_0000, 5), (0x7FFF_0000_0000, 10)]
                .map(|(array, pc)| read_at(array + i * i / 2, pc))
        })
        .collect();
    let to_begin_with = 3; // a pc, and each array once in full
    assert_eq!(lay_down(&walk).len(), to_begin_with + 999);
}

/// The random events above do have what they are meant to test.
#[test]
fn many_random_events_repeat() {
    let mut runner = TestRunner::deterministic();
    let mut lengths = Vec::new();
    for _ in 0..50 {
        let events = events().new_tree(&mut runner).unwrap().current();
        lengths.extend(repeated(&lay_down(&events)));
    }
    let with = |condition: &dyn Fn(u64, u64) -> bool| {
        let found = lengths
            .iter()
            .filter(|(distance, count)| condition(*distance, *count));
        found.count()
    };
    assert!(with(&|_, _| true) > 500, "{lengths:?}");
    assert!(
        with(&|distance, count| count < distance) > 10,
        "stopped the first time around"
    );
    assert!(
        with(&|distance, count| count > 3 * distance) > 100,
        "went around"
    );
    assert!(with(&|distance, _| distance > 3) > 10, "long ways");
}

#[test]
fn a_loop_is_laid_down_once() {
    for accesses in 1..10 {
        let walk: Vec<_> = (0..1000 * accesses)
            .map(|i| {
                let (round, place) = (i / accesses, i % accesses);
                read_at(0x1000_0000 + place * 0x10_0000 + round * 4, place * 4)
            })
            .collect();
        let words = lay_down(&walk);
        let [(distance, count)] = repeated(&words)[..] else {
            panic!("one record: {words:x?}");
        };
        let once_around = if accesses % 2 == 0 {
            accesses / 2
        } else {
            accesses
        };
        assert_eq!(distance, once_around as u64);
        assert!(words.len() < 3 * accesses + 6, "{words:x?}");
        assert!(count * 2 > 990 * accesses as u64, "{count}");
    }
}

#[test]
fn a_loop_goes_on_behind_a_full_count() {
    let walk: Vec<_> = (0..3 * 131_072)
        .map(|i| read_at(0x1000_0000 + i * 4, 8))
        .collect();
    let words = lay_down(&walk);
    let all = repeated(&words);
    assert_eq!(all.len(), 3);
    assert_eq!(all[..2], [(1, word::MAX_REPEAT); 2]);
}

#[test]
fn what_stands_between_ends_a_repetition() {
    let step = |i: usize| read_at(0x1000_0000 + i * 4, 8);
    let mut events: Vec<_> = (0..21).map(step).collect();
    events.push(Event::Leave { caller: CODE });
    events.extend((21..42).map(step));
    let words = lay_down(&events);
    // The first pair behind it comes from another pc.
    assert_eq!(repeated(&words), [(1, 7), (1, 6)], "{words:x?}");
}

/// Who closes a recording sees whole records, and stops the thread that writes them.
#[test]
fn words_are_copied_from_outside() {
    let mut buffer = [0u64; 64];
    let start = buffer.as_mut_ptr();
    let mut cursor = Cursor::none();
    let mut copy = [0; 64];
    // SAFETY: there is room for all of it, and nobody else writes.
    unsafe {
        assert_eq!(
            Cursor::copy_from_outside(&raw mut cursor, start, &mut copy),
            None
        );
        cursor.start(start, 64);
        for i in 0..12 {
            cursor.packed_access(word::READ1, 0x1000 + i, CODE);
        }
        let words = cursor.cur.offset_from(start) as usize;
        let seen = Cursor::copy_from_outside(&raw mut cursor, start, &mut copy).unwrap();
        assert!(!cursor.has_room());
        assert_eq!(seen, &buffer[..words]);
    }
    assert!(
        word::is_pair(copy[words_of(&copy) - 1]),
        "half a pair behind"
    );
    assert_eq!(repeated(&copy), [(1, 2)]);
}

fn words_of(buffer: &[u64]) -> usize {
    buffer.iter().position(|word| *word == 0).unwrap()
}
