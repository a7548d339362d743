//! What functions mean that are not looked into: which of them take locks, start threads, wait, allocate.
//!
//! The meaning is data: TOML files, some of which come with Deadheat (`models/`), and the user's own, which are read after those and win.

mod file;
mod form;

use std::cell::RefCell;

use deadheat_code::demangled;
use rustc_hash::FxHashMap;

pub use file::ModelError;

/// What a function does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Takes a lock.
    Lock {
        /// Which.
        object: Object,
        /// How.
        mode: Mode,
        /// Whether it may come back without.
        fails: Fails,
        /// Whether it goes on with an attempt that may have succeeded.
        is_again: bool,
    },
    /// Takes a lock without a fixed order: waits for none while it has others.
    LockAny {
        /// The argument that points at the lock.
        argument: u32,
        /// Whether it points at a guard instead, which holds the lock's address.
        is_guard: bool,
    },
    /// Gives a lock back.
    Unlock {
        /// Which.
        object: Object,
    },
    /// Starts a thread.
    Create {
        /// The argument with the function that it runs.
        start: u32,
        /// The argument that this function gets.
        data: Option<u32>,
        /// The argument that tells where the thread's handle is put; its result, if there is none.
        handle: Option<u32>,
    },
    /// Starts a thread with an object's method.
    CreateMethod {
        /// The argument that points at where the object's address is.
        object: u32,
        /// Which of its virtual functions.
        slot: u32,
        /// The argument that tells where the thread's handle is put.
        handle: Option<u32>,
    },
    /// Starts a thread with a boxed closure of Rust's.
    CreateClosure {
        /// The argument that points at something that holds the closure.
        at: u32,
    },
    /// Waits for a thread to end.
    Join {
        /// The argument with its handle.
        handle: u32,
        /// Whether the argument is the address of the handle.
        by_address: bool,
        /// How far behind that address the handle is.
        offset: i64,
    },
    /// Tells whether a thread can still be waited for: 0 means that it was.
    IsRunning {
        /// The argument with the address of its handle.
        handle: u32,
    },
    /// Lets a thread go: nobody will wait for it.
    Detach {
        /// The argument with the address of its handle.
        handle: u32,
    },
    /// Waits for a thread to end whose handle is in the last argument, along with something that only the thread and its handle have.
    JoinHolder,
    /// What this function has created has ended when it returns. It is looked into.
    JoinsOwn,
    /// Runs a function if nobody did yet.
    Once {
        /// The argument that remembers.
        flag: u32,
        /// The argument with the function.
        run: u32,
    },
    /// Tells by its result whether what runs once has run.
    IsDone {
        /// The argument that remembers.
        flag: u32,
        /// Whether 0 is the yes.
        if_zero: bool,
    },
    /// What runs once has run now.
    Done {
        /// The argument that remembers.
        flag: u32,
    },
    /// Runs a closure of Rust's if nobody did yet.
    OnceClosure {
        /// The argument that remembers.
        flag: u32,
        /// The argument with the closure's data. The next one is its table.
        data: u32,
    },
    /// Calls a closure of Rust's before it returns.
    CallsClosure {
        /// The argument with the closure's data. The next one is its table.
        data: u32,
    },
    /// Runs what was last stored in a variable of the thread, by its name.
    RunsStored(u32),
    /// Calls what a function object holds: a pointer to a function at an offset, which gets the object's address first.
    CallsObject {
        /// The argument that points at the object.
        object: u32,
        /// Where the pointer is.
        offset: u32,
    },
    /// Calls back before it returns.
    Calls {
        /// The argument with the function.
        function: u32,
        /// Its parameters, from the first on, are these arguments.
        with: Vec<u32>,
    },
    /// Waits for a condition.
    Wait {
        /// Which.
        condition: Object,
        /// Whether the wait may end without.
        is_timed: bool,
    },
    /// Announces a condition.
    Signal {
        /// Which.
        condition: Object,
    },
    /// Waits until all have come.
    Barrier {
        /// Where.
        barrier: u32,
    },
    /// Comes to a barrier without waiting there.
    Arrive {
        /// Where.
        barrier: u32,
    },
    /// Waits until all have come, without being one of them.
    Pass {
        /// Where.
        barrier: u32,
    },
    /// Waits for a result: the condition has been announced, and threads that were given the object have ended.
    Await {
        /// What the result is in.
        object: u32,
    },
    /// Gives a semaphore its first value, or a barrier the number of those who have to come.
    Count {
        /// Which.
        semaphore: u32,
        /// The argument with the value.
        value: u32,
    },
    /// Takes one from a semaphore.
    Down {
        /// Which.
        semaphore: u32,
        /// Whether it may come back without.
        fails: Fails,
    },
    /// Gives one to a semaphore.
    Up {
        /// Which.
        semaphore: u32,
    },
    /// Returns memory that nobody else has.
    Allocate,
    /// Ends the life of memory.
    Free(u32),
    /// Reads what an argument points at.
    Read(u32),
    /// Writes what an argument points at.
    Write(u32),
    /// Copies what one argument points at to where another does, pointers included.
    Copy {
        /// Where to.
        to: u32,
        /// Where from.
        from: u32,
    },
    /// Works on memory atomically.
    Atomic(u32),
    /// Reads memory atomically.
    AtomicRead(u32),
    /// Returns one of its arguments.
    Returns(u32),
    /// Hands a function to somebody who calls it later, in parallel with everything else.
    Registers {
        /// The argument with the function.
        function: u32,
        /// Whether it can run twice at once.
        is_parallel: bool,
    },
    /// Returns something that belongs to the thread that calls it.
    Own,
    /// Does not return.
    Ends,
    /// Nothing that matters.
    Nothing,
}

