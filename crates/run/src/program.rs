//! Can this program be recorded? Asked before it is started, so that the answer is a sentence
//! and not an empty trace.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use deadheat_build::compiler::is_executable;
use deadheat_session::error::{Error, Result};
use object::elf;
use object::read::elf::{Dyn, ElfFile64, ProgramHeader};
use object::{Endianness, Object, ObjectSymbol, ReadCache, ReadRef};

/// What the linked runtime is recognised by.
const MARK: &str = "__deadheat_runtime";

/// A program that can be started.
#[derive(Clone, Debug)]
pub struct Program {
    /// Where it is, as an absolute path.
    pub path: PathBuf,
    /// How it records.
    pub kind: Kind,
    /// The linker's build id.
    pub build_id: Option<String>,
}

/// How a program records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It has our runtime in it.
    Linked,
    /// It loads gcc's runtime, whose place ours can take.
    LoadsTsan,
    /// It is a script: whatever it starts may record.
    Script,
}

impl Program {
    /// Finds a program, by path or on `PATH`, and looks at it.
    pub fn find(name: &OsStr) -> Result<Self> {
        let path = locate(name)?;
        let absolute = std::path::absolute(&path).unwrap_or_else(|_| path.clone());
        inspect(&absolute, &name.to_string_lossy())
    }
}

fn locate(name: &OsStr) -> Result<PathBuf> {
    let given = Path::new(name);
    let shown = given.display();
    if given.components().count() > 1 || given.is_absolute() {
        return Ok(given.to_owned());
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(given));
    if let Some(path) = found.into_iter().find(|path| is_executable(path)) {
        return Ok(path);
    }
    let error = Error::not_started(format!("program not found: {shown}"));
    Err(if given.is_file() {
        error.help(format!("for the one in this folder write ./{shown}"))
    } else {
        error.help("name it by its path, such as ./prog")
    })
}

fn inspect(path: &Path, shown: &str) -> Result<Program> {
    let data = path.metadata().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::not_started(format!("program not found: {shown}"))
            .help("check the path; was it built?"),
        _ => Error::not_started(format!("cannot read {shown}: {error}")),
    })?;
    if data.is_dir() {
        return Err(Error::not_started(format!(
            "{shown} is a folder, not a program"
        )));
    }
    if !is_executable(path) {
        return Err(Error::not_started(format!("{shown} is not executable"))
            .help(format!("if it is a program: chmod +x {shown}")));
    }
    let unreadable = |error: io::Error| Error::not_started(format!("cannot read {shown}: {error}"));
    let mut file = File::open(path).map_err(unreadable)?;
    let mut head = Vec::new();
    file.by_ref()
        .take(20)
        .read_to_end(&mut head)
        .map_err(unreadable)?;
    if head.starts_with(b"#!") {
        return Ok(Program {
            path: path.into(),
            kind: Kind::Script,
            build_id: None,
        });
    }
    check_head(&head, shown)?;
    let cache = ReadCache::new(file);
    let (kind, build_id) = look_inside(&cache, shown)?;
    Ok(Program {
        path: path.into(),
        kind,
        build_id,
    })
}

/// Format, width and machine.
fn check_head(head: &[u8], shown: &str) -> Result<()> {
    if !head.starts_with(&elf::ELFMAG) {
        return Err(Error::not_started(format!(
            "{shown} is neither a program in ELF format nor a script"
        ))
        .help("Deadheat records Linux programs that are built with deadheat cc or deadheat c++"));
    }
    if head.get(4) == Some(&elf::ELFCLASS32.0) {
        return Err(Error::not_started(format!("{shown} is a 32-bit program"))
            .note("Deadheat supports x86-64 programs only.")
            .help("build it without -m32"));
    }
    let machine = head.get(18..20).map(|m| u16::from_le_bytes([m[0], m[1]]));
    if machine != Some(elf::EM_X86_64.0) {
        return Err(
            Error::not_started(format!("{shown} is not for this kind of machine"))
                .note("Deadheat supports x86-64 programs only."),
        );
    }
    Ok(())
}

fn look_inside<'data>(data: impl ReadRef<'data>, shown: &str) -> Result<(Kind, Option<String>)> {
    let damaged = |error: object::Error| {
        Error::not_started(format!("{shown} is damaged: {error}")).help("build it again")
    };
    let file: ElfFile64<'data, Endianness, _> = ElfFile64::parse(data).map_err(damaged)?;
    let endian = file.endian();
    let segments = file.elf_program_headers();
    if !segments.iter().any(|s| s.p_type(endian) == elf::PT_INTERP) {
        return Err(Error::not_started(format!("{shown} is statically linked"))
            .note("Deadheat's runtime stands between the program and a shared C library.")
            .help("link it without -static, with deadheat cc or deadheat c++"));
    }
    let build_id = file.build_id().map_err(damaged)?.map(|id| {
        id.iter()
            .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
    });
    let defines = |name: &str| {
        let mut symbols = file.dynamic_symbols().chain(file.symbols());
        symbols.any(|symbol| symbol.is_definition() && symbol.name() == Ok(name))
    };
    if defines(MARK) {
        return Ok((Kind::Linked, build_id));
    }
    if needed(&file)
        .iter()
        .any(|name| name.starts_with("libtsan.so"))
    {
        return Ok((Kind::LoadsTsan, build_id));
    }
    let rebuild = "build it with Deadheat: deadheat build -- make\n\
                   or CC=\"deadheat cc\" CXX=\"deadheat c++\" make";
    if defines("__tsan_init") {
        return Err(Error::not_started(format!(
            "{shown} has another ThreadSanitizer runtime in it"
        ))
        .note("It was linked with clang's -fsanitize=thread.")
        .help(rebuild));
    }
    Err(
        Error::not_started(format!("{shown} was not built with Deadheat"))
            .note("It is not instrumented: there would be nothing to record.")
            .help(rebuild),
    )
}

/// The libraries that it asks for.
fn needed<'data, R: ReadRef<'data>>(file: &ElfFile64<'data, Endianness, R>) -> Vec<String> {
    let endian = file.endian();
    let sections = file.elf_section_table();
    let Ok(Some((entries, link))) = sections.dynamic(endian, file.data()) else {
        return Vec::new();
    };
    let Ok(strings) = sections.strings(endian, file.data(), link) else {
        return Vec::new();
    };
    entries
        .iter()
        .filter(|entry| entry.tag(endian) == elf::DT_NEEDED)
        .filter_map(|entry| entry.string(endian, strings).ok())
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect()
}

#[cfg(test)]
#[path = "program_tests.rs"]
mod tests;
