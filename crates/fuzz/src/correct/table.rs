//! Tables of what was tried: pieces and commands, and who can end which wait.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::catalogue::Piece;
use super::judge::{Verdict, Way};

/// How often pieces were tried in one way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    /// Programs with it.
    pub tried: usize,
    /// Those with warnings.
    pub warned: usize,
    /// Those about which a command was wrong.
    pub wrong: usize,
}

/// All that was tried: by language and piece, then by way.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: BTreeMap<(String, String), (About, [Count; Way::ALL.len()])>,
}

/// What a row says about its piece.
#[derive(Clone, Debug)]
struct About {
    wait: String,
    ender: String,
}

impl Table {
    /// One more program with these pieces.
    pub fn add(&mut self, pieces: &[Piece], way: Way, verdict: &Verdict) {
        let place = Way::ALL.iter().position(|&other| other == way).unwrap_or(0);
        for piece in pieces {
            let key = (piece.language.name().to_owned(), piece.name.clone());
            let about = About {
                wait: piece.wait.clone(),
                ender: piece.ender.clone(),
            };
            let (_, counts) = self.rows.entry(key).or_insert((about, Default::default()));
            let count = &mut counts[place];
            count.tried += 1;
            match verdict {
                Verdict::Good => {}
                Verdict::Warned => count.warned += 1,
                Verdict::Wrong(_) => count.wrong += 1,
            }
        }
    }

    /// Pieces and commands: how often each was tried, and how often it was wrong.
    #[must_use]
    pub fn by_piece(&self) -> String {
        let mut out = String::from("| language | piece |");
        let mut rule = String::from("|---|---|");
        for way in Way::ALL {
            let _ = write!(out, " {} |", way.name());
            rule.push_str("---|");
        }
        out = format!("{out}\n{rule}\n");
        for ((language, name), (_, counts)) in &self.rows {
            let _ = write!(out, "| {language} | {name} |");
            for count in counts {
                out.push_str(&cell(*count));
            }
            out.push('\n');
        }
        out
    }

    /// Kinds of waits and who can end them, each tried: by who does, then by the wait. `yes`: it ended,
    /// nothing was found, and the result
    /// was right.
    #[must_use]
    pub fn by_wait(&self) -> String {
        let ways = [Way::Native, Way::Check, Way::Explore, Way::Watch];
        let mut out = String::from("| ended by | wait | in |");
        for way in ways {
            let _ = write!(out, " {} |", way.name());
        }
        out.push_str("\n|---|---|---|---|---|---|---|\n");
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|((language, _), (about, _))| (&about.ender, language, &about.wait));
        for ((language, _), (about, counts)) in rows {
            let language = match language.as_str() {
                "c" => "C",
                "cpp" => "C++",
                _ => "Rust",
            };
            let _ = write!(out, "| {} | {} | {language} |", about.ender, about.wait);
            for way in ways {
                let place = Way::ALL.iter().position(|&other| other == way).unwrap_or(0);
                let said = match counts[place] {
                    Count { tried: 0, .. } => "-",
                    Count { wrong: 0, .. } => "yes",
                    _ => "**no**",
                };
                let _ = write!(out, " {said} |");
            }
            out.push('\n');
        }
        out
    }
}

fn cell(count: Count) -> String {
    let mut said = match count.wrong {
        0 => format!("{}", count.tried),
        wrong => format!("{wrong} WRONG of {}", count.tried),
    };
    if count.warned > 0 {
        let _ = write!(said, " ({} warned)", count.warned);
    }
    format!(" {said} |")
}
