//! x86-64, decoded by iced-x86.

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, InstructionInfoFactory, MemorySize, Mnemonic,
    OpAccess, OpKind, Register as Iced, RflagsBits,
};
use smallvec::SmallVec;

use super::{
    Address, Architecture, Bound, Convention, Flow, Instruction, Memory, Part, Reference, Register,
    Result,
};

/// x86-64.
pub(crate) struct X86_64 {
    factory: InstructionInfoFactory,
}

impl Default for X86_64 {
    fn default() -> Self {
        X86_64 {
            factory: InstructionInfoFactory::new(),
        }
    }
}

const STACK: Register = Register(4);
const FRAME: Register = Register(5);
const FLAGS: Register = Register(16);
const FIRST_VECTOR: u8 = 17;

/// The convention of System V. rbx, rsp, rbp, r12 to r15 are kept.
static CONVENTION: Convention = Convention {
    stack: STACK,
    frame: FRAME,
    flags: FLAGS,
    result: Register(0),
    arguments: [
        Register(7),
        Register(6),
        Register(2),
        Register(1),
        Register(8),
        Register(9),
    ],
    kept: &[
        Register(3),
        STACK,
        FRAME,
        Register(12),
        Register(13),
        Register(14),
        Register(15),
    ],
};

/// The flags that conditions look at.
const CONDITION_FLAGS: u32 = RflagsBits::OF
    | RflagsBits::SF
    | RflagsBits::ZF
    | RflagsBits::AF
    | RflagsBits::CF
    | RflagsBits::PF;

fn register(iced: Iced) -> Option<Register> {
    let full = iced.full_register();
    if full.is_gpr64() {
        return Some(Register(full.number() as u8));
    }
    if full.is_zmm() {
        return Some(Register(FIRST_VECTOR + full.number() as u8));
    }
    None
}

/// Which part of a whole register it is. Of vector registers the lower 16 bytes are followed; what
/// is read from above them is not known.
fn part(iced: Iced) -> Part {
    match iced {
        _ if is_high_byte(iced) || iced.is_gpr16() => Part::Some,
        _ if iced.is_gpr8() => Part::LowByte,
        _ => Part::Whole,
    }
}

fn is_high_byte(iced: Iced) -> bool {
    matches!(iced, Iced::AH | Iced::BH | Iced::CH | Iced::DH)
}

fn is_read(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Read | OpAccess::CondRead | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

fn is_written(access: OpAccess) -> bool {
    matches!(
        access,
        OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
    )
}

impl Architecture for X86_64 {
    fn decode(&mut self, bytes: &[u8], address: u64) -> Option<Instruction> {
        let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
        let iced = decoder.decode();
        if iced.is_invalid() {
            return None;
        }
        let mut made = Instruction {
            address,
            length: iced.len() as u8,
            flow: flow(&iced),
            code: iced.code() as u16,
            immediate: immediate(&iced),
            pure_function: true,
            reads_unknown: false,
            inputs: SmallVec::new(),
            reads: SmallVec::new(),
            outputs: SmallVec::new(),
            memory: SmallVec::new(),
            result: Result::Computed,
            bound: bound(&iced),
            stack_change: 0,
        };
        self.uses(&iced, &mut made);
        made.result = result(&iced, &made);
        Some(made)
    }

    fn stub_slot(&mut self, bytes: &[u8], address: u64) -> Option<u64> {
        let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
        let mut iced = decoder.decode();
        if iced.code() == Code::Endbr64 {
            iced = decoder.decode();
        }
        let through_slot = iced.code() == Code::Jmp_rm64 && iced.is_ip_rel_memory_operand();
        through_slot.then(|| iced.ip_rel_memory_address())
    }

    fn places_that_call(
        &self,
        code: &[u8],
        address: u64,
        is_target: &mut dyn FnMut(Reference) -> bool,
    ) -> Vec<u64> {
        let mut places = Vec::new();
        let offset_at = |at: usize| {
            let bytes = code.get(at..at + 4)?;
            Some(i64::from(i32::from_le_bytes(bytes.try_into().ok()?)))
        };
        for at in 0..code.len() {
            let (opcode, skip) = match code[at] {
                0xE8 | 0xE9 => (code[at], 1),
                0xFF if matches!(code.get(at + 1), Some(0x15 | 0x25)) => (0xFF, 2),
                _ => continue,
            };
            let Some(offset) = offset_at(at + skip) else {
                continue;
            };
            let place = address + at as u64;
            let target = place
                .wrapping_add(skip as u64 + 4)
                .wrapping_add_signed(offset);
            let reference = match opcode {
                0xFF => Reference::Slot(target),
                _ => Reference::Direct(target),
            };
            if is_target(reference) {
                places.push(place);
            }
        }
        places
    }

    fn convention(&self) -> &'static Convention {
        &CONVENTION
    }
}

