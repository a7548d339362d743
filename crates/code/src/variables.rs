//! From addresses of memory to global variables, and to the fields and elements inside them.
//!
//! Names come from the symbol table; which part of a variable an address is, from the debug
//! information's types, where there are any.

use std::collections::HashMap;

use gimli::{
    AttributeValue, DebuggingInformationEntry, Dwarf, EndianSlice, LittleEndian, Operation, Unit,
    UnitOffset,
};
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

use crate::Binary;
use crate::frames::demangled;

/// A global variable, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variable {
    /// Its name as its programmer wrote it.
    pub name: String,
    /// The part that an address lies in, as in `[2].balance`; empty if it is not known, or the
    /// variable has no parts.
    pub part: String,
    /// How far in the address lies.
    pub offset: u64,
    /// How long the variable is.
    pub size: u64,
    /// Where it is declared: file and line.
    pub declared: Option<(String, u32)>,
}

/// The global variables of a program or library.
pub(crate) struct Variables {
    symbols: Vec<Symbol>,
    /// What the debug information says, by address.
    declared: HashMap<u64, Declared>,
}

struct Symbol {
    start: u64,
    size: u64,
    name: String,
}

/// A variable of the debug information, with the parts of its type.
struct Declared {
    at: Option<(String, u32)>,
    shape: Shape,
}

/// What a type is made of, as far as parts of it have names.
#[derive(Clone, Debug)]
enum Shape {
    /// No parts.
    Plain,
    /// Fields: offset, size, name, shape.
    Fields(Vec<(u64, u64, String, Shape)>),
    /// Elements of this size.
    Elements(u64, Box<Shape>),
}

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// Types inside types that are followed: deeper ones have no named parts.
const DEEPEST: u32 = 12;

impl Variables {
    pub fn of(binary: &Binary) -> Variables {
        let Ok(object) = object::File::parse(binary.data()) else {
            return Variables {
                symbols: Vec::new(),
                declared: HashMap::new(),
            };
        };
        Variables {
            symbols: symbols(&object),
            declared: declared(&object).unwrap_or_default(),
        }
    }

    pub fn at(&self, address: u64) -> Option<Variable> {
        let after = self
            .symbols
            .partition_point(|symbol| symbol.start <= address);
        let symbol = self.symbols.get(after.checked_sub(1)?)?;
        let offset = address - symbol.start;
        if offset >= symbol.size {
            return None;
        }
        let declared = self.declared.get(&symbol.start);
        Some(Variable {
            name: symbol.name.clone(),
            part: declared.map_or_else(String::new, |declared| declared.shape.part(offset)),
            offset,
            size: symbol.size,
            declared: declared.and_then(|declared| declared.at.clone()),
        })
    }
}

impl Shape {
    /// The part at an offset, for people.
    fn part(&self, mut offset: u64) -> String {
        let mut shape = self;
        let mut path = String::new();
        loop {
            match shape {
                Shape::Plain => return path,
                Shape::Fields(fields) => {
                    let inside = |(start, size, ..): &&(u64, u64, String, Shape)| {
                        (*start..start.saturating_add(*size)).contains(&offset)
                    };
                    let Some((start, _, name, inner)) = fields.iter().find(inside) else {
                        return path;
                    };
                    if !name.is_empty() {
                        path.push('.');
                        path.push_str(name);
                    }
                    offset -= start;
                    shape = inner;
                }
                Shape::Elements(size, inner) => {
                    path.push_str(&format!("[{}]", offset / size));
                    offset %= size;
                    shape = inner;
                }
            }
        }
    }
}

fn symbols(object: &object::File<'_>) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    for symbol in object.symbols().chain(object.dynamic_symbols()) {
        if symbol.kind() != SymbolKind::Data || symbol.is_undefined() || symbol.size() == 0 {
            continue;
        }
        if let Ok(name) = symbol.name() {
            symbols.push(Symbol {
                start: symbol.address(),
                size: symbol.size(),
                name: demangled(without_number(name)),
            });
        }
    }
    symbols.sort_by(|a, b| (a.start, a.size, &a.name).cmp(&(b.start, b.size, &b.name)));
    symbols.dedup_by_key(|symbol| symbol.start);
    symbols
}

