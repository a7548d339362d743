//! A program or library: its file, its build id, and the places in its source.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use memmap2::Mmap;
use object::{Architecture, Object, ObjectKind, ObjectSymbol, SymbolKind};

use crate::Error;
use crate::arch::X86_64;
use crate::frames::{Frame, Frames};
use crate::image::Image;
use crate::variables::{Variable, Variables};

/// An ELF file for x86-64, mapped into memory.
///
/// Addresses are addresses in the file: those of symbols and sections, before a loader moves
/// them.
pub struct Binary {
    path: PathBuf,
    data: Mmap,
    build_id: Vec<u8>,
    frames: OnceLock<Box<Mutex<Frames>>>,
    variables: OnceLock<Box<Variables>>,
    hooked: OnceLock<Vec<(u64, u64)>>,
}

impl Binary {
    /// Opens a program or library. Debug information is not looked at before it is needed.
    ///
    /// ```no_run
    /// let binary = deadheat_code::Binary::open("/usr/bin/true".as_ref())?;
    /// for frame in binary.frames(0x1234) {
    ///     println!("{frame}");
    /// }
    /// # Ok::<(), deadheat_code::Error>(())
    /// ```
    pub fn open(path: &Path) -> Result<Binary, Error> {
        let unreadable = |source| Error::Unreadable {
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(unreadable)?;
        // SAFETY: a map of a file changes when others write to the file. Compilers and linkers
        // replace programs rather than write into them, and the kernel refuses writes to those
        // that run; should it happen all the same, everything here treats the bytes as input
        // that may be malformed.
        let data = unsafe { Mmap::map(&file) }.map_err(unreadable)?;
        let malformed = |error: object::Error| Error::Malformed {
            path: path.to_owned(),
            reason: error.to_string(),
        };
        let object = object::File::parse(&*data).map_err(malformed)?;
        if object.architecture() != Architecture::X86_64 || object.kind() == ObjectKind::Unknown {
            return Err(Error::OtherMachine {
                path: path.to_owned(),
                machine: format!("{:?}", object.architecture()),
            });
        }
        let build_id = object.build_id().ok().flatten().unwrap_or_default();
        let build_id = build_id.to_owned();
        Ok(Binary {
            path: path.to_owned(),
            data,
            build_id,
            frames: OnceLock::new(),
            variables: OnceLock::new(),
            hooked: OnceLock::new(),
        })
    }

    /// Where it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The linker's build id, if there is one.
    pub fn build_id(&self) -> Option<&[u8]> {
        (!self.build_id.is_empty()).then_some(&*self.build_id)
    }

    /// The file's contents.
    pub(crate) fn data(&self) -> &[u8] {
        &self.data
    }

    /// The place of an address, innermost function first: the functions that were inlined there,
    /// then the one that they were inlined into. Empty if nothing is known.
    ///
    /// The program counters of events are return addresses; their place is that of
    /// `address - 1`.
    pub fn frames(&self, address: u64) -> Vec<Frame> {
        let frames = self
            .frames
            .get_or_init(|| Box::new(Mutex::new(Frames::of(self))));
        let mut frames = frames.lock().unwrap_or_else(PoisonError::into_inner);
        frames.at(address)
    }

    /// Where its functions with hooks start and end, in ascending order: what such a function does is
    /// seen.
    pub fn hooked(&self) -> &[(u64, u64)] {
        self.hooked.get_or_init(|| {
            if !self.names_hooks() {
                return Vec::new();
            }
            let mut architecture = X86_64::default();
            Image::of(&self.data, &mut architecture).hooked(&mut architecture)
        })
    }

    /// Whether it names a hook at all: most libraries do not.
    fn names_hooks(&self) -> bool {
        let Ok(object) = object::File::parse(&*self.data) else {
            return false;
        };
        let mut symbols = object.symbols().chain(object.dynamic_symbols());
        symbols.any(|symbol| {
            let name = symbol.name_bytes();
            name.is_ok_and(|name| name.starts_with(b"__tsan_"))
        })
    }

    /// Which of these functions it has from libraries.
    pub fn imported<'a>(&self, names: &[&'a str]) -> Vec<&'a str> {
        let Ok(object) = object::File::parse(&*self.data) else {
            return Vec::new();
        };
        let imported = |name: &&&str| {
            let mut symbols = object.dynamic_symbols();
            symbols.any(|symbol| symbol.is_undefined() && symbol.name() == Ok(**name))
        };
        names.iter().filter(imported).copied().collect()
    }

    /// The name that the linker knows the function at an address by, if it has one. Debug information is not asked.
    pub fn symbol(&self, address: u64) -> Option<String> {
        let object = object::File::parse(&*self.data).ok()?;
        let mut symbols = object.symbols().chain(object.dynamic_symbols());
        let symbol = symbols.find(|symbol| {
            let inside = address.wrapping_sub(symbol.address()) < symbol.size();
            inside && symbol.kind() == SymbolKind::Text
        })?;
        Some(symbol.name().ok()?.to_owned())
    }

    /// Whether an address lies in a function with hooks.
    pub fn has_hooks(&self, address: u64) -> bool {
        let hooked = self.hooked();
        let after = hooked.partition_point(|(start, _)| *start <= address);
        let function = after.checked_sub(1).and_then(|at| hooked.get(at));
        function.is_some_and(|(_, end)| address < *end)
    }

    /// The global variable that an address lies in, if it is known.
    pub fn variable(&self, address: u64) -> Option<Variable> {
        let variables = self.variables.get_or_init(|| Box::new(Variables::of(self)));
        variables.at(address)
    }
}

impl std::fmt::Debug for Binary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Binary").field("path", &self.path).finish()
    }
}
