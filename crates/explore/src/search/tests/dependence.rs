//! What a transition of a run depends on, where small programs do not reach.

use deadheat_trace::{Op, Order};

use super::super::{
    Deed, Transition,
    dependence::conflict,
    path::Path,
    races::{Race, races},
};

fn deed(op: Op, object: u64, size: u32) -> Deed {
    Deed {
        op,
        object,
        size,
        order: Order::SeqCst,
        tried: false,
        pc: 0,
        own: 0,
        value: 0,
    }
}

/// Runs these, and says for each with which it races.
fn raced(run: &[(u32, Deed)]) -> Vec<Vec<usize>> {
    let mut path = Path::default();
    run.iter()
        .map(|&(thread, deed)| {
            let transition = Transition {
                thread,
                variant: 0,
                variants: 1,
                deeds: vec![deed],
            };
            let arrival = path.arrival(thread, &transition.deeds);
            let races = races(&path, &arrival);
            path.push(transition, &arrival);
            races.iter().map(|Race { event, .. }| *event).collect()
        })
        .collect()
}

#[test]
fn accesses_race_by_bytes() {
    let last = |run: &[(u32, Deed)]| raced(run).pop().unwrap_or_default();
    let write = (1, deed(Op::Write, 0x10, 4));
    assert_eq!(last(&[write, (2, deed(Op::Read, 0x13, 1))]), [0]);
    assert_eq!(last(&[write, (2, deed(Op::Read, 0x14, 4))]), [0_usize; 0]);
    assert_eq!(last(&[write, (2, deed(Op::Write, 0xc, 8))]), [0]);
    assert_eq!(last(&[write, (2, deed(Op::Free, 0, 1 << 20))]), [0]);
    let free = (1, deed(Op::Free, 0, 1 << 20));
    assert_eq!(last(&[free, (2, deed(Op::Read, 0x1000, 8))]), [0]);
    let read = (1, deed(Op::Read, 0x10, 4));
    assert_eq!(
        last(&[read, (2, deed(Op::AtomicRead, 0x10, 4))]),
        [0_usize; 0]
    );
}

#[test]
fn a_block_that_is_handed_out_again_is_another_one() {
    for size in [16, 1 << 20] {
        let run = [
            (1, deed(Op::Write, 0x40, 4)),
            (1, deed(Op::Free, 0x40, size)),
            (2, deed(Op::Alloc, 0x40, size)),
            (2, deed(Op::Write, 0x44, 4)),
            (3, deed(Op::Read, 0x44, 4)),
        ];
        assert_eq!(raced(&run)[3], [0_usize; 0], "{size}");
        assert_eq!(raced(&run)[4], [3], "{size}");
    }
}

#[test]
fn only_the_last_of_those_that_know_each_other_races() {
    let add = |thread| (thread, deed(Op::AtomicRmw, 8, 8));
    let read = |thread| (thread, deed(Op::AtomicRead, 8, 8));
    let run = [add(1), add(2), read(3), read(4), add(5)];
    let expected: [&[usize]; 5] = [&[], &[0], &[1], &[1], &[3, 2]];
    assert_eq!(raced(&run), expected);
}

#[test]
fn who_sleeps_at_a_futex_reads_it() {
    let run = [
        (1, deed(Op::FutexWait, 0x20, 0)),
        (2, deed(Op::AtomicWrite, 0x20, 4)),
        (2, deed(Op::FutexWake, 0x20, 0)),
        (1, deed(Op::FutexWoken, 0x20, 0)),
        (1, deed(Op::AtomicRead, 0x20, 4)),
    ];
    let expected: [&[usize]; 5] = [&[], &[0], &[], &[], &[]];
    assert_eq!(raced(&run), expected);
}

#[test]
fn a_lock_that_ends_races_with_who_takes_it() {
    let run = [
        (1, deed(Op::Acquire, 0x20, 0)),
        (1, deed(Op::Release, 0x20, 0)),
        (2, deed(Op::Destroy, 0x20, 0)),
    ];
    assert_eq!(raced(&run)[2], [1]);
}

#[test]
fn two_atomics_are_no_data_race() {
    let write = deed(Op::AtomicWrite, 0, 4);
    assert!(!conflict(&write, &deed(Op::AtomicRmw, 0, 4)));
    assert!(conflict(&write, &deed(Op::Read, 2, 1)));
    assert!(!conflict(&write, &deed(Op::Read, 4, 1)));
    assert!(conflict(&write, &deed(Op::Free, 0, 16)));
}

#[test]
fn who_receives_could_have_been_another() {
    let send = |thread| (thread, deed(Op::Send, 7, 0));
    let receive = |thread| (thread, deed(Op::Receive, 7, 0));
    // What the first took would have done for the second as well, whatever was sent between.
    let races = raced(&[receive(1), send(3), receive(2)]);
    assert_eq!(races, [vec![], vec![0], vec![1, 0]]);
    assert_eq!(raced(&[receive(1), receive(2)]), [vec![], vec![0]]);
    // Another channel has nothing to do with it.
    let other = (2, deed(Op::Receive, 8, 0));
    assert_eq!(
        raced(&[receive(1), other]),
        [vec![], vec![]] as [Vec<usize>; 2]
    );
}
