use deadheat_trace::{Addr, Event, Order};

use super::names::{is_std, unwinds};
use super::*;

fn frames(names: &[&str]) -> Vec<Frame> {
    let frame = |name: &&str| Frame {
        function: Some((*name).into()),
        file: None,
        line: None,
        column: None,
        inlined: false,
    };
    names.iter().map(frame).collect()
}

const FETCH_ADD: &str = "<core::sync::atomic::AtomicUsize>::fetch_add";
const FETCH_SUB: &str = "<core::sync::atomic::AtomicUsize>::fetch_sub";
const ARC_DROP: &str = "<alloc::sync::Arc<prog::S> as core::ops::drop::Drop>::drop";

#[test]
fn counts_are_known_by_the_functions_that_they_are_in() {
    let of = |names: &[&str]| role(&frames(names));
    let add = "core::sync::atomic::atomic_add::<usize, usize>";
    let clone = "<alloc::sync::Arc<prog::S> as core::clone::Clone>::clone";
    assert!(of(&[add, FETCH_ADD, clone, "prog::main"]) == Role::Up);
    assert!(of(&[FETCH_SUB, ARC_DROP]) == Role::Releases);
    let atomics =
        "<alloc::sync::Arc<core::sync::atomic::AtomicBool> as core::ops::drop::Drop>::drop";
    assert!(of(&[FETCH_SUB, atomics]) == Role::Releases);
    let weak = "<alloc::sync::Weak<prog::S> as core::ops::drop::Drop>::drop";
    assert!(of(&[FETCH_SUB, weak]) == Role::Down);
    let scope = "deadheat_stdsync::scope::increment_num_running_threads";
    assert!(of(&[FETCH_ADD, scope]) == Role::Up);
    // It gives back what it took, and panics.
    assert!(of(&[FETCH_SUB, scope]) == Role::None);
}

#[test]
fn whoever_else_looks_at_a_count_needs_its_value() {
    let of = |names: &[&str]| role(&frames(names));
    let load = "<core::sync::atomic::AtomicUsize>::load";
    assert!(of(&[load, "<alloc::sync::Arc<prog::S>>::strong_count"]) == Role::None);
    let swap = "<core::sync::atomic::AtomicUsize>::compare_exchange";
    assert!(of(&[swap, "<alloc::sync::Arc<prog::S>>::try_unwrap"]) == Role::None);
    assert!(of(&[swap, ARC_DROP]) == Role::None);
    // A count of the program's own.
    assert!(of(&[FETCH_SUB, "<prog::Arc as core::ops::drop::Drop>::drop"]) == Role::None);
    assert!(of(&[FETCH_SUB, "prog::give_back", ARC_DROP]) == Role::None);
    assert!(of(&[FETCH_SUB]) == Role::None);
    assert!(of(&[]) == Role::None);
}

#[test]
fn code_of_the_standard_library_for_its_own_types() {
    for name in [
        "<alloc::sync::Arc<std::thread::lifecycle::Packet<()>>>::drop_slow",
        "<&alloc::alloc::Global as core::alloc::Allocator>::deallocate",
        "core::ptr::drop_in_place::<core::option::Option<core::result::Result<(), alloc::boxed::Box<dyn core::any::Any + core::marker::Send>>>>",
        "<<std::thread::lifecycle::Packet<()> as core::ops::drop::Drop>::drop::{closure#0} as core::ops::function::FnOnce<()>>::call_once",
        "<core::array::IntoIter<&'static str, 16>>::new",
        "__rust_try",
    ] {
        assert!(is_plain(&frames(&[name])[0]), "{name}");
    }
    for name in [
        "core::ptr::drop_in_place::<prog::Guard>",
        "<alloc::sync::Arc<std::sync::poison::mutex::Mutex<prog::S>>>::drop_slow",
        "<alloc::sync::Arc<T, A> as core::ops::drop::Drop>::drop",
        "prog::main",
        "close",
        "",
    ] {
        assert!(!is_std(name), "{name}");
    }
}

