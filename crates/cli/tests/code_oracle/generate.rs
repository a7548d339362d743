//! Programs with every kind of control flow and data flow that compilers turn into different
//! machine code, made up from a seed: the same program in C, C++ and Rust.
//!
//! A program ends soon whatever its memory holds: loops count local variables down, recursion
//! has a depth, indices are masked. Its argument decides what the globals hold at first, so that
//! runs take different ways. Values are 32 bits, unsigned.

use super::dialect::{Dialect, Language};
use super::dice::Dice;

/// How deep statements are nested.
const DEPTH: u32 = 3;
/// How many functions there are beside `main`; each calls those before it, and itself.
const FUNCTIONS: u64 = 5;

/// The program of this seed. With `threads`, two of them run its functions, partly under a lock.
pub fn program(seed: u64, language: Language, threads: bool) -> String {
    let mut generator = Generator {
        dice: Dice::new(seed),
        dialect: Dialect(language),
        out: String::new(),
        indent: 1,
        names: 0,
        function: 0,
        loops: 0,
        calls: 0,
    };
    let mut text = generator.dialect.prelude();
    for function in 0..FUNCTIONS {
        text.push_str(&generator.function(function));
    }
    text.push_str(&generator.dialect.main(FUNCTIONS, threads));
    text
}

struct Generator {
    dice: Dice,
    dialect: Dialect,
    out: String,
    indent: usize,
    /// How many labels and variables have names by now.
    names: u32,
    /// The function that is being written.
    function: u64,
    /// How many loops are around the current place.
    loops: u32,
    /// How many calls the function has.
    calls: u32,
}

