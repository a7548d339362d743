//! The first reading: which memory constrains schedules.

use std::ops::RangeInclusive;

use deadheat_detect::{Rounds, Unclear};
use deadheat_trace::{Extents, Op, Step};
use rustc_hash::{FxHashMap, FxHashSet};

use super::histories::{Histories, Moment, NEW};
use super::words;

/// Words in a page.
const WORDS: usize = 512;

/// Accesses to this word constrain schedules.
const KEPT: u32 = 1 << 31;
/// Several threads access it.
const SEVERAL: u32 = 1 << 30;
/// Some access touches this word and the next one.
const LINKED: u32 = 1 << 29;
const HISTORY: u32 = LINKED - 1;

/// The number of a page of which no words are told apart: what is kept of it is whether several threads access it.
const COARSE: u32 = 1 << 31;
/// More such pages are not kept, and no more that constrain schedules: then everything does.
const MOST_COARSE: usize = 1 << 22;
const MOST_KEPT: usize = 1 << 20;
/// So many steps that others count are known one by one.
const MOST_ANCHORS: usize = 1 << 23;

/// Finds memory that constrains schedules, while the trace is read once.
#[derive(Default)]
pub struct Survey {
    threads: Vec<Thread>,
    histories: Histories,
    pages: Pages,
    /// Blocks that are alive, by their first bytes: where they end, and when they were allocated.
    blocks: Extents<Moment>,
    barriers: FxHashMap<u64, Rounds>,
    /// Barriers order nothing.
    ignores_barriers: bool,
    /// The rounds of a barrier are not those of every schedule, as it was taken for granted.
    is_misled: bool,
    anchors: Vec<u64>,
    /// Threads that have done something since the last external write.
    touched: Vec<u32>,
    /// How many steps there were.
    count: u64,
    has_gaps: bool,
    /// All histories that there can be are those of words.
    is_crowded: bool,
}

#[derive(Default)]
struct Thread {
    time: u32,
    /// Up to which time of each thread everything is before.
    clock: Vec<u32>,
    /// Its last step.
    last: u64,
    has_ended: bool,
    is_touched: bool,
}

/// What constrains schedules.
pub struct Constraining {
    /// By pages: which words do, and which are accessed by several threads.
    pages: FxHashMap<u64, (Bits, Bits)>,
    /// Steps that others count, in order.
    pub(super) anchors: Vec<u64>,
    /// All of it.
    pub(super) everything: bool,
}

type Bits = [u64; WORDS / 64];

struct Pages {
    numbers: FxHashMap<u64, u32>,
    cells: Vec<[u32; WORDS]>,
    /// Pages for which there is no room: the flags, and the thread that accesses them.
    coarse: Vec<u32>,
    /// How many others there may be.
    most: usize,
    /// The page that was looked at last, and its number.
    last: Option<(u64, u32)>,
}

impl Default for Pages {
    fn default() -> Self {
        Pages {
            numbers: FxHashMap::default(),
            cells: Vec::new(),
            coarse: Vec::new(),
            most: usize::MAX,
            last: None,
        }
    }
}

impl Pages {
    #[inline]
    fn cell(&mut self, word: u64) -> &mut u32 {
        let page = word / WORDS as u64;
        let number = match self.last {
            Some((last, number)) if last == page => number,
            _ => self.find(page),
        };
        match number & COARSE {
            0 => &mut self.cells[number as usize][word as usize % WORDS],
            _ => &mut self.coarse[(number & !COARSE) as usize],
        }
    }

    /// Whether the word that was looked at last is in a page of which no words are told apart.
    #[inline]
    fn was_coarse(&self) -> bool {
        self.last.is_some_and(|(_, number)| number & COARSE != 0)
    }

    fn find(&mut self, page: u64) -> u32 {
        let is_full = self.cells.len() >= self.most;
        let next = match is_full {
            true => self.coarse.len() as u32 | COARSE,
            false => self.cells.len() as u32,
        };
        let number = *self.numbers.entry(page).or_insert(next);
        match number == next {
            true if is_full => self.coarse.push(0),
            true => self.cells.push([0; WORDS]),
            false => {}
        }
        self.last = Some((page, number));
        number
    }

    /// The parts of a range of words that lie in pages that there are.
    fn known(
        &self,
        range: RangeInclusive<u64>,
    ) -> impl Iterator<Item = RangeInclusive<u64>> + use<> {
        let pages = range.start() / WORDS as u64..=range.end() / WORDS as u64;
        let there: Vec<u64> = match pages.end() - pages.start() < self.numbers.len() as u64 {
            true => pages
                .filter(|page| self.numbers.contains_key(page))
                .collect(),
            false => {
                let known = self.numbers.keys().copied();
                known.filter(|page| pages.contains(page)).collect()
            }
        };
        there.into_iter().map(move |page| {
            let first = page * WORDS as u64;
            first.max(*range.start())..=(first + WORDS as u64 - 1).min(*range.end())
        })
    }
}

