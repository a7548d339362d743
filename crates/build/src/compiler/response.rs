//! Response files: arguments that stand in a file, `@file`.
//!
//! They are read here because what stands in them decides how to call the compiler. Where the
//! arguments are too many for a command line they are handed on the same way, in a file that
//! exists in memory only.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// How deep response files may name others.
const MAX_DEPTH: usize = 16;

/// Above this many bytes the arguments go into a file.
const MAX_BYTES: usize = 96 * 1024;

/// The arguments with every readable `@file` replaced by its contents. Like the compilers, an
/// `@file` that cannot be read is left as it is.
pub fn expand(args: Vec<OsString>) -> Vec<OsString> {
    expand_to(args, 0)
}

fn expand_to(args: Vec<OsString>, depth: usize) -> Vec<OsString> {
    let mut out = Vec::with_capacity(args.len());
    for arg in args {
        let contents = match arg.as_bytes().strip_prefix(b"@") {
            Some(name) if depth < MAX_DEPTH => std::fs::read(OsStr::from_bytes(name)).ok(),
            _ => None,
        };
        match contents {
            Some(text) => out.extend(expand_to(split(&text), depth + 1)),
            None => out.push(arg),
        }
    }
    out
}

/// The words of a response file: apart by white space, with quotes and backslashes as in gcc.
pub fn split(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_default().extend(bytes.next()),
            (_, Some(open)) if byte == open => quote = None,
            (_, Some(_)) => word.get_or_insert_default().push(byte),
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (_, None) if byte.is_ascii_whitespace() => words.extend(word.take()),
            (_, None) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

/// The inverse of [`split`].
fn quoted(args: &[OsString]) -> Vec<u8> {
    let mut text = Vec::new();
    for arg in args {
        text.push(b'"');
        for &byte in arg.as_bytes() {
            if matches!(byte, b'"' | b'\\') {
                text.push(b'\\');
            }
            text.push(byte);
        }
        text.extend(b"\"\n");
    }
    text
}

/// The arguments as they are, or where they are too many, one `@file` that lives as long as
/// this process and what it becomes.
pub fn shorten(args: Vec<OsString>) -> Vec<OsString> {
    if args.iter().map(|arg| arg.len() + 1).sum::<usize>() <= MAX_BYTES {
        return args;
    }
    match in_memory(&quoted(&args)) {
        Ok(file) => vec![format!("@/proc/self/fd/{}", file.into_raw_fd()).into()],
        Err(_) => args, // then the kernel decides whether they fit
    }
}

/// A file in memory that the next program inherits.
fn in_memory(contents: &[u8]) -> std::io::Result<File> {
    // SAFETY: the name is a C string; the call has no other requirement. Without the flag
    // MFD_CLOEXEC the file stays open in the program that this process becomes.
    let fd = unsafe { libc::memfd_create(c"deadheat-arguments".as_ptr(), 0) };
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the call above has just opened this descriptor and nothing else knows it.
    let mut file = unsafe { File::from_raw_fd(fd) };
    debug_assert!(file.as_raw_fd() > 2);
    file.write_all(contents)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        split(text.as_bytes())
    }

    #[test]
    fn words_are_split_as_gcc_splits_them() {
        assert_eq!(words("-c  a.c\n-o\ta.o\n"), ["-c", "a.c", "-o", "a.o"]);
        assert_eq!(
            words(r#""a b" 'c "d"' e\ f """#),
            ["a b", "c \"d\"", "e f", ""]
        );
        assert_eq!(words(r#"-DX=\"y\""#), ["-DX=\"y\""]);
        assert!(words(" \n").is_empty());
    }

    #[test]
    fn quoting_is_undone_by_splitting() {
        let args: Vec<OsString> = ["-DX=\"a b\"", "c\\d", "", "plain", "line\nbreak"]
            .map(OsString::from)
            .into();
        assert_eq!(split(&quoted(&args)), args);
    }

    #[test]
    fn files_are_read_and_missing_ones_left() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        let outer = folder.path().join("outer");
        std::fs::write(&inner, "b.c").unwrap();
        std::fs::write(&outer, format!("-c @{}", inner.display())).unwrap();
        let mut at = OsString::from("@");
        at.push(&outer);
        let args = expand(vec![at, "@no-such-file".into()]);
        assert_eq!(args, ["-c", "b.c", "@no-such-file"]);
    }

    #[test]
    fn a_file_that_names_itself_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loop");
        std::fs::write(&path, format!("-g @{}", path.display())).unwrap();
        let mut at = OsString::from("@");
        at.push(&path);
        assert_eq!(expand(vec![at]).len(), MAX_DEPTH + 1);
    }

    #[test]
    fn many_arguments_become_one() {
        let few = vec![OsString::from("-c")];
        assert_eq!(shorten(few.clone()), few);
        let many: Vec<OsString> = (0..20_000).map(|i| format!("file{i}.o").into()).collect();
        let short = shorten(many.clone());
        assert_eq!(short.len(), 1);
        assert_eq!(expand(short), many);
    }
}
