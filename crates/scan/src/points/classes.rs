//! Classes of memory: union and find, with fields.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::ir::FunctionId;

use super::rows::{self, Row};

/// A class of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(u32);

impl ClassId {
    /// Its number.
    pub fn number(self) -> u32 {
        self.0
    }
}

/// Where a pointer points: into a class, so many bytes from the beginning of the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The class.
    pub class: ClassId,
    /// The offset; 0 in a class whose fields are not kept apart.
    pub offset: i64,
}

#[derive(Clone, Debug, Default)]
struct Class {
    /// What addresses that are stored there point at, by offset.
    fields: BTreeMap<i64, Target>,
    is_collapsed: bool,
    /// Arrays in there.
    rows: Vec<Row>,
    functions: Vec<FunctionId>,
}

impl Class {
    /// Where an offset lies if all elements of an array are the first one.
    fn place(&self, offset: i64) -> i64 {
        match self.is_collapsed {
            true => 0,
            false => {
                let mut rows = self.rows.iter();
                rows.find_map(|row| row.first(offset)).unwrap_or(offset)
            }
        }
    }
}

/// All classes.
#[derive(Default)]
pub(super) struct Classes {
    parents: Vec<u32>,
    all: Vec<Class>,
}

impl Classes {
    pub(super) fn fresh(&mut self) -> Target {
        let class = ClassId(self.all.len() as u32);
        self.parents.push(class.0);
        self.all.push(Class::default());
        Target { class, offset: 0 }
    }

    pub(super) fn root(&mut self, class: ClassId) -> ClassId {
        let mut at = class.0;
        while self.parents[at as usize] != at {
            let up = self.parents[self.parents[at as usize] as usize];
            self.parents[at as usize] = up;
            at = up;
        }
        ClassId(at)
    }

    /// The same target, by the class's present name.
    pub(super) fn now(&mut self, target: Target) -> Target {
        let class = self.root(target.class);
        let offset = self.all[class.0 as usize].place(target.offset);
        Target { class, offset }
    }

    pub(super) fn shifted(&mut self, target: Target, by: i64) -> Target {
        let target = self.now(target);
        self.now(Target {
            offset: target.offset.saturating_add(by),
            ..target
        })
    }

    /// From now on the class has one field only.
    pub(super) fn collapse(&mut self, class: ClassId) {
        let class = self.root(class);
        let one = &mut self.all[class.0 as usize];
        if one.is_collapsed {
            return;
        }
        one.is_collapsed = true;
        let fields = std::mem::take(&mut one.fields);
        let mut all = fields.into_values();
        if let Some(first) = all.next() {
            self.all[class.0 as usize].fields.insert(0, first);
            for other in all {
                self.unify(first, other);
            }
        }
    }

    /// There is an array in a class.
    pub(super) fn add_row(&mut self, class: ClassId, row: Row) {
        let class = self.root(class);
        let one = &mut self.all[class.0 as usize];
        if one.is_collapsed || !rows::add(&mut one.rows, row) {
            return;
        }
        let mut same = Vec::new();
        for (offset, target) in std::mem::take(&mut one.fields) {
            let place = one.place(offset);
            match one.fields.get(&place) {
                Some(known) => same.push((*known, target)),
                None => {
                    one.fields.insert(place, target);
                }
            }
        }
        for (known, target) in same {
            self.unify(known, target);
        }
    }

    /// Which bytes of its class so many bytes may be, where they begin and how many: those of an array are any of its elements.
    pub(super) fn range(&self, target: Target, size: u64) -> (i64, u64) {
        let Some(class) = self.all.get(target.class.0 as usize) else {
            return (target.offset, size);
        };
        let row = class
            .rows
            .iter()
            .find(|row| row.from <= target.offset && target.offset < row.to);
        match row {
            Some(row) => {
                let inside = (target.offset - row.from) % row.stride;
                let is_within = size > 0 && inside.saturating_add(size as i64) <= row.stride;
                match is_within {
                    true => (target.offset, size),
                    false => (row.from, 0),
                }
            }
            None => (target.offset, size),
        }
    }

