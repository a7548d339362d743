//! What constrains no schedule is left out of a trace: the same is found with and without it, and every schedule of what is left is one of
//! the whole trace once that is put back.

mod oracle;

use std::collections::BTreeSet;

use deadheat_code::{Depends, Passed};
use deadheat_predict::check::{Observed, Simulation};
use deadheat_predict::{
    AboutEvent, BranchNeeds, CodeNeeds, Cut, Goal, Left, Reads, Schedule, Sieve, Survey, Window,
    check,
};
use deadheat_trace::{Addr, Event, Op, Pc, Step, ThreadId, text};
use proptest::prelude::*;

use oracle::random::{Rest, Shape, chains, windows, windows_of_parts};
use oracle::{Needed, reachable};

/// What is left of a trace, and where each step of it was.
struct Sifted {
    window: Window,
    positions: Vec<u32>,
}

fn sifted(steps: &[Step], reads: Reads) -> Sifted {
    sifted_within(usize::MAX, steps, reads)
}

/// The same with a survey that has so many bytes.
fn sifted_within(bytes: usize, steps: &[Step], reads: Reads) -> Sifted {
    let mut needs = BranchNeeds::new(reads);
    let tell = |at: usize, left| needs.sifted(&steps[at].event, left);
    let (kept, positions) = sift_within(bytes, steps, tell);
    Sifted {
        window: Window::whole(kept, needs.from(0)),
        positions,
    }
}

/// What is left, and where that was. `tell` hears of each step what becomes of it.
fn sift(steps: &[Step], tell: impl FnMut(usize, Left)) -> (Vec<Step>, Vec<u32>) {
    sift_within(usize::MAX, steps, tell)
}

fn sift_within(
    bytes: usize,
    steps: &[Step],
    mut tell: impl FnMut(usize, Left),
) -> (Vec<Step>, Vec<u32>) {
    let look = |mut survey: Survey| {
        steps.iter().for_each(|step| survey.step(step, false));
        survey
    };
    let mut survey = look(Survey::within(bytes));
    if survey.is_misled() {
        survey = look(Survey::within(bytes).without_barriers());
    }
    let constraining = survey.finish();
    let mut sieve = Sieve::new(&constraining);
    let (mut kept, mut positions) = (Vec::new(), Vec::new());
    for (at, step) in (0..).zip(steps) {
        let (sifted, left) = sieve.step(step, kept.len() as u32, false);
        tell(at as usize, left);
        if matches!(left, Left::Kept { .. }) {
            kept.push(sifted);
            positions.push(at);
        }
    }
    (kept, positions)
}

impl Sifted {
    /// A schedule of what is left with the rest put back: a thread goes on up to each of its events, and in the end up to where it is next.
    fn expanded(&self, whole: &Window, schedule: &[u32], next: &[u32]) -> Schedule {
        let of = |at: u32| whole.steps[at as usize].event.thread();
        let mut is_done = vec![false; whole.steps.len()];
        let mut expanded = Schedule::new();
        let mut go = |thread: ThreadId, behind: u32| {
            for at in 0..behind {
                if of(at) == thread && !std::mem::replace(&mut is_done[at as usize], true) {
                    expanded.push(at);
                }
            }
        };
        for at in schedule.iter().map(|at| self.positions[*at as usize]) {
            go(of(at), at + 1);
        }
        for at in next {
            go(of(*at), *at);
        }
        expanded
    }

    fn whole(&self, next: &[u32]) -> Vec<u32> {
        next.iter().map(|at| self.positions[*at as usize]).collect()
    }
}

type Found = BTreeSet<Vec<u32>>;

/// All that brute force finds in what is left, and what it finds in the whole trace. Every schedule of what is left is one there, and leads to
/// what it leads to here.
fn found(window: &Window, sifted: &Sifted) -> [Found; 2] {
    let observed = Observed::new(window);
    reachable::explore(&sifted.window, |_, schedule| {
        let mut simulation = Simulation::new(&observed);
        for at in sifted.expanded(window, schedule, &[]) {
            let done = simulation.run(at);
            assert!(
                done.is_ok(),
                "{at} {schedule:?}\n{:#?}\n{window:#?}",
                sifted.window
            );
        }
    });
    let mut all = Found::new();
    let races = reachable::races(&sifted.window).into_iter();
    let races = races.map(|(next, schedule)| (Goal::Race, next.to_vec(), schedule));
    let deadlocks = reachable::deadlocks(&sifted.window).into_iter();
    let deadlocks = deadlocks.map(|(next, schedule)| (Goal::Deadlock, next, schedule));
    for (goal, next, schedule) in races.chain(deadlocks) {
        let next = sifted.whole(&next);
        let schedule = sifted.expanded(window, &schedule, &next);
        let cut = Cut { goal, next };
        let checked = check::check(window, &cut, &schedule);
        assert!(
            checked.is_ok(),
            "{checked:?} {cut:?} {schedule:?}\n{:#?}\n{window:#?}",
            sifted.window
        );
        all.insert(cut.next);
    }
    let races = reachable::races(window).into_keys();
    let whole = races.map(|next| next.to_vec());
    let whole = whole.chain(reachable::deadlocks(window).into_keys());
    [all, whole.collect()]
}

