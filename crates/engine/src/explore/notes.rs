//! What the program has noted on the board, as a search reads it.
//!
//! An operation's place is the program's own line: where code of a library does something, the calls
//! say for whom.

use deadheat_analysis::unseen::Unseen;
use deadheat_explore::search::{Deed, Pending, Site, Standing, Transition};
use deadheat_report::{Names, own_place};
use deadheat_trace::{Op, Order, Tables};
use deadheat_wire::explore::{self as wire, noted, standing};
use rustc_hash::FxHashMap;

use super::board::Shared;

/// Reads notes.
pub struct Notes {
    names: Names,
    /// Which code has no hooks.
    unseen: Unseen,
    /// The program's own place of an instruction, by the calls that led there.
    known: FxHashMap<(u64, u16), u32>,
    /// The numbers of own places, and what they are called.
    numbers: FxHashMap<String, u32>,
    told: Vec<String>,
}

impl Notes {
    /// Of a program with these tables.
    pub fn of(tables: &Tables) -> Self {
        Notes {
            names: Names::of(tables),
            unseen: Unseen::of(tables),
            known: FxHashMap::default(),
            numbers: FxHashMap::default(),
            told: Vec::new(),
        }
    }

    /// An operation; `None` if there is none.
    pub fn deed(&mut self, note: &wire::Noted, board: &Shared) -> Option<Deed> {
        Some(Deed {
            op: Op::from_number(note.op)?,
            object: note.object,
            size: note.size,
            order: Order::from_number(note.order as u8),
            tried: note.flags & noted::TRIED != 0,
            pc: note.pc,
            own: self.own(note.pc, note.calls, board),
            value: note.value,
        })
    }

    /// Nobody sees how code without hooks orders what it does, so it is nothing to others.
    fn blank_if_unseen(&mut self, deed: &mut Deed) {
        if self.unseen.is_place_unseen(deed.op, deed.pc) {
            deed.op = Op::Fence;
            deed.order = Order::Relaxed;
        }
    }

    /// What happened.
    pub fn transitions(&mut self, board: &Shared) -> Vec<Transition> {
        let mut transitions: Vec<Transition> =
            Vec::with_capacity(board.board().transitions as usize);
        for note in board.noted() {
            let Some(mut deed) = self.deed(&note, board) else {
                continue;
            };
            self.blank_if_unseen(&mut deed);
            match transitions.last_mut() {
                Some(last) if note.flags & noted::FIRST == 0 => last.deeds.push(deed),
                _ => transitions.push(Transition {
                    thread: note.thread,
                    variant: note.variant.into(),
                    variants: note.variants.into(),
                    deeds: vec![deed],
                }),
            }
        }
        transitions
    }

    /// Threads that have not ended.
    pub fn pending(&mut self, board: &Shared) -> Vec<Pending> {
        let places = board.places().into_iter().zip(0..);
        places
            .filter_map(|(place, thread)| {
                let standing = match place.standing {
                    standing::READY => Standing::Ready,
                    standing::BLOCKED => Standing::Blocked,
                    standing::TIMED => Standing::Timed,
                    standing::SPINNING => Standing::Spinning,
                    _ => return None,
                };
                let mut deed = self.deed(&place.next, board);
                if let Some(deed) = &mut deed
                    && deed.op == Op::AtomicRead
                {
                    // It was announced before it was known what it is.
                    deed.op = Op::AtomicRmw;
                }
                if let Some(deed) = &mut deed {
                    self.blank_if_unseen(deed);
                }
                Some(Pending {
                    thread,
                    standing,
                    deed,
                })
            })
            .collect()
    }

    /// What the place is called that an operation belongs to.
    pub fn told(&self, site: Site) -> String {
        match (site.own as usize).checked_sub(1) {
            Some(number) => self.told[number].clone(),
            None => own_place(&self.names.frames_at(site.pc)).told(),
        }
    }

    /// The number of the own place of an instruction.
    fn own(&mut self, pc: u64, calls: u16, board: &Shared) -> u32 {
        if let Some(own) = self.known.get(&(pc, calls)) {
            return *own;
        }
        let mut frames = self.names.frames_at(pc);
        let mut call = u32::from(calls);
        while call != 0 && frames.iter().all(|frame| frame.is_foreign()) {
            let wire::Call { site, above, .. } = board.call(call);
            frames.extend(self.names.frames_at(site));
            call = above;
        }
        let told = own_place(&frames).told();
        let own = match self.numbers.get(&told) {
            Some(own) => *own,
            None => {
                self.told.push(told.clone());
                let own = self.told.len() as u32;
                self.numbers.insert(told, own);
                own
            }
        };
        self.known.insert((pc, calls), own);
        own
    }
}
