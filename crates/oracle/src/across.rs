//! Races between two files of one program, such as a Rust half and a C half.
//!
//! Each file carries its own half of the mark: `// RACE: total with line 17 of half.c`. The halves
//! are compared when a file is read from disk, since only then its neighbour can be looked at.

use std::path::Path;

use crate::mark::{self, RaceClaim};
use crate::{Located, Problem, header};

/// An access that can race with one in another file of the same folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RaceAcross {
    /// The line of this file's access.
    pub line: u32,
    /// The object, as the marks call it.
    pub object: String,
    /// The name of the file of the other access.
    pub other_file: String,
    /// Its line there.
    pub other_line: u32,
    /// As [`Race::weak`](crate::Race::weak).
    pub weak: bool,
}

/// The claims whose partner is in another file, ordered by line.
pub(crate) fn races(claims: &[RaceClaim]) -> Vec<RaceAcross> {
    let mut races: Vec<RaceAcross> = claims
        .iter()
        .filter_map(|claim| {
            Some(RaceAcross {
                line: claim.line,
                object: claim.object.clone(),
                other_file: claim.file.clone()?,
                other_line: claim.partner,
                weak: claim.weak,
            })
        })
        .collect();
    races.sort();
    races.dedup();
    races
}

/// Whether the other files carry the mirrored marks.
pub(crate) fn check_mirrors(path: &Path, races: &[RaceAcross]) -> Located<()> {
    let own_name = path.file_name().unwrap_or_default();
    for race in races {
        let neighbour = path.with_file_name(&race.other_file);
        let text = std::fs::read_to_string(neighbour)
            .map_err(|_| (race.line, Problem::NoSuchFile(race.other_file.clone())))?;
        let mirrored = halves(&text).iter().any(|other| {
            (other.line, other.other_line) == (race.other_line, race.line)
                && own_name == other.other_file.as_str()
                && (&other.object, other.weak) == (&race.object, race.weak)
        });
        if !mirrored {
            let problem = Problem::UnmirroredAcross {
                file: race.other_file.clone(),
                partner: race.other_line,
                object: race.object.clone(),
            };
            return Err((race.line, problem));
        }
    }
    Ok(())
}

/// The halves in a neighbour's text. One that is malformed has none; reading it says why.
fn halves(text: &str) -> Vec<RaceAcross> {
    header::read(text)
        .and_then(|header| mark::read(text, header.lines))
        .map(|marks| races(&marks.races))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::Oracle;

    /// Reads `half.rs` with this text beside a `half.c` with that.
    fn read(rust: &str, c: &str) -> Result<Oracle, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("half.rs");
        std::fs::write(&path, rust).expect("a file");
        std::fs::write(folder.path().join("half.c"), c).expect("a file");
        Oracle::read(&path).map_err(|error| error.problem.to_string())
    }

    const RUST: &str = "\nx += 1; // RACE: x with line 1 of half.c\n";

    #[test]
    fn halves_that_mirror_each_other_are_a_race() {
        let oracle = read(RUST, "x++; // RACE: x with line 2 of half.rs\n").unwrap();
        assert!(oracle.decides_races() && oracle.races.is_empty());
        let [race] = &oracle.races_across[..] else {
            panic!("{oracle:?}");
        };
        assert_eq!((race.line, race.other_line), (2, 1));
        assert_eq!((&*race.object, &*race.other_file), ("x", "half.c"));
    }

    #[test]
    fn a_half_alone_is_an_error() {
        for c in [
            "",
            "x++;\n",
            "x++; // RACE: y with line 2 of half.rs\n",
            "x++; // RACE: x with line 2 of half.rs (weak)\n",
            "x++; // RACE: x with line 2 of other.rs\n",
            "x++; // RACE: x with line 3 of half.rs\n",
            "x++; // RACE: x with line 1\n",
            "\nx++; // RACE: x with line 2 of half.rs\n",
        ] {
            let problem = read(RUST, c).unwrap_err();
            assert_eq!(
                problem, "line 1 of half.c does not mirror this mark for `x`",
                "{c}"
            );
        }
    }

    #[test]
    fn the_other_file_must_be_there() {
        let problem = read("x += 1; // RACE: x with line 1 of gone.c\n", "").unwrap_err();
        assert_eq!(problem, "there is no file gone.c beside this one");
    }

    #[test]
    fn a_file_without_races_has_none_across_either() {
        let text = "// NORACE\nx += 1; // RACE: x with line 1 of half.c\n";
        let error = Oracle::parse("half.rs", text).unwrap_err();
        assert_eq!(
            error.to_string(),
            "half.rs:2: `NORACE` and `RACE` contradict each other"
        );
    }
}
