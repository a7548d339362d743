//! A reader's memory does not grow with the recording. One test, for it counts all memory.

mod file_writer;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use deadheat_trace::file::{Checkpoints, TraceFile};
use deadheat_trace::{EventIndex, Op, Steps};
use file_writer::{
    CODE, Recording, StreamWriter, What, end_block, on_disk, sync, with_operand, write,
};

/// Counts what is in use, and the most there ever was.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let used = USED.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(used, Ordering::Relaxed);
        // SAFETY: as the caller says.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller says.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many bytes more than before were in use at the same time while `work` was done.
fn memory_of<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = USED.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let result = work();
    (MOST.load(Ordering::Relaxed) - before, result)
}

/// Four threads with this many full blocks each; a lock is taken now and then.
fn recording(serial: bool, blocks: usize) -> Recording {
    let mut recording = Recording::empty(serial);
    let threads = if serial { 1 } else { 4 };
    let mut streams: Vec<_> = (0..threads).map(|n| StreamWriter::new(n, serial)).collect();
    let mut seq = 0;
    for _ in 0..blocks {
        for stream in &mut streams {
            for i in 0..4000 {
                if i % 100 == 0 {
                    seq += 2;
                    stream.act(&sync(Op::Acquire, 0x100).at(CODE.start), seq);
                    stream.act(&sync(Op::Release, 0x100).at(CODE.start), seq + 1);
                }
                stream.act(&write(0x1000 + i * 8, 8, i).at(CODE.start + i % 64), 0);
            }
            stream.cut();
            recording.blocks.append(&mut stream.blocks);
        }
    }
    recording.blocks.push(end_block(""));
    recording
}

/// How many bytes of a mapped file are in memory.
fn mapped(path: &std::path::Path) -> usize {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let mut lines = maps.lines();
    let name = path.to_str().unwrap();
    let mut bytes = 0;
    while lines.any(|line| line.ends_with(name)) {
        let resident = lines.find_map(|line| line.strip_prefix("Rss:"));
        let resident = resident.and_then(|line| line.trim().strip_suffix(" kB"));
        bytes += resident.unwrap().trim().parse::<usize>().unwrap() << 10;
    }
    bytes
}

fn read(file: &TraceFile) -> u64 {
    let mut reader = file.read();
    let mut events = 0;
    while let Ok(Some(_)) = reader.next_step() {
        events += 1;
    }
    events
}

#[test]
fn memory_is_bounded() {
    for serial in [true, false] {
        let mut before = None;
        for blocks in [4, 50] {
            let (_folder, path) = on_disk(&recording(serial, blocks).bytes());
            let size = std::fs::metadata(&path).unwrap().len() as usize;
            let (opening, file) = memory_of(|| TraceFile::open(&path).unwrap());
            let is_let_go = |what: &str| {
                let held = mapped(&path);
                assert!(
                    held < 1 << 20,
                    "{held} of {size} bytes are mapped after {what}"
                );
            };
            is_let_go("opening");
            assert!(
                opening < 4096 + size / 1000,
                "{opening} bytes to open {size}"
            );
            let (reading, events) = memory_of(|| read(&file));
            assert!(
                reading < 16 * 1024,
                "{reading} bytes to read {events} events"
            );
            assert_eq!(before.replace(reading).unwrap_or(reading), reading);
            is_let_go("reading");
            file.sum();
            is_let_go("the checksum");
            file.inputs();
            is_let_go("inputs");
        }
    }
    checkpoints_are_bounded();
}

/// Many live heap blocks, and after them six million events out of a few hundred words: the
/// state at each checkpoint is large, so fewer of them are kept.
fn checkpoints_are_bounded() {
    let mut stream = StreamWriter::new(0, true);
    for i in 0..100_000 {
        stream.act(
            &with_operand(Op::Alloc, 0x10_0000 + i * 64, 48).at(CODE.start),
            i,
        );
    }
    for i in 0..400 {
        let (addr, bytes, contents) = (i << 20, 1 << 29, None);
        stream.act(
            &What::Range {
                write: i % 2 == 0,
                addr,
                bytes,
                contents,
            }
            .at(CODE.start + i),
            0,
        );
    }
    stream.cut();
    let mut recording = Recording::empty(true);
    recording.blocks = stream.blocks;
    recording.blocks.push(end_block(""));
    let opened = recording.open();
    let (kept, checkpoints) = memory_of(|| Checkpoints::new(&opened));
    let events = 100_000 + 400 * (1 << 14);
    assert_eq!(checkpoints.events(), events);
    assert!(kept < 80 << 20, "{kept} bytes for checkpoints");

    for start in [
        0,
        99_999,
        65_535,
        65_536,
        1 << 20,
        3 << 20,
        events - 1,
        events,
        events + 1,
    ] {
        let window = checkpoints.window(EventIndex(start), 2);
        let left = events.saturating_sub(start).min(2) as usize;
        assert_eq!(window.steps.len(), left, "{start}");
        let mut reader = opened.read();
        for _ in 0..start {
            reader.next_step().unwrap();
        }
        for step in window.steps {
            assert_eq!(reader.next_step(), Ok(Some(step)));
        }
    }
}
