//! C++20: the standard library's threads, locks, conditions, semaphores and barriers. Objects are never
//! destroyed: threads may outlive main.

use super::c::C;
use super::shared::{
    BLOCK, COMMON, choose, descriptors, is_eventfd, memory, number, order, value, var,
};
use super::{Writer, local};
use crate::random::program::{Act, Asking, LOCALS, MutexKind, Program, Var};

pub(super) struct Cpp;

fn mutex_type(kind: MutexKind) -> &'static str {
    match kind {
        MutexKind::Recursive => "std::recursive_mutex",
        MutexKind::Timed => "std::timed_mutex",
        _ => "std::mutex",
    }
}

/// The class of a read-write lock: one that can be asked for with a time limit, if it is.
fn rwlock_type(program: &Program, rwlock: usize) -> &'static str {
    let mut timed = false;
    program.visit(&mut |node| {
        timed |= matches!(node.act, Act::IfRwlock { rwlock: r, timed: true, .. } if r == rwlock);
    });
    if timed {
        "std::shared_timed_mutex"
    } else {
        "std::shared_mutex"
    }
}

/// How long who has a time limit waits.
const SOON: &str = "std::chrono::milliseconds(2)";

impl Writer for Cpp {
    fn prelude(&self) -> Vec<String> {
        [
            // That of atomics may sleep for ever in libstdc++ 12 (its bug 104928), which `explore` shows.
            "#define _GLIBCXX_USE_POSIX_SEMAPHORE 1",
            "#include <atomic>",
            "#include <barrier>",
            "#include <chrono>",
            "#include <condition_variable>",
            "#include <cstdio>",
            "#include <cstdlib>",
            "#include <cstring>",
            "#include <mutex>",
            "#include <semaphore>",
            "#include <shared_mutex>",
            "#include <sys/eventfd.h>",
            "#include <sys/socket.h>",
            "#include <thread>",
            "#include <unistd.h>",
            "using namespace std;",
            "static thread_local int tls;",
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
            out.push(format!("static std::atomic<{}> a{n}_{i};", number(*width)));
        }
        out.extend(memory(n, program));
        for (i, kind) in program.mutexes.iter().enumerate() {
            out.push(format!("static {} *m{n}_{i};", mutex_type(*kind)));
        }
        for i in 0..program.rwlocks {
            out.push(format!("static {} *r{n}_{i};", rwlock_type(program, i)));
        }
        for i in 0..program.semaphores.len() {
            out.push(format!("static std::counting_semaphore<> *s{n}_{i};"));
        }
        for i in 0..program.conditions {
            out.push(format!("static std::condition_variable *c{n}_{i};"));
        }
        for i in 0..program.barriers.len() {
            out.push(format!("static std::barrier<> *b{n}_{i};"));
        }
        for i in 0..program.onces.len() {
            out.push(format!("static std::once_flag *o{n}_{i};"));
        }
        for thread in 1..program.threads.len() {
            out.push(format!("static void thread{n}_{thread}();"));
        }
        out
    }

    fn open_once(&self, n: usize, once: usize) -> String {
        format!("static void once{n}_{once}() {{")
    }

    fn open_thread(&self, n: usize, program: &Program, thread: usize) -> Vec<String> {
        let mut out = Vec::new();
        if thread == 0 {
            out.push(format!("static int main{n}() {{"));
            for (i, kind) in program.mutexes.iter().enumerate() {
                out.push(format!("m{n}_{i} = new {};", mutex_type(*kind)));
            }
            for i in 0..program.rwlocks {
                out.push(format!("r{n}_{i} = new {};", rwlock_type(program, i)));
            }
            out.extend(descriptors(n, program));
            for i in 0..program.blocks {
                out.push(format!("h{n}_{i} = new char[{BLOCK}]();"));
            }
            for (i, (_, first)) in program.semaphores.iter().enumerate() {
                out.push(format!(
                    "s{n}_{i} = new std::counting_semaphore<>({first});"
                ));
            }
            for i in 0..program.conditions {
                out.push(format!("c{n}_{i} = new std::condition_variable;"));
            }
            for (i, size) in program.barriers.iter().enumerate() {
                out.push(format!("b{n}_{i} = new std::barrier<>({size});"));
            }
            for i in 0..program.onces.len() {
                out.push(format!("o{n}_{i} = new std::once_flag;"));
            }
        } else {
            out.push(format!("static void thread{n}_{thread}() {{"));
        }
        for i in 0..LOCALS - 1 {
            out.push(format!("int l{i} = 0;"));
        }
        out.push("long sink;".to_owned());
        out
    }

