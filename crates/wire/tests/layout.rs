//! The bytes on disk, pinned. A change here is a new version of the format.

use deadheat_wire::word::{self, ext};
use deadheat_wire::{
    BLOCK_BYTES, BLOCK_MAGIC, BlockHeader, BlockKind, FILE_MAGIC, FileHeader, LIVE_BUFFER,
    LIVE_MAGIC, LiveHeader, MAX_BLOCK_BYTES, MAX_RANGE_VALUES, Op, Order, SLOT_BYTES, VERSION,
    checksum, meta,
};

fn lines(words: &[u64]) -> Vec<String> {
    words.iter().map(|word| format!("{word:016x}")).collect()
}

#[test]
fn the_file_header() {
    let words = FileHeader::new(FileHeader::SERIAL, 0x1122_3344_5566_7788, 0x2A).to_words();
    assert_eq!(words[0].to_le_bytes(), FILE_MAGIC);
    assert_eq!(
        lines(&words[1..]),
        [
            "0000000100000006",
            "1122334455667788",
            "000000000000002a",
            "0000000000000000",
            "0000000000000000",
            "3a695165385244d2",
        ]
    );
    assert_eq!(VERSION, 6);
}

#[test]
fn the_block_header() {
    let mut header = BlockHeader::new(BlockKind::Events, 0x0A0B_0C0D);
    header.flags = BlockHeader::VALUES;
    header.ordinal = 3;
    header.thread = 4;
    header.pc = 5;
    header.seq_before = 7;
    header.seq_last = 8;
    let words = header.seal(&[9, 10]);
    assert_eq!(words[0].to_le_bytes()[..4], BLOCK_MAGIC);
    assert_eq!(
        lines(&words),
        [
            "0000010131424844",
            "000000020a0b0c0d",
            "0000000400000003",
            "0000000000000005",
            "0000000000000000",
            "0000000000000007",
            "0000000000000008",
            "3b33033431c2e538",
            "f5e380dbd64ffb63",
        ]
    );
}

#[test]
fn checksums() {
    assert_eq!(
        lines(&[checksum(&[]), checksum(&[0]), checksum(&[1, 2, 3, 4, 5])]),
        ["daaa9ad7f35fe976", "ec449d1f263694dd", "364869a3570dde4f"]
    );
}

#[test]
fn the_live_header() {
    let header = LiveHeader::from_words(&[LIVE_MAGIC, 2 << 32 | 1, 4 << 32 | 3, 5, 6]);
    let expected = LiveHeader {
        magic: u64::from_le_bytes(*b"DHLIVE01"),
        stream: 1,
        ordinal: 2,
        thread: 3,
        flags: 4,
        pc: 5,
        seq_before: 6,
    };
    assert_eq!(header, Some(expected));
    assert_eq!(LiveHeader::from_words(&[0; 5]), None);
    assert_eq!((LIVE_BUFFER, SLOT_BYTES), (4096, 4096 + 65536));
    assert_eq!(
        (BLOCK_BYTES, MAX_BLOCK_BYTES, MAX_RANGE_VALUES),
        (65536, 16 << 20, 4096)
    );
}