/// A variable inside a C function without the number that gcc gives it: `count.0`.
fn without_number(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((front, number))
            if !front.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            front
        }
        _ => name,
    }
}

fn declared(object: &object::File<'_>) -> Result<HashMap<u64, Declared>, gimli::Error> {
    let section = |id: gimli::SectionId| -> Result<Slice<'_>, gimli::Error> {
        let data = object.section_by_name(id.name());
        // Compressed sections are left out: then there are names without parts.
        let data = data.and_then(|section| section.data().ok());
        Ok(EndianSlice::new(data.unwrap_or_default(), LittleEndian))
    };
    let dwarf = Dwarf::load(section)?;
    let mut found = HashMap::new();
    let mut headers = dwarf.units();
    while let Some(header) = headers.next()? {
        let unit = dwarf.unit(header)?;
        // A unit that is not understood costs its own variables only.
        let _ = declared_in(&dwarf, &unit, &mut found);
    }
    Ok(found)
}

fn declared_in(
    dwarf: &Dwarf<Slice<'_>>,
    unit: &Unit<Slice<'_>>,
    found: &mut HashMap<u64, Declared>,
) -> Result<(), gimli::Error> {
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        if entry.tag() != gimli::DW_TAG_variable {
            continue;
        }
        let Some(address) = address_of(dwarf, unit, entry)? else {
            continue;
        };
        // What a definition does not say, its declaration does.
        let origin = match entry.attr_value(gimli::DW_AT_specification) {
            Some(AttributeValue::UnitRef(offset)) => unit.entry(offset).ok(),
            _ => None,
        };
        let of_either = |name| {
            let own = entry.attr_value(name);
            own.or_else(|| origin.as_ref()?.attr_value(name))
        };
        let shape = match of_either(gimli::DW_AT_type) {
            Some(AttributeValue::UnitRef(of)) => shape(dwarf, unit, of, DEEPEST)?.1,
            _ => Shape::Plain,
        };
        let file = of_either(gimli::DW_AT_decl_file);
        let line = of_either(gimli::DW_AT_decl_line).and_then(|value| value.udata_value());
        let at = match (file, line) {
            (Some(AttributeValue::FileIndex(file)), Some(line)) => {
                file_name(dwarf, unit, file).map(|file| (file, line as u32))
            }
            _ => None,
        };
        found.insert(address, Declared { at, shape });
    }
    Ok(())
}

/// The address of a variable that has one for the whole life of the program.
fn address_of(
    dwarf: &Dwarf<Slice<'_>>,
    unit: &Unit<Slice<'_>>,
    entry: &DebuggingInformationEntry<Slice<'_>>,
) -> Result<Option<u64>, gimli::Error> {
    let Some(AttributeValue::Exprloc(expression)) = entry.attr_value(gimli::DW_AT_location) else {
        return Ok(None);
    };
    let mut operations = expression.operations(unit.encoding());
    match (operations.next()?, operations.next()?) {
        (Some(Operation::Address { address }), None) => Ok(Some(address)),
        (Some(Operation::AddressIndex { index }), None) => dwarf.address(unit, index).map(Some),
        _ => Ok(None),
    }
}

