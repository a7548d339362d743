//! What the facts say about a recording.

use std::collections::BTreeMap;
use std::path::PathBuf;

use deadheat_code::{Binary, Depends, Facts, Passed, Place, Walk};
use deadheat_trace::{Op, Pc, Tables, ThreadId};

use super::recording::Recording;

/// Facts about a program and the libraries that were built with it, by path.
#[derive(Default)]
pub struct Known {
    paths: BTreeMap<PathBuf, u32>,
    facts: Vec<Option<Facts>>,
    denies: bool,
}

impl Known {
    /// Knows better: nothing is a branch, and no address depends on anything. What the oracles
    /// must not believe.
    pub fn that_denies_everything() -> Self {
        Known {
            denies: true,
            ..Known::default()
        }
    }

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

    /// What the address of the access at a place depends on.
    pub fn address(&self, place: Option<Place>) -> Depends {
        let facts = place.and_then(|place| self.facts.get(place.module as usize)?.as_ref());
        match (place, facts) {
            _ if self.denies => Depends::Nothing,
            (Some(place), Some(facts)) => facts.address(place.address),
            _ => Depends::Everything,
        }
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
                _ if self.denies => Passed::Straight,
                Op::Enter => walk.enter(place, None, &self.facts),
                Op::Leave => walk.leave(&self.facts),
                _ => walk.at(place, &self.facts),
            }));
        }
        passed
    }
}
