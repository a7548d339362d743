//! Recordings that were not closed: what the live file still has belongs to them.

mod file_oracle;
mod file_writer;

use std::path::Path;

use deadheat_trace::file::{Damage, TraceFile};
use deadheat_trace::{Op, Step, ThreadId};
use deadheat_wire::word::{self, ext};
use deadheat_wire::{BLOCK_BYTES, LIVE_BUFFER, LIVE_MAGIC, SLOT_BYTES, meta};
use file_oracle::{all, expected};
use file_writer::{CODE, Recording, Run, meta_block, on_disk, read, sync, with_operand, write};

/// The head of a slot; what its block's header would say.
#[derive(Clone, Copy)]
struct Slot {
    magic: u64,
    stream: u32,
    ordinal: u32,
    values: bool,
    pc: u64,
    seq_before: u64,
}

impl Slot {
    fn new(stream: u32, ordinal: u32) -> Self {
        Slot {
            magic: LIVE_MAGIC,
            stream,
            ordinal,
            values: false,
            pc: CODE.start,
            seq_before: 0,
        }
    }

    fn with(self, words: &[u64]) -> Vec<u8> {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let head = [
            self.magic,
            pair(self.stream, self.ordinal),
            pair(self.stream, self.values.into()),
            self.pc,
            self.seq_before,
        ];
        let mut bytes = vec![0; SLOT_BYTES];
        let mut put = |at: usize, words: &[u64]| {
            let words: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            bytes[at..at + words.len()].copy_from_slice(&words);
        };
        put(0, &head);
        put(LIVE_BUFFER, words);
        bytes
    }
}

/// A recording that lacks its end, and the live file beside it.
fn open(mut recording: Recording, live: &[Vec<u8>]) -> (tempfile::TempDir, TraceFile) {
    recording.blocks.pop();
    let (folder, path) = on_disk(&recording.bytes());
    std::fs::write(folder.path().join("trace.dht.live"), live.concat()).unwrap();
    (folder, TraceFile::open(path).unwrap())
}

/// Two threads; each act in a block of its own.
fn run() -> Run {
    let at = CODE.start;
    vec![
        (0, sync(Op::Begin, 0).at(at)),
        (1, sync(Op::Begin, 1).at(at)),
        (0, sync(Op::Acquire, 0x100).at(at)),
        (0, write(0x1000, 8, 0).at(at)),
        (0, sync(Op::Release, 0x100).at(at)),
        (1, sync(Op::Acquire, 0x100).at(at)),
        (1, read(0x1000, 8, 0).at(at)),
        (0, with_operand(Op::Alloc, 0x5000, 64).at(at)),
    ]
}

/// The words of a block that would have come next.
fn payload(recording: &Recording, stream: u32, ordinal: u32) -> (Slot, Vec<u64>) {
    let found = recording.event_blocks().into_iter().find(|block| {
        let header = recording.block_header(*block);
        (header.stream, header.ordinal) == (stream, ordinal)
    });
    let header = recording.block_header(found.unwrap());
    let mut slot = Slot::new(stream, ordinal);
    slot.values = header.has_values();
    slot.pc = header.pc;
    slot.seq_before = header.seq_before;
    (slot, recording.blocks[found.unwrap()][9..].to_vec())
}

/// Takes the last block of each stream away from the recording and into the live file.
fn unwritten(recording: &mut Recording) -> Vec<Vec<u8>> {
    let mut slots = Vec::new();
    let mut streams = Vec::new();
    for block in recording.event_blocks().into_iter().rev() {
        let header = recording.block_header(block);
        if streams.contains(&header.stream) {
            continue;
        }
        streams.push(header.stream);
        let (slot, words) = payload(recording, header.stream, header.ordinal);
        slots.push(slot.with(&words));
        recording.blocks.remove(block);
    }
    slots
}

/// What a loop had repeated when the program was killed, and half a pair behind.
#[test]
fn repetitions_are_counted_and_read() {
    let at = |i: u64| (0, read(0x1000 + i * 8, 8, 0).at(CODE.start));
    let run: Run = (0..1 + 2 * 40 + 1).map(at).collect();
    let mut recording = Recording::new(false, &run, || false);
    let (_, words) = payload(&recording, 0, 0);
    assert!(words.contains(&word::repeat(1, 39)), "{words:x?}");
    let slots = unwritten(&mut recording);
    let (_folder, file) = open(recording, &slots);
    let salvaged = run.len() as u64;
    assert_eq!(file.damage(), [Damage::NotClosed { salvaged }]);
    assert_eq!(all(&file).steps, expected(false, &run));
}

