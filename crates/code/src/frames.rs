//! From addresses to functions, files and lines.
//!
//! Debug information is taken from the file itself or, if it has none, from the file that
//! distributions put under `/usr/lib/debug` by build id. Without either, the symbol table names
//! functions.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::Loader;
use object::{Object, ObjectSymbol, SymbolKind};

use crate::Binary;

/// A function at an address, and where in its source the address lies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The function's name as its programmer wrote it, if it is known.
    pub function: Option<Arc<str>>,
    /// The source file.
    pub file: Option<Arc<str>>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    pub column: Option<u32>,
    /// Whether the function was inlined into the frame that follows.
    pub inlined: bool,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.function.as_deref().unwrap_or("??"))?;
        if let Some(file) = &self.file {
            write!(f, " {file}")?;
            if let Some(line) = self.line {
                write!(f, ":{line}")?;
            }
        }
        Ok(())
    }
}

/// Looks places up, and remembers them.
pub(crate) struct Frames {
    debug: Option<Loader>,
    symbols: Vec<Symbol>,
    known: HashMap<u64, Vec<Frame>>,
    texts: HashMap<String, Arc<str>>,
}

struct Symbol {
    start: u64,
    end: u64,
    name: String,
}

impl Frames {
    pub fn of(binary: &Binary) -> Frames {
        let separate = binary.build_id().and_then(separate_debug_file);
        let has_lines = object::File::parse(binary.data())
            .is_ok_and(|object| object.section_by_name(".debug_line").is_some());
        let debug = match (has_lines, &separate) {
            (false, Some(path)) => Loader::new(path).ok(),
            _ => None,
        };
        let debug = debug.or_else(|| Loader::new(binary.path()).ok());
        Frames {
            debug,
            symbols: symbols(binary.data()),
            known: HashMap::new(),
            texts: HashMap::new(),
        }
    }

    pub fn at(&mut self, address: u64) -> Vec<Frame> {
        if let Some(frames) = self.known.get(&address) {
            return frames.clone();
        }
        let frames = self.look_up(address);
        self.known.insert(address, frames.clone());
        frames
    }

    fn look_up(&mut self, address: u64) -> Vec<Frame> {
        let mut found = Vec::new();
        // The lookup adds 1 to the address.
        if let Some(debug) = self.debug.as_ref().filter(|_| address < u64::MAX)
            && let Ok(mut frames) = debug.find_frames(address)
        {
            while let Ok(Some(frame)) = frames.next() {
                let location = frame.location.as_ref();
                let name = frame.function.as_ref().and_then(|f| f.raw_name().ok());
                let name = name.map(|name| demangled(&name));
                let file = location.and_then(|location| location.file);
                let known = |number: &u32| *number > 0;
                found.push(Frame {
                    function: name.map(|name| text(&mut self.texts, &name)),
                    file: file.map(|file| text(&mut self.texts, file)),
                    line: location.and_then(|location| location.line).filter(known),
                    column: location.and_then(|location| location.column).filter(known),
                    inlined: true,
                });
            }
        }
        let symbol = self.symbol(address).map(str::to_owned);
        match found.last_mut() {
            Some(outermost) => {
                outermost.inlined = false;
                if outermost.function.is_none() {
                    outermost.function =
                        symbol.map(|name| text(&mut self.texts, &demangled(&name)));
                }
            }
            None => found.extend(symbol.map(|name| Frame {
                function: Some(text(&mut self.texts, &demangled(&name))),
                file: None,
                line: None,
                column: None,
                inlined: false,
            })),
        }
        found
    }

    /// The function of the symbol table that an address lies in.
    fn symbol(&self, address: u64) -> Option<&str> {
        let after = self
            .symbols
            .partition_point(|symbol| symbol.start <= address);
        let symbol = &self.symbols[after.checked_sub(1)?];
        if address < symbol.end {
            return Some(&symbol.name);
        }
        // A stripped program whose debug file has the symbols.
        self.debug.as_ref()?.find_symbol(address)
    }
}

/// Each text once: a program has few files and many places.
fn text(texts: &mut HashMap<String, Arc<str>>, content: &str) -> Arc<str> {
    if let Some(known) = texts.get(content) {
        return known.clone();
    }
    let made: Arc<str> = content.into();
    texts.insert(content.to_owned(), made.clone());
    made
}

/// A name as its programmer wrote it; names that nobody mangled stay as they are.
pub fn demangled(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
    if name.starts_with("_Z")
        && let Ok(symbol) = cpp_demangle::Symbol::new(name)
        && let Ok(readable) = symbol.demangle()
    {
        return readable;
    }
    name.to_owned()
}

fn symbols(data: &[u8]) -> Vec<Symbol> {
    let Ok(object) = object::File::parse(data) else {
        return Vec::new();
    };
    let mut symbols = Vec::new();
    for symbol in object.symbols().chain(object.dynamic_symbols()) {
        let (start, size) = (symbol.address(), symbol.size());
        if symbol.kind() != SymbolKind::Text || symbol.is_undefined() || size == 0 {
            continue;
        }
        if let Ok(name) = symbol.name() {
            symbols.push(Symbol {
                start,
                end: start.saturating_add(size),
                name: name.to_owned(),
            });
        }
    }
    symbols.sort_by(|a, b| (a.start, a.end, &a.name).cmp(&(b.start, b.end, &b.name)));
    symbols.dedup_by_key(|symbol| symbol.start);
    symbols
}

fn separate_debug_file(build_id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = build_id.split_first()?;
    let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
    let path = format!("/usr/lib/debug/.build-id/{first:02x}/{rest}.debug");
    let path = Path::new(&path);
    path.is_file().then(|| path.to_owned())
}