#[test]
fn whatever_may_be_called_through_a_pointer_or_unwind_is_not_plain() {
    for name in [
        "core::ptr::drop_in_place::<dyn core::any::Any + core::marker::Send>",
        "core::ptr::drop_in_place::<alloc::boxed::Box<dyn core::any::Any + core::marker::Send>>",
        "std::panicking::panic_with_hook",
        "core::panicking::panic_fmt",
    ] {
        assert!(is_std(name) && !is_plain(&frames(&[name])[0]), "{name}");
    }
    assert!(!unwinds("std::panicking::catch_unwind::do_call::<()>"));
}

/// A place in the drop of an `Arc`.
const HERE: Pc = Pc(1);
/// A place in a function of the standard library that is called from there.
const CALLED: Pc = Pc(2);
/// A place in a function of the program.
const PROGRAM: Pc = Pc(3);
/// A place in `drop_slow`, which has no hooks.
const SLOW: Pc = Pc(4);
const COUNT: u64 = 0x40;

/// What is found in these events of one thread behind an operation that takes a count from 1 to 0.
fn release_of(behind: &[(Op, Pc, u64)]) -> Option<Release> {
    let mut counting = Counting::of(&Tables::default());
    let plain = Site {
        is_plain: true,
        ..Site::default()
    };
    let here = Site {
        role: Role::Releases,
        drop: Some((0, true)),
        ..plain
    };
    let slow = Site {
        is_slow: true,
        ..plain
    };
    for (pc, site) in [
        (HERE, here),
        (CALLED, plain),
        (PROGRAM, Site::default()),
        (SLOW, slow),
    ] {
        counting.sites.insert(pc, site);
    }
    let down = Event::atomic(
        ThreadId(0),
        Op::AtomicRmw,
        Addr(COUNT),
        8,
        Order::Release,
        HERE,
    );
    counting.step(0, &Step::new(down).with_read(1).with_written(0));
    for (at, (op, pc, target)) in (1..).zip(behind) {
        counting.step(at, &Step::new(Event::new(ThreadId(0), *op, *target, *pc)));
    }
    match counting.from(0)[..] {
        [(0, Count::Down(release))] => release,
        ref other => panic!("{other:?}"),
    }
}

#[test]
fn a_release_is_the_fence_and_the_call() {
    let fence = [
        (Op::Enter, HERE, 0),
        (Op::Fence, CALLED, 0),
        (Op::Leave, HERE, 0),
    ];
    let call = [
        (Op::Enter, HERE, 0),
        (Op::Read, CALLED, 8),
        (Op::Enter, CALLED, 0),
        (Op::Free, CALLED, COUNT),
        (Op::Leave, CALLED, 0),
        (Op::Leave, HERE, 0),
    ];
    let whole = [
        &fence[..],
        &call,
        &[(Op::Leave, HERE, 0), (Op::Write, PROGRAM, 8)],
    ]
    .concat();
    assert_eq!(release_of(&whole), Some(Release { first: 1, last: 9 }));
    let inlined = [&[(Op::Fence, HERE, 0)], &call[..]].concat();
    assert_eq!(release_of(&inlined), Some(Release { first: 1, last: 7 }));
    // Without hooks: up to its own block.
    let unseen = [
        (Op::Fence, HERE, 0),
        (Op::Free, SLOW, 0x90),
        (Op::Free, HERE, COUNT),
    ];
    assert_eq!(release_of(&unseen), Some(Release { first: 1, last: 3 }));
}

#[test]
fn what_is_not_told_exactly_is_no_release() {
    let fence = (Op::Fence, HERE, 0);
    let (enter, leave) = ((Op::Enter, HERE, 0), (Op::Leave, HERE, 0));
    // The program's own code in it.
    assert_eq!(
        release_of(&[fence, enter, (Op::Write, PROGRAM, 8), leave]),
        None
    );
    assert_eq!(
        release_of(&[fence, enter, (Op::Enter, PROGRAM, 0), leave, leave]),
        None
    );
    // It does not end.
    assert_eq!(release_of(&[fence, enter]), None);
    assert_eq!(release_of(&[fence, enter, (Op::End, CALLED, 0)]), None);
    // Code without hooks that does not free the count's block.
    assert_eq!(release_of(&[fence, (Op::Free, SLOW, 0x90), leave]), None);
    // No fence.
    assert_eq!(
        release_of(&[enter, (Op::Read, CALLED, 8), leave, enter, leave]),
        None
    );
    assert_eq!(release_of(&[]), None);
}
