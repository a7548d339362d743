//! What the numbers in a recording's events stand for: objects, code, threads.

mod file_oracle;
mod file_writer;

use deadheat_trace::file::Damage;
use deadheat_trace::{Addr, Op, Pc, SyncKind, Thread, ThreadId, Trace};
use deadheat_wire::meta;
use file_oracle::all;
use file_writer::{
    Act, CODE, Opened, Recording, StreamWriter, What, end_block, meta_block, module, read, sync,
    with_operand,
};

fn trace_of(acts: &[What]) -> Trace {
    let run = acts
        .iter()
        .map(|what| (0, what.clone().at(CODE.start)))
        .collect();
    all(&Recording::new(true, &run, || false).open())
}

/// The number of the object of each act.
fn numbers(acts: &[What]) -> Vec<u64> {
    trace_of(acts)
        .steps
        .iter()
        .map(|step| step.event.target())
        .collect()
}

const LOCK: u64 = 0x1010;

fn init(kind: u64) -> What {
    What::Sync {
        op: Op::Init,
        object: LOCK,
        kind,
        operand: None,
    }
}

fn destroy(kind: u64) -> What {
    What::Sync {
        op: Op::Destroy,
        object: LOCK,
        kind,
        operand: None,
    }
}

#[test]
fn a_lock_lives_from_its_first_use_to_its_destruction() {
    let (acquire, release) = (sync(Op::Acquire, LOCK), sync(Op::Release, LOCK));
    let acts = [
        acquire.clone(),
        release.clone(),
        destroy(0),
        acquire.clone(),
        init(0),
        acquire,
    ];
    assert_eq!(numbers(&acts), [0, 0, 0, 1, 2, 2]);
    assert_eq!(
        numbers(&[init(0), release.clone(), destroy(0), init(0), release]),
        [0, 0, 0, 1, 1]
    );
}

#[test]
fn the_release_of_the_memory_around_it_ends_a_lock() {
    let acquire = |object| sync(Op::Acquire, object);
    let alloc = with_operand(Op::Alloc, 0x1000, 0x20);
    let free = sync(Op::Free, 0x1000);
    let mut acts = vec![alloc];
    // The first byte, the last one, the one before and the one behind.
    let objects = [0x1000, 0x101F, 0xFFF, 0x1020];
    acts.extend(objects.map(acquire));
    acts.push(free);
    acts.extend(objects.map(acquire));
    let numbers = numbers(&acts);
    assert_eq!(numbers[1..5], [0, 1, 2, 3]);
    assert_eq!(numbers[6..10], [4, 5, 2, 3]);
}

#[test]
fn memory_that_is_handed_out_again_holds_nothing_old() {
    let acquire = sync(Op::Acquire, LOCK);
    let alloc = with_operand(Op::Alloc, 0x1000, 0x20);
    assert_eq!(numbers(&[acquire.clone(), alloc, acquire]), [0, 0x1000, 1]);
    // Blocks without a size, larger than memory, and releases of what was never seen.
    let odd = [
        sync(Op::Alloc, 0x1000),
        with_operand(Op::Alloc, 0x1000, u64::MAX),
        sync(Op::Free, 0x1000),
        sync(Op::Free, 0x1000),
    ];
    assert_eq!(numbers(&odd), [0x1000; 4]);
}

#[test]
fn objects_of_different_kinds_share_an_address() {
    let ops = [
        (Op::Acquire, SyncKind::Lock),
        (Op::Wait, SyncKind::Condition),
        (Op::BarrierEnter, SyncKind::Barrier),
        (Op::Post, SyncKind::Semaphore),
        (Op::Send, SyncKind::Channel),
        (Op::FutexWait, SyncKind::Futex),
    ];
    let acts: Vec<What> = ops.iter().map(|(op, _)| sync(*op, LOCK)).collect();
    let twice = [acts.clone(), acts].concat();
    let trace = trace_of(&twice);
    for (step, i) in trace.steps.iter().zip((0..6).chain(0..6)) {
        assert_eq!(step.event.target(), i);
    }
    for (object, (_, kind)) in trace.tables.syncs.iter().zip(ops) {
        assert_eq!((object.kind, object.addr), (kind, Addr(LOCK)));
    }
    assert_eq!(trace.tables.syncs.len(), 6);
}

