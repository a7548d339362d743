//! How long it takes to find a program's facts, and to load them again.
//!
//! `cargo run --release -p deadheat-code --example facts_speed -- FILES`

use std::error::Error;
use std::time::Instant;

use deadheat_code::{Binary, Facts};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("facts_speed.{}", std::process::id()));
    for path in std::env::args().skip(1) {
        let binary = Binary::open(path.as_ref())?;
        let size = std::fs::metadata(&path)?.len();
        let start = Instant::now();
        let facts = Facts::of(&binary);
        let found = start.elapsed();
        Facts::load_or_make(&binary, &folder);
        let start = Instant::now();
        Facts::load_or_make(&binary, &folder);
        let loaded = start.elapsed();
        let kept: u64 = std::fs::read_dir(&folder)?
            .filter_map(|file| Some(file.ok()?.metadata().ok()?.len()))
            .sum();
        std::fs::remove_dir_all(&folder)?;
        println!(
            "{path}: {:.1} MB, {} sites, {} ways; found in {found:.1?}, loaded in {loaded:.1?} \
             ({:.2} MB)",
            size as f64 / 1e6,
            facts.sites().count(),
            facts.ways().count(),
            kept as f64 / 1e6,
        );
    }
    Ok(())
}
