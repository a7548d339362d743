//! C: pthreads, POSIX semaphores, C11 atomics.

use super::{Writer, local};
use crate::random::program::{Act, Asking, LOCALS, MutexKind, Order, Program, Value, Var};

pub(super) struct C;

/// The name of an order in C and C++.
pub(super) fn order(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "memory_order_relaxed",
        Order::Acquire => "memory_order_acquire",
        Order::Release => "memory_order_release",
        Order::AcqRel => "memory_order_acq_rel",
        Order::SeqCst => "memory_order_seq_cst",
    }
}

pub(super) fn value(value: Value) -> String {
    match value {
        Value::Const(number) => number.to_string(),
        Value::Local(from, 0) => local(from),
        Value::Local(from, more) => format!("{} + {more}", local(from)),
    }
}

fn var(n: usize, var: Var) -> String {
    match var {
        Var::Plain(i) => format!("v{n}_{i}"),
        Var::Atomic(i) => format!("*(int *)&a{n}_{i}"),
    }
}

/// The declarations of a program's functions and of a thread's variables, in C and C++.
pub(super) fn functions(n: usize, program: &Program) -> Vec<String> {
    let mut out = Vec::new();
    for thread in 1..program.threads.len() {
        out.push(format!("static void *thread{n}_{thread}(void *unused);"));
    }
    out
}

/// The function of the file that chooses a program, in C and C++.
pub(super) fn choose(many: usize) -> Vec<String> {
    let mut out = vec![
        String::new(),
        "int main(int argc, char **argv) {".to_owned(),
        "    switch (argc > 1 ? atoi(argv[1]) : 0) {".to_owned(),
    ];
    for n in 0..many {
        out.push(format!("    case {n}: return main{n}();"));
    }
    out.extend(["    default: return 2;", "    }", "}"].map(str::to_owned));
    out
}

impl C {
    fn is_spin(program: &Program, mutex: usize) -> bool {
        program.mutexes.get(mutex) == Some(&MutexKind::Spin)
    }
}

impl Writer for C {
    fn prelude(&self) -> Vec<String> {
        [
            "#define _GNU_SOURCE",
            "#include <pthread.h>",
            "#include <sched.h>",
            "#include <semaphore.h>",
            "#include <stdatomic.h>",
            "#include <stdio.h>",
            "#include <stdlib.h>",
            "#include <time.h>",
            "#include <unistd.h>",
            "static __thread int tls;",
            "static struct timespec *soon(struct timespec *at) {",
            "    clock_gettime(CLOCK_REALTIME, at);",
            "    at->tv_nsec += 2000000;",
            "    at->tv_sec += at->tv_nsec / 1000000000;",
            "    at->tv_nsec %= 1000000000;",
            "    return at;",
            "}",
        ]
        .map(str::to_owned)
        .to_vec()
    }

    fn globals(&self, n: usize, program: &Program) -> Vec<String> {
        let mut out = Vec::new();
        for i in 0..program.plain {
            out.push(format!("static int v{n}_{i};"));
        }
        for i in 0..program.atomics {
            out.push(format!("static atomic_int a{n}_{i};"));
        }
        for (i, kind) in program.mutexes.iter().enumerate() {
            out.push(match kind {
                MutexKind::Normal => {
                    format!("static pthread_mutex_t m{n}_{i} = PTHREAD_MUTEX_INITIALIZER;")
                }
                MutexKind::Recursive => format!(
                    "static pthread_mutex_t m{n}_{i} = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;"
                ),
                MutexKind::Checked => format!(
                    "static pthread_mutex_t m{n}_{i} = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;"
                ),
                MutexKind::Spin => format!("static pthread_spinlock_t m{n}_{i};"),
            });
        }
        for i in 0..program.rwlocks {
            out.push(format!(
                "static pthread_rwlock_t r{n}_{i} = PTHREAD_RWLOCK_INITIALIZER;"
            ));
        }
        for i in 0..program.semaphores.len() {
            out.push(format!("static sem_t s{n}_{i};"));
        }
        for i in 0..program.conditions {
            out.push(format!(
                "static pthread_cond_t c{n}_{i} = PTHREAD_COND_INITIALIZER;"
            ));
        }
        for i in 0..program.barriers.len() {
            out.push(format!("static pthread_barrier_t b{n}_{i};"));
        }
        for i in 0..program.onces.len() {
            out.push(format!(
                "static pthread_once_t o{n}_{i} = PTHREAD_ONCE_INIT;"
            ));
        }
        out.extend(functions(n, program));
        out
    }