    fn close_thread(&self, _: &Program, thread: usize) -> Vec<String> {
        if thread == 0 {
            vec!["return 0;".to_owned()]
        } else {
            Vec::new()
        }
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
            } => format!("{} = a{n}_{atomic}.load({});", local(*l), order(*o)),
            Act::Store {
                atomic,
                value: x,
                order: o,
            } => format!("a{n}_{atomic}.store({}, {});", value(*x), order(*o)),
            Act::Fetch {
                local: l,
                atomic,
                how,
                by,
                order: o,
            } => format!(
                "{} = a{n}_{atomic}.fetch_{}({by}, {});",
                local(*l),
                how.name(),
                order(*o)
            ),
            Act::Free { block } => format!("delete[] h{n}_{block};"),
            Act::Receive { channel, local: l } => {
                format!(
                    "{{ char c; {} = read(p{n}_{channel}[0], &c, 1); }}",
                    local(*l)
                )
            }
            Act::Exchange {
                local: l,
                atomic,
                value: x,
                order: o,
            } => {
                format!(
                    "{} = a{n}_{atomic}.exchange({}, {});",
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
                "{{ {} e = {expected}; {} = a{n}_{atomic}.compare_exchange_strong(e, {desired}, {}, {}); }}",
                number(program.atomics.get(*atomic).copied().unwrap_or(4)),
                local(*l),
                order(*success),
                order(*failure)
            ),
            Act::Fence { order: o } => format!("std::atomic_thread_fence({});", order(*o)),
            Act::Lock { mutex } => format!("m{n}_{mutex}->lock();"),
            Act::Unlock { mutex } => format!("m{n}_{mutex}->unlock();"),
            Act::LockShared { rwlock } => format!("r{n}_{rwlock}->lock_shared();"),
            Act::LockExclusive { rwlock } => format!("r{n}_{rwlock}->lock();"),
            Act::UnlockShared { rwlock } => format!("r{n}_{rwlock}->unlock_shared();"),
            Act::UnlockExclusive { rwlock } => format!("r{n}_{rwlock}->unlock();"),
            Act::Acquire { semaphore } if is_eventfd(program, *semaphore) => {
                format!("{{ long one; if (read(e{n}_{semaphore}, &one, 8) != 8) abort(); }}")
            }
            Act::Post { semaphore } if is_eventfd(program, *semaphore) => {
                format!("{{ long one = 1; if (write(e{n}_{semaphore}, &one, 8) != 8) abort(); }}")
            }
            Act::Acquire { semaphore } => format!("s{n}_{semaphore}->acquire();"),
            Act::Post { semaphore } => format!("s{n}_{semaphore}->release();"),
            Act::Wait { condition, mutex } => {
                format!(
                    "{{ std::unique_lock<std::mutex> u(*m{n}_{mutex}, std::adopt_lock); c{n}_{condition}->wait(u); u.release(); }}"
                )
            }
            Act::TimedWait {
                condition,
                mutex,
                local: l,
            } => format!(
                "{{ std::unique_lock<std::mutex> u(*m{n}_{mutex}, std::adopt_lock); {} = c{n}_{condition}->wait_for(u, {SOON}) == std::cv_status::timeout; u.release(); }}",
                local(*l)
            ),
            Act::Signal { condition } => format!("c{n}_{condition}->notify_one();"),
            Act::Broadcast { condition } => format!("c{n}_{condition}->notify_all();"),
            Act::Barrier { barrier } => format!("b{n}_{barrier}->arrive_and_wait();"),
            Act::Once { once } => format!("std::call_once(*o{n}_{once}, once{n}_{once});"),
            Act::Check { local: l, equals } => {
                format!("if ({} != {equals}) std::abort();", local(*l))
            }
            Act::Create { thread } => format!("std::thread t{thread}(thread{n}_{thread});"),
            Act::Join { thread } => format!("t{thread}.join();"),
            Act::Detach { thread } => format!("t{thread}.detach();"),
            Act::Print {
                var: Var::Atomic(i),
            } => format!("std::printf(\"%d\\n\", (int)a{n}_{i}.load());"),
            Act::Print { var: v } => {
                format!("std::printf(\"%d\\n\", (int){});", var(n, program, *v))
            }
            Act::Yield => "std::this_thread::yield();".to_owned(),
            Act::Sleep => "std::this_thread::sleep_for(std::chrono::microseconds(1));".to_owned(),
            act => C.leaf(n, program, act),
        }
    }

    fn open(&self, n: usize, program: &Program, act: &Act) -> String {
        match act {
            Act::Await { var: v, until, .. } => {
                format!("while ({} != {until}) {{", var(n, program, *v))
            }
            Act::IfLock {
                mutex,
                asking: Asking::Timed,
                ..
            } => format!("if (m{n}_{mutex}->try_lock_for({SOON})) {{"),
            Act::IfLock { mutex, .. } => format!("if (m{n}_{mutex}->try_lock()) {{"),
            Act::IfRwlock {
                rwlock,
                exclusive,
                timed,
                ..
            } => {
                let shared = if *exclusive { "" } else { "_shared" };
                if *timed {
                    format!("if (r{n}_{rwlock}->try_lock{shared}_for({SOON})) {{")
                } else {
                    format!("if (r{n}_{rwlock}->try_lock{shared}()) {{")
                }
            }
            Act::IfAcquire {
                semaphore,
                timed: true,
                ..
            } => format!("if (s{n}_{semaphore}->try_acquire_for({SOON})) {{"),
            Act::IfAcquire { semaphore, .. } => format!("if (s{n}_{semaphore}->try_acquire()) {{"),
            act => C.open(n, program, act),
        }
    }

    fn main(&self, many: usize) -> Vec<String> {
        choose(many)
    }
}