#[test]
fn buffers_are_part_of_the_recording() {
    for serial in [true, false] {
        let run = run();
        let mut recording = Recording::new(serial, &run, || true);
        let slots = unwritten(&mut recording);
        let (_folder, file) = open(recording, &slots);
        let salvaged = slots.len() as u64;
        assert_eq!(file.damage(), [Damage::NotClosed { salvaged }]);
        assert_eq!(all(&file).steps, expected(serial, &run));
    }
}

/// The recorder stopped while there was room to say why; blocks of other threads came behind that.
#[test]
fn a_recording_that_stopped_says_why() {
    let run = run();
    let mut recording = Recording::new(false, &run, || true);
    let slots = unwritten(&mut recording);
    let stopped = meta_block(|writer| {
        writer.begin(meta::STOPPED).bytes(b"too large").end();
    });
    let behind_it = *recording.event_blocks().last().unwrap();
    recording.blocks.insert(behind_it, stopped);
    let (_folder, file) = open(recording, &slots);
    let stopped = Damage::Stopped {
        why: "too large".into(),
        salvaged: slots.len() as u64,
    };
    assert_eq!(file.damage(), [stopped]);
    assert_eq!(all(&file).steps, expected(false, &run));
}

#[test]
fn left_overs_and_free_slots_hold_nothing() {
    let run = run();
    let mut recording = Recording::new(false, &run, || true);
    let (slot, words) = payload(&recording, 0, 1);
    let unused = Slot {
        magic: 0,
        ..Slot::new(0, 9)
    };
    // A free slot's first word is the address of the next free one.
    let free = Slot {
        magic: 0x7F12_3456_7000,
        ..Slot::new(0, 9)
    };
    let empty = Slot::new(0, 4);
    let mut slots = vec![
        slot.with(&words),
        unused.with(&words),
        free.with(&words),
        empty.with(&[]),
        vec![0; SLOT_BYTES],
    ];
    slots.extend(unwritten(&mut recording));
    let (_folder, file) = open(recording, &slots);
    assert_eq!(file.damage(), [Damage::NotClosed { salvaged: 2 }]);
    assert_eq!(all(&file).steps, expected(false, &run));
}

/// The steps that come of a buffer of these words, behind a recording of one event.
fn salvaged(values: bool, words: &[u64]) -> Vec<Op> {
    let run = vec![(0, sync(Op::Begin, 0).at(CODE.start))];
    let slot = Slot {
        values,
        ..Slot::new(0, 1)
    };
    let (_folder, file) = open(Recording::new(values, &run, || false), &[slot.with(words)]);
    let steps: Vec<Step> = all(&file).steps;
    let damage = [Damage::NotClosed {
        salvaged: steps.len() as u64 - 1,
    }];
    assert_eq!(file.damage(), damage);
    steps[1..].iter().map(|step| step.event.op()).collect()
}

#[test]
fn half_a_record_is_none() {
    let access = |code: u64| word::access(word::READ1 + code, word::PC_BIAS, 8);
    let alloc = word::tagged(word::SYNC, Op::Alloc as u64 | 1 << 12, 0x5000);
    let acquire = word::tagged(word::SYNC, Op::Acquire as u64, 0x5000);
    let range = word::tagged(word::EXT, ext::RANGE_READ | ext::VALUES, 0x5000);
    let second = |number| word::numbered(number, word::WIDE_PC_BIAS);

    assert_eq!(
        salvaged(false, &[access(0), access(1)]),
        [Op::Read, Op::Read]
    );
    assert_eq!(salvaged(false, &[access(0), acquire]), [Op::Read]);
    assert_eq!(
        salvaged(false, &[access(0), acquire, second(9)]),
        [Op::Read, Op::Acquire]
    );
    assert_eq!(salvaged(false, &[access(0), alloc, second(9)]), [Op::Read]);
    assert_eq!(
        salvaged(false, &[access(0), alloc, second(9), 64]),
        [Op::Read, Op::Alloc]
    );

    // A value of zero counts if something follows.
    assert_eq!(salvaged(true, &[access(0)]), []);
    assert_eq!(salvaged(true, &[access(0), 0]), []);
    assert_eq!(salvaged(true, &[access(0), 1]), [Op::Read]);
    assert_eq!(
        salvaged(true, &[access(0), 0, access(1), 5]),
        [Op::Read, Op::Read]
    );
    assert_eq!(salvaged(true, &[access(4), 5, 0]), []);
    assert_eq!(
        salvaged(true, &[access(0), 1, range, second(16), 5]),
        [Op::Read]
    );

    // Nonsense ends it, too.
    assert_eq!(
        salvaged(false, &[access(0), 1 << 50, access(0)]),
        [Op::Read]
    );
    let full = vec![access(0); BLOCK_BYTES / 8];
    assert_eq!(salvaged(false, &full).len(), full.len());
    let mut torn = full.clone();
    *torn.last_mut().unwrap() = acquire;
    assert_eq!(salvaged(false, &torn).len(), full.len() - 1);
}