impl Survey {
    /// Of memory that does not fit into so many bytes whole pages are looked at instead of words.
    pub fn within(bytes: usize) -> Self {
        let mut survey = Survey::default();
        survey.pages.most = bytes / size_of::<[u32; WORDS]>();
        survey
    }

    /// The same for a trace whose barriers order nothing in every schedule.
    pub fn without_barriers(mut self) -> Self {
        self.ignores_barriers = true;
        self
    }

    /// Whether a barrier was used in a way that lets its rounds be others in other schedules. What the survey has shown is nothing then: the
    /// trace has to be read again [without](Survey::without_barriers) barriers.
    pub fn is_misled(&self) -> bool {
        self.is_misled
    }

    /// The next step. `is_skippable`: it belongs to what a schedule may leave out, and so has to be kept.
    pub fn step(&mut self, step: &Step, is_skippable: bool) {
        let event = &step.event;
        let (thread, op) = (event.thread().0, event.op());
        self.thread(thread);
        match op {
            Op::Lost => self.has_gaps = true,
            Op::ExternalWrite => {
                self.keep_last_of_others(thread);
                words(event.addr().0, event.size()).for_each(|word| self.keep(word));
                self.link(step);
            }
            op if op.is_access() => {
                let is_kept = op.is_atomic() || is_skippable;
                for word in words(event.addr().0, event.size()) {
                    match is_kept {
                        true => self.keep(word),
                        false => self.access(word, thread, op.writes()),
                    }
                }
                self.link(step);
            }
            Op::Alloc => self.alloc(step, is_skippable),
            Op::Free => self.free(step, is_skippable),
            Op::Fork => self.fork(thread, event.peer().0),
            Op::Join => self.join(thread, event.peer().0),
            Op::Init | Op::BarrierEnter | Op::BarrierExit if !self.ignores_barriers => {
                self.is_misled |= self.barrier(step).is_err();
            }
            _ => {}
        }
        if let Some(cancelled) = step.cancels() {
            let last = self
                .threads
                .get(cancelled.index())
                .map(|thread| thread.last);
            self.anchors.extend(last);
        }
        let count = self.count;
        let state = self.thread(thread);
        state.last = count;
        state.has_ended = op == Op::End;
        if !std::mem::replace(&mut state.is_touched, true) {
            self.touched.push(thread);
        }
        self.count += 1;
    }

    fn thread(&mut self, number: u32) -> &mut Thread {
        if number as usize >= self.threads.len() {
            self.threads
                .resize_with(number as usize + 1, Thread::default);
        }
        let thread = &mut self.threads[number as usize];
        thread.time = thread.time.max(1);
        thread
    }

    fn now(&self, thread: u32) -> Moment {
        let time = self.threads[thread as usize].time;
        Moment { thread, time }
    }

    fn keep(&mut self, word: u64) {
        *self.pages.cell(word) |= KEPT;
    }

    /// An access to several words holds them together.
    fn link(&mut self, step: &Step) {
        let all = words(step.event.addr().0, step.event.size());
        for word in *all.start()..*all.end() {
            self.pages.cell(word);
            let is_last = (word + 1) % WORDS as u64 == 0;
            // The words of a coarse page hang together anyway.
            if is_last || !self.pages.was_coarse() {
                *self.pages.cell(word) |= LINKED;
            }
        }
    }

    #[inline]
    fn access(&mut self, word: u64, thread: u32, writes: bool) {
        let cell = *self.pages.cell(word);
        if cell & KEPT != 0 {
            return;
        }
        if self.pages.was_coarse() {
            return self.access_coarse(word, thread);
        }
        let now = self.now(thread);
        let mut history = cell & HISTORY;
        // Whoever allocates a block writes to it.
        if history == NEW
            && let Some(block) = self.blocks.before((word << 3) + 7)
            && word << 3 < block.end()
        {
            history = self.histories.next(NEW, block.what, true, |_| true).history;
        }
        let clock = &self.threads[thread as usize].clock;
        let is_before = |other: Moment| clock.get(other.thread as usize) >= Some(&other.time);
        let next = self.histories.next(history, now, writes, is_before);
        let flags = cell & !HISTORY
            | if next.has_several { SEVERAL } else { 0 }
            | if next.is_unordered { KEPT } else { 0 };
        *self.pages.cell(word) = flags | next.history;
        if self.histories.is_full() && !self.is_crowded {
            let words = self.pages.cells.iter_mut().flatten();
            self.is_crowded = !self.histories.keep(words, HISTORY);
        }
    }

