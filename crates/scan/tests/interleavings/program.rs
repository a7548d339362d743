//! Programs at random: what their threads do, and how that looks to the analyses.

use deadheat_scan::ir::{
    Block, BlockId, Callee, Comparison, Function, FunctionId, Global, GlobalId, Kind, Mark,
    Operand, Program, Statement, Terminator, Value, ValueId,
};
use proptest::prelude::*;

/// Something that a thread does. Numbers are those of variables, locks and the like.
#[derive(Clone, Debug)]
pub enum Deed {
    Read(u32),
    Write(u32),
    Lock(u32),
    Unlock(u32),
    /// Some work under a lock.
    Guarded(u32, Vec<Deed>),
    /// One of two locks is taken, nobody knows which.
    LockEither(u32, u32),
    UnlockEither(u32, u32),
    /// In a function that is given the lock.
    LockInside(u32),
    UnlockInside(u32),
    /// Taken and given back in a function, with a write between.
    WriteInside(u32, u32),
    /// If the lock can be taken at once.
    Try(u32, Vec<Deed>),
    ReadLock(u32),
    Down(u32),
    Up(u32),
    Barrier,
    Once,
    /// A new block, made known to all.
    Publish(bool),
    /// A write to what was made known.
    Use,
    Either(Vec<Deed>, Vec<Deed>),
    Loop(Vec<Deed>),
    Create(u32),
    Join(u32),
}

/// A program: what main and the two threads do, and how many can pass the semaphores at first.
#[derive(Clone, Debug)]
pub struct Plan {
    pub main: Vec<Deed>,
    pub threads: [Vec<Deed>; 2],
    pub counts: [i64; 2],
}

const VARIABLES: u32 = 2;
const LOCKS: u32 = 3;
const THREADS: u32 = 2;

fn deed() -> impl Strategy<Value = Deed> {
    let simple = prop_oneof![
        6 => (0..VARIABLES).prop_map(Deed::Read),
        12 => (0..VARIABLES).prop_map(Deed::Write),
        2 => (0..LOCKS).prop_map(Deed::Lock),
        3 => (0..LOCKS).prop_map(Deed::Unlock),
        1 => (0..LOCKS, 0..LOCKS).prop_map(|(a, b)| Deed::LockEither(a, b)),
        1 => (0..LOCKS, 0..LOCKS).prop_map(|(a, b)| Deed::UnlockEither(a, b)),
        1 => (0..LOCKS).prop_map(Deed::LockInside),
        1 => (0..LOCKS).prop_map(Deed::UnlockInside),
        2 => (0..LOCKS, 0..VARIABLES).prop_map(|(a, b)| Deed::WriteInside(a, b)),
        1 => Just(Deed::ReadLock(LOCKS)),
        1 => Just(Deed::Unlock(LOCKS)),
        1 => (0..2u32).prop_map(Deed::Down),
        1 => (0..2u32).prop_map(Deed::Up),
        1 => Just(Deed::Barrier),
        1 => Just(Deed::Once),
        1 => any::<bool>().prop_map(Deed::Publish),
        1 => Just(Deed::Use),
    ];
    simple.prop_recursive(2, 6, 3, |inner| {
        let some = prop::collection::vec(inner, 0..3);
        prop_oneof![
            6 => (0..LOCKS, some.clone()).prop_map(|(lock, deeds)| Deed::Guarded(lock, deeds)),
            1 => (0..LOCKS, some.clone()).prop_map(|(lock, deeds)| Deed::Try(lock, deeds)),
            1 => (some.clone(), some.clone()).prop_map(|(a, b)| Deed::Either(a, b)),
            1 => some.prop_map(Deed::Loop),
        ]
    })
}

