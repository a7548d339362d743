//! The program as a whole: its classes of memory, calls, and the summaries of its functions, callees first.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use deadheat_report::is_foreign_file;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::calls::{self, Calls};
use crate::flow;
use crate::ir::{FunctionId, GlobalId, Kind, Operand, PlaceId, Program, ValueId};
use crate::members::{self, Member, Members};
use crate::model::{Effect, Model};
use crate::moment::Moments;
use crate::path::{PathId, Paths, Site};
use crate::pointees::Pointees;
use crate::points::{ClassId, Points, Target};
use crate::stores::Stores;
use crate::summary::{Deed, Summary};

/// How many deeds of callees a summary tells. Callees beyond that are entered without arguments.
const BUDGET: usize = 2000;

/// How often functions that call each other are looked at again.
const ROUNDS: usize = 4;

/// A place where threads are created.
#[derive(Clone, Debug, Default)]
pub struct Spawn {
    /// Threads that may run when it is reached, created by the same one.
    pub live_before: BTreeSet<Site>,
    /// Whether it can be reached more than once.
    pub is_multiple: bool,
    /// What threads run that are created there.
    pub targets: Vec<FunctionId>,
    /// Threads that those leave behind when they end.
    pub leaves: BTreeSet<Site>,
    /// What they are given, in the terms of the function that creates them.
    pub data: Option<PathId>,
    /// Whether they are given a number instead, each another one.
    pub has_number: bool,
}

/// Bytes of a class, and the number of the member that they are accessed as.
type Piece = ((i64, u64), Option<u32>);

/// Everything that is known about a program.
pub struct Analysis<'a> {
    /// The program.
    pub program: &'a Program,
    /// What functions mean that are not looked into.
    pub model: &'a Model,
    /// Classes of memory.
    pub points: Points<'a>,
    /// Who calls whom.
    pub calls: Calls,
    /// All paths.
    pub paths: Paths,
    /// What is known when something is done.
    pub moments: Moments,
    /// What functions do.
    pub summaries: Vec<Option<Rc<Summary>>>,
    /// Where threads are created.
    pub spawns: BTreeMap<Site, Spawn>,
    /// Classes that several threads can reach.
    pub shared: FxHashSet<ClassId>,
    /// Which bytes of them are written anywhere.
    written: FxHashMap<ClassId, FxHashSet<Piece>>,
    /// Which members of structures accesses are of.
    pub members: Members,
    /// What pointers point at, for their names.
    pub pointees: Pointees,
    /// Which addresses are stored where.
    pub stores: Stores,
    /// How many can pass a semaphore at first, or have to come to a barrier, if that is known: by the class and offset.
    pub semaphores: FxHashMap<Target, Option<i64>>,
    /// What atomic operations at these places mean, which come from inlined functions.
    inlined: FxHashMap<PlaceId, &'a [Effect]>,
    /// The classes of memory that handles of threads are kept in, by where these are created.
    pub handles: FxHashMap<Site, ClassId>,
    /// How many deeds of callees a summary tells.
    pub budget: usize,
    /// Functions that are entered without their callers' arguments, since they do too much.
    pub cut: BTreeSet<FunctionId>,
    /// Local variables whose addresses are stored where others may find them.
    pub published: FxHashSet<(FunctionId, ValueId)>,
    /// Calls of functions of which nothing is known.
    pub unknown: BTreeMap<FunctionId, Site>,
    /// Calls through pointers of which nobody knows what they call, and assembly.
    pub unresolved: BTreeSet<Site>,
}

impl<'a> Analysis<'a> {
    /// Looks at a program with these beginnings.
    pub fn of(program: &'a Program, model: &'a Model, roots: &[FunctionId]) -> Self {
        Analysis::within(program, model, roots, BUDGET)
    }

    /// The same with so many deeds of callees in each function's summary.
    pub fn within(
        program: &'a Program,
        model: &'a Model,
        roots: &[FunctionId],
        budget: usize,
    ) -> Self {
        let members = Members::of(program, model);
        let mut points = Points::of(program, model, &members);
        points.give(roots);
        let calls = Calls::of(program, &points, roots);
        let mut analysis = Analysis {
            program,
            model,
            points,
            calls,
            paths: Paths::default(),
            moments: Moments::default(),
            summaries: vec![None; program.functions.len()],
            spawns: BTreeMap::new(),
            shared: FxHashSet::default(),
            written: FxHashMap::default(),
            members,
            pointees: Pointees::of(program),
            stores: Stores::default(),
            semaphores: FxHashMap::default(),
            budget,
            inlined: FxHashMap::default(),
            handles: FxHashMap::default(),
            cut: BTreeSet::new(),
            published: FxHashSet::default(),
            unknown: BTreeMap::new(),
            unresolved: BTreeSet::new(),
        };
        analysis.find_inlined();
        analysis.find_shared(roots);
        analysis.summarise();
        analysis
    }

