//! What the names of functions tell of reference counts.
//!
//! A program's destructor would be called from a function whose name has the destructor's type (as
//! `drop_in_place::<prog::Guard>`), or through a pointer to a `dyn` object ([`calls_anything`]), and functions
//! of the program have hooks: that call is an event of a release. So a release in which all functions are the standard library's, for
//! its own types, calls no destructor of the program. Panics are told by their functions, too.

use deadheat_code::Frame;

/// What an atomic operation at a place is to a count.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Role {
    #[default]
    None,
    Up,
    Down,
    /// Down, and the last owner releases.
    Releases,
}

const ARC: &str = "<alloc::sync::Arc<";
pub(super) const DROP: &str = " as core::ops::drop::Drop>::drop";
const CLONE: &str = " as core::clone::Clone>::clone";

fn name(frame: &Frame) -> &str {
    frame.function.as_deref().unwrap_or_default()
}

/// Whether this is a function of `Arc`.
pub(super) fn is_arc(frame: &Frame, function: &str) -> bool {
    let name = name(frame);
    name.starts_with(ARC) && name.ends_with(function)
}

/// What an atomic operation is to a count: by the function that the atomic's own functions are inlined into.
pub(super) fn role(frames: &[Frame]) -> Role {
    let mut callers = frames.iter();
    let mut inside = Vec::new();
    let user = loop {
        match callers.next() {
            Some(frame) if is_atomic(frame) => inside.push(frame),
            Some(frame) => break frame,
            None => return Role::None,
        }
    };
    let does = |function: &str| {
        let mut inside = inside.iter();
        inside.any(|frame| name(frame).ends_with(function))
    };
    let name = name(user);
    let is_weak = name.starts_with("<alloc::sync::Weak<") && name.ends_with(DROP);
    let of_scope = |function: &str| name == format!("deadheat_stdsync::scope::{function}");
    if does("::fetch_add") {
        match is_arc(user, CLONE) || of_scope("increment_num_running_threads") {
            true => Role::Up,
            false => Role::None,
        }
    } else if does("::fetch_sub") {
        match () {
            () if is_arc(user, DROP) => Role::Releases,
            () if is_weak || of_scope("decrement_num_running_threads") => Role::Down,
            () => Role::None,
        }
    } else {
        Role::None
    }
}

/// Whether this is a function of an atomic type.
fn is_atomic(frame: &Frame) -> bool {
    let name = name(frame);
    let name = name.strip_prefix('<').unwrap_or(name);
    name.starts_with("core::sync::atomic::")
}

/// Whether the standard library's own code does something for its own types, and does not unwind.
pub(super) fn is_plain(frame: &Frame) -> bool {
    let name = name(frame);
    is_std(name) && !calls_anything(name) && !unwinds(name)
}

/// Whether a function is the standard library's, for types of the standard library: all paths in its name begin there.
pub(super) fn is_std(name: &str) -> bool {
    let mut has_path = name == "__rust_try";
    let mut rest = name;
    while let Some(start) =
        rest.find(|c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '{'))
    {
        let (before, word) = rest.split_at(start);
        let end = match word.as_bytes()[0] {
            b'{' => word.find('}').map_or(word.len(), |at| at + 1),
            _ => {
                let end = word[1..].find(|c: char| !c.is_alphanumeric() && c != '_');
                end.map_or(word.len(), |at| at + 1)
            }
        };
        let (word, after) = word.split_at(end);
        let is_root = !before.ends_with("::") && after.starts_with("::") && !word.starts_with('{');
        if is_root && !matches!(word, "core" | "alloc" | "std" | "deadheat_stdsync") {
            return false;
        }
        has_path |= is_root;
        // A type of no crate is one of the language's.
        let stands_alone = !before.ends_with("::") && !after.starts_with("::");
        if stands_alone && !is_of_language(word) {
            return false;
        }
        rest = after;
    }
    has_path
}

/// Whether a word is of the language: a type, a keyword, a name of an associated type, a number, a lifetime.
fn is_of_language(word: &str) -> bool {
    let is_number = word.starts_with(|c: char| c.is_ascii_digit());
    let is_marked = word.starts_with(['\'', '{']);
    is_number
        || is_marked
        || matches!(
            word,
            "as" | "dyn"
                | "mut"
                | "const"
                | "for"
                | "bool"
                | "char"
                | "str"
                | "u8"
                | "u16"
                | "u32"
                | "u64"
                | "u128"
                | "usize"
                | "i8"
                | "i16"
                | "i32"
                | "i64"
                | "i128"
                | "isize"
                | "f32"
                | "f64"
                | "Output"
                | "__rust_try"
                | "true"
                | "false"
        )
}

/// Whether a function is about an object of which only a trait is known: it may call anything.
pub(super) fn calls_anything(name: &str) -> bool {
    let name = name.strip_prefix("core::ptr::drop_in_place::<");
    let mut target = name.unwrap_or_default();
    const AROUND: [&str; 6] = [
        "alloc::boxed::Box<",
        "alloc::sync::Arc<",
        "alloc::rc::Rc<",
        "&mut ",
        "&",
        "[",
    ];
    while let Some(inner) = AROUND.iter().find_map(|around| target.strip_prefix(around)) {
        target = inner;
    }
    target.starts_with("dyn ")
}

/// Whether a function is one that panics go through. (That they may be caught says nothing.)
pub(super) fn unwinds(name: &str) -> bool {
    let inside = name.replace("panicking::catch_unwind", "");
    [
        "panicking::",
        "panic_unwind",
        "rust_panic",
        "begin_panic",
        "resume_unwind",
        "_Unwind",
    ]
    .iter()
    .any(|part| inside.contains(part))
}