    /// A thread accesses a page of which no words are told apart: they constrain schedules if several do.
    #[cold]
    fn access_coarse(&mut self, word: u64, thread: u32) {
        let block = self.blocks.before((word << 3) + 7);
        let maker = block.filter(|block| word << 3 < block.end());
        let maker = maker.map(|block| block.what.thread);
        self.has_gaps |= self.pages.coarse.len() >= MOST_COARSE;
        let cell = self.pages.cell(word);
        let (owner, mine) = (*cell & HISTORY, thread + 1);
        let is_foreign = maker.is_some_and(|maker| maker != thread);
        match is_foreign || owner != 0 && owner != mine {
            true => *cell |= KEPT | SEVERAL,
            false => *cell |= mine,
        }
    }

    /// A new block has no history; words that lie in it in part keep theirs.
    fn alloc(&mut self, step: &Step, is_kept: bool) {
        let (start, bytes) = (step.event.addr().0, step.written().unwrap_or(0).max(1));
        let end = start.saturating_add(bytes);
        self.blocks.remove_within(start, end);
        let now = self.now(step.event.thread().0);
        self.blocks.insert(start, bytes, now);
        let (first, behind) = (start.div_ceil(8), end >> 3);
        if first < behind {
            for words in self.pages.known(first..=behind - 1) {
                self.pages.cell(*words.start());
                match self.pages.was_coarse() {
                    true => self.access_coarse(*words.start(), now.thread),
                    false => words.for_each(|word| *self.pages.cell(word) &= !HISTORY),
                }
            }
        }
        if is_kept {
            self.keep(start >> 3);
        }
    }

    /// Whoever releases a block writes to all of it that was accessed.
    fn free(&mut self, step: &Step, is_kept: bool) {
        let (start, thread) = (step.event.addr().0, step.event.thread().0);
        if is_kept {
            self.keep(start >> 3);
        }
        let Some(block) = self.blocks.remove(start) else {
            return self.access(start >> 3, thread, true);
        };
        let (end, made) = (block.end(), block.what);
        let clock = &self.threads[thread as usize].clock;
        let is_ordered =
            made.thread == thread || clock.get(made.thread as usize) >= Some(&made.time);
        if !is_ordered {
            self.keep(start >> 3);
        }
        for words in self.pages.known(start >> 3..=(end - 1) >> 3) {
            self.pages.cell(*words.start());
            if self.pages.was_coarse() {
                self.access_coarse(*words.start(), thread);
                continue;
            }
            for word in words {
                if *self.pages.cell(word) & HISTORY != NEW {
                    self.access(word, thread, true);
                }
            }
        }
    }

    fn fork(&mut self, parent: u32, child: u32) {
        let now = self.now(parent);
        let clock = self.threads[parent as usize].clock.clone();
        self.know(child, &clock, now);
        self.thread(parent).time += 1;
    }

    fn join(&mut self, parent: u32, child: u32) {
        self.thread(child);
        let (now, clock) = (self.now(child), self.threads[child as usize].clock.clone());
        self.know(parent, &clock, now);
        let child = &self.threads[child as usize];
        if !child.has_ended {
            self.anchors.push(child.last);
        }
    }

    /// A barrier is made, or a thread comes to it or leaves it.
    fn barrier(&mut self, step: &Step) -> Result<(), Unclear> {
        let (thread, object) = (step.event.thread().0, step.event.target());
        let known = self.barriers.contains_key(&object);
        match step.event.op() {
            Op::Init if !known && step.written().is_none() => Ok(()),
            Op::Init => {
                let rounds = self.barriers.entry(object).or_default();
                rounds.init(step.written())
            }
            Op::BarrierEnter => {
                let (now, mut clock) = (
                    self.now(thread),
                    self.threads[thread as usize].clock.clone(),
                );
                let length = clock.len().max(thread as usize + 1);
                clock.resize(length, 0);
                clock[thread as usize] = now.time;
                self.thread(thread).time += 1;
                let rounds = self.barriers.entry(object).or_default();
                rounds.enter(thread, &clock)
            }
            _ => {
                let rounds = self.barriers.entry(object).or_default();
                let clock = rounds.exit(thread)?;
                self.know(thread, &clock, Moment { thread, time: 0 });
                Ok(())
            }
        }
    }

    /// All up to a moment is before what a thread does from now on, which is another time: what is known of a time is remembered.
    fn know(&mut self, thread: u32, clock: &[u32], moment: Moment) {
        let mine = self.thread(thread);
        mine.time += 1;
        let length = clock.len().max(moment.thread as usize + 1);
        if mine.clock.len() < length {
            mine.clock.resize(length, 0);
        }
        for (mine, theirs) in mine.clock.iter_mut().zip(clock) {
            *mine = (*mine).max(*theirs);
        }
        let known = &mut mine.clock[moment.thread as usize];
        *known = (*known).max(moment.time);
    }

