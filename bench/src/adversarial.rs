//! Traces that are hard to predict from, each of one shape, of any length: as text, for all commands.
//!
//! Every trace is well formed, and the same again. What each has too much of says its name.

use std::io::{self, Write};

/// A shape, and how long it is.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// What there is too much of.
    pub name: &'static str,
    /// How often it goes round, and with how many threads.
    pub rounds: u64,
    /// See `rounds`.
    pub threads: u64,
    write: fn(u64, u64, &mut dyn Write) -> io::Result<()>,
}

/// All of them.
pub const ALL: [Shape; 8] = [
    Shape {
        name: "many threads in one lock's ring",
        rounds: 400,
        threads: 64,
        write: ring,
    },
    Shape {
        name: "a long chain of notifications",
        rounds: 2000,
        threads: 1,
        write: notifications,
    },
    Shape {
        name: "thousands of equal critical sections",
        rounds: 20_000,
        threads: 4,
        write: sections,
    },
    Shape {
        name: "many readers, one writer",
        rounds: 300,
        threads: 64,
        write: readers,
    },
    Shape {
        name: "threads that create each other",
        rounds: 3000,
        threads: 1,
        write: forks,
    },
    Shape {
        name: "locks in all orders",
        rounds: 300,
        threads: 32,
        write: locks,
    },
    Shape {
        name: "barriers and a lock",
        rounds: 300,
        threads: 32,
        write: barriers,
    },
    Shape {
        name: "atomics in one large window",
        rounds: 60_000,
        threads: 8,
        write: atomics,
    },
];

impl Shape {
    /// Writes the trace.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        (self.write)(self.rounds, self.threads, &mut out)
    }
}

fn create(threads: u64, out: &mut dyn Write) -> io::Result<()> {
    (1..=threads).try_for_each(|thread| writeln!(out, "M|fork(T{thread})|1"))
}

/// Numbers that look like chance.
fn next(dice: &mut u64) -> u64 {
    *dice = dice
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *dice >> 20
}

/// All take the same lock one after the other and pass a number on under it; each writes one of some words before.
fn ring(rounds: u64, threads: u64, out: &mut dyn Write) -> io::Result<()> {
    create(threads, out)?;
    let mut passed = 0;
    for round in 0..rounds {
        for thread in 1..=threads {
            let word = (thread + round) % threads;
            writeln!(out, "T{thread}|w(r{word}={round})|r:{thread}")?;
            writeln!(out, "T{thread}|acq(l)|a:{thread}")?;
            writeln!(out, "T{thread}|r(x={passed})|b:{thread}")?;
            passed += 1;
            writeln!(out, "T{thread}|w(x={passed})|c:{thread}")?;
            writeln!(out, "T{thread}|rel(l)|d:{thread}")?;
        }
    }
    Ok(())
}

/// All wait, and each that is notified notifies the next.
fn notifications(rounds: u64, _: u64, out: &mut dyn Write) -> io::Result<()> {
    for thread in 1..=rounds {
        writeln!(out, "M|fork(T{thread})|1\nT{thread}|acq(l)|2")?;
        writeln!(out, "T{thread}|r(f{thread}=0)|3\nT{thread}|rel(l)|4")?;
        writeln!(out, "T{thread}|wait(c{thread})|4")?;
    }
    writeln!(
        out,
        "M|acq(l)|5\nM|w(f1=1)|6\nM|notify(c1)|7\nM|rel(l)|8\nM|w(z=1)|9"
    )?;
    for thread in 1..=rounds {
        let (after, word) = (thread + 1, thread % 2);
        writeln!(out, "T{thread}|wake(c{thread})|4\nT{thread}|acq(l)|4")?;
        writeln!(out, "T{thread}|r(f{thread}=1)|3\nT{thread}|branch|3")?;
        writeln!(
            out,
            "T{thread}|w(f{after}=1)|10\nT{thread}|notify(c{after})|11"
        )?;
        writeln!(
            out,
            "T{thread}|rel(l)|12\nT{thread}|w(z={word})|z:{}",
            thread % 50
        )?;
    }
    Ok(())
}

/// A bit goes to and fro, and who has seen it goes by that.
fn sections(rounds: u64, threads: u64, out: &mut dyn Write) -> io::Result<()> {
    create(threads, out)?;
    let mut bit = 0;
    for round in 0..rounds {
        let thread = round % threads + 1;
        writeln!(
            out,
            "T{thread}|acq(l)|2\nT{thread}|r(x={bit})|3\nT{thread}|branch|3"
        )?;
        bit = 1 - bit;
        writeln!(out, "T{thread}|w(x={bit})|4\nT{thread}|rel(l)|5")?;
        if round % 97 == 0 {
            writeln!(out, "T{thread}|w(y={bit})|e:{thread}")?;
        }
    }
    Ok(())
}