/// Any program. Main creates both threads, and perhaps waits for them, somewhere between what else it does.
pub fn plan() -> impl Strategy<Value = Plan> {
    let deeds = || prop::collection::vec(deed(), 1..7);
    let create = (0..THREADS).prop_map(|thread| vec![Deed::Create(thread)]);
    let join = (0..THREADS).prop_map(|thread| vec![Deed::Join(thread)]);
    let more = prop_oneof![3 => prop::collection::vec(deed(), 0..3), 1 => join, 1 => create];
    let main = (deeds(), prop::collection::vec(more, 0..4));
    (main, deeds(), deeds(), [0..3i64, 0..3i64]).prop_map(|((before, more), one, other, counts)| {
        let mut main = vec![Deed::Create(0)];
        main.extend(before);
        main.push(Deed::Create(1));
        main.extend(more.into_iter().flatten());
        // Each is created once.
        let mut seen = Vec::new();
        main.retain(|deed| match deed {
            Deed::Create(thread) if seen.contains(thread) => false,
            Deed::Create(thread) => {
                seen.push(*thread);
                true
            }
            _ => true,
        });
        Plan {
            main,
            threads: [one, other],
            counts,
        }
    })
}

/// Globals, in their order.
pub mod globals {
    /// The first of the variables.
    pub const VARIABLE: u32 = 0;
    /// The first of the locks; the last of them is for readers too.
    pub const LOCK: u32 = 2;
    /// The first of the semaphores.
    pub const SEMAPHORE: u32 = 6;
    pub const BARRIER: u32 = 8;
    pub const FLAG: u32 = 9;
    /// Where a block is made known.
    pub const KNOWN: u32 = 10;
    /// What is done once writes there.
    pub const DONE: u32 = 11;
    pub const COUNT: u32 = 12;
}

/// Functions without a body, in their order.
pub const OUTSIDE: [&str; 14] = [
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_mutex_trylock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_unlock",
    "sem_init",
    "sem_wait",
    "sem_post",
    "pthread_barrier_init",
    "pthread_barrier_wait",
    "pthread_once",
    "pthread_create",
    "pthread_join",
    "malloc",
];

const LOCK_IT: u32 = OUTSIDE.len() as u32;
const UNLOCK_IT: u32 = LOCK_IT + 1;
const WRITE_IT: u32 = LOCK_IT + 2;
const DO_ONCE: u32 = LOCK_IT + 3;
const THREAD: u32 = LOCK_IT + 4;

fn outside(name: &str) -> Callee {
    let at = OUTSIDE.iter().position(|known| *known == name);
    Callee::Direct(FunctionId::new(at.expect("it is one of them")))
}

fn global(number: u32) -> Operand {
    Operand::Global(GlobalId(number), 0)
}

/// The program of a plan.
pub fn build(plan: &Plan) -> Program {
    let mut program = Program::default();
    for number in 0..globals::COUNT {
        program.globals.push(Global {
            name: format!("g{number}"),
            shown: format!("g{number}"),
            size: 8,
            is_external: true,
            ..Global::default()
        });
    }
    for name in OUTSIDE {
        program.functions.push(Function {
            name: name.to_owned(),
            shown: name.to_owned(),
            is_external: true,
            ..Function::default()
        });
    }
    let given = |number| Operand::Value(ValueId(number));
    let mut lock_it = Body::new(1);
    lock_it.call(outside("pthread_mutex_lock"), vec![given(0)]);
    let mut unlock_it = Body::new(1);
    unlock_it.call(outside("pthread_mutex_unlock"), vec![given(0)]);
    let mut write_it = Body::new(2);
    write_it.call(outside("pthread_mutex_lock"), vec![given(0)]);
    write_it.store(given(1), Operand::Integer(1));
    write_it.call(outside("pthread_mutex_unlock"), vec![given(0)]);
    let mut once = Body::new(0);
    once.store(global(globals::DONE), Operand::Integer(1));
    let bodies = [
        ("lock_it", lock_it),
        ("unlock_it", unlock_it),
        ("write_it", write_it),
        ("do_once", once),
    ];
    for (name, body) in bodies {
        program.functions.push(body.end(name));
    }
    for (number, deeds) in plan.threads.iter().enumerate() {
        let mut body = Body::new(1);
        body.deeds(deeds);
        program.functions.push(body.end(&format!("thread{number}")));
    }
    let mut main = Body::new(0);
    for _ in 0..THREADS {
        let into = main.value(true);
        main.push(Kind::Local {
            into,
            size: 8,
            layout: None,
        });
        main.handles.push(into);
    }
    for (number, count) in plan.counts.iter().enumerate() {
        let semaphore = global(globals::SEMAPHORE + number as u32);
        let arguments = vec![semaphore, Operand::Integer(0), Operand::Integer(*count)];
        main.call(outside("sem_init"), arguments);
    }
    let arguments = vec![global(globals::BARRIER), Operand::Null, Operand::Integer(2)];
    main.call(outside("pthread_barrier_init"), arguments);
    main.deeds(&plan.main);
    program.functions.push(main.end("main"));
    program
}