/// A creation, or an arrival at a barrier, needs more if something is left out: see the module's head.
fn creates_after_reads(window: &Window) -> bool {
    let mut steps = window.steps.iter();
    steps.any(|step| {
        let event = &step.event;
        let reads =
            |other: &&Step| other.event.thread() == event.thread() && other.event.op().reads();
        matches!(event.op(), Op::Fork | Op::BarrierEnter)
            && window.steps.iter().any(|other| reads(&other))
    })
}

fn agrees(window: Window, reads: Reads) {
    agrees_within(usize::MAX, window, reads);
}

fn agrees_within(bytes: usize, mut window: Window, reads: Reads) {
    window.border = Default::default();
    let [sifted, whole] = found(&window, &sifted_within(bytes, &window.steps, reads));
    assert!(
        sifted.is_subset(&whole),
        "{sifted:?} {whole:?}\n{window:#?}"
    );
    if !creates_after_reads(&window) {
        assert_eq!(sifted, whole, "{window:#?}");
    }
}

/// What a thread may do next in [`Flows`].
#[derive(Clone, Copy, PartialEq)]
enum Life {
    Unborn,
    Runs,
    Ended,
    Joined,
}

/// A random run of a program in which values go from shared memory through memory of one thread at a time, and events depend on some
/// of what was read, as a program's code tells.
struct Flows {
    lives: [Life; 3],
    memory: [u64; 8],
    steps: Vec<Step>,
    /// For each step the places of reads that it depends on.
    depends: Vec<Vec<u64>>,
}

impl Flows {
    fn of(choices: &[(u8, u8, u8)]) -> Self {
        let mut flows = Flows {
            lives: [Life::Runs, Life::Unborn, Life::Unborn],
            memory: [0; 8],
            steps: Vec::new(),
            depends: Vec::new(),
        };
        for (who, what, on) in choices {
            let thread = usize::from(*who) % 3;
            if flows.lives[thread] == Life::Runs {
                flows.go(thread as u32, *what, *on);
            }
        }
        flows
    }

    fn go(&mut self, thread: u32, what: u8, on: u8) {
        let pc = Pc(self.steps.len() as u32 + 1);
        let event = |op, target: u32| Event::new(ThreadId(thread), op, u64::from(target), pc);
        let life = |it: &Self, wanted| (1..3).find(|other| it.lives[*other] == wanted);
        // Two that all share, what belongs to the first thread until the last is created, and after it is joined, and own ones.
        let handed_on = match (thread, self.lives[2]) {
            (0, Life::Unborn | Life::Joined) | (2, _) => 2,
            _ => 3 + thread as usize,
        };
        let own = 3 + thread as usize;
        let variable = [0, 1, handed_on, handed_on, own, 1][usize::from(what / 16) % 6];
        let access =
            |op| Event::access(ThreadId(thread), op, Addr(64 + 8 * variable as u64), 8, pc);
        let step = match what % 16 {
            0..=5 => Step::new(access(Op::Read)).with_read(self.memory[variable]),
            6..=10 => {
                self.memory[variable] = u64::from(on % 2);
                Step::new(access(Op::Write)).with_written(self.memory[variable])
            }
            11 | 12 if thread == 0 && life(self, Life::Unborn).is_some() => {
                let child = life(self, Life::Unborn).unwrap_or_default();
                self.lives[child] = Life::Runs;
                Step::new(event(Op::Fork, child as u32))
            }
            13 if thread == 0 && life(self, Life::Ended).is_some() => {
                let child = life(self, Life::Ended).unwrap_or_default();
                self.lives[child] = Life::Joined;
                Step::new(event(Op::Join, child as u32))
            }
            14 if thread > 0 => {
                self.lives[thread as usize] = Life::Ended;
                Step::new(event(Op::End, 0))
            }
            _ => return,
        };
        let own = self
            .steps
            .iter()
            .rev()
            .filter(|step| step.event.thread().0 == thread);
        let reads: Vec<u64> = own
            .filter(|step| step.event.op().reads())
            .map(|step| step.event.pc().0.into())
            .collect();
        let chosen = reads.into_iter().zip([1, 2, 4]);
        self.depends.push(
            chosen
                .filter(|(_, bit)| on >> 1 & bit != 0)
                .map(|(at, _)| at)
                .collect(),
        );
        self.steps.push(step);
    }

