//! Functions without hooks that share memory with those that have.
//!
//! A function that was compiled without instrumentation reads and writes unseen. Whoever claims to
//! have tried all orders of a program has to know whether there is such a function. It is looked for
//! from `main` and the functions with hooks on: what they call directly, jump to, or take the address of, and
//! so on. A function that works on its stack alone, or reads constants, shares nothing; the compiler
//! leaves the hooks out there itself. Not followed: calls through memory, such as C++'s virtual ones.

use std::collections::BTreeSet;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register, UsedMemory,
};

use object::{Object, ObjectSymbol};

use crate::Binary;
use crate::arch::{Architecture, X86_64};
use crate::image::Image;
use crate::kernel_call::KernelCall;

impl Binary {
    /// Whether a program begins here, and not only a library is loaded from here.
    pub fn has_main(&self) -> bool {
        self.main().is_some()
    }

    fn main(&self) -> Option<u64> {
        let object = object::File::parse(self.data()).ok()?;
        let mut symbols = object.symbols();
        let main = symbols.find(|symbol| symbol.is_definition() && symbol.name() == Ok("main"))?;
        Some(main.address())
    }

    /// The addresses of functions without hooks that are reached from `main` or from functions with hooks and may
    /// access memory that others access. What `is_understood` says is not looked into.
    pub fn uninstrumented(&self, is_understood: impl Fn(u64) -> bool) -> Vec<u64> {
        let mut found = BTreeSet::new();
        self.reached(is_understood, |start, body| {
            if !self.has_hooks(start) && body.shares_memory() {
                found.insert(start);
            }
        });
        found.into_iter().collect()
    }

    /// The addresses of instructions that call the kernel, in functions that are reached in the same way, but for
    /// calls that neither order threads nor have them wait.
    pub fn kernel_calls(&self, is_understood: impl Fn(u64) -> bool) -> Vec<u64> {
        if self.hooked().is_empty() {
            return Vec::new();
        }
        let mut found = BTreeSet::new();
        self.reached(is_understood, |_, body| found.extend(&body.kernel_calls));
        found.into_iter().collect()
    }

    /// Shows all functions that are reached from `main` or from functions with hooks.
    fn reached(&self, is_understood: impl Fn(u64) -> bool, mut show: impl FnMut(u64, &Body)) {
        let mut architecture = X86_64::default();
        let image = Image::of(self.data(), &mut architecture);
        let mut factory = InstructionInfoFactory::new();
        let mut known = BTreeSet::new();
        let mut left: Vec<(u64, u64)> = self.hooked().to_vec();
        left.extend(self.main().and_then(|main| image.function_of(main)));
        while let Some(function) = left.pop() {
            let body = Body::of(&image, function, &mut factory);
            show(function.0, &body);
            for target in body.targets {
                let Some(next) = image.function_of(target) else {
                    continue;
                };
                let code = image.code(target).unwrap_or_default();
                let is_new = next.0 == target
                    && architecture.stub_slot(code, target).is_none()
                    && !image.is_known(target)
                    && !self.has_hooks(target)
                    && known.insert(target);
                if is_new && !is_understood(target) {
                    left.push(next);
                }
            }
        }
    }
}

/// What a function does, as far as it matters here.
#[derive(Default)]
struct Body {
    /// Code that it names: functions, if they begin there.
    targets: BTreeSet<u64>,
    /// It keeps its frame in the base pointer.
    has_frame: bool,
    /// It takes the address of constant memory.
    names_constants: bool,
    stores: bool,
    loads_variables: bool,
    loads_through_pointers: bool,
    /// The same, should the base pointer be no frame.
    through_base_pointer: bool,
    /// Where it calls the kernel, for something that others may notice.
    kernel_calls: BTreeSet<u64>,
}

impl Body {
    fn of(image: &Image, (start, end): (u64, u64), factory: &mut InstructionInfoFactory) -> Body {
        let mut body = Body::default();
        let Some(code) = image.code(start) else {
            return body;
        };
        let code = &code[..code.len().min((end - start) as usize)];
        let mut decoder = Decoder::with_ip(64, code, start, DecoderOptions::NONE);
        let mut instruction = Instruction::default();
        let mut number = KernelCall::default();
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            if number.may_order(&instruction) {
                body.kernel_calls.insert(instruction.ip());
            }
            body.add(image, &instruction, factory);
        }
        body
    }

    fn add(
        &mut self,
        image: &Image,
        instruction: &Instruction,
        factory: &mut InstructionInfoFactory,
    ) {
        let flow = instruction.flow_control();
        let branches = matches!(flow, FlowControl::Call | FlowControl::UnconditionalBranch);
        if branches && instruction.op0_kind() == OpKind::NearBranch64 {
            self.targets.insert(instruction.near_branch64());
        }
        let operands = 0..instruction.op_count();
        for number in operands.filter(|number| is_immediate(instruction.op_kind(*number))) {
            self.targets.insert(instruction.immediate(number));
        }
        let moves = instruction.mnemonic() == Mnemonic::Mov;
        self.has_frame |= moves
            && instruction.op0_register() == Register::RBP
            && instruction.op1_register() == Register::RSP;
        if instruction.mnemonic() == Mnemonic::Lea && instruction.is_ip_rel_memory_operand() {
            let address = instruction.ip_rel_memory_address();
            self.targets.insert(address);
            self.names_constants |= image.is_constant(address);
        }
        // Calls and jumps through slots, and what the processor ignores.
        if matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Lea)
            || !matches!(flow, FlowControl::Next)
        {
            return;
        }
        for used in factory.info(instruction).used_memory() {
            self.access(image, instruction, used);
        }
    }

    fn access(&mut self, image: &Image, instruction: &Instruction, used: &UsedMemory) {
        // Thread-local memory: the stack's guard, mostly.
        let is_local = matches!(used.segment(), Register::FS | Register::GS);
        if is_local || matches!(used.base(), Register::RSP | Register::ESP) {
            return;
        }
        if used.base() == Register::RBP {
            self.through_base_pointer = true;
            return;
        }
        let reads = matches!(used.access(), OpAccess::Read | OpAccess::CondRead);
        let is_fixed = instruction.is_ip_rel_memory_operand()
            || (used.base() == Register::None && used.index() == Register::None);
        match (reads, is_fixed) {
            (true, true) => self.loads_variables |= !image.is_constant(used.displacement()),
            (true, false) => self.loads_through_pointers = true,
            (false, _) => self.stores = true,
        }
    }

    fn shares_memory(&self) -> bool {
        self.stores
            || self.loads_variables
            || (self.loads_through_pointers && !self.names_constants)
            || (self.through_base_pointer && !self.has_frame)
    }
}

fn is_immediate(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::Immediate32 | OpKind::Immediate64 | OpKind::Immediate32to64
    )
}
