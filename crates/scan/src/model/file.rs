//! Reads models.
//!
//! ```toml
//! [[function]]
//! names = ["pthread_mutex_trylock"]   # `*` stands for anything
//! lock = 0                            # the first argument points at the lock; a name in quotes: a lock without address
//! fails = "nonzero"                   # the lock was not taken if the result is not 0
//!
//! [[type]]
//! names = ["sk_buff"]                 # structures of this name
//! owned = true                        # belong to whoever is handed one
//! ```

use super::form::{FailsName, File, Function, ModeName, PhaseName, Which};
use super::{Effect, Entry, Fails, Mode, Model, Object, Phase, Which as Called};

/// A model that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the model {name} cannot be read: {error}")]
pub struct ModelError {
    name: String,
    error: String,
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
        self.has_lock_classes |= file.lock_classes;
        self.has_types |= file.typed;
        for one in file.types {
            let of = [
                (one.opaque, &mut self.opaque),
                (one.owned, &mut self.owned),
                (one.counter, &mut self.counters),
            ];
            for (_, names) in of.into_iter().filter(|(is_it, _)| *is_it) {
                names.extend(one.names.iter().cloned());
            }
        }
        let sections = file.global.into_iter().flat_map(|one| one.sections);
        self.unshared_sections.extend(sections);
        self.making.extend(file.making);
        self.ending.extend(file.ending);
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
                    PhaseName::Inside => Phase::Inside,
                },
                is_parallel: caller.parallel,
                locks,
            });
        }
        for function in file.function {
            let effects = self.effects(&function);
            for name in &function.names {
                self.set(name, effects.clone());
            }
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
        }
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
            });
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
        for (handle, by_address) in [(function.join, false), (function.join_address, true)] {
            effects.extend(handle.map(|handle| Effect::Join { handle, by_address }));
        }
        if let Some(once) = &function.once {
            effects.push(Effect::Once {
                flag: once.flag,
                run: once.run,
            });
        }
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
        effects.extend(function.atomic_read.map(Effect::AtomicRead));
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
        if function.own {
            effects.push(Effect::Own);
        }
        if effects.is_empty() {
            effects.push(Effect::Nothing);
        }
        effects
    }
}
