//! Reports of thousands of findings stay usable.

mod support;

use support::Sandbox;

/// So many pairs of places race, each on a variable of its own; with critical sections between them, so that schedules are no matter of course.
fn of_variables(pairs: usize) -> String {
    let mut trace = String::from("M|fork(A)|1\nM|fork(B)|1\n");
    for pair in 0..pairs {
        trace.push_str(&format!(
            "A|w(x{pair}={pair})|a.c:{pair}\nA|acq(m)|2\nA|w(n={pair})|3\nA|rel(m)|4\n\
             B|acq(m)|5\nB|w(n=0)|6\nB|rel(m)|7\nB|w(x{pair}=0)|b.c:{pair}\n"
        ));
    }
    trace
}

/// So many places race with one, all on the same variable.
fn of_one_variable(places: usize) -> String {
    let mut trace = String::from("M|fork(A)|1\nM|fork(B)|1\n");
    for place in 0..places {
        trace.push_str(&format!("A|w(x)|a.c:{place}\n"));
    }
    trace.push_str("B|w(x)|b.c:1\n");
    trace
}

#[test]
fn four_thousand_findings_take_a_few_megabytes() {
    let here = Sandbox::new();
    here.file("many.txt", &of_variables(4000));
    let report = |arguments: &[&str], name: &str| {
        let told = here.deadheat(arguments).output().unwrap();
        assert_eq!(told.status.code(), Some(66), "{told:?}");
        std::fs::metadata(here.path().join(name)).unwrap().len()
    };
    let arguments = [
        "predict",
        "many.txt",
        "--format",
        "json",
        "-o",
        "report.json",
    ];
    let json = report(&arguments, "report.json");
    assert!(json < 20 << 20, "{json}");
    let text = std::fs::read_to_string(here.path().join("report.json")).unwrap();
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["findings"].as_array().unwrap().len(), 4000);
    let page = report(&["report", "report.json", "--html"], "deadheat-report.html");
    assert!(page < 20 << 20, "{page}");
    let arguments = [
        "report",
        "report.json",
        "--format",
        "sarif",
        "-o",
        "report.sarif",
    ];
    let sarif = report(&arguments, "report.sarif");
    assert!(sarif < 20 << 20, "{sarif}");
}

#[test]
fn findings_of_one_variable_are_one_group() {
    let here = Sandbox::new();
    let told = |places: usize| {
        here.file("one.txt", &of_one_variable(places));
        let mut command = here.deadheat(["predict", "one.txt", "--method", "hb"]);
        let told = command.output().unwrap();
        String::from_utf8(told.stdout).unwrap()
    };
    let few = told(8);
    assert_eq!(few.matches("observed race on x").count(), 8, "{few}");
    assert!(!few.contains("more of this race"), "{few}");
    let many = told(30);
    assert_eq!(many.matches("  observed race on x: ").count(), 10, "{many}");
    assert!(many.contains("27 more of this race on x:\n"), "{many}");
    assert!(
        many.contains("and 17 more, which all other forms of the report have"),
        "{many}"
    );
}
