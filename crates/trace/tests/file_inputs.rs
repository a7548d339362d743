//! What threads got from the system stands between events, is no step, and comes back by thread.

mod file_oracle;
mod file_writer;

use deadheat_trace::file::{Input, TraceFile};
use deadheat_trace::{Op, Steps, ThreadId};
use deadheat_wire::inputs::{self, InputsHeader, InputsThread, InputsValue, kind};
use deadheat_wire::meta;
use deadheat_wire::word::{self, ext};
use file_oracle::all;
use file_writer::{CODE, Recording, StreamWriter, end_block, meta_block, module, read};

const TIME: u32 = kind::CLOCK;

fn input(stream: &mut StreamWriter, kind: u32, value: u64) {
    stream.raw(word::tagged(word::EXT, ext::INPUT, kind.into()));
    stream.raw(value);
}

/// Thread 0 creates 1 and 3, and 1 creates 2. In two blocks they get: 0 a process's number and a time, 2
/// two times, with a read before and after.
fn recording() -> Recording {
    let mut recording = Recording::empty(true);
    let blocks = &mut recording.blocks;
    blocks.push(meta_block(|writer| module(writer, CODE, "/bin/prog")));
    for (thread, parent) in [(0, meta::NO_THREAD), (1, 0), (2, 1), (3, 0)] {
        blocks.push(meta_block(|writer| {
            let record = writer.begin(meta::THREAD).u32(thread).u32(parent);
            record.u64(CODE.start).end();
        }));
    }
    let mut stream = StreamWriter::new(0, true);
    stream.act(&read(8, 4, 1).at(CODE.start), 0);
    input(&mut stream, kind::PROCESS, 4711);
    stream.switch(2);
    input(&mut stream, TIME, 1);
    stream.cut();
    input(&mut stream, TIME, u64::MAX);
    stream.switch(0);
    input(&mut stream, TIME, 2);
    stream.act(&read(8, 4, 2).at(CODE.start), 0);
    stream.cut();
    blocks.append(&mut stream.blocks);
    blocks.push(end_block("the program ended"));
    recording
}

fn values(file: &TraceFile) -> Vec<(u32, Vec<(u32, u64)>)> {
    let pairs = |inputs: &Vec<Input>| inputs.iter().map(|one| (one.kind, one.value)).collect();
    let inputs = file.inputs();
    let threads = inputs.threads.iter();
    threads
        .map(|(thread, inputs)| (thread.0, pairs(inputs)))
        .collect()
}

#[test]
fn they_are_no_steps() {
    let opened = recording().open();
    let trace = all(&opened);
    let steps = trace.steps.iter();
    let seen: Vec<_> = steps
        .map(|step| (step.event.thread(), step.event.op(), step.read()))
        .collect();
    let thread = ThreadId(0);
    assert_eq!(
        seen,
        [(thread, Op::Read, Some(1)), (thread, Op::Read, Some(2))]
    );
    let mut reader = opened.read();
    while reader.next_step().unwrap().is_some() {}
    assert_eq!(reader.damage(), []);
}

#[test]
fn they_come_back_by_thread() {
    let expected = vec![
        (0, vec![(kind::PROCESS, 4711), (TIME, 2)]),
        (2, vec![(TIME, 1), (TIME, u64::MAX)]),
    ];
    assert_eq!(values(&recording().open()), expected);
}

#[test]
fn random_numbers_may_follow_from_another_seed() {
    let mut recording = recording();
    assert_eq!(recording.open().inputs().seed, 7, "the schedule's");
    let before = values(&recording.open());
    recording.edit(recording.event_blocks()[0], |_, words| {
        let record = [word::tagged(word::EXT, ext::INPUT, kind::SEED.into()), 8];
        words.splice(0..0, record);
    });
    let opened = recording.open();
    assert_eq!(opened.inputs().seed, 8);
    assert_eq!(values(&opened), before);
}

#[test]
fn behind_damage_they_cannot_be_counted() {
    let whole = recording();
    let events = whole.event_blocks();
    let mut damaged = whole.clone();
    *damaged.blocks[events[1]].last_mut().unwrap() ^= 1;
    let first_block = vec![(0, vec![(kind::PROCESS, 4711)]), (2, vec![(TIME, 1)])];
    assert_eq!(values(&damaged.open()), first_block);
    let mut missing = whole.clone();
    missing.blocks.remove(events[0]);
    assert_eq!(values(&missing.open()), vec![]);
    let mut lost = whole.clone();
    lost.edit(events[1], |_, words| {
        words.insert(0, word::tagged(word::EXT, ext::LOST, 1))
    });
    assert_eq!(values(&lost.open()), first_block);
    let mut parallel = whole;
    parallel.header.flags = 0;
    assert_eq!(values(&parallel.open()), vec![]);
}

#[test]
fn the_file_for_another_run_names_threads_by_their_creators() {
    let bytes = recording().open().inputs().to_bytes();
    let words = bytes.chunks(8).map(|chunk| chunk.try_into().unwrap());
    let words: Vec<u64> = words.map(u64::from_le_bytes).collect();
    let grandchild = inputs::child(inputs::child(inputs::FIRST_THREAD, 0), 0);
    assert_eq!(bytes[..8], inputs::MAGIC);
    let version = u64::from(inputs::VERSION);
    assert_eq!(words[1..4], [2 << 32 | version, 7, 4]);
    assert_eq!(words[4..10], [inputs::FIRST_THREAD, 0, 2, grandchild, 2, 2]);
    let time = u64::from(TIME);
    let values = [4711, kind::PROCESS.into(), 2, time, 1, time, u64::MAX, time];
    assert_eq!(words[10..], values);
    let size =
        size_of::<InputsHeader>() + 2 * size_of::<InputsThread>() + 4 * size_of::<InputsValue>();
    assert_eq!(bytes.len(), size);
}