/// The disk was full: half of a block reached it, all of it is in the buffer.
#[test]
fn a_block_that_was_cut_off_is_in_its_buffer() {
    let run = run();
    let mut recording = Recording::new(true, &run, || true);
    let last = *recording.event_blocks().last().unwrap();
    let (slot, words) = payload(&recording, 0, recording.block_header(last).ordinal);
    recording.blocks[last].truncate(10);
    let (_folder, file) = open(recording, &[slot.with(&words)]);
    assert!(matches!(
        file.damage(),
        [
            Damage::Unreadable { bytes: 80, .. },
            Damage::NotClosed { salvaged: 1 }
        ]
    ));
    assert_eq!(all(&file).steps, expected(true, &run));
}

#[test]
fn a_buffer_behind_missing_blocks() {
    let run = run();
    let mut recording = Recording::new(false, &run, || true);
    let (slot, words) = payload(&recording, 0, 3);
    let blocks = recording.event_blocks();
    for block in blocks.into_iter().rev() {
        let header = recording.block_header(block);
        if header.stream == 0 && header.ordinal > 0 {
            recording.blocks.remove(block);
        }
    }
    let (_folder, file) = open(recording, &[slot.with(&words)]);
    let thread = Some(ThreadId(0));
    assert_eq!(
        file.damage(),
        [
            Damage::NotClosed { salvaged: 1 },
            Damage::Missing {
                thread,
                ordinal: 3,
                blocks: 2
            }
        ]
    );
    let ops = all(&file)
        .steps
        .iter()
        .map(|s| (s.event.thread().0, s.event.op()))
        .collect::<Vec<_>>();
    assert_eq!(
        ops,
        [
            (0, Op::Begin),
            (0, Op::Lost),
            (1, Op::Begin),
            (0, Op::Lost),
            (0, Op::Release),
            (1, Op::Acquire),
            (1, Op::Read)
        ]
    );
}

#[test]
fn a_closed_recording_needs_no_buffers() {
    let (folder, path) = on_disk(&Recording::new(true, &run(), || false).bytes());
    let live = folder.path().join("trace.dht.live");
    std::fs::write(
        live,
        Slot::new(0, 7).with(&[word::tagged(word::LEAVE, 0, 8)]),
    )
    .unwrap();
    let file = TraceFile::open(path).unwrap();
    assert_eq!(file.damage(), []);
    assert_eq!(all(&file).steps, expected(true, &run()));
}

fn damage_beside(make: impl FnOnce(&Path)) -> Vec<Damage> {
    let mut recording = Recording::new(true, &run(), || false);
    recording.blocks.pop();
    let (folder, path) = on_disk(&recording.bytes());
    make(&folder.path().join("trace.dht.live"));
    let file = TraceFile::open(path).unwrap();
    assert_eq!(all(&file).steps, expected(true, &run()));
    file.damage().to_vec()
}

#[test]
fn live_files_that_are_none() {
    let not_closed = &[Damage::NotClosed { salvaged: 0 }][..];
    assert_eq!(damage_beside(|_| ()), not_closed);
    assert_eq!(
        damage_beside(|path| std::fs::write(path, b"").unwrap()),
        not_closed
    );
    let zeros = damage_beside(|path| std::fs::write(path, vec![0; 2 * SLOT_BYTES]).unwrap());
    assert_eq!(zeros, not_closed);
    let cut = damage_beside(|path| std::fs::write(path, vec![0; SLOT_BYTES + 1]).unwrap());
    let folder = damage_beside(|path| std::fs::create_dir(path).unwrap());
    for (damage, why) in [(cut, "cut off"), (folder, "not a regular file")] {
        assert_eq!(&damage[..1], not_closed);
        assert!(damage[1].to_string().contains(why), "{damage:?}");
    }
    let impossible = Slot::new(1 << 22, 0).with(&[word::tagged(word::LEAVE, 0, 8)]);
    let damage = damage_beside(|path| std::fs::write(path, &impossible).unwrap());
    assert!(matches!(
        damage[..],
        [Damage::NotClosed { .. }, Damage::Malformed { .. }]
    ));
}
