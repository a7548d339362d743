//! The paper's model of a trace in CSPM, for the refinement checker FDR.
//!
//! Threads are processes `T<thread>_<n>`, one for each segment and the synchronisation that ends it; the parameter is the
//! object whose accesses are shown, so that one file has the model of every object. Deviations from the paper's
//! figures:
//!
//! * Mutexes, forks and the rest never end, so the whole never does: instead of `PROGRAM ; LIVE`, all threads come together
//!   in `live`, for ever, once they are through. `LIVE` is refined in failures if and only if they always can.
//! * Who comes to a barrier and who leaves it may do so in any order.
//! * Read-write locks and semaphores have processes; of re-entrant locks the outermost pairs are shown; what else comes before
//!   something is a `signal`.
//! * An object that accesses take apart is several here, so that two accesses to one always have bytes in common.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use deadheat_trace::{Op, Tables, ThreadId};

use super::Observation;
use super::objects::Object;
use super::simplified::{Access, Simplified, What};

/// The processes of a trace.
#[derive(Default)]
struct Model {
    /// What each thread does: names of events, or of segments.
    threads: BTreeMap<ThreadId, Vec<Deed>>,
    forks: Vec<(ThreadId, ThreadId)>,
    joins: Vec<(ThreadId, ThreadId)>,
    /// Locks, and whether they are taken for reading, too.
    locks: BTreeMap<u64, bool>,
    /// Messages by the events that send them: who does.
    signals: BTreeMap<u64, ThreadId>,
    /// Rounds of barriers: who takes part.
    barriers: Vec<BTreeSet<ThreadId>>,
    /// Semaphores: how many were posted, and how many were there in the beginning.
    semaphores: BTreeMap<u64, (u32, u32)>,
}

/// Something that a thread does.
enum Deed {
    /// An event.
    Event(String),
    /// Accesses to objects: by how it is called, to which.
    Segment(BTreeMap<&'static str, BTreeSet<u32>>),
}

/// Writes the model of a trace.
pub fn cspm(observation: &Observation, tables: &Tables) -> String {
    let simplified = Simplified::of(
        observation.steps,
        observation.lock_words,
        observation.is_judged,
    );
    let objects = taken_apart(&simplified);
    let model = Model::of(observation, &simplified, &objects);
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = model.write(&mut text, &objects, tables);
    text
}

/// The objects in parts that no access takes apart.
fn taken_apart(simplified: &Simplified) -> Vec<Object> {
    let mut parts = Vec::new();
    for accesses in simplified
        .accesses
        .chunk_by(|one, other| one.object == other.object)
    {
        let life = simplified.objects.all[accesses[0].object as usize].life;
        let ends = accesses
            .iter()
            .flat_map(|access| [access.start, access.end]);
        let cuts: Vec<u64> = ends.collect::<BTreeSet<u64>>().into_iter().collect();
        parts.extend(cuts.windows(2).map(|cuts| Object {
            life,
            start: cuts[0],
            end: cuts[1],
        }));
    }
    parts
}

/// While a trace is read.
#[derive(Default)]
struct Reading {
    /// How many times each thread has taken each lock.
    held: BTreeMap<(ThreadId, u64), u32>,
    /// By barrier: the rounds that it had, and whether somebody has left the last of them.
    rounds: BTreeMap<u64, (Vec<usize>, bool)>,
    /// The last send of each thread to each channel.
    sent: BTreeMap<(u64, ThreadId), u64>,
    /// What each semaphore holds.
    level: BTreeMap<u64, u32>,
}

impl Model {
    fn of(observation: &Observation, simplified: &Simplified, objects: &[Object]) -> Self {
        let mut model = Model::default();
        model.threads.entry(ThreadId(0)).or_default();
        for step in observation.steps {
            model.threads.entry(step.event.thread()).or_default();
        }
        let mut reading = Reading::default();
        let mut accesses: BTreeMap<u32, Vec<&Access>> = BTreeMap::new();
        for access in &simplified.accesses {
            accesses.entry(access.segment).or_default().push(access);
        }
        for (place, happening) in simplified.happenings.iter().enumerate() {
            let thread = happening.step.event.thread();
            match happening.what {
                What::Segment => {
                    let here = accesses.remove(&(place as u32)).unwrap_or_default();
                    let mut by_name: BTreeMap<&'static str, BTreeSet<u32>> = BTreeMap::new();
                    for access in here {
                        let name = match (access.kind.writes, access.kind.is_atomic) {
                            (false, false) => "read",
                            (true, false) => "write",
                            (false, true) => "atomic_read",
                            (true, true) => "atomic_write",
                        };
                        let life = simplified.objects.all[access.object as usize].life;
                        let first = (life, access.start, 0);
                        let first =
                            objects.partition_point(|part| (part.life, part.start, 0) < first);
                        let parts = objects[first..].iter().enumerate();
                        let parts = parts
                            .take_while(|(_, part)| part.life == life && part.start < access.end);
                        let numbers = parts.map(|(at, _)| (first + at) as u32);
                        by_name.entry(name).or_default().extend(numbers);
                    }
                    model.does(thread, Deed::Segment(by_name));
                }
                What::Message if happening.step.event.op() == Op::Post => {
                    let semaphore = happening.step.event.target();
                    model.semaphores.entry(semaphore).or_default().1 += 1;
                    *reading.level.entry(semaphore).or_default() += 1;
                }
                What::Message => {
                    let event = &happening.step.event;
                    model.message(thread, event.op(), event.target());
                }
                What::Synchronisation => {
                    model.synchronises(observation, happening.at as usize, &mut reading);
                }
            }
        }
        for (_, joined) in model.joins.clone() {
            model.says(joined, format!("finish.{}", name(joined)));
        }
        model
    }