/// The size of a type, and its parts.
fn shape(
    dwarf: &Dwarf<Slice<'_>>,
    unit: &Unit<Slice<'_>>,
    at: UnitOffset,
    deep: u32,
) -> Result<(Option<u64>, Shape), gimli::Error> {
    let entry = unit.entry(at)?;
    let size = entry.attr_value(gimli::DW_AT_byte_size);
    let size = size.and_then(|value| value.udata_value());
    if deep == 0 {
        return Ok((size, Shape::Plain));
    }
    let inner = match entry.attr_value(gimli::DW_AT_type) {
        Some(AttributeValue::UnitRef(offset)) => Some(offset),
        _ => None,
    };
    match entry.tag() {
        gimli::DW_TAG_typedef
        | gimli::DW_TAG_const_type
        | gimli::DW_TAG_volatile_type
        | gimli::DW_TAG_atomic_type => match inner {
            Some(inner) => shape(dwarf, unit, inner, deep - 1),
            None => Ok((size, Shape::Plain)),
        },
        gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => {
            let fields = fields(dwarf, unit, at, deep)?;
            Ok((size, Shape::Fields(fields)))
        }
        gimli::DW_TAG_array_type => {
            let Some(inner) = inner else {
                return Ok((size, Shape::Plain));
            };
            let (element, inner) = shape(dwarf, unit, inner, deep - 1)?;
            let Some(element) = element.filter(|size| *size > 0) else {
                return Ok((size, Shape::Plain));
            };
            Ok(elements(unit, at, element, inner)?)
        }
        _ => Ok((size.or(Some(8)), Shape::Plain)),
    }
}

fn fields(
    dwarf: &Dwarf<Slice<'_>>,
    unit: &Unit<Slice<'_>>,
    at: UnitOffset,
    deep: u32,
) -> Result<Vec<(u64, u64, String, Shape)>, gimli::Error> {
    let mut found = Vec::new();
    let mut tree = unit.entries_tree(Some(at))?;
    let mut children = tree.root()?.children();
    while let Some(child) = children.next()? {
        let entry = child.entry();
        let is_base = entry.tag() == gimli::DW_TAG_inheritance;
        if entry.tag() != gimli::DW_TAG_member && !is_base {
            continue;
        }
        let start = entry.attr_value(gimli::DW_AT_data_member_location);
        let Some(start) = start.and_then(|value| value.udata_value()) else {
            continue; // a bit field, or a static member
        };
        let Some(AttributeValue::UnitRef(of)) = entry.attr_value(gimli::DW_AT_type) else {
            continue;
        };
        let name = match entry.attr_value(gimli::DW_AT_name) {
            Some(name) if !is_base => dwarf.attr_string(unit, name)?.to_string_lossy().into(),
            _ => String::new(),
        };
        let (size, shape) = shape(dwarf, unit, of, deep - 1)?;
        found.push((start, size.unwrap_or(0), name, shape));
    }
    Ok(found)
}

/// An array of one or more dimensions.
fn elements(
    unit: &Unit<Slice<'_>>,
    at: UnitOffset,
    element: u64,
    inner: Shape,
) -> Result<(Option<u64>, Shape), gimli::Error> {
    let mut lengths = Vec::new();
    let mut tree = unit.entries_tree(Some(at))?;
    let mut children = tree.root()?.children();
    while let Some(child) = children.next()? {
        let entry = child.entry();
        let number = |name| entry.attr_value(name).and_then(|value| value.udata_value());
        let last = number(gimli::DW_AT_upper_bound).map(|last| last.wrapping_add(1));
        lengths.push(number(gimli::DW_AT_count).or(last));
    }
    let (mut size, mut shape) = (Some(element), inner);
    for length in lengths.into_iter().rev() {
        let Some(step) = size.filter(|size| *size > 0) else {
            return Ok((None, Shape::Plain));
        };
        shape = Shape::Elements(step, Box::new(shape));
        size = length.and_then(|length| length.checked_mul(step));
    }
    Ok((size, shape))
}

fn file_name(dwarf: &Dwarf<Slice<'_>>, unit: &Unit<Slice<'_>>, index: u64) -> Option<String> {
    let header = unit.line_program.as_ref()?.header();
    let file = header.file(index)?;
    let text = |value| {
        Some(
            dwarf
                .attr_string(unit, value)
                .ok()?
                .to_string_lossy()
                .into_owned(),
        )
    };
    let name = text(file.path_name())?;
    if name.starts_with('/') {
        return Some(name);
    }
    let folder = file.directory(header).and_then(text).unwrap_or_default();
    let compiled_in = unit
        .comp_dir
        .map(|folder| folder.to_string_lossy().into_owned());
    let mut path = std::path::PathBuf::from(compiled_in.unwrap_or_default());
    path.push(folder);
    path.push(name);
    Some(path.to_string_lossy().into_owned())
}