impl X86_64 {
    /// Fills in what is read and written.
    fn uses(&mut self, iced: &iced_x86::Instruction, made: &mut Instruction) {
        let info = self.factory.info(iced);
        let stack_op = iced.is_stack_instruction() && !matches!(iced.mnemonic(), Mnemonic::Enter);
        if stack_op {
            made.stack_change = i64::from(iced.stack_pointer_increment());
        }
        for used in info.used_registers() {
            let wide = used.register().is_ymm() || used.register().is_zmm();
            let segment = used.register().is_segment_register();
            let followed = register(used.register());
            if is_read(used.access()) && !segment && (wide || followed.is_none()) {
                made.reads_unknown = true;
            }
            let Some(register) = followed else {
                continue;
            };
            if stack_op && register == STACK && !matches!(iced.mnemonic(), Mnemonic::Leave) {
                continue;
            }
            if is_read(used.access()) {
                made.reads.push((register, part(used.register())));
            }
            if is_written(used.access()) {
                let conditional =
                    matches!(used.access(), OpAccess::CondWrite | OpAccess::ReadCondWrite);
                let part = match conditional {
                    true => Part::Some,
                    false => part(used.register()),
                };
                let mut known = made.outputs.iter_mut();
                match known.find(|(known, _)| *known == register) {
                    Some((_, known)) if *known == part => {}
                    Some((_, known)) => *known = Part::Some,
                    None => made.outputs.push((register, part)),
                }
            }
            if is_high_byte(used.register()) {
                made.pure_function = false;
            }
        }
        made.reads_unknown |= matches!(
            iced.mnemonic(),
            Mnemonic::Rdtsc
                | Mnemonic::Rdtscp
                | Mnemonic::Rdrand
                | Mnemonic::Rdseed
                | Mnemonic::Rdpid
                | Mnemonic::Cpuid
                | Mnemonic::Xgetbv
        );
        if iced.rflags_read() & CONDITION_FLAGS != 0 {
            made.reads.push((FLAGS, Part::Whole));
            made.pure_function = false;
        }
        let flags = iced.rflags_modified() & CONDITION_FLAGS;
        if flags != 0 {
            let part = match flags {
                CONDITION_FLAGS => Part::Whole,
                _ => Part::Some,
            };
            made.outputs.push((FLAGS, part));
        }
        let repeated = iced.has_rep_prefix() || iced.has_repne_prefix();
        for used in info.used_memory() {
            let (read, written) = (is_read(used.access()), is_written(used.access()));
            if !read && !written {
                continue;
            }
            let size = match used.memory_size() {
                MemorySize::Unknown => 0,
                _ if repeated && iced.is_string_instruction() => 0,
                size => size.size() as u32,
            };
            made.memory.push(Memory {
                address: address(
                    used.segment(),
                    used.base(),
                    used.index(),
                    used.scale(),
                    used.displacement(),
                ),
                size,
                read,
                written,
            });
        }
        for operand in 0..iced.op_count() {
            if iced.op_kind(operand) != OpKind::Register || !is_read(info.op_access(operand)) {
                continue;
            }
            made.inputs.extend(register(iced.op_register(operand)));
        }
        // Registers that no operand names.
        for &(read, _) in &made.reads {
            let in_address = made.memory.iter().any(|memory| {
                memory.address.is_none_or(|address| {
                    address.base == Some(read) || address.index.is_some_and(|(r, _)| r == read)
                })
            });
            if read != FLAGS && !in_address && !made.inputs.contains(&read) {
                made.inputs.push(read);
            }
        }
    }
}

fn address(
    segment: Iced,
    base: Iced,
    index: Iced,
    scale: u32,
    displacement: u64,
) -> Option<Address> {
    let part = |iced: Iced| match iced {
        Iced::None => Some(None),
        _ if iced.is_gpr64() => register(iced).map(Some),
        _ => None,
    };
    let base = part(base)?;
    let index = part(index)?.map(|index| (index, scale as u8));
    Some(Address {
        base,
        index,
        offset: displacement as i64,
        thread: matches!(segment, Iced::FS | Iced::GS),
    })
}

fn flow(iced: &iced_x86::Instruction) -> Flow {
    let target = || match iced.op0_kind() {
        OpKind::NearBranch64 => Some(iced.near_branch_target()),
        _ => None,
    };
    match iced.flow_control() {
        FlowControl::Next => match iced.mnemonic() {
            Mnemonic::Hlt => Flow::Stop,
            _ => Flow::Next,
        },
        FlowControl::UnconditionalBranch => target().map_or(Flow::JumpIndirect, Flow::Jump),
        FlowControl::IndirectBranch => Flow::JumpIndirect,
        FlowControl::ConditionalBranch => target().map_or(Flow::JumpIndirect, Flow::Branch),
        FlowControl::Return => Flow::Return,
        FlowControl::Call => target().map_or(Flow::Trap, Flow::Call),
        FlowControl::IndirectCall => Flow::CallIndirect,
        FlowControl::Interrupt => match iced.mnemonic() {
            Mnemonic::Int3 | Mnemonic::Int1 => Flow::Stop,
            _ => Flow::Trap,
        },
        FlowControl::XbeginXabortXend => Flow::JumpIndirect,
        FlowControl::Exception => Flow::Stop,
    }
}

