//! Reads models.
//!
//! ```toml
//! [[function]]
//! names = ["pthread_mutex_trylock"]   # `*` stands for anything; with a `::` it is the name that people write, else the linker's
//! lock = 0                            # the first argument points at the lock; a name in quotes: a lock without address
//! fails = "nonzero"                   # the lock was not taken if the result is not 0
//! inlined = ["*/lock.rs:try_lock"]    # atomic operations mean the same that the compiler has inlined from there
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
