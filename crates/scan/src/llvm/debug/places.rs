//! Places in the source text, each once.

use rustc_hash::FxHashMap;

use crate::ir::{FileId, Place, PlaceId};
use crate::llvm::node::{Node, kind};

/// All places and files that were asked for.
#[derive(Default)]
pub(in crate::llvm) struct Places<'m> {
    pub(in crate::llvm) places: Vec<Place>,
    pub(in crate::llvm) files: Vec<String>,
    by_place: FxHashMap<Place, PlaceId>,
    by_node: FxHashMap<Node<'m>, Option<PlaceId>>,
    by_file: FxHashMap<Node<'m>, FileId>,
    by_path: FxHashMap<String, FileId>,
    functions: FxHashMap<Node<'m>, Option<String>>,
}

/// Operands of scopes, locations, variables and files.
mod operand {
    pub(super) const FILE: usize = 0;
    pub(super) const SCOPE: usize = 1;
    pub(super) const NAME: usize = 2;
    pub(super) const VARIABLE_FILE: usize = 2;
    pub(super) const FILE_NAME: usize = 0;
    pub(super) const DIRECTORY: usize = 1;
}

/// How deeply calls may have been inlined.
const DEPTH: usize = 128;

/// The path of a file, without ways back: headers of the compiler are found through those.
fn path(file: Node) -> Option<String> {
    let name = file.text(operand::FILE_NAME)?;
    let path = match file.text(operand::DIRECTORY) {
        Some(directory) if !name.starts_with('/') => {
            let name = name.strip_prefix("./").unwrap_or(&name);
            format!("{}/{name}", directory.trim_end_matches('/'))
        }
        _ => name,
    };
    if !path.starts_with('/') || !path.contains("/../") {
        return Some(path);
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').skip(1) {
        match part {
            ".." => drop(parts.pop()),
            other => parts.push(other),
        }
    }
    Some(format!("/{}", parts.join("/")))
}

/// The file of a function's own entry.
pub(in crate::llvm) fn file_of(function: Node) -> Option<String> {
    path(function.operand(operand::FILE)?)
}

impl<'m> Places<'m> {
    /// The place of an instruction's location.
    pub(in crate::llvm) fn at(&mut self, location: Node<'m>) -> Option<PlaceId> {
        self.inlined(location, DEPTH)
    }

    fn inlined(&mut self, location: Node<'m>, depth: usize) -> Option<PlaceId> {
        if let Some(known) = self.by_node.get(&location) {
            return *known;
        }
        let (line, column) = location.line_and_column()?;
        let (scope, inlined_at) = location.scope_and_inlined_at();
        let scope = scope?;
        let inlined_at = match inlined_at {
            Some(outer) if depth > 0 => self.inlined(outer, depth - 1),
            _ => None,
        };
        let place = self.file_of(scope).map(|file| Place {
            file,
            line,
            column,
            function: self.function_of(scope),
            inlined_at,
        });
        let id = place.map(|place| self.add(place));
        self.by_node.insert(location, id);
        id
    }

    /// Where a function or a variable is declared.
    pub(in crate::llvm) fn declared(&mut self, node: Node<'m>) -> Option<PlaceId> {
        let file = match node.kind() {
            kind::SUBPROGRAM => node.operand(operand::FILE)?,
            _ => node.operand(operand::VARIABLE_FILE)?,
        };
        let place = Place {
            file: self.file(file)?,
            line: node.declared_line(),
            column: 0,
            function: None,
            inlined_at: None,
        };
        Some(self.add(place))
    }

    fn add(&mut self, place: Place) -> PlaceId {
        let next = PlaceId::new(self.places.len());
        let id = *self.by_place.entry(place.clone()).or_insert(next);
        if id == next {
            self.places.push(place);
        }
        id
    }

    fn file_of(&mut self, scope: Node<'m>) -> Option<FileId> {
        self.file(scope.operand(operand::FILE)?)
    }

    fn file(&mut self, node: Node<'m>) -> Option<FileId> {
        if let Some(known) = self.by_file.get(&node) {
            return Some(*known);
        }
        if node.kind() != kind::FILE {
            return None;
        }
        let path = path(node)?;
        let next = FileId::new(self.files.len());
        let id = *self.by_path.entry(path.clone()).or_insert(next);
        if id == next {
            self.files.push(path);
        }
        self.by_file.insert(node, id);
        Some(id)
    }

    /// The name of the function around a scope.
    fn function_of(&mut self, scope: Node<'m>) -> Option<String> {
        if let Some(known) = self.functions.get(&scope) {
            return known.clone();
        }
        let mut around = Some(scope);
        while let Some(block) = around.filter(|each| each.kind() != kind::SUBPROGRAM) {
            let is_block = matches!(block.kind(), kind::BLOCK | kind::BLOCK_FILE);
            around = is_block.then(|| block.operand(operand::SCOPE)).flatten();
        }
        let name = around.and_then(|function| function.text(operand::NAME));
        self.functions.insert(scope, name.clone());
        name
    }
}
