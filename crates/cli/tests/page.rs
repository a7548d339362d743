//! The page, in a real browser: it shows findings, steps through them, filters, and trusts nobody.

mod support;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::browser::Browser;
use support::page::{OVERFLOW, POOR_CONTRAST, REPORT, SOURCE, bank, click, page, told};
use support::{Sandbox, succeed};

#[test]
fn findings_are_listed_and_walked_through() {
    let here = Sandbox::new();
    let mut page = bank(&here);
    assert_eq!(told(&mut page, "h1"), "Data race on accounts[1].balance");
    assert_eq!(told(&mut page, "#count"), "4 findings");
    assert_eq!(page.js("document.querySelectorAll('#list li').length"), 4);
    page.press("j");
    assert_eq!(
        told(&mut page, "h1"),
        "Possible data race on heap block of 64 bytes"
    );
    page.press("j");
    page.press("j");
    page.press("j");
    assert_eq!(told(&mut page, "h1"), "Failure", "the last one stays");
    page.press("k");
    assert_eq!(told(&mut page, "h1"), "Deadlock of 2 threads");
    assert_eq!(
        told(&mut page, "[aria-current=true] .what"),
        "Deadlock of 2 threads"
    );
    click(&mut page, "[data-id='5c21d0a7']");
    assert_eq!(told(&mut page, "h1"), "Data race on accounts[1].balance");
    assert!(told(&mut page, ".callout").contains("hold accounts[1].guard at bank.c:28"));
    assert_eq!(told(&mut page, ".command code"), "deadheat replay 5c21d0a7");
    assert!(told(&mut page, "main").contains("Assertion `audited == 200' failed."));
    let folded = "document.querySelectorAll('details[open]').length";
    assert_eq!(page.js(folded), 0, "stacks are folded");
    assert_eq!(page.problems(), [""; 0]);
}

#[test]
fn steps_go_forward_and_back() {
    let here = Sandbox::new();
    let mut page = bank(&here);
    let step = |page: &mut Browser| told(page, "#step");
    assert_eq!(step(&mut page), "16 of 16", "the end first");
    let marked = "document.querySelectorAll('svg .side .ring').length";
    assert_eq!(page.js(marked), 2, "both sides are marked");
    assert!(told(&mut page, "#state").contains("teller: write accounts[1].balance = 90"));
    assert!(told(&mut page, ".source .hit").contains("from->balance -= amount;"));
    page.press("ArrowLeft");
    assert_eq!(step(&mut page), "15 of 16");
    assert!(told(&mut page, ".source .hit").contains("audited = accounts[0].balance"));
    page.press("Home");
    assert_eq!(step(&mut page), "1 of 16");
    assert_eq!(page.js("document.querySelector('#back').disabled"), true);
    page.press("ArrowLeft");
    assert_eq!(step(&mut page), "1 of 16", "there is nothing before");
    click(&mut page, "#forward");
    assert_eq!(step(&mut page), "2 of 16");
    click(&mut page, "svg [data-step='5']");
    assert_eq!(step(&mut page), "6 of 16");
    let clerk = told(&mut page, "[data-thread='1']");
    assert!(
        clerk.contains("accounts[0].guardaccounts[1].guard"),
        "{clerk}"
    );
    assert!(told(&mut page, "[data-thread='2']").contains("no locks"));
    page.js(
        "(() => { const s = document.querySelector('#slider'); s.value = 10; \
         s.dispatchEvent(new Event('input')); })()",
    );
    assert_eq!(step(&mut page), "11 of 16");
    assert!(
        told(&mut page, "[data-thread='1']").contains("no locks"),
        "given back"
    );
    assert!(told(&mut page, "[data-thread='2']").contains("accounts[1].guard"));
    let later = "document.querySelectorAll('svg [data-step].later').length";
    assert_eq!(page.js(later), 5);
    let hover = "document.querySelector(\"svg [data-step='4'] title\").textContent";
    assert!(page.text(hover).contains("value 90"));
    page.js("document.querySelector(\"[data-id='91b7e2f4']\").click()");
    assert!(told(&mut page, "#state").contains("teller waits for accounts[0].guard"));
    let teller = told(&mut page, "[data-thread='2']");
    assert_eq!(
        teller, "telleraccounts[1].guardbank.c:19",
        "it did not get the other"
    );
    assert_eq!(page.problems(), [""; 0]);
}

