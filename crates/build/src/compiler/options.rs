//! What the options of gcc and clang mean to us: which take a separate value, which files are
//! sources, which sanitizers go together.

/// What an input file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Source code in any language that the compiler translates.
    Source,
    /// A header that is to be precompiled.
    Header,
    /// An object, archive, library or linker script.
    Linked,
}

/// Options whose value is the next argument (when it is not joined to them).
const SEPARATE: &[&str] = &[
    "--analyze-options",
    "--include",
    "--param",
    "--serialize-diagnostics",
    "--sysroot",
    "--target",
    "-A",
    "-B",
    "-D",
    "-F",
    "-G",
    "-I",
    "-L",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-T",
    "-Tbss",
    "-Tdata",
    "-Ttext",
    "-U",
    "-Xanalyzer",
    "-Xassembler",
    "-Xclang",
    "-Xlinker",
    "-Xpreprocessor",
    "-arch",
    "-aux-info",
    "-b",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-e",
    "-framework",
    "-gcc-toolchain",
    "-idirafter",
    "-imacros",
    "-imultilib",
    "-include",
    "-include-pch",
    "-index-store-path",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-isystem-after",
    "-ivfsoverlay",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-iwithsysroot",
    "-l",
    "-mllvm",
    "-o",
    "-rpath",
    "-serialize-diagnostics",
    "-soname",
    "-specs",
    "-target",
    "-u",
    "-working-directory",
    "-wrapper",
    "-x",
    "-z",
];

/// Whether the argument after this one is its value.
pub fn takes_value(option: &str) -> bool {
    SEPARATE.binary_search(&option).is_ok()
}

/// What a file is by its name, as both compilers decide it.
pub fn by_name(name: &str) -> Input {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension {
        "c" | "i" | "ii" | "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "cppm" | "ixx"
        | "m" | "mi" | "mm" | "M" | "mii" | "s" | "S" | "sx" | "ll" | "bc" => Input::Source,
        "h" | "H" | "hh" | "hp" | "hxx" | "hpp" | "HPP" | "h++" | "tcc" => Input::Header,
        _ => Input::Linked,
    }
}

/// What a file is by the language of a preceding `-x`; `None` for `-x none`.
pub fn by_language(language: &str) -> Option<Input> {
    match language {
        "none" => None,
        _ if language.ends_with("-header") => Some(Input::Header),
        _ => Some(Input::Source),
    }
}

/// Whether a source file is C++ by its name.
pub fn is_cxx(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    matches!(
        extension,
        "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "ii"
    )
}

/// Whether code built with this sanitizer cannot also be instrumented for threads.
pub fn excludes_threads(sanitizer: &str) -> bool {
    matches!(
        sanitizer,
        "address"
            | "hwaddress"
            | "kernel-address"
            | "kernel-hwaddress"
            | "leak"
            | "memory"
            | "kernel-memory"
            | "dataflow"
            | "memtag"
            | "memtag-stack"
            | "memtag-heap"
            | "realtime"
            | "type"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(SEPARATE.is_sorted());
    }

    #[test]
    fn files_are_told_apart() {
        assert_eq!(by_name("dir.c/a.o"), Input::Linked);
        assert_eq!(by_name("a.C"), Input::Source);
        assert_eq!(by_name("libx.so.6"), Input::Linked);
        assert_eq!(by_name("pch.hpp"), Input::Header);
        assert!(is_cxx("x.cc") && !is_cxx("x.c"));
    }
}
