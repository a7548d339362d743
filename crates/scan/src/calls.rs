//! Who calls whom, and what runs once only.

use std::rc::Rc;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::FxHashMap;

use crate::ir::{Callee, FunctionId, Kind, Program};
use crate::model::{Effect, Model};
use crate::path::Site;
use crate::points::Points;
use crate::shape::Shape;

/// The calls of a program.
pub struct Calls {
    /// Functions in groups that call each other, callees first.
    pub groups: Vec<Vec<FunctionId>>,
    /// The number of each function's group.
    group_of: Vec<usize>,
    /// The shape of each function.
    pub shapes: Vec<Rc<Shape>>,
    /// What each statement calls: directly, through a pointer, or as a thread that it creates.
    targets: FxHashMap<Site, Vec<FunctionId>>,
    /// Where each function is called from.
    callers: Vec<Vec<Site>>,
    /// Whether a function runs once, at most.
    runs_once: Vec<bool>,
}

impl Calls {
    /// Looks at the whole program; `roots` are its beginnings.
    pub fn of(program: &Program, points: &Points, roots: &[FunctionId]) -> Self {
        let mut graph: DiGraph<(), ()> = DiGraph::new();
        let nodes: Vec<NodeIndex> = program
            .functions
            .iter()
            .map(|_| graph.add_node(()))
            .collect();
        let mut targets: FxHashMap<Site, Vec<FunctionId>> = FxHashMap::default();
        let mut callers = vec![Vec::new(); program.functions.len()];
        for (site, callee) in points.links() {
            graph.update_edge(nodes[site.function.index()], nodes[callee.index()], ());
            targets.entry(site).or_default().push(callee);
            callers[callee.index()].push(site);
        }
        for all in targets.values_mut() {
            all.sort_unstable();
        }
        for all in &mut callers {
            all.sort_unstable();
        }
        let groups: Vec<Vec<FunctionId>> = tarjan_scc(&graph)
            .into_iter()
            .map(|group| {
                let mut group: Vec<FunctionId> = group
                    .into_iter()
                    .map(|node| FunctionId::new(node.index()))
                    .collect();
                group.sort_unstable();
                group
            })
            .collect();
        let mut group_of = vec![0; program.functions.len()];
        for (number, group) in groups.iter().enumerate() {
            for function in group {
                group_of[function.index()] = number;
            }
        }
        let shapes = program.functions.iter();
        let shapes = shapes
            .map(|function| Rc::new(Shape::of(function)))
            .collect();
        let mut calls = Calls {
            groups,
            group_of,
            shapes,
            targets,
            callers,
            runs_once: vec![false; program.functions.len()],
        };
        calls.find_once(roots);
        calls
    }

    /// Functions that are reached from these.
    fn reached(&self, roots: &[FunctionId]) -> Vec<bool> {
        let mut called: Vec<Vec<FunctionId>> = vec![Vec::new(); self.callers.len()];
        for (callee, callers) in self.callers.iter().enumerate() {
            for site in callers {
                called[site.function.index()].push(FunctionId::new(callee));
            }
        }
        let mut reached = vec![false; called.len()];
        let mut work = roots.to_vec();
        while let Some(function) = work.pop() {
            if !std::mem::replace(&mut reached[function.index()], true) {
                work.extend(&called[function.index()]);
            }
        }
        reached
    }

    /// Callers first: a function runs once if its only call does, and is not in a loop.
    fn find_once(&mut self, roots: &[FunctionId]) {
        let reached = self.reached(roots);
        for group in self.groups.iter().rev() {
            let [function] = group[..] else {
                continue;
            };
            let callers: Vec<Site> = self.callers[function.index()]
                .iter()
                .copied()
                .filter(|site| reached[site.function.index()])
                .collect();
            self.runs_once[function.index()] = match callers[..] {
                [] => roots.contains(&function),
                [only] => {
                    only.function != function
                        && !roots.contains(&function)
                        && self.runs_once[only.function.index()]
                        && self.is_straight(only)
                }
                _ => false,
            };
        }
    }

    /// Whether a statement is in no loop of its function.
    pub fn is_straight(&self, site: Site) -> bool {
        let shape = &self.shapes[site.function.index()];
        shape.loop_around(site.block).is_none()
    }

    /// Whether a statement is executed once, at most.
    pub fn is_once(&self, site: Site) -> bool {
        self.runs_once[site.function.index()] && self.is_straight(site)
    }

    /// Whether a function runs once, at most.
    pub fn runs_once(&self, function: FunctionId) -> bool {
        self.runs_once[function.index()]
    }

    /// Whether two functions call each other, perhaps through others.
    pub fn call_each_other(&self, one: FunctionId, other: FunctionId) -> bool {
        self.group_of(one) == self.group_of(other)
    }

    /// The number of a function's group: callees come before their callers.
    pub fn group_of(&self, function: FunctionId) -> usize {
        self.group_of[function.index()]
    }

    /// What a statement calls.
    pub fn targets(&self, site: Site) -> &[FunctionId] {
        self.targets.get(&site).map_or(&[], |targets| targets)
    }

    /// Where a function is called from.
    pub fn callers(&self, function: FunctionId) -> &[Site] {
        &self.callers[function.index()]
    }
}

/// What the model says about the call of a statement.
pub fn effects<'a>(program: &Program, model: &'a Model, kind: &Kind) -> Option<&'a [Effect]> {
    match kind {
        Kind::Call {
            callee: Callee::Direct(callee),
            ..
        } => model.of(&program.function(*callee).name),
        _ => None,
    }
}
