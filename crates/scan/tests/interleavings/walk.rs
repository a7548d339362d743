//! Walks through all interleavings of a program, and tells which statements ever stand side by side that should not.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use deadheat_scan::ir::{Callee, Comparison, FunctionId, Kind, Operand, Program, Terminator};
use deadheat_scan::path::Site;

/// Where something is: in a global variable, a block of the heap or a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Place {
    Global(u32),
    Heap(u32),
    Handle(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Content {
    Unknown,
    Number(i64),
    At(Place),
    Runs(u32),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Frame {
    function: u32,
    block: u32,
    statement: u32,
    values: BTreeMap<u32, Content>,
    /// What runs in it is what runs once.
    is_once: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Thread {
    frames: Vec<Frame>,
    is_started: bool,
    /// Waits at the barrier.
    waits: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct State {
    /// Main, and the two others.
    threads: [Thread; 3],
    /// Who holds a lock alone.
    owners: BTreeMap<u32, usize>,
    /// Who holds it with others.
    readers: BTreeSet<(u32, usize)>,
    semaphores: BTreeMap<u32, i64>,
    /// 1: it runs. 2: it has run.
    once: u8,
    known: Option<Place>,
    blocks: u32,
}

/// How many states are looked at.
const MOST: usize = 4_000;

/// All pairs of statements that can race.
pub fn races(program: &Program) -> BTreeSet<(Site, Site)> {
    let main = program.named("main").expect("there is one");
    let mut first = State::default();
    first.threads[0] = Thread {
        frames: vec![frame(main)],
        is_started: true,
        waits: false,
    };
    let walk = Walk { program };
    let mut seen: HashSet<State> = HashSet::new();
    let mut work = walk.settled(first, 0);
    let mut found = BTreeSet::new();
    while let Some(state) = work.pop() {
        if seen.len() >= MOST || !seen.insert(state.clone()) {
            continue;
        }
        for one in 0..3 {
            for other in one + 1..3 {
                let sides = (walk.access(&state, one), walk.access(&state, other));
                if let (Some((a, here, left)), Some((b, there, right))) = sides
                    && here == there
                    && (left || right)
                {
                    found.insert((a.min(b), a.max(b)));
                }
            }
            for next in walk.steps(&state, one) {
                work.extend(walk.settled(next, one));
            }
        }
    }
    found
}

fn frame(function: FunctionId) -> Frame {
    Frame {
        function: function.0,
        block: 0,
        statement: 0,
        values: BTreeMap::new(),
        is_once: false,
    }
}

struct Walk<'a> {
    program: &'a Program,
}

impl Walk<'_> {
    fn kind(&self, frame: &Frame) -> Option<&Kind> {
        let function = &self.program.functions[frame.function as usize];
        let block = &function.blocks[frame.block as usize];
        let statement = block.statements.get(frame.statement as usize);
        statement.map(|statement| &statement.kind)
    }

    fn content(&self, frame: &Frame, operand: Operand) -> Content {
        match operand {
            Operand::Value(value) => {
                let known = frame.values.get(&value.0);
                known.copied().unwrap_or(Content::Unknown)
            }
            Operand::Global(id, _) => Content::At(Place::Global(id.0)),
            Operand::Function(id) => Content::Runs(id.0),
            Operand::Integer(number) => Content::Number(number),
            Operand::Null | Operand::Other => Content::Unknown,
        }
    }

    /// The access that a thread does next: where, of what, and whether it writes.
    fn access(&self, state: &State, thread: usize) -> Option<(Site, Place, bool)> {
        let frame = state.threads[thread].frames.last()?;
        let (operand, writes) = match self.kind(frame)? {
            Kind::Load { from, .. } => (*from, false),
            Kind::Store { to, .. } => (*to, true),
            _ => return None,
        };
        let Content::At(place) = self.content(frame, operand) else {
            return None;
        };
        let site = Site {
            function: FunctionId(frame.function),
            block: frame.block,
            statement: frame.statement,
        };
        Some((site, place, writes))
    }

    /// A thread goes on to where it does something that others can see: all ways to do so.
    fn settled(&self, state: State, thread: usize) -> Vec<State> {
        let mut done = Vec::new();
        let mut work = vec![state];
        let mut seen = HashSet::new();
        while let Some(mut state) = work.pop() {
            if !seen.insert(state.clone()) {
                continue;
            }
            let Some(frame) = state.threads[thread].frames.last().cloned() else {
                done.push(state);
                continue;
            };
            let Some(kind) = self.kind(&frame) else {
                work.extend(self.ended(state, thread, &frame));
                continue;
            };
            let mut next = frame.clone();
            next.statement += 1;
            let mut go = |mut state: State, next: Frame| {
                *state.threads[thread].frames.last_mut().expect("it runs") = next;
                work.push(state);
            };
            match kind {
                Kind::Copy { into, from } => {
                    for (operand, _) in from {
                        let mut next = next.clone();
                        next.values.insert(into.0, self.content(&frame, *operand));
                        go(state.clone(), next);
                    }
                }
                Kind::Local { into, .. } => {
                    next.values
                        .insert(into.0, Content::At(Place::Handle(into.0)));
                    go(state, next);
                }
                Kind::Compare {
                    into,
                    how,
                    operands,
                } => {
                    let [left, right] = operands.map(|operand| self.content(&frame, operand));
                    let answer = (left == right) == (*how == Comparison::Equal);
                    next.values.insert(into.0, Content::Number(answer.into()));
                    go(state, next);
                }
                Kind::Call {
                    callee: Callee::Direct(callee),
                    arguments,
                    ..
                } if self.program.function(*callee).is_defined() => {
                    let mut called = self::frame(*callee);
                    for (number, argument) in arguments.iter().enumerate() {
                        let content = self.content(&frame, *argument);
                        called.values.insert(number as u32, content);
                    }
                    *state.threads[thread].frames.last_mut().expect("it runs") = next;
                    state.threads[thread].frames.push(called);
                    work.push(state);
                }
                _ => done.push(state),
            }
        }
        done
    }

    /// The end of a block.
    fn ended(&self, state: State, thread: usize, frame: &Frame) -> Vec<State> {
        let function = &self.program.functions[frame.function as usize];
        let to = |block: u32| {
            let mut state = state.clone();
            let frame = state.threads[thread].frames.last_mut().expect("it runs");
            (frame.block, frame.statement) = (block, 0);
            state
        };
        match &function.blocks[frame.block as usize].terminator {
            Terminator::Goto(next) => vec![to(next.0)],
            Terminator::Branch {
                condition,
                then,
                otherwise,
            } => match self.content(frame, *condition) {
                Content::Number(0) => vec![to(otherwise.0)],
                Content::Number(_) => vec![to(then.0)],
                _ => vec![to(then.0), to(otherwise.0)],
            },
            _ => {
                let mut state = state;
                let gone = state.threads[thread].frames.pop();
                if gone.is_some_and(|gone| gone.is_once) {
                    state.once = 2;
                }
                vec![state]
            }
        }
    }

    /// What a thread can do next. Nothing if it has to wait, or if what it does has no meaning.
    fn steps(&self, state: &State, thread: usize) -> Vec<State> {
        let Some(frame) = state.threads[thread].frames.last() else {
            return Vec::new();
        };
        let is_visible = |kind: &&Kind| match kind {
            Kind::Load { .. } | Kind::Store { .. } => true,
            Kind::Call {
                callee: Callee::Direct(callee),
                ..
            } => !self.program.function(*callee).is_defined(),
            _ => false,
        };
        // One that was created, or was let go on by another.
        let Some(kind) = self.kind(frame).filter(is_visible) else {
            return self.settled(state.clone(), thread);
        };
        let mut next = state.clone();
        next.threads[thread]
            .frames
            .last_mut()
            .expect("it runs")
            .statement += 1;
        match kind {
            Kind::Load { into, from, .. } => {
                let read = match self.content(frame, *from) {
                    Content::At(Place::Global(super::program::globals::KNOWN)) => {
                        state.known.map_or(Content::Unknown, Content::At)
                    }
                    Content::At(Place::Handle(handle)) => Content::Number(handle.into()),
                    Content::At(_) => Content::Unknown,
                    _ => return Vec::new(),
                };
                let own = next.threads[thread].frames.last_mut().expect("it runs");
                own.values.insert(into.0, read);
            }
            Kind::Store { to, value, .. } => match self.content(frame, *to) {
                Content::At(Place::Global(super::program::globals::KNOWN)) => {
                    if let Content::At(place) = self.content(frame, *value) {
                        next.known = Some(place);
                    }
                }
                // What was not made known yet is left alone.
                _ => {}
            },
            Kind::Call {
                into,
                callee: Callee::Direct(callee),
                arguments,
            } => {
                let into = into.map(|into| into.0);
                let contents: Vec<Content> = arguments
                    .iter()
                    .map(|operand| self.content(frame, *operand))
                    .collect();
                let name = self.program.function(*callee).name.as_str();
                return call(state, next, thread, name, &contents, into);
            }
            _ => {}
        }
        vec![next]
    }
}

/// A call of a function without a body.
fn call(
    state: &State,
    mut next: State,
    thread: usize,
    name: &str,
    arguments: &[Content],
    into: Option<u32>,
) -> Vec<State> {
    let object = match arguments.first() {
        Some(Content::At(Place::Global(object))) => *object,
        _ => 0,
    };
    let is_free = !state.owners.contains_key(&object)
        && !state.readers.iter().any(|(lock, _)| *lock == object);
    let set = |next: &mut State, content: Content| {
        if let (Some(into), Some(frame)) = (into, next.threads[thread].frames.last_mut()) {
            frame.values.insert(into, content);
        }
    };
    match name {
        "pthread_mutex_lock" if is_free => {
            next.owners.insert(object, thread);
        }
        "pthread_mutex_trylock" => {
            if is_free {
                next.owners.insert(object, thread);
            }
            set(&mut next, Content::Number((!is_free).into()));
        }
        "pthread_rwlock_rdlock" => {
            let has_it = state.readers.contains(&(object, thread));
            if state.owners.contains_key(&object) || has_it {
                return Vec::new();
            }
            next.readers.insert((object, thread));
        }
        "pthread_mutex_unlock" | "pthread_rwlock_unlock" => {
            if state.owners.get(&object) == Some(&thread) {
                next.owners.remove(&object);
            } else {
                // Who has not got it gives nothing back.
                next.readers.remove(&(object, thread));
            }
        }
        "sem_init" => {
            if let Some(Content::Number(count)) = arguments.get(2) {
                next.semaphores.insert(object, *count);
            }
        }
        "sem_wait" => {
            let count = next.semaphores.entry(object).or_default();
            if *count == 0 {
                return Vec::new();
            }
            *count -= 1;
        }
        "sem_post" => {
            let count = next.semaphores.entry(object).or_default();
            // So that there is an end to it.
            if *count > 3 {
                return Vec::new();
            }
            *count += 1;
        }
        "pthread_barrier_wait" => {
            let other = (0..3).find(|other| state.threads[*other].waits);
            match other {
                Some(other) if other == thread => return Vec::new(),
                Some(other) => {
                    next.threads[other].waits = false;
                    let frame = next.threads[other].frames.last_mut();
                    frame.expect("it waits").statement += 1;
                    // Both go on: where the other stands is seen to when it does.
                    return vec![next];
                }
                None => {
                    let mut waiting = state.clone();
                    waiting.threads[thread].waits = true;
                    return vec![waiting];
                }
            }
        }
        "pthread_once" => match (state.once, arguments.get(1)) {
            (0, Some(Content::Runs(function))) => {
                next.once = 1;
                let mut inside = frame(FunctionId(*function));
                inside.is_once = true;
                next.threads[thread].frames.push(inside);
            }
            (2, _) => {}
            _ => return Vec::new(),
        },
        "pthread_create" => {
            let Some(Content::Runs(function)) = arguments.get(2) else {
                return Vec::new();
            };
            let Some(Content::At(Place::Handle(handle))) = arguments.first() else {
                return Vec::new();
            };
            let created = &mut next.threads[*handle as usize + 1];
            created.is_started = true;
            created.frames = vec![frame(FunctionId(*function))];
        }
        "pthread_join" => {
            let Some(Content::Number(handle)) = arguments.first() else {
                return Vec::new();
            };
            let waited = &state.threads[*handle as usize + 1];
            if !waited.is_started || !waited.frames.is_empty() {
                return Vec::new();
            }
        }
        "malloc" => {
            if state.blocks > 3 {
                return Vec::new();
            }
            next.blocks += 1;
            let block = Place::Heap(next.blocks);
            set(&mut next, Content::At(block));
        }
        "pthread_barrier_init" => {}
        _ => return Vec::new(),
    }
    vec![next]
}