    fn open_once(&self, n: usize, once: usize) -> String {
        format!("static void once{n}_{once}(void) {{")
    }

    fn open_thread(&self, n: usize, program: &Program, thread: usize) -> Vec<String> {
        let mut out = if thread == 0 {
            let mut out = vec![format!("static int main{n}(void) {{")];
            for (i, first) in program.semaphores.iter().enumerate() {
                out.push(format!("sem_init(&s{n}_{i}, 0, {first});"));
            }
            for (i, size) in program.barriers.iter().enumerate() {
                out.push(format!("pthread_barrier_init(&b{n}_{i}, NULL, {size});"));
            }
            for (i, kind) in program.mutexes.iter().enumerate() {
                if *kind == MutexKind::Spin {
                    out.push(format!(
                        "pthread_spin_init(&m{n}_{i}, PTHREAD_PROCESS_PRIVATE);"
                    ));
                }
            }
            out
        } else {
            vec![format!("static void *thread{n}_{thread}(void *unused) {{")]
        };
        for i in 0..LOCALS - 1 {
            out.push(format!("int l{i} = 0;"));
        }
        for i in 1..program.threads.len() {
            out.push(format!("pthread_t t{i};"));
        }
        out
    }

    fn close_thread(&self, _: &Program, thread: usize) -> Vec<String> {
        vec![
            if thread == 0 {
                "return 0;"
            } else {
                "return unused;"
            }
            .to_owned(),
        ]
    }

    fn leaf(&self, n: usize, program: &Program, act: &Act) -> String {
        match act {
            Act::Read { local: l, var: v } => format!("{} = {};", local(*l), var(n, *v)),
            Act::Write { var: v, value: x } => format!("{} = {};", var(n, *v), value(*x)),
            Act::Add { var: v, by } => format!("{} += {by};", var(n, *v)),
            Act::Load {
                local: l,
                atomic,
                order: o,
            } => format!(
                "{} = atomic_load_explicit(&a{n}_{atomic}, {});",
                local(*l),
                order(*o)
            ),
            Act::Store {
                atomic,
                value: x,
                order: o,
            } => format!(
                "atomic_store_explicit(&a{n}_{atomic}, {}, {});",
                value(*x),
                order(*o)
            ),
            Act::FetchAdd {
                local: l,
                atomic,
                by,
                order: o,
            } => {
                format!(
                    "{} = atomic_fetch_add_explicit(&a{n}_{atomic}, {by}, {});",
                    local(*l),
                    order(*o)
                )
            }
            Act::Exchange {
                local: l,
                atomic,
                value: x,
                order: o,
            } => {
                format!(
                    "{} = atomic_exchange_explicit(&a{n}_{atomic}, {}, {});",
                    local(*l),
                    value(*x),
                    order(*o)
                )
            }
            Act::Cas {
                local: l,
                atomic,
                expected,
                desired,
                success,
                failure,
            } => format!(
                "{} = atomic_compare_exchange_strong_explicit(&a{n}_{atomic}, &(int){{{expected}}}, {desired}, {}, {});",
                local(*l),
                order(*success),
                order(*failure)
            ),
            Act::Fence { order: o } => format!("atomic_thread_fence({});", order(*o)),
            Act::Lock { mutex } if C::is_spin(program, *mutex) => {
                format!("pthread_spin_lock(&m{n}_{mutex});")
            }
            Act::Unlock { mutex } if C::is_spin(program, *mutex) => {
                format!("pthread_spin_unlock(&m{n}_{mutex});")
            }
            Act::Lock { mutex } => format!("pthread_mutex_lock(&m{n}_{mutex});"),
            Act::Unlock { mutex } => format!("pthread_mutex_unlock(&m{n}_{mutex});"),
            Act::LockShared { rwlock } => format!("pthread_rwlock_rdlock(&r{n}_{rwlock});"),
            Act::LockExclusive { rwlock } => format!("pthread_rwlock_wrlock(&r{n}_{rwlock});"),
            Act::UnlockShared { rwlock } | Act::UnlockExclusive { rwlock } => {
                format!("pthread_rwlock_unlock(&r{n}_{rwlock});")
            }
            Act::Acquire { semaphore } => format!("sem_wait(&s{n}_{semaphore});"),
            Act::Post { semaphore } => format!("sem_post(&s{n}_{semaphore});"),
            Act::Wait { condition, mutex } => {
                format!("pthread_cond_wait(&c{n}_{condition}, &m{n}_{mutex});")
            }
            Act::TimedWait {
                condition,
                mutex,
                local: l,
            } => format!(
                "{} = pthread_cond_timedwait(&c{n}_{condition}, &m{n}_{mutex}, soon(&(struct timespec){{0}})) != 0;",
                local(*l)
            ),
            Act::Signal { condition } => format!("pthread_cond_signal(&c{n}_{condition});"),
            Act::Broadcast { condition } => format!("pthread_cond_broadcast(&c{n}_{condition});"),
            Act::Barrier { barrier } => format!("pthread_barrier_wait(&b{n}_{barrier});"),
            Act::Once { once } => format!("pthread_once(&o{n}_{once}, once{n}_{once});"),
            Act::Check { local: l, equals } => format!("if ({} != {equals}) abort();", local(*l)),
            Act::Create { thread } => {
                format!("pthread_create(&t{thread}, NULL, thread{n}_{thread}, NULL);")
            }
            Act::Join { thread } => format!("pthread_join(t{thread}, NULL);"),
            Act::Detach { thread } => format!("pthread_detach(t{thread});"),
            Act::Print {
                var: Var::Atomic(i),
            } => format!("printf(\"%d\\n\", atomic_load(&a{n}_{i}));"),
            Act::Print { var: v } => format!("printf(\"%d\\n\", {});", var(n, *v)),
            Act::Yield => "sched_yield();".to_owned(),
            Act::Exit { flush: true } => "exit(0);".to_owned(),
            Act::Exit { flush: false } => "_exit(0);".to_owned(),
            Act::Leave => "pthread_exit(NULL);".to_owned(),
            _ => String::new(),
        }
    }