    fn tell(&self, at: usize, left: Left, needs: &mut CodeNeeds) {
        let passed = match self.depends[at].is_empty() {
            true => Passed::Straight,
            false => Passed::Branched(Depends::on(self.depends[at].clone(), false)),
        };
        let event = &self.steps[at].event;
        let about = AboutEvent {
            site: Some(event.pc().0.into()),
            passed: Some(&passed),
            done_to: Some(&Depends::Nothing),
            is_steady: false,
        };
        needs.sifted(event, &about, left);
    }
}

/// The operations that are left of a trace.
fn ops(listing: &str) -> Vec<(u32, Op)> {
    let trace = text::parse(listing).unwrap();
    let sifted = sifted(&trace.steps, Reads::ByBranch);
    let steps = sifted.window.steps.iter();
    steps
        .map(|step| (step.event.thread().0, step.event.op()))
        .collect()
}

#[test]
fn memory_of_one_thread_at_a_time_is_left_out() {
    let listing = "A|w(x)|1\nA|w(y)|2\nA|fork(B)|3\nB|begin|4\nB|r(x)|5\nB|w(x)|6\nB|w(y)|7\nA|w(y)|8\nB|end|9\nA|join(B)|10\nA|r(x)|11\nA|acq(m)|12\n";
    use Op::{Acquire, Begin, End, Fork, Join, Write};
    let left = [
        (0, Write),
        (0, Fork),
        (1, Begin),
        (1, Write),
        (0, Write),
        (1, End),
        (0, Join),
        (0, Acquire),
    ];
    assert_eq!(ops(listing), left);
}

#[test]
fn blocks_are_left_out_with_what_is_in_them() {
    let own = "A|alloc(x:8)|1\nA|w(x)|2\nA|free(x)|3\nA|acq(m)|4\n";
    assert_eq!(ops(own), [(0, Op::Acquire)]);
    // Another thread has it in its second life, and gives it back under the first one's hands in its third.
    let lives = "A|alloc(x:8)|1\nA|w(x)|2\nA|free(x)|3\nB|alloc(x:8)|4\nB|w(x)|5\nB|free(x)|6\nB|acq(m)|7\nA|acq(m)|8\n";
    assert_eq!(ops(lives), [(1, Op::Acquire), (0, Op::Acquire)]);
    let shared = "A|alloc(x:8)|1\nA|w(x)|2\nB|free(x)|3\n";
    assert_eq!(ops(shared), [(0, Op::Alloc), (0, Op::Write), (1, Op::Free)]);
}

#[test]
fn a_value_that_goes_through_private_memory_is_needed() {
    // B branches on p, which has what it read of x.
    let listing = "A|fork(B)|1\nB|begin|2\nA|w(x=1)|3\nB|r(x=1)|4\nB|w(p=1)|5\nB|r(p=1)|6\nB|branch|7\nB|w(y=1)|8\nA|w(y=1)|9\n";
    let trace = text::parse(listing).unwrap();
    let sifted = sifted(&trace.steps, Reads::ByBranch);
    let read = sifted.positions.iter().position(|at| *at == 3).unwrap();
    let by = sifted.window.needed_by[read];
    assert_eq!(sifted.positions[by as usize], 7);
}

#[test]
fn who_is_created_with_what_was_read_needs_it() {
    let needed = |between: &str| {
        let listing = format!(
            "A|fork(B)|1\nA|r(x=0)|2\n{between}A|fork(C)|4\nC|begin|5\nC|r(h=0)|6\nC|branch|7\nB|w(x=1)|8\nC|w(x)|9\n"
        );
        let trace = text::parse(&listing).unwrap();
        let sifted = sifted(&trace.steps, Reads::ByBranch);
        let read = sifted.positions.iter().position(|at| *at == 1).unwrap();
        let by = sifted.window.needed_by[read] as usize;
        sifted.window.steps.get(by).map(|step| step.event.op())
    };
    assert_eq!(needed("A|w(h=0)|3\n"), Some(Op::Fork));
    assert_eq!(needed("A|w(o=0)|3\n"), None);
}

#[test]
fn what_barriers_order_is_left_out() {
    let listing = |count: u32| {
        format!(
            "A|init(barrier:b={count})|1\nA|fork(B)|2\nB|begin|3\nA|w(x)|4\nB|w(y)|5\nA|enter(b)|6\nB|enter(b)|7\n\
             B|exit(b)|8\nA|exit(b)|9\nA|w(y)|10\nB|w(x)|11\nB|end|12\nA|join(B)|13\n"
        )
    };
    let listing = |count| {
        listing(count)
            .replace("enter(", "benter(")
            .replace("exit(", "bexit(")
    };
    let accesses = |count| {
        let ops = ops(&listing(count)).into_iter();
        ops.filter(|(_, op)| *op == Op::Write).count()
    };
    assert_eq!(accesses(2), 0);
    // As one comes to it that it does not wait for, rounds may be others.
    assert_eq!(accesses(1), 4);
}

