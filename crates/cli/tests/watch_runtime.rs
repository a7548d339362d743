//! The runtime as a detector, without the command around it: real programs, built by the wrapper,
//! run with `DEADHEAT_OPTIONS=mode=watch`; what they report is read back.

mod support;

use std::process::{Command, Output};

use deadheat_trace::watch::{AccessKind, Finding, Memory, Message, Reader};
use support::{Sandbox, compilers, succeed};

/// What a run left.
struct Run {
    output: Output,
    messages: Vec<Message>,
}

impl Run {
    fn races(&self) -> Vec<&Finding> {
        self.messages
            .iter()
            .filter_map(|message| match message {
                Message::Race(race) => Some(race),
                _ => None,
            })
            .collect()
    }

    fn notes(&self) -> Vec<&str> {
        self.messages
            .iter()
            .filter_map(|message| match message {
                Message::Note { text, .. } | Message::Cannot { text, .. } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    fn figure(&self, wanted: &str) -> u64 {
        self.messages
            .iter()
            .filter_map(|message| match message {
                Message::Summary { figures, .. } => figures.iter().find(|(name, _)| name == wanted),
                _ => None,
            })
            .map(|(_, value)| value)
            .sum()
    }

    #[track_caller]
    fn is_clean(&self) {
        assert!(self.output.status.success(), "{:?}", self.output);
        assert_eq!(self.races(), Vec::<&Finding>::new());
    }
}

fn read(text: &[u8]) -> Vec<Message> {
    let mut reader = Reader::default();
    reader.feed(text);
    let messages = reader.by_ref().map(Result::unwrap).collect();
    assert!(!reader.has_rest());
    messages
}

fn build(here: &Sandbox, compiler: &str, source: &str) {
    here.file("prog.c", source);
    let flags = ["cc", "--compiler", compiler, "-O0", "-g", "-pthread"];
    succeed(here.deadheat(flags).args(["prog.c", "-o", "prog"]));
}

fn watched(here: &Sandbox, program: &str, options: &str) -> Command {
    let mut command = here.command(program);
    command
        .env("DEADHEAT_REPORT", here.path().join("report"))
        .env("DEADHEAT_OPTIONS", format!("mode=watch:{options}"));
    command
}

fn finish(here: &Sandbox, mut command: Command) -> Run {
    let output = command.output().unwrap();
    let report = std::fs::read(here.path().join("report")).unwrap();
    Run {
        output,
        messages: read(&report),
    }
}

/// Builds and watches a program with each compiler.
fn each(source: &str, options: &str, check: impl Fn(Run)) {
    for compiler in compilers() {
        let here = Sandbox::new();
        build(&here, compiler, source);
        check(finish(&here, watched(&here, "./prog", options)));
    }
}

const HEAD: &str = "
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
/* A barrier that the detector does not see. */
void __tsan_testonly_barrier_init(unsigned long *barrier, unsigned count);
void __tsan_testonly_barrier_wait(unsigned long *barrier);
";

#[test]
fn a_race_has_both_stacks_the_locks_and_the_block() {
    let source = format!(
        "{HEAD}
        int *shared;
        pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        unsigned long met[2];
        void bump(int *at) {{ *at = 1; }}
        void *first(void *arg) {{
            pthread_mutex_lock(&lock);
            bump(shared + 2);
            pthread_mutex_unlock(&lock);
            __tsan_testonly_barrier_wait(met);
            return arg;
        }}
        void *second(void *arg) {{
            __tsan_testonly_barrier_wait(met);
            bump(shared + 2);
            return arg;
        }}
        int main(void) {{
            __tsan_testonly_barrier_init(met, 2);
            shared = malloc(40);
            pthread_t one, two;
            pthread_create(&one, 0, first, 0);
            pthread_create(&two, 0, second, 0);
            pthread_join(one, 0);
            pthread_join(two, 0);
            free(shared);
            return 7;
        }}"
    );
    each(&source, "", |run| {
        assert_eq!(run.output.status.code(), Some(7), "the program's own");
        let races = run.races();
        let [race] = &races[..] else {
            panic!("{races:#?}");
        };
        let earlier = race.earlier.as_ref().unwrap();
        let mut locks = Vec::new();
        for access in [earlier, &race.later] {
            assert_eq!((access.kind, access.bytes), (AccessKind::Write, 4));
            assert!(access.stack.0.len() >= 2, "{access:#?}");
            locks.push(access.locks.as_ref().unwrap().len());
        }
        locks.sort();
        assert_eq!(locks, [0, 1]);
        let mut threads = [earlier.thread, race.later.thread];
        threads.sort();
        assert_eq!(threads, [1, 2]);
        let Memory::Heap {
            start,
            bytes,
            thread,
            allocated,
        } = &race.memory
        else {
            panic!("{:?}", race.memory);
        };
        assert_eq!((*bytes, *thread), (40, 0));
        assert_eq!(race.later.address - start, 8);
        assert!(!allocated.0.is_empty());
        assert!(run.figure("accesses") > 0);
    });
}

#[test]
fn a_thread_that_finds_a_race_waits_for_an_answer() {
    let source = format!(
        "{HEAD}
        int shared;
        unsigned long met[2];
        void *first(void *arg) {{
            shared = 1;
            __tsan_testonly_barrier_wait(met);
            return arg;
        }}
        void *second(void *arg) {{
            __tsan_testonly_barrier_wait(met);
            shared = 1;
            return arg;
        }}
        int main(void) {{
            pthread_t one, two;
            __tsan_testonly_barrier_init(met, 2);
            pthread_create(&one, 0, first, 0);
            pthread_create(&two, 0, second, 0);
            pthread_join(one, 0);
            pthread_join(two, 0);
            puts(\"done\");
        }}"
    );
    let here = Sandbox::new();
    build(&here, compilers()[0], &source);
    let options = format!("on_race=wait:tool={}", std::process::id());
    let mut child = watched(&here, "./prog", &options).spawn().unwrap();
    let report = here.path().join("report");
    let offset = loop {
        let text = std::fs::read(&report).unwrap_or_default();
        let mut reader = Reader::default();
        reader.feed(&text);
        let wait = reader.by_ref().find_map(|message| match message.unwrap() {
            Message::Race(race) => race.wait,
            _ => None,
        });
        if let Some(offset) = wait {
            break offset;
        }
        assert_eq!(child.try_wait().unwrap(), None, "it waits");
        std::thread::yield_now();
    };
    assert_eq!(child.try_wait().unwrap(), None, "it waits");
    let answers = std::fs::OpenOptions::new()
        .write(true)
        .open(here.path().join("report.answers"))
        .unwrap();
    std::os::unix::fs::FileExt::write_all_at(&answers, &[1], offset).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn fences_locks_and_semaphores_in_handlers_order() {
    let source = format!(
        "{HEAD}
        #include <stdatomic.h>
        int message, posted;
        atomic_int ready;
        sem_t done;
        void on_signal(int number) {{ (void)number; sem_post(&done); }}
        void *publish(void *arg) {{
            message = 42;
            atomic_thread_fence(memory_order_release);
            atomic_store_explicit(&ready, 1, memory_order_relaxed);
            posted = 1;
            raise(SIGUSR1);
            return arg;
        }}
        int main(void) {{
            sem_init(&done, 0, 0);
            signal(SIGUSR1, on_signal);
            pthread_t thread;
            pthread_create(&thread, 0, publish, 0);
            while (!atomic_load_explicit(&ready, memory_order_relaxed)) ;
            atomic_thread_fence(memory_order_acquire);
            int seen = message;
            while (sem_wait(&done)) ;
            seen += posted;
            pthread_join(thread, 0);
            return seen != 43;
        }}"
    );
    each(&source, "", |run| run.is_clean());
}

#[test]
fn a_relaxed_flag_orders_nothing() {
    let source = format!(
        "{HEAD}
        #include <stdatomic.h>
        int message;
        atomic_int ready;
        void *publish(void *arg) {{
            message = 42;
            atomic_store_explicit(&ready, 1, memory_order_relaxed);
            return arg;
        }}
        int main(void) {{
            pthread_t thread;
            pthread_create(&thread, 0, publish, 0);
            while (!atomic_load_explicit(&ready, memory_order_relaxed)) ;
            int seen = message;
            pthread_join(thread, 0);
            return seen != 42;
        }}"
    );
    each(&source, "", |run| assert_eq!(run.races().len(), 1));
}

#[test]
fn whoever_drops_the_last_reference_frees() {
    // A thread that is interrupted within its atomic access must not look late for it.
    let source = format!(
        "{HEAD}
        #include <sched.h>
        #include <stdatomic.h>
        #include <sys/time.h>
        enum {{ OBJECTS = 200000, THREADS = 4 }};
        struct object {{ atomic_int references; int payload; }};
        static struct object *objects[OBJECTS];
        static void give_way(int number) {{ (void)number; sched_yield(); }}
        static void *drop_all(void *arg) {{
            for (int i = 0; i < OBJECTS; i++) {{
                atomic_int *references = &objects[i]->references;
                if (atomic_fetch_sub_explicit(references, 1, memory_order_acq_rel) == 1)
                    free(objects[i]);
            }}
            return arg;
        }}
        int main(void) {{
            for (int i = 0; i < OBJECTS; i++) {{
                objects[i] = malloc(sizeof *objects[i]);
                atomic_init(&objects[i]->references, THREADS);
                objects[i]->payload = i;
            }}
            struct sigaction action = {{.sa_handler = give_way, .sa_flags = SA_RESTART}};
            sigaction(SIGALRM, &action, 0);
            struct itimerval often = {{{{0, 50}}, {{0, 50}}}};
            setitimer(ITIMER_REAL, &often, 0);
            pthread_t threads[THREADS];
            for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, drop_all, 0);
            /* The signals are for the others. */
            sigset_t alarm;
            sigemptyset(&alarm);
            sigaddset(&alarm, SIGALRM);
            pthread_sigmask(SIG_BLOCK, &alarm, 0);
            for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
        }}"
    );
    each(&source, "", |run| run.is_clean());
}

#[test]
fn a_stack_that_is_used_again_is_another_thread_s() {
    let source = format!(
        "{HEAD}
        unsigned long met[2];
        void *volatile escape;
        void *work(void *arg) {{
            int local[64];
            escape = local;
            for (int i = 0; i < 64; i++) local[i] = i;
            __tsan_testonly_barrier_wait(met);
            return arg;
        }}
        int main(void) {{
            pthread_attr_t detached;
            pthread_attr_init(&detached);
            pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
            for (int i = 0; i < 300; i++) {{
                __tsan_testonly_barrier_init(met, 2);
                pthread_t thread;
                pthread_create(&thread, &detached, work, 0);
                __tsan_testonly_barrier_wait(met);
            }}
        }}"
    );
    each(&source, "", |run| {
        let races = run.races();
        // `escape` itself is written by all of them.
        let on_stack = |race: &&&Finding| matches!(race.memory, Memory::Stack { .. });
        assert_eq!(races.iter().filter(on_stack).count(), 0, "{races:#?}");
        assert!(!races.is_empty());
    });
}

#[test]
fn more_threads_than_slots_are_said_and_invent_nothing() {
    let source = format!(
        "{HEAD}
        enum {{ COUNT = 1100 }};
        long sum;
        pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        pthread_barrier_t all;
        void *work(void *arg) {{
            pthread_barrier_wait(&all);
            pthread_mutex_lock(&lock);
            sum += (long)arg;
            pthread_mutex_unlock(&lock);
            return 0;
        }}
        int main(void) {{
            static pthread_t threads[COUNT];
            pthread_attr_t small;
            pthread_attr_init(&small);
            pthread_attr_setstacksize(&small, 64 * 1024);
            pthread_barrier_init(&all, 0, COUNT);
            for (long i = 0; i < COUNT; i++)
                if (pthread_create(&threads[i], &small, work, (void *)1)) return 2;
            for (int i = 0; i < COUNT; i++) pthread_join(threads[i], 0);
            return sum != COUNT;
        }}"
    );
    let here = Sandbox::new();
    build(&here, compilers()[0], &source);
    let run = finish(&here, watched(&here, "./prog", ""));
    run.is_clean();
    let notes = run.notes();
    assert!(notes.iter().any(|note| note.contains("1023")), "{notes:?}");
}

#[test]
fn a_forked_process_reports_for_itself() {
    let source = format!(
        "{HEAD}
        int shared;
        unsigned long met[2];
        void *first(void *arg) {{
            shared = 1;
            __tsan_testonly_barrier_wait(met);
            return arg;
        }}
        void *second(void *arg) {{
            __tsan_testonly_barrier_wait(met);
            shared = 1;
            return arg;
        }}
        void race(void) {{
            pthread_t one, two;
            __tsan_testonly_barrier_init(met, 2);
            pthread_create(&one, 0, first, 0);
            pthread_create(&two, 0, second, 0);
            pthread_join(one, 0);
            pthread_join(two, 0);
        }}
        int main(void) {{
            race();
            int status;
            if (fork() == 0) {{ shared = 2; race(); return 0; }}
            wait(&status);
            return status;
        }}"
    );
    each(&source, "", |run| {
        assert!(run.output.status.success(), "{:?}", run.output);
        let mut processes: Vec<u32> = run.races().iter().map(|race| race.pid).collect();
        processes.dedup();
        assert_eq!(processes.len(), 2, "{:#?}", run.races());
        let begun = |message: &&Message| matches!(message, Message::Begin { .. });
        assert_eq!(run.messages.iter().filter(begun).count(), 2);
    });
}

#[test]
fn memory_is_limited_by_forgetting() {
    let source = format!(
        "{HEAD}
        int main(void) {{
            size_t bytes = 40 << 20;
            for (int i = 0; i < 3; i++) {{
                char *block = malloc(bytes);
                memset(block, i, bytes);
                free(block);
            }}
        }}"
    );
    each(&source, "memory=64", |run| {
        run.is_clean();
        assert!(run.figure("shadow-dropped") > 0);
        assert_eq!(run.notes().len(), 1, "{:?}", run.notes());
    });
}

#[test]
fn without_addresses_the_program_is_not_run() {
    let source = format!("{HEAD} int main(void) {{ puts(\"ran\"); }}");
    let here = Sandbox::new();
    build(&here, compilers()[0], &source);
    here.script("limited", "#!/bin/sh\nulimit -v 2000000\nexec ./prog\n");
    let run = finish(&here, watched(&here, "./limited", ""));
    assert_eq!(run.output.status.code(), Some(78));
    assert_eq!(run.output.stdout, b"");
    let notes = run.notes();
    assert!(notes[0].contains("ulimit -v"), "{notes:?}");
}

/// One variable with a lock, one without.
const BARE: &str = "
int bare, guarded;
unsigned long met[2];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *work(void *arg) {
    __tsan_testonly_barrier_wait(met);
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        guarded++;
        pthread_mutex_unlock(&lock);
        bare++;
        __tsan_testonly_barrier_wait(met);
    }
    return arg;
}
int main(void) {
    __tsan_testonly_barrier_init(met, 2);
    pthread_t one, two;
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
}";

#[test]
fn the_simple_mode_flags_what_no_lock_protects() {
    let source = format!("{HEAD}{BARE}");
    each(&source, "detector=simple", |run| {
        run.is_clean();
        let flags: Vec<&Finding> = run
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::Flag(flag) => Some(flag),
                _ => None,
            })
            .collect();
        assert_eq!(flags.len(), 1, "{flags:#?}");
        assert!(flags[0].place.is_some());
        assert_eq!(flags[0].memory, Memory::Global);
    });
}

/// One access with the lock, one without, and in this run the lock happens to order them.
const HIDDEN: &str = "
unsigned long met[2];
int hidden, queued, ready;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, queue = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
void *work(void *arg) {
    pthread_mutex_lock(&lock);
    hidden = 1;
    pthread_mutex_unlock(&lock);
    __tsan_testonly_barrier_wait(met);
    queued = 1;
    pthread_mutex_lock(&queue);
    ready = 1;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&queue);
    return arg;
}
int main(void) {
    __tsan_testonly_barrier_init(met, 2);
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    __tsan_testonly_barrier_wait(met);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    hidden = 2;
    pthread_mutex_lock(&queue);
    while (!ready)
        pthread_cond_wait(&filled, &queue);
    pthread_mutex_unlock(&queue);
    queued = 2;
    hidden = 3;
    pthread_join(thread, 0);
}";

