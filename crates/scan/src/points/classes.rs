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
    /// The class that each was made part of, and how far from the beginning of that one it begins.
    parents: Vec<(u32, i64)>,
    all: Vec<Class>,
}

impl Classes {
    pub(super) fn fresh(&mut self) -> Target {
        let class = ClassId(self.all.len() as u32);
        self.parents.push((class.0, 0));
        self.all.push(Class::default());
        Target { class, offset: 0 }
    }

    pub(super) fn root(&mut self, class: ClassId) -> ClassId {
        self.find(class).0
    }

    /// The class's present name, and where it begins in there.
    fn find(&mut self, class: ClassId) -> (ClassId, i64) {
        let (mut at, mut by) = (class.0, 0i64);
        loop {
            let (up, far) = self.parents[at as usize];
            if up == at {
                return (ClassId(at), by);
            }
            let (top, further) = self.parents[up as usize];
            let sum = far.saturating_add(further);
            self.parents[at as usize] = (top, sum);
            by = by.saturating_add(sum);
            at = top;
        }
    }

    /// The same target, by the class's present name.
    pub(super) fn now(&mut self, target: Target) -> Target {
        let (class, by) = self.find(target.class);
        let offset = target.offset.saturating_add(by);
        let offset = self.all[class.0 as usize].place(offset);
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
            let (mut kept, mut gone) = (one.class, other.class);
            // Where the second begins in the first: one may be a part of the other.
            let mut by = one.offset.saturating_sub(other.offset);
            let size = |class: ClassId| self.all[class.0 as usize].fields.len();
            if size(kept) < size(gone) {
                std::mem::swap(&mut kept, &mut gone);
                by = -by;
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
            self.parents[gone.0 as usize] = (kept.0, by);
            let old = std::mem::take(&mut self.all[gone.0 as usize]);
            let class = &mut self.all[kept.0 as usize];
            class.functions.extend(old.functions);
            for (offset, target) in old.fields {
                let offset = class.place(offset.saturating_add(by));
                match class.fields.get(&offset) {
                    Some(known) => work.push((*known, target)),
                    None => {
                        class.fields.insert(offset, target);
                    }
                }
            }
            for row in old.rows {
                self.add_row(kept, row.shifted(by));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_in_one_is_stored_in_the_other() {
        let mut classes = Classes::default();
        let [a, b, x, y] = [(); 4].map(|()| classes.fresh());
        let (at_a, at_b) = (classes.shifted(a, 8), classes.shifted(b, 8));
        classes.store(at_a, x);
        classes.store(at_b, y);
        assert_ne!(classes.now(x), classes.now(y));
        classes.unify(a, b);
        assert_eq!(classes.now(x), classes.now(y));
        let other = classes.shifted(a, 16);
        assert_ne!(classes.pointee(other), classes.now(x));
    }

    #[test]
    fn what_lies_in_something_else_keeps_its_fields() {
        let mut classes = Classes::default();
        let [part, whole, x, y, z] = [(); 5].map(|()| classes.fresh());
        let [first, second] = [0, 8].map(|offset| classes.shifted(part, offset));
        classes.store(first, x);
        classes.store(second, y);
        let outside = classes.shifted(whole, 24);
        classes.store(outside, z);
        let inside = classes.shifted(whole, 16);
        classes.unify(part, inside);
        assert_ne!(classes.now(first), classes.now(second));
        assert_eq!(classes.now(second), classes.now(outside));
        assert_eq!(classes.now(y), classes.now(z));
        assert_ne!(classes.now(x), classes.now(y));
        let back = classes.shifted(part, -16);
        assert_eq!(classes.now(back), classes.now(whole));
    }

    #[test]
    fn a_class_that_is_collapsed_has_one_field() {
        let mut classes = Classes::default();
        let [a, b, x, y] = [(); 4].map(|()| classes.fresh());
        let [first, second] = [0, 8].map(|offset| classes.shifted(a, offset));
        classes.store(first, x);
        classes.store(second, y);
        classes.collapse(b.class);
        classes.unify(a, b);
        assert_eq!(classes.now(first), classes.now(second));
        assert_eq!(classes.now(x), classes.now(y));
    }

    #[test]
    fn elements_of_the_same_array_are_one_but_their_fields_are_not() {
        let mut classes = Classes::default();
        let [a, x, y] = [(); 3].map(|()| classes.fresh());
        let [first, second] = [8, 40].map(|offset| classes.shifted(a, offset));
        classes.store(first, x);
        classes.store(second, y);
        let later = classes.shifted(a, 32);
        classes.unify(a, later);
        assert_eq!(classes.now(x), classes.now(y));
        let [one, other] = [36, 40].map(|offset| classes.shifted(a, offset));
        assert_ne!(one, other);
        assert_eq!(classes.range(one, 4), (4, 4));
        assert_eq!(classes.range(one, 0), (0, 0));
    }

    #[test]
    fn what_points_at_itself_comes_to_an_end() {
        let mut classes = Classes::default();
        let [a, b] = [(); 2].map(|()| classes.fresh());
        classes.store(a, b);
        classes.store(b, a);
        classes.unify(a, b);
        assert_eq!(classes.pointee(a), classes.now(a));
        assert_eq!(classes.closure([a.class]).len(), 1);
    }
}
