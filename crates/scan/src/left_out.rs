//! What was not analysed: everybody who reads the warnings should know what they are not about.

use serde::Serialize;

use crate::analysis::Analysis;
use crate::ir::FunctionId;
use crate::pairs::Counts;

/// How many names are listed where people read.
const LISTED: usize = 8;

/// Something that was not analysed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// What, and what that means.
    pub what: String,
    /// Which functions, if it is about functions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<String>,
}

impl LeftOut {
    /// In one line, with only some of the functions.
    pub fn told(&self) -> String {
        let functions = &self.functions;
        let listed = functions[..functions.len().min(LISTED)].join(", ");
        match functions.len() {
            0 => self.what.clone(),
            1..=LISTED => format!("{}: {listed}", self.what),
            many => format!("{}: {listed} and {} more", self.what, many - LISTED),
        }
    }
}

/// All that was not analysed.
pub fn of(analysis: &Analysis, counts: &Counts) -> Vec<LeftOut> {
    let program = analysis.program;
    let plain = |what: String| LeftOut {
        what,
        functions: Vec::new(),
    };
    let mut all: Vec<LeftOut> = program.unread.iter().cloned().map(plain).collect();
    let names = |ids: &mut dyn Iterator<Item = &FunctionId>| {
        let mut names: Vec<String> = ids.map(|id| program.function(*id).shown.clone()).collect();
        names.sort();
        names.dedup();
        names
    };
    let unknown = names(&mut analysis.unknown.keys());
    if !unknown.is_empty() {
        all.push(LeftOut {
            what: format!("{} without a body that no model knows", functions(&unknown)),
            functions: unknown,
        });
    }
    match analysis.unresolved.len() {
        0 => {}
        1 => all.push(plain(
            "1 call through a pointer, or assembly, of which nobody knows what it does".to_owned(),
        )),
        calls => all.push(plain(format!(
            "{calls} calls through pointers, or assembly, of which nobody knows what they do"
        ))),
    }
    let cut = names(&mut analysis.cut.iter());
    if !cut.is_empty() {
        all.push(LeftOut {
            what: format!(
                "the arguments of {} that do too much, or call each other",
                functions(&cut)
            ),
            functions: cut,
        });
    }
    if counts.merged > 0 {
        let classes = match counts.merged {
            1 => "1 class".to_owned(),
            many => format!("{many} classes"),
        };
        all.push(plain(format!(
            "the contexts, each for itself, of accesses to {classes} of memory with too many of them"
        )));
    }
    all
}

fn functions(names: &[String]) -> String {
    match names.len() {
        1 => "1 function".to_owned(),
        many => format!("{many} functions"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_cut() {
        let functions = (0..10).map(|number| format!("f{number}")).collect();
        let left = LeftOut {
            what: "10 functions".to_owned(),
            functions,
        };
        assert_eq!(
            left.told(),
            "10 functions: f0, f1, f2, f3, f4, f5, f6, f7 and 2 more"
        );
    }
}
