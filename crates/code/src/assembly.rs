//! Atomic instructions that nobody announces.
//!
//! In functions with hooks the compiler calls a hook for every atomic access, so an instruction that locks the bus there
//! comes from assembly in the source text: what it orders is not seen. Helpers that are assembly and nothing else have no
//! hooks of their own and are found by the calls from functions that have.

use std::collections::BTreeSet;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};

use crate::Binary;
use crate::arch::X86_64;
use crate::image::Image;

impl Binary {
    /// The addresses of atomic instructions in functions with hooks, and in functions that these call directly.
    pub fn unannounced_atomics(&self) -> Vec<u64> {
        if self.hooked().is_empty() {
            return Vec::new();
        }
        let image = Image::of(self.data(), &mut X86_64::default());
        let mut found = BTreeSet::new();
        let mut called = BTreeSet::new();
        for (start, end) in self.hooked() {
            look(&image, (*start, *end), &mut found, &mut |target| {
                if !self.has_hooks(target) && !image.is_known(target) {
                    called.extend(image.function_of(target));
                }
            });
        }
        for function in called {
            look(&image, function, &mut found, &mut |_| {});
        }
        found.into_iter().collect()
    }
}

fn look(
    image: &Image,
    (start, end): (u64, u64),
    found: &mut BTreeSet<u64>,
    calls: &mut impl FnMut(u64),
) {
    let Some(code) = image.code(start) else {
        return;
    };
    let code = &code[..code.len().min((end - start) as usize)];
    let mut decoder = Decoder::with_ip(64, code, start, DecoderOptions::NONE);
    let mut instruction = Instruction::default();
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        if is_atomic(&instruction) {
            found.insert(instruction.ip());
        }
        if instruction.flow_control() == FlowControl::Call
            && instruction.op0_kind() == OpKind::NearBranch64
        {
            calls(instruction.near_branch64());
        }
    }
}

/// Whether other processors see it as one step that reads and writes. Exchanges lock without saying so.
fn is_atomic(instruction: &Instruction) -> bool {
    let exchanges = instruction.mnemonic() == Mnemonic::Xchg
        && (0..instruction.op_count()).any(|number| instruction.op_kind(number) == OpKind::Memory);
    instruction.has_lock_prefix() || exchanges
}
