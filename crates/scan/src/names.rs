//! What people call the memory at a path.

use crate::analysis::Analysis;
use crate::ir::{FunctionId, LayoutId, PlaceId, ValueId};
use crate::path::{Base, PathId, Site, Step};

impl Analysis<'_> {
    /// The name of a path: `accounts[].balance`, `list->lock`.
    pub fn name(&self, path: PathId) -> String {
        self.name_and_layout(path).0
    }

    /// The name of a lock. One that is the first field of a structure has the structure's own path.
    pub fn lock_name(&self, path: PathId) -> String {
        let (name, layout) = self.name_and_layout(path);
        let layout = layout.and_then(|id| self.program.layouts.get(id.index()));
        let Some(layout) = layout.filter(|layout| !is_lock(&layout.name)) else {
            return name;
        };
        let first = layout.fields.iter().find(|field| field.offset == 0);
        match first {
            Some(field) if field.size < layout.size && field.layout.is_some() => {
                format!("{name}.{}", field.name)
            }
            _ => name,
        }
    }

    /// The name of a path, and what lies there if that is known.
    fn name_and_layout(&self, path: PathId) -> (String, Option<LayoutId>) {
        let (mut name, mut layout) = self.base_name(self.paths.origin(path));
        // Whether the name so far is that of an address.
        let mut is_address = matches!(
            self.paths.origin(path),
            Base::Parameter(_) | Base::Value(..) | Base::Given(_)
        );
        for step in self.paths.steps(path) {
            match step {
                Step::Field(offset) => {
                    let (field, inner) = self.field_name(layout, offset);
                    let (stem, link) = match is_address {
                        true => (name, "->"),
                        false => (name, "."),
                    };
                    name = format!("{stem}{link}{field}");
                    layout = inner;
                    is_address = false;
                }
                Step::Element(..) => {
                    name.push_str("[]");
                    is_address = false;
                }
                Step::Load => {
                    if is_address {
                        name = format!("(*{name})");
                    }
                    layout = None;
                    is_address = true;
                }
                Step::Own(_) => {}
            }
        }
        match is_address {
            true => (format!("*{name}"), None),
            false => (name, layout),
        }
    }

    fn base_name(&self, base: Base) -> (String, Option<LayoutId>) {
        let value = |function: FunctionId, value: ValueId| {
            let values = &self.program.function(function).values;
            let known = values
                .get(value.index())
                .and_then(|value| value.name.clone());
            known.unwrap_or_else(|| format!("a value of {}", self.program.function(function).shown))
        };
        match base {
            Base::Parameter(number) => (format!("argument {number}"), None),
            Base::Global(global) => {
                let global = self.program.global(global);
                (global.shown.clone(), global.layout)
            }
            Base::Local(function, local) | Base::Value(function, local) => {
                (value(function, local), None)
            }
            Base::Heap(site) => {
                let place = self.place(site);
                let at =
                    place.map_or_else(String::new, |place| format!(" of {}", self.told(place)));
                (format!("heap block{at}"), None)
            }
            Base::Given(number) => {
                let layout = LayoutId(number);
                let name = self.program.layouts.get(layout.index());
                let name = name.map_or_else(|| "data".to_owned(), |layout| layout.name.clone());
                (name, Some(layout))
            }
            Base::Named(number) => (self.model.name(number).to_owned(), None),
        }
    }

    /// The field at an offset, and what it consists of if it is all of it.
    fn field_name(&self, layout: Option<LayoutId>, offset: i64) -> (String, Option<LayoutId>) {
        let Some(layout) = layout.and_then(|id| self.program.layouts.get(id.index())) else {
            return (format!("+{offset}"), None);
        };
        let offset = match layout.size {
            0 => offset,
            // An element of an array.
            size => offset.rem_euclid(size as i64),
        };
        let mut around = layout.fields.iter().rev().filter(|field| {
            let from = field.offset as i64;
            (from..from + (field.size.max(1) as i64)).contains(&offset)
        });
        let Some(field) = around.next() else {
            return (format!("+{offset}"), None);
        };
        let inside = offset - field.offset as i64;
        match (inside, field.layout, field.stride) {
            (0, inner, _) if inner.is_none() || field.stride.is_none() => {
                (field.name.clone(), inner)
            }
            (_, inner, Some(stride)) if stride > 0 => {
                let (index, rest) = (inside as u64 / stride, inside as u64 % stride);
                let (tail, inner) = match (rest, inner) {
                    (0, inner) => (String::new(), inner),
                    (rest, inner) => {
                        let (name, inner) = self.field_name(inner, rest as i64);
                        (format!(".{name}"), inner)
                    }
                };
                (format!("{}[{index}]{tail}", field.name), inner)
            }
            (_, Some(inner), _) => {
                let (name, deeper) = self.field_name(Some(inner), inside);
                match field.name.is_empty() {
                    true => (name, deeper),
                    false => (format!("{}.{name}", field.name), deeper),
                }
            }
            _ => (format!("{}+{inside}", field.name), None),
        }
    }

    /// Where a statement stands in the source text; the nearest one before it that is known.
    pub fn place(&self, site: Site) -> Option<PlaceId> {
        let block = &self.program.function(site.function).blocks[site.block as usize];
        let upto = &block.statements[..=(site.statement as usize).min(block.statements.len() - 1)];
        upto.iter().rev().find_map(|statement| statement.place)
    }

    /// `file:line`.
    pub fn told(&self, place: PlaceId) -> String {
        let place = &self.program.places[place.index()];
        format!("{}:{}", self.program.files[place.file.index()], place.line)
    }
}

/// Whether a type is a lock, by its name: then its fields are nobody's concern.
fn is_lock(layout: &str) -> bool {
    let name = layout.to_lowercase();
    ["lock", "mutex", "sem"]
        .iter()
        .any(|word| name.contains(word))
}