#[test]
fn who_comes_to_a_barrier_with_what_was_read_needs_it() {
    let listing = "A|init(barrier:b=2)|1\nA|fork(B)|2\nA|r(x=0)|3\nA|w(h=0)|4\nA|benter(b)|5\nB|benter(b)|6\n\
                   B|bexit(b)|7\nB|r(h=0)|8\nB|branch|9\nC|w(x=1)|10\nB|w(x)|11\n";
    let trace = text::parse(listing).unwrap();
    let sifted = sifted(&trace.steps, Reads::ByBranch);
    let read = sifted.positions.iter().position(|at| *at == 2).unwrap();
    let by = sifted.window.needed_by[read] as usize;
    assert_eq!(sifted.window.steps[by].event.op(), Op::BarrierEnter);
}

#[test]
fn what_hangs_together_is_kept_together() {
    let access =
        |thread, op, addr| Step::new(Event::access(ThreadId(thread), op, Addr(addr), 8, Pc(0)));
    let steps = [
        access(0, Op::Write, 16),
        access(0, Op::Write, 12),
        access(1, Op::Read, 8),
        access(0, Op::Write, 32),
    ];
    let sifted = sifted(&steps, Reads::ByBranch);
    // The last event of a thread stays, if only as a fence.
    assert_eq!(sifted.positions, [0, 1, 2, 3]);
    assert_eq!(sifted.window.steps[0].event.op(), Op::Write);
    assert_eq!(sifted.window.steps[3].event.op(), Op::Fence);
}

/// Whole traces, in which everything may be but what began before them.
const EVERYTHING: Rest = Rest {
    border: false,
    ..Shape::EVERYTHING.rest
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_the_paper_s_events(window in windows(Shape { variables: 3, ..Shape::PAPER }, Needed::ByBranch)) {
        agrees(window, Reads::ByBranch);
    }

    #[test]
    fn where_every_event_needs_all(window in windows(Shape { variables: 3, ..Shape::PAPER }, Needed::ByNext)) {
        agrees(window, Reads::ByNext);
    }

    #[test]
    fn of_everything_there_is(window in windows_of_parts(
        Shape { variables: 3, rest: EVERYTHING, ..Shape::EVERYTHING },
        Needed::ByBranch,
    )) {
        agrees(window, Reads::ByBranch);
    }

    #[test]
    fn where_values_are_passed_on(window in chains(Needed::ByBranch)) {
        agrees(window, Reads::ByBranch);
    }

    #[test]
    fn where_values_go_through_private_memory(
        choices in prop::collection::vec(any::<(u8, u8, u8)>(), 0..60),
    ) {
        let mut flows = Flows::of(&choices);
        flows.steps.truncate(15);
        let mut needs = [CodeNeeds::default(), CodeNeeds::default()];
        for at in 0..flows.steps.len() {
            flows.tell(at, Left::NOT, &mut needs[0]);
        }
        let (kept, positions) = sift(&flows.steps, |at, left| flows.tell(at, left, &mut needs[1]));
        let [whole, left] = needs.map(CodeNeeds::needed_by);
        let sifted = Sifted { window: Window::whole(kept, left), positions };
        let window = Window::whole(flows.steps, whole);
        let [sifted, whole] = found(&window, &sifted);
        prop_assert!(sifted.is_subset(&whole), "{sifted:?} {whole:?}\n{window:#?}");
        if !creates_after_reads(&window) {
            prop_assert_eq!(sifted, whole, "{:#?}", window);
        }
    }

    /// There is no room for words: pages are kept or left out as a whole.
    #[test]
    fn where_pages_are_looked_at(window in windows_of_parts(
        Shape { variables: 3, rest: EVERYTHING, ..Shape::EVERYTHING },
        Needed::ByBranch,
    )) {
        agrees_within(0, window, Reads::ByBranch);
    }

    #[test]
    fn where_barriers_are(window in windows(
        Shape {
            variables: 3,
            locks: 1,
            rest: Rest { barriers: true, heap: true, lives: true, ..Rest::default() },
            ..Shape::PAPER
        },
        Needed::ByBranch,
    )) {
        agrees(window, Reads::ByBranch);
    }

    #[test]
    fn where_locks_and_waits_are(window in windows(
        Shape { variables: 2, rest: Rest { border: false, heap: true, ..Shape::WAITS.rest }, ..Shape::WAITS },
        Needed::ByBranch,
    )) {
        agrees(window, Reads::ByBranch);
    }
}
