//! What is known of a whole program's code.

mod build;
mod cache;
mod table;

use std::sync::Arc;

use crate::{Binary, Depends, Passed, Point, Sources};
use table::{BEFORE, CALL, EVERYTHING, NOTHING, STEADY, Table};

/// What is known of a program's code: what lies between its events, and what the addresses of
/// its accesses depend on. Program counters are those of events, the addresses behind calls.
#[derive(Clone, Debug)]
pub struct Facts {
    table: Table,
    /// Sets by their numbers, ready to be handed out.
    depends: Vec<Depends>,
}

impl Facts {
    /// Looks at all of a program's code.
    pub fn of(binary: &Binary) -> Facts {
        Facts::from_table(build::table_of(binary.data()))
    }

    fn from_table(table: Table) -> Facts {
        let sets = table.depends_starts.windows(2).enumerate();
        let depends = sets.map(|(number, bounds)| {
            let members = &table.members[bounds[0] as usize..bounds[1] as usize];
            let pc = |site: u32| table.base + u64::from(table.pcs[site as usize]);
            let reads = members.iter().filter(|member| **member != BEFORE);
            match number as u32 {
                NOTHING => Depends::Nothing,
                EVERYTHING => Depends::Everything,
                _ => Depends::On(Arc::new(Sources {
                    reads: reads.map(|site| pc(*site)).collect(),
                    before: members.last() == Some(&BEFORE),
                })),
            }
        });
        Facts {
            depends: depends.collect(),
            table,
        }
    }

    /// What lies between two consecutive events of one activation of a function: whether a
    /// branch, or a call of unknown code, was passed, and what that depends on. If several ways
    /// lead from the one to the other without passing a third, all of them count.
    ///
    /// Two points that are not known, not in the same function, or not next to each other have
    /// [`Passed::UNKNOWN`] between them.
    ///
    /// The entry of a function that was called through a pointer counts as a branch on the
    /// pointer; code without hooks that was called there, and only jumped on into the function,
    /// is not seen. Nothing is known of how a function that was called came to make an event of its
    /// caller's.
    pub fn between(&self, from: Point, to: Point) -> Passed {
        self.passed(from, to).unwrap_or(Passed::UNKNOWN)
    }

    fn passed(&self, from: Point, to: Point) -> Option<Passed> {
        if let Point::After(pc) = to
            && self.is_call(self.site(pc)?)
        {
            return None;
        }
        let (from, to) = (self.node(from)?, self.node(to)? as u32);
        let bounds = self.table.way_starts.get(from..from + 2)?;
        let ways = &self.table.ways[2 * bounds[0] as usize..2 * bounds[1] as usize];
        let (ways, _) = ways.as_chunks::<2>();
        let found = ways.binary_search_by_key(&to, |way| way[0]).ok()?;
        Some(match ways[found][1] {
            0 => Passed::Straight,
            depends => Passed::Branched(self.depends[depends as usize - 1].clone()),
        })
    }

    /// What the address of the access at `pc` depends on, and its length; for a call through a
    /// pointer, the pointer; for a compare-and-swap also what is expected. Lock operations and the
    /// like are treated as accesses to what they are done to.
    ///
    /// The value of a read that something depends on depends on the read's address in turn; that
    /// is included in all answers.
    pub fn address(&self, pc: u64) -> Depends {
        match self.site(pc) {
            Some(site) => self.depends[self.table.site_depends[site] as usize].clone(),
            None => Depends::Everything,
        }
    }

    /// Whether the event at `pc` is an atomic access that does the same whatever it reads: no
    /// compare-and-swap. What is not known may be one.
    pub fn is_steady(&self, pc: u64) -> bool {
        let site = self.site(pc);
        site.is_some_and(|site| self.table.site_functions[site] & STEADY != 0)
    }

    /// Whether two addresses lie in the same function.
    pub fn same_function(&self, one: u64, other: u64) -> bool {
        let function = self.function(one);
        function.is_some() && function == self.function(other)
    }

    /// All sites in ascending order: pcs that events may have.
    pub fn sites(&self) -> impl Iterator<Item = u64> + '_ {
        let pcs = self.table.pcs.iter();
        pcs.map(|distance| self.table.base + u64::from(*distance))
    }

    /// All ways between neighbouring points, in no particular order.
    pub fn ways(&self) -> impl Iterator<Item = (Point, Point, Passed)> + '_ {
        let nodes = 0..self.table.way_starts.len().saturating_sub(1);
        nodes.flat_map(move |from| {
            let bounds = &self.table.way_starts[from..from + 2];
            let ways = &self.table.ways[2 * bounds[0] as usize..2 * bounds[1] as usize];
            let (ways, _) = ways.as_chunks::<2>();
            ways.iter().map(move |way| {
                let passed = match way[1] {
                    0 => Passed::Straight,
                    depends => Passed::Branched(self.depends[depends as usize - 1].clone()),
                };
                let to = self.point(way[0] as usize, true);
                (self.point(from, false), to, passed)
            })
        })
    }

    /// Whether a function is called at a site that is no hook and no intercepted one.
    fn is_call(&self, site: usize) -> bool {
        self.table.site_functions[site] & CALL != 0
    }

    fn point(&self, node: usize, is_end: bool) -> Point {
        let address = |distance: u32| self.table.base + u64::from(distance);
        let sites = self.table.pcs.len();
        match node.checked_sub(sites) {
            None if is_end && self.is_call(node) => Point::Into(address(self.table.pcs[node])),
            None => Point::After(address(self.table.pcs[node])),
            Some(rest) => {
                let start = address(self.table.functions[rest / 2 * 2]);
                match rest % 2 {
                    0 => Point::Entry(start),
                    _ => Point::Exit(start),
                }
            }
        }
    }

    fn distance(&self, address: u64) -> Option<u32> {
        u32::try_from(address.checked_sub(self.table.base)?).ok()
    }

    fn site(&self, pc: u64) -> Option<usize> {
        self.table.pcs.binary_search(&self.distance(pc)?).ok()
    }

    /// The function that an address lies in; that of a site may have been cut in two.
    fn function(&self, address: u64) -> Option<usize> {
        if let Some(site) = self.site(address) {
            return Some((self.table.site_functions[site] & !(CALL | STEADY)) as usize);
        }
        let distance = self.distance(address)?;
        let (functions, _) = self.table.functions.as_chunks::<2>();
        let after = functions.partition_point(|range| range[0] <= distance);
        let function = after.checked_sub(1)?;
        (distance < functions[function][1]).then_some(function)
    }

    fn node(&self, point: Point) -> Option<usize> {
        let of_function = |address| Some(self.table.pcs.len() + 2 * self.function(address)?);
        match point {
            Point::After(pc) | Point::Into(pc) => self.site(pc),
            Point::Entry(address) => of_function(address),
            Point::Exit(address) => Some(of_function(address)? + 1),
        }
    }
}