    /// Makes two targets one.
    pub(super) fn unify(&mut self, one: Target, other: Target) {
        let mut work = vec![(one, other)];
        while let Some((one, other)) = work.pop() {
            let (one, other) = (self.now(one), self.now(other));
            if one == other {
                continue;
            }
            if one.class == other.class {
                // What is so far apart is the same: as in an array.
                let stride = (one.offset - other.offset).abs();
                let row = Row {
                    from: one.offset.min(other.offset).rem_euclid(stride),
                    to: i64::MAX,
                    stride,
                };
                self.add_row(one.class, row);
                let (one, other) = (self.now(one), self.now(other));
                if one != other {
                    self.collapse(one.class);
                }
                continue;
            }
            if one.offset != other.offset {
                self.collapse(one.class);
                self.collapse(other.class);
                work.push((one, other));
                continue;
            }
            let (mut kept, mut gone) = (one.class, other.class);
            let size = |class: ClassId| self.all[class.0 as usize].fields.len();
            if size(kept) < size(gone) {
                std::mem::swap(&mut kept, &mut gone);
            }
            let is_collapsed =
                self.all[kept.0 as usize].is_collapsed || self.all[gone.0 as usize].is_collapsed;
            if is_collapsed {
                self.collapse(kept);
                self.collapse(gone);
                let (now_kept, now_gone) = (self.root(kept), self.root(gone));
                if now_kept != kept || now_gone != gone {
                    work.push((one, other));
                    continue;
                }
            }
            self.parents[gone.0 as usize] = kept.0;
            let old = std::mem::take(&mut self.all[gone.0 as usize]);
            let class = &mut self.all[kept.0 as usize];
            class.functions.extend(old.functions);
            for (offset, target) in old.fields {
                let offset = class.place(offset);
                match class.fields.get(&offset) {
                    Some(known) => work.push((*known, target)),
                    None => {
                        class.fields.insert(offset, target);
                    }
                }
            }
            for row in old.rows {
                self.add_row(kept, row);
            }
        }
    }

    /// What an address that is stored there points at.
    pub(super) fn pointee(&mut self, at: Target) -> Target {
        let at = self.now(at);
        if let Some(target) = self.all[at.class.0 as usize].fields.get(&at.offset) {
            let target = *target;
            return self.now(target);
        }
        let target = self.fresh();
        let fields = &mut self.all[at.class.0 as usize].fields;
        fields.insert(at.offset, target);
        target
    }

    pub(super) fn store(&mut self, at: Target, target: Target) {
        let pointee = self.pointee(at);
        self.unify(pointee, target);
    }

    pub(super) fn add_function(&mut self, target: Target, function: FunctionId) {
        self.all[target.class.0 as usize].functions.push(function);
    }

    /// The functions that are in a class.
    pub(super) fn functions(&mut self, target: Target) -> Vec<FunctionId> {
        let class = self.root(target.class);
        self.all[class.0 as usize].functions.clone()
    }

    /// What is stored in a class, by offset.
    pub(super) fn fields(&mut self, class: ClassId) -> Vec<(i64, Target)> {
        let class = self.root(class);
        let fields = self.all[class.0 as usize].fields.iter();
        fields.map(|(offset, target)| (*offset, *target)).collect()
    }

    /// All classes that can be reached from these.
    pub fn closure(&mut self, from: impl IntoIterator<Item = ClassId>) -> FxHashSet<ClassId> {
        let mut work: Vec<ClassId> = from.into_iter().collect();
        let mut seen = FxHashSet::default();
        while let Some(class) = work.pop() {
            let class = self.root(class);
            if seen.insert(class) {
                let fields = &self.all[class.0 as usize].fields;
                work.extend(fields.values().map(|target| target.class));
            }
        }
        seen
    }
}
