//! The picture of the terminal in `README.md` is what `deadheat check` prints for the example of
//! `docs/confirming.md`, colours and all. `BLESS=1` draws it anew.

mod support;

use std::path::Path;

use support::Sandbox;

/// The program that the page shows.
fn example(page: &str) -> &str {
    let (_, from) = page.split_once("```c file=limit.c\n").unwrap();
    from.split_once("```").unwrap().0
}

#[test]
fn the_picture_of_the_terminal_is_true() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = std::fs::read_to_string(docs.join("confirming.md")).unwrap();
    let here = Sandbox::new();
    here.file("limit.c", example(&page));
    let output = here
        .deadheat(["check", "limit.c"])
        .env("CLICOLOR_FORCE", "1")
        .env_remove("NO_COLOR")
        .env("COLUMNS", "100")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(66));
    let told = String::from_utf8(output.stdout).unwrap();
    // The figures above it are not the same on any two machines.
    let at = told.find("confirmed race").unwrap();
    let start = told[..at].rfind('\n').map_or(0, |end| end + 1);
    let shown = format!("$ deadheat check limit.c\n{}", &told[start..]);
    let drawn = anstyle_svg::Term::new().render_svg(&shown);
    let path = docs.join("images/check.svg");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &drawn).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept == drawn, "BLESS=1 draws {} anew", path.display());
}
