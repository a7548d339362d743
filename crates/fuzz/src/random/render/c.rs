//! C: pthreads, POSIX semaphores, C11 atomics.

use super::shared::{
    BLOCK, COMMON, choose, descriptors, is_eventfd, memory, number, order, value, var,
};
use super::style::{functions, is_c11, is_spin, limit, result};
use super::{Writer, local};
use crate::random::program::{Act, Asking, LOCALS, MutexKind, Program, Style, Var};

pub(super) struct C;

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
            "#include <string.h>",
            "#include <sys/eventfd.h>",
            "#include <sys/socket.h>",
            "#include <threads.h>",
            "#include <time.h>",
            "#include <unistd.h>",
            "static __thread int tls;",
        ]
        .into_iter()
        .chain(COMMON)
        .map(str::to_owned)
        .collect()
    }

    fn globals(&self, n: usize, program: &Program) -> Vec<String> {
        let mut out = Vec::new();
        for i in 0..program.plain {
            out.push(format!("static int v{n}_{i};"));
        }
        for (i, width) in program.atomics.iter().enumerate() {
            out.push(format!("static _Atomic {} a{n}_{i};", number(*width)));
        }
        out.extend(memory(n, program));
        for (i, kind) in program.mutexes.iter().enumerate() {
            out.push(match kind {
                _ if is_c11(program, i) => format!("static mtx_t m{n}_{i};"),
                MutexKind::Normal | MutexKind::Timed => {
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
        let c11 = program.style == Style::C11;
        for i in 0..program.conditions {
            out.push(if c11 {
                format!("static cnd_t c{n}_{i};")
            } else {
                format!("static pthread_cond_t c{n}_{i} = PTHREAD_COND_INITIALIZER;")
            });
        }
        for i in 0..program.barriers.len() {
            out.push(format!("static pthread_barrier_t b{n}_{i};"));
        }
        for i in 0..program.onces.len() {
            out.push(if c11 {
                format!("static once_flag o{n}_{i} = ONCE_FLAG_INIT;")
            } else {
                format!("static pthread_once_t o{n}_{i} = PTHREAD_ONCE_INIT;")
            });
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
            for (i, (_, first)) in program.semaphores.iter().enumerate() {
                out.push(format!("sem_init(&s{n}_{i}, 0, {first});"));
            }
            out.extend(descriptors(n, program));
            for i in 0..program.blocks {
                out.push(format!("h{n}_{i} = calloc(1, {BLOCK});"));
            }
            for (i, size) in program.barriers.iter().enumerate() {
                out.push(format!("pthread_barrier_init(&b{n}_{i}, NULL, {size});"));
            }
            for (i, kind) in program.mutexes.iter().enumerate() {
                if *kind == MutexKind::Spin {
                    out.push(format!(
                        "pthread_spin_init(&m{n}_{i}, PTHREAD_PROCESS_PRIVATE);"
                    ));
                } else if is_c11(program, i) {
                    let kind = match kind {
                        MutexKind::Recursive => "mtx_plain | mtx_recursive",
                        MutexKind::Timed => "mtx_timed",
                        _ => "mtx_plain",
                    };
                    out.push(format!("mtx_init(&m{n}_{i}, {kind});"));
                }
            }
            if program.style == Style::C11 {
                out.extend((0..program.conditions).map(|i| format!("cnd_init(&c{n}_{i});")));
            }
            out
        } else {
            let result = result(program);
            vec![format!(
                "static {result} thread{n}_{thread}(void *unused) {{"
            )]
        };
        for i in 0..LOCALS - 1 {
            out.push(format!("int l{i} = 0;"));
        }
        out.push("long sink;".to_owned());
        for i in 1..program.threads.len() {
            out.push(match program.style {
                Style::Posix => format!("pthread_t t{i};"),
                Style::C11 => format!("thrd_t t{i};"),
            });
        }
        out
    }

    fn close_thread(&self, program: &Program, thread: usize) -> Vec<String> {
        vec![
            if thread == 0 || program.style == Style::C11 {
                "return 0;"
            } else {
                "return unused;"
            }
            .to_owned(),
        ]
    }

    fn leaf(&self, n: usize, program: &Program, act: &Act) -> String {
        match act {
            Act::Read { local: l, var: v } => format!("{} = {};", local(*l), var(n, program, *v)),
            Act::Write { var: v, value: x } => format!("{} = {};", var(n, program, *v), value(*x)),
            Act::Add { var: v, by } => format!("{} += {by};", var(n, program, *v)),
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
            Act::Touch { var: v } => format!("sink = {};", var(n, program, *v)),
            Act::Copy { from, to, bytes } => {
                format!("memcpy(&u{n}_{to}, &u{n}_{from}, {bytes});")
            }
            Act::Fill { area, value, bytes } => format!("memset(&u{n}_{area}, {value}, {bytes});"),
            Act::Free { block } => format!("free(h{n}_{block});"),
            Act::Send { channel } => {
                format!("if (write(p{n}_{channel}[1], \"\", 1) != 1) abort();")
            }
            Act::Receive { channel, local: l } => {
                format!("{} = read(p{n}_{channel}[0], &(char){{0}}, 1);", local(*l))
            }
            Act::Close { channel } => format!("close(p{n}_{channel}[1]);"),
            Act::Fetch {
                local: l,
                atomic,
                how,
                by,
                order: o,
            } => {
                format!(
                    "{} = atomic_fetch_{}_explicit(&a{n}_{atomic}, {by}, {});",
                    local(*l),
                    how.name(),
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
                "{} = atomic_compare_exchange_strong_explicit(&a{n}_{atomic}, &({}){{{expected}}}, {desired}, {}, {});",
                local(*l),
                number(program.atomics.get(*atomic).copied().unwrap_or(4)),
                order(*success),
                order(*failure)
            ),
            Act::Fence { order: o } => format!("atomic_thread_fence({});", order(*o)),
            Act::Lock { mutex } if is_spin(program, *mutex) => {
                format!("pthread_spin_lock(&m{n}_{mutex});")
            }
            Act::Unlock { mutex } if is_spin(program, *mutex) => {
                format!("pthread_spin_unlock(&m{n}_{mutex});")
            }
            Act::Lock { mutex } if is_c11(program, *mutex) => format!("mtx_lock(&m{n}_{mutex});"),
            Act::Unlock { mutex } if is_c11(program, *mutex) => {
                format!("mtx_unlock(&m{n}_{mutex});")
            }
            Act::Lock { mutex } => format!("pthread_mutex_lock(&m{n}_{mutex});"),
            Act::Unlock { mutex } => format!("pthread_mutex_unlock(&m{n}_{mutex});"),
            Act::LockShared { rwlock } => format!("pthread_rwlock_rdlock(&r{n}_{rwlock});"),
            Act::LockExclusive { rwlock } => format!("pthread_rwlock_wrlock(&r{n}_{rwlock});"),
            Act::UnlockShared { rwlock } | Act::UnlockExclusive { rwlock } => {
                format!("pthread_rwlock_unlock(&r{n}_{rwlock});")
            }
            Act::Acquire { semaphore } if is_eventfd(program, *semaphore) => {
                format!("if (read(e{n}_{semaphore}, &(long){{0}}, 8) != 8) abort();")
            }
            Act::Post { semaphore } if is_eventfd(program, *semaphore) => {
                format!("if (write(e{n}_{semaphore}, &(long){{1}}, 8) != 8) abort();")
            }
            Act::Acquire { semaphore } => format!("sem_wait(&s{n}_{semaphore});"),
            Act::Post { semaphore } => format!("sem_post(&s{n}_{semaphore});"),
            Act::Wait { condition, mutex } => {
                let wait = if program.style == Style::C11 {
                    "cnd_wait"
                } else {
                    "pthread_cond_wait"
                };
                format!("{wait}(&c{n}_{condition}, &m{n}_{mutex});")
            }
            Act::TimedWait {
                condition,
                mutex,
                local: l,
            } => {
                let (name, until) = match program.style {
                    Style::C11 => ("cnd_timed", limit(0).1),
                    Style::Posix if condition.is_multiple_of(2) => {
                        ("pthread_cond_timed", limit(0).1)
                    }
                    Style::Posix => ("pthread_cond_clock", limit(1).1),
                };
                let l = local(*l);
                format!("{l} = {name}wait(&c{n}_{condition}, &m{n}_{mutex}, {until}) != 0;")
            }
            Act::Signal { condition } | Act::Broadcast { condition } => {
                let name = match (program.style, act) {
                    (Style::C11, Act::Signal { .. }) => "cnd_signal",
                    (Style::C11, _) => "cnd_broadcast",
                    (Style::Posix, Act::Signal { .. }) => "pthread_cond_signal",
                    (Style::Posix, _) => "pthread_cond_broadcast",
                };
                format!("{name}(&c{n}_{condition});")
            }
            Act::Once { once } if program.style == Style::C11 => {
                format!("call_once(&o{n}_{once}, once{n}_{once});")
            }
            Act::Create { thread } if program.style == Style::C11 => {
                format!("thrd_create(&t{thread}, thread{n}_{thread}, NULL);")
            }
            Act::Join { thread } if program.style == Style::C11 => {
                format!("thrd_join(t{thread}, NULL);")
            }
            Act::Detach { thread } if program.style == Style::C11 => {
                format!("thrd_detach(t{thread});")
            }
            Act::Yield if program.style == Style::C11 => "thrd_yield();".to_owned(),
            Act::Leave if program.style == Style::C11 => "thrd_exit(0);".to_owned(),
            Act::Sleep => "nanosleep(&(struct timespec){0, 1000}, NULL);".to_owned(),
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
            } => format!("printf(\"%d\\n\", (int)atomic_load(&a{n}_{i}));"),
            Act::Print { var: v } => format!("printf(\"%d\\n\", (int){});", var(n, program, *v)),
            Act::Yield => "sched_yield();".to_owned(),
            Act::Exit { flush: true } => "exit(0);".to_owned(),
            Act::Exit { flush: false } => "_exit(0);".to_owned(),
            Act::Leave => "pthread_exit(NULL);".to_owned(),
            _ => String::new(),
        }
    }

    fn open(&self, n: usize, program: &Program, act: &Act) -> String {
        match act {
            Act::Await { var: v, until, .. } => {
                format!("while ({} != {until}) {{", var(n, program, *v))
            }
            Act::If {
                local: l, equals, ..
            } => format!("if ({} == {equals}) {{", local(*l)),
            Act::Repeat { times, .. } => format!("for (int i = 0; i < {times}; i++) {{"),
            Act::IfLock { mutex, asking, .. } => match asking {
                Asking::Try if is_spin(program, *mutex) => {
                    format!("if (pthread_spin_trylock(&m{n}_{mutex}) == 0) {{")
                }
                Asking::Try if is_c11(program, *mutex) => {
                    format!("if (mtx_trylock(&m{n}_{mutex}) == thrd_success) {{")
                }
                Asking::Timed if is_c11(program, *mutex) => {
                    let until = limit(0).1;
                    format!("if (mtx_timedlock(&m{n}_{mutex}, {until}) == thrd_success) {{")
                }
                Asking::Try => format!("if (pthread_mutex_trylock(&m{n}_{mutex}) == 0) {{"),
                Asking::Timed => {
                    let (kind, until) = limit(*mutex);
                    format!("if (pthread_mutex_{kind}lock(&m{n}_{mutex}, {until}) == 0) {{")
                }
                Asking::Checked => format!("if (pthread_mutex_lock(&m{n}_{mutex}) == 0) {{"),
            },
            Act::IfRwlock {
                rwlock,
                exclusive,
                timed,
                ..
            } => {
                let lock = if *exclusive { "wrlock" } else { "rdlock" };
                if *timed {
                    let (kind, until) = limit(*rwlock);
                    format!("if (pthread_rwlock_{kind}{lock}(&r{n}_{rwlock}, {until}) == 0) {{")
                } else {
                    format!("if (pthread_rwlock_try{lock}(&r{n}_{rwlock}) == 0) {{")
                }
            }
            Act::IfAcquire {
                semaphore,
                timed: true,
                ..
            } => {
                let (kind, until) = limit(*semaphore);
                format!("if (sem_{kind}wait(&s{n}_{semaphore}, {until}) == 0) {{")
            }
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
