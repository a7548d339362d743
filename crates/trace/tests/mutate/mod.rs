//! A small fuzzer for readers: seeded, on stable Rust, bounded in time.
//!
//! It mutates valid files (with tokens of their format, splices of each other, flipped bits,
//! numbers at their limits) and hands them to a check that panics if something is wrong.
//! `DEADHEAT_FUZZ_SECONDS` sets the time of each test (default 2), `DEADHEAT_FUZZ_SEED` where to
//! start. A failure prints the seed that reproduces it and the file that it happened on.

use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, Instant};

/// A small fast generator of random numbers (SplitMix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// A range of at most `longest` bytes of something that has `len`.
    fn range(&mut self, len: usize, longest: usize) -> std::ops::Range<usize> {
        let start = self.below(len + 1);
        let length = self.below((len - start).min(longest) + 1);
        start..start + length
    }
}

/// Numbers that arithmetic gets wrong.
const LIMITS: [u64; 12] = [
    0,
    1,
    0x7F,
    0xFF,
    0xFFFF,
    0x7FFF_FFFF,
    0xFFFF_FFFF,
    1 << 40,
    (1 << 47) - 1,
    1 << 47,
    (1 << 48) - 1,
    u64::MAX,
];

/// Makes new files of old ones.
pub struct Mutator<'a> {
    /// Valid files.
    pub corpus: &'a [Vec<u8>],
    /// Tokens of the format.
    pub tokens: &'a [&'a [u8]],
}

impl Mutator<'_> {
    /// A file after a few mutations.
    pub fn next(&self, random: &mut Random) -> Vec<u8> {
        let mut file = random.pick(self.corpus).clone();
        for _ in 0..=random.below(4) {
            self.mutate(&mut file, random);
        }
        file
    }

    fn mutate(&self, file: &mut Vec<u8>, random: &mut Random) {
        let len = file.len();
        match random.below(11) {
            0 if len > 0 => file[random.below(len)] ^= 1 << random.below(8),
            1 if len > 0 => file[random.below(len)] = random.next() as u8,
            2 => drop(file.drain(random.range(len, 64))),
            3 => file.truncate(random.below(len + 1)),
            4 => {
                let copy = file[random.range(len, 256)].to_vec();
                insert(file, random.below(len + 1), &copy);
            }
            5 => {
                let bytes: Vec<u8> = (0..random.below(9)).map(|_| random.next() as u8).collect();
                insert(file, random.below(len + 1), &bytes);
            }
            6 | 7 if !self.tokens.is_empty() => {
                let at = random.below(len + 1);
                let token = *random.pick::<&[u8]>(self.tokens);
                insert(file, at, token);
            }
            8 => {
                let other = random.pick(self.corpus);
                let part = other[random.range(other.len(), 512)].to_vec();
                insert(file, random.below(len + 1), &part);
            }
            9 => {
                // A number in a binary file.
                let number = random.pick(&LIMITS).to_le_bytes();
                let width = *random.pick(&[1, 2, 4, 8]);
                if len >= width {
                    let at = random.below(len - width + 1) / width * width;
                    file[at..at + width].copy_from_slice(&number[..width]);
                }
            }
            _ => {
                // A number in a text file.
                let number = random.pick(&LIMITS).to_string();
                insert(file, random.below(len + 1), number.as_bytes());
            }
        }
    }
}

fn insert(file: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    file.splice(at..at, bytes.iter().copied());
}

fn setting(name: &str, default: u64) -> u64 {
    let text = std::env::var(name).ok();
    text.and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Checks mutants of the corpus until the time is up. Prints how to reproduce a failure.
pub fn fuzz(mutator: &Mutator<'_>, check: impl Fn(&[u8])) {
    let time = Duration::from_secs(setting("DEADHEAT_FUZZ_SECONDS", 2));
    let first = setting("DEADHEAT_FUZZ_SEED", 1);
    let start = Instant::now();
    let mut files = 0;
    while start.elapsed() < time {
        let seed = first + files;
        let file = mutator.next(&mut Random::new(seed));
        let checked = panic::catch_unwind(AssertUnwindSafe(|| check(&file)));
        if let Err(cause) = checked {
            let shown = String::from_utf8_lossy(&file);
            eprintln!("reproduce with DEADHEAT_FUZZ_SEED={seed}; the file:\n{shown}\n{file:02x?}");
            panic::resume_unwind(cause);
        }
        files += 1;
    }
    println!("{files} files from seed {first}");
}