#[test]
fn the_detailed_mode_finds_what_a_lock_hides_and_knows_channels() {
    let source = format!("{HEAD}{HIDDEN}");
    each(&source, "", |run| run.is_clean());
    each(&source, "detector=detailed", |run| {
        let races = run.races();
        let [race] = &races[..] else {
            panic!("{races:#?}");
        };
        let earlier = race.earlier.as_ref().unwrap();
        assert_eq!(earlier.locks.as_ref().unwrap().len(), 1);
        assert_eq!(race.later.locks.as_ref().unwrap().len(), 0);
    });
    // Locks alone: the order that the channel makes is not seen.
    each(&source, "detector=detailed:no_hb=1", |run| {
        assert_eq!(run.races().len(), 2, "{:#?}", run.races());
    });
}

#[test]
fn the_detailed_mode_looks_at_selected_places() {
    let source = format!("{HEAD}{BARE}");
    let here = Sandbox::new();
    build(&here, compilers()[0], &source);
    let simple = finish(&here, watched(&here, "./prog", "detector=simple"));
    let mut places = String::new();
    for message in &simple.messages {
        if let Message::Flag(flag) = message {
            flag.place.unwrap().write(&mut places).unwrap();
            places.push('\n');
        }
    }
    assert!(places.contains("global 0 "), "{places:?}");
    for (selected, found) in [(places.as_str(), true), ("heap 0 10 0\n", false)] {
        std::fs::remove_file(here.path().join("report")).unwrap();
        here.file("places", selected);
        let mut command = watched(&here, "./prog", "detector=detailed");
        command.env("DEADHEAT_SELECT", here.path().join("places"));
        let run = finish(&here, command);
        assert_eq!(!run.races().is_empty(), found, "{selected:?}");
    }
}
