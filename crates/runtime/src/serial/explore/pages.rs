//! Pages of files that copies have from the beginning, instead of asking for each.
//!
//! The kernel leaves out what it can find again when it copies a process: the pages of files that nobody has written to, code above all. A copy lives
//! for less than a millisecond, and a good part of that would be spent on asking for its code, page by page. But what has been
//! written to somewhere is copied as a whole. So one byte of each file's memory is written, with what it holds already.

use crate::{memory, sys};

/// How much of the list of mappings is read at a time; no line is longer.
const CHUNK: usize = 16 * 1024;

/// Makes copies of this process have what it has mapped from files. What the kernel does not let happen costs time only.
pub fn keep() {
    let text: *mut u8 = memory::pages(CHUNK);
    if text.is_null() {
        return;
    }
    // SAFETY: just mapped, and nobody else knows of it.
    let text = unsafe { core::slice::from_raw_parts_mut(text, CHUNK) };
    let maps = sys::open(b"/proc/self/maps\0", libc::O_RDONLY | libc::O_CLOEXEC, 0);
    let own = sys::open(b"/proc/self/mem\0", libc::O_RDWR | libc::O_CLOEXEC, 0);
    if maps >= 0 && own >= 0 {
        let mut held = 0;
        loop {
            let got = sys::read(maps as i32, &mut text[held..]);
            if got <= 0 {
                break;
            }
            held += got as usize;
            let mut start = 0;
            while let Some(length) = text[start..held].iter().position(|byte| *byte == b'\n') {
                if let Some(first) = file_memory(&text[start..start + length]) {
                    touch(own as usize, first);
                }
                start += length + 1;
            }
            text.copy_within(start..held, 0);
            held -= start;
        }
    }
    for file in [maps, own] {
        if file >= 0 {
            sys::close(file as i32);
        }
    }
}

/// Where the memory of a line of the list begins, if it is a file's that is only read: `START-END PROTECTION OFFSET DEVICE FILE NAME`.
fn file_memory(line: &[u8]) -> Option<usize> {
    let mut words = line.split(|byte| *byte == b' ');
    let mut range = words.next()?.split(|byte| *byte == b'-');
    let start = hexadecimal(range.next()?)?;
    let protection = words.next()?;
    let is_file = words.nth(2)? != b"0";
    (is_file && matches!(protection, b"r--p" | b"r-xp")).then_some(start)
}

fn hexadecimal(digits: &[u8]) -> Option<usize> {
    digits.iter().try_fold(0usize, |number, digit| {
        let digit = (*digit as char).to_digit(16)?;
        Some(number << 4 | digit as usize)
    })
}

/// Writes the first byte, with what it holds, past the protection: a private page from now on.
fn touch(own: usize, start: usize) {
    let mut byte = 0u8;
    let place = &raw mut byte as usize;
    if sys::call(libc::SYS_pread64, [own, place, 1, start, 0, 0]) == 1 {
        sys::call(libc::SYS_pwrite64, [own, place, 1, start, 0, 0]);
    }
}

#[cfg(test)]
mod tests {
    use super::file_memory;

    #[test]
    fn memory_of_files_that_is_only_read_is_found_in_the_list() {
        let code = b"55555555c000-5555555c2000 r-xp 00008000 fe:00 10019493      /tmp/a b";
        assert_eq!(file_memory(code), Some(0x5555_5555_C000));
        let others: [&[u8]; 5] = [
            b"7ffff7fc6000-7ffff7fc8000 r-xp 00000000 00:00 0       [vdso]",
            b"7ffff67f3000-7ffff7400000 rw-s 00000000 00:1b 59009   /dev/shm/board",
            b"5555556d2000-5555556f6000 rw-p 0017d000 fe:00 100     /tmp/a",
            b"7ffff49ff000-7ffff4a00000 ---p 00000000 00:00 0 ",
            b"",
        ];
        for line in others {
            assert_eq!(file_memory(line), None);
        }
    }
}
