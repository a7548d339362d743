//! Critical sections, and the order in which a lock has had them.
//!
//! The paper has two queues for every lock and pair of threads. Here a lock has one queue for all,
//! and every thread a cursor in it. Two facts make this enough, for sections that exclude each other:
//! what happens before a section's end grows from section to section, so of several ends that
//! lie before, the last one says it all; and if a section's beginning lies before some event, so do those of
//! all earlier sections.

use std::cell::OnceCell;
use std::collections::VecDeque;
use std::rc::Rc;

use deadheat_trace::ThreadId;

use crate::VectorClock;

/// How many sections a lock may have before it is asked which of them can leave.
const FEW: usize = if cfg!(test) { 1 } else { 64 };

/// A critical section.
#[derive(Debug)]
pub(super) struct Section {
    /// Whose.
    pub thread: ThreadId,
    /// The thread's time when it took the lock.
    pub begin: u32,
    /// The lock is held for reading only.
    pub shared: bool,
    end: OnceCell<End>,
}

/// The end of a section.
#[derive(Debug)]
struct End {
    /// The thread's time.
    time: u32,
    /// What happens before it, itself included.
    clock: VectorClock,
}

impl Section {
    /// One that begins.
    pub fn new(thread: ThreadId, begin: u32, shared: bool) -> Self {
        let end = OnceCell::new();
        Section {
            thread,
            begin,
            shared,
            end,
        }
    }

    /// Adds what happens before its end to what lies before.
    #[inline]
    pub fn add_end_to(&self, before: &mut VectorClock) {
        if let Some(end) = self.end.get()
            && before.get(self.thread) < end.time
        {
            before.join(&end.clock);
        }
    }

    /// It ends, with what happens before its end; if it has not ended already.
    pub fn close(&self, happens: &VectorClock) {
        let _ = self.end.set(End {
            time: happens.get(self.thread),
            clock: happens.clone(),
        });
    }

    /// Whether its beginning lies before.
    #[inline]
    fn begins_before(&self, before: &VectorClock) -> bool {
        self.begin <= before.get(self.thread)
    }
}

/// The sections of a lock, the oldest first, as far as some thread may still need them.
#[derive(Debug, Default)]
pub(super) struct Sections {
    exclusive: VecDeque<Rc<Section>>,
    /// How many have left the queue.
    left: usize,
    /// The last two of different threads that have left, the newest first.
    last_left: [Option<Rc<Section>>; 2],
    /// By thread, how many it has passed.
    cursors: Vec<usize>,
    /// Sections for reading, each with the number of exclusive ones before it.
    shared: VecDeque<(usize, Rc<Section>)>,
    trim_at: usize,
}

impl Sections {
    /// One more has begun.
    pub fn push(&mut self, section: Rc<Section>) {
        if section.shared {
            let number = self.left + self.exclusive.len();
            self.shared.push_back((number, section));
        } else {
            self.exclusive.push_back(section);
        }
    }

    /// A section of `thread` ends: the ends of all sections whose beginnings lie before, and that exclude
    /// it, lie before too (rule b of the paper).
    pub fn add_earlier(&mut self, thread: ThreadId, shared: bool, before: &mut VectorClock) {
        self.add_exclusive(thread, before);
        if !shared {
            self.add_shared(thread, before);
        }
    }

    fn add_exclusive(&mut self, thread: ThreadId, before: &mut VectorClock) {
        if thread.index() >= self.cursors.len() {
            self.cursors.resize(thread.index() + 1, 0);
        }
        let cursor = &mut self.cursors[thread.index()];
        let mut last = None;
        if *cursor < self.left {
            let left = self.last_left.iter().flatten();
            last = left.into_iter().find(|section| section.thread != thread);
            *cursor = self.left;
        }
        while let Some(section) = self.exclusive.get(*cursor - self.left) {
            if section.thread != thread {
                if !section.begins_before(before) || section.end.get().is_none() {
                    break;
                }
                last = Some(section);
            }
            *cursor += 1;
        }
        if let Some(section) = last {
            section.add_end_to(before);
        }
    }

    /// Sections for reading say nothing about each other if no exclusive one lies between them.
    fn add_shared(&mut self, thread: ThreadId, before: &mut VectorClock) {
        let mut stop = None;
        for (number, section) in &self.shared {
            if stop.is_some_and(|stop| *number > stop) {
                break;
            }
            if section.thread == thread {
                continue;
            }
            if section.begins_before(before) {
                section.add_end_to(before);
            } else {
                stop.get_or_insert(*number);
            }
        }
    }

    /// Lets those leave that all threads have before them, if there are many. `passed` says whether
    /// all threads but the given one have a time of it before them.
    pub fn trim(&mut self, passed: impl Fn(ThreadId, u32) -> bool) {
        if self.exclusive.len() + self.shared.len() < self.trim_at.max(FEW) {
            return;
        }
        while let Some(section) = self.exclusive.front()
            && section.end.get().is_some()
            && passed(section.thread, section.begin)
        {
            let section = self.exclusive.pop_front();
            self.left += 1;
            let [newest, older] = &mut self.last_left;
            let same = |a: &Option<Rc<Section>>, b: &Option<Rc<Section>>| {
                a.as_ref().map(|a| a.thread) == b.as_ref().map(|b| b.thread)
            };
            if !same(newest, &section) {
                *older = newest.take();
            }
            *newest = section;
        }
        // All of it is known to everybody: its end can add nothing.
        while let Some((_, section)) = self.shared.front()
            && let Some(end) = section.end.get()
            && passed(section.thread, end.time)
        {
            self.shared.pop_front();
        }
        self.trim_at = 2 * (self.exclusive.len() + self.shared.len());
    }

    /// About how many bytes it holds.
    pub fn memory(&self) -> usize {
        let exclusive = self.exclusive.iter();
        let all = exclusive.chain(self.shared.iter().map(|(_, section)| section));
        let one = |section: &Rc<Section>| {
            let end = section.end.get().map_or(0, |end| end.clock.memory());
            size_of::<Section>() + 3 * size_of::<usize>() + end
        };
        all.map(one).sum::<usize>() + self.cursors.capacity() * size_of::<usize>()
    }
}
