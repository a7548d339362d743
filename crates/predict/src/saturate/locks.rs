//! Critical sections: one after the other.

use super::{Impossible, Saturation};
use crate::model::NONE;
use crate::question::Question;

impl<'m, 'w> Saturation<'m, 'w> {
    /// The clock of a section's beginning or end has changed: sections of the same lock that began
    /// before that are over before this one begins.
    pub(super) fn lock_rule(
        &mut self,
        question: &Question<'m, 'w>,
        number: u32,
        event: u32,
    ) -> Result<(), Impossible> {
        let model = self.model;
        let section = model.locks.sections[number as usize];
        if section.acquire == NONE {
            return Ok(());
        }
        for (thread, sections) in &model.locks.of_lock[section.lock as usize] {
            if *thread == section.thread {
                continue;
            }
            // Began at the border in a thread that does nothing: it is never over.
            let known = match *thread {
                NONE => 0,
                thread => self.clock(event, thread as usize),
            };
            let began = sections.partition_point(|other| {
                let acquire = model.locks.sections[*other as usize].acquire;
                acquire == NONE || model.index(acquire) < known
            });
            // The last that excludes this one. Of a thread's own sections each is over before the next.
            let last = sections[..began].iter().rev();
            let mut excluding =
                last.filter(|other| section.excludes(&model.locks.sections[**other as usize]));
            if let Some(other) = excluding.next() {
                self.over_before(question, *other, section.acquire)?;
            }
        }
        Ok(())
    }

    fn over_before(
        &mut self,
        question: &Question<'m, 'w>,
        section: u32,
        acquire: u32,
    ) -> Result<bool, Impossible> {
        let release = self.model.locks.sections[section as usize].release;
        if release == NONE {
            return Err(Impossible);
        }
        let thread = self.model.thread(release);
        if self.model.index(release) >= question.most[thread] {
            return Err(Impossible);
        }
        self.add_edge(release, acquire)
    }

    /// Sections that are open at the cut: all others that are begun are over before them.
    pub(super) fn open_rule(&mut self, question: &Question<'m, 'w>) -> Result<bool, Impossible> {
        let model = self.model;
        let mut changed = false;
        for thread in 0..self.width {
            let most = question.most[thread];
            for number in model
                .locks
                .open(&model.threads, thread, self.entered[thread])
            {
                let section = model.locks.sections[*number as usize];
                let can_be_over = section.release != NONE && model.index(section.release) < most;
                if can_be_over || section.acquire == NONE {
                    continue;
                }
                for (other, sections) in &model.locks.of_lock[section.lock as usize] {
                    if *other as usize == thread {
                        continue;
                    }
                    let begun = match *other {
                        NONE => sections.len(),
                        other => sections.partition_point(|section| {
                            let acquire = model.locks.sections[*section as usize].acquire;
                            acquire == NONE || model.index(acquire) < self.entered[other as usize]
                        }),
                    };
                    let last = sections[..begun].iter().rev();
                    let mut excluding = last
                        .filter(|other| section.excludes(&model.locks.sections[**other as usize]));
                    if let Some(other) = excluding.next() {
                        changed |= self.over_before(question, *other, section.acquire)?;
                    }
                }
            }
        }
        Ok(changed)
    }
}
