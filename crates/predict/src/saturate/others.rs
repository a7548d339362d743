//! Givers of tokens; ends of lives, and of the reasons of refused attempts.

use super::{Impossible, Saturation};
use crate::model::NONE;
use crate::question::Question;

impl<'m, 'w> Saturation<'m, 'w> {
    /// Who needs a giver and has only one left gets that.
    pub(super) fn token_rule(&mut self, question: &Question<'m, 'w>) -> Result<bool, Impossible> {
        let model = self.model;
        let mut changed = false;
        for consumer in &model.tokens.consumers {
            if !self.is_in(consumer.event) {
                continue;
            }
            let object = &model.tokens.objects[consumer.object as usize];
            if object.at_border > 0 {
                continue;
            }
            let mut givers = object.givers.iter().filter(|(giver, _)| {
                let thread = model.thread(*giver);
                let can_be = model.index(*giver) < question.most[thread];
                let is_after = model.is_before(consumer.event, *giver)
                    || self.is_in(*giver) && self.must(consumer.event, *giver);
                let is_too_early = consumer.since != NONE
                    && (*giver == consumer.since || self.must(*giver, consumer.since));
                can_be && !is_after && !is_too_early
            });
            match (givers.next(), givers.next()) {
                (None, _) => return Err(Impossible),
                (Some((giver, _)), None) => {
                    let giver = *giver;
                    changed |= self.add_edge(giver, consumer.event)?;
                    if consumer.since != NONE {
                        changed |= self.add_edge(consumer.since, giver)?;
                    }
                }
                _ => {}
            }
        }
        Ok(changed)
    }

    /// What is used is used before its end; an attempt is refused before what made it fail ends.
    pub(super) fn end_rule(&mut self) -> Result<bool, Impossible> {
        let model = self.model;
        let mut changed = false;
        for end in model.ends() {
            if !self.is_in(end.event) {
                continue;
            }
            for (thread, uses) in &end.uses {
                let executed = self.entered[*thread as usize];
                let used = uses.partition_point(|event| model.index(*event) < executed);
                if let Some(last) = used.checked_sub(1) {
                    changed |= self.add_edge(uses[last], end.event)?;
                }
            }
        }
        Ok(changed)
    }
}
