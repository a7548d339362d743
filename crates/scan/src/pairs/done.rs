//! What a program does, from each of its beginnings: accesses, locks that are taken, and what orders threads.
//!
//! Functions that do too much, or call each other in circles, are not put into their callers' terms one call at a time: what is known at all calls of
//! one is made a few moments, and what it does is told in those. Threads that create each other in circles are told apart as [`Circles`] has it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::analysis::Analysis;
use crate::deeds::Deeds;
use crate::given;
use crate::ir::FunctionId;
use crate::model::Mode;
use crate::moment::Moment;
use crate::path::{Base, PathId, Site};
use crate::state::{Held, State};
use crate::summary::{Arguments, Deed, What, unread};

use super::circles::Circles;
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
        let mut terms = Arguments::new(self.function, &given, &unread);
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

/// What is done from one root on, or from all together that may run twice at once: two of those meet each other as each meets itself.
#[derive(Default)]
pub struct Done {
    /// Whether all of it may happen twice at once.
    pub is_parallel: bool,
    /// Accesses to memory.
    pub accesses: Vec<Rc<Deed>>,
    /// Locks that are taken.
    pub locks: Vec<Rc<Deed>>,
    /// Conditions that are announced and barriers that are passed.
    pub signals: Vec<Rc<Deed>>,
}

/// All that is done.
pub fn all(analysis: &mut Analysis, roots: &[Root]) -> Vec<Done> {
    let (parallel, single): (Vec<&Root>, Vec<&Root>) =
        roots.iter().partition(|root| root.is_parallel);
    let together = (!parallel.is_empty()).then_some(parallel);
    let scenes: Vec<Vec<&Root>> = together
        .into_iter()
        .chain(single.into_iter().map(|root| vec![root]))
        .collect();
    let mut all: Vec<Vec<Deed>> = scenes.iter().map(|roots| gather(analysis, roots)).collect();
    semaphores::without_messages(analysis, &mut all);
    let each = scenes.iter().zip(all).map(|(roots, deeds)| {
        let mut done = Done {
            is_parallel: roots.iter().any(|root| root.is_parallel),
            ..Done::default()
        };
        for deed in deeds {
            let kind = match deed.what {
                What::Access { .. } => &mut done.accesses,
                What::Lock(_) => &mut done.locks,
                What::Signal | What::Barrier => &mut done.signals,
                What::Enter(_) => continue,
            };
            kind.push(Rc::new(deed));
        }
        done
    });
    each.collect()
}

/// How many moments of one function in one thread are told apart.
const MOST_MOMENTS: usize = 4;

/// A function in one thread: callers come before those that they call.
type Key = (Reverse<usize>, FunctionId, Vec<Site>);

/// A function that is entered in one thread, whoever calls it: what is known then, and one way there.
#[derive(Default)]
struct Entered {
    moments: Vec<Rc<Moment>>,
    /// Whether they were so many that they are one now.
    is_one: bool,
    calls: Vec<Site>,
}

/// All functions that are entered, and those to look at again.
#[derive(Default)]
struct Entries {
    circles: Circles,
    all: BTreeMap<Key, Entered>,
    work: BTreeSet<Key>,
}

/// All that is done from some roots on, in functions that are entered as well.
fn gather(analysis: &mut Analysis, roots: &[&Root]) -> Vec<Deed> {
    let mut deeds = Deeds::default();
    let begin: Vec<Deed> = roots.iter().flat_map(|root| root.deeds(analysis)).collect();
    let mut entries = Entries {
        circles: Circles::of(analysis, &begin),
        ..Entries::default()
    };
    for mut deed in begin {
        deed.chain = entries.circles.chain(&[], &deed.chain);
        entries.note(analysis, &deed);
        deeds.add(deed);
    }
    // First the moments in which functions are entered, until there are no more, then what is done there.
    while let Some(key) = entries.work.pop_first() {
        let is_entry = |deed: &Deed| matches!(deed.what, What::Enter(_));
        for deed in entries.inside(analysis, &key, is_entry) {
            entries.note(analysis, &deed);
        }
    }
    for key in entries.all.keys() {
        let is_done = |deed: &Deed| !matches!(deed.what, What::Enter(_));
        for deed in entries.inside(analysis, key, is_done) {
            let is_access = matches!(deed.what, What::Access { .. });
            if !is_access || analysis.is_own(&deed) {
                deeds.add(deed);
            }
        }
    }
    deeds.all()
}

impl Entries {
    /// If a deed enters a function, in a moment that says something new, that is looked at again.
    fn note(&mut self, analysis: &mut Analysis, deed: &Deed) {
        let What::Enter(function) = deed.what else {
            return;
        };
        let group = Reverse(analysis.calls.group_of(function));
        let key = (group, function, deed.chain.clone());
        let known = self.all.entry(key.clone()).or_default();
        if known.moments.iter().any(|one| one.is_weaker(&deed.moment)) {
            return;
        }
        if known.moments.is_empty() {
            known.calls = deed.calls.iter().copied().chain([deed.site]).collect();
        }
        let before = known.moments.first().cloned();
        known.moments.retain(|one| !deed.moment.is_weaker(one));
        known.moments.push(Rc::clone(&deed.moment));
        known.is_one |= known.moments.len() > MOST_MOMENTS;
        if known.is_one {
            let mut one = (*known.moments[0]).clone();
            for other in &known.moments[1..] {
                one.meet(other);
            }
            let one = analysis.moments.keep(one);
            let is_known = before.is_some_and(|before| Rc::ptr_eq(&one, &before));
            known.moments = vec![one];
            if is_known {
                return;
            }
        }
        self.work.insert(key);
    }

    /// What a function does that is entered, of one kind. Nobody knows what it is given.
    fn inside(
        &self,
        analysis: &mut Analysis,
        key: &Key,
        is_wanted: impl Fn(&Deed) -> bool,
    ) -> Vec<Deed> {
        let (_, function, chain) = key;
        let (Some(entered), Some(summary)) = (
            self.all.get(key),
            analysis.summaries[function.index()].clone(),
        ) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for moment in &entered.moments {
            let state = State::of(moment);
            let mut terms = Arguments::new(*function, &[], &unread);
            for deed in summary.deeds.iter().filter(|deed| is_wanted(deed)) {
                let kept = (&mut analysis.paths, &mut analysis.moments);
                let mut deed = Deed {
                    calls: deed.calls.clone(),
                    ..terms.deed(kept, deed, &state, deed.site)
                };
                deed.calls = entered
                    .calls
                    .iter()
                    .rev()
                    .fold(deed.calls, |way, site| way.from(*site));
                deed.chain = self.circles.chain(chain, &deed.chain);
                found.push(deed);
            }
        }
        found
    }
}
