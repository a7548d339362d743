//! Lines for the addresses in ThreadSanitizer's reports: that it starts a program for them in every run takes most of its time.

use std::collections::HashMap;
use std::path::Path;

use deadheat_code::Binary;

/// What it is told: addresses as they are, and no exit code of its own.
pub const OPTIONS: &str = "detect_deadlocks=1:exitcode=0:symbolize=0";

/// The lines of one program.
pub struct Names {
    binary: Option<Binary>,
    /// How the program's own addresses begin in a report.
    own: String,
    known: HashMap<u64, String>,
}

impl Names {
    /// Those of a program.
    pub fn of(program: &Path) -> Self {
        let name = program.file_name().unwrap_or_default();
        Names {
            binary: Binary::open(program).ok(),
            own: format!("<null> <null> ({}+0x", name.to_string_lossy()),
            known: HashMap::new(),
        }
    }

    /// A report with functions and lines in place of the program's own addresses.
    pub fn told(&mut self, said: &str) -> String {
        let mut text = String::with_capacity(said.len());
        for line in said.lines() {
            match self.frames(line) {
                Some(frames) => text.push_str(frames),
                None => text.push_str(line),
            }
            text.push('\n');
        }
        text
    }

    fn frames(&mut self, line: &str) -> Option<&str> {
        let (_, rest) = line.split_once(&self.own)?;
        let address = u64::from_str_radix(rest.split(')').next()?, 16).ok()?;
        let binary = self.binary.as_ref()?;
        let frames = self.known.entry(address).or_insert_with(|| {
            let frames = binary.frames(address);
            let lines: Vec<String> = frames
                .iter()
                .map(|frame| format!("    #0 {frame}"))
                .collect();
            lines.join("\n")
        });
        Some(frames)
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn addresses_of_other_files_stay() {
        let mut names = Names::of(Path::new("/nowhere/judged"));
        let said =
            "    #0 <null> <null> (libtsan.so.2+0x3898f)\n    #1 <null> <null> (judged+0x12)\n";
        assert_eq!(names.told(said), said);
    }

    #[test]
    fn addresses_become_lines() {
        let folder = tempfile::tempdir().unwrap();
        let [source, program] = ["a.c", "judged"].map(|name| folder.path().join(name));
        std::fs::write(&source, "\nint main(void) { return 0; }\n").unwrap();
        let mut compile = Command::new("gcc");
        assert!(
            compile
                .arg("-g")
                .arg(&source)
                .arg("-o")
                .arg(&program)
                .status()
                .unwrap()
                .success()
        );
        let symbols = Command::new("nm").arg(&program).output().unwrap().stdout;
        let symbols = String::from_utf8(symbols).unwrap();
        let main = symbols
            .lines()
            .find(|line| line.ends_with(" T main"))
            .unwrap();
        let address = main.split(' ').next().unwrap().trim_start_matches('0');
        let said = format!("    #0 <null> <null> (judged+0x{address}) (BuildId: 12)\n");
        let told = Names::of(&program).told(&said);
        assert!(
            told.starts_with("    #0 main ") && told.contains("/a.c:2"),
            "{told}"
        );
    }
}