/// Goes to another address of the page, and waits until it has noticed.
fn go_to(page: &mut Browser, hash: &str) {
    page.js(&format!(
        "new Promise((done) => {{ addEventListener('hashchange', done, {{ once: true }}); \
         location.hash = '{hash}'; }}).then(() => 0)"
    ));
}

#[test]
fn an_address_leads_to_a_step() {
    let here = Sandbox::new();
    let mut page = bank(&here);
    go_to(&mut page, "91b7e2f4.3");
    assert_eq!(told(&mut page, "#step"), "3 of 6");
    go_to(&mut page, "nonsense");
    assert_eq!(told(&mut page, "h1"), "Deadlock of 2 threads");
    assert_eq!(page.problems(), [""; 0]);
}

#[test]
fn filters_and_search() {
    let here = Sandbox::new();
    let mut page = bank(&here);
    click(&mut page, "#rungs [data-name=confirmed]");
    assert_eq!(told(&mut page, "#count"), "2 of 4 findings");
    assert_eq!(
        told(&mut page, "h1"),
        "Possible data race on heap block of 64 bytes"
    );
    click(&mut page, "#kinds [data-name=race]");
    assert_eq!(told(&mut page, "#count"), "1 of 4 findings");
    click(&mut page, "#rungs [data-name=confirmed]");
    click(&mut page, "#kinds [data-name=race]");
    assert_eq!(told(&mut page, "#count"), "4 findings");
    page.press("/");
    assert_eq!(page.js("document.activeElement.id"), "search");
    page.call("Input.insertText", json!({ "text": "Teller BALANCE" }));
    assert_eq!(told(&mut page, "#count"), "1 of 4 findings");
    assert_eq!(told(&mut page, "h1"), "Data race on accounts[1].balance");
    page.press("j");
    page.call("Input.insertText", json!({ "text": "no such thing" }));
    assert_eq!(told(&mut page, "#count"), "0 of 4 findings");
    assert_eq!(told(&mut page, "main"), "No finding is like that.");
    page.press("Escape");
    page.press("?");
    assert_eq!(page.js("document.querySelector('#keys').open"), true);
    page.press("Escape");
    assert_eq!(page.js("document.querySelector('#keys').open"), false);
    assert_eq!(page.problems(), [""; 0]);
}

/// Text that would be markup, script, or the end of something, if anybody took it for more than text.
const HOSTILE: &str = "</script><script>window.hacked=1</script>\
    <img src=x onerror=window.hacked=2>\"'`${window.hacked=3}&lt;\u{2028}\u{202e}\u{0}\u{1b}[31m-->]]>";

/// Puts the text before every name in a report.
fn spoiled(value: &mut Value, key: &str) {
    let fixed = ["id", "kind", "rung", "does", "memory", "order"];
    match value {
        Value::String(text) if !fixed.contains(&key) => text.insert_str(0, HOSTILE),
        Value::Array(values) => values.iter_mut().for_each(|value| spoiled(value, key)),
        Value::Object(values) => values
            .iter_mut()
            .for_each(|(key, value)| spoiled(value, key)),
        _ => {}
    }
}

#[test]
fn names_and_source_text_are_only_text() {
    let here = Sandbox::new();
    let mut report: Value = serde_json::from_str(REPORT).unwrap();
    spoiled(&mut report["findings"], "");
    let mut honest: Value = serde_json::from_str(REPORT).unwrap();
    honest["findings"][0]["id"] = json!("honest");
    let honest = honest["findings"][0].clone();
    report["findings"].as_array_mut().unwrap().push(honest);
    let source = SOURCE.replace("audited =", &format!("/* {HOSTILE} */ audited ="));
    let path = page(&here, &report.to_string(), &source);
    let mut page = Browser::open(&path, 1300, 900);
    for _ in 0..5 {
        for selector in ["#forward", "#back", "summary"] {
            page.js(&format!("document.querySelector('{selector}')?.click()"));
        }
        assert!(told(&mut page, "main").contains("<img src=x onerror=window.hacked=2>"));
        page.press("j");
    }
    click(&mut page, "[data-id=honest]"); // its source text is hostile
    assert!(told(&mut page, "main").contains("/* </script><script>window.hacked=1"));
    assert_eq!(page.js("typeof window.hacked"), "undefined");
    assert_eq!(page.js("document.images.length"), 0);
    assert_eq!(page.js("document.scripts.length"), 2);
    let unseen = r"/[\u0000\u001b\u2028\u202e]/.test(document.body.innerText)";
    assert_eq!(page.js(unseen), false);
    assert_eq!(page.problems(), [""; 0]);
}

