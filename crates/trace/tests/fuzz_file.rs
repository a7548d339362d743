//! Whatever bytes it gets, the reader of recordings reads what it can and says what it cannot.
//! It never panics, and reading twice, or from the middle, gives the same steps.

mod file_writer;
mod mutate;

use std::path::Path;

use deadheat_trace::file::{Checkpoints, TraceFile};
use deadheat_trace::text::Flavor;
use deadheat_trace::{EventIndex, Op, Order, Steps, Trace, json, stats, text, verify};
use deadheat_wire::word::{self, ext};
use deadheat_wire::{
    BlockHeader, BlockKind, FileHeader, LIVE_BUFFER, LIVE_MAGIC, SLOT_BYTES, meta,
};
use file_writer::{
    CODE, Recording, Run, What, meta_block, module, read, sealed, sync, with_operand, write,
};
use mutate::{Mutator, fuzz};
use tempfile::TempDir;

/// A few words may stand for millions of steps.
const ENOUGH: usize = 300;

/// A folder for the files of a test, in memory if there is such a place.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let folder = tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir());
    folder.unwrap()
}

/// A run with something of everything.
fn run() -> Run {
    let acts = [
        sync(Op::Begin, 0),
        sync(Op::Fork, 1),
        with_operand(Op::Alloc, 0x5000, 64),
        sync(Op::Acquire, 0x5010),
        write(0x6000, 8, 5),
        write(0x6000, 16, 6),
        read(0x6004, 4, 0),
        What::Range {
            write: true,
            addr: 0x7000,
            bytes: 20,
            contents: Some(vec![1; 20]),
        },
        What::Range {
            write: false,
            addr: 0x7000,
            bytes: 70_000,
            contents: None,
        },
        What::Enter {
            callee: CODE.start + 0x900,
        },
        What::Atomic {
            op: Op::AtomicRmw,
            addr: 0x6000,
            size: 4,
            order: Order::AcqRel,
            read: [5, 0],
            written: [6, 0],
        },
        What::Fence(Order::SeqCst),
        What::Leave,
        sync(Op::Wait, 0x5020),
        sync(Op::Free, 0x5000),
        What::Lost(3),
        sync(Op::End, 0),
    ];
    let pcs = (CODE.start..).step_by(700);
    let acts = acts.into_iter().zip(pcs).zip(0..);
    let acts = acts.map(|((what, pc), i)| (i / 6 % 2, what.at(pc)));
    let walk = (0..24).map(|i| {
        (
            0,
            write(0x6000 + i / 2 * 8, 8, i).at(CODE.start + i % 2 * 8),
        )
    });
    acts.chain(walk).collect()
}

fn recordings() -> Vec<Recording> {
    let mut all = Vec::new();
    for serial in [true, false] {
        for every in [2, 5, 100] {
            let mut acts = 0;
            let cut = || {
                acts += 1;
                acts % every == 0
            };
            all.push(Recording::new(serial, &run(), cut));
        }
    }
    all
}

/// Reads the file at `path` and looks at everything.
fn check(path: &Path) {
    let Ok(file) = TraceFile::open(path) else {
        return;
    };
    let mut reader = file.read();
    let mut steps = Vec::new();
    while let (true, Ok(Some(step))) = (steps.len() < ENOUGH, reader.next_step()) {
        steps.push(step);
    }
    let damage = file.damage().iter().chain(reader.damage());
    assert!(
        damage
            .into_iter()
            .all(|damage| !damage.to_string().is_empty())
    );
    let trace = Trace {
        mode: reader.mode(),
        tables: reader.tables().clone(),
        steps,
    };

    if trace.steps.len() < ENOUGH {
        let checkpoints = Checkpoints::new(&file);
        assert_eq!(checkpoints.events(), trace.steps.len() as u64);
        let middle = trace.steps.len() / 2;
        let window = checkpoints.window(EventIndex(middle as u64), usize::MAX);
        assert_eq!(window.steps, trace.steps[middle..]);
    }
    // Everybody behind the reader can live with what it hands out.
    for step in &trace.steps {
        assert!(step.event.thread().index() < trace.tables.threads.len());
        assert!(!trace.tables.location(step.event.pc()).is_empty());
    }
    let mut sink = std::io::sink();
    json::write(&mut trace.stream(), &mut sink).unwrap();
    text::write(&mut trace.stream(), &mut sink, Flavor::Full).unwrap();
    text::write(&mut trace.stream(), &mut sink, Flavor::Std).unwrap();
    stats::of(&mut trace.stream()).unwrap();
    verify::verify(&mut trace.stream()).unwrap();
}

