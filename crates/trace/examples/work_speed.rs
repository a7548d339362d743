//! How fast traces are verified, counted, written and read as text. Prints figures:
//! `cargo run -p deadheat-trace --release --example work_speed`

use std::time::Instant;

use deadheat_trace::text::{self, Flavor};
use deadheat_trace::{
    Addr, Event, Mode, Op, Pc, Step, SyncKind, SyncObject, Tables, Thread, ThreadId, Trace, stats,
    verify,
};

/// Eight threads that read and write four megabytes, each under its lock now and then.
fn trace(steps: usize) -> Trace {
    const THREADS: u32 = 8;
    const WORDS: usize = 1 << 19;
    let mut memory = vec![0u64; WORDS];
    let mut seed = 1u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let mut all = Vec::with_capacity(steps);
    let (mut thread, mut held) = (0, false);
    while all.len() < steps {
        let r = random();
        let pc = Pc((r >> 40) as u32 & 0xFFF);
        if r.is_multiple_of(32) {
            let op = if held { Op::Release } else { Op::Acquire };
            all.push(Step::new(Event::new(
                ThreadId(thread),
                op,
                u64::from(thread),
                pc,
            )));
            if held {
                thread = (r >> 20) as u32 % THREADS;
            }
            held = !held;
            continue;
        }
        // Mostly near the place before, as programs do.
        let at = (r >> 8) as usize % if r.is_multiple_of(8) { WORDS } else { 512 };
        let addr = Addr(0x7F00_0000_0000 + at as u64 * 8);
        all.push(if r & 64 == 0 {
            memory[at] = r;
            Step::new(Event::access(ThreadId(thread), Op::Write, addr, 8, pc)).with_written(r)
        } else {
            let value = memory[at];
            let step = Step::new(Event::access(ThreadId(thread), Op::Read, addr, 8, pc));
            step.with_read(value)
        });
    }
    let lock = SyncObject {
        kind: SyncKind::Lock,
        addr: Addr(0),
        name: None,
    };
    let tables = Tables {
        threads: vec![Thread::default(); THREADS as usize],
        syncs: vec![lock; THREADS as usize],
        locations: (0..0x1000).map(|line| format!("main.c:{line}")).collect(),
        ..Tables::default()
    };
    Trace {
        mode: Mode::Serial,
        tables,
        steps: all,
    }
}

/// Seconds that this thread was on a processor; where the system does not say, seconds passed.
fn seconds(start: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = stat.and_then(|stat| stat.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |ns| ns / 1e9)
}

fn timed<T>(what: &str, steps: usize, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let before = seconds(start);
    let result = work();
    let rate = steps as f64 / (seconds(start) - before) / 1e6;
    println!("{what:<12} {rate:6.1} M steps/s");
    result
}

fn main() {
    let steps = 10_000_000;
    let trace = trace(steps);
    for _ in 0..3 {
        let report = timed("verify", steps, || {
            verify::verify(&mut trace.stream()).unwrap()
        });
        assert_eq!((report.errors, report.mismatches), (0, 0));
    }
    timed("stats", steps, || stats::of(&mut trace.stream()).unwrap());
    let mut text = Vec::new();
    timed("write full", steps, || {
        text::write(&mut trace.stream(), &mut text, Flavor::Full).unwrap()
    });
    let text = String::from_utf8(text).unwrap();
    let back = timed("read full", steps, || text::parse(&text).unwrap());
    assert_eq!(back.steps.len(), steps);
    timed("write std", steps, || {
        text::write(&mut trace.stream(), std::io::sink(), Flavor::Std).unwrap()
    });
}
