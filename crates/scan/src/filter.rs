//! Which warnings are shown: by the files in which their accesses stand.

use deadheat_report::Finding;

/// Files, by their names as seen from the current folder. `*` stands for anything, also for several folders, `?` for one character; the
/// name of a folder stands for all in it.
#[derive(Clone, Debug)]
pub struct Glob {
    text: Vec<char>,
}

impl Glob {
    /// Reads a pattern.
    ///
    /// ```
    /// use deadheat_scan::filter::Glob;
    /// assert!(Glob::new("src/*.c").matches("src/net/socket.c"));
    /// assert!(Glob::new("src").matches("src/net/socket.c"));
    /// assert!(!Glob::new("net").matches("src/net/socket.c"));
    /// ```
    pub fn new(text: &str) -> Self {
        let text = text.strip_prefix("./").unwrap_or(text);
        let text = text.strip_suffix('/').unwrap_or(text);
        Glob {
            text: text.chars().collect(),
        }
    }

    /// Whether a file is meant.
    pub fn matches(&self, path: &str) -> bool {
        let path: Vec<char> = path.chars().collect();
        let ends = (0..path.len()).filter(|at| path[*at] == '/');
        let mut parts = ends.chain([path.len()]);
        parts.any(|end| fits(&self.text, &path[..end]))
    }
}

/// Whether a pattern fits to all of a text. On a mismatch the last `*` takes one character more.
fn fits(pattern: &[char], text: &[char]) -> bool {
    let (mut at, mut here) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while here < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, here));
                at += 1;
            }
            Some(char) if *char == '?' || *char == text[here] => {
                at += 1;
                here += 1;
            }
            _ => match &mut star {
                Some((back, taken)) => {
                    *taken += 1;
                    (at, here) = (*back + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|char| *char == '*')
}

/// Which files are of interest.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// One of these, if there are any.
    pub only: Vec<Glob>,
    /// None of these.
    pub except: Vec<Glob>,
}

impl Filter {
    /// Whether a warning is shown: one of its places is in a file of interest, and none is in one that is not.
    pub fn shows(&self, finding: &Finding) -> bool {
        let is_in = |globs: &[Glob]| {
            let mut places = finding.accesses.iter();
            places.any(|access| {
                let file = access.place.file.as_deref().unwrap_or_default();
                globs.iter().any(|glob| glob.matches(file))
            })
        };
        (self.only.is_empty() || is_in(&self.only)) && !is_in(&self.except)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_try_all_they_can() {
        let cases = [
            ("*.c", "a/b.c", true),
            ("a*b*c", "aXbXbXc", true),
            ("a*b*c", "aXbXbX", false),
            ("?.c", "a.c", true),
            ("?.c", "ab.c", false),
            ("./src/", "src/a.c", true),
            ("src", "srcs/a.c", false),
            ("*/vendor", "lib/vendor/x.c", true),
            ("", "a.c", false),
        ];
        for (pattern, path, expected) in cases {
            assert_eq!(
                Glob::new(pattern).matches(path),
                expected,
                "{pattern} {path}"
            );
        }
    }
}