fn immediate(iced: &iced_x86::Instruction) -> u64 {
    (0..iced.op_count())
        .find_map(|operand| iced.try_immediate(operand).ok())
        .unwrap_or(0)
}

fn bound(iced: &iced_x86::Instruction) -> Bound {
    let with_constant = iced.op_count() == 2 && iced.try_immediate(1).is_ok();
    match iced.mnemonic() {
        Mnemonic::Cmp | Mnemonic::Sub if with_constant => Bound::Compares,
        Mnemonic::Ja => Bound::BranchesAbove,
        Mnemonic::And if with_constant && immediate(iced) <= i32::MAX as u64 => {
            Bound::AtMost(immediate(iced))
        }
        _ => match iced.code() {
            Code::Movzx_r32_rm8 | Code::Movzx_r64_rm8 => Bound::AtMost(u8::MAX.into()),
            Code::Movzx_r32_rm16 | Code::Movzx_r64_rm16 => Bound::AtMost(u16::MAX.into()),
            Code::Mov_r32_rm32 | Code::Mov_rm32_r32 => Bound::Keeps,
            _ => Bound::No,
        },
    }
}

/// The address that a memory operand of `lea` stands for.
fn operand_address(iced: &iced_x86::Instruction) -> Option<Address> {
    let base = match iced.memory_base() {
        Iced::RIP => Iced::None,
        base => base,
    };
    address(
        Iced::None,
        base,
        iced.memory_index(),
        iced.memory_index_scale(),
        iced.memory_displacement64(),
    )
}

/// What more is known of the result.
fn result(iced: &iced_x86::Instruction, made: &Instruction) -> Result {
    let own = |operand| register(iced.op_register(operand));
    let plus = |base: Option<Register>, offset: i64| {
        Result::Address(Address {
            base,
            index: None,
            offset,
            thread: false,
        })
    };
    match iced.code() {
        Code::Mov_r64_rm64 | Code::Mov_rm64_r64 => match (iced.op0_kind(), iced.op1_kind()) {
            (OpKind::Register, OpKind::Register) => own(1).map_or(Result::Computed, Result::Copy),
            (OpKind::Register, _) => Result::Load,
            _ => own(1).map_or(Result::Computed, Result::Store),
        },
        Code::Mov_r64_imm64 => Result::Constant(iced.immediate64()),
        Code::Mov_rm64_imm32 if iced.op0_kind() == OpKind::Register => {
            Result::Constant(made.immediate)
        }
        Code::Mov_rm64_imm32 | Code::Mov_rm32_imm32 | Code::Mov_rm8_imm8 | Code::Mov_rm16_imm16
            if iced.op0_kind() == OpKind::Memory =>
        {
            Result::StoreConstant(made.immediate)
        }
        Code::Mov_r32_imm32 => Result::Constant(u64::from(iced.immediate32())),
        Code::Xor_r32_rm32 | Code::Xor_rm32_r32 | Code::Xor_r64_rm64 | Code::Xor_rm64_r64
            if iced.op1_kind() == OpKind::Register
                && iced.op0_kind() == OpKind::Register
                && iced.op0_register() == iced.op1_register() =>
        {
            Result::Constant(0)
        }
        Code::Lea_r64_m => operand_address(iced).map_or(Result::Computed, Result::Address),
        Code::Add_rm64_imm32 | Code::Add_rm64_imm8 | Code::Add_RAX_imm32
            if iced.op0_kind() == OpKind::Register =>
        {
            plus(own(0), made.immediate as i64)
        }
        Code::Sub_rm64_imm32 | Code::Sub_rm64_imm8 | Code::Sub_RAX_imm32
            if iced.op0_kind() == OpKind::Register =>
        {
            plus(own(0), (made.immediate as i64).wrapping_neg())
        }
        Code::Inc_rm64 if iced.op0_kind() == OpKind::Register => plus(own(0), 1),
        Code::Dec_rm64 if iced.op0_kind() == OpKind::Register => plus(own(0), -1),
        Code::Add_r64_rm64 | Code::Add_rm64_r64
            if iced.op0_kind() == OpKind::Register && iced.op1_kind() == OpKind::Register =>
        {
            match (own(0), own(1)) {
                (Some(base), Some(index)) => Result::Address(Address {
                    base: Some(base),
                    index: Some((index, 1)),
                    offset: 0,
                    thread: false,
                }),
                _ => Result::Computed,
            }
        }
        Code::Shl_rm64_imm8 if iced.op0_kind() == OpKind::Register && made.immediate <= 3 => {
            match own(0) {
                Some(index) => Result::Address(Address {
                    base: None,
                    index: Some((index, 1 << made.immediate)),
                    offset: 0,
                    thread: false,
                }),
                None => Result::Computed,
            }
        }
        Code::Push_r64 => own(0).map_or(Result::Computed, Result::Store),
        Code::Pop_r64 => Result::Load,
        Code::Leaveq => Result::Leave,
        _ => Result::Computed,
    }
}
