//! Streams of the C library: what is printed to a pipe, FIFO or socket through one is sent, what is read is
//! received, as through the descriptor itself.
//!
//! The C library makes the system calls of its streams itself, out of sight. So its functions are stood in
//! for, by what is behind the stream ([`Over`]).
//!
//! * Whatever prints sends, though the stream may keep it for a while: another thread may flush it. Whatever
//!   reads receives, though it may have been
//!   read before. That orders more than it must, and never too little.
//! * In a serial recording a function that reads waits first, unless there is something in the buffer; then
//!   it is asked for no more than is there ([`input`]). So it
//!   never waits within the C library, where it would keep the turn.
//! * Inherited standard streams have no events: in another run they may be files. Nor do streams over files:
//!   they wait for nobody.
//! * A stream is also a lock ([`lock`]).
//!
//! Not stood in for: wide characters, `perror`, `freopen` of a stream that is a pipe. Those are not seen, as
//! before.

mod input;
mod lock;
mod output;
mod variadic;

use core::ffi::{c_char, c_int};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::channel::Behind;
use super::{ends, real};
use crate::local::Inside;

/// The beginning of a `FILE`, as glibc's public header has it.
#[repr(C)]
struct Layout {
    flags: c_int,
    read_next: usize,
    read_end: usize,
    read_base: usize,
    write_base: usize,
    write_next: usize,
    write_end: usize,
    others: [usize; 7],
    fd: c_int,
}

const _: () = assert!(core::mem::offset_of!(Layout, fd) == 112);

const UNBUFFERED: c_int = 2;
const LINE_BUFFERED: c_int = 0x200;

/// A stream of the program.
#[derive(Clone, Copy)]
struct Stream(usize);

unsafe extern "C" {
    static stdin: usize;
    static stdout: usize;
}

impl Stream {
    fn standard_input() -> Self {
        // SAFETY: a variable of the C library, which a program may change as it may any other.
        Stream(unsafe { (&raw const stdin).read_volatile() })
    }

    fn standard_output() -> Self {
        // SAFETY: as above.
        Stream(unsafe { (&raw const stdout).read_volatile() })
    }

    fn layout(self) -> *const Layout {
        self.0 as *const Layout
    }

    /// Its descriptor; negative if it is in memory, or the program's own functions are behind it.
    fn fd(self) -> c_int {
        // SAFETY: a stream of the program begins like this, and its descriptor stays the same while it is
        // open.
        unsafe { (&raw const (*self.layout()).fd).read_volatile() }
    }

    /// How many bytes can be read without asking the system.
    fn buffered(self) -> usize {
        // SAFETY: as above. In a serial recording the thread has the turn; whoever is in a call of the C
        // library meanwhile has the lock, which was asked for.
        let [next, end] = unsafe {
            let layout = self.layout();
            [
                &raw const (*layout).read_next,
                &raw const (*layout).read_end,
            ]
            .map(|place| place.read_volatile())
        };
        end.saturating_sub(next)
    }

    /// Where they are.
    fn next(self) -> usize {
        // SAFETY: as above.
        unsafe { (&raw const (*self.layout()).read_next).read_volatile() }
    }

    /// Has the C library make the stream's buffer, unseen: in a call without the turn nothing may be
    /// allocated.
    fn make_buffer(self) {
        let _inside = Inside::enter();
        // SAFETY: a stream of the program's. If it has a buffer, nothing is done.
        unsafe { real::_IO_doallocbuf(self.0) };
    }

    /// Whether so many bytes, if that is known, may lead to a system call.
    fn may_write(self, length: Option<usize>) -> bool {
        /// More than most lines have.
        const LINE: usize = 1024;
        // SAFETY: as above.
        let (flags, next, end) = unsafe {
            let layout = self.layout();
            (
                (&raw const (*layout).flags).read_volatile(),
                (&raw const (*layout).write_next).read_volatile(),
                (&raw const (*layout).write_end).read_volatile(),
            )
        };
        flags & (UNBUFFERED | LINE_BUFFERED) != 0
            || end.saturating_sub(next) < length.unwrap_or(LINE)
    }
}

/// What is behind a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Over {
    /// Nothing that anybody waits for.
    File,
    /// What may come from outside: it is waited for, and is no event.
    World,
    /// A pipe, FIFO or socket: threads send and receive through it.
    Channel,
}

/// What was behind streams, so that the system is asked once: the stream's address, [`CHANGES`] then, and
/// what it was.
const MOST_KNOWN: usize = 64;
static KNOWN: [AtomicU64; MOST_KNOWN] = [const { AtomicU64::new(0) }; MOST_KNOWN];
/// How many times a descriptor was given back: then a number may mean something else.
static CHANGES: AtomicU32 = AtomicU32::new(0);

/// A descriptor is given back.
pub fn descriptor_changes() {
    CHANGES.fetch_add(1, Ordering::AcqRel);
}

impl Over {
    /// What is behind this stream.
    fn of(stream: Stream) -> Self {
        const CHANGE_BITS: u32 = 18;
        let change = CHANGES.load(Ordering::Acquire) % (1 << CHANGE_BITS);
        // Streams are aligned to 16 bytes, and addresses have 47 bits.
        let place = stream.0 >> 4;
        let key = (place as u64) << (CHANGE_BITS + 2) | u64::from(change) << 2;
        let known = &KNOWN[(place ^ place >> 8) % MOST_KNOWN];
        let found = known.load(Ordering::Relaxed);
        if found & !3 == key && found & 3 != 0 {
            return match found & 3 {
                1 => Over::File,
                2 => Over::World,
                _ => Over::Channel,
            };
        }
        let over = Over::ask(stream.fd());
        known.store(key | (over as u64 + 1), Ordering::Relaxed);
        over
    }

    fn ask(fd: c_int) -> Self {
        match Behind::number(fd) {
            None => Over::File,
            Some(behind) if behind.has_other_end() => {
                let is_inherited = fd <= libc::STDERR_FILENO;
                match is_inherited && ends::sends_on(behind.identity()).is_none() {
                    true => Over::World,
                    false => Over::Channel,
                }
            }
            Some(behind) if behind.is_stored() => Over::File,
            Some(_) => Over::World,
        }
    }
}

/// How long a text is, which is looked at for ourselves: `strlen` would say that the program did.
///
/// # Safety
/// `text` points to a C string.
unsafe fn length_of(text: *const c_char) -> usize {
    let _inside = Inside::enter();
    // SAFETY: as the caller says.
    unsafe { real::c_string(text) }.len()
}
