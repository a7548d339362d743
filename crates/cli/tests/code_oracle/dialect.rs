//! How each language says what [`generate`](super::generate) makes up.

/// A language that programs are made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// Without exceptions.
    C,
    /// The same with exceptions and destructors.
    Cpp,
    /// The same with panics that are caught.
    Rust,
}

/// The words of a language.
#[derive(Clone, Copy, Debug)]
pub struct Dialect(pub Language);

impl Dialect {
    fn is_rust(self) -> bool {
        self.0 == Language::Rust
    }

    /// What stands before the functions.
    pub fn prelude(self) -> String {
        let text = match self.0 {
            Language::Rust => include_str!("prelude.rs.txt"),
            _ => include_str!("prelude.c"),
        };
        text.to_owned()
    }

    /// What stands behind them.
    pub fn main(self, functions: u64, threads: bool) -> String {
        let text = match self.0 {
            Language::Rust => include_str!("main.rs.txt"),
            _ => include_str!("main.c"),
        };
        let names: Vec<String> = (0..functions).map(|number| format!("f{number}")).collect();
        text.replace("FUNCTION_NAMES", &names.join(", "))
            .replace("FUNCTION_COUNT", &functions.to_string())
            .replace("THREADS", if threads { "2" } else { "0" })
    }

    /// A function with this body and result.
    pub fn function(self, number: u64, inline: bool, body: &str, result: &str) -> String {
        if self.is_rust() {
            let hint = if inline { "" } else { "#[inline(never)]\n" };
            return format!(
                "{hint}unsafe fn f{number}(mut x0: u32, mut x1: u32, depth: u32) -> u32 {{\n    \
                 let (mut x2, mut x3) = (x0 ^ 3, x1 | 1);\n{body}    {result}\n}}\n\n"
            );
        }
        let hint = if inline { "" } else { "NOINLINE " };
        format!(
            "static {hint}u32 f{number}(u32 x0, u32 x1, u32 depth) {{\n    \
             u32 x2 = x0 ^ 3, x3 = x1 | 1;\n{body}    return {result};\n}}\n\n"
        )
    }

    /// A number.
    pub fn constant(self, number: u64) -> String {
        format!("{number}{}", if self.is_rust() { "u32" } else { "u" })
    }

    /// An operation; `<` and `>` are shifts, division by zero does not happen.
    pub fn binary(self, operator: char, left: &str, right: &str) -> String {
        let right = match operator {
            '/' | '%' => format!("({right} | 1)"),
            '<' | '>' => format!("({right} & 31)"),
            _ => right.to_owned(),
        };
        let name = match operator {
            '+' => "wrapping_add",
            '-' => "wrapping_sub",
            '*' => "wrapping_mul",
            '<' => return format!("({left} << {right})"),
            '>' => return format!("({left} >> {right})"),
            _ => return format!("({left} {operator} {right})"),
        };
        if self.is_rust() {
            format!("{left}.{name}({right})")
        } else {
            format!("({left} {operator} {right})")
        }
    }

    /// One of two values.
    pub fn choose(self, condition: &str, left: &str, right: &str) -> String {
        if self.is_rust() {
            format!("(if {condition} {{ {left} }} else {{ {right} }})")
        } else {
            format!("(({condition}) ? ({left}) : ({right}))")
        }
    }

    /// 1 if it holds.
    pub fn number(self, condition: &str) -> String {
        if self.is_rust() {
            format!("(({condition}) as u32)")
        } else {
            format!("((u32)({condition}))")
        }
    }

    /// A comparison of floating-point numbers.
    pub fn real_comparison(self, value: &str, operator: &str) -> String {
        if self.is_rust() {
            format!("(({value}) as f64) * 0.5 {operator} D0")
        } else {
            format!("(double)({value}) * 0.5 {operator} d0")
        }
    }

