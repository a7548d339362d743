// Statics, references and pairs in Rust.
#![crate_type = "lib"]
#![no_std]

use core::sync::atomic::{AtomicU32, Ordering};

pub struct Account {
    pub owner: u8,
    pub balance: u64,
    pub hits: AtomicU32,
}

pub static HITS: AtomicU32 = AtomicU32::new(0);
pub static mut PLAIN: u64 = 1;

#[unsafe(no_mangle)]
pub fn deposit(account: &mut Account, amount: u64) {
    account.balance = account.balance.wrapping_add(amount);
}

#[unsafe(no_mangle)]
pub unsafe fn plain() -> u64 {
    unsafe { PLAIN }
}

#[unsafe(no_mangle)]
pub fn last(numbers: &[u32]) -> u32 {
    if let [.., last] = numbers { *last } else { 0 }
}

#[unsafe(no_mangle)]
pub fn hit(account: &Account) -> u32 {
    account.hits.load(Ordering::Acquire)
}
