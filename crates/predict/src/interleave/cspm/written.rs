//! A trace's processes as text.

use std::fmt::Write;

use deadheat_trace::{Addr, SyncId, Tables};

use super::super::objects::Object;
use super::model::{Deed, Model, name};

/// `name = a | b | c`, unless there are none.
fn datatype(text: &mut String, name: &str, values: impl Iterator<Item = String>) -> bool {
    let values: Vec<String> = values.collect();
    if !values.is_empty() {
        text.push_str(&format!("datatype {name} = {}\n", values.join(" | ")));
    }
    !values.is_empty()
}

impl Model {
    /// Writes the whole model.
    pub fn write(
        &self,
        text: &mut String,
        objects: &[Object],
        tables: &Tables,
    ) -> std::fmt::Result {
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
            let named = tables.sync_name(SyncId(*lock as u32));
            writeln!(text, "-- m{lock}: {named}")?;
        }
        for (number, object) in objects.iter().enumerate() {
            let start = Addr(object.start);
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
