//! Precise answers for the common shapes of code, from all compilers at all levels, and no
//! answers where there must be none.

mod support;

use deadheat_code::{Depends, Passed, Point};
use support::{Build, Program, c_builds, rust_builds};

const C: &str = r"
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <string.h>
volatile int flag;
int x, y, z, n, a[100], *pointer;
int (*function)(void);
_Atomic int atom;
struct large { long first; long second; long third; } one, two;
pthread_mutex_t lock;
jmp_buf buffer;
void opaque(void);
void fill(int *);
void fill_large(struct large *);

void conditional(void) {
    if (x)          // conditional reads
        y = 1;      // conditional writes
    z = 1;          // conditional goes on
}

int loop(void) {
    int sum = 0;
    for (int i = 0; i < n; i++) // loop reads n
        sum += a[i]; // loop reads a
    y = sum;        // loop ends
    return sum;
}

void spin(void) {
    while (!flag);  // spin reads
    y = 1;          // spin ends
}

void indexed(void) {
    int i = x; // index reads
    a[i] = 1;       // index writes
}

void dereference(void) {
    int *p = pointer; // dereference reads
    *p = 1;         // dereference writes
}

void given(int k) {
    z = 1;          // given starts
    if (k)
        y = 1;      // given writes
    a[k] = 1;       // given index
}

void straight(void) {
    pthread_mutex_lock(&lock);   // straight locks
    x = 1;                       // straight writes
    pthread_mutex_unlock(&lock); // straight unlocks
    y = 1;                       // straight ends
}

void calls(void) {
    x = 1;          // calls starts
    opaque();
    y = 1;          // calls ends
}

void atomic(void) {
    if (atomic_load_explicit(&atom, memory_order_acquire) == 3) // atomic reads
        y = 1;      // atomic writes
}

void later(void) {
    int v = x; // later reads
    z = 1;          // later writes z
    if (v)
        y = 1;      // later writes y
}

void both(void) {
    int v = x; // both reads x
    int w = y; // both reads y
    if (v + w > 3)
        z = 1;      // both writes
}

void filled(void) {
    int v;
    fill(&v);
    z = 1;          // filled starts
    if (v)          // filled reads
        y = 1;      // filled writes
}

long filled_large(void) {
    struct large local;
    fill_large(&local);
    z = 1;          // filled large starts
    if (local.second == 5) // filled large reads
        y = 1;      // filled large writes
    return local.third;
}

void selects(void) {
    switch (x) {            // selects reads
    case 0: a[0] = 1; break;
    case 1: a[5] = 2; break;
    case 2: a[7] = 3; break;
    case 3: a[8] = 4; break; // selects three
    case 4: y = 5; break;
    case 5: z = 6; break;
    case 6: n = 7; break;
    }
    flag = 1;               // selects ends
}

void masked(void) {
    switch (x & 7) {        // masked reads
    case 0: a[0] = 1; break;
    case 1: a[5] = 2; break;
    case 2: a[7] = 3; break;
    case 3: a[8] = 4; break; // masked three
    case 4: y = 5; break;
    case 5: z = 6; break;
    case 6: n = 7; break;
    case 7: n = 8; break;
    }
    flag = 1;               // masked ends
}

void pointed(void) {
    int (*f)(void) = function; // pointed reads
    f();            // pointed calls
    y = 1;          // pointed ends
}

void returns_twice(void) {
    x = 1;          // twice starts
    if (!setjmp(buffer))
        opaque();
    y = 1;          // twice ends
}
void tries(void) {
    x = 1;          // tries starts
    while (pthread_mutex_trylock(&lock)); // tries locks
    y = 1;          // tries ends
}

void once(void) {
    x = 1;          // once starts
    if (!pthread_mutex_trylock(&lock)) // once locks
        y = 1;      // once holds
}

__attribute__((noinline)) int called(void) { return x; }
void calls_instrumented(void) {
    y = 1;          // instrumented starts
    int v = called(); // instrumented calls
    z = 1;          // instrumented goes on
    if (v)
        y = 2;      // instrumented ends
}
";