/// A function that is being written.
struct Body {
    parameters: u32,
    values: Vec<Value>,
    blocks: Vec<Block>,
    handles: Vec<ValueId>,
}

impl Body {
    fn new(parameters: u32) -> Self {
        let mut body = Body {
            parameters,
            values: Vec::new(),
            blocks: Vec::new(),
            handles: Vec::new(),
        };
        for _ in 0..parameters {
            body.value(true);
        }
        body.block();
        body
    }

    fn value(&mut self, is_pointer: bool) -> ValueId {
        self.values.push(Value {
            is_pointer,
            ..Value::default()
        });
        ValueId::new(self.values.len() - 1)
    }

    /// A new block, where things go on.
    fn block(&mut self) -> BlockId {
        self.blocks.push(Block {
            statements: Vec::new(),
            terminator: Terminator::Return(None),
        });
        BlockId::new(self.blocks.len() - 1)
    }

    fn here(&self) -> BlockId {
        BlockId::new(self.blocks.len() - 1)
    }

    fn push(&mut self, kind: Kind) {
        let block = self.blocks.last_mut().expect("there is one");
        block.statements.push(Statement { kind, place: None });
    }

    fn call(&mut self, callee: Callee, arguments: Vec<Operand>) {
        self.push(Kind::Call {
            into: None,
            callee,
            arguments,
        });
    }

    fn called(&mut self, callee: Callee, arguments: Vec<Operand>, is_pointer: bool) -> ValueId {
        let into = self.value(is_pointer);
        self.push(Kind::Call {
            into: Some(into),
            callee,
            arguments,
        });
        into
    }

    fn store(&mut self, to: Operand, value: Operand) {
        self.push(Kind::Store {
            to,
            value,
            size: 8,
            mark: Mark::Plain,
        });
    }

    fn load(&mut self, from: Operand, is_pointer: bool) -> ValueId {
        let into = self.value(is_pointer);
        self.push(Kind::Load {
            into,
            from,
            size: 8,
            mark: Mark::Plain,
        });
        into
    }

    fn either(&mut self, one: u32, other: u32) -> Operand {
        let into = self.value(true);
        let from = [one, other].map(|lock| (global(globals::LOCK + lock), None));
        self.push(Kind::Copy {
            into,
            from: from.into(),
        });
        Operand::Value(into)
    }

    fn branch(&mut self, from: BlockId, condition: Operand, then: BlockId, otherwise: BlockId) {
        self.blocks[from.index()].terminator = Terminator::Branch {
            condition,
            then,
            otherwise,
        };
    }

    fn goto(&mut self, from: BlockId, next: BlockId) {
        self.blocks[from.index()].terminator = Terminator::Goto(next);
    }

    fn deeds(&mut self, deeds: &[Deed]) {
        for deed in deeds {
            self.deed(deed);
        }
    }