/// The same bytes with the checksums made right, wherever a header can be made out.
fn resealed(bytes: &[u8]) -> Vec<u8> {
    let mut words: Vec<u64> = bytes
        .chunks_exact(8)
        .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
        .collect();
    if let Some(head) = words.first_chunk_mut::<{ FileHeader::WORDS }>() {
        head[6] = deadheat_wire::checksum(&head[..6]);
    }
    let mut at = FileHeader::WORDS;
    while let Some(header) = words.get(at..at + BlockHeader::WORDS) {
        let (start, length) = (at + BlockHeader::WORDS, (header[1] >> 32) as usize);
        let Some(payload) = words.get(start..start + length) else {
            at += 1;
            continue;
        };
        words[at + 7] = deadheat_wire::checksum(payload);
        words[at + 8] = deadheat_wire::checksum(&words[at..at + 8]);
        at = start + length;
    }
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[test]
fn mutants_of_recordings() {
    let corpus: Vec<Vec<u8>> = recordings().iter().map(Recording::bytes).collect();
    let folder = folder();
    let path = folder.path().join("trace.dht");
    let check_both = |bytes: &[u8]| {
        for bytes in [bytes, &resealed(bytes)] {
            std::fs::write(&path, bytes).unwrap();
            check(&path);
        }
    };
    for file in &corpus {
        assert_eq!(&resealed(file), file, "a good file stays as it is");
        check_both(file);
    }
    let tokens: [&[u8]; 3] = [b"DHB1", b"DEADHEAT", &[0; 8]];
    fuzz(
        &Mutator {
            corpus: &corpus,
            tokens: &tokens,
        },
        check_both,
    );
}

/// Any words as the payload of a good block, between two others of the same stream.
#[test]
fn mutants_of_records() {
    let mut corpus = Vec::new();
    for recording in recordings() {
        for block in recording.event_blocks() {
            let words = recording.blocks[block][BlockHeader::WORDS..].iter();
            corpus.push(
                words
                    .flat_map(|word| word.to_le_bytes())
                    .collect::<Vec<u8>>(),
            );
        }
    }
    let words: Vec<[u8; 8]> = [
        word::tagged(word::EXT, ext::SWITCH, 1),
        word::tagged(word::EXT, ext::LOST, 1),
        word::repeat(1, 5),
        word::repeat(2, word::MAX_REPEAT),
        word::tagged(word::EXT, ext::RANGE_WRITE | ext::VALUES, 0x5000),
        word::tagged(word::SYNC, Op::AtomicRmw as u64 | 4 << 9, 0x5000),
        word::tagged(word::PC, 0, word::ADDR_MASK),
        word::numbered(8, word::WIDE_PC_BIAS),
        word::numbered(word::MAX_SEQ, 0),
    ]
    .map(u64::to_le_bytes)
    .to_vec();
    let tokens: Vec<&[u8]> = words.iter().map(|word| &word[..]).collect();
    let folder = folder();
    let path = folder.path().join("trace.dht");
    fuzz(
        &Mutator {
            corpus: &corpus,
            tokens: &tokens,
        },
        |bytes| {
            let payload: Vec<u64> = words_of(bytes);
            for values in [true, false] {
                let mut recording = Recording::new(values, &run(), || true);
                let block = recording.event_blocks()[1];
                recording.edit(block, |header, words| {
                    header.flags = values.into();
                    *words = payload.clone();
                });
                std::fs::write(&path, recording.bytes()).unwrap();
                check(&path);
            }
        },
    );
}

/// Any words as facts.
#[test]
fn mutants_of_facts() {
    let block = meta_block(|writer| {
        module(writer, CODE, "/bin/prog");
        writer
            .begin(meta::THREAD)
            .u32(1)
            .u32(0)
            .u64(CODE.start)
            .end();
        writer
            .begin(meta::THREAD_NAME)
            .u32(1)
            .u32(6)
            .bytes(b"worker")
            .end();
        writer.begin(meta::NOTE).bytes(b"a note").end();
        module(writer, CODE.start + 8..CODE.end + 8, "/lib/other.so");
    });
    let words = block[BlockHeader::WORDS..].iter();
    let corpus = [words
        .flat_map(|word| word.to_le_bytes())
        .collect::<Vec<u8>>()];
    let folder = folder();
    let path = folder.path().join("trace.dht");
    fuzz(
        &Mutator {
            corpus: &corpus,
            tokens: &[],
        },
        |bytes| {
            for kind in [BlockKind::Meta, BlockKind::End] {
                let mut recording = Recording::new(true, &run(), || false);
                recording.blocks[0] = sealed(BlockHeader::new(kind, 0), &words_of(bytes));
                std::fs::write(&path, recording.bytes()).unwrap();
                check(&path);
            }
        },
    );
}

/// Any words in a slot of the live file.
#[test]
fn mutants_of_live_files() {
    let mut corpus = Vec::new();
    for recording in recordings() {
        let blocks = recording.event_blocks();
        let Some(last) = blocks.last() else { continue };
        let header = recording.block_header(*last);
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let head = [
            LIVE_MAGIC,
            pair(header.stream, header.ordinal),
            pair(header.thread, header.flags.into()),
            header.pc,
            header.seq_before,
        ];
        let words = head
            .iter()
            .chain(&recording.blocks[*last][BlockHeader::WORDS..]);
        corpus.push(
            words
                .flat_map(|word| word.to_le_bytes())
                .collect::<Vec<u8>>(),
        );
    }
    let folder = folder();
    let path = folder.path().join("trace.dht");
    let mut recording = Recording::new(false, &run(), || true);
    recording.blocks.truncate(recording.event_blocks()[3]);
    std::fs::write(&path, recording.bytes()).unwrap();
    fuzz(
        &Mutator {
            corpus: &corpus,
            tokens: &[],
        },
        |bytes| {
            let (head, words) = bytes.split_at(bytes.len().min(40));
            let mut slot = vec![0; SLOT_BYTES];
            slot[..head.len()].copy_from_slice(head);
            slot[LIVE_BUFFER..][..words.len()].copy_from_slice(words);
            std::fs::write(folder.path().join("trace.dht.live"), slot).unwrap();
            check(&path);
        },
    );
}

fn words_of(bytes: &[u8]) -> Vec<u64> {
    let whole = bytes.chunks_exact(8);
    whole
        .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
        .collect()
}
