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
        "conn_new",
        "**held to be false, and an error of Deadheat's** (judged from the source by `conn_new` in the signature, not one by one). A connection's block belongs to the number of its descriptor. A worker closes the descriptor, `accept` hands the same number out again, and another worker uses the block: the kernel orders \
         the two, but `close` is not seen by the runtime",
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

/// What was not found though it is there, and why.
const MISSED: &str = "\
Missed: thread_local, RUSTSEC-2022-0006. A relaxed load hands out memory that another thread has just prepared. No schedule has both accesses at once, since the one needs the pointer \
that the other stores afterwards. It is held to be a race of the memory model only; that happens-before says nothing in a fitting order was not explained, and may be a miss of Deadheat's.\n";

/// A paragraph for the findings of each judgement, in the order of the programs.
pub fn render<'a>(found: impl Iterator<Item = (&'a str, &'a [String])>) -> String {
    let mut text = String::from("\nWhat was found, and what the program's text says about it:\n\n");
    let mut is_missed = false;
    for (program, findings) in found {
        is_missed |= program.starts_with("thread_local") && findings.is_empty();
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
    if is_missed {
        text.push('\n');
        text.push_str(MISSED);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::render;

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
            text.contains("- memcached, 2 such as `observed conn_new a.c:1`: **held to be false"),
            "{text}"
        );
        assert!(
            text.contains("- memcached, 1 such as `observed f b.c:3`: not judged."),
            "{text}"
        );
        assert!(!text.contains("Missed"), "{text}");
    }

    #[test]
    fn what_is_missed_is_told_until_it_is_found() {
        let found = ["confirmed f a.rs:1".to_owned()];
        let missed = |findings| render([("thread_local", findings)].into_iter()).contains("Missed");
        assert!(missed(&[]) && !missed(&found));
    }
}