    fn does(&mut self, thread: ThreadId, deed: Deed) {
        self.threads.entry(thread).or_default().push(deed);
    }

    fn says(&mut self, thread: ThreadId, event: String) {
        self.does(thread, Deed::Event(event));
    }

    fn message(&mut self, thread: ThreadId, op: Op, number: u64) {
        let verb = match op {
            Op::Send => {
                self.signals.insert(number, thread);
                "signal"
            }
            _ => "wait",
        };
        self.says(thread, format!("{verb}.{}.c{number}", name(thread)));
    }

    fn synchronises(&mut self, observation: &Observation, at: usize, reading: &mut Reading) {
        let event = &observation.steps[at].event;
        let (thread, target) = (event.thread(), event.target());
        let me = name(thread);
        match event.op() {
            Op::Fork => {
                let child = event.peer();
                self.forks.push((thread, child));
                self.says(thread, format!("fork.{me}.{}", name(child)));
                self.says(child, format!("begin.{}", name(child)));
            }
            Op::Join => {
                self.joins.push((thread, event.peer()));
                self.says(thread, format!("join.{me}.{}", name(event.peer())));
            }
            op @ (Op::Acquire | Op::ReadAcquire) => {
                let times = reading.held.entry((thread, target)).or_default();
                *times += 1;
                if *times == 1 {
                    let is_read = op == Op::ReadAcquire;
                    *self.locks.entry(target).or_default() |= is_read;
                    let verb = if is_read { "read_lock" } else { "lock" };
                    self.says(thread, format!("{verb}.{me}.m{target}"));
                }
            }
            op @ (Op::Release | Op::ReadRelease) => {
                let times = reading.held.entry((thread, target)).or_default();
                if *times == 1 {
                    let is_read = op == Op::ReadRelease;
                    let verb = if is_read { "read_unlock" } else { "unlock" };
                    self.says(thread, format!("{verb}.{me}.m{target}"));
                }
                *times = times.saturating_sub(1);
            }
            Op::BarrierEnter | Op::BarrierExit => {
                self.barrier(thread, event.op(), target, reading);
            }
            Op::Post => {
                self.semaphores.entry(target).or_default().0 += 1;
                *reading.level.entry(target).or_default() += 1;
                self.says(thread, format!("post.{me}.s{target}"));
            }
            Op::Take => {
                let level = reading.level.entry(target).or_default();
                match level.checked_sub(1) {
                    Some(left) => *level = left,
                    // It held something before.
                    None => self.semaphores.entry(target).or_default().1 += 1,
                }
                self.says(thread, format!("take.{me}.s{target}"));
            }
            Op::Send => {
                // Above the numbers of all other messages.
                let number = (1 << 40) + at as u64;
                reading.sent.insert((target, thread), number);
                self.message(thread, Op::Send, number);
            }
            Op::Receive => {
                let sent = reading
                    .sent
                    .range((target, ThreadId(0))..=(target, ThreadId(u32::MAX)));
                let others = sent.filter(|((_, sender), _)| *sender != thread);
                let numbers: Vec<u64> = others.map(|(_, number)| *number).collect();
                for number in numbers {
                    self.message(thread, Op::Receive, number);
                }
            }
            _ => {}
        }
    }

