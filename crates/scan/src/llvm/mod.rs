//! Reading LLVM bitcode into our own representation. Nothing outside of here sees LLVM.
//!
//! Bitcode is read as the compiler wrote it, without optimisation, and linked to one module. Then local variables whose address
//! nobody takes become values (`mem2reg`), and nothing else is changed: optimised code no longer has the accesses of the source text.
//! (Rust's compiler gives its local variables types that `mem2reg` does not know what to do with: there it is `sroa`.)
//! Of programs in C++ and Rust, what the standard library is made of is put into its callers: see [`inline`].

mod debug;
mod fatal;
mod global;
mod inline;
mod lower;
mod module;
mod newer;
mod node;
mod producer;
mod suitable;
mod types;
mod value;

use std::path::PathBuf;

use crate::{Error, ir};
use module::{Context, Module};

/// The program in these files of bitcode (`.bc`) or of LLVM's text (`.ll`).
///
/// ```no_run
/// let program = deadheat_scan::llvm::read(&["account.bc".into(), "main.bc".into()])?;
/// println!("{} functions", program.functions.len());
/// # Ok::<(), deadheat_scan::Error>(())
/// ```
pub fn read(paths: &[PathBuf]) -> Result<ir::Program, Error> {
    read_with(paths, &|_| true)
}

/// The same for analyses that know what some functions mean: others that came with the compiler, in headers or as generic code, become part of
/// their callers. `is_known` is told the linker's name of a function.
///
/// # Errors
/// As for [`read`].
pub fn read_with(paths: &[PathBuf], is_known: &dyn Fn(&str) -> bool) -> Result<ir::Program, Error> {
    let context = Context::new();
    let mut whole: Option<Module> = None;
    let mut notes = Vec::new();
    for path in paths {
        let module = Module::read(&context, path)?;
        notes.extend(suitable::check(&module, path)?);
        match &mut whole {
            Some(whole) => whole.link(module, path)?,
            None => whole = Some(module),
        }
    }
    let mut whole = whole.ok_or(Error::NoInput)?;
    let has_inlined = inline::foreign(&whole, is_known);
    whole.promote_locals(has_inlined)?;
    let mut program = lower::program(&whole);
    notes.append(&mut program.unread);
    program.unread = notes;
    Ok(program)
}
