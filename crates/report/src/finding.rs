//! A finding: one race or deadlock as people see it, with everything that a report shows.
//!
//! Every renderer prints these, and nothing else; the JSON form is the types themselves, and can be read again.

use serde::{Deserialize, Serialize};

use crate::interleaving::Interleaving;
use crate::names::is_foreign_file;

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rung {
    /// Suspicious, unproven.
    Warning,
    /// It happened in the run that was seen: nothing ordered the two accesses in it.
    Observed,
    /// A schedule was derived in which it happens.
    Witness,
    /// That schedule was enforced on the program.
    Confirmed,
}

/// What kind of thing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Two accesses that nothing orders.
    Race,
    /// Threads that wait for each other.
    Deadlock,
    /// A schedule in which the program ends as it should not: it crashes, fails, or does not end.
    Failure,
}

impl Rung {
    /// In a word, as it is written in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Rung::Warning => "warning",
            Rung::Observed => "observed",
            Rung::Witness => "witness",
            Rung::Confirmed => "confirmed",
        }
    }
}

impl Kind {
    /// In a word, as it is written in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Race => "race",
            Kind::Deadlock => "deadlock",
            Kind::Failure => "failure",
        }
    }
}

/// A race or deadlock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// A short name that stays the same from run to run: made of kind and places.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// How sure it is.
    pub rung: Rung,
    /// The method that found it.
    pub method: String,
    /// The places, `function file:line` each, as one text.
    pub signature: String,
    /// How often it was found.
    pub count: u64,
    /// The memory that a race is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Object>,
    /// The two accesses, or the requests of a deadlock.
    pub accesses: Vec<Access>,
    /// The file with a schedule that leads to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<String>,
    /// What the run shows that confirmed it, if that is not both sides standing in front of their accesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Why the schedule could not be enforced, if it was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_enforced: Option<String>,
    /// What the program did instead when the schedule was enforced: it is no proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refuted: Option<String>,
    /// The command that runs the program into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// What follows from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consequence: Option<Consequence>,
    /// What speaks for a race that does no harm.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<String>,
    /// What recorded runs say of a warning that was found without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_run: Option<String>,
    /// Why a warning stands where it does among others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// What to change, where the evidence says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
    /// How it comes about, step by step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interleaving: Option<Interleaving>,
}

/// What a run shows of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Both accesses happened, and nothing orders one before the other.
    Unordered,
}

/// What follows from a finding: how the program went on from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consequence {
    /// For a race: with either side first. For a deadlock: the one that there is.
    pub endings: Vec<Ending>,
    /// In what the endings differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<String>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// `ab` if the finding's first side went first, `ba` if the second did.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub order: String,
    /// In words: `exits with 0`, `crashes with SIGSEGV in worker bank.c:41`.
    pub told: String,
    /// The exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// The signal that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// What the race's variable held in the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<u64>,
    /// The last thing it said on standard error, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The beginning of its output.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stdout: String,
}

/// One side of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// Who.
    pub thread: Thread,
    /// `read`, `write`, `atomic read`, `free`, `lock`, ...
    pub op: String,
    /// How many bytes; 0 if it does not access memory.
    pub size: u64,
    /// The address.
    pub address: u64,
    /// The innermost frame that is the program's own: where the finding is.
    #[serde(flatten)]
    pub place: Frame,
    /// All functions, innermost first.
    pub stack: Vec<Frame>,
    /// Whether frames of a recursion are left out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub folded: bool,
    /// The locks that the thread holds.
    pub locks: Vec<Lock>,
    /// The lock that it waits for (deadlocks).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<Lock>,
    /// Where the access stands in the trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<u64>,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// Its number.
    pub number: u32,
    /// Its name, or `T` and its number.
    pub name: String,
    /// The number of the thread that created it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u32>,
    /// Where it was created.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub created_at: Vec<Frame>,
}

/// A lock that is held or waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// Its name: the variable's, or a letter and a number.
    pub name: String,
    /// Its address; 0 if it is not known.
    pub address: u64,
    /// Whether it is held for reading only.
    #[serde(default, skip_serializing_if = "is_false")]
    pub read: bool,
    /// Where it was taken.
    pub acquired_at: Vec<Frame>,
}

/// Memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    /// What a person calls it: `total`, `accounts[2].balance`, `heap block of 24 bytes`.
    pub name: String,
    /// The first byte that both accesses touch.
    pub address: u64,
    /// How many bytes they share.
    pub size: u64,
    /// What memory it lies in.
    #[serde(flatten)]
    pub memory: Memory,
}

