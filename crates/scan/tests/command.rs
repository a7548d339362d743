//! The analyser as people and programs call it: reports, filters, explanations, errors, exit codes.

use std::process::Command;

use serde_json::Value;

/// A folder with a program that has a race and a deadlock.
struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let project = Project {
            folder: tempfile::tempdir().expect("there is room for a folder"),
        };
        project.file("src/bank.c", include_str!("command/bank.c"));
        project
    }

    fn file(&self, name: &str, contents: &str) {
        let path = self.folder.path().join(name);
        let parent = path.parent().expect("it is in the folder");
        std::fs::create_dir_all(parent).expect("there is room for a folder");
        std::fs::write(path, contents).expect("there is room for a file");
    }

    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_deadheat-scan"))
            .args(args)
            .current_dir(self.folder.path())
            .env("COLUMNS", "100")
            .env("LC_ALL", "C")
            .output()
            .expect("it runs");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code().expect("it ends by itself");
        (code, text(&output.stdout), text(&output.stderr))
    }

    /// All of it as one text, the same on every machine.
    fn told(&self, args: &[&str]) -> String {
        let (code, out, errors) = self.run(args);
        let timeless: String = out
            .lines()
            .map(|line| match line.strip_prefix("time ") {
                Some(_) => "time              [TIME]\n".to_owned(),
                None => format!("{line}\n"),
            })
            .collect();
        format!("exit: {code}\n--- stdout\n{timeless}--- stderr\n{errors}")
    }

    fn json(&self, args: &[&str]) -> Value {
        let (_, out, _) = self.run(args);
        serde_json::from_str(&out).expect("it is JSON")
    }

    /// The names of the warnings that are shown.
    fn ids(&self, args: &[&str]) -> Vec<String> {
        let all = [&["--format", "json"], args].concat();
        let report = self.json(&all);
        let findings = report["findings"].as_array().expect("there is a list");
        let ids = findings.iter().filter_map(|one| one["id"].as_str());
        ids.map(str::to_owned).collect()
    }
}

