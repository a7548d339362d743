//! Arrays within a class of memory: all elements of a row are taken for its first one.

use crate::ir::{LayoutId, Program};

/// An array in an object. What lies in it is known by its place in an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    /// Where it begins.
    pub from: i64,
    /// Where it ends; `i64::MAX` if nobody knows.
    pub to: i64,
    /// How many bytes an element has.
    pub stride: i64,
}

impl Row {
    /// Where an offset lies if all elements are the first one.
    pub fn first(&self, offset: i64) -> Option<i64> {
        let is_in = self.from <= offset && offset < self.to;
        is_in.then(|| self.from + (offset - self.from) % self.stride)
    }

    /// The same array in something in which it begins so much later.
    pub fn shifted(&self, by: i64) -> Row {
        let to = match self.to {
            i64::MAX => i64::MAX,
            to => to.saturating_add(by),
        };
        Row {
            from: self.from.saturating_add(by),
            to,
            ..*self
        }
    }

    fn touches(&self, other: &Row) -> bool {
        self.from < other.to && other.from < self.to
    }

    /// One that says of every offset what both say.
    fn with(&self, other: &Row) -> Row {
        let shift = (self.from - other.from).abs();
        Row {
            from: self.from.min(other.from),
            to: self.to.max(other.to),
            stride: divisor(divisor(self.stride, other.stride), shift).max(1),
        }
    }
}

fn divisor(one: i64, other: i64) -> i64 {
    match other {
        0 => one,
        _ => divisor(other, one % other),
    }
}

/// Adds a row; those that overlap become one. Whether anything has changed.
pub(super) fn add(rows: &mut Vec<Row>, mut row: Row) -> bool {
    if row.stride <= 0 || row.from >= row.to || rows.contains(&row) {
        return false;
    }
    let before = rows.clone();
    while let Some(at) = rows.iter().position(|known| known.touches(&row)) {
        row = rows.swap_remove(at).with(&row);
    }
    rows.push(row);
    rows.sort_unstable_by_key(|row| row.from);
    *rows != before
}

/// Where the array lies in a structure that has an element of so many bytes at an offset.
pub(super) fn extent(
    program: &Program,
    layout: LayoutId,
    offset: i64,
    stride: u64,
) -> Option<(i64, i64)> {
    let layout = program.layouts.get(layout.index())?;
    let field = layout.fields.iter().find(|field| {
        let from = field.offset as i64;
        (from..from.saturating_add(field.size as i64)).contains(&offset)
    })?;
    let from = field.offset as i64;
    match (field.stride, field.layout) {
        (Some(own), _) if stride.is_multiple_of(own.max(1)) => {
            Some((from, from + field.size as i64))
        }
        (_, Some(inner)) => {
            let place = program.layouts.get(inner.index())?.size.max(1) as i64;
            let start = (offset - from) / place * place;
            let (low, high) = extent(program, inner, offset - from - start, stride)?;
            Some((from + start + low, from + start + high))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(from: i64, to: i64, stride: i64) -> Row {
        Row { from, to, stride }
    }

    #[test]
    fn elements_are_the_first_one() {
        assert_eq!(row(4, 20, 4).first(12), Some(4));
        assert_eq!(row(0, 64, 16).first(36), Some(4));
        assert_eq!(row(4, 20, 4).first(20), None);
        assert_eq!(row(4, 20, 4).first(0), None);
    }

    #[test]
    fn rows_that_overlap_agree() {
        let mut rows = Vec::new();
        assert!(add(&mut rows, row(0, 64, 16)));
        assert!(!add(&mut rows, row(0, 64, 16)));
        assert!(add(&mut rows, row(4, i64::MAX, 12)));
        assert_eq!(rows, [row(0, i64::MAX, 4)]);
        assert!(!add(&mut rows, row(8, 8, 4)));
    }
}