    /// An external write asks how far all others are.
    fn keep_last_of_others(&mut self, thread: u32) {
        for other in std::mem::take(&mut self.touched) {
            if other == thread {
                self.touched.push(other);
                continue;
            }
            let other = &mut self.threads[other as usize];
            other.is_touched = false;
            self.anchors.push(other.last);
        }
        if self.anchors.len() >= MOST_ANCHORS {
            self.anchors.clear();
            self.has_gaps = true;
        }
    }

    /// What it has shown.
    pub fn finish(mut self) -> Constraining {
        self.anchors.extend(
            self.threads
                .iter()
                .filter(|it| it.time > 0)
                .map(|it| it.last),
        );
        self.anchors.sort_unstable();
        self.anchors.dedup();
        self.spread();
        let mut pages = FxHashMap::default();
        for (page, number) in &self.pages.numbers {
            let (mut kept, mut several) = (Bits::default(), Bits::default());
            if number & COARSE != 0 {
                if self.pages.coarse[(number & !COARSE) as usize] & KEPT != 0 {
                    let all = [u64::MAX; WORDS / 64];
                    pages.insert(*page, (all, all));
                }
                continue;
            }
            for (at, cell) in self.pages.cells[*number as usize].iter().enumerate() {
                kept[at / 64] |= u64::from(cell & KEPT != 0) << (at % 64);
                several[at / 64] |= u64::from(cell & SEVERAL != 0) << (at % 64);
            }
            if kept != Bits::default() || several != Bits::default() {
                pages.insert(*page, (kept, several));
            }
        }
        let everything = self.has_gaps || pages.len() > MOST_KEPT;
        if everything {
            (pages, self.anchors) = Default::default();
        }
        Constraining {
            pages,
            anchors: self.anchors,
            everything,
        }
    }

    /// Words that hang together are all kept or none.
    fn spread(&mut self) {
        let mut pages: Vec<u64> = self.pages.numbers.keys().copied().collect();
        pages.sort_unstable();
        let (mut together, mut is_kept): (Vec<u64>, bool) = (Vec::new(), false);
        for page in pages {
            let first = page * WORDS as u64;
            self.pages.cell(first);
            let words = match self.pages.was_coarse() {
                true => first..first + 1,
                false => first..first + WORDS as u64,
            };
            for word in words {
                let cell = *self.pages.cell(word);
                is_kept |= cell & KEPT != 0;
                if cell & LINKED != 0 {
                    together.push(word);
                    continue;
                }
                if is_kept && !together.is_empty() {
                    self.keep(word);
                    together.iter().for_each(|word| self.keep(*word));
                }
                together.clear();
                is_kept = false;
            }
        }
    }
}

impl Constraining {
    /// Whether accesses to these bytes constrain schedules.
    #[inline]
    pub(super) fn has(&self, addr: u64, size: u64) -> bool {
        self.everything || words(addr, size).any(|word| self.bit(word, |(kept, _)| kept))
    }

    /// Whether several threads access some of these bytes.
    pub(super) fn has_several(&self, addr: u64, size: u64) -> bool {
        words(addr, size).any(|word| self.bit(word, |(_, several)| several))
    }

    /// The same as `has` for a range that may be long.
    pub(super) fn has_any(&self, addr: u64, size: u64) -> bool {
        let all = words(addr, size);
        let pages = all.start() / WORDS as u64..=all.end() / WORDS as u64;
        if pages.end() - pages.start() < self.pages.len() as u64 {
            let mut pages = pages.filter(|page| self.pages.contains_key(page));
            return self.everything || pages.any(|page| self.has_in(page, &all));
        }
        let known = self.pages.keys().filter(|page| pages.contains(page));
        let known: FxHashSet<u64> = known.copied().collect();
        self.everything || known.into_iter().any(|page| self.has_in(page, &all))
    }

    fn has_in(&self, page: u64, range: &RangeInclusive<u64>) -> bool {
        let first = page * WORDS as u64;
        let mut inside = first.max(*range.start())..=(first + WORDS as u64 - 1).min(*range.end());
        inside.any(|word| self.bit(word, |(kept, _)| kept))
    }

    #[inline]
    fn bit(&self, word: u64, of: impl Fn(&(Bits, Bits)) -> &Bits) -> bool {
        let page = self.pages.get(&(word / WORDS as u64));
        let at = word as usize % WORDS;
        page.is_some_and(|page| of(page)[at / 64] >> (at % 64) & 1 != 0)
    }
}
