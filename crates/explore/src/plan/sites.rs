//! What a plan's events do, and where: said once for all that have it in common.

use deadheat_trace::{Event, Op, Tables};
use deadheat_wire::plan::PlanSite;
use rustc_hash::FxHashMap;

/// The sites of a plan so far.
#[derive(Default)]
pub struct Sites {
    all: Vec<PlanSite>,
    /// By operation, size and place.
    known: FxHashMap<(u8, u16, u32), u32>,
}

impl Sites {
    /// The number of an event's site. `is_soft` is asked once for each: whether code without hooks did it.
    #[inline]
    pub fn of(
        &mut self,
        event: &Event,
        tables: &Tables,
        is_soft: impl FnOnce(&Event, &Tables) -> bool,
    ) -> u32 {
        let key = (event.op() as u8, size(event), event.pc().0);
        match self.known.get(&key) {
            Some(number) => *number,
            None => {
                let soft = u8::from(is_soft(event, tables));
                let number = self.add(PlanSite {
                    op: event.op() as u8,
                    soft,
                    size: size(event),
                    moves: u32::from(is_in_library(event, tables)),
                    pc: place(event, tables),
                });
                self.known.insert(key, number);
                number
            }
        }
    }

    /// One more.
    pub fn add(&mut self, site: PlanSite) -> u32 {
        self.all.push(site);
        self.all.len() as u32 - 1
    }

    /// The one with this number.
    pub fn get(&self, number: u32) -> PlanSite {
        self.all[number as usize]
    }

    /// All of them.
    pub fn into_all(self) -> Vec<PlanSite> {
        self.all
    }
}

/// How many bytes an event accesses.
fn size(event: &Event) -> u16 {
    match event.op().is_access() {
        true => event.size().min(u64::from(u16::MAX)) as u16,
        false => 0,
    }
}

/// Whether an event is in a library. The program itself comes first among the modules.
fn is_in_library(event: &Event, tables: &Tables) -> bool {
    let module = tables.module_of(event.pc());
    module.is_some_and(|(module, _)| tables.modules[0].start != module.start)
}

/// Where an event is in the recorded run's memory; 0 if that is not known or does not matter.
fn place(event: &Event, tables: &Tables) -> u64 {
    match event.op() {
        Op::Begin | Op::End | Op::Exit | Op::Alloc => 0,
        _ => tables
            .module_of(event.pc())
            .map_or(0, |(module, address)| address.wrapping_add(module.bias)),
    }
}