#[test]
fn the_words_of_records() {
    let detail = word::sync_detail(Op::AtomicRmw, Order::AcqRel, 3, false);
    let records = [
        word::access(word::READ1 + 2, word::PC_BIAS + 4, 0x1000),
        word::access(word::WRITE1 + 4, word::PC_BIAS - 1, word::ADDR_MASK),
        word::half(
            word::READ1 + 3,
            word::HALF_PC_BIAS + 8,
            word::HALF_ADDR_BIAS + 16,
        ),
        word::tagged(word::ENTER, 4096 + 40, 0x40_0000),
        word::tagged(word::LEAVE, 0, 0x40_0000),
        word::tagged(word::PC, 0, 0x40_0000),
        word::tagged(word::SYNC, detail, 0x2000),
        word::numbered(77, word::WIDE_PC_BIAS + 3),
        word::tagged(word::EXT, ext::RANGE_WRITE | ext::VALUES, 0x3000),
        word::tagged(word::EXT, ext::SWITCH, 5),
        word::tagged(word::EXT, ext::LOST, 6),
        word::repeat(3, 7),
    ];
    assert_eq!(
        lines(&records),
        [
            "3802000000001000",
            "a7ffffffffffffff",
            "0000000020021084",
            "b814000000400000",
            "c000000000400000",
            "d000000000400000",
            "e382800000002000",
            "000000004d800003",
            "f081000000003000",
            "f001800000000005",
            "f002000000000006",
            "f002800000030007"
        ]
    );
}

/// Operations are numbered in this order, from 1 on; new ones come at the end.
#[test]
fn the_numbers_of_operations() {
    let names: Vec<String> = Op::ALL.iter().map(|op| format!("{op:?}")).collect();
    let expected = "Read Write AtomicRead AtomicWrite AtomicRmw Fence Acquire Release ReadAcquire \
        ReadRelease Request ReadRequest Fork Begin End Join Wait Wake Timeout Notify NotifyAll \
        BarrierEnter BarrierExit Post Take Send Receive FutexWait FutexWoken FutexWake Init Destroy \
        Alloc Free Enter Leave Branch ExternalWrite Lost Refused ReadRefused TakeRefused \
        JoinRequest TakeRequest WakeRequest Exit ReceiveRefused";
    assert_eq!(names.join(" "), expected);
    assert_eq!((Op::Read as u8, Op::ReceiveRefused as u8), (1, 47));
}

#[test]
fn meta_records() {
    assert_eq!(
        (meta::MODULE, meta::THREAD, meta::THREAD_NAME, meta::NOTE),
        (1, 2, 3, 4)
    );
    let mut buffer = [u64::MAX; 4];
    let mut writer = meta::Writer::new(&mut buffer);
    writer.begin(meta::NOTE).bytes(b"abc").end();
    assert_eq!(
        lines(writer.words()),
        ["0000000300000004", "0000000000636261"]
    );
}

/// Lengths that lie do not lead out of the payload.
#[test]
fn meta_records_that_lie() {
    let record = |kind: u32, length: u32, body: &[u8]| {
        [&kind.to_le_bytes()[..], &length.to_le_bytes(), body].concat()
    };
    for length in [9, 0x7FFF_FFFF, u32::MAX] {
        assert_eq!(
            meta::records(&record(meta::NOTE, length, &[0; 8])).count(),
            0
        );
    }
    let good = record(meta::NOTE, 8, &[7; 8]);
    let both = [good.clone(), record(meta::NOTE, u32::MAX, &[])].concat();
    assert_eq!(
        meta::records(&both).collect::<Vec<_>>(),
        [(meta::NOTE, &[7; 8][..])]
    );
    for cut in 0..good.len() {
        assert_eq!(meta::records(&good[..cut]).count(), 0, "{cut}");
    }
    assert_eq!(meta::u32_at(&[0; 4], 1), None);
    assert_eq!(meta::u64_at(&[0; 8], 0), Some(0));
}

/// Whatever a word is, a record's length is known or it is none; ranges are the longest.
#[test]
fn lengths_of_records() {
    let mut longest = 0;
    for tag in 0..16u64 {
        for detail in 0..8192 {
            for (second, values) in [(0, true), (0, false), (4096 << 24, true), (u64::MAX, true)] {
                let first = word::tagged(tag, detail, 0x1000);
                if let Some(length) = word::record_len(first, second, values) {
                    assert!(length >= 1 && (values || length <= 3 || tag == word::EXT));
                    longest = longest.max(length);
                }
            }
        }
    }
    assert_eq!(longest, 2 + MAX_RANGE_VALUES / 8);
}
