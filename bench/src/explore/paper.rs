//! What the paper measured: tables 2 to 4, for 2, 3 and 4 threads.

/// Seconds and megabytes, or why there are none.
pub type Figure = Result<(f64, u32), &'static str>;

/// A row of each of the three tables.
pub struct Rows {
    /// Table 2: without the hint.
    pub without_hint: [Figure; 3],
    /// Table 3: with the hint.
    pub with_hint: [Figure; 3],
    /// Table 4: with the hint, and with the first access's thread in the model.
    pub with_first: [Figure; 3],
}

const MEMORY: Figure = Err("mem out");
const TIME: Figure = Err("timeout");

/// The rows of a program.
pub fn rows(program: &str) -> Option<Rows> {
    let tsp = |seconds: f64, megabytes: u32| {
        let row = [Ok((seconds, megabytes)), MEMORY, MEMORY];
        Rows {
            without_hint: row,
            with_hint: row,
            with_first: [MEMORY; 3],
        }
    };
    Some(match program {
        "tsp" => tsp(35243.2, 337),
        "our_tsp" => tsp(35069.9, 353),
        "sort_array" => Rows {
            without_hint: [Ok((569.39, 123)), Ok((7019.38, 607)), MEMORY],
            with_hint: [Ok((569.39, 123)), Ok((1334.93, 396)), MEMORY],
            with_first: [Ok((1041.34, 400)), MEMORY, MEMORY],
        },
        "prime_finder" => Rows {
            without_hint: [Ok((888.74, 116)), Ok((44695.7, 697)), TIME],
            with_hint: [Ok((888.74, 116)), Ok((2645.57, 143)), Ok((4547.18, 168))],
            with_first: [Ok((1871.46, 200)), Ok((5355.14, 268)), Ok((17260.6, 295))],
        },
        "elevsim" => Rows {
            without_hint: [Ok((33.02, 28)), Ok((1393.56, 151)), Ok((55518.9, 720))],
            with_hint: [Ok((33.02, 28)), Ok((67.92, 33)), Ok((147.91, 48))],
            with_first: [Ok((36.36, 31)), Ok((124.79, 49)), Ok((408.81, 73))],
        },
        "dqueries" => Rows {
            without_hint: [Ok((140.13, 60)), Ok((10158.7, 321)), TIME],
            with_hint: [Ok((140.13, 60)), Ok((201.84, 89)), Ok((585.97, 136))],
            with_first: [Ok((202.33, 96)), Ok((462.94, 135)), Ok((1843.63, 202))],
        },
        "hedc" => Rows {
            without_hint: [Ok((2.66, 11)), Ok((11.37, 17)), Ok((24.33, 17))],
            with_hint: [Ok((2.66, 11)), Ok((7.33, 12)), Ok((9.0, 17))],
            with_first: [Ok((7.0, 12)), Ok((9.52, 16)), Ok((122.81, 21))],
        },
        _ => return None,
    })
}
