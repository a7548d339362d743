//! Functions that read from a stream.
//!
//! In a serial recording each is done in pieces, none of which is larger than what is in the buffer. The
//! buffer is filled by a read of one byte, which is put
//! back: that is one system call, made when there is something to read, or without the turn.

use core::ffi::c_int;

use deadheat_wire::Op;

use super::super::channel::{self, channel};
use super::super::descriptor::on_descriptor;
use super::super::real;
use super::super::room::Room;
use super::lock::{holding, let_others_look};
use super::{Over, Stream, length_of};
use crate::hooks::{caller, trampoline};
use crate::local::Inside;
use crate::record::{Mode, event, mode};
use crate::{serial, threads};

trampoline! {
    "fread" => fread;
    "fread_unlocked" => fread;
    "__fread_chk" => fread_chk;
    "__fread_unlocked_chk" => fread_chk;
    "fgets" => fgets;
    "fgets_unlocked" => fgets;
    "__fgets_chk" => fgets_chk;
    "__fgets_unlocked_chk" => fgets_chk;
    "fgetc" => fgetc;
    "getc" => fgetc;
    "_IO_getc" => fgetc;
    "fgetc_unlocked" => fgetc;
    "getc_unlocked" => fgetc;
    "getchar" => getchar;
    "getchar_unlocked" => getchar;
    "__uflow" => uflow;
    "ungetc" => ungetc;
    "getline" => getline;
    "getdelim" => getdelim;
    "__getdelim" => getdelim;
    "vscanf" => vscanf;
    "vfscanf" => vfscanf;
    "__isoc99_vscanf" => isoc99_vscanf;
    "__isoc99_vfscanf" => isoc99_vfscanf;
    "__isoc23_vscanf" => isoc23_vscanf;
    "__isoc23_vfscanf" => isoc23_vfscanf;
}

/// A stream that must be waited for before the C library is asked: a place to read from, in a serial
/// recording.
#[derive(Clone, Copy)]
struct Source {
    stream: Stream,
    pc: usize,
}

impl Source {
    /// Waits until there is something in the buffer; how much. Nothing: at the end, or there is an error.
    fn fill(self) -> usize {
        if self.stream.buffered() == 0 {
            let file = self.stream.0;
            self.stream.make_buffer();
            // SAFETY: a stream of the program's.
            let read = || unsafe { real::fgetc(file) };
            match on_descriptor(self.stream.fd(), libc::POLLIN, self.pc, read) {
                libc::EOF => return 0,
                // SAFETY: as above. What was read last can be put back.
                byte => unsafe { real::ungetc(byte, file) },
            };
        }
        self.stream.buffered()
    }
}

/// Reads. `call` is told if it is to wait by itself, as [`Source`] does.
fn reading<R>(stream: usize, pc: usize, call: impl FnOnce(Option<Source>) -> R) -> R {
    if !threads::visible() {
        return call(None);
    }
    let stream = Stream(stream);
    holding(stream, pc, || {
        let over = Over::of(stream);
        if over == Over::File {
            return call(None);
        }
        let fd = stream.fd();
        let room = (over == Over::Channel)
            .then(|| Room::of_descriptor(fd))
            .flatten();
        if over == Over::Channel {
            Room::leaving(room, || channel::received_at(fd), pc);
        }
        let source = (mode() == Mode::Serial).then_some(Source { stream, pc });
        let result = call(source);
        if over == Over::Channel {
            event::sync(Op::Receive, channel::received_at(fd), pc);
            room.inspect(|room| room.leave(channel::received_at(fd), pc));
            channel::wake(channel(fd));
        }
        let_others_look(stream);
        result
    })
}

// SAFETY of all calls below: the arguments are the program's own, for this very function. What is read in
// pieces stays within what it was to be read into.

unsafe extern "C" fn fread(to: usize, size: usize, count: usize, stream: usize) -> usize {
    let pc = caller();
    let bytes = size.saturating_mul(count);
    let read = reading(stream, pc, |source| {
        let Some(source) = source else {
            return unsafe { real::fread(to, size, count, stream) };
        };
        let mut got = 0;
        while got < bytes {
            let piece = source.fill().min(bytes - got);
            if piece == 0 {
                break;
            }
            got += unsafe { real::fread(to + got, 1, piece, stream) };
        }
        got.checked_div(size).unwrap_or(0)
    });
    event::range(true, to, read.saturating_mul(size), pc);
    read
}

/// What is too long is left to the C library, which ends the program.
unsafe extern "C" fn fread_chk(
    to: usize,
    room: usize,
    size: usize,
    count: usize,
    stream: usize,
) -> usize {
    match size.saturating_mul(count) <= room {
        true => unsafe { fread(to, size, count, stream) },
        false => unsafe { real::__fread_chk(to, room, size, count, stream) },
    }
}

/// Reads up to this byte, or so many; how many, and whether the last is the byte.
unsafe fn read_up_to(source: Source, byte: u8, to: usize, most: usize) -> (usize, bool) {
    let piece = source.fill().min(most);
    let there = unsafe { core::slice::from_raw_parts(source.stream.next() as *const u8, piece) };
    let end = there.iter().position(|there| *there == byte);
    let length = end.map_or(piece, |end| end + 1);
    (
        unsafe { real::fread(to, 1, length, source.stream.0) },
        end.is_some(),
    )
}

