//! Waiting for the end of child processes.

use core::ffi::c_int;

use deadheat_wire::inputs::kind;

use super::descriptor::blocking;
use super::{channel, real};
use crate::hooks::{caller, trampoline};
use crate::inputs::pids;
use crate::record::event;
use crate::serial;

trampoline! {
    "wait" => wait;
    "waitpid" => waitpid;
    "wait4" => wait4;
    "waitid" => waitid;
}

// SAFETY of all calls below: the arguments are the program's own, for this very function.

/// The number of a process that has ended, as the program is told; others are no processes.
fn ended(process: c_int) -> c_int {
    match process {
        1.. => pids::tell(kind::ENDED, process),
        _ => process,
    }
}

/// A child's end was waited for: its status is there.
fn waited(process: c_int, status: usize, pc: usize) -> c_int {
    if process > 0 {
        channel::receive_from_outside(pc);
    }
    if process > 0 && status != 0 {
        event::range(true, status, size_of::<c_int>(), pc);
        serial::settle();
    }
    ended(process)
}

unsafe extern "C" fn wait(status: usize) -> c_int {
    let pc = caller();
    waited(blocking(|| unsafe { real::wait(status) }), status, pc)
}

unsafe extern "C" fn waitpid(process: c_int, status: usize, options: c_int) -> c_int {
    let pc = caller();
    let process = pids::meant(process);
    let found = blocking(|| unsafe { real::waitpid(process, status, options) });
    waited(found, status, pc)
}

unsafe extern "C" fn wait4(process: c_int, status: usize, options: c_int, usage: usize) -> c_int {
    let pc = caller();
    let process = pids::meant(process);
    let found = blocking(|| unsafe { real::wait4(process, status, options, usage) });
    waited(found, status, pc)
}

unsafe extern "C" fn waitid(kind: c_int, id: u32, info: usize, options: c_int) -> c_int {
    let pc = caller();
    const P_PID: c_int = libc::P_PID as c_int;
    /// Where a `siginfo_t` has the process.
    const SI_PID: usize = 16;
    let id = match kind {
        P_PID => pids::meant(id as c_int) as u32,
        _ => id,
    };
    let result = blocking(|| unsafe { real::waitid(kind, id, info, options) });
    if result == 0 && info != 0 {
        let process = (info + SI_PID) as *mut c_int;
        if unsafe { process.read() } > 0 {
            channel::receive_from_outside(pc);
        }
        unsafe { process.write(ended(process.read())) };
    }
    result
}
