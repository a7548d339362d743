//! Files and symbols with names that attack whoever shows them: markup, quotes, colours of terminals, ends of lines, in every kind of
//! report.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::process::Command;

use super::Row;
use super::tools::{Tools, is_documented, run_usual, told};

/// Names of the source file.
const FILES: [&[u8]; 4] = [
    b"<img src=x onerror=alert(1)>&amp;.c",
    b"\x1b[31mred\x1b]0;title\x07.c",
    b"two\nlines\r \"'`${HOME}%s%n]]>.c",
    b"not\xff\xfeUTF-8\xe2\x80\xae.c",
];

/// What the names of symbols get behind them.
const SYMBOLS: &str = "<img src=x onerror=alert(1)>&amp;\"'`\x1b[31m\r\n]]>${HOME}%s%n";

/// Every kind of report.
const FORMATS: [&str; 7] = ["text", "json", "sarif", "tsan", "junit", "chrome", "html"];

/// One row for each kind of report.
pub fn rows(tools: &Tools) -> Result<Vec<Row>, String> {
    eprintln!("bench: hostile names");
    let mut rows: Vec<Row> = FORMATS
        .iter()
        .map(|format| Row::new(format!("hostile names of files and symbols, {format}")))
        .collect();
    let store = tools.work.join("store");
    let folder = tools.work.join("hostile");
    for file in FILES {
        let source = folder.join(OsString::from_vec(file.to_vec()));
        for debug in ["-g", "-g0"] {
            tools.clear(&store);
            tools.clear(&folder);
            std::fs::create_dir_all(&folder)
                .and_then(|()| std::fs::copy(tools.source("hostile"), &source))
                .map_err(|error| error.to_string())?;
            let [object, program] = ["o", ""].map(|end| source.with_extension(end));
            let mut compile = tools.deadheat(&store);
            compile.args(["cc", debug, "-O0", "-pthread", "-c", "-o"]);
            let mut rename = Command::new("objcopy");
            for name in ["shared", "work"] {
                rename
                    .arg("--redefine-sym")
                    .arg(format!("{name}={name}{SYMBOLS}"));
            }
            let mut link = tools.deadheat(&store);
            link.args(["cc", "-pthread", "-o"]).arg(&program);
            for command in [
                compile.arg(&object).arg(&source),
                rename.arg(&object),
                link.arg(&object),
            ] {
                let output = run_usual(command)?;
                if !output.status.success() {
                    return Err(format!("hostile cannot be built: {}", told(&output)));
                }
            }
            let found = run_usual(tools.deadheat(&store).args(["check", "--"]).arg(&program))?;
            if found.status.code() != Some(66) {
                return Err(format!("nothing was found: {}", told(&found)));
            }
            for (row, format) in rows.iter_mut().zip(FORMATS) {
                row.count(is_harmless(tools, format)?, true);
            }
        }
    }
    tools.clear(&store);
    tools.clear(&folder);
    Ok(rows)
}

/// Whether a report of the latest recording is what it should be, and nothing in it acts.
fn is_harmless(tools: &Tools, format: &str) -> Result<bool, String> {
    let store = tools.work.join("store");
    let page = tools.work.join("page.html");
    let mut command: Command = tools.deadheat(&store);
    command.arg("report");
    match format {
        "html" => command.arg("--html").arg(&page),
        _ => command.args(["--format", format]),
    };
    let output = run_usual(&mut command)?;
    let text = match format {
        "html" => std::fs::read(&page).map_err(|error| error.to_string())?,
        _ => output.stdout.clone(),
    };
    let Ok(text) = String::from_utf8(text) else {
        return Ok(false);
    };
    // People read some; programs read the others, and say for themselves what may stand in them.
    let is_read = ["text", "tsan", "html"].contains(&format);
    let acts =
        |letter: char| letter.is_control() && letter != '\n' || is_read && letter == '\u{202e}';
    let is_well_formed = match format {
        "json" | "sarif" | "chrome" => serde_json::from_str::<serde_json::Value>(&text).is_ok(),
        "junit" => roxmltree::Document::parse(&text).is_ok(),
        "html" => !text.contains("<img") && !text.contains("<script>alert"),
        _ => true,
    };
    Ok(is_documented(&output) && is_well_formed && !text.is_empty() && !text.contains(acts))
}