impl Generator {
    fn function(&mut self, number: u64) -> String {
        self.function = number;
        self.calls = 0;
        self.out.clear();
        if self.dice.percent(20) {
            let guard = self.dialect.guard();
            self.line(&guard);
        }
        for _ in 0..3 + self.dice.below(4) {
            self.statement(DEPTH);
        }
        let result = if number > 0 && self.dice.percent(30) {
            self.call() // in tail position
        } else {
            self.value(2)
        };
        let inline = self.dice.percent(30);
        self.dialect.function(number, inline, &self.out, &result)
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.out.push_str("    ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn block(&mut self, opening: &str, depth: u32) {
        self.line(opening);
        self.indent += 1;
        for _ in 0..1 + self.dice.below(2) {
            self.statement(depth - 1);
        }
        self.indent -= 1;
    }

    fn name(&mut self, letter: char) -> String {
        self.names += 1;
        format!("{letter}{}", self.names)
    }

    fn local(&mut self) -> String {
        format!("x{}", self.dice.below(4))
    }

    fn statement(&mut self, depth: u32) {
        let choices = if depth == 0 { 7 } else { 18 };
        match self.dice.below(choices) {
            0 | 1 => {
                let (to, value) = (self.local(), self.value(2));
                self.line(&format!("{to} = {value};"));
            }
            2 | 3 => {
                let value = self.value(2);
                let index = self.value(1);
                let place = self.dice.below(9);
                let text = self.dialect.store(place, &index, &value);
                self.line(&text);
            }
            4 => {
                // A local variable whose address gets out.
                let (to, value) = (self.local(), self.value(1));
                let text = self.dialect.escape(&to, &value);
                self.line(&text);
            }
            5 if self.can_call() => {
                let to = self.local();
                let call = self.call();
                let text = if self.dice.percent(30) {
                    self.dialect.caught(&to, &call)
                } else {
                    format!("{to} = {call};")
                };
                self.line(&text);
            }
            5 | 6 => self.pointer(),
            7 | 8 => {
                let head = format!("if ({}) {{", self.condition(2));
                self.block(&head, depth);
                if self.dice.percent(50) {
                    self.block("} else {", depth);
                }
                self.line("}");
            }
            9 => self.counted_loop(depth),
            10 | 11 => self.fuelled_loop(depth),
            12 | 13 => self.switch(depth),
            14 => self.forward_jump(depth),
            15 => self.loop_with_two_entries(depth),
            16 => {
                let (condition, value) = (self.condition(1), self.value(1));
                self.line(&format!("if ({condition}) {{ return {value}; }}"));
            }
            _ => {
                let (condition, value) = (self.condition(1), self.value(1));
                let raise = self.dialect.raise(&value);
                self.line(&format!("if ({condition}) {{ {raise} }}"));
            }
        }
    }

    fn can_call(&self) -> bool {
        self.loops < 2 && self.calls < 4
    }

    /// A call of an earlier function, by name or by pointer, or of the function itself.
    fn call(&mut self) -> String {
        self.calls += 1;
        let (first, second) = (self.value(1), self.value(1));
        if self.function == 0 || self.dice.percent(15) {
            let inner = format!("f{}({first}, {second}, depth - 1)", self.function);
            return self.dialect.choose("depth > 0", &inner, &first);
        }
        if self.dice.percent(25) {
            let index = self.value(1);
            return self
                .dialect
                .call_pointer(self.function, &index, &first, &second);
        }
        let callee = self.dice.below(self.function);
        format!("f{callee}({first}, {second}, depth)")
    }

    fn counted_loop(&mut self, depth: u32) {
        let name = self.name('i');
        let limit = self.value(1);
        let head = self.dialect.counted(&name, &limit);
        self.loops += 1;
        self.block(&head, depth);
        let to = self.local();
        let step = self.dialect.binary('+', &to, &name);
        self.line(&format!("    {to} = {step};"));
        self.loops -= 1;
        self.line("}");
    }

    /// `while` or `do while`, for at most three rounds.
    fn fuelled_loop(&mut self, depth: u32) {
        let fuel = self.name('n');
        self.line("{");
        self.indent += 1;
        let variable = self.dialect.variable(&fuel, "3");
        self.line(&variable);
        self.loops += 1;
        let condition = self.condition(2);
        let burn = format!("    {fuel} -= 1;");
        if self.dice.percent(50) {
            self.block(&format!("while ({fuel} > 0 && ({condition})) {{"), depth);
            self.line(&burn);
            if self.dice.percent(30) {
                let stop = self.condition(1);
                let exit = self.dice.one_of(&["break", "continue"]);
                self.line(&format!("    if ({stop}) {{ {exit}; }}"));
            }
            self.line("}");
        } else {
            let head = self.dialect.do_head();
            self.block(head, depth);
            self.line(&burn);
            let tail = self
                .dialect
                .do_tail(&format!("{fuel} > 0 && ({condition})"));
            self.line(&tail);
        }
        self.loops -= 1;
        self.indent -= 1;
        self.line("}");
    }

    /// Over few values (a table of jumps) or far ones (a tree of comparisons).
    fn switch(&mut self, depth: u32) {
        let sparse = self.dice.percent(40);
        let index = self.value(1);
        let head = self.dialect.switch_head(sparse, &index);
        self.line(&head);
        self.indent += 1;
        let cases = if sparse { 4 } else { 7 };
        for case in 0..cases {
            let value = if sparse { case * 1237 + 5 } else { case };
            let head = self.dialect.case_head(value);
            self.block(&head, depth);
            let tail = self.dialect.case_tail();
            self.line(tail);
        }
        let tail = self.dialect.switch_tail();
        self.indent -= 1;
        self.line(tail);
    }

    fn forward_jump(&mut self, depth: u32) {
        let label = self.name('o');
        let head = self.dialect.jump_head(&label);
        self.block(&head, depth);
        let condition = self.condition(2);
        let jump = self.dialect.jump(&label);
        self.line(&format!("    if ({condition}) {{ {jump} }}"));
        self.indent += 1;
        self.statement(depth - 1);
        self.indent -= 1;
        let tail = self.dialect.jump_tail(&label);
        self.line(&tail);
    }

    /// A loop that a jump enters in its middle; in Rust a plain one.
    fn loop_with_two_entries(&mut self, depth: u32) {
        let (fuel, label) = (self.name('n'), self.name('m'));
        self.line("{");
        let variable = self.dialect.variable(&fuel, "3");
        self.line(&variable);
        let condition = self.condition(1);
        let enter = self.dialect.enter_loop(&condition, &label);
        self.line(&enter);
        self.loops += 1;
        let stay = self.condition(1);
        self.block(&format!("while ({fuel} > 0 && ({stay})) {{"), depth);
        let entry = self.dialect.loop_entry(&label);
        self.line(&entry);
        self.indent += 1;
        self.statement(depth - 1);
        let burn = self.dialect.less_one(&fuel);
        self.line(&burn);
        self.indent -= 1;
        self.loops -= 1;
        self.line("}");
        self.line("}");
    }

    /// A pointer to one of two places, read and written through.
    fn pointer(&mut self) {
        let name = self.name('p');
        let (condition, index, value) = (self.condition(1), self.value(1), self.value(1));
        let to = self.local();
        let text = self.dialect.pointer(&name, &condition, &index, &to, &value);
        self.line(&text);
    }

    /// A value of at most this many levels of operators.
    fn value(&mut self, levels: u32) -> String {
        if levels == 0 || self.dice.percent(25) {
            return match self.dice.below(5) {
                0 => {
                    let number = self.dice.below(40);
                    self.dialect.constant(number)
                }
                1 | 2 => self.local(),
                _ => self.load(0),
            };
        }
        match self.dice.below(10) {
            0..=4 => {
                let operator = self
                    .dice
                    .one_of(&['+', '-', '*', '&', '|', '^', '/', '%', '<', '>']);
                let (left, right) = (self.value(levels - 1), self.value(levels - 1));
                self.dialect.binary(operator, &left, &right)
            }
            5 | 6 => {
                // Only local operands: compilers make a conditional move of it.
                let (a, b, c, d) = (self.local(), self.local(), self.local(), self.local());
                self.dialect.choose(&format!("{a} < {b}"), &c, &d)
            }
            7 => {
                let condition = self.condition(1);
                let (left, right) = (self.value(levels - 1), self.value(levels - 1));
                self.dialect.choose(&condition, &left, &right)
            }
            8 => {
                let condition = self.condition(1);
                self.dialect.number(&condition)
            }
            _ => self.load(levels - 1),
        }
    }

    fn load(&mut self, levels: u32) -> String {
        let index = if levels == 0 {
            self.local()
        } else {
            self.value(levels)
        };
        let place = self.dice.below(11);
        self.dialect.load(place, &index)
    }

    fn condition(&mut self, levels: u32) -> String {
        match self.dice.below(if levels == 0 { 3 } else { 6 }) {
            0 | 1 => {
                let operator = self.dice.one_of(&["<", ">", "==", "!=", "<=", ">="]);
                let (left, right) = (self.value(1), self.value(0));
                format!("{left} {operator} {right}")
            }
            2 => {
                let value = self.value(1);
                let bit = self.dice.one_of(&[1, 2, 3, 5]);
                let masked = self
                    .dialect
                    .binary('&', &value, &self.dialect.constant(bit));
                format!("{masked} != 0")
            }
            3 => format!(
                "({}) && ({})",
                self.condition(levels - 1),
                self.condition(0)
            ),
            4 => format!(
                "({}) || ({})",
                self.condition(levels - 1),
                self.condition(0)
            ),
            _ => {
                let (value, operator) = (self.value(0), self.dice.one_of(&["<", ">="]));
                self.dialect.real_comparison(&value, operator)
            }
        }
    }
}
