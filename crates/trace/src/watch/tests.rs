use deadheat_wire::watch::Record;

use super::*;

fn written(fill: impl FnOnce(&mut Record<String>) -> std::fmt::Result) -> String {
    let mut text = String::new();
    let mut record = Record(&mut text);
    fill(&mut record).unwrap();
    record.end().unwrap();
    text
}

fn read(text: &str) -> Message {
    let mut reader = Reader::default();
    reader.feed(text.as_bytes());
    let message = reader.next().expect("a whole record").unwrap();
    assert!(!reader.has_rest());
    message
}

fn stack(pcs: &[(u64, bool)]) -> Stack {
    let frames = pcs.iter().map(|&(pc, repeated)| Frame { pc, repeated });
    Stack(frames.collect())
}

#[test]
fn a_race_comes_out_as_it_was_written() {
    let text = written(|record| {
        record.finding("race", 7, 3)?;
        record.wait(16)?;
        record.access("earlier", AccessKind::AtomicWrite, 0xabc, 4, 1)?;
        record.stack([(0x10, false), (0x20, true)].into_iter())?;
        record.lock(true, 0x900)?;
        record.stack([(0x30, false)].into_iter())?;
        record.lock(false, 0x901)?;
        record.stack([].into_iter())?;
        record.access("later", AccessKind::Free, 0xab8, 16, 2)?;
        record.stack([(0x40, false)].into_iter())?;
        record.unknown_locks()?;
        record.heap(0xab0, 64, 1)?;
        record.stack([(0x50, false)].into_iter())
    });
    let Message::Race(race) = read(&text) else {
        panic!("{text}");
    };
    assert_eq!((race.pid, race.number, race.wait), (7, 3, Some(16)));
    let earlier = race.earlier.unwrap();
    assert_eq!(
        (earlier.kind, earlier.address, earlier.bytes, earlier.thread),
        (AccessKind::AtomicWrite, 0xabc, 4, 1)
    );
    assert_eq!(earlier.stack, stack(&[(0x10, false), (0x20, true)]));
    let lock = |write, address, taken| Lock {
        write,
        address,
        taken,
    };
    let locks = [
        lock(true, 0x900, stack(&[(0x30, false)])),
        lock(false, 0x901, stack(&[])),
    ];
    assert_eq!(earlier.locks.unwrap(), locks);
    assert_eq!(race.later.kind, AccessKind::Free);
    assert_eq!(race.later.stack, stack(&[(0x40, false)]));
    assert_eq!(race.later.locks, None);
    let allocated = stack(&[(0x50, false)]);
    let heap = Memory::Heap {
        start: 0xab0,
        bytes: 64,
        thread: 1,
        allocated,
    };
    assert_eq!(race.memory, heap);
}

#[test]
fn a_flag_has_its_place_and_may_have_one_access() {
    let place = Place::Heap {
        module: 2,
        call: 0x1234,
        offset: 8,
    };
    let text = written(|record| {
        record.finding("flag", 7, 1)?;
        record.place(place)?;
        record.access("later", AccessKind::Write, 0x7f00, 1, 2)?;
        record.stack([].into_iter())?;
        record.on_stack(1, 0x7000, 0x8000)
    });
    let Message::Flag(flag) = read(&text) else {
        panic!("{text}");
    };
    assert_eq!((flag.place, flag.earlier), (Some(place), None));
    let (thread, low, top) = (1, 0x7000, 0x8000);
    assert_eq!(flag.memory, Memory::Stack { thread, low, top });
}

#[test]
fn names_and_paths_survive_whatever_they_hold() {
    let path = b"/a b/100%\n\xff.so";
    let text = written(|record| record.module(7, [1, 2, 3], &[0xAB, 0x01], path));
    let Message::Module { module, .. } = read(&text) else {
        panic!("{text}");
    };
    use std::os::unix::ffi::OsStrExt;
    assert_eq!(module.path.as_os_str().as_bytes(), path);
    assert_eq!(module.build_id, [0xAB, 0x01]);
    let text = written(|record| record.name(7, 2, "two  words".as_bytes()));
    let name = "two  words".to_owned();
    let (pid, number) = (7, 2);
    assert_eq!(read(&text), Message::Name { pid, number, name });
}

#[test]
fn threads_and_figures_are_read() {
    let text = written(|record| {
        record.thread(7, 2, None, 99, 0xe0)?;
        record.stack([(0x10, false)].into_iter())
    });
    let thread = Thread {
        number: 2,
        parent: None,
        tid: 99,
        entry: 0xe0,
        created: stack(&[(0x10, false)]),
    };
    assert_eq!(read(&text), Message::Thread { pid: 7, thread });
    let text = written(|record| record.summary(7, &[("accesses", 5), ("dropped", 0)]));
    let figures = vec![("accesses".to_owned(), 5), ("dropped".to_owned(), 0)];
    assert_eq!(read(&text), Message::Summary { pid: 7, figures });
}

#[test]
fn records_are_whole_or_not_there_yet() {
    let text = b"note 7 one\n\nnote 7 two\n\n";
    for cut in 0..text.len() {
        let mut reader = Reader::default();
        reader.feed(&text[..cut]);
        let mut notes = reader.by_ref().count();
        reader.feed(&text[cut..]);
        notes += reader.by_ref().map(Result::unwrap).count();
        assert_eq!(notes, 2, "cut at {cut}");
    }
}

#[test]
fn nonsense_is_an_error() {
    for text in [
        "\n\n",
        "unknown 7 1\n\n",
        "race x 1\n\n",
        "race 7 1\n earlier read 10 4 1\n\n",
        "race 7 1\n later jump 10 4 1\n\n",
        "race 7 1\n stack 10\n\n",
        "race 7 1\n later read 10 4 1\n stack 1g\n\n",
        "module 7 1 2 3 abc /x\n\n",
        "name 7 1 %4\n\n",
        "summary 7 accesses\n\n",
    ] {
        let mut reader = Reader::default();
        reader.feed(text.as_bytes());
        assert!(matches!(reader.next(), Some(Err(_))), "{text:?}");
    }
    let mut reader = Reader::default();
    reader.feed(b"deadheat-watch 2 7 hb\n\n");
    assert_eq!(reader.next(), Some(Err(ParseError::Version(2))));
}
