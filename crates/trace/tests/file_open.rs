//! Files that are no recordings, and everything that is said about damage.

mod file_writer;

use std::path::{Path, PathBuf};
use std::process::Command;

use deadheat_trace::ThreadId;
use deadheat_trace::file::{Damage, OpenError, TraceFile};
use deadheat_wire::VERSION;
use file_writer::{Recording, on_disk};

/// The error of opening a file with these bytes, without its folder.
fn refused(bytes: &[u8]) -> String {
    let (folder, path) = on_disk(bytes);
    error(&path).replace(&format!("{}/", folder.path().display()), "")
}

fn error(path: &Path) -> String {
    TraceFile::open(path).unwrap_err().to_string()
}

#[test]
fn files_that_are_no_recordings() {
    let text = "T0|w(x)|1\n".as_bytes();
    let not = "trace.dht: not a Deadheat recording (it does not start with DEADHEAT); \
               text traces are read by `deadheat trace` too, if each line is thread|op|location";
    for bytes in [&b""[..], b"D", b"DEADHEA", b"\x7FELF", text, &[0; 100]] {
        assert_eq!(refused(bytes), not);
    }
    let header = "trace.dht: the header is damaged, so nothing else can be trusted; record again";
    let good = Recording::empty(true).bytes();
    for bytes in [
        &good[..8],
        &good[..55],
        &[b"DEADHEAT", &[0; 100][..]].concat(),
    ] {
        assert_eq!(refused(bytes), header);
    }
    for bit in 64..good.len() * 8 {
        let mut bytes = good.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(refused(&bytes), header, "bit {bit}");
    }
}

#[test]
fn other_versions() {
    let with_version = |version| {
        let mut recording = Recording::empty(false);
        recording.header.version = version;
        recording.bytes()
    };
    insta::assert_snapshot!(
        refused(&with_version(VERSION + 1)),
        @"trace.dht: format version 7, this deadheat reads up to 6; use a newer deadheat"
    );
    assert!(refused(&with_version(0)).contains("damaged"));
    for version in 1..=VERSION {
        let (_folder, path) = on_disk(&with_version(version));
        assert!(TraceFile::open(path).is_ok());
    }
}

#[test]
fn paths_that_lead_to_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let io = |path: &Path| match TraceFile::open(path) {
        Err(OpenError::Io { source, .. }) => source.kind(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        io(&folder.path().join("missing")),
        std::io::ErrorKind::NotFound
    );
    assert_eq!(io(folder.path()), std::io::ErrorKind::IsADirectory);
    assert!(error(folder.path()).ends_with(": is a directory"));
    // A pipe must not keep us waiting for its other end.
    let pipe = folder.path().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    assert!(error(&pipe).ends_with(": not a regular file"));
}

#[test]
fn a_recording_without_a_block() {
    let (_folder, path) = on_disk(&Recording::empty(true).bytes());
    let file = TraceFile::open(&path).unwrap();
    assert_eq!(file.damage(), [Damage::NotClosed { salvaged: 0 }]);
    assert_eq!((file.seed(), file.size(), file.path()), (7, 56, &*path));
}

#[test]
fn what_is_said_about_damage() {
    let thread = Some(ThreadId(3));
    let all = [
        Damage::Unreadable {
            offset: 4096,
            bytes: 512,
        },
        Damage::Contents {
            offset: 128,
            bytes: 65408,
        },
        Damage::Malformed {
            offset: 128,
            bytes: 16,
        },
        Damage::Missing {
            thread,
            ordinal: 7,
            blocks: 2,
        },
        Damage::Missing {
            thread: None,
            ordinal: 7,
            blocks: 2,
        },
        Damage::Repeated { thread, blocks: 1 },
        Damage::Repeated {
            thread: None,
            blocks: 1,
        },
        Damage::NotClosed { salvaged: 12 },
        Damage::Stopped {
            why: "the disk is nearly full".into(),
            salvaged: 12,
        },
        Damage::LiveFile {
            reason: "the live file is too large".into(),
        },
    ];
    let lines: Vec<String> = all.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    512 bytes at offset 4096 are no whole block: damaged, or cut off
    the block at offset 128 (65408 bytes) is damaged: what it held is lost
    16 bytes at offset 128 are malformed and were passed over, although their checksum is right
    2 block(s) of thread T3 are missing before block 7
    2 block(s) are missing before block 7
    1 block(s) of thread T3 are there twice; the first ones count
    1 block(s) are there twice; the first ones count
    the recording was not closed: the program was killed, or the disk was full; 12 events were saved from its buffers
    the recording stopped before the program ended: the disk is nearly full; 12 events were saved from its buffers
    only a part of the program's buffers was read: the live file is too large
    ");
    let path = PathBuf::from("trace.dht");
    let source = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
    insta::assert_snapshot!(OpenError::Io { path, source }, @"trace.dht: permission denied");
}