#[test]
fn help_and_version() {
    let project = Project::new();
    let (code, help, _) = project.run(&["--help"]);
    assert_eq!(code, 0);
    let widest = help.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "a line of {widest:?}");
    insta::assert_snapshot!("help", help);
    assert_eq!(
        project.run(&["--version"]).1,
        format!("deadheat scan {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn warnings_for_people() {
    insta::assert_snapshot!("bank", Project::new().told(&["src/bank.c"]));
}

#[test]
fn a_limit_counts_the_rest() {
    let project = Project::new();
    let told = project.told(&["--limit", "1", "src/bank.c"]);
    assert_eq!(told.matches("possible ").count(), 1, "{told}");
    assert!(
        told.contains("\n1 more, ranked lower: --limit shows them\n"),
        "{told}"
    );
    let all = project.told(&["--limit", "0", "src/bank.c"]);
    assert_eq!(all.matches("possible ").count(), 2, "{all}");
}

#[test]
fn everything_about_one_warning() {
    let project = Project::new();
    for id in project.ids(&["src/bank.c"]) {
        let told = project.told(&["--explain", &id, "src/bank.c"]);
        insta::assert_snapshot!(format!("explain_{id}"), told);
    }
}

#[test]
fn what_is_wrong_is_told() {
    let project = Project::new();
    project.file("bad.c", "int main(void) { return x; }\n");
    project.file("list.supp", "races:x\n");
    project.file("broken.toml", "suppressions = 3\n");
    let told = |args: &[&str]| {
        let folder = project.folder.path().canonicalize();
        let folder = folder.expect("it is there");
        project
            .told(args)
            .replace(&*folder.to_string_lossy(), "[HERE]")
    };
    insta::assert_snapshot!("nothing_given", told(&[]));
    insta::assert_snapshot!("no_such_file", told(&["none.c"]));
    insta::assert_snapshot!("unknown_kind", told(&["README.md"]));
    insta::assert_snapshot!("unknown_option", told(&["--fast"]));
    insta::assert_snapshot!(
        "no_such_warning",
        told(&["--explain", "12345678", "src/bank.c"])
    );
    insta::assert_snapshot!(
        "bad_suppression",
        told(&["--suppressions", "list.supp", "src/bank.c"])
    );
    insta::assert_snapshot!(
        "bad_configuration",
        told(&["--config", "broken.toml", "src/bank.c"])
    );
    let (code, _, errors) = project.run(&["bad.c"]);
    assert_eq!(code, 3);
    assert!(errors.contains("bad.c does not compile"), "{errors}");
}

#[test]
fn files_decide_what_is_shown() {
    let project = Project::new();
    let all = project.ids(&["src/bank.c"]);
    assert_eq!(all.len(), 2);
    assert_eq!(project.ids(&["--only", "src", "src/bank.c"]), all);
    assert_eq!(project.ids(&["--only", "*bank*", "src/bank.c"]), all);
    assert!(project.ids(&["--only", "lib", "src/bank.c"]).is_empty());
    assert!(
        project
            .ids(&["--except", "lib", "--except", "src/*.c", "src/bank.c"])
            .is_empty()
    );
    let (code, out, _) = project.run(&["--except", "src", "src/bank.c"]);
    assert_eq!(code, 0);
    assert!(out.contains("2 in other files"), "{out}");
}

#[test]
fn suppressions_are_those_of_runs() {
    let project = Project::new();
    project.file("known.supp", "race:^transfers$\n");
    let by_option = project.ids(&["--suppressions", "known.supp", "src/bank.c"]);
    assert_eq!(by_option.len(), 1);
    project.file(
        "deadheat.toml",
        "suppressions = ['known.supp']\n[[channel]]\nsend = 'a'\nreceive = 'b'\n",
    );
    assert_eq!(project.ids(&["src/bank.c"]), by_option);
    project.file("known.supp", "race:transfers\ndeadlock:auditor\n");
    let (code, out, _) = project.run(&["src/bank.c"]);
    assert_eq!(code, 0);
    assert!(out.contains("2 by suppressions"), "{out}");
}

#[test]
fn no_colour_but_on_a_terminal() {
    let (_, out, errors) = Project::new().run(&["src/bank.c"]);
    assert!(!out.contains('\u{1b}') && !errors.contains('\u{1b}'));
}

#[test]
fn reports_go_to_files() {
    let project = Project::new();
    let (code, out, _) = project.run(&["-o", "report.txt", "src/bank.c"]);
    assert_eq!((code, &*out), (66, ""));
    let written = std::fs::read_to_string(project.folder.path().join("report.txt"));
    let written = written.expect("it was written");
    assert!(written.contains("possible race on transfers"), "{written}");
    assert!(!written.contains('\u{1b}'));
}

#[test]
fn sarif_has_places_from_here() {
    let log = Project::new().json(&["--format", "sarif", "src/bank.c"]);
    let results = log["runs"][0]["results"]
        .as_array()
        .expect("there are results");
    assert_eq!(results.len(), 2);
    for result in results {
        let places = [&result["locations"][0], &result["relatedLocations"][0]];
        for place in places {
            let artifact = &place["physicalLocation"]["artifactLocation"];
            assert_eq!(artifact["uri"], "src/bank.c");
        }
        let flows = &result["codeFlows"][0]["threadFlows"];
        assert_eq!(flows.as_array().map(Vec::len), Some(2));
    }
}

#[test]
fn what_is_not_analysed_is_said() {
    let project = Project::new();
    project.file(
        "calls.c",
        "void mystery(int *); static int x; int main(void) { mystery(&x); return x; }\n",
    );
    let (code, _, errors) = project.run(&["calls.c"]);
    assert_eq!(code, 0);
    assert_eq!(
        errors,
        "deadheat: not analysed: 1 function without a body that no model knows: mystery\n"
    );
    let report = project.json(&["--format", "json", "calls.c"]);
    assert_eq!(
        report["stats"]["not_analysed"][0]["functions"][0],
        "mystery"
    );
}

#[test]
fn functions_that_touch_nothing_of_another_threads_are_listed() {
    let project = Project::new();
    project.file(
        "own.c",
        "#include <pthread.h>\n#include <stdlib.h>\n\
         void keep(int *);\nint *published; int count;\n\
         static int own(int *at) { return *at += 1; }\n\
         static int given(int *at) { return *at += 1; }\n\
         static int handed(int *at) { return *at += 1; }\n\
         static int global(void) { return count++; }\n\
         static void *run(void *data) {\n\
           int mine = 0, kept = 0; keep(&kept); published = malloc(4);\n\
           return own(&mine) + given(published) + handed(&kept) + global() ? data : 0; }\n\
         int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); run(0); return 0; }\n",
    );
    let report = project.json(&["--format", "json", "own.c"]);
    let unshared = report["stats"]["unshared"].as_array().expect("a list");
    let names: Vec<&str> = unshared
        .iter()
        .filter_map(|one| one["function"].as_str())
        .collect();
    assert_eq!(names, ["own"]);
}
