//! Which variables were in conflicts lately: a heap with the liveliest on top (VSIDS).

const ABSENT: u32 = u32::MAX;
const DECAY: f64 = 0.95;
const TOO_BIG: f64 = 1e100;

/// Activity scores of all variables, and a heap of those that may be decided.
pub(crate) struct Activity {
    scores: Vec<f64>,
    heap: Vec<u32>,
    places: Vec<u32>,
    step: f64,
}

impl Activity {
    pub fn new() -> Activity {
        Activity {
            scores: Vec::new(),
            heap: Vec::new(),
            places: Vec::new(),
            step: 1.0,
        }
    }

    /// Takes in the next variable, which is not in the heap yet.
    pub fn add_variable(&mut self) {
        self.scores.push(0.0);
        self.places.push(ABSENT);
    }

    pub fn score(&self, variable: usize) -> f64 {
        self.scores[variable]
    }

    pub fn insert(&mut self, variable: u32) {
        if self.places[variable as usize] == ABSENT {
            self.heap.push(variable);
            self.rise(self.heap.len() - 1);
        }
    }

    pub fn pop(&mut self) -> Option<u32> {
        let last = self.heap.pop()?;
        let Some(&top) = self.heap.first() else {
            self.places[last as usize] = ABSENT;
            return Some(last);
        };
        self.places[top as usize] = ABSENT;
        self.heap[0] = last;
        self.sink(0);
        Some(top)
    }

    pub fn bump(&mut self, variable: usize) {
        self.scores[variable] += self.step;
        if self.scores[variable] > TOO_BIG {
            for score in &mut self.scores {
                *score /= TOO_BIG;
            }
            self.step /= TOO_BIG;
        }
        let place = self.places[variable];
        if place != ABSENT {
            self.rise(place as usize);
        }
    }

    pub fn decay(&mut self) {
        self.step /= DECAY;
    }

    /// Drops all but the first `variables` variables.
    pub fn truncate(&mut self, variables: usize) {
        self.scores.truncate(variables);
        self.places.clear();
        self.places.resize(variables, ABSENT);
        let old = std::mem::take(&mut self.heap);
        for variable in old {
            if (variable as usize) < variables {
                self.insert(variable);
            }
        }
    }

    fn livelier(&self, a: u32, b: u32) -> bool {
        self.scores[a as usize] > self.scores[b as usize]
    }

    fn put(&mut self, place: usize, variable: u32) {
        self.heap[place] = variable;
        self.places[variable as usize] = place as u32;
    }

    fn rise(&mut self, mut place: usize) {
        let variable = self.heap[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            if !self.livelier(variable, self.heap[parent]) {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, variable);
    }

    fn sink(&mut self, mut place: usize) {
        let variable = self.heap[place];
        loop {
            let mut child = 2 * place + 1;
            if child >= self.heap.len() {
                break;
            }
            if child + 1 < self.heap.len() && self.livelier(self.heap[child + 1], self.heap[child])
            {
                child += 1;
            }
            if !self.livelier(self.heap[child], variable) {
                break;
            }
            self.put(place, self.heap[child]);
            place = child;
        }
        self.put(place, variable);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_liveliest_comes_first() {
        let mut activity = Activity::new();
        for variable in 0..5 {
            activity.add_variable();
            activity.insert(variable);
        }
        for (variable, times) in [(3, 4), (1, 3), (4, 2), (0, 1)] {
            for _ in 0..times {
                activity.bump(variable);
            }
        }
        let order: Vec<u32> = std::iter::from_fn(|| activity.pop()).collect();
        assert_eq!(order, [3, 1, 4, 0, 2]);
    }

    #[test]
    fn dropped_variables_leave_the_heap() {
        let mut activity = Activity::new();
        for variable in 0..4 {
            activity.add_variable();
            activity.insert(variable);
        }
        activity.bump(3);
        activity.bump(1);
        activity.truncate(3);
        assert_eq!(activity.pop(), Some(1));
        activity.insert(1);
        assert_eq!(activity.pop(), Some(1));
    }
}
