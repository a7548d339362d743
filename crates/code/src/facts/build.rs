//! Looks at all functions of a program and puts together what is found.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustc_hash::FxHashMap;

use super::table::{CALL, STEADY, Table};
use crate::arch::{Architecture, X86_64};
use crate::callee::Callee;
use crate::dataflow::sets::{Set, Sets};
use crate::dataflow::{Solution, solve};
use crate::graph::{Graph, Indirect};
use crate::image::Image;
use crate::ways::{self, Node, Ways};

/// How often a function is looked at again because its jumps and calls became clearer.
const MOST_ROUNDS: usize = 8;

/// A call that may make an event.
#[derive(Clone, Copy)]
struct Site {
    /// Where it returns to.
    pc: u64,
    /// What its address depends on.
    depends: Set,
    /// [`CALL`]: a function is called that is no hook and not intercepted. [`STEADY`]: an atomic
    /// access that is no compare-and-swap.
    flags: u32,
}

/// What was found out about one function.
struct Function {
    range: (u64, u64),
    /// By the number of the site: its pc, and what the access depends on.
    sites: Vec<Site>,
    ways: Ways,
    sets: Sets,
}

/// Looks at the code in a file.
pub(super) fn table_of(data: &[u8]) -> Table {
    table_of_image(&Image::of(data, &mut X86_64::default()))
}

fn table_of_image(image: &Image<'_>) -> Table {
    let entries = image.instrumented();
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut architecture = X86_64::default();
        let mut found = Vec::new();
        while let Some(&entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.extend(function(entry, image, &mut architecture));
        }
        found
    };
    let mut functions: Vec<Function> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        let mut functions = work();
        for other in others {
            // A worker that failed found nothing; so nothing is known of what it looked at.
            functions.extend(other.join().unwrap_or_default());
        }
        functions
    });
    functions.sort_unstable_by_key(|function| function.range);
    remove_shared(&mut functions);
    put_together(&functions)
}

/// What can be found out about the function at `entry`.
fn function(
    entry: u64,
    image: &Image<'_>,
    architecture: &mut dyn Architecture,
) -> Option<Function> {
    let convention = architecture.convention();
    let mut indirect = Indirect::default();
    for _ in 0..MOST_ROUNDS {
        let graph = Graph::of(entry, image, &indirect, architecture).ok()?;
        let sites = ways::sites(&graph);
        let mut solution = solve(&graph, image, convention, &sites);
        if solution.lost {
            return None;
        }
        if solution.indirect != indirect {
            indirect = std::mem::take(&mut solution.indirect);
            continue;
        }
        return finish(entry, image, &graph, &sites, solution);
    }
    None
}

fn finish(
    entry: u64,
    image: &Image<'_>,
    graph: &Graph,
    sites: &FxHashMap<usize, u32>,
    mut solution: Solution,
) -> Option<Function> {
    let ways = ways::ways(graph, sites, &mut solution)?;
    let unknown = Site {
        pc: 0,
        depends: Set::EVERYTHING,
        flags: 0,
    };
    let mut pcs = vec![unknown; sites.len()];
    for (&number, &site) in sites {
        let depends = solution.sites.get(&number).copied();
        let callee = graph.callees[&number];
        pcs[site as usize] = Site {
            pc: graph.instructions[number].next(),
            depends: depends.unwrap_or(Set::EVERYTHING),
            flags: match callee {
                Callee::Opaque | Callee::Instrumented => CALL,
                callee if callee.is_steady_atomic() => STEADY,
                _ => 0,
            },
        };
    }
    Some(Function {
        range: image.function_of(entry)?,
        sites: pcs,
        ways,
        sets: solution.sets,
    })
}

/// Nothing is known of code that is part of several functions.
fn remove_shared(functions: &mut Vec<Function>) {
    let mut uses: FxHashMap<u64, usize> = FxHashMap::default();
    for site in functions.iter().flat_map(|function| &function.sites) {
        *uses.entry(site.pc).or_default() += 1;
    }
    functions.retain(|function| function.sites.iter().all(|site| uses[&site.pc] == 1));
}

fn put_together(functions: &[Function]) -> Table {
    let all = functions.iter().flat_map(|function| &function.sites);
    let lowest = functions.iter().map(|function| function.range.0);
    let base = all.map(|site| site.pc).chain(lowest).min().unwrap_or(0);
    let mut table = Table::new(base);
    // Sites of all functions by their pcs.
    let mut places = BTreeMap::new();
    for (number, function) in functions.iter().enumerate() {
        for (site, Site { pc, .. }) in function.sites.iter().enumerate() {
            places.insert(*pc, (number, site));
        }
    }
    let mut numbers: Vec<Vec<u32>> = functions
        .iter()
        .map(|function| vec![0; function.sites.len()])
        .collect();
    for (place, &(function, site)) in places.values().enumerate() {
        numbers[function][site] = place as u32;
    }
    let sites = places.len() as u32;
    let mut depends: Vec<FxHashMap<Set, u32>> = vec![FxHashMap::default(); functions.len()];
    let mut number_of = |table: &mut Table, function: usize, set: Set| {
        *depends[function].entry(set).or_insert_with(|| {
            let sources = functions[function].sets.sources(set);
            let sources = sources.map(|(reads, before)| {
                let reads = reads.iter();
                let mut reads: Vec<u32> = reads
                    .map(|site| numbers[function][*site as usize])
                    .collect();
                reads.sort_unstable();
                (reads, before)
            });
            table.add_depends(sources)
        })
    };
    for (pc, &(function, site)) in &places {
        let Site { depends, flags, .. } = functions[function].sites[site];
        let depends = number_of(&mut table, function, depends);
        table.add_site(*pc, function as u32, flags, depends);
    }
    let mut ways = BTreeMap::new();
    for (number, function) in functions.iter().enumerate() {
        table.add_function(function.range);
        let node = |node: Node| match node {
            Node::Site(site) => numbers[number][site as usize],
            Node::Entry => sites + 2 * number as u32,
            Node::Exit => sites + 2 * number as u32 + 1,
        };
        for (&(from, to), mark) in &function.ways {
            let passed = mark.map(|set| number_of(&mut table, number, set));
            ways.insert((node(from), node(to)), passed);
        }
    }
    table.set_ways(sites + 2 * functions.len() as u32, &ways);
    table
}

#[cfg(test)]
#[path = "against_paths.rs"]
mod against_paths;
