//! The functions of a program that have hooks, written down for the runtime.

use std::io;
use std::path::Path;

use deadheat_code::Binary;
use deadheat_trace::watch::code::{BUILD_ID, MAGIC};

/// Writes the table for `program` to a file; none if it is no program that can be read (a script, say).
pub fn write(program: &Path, to: &Path) -> io::Result<()> {
    let Ok(binary) = Binary::open(program) else {
        return Ok(());
    };
    let mut build_id = binary.build_id().unwrap_or_default().to_vec();
    build_id.resize(BUILD_ID, 0);
    let hooked = binary.hooked();
    let mut bytes = MAGIC.to_vec();
    bytes.extend(build_id);
    bytes.extend((hooked.len() as u64).to_le_bytes());
    for (start, end) in hooked {
        bytes.extend(start.to_le_bytes());
        bytes.extend(end.to_le_bytes());
    }
    std::fs::write(to, bytes)
}
