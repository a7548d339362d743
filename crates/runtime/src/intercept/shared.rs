//! Objects that other processes may use as well: somebody outside may end a wait for one that lies in shared
//! memory.

use core::ffi::c_int;

use super::real;
use crate::hooks::trampoline;
use crate::{process, sys};

trampoline! {
    "pthread_mutexattr_setpshared" => mutex;
    "pthread_rwlockattr_setpshared" => rwlock;
    "pthread_condattr_setpshared" => condition;
    "pthread_barrierattr_setpshared" => barrier;
    "sem_open" => sem_open;
}

fn note(shared: c_int) {
    if shared != libc::PTHREAD_PROCESS_PRIVATE {
        process::memory_is_shared();
    }
}

// SAFETY of all calls below: the arguments are the program's own, for this very function.

unsafe extern "C" fn mutex(attributes: usize, shared: c_int) -> c_int {
    note(shared);
    unsafe { real::pthread_mutexattr_setpshared(attributes, shared) }
}

unsafe extern "C" fn rwlock(attributes: usize, shared: c_int) -> c_int {
    note(shared);
    unsafe { real::pthread_rwlockattr_setpshared(attributes, shared) }
}

unsafe extern "C" fn condition(attributes: usize, shared: c_int) -> c_int {
    note(shared);
    unsafe { real::pthread_condattr_setpshared(attributes, shared) }
}

unsafe extern "C" fn barrier(attributes: usize, shared: c_int) -> c_int {
    note(shared);
    unsafe { real::pthread_barrierattr_setpshared(attributes, shared) }
}

unsafe extern "C" fn sem_open(name: usize, flags: c_int, mode: u32, value: u32) -> usize {
    process::memory_is_shared();
    unsafe { real::sem_open(name, flags, mode, value) }
}

/// Whether other processes may reach this address: it lies in memory that is mapped to be shared. What cannot
/// be asked is taken to be.
pub fn is_reachable(address: usize) -> bool {
    let fd = sys::open(b"/proc/self/maps\0", libc::O_RDONLY | libc::O_CLOEXEC, 0);
    if fd < 0 {
        return true;
    }
    let mut search = Search::new(address);
    let mut bytes = [0; 512];
    let found = loop {
        match sys::read(fd as i32, &mut bytes) {
            read @ 1.. => {
                let found = bytes[..read as usize]
                    .iter()
                    .find_map(|byte| search.next(*byte));
                if let Some(is_shared) = found {
                    break is_shared;
                }
            }
            // No memory has this address: it is a number for something else.
            0 => break false,
            _ => break true,
        }
    };
    sys::close(fd as i32);
    found
}

/// Reads the kernel's list of mappings, byte by byte: `start-end rwxs ...` in each line.
struct Search {
    address: usize,
    /// Which word of the line it is, and how many bytes of it were read.
    word: usize,
    read: usize,
    start: usize,
    number: usize,
}

impl Search {
    fn new(address: usize) -> Self {
        Search {
            address,
            word: 0,
            read: 0,
            start: 0,
            number: 0,
        }
    }

    /// Whether the mapping with the address is shared, once that was read.
    fn next(&mut self, byte: u8) -> Option<bool> {
        const SHARING: usize = 3;
        self.read += 1;
        match byte {
            b'\n' => *self = Search::new(self.address),
            b' ' => (self.word, self.read) = (self.word + 1, 0),
            b'-' if self.word == 0 => (self.start, self.number) = (self.number, 0),
            _ if self.word == 0 => {
                let digit = char::from(byte).to_digit(16).unwrap_or(0);
                self.number = self.number << 4 | digit as usize;
            }
            _ if self.word == 1 && self.read == SHARING + 1 => {
                let is_it = (self.start..self.number).contains(&self.address);
                return is_it.then_some(byte == b's');
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(address: usize) -> Option<bool> {
        let maps = b"1000-3000 r-xp 00000000 08:01 17 /a-b/c d\n\
            3000-4000 rw-s 00001000 00:01 3 /dev/zero (deleted)\n\
            7f00a000-7f00b000 ---p 00000000 00:00 0\n";
        let mut search = Search::new(address);
        maps.iter().find_map(|byte| search.next(*byte))
    }

    #[test]
    fn the_mapping_with_the_address_says_it() {
        assert_eq!(look(0x1000), Some(false));
        assert_eq!(look(0x2fff), Some(false));
        assert_eq!(look(0x3000), Some(true));
        assert_eq!(look(0x3fff), Some(true));
        assert_eq!(look(0x4000), None);
        assert_eq!(look(0x7f00_a010), Some(false));
    }

    #[test]
    fn real_mappings_are_told_apart() {
        let map = |flags| unsafe {
            let flags = flags | libc::MAP_ANONYMOUS;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(core::ptr::null_mut(), 4096, access, flags, -1, 0) as usize
        };
        assert!(is_reachable(map(libc::MAP_SHARED) + 100));
        assert!(!is_reachable(map(libc::MAP_PRIVATE) + 100));
        let local = 0;
        assert!(!is_reachable(&raw const local as usize));
        assert!(!is_reachable(64));
    }
}
