//! What the debug information knows: places in the source text, and the fields of structures.

use super::{FileId, LayoutId, PlaceId};

/// A place in the source text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The line, from 1; 0 if it is not known.
    pub line: u32,
    /// The column, from 1; 0 if it is not known.
    pub column: u32,
    /// The function of the source text, which may have been inlined.
    pub function: Option<String>,
    /// Where it was inlined.
    pub inlined_at: Option<PlaceId>,
}

/// What a structure consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Its name as people write it: `struct account`.
    pub name: String,
    /// How many bytes it has.
    pub size: u64,
    /// Its fields, by their offsets.
    pub fields: Vec<Field>,
}

/// A field of a structure.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Its name; empty for an anonymous structure or union.
    pub name: String,
    /// Where it begins.
    pub offset: u64,
    /// How many bytes it has.
    pub size: u64,
    /// What it consists of, if it is a structure, or an array of them.
    pub layout: Option<LayoutId>,
    /// How many bytes an element has, if it is an array.
    pub stride: Option<u64>,
}
