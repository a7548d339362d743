//! Runs a program serially and reads back what it did.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use deadheat_trace::file::TraceFile;
use deadheat_trace::{Event, Op, Pc, Steps, Trace};
use object::{Object, ObjectSymbol, SymbolKind};

use super::case::Run;
use crate::support::{DEADHEAT, Sandbox};

/// A program that was built.
#[derive(Clone, Debug)]
pub struct Program {
    /// Where it is.
    pub path: PathBuf,
    /// Where `oracle_marker` lies in its file, if it has one.
    pub marker: Option<u64>,
    /// Its functions, by their first address.
    functions: BTreeMap<u64, u64>,
}

impl Program {
    /// Looks into an executable.
    pub fn open(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let marker = file
            .symbols()
            .find(|symbol| symbol.name() == Ok("oracle_marker"))
            .map(|symbol| symbol.address());
        let functions = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
            .map(|symbol| (symbol.address(), symbol.address() + symbol.size()))
            .collect();
        Program {
            path: path.canonicalize().unwrap(),
            marker,
            functions,
        }
    }

    /// The start of the function that a return address lies in.
    pub fn function_of(&self, address: u64) -> Option<u64> {
        let (&start, &end) = self.functions.range(..address).next_back()?;
        (address <= end).then_some(start)
    }

    /// Records it in this environment; with an environment of its own it
    /// may hang, and is stopped soon.
    ///
    /// # Errors
    /// There is no trace.
    pub fn record(
        &self,
        here: &Sandbox,
        run: &Run,
        environment: &[(&str, String)],
    ) -> Result<Recording, String> {
        let seconds = if environment.is_empty() { "20" } else { "1" };
        let mut command = here.command("timeout");
        command
            .args(["-k", "1", seconds, DEADHEAT, "record", "--quiet"])
            .args(["--seed", &run.seed.to_string(), "-o", "oracle.dht", "--"])
            .arg(&self.path)
            .args(&run.args)
            .envs(environment.iter().map(|(name, value)| (name, value)));
        let output = command.output().map_err(|error| error.to_string())?;
        let trace = TraceFile::open(here.path().join("oracle.dht"))
            .map_err(|error| error.to_string())
            .and_then(|file| {
                file.read()
                    .collect_trace()
                    .map_err(|error| error.to_string())
            });
        let told = String::from_utf8_lossy(&output.stderr);
        let trace = trace.map_err(|error| format!("{}: {error}\n{told}", self.path.display()))?;
        let modules = &trace.tables.modules;
        let own = modules.iter().find(|module| module.path == self.path);
        let marker = own.and_then(|module| Some(self.marker? + module.bias));
        Ok(Recording {
            program: self.clone(),
            marker,
            trace,
        })
    }
}

/// What a program did once.
pub struct Recording {
    /// Which program.
    pub program: Program,
    /// Where `oracle_marker` lies in memory.
    pub marker: Option<u64>,
    /// What it did.
    pub trace: Trace,
}

impl Recording {
    /// Whether an event is not the program's own.
    pub fn is_marker(&self, event: &Event) -> bool {
        event.op() == Op::Read
            && self
                .marker
                .is_some_and(|marker| (marker..marker + 12).contains(&event.addr().0))
    }

    /// Whether an event announces a basic block.
    pub fn is_block(&self, event: &Event) -> bool {
        self.is_marker(event)
            && self
                .marker
                .is_some_and(|marker| event.addr().0 >= marker + 8)
    }

    /// The address in the program's own file.
    pub fn address(&self, pc: Pc) -> Option<u64> {
        let (module, address) = self.trace.tables.module_of(pc)?;
        (module.path == self.program.path).then_some(address)
    }

    /// The start of the program's function that a pc lies in.
    pub fn function_of(&self, pc: Pc) -> Option<u64> {
        self.program.function_of(self.address(pc)?)
    }

    /// Whether a value is the address of the program's code.
    pub fn is_code(&self, value: u64) -> bool {
        let modules = &self.trace.tables.modules;
        modules
            .iter()
            .filter(|module| module.path == self.program.path)
            .filter(|module| (module.start..module.end).contains(&value))
            .any(|module| self.program.function_of(value - module.bias + 1).is_some())
    }
}
