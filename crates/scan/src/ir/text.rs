//! A program as text, for people who want to see what the analyses see.
//!
//! The text is stable: the same program gives the same text, and files are named without their directories.

use std::fmt::{self, Display, Formatter, Write};
use std::path::Path;

use super::{
    Block, Callee, Comparison, Function, Global, Kind, Layout, LayoutId, Mark, Offset, Operand,
    PlaceId, Program, Terminator, ValueId,
};

/// A program that is shown as text.
///
/// ```
/// let program = deadheat_scan::ir::Program::default();
/// assert_eq!(deadheat_scan::ir::Text(&program).to_string(), "");
/// ```
pub struct Text<'p>(pub &'p Program);

impl Display for Text<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let program = self.0;
        for note in &program.unread {
            writeln!(out, "not read: {note}")?;
        }
        for layout in &program.layouts {
            self.layout(out, layout)?;
        }
        for global in &program.globals {
            self.global(out, global)?;
        }
        for function in &program.functions {
            self.function(out, function)?;
        }
        for (alias, id) in &program.aliases {
            writeln!(out, "alias {alias} = {}", program.function(*id).name)?;
        }
        Ok(())
    }
}

impl Text<'_> {
    fn layout(&self, out: &mut Formatter<'_>, layout: &Layout) -> fmt::Result {
        writeln!(out, "layout {}, {} bytes", layout.name, layout.size)?;
        for field in &layout.fields {
            let name = match field.name.as_str() {
                "" => "(unnamed)",
                name => name,
            };
            write!(out, "  {:>4} +{} {name}", field.offset, field.size)?;
            if let Some(inner) = field.layout {
                write!(out, ": {}", self.layout_name(inner))?;
            }
            if let Some(stride) = field.stride {
                write!(out, " every {stride}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    fn global(&self, out: &mut Formatter<'_>, global: &Global) -> fmt::Result {
        write!(out, "global {}, {} bytes", global.shown, global.size)?;
        if let Some(layout) = global.layout {
            write!(out, ", {}", self.layout_name(layout))?;
        }
        let traits = [
            (global.is_constant, "constant"),
            (global.is_thread_local, "thread-local"),
            (global.is_external, "external"),
        ];
        for (_, said) in traits.iter().filter(|(holds, _)| *holds) {
            write!(out, ", {said}")?;
        }
        self.section(out, global.section.as_deref())?;
        self.place(out, global.place)?;
        writeln!(out)?;
        for (offset, operand) in &global.holds {
            writeln!(out, "  {offset:>4} {}", self.operand(*operand))?;
        }
        Ok(())
    }

    fn function(&self, out: &mut Formatter<'_>, function: &Function) -> fmt::Result {
        write!(out, "function {}(", function.shown)?;
        for parameter in 0..function.parameters {
            let comma = if parameter > 0 { ", " } else { "" };
            let value = function.values.get(parameter as usize);
            let name = value.and_then(|value| value.name.as_deref());
            write!(out, "{comma}%{parameter}")?;
            if let Some(name) = name {
                write!(out, " {name}")?;
            }
        }
        out.write_str(")")?;
        let traits = [
            (function.is_external, "external"),
            (function.is_address_taken, "address taken"),
        ];
        for (_, said) in traits.iter().filter(|(holds, _)| *holds) {
            write!(out, ", {said}")?;
        }
        self.section(out, function.section.as_deref())?;
        self.place(out, function.place)?;
        writeln!(out)?;
        for (number, block) in function.blocks.iter().enumerate() {
            writeln!(out, " {number}:")?;
            self.block(out, function, block)?;
        }
        Ok(())
    }

    fn block(&self, out: &mut Formatter<'_>, function: &Function, block: &Block) -> fmt::Result {
        for statement in &block.statements {
            let mut line = String::from("  ");
            if let Some(into) = statement.kind.assigned() {
                write!(line, "%{}", into.0)?;
                let value = function.values.get(into.index());
                if let Some(name) = value.and_then(|value| value.name.as_deref()) {
                    write!(line, " {name}")?;
                }
                line.push_str(" = ");
            }
            self.kind(&mut line, &statement.kind)?;
            write!(out, "{line}")?;
            self.place(out, statement.place)?;
            writeln!(out)?;
        }
        out.write_str("  ")?;
        self.terminator(out, &block.terminator)?;
        writeln!(out)
    }

    fn kind(&self, out: &mut String, kind: &Kind) -> fmt::Result {
        match kind {
            Kind::Local { size, layout, .. } => {
                write!(out, "local {size}")?;
                self.of_layout(out, *layout)
            }
            Kind::Load {
                from, size, mark, ..
            } => {
                let from = self.operand(*from);
                write!(out, "load {size} [{from}]{}", marked(*mark))
            }
            Kind::Store {
                to,
                value,
                size,
                mark,
            } => {
                let (to, value) = (self.operand(*to), self.operand(*value));
                write!(out, "store {size} [{to}] {value}{}", marked(*mark))
            }
            Kind::Update {
                at, value, size, ..
            } => {
                let (at, value) = (self.operand(*at), self.operand(*value));
                write!(out, "update {size} [{at}] {value}")
            }
            Kind::Fence => out.write_str("fence"),
            Kind::Copy { from, .. } => {
                out.write_str("copy")?;
                for (operand, block) in from {
                    write!(out, " {}", self.operand(*operand))?;
                    if let Some(block) = block {
                        write!(out, " from {}", block.0)?;
                    }
                }
                Ok(())
            }
            Kind::Part {
                base,
                offset,
                layout,
                ..
            } => {
                write!(out, "part {}", self.operand(*base))?;
                match offset {
                    Offset::Constant(by) => write!(out, " {by:+}")?,
                    Offset::Element {
                        stride,
                        index,
                        constant,
                    } => write!(out, " {constant:+} + %{} * {stride}", index.0)?,
                    Offset::Unknown => out.write_str(" + ?")?,
                }
                self.of_layout(out, *layout)
            }
            Kind::Compute { from, .. } => {
                out.write_str("compute")?;
                self.operands(out, from)
            }
            Kind::Compare { how, operands, .. } => {
                let [a, b] = operands.map(|operand| self.operand(operand));
                write!(out, "compare {a} {} {b}", sign(*how))
            }
            Kind::Call {
                callee, arguments, ..
            } => {
                match callee {
                    Callee::Direct(id) => {
                        write!(out, "call {}", self.0.function(*id).shown)?;
                    }
                    Callee::Indirect(pointer, _) => {
                        write!(out, "call [{}]", self.operand(*pointer))?;
                    }
                    Callee::Assembly => out.write_str("assembly")?,
                }
                out.write_str(" with")?;
                self.operands(out, arguments)
            }
        }
    }

    fn operands(&self, out: &mut String, operands: &[Operand]) -> fmt::Result {
        for operand in operands {
            write!(out, " {}", self.operand(*operand))?;
        }
        Ok(())
    }

    fn terminator(&self, out: &mut Formatter<'_>, terminator: &Terminator) -> fmt::Result {
        match terminator {
            Terminator::Goto(next) => write!(out, "goto {}", next.0),
            Terminator::Branch {
                condition,
                then,
                otherwise,
            } => {
                let condition = self.operand(*condition);
                write!(out, "if {condition} goto {} else {}", then.0, otherwise.0)
            }
            Terminator::Switch {
                on,
                cases,
                otherwise,
            } => {
                write!(out, "switch {}", self.operand(*on))?;
                for (number, block) in cases {
                    write!(out, " {number}: {},", block.0)?;
                }
                write!(out, " else {}", otherwise.0)
            }
            Terminator::Any(blocks) => {
                out.write_str("goto any of")?;
                blocks
                    .iter()
                    .try_for_each(|block| write!(out, " {}", block.0))
            }
            Terminator::Call { then, unwind } => {
                write!(out, "goto {}, or {} if it throws", then.0, unwind.0)
            }
            Terminator::Return(Some(value)) => write!(out, "return {}", self.operand(*value)),
            Terminator::Return(None) => out.write_str("return"),
            Terminator::Unreachable => out.write_str("unreachable"),
        }
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Value(ValueId(number)) => format!("%{number}"),
            Operand::Global(id, 0) => format!("@{}", self.0.global(id).shown),
            Operand::Global(id, offset) => format!("@{}{offset:+}", self.0.global(id).shown),
            Operand::Function(id) => format!("&{}", self.0.function(id).shown),
            Operand::Integer(number) => number.to_string(),
            Operand::Null => "null".to_owned(),
            Operand::Other => "?".to_owned(),
        }
    }

    fn layout_name(&self, id: LayoutId) -> &str {
        let layout = self.0.layouts.get(id.index());
        layout.map_or("?", |layout| layout.name.as_str())
    }

    fn of_layout(&self, out: &mut String, layout: Option<LayoutId>) -> fmt::Result {
        match layout {
            Some(layout) => write!(out, " of {}", self.layout_name(layout)),
            None => Ok(()),
        }
    }

    fn section(&self, out: &mut Formatter<'_>, section: Option<&str>) -> fmt::Result {
        match section {
            Some(section) => write!(out, ", in {section}"),
            None => Ok(()),
        }
    }

    /// The place, and the places where it was inlined.
    fn place(&self, out: &mut Formatter<'_>, place: Option<PlaceId>) -> fmt::Result {
        let mut next = place;
        let mut before = "  ; ";
        while let Some(place) = next.and_then(|id| self.0.places.get(id.index())) {
            let file = self.0.files.get(place.file.index());
            let name = file.and_then(|file| Path::new(file).file_name());
            let name = name.map_or_else(|| "?".into(), |name| name.to_string_lossy());
            write!(out, "{before}{name}:{}", place.line)?;
            if place.column > 0 {
                write!(out, ":{}", place.column)?;
            }
            before = " inlined at ";
            next = place.inlined_at;
        }
        Ok(())
    }
}

fn marked(mark: Mark) -> &'static str {
    match mark {
        Mark::Plain => "",
        Mark::Volatile => " volatile",
        Mark::Atomic => " atomic",
    }
}

fn sign(how: Comparison) -> &'static str {
    match how {
        Comparison::Equal => "==",
        Comparison::Unequal => "!=",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
        Comparison::Other => "?",
    }
}
