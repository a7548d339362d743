//! What is known at one point of a function: the content of registers and of stack slots.
//!
//! Stack slots are bytes at a known distance from the stack pointer at the function's entry. What
//! lies below (the function's own frame) is unknown until it is written; what lies above (its
//! arguments and its caller's frame) was given. When an address in the stack gets where it cannot
//! be followed, it is *hidden*: from then on a call, or a write through an unknown pointer, may
//! have written to any slot, since how large the object behind an address is cannot be seen.

use super::sets::{Set, Sets};
use super::value::{Names, Origin, Shape, Value};
use crate::arch::{Part, Register};

/// What is known at a point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct State {
    pub registers: [Value; Register::COUNT],
    /// What the registers' lowest bytes depend on: at most what the whole register does.
    low_bytes: [Set; Register::COUNT],
    /// The read that the last call announced.
    pub announced: Option<Announced>,
    slots: Vec<Slot>,
    /// What the bytes above the frame depend on, where no slot says otherwise.
    above: Set,
    /// Whether an address in the stack is where it cannot be followed.
    pub hidden: bool,
}

/// A read that was announced by a hook.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Announced {
    pub address: Shape,
    pub size: u64,
    pub depends: Set,
}

/// Some bytes of the stack, written in one go.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slot {
    start: i64,
    end: i64,
    value: Value,
}

impl State {
    /// At a function's entry.
    pub fn at_entry(stack: Register) -> State {
        let given = Value {
            depends: Set::BEFORE,
            shape: Shape::Other,
        };
        let mut registers = [given; Register::COUNT];
        registers[stack.index()] = Value {
            depends: Set::NOTHING,
            shape: Shape::Stack(0),
        };
        State {
            low_bytes: registers.map(|value| value.depends),
            registers,
            announced: None,
            slots: Vec::new(),
            above: Set::BEFORE,
            hidden: false,
        }
    }

    /// Gives everything that has no shape a name, at a block's start.
    pub fn name_all(&mut self, names: &mut Names) {
        names.clear();
        // Names of another block mean nothing here.
        let named = |announced: &Announced| matches!(announced.address, Shape::Name(..));
        self.announced = self.announced.filter(|announced| !named(announced));
        let slots = self.slots.iter_mut().map(|slot| &mut slot.value);
        for value in self.registers.iter_mut().chain(slots) {
            if matches!(value.shape, Shape::Other | Shape::Name(..)) && value.shape != Names::THREAD
            {
                value.shape = names.fresh();
            }
        }
    }

    /// Adds what may also be. Says whether that was anything new.
    pub fn join(&mut self, other: &State, sets: &mut Sets) -> bool {
        let before = self.clone();
        self.hidden |= other.hidden;
        for (own, other) in self.registers.iter_mut().zip(&other.registers) {
            let (value, hidden) = own.join(*other, sets);
            *own = value;
            self.hidden |= hidden;
        }
        for (own, other) in self.low_bytes.iter_mut().zip(&other.low_bytes) {
            *own = sets.union(*own, *other);
        }
        if self.announced != other.announced {
            self.announced = None;
        }
        self.join_slots(other, sets);
        self.above = sets.union(self.above, other.above);
        *self != before
    }

    /// What part of a register depends on.
    pub fn depends(&self, register: Register, part: Part) -> Set {
        match part {
            Part::LowByte => self.low_bytes[register.index()],
            _ => self.registers[register.index()].depends,
        }
    }

    /// Sets part of a register; the rest stays.
    pub fn set(&mut self, register: Register, part: Part, value: Value, sets: &mut Sets) {
        let whole = &mut self.registers[register.index()];
        let low_byte = &mut self.low_bytes[register.index()];
        if part == Part::Whole {
            *whole = value;
            *low_byte = value.depends;
            return;
        }
        self.hidden |= whole.shape.is_stack();
        whole.depends = sets.union(whole.depends, value.depends);
        whole.shape = value.shape;
        *low_byte = match part {
            Part::LowByte => value.depends,
            _ => sets.union(*low_byte, value.depends),
        };
    }

