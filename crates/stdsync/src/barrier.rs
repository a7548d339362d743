//! Barriers: the library's own waits, but who comes and goes is told.

unsafe extern "C" {
    fn __deadheat_barrier_enter(barrier: *const u8);
    fn __deadheat_barrier_exit(barrier: *const u8);
}

/// Waits with the library's own function. What it does to its mutex and condition nobody else
/// ever sees.
pub fn wait(barrier: &u8, wait: fn(&u8) -> bool) -> bool {
    // SAFETY: the runtime only takes the address as a name.
    unsafe { __deadheat_barrier_enter(barrier) };
    let is_leader = wait(barrier);
    // SAFETY: as above.
    unsafe { __deadheat_barrier_exit(barrier) };
    is_leader
}
