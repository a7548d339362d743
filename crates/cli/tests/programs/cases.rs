//! Which programs are tested in which ways, and what each of them shows.

use std::collections::BTreeMap;
use std::path::Path;

use deadheat_oracle::{CargoTarget, Oracle, TargetKind, read_folder};

use crate::support::compilers;

/// How a program is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Parallel,
    /// On green contexts.
    Serial,
    /// On kernel threads that pass a token.
    Real,
    /// Not recorded, but watched as it runs.
    Watch,
    /// Recorded, and what that proves enforced on it.
    Check,
    /// All its schedules are searched.
    Explore,
}

/// What a test does with a program that it has built.
#[derive(Clone, Debug)]
pub struct Case {
    pub oracle: Oracle,
    pub compiler: &'static str,
    pub level: &'static str,
    pub mode: Mode,
}

/// All of them: those of one build together, with its name.
pub fn cases() -> Vec<(String, Vec<Case>)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
    let oracles = read_folder(&top).unwrap_or_else(|error| panic!("{error}"));
    let programs = oracles
        .iter()
        .filter(|oracle| oracle.directives.part_of.is_none());
    let compilers = compilers();
    let mut cases = Vec::new();
    for oracle in programs {
        if let Some(target) = oracle.cargo_target() {
            cases.extend(cargo_cases(oracle, &target));
            continue;
        }
        let name = oracle.path.strip_prefix(&top).unwrap().with_extension("");
        for &compiler in &compilers {
            let mut builds: BTreeMap<&str, Vec<Case>> = BTreeMap::new();
            for (level, mode) in ways(&name, compiler) {
                builds.entry(level).or_default().push(Case {
                    oracle: oracle.clone(),
                    compiler,
                    level,
                    mode,
                });
            }
            let kind = compiler.split('-').next().unwrap_or(compiler);
            let named = |(level, cases)| (format!("{}/{kind}{level}", name.display()), cases);
            cases.extend(builds.into_iter().map(named));
        }
    }
    cases
}

/// What Cargo can run, in all modes; libraries and tests are no programs.
fn cargo_cases(oracle: &Oracle, target: &CargoTarget) -> Option<(String, Vec<Case>)> {
    if !matches!(target.kind, TargetKind::Program | TargetKind::Example) {
        return None;
    }
    let case = |mode: Mode| Case {
        oracle: oracle.clone(),
        compiler: "rustc",
        level: "",
        mode,
    };
    let modes = [
        Mode::Parallel,
        Mode::Serial,
        Mode::Real,
        Mode::Watch,
        Mode::Check,
        Mode::Explore,
    ];
    let name = format!("rust/{}/{}/rustc", target.package, target.name);
    Some((name, modes.map(case).into()))
}

/// Programs with an error on another path than that of most runs, which prediction does not see.
const ELSEWHERE: [&str; 2] = ["claim_race", "signal_one_deadlock"];

/// The same after the papers' tables, where a search of the schedules with this argument is short and finds all.
const ON_OTHER_PATHS: [(&str, &str); 8] = [
    ("airline", "2"),
    ("bubble_sort", "2"),
    ("crawler", "3"),
    ("downloader", "3"),
    ("merge_sort", "4"),
    ("multipole", "8"),
    ("quick_sort", "4"),
    ("ray_tracer", "3"),
];

/// The argument with which all races of such a program are searched for.
pub fn on_other_paths(program: &Path) -> Option<&'static str> {
    let stem = program.file_stem()?;
    let mut all = ON_OTHER_PATHS.iter();
    all.find(|(name, _)| stem == *name).map(|(_, size)| *size)
}

/// All programs at -O1 in both modes; the papers' and some others also at -O0, at -O2, and with
/// real threads. Scenarios are about what one run shows. Those after the papers' tables are long: they are
/// watched and checked with one compiler, and recorded with the other; where `check` cannot find all, they are explored.
fn ways(name: &Path, compiler: &str) -> Vec<(&'static str, Mode)> {
    if name.starts_with("scenarios") {
        return match compiler {
            "gcc" => vec![
                ("-O0", Mode::Serial),
                ("-O0", Mode::Watch),
                ("-O0", Mode::Check),
                ("-O0", Mode::Explore),
            ],
            _ => vec![("-O1", Mode::Serial)],
        };
    }
    if name.starts_with("papers/tables") {
        return match compiler {
            "gcc" if on_other_paths(name).is_some() => {
                vec![
                    ("-O0", Mode::Watch),
                    ("-O0", Mode::Check),
                    ("-O0", Mode::Explore),
                ]
            }
            "gcc" => vec![("-O0", Mode::Watch), ("-O0", Mode::Check)],
            _ => vec![("-O1", Mode::Serial), ("-O2", Mode::Serial)],
        };
    }
    let mut ways = vec![
        ("-O1", Mode::Parallel),
        ("-O1", Mode::Serial),
        ("-O0", Mode::Watch),
    ];
    let chosen = name.starts_with("papers") || compiler == "gcc";
    if chosen {
        ways.push(("-O0", Mode::Serial));
        ways.push(("-O0", Mode::Check));
        ways.push(("-O1", Mode::Real));
        if compiler == "gcc" {
            ways.push(("-O0", Mode::Explore));
        }
    }
    if name.starts_with("papers") {
        ways.push(("-O2", Mode::Serial));
    }
    ways
}

impl Case {
    /// Whether everything that is marked is found: by what one run of the program proves, or by all that `check` does.
    pub fn shows_all(&self) -> bool {
        let path = &self.oracle.path;
        let is_elsewhere = ELSEWHERE
            .iter()
            .any(|name| path.file_stem().is_some_and(|stem| stem == *name));
        let is_seen = match self.mode {
            Mode::Serial => self.is_scenario() && !is_elsewhere,
            Mode::Check if self.is_of_tables() => !is_elsewhere && on_other_paths(path).is_none(),
            Mode::Check => self.is_scenario(),
            _ => false,
        };
        is_seen && self.level != "-O1"
    }

    pub fn is_of_tables(&self) -> bool {
        let folder = self.oracle.path.parent();
        folder.is_some_and(|folder| folder.ends_with("papers/tables"))
    }

    pub fn is_scenario(&self) -> bool {
        let mut parts = self.oracle.path.components();
        parts.any(|part| part.as_os_str() == "scenarios")
    }
}
