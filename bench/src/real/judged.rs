//! What was found, and what the programs' texts say about it.

use std::fmt::Write;

/// What reading a program's text says about some of its findings.
struct Judged {
    /// How the program's name begins.
    program: &'static str,
    /// What the signatures contain.
    part: &'static str,
    /// The judgement.
    says: &'static str,
}

const fn judged(program: &'static str, part: &'static str, says: &'static str) -> Judged {
    Judged {
        program,
        part,
        says,
    }
}

/// What nginx hands over under a lock that is given back by a plain write.
const DONE_TASKS: &str = "real by the rules of C, and the same cause as at the spinlock: the queue of tasks that are done, and the tasks in it, are handed over under that lock alone";

/// The judgements; the first that fits holds.
const JUDGED: &[Judged] = &[
    judged(
        "memcached",
        "clock_handler",
        "real. The event loop writes `current_time` once a second; all threads read it without a lock. It is volatile, not atomic, and an old second does no harm",
    ),
    judged(
        "memcached",
        "cache.c",
        "real. `stats` reads the counters of other workers' read buffers under a mutex that those do not take when they change them; a figure may be old",
    ),
    judged(
        "memcached",
        "memcached.c:952",
        "real. A worker clears `close_reason` after it has closed the connection's descriptor, when another may have the same number and with it the same block",
    ),
    judged(
        "memcached",
        "do_item_unlink",
        "real. Whoever has a reference to an item reads its flags without the item's lock, under which others change them",
    ),
    judged(
        "memcached",
        "do_item_bump",
        "real. The thread that keeps the lists of items looks at an item's flags under the lock of the list, before it has the item's lock, under which a reader marks it as fetched",
    ),
    judged(
        "memcached",
        "limited_get",
        "real. The count of an item's references is compared with a limit without the item's lock, under which others change it",
    ),
    judged(
        "nginx",
        "ngx_thread_pool_exit_handler",
        "real by the rules of C. At the end the first thread waits for each thread of the pool by reading a `volatile` number over and over, which that one sets without any synchronisation; it lies on the first thread's stack and \
         is used for one thread after the other. On x86 it does no harm",
    ),
    judged(
        "nginx",
        "ngx_spinlock",
        "real by the rules of C. The lock of the queue of tasks that are done is looked at by a plain read and given back by a plain write (`ngx_unlock`) of a `volatile` word, beside the compare-and-swap that takes it. On x86 \
         it does no harm",
    ),
    judged("nginx", "ngx_thread_pool_handler", DONE_TASKS),
    judged(
        "nginx",
        "ngx_epoll_notify",
        "real. Each thread of the pool stores the handler without a lock before it wakes the first thread, which may be reading it for another; all store the same",
    ),
    judged(
        "nginx",
        "ngx_destroy_pool",
        "real by the rules of C, and the same cause: between the last that a thread of the pool does to its queue and the release of the memory stands only that number",
    ),
    judged("nginx", "ngx_thread_pool.c:352", DONE_TASKS),
    judged(
        "thread_local",
        "thread_local-1.1.3",
        "real, and what the advisory is about: the iterator has loaded the address of a table with `Relaxed`, so what it reads there is not ordered behind the other thread's preparation of it",
    ),
    judged(
        "lock_api",
        "main.rs",
        "real: two threads change a `Cell` through guards of readers",
    ),
    judged(
        "atomic-option",
        "main.rs",
        "real: two threads change the count of one `Rc`",
    ),
    judged(
        "beef",
        "main.rs",
        "real: two threads change a `Cell` that both have borrowed",
    ),
    judged(
        "rcu_cell",
        "main.rs",
        "real: two threads change a `Cell` that both can read",
    ),
];

/// A paragraph for the findings of each judgement, in the order of the programs.
pub fn render<'a>(found: impl Iterator<Item = (&'a str, &'a [String])>) -> String {
    let mut text = String::from("\nWhat was found, and what the program's text says about it:\n\n");
    for (program, findings) in found {
        let judgement = |finding: &String| {
            let fits =
                |one: &&Judged| program.starts_with(one.program) && finding.contains(one.part);
            JUDGED
                .iter()
                .find(fits)
                .map_or("not judged", |one| one.says)
        };
        let mut once = Vec::new();
        for says in findings.iter().map(judgement) {
            if once.contains(&says) {
                continue;
            }
            once.push(says);
            let mut same = findings.iter().filter(|finding| judgement(finding) == says);
            let count = same.clone().count();
            let first = same.next().map_or("", String::as_str);
            let _ = writeln!(text, "- {program}, {count} such as `{first}`: {says}.");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn findings_are_told_by_judgement_and_unknown_ones_as_such() {
        let found = [
            "observed clock_handler a.c:1",
            "observed clock_handler a.c:2",
            "observed f b.c:3",
        ];
        let found = found.map(str::to_owned);
        let text = render([("memcached", found.as_slice())].into_iter());
        assert!(
            text.contains("- memcached, 2 such as `observed clock_handler a.c:1`: real"),
            "{text}"
        );
        assert!(
            text.contains("- memcached, 1 such as `observed f b.c:3`: not judged."),
            "{text}"
        );
    }
}
