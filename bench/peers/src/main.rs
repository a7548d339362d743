//! Runs an algorithm under loom or shuttle: `deadheat-peers TOOL ALGORITHM right|broken SECONDS`. Prints how many executions there were, how many
//! seconds they took, and `found`, `exhausted` or `cut`.

mod with_loom {
    pub mod queue {
        use loom::sync::Arc;
        use loom::sync::atomic::{AtomicUsize, Ordering};
        use loom::thread;

        include!("../algorithms/queue.rs");
    }
    pub mod buffer {
        use loom::sync::{Arc, Condvar, Mutex};
        use loom::thread;

        include!("../algorithms/buffer.rs");
    }
}

mod with_shuttle {
    pub mod queue {
        use shuttle::sync::Arc;
        use shuttle::sync::atomic::{AtomicUsize, Ordering};
        use shuttle::thread;

        include!("../algorithms/queue.rs");
    }
    pub mod buffer {
        use shuttle::sync::{Arc, Condvar, Mutex};
        use shuttle::thread;

        include!("../algorithms/buffer.rs");
    }
}

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler};
use shuttle::{Config, FailurePersistence, Runner};

/// How often another order interrupts, for PCT.
const DEPTH: usize = 3;
/// Enough for any time that somebody waits.
const MANY: usize = 1_000_000_000;

type Algorithm = fn(bool);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [tool, algorithm, variant, seconds] = &words[..] else {
        eprintln!("usage: deadheat-peers TOOL ALGORITHM right|broken SECONDS");
        return ExitCode::FAILURE;
    };
    let algorithm: Option<Algorithm> = match (tool.as_str(), algorithm.as_str()) {
        ("loom", "queue") => Some(with_loom::queue::run),
        ("loom", "buffer") => Some(with_loom::buffer::run),
        (_, "queue") => Some(with_shuttle::queue::run),
        (_, "buffer") => Some(with_shuttle::buffer::run),
        _ => None,
    };
    let (Some(algorithm), Ok(seconds)) = (algorithm, seconds.parse()) else {
        eprintln!("deadheat-peers: no such algorithm or time");
        return ExitCode::FAILURE;
    };
    let limit = Duration::from_secs_f64(seconds);
    let is_broken = variant == "broken";
    let executions = Arc::new(AtomicU64::new(0));
    let counted = {
        let executions = executions.clone();
        move || {
            executions.fetch_add(1, Ordering::Relaxed);
            algorithm(is_broken);
        }
    };
    std::panic::set_hook(Box::new(|_| {})); // what is found is counted, not told
    let started = Instant::now();
    let ended = catch_unwind(AssertUnwindSafe(|| match tool.as_str() {
        "loom" => under_loom(counted, limit),
        name => under_shuttle(name, counted, limit),
    }));
    let took = started.elapsed();
    let outcome = match ended {
        Err(_) => "found",
        Ok(()) if took >= limit => "cut",
        Ok(()) => "exhausted",
    };
    let executions = executions.load(Ordering::Relaxed);
    println!("{executions} {} {outcome}", took.as_secs_f64());
    ExitCode::SUCCESS
}

fn under_loom(run: impl Fn() + Send + Sync + 'static, limit: Duration) {
    let mut model = loom::model::Builder::new();
    model.max_duration = Some(limit);
    model.max_branches = 100_000;
    model.check(run);
}

fn under_shuttle(tool: &str, run: impl Fn() + Send + Sync + 'static, limit: Duration) {
    let mut config = Config::new();
    config.max_time = Some(limit);
    config.failure_persistence = FailurePersistence::None;
    match tool {
        "shuttle-dfs" => Runner::new(DfsScheduler::new(None, false), config).run(run),
        "shuttle-random" => Runner::new(RandomScheduler::new(MANY), config).run(run),
        _ => Runner::new(PctScheduler::new(DEPTH, MANY), config).run(run),
    };
}
