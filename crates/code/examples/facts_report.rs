//! How precise the facts of some programs are: how many ways between events are straight,
//! branch on nothing, on known reads, or on everything; the same for addresses of accesses. Ways
//! past calls that usually make an event but need not (a lock, a copy) count as everything, though
//! they are hardly ever gone.
//!
//! `cargo run -p deadheat-code --example facts_report -- FILES`; `--all` lists every fact.

use std::error::Error;

use deadheat_code::{Binary, Depends, Facts, Passed, Point};

#[derive(Default)]
struct Counts {
    straight: usize,
    nothing: usize,
    reads: usize,
    everything: usize,
}

impl Counts {
    fn add(&mut self, depends: &Depends) {
        match depends {
            Depends::Nothing => self.nothing += 1,
            Depends::On(_) => self.reads += 1,
            Depends::Everything => self.everything += 1,
        }
    }

    fn percent_everything(&self) -> f64 {
        let all = self.straight + self.nothing + self.reads + self.everything;
        100.0 * self.everything as f64 / all.max(1) as f64
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let all = arguments.iter().any(|argument| argument == "--all");
    arguments.retain(|argument| argument != "--all");
    println!(
        "{:30} {:>7} | {:>8} {:>8} {:>8} {:>8} {:>6} | {:>8} {:>8} {:>8} {:>6}",
        "file",
        "sites",
        "straight",
        "constant",
        "reads",
        "all",
        "all %",
        "constant",
        "reads",
        "all",
        "all %"
    );
    for path in &arguments {
        let binary = Binary::open(path.as_ref())?;
        let facts = Facts::of(&binary);
        let (mut ways, mut addresses) = (Counts::default(), Counts::default());
        for (from, to, passed) in facts.ways() {
            match &passed {
                Passed::Straight => ways.straight += 1,
                Passed::Branched(depends) => ways.add(depends),
            }
            if all {
                println!(
                    "{} -> {}: {passed:x?}",
                    name(from, &binary),
                    name(to, &binary)
                );
            }
        }
        for pc in facts.sites() {
            let address = facts.address(pc);
            addresses.add(&address);
            if all {
                println!("{}: {address:x?}", name(Point::After(pc), &binary));
            }
        }
        let short = path.rsplit('/').next().unwrap_or(path);
        println!(
            "{short:30} {:7} | {:8} {:8} {:8} {:8} {:5.1}% | {:8} {:8} {:8} {:5.1}%",
            facts.sites().count(),
            ways.straight,
            ways.nothing,
            ways.reads,
            ways.everything,
            ways.percent_everything(),
            addresses.nothing,
            addresses.reads,
            addresses.everything,
            addresses.percent_everything(),
        );
    }
    Ok(())
}

fn name(point: Point, binary: &Binary) -> String {
    let (kind, address) = match point {
        Point::After(pc) => ("", pc - 1),
        Point::Into(pc) => ("call ", pc - 1),
        Point::Entry(address) => ("entry ", address),
        Point::Exit(address) => ("exit ", address),
    };
    let frames = binary.frames(address);
    let frame = frames
        .first()
        .map_or_else(|| "??".to_owned(), ToString::to_string);
    format!("{kind}{:x} {frame}", address + u64::from(kind.is_empty()))
}
