//! `std::promise::set_value_at_thread_exit`: libstdc++ makes the state ready when the thread ends, in code
//! without hooks. Whoever waits for the state acquires a word that nobody has been seen to write.
//!
//! The standard library keeps a list of elements, each with a function to call. Ours is put in front: it says
//! that the word is written, and lets the library do so.

use core::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use super::real;
use crate::hooks::{atomic, caller, trampoline};
use crate::threads;

trampoline! {
    "_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv" => make_ready_at_exit;
}

/// An element of the library's, as its ABI has it (`<condition_variable>`, `<future>`): a weak pointer to the
/// state is behind what is called.
#[repr(C)]
struct Element {
    next: usize,
    call: unsafe extern "C" fn(*mut Element),
    state: *const State,
    owners: *const Owners,
}

/// The state that a promise and its future share.
#[repr(C)]
struct State {
    table: usize,
    result: usize,
    /// 1: it is ready.
    status: u32,
}

/// Who owns it.
#[repr(C)]
struct Owners {
    table: *const Functions,
    count: AtomicI32,
    /// Weak owners, and one for all others.
    weak: AtomicI32,
}

/// What the library's record of owners can do, as the ABI has it: two destructors come first.
#[repr(C)]
struct Functions {
    destructors: [usize; 2],
    end_state: unsafe extern "C" fn(*const Owners),
    end_owners: unsafe extern "C" fn(*const Owners),
}

impl Owners {
    /// Becomes one more owner, unless there is none any more.
    fn join(&self) -> bool {
        let one_more = |count| (count > 0).then_some(count + 1);
        let joined = self
            .count
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more);
        joined.is_ok()
    }

    /// Gives that up, as the library does: the last one ends the state, and the record, too, if
    /// nobody has a weak pointer.
    ///
    /// # Safety
    /// [`Owners::join`] has answered yes, and a weak pointer is held until this returns.
    unsafe fn leave(owners: *const Owners) {
        // SAFETY: as the caller says, the record is there; its functions are the library's own,
        // and each is called by the one who has counted down to zero.
        unsafe {
            if (*owners).count.fetch_sub(1, Ordering::AcqRel) == 1 {
                ((*(*owners).table).end_state)(owners);
                if (*owners).weak.fetch_sub(1, Ordering::AcqRel) == 1 {
                    ((*(*owners).table).end_owners)(owners);
                }
            }
        }
    }
}

/// The library's function, and where the program has asked for it last.
static REAL: AtomicUsize = AtomicUsize::new(0);
static PLACE: AtomicUsize = AtomicUsize::new(0);

unsafe extern "C" fn make_ready_at_exit(element: *mut Element) -> usize {
    let pc = caller();
    // SAFETY: the library's own call, with its own element, which stays until the thread ends.
    unsafe {
        let result =
            real::_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv(element as usize);
        if threads::visible() && !element.is_null() {
            REAL.store((*element).call as usize, Ordering::Release);
            PLACE.store(pc, Ordering::Relaxed);
            (*element).call = make_ready;
        }
        result
    }
}

/// Called by the library when the thread ends, with an element that has passed through
/// [`make_ready_at_exit`].
unsafe extern "C" fn make_ready(element: *mut Element) {
    // SAFETY: the element, with the weak pointer in it, is the library's until its function has run,
    // so the record of owners is there. The state is only looked at by one of its owners, which this
    // is between `join` and `leave`. The weak pointer is given up by the library's function, which
    // comes last.
    unsafe {
        let Element { state, owners, .. } = *element;
        if !owners.is_null() && (*owners).join() {
            let status = &raw const (*state).status as usize;
            atomic::announce_exchange(status, 1, PLACE.load(Ordering::Relaxed));
            Owners::leave(owners);
        }
        let real: unsafe extern "C" fn(*mut Element) =
            core::mem::transmute(REAL.load(Ordering::Acquire));
        real(element);
    }
}
