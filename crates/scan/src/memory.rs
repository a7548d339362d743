//! What addresses a function has put where, at each of its statements: into its own variables, into what it has allocated or was
//! given, and into variables of its thread.
//!
//! What a callee reads there it reads as the address that was put there: closures, which hold the addresses of their creator's variables, are
//! seen through that way, and so are structures that are filled before a thread gets them. That a callee has put something else there
//! meanwhile is known only if it does so on every way; other changes by callees are not looked for.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::ir::Function;
use crate::path::{PathId, Paths, Site, Step};

/// An address that is put somewhere.
#[derive(Clone, Copy, Debug)]
struct Put {
    site: Site,
    /// The address, if it is known.
    value: Option<PathId>,
}

/// Memory that is copied, addresses included.
#[derive(Clone, Copy, Debug)]
struct Moved {
    site: Site,
    to: PathId,
    from: PathId,
    /// How many bytes, if that is known.
    size: Option<i64>,
}

/// What one function has put where.
#[derive(Default)]
pub struct Memory {
    puts: FxHashMap<PathId, Vec<Put>>,
    moved: Vec<Moved>,
    known: RefCell<FxHashMap<(PathId, Site), Option<PathId>>>,
    /// Which blocks come before each, once somebody has asked.
    before: RefCell<Option<Vec<Vec<u32>>>>,
}

/// How often memory is followed through copies.
const COPIES: u32 = 4;

impl Memory {
    /// A statement puts an address there, or something that nobody knows.
    pub fn put(&mut self, paths: &mut Paths, site: Site, to: PathId, value: Option<PathId>) {
        let to = paths.plain(to);
        if is_exact(paths, to) {
            self.puts.entry(to).or_default().push(Put { site, value });
        }
    }

    /// A statement copies memory.
    pub fn moved(
        &mut self,
        paths: &mut Paths,
        site: Site,
        [to, from]: [PathId; 2],
        size: Option<i64>,
    ) {
        let [to, from] = [to, from].map(|path| paths.plain(path));
        if is_exact(paths, to) && is_exact(paths, from) {
            self.moved.push(Moved {
                site,
                to,
                from,
                size,
            });
        }
    }

    /// The address that is there when a statement of the function is reached, if it is the same on every way.
    pub fn at(
        &self,
        function: &Function,
        paths: &mut Paths,
        place: PathId,
        site: Site,
    ) -> Option<PathId> {
        let place = paths.plain(place);
        self.find(function, paths, place, site, COPIES)
    }

    fn find(
        &self,
        function: &Function,
        paths: &mut Paths,
        place: PathId,
        site: Site,
        copies: u32,
    ) -> Option<PathId> {
        if let Some(known) = self.known.borrow().get(&(place, site)) {
            return *known;
        }
        let mut events: Vec<(Site, Result<Option<PathId>, PathId>)> = Vec::new();
        for put in self.puts.get(&place).into_iter().flatten() {
            events.push((put.site, Ok(put.value)));
        }
        let (whole, offset) = paths.whole(place);
        for moved in &self.moved {
            let (other, start) = paths.whole(moved.to);
            let is_in = moved
                .size
                .is_none_or(|size| offset < start.saturating_add(size));
            if other == whole && start <= offset && is_in {
                let from = paths.field(moved.from, offset - start);
                events.push((moved.site, Err(from)));
            }
        }
        let sites: Vec<Site> = events.iter().map(|(at, _)| *at).collect();
        let last = self.last(function, &sites, site);
        let found = match last.map(|last| &events[last]) {
            Some((_, Ok(value))) => *value,
            Some((at, Err(from))) if copies > 0 => {
                self.find(function, paths, *from, *at, copies - 1)
            }
            _ => None,
        };
        self.known.borrow_mut().insert((place, site), found);
        found
    }

