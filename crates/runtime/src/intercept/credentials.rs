//! Users and groups of the process. The kernel keeps them per kernel thread; glibc has every thread change its own, by a signal,
//! and waits until each has answered as itself. A kernel thread that runs another's context would answer as that one.

use core::ffi::{c_char, c_int};

use super::real;
use crate::{serial, threads};

/// Makes a call that all kernel threads take part in.
fn by_all(real: impl FnOnce() -> c_int) -> c_int {
    match threads::visible() && serial::is_green() {
        true => serial::at_home(real),
        false => real(),
    }
}

/// Functions with plain numbers as arguments.
macro_rules! changed_by_all {
    ($($name:ident($($arg:ident: $type:ty),*);)*) => { $(
        #[cfg_attr(not(test), unsafe(no_mangle))]
        unsafe extern "C" fn $name($($arg: $type),*) -> c_int {
            // SAFETY: the arguments are the program's own, for this very function.
            by_all(|| unsafe { real::$name($($arg),*) })
        }
    )* };
}

changed_by_all! {
    setuid(user: u32);
    seteuid(user: u32);
    setreuid(real_user: u32, user: u32);
    setresuid(real_user: u32, user: u32, saved: u32);
    setgid(group: u32);
    setegid(group: u32);
    setregid(real_group: u32, group: u32);
    setresgid(real_group: u32, group: u32, saved: u32);
    setgroups(count: usize, groups: *const u32);
    initgroups(user: *const c_char, group: u32);
}
