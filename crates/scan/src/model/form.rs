//! How a model is written.

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    #[serde(default)]
    pub lock_classes: bool,
    #[serde(default)]
    pub typed: bool,
    #[serde(default)]
    pub function: Vec<Function>,
    #[serde(default)]
    pub entry: Vec<Caller>,
    #[serde(default, rename = "type")]
    pub types: Vec<Type>,
    #[serde(default)]
    pub global: Vec<Variables>,
    /// Functions that make something new, or do away with something, by their names.
    #[serde(default)]
    pub making: Vec<String>,
    #[serde(default)]
    pub ending: Vec<String>,
}

/// What all structures of some types are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Type {
    pub names: Vec<String>,
    #[serde(default)]
    pub opaque: bool,
    #[serde(default)]
    pub owned: bool,
    #[serde(default)]
    pub counter: bool,
}

/// Global variables that several threads do not share.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variables {
    pub sections: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Caller {
    pub section: Option<String>,
    pub table: Option<String>,
    #[serde(default)]
    pub fields: Vec<String>,
    #[serde(default)]
    pub register: Vec<String>,
    #[serde(default)]
    pub argument: u32,
    pub stored: Option<String>,
    #[serde(default)]
    pub phase: PhaseName,
    #[serde(default)]
    pub parallel: bool,
    #[serde(default)]
    pub locks: Vec<String>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PhaseName {
    First,
    #[default]
    Always,
    Last,
    Inside,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Function {
    pub names: Vec<String>,
    #[serde(default)]
    pub inlined: Vec<String>,
    pub lock: Option<Which>,
    #[serde(default)]
    pub lock_any: Vec<u32>,
    #[serde(default)]
    pub lock_guards: Vec<u32>,
    pub unlock: Option<Which>,
    #[serde(default)]
    pub mode: ModeName,
    #[serde(default)]
    pub fails: FailsName,
    #[serde(default)]
    pub again: bool,
    pub create: Option<Create>,
    pub create_method: Option<CreateMethod>,
    pub create_closure: Option<u32>,
    pub join: Option<u32>,
    pub join_address: Option<u32>,
    #[serde(default)]
    pub offset: i64,
    pub is_running: Option<u32>,
    pub detach: Option<u32>,
    pub once: Option<Once>,
    pub once_closure: Option<OnceClosure>,
    pub is_done: Option<u32>,
    pub is_done_if_zero: Option<u32>,
    pub done: Option<u32>,
    pub runs_stored: Option<String>,
    pub calls_object: Option<CallsObject>,
    pub calls_closure: Option<u32>,
    #[serde(default)]
    pub join_holder: bool,
    #[serde(default)]
    pub joins_own: bool,
    pub calls: Option<Calls>,
    pub wait: Option<Which>,
    #[serde(default)]
    pub timed: bool,
    pub signal: Option<Which>,
    pub barrier: Option<u32>,
    pub arrive: Option<u32>,
    pub pass: Option<u32>,
    #[serde(rename = "await")]
    pub awaits: Option<u32>,
    pub count: Option<Count>,
    pub down: Option<u32>,
    pub up: Option<u32>,
    #[serde(default)]
    pub allocate: bool,
    pub free: Option<u32>,
    #[serde(default)]
    pub read: Vec<u32>,
    #[serde(default)]
    pub write: Vec<u32>,
    pub copy: Option<[u32; 2]>,
    pub atomic: Option<u32>,
    pub atomic_read: Option<u32>,
    pub returns: Option<u32>,
    pub registers: Option<Registers>,
    #[serde(default)]
    pub ends: bool,
    #[serde(default)]
    pub own: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Which {
    Argument(u32),
    Named(String),
    Pointed(Pointed),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pointed {
    pub at: u32,
    pub offset: i64,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ModeName {
    Read,
    #[default]
    Write,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FailsName {
    #[default]
    Never,
    Nonzero,
    Zero,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Create {
    pub start: u32,
    pub data: Option<u32>,
    pub handle: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateMethod {
    pub object: u32,
    pub slot: u32,
    pub handle: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Once {
    pub flag: u32,
    pub run: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OnceClosure {
    pub flag: u32,
    pub data: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallsObject {
    pub object: u32,
    pub offset: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Calls {
    pub function: u32,
    #[serde(default)]
    pub with: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Count {
    pub semaphore: u32,
    pub value: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Registers {
    pub function: u32,
    #[serde(default)]
    pub parallel: bool,
}
