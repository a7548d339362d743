//! `deadheat explore`: the schedules of real programs, searched.

mod support;

use serde_json::Value;
use support::Sandbox;
use support::findings::{found, of_kind};

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs");

fn program(name: &str) -> String {
    format!("{PROGRAMS}/{name}")
}

fn explore(here: &Sandbox, args: &[&str]) -> Value {
    let mut command = here.deadheat(["explore", "--format", "json", "-o", "found.json"]);
    let told = here.told(command.args(args));
    let is_done = ["exit: 0", "exit: 66"]
        .iter()
        .any(|exit| told.starts_with(exit));
    assert!(is_done, "{told}");
    let report = std::fs::read_to_string(here.path().join("found.json")).unwrap();
    serde_json::from_str(&report).unwrap()
}

/// The only finding of a kind; it is confirmed, and replays.
fn confirmed(here: &Sandbox, report: &Value, kind: &str) {
    let all = of_kind(report, kind);
    assert_eq!(all.len(), 1, "{report:#}");
    assert_eq!(all[0]["rung"], "confirmed", "{report:#}");
    let id = all[0]["id"].as_str().unwrap();
    let told = here.told(&mut here.deadheat(["replay", id, "--times", "20"]));
    assert!(told.contains("20 of 20 times"), "{told}");
}

/// Two threads raise a counter with an atomic load and an atomic store.
const LOST_UPDATE: &str = "
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int counter;
static void *raise_it(void *unused) {
    int seen = atomic_load(&counter);
    atomic_store(&counter, seen + 1);
    return unused;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, raise_it, 0);
    pthread_create(&other, 0, raise_it, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(counter == 2);
    return 0;
}
";

/// A thread waits for a flag that one order of two others never sets.
const NEVER_SET: &str = "
#include <pthread.h>
#include <stdatomic.h>
atomic_int turn;
static void *pass(void *from) {
    int expected = (int)(long)from;
    atomic_compare_exchange_strong(&turn, &expected, expected + 1);
    return 0;
}
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, pass, (void *)0);
    pthread_create(&other, 0, pass, (void *)1);
    while (atomic_load(&turn) != 2)
        ;
    return 0;
}
";

