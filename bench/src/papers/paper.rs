//! What the papers measured.

/// A program of table 1 of *maximal*, ours and theirs.
pub struct Predicted {
    /// Our program.
    pub program: &'static str,
    /// What the paper calls it.
    pub name: &'static str,
    /// Events of the trace, as the paper says it.
    pub events: &'static str,
    /// Races that the maximal method (RV), Said et al., CP and HB found.
    pub races: [u32; 4],
    /// How long each took, as the paper says it.
    pub times: [&'static str; 4],
}

const fn predicted(
    program: &'static str,
    name: &'static str,
    events: &'static str,
    races: [u32; 4],
    times: [&'static str; 4],
) -> Predicted {
    Predicted {
        program,
        name,
        events,
        races,
        times,
    }
}

/// Table 1 of *maximal*, without its example (which is `programs/papers/maximal_fig1.c`) and the large systems.
#[rustfmt::skip]
pub const MAXIMAL: [Predicted; 11] = [
    predicted("critical", "critical", "38", [8, 7, 4, 4], ["0.9s", "0.8s", "0.8s", "0.8s"]),
    predicted("airline", "airline", "214", [9, 6, 8, 8], ["0.9s", "1.0s", "0.8s", "0.8s"]),
    predicted("account", "account", "126", [5, 5, 3, 3], ["0.9s", "0.9s", "0.9s", "0.9s"]),
    predicted("pingpong", "pingpong", "64", [4, 4, 3, 3], ["0.8s", "0.8s", "0.8s", "0.8s"]),
    predicted("bounded_buffer", "bbuffer", "1.7K", [13, 10, 5, 5], ["4.1s", "6.8s", "1s", "1s"]),
    predicted("bubble_sort", "bubblesort", "4.5K", [8, 8, 7, 7], ["7.4s", "44s", "1.3s", "1.2s"]),
    predicted("buffered_writer", "bufwriter", "411", [2, 0, 2, 2], ["1s", "1.2s", "0.8s", "0.8s"]),
    predicted("merge_sort", "mergesort", "5.5K", [9, 7, 3, 3], ["2.5s", "7.9s", "1.2s", "1.2s"]),
    predicted("ray_tracer", "raytracer", "23.4K", [5, 5, 3, 3], ["1.2s", "3.4s", "1.2s", "1.2s"]),
    predicted("monte_carlo", "montecarlo", "11.7M", [0, 0, 0, 0], ["13.5s", "13.7s", "14.2s", "12s"]),
    predicted("molecular_dynamics", "moldyn", "273K", [11, 5, 2, 2], ["53.5s", "170s", "1.2s", "1.6s"]),
];

/// A program of table 2 of *interleave*, ours and theirs.
pub struct Generated {
    /// Our program.
    pub program: &'static str,
    /// What the paper calls it.
    pub name: &'static str,
    /// Errors that it found from one trace.
    pub found: u32,
    /// Errors that ThreadSanitizer found in 100 runs.
    pub tsan: u32,
}

const fn generated(program: &'static str, name: &'static str, found: u32, tsan: u32) -> Generated {
    Generated {
        program,
        name,
        found,
        tsan,
    }
}

/// Table 2 of *interleave*, without fmm.
pub const INTERLEAVE: [Generated; 10] = [
    generated("downloader", "aget", 2, 3),
    generated("black_scholes", "blackscholes", 0, 0),
    generated("bounded_buffer", "boundedBuffer", 0, 0),
    generated("tracing_library", "ctrace", 3, 2),
    generated("fft", "fft", 0, 0),
    generated("lu_contiguous", "lu", 0, 0),
    generated("lu_rows", "lu-non", 0, 0),
    generated("quick_sort", "qsort", 6, 1),
    generated("stream_cluster", "streamcluster", 1, 1),
    generated("water", "water-nsquared", 0, 0),
];
