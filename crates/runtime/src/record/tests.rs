//! What cursors lay down is what readers read: random events through the real writer, a file and
//! the real reader.

use std::io::Write;

use deadheat_trace::file::TraceFile;
use deadheat_trace::{Op as Read, Steps};
use deadheat_wire::{BlockHeader, BlockKind, FileHeader, Op, Order, meta, word};
use proptest::prelude::*;

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

/// Lays the events down, as a thread that records does.
fn lay_down(events: &[Event]) -> Vec<u64> {
    let mut buffer = vec![0u64; events.len() * 8 + 64];
    let mut cursor = Cursor::none();
    cursor.cur = buffer.as_mut_ptr();
    cursor.end = cursor.cur.wrapping_add(buffer.len());
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
    fn what_is_laid_down_is_read(events in prop::collection::vec(event(), 0..400)) {
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

#[test]
fn accesses_near_each_other_take_half_a_word() {
    let walk: Vec<_> = (0..1000)
        .flat_map(|i| {
            [(0x1000_0000, 5), (0x7FFF_0000_0000, 10)].map(|(array, pc)| Event::Access {
                write: false,
                size_code: 2,
                addr: array + i * 4,
                pc: CODE + pc,
            })
        })
        .collect();
    let to_begin_with = 3; // a pc, and each array once in full
    assert_eq!(lay_down(&walk).len(), to_begin_with + 999);
}