    fn join_slots(&mut self, other: &State, sets: &mut Sets) {
        let mut joined = Vec::with_capacity(self.slots.len());
        let mut push = |slot: Slot| {
            if slot.start < slot.end {
                joined.push(slot);
            }
        };
        let (mut own, mut its) = (self.slots.iter().peekable(), other.slots.iter().peekable());
        let mut from = i64::MIN;
        // Between two bounds of either list each list has one slot or none.
        loop {
            while own.next_if(|slot| slot.end <= from).is_some() {}
            while its.next_if(|slot| slot.end <= from).is_some() {}
            let (one, two) = (own.peek().copied(), its.peek().copied());
            let bounds = [one, two].into_iter().flatten();
            let bounds = bounds.flat_map(|slot| [slot.start, slot.end]).chain([0]);
            let Some(to) = bounds.filter(|bound| *bound > from).min() else {
                break;
            };
            let here = |slot: Option<&Slot>| slot.copied().filter(|slot| slot.start <= from);
            let whole = |slot: &Slot| slot.start == from && slot.end == to;
            match (here(one), here(two)) {
                (Some(one), Some(two)) => {
                    let (mut value, hidden) = one.value.join(two.value, sets);
                    if !whole(&one) || !whole(&two) {
                        self.hidden |= value.shape.is_stack();
                        value.shape = Shape::Other;
                    }
                    self.hidden |= hidden;
                    push(Slot {
                        start: from,
                        end: to,
                        value,
                    });
                }
                (Some(slot), None) | (None, Some(slot)) => {
                    self.hidden |= slot.value.shape.is_stack();
                    let above = sets.union(self.above, other.above);
                    let depends = sets.union(slot.value.depends, above);
                    if from >= 0 {
                        let shape = Shape::Other;
                        push(Slot {
                            start: from,
                            end: to,
                            value: Value { depends, shape },
                        });
                    }
                }
                (None, None) => {}
            }
            from = to;
        }
        self.slots = joined;
    }

    /// What some bytes of the stack hold.
    pub fn load(&mut self, start: i64, size: u32, names: &mut Names, sets: &mut Sets) -> Value {
        let end = start.saturating_add(size.into());
        let first = self.slots.partition_point(|slot| slot.end <= start);
        let mut depends = Set::NOTHING;
        let mut reached = start;
        let uncovered = |from: i64, to: i64, above: Set, sets: &mut Sets| match (from, to) {
            _ if from >= to => Set::NOTHING,
            (0.., _) => above,
            (_, 1..) => sets.union(above, Set::EVERYTHING),
            _ => Set::EVERYTHING,
        };
        for slot in self.slots[first..]
            .iter()
            .take_while(|slot| slot.start < end)
        {
            if slot.start == start && slot.end == end {
                return slot.value;
            }
            if slot.start <= start && end <= slot.end {
                self.hidden |= slot.value.shape.is_stack();
                let part = Origin::Part(slot.value.shape, start - slot.start, size);
                return Value {
                    depends: slot.value.depends,
                    shape: names.of(part),
                };
            }
            self.hidden |= slot.value.shape.is_stack();
            let gap = uncovered(reached, slot.start, self.above, sets);
            depends = sets.union(depends, gap);
            depends = sets.union(depends, slot.value.depends);
            reached = slot.end;
        }
        let gap = uncovered(reached, end, self.above, sets);
        Value {
            depends: sets.union(depends, gap),
            shape: names.fresh(),
        }
    }

    /// Sets some bytes of the stack.
    pub fn store(&mut self, start: i64, size: u32, value: Value) {
        let end = start.saturating_add(size.into());
        self.remove(start, end);
        let at = self.slots.partition_point(|slot| slot.start < start);
        self.slots.insert(at, Slot { start, end, value });
    }

    /// Removes the slots in a range; of those that reach out of it the rest stays.
    fn remove(&mut self, start: i64, end: i64) {
        let first = self.slots.partition_point(|slot| slot.end <= start);
        let last = self.slots.partition_point(|slot| slot.start < end);
        if first >= last {
            return;
        }
        let mut rest = Vec::new();
        for slot in &self.slots[first..last] {
            for (from, to) in [(slot.start, start), (end, slot.end)] {
                if from < to {
                    self.hidden |= slot.value.shape.is_stack();
                    let shape = Shape::Other;
                    rest.push(Slot {
                        start: from,
                        end: to,
                        value: Value {
                            shape,
                            ..slot.value
                        },
                    });
                }
            }
        }
        self.slots.splice(first..last, rest);
    }

    /// Forgets what lies below the stack pointer: a call overwrites it.
    pub fn forget_below(&mut self, offset: i64) {
        self.remove(i64::MIN, offset);
    }

    /// Any slot may have been written.
    pub fn forget_slots(&mut self) {
        self.slots.clear();
        self.above = Set::EVERYTHING;
    }

    /// Whether a slot holds an address in the stack.
    pub fn stack_address_in_slot(&self) -> bool {
        self.slots.iter().any(|slot| slot.value.shape.is_stack())
    }
}
