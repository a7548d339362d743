//! What a program does, from each of its beginnings: accesses, locks that are taken, and what orders threads.

use std::rc::Rc;

use crate::analysis::Analysis;
use crate::given;
use crate::ir::FunctionId;
use crate::model::Mode;
use crate::path::{Base, PathId, Site};
use crate::state::{Held, State};
use crate::summary::{Arguments, Deed, What};

use super::semaphores;

/// Where a program, or a part of one, begins.
#[derive(Clone, Debug)]
pub struct Root {
    /// The function.
    pub function: FunctionId,
    /// Whether it may run twice at once.
    pub is_parallel: bool,
    /// Locks that its caller holds, by the numbers of their names.
    pub locks: Vec<u32>,
}

impl Root {
    /// One whose caller holds nothing.
    pub fn of(function: FunctionId, is_parallel: bool) -> Self {
        Root {
            function,
            is_parallel,
            locks: Vec::new(),
        }
    }

    /// All that it does. Parameters that point at the same kind of structure point at the same one, and the caller's locks are held.
    fn deeds(&self, analysis: &mut Analysis) -> Vec<Deed> {
        let Some(summary) = analysis.summaries[self.function.index()].clone() else {
            return Vec::new();
        };
        let function = analysis.program.function(self.function);
        let given: Vec<Option<PathId>> = (0..function.parameters)
            .map(|parameter| {
                let (layout, offset) = given::structure(analysis.program, function, parameter)?;
                let base = analysis.paths.base(Base::Given(layout.0));
                Some(analysis.paths.field(base, offset))
            })
            .collect();
        let mut terms = Arguments::new(self.function, &given);
        let mut begin = State::default();
        for lock in &self.locks {
            let lock = analysis.paths.base(Base::Named(*lock));
            begin.lock(Held {
                lock,
                target: None,
                mode: Mode::Write,
                depth: 1,
                at: Site {
                    function: self.function,
                    ..Site::default()
                },
                since: Default::default(),
            });
        }
        summary
            .deeds
            .iter()
            .map(|deed| {
                let kept = (&mut analysis.paths, &mut analysis.moments);
                Deed {
                    calls: deed.calls.clone(),
                    ..terms.deed(kept, deed, &begin, deed.site)
                }
            })
            .collect()
    }
}

/// What is done from one root on.
pub struct Done {
    /// The root.
    pub root: Root,
    /// Accesses to memory.
    pub accesses: Vec<Rc<Deed>>,
    /// Locks that are taken.
    pub locks: Vec<Rc<Deed>>,
    /// Conditions that are announced and barriers that are passed.
    pub signals: Vec<Rc<Deed>>,
}

/// What is done from each root on.
pub fn all(analysis: &mut Analysis, roots: &[Root]) -> Vec<Done> {
    let mut of_root: Vec<Vec<Deed>> = roots.iter().map(|root| root.deeds(analysis)).collect();
    semaphores::without_messages(analysis, &mut of_root);
    let each = roots.iter().zip(of_root).map(|(root, deeds)| {
        let mut done = Done {
            root: root.clone(),
            accesses: Vec::new(),
            locks: Vec::new(),
            signals: Vec::new(),
        };
        for deed in deeds {
            let kind = match deed.what {
                What::Access { .. } => &mut done.accesses,
                What::Lock(_) => &mut done.locks,
                What::Signal | What::Barrier => &mut done.signals,
            };
            kind.push(Rc::new(deed));
        }
        done
    });
    each.collect()
}
