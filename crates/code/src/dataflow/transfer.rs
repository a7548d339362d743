//! What one instruction does to what is known.
//!
//! Data dependence only: a value that a branch chose among constants does not depend on the
//! branch's condition here. That branch was passed earlier in the same thread, and is in the
//! trace before whatever uses the value; who needs the value to stay needs the branch to stay.
//!
//! A load from memory other than the stack is announced by the hook directly before it, and
//! depends on that read, and on its address. Compilers cannot move an access across a call, so
//! only the last call counts. Loads that nothing announced are from constant memory, or unknown.

use super::sets::{Set, Sets};
use super::state::{Announced, State};
use super::value::{Names, Origin, Shape, Value};
use crate::arch::{Address, Bound, Convention, Instruction, Memory, Part, Register, Result};
use crate::callee::{Answer, Atomic, Callee, Library, Size, Touch};
use crate::image::Image;

/// Goes through a block's instructions.
pub(crate) struct Transfer<'a> {
    pub image: &'a Image<'a>,
    pub convention: &'static Convention,
    pub sets: Sets,
    pub names: Names,
}

impl<'a> Transfer<'a> {
    pub fn new(image: &'a Image<'a>, convention: &'static Convention) -> Self {
        Transfer {
            image,
            convention,
            sets: Sets::default(),
            names: Names::default(),
        }
    }

    /// Starts a block.
    pub fn start(&mut self, state: &mut State) {
        state.name_all(&mut self.names);
    }

    /// An instruction that is no call.
    pub fn step(&mut self, state: &mut State, instruction: &Instruction) {
        if instruction.result == Result::Leave {
            return self.leave(state);
        }
        let mut depends = match instruction.reads_unknown {
            true => Set::EVERYTHING,
            false => Set::NOTHING,
        };
        for &(read, part) in &instruction.reads {
            depends = self.sets.union(depends, state.depends(read, part));
        }
        let mut loaded = None;
        for memory in instruction.memory.iter().filter(|memory| memory.read) {
            let value = self.load(state, memory);
            depends = self.sets.union(depends, value.depends);
            loaded = Some(value);
        }
        let value = self.result(state, instruction, depends, loaded);
        self.hide(state, instruction, loaded, value);
        for memory in instruction.memory.iter().filter(|memory| memory.written) {
            self.store(state, memory, value);
        }
        for (place, &(output, part)) in instruction.outputs.iter().enumerate() {
            let whole = part == Part::Whole;
            let shape = match place == 0 && whole && output != self.convention.flags {
                true => value.shape,
                false => self.names.fresh(),
            };
            state.set(output, part, Value { shape, ..value }, &mut self.sets);
        }
        let stack = &mut state.registers[self.convention.stack.index()];
        stack.shape = stack.shape.plus(instruction.stack_change);
    }

    /// `leave`: the frame is given up, the caller's frame pointer taken back.
    fn leave(&mut self, state: &mut State) {
        let frame = state.registers[self.convention.frame.index()];
        let memory = Memory {
            address: Some(Address {
                base: Some(self.convention.frame),
                index: None,
                offset: 0,
                thread: false,
            }),
            size: 8,
            read: true,
            written: false,
        };
        let saved = self.load(state, &memory);
        let shape = frame.shape.plus(8);
        let stack = Value { shape, ..frame };
        state.set(self.convention.frame, Part::Whole, saved, &mut self.sets);
        state.set(self.convention.stack, Part::Whole, stack, &mut self.sets);
    }

    /// The first output, or what is written to memory.
    fn result(
        &mut self,
        state: &State,
        instruction: &Instruction,
        depends: Set,
        loaded: Option<Value>,
    ) -> Value {
        let shape = match instruction.result {
            Result::Copy(from) | Result::Store(from) => state.registers[from.index()].shape,
            Result::Constant(number) | Result::StoreConstant(number) => Shape::Constant(number),
            Result::Address(address) => self.address(state, &address).shape,
            Result::Load => loaded.map_or(Shape::Other, |value| value.shape),
            Result::Leave => Shape::Other,
            Result::Computed => self.computed(state, instruction, loaded),
        };
        Value { depends, shape }
    }