/// What memory it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "memory", rename_all = "lowercase")]
pub enum Memory {
    /// A variable that lives as long as the program.
    Global {
        /// Its name.
        variable: String,
        /// How far in.
        offset: u64,
        /// Where it is declared.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        declared: Option<String>,
    },
    /// A block that the program allocated.
    Heap {
        /// Its first byte.
        start: u64,
        /// Its size.
        length: u64,
        /// How far in.
        offset: u64,
        /// Who allocated it.
        thread: String,
        /// Where.
        allocated_at: Vec<Frame>,
    },
    /// A thread's stack.
    Stack {
        /// Whose.
        thread: String,
    },
    /// A variable of a text trace.
    Variable,
    /// Not known.
    Unknown,
}

/// A function and a place in its source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The source file, as seen from the current folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The program or library that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Whether it was inlined into the next.
    #[serde(default, skip_serializing_if = "is_false")]
    pub inlined: bool,
    /// Whether it came with the compiler, or with Deadheat.
    #[serde(skip)]
    pub foreign: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Frame {
    /// Whether it came with the compiler, or with Deadheat; known by its file, too, where it was read from a report.
    pub fn is_foreign(&self) -> bool {
        self.foreign || self.file.as_deref().is_some_and(is_foreign_file)
    }

    /// `file:line`, or the module, or what else is known of the place.
    pub fn at(&self) -> String {
        match (&self.file, self.line, &self.module) {
            (Some(file), Some(line), _) => format!("{file}:{line}"),
            (Some(file), None, _) => file.clone(),
            (None, _, Some(module)) => format!("({module})"),
            (None, _, None) => String::new(),
        }
    }

    /// `function file:line`.
    pub fn told(&self) -> String {
        let function = self.function.as_deref().unwrap_or("??");
        match self.at() {
            at if at.is_empty() => function.to_owned(),
            at if self.function.is_none() => at,
            at => format!("{function} {at}"),
        }
    }
}

/// The innermost frame that is the program's own, or the innermost.
pub fn own_place(stack: &[Frame]) -> Frame {
    let own = stack.iter().find(|frame| !frame.is_foreign());
    own.or(stack.first()).cloned().unwrap_or_default()
}

impl Finding {
    /// A finding with its name and signature made from its accesses. The side with the smaller
    /// place comes first in the signature: which came first in a run is luck.
    pub fn new(kind: Kind, rung: Rung, method: &str, accesses: Vec<Access>) -> Self {
        let mut places: Vec<String> = accesses.iter().map(Access::told_place).collect();
        places.sort();
        let signature = places.join(" | ");
        Finding {
            id: short_hash(kind, &signature),
            kind,
            rung,
            method: method.to_owned(),
            signature,
            count: 1,
            object: None,
            accesses,
            witness: None,
            evidence: None,
            not_enforced: None,
            refuted: None,
            replay: None,
            consequence: None,
            hints: Vec::new(),
            in_run: None,
            reasons: Vec::new(),
            suggestion: None,
            interleaving: None,
        }
    }
}

impl Finding {
    /// The program has done something else than the schedule says: what is left is a warning.
    pub fn refute(&mut self, why: String) {
        self.rung = Rung::Warning;
        self.refuted = Some(why);
        self.witness = None;
    }

    /// Eight hexadecimal digits that stay the same when lines move: made of kind, functions, locks and the
    /// object. Other findings may have the same.
    pub fn fingerprint(&self) -> String {
        let side = |access: &Access| {
            let function = access.place.function.as_deref().unwrap_or_default();
            let lock = access.waits_for.as_ref().map_or("", |lock| &lock.name);
            format!("{} {function} {lock}", access.op)
        };
        let mut sides: Vec<String> = self.accesses.iter().map(side).collect();
        sides.sort();
        let object = self.object.as_ref().map_or("", |object| &object.name);
        stable_hash(&format!(
            "{} {object} {}",
            self.kind.name(),
            sides.join(" | ")
        ))
    }
}

impl Access {
    /// The place with the functions that were inlined there.
    fn told_place(&self) -> String {
        let at = self.stack.iter().position(|frame| *frame == self.place);
        let inlined = self.stack[at.unwrap_or(0)..]
            .iter()
            .scan(true, |go_on, frame| {
                let told = go_on.then(|| frame.told());
                *go_on = *go_on && frame.inlined;
                told
            });
        let told: Vec<String> = inlined.collect();
        match told.is_empty() {
            true => self.place.told(),
            false => told.join(" in "),
        }
    }
}

/// The name of a finding. It must not change: people write names down.
fn short_hash(kind: Kind, signature: &str) -> String {
    let kind = match kind {
        Kind::Race => 'r',
        Kind::Deadlock => 'd',
        Kind::Failure => 'f',
    };
    stable_hash(&format!("{kind}{signature}"))
}

/// Eight hexadecimal digits that are the same for the same text on every machine: FNV-1a, mixed once more.
fn stable_hash(text: &str) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    let mixed = (hash ^ hash >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    format!("{:08x}", mixed >> 32)
}