    fn barrier(&mut self, thread: ThreadId, op: Op, barrier: u64, reading: &mut Reading) {
        let (rounds, is_over) = reading.rounds.entry(barrier).or_default();
        if op == Op::BarrierEnter {
            if rounds.is_empty() || *is_over {
                rounds.push(self.barriers.len());
                self.barriers.push(BTreeSet::new());
                *is_over = false;
            }
            let round = rounds[rounds.len() - 1];
            self.barriers[round].insert(thread);
            self.says(thread, format!("enter.{}.b{round}", name(thread)));
            return;
        }
        let mine = |round: &&usize| self.barriers[**round].contains(&thread);
        // Who leaves without having come is let go.
        if let Some(round) = rounds.iter().rev().find(mine).copied() {
            *is_over |= rounds.last() == Some(&round);
            self.says(thread, format!("leave.{}.b{round}", name(thread)));
        }
    }
}

fn name(thread: ThreadId) -> String {
    format!("t{}", thread.0)
}

/// `name = a | b | c`, unless there are none.
fn datatype(text: &mut String, name: &str, values: impl Iterator<Item = String>) -> bool {
    let values: Vec<String> = values.collect();
    if !values.is_empty() {
        text.push_str(&format!("datatype {name} = {}\n", values.join(" | ")));
    }
    !values.is_empty()
}

impl Model {
    fn write(&self, text: &mut String, objects: &[Object], tables: &Tables) -> std::fmt::Result {
        writeln!(
            text,
            "-- The synchronisation of a recorded run, and its accesses to shared memory, after\n\
             -- Carril and Tichy: Interleaving Generation for Data Race and Deadlock Reproduction (2015)."
        )?;
        for thread in self.threads.keys() {
            writeln!(
                text,
                "-- {}: {}",
                name(*thread),
                tables.thread_name(*thread)
            )?;
        }
        for lock in self.locks.keys() {
            let named = tables.sync_name(deadheat_trace::SyncId(*lock as u32));
            writeln!(text, "-- m{lock}: {named}")?;
        }
        for (number, object) in objects.iter().enumerate() {
            let start = deadheat_trace::Addr(object.start);
            let shown = match tables.variable_at(start) {
                Some((variable, 0)) => variable.to_owned(),
                Some((variable, offset)) => format!("{variable}+{offset}"),
                None => start.to_string(),
            };
            let bytes = object.end - object.start;
            writeln!(text, "-- o{number}: {bytes} bytes at {shown}")?;
        }
        text.push('\n');
        let channels = self.declarations(text, objects.len());
        text.push('\n');
        self.processes(text)?;
        text.push('\n');
        self.program(text)?;
        writeln!(text, "\nLIVE = live -> LIVE")?;
        writeln!(
            text,
            "assert LIVE [F= PROGRAM(none) \\ diff(Events, {{live}})"
        )?;
        if !objects.is_empty() {
            writeln!(text, "\nSEEN = {{| {} |}}", channels.join(", "))?;
            text.push_str(RACE);
            for number in 0..objects.len() {
                writeln!(
                    text,
                    "assert STOP [T= (PROGRAM(o{number}) [| SEEN |] RACE(o{number})) \\ diff(Events, {{race}})"
                )?;
            }
        }
        Ok(())
    }

