//! `deadheat predict` and what `check` shows of it.

mod support;

use serde_json::Value;
use support::findings::{found, of_kind};
use support::{Sandbox, printed, succeed};

const TRACES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/tests/traces");

/// Racy accesses by method.
fn racy(report: &Value) -> Vec<(String, u64)> {
    let methods = report["stats"]["methods"].as_array().unwrap();
    let figure = |method: &Value| {
        let name = method["method"].as_str().unwrap().to_owned();
        (name, method["racy_accesses"].as_u64().unwrap())
    };
    methods.iter().map(figure).collect()
}

/// RAPID's figures for traces that were recorded from Java programs.
#[test]
fn imported_traces_give_the_known_figures() {
    let here = Sandbox::new();
    for (name, hb, shb, wcp, syncp) in [
        ("demo_example", 0, 0, 0, 0),
        ("array", 0, 0, 0, 0),
        ("critical", 3, 3, 3, 3),
        ("account", 7, 1, 7, 1),
        ("airlinetickets", 22, 22, 22, 22),
        ("boundedbuffer", 48, 46, 48, 46),
    ] {
        let path = format!("{TRACES}/{name}.std");
        let report = found(&here, &["predict", &path, "--method", "hb,shb,wcp,syncp"]);
        let expected = [("hb", hb), ("shb", shb), ("wcp", wcp), ("syncp", syncp)];
        let expected = expected.map(|(method, count)| (method.to_owned(), count));
        assert_eq!(racy(&report), expected, "{name}");
    }
}

#[test]
fn a_finding_in_an_imported_trace() {
    let here = Sandbox::new();
    here.file(
        "small.txt",
        "main|fork(T1)|a.c:9\nT1|acq(m)|a.c:3\nT1|w(x=1)|a.c:4\nT1|rel(m)|a.c:5\nmain|w(x=1)|a.c:10\n",
    );
    let told = here.told(&mut here.deadheat(["predict", "small.txt"]));
    // How long it took differs from machine to machine.
    let steady = |line: &str| match line.split_once(" by closure (") {
        Some((before, _)) => format!("{before} by closure (TIME)"),
        None => line.to_owned(),
    };
    let told: Vec<String> = told.lines().map(steady).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn the_methods_side_by_side() {
    let here = Sandbox::new();
    let path = format!("{TRACES}/account.std");
    let mut predict = here.deadheat(["predict", &path, "--method", "all"]);
    let output = String::from_utf8(predict.output().unwrap().stdout).unwrap();
    let at = output.find("method ").unwrap();
    // Times and sizes differ from machine to machine.
    let table: Vec<String> = output[at..]
        .lines()
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            match line.starts_with("quick check") {
                true => words.join(" "),
                false => words[..5].join(" "),
            }
        })
        .collect();
    insta::assert_snapshot!(table.join("\n"));
}

/// A cycle of locks by itself is a warning; a schedule that closes it makes it a deadlock, and the warning a part of that.
#[test]
fn a_lock_order_that_can_deadlock() {
    let here = Sandbox::new();
    let path = format!("{TRACES}/dl_real.std");
    let warned = found(&here, &["predict", &path, "--method", "hb"]);
    let proven = found(&here, &["predict", &path]);
    let ([warned], [proven]) = (
        &of_kind(&warned, "deadlock")[..],
        &of_kind(&proven, "deadlock")[..],
    ) else {
        panic!("not one deadlock: {warned} {proven}");
    };
    assert_eq!(warned["rung"], "warning");
    assert_eq!(warned["method"], "lock order");
    assert_eq!(proven["rung"], "witness");
    assert_eq!(proven["method"], "maximal, lock order");
    assert_eq!(proven["count"], 1);
    assert_eq!(proven["id"], warned["id"]);
    assert_eq!(proven["accesses"].as_array().unwrap().len(), 2);
    let gate = found(&here, &["predict", &format!("{TRACES}/dl_gate.std")]);
    assert!(of_kind(&gate, "deadlock").is_empty(), "{gate}");
}

#[test]
fn what_cannot_be_is_said() {
    let here = Sandbox::new();
    here.file("x.txt", "T0|w(x)|1\n");
    insta::assert_snapshot!(
        here.told(&mut here.deadheat(["predict", "x.txt", "--method", "magic"]))
    );
    here.file("deadheat.toml", "[[channel]]\nsend = 'push'\n");
    insta::assert_snapshot!(here.told(&mut here.deadheat(["predict", "x.txt"])));
    here.file("deadheat.toml", "");
    here.file("known.txt", "# ours\nrace:x\nraces:y\n");
    let mut predict = here.deadheat(["predict", "x.txt", "--suppressions", "known.txt"]);
    insta::assert_snapshot!(here.told(&mut predict));
}

