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
use super::state::State;
use super::value::{Names, Origin, Shape, Value};
use crate::arch::{Address, Bound, Convention, Instruction, Memory, Part, Register, Result};
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

    pub(super) fn unknown(&mut self) -> Value {
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
}
