//! What the debug information knows: places in the source text, and the fields of structures.

use super::{FileId, LayoutId, PlaceId, Program};

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

impl Program {
    /// The way from a structure to so many bytes at an offset in it, as people write it: `box.corners[].y`. Shorter if the bytes are more than one
    /// field; `None` if there is no field at all.
    pub fn field_path(&self, layout: LayoutId, offset: u64, size: u64) -> Option<String> {
        let mut path = String::new();
        let (mut layout, mut offset) = (self.layouts.get(layout.index())?, offset);
        // It may be an element of an array of them.
        offset = offset.checked_rem(layout.size)?;
        while let Some(field) = layout.field(offset, size) {
            if !field.name.is_empty() {
                let dot = if path.is_empty() { "" } else { "." };
                path = format!("{path}{dot}{}", field.name);
            }
            offset -= field.offset;
            if let Some(stride) = field.stride.filter(|stride| *stride >= size && *stride > 0) {
                path.push_str("[]");
                offset %= stride;
            }
            match field
                .layout
                .and_then(|inner| self.layouts.get(inner.index()))
            {
                Some(inner) => layout = inner,
                None => break,
            }
        }
        (!path.is_empty()).then_some(path)
    }
}

impl Program {
    /// A member of a structure by its type: `account.lock`.
    pub fn member_name(&self, layout: LayoutId, offset: i64) -> String {
        let Some(layout) = self.layouts.get(layout.index()) else {
            return "memory".to_owned();
        };
        let name = layout.name.strip_prefix("struct ").unwrap_or(&layout.name);
        let mut fields = layout.fields.iter();
        match fields.find(|field| field.offset as i64 == offset) {
            Some(field) if !field.name.is_empty() => format!("{name}.{}", field.name),
            _ => name.to_owned(),
        }
    }
}

impl Layout {
    /// The smallest field that has all of these bytes; the first of several.
    fn field(&self, offset: u64, size: u64) -> Option<&Field> {
        let has =
            |field: &&Field| field.offset <= offset && offset + size <= field.offset + field.size;
        let fields = self.fields.iter().filter(has);
        fields.min_by_key(|field| field.size)
    }
}

#[cfg(test)]
mod tests {
    use super::{Field, Layout, LayoutId, Program};

    fn field(
        name: &str,
        offset: u64,
        size: u64,
        layout: Option<u32>,
        stride: Option<u64>,
    ) -> Field {
        Field {
            name: name.to_owned(),
            offset,
            size,
            layout: layout.map(LayoutId),
            stride,
        }
    }

    fn program() -> Program {
        let point = vec![field("x", 0, 4, None, None), field("y", 4, 4, None, None)];
        let either = vec![
            field("number", 0, 4, None, None),
            field("pointer", 0, 8, None, None),
        ];
        let whole = vec![
            field("corners", 0, 32, Some(0), Some(8)),
            field("", 32, 8, Some(1), None),
            field("name", 40, 16, None, Some(1)),
        ];
        let layouts = [
            ("point", 8, point),
            ("either", 8, either),
            ("whole", 56, whole),
        ];
        let layouts = layouts.map(|(name, size, fields)| Layout {
            name: name.to_owned(),
            size,
            fields,
        });
        Program {
            layouts: layouts.into(),
            ..Program::default()
        }
    }

    #[test]
    fn fields_have_paths() {
        let program = program();
        let path = |offset, size| program.field_path(LayoutId(2), offset, size);
        assert_eq!(path(12, 4).as_deref(), Some("corners[].y"));
        assert_eq!(path(8, 8).as_deref(), Some("corners[]"));
        assert_eq!(path(0, 32).as_deref(), Some("corners"));
        assert_eq!(path(32, 8).as_deref(), Some("pointer"));
        assert_eq!(path(32, 4).as_deref(), Some("number"));
        assert_eq!(path(43, 1).as_deref(), Some("name[]"));
        assert_eq!(path(56 + 44, 1).as_deref(), Some("name[]"));
        assert_eq!(path(0, 56), None);
    }
}