fn check(build: Build, options: &[&str]) {
    let p = Program::with_options(build, "shapes.c", C, options);
    let everything = Passed::UNKNOWN;
    let is = |from: &str, to: &str, expected: &Passed| {
        assert_eq!(&p.between(from, to), expected, "{build:?}: {from} -> {to}");
    };
    let on = |from, to, reads: &[&str]| is(from, to, &p.branch_on(reads));

    on(
        "conditional reads",
        "conditional writes",
        &["conditional reads"],
    );
    on(
        "conditional reads",
        "conditional goes on",
        &["conditional reads"],
    );
    is(
        "conditional writes",
        "conditional goes on",
        &Passed::Straight,
    );

    on("spin reads", "spin reads", &["spin reads"]);
    on("spin reads", "spin ends", &["spin reads"]);

    is("index reads", "index writes", &Passed::Straight);
    assert_eq!(
        p.address("index writes"),
        p.reads(&["index reads"]),
        "{build:?}"
    );
    assert_eq!(p.address("index reads"), Depends::Nothing, "{build:?}");
    let through = p.reads(&["dereference reads"]);
    assert_eq!(p.address("dereference writes"), through, "{build:?}");

    let before = Depends::on(Vec::new(), true);
    is(
        "given starts",
        "given writes",
        &Passed::Branched(before.clone()),
    );
    assert_eq!(p.address("given index"), before, "{build:?}");

    for [from, to] in [
        ["straight locks", "straight writes"],
        ["straight writes", "straight unlocks"],
        ["straight unlocks", "straight ends"],
    ] {
        is(from, to, &Passed::Straight);
    }
    is("straight locks", "straight unlocks", &everything);
    is("calls starts", "calls ends", &everything);
    on("atomic reads", "atomic writes", &["atomic reads"]);
    on("later writes z", "later writes y", &["later reads"]);
    on(
        "both reads y",
        "both writes",
        &["both reads x", "both reads y"],
    );

    on("selects reads", "selects three", &["selects reads"]);
    on("selects reads", "selects ends", &["selects reads"]);
    is("selects three", "selects ends", &Passed::Straight);

    on("masked reads", "masked three", &["masked reads"]);
    is("masked three", "masked ends", &Passed::Straight);

    // Which function is entered depends on the pointer; what one without hooks does, on everything.
    let pointer = p.branch_on(&["pointed reads"]);
    assert_eq!(
        p.entering("pointed reads", "pointed calls"),
        pointer,
        "{build:?}"
    );
    is("pointed reads", "pointed calls", &everything);
    is("pointed reads", "pointed ends", &everything);
    is("pointed calls", "pointed ends", &Passed::Straight);

    let entered = p.entering("instrumented starts", "instrumented calls");
    assert_eq!(entered, Passed::Straight, "{build:?}");
    is("instrumented starts", "instrumented calls", &everything);
    is(
        "instrumented calls",
        "instrumented goes on",
        &Passed::Straight,
    );
    is("instrumented goes on", "instrumented ends", &everything);
    assert_eq!(
        p.sites_in("returns_twice"),
        [],
        "{build:?}: a function that returns twice"
    );
    assert_loop(&p);
    assert_filled(&p, "filled reads", "filled writes");
    assert_filled(&p, "filled large reads", "filled large writes");
}

/// Compilers read `n` once or each time; either way it decides alone, and the sum does not.
fn assert_loop(p: &Program) {
    let (a, end) = (p.sites("loop reads a"), p.sites("loop ends"));
    let mut n = p.sites_in("loop");
    n.retain(|site| !a.contains(site) && !end.contains(site));
    let ways = p.facts.ways();
    let inside = |point: Point| match point {
        Point::After(pc) | Point::Into(pc) => n.contains(&pc) || a.contains(&pc),
        _ => false,
    };
    let mut decided = 0;
    for (from, _, passed) in ways.filter(|(from, to, _)| inside(*from) && inside(*to)) {
        if let Passed::Branched(depends) = passed {
            assert!(!depends.has_before(), "{:?}: {from:x?}", p.build);
            let on_elements = a.iter().any(|read| depends.has(*read));
            assert!(!on_elements, "{:?}: {from:x?}", p.build);
            decided += usize::from(n.iter().any(|read| depends.has(*read)));
        }
    }
    assert!(decided > 0, "{:?}: no branch in a loop", p.build);
}

