//! How the page looks, in a real browser: on a phone, in light and dark, with many threads.

mod support;

use serde_json::{Value, json};
use support::Sandbox;
use support::browser::Browser;
use support::page::{OVERFLOW, POOR_CONTRAST, REPORT, SOURCE, bank, page};

#[test]
fn a_phone_shows_one_column() {
    let here = Sandbox::new();
    let mut report: Value = serde_json::from_str(REPORT).unwrap();
    report["findings"][1]["object"]["name"] = json!("an_endlessly_long_name".repeat(20));
    let path = page(&here, &report.to_string(), SOURCE);
    let mut page = Browser::open(&path, 360, 740);
    let left = "document.querySelector('main').getBoundingClientRect().left";
    assert_eq!(page.js(left), 0, "below the list, not beside it");
    for finding in 0..4 {
        assert_eq!(page.js(OVERFLOW), json!([]), "finding {finding}");
        page.press("j");
    }
    page.resize(1300, 900);
    assert!(page.js(left).as_f64() > Some(200.0));
    assert_eq!(page.problems(), [""; 0]);
}

#[test]
fn many_threads_and_steps_fit() {
    let here = Sandbox::new();
    let mut report: Value = serde_json::from_str(REPORT).unwrap();
    let way = &mut report["findings"][0]["interleaving"];
    let lane = |number: u32| json!({ "number": number, "name": format!("worker-{number}") });
    way["threads"] = (0..12).map(lane).collect();
    let steps = way["steps"].as_array_mut().unwrap();
    let sides = steps.split_off(14);
    let some = steps.clone();
    let more = some.iter().cycle().take(2000).cloned().enumerate();
    *steps = more
        .map(|(i, mut step)| {
            step["thread"] = json!(i * 7 % 12);
            step
        })
        .chain(sides)
        .collect();
    let path = page(&here, &report.to_string(), SOURCE);
    let mut page = Browser::open(&path, 1300, 900);
    for (width, step) in [(1300, "End"), (360, "Home"), (360, "End")] {
        page.resize(width, 800);
        page.press(step);
        assert_eq!(page.js(OVERFLOW), json!([]), "{width}");
        let outside = "(() => {
            const rows = document.querySelector('.steps').getBoundingClientRect();
            const shown = [...document.querySelectorAll('.steps .now .label')];
            const boxes = shown.map((label) => label.getBoundingClientRect());
            return boxes.filter((box) => box.right > rows.right || box.top < rows.top
                || box.bottom > rows.bottom).length + (boxes.length === 1 ? 0 : 1);
        })()";
        assert_eq!(
            page.js(outside),
            0,
            "what is done is in sight: {width} {step}"
        );
    }
    assert_eq!(page.problems(), [""; 0]);
}

#[test]
fn light_and_dark_are_readable() {
    let here = Sandbox::new();
    let mut page = bank(&here);
    let paper = "getComputedStyle(document.body).backgroundColor";
    page.scheme("light");
    let light = page.text(paper);
    page.scheme("dark");
    let dark = page.text(paper);
    assert_ne!(light, dark, "the system's choice");
    page.press("t");
    assert_eq!(page.text(paper), light, "the user's");
    page.press("t");
    assert_eq!(page.text(paper), dark);
    page.press("t");
    for scheme in ["light", "dark"] {
        page.scheme(scheme);
        for _ in 0..4 {
            assert_eq!(page.js(POOR_CONTRAST), json!([]), "{scheme}");
            page.press("j");
        }
        for _ in 0..4 {
            page.press("k");
        }
    }
    assert_eq!(page.problems(), [""; 0]);
}
