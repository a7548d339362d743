//! The trie of one location, and what is asked of it.

use crate::Hold;
use crate::question::Question;
use crate::slots::{Linked, NONE, Slots};

/// An access.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a, P> {
    /// Whose.
    pub thread: u32,
    /// The thread's time: what it sends later says that this time is known.
    pub time: u32,
    /// Whether it writes.
    pub writes: bool,
    /// The locks held, each once, in ascending order.
    pub holds: &'a [Hold],
    /// Whatever the user wants to know of it later.
    pub payload: P,
}

/// An access that is remembered. Its locks are told by where it lies.
#[derive(Clone, Copy, Debug)]
pub struct Record<P> {
    /// Whose.
    pub thread: u32,
    /// The thread's time.
    pub time: u32,
    /// Whether it writes.
    pub writes: bool,
    pub(crate) next: u32,
    /// What the user wanted to know.
    pub payload: P,
}

impl Record<()> {
    /// To fill memory with.
    pub const EMPTY: Record<()> = Record::filler(());
}

impl<P> Record<P> {
    /// To fill memory with.
    pub const fn filler(payload: P) -> Self {
        Record {
            thread: 0,
            time: 0,
            writes: false,
            next: NONE,
            payload,
        }
    }
}

/// A set of locks: one more than the node above.
#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub(crate) hold: Hold,
    pub(crate) child: u32,
    pub(crate) sibling: u32,
    pub(crate) records: u32,
}

impl Node {
    /// To fill memory with.
    pub const EMPTY: Node = Node::new(Hold::shared(0));

    const fn new(hold: Hold) -> Self {
        Node {
            hold,
            child: NONE,
            sibling: NONE,
            records: NONE,
        }
    }
}

impl Linked for Node {
    fn link(&self) -> u32 {
        self.sibling
    }

    fn set_link(&mut self, next: u32) {
        self.sibling = next;
    }
}

impl<P: Copy> Linked for Record<P> {
    fn link(&self) -> u32 {
        self.next
    }

    fn set_link(&mut self, next: u32) {
        self.next = next;
    }
}

/// Where the nodes and records of histories lie.
#[derive(Clone, Debug, Default)]
pub struct Store<N, R> {
    /// The nodes.
    pub nodes: N,
    /// The records.
    pub records: R,
}

/// What to do and what not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Compare times. Otherwise locks alone decide.
    pub happens_before: bool,
    /// Apply the lockset-subset rule.
    pub subset: bool,
    /// Apply the oversized-lockset rule, with this as the most locks that a thread holds.
    pub most_locks: Option<u32>,
    /// Drop remembered accesses that a new one stands for.
    pub overtake: bool,
    /// Go on behind the first race.
    pub go_on: bool,
}

impl Options {
    /// As in the paper, without the oversized-lockset rule, which needs a number.
    pub const PAPER: Options = Options {
        happens_before: true,
        subset: true,
        most_locks: None,
        overtake: false,
        go_on: false,
    };
}

/// What came of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// It races with a remembered one.
    pub race: bool,
    /// It is remembered now; otherwise it is redundant, or no longer of interest.
    pub remembered: bool,
    /// It holds more locks than was thought possible when others were left out; it may race with
    /// those.
    pub unsure: bool,
    /// There was no room to remember it.
    pub full: bool,
}

/// The accesses to one location that are remembered.
#[derive(Clone, Copy, Debug)]
pub struct History {
    root: u32,
    /// The smallest number of locks that the oversized-lockset rule was applied with.
    thinned: u32,
    /// A race was found, and no more are wanted.
    done: bool,
}

impl Default for History {
    fn default() -> Self {
        Self::new()
    }
}

impl History {
    /// Nothing.
    pub const fn new() -> Self {
        History {
            root: NONE,
            thinned: u32::MAX,
            done: false,
        }
    }

    /// Whether a race was found, and no more are wanted.
    pub const fn is_done(&self) -> bool {
        self.done
    }

    /// One more access. `known` says how much of a thread the access's own thread knows; `race` is
    /// called for each remembered access that may race with it, or only the first.
    pub fn add<P: Copy, N: Slots<Node>, R: Slots<Record<P>>>(
        &mut self,
        store: &mut Store<N, R>,
        access: &Access<'_, P>,
        options: &Options,
        known: impl Fn(u32) -> u32,
        mut race: impl FnMut(&Record<P>),
    ) -> Outcome {
        let mut outcome = Outcome::default();
        if self.done {
            return outcome;
        }
        let question = Question {
            access,
            options,
            known,
        };
        outcome.unsure = access.holds.len() as u64 > self.thinned.into();
        if self.root != NONE {
            outcome.race = question.races(store, self.root, &mut race);
            if outcome.race && !options.go_on {
                self.clear(store);
                self.done = true;
                return outcome;
            }
            if options.subset && question.has_subset(store, self.root) {
                return outcome;
            }
            if let Some(most) = options.most_locks
                && question.is_oversized(store, self.root, most)
            {
                self.thinned = self.thinned.min(most);
                return outcome;
            }
            if options.overtake {
                question.overtake(store, self.root, 0);
            }
        }
        outcome.remembered = self.remember(store, access);
        outcome.full = !outcome.remembered;
        outcome
    }

    /// Forgets everything.
    pub fn clear<P: Copy, N: Slots<Node>, R: Slots<Record<P>>>(&mut self, store: &mut Store<N, R>) {
        if self.root != NONE {
            free(store, self.root);
        }
        *self = History::new();
    }

    fn remember<P: Copy, N: Slots<Node>, R: Slots<Record<P>>>(
        &mut self,
        store: &mut Store<N, R>,
        access: &Access<'_, P>,
    ) -> bool {
        if !store.nodes.has_room(access.holds.len() + 1) || !store.records.has_room(1) {
            return false;
        }
        if self.root == NONE {
            self.root = store.nodes.insert(Node::EMPTY).unwrap_or(NONE);
        }
        let mut at = self.root;
        for hold in access.holds {
            if at == NONE {
                return false;
            }
            at = child_of(&mut store.nodes, at, *hold);
        }
        if at == NONE {
            return false;
        }
        let record = Record {
            thread: access.thread,
            time: access.time,
            writes: access.writes,
            next: store.nodes.get(at).records,
            payload: access.payload,
        };
        match store.records.insert(record) {
            Some(record) => {
                store.nodes.get_mut(at).records = record;
                true
            }
            None => false,
        }
    }
}

/// The child with this label, made if there is none.
fn child_of<N: Slots<Node>>(nodes: &mut N, parent: u32, hold: Hold) -> u32 {
    let first = nodes.get(parent).child;
    let mut at = first;
    while at != NONE {
        let node = nodes.get(at);
        if node.hold == hold {
            return at;
        }
        at = node.sibling;
    }
    let mut node = Node::new(hold);
    node.sibling = first;
    let Some(child) = nodes.insert(node) else {
        return NONE;
    };
    nodes.get_mut(parent).child = child;
    child
}

/// Frees a node and all below.
fn free<P: Copy, N: Slots<Node>, R: Slots<Record<P>>>(store: &mut Store<N, R>, at: u32) {
    let Node {
        mut child,
        mut records,
        ..
    } = *store.nodes.get(at);
    while child != NONE {
        let next = store.nodes.get(child).sibling;
        free(store, child);
        child = next;
    }
    while records != NONE {
        let next = store.records.get(records).next;
        store.records.remove(records);
        records = next;
    }
    store.nodes.remove(at);
}
