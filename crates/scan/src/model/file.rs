//! Reads models.
//!
//! ```toml
//! [[function]]
//! names = ["pthread_mutex_trylock"]   # `*` stands for anything; with a `::` it is the name that people write, else the linker's
//! lock = 0                            # the first argument points at the lock; a name in quotes: a lock without address
//! fails = "nonzero"                   # the lock was not taken if the result is not 0
//! inlined = ["*/lock.rs:try_lock"]    # atomic operations mean the same that the compiler has inlined from there
//! ```

use serde::Deserialize;

use super::{Effect, Entry, Fails, Mode, Model, Object, Phase, Which as Called};

/// A model that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the model {name} cannot be read: {error}")]
pub struct ModelError {
    name: String,
    error: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    function: Vec<Function>,
    #[serde(default)]
    entry: Vec<Caller>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Caller {
    section: Option<String>,
    table: Option<String>,
    #[serde(default)]
    fields: Vec<String>,
    #[serde(default)]
    register: Vec<String>,
    #[serde(default)]
    argument: u32,
    stored: Option<String>,
    #[serde(default)]
    phase: PhaseName,
    #[serde(default)]
    parallel: bool,
    #[serde(default)]
    locks: Vec<String>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PhaseName {
    First,
    #[default]
    Always,
    Last,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Function {
    names: Vec<String>,
    #[serde(default)]
    inlined: Vec<String>,
    lock: Option<Which>,
    #[serde(default)]
    lock_any: Vec<u32>,
    #[serde(default)]
    lock_guards: Vec<u32>,
    unlock: Option<Which>,
    #[serde(default)]
    mode: ModeName,
    #[serde(default)]
    fails: FailsName,
    #[serde(default)]
    again: bool,
    create: Option<Create>,
    create_method: Option<CreateMethod>,
    create_closure: Option<u32>,
    join: Option<u32>,
    join_address: Option<u32>,
    #[serde(default)]
    offset: i64,
    is_running: Option<u32>,
    detach: Option<u32>,
    once: Option<Once>,
    once_closure: Option<OnceClosure>,
    is_done: Option<u32>,
    is_done_if_zero: Option<u32>,
    done: Option<u32>,
    runs_stored: Option<String>,
    calls_object: Option<CallsObject>,
    calls_closure: Option<u32>,
    #[serde(default)]
    join_holder: bool,
    #[serde(default)]
    joins_own: bool,
    calls: Option<Calls>,
    wait: Option<Which>,
    #[serde(default)]
    timed: bool,
    signal: Option<Which>,
    barrier: Option<u32>,
    arrive: Option<u32>,
    pass: Option<u32>,
    #[serde(rename = "await")]
    awaits: Option<u32>,
    count: Option<Count>,
    down: Option<u32>,
    up: Option<u32>,
    #[serde(default)]
    allocate: bool,
    free: Option<u32>,
    #[serde(default)]
    read: Vec<u32>,
    #[serde(default)]
    write: Vec<u32>,
    copy: Option<[u32; 2]>,
    atomic: Option<u32>,
    returns: Option<u32>,
    registers: Option<Registers>,
    #[serde(default)]
    ends: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Which {
    Argument(u32),
    Named(String),
    Pointed(Pointed),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pointed {
    at: u32,
    offset: i64,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ModeName {
    Read,
    #[default]
    Write,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FailsName {
    #[default]
    Never,
    Nonzero,
    Zero,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Create {
    start: u32,
    data: Option<u32>,
    handle: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateMethod {
    object: u32,
    slot: u32,
    handle: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Once {
    flag: u32,
    run: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnceClosure {
    flag: u32,
    data: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CallsObject {
    object: u32,
    offset: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Calls {
    function: u32,
    #[serde(default)]
    with: Vec<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Count {
    semaphore: u32,
    value: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Registers {
    function: u32,
    #[serde(default)]
    parallel: bool,
}

impl Model {
    /// Reads a model; what it says about a function replaces what was known.
    ///
    /// # Errors
    /// When it is not TOML, or says something that nobody understands.
    pub fn read(&mut self, name: &str, text: &str) -> Result<(), ModelError> {
        let file: File = toml::from_str(text).map_err(|error| ModelError {
            name: name.to_owned(),
            error: error.to_string(),
        })?;
        for caller in file.entry {
            let locks = caller.locks.iter().map(|lock| self.number(lock)).collect();
            let which = match (caller.section, caller.table, caller.stored) {
                (Some(section), None, None) => Called::Section(section),
                (None, Some(table), None) => Called::Table(table, caller.fields),
                (None, None, Some(field)) => Called::Stored(field),
                (None, None, None) if !caller.register.is_empty() => {
                    Called::Register(caller.register, caller.argument)
                }
                _ => {
                    return Err(ModelError {
                        name: name.to_owned(),
                        error: "an entry has one of section, table, register and stored".to_owned(),
                    });
                }
            };
            self.entries.push(Entry {
                which,
                phase: match caller.phase {
                    PhaseName::First => Phase::First,
                    PhaseName::Always => Phase::Always,
                    PhaseName::Last => Phase::Last,
                },
                is_parallel: caller.parallel,
                locks,
            });
        }
        for function in file.function {
            let effects = self.effects(&function);
            self.set(&function.names, &function.inlined, effects);
        }
        Ok(())
    }

    /// Reads a model of the user's.
    ///
    /// # Errors
    /// When the file cannot be read, and as for [`Model::read`].
    pub fn read_file(&mut self, path: &std::path::Path) -> Result<(), ModelError> {
        let name = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => self.read(&name, &text),
            Err(error) => Err(ModelError {
                name,
                error: error.to_string(),
            }),
        }
    }

    fn object(&mut self, which: &Which) -> Object {
        match which {
            Which::Argument(number) => Object::Argument(*number),
            Which::Named(name) => Object::Named(self.number(name)),
            Which::Pointed(pointed) => Object::Pointed(pointed.at, pointed.offset),
        }
    }

    /// What is about running once, and about function objects.
    fn once_effects(&mut self, function: &Function, effects: &mut Vec<Effect>) {
        effects.extend(
            function
                .once_closure
                .as_ref()
                .map(|once| Effect::OnceClosure {
                    flag: once.flag,
                    data: once.data,
                }),
        );
        let closure = function.calls_closure;
        effects.extend(closure.map(|data| Effect::CallsClosure { data }));
        effects.extend(function.join_holder.then_some(Effect::JoinHolder));
        effects.extend(function.joins_own.then_some(Effect::JoinsOwn));
        for (flag, if_zero) in [(function.is_done, false), (function.is_done_if_zero, true)] {
            effects.extend(flag.map(|flag| Effect::IsDone { flag, if_zero }));
        }
        effects.extend(function.done.map(|flag| Effect::Done { flag }));
        if let Some(name) = &function.runs_stored {
            let name = self.number(name);
            effects.push(Effect::RunsStored(name));
        }
        effects.extend(
            function
                .calls_object
                .as_ref()
                .map(|calls| Effect::CallsObject {
                    object: calls.object,
                    offset: calls.offset,
                }),
        );
    }

    fn effects(&mut self, function: &Function) -> Vec<Effect> {
        let fails = match function.fails {
            FailsName::Never => Fails::Never,
            FailsName::Nonzero => Fails::NonZero,
            FailsName::Zero => Fails::Zero,
        };
        let mode = match function.mode {
            ModeName::Read => Mode::Read,
            ModeName::Write => Mode::Write,
        };
        let mut effects = Vec::new();
        if let Some(which) = &function.lock {
            let object = self.object(which);
            effects.push(Effect::Lock {
                object,
                mode,
                fails,
                is_again: function.again,
            });
        }
        for (arguments, is_guard) in [(&function.lock_any, false), (&function.lock_guards, true)] {
            effects.extend(arguments.iter().map(|argument| Effect::LockAny {
                argument: *argument,
                is_guard,
            }));
        }
        if let Some(which) = &function.unlock {
            let object = self.object(which);
            effects.push(Effect::Unlock { object });
        }
        if let Some(create) = &function.create {
            effects.push(Effect::Create {
                start: create.start,
                data: create.data,
                handle: create.handle,
            });
        }
        if let Some(create) = &function.create_method {
            effects.push(Effect::CreateMethod {
                object: create.object,
                slot: create.slot,
                handle: create.handle,
            });
        }
        let closure = function.create_closure;
        effects.extend(closure.map(|at| Effect::CreateClosure { at }));
        for (handle, by_address) in [(function.join, false), (function.join_address, true)] {
            effects.extend(handle.map(|handle| Effect::Join {
                handle,
                by_address,
                offset: function.offset,
            }));
        }
        effects.extend(
            function
                .is_running
                .map(|handle| Effect::IsRunning { handle }),
        );
        effects.extend(function.detach.map(|handle| Effect::Detach { handle }));
        if let Some(once) = &function.once {
            effects.push(Effect::Once {
                flag: once.flag,
                run: once.run,
            });
        }
        self.once_effects(function, &mut effects);
        if let Some(calls) = &function.calls {
            effects.push(Effect::Calls {
                function: calls.function,
                with: calls.with.clone(),
            });
        }
        if let Some(which) = &function.wait {
            let condition = self.object(which);
            effects.push(Effect::Wait {
                condition,
                is_timed: function.timed,
            });
        }
        if let Some(which) = &function.signal {
            let condition = self.object(which);
            effects.push(Effect::Signal { condition });
        }
        effects.extend(function.barrier.map(|barrier| Effect::Barrier { barrier }));
        effects.extend(function.arrive.map(|barrier| Effect::Arrive { barrier }));
        effects.extend(function.pass.map(|barrier| Effect::Pass { barrier }));
        effects.extend(function.awaits.map(|object| Effect::Await { object }));
        effects.extend(function.count.as_ref().map(|count| Effect::Count {
            semaphore: count.semaphore,
            value: count.value,
        }));
        effects.extend(
            function
                .down
                .map(|semaphore| Effect::Down { semaphore, fails }),
        );
        effects.extend(function.up.map(|semaphore| Effect::Up { semaphore }));
        effects.extend(function.free.map(Effect::Free));
        effects.extend(function.read.iter().map(|argument| Effect::Read(*argument)));
        effects.extend(
            function
                .write
                .iter()
                .map(|argument| Effect::Write(*argument)),
        );
        effects.extend(function.copy.map(|[to, from]| Effect::Copy { to, from }));
        effects.extend(function.atomic.map(Effect::Atomic));
        effects.extend(function.returns.map(Effect::Returns));
        if let Some(registers) = &function.registers {
            effects.push(Effect::Registers {
                function: registers.function,
                is_parallel: registers.parallel,
            });
        }
        if function.allocate {
            effects.push(Effect::Allocate);
        }
        if function.ends {
            effects.push(Effect::Ends);
        }
        if effects.is_empty() {
            effects.push(Effect::Nothing);
        }
        effects
    }
}
