//! Calls of the kernel that a function makes itself, in assembly: which of them may order threads.
//!
//! The call's number is in `rax`. It is known if it is put there just before, in the same stretch of
//! code.

use iced_x86::{FlowControl, Instruction, Mnemonic, OpKind, Register};

/// Calls after which nobody can tell that they were made, and that do not wait, on x86-64: about files
/// (`stat` and its kin, `lseek`, `access`, `getcwd`, `readlink`, `getdents`, `statfs`), processes and users
/// (`getpid`, `getuid` ...), limits and the time.
const PRIVATE: [u64; 37] = [
    4, 5, 6, 8, 21, 24, 39, 63, 79, 89, 96, 97, 98, 99, 100, 102, 104, 107, 108, 110, 111, 121,
    124, 137, 138, 186, 201, 204, 217, 228, 229, 262, 267, 269, 309, 318, 332,
];

/// What is known of the number of the next call.
#[derive(Default)]
pub(crate) struct KernelCall {
    number: Option<u64>,
}

impl KernelCall {
    /// The next instruction of a function: whether it is a call that may order threads, or have them wait.
    pub(crate) fn may_order(&mut self, instruction: &Instruction) -> bool {
        let is_legacy = instruction.mnemonic() == Mnemonic::Int && instruction.immediate8() == 0x80;
        if is_legacy
            || matches!(
                instruction.mnemonic(),
                Mnemonic::Syscall | Mnemonic::Sysenter
            )
        {
            // The old way has other numbers.
            let number = self.number.take().filter(|_| !is_legacy);
            return !number.is_some_and(|number| PRIVATE.contains(&number));
        }
        if instruction.flow_control() != FlowControl::Next {
            self.number = None;
        } else if instruction.op_count() > 0
            && instruction.op0_kind() == OpKind::Register
            && instruction.op0_register().full_register() == Register::RAX
        {
            self.number = written(instruction);
        }
        false
    }
}

/// What an instruction leaves in `rax`, if that is a constant.
fn written(instruction: &Instruction) -> Option<u64> {
    let is_immediate = matches!(
        instruction.op1_kind(),
        OpKind::Immediate32 | OpKind::Immediate32to64 | OpKind::Immediate64
    );
    match instruction.mnemonic() {
        Mnemonic::Mov if is_immediate => Some(instruction.immediate(1)),
        Mnemonic::Xor if instruction.op1_register() == instruction.op0_register() => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions};

    use super::*;

    /// Where calls are that may order threads.
    fn found(code: &[u8]) -> Vec<u64> {
        let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
        let mut call = KernelCall::default();
        decoder
            .iter()
            .filter(|instruction| call.may_order(instruction))
            .map(|instruction| instruction.ip())
            .collect()
    }

    #[test]
    fn only_calls_with_a_number_that_is_known_to_be_private_are_passed_over() {
        // mov eax, 39 (getpid); syscall
        assert!(found(&[0xB8, 39, 0, 0, 0, 0x0F, 0x05]).is_empty());
        // mov eax, 202 (futex); syscall
        assert_eq!(found(&[0xB8, 202, 0, 0, 0, 0x0F, 0x05]), [5]);
        // xor eax, eax (read); syscall
        assert_eq!(found(&[0x31, 0xC0, 0x0F, 0x05]), [2]);
        // mov rax, rdi; syscall
        assert_eq!(found(&[0x48, 0x89, 0xF8, 0x0F, 0x05]), [3]);
        // mov eax, 39; jmp; syscall
        assert_eq!(found(&[0xB8, 39, 0, 0, 0, 0xEB, 0, 0x0F, 0x05]), [7]);
        // mov eax, 39; int 0x80
        assert_eq!(found(&[0xB8, 39, 0, 0, 0, 0xCD, 0x80]), [5]);
        // mov eax, 39; syscall; syscall
        assert_eq!(found(&[0xB8, 39, 0, 0, 0, 0x0F, 0x05, 0x0F, 0x05]), [7]);
    }
}