fn readers(rounds: u64, threads: u64, out: &mut dyn Write) -> io::Result<()> {
    create(threads, out)?;
    let all = |what: &str| -> String {
        let lines = (1..=threads).map(|thread| what.replace('?', &thread.to_string()));
        lines.collect()
    };
    for round in 0..rounds {
        writeln!(
            out,
            "M|acq(l)|2\nM|w(x={round})|3\nM|rel(l)|4\nM|w(s={round})|5"
        )?;
        write!(out, "{}", all("T?|rdlock(l)|6\n"))?;
        write!(out, "{}", all(&format!("T?|r(x={round})|7\nT?|branch|7\n")))?;
        write!(out, "{}", all("T?|rdunlock(l)|8\n"))?;
        write!(out, "{}", all(&format!("T?|r(s={round})|g:?\n")))?;
    }
    Ok(())
}

/// Each creates the next and joins it.
fn forks(rounds: u64, _: u64, out: &mut dyn Write) -> io::Result<()> {
    for thread in 0..rounds {
        let child = thread + 1;
        writeln!(out, "T{thread}|w(x={thread})|1\nT{thread}|fork(T{child})|2")?;
        writeln!(out, "T{thread}|w(y={thread})|y:{}", thread % 40)?;
    }
    writeln!(out, "T{rounds}|w(x=0)|1")?;
    for thread in (0..rounds).rev() {
        let child = thread + 1;
        writeln!(
            out,
            "T{child}|end|3\nT{thread}|join(T{child})|4\nT{thread}|w(x=9)|5"
        )?;
    }
    Ok(())
}

/// Two of 64 locks at a time.
fn locks(rounds: u64, threads: u64, out: &mut dyn Write) -> io::Result<()> {
    create(threads, out)?;
    let mut dice = 1;
    for round in 0..rounds {
        for thread in 1..=threads {
            let one = next(&mut dice) % 64;
            let other = (one + 1 + next(&mut dice) % 63) % 64;
            let place = round % 100;
            writeln!(
                out,
                "T{thread}|acq(l{one})|a:{place}\nT{thread}|acq(l{other})|b:{place}"
            )?;
            writeln!(out, "T{thread}|rel(l{other})|2\nT{thread}|rel(l{one})|3")?;
        }
    }
    Ok(())
}

/// Each writes a part of a field and reads its neighbour's behind the barrier; a sum is made with a lock.
fn barriers(rounds: u64, threads: u64, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "M|init(barrier:b={threads})|1")?;
    create(threads, out)?;
    let mut sum = 0;
    let barrier = |out: &mut dyn Write| -> io::Result<()> {
        (1..=threads).try_for_each(|thread| writeln!(out, "T{thread}|benter(b)|3"))?;
        (1..=threads).try_for_each(|thread| writeln!(out, "T{thread}|bexit(b)|3"))
    };
    for round in 0..rounds {
        for thread in 1..=threads {
            writeln!(out, "T{thread}|w(a{thread}={round})|2")?;
        }
        barrier(out)?;
        for thread in 1..=threads {
            let neighbour = thread % threads + 1;
            writeln!(
                out,
                "T{thread}|r(a{neighbour}={round})|4\nT{thread}|acq(l)|5"
            )?;
            writeln!(out, "T{thread}|r(s={sum})|6")?;
            sum += 1;
            writeln!(out, "T{thread}|w(s={sum})|7\nT{thread}|rel(l)|8")?;
            if thread % 7 == 0 {
                writeln!(out, "T{thread}|w(u={round})|9:{thread}")?;
            }
        }
        barrier(out)?;
    }
    Ok(())
}

fn atomics(rounds: u64, threads: u64, out: &mut dyn Write) -> io::Result<()> {
    create(threads, out)?;
    let (mut cells, mut dice) = ([0u64; 4], 1);
    for round in 0..rounds {
        let thread = next(&mut dice) % threads + 1;
        let at = (next(&mut dice) % 4) as usize;
        let (value, after) = (cells[at], cells[at] + 1);
        if next(&mut dice).is_multiple_of(2) {
            writeln!(
                out,
                "T{thread}|rmw(c{at}:8={value}->{after},seqcst)|2:{thread}"
            )?;
            cells[at] = after;
        } else {
            writeln!(
                out,
                "T{thread}|ar(c{at}:8={value},seqcst)|3:{thread}\nT{thread}|branch|3"
            )?;
        }
        if round % 50 == 0 {
            writeln!(out, "T{thread}|w(d={round})|4:{thread}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_trace::{text, verify};

    #[test]
    fn all_are_traces_of_programs() {
        for shape in ALL {
            let short = Shape {
                rounds: shape.rounds.min(60),
                ..shape
            };
            let mut listing = Vec::new();
            short.write(&mut listing).unwrap();
            let trace = text::parse(std::str::from_utf8(&listing).unwrap());
            let trace = trace.unwrap_or_else(|error| panic!("{}: {error}", shape.name));
            let report = verify::verify(&mut trace.stream()).unwrap();
            assert!(
                report.violations.is_empty(),
                "{}: {:?}",
                shape.name,
                report.violations
            );
        }
    }
}
