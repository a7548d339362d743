//! x86-64, decoded by iced-x86.

mod result;

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, InstructionInfoFactory, MemorySize, Mnemonic,
    OpAccess, OpKind, Register as Iced, RflagsBits,
};
use smallvec::SmallVec;

use self::result::{bound, result};
use super::{
    Address, Architecture, Convention, Flow, Instruction, Memory, Part, Reference, Register, Result,
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
