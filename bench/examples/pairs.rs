use std::time::{Duration, Instant};
use deadheat_bench::runs::Run;
use deadheat_predict::*;
fn main() {
    let arg = |i: usize, d: u32| std::env::args().nth(i).and_then(|s| s.parse().ok()).unwrap_or(d);
    let run = Run { events: arg(1, 10000) as usize, threads: arg(2, 8), locks: arg(3, 20), variables: arg(4, 200), seed: arg(5, 1).into(), ..Run::default() };
    let steps = run.steps();
    let needed = needed_by(&steps, Reads::ByBranch);
    let window = Window::whole(steps, needed);
    let t = Instant::now();
    let reduced = Reduced::of(&window);
    let t1 = t.elapsed();
    let model = Model::new(&reduced.window);
    println!("reduce {:?} model {:?} {} -> {}", t1, t.elapsed() - t1, window.steps.len(), reduced.window.steps.len());
    let c = candidates(&model, |_| true, |_| false);
    println!("candidates {:?}: {} signatures {} pairs", t.elapsed(), c.pairs.len(), c.pairs.iter().map(|p| p.1.len()).sum::<usize>());
    let mut asker = Asker::new(&model);
    let mut times: Vec<(Duration, Stage, &str)> = vec![];
    let all: Vec<[u32; 2]> = c.pairs.iter().flat_map(|p| p.1.iter().copied()).collect();
    let stepby = (all.len() / 100).max(1);
    for pair in all.iter().step_by(stepby) {
        let t = Instant::now();
        let cut = Cut { goal: Goal::Race, next: pair.to_vec() };
        let (a, s) = asker.ask(&cut, &Budget { deadline: Some(t + Duration::from_secs(20)), stop: None });
        let w = match &a { Answer::Reached(_) => "yes", Answer::Impossible => "no", Answer::Unknown => "unknown" };
        times.push((t.elapsed(), s, w));
        if let Answer::Reached(sch) = a {
            let whole = Cut { goal: Goal::Race, next: pair.iter().map(|e| reduced.position(*e)).collect() };
            check::check(&window, &whole, &reduced.schedule(&sch, &whole)).unwrap();
        }
    }
    for s in Stage::ALL { for w in ["yes", "no", "unknown"] { let v: Vec<_> = times.iter().filter(|t| t.1 == s && t.2 == w).collect(); if !v.is_empty() { println!("{} {}: {} total {:?}", s.name(), w, v.len(), v.iter().map(|t| t.0).sum::<Duration>()); } } }
    times.sort();
    println!("median {:?} p95 {:?} max {:?}", times[times.len() / 2].0, times[times.len() * 95 / 100].0, times[times.len() - 1].0);
}