    /// The name of what the instruction makes of its inputs.
    fn computed(
        &mut self,
        state: &State,
        instruction: &Instruction,
        loaded: Option<Value>,
    ) -> Shape {
        let shapes = instruction.inputs.iter();
        let shapes = shapes.map(|input| state.registers[input.index()].shape);
        let mut inputs = [Shape::Other; 3];
        let mut count = 0;
        for shape in shapes.chain(loaded.map(|value| value.shape)) {
            if count == inputs.len() || shape == Shape::Other {
                return self.names.fresh();
            }
            inputs[count] = shape;
            count += 1;
        }
        if !instruction.pure_function || instruction.reads_unknown || count == 0 {
            return self.names.fresh();
        }
        let shape = self.names.of(Origin::Computed {
            code: instruction.code,
            immediate: instruction.immediate,
            inputs,
        });
        let largest = match instruction.bound {
            Bound::AtMost(largest) => Some(largest),
            Bound::Keeps => self.names.largest(inputs[0]),
            _ => None,
        };
        if let Some(largest) = largest {
            self.names.limit(shape, largest);
        }
        shape
    }

    /// Notes if an address in the stack goes into something that is not followed.
    fn hide(
        &mut self,
        state: &mut State,
        instruction: &Instruction,
        loaded: Option<Value>,
        result: Value,
    ) {
        let only_flags = instruction.memory.iter().all(|memory| !memory.written)
            && instruction
                .outputs
                .iter()
                .all(|(output, _)| *output == self.convention.flags);
        if only_flags || result.shape.is_stack() {
            return;
        }
        let stack = |register: &Register| state.registers[register.index()].shape.is_stack();
        let from_inputs = instruction.inputs.iter().any(stack);
        let from_memory = loaded.is_some_and(|value| value.shape.is_stack());
        let from_address = match instruction.result {
            Result::Address(address) => {
                address.base.as_ref().is_some_and(stack)
                    || address.index.is_some_and(|(index, _)| stack(&index))
            }
            _ => false,
        };
        state.hidden |= from_inputs || from_memory || from_address;
    }

    /// What an address is, and what it depends on.
    fn address(&mut self, state: &State, address: &Address) -> Value {
        let mut depends = Set::NOTHING;
        let mut shape = Shape::Constant(0);
        if address.thread {
            shape = Names::THREAD;
        }
        if let Some(base) = address.base {
            let base = state.registers[base.index()];
            depends = base.depends;
            shape = match shape {
                Shape::Constant(0) => base.shape,
                _ => self.names.sum(shape, base.shape),
            };
        }
        if let Some((index, scale)) = address.index {
            let index = state.registers[index.index()];
            depends = self.sets.union(depends, index.depends);
            let scaled = self.names.times(index.shape, scale);
            shape = match shape {
                // An offset without a base may be a table's address.
                Shape::Constant(0) if address.base.is_none() && address.offset != 0 => {
                    let table = Shape::Constant(address.offset as u64);
                    let shape = self.names.sum(table, scaled);
                    return Value { depends, shape };
                }
                Shape::Constant(0) if address.base.is_none() => scaled,
                _ => self.names.sum(shape, scaled),
            };
        }
        Value {
            depends,
            shape: shape.plus(address.offset),
        }
    }

    fn load(&mut self, state: &mut State, memory: &Memory) -> Value {
        let (Some(address), 1..) = (memory.address, memory.size) else {
            return self.unknown();
        };
        let at = self.address(state, &address);
        if let Some(announced) = state.announced
            && let Some(distance) = announced.address.distance(at.shape)
            && distance >= 0
            && (distance as u64).saturating_add(memory.size.into()) <= announced.size
        {
            if let Shape::Stack(offset) = at.shape {
                let held = state.load(offset, memory.size, &mut self.names, &mut self.sets);
                state.hidden |= held.shape.is_stack();
            }
            return Value {
                depends: self.sets.union(announced.depends, at.depends),
                shape: self.names.fresh(),
            };
        }
        if let Shape::Stack(offset) = at.shape {
            return state.load(offset, memory.size, &mut self.names, &mut self.sets);
        }
        // The thread's own address, and the number that guards its stack.
        if let Some(offset @ (0 | 0x28)) = Names::THREAD.distance(at.shape) {
            let shape = match offset {
                0 => Names::THREAD,
                _ => self.names.fresh(),
            };
            let depends = Set::NOTHING;
            return Value { depends, shape };
        }
        match self.constant(at.shape, memory.size) {
            Some(shape) => Value {
                depends: at.depends,
                shape,
            },
            None => self.unknown(),
        }
    }

