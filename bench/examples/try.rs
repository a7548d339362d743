//! Temporary.
use deadheat_bench::generate::{Generator, Shape};
use deadheat_detect::*;
use deadheat_trace::{EventIndex, Steps};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n = |i: usize, d: u32| args.get(i).map_or(d, |a| a.parse().unwrap());
    let shape = Shape {
        events: n(2, 1_000_000) as u64,
        threads: n(3, 10),
        locks: n(4, 50),
        variables: n(5, 10_000),
        careless: n(6, 1),
        ..Shape::default()
    };
    let trace = Generator::new(shape).collect_trace().unwrap();
    let mut detector = args[1].parse::<Method>().unwrap().detector();
    let mut races = Races::new();
    let start = std::time::Instant::now();
    for (i, step) in trace.steps.iter().enumerate() {
        detector.step(EventIndex(i as u64), step, &trace.tables, &mut races);
    }
    detector.finish(&trace.tables, &mut races);
    let time = start.elapsed().as_secs_f64();
    println!(
        "{}: {:.2}s {:.2} M/s, {} MB, races {} signatures {} places {}",
        args[1],
        time,
        trace.steps.len() as f64 / time / 1e6,
        detector.memory() >> 20,
        races.racy_events(),
        races.found().len(),
        races.racy_places()
    );
}
