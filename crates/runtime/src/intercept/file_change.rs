//! Changes of files that a thread may be told of: `inotify`.
//!
//! Whoever changes a file sends, once the program has an `inotify`, and whoever reads from one receives: all
//! of them are one channel, as the kin of
//! `eventfd` are, which orders more than it must and never too little. Until there is one, nothing is
//! recorded.
//!
//! What other processes change, or the C library by itself, comes from outside.

use core::ffi::c_int;
use core::sync::atomic::{AtomicUsize, Ordering};

use deadheat_wire::Op;

use super::{channel, number, real};
use crate::hooks::{caller, trampoline};
use crate::serial;
use crate::serial::explore::server;

trampoline! {
    "inotify_init" => inotify_init;
    "inotify_init1" => inotify_init1;
    "inotify_rm_watch" => inotify_rm_watch;
    "rename" => rename;
    "renameat" => renameat;
    "renameat2" => renameat2;
    "unlink" => unlink;
    "unlinkat" => unlinkat;
    "remove" => remove;
    "link" => link;
    "linkat" => linkat;
    "symlink" => symlink;
    "symlinkat" => symlinkat;
    "mkdir" => mkdir;
    "mkdirat" => mkdirat;
    "rmdir" => rmdir;
    "truncate" => truncate;
    "truncate64" => truncate64;
    "ftruncate" => ftruncate;
    "ftruncate64" => ftruncate64;
}

/// The channel of those who are told of changes; 0 until there is one.
static LISTENERS: AtomicUsize = AtomicUsize::new(0);

/// A call that may change a file, or open or close it.
pub fn changing<R>(pc: usize, real: impl FnOnce() -> R) -> R {
    let listeners = LISTENERS.load(Ordering::Acquire);
    if listeners == 0 {
        return real();
    }
    serial::gate(Op::Send, listeners, 0, pc);
    channel::send(listeners, pc);
    let result = real();
    channel::wake(listeners);
    result
}

/// A call that makes a listener.
fn making(pc: usize, real: impl FnOnce() -> c_int) -> c_int {
    server::has_in_common();
    number::getting(pc, || {
        let fd = real();
        if fd >= 0 {
            LISTENERS.store(channel::channel(fd), Ordering::Release);
        }
        fd
    })
}

// SAFETY of all calls below: the arguments are the program's own, for this very function.

unsafe extern "C" fn inotify_init() -> c_int {
    making(caller(), || unsafe { real::inotify_init() })
}

unsafe extern "C" fn inotify_init1(flags: c_int) -> c_int {
    making(caller(), || unsafe { real::inotify_init1(flags) })
}

/// That nothing more comes is told, too.
unsafe extern "C" fn inotify_rm_watch(fd: c_int, watch: c_int) -> c_int {
    changing(caller(), || unsafe { real::inotify_rm_watch(fd, watch) })
}

unsafe extern "C" fn rename(from: usize, to: usize) -> c_int {
    changing(caller(), || unsafe { real::rename(from, to) })
}

unsafe extern "C" fn renameat(old: c_int, from: usize, new: c_int, to: usize) -> c_int {
    changing(caller(), || unsafe { real::renameat(old, from, new, to) })
}

unsafe extern "C" fn renameat2(old: c_int, from: usize, new: c_int, to: usize, how: u32) -> c_int {
    changing(caller(), || unsafe {
        real::renameat2(old, from, new, to, how)
    })
}

unsafe extern "C" fn unlink(path: usize) -> c_int {
    changing(caller(), || unsafe { real::unlink(path) })
}

unsafe extern "C" fn unlinkat(folder: c_int, path: usize, flags: c_int) -> c_int {
    changing(caller(), || unsafe { real::unlinkat(folder, path, flags) })
}

unsafe extern "C" fn remove(path: usize) -> c_int {
    changing(caller(), || unsafe { real::remove(path) })
}

unsafe extern "C" fn link(from: usize, to: usize) -> c_int {
    changing(caller(), || unsafe { real::link(from, to) })
}

unsafe extern "C" fn linkat(old: c_int, from: usize, new: c_int, to: usize, how: c_int) -> c_int {
    changing(caller(), || unsafe {
        real::linkat(old, from, new, to, how)
    })
}

unsafe extern "C" fn symlink(target: usize, path: usize) -> c_int {
    changing(caller(), || unsafe { real::symlink(target, path) })
}

unsafe extern "C" fn symlinkat(target: usize, folder: c_int, path: usize) -> c_int {
    changing(caller(), || unsafe {
        real::symlinkat(target, folder, path)
    })
}

unsafe extern "C" fn mkdir(path: usize, mode: u32) -> c_int {
    changing(caller(), || unsafe { real::mkdir(path, mode) })
}

unsafe extern "C" fn mkdirat(folder: c_int, path: usize, mode: u32) -> c_int {
    changing(caller(), || unsafe { real::mkdirat(folder, path, mode) })
}

unsafe extern "C" fn rmdir(path: usize) -> c_int {
    changing(caller(), || unsafe { real::rmdir(path) })
}

unsafe extern "C" fn truncate(path: usize, length: i64) -> c_int {
    changing(caller(), || unsafe { real::truncate(path, length) })
}

unsafe extern "C" fn truncate64(path: usize, length: i64) -> c_int {
    changing(caller(), || unsafe { real::truncate64(path, length) })
}

unsafe extern "C" fn ftruncate(fd: c_int, length: i64) -> c_int {
    changing(caller(), || unsafe { real::ftruncate(fd, length) })
}

unsafe extern "C" fn ftruncate64(fd: c_int, length: i64) -> c_int {
    changing(caller(), || unsafe { real::ftruncate64(fd, length) })
}