    fn open(&self, n: usize, program: &Program, act: &Act) -> String {
        match act {
            Act::Await { var: v, until, .. } => format!("while ({} != {until}) {{", var(n, *v)),
            Act::If {
                local: l, equals, ..
            } => format!("if ({} == {equals}) {{", local(*l)),
            Act::Repeat { times, .. } => format!("for (int i = 0; i < {times}; i++) {{"),
            Act::IfLock { mutex, asking, .. } => match asking {
                Asking::Try if C::is_spin(program, *mutex) => {
                    format!("if (pthread_spin_trylock(&m{n}_{mutex}) == 0) {{")
                }
                Asking::Try => format!("if (pthread_mutex_trylock(&m{n}_{mutex}) == 0) {{"),
                Asking::Timed => format!(
                    "if (pthread_mutex_timedlock(&m{n}_{mutex}, soon(&(struct timespec){{0}})) == 0) {{"
                ),
                Asking::Checked => format!("if (pthread_mutex_lock(&m{n}_{mutex}) == 0) {{"),
            },
            Act::IfRwlock {
                rwlock,
                exclusive: true,
                ..
            } => format!("if (pthread_rwlock_trywrlock(&r{n}_{rwlock}) == 0) {{"),
            Act::IfRwlock { rwlock, .. } => {
                format!("if (pthread_rwlock_tryrdlock(&r{n}_{rwlock}) == 0) {{")
            }
            Act::IfAcquire {
                semaphore,
                timed: true,
                ..
            } => format!(
                "if (sem_timedwait(&s{n}_{semaphore}, soon(&(struct timespec){{0}})) == 0) {{"
            ),
            Act::IfAcquire { semaphore, .. } => {
                format!("if (sem_trywait(&s{n}_{semaphore}) == 0) {{")
            }
            _ => "{".to_owned(),
        }
    }

    fn main(&self, many: usize) -> Vec<String> {
        choose(many)
    }
}
