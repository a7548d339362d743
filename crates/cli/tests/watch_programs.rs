//! Every C and C++ program of `programs/`, watched: what is told is a race that stands in its text.
//!
//! What is found depends on how the run went, so a race that is not found is no failure; one that is
//! not there is. One test per program, named so: `zoo/c/mutex_race`.

mod support;

use std::path::Path;

use deadheat_code::Binary;
use deadheat_oracle::{Oracle, read_folder};
use deadheat_trace::watch::{Finding, Message, Module, Reader, Stack};
use libtest_mimic::{Arguments, Failed, Trial};
use support::{Sandbox, compilers};

/// Longer than any of the programs takes; one that deadlocks is stopped then.
const SECONDS: &str = "20";

fn main() {
    let arguments = Arguments::from_args();
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let oracles = read_folder(&top).unwrap_or_else(|error| panic!("{error}"));
    let trials = oracles.into_iter().filter_map(|oracle| {
        if oracle.directives.part_of.is_some() || oracle.cargo_target().is_some() {
            return None;
        }
        let name = oracle.path.strip_prefix(&top).unwrap().with_extension("");
        let name = name.display().to_string();
        Some(Trial::test(name, move || {
            run(&oracle).map_err(Failed::from)
        }))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

fn run(oracle: &Oracle) -> Result<(), String> {
    let here = Sandbox::new();
    build(&here, oracle)?;
    let mut command = here.command("timeout");
    command
        .args(["-k", "2", SECONDS, "./prog"])
        .args(&oracle.directives.run)
        .env("DEADHEAT_REPORT", here.path().join("report"))
        .env("DEADHEAT_OPTIONS", "mode=watch");
    let output = command.output().map_err(|error| error.to_string())?;
    let hung = output.status.code() == Some(124) && !oracle.deadlocks.is_empty();
    if !hung && output.status.code() != Some(oracle.directives.exit) {
        return Err(format!("{output:?}"));
    }
    let report = here.path().join("report");
    let mut reader = Reader::default();
    reader.feed(&std::fs::read(report).map_err(|error| error.to_string())?);
    let mut modules = Vec::new();
    for message in reader {
        match message.map_err(|error| error.to_string())? {
            Message::Module { module, .. } => modules.push(module),
            Message::Race(race) => expected(oracle, &race, &modules)?,
            Message::Note { text, .. } => return Err(text),
            _ => {}
        }
    }
    Ok(())
}

fn build(here: &Sandbox, oracle: &Oracle) -> Result<(), String> {
    let source = oracle.path.canonicalize().map_err(|e| e.to_string())?;
    let folder = source.parent().ok_or("no folder")?;
    let is_cpp = source.extension().is_some_and(|ext| ext == "cpp");
    let language = if is_cpp { "c++" } else { "cc" };
    let directives = &oracle.directives;
    let compile = || {
        // Marks fit a build without optimisation.
        let mut compile = here.deadheat([language, "--compiler", compilers()[0], "-O0", "-g"]);
        compile.args(["-pthread"]).args(&directives.cflags);
        compile
    };
    for extra in &directives.also {
        let mut library = compile();
        library.args(["-shared", "-fPIC"]);
        library.arg(folder.join(&extra.source));
        support::succeed(library.args(["-o", &extra.output]));
    }
    let mut program = compile();
    program.arg(&source).args(["-o", "prog"]);
    support::succeed(program.args(&directives.ldlibs));
    Ok(())
}

/// Whether a race stands in the program's text, in whichever functions on the way to it.
fn expected(oracle: &Oracle, race: &Finding, modules: &[Module]) -> Result<(), String> {
    let earlier = race.earlier.as_ref().ok_or("a race with one access")?;
    let [one, other] = [&earlier.stack, &race.later.stack].map(|stack| lines(stack, modules));
    let in_file = |lines: &[(String, u32)]| -> Vec<u32> {
        let file = oracle.path.file_name().unwrap_or_default();
        let own = lines.iter().filter(|(name, _)| file == name.as_str());
        own.map(|(_, line)| *line).collect()
    };
    let across = !oracle.races_across.is_empty();
    let is_marked = in_file(&one).iter().any(|a| {
        in_file(&other)
            .iter()
            .any(|b| oracle.race(*a, *b).is_some())
    });
    if is_marked || across {
        return Ok(());
    }
    Err(format!("not marked: {one:?} with {other:?}\n{race:#?}"))
}

/// The files and lines of a stack.
fn lines(stack: &Stack, modules: &[Module]) -> Vec<(String, u32)> {
    let mut lines = Vec::new();
    for frame in &stack.0 {
        let pc = frame.pc - 1;
        let module = modules.iter().rfind(|m| (m.start..m.end).contains(&pc));
        let Some(binary) = module.and_then(|module| Binary::open(&module.path).ok()) else {
            continue;
        };
        let bias = module.map_or(0, |module| module.bias);
        for frame in binary.frames(pc - bias) {
            if let (Some(file), Some(line)) = (frame.file, frame.line) {
                let name = Path::new(&*file).file_name().unwrap_or_default();
                lines.push((name.to_string_lossy().into_owned(), line));
            }
        }
    }
    lines
}
