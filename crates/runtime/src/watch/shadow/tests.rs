use proptest::prelude::{ProptestConfig, Strategy, prop, prop_assert, prop_oneof, proptest};

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

/// # Safety
/// As for `enter_at_once`.
unsafe fn at_once_enters(cells: &Cells, new: Cell, clock: &Clock, luck: &mut u32) -> bool {
    // SAFETY: as the caller says.
    unsafe {
        if new.mask() == 0xFF && whole_enters(cells, new, clock) || is_said(cells, new) {
            true
        } else if new.writes() {
            enter_at_once::<true>(cells, new, clock, luck)
        } else {
            enter_at_once::<false>(cells, new, clock, luck)
        }
    }
}

/// Whether the short way for all eight bytes is enough.
///
/// # Safety
/// As for `place_of_whole`.
unsafe fn whole_enters(cells: &Cells, new: Cell, clock: &Clock) -> bool {
    // SAFETY: as the caller says.
    unsafe {
        let place = match new.writes() {
            true => place_of_whole::<true>(cells, new, clock),
            false => place_of_whole::<false>(cells, new, clock),
        };
        place.map(|place| enter_whole(cells, new, place)).is_some()
    }
}

fn run_with(accesses: &[Cell], clock: &Clock, at_once: bool) -> (Option<Cell>, [Cell; CELLS]) {
    let cells = Cells([const { AtomicU64::new(0) }; CELLS]);
    let mut racing = None;
    for (at, &new) in accesses.iter().enumerate() {
        let is_last = at + 1 == accesses.len();
        let clock = if is_last { clock } else { &[0; SLOTS] };
        let luck = &mut 1;
        // SAFETY: cells of the same form; the processor was asked.
        racing = unsafe {
            if at_once && !new.is_atomic() && at_once_enters(&cells, new, clock, luck) {
                None
            } else {
                enter(&cells, new, clock, luck)
            }
        };
    }
    (racing, cells.0.map(|cell| Cell(cell.into_inner())))
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

/// A step of a thread, one of three.
#[derive(Clone, Debug)]
enum Step {
    Access {
        thread: usize,
        mask: u8,
        write: bool,
        code: u32,
    },
    Tell {
        from: usize,
        to: usize,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let masks = prop::sample::select(vec![0xFF, 0x0F, 0xF0, 0x01, 0x02, 0x30, 0xC0]);
    let access =
        (1..4usize, masks, prop::bool::ANY, 1..3u32).prop_map(|(thread, mask, write, code)| {
            Step::Access {
                thread,
                mask,
                write,
                code,
            }
        });
    let tell = (1..4usize, 1..4usize).prop_map(|(from, to)| Step::Tell { from, to });
    prop::collection::vec(prop_oneof![3 => access, 2 => tell], 1..40)
}

/// Runs the steps to the first race, and says at which step what was answered, next to all earlier
/// accesses that race by definition. No more is said from where an access had to be forgotten.
fn races(steps: &[Step]) -> Option<(usize, Option<Cell>, Vec<Cell>)> {
    let cells = Cells([const { AtomicU64::new(0) }; CELLS]);
    let mut clocks = [[0; SLOTS]; 4];
    for (thread, clock) in clocks.iter_mut().enumerate() {
        clock[thread] = 1;
    }
    let mut past: Vec<Cell> = vec![];
    for (at, step) in steps.iter().enumerate() {
        match *step {
            Step::Tell { from, to } => {
                let told = clocks[from];
                for (mine, theirs) in clocks[to].iter_mut().zip(told) {
                    *mine = theirs.max(*mine);
                }
                clocks[from][from] += 1;
            }
            Step::Access {
                thread,
                mask,
                write,
                code,
            } => {
                let clock = &clocks[thread];
                let epoch = Cell::epoch(thread, clock[thread]);
                let new = Cell::new(epoch, mask, write, false, code);
                let all = past.iter().copied().filter(|old| {
                    old.meets(new) && old.conflicts(new) && clock[old.slot()] < old.time()
                });
                let all: Vec<Cell> = all.collect();
                let mut luck = 1;
                // SAFETY: cells of the same form; the caller has asked the processor.
                let told = unsafe {
                    if at_once_enters(&cells, new, clock, &mut luck) {
                        None
                    } else {
                        Some(enter(&cells, new, clock, &mut luck).expect("it said so"))
                    }
                };
                if told.is_some() || !all.is_empty() {
                    return Some((at, told, all));
                }
                if luck != 1 {
                    return None;
                }
                past.push(new);
            }
        }
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// As long as nothing is forgotten, what is told is a race by definition, and if there is one it is told.
    #[test]
    fn at_once_the_first_race_is_found_and_no_other(steps in steps()) {
        if can_enter_at_once() && let Some((at, told, all)) = races(&steps) {
            prop_assert!(!all.is_empty(), "invented at step {at}");
            let told = told.map(|told| (told.slot(), told.time(), told.writes(), told.context()));
            let is_one = all.iter().any(|one| {
                told == Some((one.slot(), one.time(), one.writes(), one.context()))
            });
            prop_assert!(is_one, "step {at}: {told:?} was told");
        }
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
    let first = |i: usize| unsafe { &(*cells(addr(i))).0[0] };
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
