//! LLVM's contexts and modules: reading, linking and preparing bitcode.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;

use llvm_sys::LLVMAttributeFunctionIndex;
use llvm_sys::LLVMDiagnosticSeverity::LLVMDSError;
use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use llvm_sys::core::*;
use llvm_sys::error::LLVMGetErrorMessage;
use llvm_sys::ir_reader::LLVMParseIRInContext;
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::prelude::*;
use llvm_sys::target::LLVMGetModuleDataLayout;
use llvm_sys::transforms::pass_builder::*;

use super::node::Node;
use super::producer::producer;
use super::types::Sizes;
use super::value::{Value, text};
use super::{fatal, newer};
use crate::Error;

/// Where modules live. One thread's own.
pub(super) struct Context {
    raw: LLVMContextRef,
    /// What LLVM complained about. Its address is known to LLVM.
    complaints: Box<RefCell<Vec<String>>>,
}

impl Context {
    pub(super) fn new() -> Self {
        fatal::explain();
        let complaints: Box<RefCell<Vec<String>>> = Box::default();
        let address: *const RefCell<Vec<String>> = &*complaints;
        // SAFETY: the box keeps its contents where they are until the context is gone, which drops first.
        let raw = unsafe {
            let raw = LLVMContextCreate();
            LLVMContextSetDiagnosticHandler(raw, Some(complain), address.cast_mut().cast());
            raw
        };
        Context { raw, complaints }
    }

    fn take_complaints(&self) -> String {
        self.complaints.take().join("; ")
    }

    /// The number of the kind of metadata that attaches debug information.
    pub(super) fn debug_kind(&self) -> u32 {
        // SAFETY: the name has three letters.
        unsafe { LLVMGetMDKindIDInContext(self.raw, c"dbg".as_ptr(), 3) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: modules borrow the context, so all of them are gone.
        unsafe { LLVMContextDispose(self.raw) }
    }
}

/// Notes what LLVM complains about; without it LLVM would end the process.
extern "C" fn complain(about: LLVMDiagnosticInfoRef, into: *mut c_void) {
    // SAFETY: `into` is the list of the context, which is alive; nobody holds a borrow while LLVM runs.
    unsafe {
        if LLVMGetDiagInfoSeverity(about) == LLVMDSError {
            let complaints = &*into.cast::<RefCell<Vec<String>>>();
            let message = owned_text(LLVMGetDiagInfoDescription(about));
            complaints.borrow_mut().push(message);
        }
    }
}

/// A text of LLVM's that is ours to free.
///
/// # Safety
/// The pointer is null, or came from LLVM as a message to be disposed of.
pub(super) unsafe fn owned_text(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: LLVM's messages end with a zero; it is freed once, here.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

/// What the kernel calls when it loads and unloads a module.
const KERNEL_ENTRIES: [&str; 2] = ["init_module", "cleanup_module"];

/// A module.
pub(super) struct Module<'c> {
    raw: LLVMModuleRef,
    context: &'c Context,
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: values borrow the module, so none of them is left.
        unsafe { LLVMDisposeModule(self.raw) }
    }
}

impl<'c> Module<'c> {
    /// The module in a file, as bitcode or as text.
    pub(super) fn read(context: &'c Context, path: &Path) -> Result<Self, Error> {
        let data = std::fs::read(path).map_err(|source| {
            let path = path.to_owned();
            Error::Unreadable { path, source }
        })?;
        if data.is_empty() {
            let (path, message) = (path.to_owned(), "the file is empty".to_owned());
            return Err(Error::NotBitcode { path, message });
        }
        let mut module = Module::parse(context, path, &data);
        // Only a newer LLVM's text can be helped.
        if module.is_err()
            && let Ok(text) = std::str::from_utf8(&data)
            && let Ok(helped) = Module::parse(context, path, newer::readable(text).as_bytes())
        {
            module = Ok(helped);
        }
        let module = module?;
        module.verify(path)?;
        // SAFETY: the module is valid; both forms say the same, and only the old one can be read from C.
        unsafe { LLVMSetIsNewDbgInfoFormat(module.raw, 0) };
        Ok(module)
    }

