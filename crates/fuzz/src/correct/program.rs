//! A program of one to three pieces, and what it prints.

use super::catalogue::{Kind, Piece};

/// How pieces are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One after the other, by the same two threads; handovers go back and forth.
    Sequence,
    /// Each by threads of its own.
    Beside,
    /// One payload is handed from thread to thread.
    Chain,
    /// The others inside of the first, which is an exclusion.
    Nested,
}

/// How the payload is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// One number.
    Plain,
    /// Fields of several sizes.
    Fields,
    /// Bytes, copied by the C library.
    Bytes,
    /// A block of the heap.
    Block,
}

/// A piece in a program.
#[derive(Clone, Debug)]
pub struct Use {
    /// Which.
    pub piece: Piece,
    /// What is handed over.
    pub payload: Payload,
    /// Its value.
    pub value: i64,
}

/// A program.
#[derive(Clone, Debug)]
pub struct Program {
    /// Its pieces.
    pub uses: Vec<Use>,
    /// How they are put together.
    pub shape: Shape,
    /// Whether the first thread is the main one, too.
    pub main_takes_part: bool,
}

/// One call of a piece's function by a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Which piece, by its place in the program.
    pub piece: usize,
    /// Its function.
    pub function: &'static str,
    /// Whether what it returns is the piece's result.
    pub is_result: bool,
}

/// How often each thread enters an exclusion.
const ROUNDS: usize = 2;

impl Program {
    /// A piece by itself.
    #[must_use]
    pub fn alone(piece: &Piece) -> Program {
        Program {
            uses: vec![Use {
                piece: piece.clone(),
                payload: Payload::Plain,
                value: 42,
            }],
            shape: Shape::Sequence,
            main_takes_part: false,
        }
    }

    /// The program that these random numbers give.
    pub fn random(pieces: &[Piece], dice: &mut Dice) -> Program {
        let count = 1 + dice.below(3);
        let mut uses: Vec<Use> = Vec::new();
        while uses.len() < count {
            let piece = &pieces[dice.below(pieces.len())];
            let taken = piece.uses.is_some() && uses.iter().any(|one| one.piece.uses == piece.uses);
            if !taken {
                uses.push(Use {
                    piece: piece.clone(),
                    payload: [
                        Payload::Plain,
                        Payload::Fields,
                        Payload::Bytes,
                        Payload::Block,
                    ][dice.below(4)],
                    value: 1 + dice.below(100) as i64,
                });
            }
        }
        let shape = [Shape::Sequence, Shape::Beside, Shape::Chain, Shape::Nested][dice.below(4)];
        if shape == Shape::Nested
            && let Some(outer) = uses
                .iter()
                .position(|one| one.piece.kind == Kind::Exclusion)
        {
            uses.swap(0, outer);
        }
        let mut program = Program {
            uses,
            shape,
            main_takes_part: dice.below(2) == 0,
        };
        program.make_legal();
        program
    }

    /// Not every piece fits into every shape.
    fn make_legal(&mut self) {
        let outer = &self.uses[0].piece;
        if self.shape == Shape::Nested && outer.kind != Kind::Exclusion {
            self.shape = Shape::Sequence;
        }
        if self.shape == Shape::Chain && outer.kind != Kind::Handover {
            self.shape = Shape::Beside;
        }
    }

    /// The same without one piece; nothing, if it is the last one.
    #[must_use]
    pub fn without(&self, at: usize) -> Option<Program> {
        let mut fewer = self.clone();
        fewer.uses.remove(at);
        if fewer.uses.is_empty() {
            return None;
        }
        fewer.make_legal();
        Some(fewer)
    }

    /// What each thread calls. The first may be the main thread.
    #[must_use]
    pub fn threads(&self) -> Vec<Vec<Call>> {
        match self.shape {
            Shape::Sequence => self.sequence(),
            Shape::Beside => self.beside(),
            Shape::Chain => self.chain(),
            Shape::Nested => self.nested(),
        }
    }

    fn sequence(&self) -> Vec<Vec<Call>> {
        let mut threads = vec![Vec::new(), Vec::new()];
        for (at, one) in self.uses.iter().enumerate() {
            self.add(one, at, &mut threads, (at % 2, (at + 1) % 2));
        }
        threads
    }

