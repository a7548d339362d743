//! What is known of an instruction's result beyond what it is computed from.

use iced_x86::{Code, Mnemonic, OpKind, Register as Iced};

use super::{address, immediate, register};
use crate::arch::{Address, Bound, Instruction, Register, Result};

/// What an instruction says about how large a number is.
pub(super) fn bound(iced: &iced_x86::Instruction) -> Bound {
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
pub(super) fn result(iced: &iced_x86::Instruction, made: &Instruction) -> Result {
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