    fn parse(context: &'c Context, path: &Path, data: &[u8]) -> Result<Self, Error> {
        let name = CString::new(path.to_string_lossy().as_bytes()).unwrap_or_default();
        let mut raw = std::ptr::null_mut();
        let mut message = std::ptr::null_mut();
        // SAFETY: LLVM copies the data and adds the zero that its parser wants; parsing takes the copy over.
        let (failed, message) = unsafe {
            let start = data.as_ptr().cast();
            let copy = LLVMCreateMemoryBufferWithMemoryRangeCopy(start, data.len(), name.as_ptr());
            let failed = LLVMParseIRInContext(context.raw, copy, &mut raw, &mut message);
            (failed != 0, owned_text(message))
        };
        if failed || raw.is_null() {
            let said = [message, context.take_complaints()];
            let message = said.join(" ").trim().replace('\n', " ");
            return Err(unparsed(path, data, message));
        }
        Ok(Module { raw, context })
    }

    fn verify(&self, path: &Path) -> Result<(), Error> {
        let mut message = std::ptr::null_mut();
        let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
        // SAFETY: the module is valid as an object; whether its contents are is what is asked.
        let (failed, message) = unsafe {
            let failed = LLVMVerifyModule(self.raw, action, &mut message);
            (failed != 0, owned_text(message))
        };
        // Debug information that is broken is dropped with a complaint, but not an error.
        self.context.take_complaints();
        if failed {
            let path = path.to_owned();
            return Err(Error::Broken { path, message });
        }
        Ok(())
    }

    /// Adds another module, which stands in this file.
    pub(super) fn link(&mut self, other: Module<'c>, path: &Path) -> Result<(), Error> {
        other.rename_entries(&path.display().to_string());
        // SAFETY: both modules are of one context; LLVM takes the other one over, whatever comes of it.
        let failed = unsafe {
            let other = std::mem::ManuallyDrop::new(other);
            LLVMLinkModules2(self.raw, other.raw) != 0
        };
        let message = self.context.take_complaints();
        if failed {
            let path = path.to_owned();
            return Err(Error::Unlinkable { path, message });
        }
        Ok(())
    }

    /// Modules of the kernel all begin and end with functions of the same names.
    fn rename_entries(&self, suffix: &str) {
        let names = self.functions().into_iter().chain(self.aliases());
        for entry in names.filter(|each| KERNEL_ENTRIES.contains(&each.name().as_str())) {
            let name = format!("{}:{suffix}", entry.name());
            // SAFETY: LLVM copies the name of this length.
            unsafe { LLVMSetValueName2(entry.raw(), name.as_ptr().cast(), name.len()) };
        }
    }

