//! The simple mode of watching, against what it says it does: random accesses of three threads, of all sizes, with and without locks,
//! announced to a real program's runtime by its hooks, and a table that is filled in by the definition.

mod support;

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use deadheat_trace::watch::{Message, Reader};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use support::{Sandbox, succeed};

const THREADS: usize = 3;
/// In words of four bytes. Of the words that one line of code accesses, sixteen are told of.
const WORDS: usize = 12;

/// Reads steps and lets each thread do its own, one after the other; who is next stands in memory that the runtime does not look at.
const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdio.h>
#define HOOKS(kind) \
    void __tsan_##kind##1(void *), __tsan_##kind##2(void *), __tsan_##kind##4(void *), __tsan_##kind##8(void *), __tsan_##kind##16(void *); \
    void __tsan_unaligned_##kind##2(void *), __tsan_unaligned_##kind##4(void *), __tsan_unaligned_##kind##8(void *), __tsan_unaligned_##kind##16(void *); \
    static void (*const kind##s[2][5])(void *) = { \
        {__tsan_##kind##1, __tsan_##kind##2, __tsan_##kind##4, __tsan_##kind##8, __tsan_##kind##16}, \
        {__tsan_##kind##1, __tsan_unaligned_##kind##2, __tsan_unaligned_##kind##4, __tsan_unaligned_##kind##8, __tsan_unaligned_##kind##16}};
HOOKS(read)
HOOKS(write)
#define QUIET __attribute__((no_sanitize_thread))
struct step { int thread, write, shift, offset, locks; };
static struct step steps[1000];
static int count, next;
static char memory[64] __attribute__((aligned(64)));
static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
QUIET static void *work(void *arg) {
    int me = (int)(long)arg, at;
    while ((at = __atomic_load_n(&next, __ATOMIC_ACQUIRE)) < count) {
        struct step *step = &steps[at];
        if (step->thread != me)
            continue;
        for (int lock = 0; lock < 2; lock++)
            if (step->locks >> lock & 1)
                pthread_mutex_lock(&locks[lock]);
        int loose = step->offset % (1 << step->shift) != 0;
        (step->write ? writes : reads)[loose][step->shift](memory + step->offset);
        for (int lock = 0; lock < 2; lock++)
            if (step->locks >> lock & 1)
                pthread_mutex_unlock(&locks[lock]);
        __atomic_store_n(&next, at + 1, __ATOMIC_RELEASE);
    }
    return 0;
}
QUIET int main(void) {
    struct step *step = steps;
    while (scanf("%d %d %d %d %d", &step->thread, &step->write, &step->shift, &step->offset, &step->locks) == 5)
        step++;
    count = step - steps;
    printf("%lu\n", (unsigned long)memory);
    pthread_t threads[3];
    for (long thread = 0; thread < 3; thread++)
        pthread_create(&threads[thread], 0, work, (void *)thread);
    for (int thread = 0; thread < 3; thread++)
        pthread_join(threads[thread], 0);
}
"#;

#[derive(Clone, Debug)]
struct Step {
    thread: usize,
    write: bool,
    shift: u32,
    offset: usize,
    /// A bit for each lock held.
    locks: u32,
}

fn step() -> impl Strategy<Value = Step> {
    let place = (0..5u32, 0..WORDS * 4, any::<bool>()).prop_map(|(shift, at, is_aligned)| {
        let size = 1 << shift;
        let at = at.min(WORDS * 4 - size);
        (shift, if is_aligned { at / size * size } else { at })
    });
    (0..THREADS, any::<bool>(), place, 0..4u32).prop_map(
        |(thread, write, (shift, offset), locks)| Step {
            thread,
            write,
            shift,
            offset,
            locks,
        },
    )
}

/// What is known of a word, as the definition has it.
#[derive(Clone, Default)]
struct Word {
    owner: Option<usize>,
    /// Since another thread came: the threads, the locks common to all accesses, whether one of them wrote.
    shared: Option<(BTreeSet<usize>, u32, bool)>,
}

/// The words that are flagged.
fn flagged(steps: &[Step]) -> BTreeSet<usize> {
    let mut words = vec![Word::default(); WORDS];
    let mut flagged = BTreeSet::new();
    for step in steps {
        let last = step.offset + (1 << step.shift) - 1;
        for (at, word) in words
            .iter_mut()
            .enumerate()
            .take(last / 4 + 1)
            .skip(step.offset / 4)
        {
            let owner = *word.owner.get_or_insert(step.thread);
            if word.shared.is_none() && owner == step.thread {
                continue;
            }
            let (threads, locks, is_written) =
                word.shared
                    .get_or_insert((BTreeSet::new(), step.locks, false));
            threads.insert(step.thread);
            *locks &= step.locks;
            *is_written |= step.write;
            if threads.len() > 1 && *locks == 0 && *is_written {
                flagged.insert(at);
            }
        }
    }
    flagged
}

/// The words that the runtime flags.
fn flagged_by_runtime(here: &Sandbox, steps: &[Step]) -> BTreeSet<usize> {
    let lines: String = steps
        .iter()
        .map(|step| {
            let Step {
                thread,
                shift,
                offset,
                locks,
                ..
            } = step;
            format!(
                "{thread} {} {shift} {offset} {locks}\n",
                u8::from(step.write)
            )
        })
        .collect();
    here.file("steps", &lines);
    let report = here.path().join("report");
    let _ = std::fs::remove_file(&report);
    let mut command: Command = here.command("./prog");
    command
        .env("DEADHEAT_REPORT", &report)
        .env("DEADHEAT_OPTIONS", "mode=watch:detector=simple")
        .stdin(Stdio::from(
            std::fs::File::open(here.path().join("steps")).unwrap(),
        ));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let memory: u64 = String::from_utf8(output.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let mut reader = Reader::default();
    reader.feed(&std::fs::read(&report).unwrap());
    let messages = reader.by_ref().map(Result::unwrap);
    let flags = messages.filter_map(|message| match message {
        Message::Flag(flag) => Some(flag.later.address),
        _ => None,
    });
    flags
        .filter_map(|address| address.checked_sub(memory))
        .map(|offset| offset as usize / 4)
        .collect()
}

#[test]
fn it_flags_what_the_definition_flags() {
    let here = Sandbox::new();
    here.file("prog.c", PROGRAM);
    succeed(&mut here.deadheat(["cc", "-O1", "-g", "-pthread", "prog.c", "-o", "prog"]));
    let mut runner = TestRunner::new(Config {
        cases: 100,
        failure_persistence: None,
        ..Config::default()
    });
    let steps = prop::collection::vec(step(), 1..60);
    let outcome = runner.run(&steps, |steps| {
        prop_assert_eq!(flagged_by_runtime(&here, &steps), flagged(&steps));
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