    /// The types and channels; the names of the latter.
    fn declarations(&self, text: &mut String, objects: usize) -> Vec<&'static str> {
        let mut channels = vec!["read", "write", "atomic_read", "atomic_write"];
        datatype(
            text,
            "Thread",
            self.threads.keys().map(|thread| name(*thread)),
        );
        let of_objects = (0..objects).map(|number| format!("o{number}"));
        datatype(
            text,
            "Object",
            std::iter::once("none".to_owned()).chain(of_objects),
        );
        let has_locks = datatype(
            text,
            "Lock",
            self.locks.keys().map(|lock| format!("m{lock}")),
        );
        let has_signals = datatype(
            text,
            "Signal",
            self.signals.keys().map(|sent| format!("c{sent}")),
        );
        let rounds = (0..self.barriers.len()).map(|round| format!("b{round}"));
        let has_barriers = datatype(text, "Barrier", rounds);
        let semaphores = self
            .semaphores
            .keys()
            .map(|semaphore| format!("s{semaphore}"));
        let has_semaphores = datatype(text, "Semaphore", semaphores);
        text.push_str("channel read, write, atomic_read, atomic_write : Thread.Object\n");
        let mut declare = |there: bool, names: &[&'static str], of: &str| {
            if there {
                text.push_str(&format!("channel {} : {of}\n", names.join(", ")));
                channels.extend_from_slice(names);
            }
        };
        declare(!self.forks.is_empty(), &["fork"], "Thread.Thread");
        declare(!self.forks.is_empty(), &["begin"], "Thread");
        declare(!self.joins.is_empty(), &["join"], "Thread.Thread");
        declare(!self.joins.is_empty(), &["finish"], "Thread");
        declare(
            has_locks,
            &["lock", "unlock", "read_lock", "read_unlock"],
            "Thread.Lock",
        );
        declare(has_signals, &["signal", "wait"], "Thread.Signal");
        declare(has_barriers, &["enter", "leave"], "Thread.Barrier");
        declare(has_semaphores, &["post", "take"], "Thread.Semaphore");
        text.push_str("channel race, live\n");
        channels
    }

    /// The threads, segment by segment.
    fn processes(&self, text: &mut String) -> std::fmt::Result {
        text.push_str(ACCESSES);
        for (thread, deeds) in &self.threads {
            let me = name(*thread);
            let process = |number: usize| format!("{}_{number}(o)", me.to_uppercase());
            for (number, deed) in deeds.iter().enumerate() {
                let next = process(number + 1);
                let does = match deed {
                    Deed::Event(event) => format!("{event} -> {next}"),
                    Deed::Segment(by_name) => {
                        let set = |name: &str| {
                            let objects = by_name.get(name).into_iter().flatten();
                            let names: Vec<String> =
                                objects.map(|object| format!("o{object}")).collect();
                            format!("{{{}}}", names.join(", "))
                        };
                        let sets = ["read", "write", "atomic_read", "atomic_write"].map(set);
                        format!("ACCESSES({me}, {}, o, {next})", sets.join(", "))
                    }
                };
                writeln!(text, "{} = {does}", process(number))?;
            }
            writeln!(
                text,
                "{} = live -> {}",
                process(deeds.len()),
                process(deeds.len())
            )?;
        }
        Ok(())
    }

    /// The synchronisation, and the whole.
    fn program(&self, text: &mut String) -> std::fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        let mut events: Vec<&str> = Vec::new();
        if !self.forks.is_empty() {
            text.push_str("FORK(a, b) = fork.a.b -> begin.b -> STOP\n");
            events.extend(["fork", "begin"]);
        }
        for (parent, child) in &self.forks {
            parts.push(format!("FORK({}, {})", name(*parent), name(*child)));
        }
        if !self.joins.is_empty() {
            text.push_str("JOIN(a, b) = finish.b -> join.a.b -> STOP\n");
            events.extend(["join", "finish"]);
        }
        for (who, joined) in &self.joins {
            parts.push(format!("JOIN({}, {})", name(*who), name(*joined)));
        }
        if !self.locks.is_empty() {
            text.push_str(LOCKS);
            events.extend(["lock", "unlock", "read_lock", "read_unlock"]);
        }
        for (lock, is_read) in &self.locks {
            parts.push(match is_read {
                true => format!("RWLOCK(m{lock}, {{}})"),
                false => format!("MUTEX(m{lock})"),
            });
        }
        if !self.signals.is_empty() {
            text.push_str(SIGNALS);
            events.extend(["signal", "wait"]);
        }
        for (signal, sender) in &self.signals {
            parts.push(format!("SIGNAL({}, c{signal})", name(*sender)));
        }
        if !self.barriers.is_empty() {
            text.push_str(BARRIERS);
            events.extend(["enter", "leave"]);
        }
        for (round, threads) in self.barriers.iter().enumerate() {
            let threads: Vec<String> = threads.iter().map(|thread| name(*thread)).collect();
            let threads = threads.join(", ");
            parts.push(format!("BARRIER(b{round}, {{{threads}}}, {{{threads}}})"));
        }
        if !self.semaphores.is_empty() {
            text.push_str(SEMAPHORES);
            events.extend(["post", "take"]);
        }
        for (semaphore, (posted, before)) in &self.semaphores {
            let most = posted + before;
            parts.push(format!("SEMAPHORE(s{semaphore}, {before}, {most})"));
        }
        let threads = self
            .threads
            .keys()
            .map(|thread| format!("{}_0(o)", name(*thread).to_uppercase()));
        let threads: Vec<String> = threads.collect();
        let threads = threads.join(" [| {live} |] ");
        if parts.is_empty() {
            return writeln!(text, "PROGRAM(o) = {threads}");
        }
        writeln!(text, "THREADS(o) = {threads}")?;
        writeln!(text, "SYNCHRONISATION = {}", parts.join("\n    ||| "))?;
        writeln!(
            text,
            "PROGRAM(o) = THREADS(o) [| {{| {} |}} |] SYNCHRONISATION",
            events.join(", ")
        )
    }
}