    fn deed(&mut self, deed: &Deed) {
        let lock = |number: u32| global(globals::LOCK + number);
        let own = |number: u32| Callee::Direct(FunctionId(number));
        match deed {
            Deed::Read(variable) => {
                self.load(global(globals::VARIABLE + variable), false);
            }
            Deed::Write(variable) => {
                self.store(global(globals::VARIABLE + variable), Operand::Integer(1));
            }
            Deed::Lock(number) => self.call(outside("pthread_mutex_lock"), vec![lock(*number)]),
            Deed::Unlock(number) => self.call(outside("pthread_mutex_unlock"), vec![lock(*number)]),
            Deed::ReadLock(number) => {
                self.call(outside("pthread_rwlock_rdlock"), vec![lock(*number)]);
            }
            Deed::Guarded(number, deeds) => {
                self.call(outside("pthread_mutex_lock"), vec![lock(*number)]);
                self.deeds(deeds);
                self.call(outside("pthread_mutex_unlock"), vec![lock(*number)]);
            }
            Deed::LockEither(one, other) => {
                let either = self.either(*one, *other);
                self.call(outside("pthread_mutex_lock"), vec![either]);
            }
            Deed::UnlockEither(one, other) => {
                let either = self.either(*one, *other);
                self.call(outside("pthread_mutex_unlock"), vec![either]);
            }
            Deed::LockInside(number) => self.call(own(LOCK_IT), vec![lock(*number)]),
            Deed::UnlockInside(number) => self.call(own(UNLOCK_IT), vec![lock(*number)]),
            Deed::WriteInside(number, variable) => {
                let arguments = vec![lock(*number), global(globals::VARIABLE + variable)];
                self.call(own(WRITE_IT), arguments);
            }
            Deed::Try(number, deeds) => self.attempt(lock(*number), deeds),
            Deed::Down(number) => {
                self.call(
                    outside("sem_wait"),
                    vec![global(globals::SEMAPHORE + number)],
                );
            }
            Deed::Up(number) => {
                self.call(
                    outside("sem_post"),
                    vec![global(globals::SEMAPHORE + number)],
                );
            }
            Deed::Barrier => {
                self.call(
                    outside("pthread_barrier_wait"),
                    vec![global(globals::BARRIER)],
                );
            }
            Deed::Once => {
                let run = Operand::Function(FunctionId(DO_ONCE));
                self.call(outside("pthread_once"), vec![global(globals::FLAG), run]);
                self.load(global(globals::DONE), false);
            }
            Deed::Publish(again) => {
                let block = self.called(outside("malloc"), vec![Operand::Integer(8)], true);
                self.store(Operand::Value(block), Operand::Integer(1));
                self.store(global(globals::KNOWN), Operand::Value(block));
                if *again {
                    self.store(Operand::Value(block), Operand::Integer(2));
                }
            }
            Deed::Use => {
                let block = self.load(global(globals::KNOWN), true);
                self.store(Operand::Value(block), Operand::Integer(3));
            }
            Deed::Either(one, other) => {
                let from = self.here();
                let then = self.block();
                self.deeds(one);
                let then_end = self.here();
                let otherwise = self.block();
                self.deeds(other);
                let otherwise_end = self.here();
                let next = self.block();
                self.branch(from, Operand::Other, then, otherwise);
                self.goto(then_end, next);
                self.goto(otherwise_end, next);
            }
            Deed::Loop(deeds) => {
                let from = self.here();
                let head = self.block();
                let inside = self.block();
                self.deeds(deeds);
                let end = self.here();
                let next = self.block();
                self.goto(from, head);
                self.branch(head, Operand::Other, inside, next);
                self.goto(end, head);
            }
            Deed::Create(thread) => {
                let handle = Operand::Value(self.handles[*thread as usize]);
                let run = Operand::Function(FunctionId(THREAD + thread));
                let arguments = vec![handle, Operand::Null, run, Operand::Null];
                self.call(outside("pthread_create"), arguments);
            }
            Deed::Join(thread) => {
                let handle = Operand::Value(self.handles[*thread as usize]);
                let handle = self.load(handle, false);
                let arguments = vec![Operand::Value(handle), Operand::Null];
                self.call(outside("pthread_join"), arguments);
            }
        }
    }

    fn attempt(&mut self, lock: Operand, deeds: &[Deed]) {
        let result = self.called(outside("pthread_mutex_trylock"), vec![lock], false);
        let is_taken = self.value(false);
        self.push(Kind::Compare {
            into: is_taken,
            how: Comparison::Equal,
            operands: [Operand::Value(result), Operand::Integer(0)],
        });
        let from = self.here();
        let then = self.block();
        self.deeds(deeds);
        self.call(outside("pthread_mutex_unlock"), vec![lock]);
        let end = self.here();
        let next = self.block();
        self.branch(from, Operand::Value(is_taken), then, next);
        self.goto(end, next);
    }

    fn end(self, name: &str) -> Function {
        Function {
            name: name.to_owned(),
            shown: name.to_owned(),
            parameters: self.parameters,
            values: self.values,
            blocks: self.blocks,
            is_external: name == "main",
            is_address_taken: true,
            ..Function::default()
        }
    }
}
