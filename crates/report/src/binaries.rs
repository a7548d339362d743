//! The program and libraries behind a recording, as they lie on disk now.
//!
//! Each is opened when it is first asked about. One that is gone, or that was built again since
//! (its build id is another), answers nothing, and is told about once.
//!
//! A command reads many recordings of one program: its files are opened and their debug
//! information read once per process, as long as they stay as they are.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use deadheat_code::{Binary, Frame, Variable};
use deadheat_trace::{Addr, Module, Pc, Role, Roles, Tables};

/// The modules of a recording.
#[derive(Debug)]
pub struct Binaries {
    modules: Vec<(Module, OnceLock<Opened>)>,
}

#[derive(Debug)]
enum Opened {
    There(Arc<Binary>),
    /// It cannot be read.
    Gone,
    /// It is another one.
    Changed,
}

impl Binaries {
    /// Those that a recording names.
    pub fn of(tables: &Tables) -> Self {
        let modules = tables.modules.iter().cloned();
        Binaries {
            modules: modules.map(|module| (module, OnceLock::new())).collect(),
        }
    }

    /// The module's file and the address in it; `None` if it is not there any more.
    pub fn find(&self, pc: Pc) -> Option<(&Binary, u64)> {
        let after = self
            .modules
            .partition_point(|(module, _)| module.first_pc <= pc);
        let (module, _) = self.modules.get(after.checked_sub(1)?)?;
        let address = module.start + u64::from(pc.0 - module.first_pc.0);
        self.opened(after - 1, address)
    }

    /// The same for an address of the running program.
    pub fn find_address(&self, address: u64) -> Option<(&Binary, u64)> {
        let inside = |(module, _): &(Module, _)| (module.start..module.end).contains(&address);
        self.opened(self.modules.iter().rposition(inside)?, address)
    }

    fn opened(&self, module: usize, address: u64) -> Option<(&Binary, u64)> {
        let (module, opened) = &self.modules[module];
        if address >= module.end {
            return None;
        }
        match opened.get_or_init(|| open(module)) {
            Opened::There(binary) => Some((binary, address.wrapping_sub(module.bias))),
            _ => None,
        }
    }

    /// The functions at an event's pc, innermost first; empty if nothing is known.
    pub fn frames(&self, pc: Pc) -> Vec<Frame> {
        let found = self.find(pc);
        // A pc is where a call returns to: the call is before it.
        found.map_or_else(Vec::new, |(binary, address)| {
            binary.frames(address.saturating_sub(1))
        })
    }

    /// The global variable at an address of the running program.
    pub fn variable(&self, addr: Addr) -> Option<Variable> {
        let (binary, address) = self.find_address(addr.0)?;
        binary.variable(address)
    }

    /// What those that were asked about could not answer, for people.
    pub fn remarks(&self) -> Vec<String> {
        let remark = |(module, opened): &(Module, OnceLock<Opened>)| {
            let path = module.path.display();
            match opened.get()? {
                Opened::There(_) => None,
                Opened::Gone => Some(format!("{path} is not there any more: no names and lines")),
                Opened::Changed => Some(format!(
                    "{path} was built again since the recording: no names and lines"
                )),
            }
        };
        self.modules.iter().filter_map(remark).collect()
    }
}

/// A file as it is now: one that was written again or replaced has another version.
#[derive(PartialEq, Eq, Hash)]
struct Version {
    path: PathBuf,
    inode: (u64, u64),
    size: u64,
    written: (i64, i64),
}

/// The file at a path, opened by this process before if it is still the same.
fn shared(path: &Path) -> Option<Arc<Binary>> {
    static OPENED: OnceLock<Mutex<HashMap<Version, Arc<Binary>>>> = OnceLock::new();
    let file = fs::metadata(path).ok()?;
    let version = Version {
        path: path.to_owned(),
        inode: (file.dev(), file.ino()),
        size: file.size(),
        written: (file.mtime(), file.mtime_nsec()),
    };
    let mut opened = OPENED
        .get_or_init(Mutex::default)
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    if let Some(binary) = opened.get(&version) {
        return Some(Arc::clone(binary));
    }
    let binary = Arc::new(Binary::open(path).ok()?);
    opened.insert(version, Arc::clone(&binary));
    Some(binary)
}

fn open(module: &Module) -> Opened {
    match shared(&module.path) {
        Some(binary) if binary.build_id().unwrap_or_default() == module.build_id => {
            Opened::There(binary)
        }
        Some(_) => Opened::Changed,
        None => Opened::Gone,
    }
}

/// What the places of a recording do to locks that are made of atomics.
pub fn roles(tables: &Tables) -> Roles {
    let binaries = Binaries::of(tables);
    let known = Mutex::new(HashMap::new());
    Roles::new(move |pc| {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(pc).or_insert_with(|| {
            let frames = binaries.frames(pc);
            match frames.is_empty() {
                true => Role::None,
                false => Role::of_functions(frames.iter().filter_map(|f| f.function.as_deref())),
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_opened_once_as_long_as_it_stays_as_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("program");
        let itself = std::env::current_exe().expect("this program");
        fs::copy(&itself, &path).expect("a copy");
        let first = shared(&path).expect("a program");
        assert!(Arc::ptr_eq(&first, &shared(&path).expect("a program")));
        let other = folder.path().join("other");
        fs::copy(&itself, &other).expect("a copy");
        fs::rename(&other, &path).expect("it is replaced");
        assert!(!Arc::ptr_eq(&first, &shared(&path).expect("a program")));
        fs::remove_file(&path).expect("it is gone");
        assert!(shared(&path).is_none());
    }
}
