use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use deadheat_bench::runs::Run;
use deadheat_predict::*;
struct O(AtomicBool);
impl Observer for O { fn progress(&self, _: u64, _: u64, _: &Prediction) {} fn stop(&self) -> &AtomicBool { &self.0 } }
fn main() {
    let arg = |i: usize, d: u32| std::env::args().nth(i).and_then(|s| s.parse().ok()).unwrap_or(d);
    let run = Run { events: arg(1, 1000000) as usize, threads: arg(2, 10), locks: arg(3, 100), variables: arg(4, 1000), seed: 1, careless: arg(5, 2), ..Run::default() };
    let steps = run.steps();
    let needed = needed_by(&steps, Reads::ByBranch);
    let size = match arg(6, 0) { 0 => Size::Auto, n => Size::Events(n as usize) };
    let t = Instant::now();
    let p = predict(&Source { steps: &steps, needed_by: &needed, is_judged: &|_| true }, &Options { size, budget: Duration::from_secs(60), jobs: 2 }, &O(AtomicBool::new(false)));
    println!("{:?} races {} deadlocks {} refused {} unknown {} stats {:#?}", t.elapsed(), p.races.len(), p.deadlocks.len(), p.refused.len(), p.unknown.len(), p.statistics);
}