/// The end of a pipe's data, which is there before the second thread is: runs must not have it in common.
const END_OF_PIPE: &str = "
#include <pthread.h>
#include <unistd.h>
int value, ends[2];
static void *sender(void *arg) {
    value = 1;
    if (write(ends[1], \"xy\", 2) != 2)
        return arg;
    close(ends[1]);
    return arg;
}
int main(void) {
    pthread_t thread;
    char token;
    if (pipe(ends) != 0)
        return 1;
    pthread_create(&thread, 0, sender, 0);
    while (read(ends[0], &token, 1) == 1)
        if (token == 'y' && value != 1)
            return 2;
    pthread_join(thread, 0);
    return 0;
}
";

#[test]
fn each_run_has_a_pipe_of_its_own() {
    let here = Sandbox::new();
    here.file("end.c", END_OF_PIPE);
    let told = here.told(&mut here.deadheat(["explore", "end.c"]));
    assert!(told.starts_with("exit: 0"), "{told}");
    assert!(told.contains("all orders that can be told apart"), "{told}");
    assert!(!told.contains("unconfirmed"), "{told}");
}

/// A child that waits for ever for what nobody writes, and a race that its parent has.
const ORPHANS: &str = "
#include <pthread.h>
#include <unistd.h>
int shared;
static void *raise_it(void *unused) {
    shared++;
    return unused;
}
int main(void) {
    int never[2];
    pthread_t thread;
    if (pipe(never) != 0)
        return 1;
    if (fork() == 0) {
        char token;
        _exit((int)read(never[0], &token, 1));
    }
    pthread_create(&thread, 0, raise_it, 0);
    shared++;
    pthread_join(thread, 0);
    return 0;
}
";

/// Processes of this executable.
fn processes_of(executable: &std::path::Path) -> Vec<std::path::PathBuf> {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let paths = all.map(|entry| entry.path());
    let is_one = |path: &std::path::PathBuf| {
        std::fs::read_link(path.join("exe")).is_ok_and(|exe| exe == executable)
    };
    paths.filter(is_one).collect()
}

#[test]
fn no_process_outlives_the_search() {
    let here = Sandbox::new();
    here.file("orphans.c", ORPHANS);
    let compile = ["cc", "-g", "orphans.c", "-o", "orphans"];
    assert!(
        here.told(&mut here.deadheat(compile))
            .starts_with("exit: 0")
    );
    let executable = here.path().join("orphans").canonicalize().unwrap();
    for command in ["explore", "record", "check"] {
        here.told(&mut here.deadheat([command, "./orphans"]));
        let left = processes_of(&executable);
        assert!(left.is_empty(), "{command} left {left:?}");
    }
}

#[test]
fn what_another_path_hides_is_found_and_replays() {
    for (name, kind) in [
        ("scenarios/c/claim_race.c", "race"),
        ("scenarios/c/signal_one_deadlock.c", "deadlock"),
        ("zoo/c/struct_copy_race.c", "race"),
        ("zoo/c/malloc_race.c", "race"),
    ] {
        let here = Sandbox::new();
        let report = explore(&here, &[&program(name)]);
        confirmed(&here, &report, kind);
        assert_eq!(report["stats"]["exhausted"], true, "{name}: {report:#}");
        assert_eq!(report["stats"]["snapshots"], true, "{name}");
    }
}

#[test]
fn failures_and_programs_that_do_not_end_are_found_and_replay() {
    for source in [LOST_UPDATE, NEVER_SET] {
        let here = Sandbox::new();
        here.file("prog.c", source);
        let report = explore(&here, &["prog.c"]);
        confirmed(&here, &report, "failure");
        assert_eq!(report["stats"]["exhausted"], true, "{report:#}");
    }
}

#[test]
fn without_snapshots_the_same_is_found() {
    let here = Sandbox::new();
    here.file("prog.c", LOST_UPDATE);
    let copied = explore(&here, &["prog.c"]);
    let anew = explore(&here, &["--no-snapshots", "prog.c"]);
    assert_eq!(anew["stats"]["snapshots"], false);
    for figure in ["executions", "states", "outcomes", "exhausted"] {
        assert_eq!(copied["stats"][figure], anew["stats"][figure], "{figure}");
    }
    confirmed(&here, &anew, "failure");
}

/// The oracle on real programs: every order that there is leads to no outcome that the reduced search has not seen, and the other way
/// round.
#[test]
fn all_outcomes_are_those_of_every_order() {
    let two = |body: &str| {
        format!(
            "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdio.h>\n\
             pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\natomic_int a, b;\nint x;\n{body}\n\
             int main(void) {{\n    pthread_t other;\n    pthread_create(&other, 0, two, 0);\n    one(0);\n\
             pthread_join(other, 0);\n    printf(\"%d %d %d\\n\", a, b, x);\n    return 0;\n}}\n"
        )
    };
    for body in [
        // Each copies what the other writes.
        "static void *one(void *p) { atomic_store(&a, 1); atomic_store(&b, atomic_load(&b) + 2); return p; }\n\
         static void *two(void *p) { atomic_store(&b, atomic_load(&a) + 5); return p; }",
        // A lock around one half only, and an attempt at it.
        "static void *one(void *p) { pthread_mutex_lock(&m); atomic_store(&a, 1); x = 1; pthread_mutex_unlock(&m); return p; }\n\
         static void *two(void *p) { if (pthread_mutex_trylock(&m) == 0) { x += 2; pthread_mutex_unlock(&m); } else atomic_store(&b, 1); return p; }",
        // A crossing of locks with a flag.
        "static void *one(void *p) { pthread_mutex_lock(&m); x = atomic_load(&b); pthread_mutex_unlock(&m); atomic_fetch_add(&a, 1); return p; }\n\
         static void *two(void *p) { atomic_fetch_add(&b, 3); pthread_mutex_lock(&m); x += 7; pthread_mutex_unlock(&m); return p; }",
    ] {
        let here = Sandbox::new();
        here.file("prog.c", &two(body));
        // Without optimisation every order of the copies of locals is one more.
        let reduced = explore(&here, &["--cflags=-O1", "prog.c"]);
        let every = explore(&here, &["--cflags=-O1", "--every-order", "prog.c"]);
        let [reduced, every] = [&reduced["stats"], &every["stats"]];
        assert_eq!(
            (&reduced["exhausted"], &every["exhausted"]),
            (&true.into(), &true.into())
        );
        assert_eq!(reduced["outcomes"], every["outcomes"], "{body}");
        let many = |stats: &Value| stats["executions"].as_u64().unwrap();
        assert!(many(every) >= many(reduced), "{body}");
        for cut in [
            &["--cflags=-O1", "--cut-revisits", "prog.c"][..],
            &["--cflags=-O1", "--cut-revisits", "--every-order", "prog.c"],
        ] {
            let cut = &explore(&here, cut)["stats"];
            assert_eq!(cut["exhausted"], true);
            assert_eq!(cut["outcomes"], every["outcomes"], "{body}");
        }
    }
}

/// Four threads, each with one section of the same lock.
fn sections(what: &str) -> String {
    format!(
        "#include <pthread.h>
         #include <stdio.h>
         static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
         static long own[4];
         static void *work(void *at) {{ pthread_mutex_lock(&lock); {what}; pthread_mutex_unlock(&lock); return at; }}
         int main(void) {{
             pthread_t all[4];
             for (int i = 0; i < 4; i++) pthread_create(&all[i], 0, work, &own[i]);
             for (int i = 0; i < 4; i++) pthread_join(all[i], 0);
             return 0;
         }}"
    )
}

#[test]
fn orders_of_locks_that_come_to_the_same_are_cut_off() {
    let here = Sandbox::new();
    here.file("prog.c", &sections("*(long *)at = 1"));
    let all = &explore(&here, &["prog.c"])["stats"];
    let cut = &explore(&here, &["--cut-revisits", "prog.c"])["stats"];
    let count = |stats: &Value, of: &str| stats[of].as_u64().unwrap();
    assert!(count(cut, "executions") < count(all, "executions"));
    assert!(count(cut, "cut") > 0 && count(all, "cut") == 0);
    assert_eq!(cut["exhausted"], true);
}

#[test]
fn what_was_printed_is_noticed_where_states_do_not_show_it() {
    let here = Sandbox::new();
    here.file("prog.c", &sections("printf(\"%td\\n\", (long *)at - own)"));
    let cut = &explore(&here, &["--cut-revisits", "prog.c"])["stats"];
    assert_eq!(
        (&cut["outcomes"], &cut["exhausted"]),
        (&24.into(), &true.into())
    );
}

/// The paper's figures: 6 has no race, and 7 has the one that the paper's own tool misses, from whatever run the search begins.
#[test]
fn figures_6_and_7_come_out_as_they_should() {
    for (name, verdict) in [("prefix_fig6", None), ("prefix_fig7", Some("confirmed"))] {
        for policy in ["run-to-block", "random"] {
            let here = Sandbox::new();
            let source = program(&format!("papers/{name}.c"));
            support::succeed(&mut here.deadheat(["cc", "-g", "-pthread", &source, "-o", "prog"]));
            support::succeed(&mut here.deadheat([
                "record",
                "--policy",
                policy,
                "-o",
                "trace.dht",
                "--",
                "./prog",
            ]));
            let report = explore(&here, &["--no-predict", "trace.dht"]);
            let warnings = report["stats"]["warnings"].as_array().unwrap();
            let verdicts: Vec<&str> = warnings
                .iter()
                .filter_map(|one| one["verdict"].as_str())
                .collect();
            match verdict {
                Some(verdict) => {
                    assert_eq!(verdicts, [verdict], "{name} {policy}: {report:#}");
                    confirmed(&here, &report, "race");
                }
                None => {
                    assert!(
                        !verdicts.contains(&"confirmed"),
                        "{name} {policy}: {report:#}"
                    );
                    assert!(of_kind(&report, "race").is_empty(), "{name} {policy}");
                }
            }
        }
    }
}

/// In the recorded run `main` comes to its read by one way, and only by the other the two accesses meet.
const OTHER_WAY: &str = r#"
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int answer, ready, late;

static void *think(void *unused) {
    answer = 42;
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, think, NULL);
    pthread_mutex_lock(&lock);
    if (!ready)
        late++;
    pthread_mutex_unlock(&lock);
    if (late) {
        pthread_mutex_lock(&lock);
        late = 2;
        pthread_mutex_unlock(&lock);
    }
    printf("%d\n", answer);
    pthread_join(thread, NULL);
    return 0;
}
"#;

#[test]
fn check_settles_warnings_by_searching() {
    let here = Sandbox::new();
    here.file("prog.c", OTHER_WAY);
    let checked = |more: &[&str]| {
        let mut args = vec!["check", "--seed", "1", "--format", "json"];
        args.extend(more);
        args.push("prog.c");
        found(&here, &args)
    };
    assert!(of_kind(&checked(&["--orders", "0"]), "race").is_empty());
    let report = checked(&["--explore", "--orders", "0"]);
    confirmed(&here, &report, "race");
    assert_eq!(of_kind(&report, "race")[0]["method"], "explore");
}

/// A run that proves nothing is not the last word: other orders are executed, and all of them can be few.
#[test]
fn check_looks_at_other_orders() {
    let here = Sandbox::new();
    here.file("prog.c", OTHER_WAY);
    let args = ["check", "--seed", "1", "--format", "json", "prog.c"];
    let report = found(&here, &args);
    confirmed(&here, &report, "race");
    assert_eq!(of_kind(&report, "race")[0]["method"], "explore");
    assert_eq!(report["stats"]["orders"]["exhausted"], true);
    let name = of_kind(&report, "race")[0]["object"]["name"].as_str();
    here.file("known.txt", &format!("race:{}\n", name.unwrap()));
    let mut known = vec!["check", "--suppressions", "known.txt"];
    known.extend(&args[1..]);
    let report = found(&here, &known);
    assert!(of_kind(&report, "race").is_empty(), "{report:#}");
    assert!(report["stats"]["orders"]["executions"].as_u64() > Some(0));
}

/// What fails only in another order is a failure of the program, and so is a run that fails by itself.
#[test]
fn check_finds_failures_in_other_orders() {
    let here = Sandbox::new();
    let seats = "#include <pthread.h>\n#include <stdlib.h>\n\
         static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic int left = 1;\n\
         static void *sell(void *p) {\n    pthread_mutex_lock(&m);\n    int any = left > 0;\n    pthread_mutex_unlock(&m);\n\
         if (any) {\n        pthread_mutex_lock(&m);\n        left--;\n        pthread_mutex_unlock(&m);\n    }\n    return p;\n}\n\
         int main(int argc, char **argv) {\n    pthread_t a, b;\n    pthread_create(&a, 0, sell, 0);\n    pthread_create(&b, 0, sell, 0);\n\
         pthread_join(a, 0);\n    pthread_join(b, 0);\n    if (left < 0 || (argc > 1 && argv[1][0] == 'f'))\n        abort();\n    return 0;\n}\n";
    here.file("prog.c", seats);
    let args = [
        "check",
        "--policy",
        "run-to-block",
        "--format",
        "json",
        "prog.c",
    ];
    let report = found(&here, &args);
    confirmed(&here, &report, "failure");
    let mut alone = args.to_vec();
    alone.push("fail");
    let report = found(&here, &alone);
    // The run itself dies; other orders are tried all the same.
    confirmed(&here, &report, "failure");
    assert!(report["stats"]["orders"].is_object(), "{report:#}");
}

/// Whoever wants to start a process is ended there, and that is said.
#[test]
fn copies_start_no_processes() {
    let here = Sandbox::new();
    here.file(
        "prog.c",
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\natomic_int turns;\n\
         static void *work(void *p) {\n    atomic_fetch_add(&turns, 1);\n    return system(\"echo started >> started.txt\") ? 0 : p;\n}\n\
         int main(void) {\n    pthread_t t;\n    pthread_create(&t, 0, work, 0);\n    atomic_fetch_add(&turns, 1);\n    pthread_join(t, 0);\n    return 0;\n}\n",
    );
    let mut command = here.deadheat(["explore", "--format", "json", "-o", "found.json", "prog.c"]);
    let told = here.told(&mut command);
    assert!(told.starts_with("exit: 5"), "{told}");
    let read = |name: &str| std::fs::read_to_string(here.path().join(name)).unwrap();
    let report: Value = serde_json::from_str(&read("found.json")).unwrap();
    let outside = serde_json::json!(["it starts or signals processes"]);
    assert_eq!(report["stats"]["outside"], outside, "{report:#}");
    assert_eq!(report["stats"]["exhausted"], false, "{report:#}");
    // The first run is the program's own.
    assert_eq!(read("started.txt"), "started\n");
}

/// Copies print nowhere and leave files as they are, and what they would have done is said.
#[test]
fn copies_change_nothing_outside() {
    let here = Sandbox::new();
    here.file("kept.txt", "as it was\n");
    here.file("input.txt", "first\nsecond\n");
    here.file(
        "prog.c",
        "#include <pthread.h>\n#include <stdio.h>\n#include <unistd.h>\n#include <stdatomic.h>\n\
         atomic_int turns;\nFILE *input;\n\
         static void *work(void *p) {\n    char line[20] = \"\";\n    int mine = atomic_fetch_add(&turns, 1);\n    fgets(line, sizeof line, input);\n\
         FILE *file = fopen(\"kept.txt\", \"w\");\n    fprintf(file, \"changed by %d\\n\", mine);\n    fclose(file);\n\
         file = fopen(\"new.txt\", \"w\");\n    fputs(line, file);\n    fclose(file);\n    printf(\"%d read %s\", mine, line);\n    return p;\n}\n\
         int main(void) {\n    input = fopen(\"input.txt\", \"r\");\n    setvbuf(input, 0, _IONBF, 0);\n    pthread_t t, u;\n    pthread_create(&t, 0, work, 0);\n    pthread_create(&u, 0, work, 0);\n\
         pthread_join(t, 0);\n    pthread_join(u, 0);\n    return 0;\n}\n",
    );
    support::succeed(&mut here.deadheat(["cc", "-g", "-pthread", "prog.c", "-o", "prog"]));
    support::succeed(&mut here.deadheat(["record", "--serial", "-o", "trace.dht", "--", "./prog"]));
    here.file("kept.txt", "as it was\n");
    std::fs::remove_file(here.path().join("new.txt")).unwrap();
    let output = here
        .deadheat(["explore", "--no-predict", "trace.dht"])
        .output()
        .unwrap();
    assert!(output.status.code().is_some(), "{output:?}");
    let mut whole = here.deadheat(["explore", "--format", "json", "-o", "found.json", "./prog"]);
    let told = here.told(&mut whole);
    let report: Value =
        serde_json::from_str(&std::fs::read_to_string(here.path().join("found.json")).unwrap())
            .unwrap();
    assert!(
        report["stats"]["executions"].as_u64().unwrap() > 1,
        "{told}"
    );
    assert_eq!(
        report["stats"]["outside"],
        serde_json::json!(["it changes files"]),
        "{report:#}"
    );
    // The first run is the user's own, and the only one that is seen.
    assert_eq!(told.matches("0 read first").count(), 1, "{told}");
}

/// Says how many processors it may use: before there are threads, in a thread that was there when the search began, and in one that was not.
const PROCESSORS: &str = "
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
static int usual;
static int count(void) {
    cpu_set_t set;
    assert(sched_getaffinity(0, sizeof set, &set) == 0);
    return CPU_COUNT(&set);
}
static void *look(void *unused) {
    cpu_set_t set;
    assert(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0);
    assert(CPU_COUNT(&set) == usual);
    assert(count() == usual);
    return unused;
}
int main(void) {
    usual = count();
    pthread_t one, other;
    pthread_create(&one, 0, look, 0);
    pthread_create(&other, 0, look, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    assert(count() == usual);
    return 0;
}
";

#[test]
fn copies_are_told_of_all_processors() {
    let here = Sandbox::new();
    here.file("processors.c", PROCESSORS);
    let report = explore(&here, &["processors.c"]);
    assert_eq!(report["findings"], serde_json::json!([]), "{report:#}");
    assert_eq!(report["stats"]["snapshots"], true, "{report:#}");
    assert_eq!(report["stats"]["outcomes"], 1, "{report:#}");
}

#[test]
fn wrong_usage_is_said() {
    let here = Sandbox::new();
    insta::assert_snapshot!(here.told(&mut here.deadheat(["explore", "./nothing"])));
    here.file("text.txt", "no recording\n");
    insta::assert_snapshot!(here.told(&mut here.deadheat(["explore", "text.txt"])));
}

/// Whoever wants to talk to somebody outside is ended there, and that is said; only the recorded run was heard.
#[test]
fn copies_talk_to_nobody() {
    let here = Sandbox::new();
    here.file(
        "prog.c",
        "#include <arpa/inet.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n#include <sys/socket.h>\n#include <unistd.h>\n\
         static atomic_int turns;\nstatic int port;\n\
         static void *call(void *p) {\n    atomic_fetch_add(&turns, 1);\n    int s = socket(AF_INET, SOCK_STREAM, 0);\n\
         struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};\n    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);\n\
         connect(s, (struct sockaddr *)&to, sizeof to);\n    close(s);\n    return p;\n}\n\
         int main(int argc, char **argv) {\n    pthread_t t;\n    port = atoi(argv[argc - 1]);\n    pthread_create(&t, 0, call, 0);\n\
         atomic_fetch_add(&turns, 1);\n    pthread_join(t, 0);\n    return 0;\n}\n",
    );
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let mut command = here.deadheat(["explore", "--format", "json", "-o", "found.json"]);
    let told = here.told(command.args(["prog.c", &port]));
    assert!(told.starts_with("exit: 5"), "{told}");
    let report = std::fs::read_to_string(here.path().join("found.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let outside = serde_json::json!(["it uses sockets"]);
    assert_eq!(report["stats"]["outside"], outside, "{report:#}");
    assert!(
        report["stats"]["executions"].as_u64() > Some(1),
        "{report:#}"
    );
    let heard = std::iter::from_fn(|| listener.accept().ok()).count();
    assert_eq!(heard, 1);
}

/// Published with too weak a load, and the first side is a read and a write on one line.
const WEAK_LOAD: &str = "
#include <pthread.h>
#include <stdatomic.h>
atomic_int ready;
int value;
static void *take(void *unused) {
    if (atomic_load_explicit(&ready, memory_order_relaxed) == 1)
        value = 1;
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, take, 0);
    value += 2;
    atomic_store_explicit(&ready, 1, memory_order_release);
    pthread_join(thread, 0);
    return 0;
}
";

/// Locks in two orders; the lock that main keeps is also one that the thread needs to end, so joining it is another deadlock.
const TWO_DEADLOCKS: &str = "
#include <pthread.h>
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *other(void *unused) {
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, other, 0);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_join(thread, 0);
    return 0;
}
";

#[test]
fn a_race_of_a_line_with_two_accesses_is_found() {
    let here = Sandbox::new();
    here.file("weak.c", WEAK_LOAD);
    let report = explore(&here, &["weak.c"]);
    confirmed(&here, &report, "race");
}

/// The same thread waits for ever at one condition or at the other.
const TWO_CONDITIONS: &str = "
#include <pthread.h>
int first;
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t one = PTHREAD_COND_INITIALIZER, other = PTHREAD_COND_INITIALIZER;
static void *waiter(void *unused) {
    pthread_mutex_lock(&m);
    while (!first)
        pthread_cond_wait(&one, &m);
    pthread_cond_wait(&other, &m);
    return unused;
}
static void *setter(void *unused) {
    first = 1;
    return unused;
}
int main(void) {
    pthread_t thread, unjoined;
    pthread_create(&unjoined, 0, setter, 0);
    pthread_create(&thread, 0, waiter, 0);
    pthread_join(thread, 0);
    return 0;
}
";

/// Who comes second to create a thread would have its number.
const CREATORS: &str = "
#include <pthread.h>
int shared;
static void *nothing(void *unused) { return unused; }
static void *look(void *unused) { return shared ? unused : 0; }
static void *create(void *unused) {
    pthread_t looks;
    pthread_create(&looks, 0, look, 0);
    return unused;
}
int main(void) {
    pthread_t creates, does_nothing;
    pthread_create(&creates, 0, create, 0);
    shared = 1;
    pthread_create(&does_nothing, 0, nothing, 0);
    return 0;
}
";

#[test]
fn threads_have_the_same_numbers_whoever_creates_one_first() {
    let here = Sandbox::new();
    here.file("p.c", CREATORS);
    let report = explore(&here, &["p.c"]);
    confirmed(&here, &report, "race");
    assert_eq!(report["stats"]["exhausted"], true, "{report:#}");
}

#[test]
fn every_deadlock_of_an_exhausted_search_is_found() {
    let both = deadlocks_of(TWO_DEADLOCKS);
    assert_eq!(both, [vec![6, 13], vec![6, 15], vec![12]]);
    assert_eq!(deadlocks_of(TWO_CONDITIONS), [[9], [10]]);
}

/// The lines of all deadlocks that a search finds.
fn deadlocks_of(text: &str) -> Vec<Vec<u64>> {
    let here = Sandbox::new();
    here.file("two.c", text);
    let report = explore(&here, &["two.c"]);
    let mut lines: Vec<Vec<u64>> = of_kind(&report, "deadlock")
        .iter()
        .map(|finding| {
            let sides = finding["accesses"].as_array().unwrap();
            let mut lines: Vec<u64> = sides.iter().map(|s| s["line"].as_u64().unwrap()).collect();
            lines.sort_unstable();
            lines
        })
        .collect();
    lines.sort();
    lines
}