    fn beside(&self) -> Vec<Vec<Call>> {
        let mut threads = Vec::new();
        for (at, one) in self.uses.iter().enumerate() {
            let first = threads.len();
            threads.push(Vec::new());
            if one.piece.kind != Kind::Own {
                threads.push(Vec::new());
            }
            self.add(one, at, &mut threads, (first, first + 1));
        }
        threads
    }

    /// Adds what a piece needs to two threads, or to the first.
    fn add(&self, one: &Use, at: usize, threads: &mut [Vec<Call>], pair: (usize, usize)) {
        match one.piece.kind {
            Kind::Handover => {
                threads[pair.0].extend(calls(at, &["write", "give"]));
                threads[pair.1].extend(calls(at, &["take", "=read"]));
            }
            Kind::Exclusion => {
                for thread in [pair.0, pair.1] {
                    for _ in 0..ROUNDS {
                        threads[thread].extend(calls(at, &["enter", "bump", "leave"]));
                    }
                }
            }
            Kind::Own => threads[pair.0].extend(calls(at, &["=run"])),
        }
    }

    /// Every handover passes the first one's payload to a new thread, which adds to it.
    fn chain(&self) -> Vec<Vec<Call>> {
        let mut threads = vec![calls(0, &["write"])];
        for (at, one) in self.uses.iter().enumerate() {
            let last = threads.len() - 1;
            match one.piece.kind {
                Kind::Handover => {
                    threads[last].extend(calls(at, &["give"]));
                    let mut next = calls(at, &["take"]);
                    next.extend(calls(0, &["bump"]));
                    threads.push(next);
                }
                Kind::Exclusion => {
                    for thread in &mut threads {
                        thread.extend(calls(at, &["enter", "bump", "leave"]));
                    }
                }
                Kind::Own => threads[last].extend(calls(at, &["=run"])),
            }
        }
        threads
    }

    fn nested(&self) -> Vec<Vec<Call>> {
        let mut threads = vec![calls(0, &["enter", "bump"]), calls(0, &["enter", "bump"])];
        let mut after = vec![Vec::new(), Vec::new()];
        for (at, one) in self.uses.iter().enumerate().skip(1) {
            match one.piece.kind {
                // Whoever takes it does so outside: the giver may be the one that has to wait for the lock.
                Kind::Handover if one.piece.meets => self.add(one, at, &mut after, (0, 1)),
                Kind::Handover => {
                    threads[0].extend(calls(at, &["write", "give"]));
                    after[1].extend(calls(at, &["take", "=read"]));
                }
                Kind::Exclusion => {
                    for thread in &mut threads {
                        thread.extend(calls(at, &["enter", "bump", "leave"]));
                    }
                }
                Kind::Own => threads[0].extend(calls(at, &["=run"])),
            }
        }
        for (thread, rest) in threads.iter_mut().zip(after) {
            thread.extend(calls(0, &["leave"]));
            thread.extend(rest);
        }
        threads
    }

    /// Whether the main thread reads a piece's result from its payload, after all threads.
    #[must_use]
    pub fn is_read_at_the_end(&self, at: usize) -> bool {
        !self
            .threads()
            .iter()
            .flatten()
            .any(|call| call.piece == at && call.is_result)
    }

    /// What the program prints.
    #[must_use]
    pub fn expected(&self) -> String {
        let threads = self.threads();
        let results = self.uses.iter().enumerate().map(|(at, one)| {
            let adds =
                |call: &&Call| call.piece == at && ["write", "bump"].contains(&call.function);
            let result = match self.is_read_at_the_end(at) {
                true => one.value * threads.iter().flatten().filter(adds).count() as i64,
                false => one.value,
            };
            result.to_string()
        });
        results.collect::<Vec<_>>().join(" ")
    }

    /// Its pieces and shape, for people.
    #[must_use]
    pub fn title(&self) -> String {
        let names: Vec<&str> = self
            .uses
            .iter()
            .map(|one| one.piece.name.as_str())
            .collect();
        let main = if self.main_takes_part {
            ", main takes part"
        } else {
            ""
        };
        format!("{:?} of {}{main}", self.shape, names.join(", "))
    }
}

/// Calls of a piece; `=` before those that return its result.
fn calls(piece: usize, functions: &[&'static str]) -> Vec<Call> {
    let call = |name: &&'static str| Call {
        piece,
        function: name.trim_start_matches('='),
        is_result: name.starts_with('='),
    };
    functions.iter().map(call).collect()
}

/// Random numbers: splitmix64.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The numbers of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}