/// A lock or a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    /// What an argument points at.
    Argument(u32),
    /// What the address leads to that is stored so many bytes behind where an argument points.
    Pointed(u32, i64),
    /// One that has no address, by the number of its name.
    Named(u32),
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Together with other readers.
    Read,
    /// Alone.
    #[default]
    Write,
}

/// Whether an attempt may fail, and how that is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fails {
    /// It does not.
    #[default]
    Never,
    /// It has failed if the result is not 0.
    NonZero,
    /// It has failed if the result is 0.
    Zero,
}

/// The meaning of functions.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// What functions mean, each a group of effects.
    meanings: Vec<Vec<Effect>>,
    /// Names as the linker knows them, or as people write them if there is a `::` in them, and the numbers of their meanings.
    functions: FxHashMap<String, usize>,
    /// The same for names with a `*` in them.
    patterns: Vec<(String, usize)>,
    /// What atomic operations mean that an inlined function of the library's consists of: its file and name, as a pattern.
    inlined: Vec<(String, usize)>,
    /// What was looked for.
    known: RefCell<FxHashMap<String, Option<usize>>>,
    /// Locks that have no address.
    names: Vec<String>,
    /// Who calls a module: the first that fits tells.
    entries: Vec<Entry>,
    /// Whether locks in structures are told apart by their members only.
    has_lock_classes: bool,
    /// Whether members of structures are accessed as such only.
    has_types: bool,
    /// Types whose insides are somebody else's concern.
    opaque: Vec<String>,
    /// Types whose objects belong to whoever is handed one.
    owned: Vec<String>,
    /// Types of statistics.
    counters: Vec<String>,
    /// Sections of global variables that several threads do not share.
    unshared_sections: Vec<String>,
    /// Functions that make something new, or end something's life, by their names.
    making: Vec<String>,
    ending: Vec<String>,
}

/// How functions of a module are called by somebody else.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Which functions.
    pub which: Which,
    /// When.
    pub phase: Phase,
    /// Whether a function can run twice at once.
    pub is_parallel: bool,
    /// Locks that the caller holds, by the numbers of their names.
    pub locks: Vec<u32>,
}

