//! A map from names. Short ones, which most are, are kept as numbers: those need no memory of their own and are
//! compared at once.

use std::collections::HashMap;

use crate::hash::FastMap;

/// Bytes of a short name.
const SHORT: usize = 15;

/// What names stand for.
pub(super) struct Named<V> {
    short: FastMap<u128, V>,
    long: HashMap<Box<str>, V>,
}

impl<V> Default for Named<V> {
    fn default() -> Self {
        Named {
            short: FastMap::default(),
            long: HashMap::default(),
        }
    }
}

impl<V> Named<V> {
    /// What a name stands for.
    #[inline]
    pub fn get(&self, name: &str) -> Option<&V> {
        match packed(name) {
            Some(short) => self.short.get(&short),
            None => self.long.get(name),
        }
    }

    /// From now on it stands for this.
    pub fn insert(&mut self, name: &str, value: V) {
        match packed(name) {
            Some(short) => drop(self.short.insert(short, value)),
            None => drop(self.long.insert(name.into(), value)),
        }
    }
}

/// A short name as a number: its length, and before that its bytes.
#[inline]
fn packed(name: &str) -> Option<u128> {
    let bytes = name.as_bytes();
    if bytes.len() > SHORT {
        return None;
    }
    let mut number = bytes.len() as u128;
    for byte in bytes {
        number = number << 8 | u128::from(*byte);
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_lengths_are_told_apart() {
        let all: Vec<String> = (0..40)
            .flat_map(|length| ["x", "\0"].map(|letter| letter.repeat(length)))
            .skip(1)
            .collect();
        let mut named = Named::default();
        for (number, name) in all.iter().enumerate() {
            assert_eq!(named.get(name), None, "{name:?}");
            named.insert(name, number);
        }
        for (number, name) in all.iter().enumerate() {
            assert_eq!(named.get(name), Some(&number));
        }
    }
}
