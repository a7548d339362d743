//! Facts that were found before, kept on disk by build id.

use std::path::{Path, PathBuf};

use super::table::{Table, VERSION};
use super::{Facts, build};
use crate::Binary;

impl Facts {
    /// The facts of a program, from `folder` if they were found before; else they are found and
    /// kept there. A program without a build id is looked at every time, as is one whose file in
    /// the folder is damaged or cannot be written.
    pub fn load_or_make(binary: &Binary, folder: &Path) -> Facts {
        let Some(build_id) = binary.build_id() else {
            return Facts::of(binary);
        };
        let path = path(folder, build_id);
        let kept = std::fs::read(&path).ok();
        if let Some(table) = kept.and_then(|bytes| Table::from_bytes(&bytes, build_id)) {
            return Facts::from_table(table);
        }
        let table = build::table_of(binary.data());
        // Whoever reads sees all of the file or nothing. Without it, it takes a while longer.
        let unfinished = path.with_extension(format!("{}.part", std::process::id()));
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&unfinished, table.to_bytes(build_id)))
            .and_then(|()| std::fs::rename(&unfinished, &path));
        if written.is_err() {
            let _ = std::fs::remove_file(&unfinished);
        }
        Facts::from_table(table)
    }
}

fn path(folder: &Path, build_id: &[u8]) -> PathBuf {
    let id: String = build_id.iter().map(|byte| format!("{byte:02x}")).collect();
    folder.join(format!("{id}.{VERSION}"))
}
