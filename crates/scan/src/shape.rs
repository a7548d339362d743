//! The shape of a function: in which order its blocks are best looked at, and its loops.

use petgraph::algo::dominators;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::DfsPostOrder;

use crate::ir::{BlockId, Function};

/// The shape of a function.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// Its blocks that can be reached, each after those that lead to it, but for loops.
    pub order: Vec<BlockId>,
    /// Its loops.
    pub loops: Vec<Loop>,
    /// The smallest loop that a block is in.
    innermost: Vec<Option<u32>>,
}

/// A loop.
#[derive(Clone, Debug, Default)]
pub struct Loop {
    /// Where each round begins.
    pub head: usize,
    /// Which blocks are in it.
    pub blocks: Vec<bool>,
    /// How many those are.
    size: usize,
}

impl Shape {
    /// The shape of a function with a body.
    pub fn of(function: &Function) -> Self {
        let mut graph: DiGraph<(), ()> = DiGraph::new();
        let nodes: Vec<NodeIndex> = function.blocks.iter().map(|_| graph.add_node(())).collect();
        for (number, block) in function.blocks.iter().enumerate() {
            for next in block.terminator.successors() {
                graph.update_edge(nodes[number], nodes[next.index()], ());
            }
        }
        let Some(entry) = nodes.first() else {
            return Shape::default();
        };
        let mut order = Vec::new();
        let mut search = DfsPostOrder::new(&graph, *entry);
        while let Some(node) = search.next(&graph) {
            order.push(BlockId::new(node.index()));
        }
        order.reverse();
        let mut shape = Shape {
            order,
            loops: Vec::new(),
            innermost: vec![None; function.blocks.len()],
        };
        shape.find_loops(&graph, *entry);
        shape
    }

    /// Natural loops: an edge back to a block that dominates where it comes from. Those with the same head are one.
    fn find_loops(&mut self, graph: &DiGraph<(), ()>, entry: NodeIndex) {
        let dominators = dominators::simple_fast(graph, entry);
        let dominates = |head: NodeIndex, tail: NodeIndex| {
            let mut all = dominators.dominators(tail).into_iter().flatten();
            all.any(|node| node == head)
        };
        for head in graph.node_indices() {
            let back = graph.neighbors_directed(head, petgraph::Incoming);
            let mut work: Vec<NodeIndex> = back.filter(|tail| dominates(head, *tail)).collect();
            if work.is_empty() {
                continue;
            }
            let mut blocks = vec![false; graph.node_count()];
            blocks[head.index()] = true;
            while let Some(node) = work.pop() {
                if !std::mem::replace(&mut blocks[node.index()], true) {
                    work.extend(graph.neighbors_directed(node, petgraph::Incoming));
                }
            }
            let size = blocks.iter().filter(|is_in| **is_in).count();
            let head = head.index();
            self.loops.push(Loop { head, blocks, size });
        }
        for block in 0..self.innermost.len() {
            let around = self.loops.iter().enumerate();
            let around = around.filter(|(_, one)| one.blocks[block]);
            let smallest = around.min_by_key(|(_, one)| one.size);
            self.innermost[block] = smallest.map(|(number, _)| number as u32);
        }
    }

    /// The smallest loop around a block.
    pub fn loop_around(&self, block: u32) -> Option<u32> {
        self.innermost.get(block as usize).copied().flatten()
    }

    /// The loops that are left from one block to another.
    pub fn left(&self, from: BlockId, to: BlockId) -> impl Iterator<Item = u32> + '_ {
        let all = self.loops.iter().enumerate();
        let left = all.filter(move |(_, one)| one.blocks[from.index()] && !one.blocks[to.index()]);
        left.map(|(number, _)| number as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Block, Operand, Terminator};

    /// A function whose blocks go on where these say.
    fn function(next: &[&[u32]]) -> Function {
        let blocks = next.iter().map(|next| Block {
            statements: Vec::new(),
            terminator: match next {
                [] => Terminator::Return(None),
                [only] => Terminator::Goto(BlockId(*only)),
                [then, otherwise, ..] => Terminator::Branch {
                    condition: Operand::Other,
                    then: BlockId(*then),
                    otherwise: BlockId(*otherwise),
                },
            },
        });
        Function {
            blocks: blocks.collect(),
            ..Function::default()
        }
    }

    #[test]
    fn loops_within_loops() {
        let shape = Shape::of(&function(&[&[1], &[2, 5], &[3, 4], &[2], &[1], &[]]));
        let heads: Vec<usize> = shape.loops.iter().map(|one| one.head).collect();
        assert_eq!(heads, [1, 2]);
        assert_eq!(shape.loop_around(3), Some(1));
        assert_eq!(shape.loop_around(4), Some(0));
        assert_eq!(shape.loop_around(5), None);
        let left: Vec<u32> = shape.left(BlockId(2), BlockId(4)).collect();
        assert_eq!(left, [1]);
    }

    #[test]
    fn what_is_not_reached_has_no_place_in_the_order() {
        let shape = Shape::of(&function(&[&[2], &[2], &[]]));
        assert_eq!(shape.order, [BlockId(0), BlockId(2)]);
        assert!(Shape::of(&function(&[])).order.is_empty());
    }
}
