//! Functions that print to a stream.

use core::ffi::{c_char, c_int};

use deadheat_wire::Op;

use super::super::channel::{self, Behind};
use super::super::descriptor::{Interrupted, is_ready, on_descriptor};
use super::super::room::Room;
use super::super::{descriptor, number, real};
use super::lock::holding;
use super::{Over, Stream, descriptor_changes, length_of};
use crate::hooks::{caller, trampoline};
use crate::local::Inside;
use crate::record::{Mode, event, mode};
use crate::{serial, threads};

trampoline! {
    "fwrite" => fwrite;
    "fwrite_unlocked" => fwrite;
    "fputs" => fputs;
    "fputs_unlocked" => fputs;
    "puts" => puts;
    "fputc" => fputc;
    "putc" => fputc;
    "_IO_putc" => fputc;
    "fputc_unlocked" => fputc;
    "putc_unlocked" => fputc;
    "putchar" => putchar;
    "putchar_unlocked" => putchar;
    "__overflow" => overflow;
    "vprintf" => vprintf;
    "vfprintf" => vfprintf;
    "__vprintf_chk" => vprintf_chk;
    "__vfprintf_chk" => vfprintf_chk;
    "fflush" => fflush;
    "fflush_unlocked" => fflush;
    "fclose" => fclose;
    "pclose" => pclose;
}

/// How much a pipe takes that has room.
const PIECE: usize = 4096;

/// Prints: `read` are bytes of the program's, and `length` how many are printed, if that is known.
fn printing<R: Interrupted>(
    stream: Stream,
    pc: usize,
    read: [usize; 2],
    length: Option<usize>,
    call: impl FnOnce() -> R,
) -> R {
    if !threads::visible() {
        return call();
    }
    holding(stream, pc, || {
        if Over::of(stream) != Over::Channel {
            return call();
        }
        let fd = stream.fd();
        let Some(behind) = Behind::number(fd) else {
            return call();
        };
        let channel = channel::channel_of(behind);
        serial::gate(Op::Send, channel, 0, pc);
        event::range(false, read[0], read[1], pc);
        let taken = Room::behind(fd, Some(behind)).map(|room| room.take(length.unwrap_or(PIECE)));
        taken.inspect(|taken| taken.find(pc));
        channel::send_from(Some(behind), pc);
        let is_serial = mode() == Mode::Serial;
        let result = match is_serial && stream.may_write(length) && !is_ready(fd, libc::POLLOUT) {
            true => on_descriptor(fd, libc::POLLOUT, pc, call),
            false => call(),
        };
        taken.inspect(|taken| taken.find(pc));
        channel::wake(channel);
        result
    })
}

// SAFETY of all calls below: the arguments are the program's own, for this very function.

unsafe extern "C" fn fwrite(from: usize, size: usize, count: usize, stream: usize) -> usize {
    let (pc, file) = (caller(), Stream(stream));
    let bytes = size.saturating_mul(count);
    let is_serial = threads::visible() && mode() == Mode::Serial;
    if bytes <= PIECE || !is_serial || Over::of(file) != Over::Channel {
        return printing(file, pc, [from, bytes], Some(bytes), || unsafe {
            real::fwrite(from, size, count, stream)
        });
    }
    // A pipe that has room may not have enough: whoever reads gets the turn in between.
    let mut done = 0;
    while done < bytes {
        let (start, piece) = (from + done, PIECE.min(bytes - done));
        let written = printing(file, pc, [start, piece], Some(piece), || unsafe {
            real::fwrite(start, 1, piece, stream)
        });
        done += written;
        if written < piece {
            break;
        }
    }
    done / size
}

unsafe extern "C" fn fputs(text: *const c_char, stream: usize) -> c_int {
    let pc = caller();
    let length = unsafe { length_of(text) };
    let read = [text as usize, length + 1];
    printing(Stream(stream), pc, read, Some(length), || unsafe {
        real::fputs(text, stream)
    })
}

unsafe extern "C" fn puts(text: *const c_char) -> c_int {
    let pc = caller();
    let length = unsafe { length_of(text) } + 1;
    let read = [text as usize, length];
    printing(
        Stream::standard_output(),
        pc,
        read,
        Some(length),
        || unsafe { real::puts(text) },
    )
}

unsafe extern "C" fn fputc(byte: c_int, stream: usize) -> c_int {
    printing(Stream(stream), caller(), [0, 0], Some(1), || unsafe {
        real::fputc(byte, stream)
    })
}

unsafe extern "C" fn putchar(byte: c_int) -> c_int {
    let stream = Stream::standard_output();
    printing(stream, caller(), [0, 0], Some(1), || unsafe {
        real::fputc(byte, stream.0)
    })
}

/// What `putc_unlocked` becomes where the compiler writes it out: there is no room in the buffer.
unsafe extern "C" fn overflow(stream: usize, byte: c_int) -> c_int {
    printing(Stream(stream), caller(), [0, 0], None, || unsafe {
        real::__overflow(stream, byte)
    })
}

pub(super) unsafe extern "C" fn vfprintf(stream: usize, format: usize, list: usize) -> c_int {
    printing(Stream(stream), caller(), [0, 0], None, || unsafe {
        real::vfprintf(stream, format, list)
    })
}

pub(super) unsafe extern "C" fn vprintf(format: usize, list: usize) -> c_int {
    unsafe { vfprintf(Stream::standard_output().0, format, list) }
}

pub(super) unsafe extern "C" fn vfprintf_chk(
    stream: usize,
    how: c_int,
    format: usize,
    list: usize,
) -> c_int {
    printing(Stream(stream), caller(), [0, 0], None, || unsafe {
        real::__vfprintf_chk(stream, how, format, list)
    })
}

pub(super) unsafe extern "C" fn vprintf_chk(how: c_int, format: usize, list: usize) -> c_int {
    unsafe { vfprintf_chk(Stream::standard_output().0, how, format, list) }
}

/// Without a stream all are meant: who waits for any of them looks again.
unsafe extern "C" fn fflush(stream: usize) -> c_int {
    let pc = caller();
    if stream != 0 {
        return printing(Stream(stream), pc, [0, 0], None, || unsafe {
            real::fflush(stream)
        });
    }
    let result = unsafe { real::fflush(0) };
    if threads::visible() {
        serial::wake_from_outside();
    }
    result
}

unsafe extern "C" fn fclose(stream: usize) -> c_int {
    let (pc, file) = (caller(), Stream(stream));
    number::giving_back(file.fd(), pc, || unsafe { real::fclose(stream) })
}

/// Waits for the process that `popen` has started. That may take long, so it is done without the turn, and
/// what the C library gives back meanwhile is not seen,
/// as it was not when it was allocated.
unsafe extern "C" fn pclose(stream: usize) -> c_int {
    let (pc, file) = (caller(), Stream(stream));
    let result = number::giving_back(file.fd(), pc, || {
        descriptor::blocking(|| {
            let _inside = Inside::enter();
            unsafe { real::pclose(stream) }
        })
    });
    descriptor_changes();
    result
}
