//! The workflow in the book (`docs/examples/deadheat.yml`): its commands are run on a project.

mod support;

use std::path::{Path, PathBuf};

use support::Sandbox;

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(top().join(name)).unwrap()
}

/// The commands of the steps, by the steps' names.
fn steps(workflow: &str) -> Vec<(String, String)> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut steps = Vec::new();
    let mut name = String::new();
    let mut lines = workflow.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some(found) = line.trim().strip_prefix("- name: ") {
            name = found.to_owned();
        }
        if line.trim() != "run: |" {
            continue;
        }
        let mut script = String::new();
        while let Some(next) = lines.next_if(|next| indent(next) > indent(line)) {
            script += next.trim_start();
            script.push('\n');
        }
        steps.push((name.clone(), script));
    }
    steps
}

#[test]
fn the_page_shows_the_workflow() {
    let workflow = read("docs/examples/deadheat.yml");
    assert!(read("docs/ci.md").contains(&format!("```yaml\n{workflow}```\n")));
    let names: Vec<String> = steps(&workflow).into_iter().map(|step| step.0).collect();
    let expected = [
        "Install",
        "Look at the machine",
        "Build",
        "Check",
        "Report",
        "Judge",
    ];
    assert_eq!(names, expected);
}

#[test]
fn the_workflow_works() {
    let here = Sandbox::new();
    for name in [
        "README.md",
        "Makefile",
        "src/main.c",
        "src/tally.c",
        "src/tally.h",
    ] {
        here.file(name, &read(&format!("programs/projects/make/{name}")));
    }
    for (name, script) in steps(&read("docs/examples/deadheat.yml")) {
        // Deadheat is there, as this test has it.
        if name == "Install" {
            continue;
        }
        let output = here
            .command("bash")
            .args(["-ec", &script])
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {output:?}");
        if name == "Check" {
            let report = std::fs::read_to_string(here.path().join("deadheat.json")).unwrap();
            let found: serde_json::Value = serde_json::from_str(&report).unwrap();
            assert_eq!(found["findings"].as_array().unwrap().len(), 1, "{found:#}");
            here.file("deadheat-baseline.json", &report);
        }
    }
    assert!(here.path().join("deadheat.sarif").exists());
    assert!(here.path().join("deadheat.html").exists());
    here.file(
        "deadheat-baseline.json",
        "{\"version\":1,\"findings\":[],\"stats\":{}}",
    );
    let judge = [
        "report",
        "deadheat.json",
        "--baseline",
        "deadheat-baseline.json",
    ];
    let judged = here.deadheat(judge).output().unwrap();
    assert_eq!(judged.status.code(), Some(66), "{judged:?}");
}