/// Which functions are called by somebody else.
#[derive(Clone, Debug)]
pub enum Which {
    /// Those of a section.
    Section(String),
    /// Those in fields of a constant structure: its type's name, and the fields' (empty: all).
    Table(String, Vec<String>),
    /// Those that are the argument of such a call.
    Register(Vec<String>, u32),
    /// Those whose address is stored in such a field: `structure.field`.
    Stored(String),
}

/// When a function is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Before all others.
    First,
    /// At any time.
    #[default]
    Always,
    /// After all others.
    Last,
    /// While the module itself waits for it: called back under the locks that it holds.
    Inside,
}

/// The models that come with Deadheat, by their names.
const OWN: [(&str, &str); 4] = [
    ("pthread", include_str!("../../models/pthread.toml")),
    ("libc", include_str!("../../models/libc.toml")),
    ("cxx", include_str!("../../models/cxx.toml")),
    ("rust", include_str!("../../models/rust.toml")),
];

impl Model {
    /// Threads of C, C++ and Rust, and the C library.
    ///
    /// # Errors
    /// None, unless Deadheat's own files are wrong.
    pub fn user() -> Result<Self, ModelError> {
        let mut model = Model::default();
        for (name, text) in OWN {
            model.read(name, text)?;
        }
        Ok(model)
    }

    /// What this function means, if it is known.
    pub fn of(&self, name: &str) -> Option<&[Effect]> {
        let known = self.known.borrow().get(name).copied();
        let meaning = known.unwrap_or_else(|| {
            let found = self.find(name);
            self.known.borrow_mut().insert(name.to_owned(), found);
            found
        });
        let effects = meaning.map(|meaning| &self.meanings[meaning][..]);
        effects.filter(|effects| !effects.contains(&Effect::JoinsOwn))
    }

    /// Whether what a function has created has ended when it returns.
    pub fn joins_own(&self, name: &str) -> bool {
        // It is known only now whether anything is.
        self.of(name).is_none()
            && self.known.borrow().get(name).is_some_and(|meaning| {
                meaning.is_some_and(|meaning| self.meanings[meaning].contains(&Effect::JoinsOwn))
            })
    }

    /// What the atomic operations of an inlined function mean, by its file and name.
    pub fn of_inlined(&self, file: &str, name: &str) -> Option<&[Effect]> {
        if self.inlined.is_empty() {
            return None;
        }
        let name = format!("{file}:{name}");
        let mut all = self.inlined.iter().rev();
        let found = all.find(|(pattern, _)| matches(pattern, &name));
        found.map(|(_, meaning)| &self.meanings[*meaning][..])
    }

    /// Whether a function is known: a call of it stays a call.
    pub fn knows(&self, name: &str) -> bool {
        self.of(name).is_some() || self.joins_own(name)
    }

    fn find(&self, name: &str) -> Option<usize> {
        if let Some(meaning) = self.functions.get(name) {
            return Some(*meaning);
        }
        let written = demangled(name);
        if let Some(meaning) = self.functions.get(&written) {
            return Some(*meaning);
        }
        let mut patterns = self.patterns.iter().rev();
        let found = patterns.find(|(pattern, _)| match pattern.contains("::") {
            true => matches(pattern, &written),
            false => matches(pattern, name),
        });
        found.map(|(_, meaning)| *meaning)
    }

    /// The Linux kernel.
    ///
    /// # Errors
    /// None, unless Deadheat's own file is wrong.
    pub fn linux() -> Result<Self, ModelError> {
        let mut model = Model::default();
        model.read("linux", include_str!("../../models/linux.toml"))?;
        Ok(model)
    }

    /// Whether locks of the same member of the same type of structure are one: all of them are taken to protect what their own structure has.
    pub fn has_lock_classes(&self) -> bool {
        self.has_lock_classes
    }

    /// Whether members of structures are accessed as such, not through pointers to numbers that come from somewhere else.
    pub fn has_types(&self) -> bool {
        self.has_types
    }

