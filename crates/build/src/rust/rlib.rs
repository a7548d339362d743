//! A library that comes with the compiler: what it defines, and a copy of it in which some
//! functions have other names.

use std::path::PathBuf;

use deadheat_session::error::{Error, Result};
use object::elf;
use object::read::archive::ArchiveFile;
use object::read::elf::{ElfFile64, Sym};
use object::{Endianness, Object, ObjectSymbol, SymbolKind};

use super::toolchain::{TARGET, Toolchain};

/// A library, read.
pub struct Rlib {
    path: PathBuf,
    /// The one object in it.
    object: Vec<u8>,
}

/// The name of a function in the copy: as long as the old one, so that it fits in its place.
pub fn renamed(symbol: &str) -> String {
    symbol.replacen("_R", "_D", 1)
}

impl Rlib {
    /// The compiler's library whose file's name starts like this.
    pub fn find(toolchain: &Toolchain, prefix: &str) -> Result<Self> {
        let folder = toolchain.libraries()?;
        let entries = folder.read_dir().into_iter().flatten().flatten();
        let is_it = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            name.is_some_and(|name| name.starts_with(prefix) && name.ends_with(".rlib"))
        };
        let Some(path) = entries.map(|entry| entry.path()).find(is_it) else {
            return Err(
                Error::not_started(format!("no {prefix}*.rlib in {}", folder.display()))
                    .help(format!("rustup target add {TARGET}")),
            );
        };
        let bytes = std::fs::read(&path);
        let unreadable = |reason: &str| unreadable(&path, reason);
        let bytes = bytes.map_err(|error| unreadable(&error.to_string()))?;
        let objects = objects(&bytes).map_err(|error| unreadable(&error.to_string()))?;
        match <[Vec<u8>; 1]>::try_from(objects) {
            Ok([object]) => Ok(Rlib { path, object }),
            Err(several) => Err(unreadable(&format!("{} objects in it", several.len()))),
        }
    }

    /// An object by itself.
    pub fn object(path: PathBuf) -> Result<Self> {
        let object = std::fs::read(&path);
        let object = object.map_err(|error| unreadable(&path, &error.to_string()))?;
        Ok(Rlib { path, object })
    }

    fn parse(&self) -> Result<ElfFile64<'_, Endianness>> {
        ElfFile64::parse(&*self.object).map_err(|error| self.unreadable(&error))
    }

    fn unreadable(&self, error: &object::Error) -> Error {
        unreadable(&self.path, &error.to_string())
    }

    /// The functions that it defines, by their paths, with their symbols.
    pub fn functions(&self) -> Result<Vec<(String, String)>> {
        let mut all = Vec::new();
        for symbol in self.parse()?.symbols() {
            if symbol.is_definition() && symbol.is_global() && symbol.kind() == SymbolKind::Text {
                let name = symbol.name().map_err(|error| self.unreadable(&error))?;
                let path = format!("{:#}", rustc_demangle::demangle(name));
                all.push((path.replace(['<', '>'], ""), name.to_owned()));
            }
        }
        Ok(all)
    }

    /// The symbol of the function with this path.
    pub fn function(&self, path: &str) -> Result<Option<String>> {
        let mut all = self.functions()?.into_iter();
        Ok(all.find(|(its, _)| its == path).map(|(_, symbol)| symbol))
    }

    /// Its object, with these functions renamed: where it defines them and where it calls them.
    pub fn renamed(&self, symbols: &[&str]) -> Result<Vec<u8>> {
        let file = self.parse()?;
        let table = file.elf_symbol_table();
        let strings = table.strings();
        let mut places = Vec::new();
        for symbol in table.iter() {
            let name = symbol.name(file.endian(), strings);
            let name = name.map_err(|error| self.unreadable(&error))?;
            let is_wanted = symbols.iter().any(|wanted| wanted.as_bytes() == name);
            if is_wanted && symbol.st_bind() != elf::STB_LOCAL {
                places.push(name.as_ptr() as usize - self.object.as_ptr() as usize);
            }
        }
        let mut object = self.object.clone();
        for at in places {
            debug_assert_eq!(&object[at..at + 2], b"_R");
            object[at + 1] = b'D';
        }
        Ok(object)
    }
}

/// The objects in an archive.
fn objects(archive: &[u8]) -> Result<Vec<Vec<u8>>, object::Error> {
    let mut all = Vec::new();
    for member in ArchiveFile::parse(archive)?.members() {
        let data = member?.data(archive)?;
        // The compiler's own notes are in an object, too, but not in one with code.
        if ElfFile64::<Endianness>::parse(data).is_ok_and(|file| file.symbols().count() > 1) {
            all.push(data.to_vec());
        }
    }
    Ok(all)
}

fn unreadable(path: &std::path::Path, reason: &str) -> Error {
    Error::not_started(format!("cannot use {}: {reason}", path.display()))
        .note("It is not as in the versions of Rust that are known.")
        .help("use another toolchain, such as 1.95: rustup default 1.95")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_and_renamed() {
        let toolchain = Toolchain::of("rustc".as_ref(), None).unwrap();
        let library = Rlib::find(&toolchain, "libstd-").unwrap();
        let functions = library.functions().unwrap();
        let park = |functions: &[(String, String)]| {
            let is_park = |(path, _): &&(String, String)| path == "std::thread::functions::park";
            functions
                .iter()
                .find(is_park)
                .map(|(_, symbol)| symbol.clone())
        };
        let symbol = park(&functions).unwrap();
        let other = Rlib {
            path: library.path.clone(),
            object: library.renamed(&[&symbol]).unwrap(),
        };
        let functions = other.functions().unwrap();
        assert_eq!(park(&functions), None);
        assert!(functions.iter().any(|(_, name)| *name == renamed(&symbol)));
        let changed = library.object.iter().zip(&other.object);
        assert_eq!(changed.filter(|(a, b)| a != b).count(), 1);
    }

    #[test]
    fn a_library_that_is_missing_is_told() {
        let toolchain = Toolchain::of("rustc".as_ref(), None).unwrap();
        let error = Rlib::find(&toolchain, "libnothere-").err().unwrap();
        assert!(error.to_string().starts_with("no libnothere-*.rlib in "));
    }
}