    /// A read of shared memory.
    pub fn load(self, place: u64, index: &str) -> String {
        if self.is_rust() {
            match place {
                0 => "G0".to_owned(),
                1 => "G1".to_owned(),
                2 => format!("A[(({index}) & 15) as usize]"),
                3 => "(&raw const V0).read_volatile()".to_owned(),
                4 => "(C0 as u32)".to_owned(),
                5 => "(H0 as u32)".to_owned(),
                6 => "(L0 as u32)".to_owned(),
                7 => "ATOMIC.load(Acquire)".to_owned(),
                8 => "(D0 as u32)".to_owned(),
                9 => format!("(*NODES[(({index}) & 7) as usize].next).value"),
                _ => format!("A[(B[(({index}) & 7) as usize] & 15) as usize]"),
            }
        } else {
            match place {
                0 => "g0".to_owned(),
                1 => "g1".to_owned(),
                2 => format!("a[({index}) & 15]"),
                3 => "v0".to_owned(),
                4 => "(u32)c0".to_owned(),
                5 => "(u32)h0".to_owned(),
                6 => "(u32)l0".to_owned(),
                7 => "__atomic_load_n(&atomic, __ATOMIC_ACQUIRE)".to_owned(),
                8 => "(u32)(long)d0".to_owned(),
                9 => format!("nodes[({index}) & 7].next->value"),
                _ => format!("a[b[({index}) & 7] & 15]"),
            }
        }
    }

    /// A write to shared memory.
    pub fn store(self, place: u64, index: &str, value: &str) -> String {
        if self.is_rust() {
            match place {
                0 => format!("G0 = {value};"),
                1 => format!("A[(({index}) & 15) as usize] = {value};"),
                2 => format!("(&raw mut V0).write_volatile({value});"),
                3 => format!("C0 = ({value}) as u8;"),
                4 => format!("L0 = ({value}) as u64 * 3;"),
                5 => format!("ATOMIC.fetch_add({value}, AcqRel);"),
                6 => format!("S1.0[(({index}) % 6) as usize] = {value}; S0 = S1;"),
                7 => format!(
                    "NODES[(({index}) & 7) as usize].next = \
                     &raw mut NODES[(({value}) & 7) as usize];"
                ),
                _ => format!("D0 = ({value}) as f64;"),
            }
        } else {
            match place {
                0 => format!("g0 = {value};"),
                1 => format!("a[({index}) & 15] = {value};"),
                2 => format!("v0 = {value};"),
                3 => format!("c0 = (unsigned char)({value});"),
                4 => format!("l0 = (unsigned long)({value}) * 3;"),
                5 => format!("__atomic_fetch_add(&atomic, {value}, __ATOMIC_ACQ_REL);"),
                6 => format!("s1.x[({index}) % 6] = {value}; s0 = s1;"),
                7 => format!("nodes[({index}) & 7].next = &nodes[({value}) & 7];"),
                _ => format!("d0 = (double)({value});"),
            }
        }
    }

    /// A function gets a pointer to a local variable and changes it.
    pub fn escape(self, local: &str, value: &str) -> String {
        if self.is_rust() {
            format!("{{ let given = {value}; poke(&mut {local}, given); }}")
        } else {
            format!("poke(&{local}, {value});")
        }
    }

    /// A pointer to one of two places; `to` gets what is there, then `value` is put there.
    pub fn pointer(
        self,
        name: &str,
        condition: &str,
        index: &str,
        to: &str,
        value: &str,
    ) -> String {
        if self.is_rust() {
            format!(
                "{{ let {name}: *mut u32 = if {condition} {{ &raw mut G1 }} else {{ \
                 &raw mut A[(({index}) & 15) as usize] }}; {to} = *{name}; *{name} = {value}; }}"
            )
        } else {
            format!(
                "{{ u32 *{name} = ({condition}) ? &g1 : &a[({index}) & 15]; \
                 {to} = *{name}; *{name} = {value}; }}"
            )
        }
    }

    /// A call of one of the first `count` functions.
    pub fn call_pointer(self, count: u64, index: &str, first: &str, second: &str) -> String {
        if self.is_rust() {
            format!("(F[(({index}) % {count}) as usize])({first}, {second}, depth)")
        } else {
            format!("f[({index}) % {count}]({first}, {second}, depth)")
        }
    }