    /// Which of these statements is the last one before another, on every way there; `None` if it is not always the same.
    fn last(&self, function: &Function, events: &[Site], site: Site) -> Option<usize> {
        let last_in = |block: u32, before: u32| {
            let here = events.iter().enumerate();
            let here = here.filter(|(_, at)| at.block == block && at.statement < before);
            let last = here.max_by_key(|(_, at)| at.statement);
            last.map(|(number, _)| number)
        };
        if events.is_empty() {
            return None;
        }
        if let Some(here) = last_in(site.block, site.statement) {
            return Some(here);
        }
        let mut before = self.before.borrow_mut();
        let before = before.get_or_insert_with(|| predecessors(function));
        let mut seen = vec![false; function.blocks.len()];
        let mut found = None;
        let mut work = vec![site.block];
        while let Some(block) = work.pop() {
            if block == 0 {
                return None;
            }
            for from in &before[block as usize] {
                if std::mem::replace(&mut seen[*from as usize], true) {
                    continue;
                }
                match last_in(*from, u32::MAX) {
                    None => work.push(*from),
                    Some(last) if found.is_none_or(|found| found == last) => found = Some(last),
                    Some(_) => return None,
                }
            }
        }
        found
    }

    /// Places that an address is put into.
    pub fn places(&self) -> impl Iterator<Item = PathId> {
        self.puts.keys().copied()
    }
}

/// Whether a path leads to one place only.
fn is_exact(paths: &Paths, path: PathId) -> bool {
    let steps = paths.steps(path);
    steps.iter().all(|step| matches!(step, Step::Field(_)))
}

/// The blocks from which each block is reached, of those that can be.
fn predecessors(function: &Function) -> Vec<Vec<u32>> {
    let mut before = vec![Vec::new(); function.blocks.len()];
    let mut seen = vec![false; function.blocks.len()];
    let mut work = vec![0usize];
    while let Some(block) = work.pop() {
        if std::mem::replace(&mut seen[block], true) {
            continue;
        }
        for next in function.blocks[block].terminator.successors() {
            before[next.index()].push(block as u32);
            work.push(next.index());
        }
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Block, BlockId, FunctionId, Operand, Terminator, ValueId};
    use crate::path::Base;

    fn at(block: u32, statement: u32) -> Site {
        Site {
            block,
            statement,
            ..Site::default()
        }
    }

    /// Either 1 or 2, then 3, and from there back to 3 or to the end.
    fn function() -> Function {
        let branch = |then, otherwise| Terminator::Branch {
            condition: Operand::Other,
            then: BlockId(then),
            otherwise: BlockId(otherwise),
        };
        let terminators = [
            branch(1, 2),
            Terminator::Goto(BlockId(3)),
            Terminator::Goto(BlockId(3)),
            branch(3, 4),
            Terminator::Return(None),
        ];
        let blocks = terminators.map(|terminator| Block {
            statements: Vec::new(),
            terminator,
        });
        Function {
            blocks: blocks.into(),
            ..Function::default()
        }
    }

    #[test]
    fn the_last_on_every_way_is_there() {
        let function = function();
        let mut paths = Paths::default();
        let [place, one, other] =
            [0, 1, 2].map(|number| paths.base(Base::Local(FunctionId(0), ValueId(number))));
        let mut memory = Memory::default();
        memory.put(&mut paths, at(0, 0), place, Some(one));
        assert_eq!(memory.at(&function, &mut paths, place, at(3, 0)), Some(one));
        memory = Memory::default();
        memory.put(&mut paths, at(0, 0), place, Some(one));
        memory.put(&mut paths, at(1, 0), place, Some(other));
        assert_eq!(memory.at(&function, &mut paths, place, at(3, 0)), None);
        assert_eq!(
            memory.at(&function, &mut paths, place, at(1, 1)),
            Some(other)
        );
        memory.put(&mut paths, at(3, 5), place, Some(other));
        assert_eq!(
            memory.at(&function, &mut paths, place, at(4, 0)),
            Some(other)
        );
    }

    #[test]
    fn copies_are_looked_through() {
        let function = function();
        let mut paths = Paths::default();
        let [one, other, value] =
            [0, 1, 2].map(|number| paths.base(Base::Local(FunctionId(0), ValueId(number))));
        let mut memory = Memory::default();
        let eight = paths.field(one, 8);
        memory.put(&mut paths, at(0, 0), eight, Some(value));
        memory.moved(&mut paths, at(0, 1), [other, one], Some(16));
        let there = paths.field(other, 8);
        let beyond = paths.field(other, 16);
        assert_eq!(
            memory.at(&function, &mut paths, there, at(4, 0)),
            Some(value)
        );
        assert_eq!(memory.at(&function, &mut paths, beyond, at(4, 0)), None);
    }
}
