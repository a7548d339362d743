//! Runs the book: every `console` block of `docs/*.md`, in a folder with the files that the
//! page shows. What differs from the page is an error; `BLESS=1` writes it into the page.
//!
//! Figures, and white space between columns, may differ: they are not the same on any two
//! machines.

mod support;

use std::path::{Path, PathBuf};

use support::{Sandbox, scanner};

fn pages() -> Vec<PathBuf> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let entries = docs.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|e| e == "md"))
        .collect();
    pages.sort();
    pages
}

/// Runs the page's blocks and returns the page as it should be.
fn run_page(text: &str) -> String {
    let here = Sandbox::new();
    let mut page = String::new();
    let mut lines = text.lines();
    let mut status = 0;
    while let Some(line) = lines.next() {
        page += line;
        page.push('\n');
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else {
            continue;
        };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if let Some((_, name)) = info.split_once("file=") {
            here.file(name, &(block.join("\n") + "\n"));
        }
        if info == "console" {
            for command in block.iter().filter_map(|line| line.strip_prefix("$ ")) {
                page += &format!("$ {command}\n");
                if command == "echo $?" {
                    page += &format!("{status}\n");
                    continue;
                }
                let script = format!("exec 2>&1; {command}");
                let output = here.command("bash").args(["-c", &script]).output().unwrap();
                status = output.status.code().unwrap_or(-1);
                page += &String::from_utf8_lossy(&output.stdout);
            }
        } else {
            page += &block
                .iter()
                .map(|line| format!("{line}\n"))
                .collect::<String>();
        }
        page += "```\n";
    }
    page
}

/// Without what is different on every machine.
fn steady(line: &str) -> String {
    let mut out = String::new();
    for word in line.split_whitespace() {
        let mut inside = false;
        for letter in word.chars() {
            let digit = letter.is_ascii_hexdigit() && (inside || letter.is_ascii_digit());
            if !digit {
                out.push(letter);
            } else if !inside {
                out.push('0');
            }
            inside = digit || (inside && ".,x".contains(letter));
        }
        out.push(' ');
    }
    ["0 ms", "0 s", "0 kB", "0 B"]
        .iter()
        .fold(out, |text, unit| text.replace(unit, "0 unit"))
}

#[test]
fn the_book_is_true() {
    scanner::build();
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = String::new();
    for path in pages() {
        let text = std::fs::read_to_string(&path).unwrap();
        let page = run_page(&text);
        let same = text.lines().map(steady).eq(page.lines().map(steady));
        if bless && !same {
            std::fs::write(&path, &page).unwrap();
        } else if !same {
            let name = path.file_name().unwrap().to_string_lossy();
            let differing = text
                .lines()
                .zip(page.lines())
                .find(|(a, b)| steady(a) != steady(b));
            wrong += &format!("{name}: {differing:?}\n");
        }
    }
    assert!(
        wrong.is_empty(),
        "BLESS=1 writes what is new into the pages:\n{wrong}"
    );
}