#[test]
fn what_is_initialised_says_its_kind() {
    let kinds = [
        SyncKind::Lock,
        SyncKind::Condition,
        SyncKind::Barrier,
        SyncKind::Semaphore,
    ];
    let uses = [Op::Acquire, Op::Notify, Op::BarrierExit, Op::Take];
    for (number, (kind, op)) in (0..).zip(kinds.into_iter().zip(uses)) {
        let trace = trace_of(&[init(number), sync(op, LOCK), destroy(number)]);
        assert_eq!(trace.tables.syncs.len(), 1, "{kind:?}");
        assert_eq!(trace.tables.syncs[0].kind, kind);
    }
    // Numbers that are not known count as locks.
    assert_eq!(trace_of(&[init(7)]).tables.syncs[0].kind, SyncKind::Lock);
}

/// A recording with these meta blocks and reads at these addresses of code.
fn with_facts(facts: Vec<Vec<u64>>, pcs: &[u64]) -> Opened {
    let mut recording = Recording::empty(true);
    recording.blocks = facts;
    let mut stream = StreamWriter::new(0, true);
    for pc in pcs {
        let act: Act = read(0x10, 1, 0).at(*pc);
        stream.act(&act, 0);
    }
    stream.cut();
    recording.blocks.append(&mut stream.blocks);
    recording.blocks.push(end_block(""));
    recording.open()
}

fn locations(opened: &Opened) -> Vec<String> {
    let trace = all(opened);
    trace
        .steps
        .iter()
        .map(|step| trace.tables.location(step.event.pc()))
        .collect()
}

#[test]
fn code_is_where_the_newest_module_says() {
    let facts = meta_block(|writer| {
        module(writer, 0x1000..0x3000, "/lib/old.so");
        module(writer, 0x8000..0x9000, "/bin/prog");
        // The first was unloaded, this one has come into its middle.
        module(writer, 0x1800..0x2000, "/lib/new.so");
        module(writer, 0x2FF0..0x4000, "/lib/behind.so");
    });
    let pcs = [
        0x1000, 0x17FF, 0x1800, 0x1FFF, 0x2000, 0x2FEF, 0x2FF0, 0x3FFF, 0x8000, 0x8FFF,
    ];
    let opened = with_facts(vec![facts], &pcs);
    let expected = [
        "old.so+0x0",
        "old.so+0x7ff",
        "new.so+0x0",
        "new.so+0x7ff",
        "old.so+0x1000",
        "old.so+0x1fef",
        "behind.so+0x0",
        "behind.so+0x100f",
        "prog+0x0",
        "prog+0xfff",
    ];
    assert_eq!(locations(&opened), expected);
}

#[test]
fn code_outside_of_any_module() {
    let facts = meta_block(|writer| module(writer, 0x1000..0x2000, "/bin/prog"));
    let opened = with_facts(vec![facts], &[0x500, 0x1000, 0x9000, 0x500, 0, 0x2000]);
    let pcs: Vec<Pc> = all(&opened)
        .steps
        .iter()
        .map(|step| step.event.pc())
        .collect();
    let [a, b, c] = [0xF000_0000, 0xF000_0001, 0xF000_0002].map(Pc);
    assert_eq!(pcs, [a, Pc(0), b, a, Pc::UNKNOWN, c]);
    assert_eq!(locations(&opened)[0], "?+0xf0000000");
    assert_eq!(locations(&opened)[4], "-");
}

#[test]
fn modules_that_cannot_be() {
    for code in [
        0x2000..0x2000,
        std::ops::Range {
            start: 0x3000,
            end: 0x2000,
        },
        0..1 << 33,
        (1 << 47) - 8..(1 << 47) + 8,
    ] {
        let facts = meta_block(|writer| {
            module(writer, 0x1000..0x2000, "/bin/prog");
            module(writer, code.clone(), "/lib/odd.so");
            module(writer, 0x5000..0x6000, "/lib/good.so");
        });
        let opened = with_facts(vec![facts], &[0x1000, 0x5000]);
        assert!(
            matches!(opened.damage(), [Damage::Malformed { .. }]),
            "{code:?}"
        );
        assert_eq!(locations(&opened), ["prog+0x0", "good.so+0x0"]);
    }
    // Numbers of places are 32 bits; what does not fit has none.
    let facts = meta_block(|writer| {
        module(writer, 0..0xEFFF_FFFF, "/bin/huge");
        module(writer, 1 << 33..(1 << 33) + 2, "/lib/too-much.so");
    });
    let opened = with_facts(vec![facts], &[0xEFFF_FFFE, 1 << 33]);
    assert_eq!(locations(&opened), ["huge+0xeffffffe", "?+0xf0000000"]);
}

