//! What functions mean that are not looked into: which of them take locks, start threads, wait, allocate.
//!
//! The meaning is data: TOML files, some of which come with Deadheat (`models/`), and the user's own, which are read after those and win.

mod effect;
mod file;
mod form;

use std::cell::RefCell;

use deadheat_code::demangled;
use rustc_hash::FxHashMap;

pub use effect::{Effect, Fails, Mode, Object};
pub use file::ModelError;

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
