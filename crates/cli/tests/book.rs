//! Runs the book: every `console` block of its pages, in a folder with the files that the
//! page shows, one test for each. What differs from the page is an error; `BLESS=1` writes it into the page.
//!
//! Figures, and white space between columns, may differ: they are not the same on any two
//! machines.

mod support;

use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};
use support::{Sandbox, scanner};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut folders = vec![docs()];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                pages.push(path);
            }
        }
    }
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
    let out = out.replace("0. ", "0 ");
    ["0 ms", "0 s", "0 kB", "0 B"]
        .iter()
        .fold(out, |text, unit| text.replace(unit, "0 unit"))
}

/// Whether a page shows what its commands print.
fn is_true(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    if text.contains("\n$ deadheat scan") || text.contains(" --scan") {
        scanner::build();
    }
    let page = run_page(&text);
    if text.lines().map(steady).eq(page.lines().map(steady)) {
        return Ok(());
    }
    if std::env::var_os("BLESS").is_some() {
        return Ok(std::fs::write(path, &page)?);
    }
    let mut lines = text.lines().zip(page.lines());
    let differing = lines.find(|(a, b)| steady(a) != steady(b));
    Err(format!("BLESS=1 writes what is new into the page: {differing:?}").into())
}

/// The targets of a page's links, without those to elsewhere. Blocks of code have none.
fn links(text: &str) -> Vec<String> {
    let prose = text.split("```").step_by(2);
    let targets = prose.flat_map(|part| part.split("](").skip(1));
    let targets = targets.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()));
    targets.filter(|target| !target.contains("://")).collect()
}

/// The name that a heading can be linked by: its letters in lower case, spaces as hyphens.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn links_lead_somewhere() -> Result<(), Failed> {
    let top = docs().join("..");
    let mut pages = pages();
    pages.extend(["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|name| top.join(name)));
    let mut wrong = Vec::new();
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            let (file, part) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file.is_empty() {
                true => page.clone(),
                false => page.parent().unwrap().join(file),
            };
            let has_part = || {
                let text = std::fs::read_to_string(&target).unwrap_or_default();
                let mut headings = text.lines().filter(|line| line.starts_with('#'));
                headings.any(|heading| anchor(heading) == part)
            };
            if !target.exists() || !part.is_empty() && !has_part() {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("{wrong:#?}").into()),
    }
}

fn every_page_is_in_the_summary_once() -> Result<(), Failed> {
    let summary = std::fs::read_to_string(docs().join("SUMMARY.md")).unwrap();
    let listed: Vec<PathBuf> = links(&summary)
        .iter()
        .map(|link| docs().join(link))
        .collect();
    let wrong: Vec<PathBuf> = pages()
        .into_iter()
        .filter(|page| !page.ends_with("SUMMARY.md"))
        .filter(|page| listed.iter().filter(|listed| *listed == page).count() != 1)
        .collect();
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(format!("not once in SUMMARY.md: {wrong:?}").into()),
    }
}

fn main() {
    let page = |path: PathBuf| {
        let name = path.strip_prefix(docs()).unwrap_or(&path).display();
        Trial::test(format!("{name} is true"), move || is_true(&path))
    };
    let mut tests: Vec<Trial> = pages().into_iter().map(page).collect();
    tests.push(Trial::test("links lead somewhere", links_lead_somewhere));
    tests.push(Trial::test(
        "every page is in the summary once",
        every_page_is_in_the_summary_once,
    ));
    libtest_mimic::run(&Arguments::from_args(), tests).exit();
}