/// A race, and a lock that both threads take.
const PROGRAM: &str = "#include <pthread.h>
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int guarded, total;
static void *work(void *unused) {
    total++;
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&guard);
        guarded++;
        pthread_mutex_unlock(&guard);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    work(0);
    pthread_join(thread, 0);
    return 0;
}
";

/// The recording's report, whoever has written it.
fn recorded(here: &Sandbox) -> PathBuf {
    here.file("prog.c", PROGRAM);
    let report = Path::new(".deadheat/recordings/000001/report.json");
    let written = ["check", "--format", "json", "--warnings", "-o"];
    let mut check = here.deadheat(written);
    let found = check.arg(report).arg("prog.c").output().unwrap();
    assert_eq!(found.status.code(), Some(66), "{found:?}");
    here.path().join("deadheat-report.html")
}

#[test]
fn a_recording_has_its_run_in_figures() {
    let here = Sandbox::new();
    let path = recorded(&here);
    let made = here.deadheat(["report", "--html"]).output().unwrap();
    assert_eq!(made.status.code(), Some(66), "{made:?}");
    let mut page = Browser::open(&path, 1300, 900);
    assert_eq!(told(&mut page, "h1"), "Data race on total");
    assert_eq!(told(&mut page, "#about"), "prog.c");
    assert!(told(&mut page, ".source .hit").contains("total++;"));
    click(&mut page, "#run");
    assert_eq!(told(&mut page, "h1"), "The run in figures");
    assert_eq!(page.js("document.querySelectorAll('figure').length"), 3);
    let locks = told(&mut page, ".plots table");
    assert!(locks.contains("guard"), "{locks}");
    page.resize(360, 740);
    assert_eq!(page.js(OVERFLOW), json!([]));
    page.scheme("dark");
    assert_eq!(page.js(POOR_CONTRAST), json!([]));
    assert_eq!(page.problems(), [""; 0]);
}

#[test]
fn a_trace_that_cannot_be_read_is_left_out() {
    let here = Sandbox::new();
    let folder = ".deadheat/recordings/000001";
    here.file(&format!("{folder}/report.json"), REPORT);
    here.file(&format!("{folder}/trace.dht"), "no\0trace");
    let told = here.told(&mut here.deadheat(["report", "1", "--html"]));
    assert!(told.starts_with("exit: 66"), "{told}");
    assert!(told.contains("the run in figures is left out: "), "{told}");
    let mut page = Browser::open(&here.path().join("deadheat-report.html"), 1300, 900);
    assert_eq!(page.js("document.querySelector('#run').hidden"), true);
    assert_eq!(page.problems(), [""; 0]);
}

#[test]
fn the_page_may_load_nothing() {
    let here = Sandbox::new();
    let mut page = bank(&here);
    let own = json!(format!("file://{}", here.path().join("bank.c").display()));
    let fetched = format!("fetch({own}).then(() => 'loaded', () => 'refused')");
    assert_eq!(page.js(&fetched), "refused");
    let image = format!(
        "new Promise((done) => {{ const image = new Image(); image.onload = () => done('loaded'); \
         image.onerror = () => done('refused'); image.src = {own}; }})"
    );
    assert_eq!(page.js(&image), "refused");
    let problems = page.problems().concat();
    assert!(problems.contains("Content Security Policy"), "{problems}");
}

#[test]
fn nothing_found_is_said() {
    let here = Sandbox::new();
    here.file("report.json", r#"{"version": 1, "findings": []}"#);
    succeed(&mut here.deadheat(["report", "report.json", "--html"]));
    let mut page = Browser::open(&here.path().join("deadheat-report.html"), 1300, 900);
    assert_eq!(told(&mut page, "main"), "Nothing was found.");
    assert_eq!(told(&mut page, "#count"), "No findings");
    assert_eq!(page.problems(), [""; 0]);
}
