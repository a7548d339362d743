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

impl Predicted {
    /// Our program's file: its first is the paper's first figure.
    pub fn source(&self) -> String {
        let folder = match self.program {
            "maximal_fig1" => "programs/papers",
            _ => "programs/papers/tables",
        };
        format!("{folder}/{}.c", self.program)
    }
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

/// Table 1 of *maximal*, without the large systems.
#[rustfmt::skip]
pub const MAXIMAL: [Predicted; 12] = [
    predicted("maximal_fig1", "example", "20", [1, 0, 0, 0], ["0.4s", "0.8s", "0.8s", "0.8s"]),
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
    /// The argument of its smallest run that has all its races, of which all schedules are searched.
    pub smallest: &'static str,
    /// What the paper calls it.
    pub name: &'static str,
    /// Errors that it found from one trace.
    pub found: u32,
    /// Errors that ThreadSanitizer found in 100 runs.
    pub tsan: u32,
}

const fn generated(
    program: &'static str,
    smallest: &'static str,
    name: &'static str,
    found: u32,
    tsan: u32,
) -> Generated {
    Generated {
        program,
        smallest,
        name,
        found,
        tsan,
    }
}

/// Table 2 of *interleave*.
pub const INTERLEAVE: [Generated; 11] = [
    generated("downloader", "3", "aget", 2, 3),
    generated("black_scholes", "2", "blackscholes", 0, 0),
    generated("bounded_buffer", "2", "boundedBuffer", 0, 0),
    generated("tracing_library", "1", "ctrace", 3, 2),
    generated("fft", "4", "fft", 0, 0),
    generated("multipole", "8", "fmm", 50, 36),
    generated("lu_contiguous", "2", "lu", 0, 0),
    generated("lu_rows", "2", "lu-non", 0, 0),
    generated("quick_sort", "4", "qsort", 6, 1),
    generated("stream_cluster", "4", "streamcluster", 1, 1),
    generated("water", "2", "water-nsquared", 0, 0),
];

/// What *interleave* found in its scenarios (table 1): how many there are, their lines, their errors, those that it found, and those that ThreadSanitizer found.
pub const SCENARIOS: [u32; 5] = [48, 2274, 31, 31, 21];

/// A program of tables 2 and 3 of *hybrid*, ours and theirs.
pub struct Watched {
    /// Our program's file.
    pub source: &'static str,
    /// What the paper calls it.
    pub name: &'static str,
    /// The argument of a small run, which is recorded.
    pub recorded: &'static str,
    /// The argument of its smallest run that has all its races, of which all schedules are searched. The kernels are made for measuring speed.
    pub smallest: Option<&'static str>,
    /// The argument of a run that takes long enough to be timed. The paper did not time all.
    pub timed: Option<&'static str>,
    /// Variables whose races do no harm, in our judgement.
    pub benign: &'static [&'static str],
    /// How long the paper's program runs without anything.
    pub unmodified: &'static str,
    /// Table 2, in the order of `Setting::ALL`.
    pub ratios: [&'static str; 6],
    /// Table 3: simple, detailed, detailed on flagged fields, without happens-before.
    pub fields: [&'static str; 4],
}

impl Watched {
    /// Our program's name.
    pub fn stem(&self) -> &str {
        let file = self.source.rsplit('/').next().unwrap_or(self.source);
        file.trim_end_matches(".c")
    }
}

const UNTIMED: [&str; 6] = [""; 6];

/// Tables 2 and 3 of *hybrid*, without mtrt.
pub const HYBRID: [Watched; 9] = [
    Watched {
        source: "programs/papers/tables/elevator.c",
        name: "elevator",
        recorded: "6",
        smallest: Some("2"),
        timed: None,
        benign: &[],
        unmodified: "",
        ratios: UNTIMED,
        fields: ["0", "0", "0", "0"],
    },
    Watched {
        source: "programs/papers/tables/crawler.c",
        name: "hedc",
        recorded: "8",
        smallest: Some("3"),
        timed: None,
        benign: &[],
        unmodified: "",
        ratios: UNTIMED,
        fields: ["5", "4-0-0", "4-0-0", "3-0-1"],
    },
    Watched {
        source: "bench/kernels/tsp.c",
        name: "tsp",
        recorded: "1",
        smallest: None,
        timed: Some("20"),
        benign: &["best"],
        unmodified: "3.03 s",
        ratios: ["16.87", "2.50", "18.56", "13.74", "22.39", "-"],
        fields: ["3", "1-0-2", "1-0-2", "0-0-2"],
    },
    Watched {
        source: "bench/kernels/sor.c",
        name: "sor2",
        recorded: "1",
        smallest: None,
        timed: Some("60"),
        benign: &[],
        unmodified: "0.62 s",
        ratios: ["5.68", "1.17", "5.15", "5.13", "5.13", "54.66"],
        fields: ["0", "0", "0", "0"],
    },
    Watched {
        source: "programs/papers/tables/molecular_dynamics.c",
        name: "moldyn",
        recorded: "4",
        smallest: Some("4"),
        timed: Some("2048"),
        benign: &[],
        unmodified: "26.42 s",
        ratios: ["2.54", "1.54", "43.94", "39.72", "44.41", "-"],
        fields: ["0", "0", "0", "0"],
    },
    Watched {
        source: "programs/papers/tables/monte_carlo.c",
        name: "montecarlo",
        recorded: "20",
        smallest: Some("2"),
        timed: Some("1000000"),
        benign: &[],
        unmodified: "9.74 s",
        ratios: ["1.40", "1.04", "5.39", "12.46", "5.32", "-"],
        fields: ["1", "0-1-0", "0-1-0", "0-1-0"],
    },
    Watched {
        source: "programs/papers/tables/ray_tracer.c",
        name: "raytracer",
        recorded: "6",
        smallest: Some("3"),
        timed: Some("2000"),
        benign: &["next_row"],
        unmodified: "7.96 s",
        ratios: ["26.89", "1.04", "189.75", "163.80", "187.11", "-"],
        fields: ["1", "1-0-0", "1-0-0", "0"],
    },
    Watched {
        source: "bench/kernels/server.c",
        name: "specjbb",
        recorded: "1",
        smallest: None,
        timed: Some("40"),
        benign: &["served", "largest"],
        unmodified: "31.81 s",
        ratios: ["2.94", "2.21", "-", "-", "-", "-"],
        fields: ["5", "-", "0-1-1", "0-1-1"],
    },
    Watched {
        source: "programs/papers/tables/web_server.c",
        name: "resin, tomcat",
        recorded: "3",
        smallest: Some("2"),
        timed: Some("5000"),
        benign: &["hits", "is_made", "titles", "cached_page"],
        unmodified: "78.46 s, 24.08 s",
        ratios: [
            "1.91, 2.68",
            "2.06, 1.26",
            "-, 5.37",
            "-, 11.47",
            "-, 5.65",
            "-, 42.65",
        ],
        fields: [
            "193, 22",
            "-, 5-7-39",
            "1-18-57, 3-6-13",
            "1-25-152, 2-6-17",
        ],
    },
];
