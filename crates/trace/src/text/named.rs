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

    /// What a short name stands for, as bytes that need not be text; `None` if that is not known.
    #[inline]
    pub fn get_short(&self, name: &[u8]) -> Option<&V> {
        self.short.get(&packed_bytes(name)?)
    }

    /// From now on it stands for this.
    pub fn insert(&mut self, name: &str, value: V) {
        match packed(name) {
            Some(short) => drop(self.short.insert(short, value)),
            None => drop(self.long.insert(name.into(), value)),
        }
    }
}

/// A short name as a number.
#[inline]
fn packed(name: &str) -> Option<u128> {
    packed_bytes(name.as_bytes())
}

/// Its bytes, and in the last one its length.
#[inline]
fn packed_bytes(bytes: &[u8]) -> Option<u128> {
    let length = bytes.len();
    if length > SHORT {
        return None;
    }
    // The last bytes are read together with some that are known already, which are shifted out.
    let number = if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let last = u64::from_le_bytes(*last).unbounded_shr(8 * (16 - length as u32));
        u128::from(u64::from_le_bytes(*first)) | u128::from(last) << 64
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let last = u32::from_le_bytes(*last).unbounded_shr(8 * (8 - length as u32));
        u128::from(u32::from_le_bytes(*first)) | u128::from(last) << 32
    } else {
        let all = bytes.iter().rev();
        all.fold(0, |number, byte| number << 8 | u128::from(*byte))
    };
    Some(number | (length as u128) << 120)
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
            let short = named.get_short(name.as_bytes());
            assert_eq!(short, Some(&number).filter(|_| name.len() <= SHORT));
        }
    }

    #[test]
    fn a_byte_makes_another_name() {
        let mut all = std::collections::HashSet::new();
        for length in 0..=SHORT {
            let name: Vec<u8> = (1..=length as u8).collect();
            assert!(all.insert(packed_bytes(&name)));
            for at in 0..length {
                let mut other = name.clone();
                other[at] = 0xFF;
                assert!(all.insert(packed_bytes(&other)), "{length} {at}");
            }
        }
        assert_eq!(packed_bytes(&[0; SHORT + 1]), None);
    }
}