#[test]
fn threads_names_and_notes() {
    let facts = vec![
        meta_block(|writer| {
            writer
                .begin(meta::THREAD)
                .u32(0)
                .u32(meta::NO_THREAD)
                .u64(0x1004)
                .end();
            // Created at code whose module comes later.
            writer.begin(meta::THREAD).u32(2).u32(0).u64(0x1008).end();
        }),
        meta_block(|writer| {
            module(writer, 0x1000..0x2000, "/bin/prog");
            writer
                .begin(meta::THREAD_NAME)
                .u32(2)
                .u32(6)
                .bytes(b"worker")
                .end();
            writer
                .begin(meta::NOTE)
                .bytes(b"the disk is \xFF full")
                .end();
            writer.begin(99).bytes(b"of a later version").end();
        }),
    ];
    let opened = with_facts(facts, &[0x1000]);
    let tables = opened.tables();
    assert_eq!(opened.damage(), []);
    assert_eq!(tables.notes, ["the disk is \u{FFFD} full"]);
    let worker = Thread {
        name: Some("worker".into()),
        parent: Some(ThreadId(0)),
        created_at: Some(Pc(8)),
    };
    assert_eq!(
        tables.threads,
        [Thread::default(), Thread::default(), worker]
    );
    assert_eq!(tables.modules[0].path.to_str(), Some("/bin/prog"));
}

/// Facts that make no sense are passed over; the others count.
#[test]
fn facts_that_make_no_sense() {
    type Fill = fn(&mut meta::Writer);
    let odd: [Fill; 8] = [
        |writer| {
            writer.begin(meta::THREAD).u32(1).end();
        },
        |writer| {
            writer.begin(meta::THREAD).u32(1 << 22).u32(0).u64(0).end();
        },
        |writer| {
            writer.begin(meta::THREAD).u32(1).u32(1 << 22).u64(0).end();
        },
        |writer| {
            writer
                .begin(meta::THREAD_NAME)
                .u32(u32::MAX)
                .u32(1)
                .bytes(b"x")
                .end();
        },
        |writer| {
            writer.begin(meta::THREAD_NAME).u32(1).end();
        },
        |writer| {
            writer.begin(meta::MODULE).u64(0).u64(8).end();
        },
        |writer| {
            writer.begin(meta::MODULE).u64(0x8000).u64(0x9000).u64(0);
            writer.u32(u32::MAX).u32(u32::MAX).bytes(b"id").end();
        },
        // A length beyond the block.
        |writer| {
            writer.u32(meta::NOTE).u32(u32::MAX).u64(0);
        },
    ];
    for (fill, i) in odd.into_iter().zip(0..) {
        let facts = meta_block(|writer| {
            module(writer, 0x1000..0x2000, "/bin/prog");
            fill(writer);
        });
        let last = meta_block(|writer| {
            writer.begin(meta::NOTE).bytes(b"still here").end();
        });
        let opened = with_facts(vec![facts, last], &[0x1000]);
        assert!(
            matches!(opened.damage(), [Damage::Malformed { .. }]),
            "case {i}"
        );
        assert_eq!(
            (opened.tables().modules.len(), opened.tables().notes.len()),
            (1, 1),
            "case {i}"
        );
    }
}

/// Threads without a record of their own are in the tables once they are mentioned.
#[test]
fn threads_that_nobody_introduced() {
    let mut recording = Recording::empty(true);
    let mut stream = StreamWriter::new(0, true);
    stream.act(&sync(Op::Fork, 3).at(CODE.start), 1);
    stream.switch(7);
    stream.act(&read(0x10, 1, 0).at(CODE.start), 0);
    stream.cut();
    recording.blocks.append(&mut stream.blocks);
    let trace = all(&recording.open());
    assert_eq!(trace.steps[1].event.thread(), ThreadId(7));
    assert_eq!(trace.tables.threads.len(), 8);
}
