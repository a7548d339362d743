//! Programs that are given as source files: built before they are run.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

use deadheat_build::compiler::{self, Language, Wish, options};
use deadheat_build::rust;
use deadheat_run::program::Program;
use deadheat_run::store::Recording;
use deadheat_run::store::info::Ended;
use deadheat_session::error::{Error, Result};

/// How to build.
#[derive(Debug, clap::Args)]
pub struct Building {
    /// Options for the compiler and linker.
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    cflags: Option<OsString>,

    /// The compiler, such as gcc or clang-19.
    #[arg(long, value_name = "NAME")]
    compiler: Option<OsString>,
}

impl Building {
    /// The program, built if need be, and the command that runs it.
    pub fn program(&self, given: &[OsString], at: &Recording) -> Result<(Program, Vec<OsString>)> {
        let sources = given.iter().take_while(|arg| is_source(arg)).count();
        if sources == 0 {
            return Ok((Program::find(&given[0])?, given.to_vec()));
        }
        let (sources, mut args) = given.split_at(sources);
        if args.first().is_some_and(|arg| arg == "--") {
            args = &args[1..];
        }
        let path = self.build(sources, &at.folder)?;
        let mut command = vec![path.clone()];
        command.extend(args.iter().cloned());
        Ok((Program::find(&path)?, command))
    }

    /// The sources among what was given, and the options that the compiler gets for them.
    pub fn sources(&self, given: &[OsString]) -> (Vec<OsString>, Vec<OsString>) {
        let sources: Vec<OsString> = given
            .iter()
            .take_while(|arg| is_source(arg))
            .cloned()
            .collect();
        let flags = compiler::words(self.cflags.as_deref().unwrap_or_default());
        (sources, flags)
    }

    /// The options that sources in C or C++ are compiled with, for the report. Without a wish of the user's nothing is
    /// optimised away.
    pub fn compiled_with(&self, given: &[OsString]) -> Option<String> {
        let (sources, flags) = self.sources(given);
        if sources.is_empty() || sources.iter().any(|source| is_rust(source)) {
            return None;
        }
        let mut words = vec!["-g".to_owned()];
        words.extend(own_flags(&flags).map(str::to_owned));
        words.extend(flags.iter().map(|flag| flag.to_string_lossy().into_owned()));
        Some(words.join(" "))
    }

    /// Compiles the sources into the recording's folder, where the program stays with its trace.
    fn build(&self, sources: &[OsString], folder: &Path) -> Result<OsString> {
        for source in sources {
            let path = Path::new(source);
            let shown = path.display();
            if !path.is_file() {
                return Err(Error::usage(format!("no such file: {shown}")));
            }
        }
        let is_cxx = |source: &OsString| source.to_str().is_some_and(options::is_cxx);
        let language = match sources.iter().any(is_cxx) {
            true => Language::Cxx,
            false => Language::C,
        };
        let wish = match &self.compiler {
            Some(name) => Wish::Named(name.clone()),
            None => Wish::Any,
        };
        let name = Path::new(&sources[0])
            .file_stem()
            .unwrap_or(OsStr::new("program"));
        let path = folder.join(name);
        let given = compiler::words(self.cflags.as_deref().unwrap_or_default());
        let mut compile = if sources.iter().any(|source| is_rust(source)) {
            self.rust(sources, given, &path)?
        } else {
            let mut args: Vec<OsString> = own_flags(&given).map(OsString::from).collect();
            args.extend(sources.iter().cloned());
            args.extend(given);
            args.extend(["-o".into(), path.clone().into()]);
            compiler::command(language, &wish, args)?
        };
        let status = compile.status().map(Ended::from_status);
        let tool = compile.get_program().display();
        match status {
            Ok(Ended::Exit(0)) => Ok(path.into()),
            Ok(ended) => Err(Error::not_started(format!(
                "{} could not be built: {tool} {}",
                sources[0].display(),
                ended.told()
            ))
            .help("options for the compiler: deadheat check --cflags '...' FILE")),
            Err(error) => Err(Error::not_started(format!("cannot run {tool}: {error}"))),
        }
    }

    /// The command that compiles a Rust program.
    fn rust(&self, sources: &[OsString], given: Vec<OsString>, to: &Path) -> Result<Command> {
        let [source] = sources else {
            return Err(Error::usage(
                "a Rust program is named by one file, the one with its `main`",
            )
            .help("for a crate: cargo deadheat run"));
        };
        let mut args: Vec<OsString> = vec![source.clone()];
        let names_edition = |word: &OsString| word.to_string_lossy().starts_with("--edition");
        if !given.iter().any(names_edition) {
            args.push("--edition=2024".into());
        }
        args.extend(given);
        args.extend(["-o".into(), to.into()]);
        let compiler = self.compiler.clone();
        rust::command(&compiler.unwrap_or_else(rust::default_compiler), &args)
    }
}

/// What is asked of the compiler beside what the user gives: no access is merged with another, moved out of a loop
/// or dropped, unless the user wants to see an optimised program.
fn own_flags(given: &[OsString]) -> impl Iterator<Item = &'static str> {
    let level = (!compiler::names_optimisation(given)).then_some("-O0");
    level.into_iter().chain(["-pthread"])
}

/// Rust source: the compiler finds the rest from one file.
fn is_rust(arg: &OsStr) -> bool {
    Path::new(arg).extension() == Some(OsStr::new("rs"))
}

fn is_source(arg: &OsStr) -> bool {
    let name = arg.to_str().unwrap_or("");
    !name.starts_with('-') && (is_rust(arg) || options::by_name(name) == options::Input::Source)
}