    /// What memory that never changes holds at an address, or at one of a table's.
    fn constant(&mut self, address: Shape, size: u32) -> Option<Shape> {
        if let Shape::Constant(address) = address {
            return self.image.is_constant(address).then(|| {
                match self.image.pointer_at(address).filter(|_| size == 8) {
                    Some(pointer) => Shape::Constant(pointer),
                    None => self.names.fresh(),
                }
            });
        }
        let Shape::Name(_, offset) = address else {
            return None;
        };
        let mut parts = vec![address];
        while let Some(part) = parts.pop() {
            let Some(Origin::Sum(one, two)) = self.names.origin(part) else {
                continue;
            };
            if let Shape::Constant(table) = one {
                let table = table.wrapping_add_signed(offset);
                if self.image.is_constant(table) {
                    return Some(self.names.entry(table, size, two));
                }
            }
            if parts.len() < 8 {
                parts.extend([one, two]);
            }
        }
        None
    }

    fn store(&mut self, state: &mut State, memory: &Memory, value: Value) {
        let at = memory.address.map(|address| self.address(state, &address));
        let on_stack = memory.address.is_some_and(|address| {
            let stack = |register: Register| state.registers[register.index()].shape.is_stack();
            address.base.is_some_and(stack) || address.index.is_some_and(|(index, _)| stack(index))
        });
        match at.map(|at| at.shape) {
            Some(Shape::Stack(offset)) if memory.size > 0 => {
                state.store(offset, memory.size, value);
            }
            _ => {
                // The value gets where it is not followed.
                state.hidden |= value.shape.is_stack();
                if state.hidden || on_stack {
                    state.forget_slots();
                }
            }
        }
    }

    fn unknown(&mut self) -> Value {
        Value {
            depends: Set::EVERYTHING,
            shape: self.names.fresh(),
        }
    }

    /// What an indirect jump or call goes to.
    pub fn target(&mut self, state: &mut State, instruction: &Instruction) -> Value {
        match instruction.memory.iter().find(|memory| memory.read) {
            Some(memory) => self.load(state, memory),
            None => match instruction.inputs.first() {
                Some(register) => state.registers[register.index()],
                None => self.unknown(),
            },
        }
    }

    fn argument(&self, state: &State, place: usize) -> Value {
        state.registers[self.convention.arguments[place].index()]
    }

    /// A call of `callee`; `site` is its number if it makes events. Says what its address, or
    /// what else it is done to, depends on.
    pub fn call(&mut self, state: &mut State, callee: Callee, site: u32) -> Set {
        let before = self.argument(state, 0);
        let mut depends = before.depends;
        let read = self.sets.site(site);
        let mut result = Value::EVERYTHING;
        state.announced = None;
        let mut announced = None;
        match callee {
            Callee::Enter | Callee::Exit | Callee::Transparent => {}
            Callee::ThreadVariable => result.depends = Set::NOTHING,
            Callee::Access { reads, size, .. } => {
                let size = match size {
                    Size::Bytes(bytes) => Some(bytes.into()),
                    Size::SecondArgument => {
                        let length = self.argument(state, 1);
                        depends = self.sets.union(depends, length.depends);
                        match length.shape {
                            Shape::Constant(bytes) => Some(bytes),
                            _ => None,
                        }
                    }
                };
                if let (true, Some(size)) = (reads, size) {
                    announced = Some(Announced {
                        address: before.shape,
                        size,
                        depends: self.sets.union(read, depends),
                    });
                }
            }
            Callee::Atomic { kind, size } => {
                (result, depends) = self.atomic(state, kind, size.into(), read);
            }
            Callee::Library(library) => {
                (result, depends) = self.library(state, &library, read);
            }
            Callee::Instrumented | Callee::Opaque | Callee::Never | Callee::Again => {
                self.expose(state);
            }
        }
        self.clobber(state, result);
        state.announced = announced;
        depends
    }

    /// What a call leaves of registers and of what lies below the stack pointer.
    fn clobber(&mut self, state: &mut State, result: Value) {
        for register in (0..Register::COUNT as u8).map(Register) {
            if !self.convention.kept.contains(&register) {
                let unknown = self.unknown();
                state.set(register, Part::Whole, unknown, &mut self.sets);
            }
        }
        let shape = match result.shape {
            Shape::Other => self.names.fresh(),
            shape => shape,
        };
        let result = Value { shape, ..result };
        state.set(self.convention.result, Part::Whole, result, &mut self.sets);
        if let Shape::Stack(offset) = state.registers[self.convention.stack.index()].shape {
            state.forget_below(offset);
        }
    }