    /// Local variables whose address nobody takes become values; before that, functions that are to be inlined are. Then the flags
    /// of their guards are constants, and what depends on those is decided.
    pub(super) fn promote_locals(&mut self, has_inlined: bool) -> Result<(), Error> {
        let optnone = c"optnone";
        let is_rust = self.is_in(&["DW_LANG_Rust"]);
        let passes = match (has_inlined, is_rust) {
            (true, _) => {
                c"always-inline,function(sroa<preserve-cfg>,sccp,jump-threading,sccp),globaldce"
            }
            (false, true) => c"function(sroa<preserve-cfg>)",
            (false, false) => c"function(mem2reg)",
        };
        // SAFETY: functions of this module, an attribute that LLVM knows by name, and passes and options that live
        // until the passes are through. The error is given to the function that frees it.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(optnone.as_ptr(), optnone.count_bytes());
            for function in self.functions() {
                let raw = function.raw();
                LLVMRemoveEnumAttributeAtIndex(raw, LLVMAttributeFunctionIndex, kind);
            }
            let options = LLVMCreatePassBuilderOptions();
            let error = LLVMRunPasses(self.raw, passes.as_ptr(), std::ptr::null_mut(), options);
            LLVMDisposePassBuilderOptions(options);
            if error.is_null() {
                return Ok(());
            }
            let said = LLVMGetErrorMessage(error);
            let message = CStr::from_ptr(said).to_string_lossy().into_owned();
            llvm_sys::error::LLVMDisposeErrorMessage(said);
            Err(Error::Unprepared { message })
        }
    }

    /// Whether a part of it was written in one of these languages, as the debug information calls them.
    pub(super) fn is_in(&self, languages: &[&str]) -> bool {
        self.units().iter().any(|unit| {
            let unit = unit.printed();
            languages.iter().any(|language| unit.contains(language))
        })
    }

    pub(super) fn functions(&self) -> Vec<Value<'_>> {
        // SAFETY: the module is valid; its list of functions ends with null.
        unsafe {
            list(LLVMGetFirstFunction(self.raw), |each| {
                LLVMGetNextFunction(each)
            })
        }
    }

    pub(super) fn globals(&self) -> Vec<Value<'_>> {
        // SAFETY: the module is valid; its list of variables ends with null.
        unsafe { list(LLVMGetFirstGlobal(self.raw), |each| LLVMGetNextGlobal(each)) }
    }

    /// Other names of functions and variables.
    pub(super) fn aliases(&self) -> Vec<Value<'_>> {
        // SAFETY: the module is valid; its list of other names ends with null.
        unsafe {
            list(LLVMGetFirstGlobalAlias(self.raw), |each| {
                LLVMGetNextGlobalAlias(each)
            })
        }
    }

    /// Functions that are chosen when the program starts.
    pub(super) fn chosen(&self) -> Vec<Value<'_>> {
        // SAFETY: the module is valid; its list of such functions ends with null.
        unsafe {
            list(LLVMGetFirstGlobalIFunc(self.raw), |each| {
                LLVMGetNextGlobalIFunc(each)
            })
        }
    }

    /// The compilation units in the debug information.
    pub(super) fn units(&self) -> Vec<Node<'_>> {
        let name = c"llvm.dbg.cu".as_ptr();
        // SAFETY: the array has room for as many operands as LLVM counts.
        unsafe {
            let count = LLVMGetNamedMetadataNumOperands(self.raw, name);
            let mut units = vec![std::ptr::null_mut(); count as usize];
            LLVMGetNamedMetadataOperands(self.raw, name, units.as_mut_ptr());
            let units = units.into_iter().filter_map(|each| Value::new(each));
            units.filter_map(Value::metadata).collect()
        }
    }

    /// Assembly that stands outside of functions.
    pub(super) fn assembly(&self) -> String {
        let mut length = 0;
        // SAFETY: LLVM tells how long the text is.
        unsafe { text(LLVMGetModuleInlineAsm(self.raw, &mut length), length) }
    }

    pub(super) fn sizes(&self) -> Sizes<'_> {
        // SAFETY: the data layout belongs to the module.
        unsafe { Sizes::new(LLVMGetModuleDataLayout(self.raw)) }
    }

    pub(super) fn context(&self) -> &'c Context {
        self.context
    }
}

/// The values of a list of LLVM's.
///
/// # Safety
/// `first` and what follows it are null at the end and valid before, as long as `'m` lasts.
unsafe fn list<'m>(
    first: LLVMValueRef,
    next: impl Fn(LLVMValueRef) -> LLVMValueRef,
) -> Vec<Value<'m>> {
    let mut values = Vec::new();
    let mut each = first;
    // SAFETY: as the caller promises.
    while let Some(value) = unsafe { Value::new(each) } {
        values.push(value);
        each = next(each);
    }
    values
}

/// Why a file could not be parsed.
fn unparsed(path: &Path, data: &[u8], message: String) -> Error {
    let path = path.to_owned();
    match producer(data) {
        Some(producer) if major(&producer).is_some_and(|major| major > OURS) => {
            Error::OtherVersion { path, producer }
        }
        _ => Error::NotBitcode { path, message },
    }
}

/// The version of LLVM that reads.
const OURS: u32 = 19;

/// The first number in a name like `LLVM19.1.7`.
fn major(version: &str) -> Option<u32> {
    let digits = version.trim_start_matches(|c: char| !c.is_ascii_digit());
    let (major, _) = digits.split_once('.')?;
    major.parse().ok()
}
