//! Descriptors of processes. A signal that is sent by one to this very process is one of its own, as
//! by `kill`. Whoever finds that the process has ended knows what was sent to other processes before.

use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};

use super::{channel, number, signal};
use crate::hooks::{caller, trampoline};
use crate::inputs::pids;
use crate::sys;

trampoline! {
    "pidfd_open" => pidfd_open;
    "pidfd_send_signal" => pidfd_send_signal;
}

unsafe extern "C" fn pidfd_open(process: c_int, flags: u32) -> c_int {
    open(process, flags, caller())
}

unsafe extern "C" fn pidfd_send_signal(fd: c_int, signal: c_int, info: usize, flags: u32) -> c_int {
    send(fd, signal, info, flags, caller())
}

/// The C library's convention: -1 and `errno`.
fn answer(result: isize) -> c_int {
    match result {
        -4095..0 => super::descriptor::failed(-result as c_int),
        _ => result as c_int,
    }
}

/// `pidfd_open`, also by its number.
pub fn open(told: c_int, flags: u32, pc: usize) -> c_int {
    let args = [pids::meant(told) as usize, flags as usize, 0, 0, 0, 0];
    let fd = number::getting(pc, || answer(sys::call(libc::SYS_pidfd_open, args)));
    if let Some(place) = usize::try_from(fd).ok().and_then(|fd| KNOWN.get(fd)) {
        place.store(true, Ordering::Release);
    }
    fd
}

/// Which numbers were given to such descriptors, now or earlier.
static KNOWN: [AtomicBool; 1024] = [const { AtomicBool::new(false) }; 1024];

/// Somebody has found that a descriptor can be read: if it is such a one, a process has ended.
pub fn found_readable(fd: c_int, pc: usize) {
    let known = usize::try_from(fd).ok().and_then(|fd| KNOWN.get(fd));
    if known.is_some_and(|known| known.load(Ordering::Acquire)) {
        channel::receive_from_outside(pc);
    }
}

/// `pidfd_send_signal`, also by its number.
pub fn send(fd: c_int, signal: c_int, info: usize, flags: u32, pc: usize) -> c_int {
    /// Where a `siginfo_t` has its code and its value.
    const SI_CODE: usize = 8;
    const SI_VALUE: usize = 24;
    if process_of(fd) == Some(sys::getpid() as c_int) {
        let (code, value) = match info {
            0 => (libc::SI_USER, 0),
            // SAFETY: the program's own record, which the kernel would read.
            _ => unsafe {
                (
                    ((info + SI_CODE) as *const c_int).read_unaligned(),
                    ((info + SI_VALUE) as *const usize).read_unaligned(),
                )
            },
        };
        if signal::send_to_own_process(signal, code, value, pc) {
            return 0;
        }
    } else if signal != 0 {
        channel::send_outside(pc);
    }
    let args = [fd as usize, signal as usize, info, flags as usize, 0, 0];
    answer(sys::call(libc::SYS_pidfd_send_signal, args))
}

/// The process that a descriptor means, as the kernel tells it.
fn process_of(fd: c_int) -> Option<c_int> {
    const FIELD: &[u8] = b"\nPid:\t";
    let mut path = *b"/proc/self/fdinfo/\0\0\0\0\0\0\0\0\0\0\0\0";
    write_number(u32::try_from(fd).ok()?, &mut path[18..28]);
    let file = sys::open(&path, libc::O_RDONLY | libc::O_CLOEXEC, 0);
    if file < 0 {
        return None;
    }
    let mut text = [0_u8; 512];
    let length = sys::read(file as c_int, &mut text);
    sys::close(file as c_int);
    let text = text.get(..usize::try_from(length).ok()?)?;
    let at = text.windows(FIELD.len()).position(|part| part == FIELD)?;
    let digits = text[at + FIELD.len()..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit());
    let number = digits.fold(0_i64, |number, digit| {
        number
            .saturating_mul(10)
            .saturating_add(i64::from(digit - b'0'))
    });
    c_int::try_from(number).ok().filter(|process| *process > 0)
}

/// A number in decimal digits; there is room for ten.
fn write_number(number: u32, place: &mut [u8]) {
    let mut digits = [0; 10];
    let mut count = 0;
    let mut rest = number;
    while count == 0 || rest > 0 {
        digits[count] = b'0' + (rest % 10) as u8;
        rest /= 10;
        count += 1;
    }
    for (byte, digit) in place.iter_mut().zip(digits[..count].iter().rev()) {
        *byte = *digit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_descriptor_says_whose_it_is() {
        let own = std::process::id() as usize;
        let fd = sys::call(libc::SYS_pidfd_open, [own, 0, 0, 0, 0, 0]) as c_int;
        assert_eq!(process_of(fd), Some(own as c_int));
        sys::close(fd);
        assert_eq!(process_of(0), None);
        assert_eq!(process_of(-1), None);
    }

    #[test]
    fn numbers_are_written_in_full() {
        let mut place = [0; 10];
        write_number(4_294_967_295, &mut place);
        assert_eq!(&place, b"4294967295");
        let mut place = [0; 10];
        write_number(0, &mut place);
        assert_eq!(&place[..2], b"0\0");
    }
}
