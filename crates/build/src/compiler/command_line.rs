//! A compiler's command line, taken apart: what it asks for, argument by argument.

use std::ffi::{OsStr, OsString};

use super::options::{self, Input};

/// How far the compiler is asked to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Until {
    /// `-E`, `-M`, `-MM`.
    Preprocessed,
    /// `-fsyntax-only`, `-S` or `-c`.
    Compiled,
    /// An executable, a shared library or (`-r`) a larger object.
    Linked,
}

/// An argument with the value that belongs to it, if that stands apart.
pub type Item = Vec<OsString>;

/// What a command line says.
#[derive(Debug)]
pub struct CommandLine {
    /// All arguments, each with its value, in order.
    pub items: Vec<Item>,
    /// How far to go.
    pub until: Until,
    /// Whether there is anything to work on; without, it is a question such as `--version`.
    pub has_inputs: bool,
    /// Whether something is compiled.
    pub has_sources: bool,
    /// Whether a `-O` is given.
    pub optimised: bool,
    /// Whether a shared library is made.
    pub shared: bool,
    /// Whether a larger object is made.
    pub relocatable: bool,
    /// The option that asks for a static executable.
    pub static_option: Option<String>,
    /// The option that asks for a 32-bit program.
    pub narrow_option: Option<String>,
    /// Whether the standard libraries are left out.
    pub no_libraries: bool,
    /// Whether the linker is told to refuse undefined symbols in a shared library.
    pub demands_definitions: bool,
    /// Sanitizers asked for, other than `thread`.
    pub sanitizers: Vec<String>,
}

impl CommandLine {
    /// Takes the arguments apart. Nothing is refused: what is unknown is a plain option.
    pub fn parse(args: &[OsString]) -> Self {
        let mut line = CommandLine {
            items: Vec::new(),
            until: Until::Linked,
            has_inputs: false,
            has_sources: false,
            optimised: false,
            shared: false,
            relocatable: false,
            static_option: None,
            narrow_option: None,
            no_libraries: false,
            demands_definitions: false,
            sanitizers: Vec::new(),
        };
        let mut language = None;
        let mut only_headers = true;
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            // A name may be anything; what it ends with tells what it is.
            let text = &*arg.to_string_lossy();
            if text == "-" || !is_option(arg) {
                let input = language.unwrap_or_else(|| options::by_name(text));
                line.has_inputs = true;
                line.has_sources |= input != Input::Linked;
                only_headers &= input == Input::Header;
                line.items.push(vec![arg.clone()]);
                continue;
            }
            let mut item = vec![arg.clone()];
            if options::takes_value(text)
                && let Some(value) = rest.next()
            {
                item.push(value.clone());
            }
            let value = item.get(1).and_then(|value| value.to_str()).unwrap_or("");
            match (text, value) {
                ("-x", value) => language = options::by_language(value),
                ("-Xlinker" | "-z", value) => line.linker_option(value),
                _ => line.option(text, &mut language),
            }
            line.items.push(item);
        }
        if line.has_inputs && only_headers {
            line.until = line.until.min(Until::Compiled);
        }
        line
    }

    /// Whether this links an executable, the one thing that gets our runtime.
    pub fn makes_executable(&self) -> bool {
        self.has_inputs && self.until == Until::Linked && !self.shared && !self.relocatable
    }

    fn option(&mut self, text: &str, language: &mut Option<Input>) {
        match text {
            "-E" | "-M" | "-MM" => self.until = Until::Preprocessed,
            "-S" | "-c" | "-fsyntax-only" | "--precompile" | "--analyze" => {
                self.until = self.until.min(Until::Compiled);
            }
            "-shared" | "--shared" => self.shared = true,
            "-r" => self.relocatable = true,
            "-static" | "--static" | "-static-pie" => self.static_option = Some(text.into()),
            "-m32" | "-m16" | "-mx32" => self.narrow_option = Some(text.into()),
            "-m64" => self.narrow_option = None,
            "-zdefs" => self.demands_definitions = true,
            "-nostdlib" | "-nodefaultlibs" | "-nolibc" => self.no_libraries = true,
            _ => {}
        }
        if text.starts_with("-O") {
            self.optimised = true;
        } else if text.starts_with("-l") && text.len() > 2 {
            self.has_inputs = true;
        } else if let Some(name) = text.strip_prefix("-x") {
            *language = options::by_language(name);
        } else if let Some(options) = text.strip_prefix("-Wl,") {
            options.split(',').for_each(|o| self.linker_option(o));
        } else if let Some(list) = text.strip_prefix("-fsanitize=") {
            let others = list.split(',').filter(|name| *name != "thread");
            self.sanitizers.extend(others.map(String::from));
        }
    }

    fn linker_option(&mut self, option: &str) {
        match option {
            "-r" | "-i" | "--relocatable" => self.relocatable = true,
            "-shared" | "--shared" | "-Bshareable" => self.shared = true,
            "defs" | "-zdefs" | "--no-undefined" | "-no-undefined" => {
                self.demands_definitions = true;
            }
            _ => {}
        }
    }
}

fn is_option(arg: &OsStr) -> bool {
    arg.as_encoded_bytes().first() == Some(&b'-')
}
