//! Memory for the runtime itself: whole pages from the kernel, never from the program's heap.

use crate::sys;

/// Zeroed memory for `count` values of `T`, never given back; null if the kernel has none.
///
/// `T` must be valid when all its bytes are zero.
pub fn pages<T>(count: usize) -> *mut T {
    sys::map((count * size_of::<T>()).next_multiple_of(4096), -1, 0).cast()
}
