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

/// What was found in redis is one thing.
const REDIS: &str = "**false, and an error of Deadheat's**. The thread that frees in the background gives a block back, and the first thread gets its memory for another. It asked for 4 bytes, say, and uses 24, since \
                     `malloc_usable_size` allows it; but the runtime tells of 4, so the detectors hold what was done to the other 20 before for things done to the same block. Each was compared with the trace: in all of them the first thread's access lies \
                     behind the bytes that it asked for";

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
        "conn_new",
        "**false, and an error of Deadheat's**. A connection's block belongs to the number of its descriptor. A worker closes the descriptor, `accept` hands the same number out again, and another worker \
         prepares the block: the kernel orders the two, but `close` is not seen by the runtime. Each was read: all that the first worker does to the block here stands before its `close`",
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
        "ngx_destroy_pool",
        "real by the rules of C, and the same cause: between the last that a thread of the pool does to its queue and the release of the memory stands only that number",
    ),
    judged("redis", "sds.c", REDIS),
    judged("redis", "siphash.c", REDIS),
    judged("redis", "dictSdsKeyCompare", REDIS),
    judged("redis", "listpack.c", REDIS),
    judged(
        "tokio",
        "registration_set.rs:63",
        "**false, and an error of Deadheat's**. A worker prepares a block and hands its address to the kernel by `epoll_ctl`; another gets it from `epoll_wait`, which cannot tell of it before. The runtime sees `epoll_wait`, but \
         not `epoll_ctl`, so nothing orders the two. Each was read: one side is always the preparation, the other what the worker does that was told of the block",
    ),
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

/// Why a program that was stopped had not ended.
pub fn why_stopped(program: &str) -> &'static str {
    match program.starts_with("axel") {
        true => {
            "its first thread sleeps and looks in a loop whether others have connected. Recorded serially, time passes at once for it, so there is always somebody who can go on, and whether data has come from outside \
             for the others is looked at only when there is nobody: an error of Deadheat's"
        }
        false => "not looked into",
    }
}

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
    use super::{render, why_stopped};

    #[test]
    fn a_stopped_program_that_nobody_looked_into_is_told_as_such() {
        assert!(why_stopped("axel, four connections").contains("error of Deadheat's"));
        assert_eq!(why_stopped("other"), "not looked into");
    }

    #[test]
    fn findings_are_told_by_judgement_and_unknown_ones_as_such() {
        let found = [
            "observed conn_new a.c:1",
            "observed conn_new a.c:2",
            "observed f b.c:3",
        ];
        let found = found.map(str::to_owned);
        let text = render([("memcached", found.as_slice())].into_iter());
        assert!(
            text.contains("- memcached, 2 such as `observed conn_new a.c:1`: **false"),
            "{text}"
        );
        assert!(
            text.contains("- memcached, 1 such as `observed f b.c:3`: not judged."),
            "{text}"
        );
    }
}