/// What an opaque function wrote is not known, unless a hook announces the read of it.
fn assert_filled(p: &Program, reads: &str, writes: &str) {
    let expected = match p.sites_if_any(reads).last() {
        Some(&read) => Passed::Branched(Depends::on(vec![read], false)),
        None => Passed::UNKNOWN,
    };
    let writes = Point::After(p.sites(writes)[0]);
    let ways: Vec<_> = p.facts.ways().filter(|(_, to, _)| *to == writes).collect();
    assert!(!ways.is_empty(), "{:?}", p.build);
    for (from, _, passed) in ways {
        assert_eq!(passed, expected, "{:?}: {from:x?}", p.build);
    }
}

#[test]
fn c_shapes_at_all_levels() {
    for build in c_builds() {
        check(build, &[]);
    }
}

#[test]
fn coverage_changes_nothing() {
    for build in c_builds() {
        let coverage = match build.compiler {
            "gcc" => "-fsanitize-coverage=trace-pc",
            _ => "-fsanitize-coverage=bb,no-prune,trace-pc-guard",
        };
        check(build, &[coverage]);
    }
}

const CPP: &str = r"
int x, y, z;
void may_throw();
void attempt() {
    x = 1;             // attempt starts
    try {
        may_throw();   // attempt calls
        y = 1;         // attempt goes on
    } catch (...) {
        z = 1;         // attempt catches
    }
    x = 2;             // attempt ends
}
struct Base { virtual void act(); int state; };
void dispatch(Base *base) {
    base->act();       // dispatch calls
    y = 1;             // dispatch ends
}
";

#[test]
fn exceptions_are_branches() {
    for build in c_builds() {
        let p = Program::new(build, "throws.cpp", CPP);
        let calls = p.sites("attempt calls");
        let call = Point::After(*calls.last().unwrap());
        let catches = p.sites("attempt catches")[0];
        let caught = p.facts.between(call, Point::After(catches));
        assert_eq!(caught, Passed::UNKNOWN, "{build:?}");
        let known = p
            .facts
            .ways()
            .filter(|(_, to, _)| *to == Point::After(catches));
        assert!(known.count() > 0, "{build:?}: no way to a landing pad");
        assert_eq!(
            p.between("attempt starts", "attempt ends"),
            Passed::UNKNOWN,
            "{build:?}"
        );
    }
}

const RUST: &str = r"
#![no_std]
use core::sync::atomic::{AtomicUsize, Ordering::Acquire};
pub static mut X: usize = 0;
pub static mut Y: usize = 0;
pub static mut A: [usize; 100] = [0; 100];
pub static ATOM: AtomicUsize = AtomicUsize::new(0);

#[no_mangle]
pub unsafe extern fn conditional() {
    if (&raw const X).read() != 0 { // conditional reads
        (&raw mut Y).write(1); // conditional writes
    }
}
#[no_mangle]
pub unsafe extern fn indexed() {
    let i = (&raw const X).read(); // index reads
    (&raw mut A).cast::<usize>().add(i).write(1); // index writes
}
#[no_mangle]
pub unsafe extern fn atomic() {
    if ATOM.load(Acquire) == 3 { // atomic reads
        (&raw mut Y).write(1); // atomic writes
    }
}
#[no_mangle]
pub unsafe extern fn straight(p: *mut usize) {
    p.write(1); // straight writes p
    (&raw mut Y).write(1); // straight writes y
}
";

#[test]
fn rust_shapes_at_all_levels() {
    for build in rust_builds() {
        let p = Program::new(build, "shapes.rs", RUST);
        if build.level == 0 {
            // Without inlining the accesses are in functions of their own.
            assert!(p.facts.sites().count() > 0);
            continue;
        }
        let on = |from: &str, to: &str| {
            assert_eq!(
                p.between(from, to),
                p.branch_on(&[from]),
                "{build:?}: {from}"
            );
        };
        on("conditional reads", "conditional writes");
        on("atomic reads", "atomic writes");
        assert_eq!(
            p.address("index writes"),
            p.reads(&["index reads"]),
            "{build:?}"
        );
        let straight = p.between("straight writes p", "straight writes y");
        assert_eq!(straight, Passed::Straight, "{build:?}");
        let given = p.address("straight writes p");
        assert_eq!(given, Depends::on(Vec::new(), true), "{build:?}");
    }
}