    /// What threads can share: globals, what a new thread is given, what callers of a module's entries hand over, and all that
    /// can be reached from there.
    fn find_shared(&mut self, roots: &[FunctionId]) {
        let mut from = Vec::new();
        for (number, global) in self.program.globals.iter().enumerate() {
            let section = global.section.as_deref();
            let is_unshared = section.is_some_and(|section| self.model.is_unshared(section));
            if !global.is_constant && !global.is_thread_local && !is_unshared {
                from.push(self.points.of_global(GlobalId::new(number)).class);
            }
        }
        for root in roots {
            for parameter in 0..self.program.function(*root).parameters {
                let value = Operand::Value(ValueId(parameter));
                from.extend(self.points.target(*root, value).map(|target| target.class));
            }
        }
        self.each_statement(|analysis, site, kind| {
            let Some(effects) = calls::effects(analysis.program, analysis.model, kind) else {
                return;
            };
            let Kind::Call { arguments, .. } = kind else {
                return;
            };
            for effect in effects {
                match effect {
                    Effect::Create {
                        data: Some(data), ..
                    } => {
                        let operand = arguments.get(*data as usize).copied();
                        let target = operand
                            .and_then(|operand| analysis.points.target(site.function, operand));
                        from.extend(target.map(|target| target.class));
                    }
                    Effect::CreateMethod { object, .. } => {
                        let operand = arguments.get(*object as usize).copied();
                        let target = operand
                            .and_then(|operand| analysis.points.target(site.function, operand));
                        from.extend(target.map(|target| target.class));
                    }
                    Effect::CreateClosure { at } => {
                        let operand = arguments.get(*at as usize).copied();
                        let target = operand
                            .and_then(|operand| analysis.points.target(site.function, operand));
                        from.extend(target.map(|target| target.class));
                    }
                    Effect::Count { semaphore, value } => {
                        let count = match arguments.get(*value as usize) {
                            Some(Operand::Integer(count)) => Some(*count),
                            _ => None,
                        };
                        let operand = arguments.get(*semaphore as usize).copied();
                        let target = operand
                            .and_then(|operand| analysis.points.target(site.function, operand));
                        if let Some(target) = target {
                            let known = analysis.semaphores.entry(target).or_insert(count);
                            if *known != count {
                                *known = None;
                            }
                        }
                    }
                    _ => {}
                }
            }
        });
        self.shared = self.points.closure(from);
        self.each_statement(|analysis, site, kind| analysis.note_writes(site, kind));
        self.stores = Stores::of(self.program, &mut self.points);
        self.each_statement(|analysis, site, kind| {
            let (stores, points) = (&mut analysis.stores, &mut analysis.points);
            stores.note(analysis.program, analysis.model, points, site, kind);
        });
    }

    fn note_writes(&mut self, site: Site, kind: &Kind) {
        let mut written: Vec<(Operand, u64)> = Vec::new();
        match kind {
            Kind::Store { to, size, .. } => written.push((*to, *size)),
            Kind::Update { at, size, .. } => written.push((*at, *size)),
            Kind::Call { arguments, .. } => {
                let effects = calls::effects(self.program, self.model, kind);
                for effect in effects.into_iter().flatten() {
                    if let Effect::Write(number)
                    | Effect::Copy { to: number, .. }
                    | Effect::Free(number)
                    | Effect::Atomic(number) = effect
                    {
                        let operand = arguments.get(*number as usize);
                        written.extend(operand.map(|operand| (*operand, 0)));
                    }
                }
            }
            _ => {}
        }
        for (operand, size) in written {
            if let Some(target) = self.points.target(site.function, operand) {
                let range = self.points.range(target, size);
                let member = self.members.number(site, true);
                let all = self.written.entry(target.class).or_default();
                all.insert((range, member));
            }
        }
    }

