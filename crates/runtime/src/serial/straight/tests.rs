//! Code between hooks as gcc makes it, and every instruction that the decoder knows against a decoder that knows all.

use iced_x86::{Decoder, DecoderOptions, FlowControl, InstructionInfoFactory, OpAccess, Register};
use proptest::prelude::*;

use super::*;

/// A call of a hook: what the second place is behind.
const CALL: [u8; 5] = [0xe8, 0, 0, 0, 0];

fn up_to_call(code: &[u8]) -> bool {
    has_store(&[code, &CALL].concat())
}

#[test]
fn a_plain_write_is_stored_before_the_next_hook() {
    // mov [rip+0x1234], ebx; lea rax, [rip+0x1234]; mov rdi, rax
    let unoptimised = [
        0x89, 0x1d, 0x34, 0x12, 0, 0, 0x48, 0x8d, 0x05, 0x34, 0x12, 0, 0, 0x48, 0x89, 0xc7,
    ];
    assert!(up_to_call(&unoptimised));
    // mov rdi, rbp; add r12d, ebx; mov [rip+0x1234], r12d
    let optimised = [
        0x48, 0x89, 0xef, 0x41, 0x01, 0xdc, 0x44, 0x89, 0x25, 0x34, 0x12, 0, 0,
    ];
    assert!(up_to_call(&optimised));
    // mov rax, [rbp-8]; movss xmm0, [rbp-0x14]; movss [rax], xmm0
    let number = [
        0x48, 0x8b, 0x45, 0xf8, 0xf3, 0x0f, 0x10, 0x45, 0xec, 0xf3, 0x0f, 0x11, 0x00,
    ];
    assert!(up_to_call(&number));
}

#[test]
fn what_follows_a_jump_is_no_copy() {
    // cmp ebx, 5; jle +2
    assert!(up_to_call(&[0x83, 0xfb, 0x05, 0x7e, 0x02]));
    assert!(stores_between(0x5000, 0x4000), "a way back");
}

#[test]
fn between_the_hooks_of_a_copy_an_address_is_computed() {
    // mov eax, [rbp-8]; cdqe; lea rdx, [rax*8]; lea rax, [rip+0x1234]; add rax, rdx; mov rdi, rax
    let unoptimised = [
        0x8b, 0x45, 0xf8, 0x48, 0x98, 0x48, 0x8d, 0x14, 0xc5, 0, 0, 0, 0, 0x48, 0x8d, 0x05, 0x34,
        0x12, 0, 0, 0x48, 0x01, 0xd0, 0x48, 0x89, 0xc7,
    ];
    assert!(!up_to_call(&unoptimised));
    // lea rdi, [r13+rbp*8]
    assert!(!up_to_call(&[0x49, 0x8d, 0x7c, 0xed, 0]));
    // mov rdi, rbp; mov esi, 40
    assert!(!up_to_call(&[0x48, 0x89, 0xef, 0xbe, 40, 0, 0, 0]));
    // mov [rbp-0x18], rax: a slot of the stack that the compiler keeps something in.
    assert!(!up_to_call(&[0x48, 0x89, 0x45, 0xe8]));
}

#[test]
fn what_is_not_understood_is_left_open() {
    // vmovaps [rax], ymm0
    assert!(!up_to_call(&[0xc5, 0xfc, 0x29, 0x00]));
    // mov eax, [rdi]: cut off
    assert!(!has_store(&[0x8b]));
    assert!(!has_store(&[]));
    // Two prefixes, of which only one counts.
    assert_eq!(decode(&[0x66, 0xf2, 0xb8, 0, 0, 0, 0, 0]), None);
}

/// What a decoder says that knows every instruction.
fn told(code: &[u8]) -> Option<(usize, Effect)> {
    let instruction = Decoder::new(64, code, DecoderOptions::NONE).decode();
    if instruction.is_invalid() {
        return None;
    }
    let jumps = matches!(
        instruction.flow_control(),
        FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch
    );
    let mut factory = InstructionInfoFactory::new();
    let writes = |access: OpAccess| {
        use OpAccess::{CondWrite, ReadCondWrite, ReadWrite, Write};
        matches!(access, Write | CondWrite | ReadWrite | ReadCondWrite)
    };
    let is_stack = |base: Register| matches!(base.full_register(), Register::RSP | Register::RBP);
    let info = factory.info(&instruction);
    let mut stores = info.used_memory().iter();
    let stores = stores.any(|memory| writes(memory.access()) && !is_stack(memory.base()));
    let effect = match jumps || stores {
        true => Effect::Store,
        false => Effect::None,
    };
    Some((instruction.len(), effect))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200_000))]

    #[test]
    fn what_is_understood_is_understood_rightly(
        prefix in prop_oneof![Just(&[][..]), Just(&[0x66][..]), Just(&[0xf2][..]), Just(&[0xf3][..])],
        rex in prop_oneof![Just(None), (0x40..0x50u8).prop_map(Some)],
        long in any::<bool>(),
        rest in proptest::collection::vec(any::<u8>(), 12),
    ) {
        let mut code = prefix.to_vec();
        code.extend(rex);
        code.extend(long.then_some(0x0f));
        code.extend(rest);
        if let Some((length, effect)) = decode(&code)
            && let Some((true_length, true_effect)) = told(&code)
        {
            prop_assert_eq!(effect, true_effect, "{:02x?}", code);
            if effect == Effect::None {
                prop_assert_eq!(length, true_length, "{:02x?}", code);
            }
        }
    }
}