/// A pool from which two threads take an object in turn, without waiting: nobody can see that it
/// hands something over.
const POOL: &str = r#"
#include <pthread.h>
#include <stdlib.h>
struct item { int value; struct item *next; } *pool_first;
pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
void pool_put(struct item *item) {
    pthread_mutex_lock(&pool_lock);
    item->next = pool_first;
    pool_first = item;
    pthread_mutex_unlock(&pool_lock);
}
struct item *pool_take(void) {
    pthread_mutex_lock(&pool_lock);
    struct item *item = pool_first;
    if (item) pool_first = item->next;
    pthread_mutex_unlock(&pool_lock);
    return item;
}
void *work(void *unused) {
    (void)unused;
    for (int i = 0; i < 20; i++) {
        struct item *item = pool_take();
        if (item) { item->value++; pool_put(item); }
    }
    return 0;
}
int main(void) {
    pthread_t threads[2];
    pool_put(calloc(1, sizeof(struct item)));
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
"#;

#[test]
fn marked_functions_hand_over() {
    let here = Sandbox::new();
    here.file("pool.c", POOL);
    succeed(&mut here.deadheat(["cc", "-g", "-O1", "-pthread", "pool.c", "-o", "pool"]));
    succeed(&mut here.deadheat(["record", "--seed", "1", "-o", "run.dht", "--", "./pool"]));
    let warnings =
        || found(&here, &["predict", "run.dht", "--method", "hybrid"])["findings"].clone();
    let before = warnings();
    assert!(!before.as_array().unwrap().is_empty());
    assert!(before.to_string().contains("a heap block of 16 bytes"));
    here.file(
        "deadheat.toml",
        "[[channel]]\nsend = 'pool_put'\nreceive = 'pool_take'\n",
    );
    assert_eq!(warnings().as_array().unwrap().len(), 0);
    // Happens-before knows it from the lock.
    let hb = found(&here, &["predict", "run.dht"]);
    assert_eq!(hb["findings"].as_array().unwrap().len(), 0);
}

const RACE: &str = r#"
#include <pthread.h>
int counter;
static void *add(void *unused) {
    (void)unused;
    counter++;
    return 0;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, add, 0);
    counter++;
    pthread_join(thread, 0);
}
"#;

#[test]
fn suppressions_hold_findings_back() {
    let here = Sandbox::new();
    here.file("race.c", RACE);
    here.file("known.txt", "race:^add$\nrace:nothing_like_it\n");
    here.file("deadheat.toml", "suppressions = ['known.txt']\n");
    let output = here.deadheat(["check", "race.c"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("data races      none\n"), "{told}");
    let mut predict = here.deadheat(["predict"]);
    let told = here.told(&mut predict);
    assert!(
        told.contains("matched nothing: race:nothing_like_it"),
        "{told}"
    );
    assert!(told.contains("suppressed"), "{told}");
}

#[test]
fn parallel_recordings_have_no_exact_order() {
    let here = Sandbox::new();
    here.file("race.c", RACE);
    succeed(&mut here.deadheat(["cc", "-g", "-O1", "-pthread", "race.c", "-o", "race"]));
    succeed(&mut here.deadheat(["record", "-o", "run.dht", "--", "./race"]));
    let mut predict = here.deadheat(["predict", "run.dht", "--method", "hb,shb"]);
    let told = here.told(&mut predict);
    assert!(told.contains("shb needs the exact order"), "{told}");
    assert!(told.starts_with("exit: 66"), "{told}");
    assert!(printed(&mut here.deadheat(["trace", "stats", "run.dht"])).contains("parallel"));
    // With no method left it is not "nothing found".
    let alone = here.told(&mut here.deadheat(["predict", "run.dht", "--method", "shb"]));
    assert!(alone.starts_with("exit: 2"), "{alone}");
    assert!(alone.contains("shb cannot be used on"), "{alone}");
}

#[test]
fn damage_is_told() {
    let here = Sandbox::new();
    here.file("race.c", RACE);
    succeed(&mut here.deadheat(["cc", "-g", "-O1", "-pthread", "race.c", "-o", "race"]));
    succeed(&mut here.deadheat(["record", "--serial", "-o", "run.dht", "--", "./race"]));
    let path = here.path().join("run.dht");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() * 3 / 4;
    for byte in &mut bytes[middle..middle + 16] {
        *byte ^= 0x55;
    }
    std::fs::write(&path, bytes).unwrap();
    let told = here.told(&mut here.deadheat(["predict", "run.dht"]));
    assert!(told.contains("deadheat: note: "), "{told}");
    assert!(!told.starts_with("exit: 101"), "{told}");
}

#[test]
fn a_block_of_any_size_is_only_a_block() {
    let here = Sandbox::new();
    here.file(
        "huge.txt",
        "T0|w(x)|1\nT0|alloc(y:18446744073709551615)|2\nT0|free(y)|3\n",
    );
    let told = here.told(&mut here.deadheat(["predict", "huge.txt", "--method", "all"]));
    assert!(
        told.starts_with("exit: 0") || told.starts_with("exit: 2"),
        "{told}"
    );
}

/// A failed trylock tells something; whoever leaves it out of the trace proves a race that is none.
#[test]
fn a_failed_trylock_is_part_of_the_proof() {
    let here = Sandbox::new();
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../programs/zoo/c/trylock_path_good.c"
    );
    succeed(&mut here.deadheat(["cc", "-g", "-O1", "-pthread", path, "-o", "prog"]));
    let races = |trace: &str| {
        let report = found(&here, &["predict", trace, "--method", "maximal"]);
        report["findings"].as_array().unwrap().len()
    };
    let mut refused = 0;
    for seed in 0..20 {
        let seed = seed.to_string();
        let record = ["record", "--serial", "--seed", &seed, "-o", "run.dht"];
        succeed(here.deadheat(record).args(["--", "./prog"]));
        assert_eq!(races("run.dht"), 0, "seed {seed}");
        let text = printed(&mut here.deadheat(["trace", "convert", "run.dht", "--to", "text"]));
        if text.contains("|refused(") {
            refused += 1;
            here.file("whole.txt", &text);
            assert_eq!(races("whole.txt"), 0, "seed {seed}");
            let lines = text.lines().filter(|line| !line.contains("|refused("));
            let lines: Vec<&str> = lines.collect();
            here.file("without.txt", &(lines.join("\n") + "\n"));
            assert_eq!(races("without.txt"), 1, "seed {seed}");
        }
        std::fs::remove_file(here.path().join("run.dht")).unwrap();
    }
    assert!(refused > 0);
}
