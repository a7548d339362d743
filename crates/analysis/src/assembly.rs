//! What assembly in the program's own functions may order, and nobody sees.
//!
//! Two accesses that nothing orders, as far as is seen, may be ordered by a lock that is made of
//! assembly. So in a program that has such instructions only that is called a race which was seen
//! to stand: both threads in front of their accesses. The word that the assembly itself works on is
//! an atomic variable in all but type (`while (!lock);`, `lock = 0`): its accesses do stand side by
//! side, and are a warning all the same. It is known by what the run shows (its value was changed by
//! nobody who was seen), or by the function that accesses it beside the assembly.

use std::collections::BTreeSet;
use std::path::Path;

use deadheat_build::runtime_files;
use deadheat_code::Binary;
use deadheat_report::{Binaries, Evidence, Finding, Frame, Kind, Names, Rung, own_place};
use deadheat_run::input;
use deadheat_session::error::Result;
use deadheat_trace::{Op, Steps, Tables, verify};

/// How many places are named.
const SHOWN: usize = 3;

/// The atomic instructions and system calls in assembly of a program's own code.
pub struct Assembly {
    /// Where they are.
    places: Vec<String>,
    /// The functions that they stand in, inlined or not.
    functions: BTreeSet<String>,
    /// The memory that a recorded run found changed by nobody who was seen: first byte, bytes.
    changed: Vec<(u64, u64)>,
}

impl Assembly {
    /// Of a program as it was recorded; nothing if it has no such instructions.
    pub fn of(tables: &Tables) -> Option<Self> {
        let names = Names::of(tables);
        let binaries = Binaries::of(tables);
        let mut assembly = Assembly {
            places: Vec::new(),
            functions: BTreeSet::new(),
            changed: Vec::new(),
        };
        for module in &tables.modules {
            let Some((binary, _)) = binaries.find_address(module.start) else {
                continue;
            };
            let place =
                |address: u64| own_place(&names.frames_at(address.wrapping_add(module.bias) + 1));
            for address in binary.unannounced_atomics() {
                let place = place(address);
                if place.is_foreign() || place.line.is_none() {
                    continue;
                }
                assembly.add(&place);
                assembly.functions.extend(place.function);
            }
            for address in
                binary.kernel_calls(|start| is_understood(binary, &names, module.bias, start))
            {
                let place = place(address);
                if !place.is_foreign() {
                    assembly.add(&place);
                }
            }
        }
        (!assembly.places.is_empty()).then_some(assembly)
    }

    fn add(&mut self, place: &Frame) {
        let told = place.told();
        if !self.places.contains(&told) {
            self.places.push(told);
        }
    }

    /// Learns which memory changed unseen in a recorded run.
    pub fn learn(&mut self, trace: &Path) -> Result<()> {
        let mut repaired = verify::repair(input::open(trace)?);
        let broken = |error| input::broken(trace, &error);
        while let Some(step) = repaired.next_step().map_err(broken)? {
            let event = &step.event;
            if event.op() == Op::ExternalWrite {
                self.changed.push((event.addr().0, event.size()));
            }
        }
        self.changed.sort_unstable();
        self.changed.dedup();
        Ok(())
    }

    /// The places, for people.
    pub fn told(&self) -> String {
        self.places[..self.places.len().min(SHOWN)].join(", ")
    }

    /// Whether the assembly may order the two accesses of a race, or works on their memory itself.
    pub fn may_order(&self, finding: &Finding) -> bool {
        let stood =
            finding.rung == Rung::Confirmed && finding.evidence != Some(Evidence::Unordered);
        if finding.kind != Kind::Race || !stood {
            return finding.kind == Kind::Race;
        }
        finding.accesses.iter().any(|access| {
            let end = access.address.saturating_add(access.size);
            let overlaps = |(first, size): &(u64, u64)| {
                *first < end && access.address < first.saturating_add(*size)
            };
            let beside = access.place.function.as_ref();
            self.changed.iter().any(overlaps)
                || beside.is_some_and(|function| self.functions.contains(function))
        })
    }
}

/// Whether a function of a program is the runtime's own, the compiler's or the linker's: what it does is known.
pub fn is_understood(binary: &Binary, names: &Names, bias: u64, start: u64) -> bool {
    let name = binary.symbol(start).unwrap_or_default();
    let is_runtimes = runtime_files::is_stand_in(&name) || name.contains("deadheat_runtime");
    is_linkers(&name)
        || is_runtimes
        || own_place(&names.frames_at(start.wrapping_add(bias) + 1)).is_foreign()
}

/// Whether it is one of the functions that come with every program.
fn is_linkers(name: &str) -> bool {
    let frame = [
        "_start",
        "_init",
        "_fini",
        "frame_dummy",
        "register_tm_clones",
        "deregister_tm_clones",
        "atexit",
        "at_quick_exit",
        "pthread_atfork",
        "__pthread_atfork",
        "__stack_chk_fail_local",
    ];
    frame.contains(&name) || name.starts_with("__do_global_") || name.starts_with("_dl_")
}

/// Takes races back that assembly may refute; what to tell the user, if there were such.
pub fn take_back(
    findings: &mut [Finding],
    tables: &Tables,
    trace: &Path,
) -> Result<Option<String>> {
    let is_race = |finding: &Finding| finding.kind == Kind::Race && finding.rung > Rung::Warning;
    if !findings.iter().any(is_race) {
        return Ok(None);
    }
    let Some(mut assembly) = Assembly::of(tables) else {
        return Ok(None);
    };
    assembly.learn(trace)?;
    let shown = assembly.told();
    let mut taken = false;
    for finding in findings {
        if !is_race(finding) || !assembly.may_order(finding) {
            continue;
        }
        taken = true;
        finding.rung = Rung::Warning;
        finding
            .reasons
            .push(format!("assembly at {shown} may order the accesses unseen"));
    }
    Ok(taken.then(|| {
        format!(
            "atomic instructions and system calls in assembly are not seen ({shown}): races that they may order, \
             and races on what they work on, are warnings"
        )
    }))
}