    /// Whether the insides of a type are somebody else's concern: locks, work items, tracing.
    pub fn is_opaque(&self, layout: &str) -> bool {
        is_named(&self.opaque, layout)
    }

    /// Whether an object of a type belongs to whoever is handed it.
    pub fn is_owned(&self, layout: &str) -> bool {
        is_named(&self.owned, layout)
    }

    /// Whether a type is one of statistics, in which nobody minds a lost update.
    pub fn is_counter(&self, layout: &str) -> bool {
        is_named(&self.counters, layout)
    }

    /// Whether a function makes something new, as far as its name tells.
    pub fn is_making(&self, function: &str) -> bool {
        let mut all = self.making.iter();
        all.any(|pattern| matches(pattern, function))
    }

    /// Whether a function does away with something, as far as its name tells.
    pub fn is_ending(&self, function: &str) -> bool {
        let mut all = self.ending.iter();
        all.any(|pattern| matches(pattern, function))
    }

    /// Whether several threads do not share the global variables of a section.
    pub fn is_unshared(&self, section: &str) -> bool {
        let mut all = self.unshared_sections.iter();
        all.any(|pattern| matches(pattern, section))
    }

    /// Who calls a module.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The name of a lock that has no address.
    pub fn name(&self, number: u32) -> &str {
        &self.names[number as usize]
    }

    fn number(&mut self, name: &str) -> u32 {
        let known = self.names.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        }) as u32
    }

    fn set(&mut self, names: &[String], inlined: &[String], effects: Vec<Effect>) {
        let meaning = self.meanings.len();
        let inlined = inlined.iter().map(|name| (name.clone(), meaning));
        self.inlined.extend(inlined);
        self.meanings.push(effects);
        self.known.borrow_mut().clear();
        for name in names {
            match name.contains('*') {
                true => self.patterns.push((name.clone(), meaning)),
                false => {
                    self.functions.insert(name.clone(), meaning);
                }
            }
        }
    }
}

/// Whether a type has one of these names, whatever kind of type it is.
fn is_named(patterns: &[String], layout: &str) -> bool {
    let bare = layout.strip_prefix("struct ");
    let bare = bare.or_else(|| layout.strip_prefix("union "));
    let bare = bare.unwrap_or(layout);
    patterns.iter().any(|pattern| matches(pattern, bare))
}

/// Whether a name fits a pattern, in which `*` stands for anything.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut left) = name.strip_prefix(head) else {
        return false;
    };
    let Some((middle, tail)) = rest.rsplit_once('*') else {
        return left.ends_with(rest);
    };
    // What comes first is best taken first.
    for part in middle.split('*') {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_models_are_read() {
        let model = Model::user().unwrap();
        let lock = model.of("pthread_mutex_lock").unwrap();
        let expected = Effect::Lock {
            object: Object::Argument(0),
            mode: Mode::Write,
            fails: Fails::Never,
            is_again: false,
        };
        assert_eq!(lock, [expected]);
        assert!(model.of("no_such_function").is_none());
    }

    #[test]
    fn the_kernel_has_locks_and_callers() {
        let model = Model::linux().unwrap();
        assert!(matches!(
            model.of("_raw_spin_lock_irqsave").unwrap(),
            [Effect::Lock { .. }]
        ));
        assert!(
            model
                .entries()
                .iter()
                .any(|entry| entry.phase == Phase::First)
        );
    }

    #[test]
    fn stars_stand_for_anything() {
        assert!(matches("*", ""));
        assert!(matches("*", "a"));
        assert!(matches("a*c", "abc"));
        assert!(matches("a*c", "ac"));
        assert!(matches("_raw_*_lock*", "_raw_spin_lock_irqsave"));
        assert!(!matches("a*c", "ab"));
        assert!(!matches("a*c", "bc"));
        assert!(!matches("ab*bc", "abc"));
        assert!(matches("a*b*c*", "axbbxcc"));
        assert!(!matches("a*b*c", "axcxb"));
    }
}