    fn each_statement(&mut self, mut visit: impl FnMut(&mut Self, Site, &Kind)) {
        let program = self.program;
        for function in program.function_ids() {
            for (block, one) in program.function(function).blocks.iter().enumerate() {
                for (statement, what) in one.statements.iter().enumerate() {
                    let site = Site {
                        function,
                        block: block as u32,
                        statement: statement as u32,
                    };
                    visit(self, site, &what.kind);
                }
            }
        }
    }

    /// What an atomic operation means that comes from an inlined function.
    pub fn inlined_at(&self, site: Site) -> Option<&'a [Effect]> {
        let block = &self.program.function(site.function).blocks[site.block as usize];
        let place = block.statements.get(site.statement as usize)?.place?;
        self.inlined.get(&place).copied()
    }

    fn find_inlined(&mut self) {
        for number in 0..self.program.places.len() {
            let id = PlaceId::new(number);
            let mut at = Some(id);
            while let Some(place) = at.map(|id| &self.program.places[id.index()]) {
                let file = &self.program.files[place.file.index()];
                let name = place.function.as_deref().unwrap_or_default();
                if let Some(effects) = self.model.of_inlined(file, name) {
                    self.inlined.insert(id, effects);
                    break;
                }
                at = place.inlined_at;
            }
        }
    }

    /// Whether a deed has a place in the program's own text, or in text that nobody knows: there, or where it was called from in its thread.
    pub fn is_own(&self, deed: &Deed) -> bool {
        let created = deed.chain.last();
        let begin = deed.calls.iter().position(|site| Some(site) == created);
        let sites = deed.calls.iter().skip(begin.map_or(0, |begin| begin + 1));
        sites.chain([&deed.site]).any(|site| {
            let mut at = self.place(*site);
            let is_unknown = at.is_none();
            let mut places = std::iter::from_fn(|| {
                let place = &self.program.places[at?.index()];
                at = place.inlined_at;
                Some(place)
            });
            is_unknown
                || places.any(|place| !is_foreign_file(&self.program.files[place.file.index()]))
        })
    }

    /// Whether one only can pass a semaphore, as with a lock.
    pub fn is_binary(&self, semaphore: Target) -> bool {
        self.semaphores.get(&semaphore) == Some(&Some(1))
    }

    /// Whether an access can matter: several threads can come there, and somebody writes.
    pub fn matters(&self, target: Target, size: u64, (site, writes): (Site, bool)) -> bool {
        if !self.shared.contains(&target.class) {
            return false;
        }
        let range = self.points.range(target, size);
        let member = self.members.at(site, writes);
        if member.is_some_and(Member::is_opaque) {
            return false;
        }
        let is_hit = |(written, number): &Piece| {
            let there = number.and_then(|number| self.members.get(number));
            overlap(range, *written)
                && members::may_be_same(self.program, (member, size), (there, written.1))
        };
        let written = self.written.get(&target.class);
        written.is_some_and(|all| all.iter().any(is_hit))
    }

    fn summarise(&mut self) {
        for group in self.calls.groups.clone() {
            let defined: Vec<FunctionId> = group
                .into_iter()
                .filter(|id| {
                    let function = self.program.function(*id);
                    function.is_defined() && self.model.of(&function.name).is_none()
                })
                .collect();
            let rounds = match defined.len() {
                1 if !self.calls_itself(defined[0]) => 1,
                _ => ROUNDS,
            };
            for _ in 0..rounds {
                let mut is_stable = true;
                for id in &defined {
                    let summary = flow::summarise(self, *id);
                    let before = self.summaries[id.index()].as_ref();
                    is_stable &= before.is_some_and(|before| {
                        before.exit == summary.exit && before.deeds.len() == summary.deeds.len()
                    });
                    self.summaries[id.index()] = Some(Rc::new(summary));
                }
                if is_stable {
                    break;
                }
            }
        }
    }

    fn calls_itself(&self, function: FunctionId) -> bool {
        let mut callers = self.calls.callers(function).iter();
        callers.any(|site| site.function == function)
    }
}

/// Whether two pieces of memory overlap; a size of 0 is one that nobody knows.
pub fn overlap((one, long): (i64, u64), (other, wide): (i64, u64)) -> bool {
    let ends = |from: i64, size: u64| match size {
        0 => i64::MAX,
        size => from.saturating_add(size as i64),
    };
    one < ends(other, wide) && other < ends(one, long)
}
