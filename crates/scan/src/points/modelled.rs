//! What functions that are not looked into do to pointers.

use crate::ir::{Operand, ValueId};
use crate::model::Effect;
use crate::path::Site;

use super::rows::Row;
use super::{Points, Target, Through};

impl Points<'_> {
    pub(super) fn modelled(
        &mut self,
        site: Site,
        into: Option<ValueId>,
        effects: &[Effect],
        arguments: &[Operand],
    ) {
        let id = site.function;
        let argument = |number: u32| arguments.get(number as usize).copied();
        for effect in effects {
            match effect {
                Effect::Allocate => {
                    if let Some(into) = into {
                        let target = self.classes.fresh();
                        self.heap.insert(site, target);
                        self.assign(id, into, target);
                    }
                }
                Effect::Returns(number) => {
                    if let (Some(into), Some(operand)) = (into, argument(*number))
                        && let Some(target) = self.operand(id, operand)
                    {
                        self.assign(id, into, target);
                    }
                }
                Effect::Copy { to, from } => {
                    let (to, from) = (argument(*to), argument(*from));
                    let to = to.and_then(|to| self.operand(id, to));
                    let from = from.and_then(|from| self.operand(id, from));
                    if let (Some(to), Some(from)) = (to, from) {
                        self.copies.push((to, from));
                    }
                }
                Effect::Create { start, data, .. } => {
                    let data: Vec<Operand> = data.and_then(argument).into_iter().collect();
                    if let Some(start) = argument(*start) {
                        self.calls_back(site, start, data);
                    }
                }
                Effect::Calls { function, with } => {
                    let with: Vec<Operand> = with.iter().filter_map(|one| argument(*one)).collect();
                    // Any element of what they point at.
                    for one in &with {
                        if let Some(Target { class, offset }) = self.operand(id, *one) {
                            let row = Row {
                                from: offset,
                                to: i64::MAX,
                                stride: 1,
                            };
                            self.classes.add_row(class, row);
                        }
                    }
                    if let Some(function) = argument(*function) {
                        self.calls_back(site, function, with);
                    }
                }
                Effect::Once { run, .. } => {
                    match (
                        argument(*run),
                        argument(*run).and_then(|run| self.runs_stored(run)),
                    ) {
                        (_, Some(variable)) => self.link_stored(site, &variable),
                        (Some(run), None) => self.calls_back(site, run, Vec::new()),
                        (None, None) => {}
                    }
                }
                Effect::OnceClosure { data, .. } => {
                    if let (Some(data), Some(table)) = (argument(*data), argument(*data + 1)) {
                        self.link_borrowed(site, data, table);
                    }
                }
                Effect::CallsClosure { data } => {
                    if let (Some(data), Some(table)) = (argument(*data), argument(*data + 1)) {
                        self.link_borrowed(site, data, table);
                    }
                }
                Effect::CallsObject { object, offset } => {
                    if let Some(object) = argument(*object) {
                        self.link_object(site, object, i64::from(*offset));
                    }
                }
                Effect::CreateMethod { object, slot, .. } => {
                    if let Some(object) = argument(*object) {
                        self.methods.push((site, object, *slot));
                    }
                }
                Effect::CreateClosure { at, .. } => {
                    if let Some(at) = argument(*at) {
                        self.closures.push((site, at));
                    }
                }
                _ => {}
            }
        }
    }

    fn calls_back(&mut self, site: Site, operand: Operand, arguments: Vec<Operand>) {
        self.indirect.push(Through {
            site,
            pointer: operand,
            signature: None,
            arguments,
            into: None,
        });
    }

    /// Pointers at the same offsets point at the same; other parts of the classes stay apart. Whether that was news.
    pub(super) fn copied(&mut self, to: Target, from: Target) -> bool {
        let (to, from) = (self.classes.now(to), self.classes.now(from));
        let mut is_new = false;
        for (offset, target) in self.classes.fields(from.class) {
            let by = offset - from.offset;
            if by < 0 && to.offset + by < 0 {
                continue;
            }
            let at = self.classes.shifted(to, by);
            let known = self.classes.pointee(at);
            let target = self.classes.now(target);
            if known != target {
                self.classes.unify(known, target);
                is_new = true;
            }
        }
        is_new
    }
}
