//! What the facts say about a recording.

use std::collections::BTreeMap;
use std::path::PathBuf;

use deadheat_code::{Binary, Facts, Passed, Place, Walk};
use deadheat_trace::{Op, Pc, Tables, ThreadId};

use super::recording::Recording;

/// Facts about a program and the libraries that were built with it, by path.
#[derive(Default)]
pub struct Known {
    paths: BTreeMap<PathBuf, u32>,
    facts: Vec<Option<Facts>>,
}

impl Known {
    /// Learns about the modules of a recording that lie beside the program.
    pub fn learn(&mut self, recording: &Recording) {
        let folder = recording.program.path.parent();
        for module in &recording.trace.tables.modules {
            if module.path.parent() == folder && !self.paths.contains_key(&module.path) {
                let binary = Binary::open(&module.path).unwrap();
                self.paths
                    .insert(module.path.clone(), self.facts.len() as u32);
                self.facts.push(Some(Facts::of(&binary)));
            }
        }
    }

    /// Where a pc lies.
    pub fn place(&self, tables: &Tables, pc: Pc) -> Option<Place> {
        let (module, address) = tables.module_of(pc)?;
        let module = *self.paths.get(&module.path)?;
        Some(Place { module, address })
    }

    /// The facts of the module that a place is in.
    pub fn facts(&self, place: Place) -> &Facts {
        self.facts[place.module as usize].as_ref().unwrap()
    }

    /// What is passed before each step; `None` for the oracle's own.
    pub fn passed(&self, recording: &Recording) -> Vec<Option<Passed>> {
        let tables = &recording.trace.tables;
        let mut walks: BTreeMap<ThreadId, Walk> = BTreeMap::new();
        let mut passed = Vec::new();
        for step in &recording.trace.steps {
            let event = &step.event;
            if recording.is_marker(event) {
                passed.push(None);
                continue;
            }
            let walk = walks.entry(event.thread()).or_default();
            let place = self.place(tables, event.pc());
            passed.push(Some(match event.op() {
                Op::Enter => walk.enter(place, None, &self.facts),
                Op::Leave => walk.leave(&self.facts),
                _ => walk.at(place, &self.facts),
            }));
        }
        passed
    }
}
