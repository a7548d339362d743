//! The order solver: is there an order of events that keeps to these rules?
//!
//! Nodes stand in chains, and a chain is always in order. There are permanent edges between nodes,
//! boolean variables, *order literals* "x before y", and clauses over literals. A solution is an
//! assignment and an order without cycles that has all chains, all permanent edges, and the edge of
//! every order literal that is true, such that every clause has a true literal. Order literals are
//! one-sided: true means that the edge is in the order, false means nothing. So any linear order
//! that has the solution's edges is a solution as well.
//!
//! The search is CDCL (Marques-Silva and Sakallah, GRASP, 1999; with the data structures of Chaff and
//! MiniSat) with the order as its theory: a true order literal puts an edge into a graph that is
//! kept free of cycles, and a cycle is a conflict among the literals of its edges. The graph keeps a
//! linear order of its nodes, and decisions are made only for clauses that this order breaks.
//!
//! Typical use is lazy: solve, look at the order, add the clauses that it should have kept to, solve
//! again. The solver then goes on from where it was. Rules that belong to one question only are
//! forgotten after it ([`Solver::forget_since`]), together with what was learned from them.
//!
//! Both answers can be checked: [`Solver::verify`] for a solution, [`refutation::check`] for a proof
//! that there is none ([`Solver::recording_proof`]).
//!
//! It knows nothing of traces, locks or races.
//!
//! ```
//! use deadheat_order::{Limit, Outcome, Solver};
//!
//! // Two threads with two critical sections each of one lock: nodes 0..1 and 2..3.
//! let mut solver = Solver::new(&[4, 4]);
//! let [a, b] = [0, 1].map(|chain| [0, 1, 2, 3].map(|index| solver.node(chain, index)));
//! for (x, y) in [(0, 0), (0, 2), (2, 0), (2, 2)] {
//!     let left_first = solver.before(a[x + 1], b[y]);
//!     let right_first = solver.before(b[y + 1], a[x]);
//!     solver.add_clause(&[left_first, right_first]);
//! }
//! // The second section of the left thread before the first of the right one:
//! let wish = solver.before(a[2], b[0]);
//! let Outcome::Solved(model) = solver.solve(&[wish], &Limit::default()) else {
//!     panic!("there is such an order");
//! };
//! assert!(model.is_before(a[3], b[0]));
//! assert_eq!(model.downset(b[0]), [4, 0]);
//! // The right thread in between: that cannot be the case at the same time.
//! let other = solver.before(b[1], a[2]);
//! let outcome = solver.solve(&[wish, other], &Limit::default());
//! assert!(matches!(outcome, Outcome::Impossible(core) if core.len() == 2));
//! ```

mod activity;
mod analysis;
mod clauses;
mod clocks;
mod decision;
mod forget;
mod graph;
mod limit;
mod literal;
mod model;
mod proof;
mod propagation;
pub mod refutation;
mod search;
mod solver;
mod stations;
mod trail;
mod verify;

pub use forget::Mark;
pub use limit::{GaveUp, Limit, Outcome, Statistics};
pub use literal::Lit;
pub use model::Model;
pub use proof::{Proof, Step};
pub use solver::{Cycle, Solver};
pub use stations::Node;
pub use verify::Mismatch;
