//! What a call does to what is known.
//!
//! Every call overwrites the registers that functions need not keep, and what lies below the stack
//! pointer. A call of code that is not followed may also write to the stack, if it can find an
//! address in it.

use super::sets::Set;
use super::state::{Announced, State};
use super::transfer::Transfer;
use super::value::{Shape, Value};
use crate::arch::{Part, Register};
use crate::callee::{Answer, Atomic, Callee, Library, Size, Touch};

impl Transfer<'_> {
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