    /// A call whose exception ends here.
    pub fn caught(self, to: &str, call: &str) -> String {
        match self.0 {
            Language::C => format!("{to} = {call};"),
            Language::Cpp => {
                format!("try {{ {to} = {call}; }} catch (u32 thrown) {{ {to} = thrown; }}")
            }
            Language::Rust => format!("{to} = caught(|| unsafe {{ {call} }});"),
        }
    }

    /// Leaves the function by an exception, or plainly where there are none.
    pub fn raise(self, value: &str) -> String {
        match self.0 {
            Language::C => format!("return {value};"),
            Language::Cpp => format!("throw (u32)({value});"),
            Language::Rust => format!("std::panic::resume_unwind(Box::new({value}));"),
        }
    }

    /// Something that is done whenever the function is left.
    pub fn guard(self) -> String {
        match self.0 {
            Language::C => String::new(),
            Language::Cpp => "Guard guard;".to_owned(),
            Language::Rust => "let _guard = Guard;".to_owned(),
        }
    }

    /// A variable that changes.
    pub fn variable(self, name: &str, value: &str) -> String {
        if self.is_rust() {
            format!("let mut {name}: u32 = {value};")
        } else {
            format!("u32 {name} = {value};")
        }
    }

    /// One less, but not below zero.
    pub fn less_one(self, name: &str) -> String {
        if self.is_rust() {
            format!("{name} = {name}.saturating_sub(1);")
        } else {
            format!("{name} = {name} > 0 ? {name} - 1 : 0;")
        }
    }

    /// The head of a loop of at most three rounds.
    pub fn counted(self, name: &str, limit: &str) -> String {
        if self.is_rust() {
            format!("for {name} in 0..(({limit}) & 3) {{")
        } else {
            format!("for (u32 {name} = 0, e{name} = ({limit}) & 3; {name} < e{name}; {name}++) {{")
        }
    }

    /// The head of a loop that tests at its end.
    pub fn do_head(self) -> &'static str {
        if self.is_rust() { "loop {" } else { "do {" }
    }

    /// The end of a loop that goes on while this holds.
    pub fn do_tail(self, condition: &str) -> String {
        if self.is_rust() {
            format!("    if !({condition}) {{ break; }} }}")
        } else {
            format!("}} while ({condition});")
        }
    }

    /// The head of a choice between few neighbouring values, or far ones.
    pub fn switch_head(self, sparse: bool, index: &str) -> String {
        match (self.is_rust(), sparse) {
            (true, true) => format!("match FAR[(({index}) & 7) as usize] {{"),
            (true, false) => format!("match ({index}) & 7 {{"),
            (false, true) => format!("switch (far_apart[({index}) & 7]) {{"),
            (false, false) => format!("switch (({index}) & 7) {{"),
        }
    }

    /// The head of one of its cases.
    pub fn case_head(self, value: u64) -> String {
        if self.is_rust() {
            format!("{value} => {{")
        } else {
            format!("case {value}: {{")
        }
    }

    /// The end of one of its cases.
    pub fn case_tail(self) -> &'static str {
        if self.is_rust() { "}" } else { "} break;" }
    }

    /// The end of the choice.
    pub fn switch_tail(self) -> &'static str {
        if self.is_rust() {
            "_ => {} }"
        } else {
            "default: ; }"
        }
    }

    /// The head of a block that is jumped out of.
    pub fn jump_head(self, label: &str) -> String {
        if self.is_rust() {
            format!("'{label}: {{")
        } else {
            "{".to_owned()
        }
    }

    /// The jump.
    pub fn jump(self, label: &str) -> String {
        if self.is_rust() {
            format!("break '{label};")
        } else {
            format!("goto {label};")
        }
    }

    /// The end of the block.
    pub fn jump_tail(self, label: &str) -> String {
        if self.is_rust() {
            "}".to_owned()
        } else {
            format!("}} {label}: ;")
        }
    }

    /// A jump into the loop that follows.
    pub fn enter_loop(self, condition: &str, label: &str) -> String {
        if self.is_rust() {
            String::new()
        } else {
            format!("if ({condition}) goto {label};")
        }
    }

    /// Where that jump leads.
    pub fn loop_entry(self, label: &str) -> String {
        if self.is_rust() {
            String::new()
        } else {
            format!("{label}: ;")
        }
    }
}
