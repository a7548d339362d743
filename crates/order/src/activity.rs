//! Which variables were in conflicts lately (VSIDS).

const DECAY: f64 = 0.95;
const TOO_BIG: f64 = 1e100;

/// Activity scores of all variables.
pub(crate) struct Activity {
    scores: Vec<f64>,
    step: f64,
}

impl Activity {
    pub fn new() -> Activity {
        Activity {
            scores: Vec::new(),
            step: 1.0,
        }
    }

    pub fn add_variable(&mut self) {
        self.scores.push(0.0);
    }

    pub fn score(&self, variable: usize) -> f64 {
        self.scores[variable]
    }

    /// The variable took part in a conflict.
    pub fn bump(&mut self, variable: usize) {
        self.scores[variable] += self.step;
        if self.scores[variable] > TOO_BIG {
            for score in &mut self.scores {
                *score /= TOO_BIG;
            }
            self.step /= TOO_BIG;
        }
    }

    /// What was before counts less from now on.
    pub fn decay(&mut self) {
        self.step /= DECAY;
    }

    /// Drops all but the first `variables` variables.
    pub fn truncate(&mut self, variables: usize) {
        self.scores.truncate(variables);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_conflicts_count_more() {
        let mut activity = Activity::new();
        for _ in 0..3 {
            activity.add_variable();
        }
        activity.bump(0);
        activity.decay();
        activity.bump(1);
        assert!(activity.score(1) > activity.score(0));
        for _ in 0..10_000 {
            activity.bump(1);
            activity.decay();
        }
        assert!(activity.score(1).is_finite());
        assert!(activity.score(1) > activity.score(0));
        assert!(activity.score(0) >= activity.score(2));
    }
}
