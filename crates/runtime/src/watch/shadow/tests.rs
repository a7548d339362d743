use super::*;

fn plain(slot: usize, time: u32, mask: u8, write: bool) -> Cell {
    Cell::new(Cell::epoch(slot, time), mask, write, false, 5)
}

/// The last access's race, the same in both ways, and what the cells have then. The accesses
/// before know nothing of each other.
fn run(accesses: &[Cell], clock: &Clock) -> (Option<Cell>, [Cell; CELLS]) {
    let one_by_one = run_with(accesses, clock, false);
    if can_enter_at_once() {
        let at_once = run_with(accesses, clock, true);
        assert!(at_once.0 == one_by_one.0);
    }
    one_by_one
}

fn run_with(accesses: &[Cell], clock: &Clock, at_once: bool) -> (Option<Cell>, [Cell; CELLS]) {
    let cells = [const { AtomicU64::new(0) }; CELLS];
    let mut racing = None;
    for (at, &new) in accesses.iter().enumerate() {
        let is_last = at + 1 == accesses.len();
        let clock = if is_last { clock } else { &[0; SLOTS] };
        // SAFETY: cells of the same form; the processor was asked.
        racing = unsafe {
            match (at_once && !new.is_atomic(), new.writes()) {
                (false, _) => enter(&cells, new, clock, &mut 1),
                (true, false) => enter_at_once::<false>(&cells, new, clock, &mut 1),
                (true, true) => enter_at_once::<true>(&cells, new, clock, &mut 1),
            }
        };
    }
    (racing, cells.map(|cell| Cell(cell.into_inner())))
}

#[test]
fn parts_of_a_cell_come_out_as_they_went_in() {
    let cell = Cell::new(Cell::epoch(1023, 0xFF_FFFF), 0x81, true, false, 0xF_FFFF);
    assert_eq!((cell.slot(), cell.time()), (1023, 0xFF_FFFF));
    assert_eq!((cell.mask(), cell.context()), (0x81, 0xF_FFFF));
    assert!(cell.writes() && !cell.is_atomic());
}

#[test]
fn unordered_conflicts_race_and_others_do_not() {
    let mut clock = [0; SLOTS];
    let (old, new) = (plain(1, 7, 0x0F, true), plain(2, 1, 0x08, false));
    assert!(run(&[old, new], &clock).0 == Some(old));
    clock[1] = 7;
    assert!(run(&[old, new], &clock).0.is_none());
    clock[1] = 6;
    assert!(run(&[old, new], &clock).0 == Some(old));
    let elsewhere = plain(2, 1, 0x10, true);
    assert!(run(&[old, elsewhere], &clock).0.is_none());
    let read = plain(1, 7, 0x0F, false);
    assert!(run(&[read, new], &clock).0.is_none());
    let atomic = |slot| Cell::new(Cell::epoch(slot, 9), 0x0F, true, true, 5);
    assert!(run(&[atomic(1), atomic(2)], &clock).0.is_none());
    assert!(run(&[atomic(1), new], &clock).0 == Some(atomic(1)));
}

#[test]
fn an_access_takes_the_place_of_what_it_covers() {
    let mut clock = [0; SLOTS];
    clock[1] = 7;
    let old = plain(1, 7, 0x0F, false);
    let (write, read) = (plain(2, 1, 0xFF, true), plain(2, 1, 0xFF, false));
    assert!(run(&[old, write], &clock).1[0] == write);
    assert!(run(&[old, read], &clock).1[0] == read);
    let old = plain(1, 7, 0x0F, true);
    let kept = run(&[old, read], &clock).1;
    assert!(kept[0] == old && kept[1] == read);
    // Bytes by the same code share a cell.
    let bytes: Vec<Cell> = (0..8).map(|i| plain(3, 4, 1 << i, false)).collect();
    let kept = run(&bytes, &clock).1;
    assert!(kept[0] == plain(3, 4, 0xFF, false) && kept[1].0 == 0);
}

#[test]
fn a_write_races_with_any_of_four_readers() {
    let reads: Vec<Cell> = (1..5).map(|slot| plain(slot, 9, 1, false)).collect();
    for known in 1..5 {
        // The writer knows all readers but one.
        let mut clock = [9; SLOTS];
        clock[known] = 8;
        let mut accesses = reads.clone();
        accesses.push(plain(7, 1, 1, true));
        let racing = run(&accesses, &clock).0.map(Cell::slot);
        assert_eq!(racing, Some(known));
    }
}

// One test: the reservation is the program's.
#[test]
fn the_shadow_is_there_and_can_be_cleared() {
    assert_eq!(reserve(), Ok(()));
    assert_eq!(reserve(), Err(libc::EEXIST as isize));
    let block = vec![0u64; 100_000];
    let addr = |i: usize| &raw const block[i] as usize;
    // SAFETY: the shadow of memory that exists.
    let first = |i: usize| unsafe { &(*cells(addr(i)))[0] };
    for i in 0..block.len() {
        first(i).store(1, Ordering::Relaxed);
    }
    clear(addr(10), 8 * 5);
    let is_set = |i: usize| first(i).load(Ordering::Relaxed) == 1;
    assert!(is_set(9) && !is_set(10) && !is_set(14) && is_set(15));
    clear(addr(20) + 3, 8);
    assert!(is_set(19) && !is_set(20) && !is_set(21) && is_set(22));
    clear(addr(30), 8 * 90_000);
    assert!(is_set(29) && (30..90_030).all(|i| !is_set(i)) && is_set(90_030));
    clear_all();
    assert!(!is_set(0));
}
