//! What is known of a register's or stack slot's content.

use rustc_hash::FxHashMap;

use super::sets::{Set, Sets};

/// What a content depends on, and what it is as far as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub depends: Set,
    pub shape: Shape,
}

/// What a content is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    /// Not known.
    Other,
    /// This name's content plus an offset. Two contents of the same name are equal. Names are
    /// given anew in each block, so that a name is given once.
    Name(u32, i64),
    /// The stack pointer at the function's entry plus an offset.
    Stack(i64),
    /// A number.
    Constant(u64),
}

impl Shape {
    /// The same plus an offset.
    pub fn plus(self, offset: i64) -> Shape {
        match self {
            Shape::Other => Shape::Other,
            Shape::Name(name, own) => Shape::Name(name, own.wrapping_add(offset)),
            Shape::Stack(own) => Shape::Stack(own.wrapping_add(offset)),
            Shape::Constant(own) => Shape::Constant(own.wrapping_add_signed(offset)),
        }
    }

    /// How far `other` lies behind it, if that is known.
    pub fn distance(self, other: Shape) -> Option<i64> {
        match (self, other) {
            (Shape::Name(one, from), Shape::Name(two, to)) if one == two => {
                Some(to.wrapping_sub(from))
            }
            (Shape::Stack(from), Shape::Stack(to)) => Some(to.wrapping_sub(from)),
            (Shape::Constant(from), Shape::Constant(to)) => Some(to.wrapping_sub(from) as i64),
            _ => None,
        }
    }

    pub fn is_stack(self) -> bool {
        matches!(self, Shape::Stack(_))
    }
}

impl Value {
    pub const EVERYTHING: Value = Value {
        depends: Set::EVERYTHING,
        shape: Shape::Other,
    };

    /// What may be either. The answer's second part: whether an address in the stack is no longer
    /// known as one.
    pub fn join(self, other: Value, sets: &mut Sets) -> (Value, bool) {
        let depends = sets.union(self.depends, other.depends);
        let (one, two) = (self.shape, other.shape);
        if one == two && !matches!(one, Shape::Name(..)) {
            let shape = one;
            return (Value { depends, shape }, false);
        }
        let shape = Shape::Other;
        let hidden = one.is_stack() || two.is_stack();
        (Value { depends, shape }, hidden)
    }
}

/// How a named content came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    /// Of unknown origin: each has a name of its own.
    Fresh,
    /// A sum.
    Sum(Shape, Shape),
    /// A multiple.
    Times(Shape, u8),
    /// Some bytes of another content, from an offset on.
    Part(Shape, i64, u32),
    /// What the same instruction makes of the same inputs.
    Computed {
        code: u16,
        immediate: u64,
        inputs: [Shape; 3],
    },
    /// One of many entries of a constant table.
    Entry(Entry),
}

/// An entry of a constant table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    /// Where the table starts.
    pub table: u64,
    /// How large an entry is.
    pub size: u32,
    /// The largest number that the index may have, if that is known.
    pub last: Option<u64>,
    /// A number that tells two entries apart.
    serial: u32,
}

/// The names that are given in one block.
#[derive(Debug, Default)]
pub(crate) struct Names {
    origins: Vec<Origin>,
    /// How large contents may be, of those of which it is known.
    largest: FxHashMap<u32, u64>,
    known: FxHashMap<Origin, u32>,
}

impl Names {
    /// The name of the thread's own block of memory, the same everywhere.
    pub const THREAD: Shape = Shape::Name(u32::MAX, 0);

    /// Forgets all names.
    pub fn clear(&mut self) {
        self.origins.clear();
        self.largest.clear();
        self.known.clear();
    }

    /// A name that nothing else has.
    pub fn fresh(&mut self) -> Shape {
        self.origins.push(Origin::Fresh);
        Shape::Name(self.origins.len() as u32 - 1, 0)
    }

    /// The name of what came to be like this.
    pub fn of(&mut self, origin: Origin) -> Shape {
        let next = self.origins.len() as u32;
        let name = *self.known.entry(origin).or_insert(next);
        if name == next {
            self.origins.push(origin);
        }
        Shape::Name(name, 0)
    }

    /// How it came to be.
    pub fn origin(&self, shape: Shape) -> Option<Origin> {
        match shape {
            Shape::Name(name, _) => self.origins.get(name as usize).copied(),
            _ => None,
        }
    }

    /// An entry of a table of constants, unlike all others; `index` times its size lies between.
    pub fn entry(&mut self, table: u64, size: u32, distance: Shape) -> Shape {
        let last = match self.origin(distance) {
            Some(Origin::Times(index, scale)) if u32::from(scale) == size => self.largest(index),
            _ => None,
        };
        let serial = self.origins.len() as u32;
        self.of(Origin::Entry(Entry {
            table,
            size,
            last,
            serial,
        }))
    }

    /// Notes that a content is not above a number.
    pub fn limit(&mut self, shape: Shape, largest: u64) {
        if let Shape::Name(name, 0) = shape {
            self.largest.insert(name, largest);
        }
    }

    /// The largest number that a content may be, if that is known.
    pub fn largest(&self, shape: Shape) -> Option<u64> {
        match shape {
            Shape::Name(name, 0) => self.largest.get(&name).copied(),
            _ => None,
        }
    }

    /// The sum of two contents.
    pub fn sum(&mut self, one: Shape, two: Shape) -> Shape {
        let split = |shape| match shape {
            Shape::Name(name, offset) => (Shape::Name(name, 0), offset),
            other => (other, 0),
        };
        match (one, two) {
            (Shape::Other, _) | (_, Shape::Other) => self.fresh(),
            (Shape::Constant(number), Shape::Stack(_))
            | (Shape::Stack(_), Shape::Constant(number)) => {
                let stack = if one.is_stack() { one } else { two };
                stack.plus(number as i64)
            }
            (Shape::Constant(one), Shape::Constant(two)) => Shape::Constant(one.wrapping_add(two)),
            _ => {
                let ((one, a), (two, b)) = (split(one), split(two));
                let sum = match rank(one) <= rank(two) {
                    true => self.of(Origin::Sum(one, two)),
                    false => self.of(Origin::Sum(two, one)),
                };
                sum.plus(a.wrapping_add(b))
            }
        }
    }

    /// A multiple of a content.
    pub fn times(&mut self, shape: Shape, scale: u8) -> Shape {
        match shape {
            _ if scale == 1 => shape,
            Shape::Constant(number) => Shape::Constant(number.wrapping_mul(scale.into())),
            Shape::Name(..) => self.of(Origin::Times(shape, scale)),
            _ => self.fresh(),
        }
    }
}

/// Any order will do; constants come first.
fn rank(shape: Shape) -> (u8, u64) {
    match shape {
        Shape::Constant(number) => (0, number),
        Shape::Stack(offset) => (1, offset as u64),
        Shape::Name(name, _) => (2, name.into()),
        Shape::Other => (3, 0),
    }
}