    /// Code that is not followed gets the arguments, and whatever it can find through them.
    fn expose(&mut self, state: &mut State) {
        let kept = self.convention.kept;
        let registers = state.registers.iter().enumerate();
        let mut given = registers.filter(|(index, _)| !kept.contains(&Register(*index as u8)));
        let exposed = given.any(|(_, value)| value.shape.is_stack());
        state.hidden |= exposed || state.stack_address_in_slot();
        if state.hidden {
            state.forget_slots();
        }
    }

    /// The result of an atomic access, and what the access depends on.
    fn atomic(&mut self, state: &mut State, kind: Atomic, size: u32, read: Set) -> (Value, Set) {
        let address = self.argument(state, 0);
        let seen = self.sets.union(read, address.depends);
        let mut depends = address.depends;
        let mut result = Value {
            depends: seen,
            shape: Shape::Other,
        };
        match kind {
            Atomic::Fence => return (Value::EVERYTHING, Set::NOTHING),
            Atomic::Reads | Atomic::Writes => {}
            Atomic::ComparesValue => {
                let expected = self.argument(state, 1).depends;
                depends = self.sets.union(depends, expected);
            }
            Atomic::Compares => {
                let pointer = self.argument(state, 1);
                let expected = match pointer.shape {
                    Shape::Stack(offset) => {
                        let old = state.load(offset, size, &mut self.names, &mut self.sets);
                        let new = self.sets.union(old.depends, seen);
                        let value = Value {
                            depends: new,
                            shape: self.names.fresh(),
                        };
                        state.store(offset, size, value);
                        old.depends
                    }
                    _ => {
                        if state.hidden {
                            state.forget_slots();
                        }
                        Set::EVERYTHING
                    }
                };
                depends = self.sets.union(depends, expected);
                result.depends = self.sets.union(seen, depends);
            }
        }
        // The object itself, if it is in the stack.
        if let Shape::Stack(offset) = address.shape {
            state.store(offset, size, Value::EVERYTHING);
        } else if state.hidden {
            state.forget_slots();
        }
        (result, depends)
    }

    /// The result of a function of the C library, and what its events depend on.
    fn library(&mut self, state: &mut State, library: &Library, read: Set) -> (Value, Set) {
        let mut depends = Set::NOTHING;
        for place in 0..library.arguments {
            depends = self
                .sets
                .union(depends, self.argument(state, place).depends);
        }
        let value = Value {
            depends,
            shape: Shape::Other,
        };
        let result = match library.result {
            Answer::Nothing => Value {
                depends: Set::NOTHING,
                ..value
            },
            Answer::FirstArgument => self.argument(state, 0),
            Answer::Arguments => value,
            Answer::Reads => Value {
                depends: self.sets.union(depends, read),
                ..value
            },
            Answer::Everything => Value::EVERYTHING,
        };
        match library.memory {
            Touch::Leaves => {}
            Touch::Anything => self.expose(state),
            Touch::Copies | Touch::Fills => {
                let source = match library.memory {
                    Touch::Fills => self.argument(state, 1).depends,
                    _ => read,
                };
                // A copy of an address is not known as one.
                state.hidden |= library.memory == Touch::Copies && state.stack_address_in_slot();
                let content = Value {
                    depends: self.sets.union(source, depends),
                    shape: Shape::Other,
                };
                self.overwrite(state, content);
            }
        }
        (result, depends)
    }

    /// Writes to what the first argument points to, as far as the third says.
    fn overwrite(&mut self, state: &mut State, content: Value) {
        let to = self.argument(state, 0).shape;
        let length = match self.argument(state, 2).shape {
            Shape::Constant(length) => u32::try_from(length).ok(),
            _ => None,
        };
        match (to, length) {
            (_, Some(0)) => {}
            (Shape::Stack(offset), Some(length)) => state.store(offset, length, content),
            (Shape::Stack(_), None) => state.forget_slots(),
            _ if state.hidden => state.forget_slots(),
            _ => {}
        }
    }
}