unsafe extern "C" fn fgets(to: usize, size: c_int, stream: usize) -> usize {
    let pc = caller();
    let result = reading(stream, pc, |source| {
        let Some(source) = source.filter(|_| size > 1) else {
            return unsafe { real::fgets(to, size, stream) };
        };
        let (mut got, most) = (0, size as usize - 1);
        while got < most {
            let (read, is_end) = unsafe { read_up_to(source, b'\n', to + got, most - got) };
            got += read;
            if read == 0 || is_end {
                break;
            }
        }
        if got == 0 {
            return 0;
        }
        unsafe { ((to + got) as *mut u8).write(0) };
        to
    });
    if result != 0 {
        let length = unsafe { length_of(to as *const _) };
        event::range(true, to, length + 1, pc);
    }
    result
}

unsafe extern "C" fn fgets_chk(to: usize, room: usize, size: c_int, stream: usize) -> usize {
    match usize::try_from(size).is_ok_and(|size| size <= room) {
        true => unsafe { fgets(to, size, stream) },
        false => unsafe { real::__fgets_chk(to, room, size, stream) },
    }
}

unsafe extern "C" fn fgetc(stream: usize) -> c_int {
    reading(stream, caller(), |source| {
        match source.is_some_and(|source| source.fill() == 0) {
            true => libc::EOF,
            false => unsafe { real::fgetc(stream) },
        }
    })
}

unsafe extern "C" fn getchar() -> c_int {
    unsafe { fgetc(Stream::standard_input().0) }
}

/// What `getc_unlocked` becomes where the compiler writes it out: there is nothing in the buffer.
unsafe extern "C" fn uflow(stream: usize) -> c_int {
    reading(stream, caller(), |source| {
        match source.is_some_and(|source| source.fill() == 0) {
            true => libc::EOF,
            false => unsafe { real::fgetc(stream) },
        }
    })
}

unsafe extern "C" fn ungetc(byte: c_int, stream: usize) -> c_int {
    holding(Stream(stream), caller(), || unsafe {
        real::ungetc(byte, stream)
    })
}

/// Makes room for so many bytes of a line.
unsafe fn make_room(line: *mut usize, room: *mut usize, needed: usize) -> bool {
    unsafe {
        if *line == 0 || *room < needed {
            let larger = needed.max(120).max(2 * *room);
            let moved = libc::realloc(*line as *mut _, larger);
            if moved.is_null() {
                return false;
            }
            (*line, *room) = (moved as usize, larger);
        }
    }
    true
}

unsafe extern "C" fn getdelim(
    line: *mut usize,
    room: *mut usize,
    end: c_int,
    stream: usize,
) -> isize {
    let pc = caller();
    let is_given = !line.is_null() && !room.is_null();
    let both = || [line, room].map(|place| if is_given { unsafe { *place } } else { 0 });
    let before = both();
    let result = reading(stream, pc, |source| {
        let Some(source) = source.filter(|_| is_given) else {
            return unsafe { real::getdelim(line, room, end, stream) };
        };
        let mut got = 0;
        loop {
            let there = source.fill();
            if there == 0 || !unsafe { make_room(line, room, got + there + 1) } {
                break;
            }
            let (read, is_end) = unsafe { read_up_to(source, end as u8, *line + got, there) };
            got += read;
            if read == 0 || is_end {
                break;
            }
        }
        if got == 0 {
            return -1;
        }
        unsafe { ((*line + got) as *mut u8).write(0) };
        got as isize
    });
    for ((place, before), after) in [line, room].into_iter().zip(before).zip(both()) {
        if before != after {
            event::range(true, place as usize, size_of::<usize>(), pc);
        }
    }
    if result > 0 {
        event::range(true, unsafe { *line }, result as usize + 1, pc);
    }
    result
}

unsafe extern "C" fn getline(line: *mut usize, room: *mut usize, stream: usize) -> isize {
    unsafe { getdelim(line, room, c_int::from(b'\n'), stream) }
}

/// How much is read depends on what is: if there is no whole line, the call is made without the turn.
fn scanning(stream: usize, pc: usize, call: impl FnOnce() -> c_int) -> c_int {
    reading(stream, pc, |source| {
        let Some(source) = source else {
            return call();
        };
        let length = source.fill();
        let start = source.stream.next() as *const u8;
        // SAFETY: what is in the buffer, by the thread that has the turn.
        let there = unsafe { core::slice::from_raw_parts(start, length) };
        match length == 0 || there.contains(&b'\n') {
            true => call(),
            false => serial::away_for_outside(|| {
                let _inside = Inside::enter(); // It may allocate.
                call()
            }),
        }
    })
}

/// Functions that read by a format: with a stream, and from the standard input.
macro_rules! scanners {
    ($($with:ident, $without:ident => $real:ident;)*) => { $(
        pub(super) unsafe extern "C" fn $with(stream: usize, format: usize, list: usize) -> c_int {
            scanning(stream, caller(), || unsafe { real::$real(stream, format, list) })
        }

        pub(super) unsafe extern "C" fn $without(format: usize, list: usize) -> c_int {
            unsafe { $with(Stream::standard_input().0, format, list) }
        }
    )* };
}

scanners! {
    vfscanf, vscanf => vfscanf;
    isoc99_vfscanf, isoc99_vscanf => __isoc99_vfscanf;
    isoc23_vfscanf, isoc23_vscanf => __isoc23_vfscanf;
}