const ACCESSES: &str = "\
-- Of a segment's accesses only those to o are shown; a write stands for reads as well.
MAY(is_so, e, P) = if is_so then e -> P else P
ACCESSES(t, reads, writes, atomic_reads, atomic_writes, o, P) =
    MAY(member(o, writes), write.t.o,
    MAY(member(o, reads) and not member(o, writes), read.t.o,
    MAY(member(o, atomic_writes), atomic_write.t.o,
    MAY(member(o, atomic_reads) and not member(o, atomic_writes), atomic_read.t.o, P))))
";

const LOCKS: &str = "\
MUTEX(m) = [] t : Thread @ lock.t.m -> unlock.t.m -> MUTEX(m)
RWLOCK(m, readers) =
    (empty(readers) & ([] t : Thread @ lock.t.m -> unlock.t.m -> RWLOCK(m, {})))
    [] ([] t : diff(Thread, readers) @ read_lock.t.m -> RWLOCK(m, union(readers, {t})))
    [] ([] t : readers @ read_unlock.t.m -> RWLOCK(m, diff(readers, {t})))
";

const SIGNALS: &str = "\
SIGNAL(t, c) = signal.t.c -> SIGNALLED(c)
SIGNALLED(c) = [] t : Thread @ wait.t.c -> SIGNALLED(c)
";

const BARRIERS: &str = "\
BARRIER(b, missing, all) =
    if empty(missing) then LEAVING(b, all)
    else [] t : missing @ enter.t.b -> BARRIER(b, diff(missing, {t}), all)
LEAVING(b, there) = [] t : there @ leave.t.b -> LEAVING(b, diff(there, {t}))
";

const SEMAPHORES: &str = "\
SEMAPHORE(s, level, most) =
    (level < most & ([] t : Thread @ post.t.s -> SEMAPHORE(s, level + 1, most)))
    [] (level > 0 & ([] t : Thread @ take.t.s -> SEMAPHORE(s, level - 1, most)))
";

const RACE: &str = "\
RACE(o) = RACING(o) /\\ ([] e : SEEN @ e -> RACE(o))
RACING(o) =
    ([] a : Thread @ write.a.o -> MEETS(a, o, {| read, write, atomic_read, atomic_write |}))
    [] ([] a : Thread @ read.a.o -> MEETS(a, o, {| write, atomic_write |}))
    [] ([] a : Thread @ atomic_write.a.o -> MEETS(a, o, {| read, write |}))
    [] ([] a : Thread @ atomic_read.a.o -> MEETS(a, o, {| write |}))
MEETS(a, o, conflicting) =
    [] b : diff(Thread, {a}) @
        [] e : inter(conflicting, {read.b.o, write.b.o, atomic_read.b.o, atomic_write.b.o}) @ e -> race -> STOP
";

#[cfg(test)]
#[path = "cspm_tests.rs"]
mod tests;
