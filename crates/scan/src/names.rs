//! What people call the memory at a path.

use crate::analysis::Analysis;
use crate::ir::{FunctionId, LayoutId, PlaceId, ValueId};
use crate::path::{Base, PathId, Site, Step};
use crate::pointees::Pointer;

impl Analysis<'_> {
    /// The name of a path: `accounts[].balance`, `list->lock`.
    pub fn name(&self, path: PathId) -> String {
        self.name_and_layout(path).0
    }

    /// The name of so many bytes at a path. The first field of a structure has the structure's own path.
    pub fn access_name(&self, path: PathId, size: u64) -> String {
        let (name, layout, is_address) = self.name_parts(path);
        let field = layout.filter(|id| {
            let layout = self.program.layouts.get(id.index());
            layout.is_some_and(|layout| 0 < size && size < layout.size)
        });
        let field = field.and_then(|layout| self.program.field_path(layout, 0, size));
        match (field, is_address) {
            (Some(field), true) => format!("{name}->{field}"),
            (Some(field), false) => format!("{name}.{field}"),
            (None, true) => format!("*{name}"),
            (None, false) => name,
        }
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
        match self.name_parts(path) {
            (name, _, true) => (format!("*{name}"), None),
            (name, layout, false) => (name, layout),
        }
    }

    /// The name of a path, or of an address there, what lies there, and whether it is the address's.
    fn name_parts(&self, path: PathId) -> (String, Option<LayoutId>, bool) {
        let (mut name, mut layout) = self.base_name(self.paths.origin(path));
        // Whether the name so far is that of an address.
        let mut is_address = matches!(
            self.paths.origin(path),
            Base::Parameter(_) | Base::Value(..) | Base::Given(_) | Base::Own(_)
        ) || self.is_named_block(path);
        let mut pointer = match self.paths.origin(path) {
            Base::Global(global) => Some(Pointer::Global(global, 0)),
            _ => layout.map(|layout| Pointer::Field(layout, 0)),
        };
        for step in self.paths.steps(path) {
            match step {
                Step::Field(offset) => {
                    pointer = match pointer {
                        Some(Pointer::Global(global, 0)) => Some(Pointer::Global(global, offset)),
                        _ => layout.map(|layout| Pointer::Field(layout, offset)),
                    };
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
                    pointer = layout.map(|layout| Pointer::Field(layout, 0));
                }
                Step::Load => {
                    if is_address {
                        name = format!("(*{name})");
                    }
                    layout = pointer.and_then(|pointer| self.pointees.at(pointer));
                    pointer = layout.map(|layout| Pointer::Field(layout, 0));
                    is_address = true;
                }
                Step::Own(_) => {}
            }
        }
        (name, layout, is_address)
    }

    fn base_name(&self, base: Base) -> (String, Option<LayoutId>) {
        let value = |function: FunctionId, value: ValueId| {
            let function = self.program.function(function);
            let known = function.values.get(value.index());
            let name = known.and_then(|value| value.name.clone());
            let name = name.unwrap_or_else(|| format!("a value of {}", function.shown));
            (name, known.and_then(|value| value.pointee))
        };
        match base {
            Base::Parameter(number) => (format!("argument {number}"), None),
            Base::Global(global) => {
                let global = self.program.global(global);
                (global.shown.clone(), global.layout)
            }
            Base::Local(function, local) | Base::Value(function, local) => value(function, local),
            Base::Heap(site) => {
                let (name, layout) = self.allocated(site);
                if let Some(name) = name {
                    return (name, layout);
                }
                let place = self.place(site);
                let at =
                    place.map_or_else(String::new, |place| format!(" of {}", self.told(place)));
                (format!("heap block{at}"), layout)
            }
            Base::Given(number) => {
                let layout = LayoutId(number);
                let name = self.program.layouts.get(layout.index());
                let name = name.map_or_else(|| "data".to_owned(), |layout| layout.name.clone());
                (name, Some(layout))
            }
            Base::Own(id) => (self.program.function(id).shown.clone() + "()", None),
            Base::Named(number) => (self.model.name(number).to_owned(), None),
        }
    }

    /// The variable that what a statement allocates is put into, and what it consists of.
    fn allocated(&self, site: Site) -> (Option<String>, Option<LayoutId>) {
        let function = self.program.function(site.function);
        let block = function.blocks.get(site.block as usize);
        let statement = block.and_then(|block| block.statements.get(site.statement as usize));
        let into = statement.and_then(|statement| statement.kind.assigned());
        let value = into.and_then(|into| function.values.get(into.index()));
        value.map_or((None, None), |value| (value.name.clone(), value.pointee))
    }

    /// Whether a path begins with a block that has the name of the pointer to it.
    fn is_named_block(&self, path: PathId) -> bool {
        match self.paths.origin(path) {
            Base::Heap(site) => self.allocated(site).0.is_some(),
            _ => false,
        }
    }

    /// The field at an offset, and what it consists of if it is all of it.
    fn field_name(&self, layout: Option<LayoutId>, offset: i64) -> (String, Option<LayoutId>) {
        let Some(layout) = layout.and_then(|id| self.program.layouts.get(id.index())) else {
            return (format!("+{offset}"), None);
        };
        // Before its beginning there is something else, of which it is a part.
        if offset < 0 {
            return (format!("+{offset}"), None);
        }
        let mut fields = layout.fields.iter();
        let is_field = fields.any(|field| field.offset as i64 == offset);
        let offset = match layout.size {
            0 => offset,
            // An array without a length, where its structure ends.
            _ if is_field => offset,
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
        let until = (site.statement as usize + 1).min(block.statements.len());
        let upto = &block.statements[..until];
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
