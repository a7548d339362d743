//! The checksum of headers and payloads: it detects accidents, it does not authenticate.

const LANES: usize = 4;
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// The checksum of `words`.
///
/// Each step (xor, multiplication by an odd number, rotation) is a bijection of its lane, so any
/// damage that is confined to one word is always noticed. Four independent lanes keep the
/// multiplier busy: about one word per cycle.
///
/// ```
/// assert_ne!(deadheat_wire::checksum(&[1, 2]), deadheat_wire::checksum(&[2, 1]));
/// ```
pub fn checksum(words: &[u64]) -> u64 {
    let mut lanes: [u64; LANES] = [1, 2, 3, 4];
    let mut chunks = words.chunks_exact(LANES);
    for chunk in &mut chunks {
        for (lane, word) in lanes.iter_mut().zip(chunk) {
            *lane = step(*lane, *word);
        }
    }
    for (lane, word) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane = step(*lane, *word);
    }
    let mut sum = words.len() as u64;
    for lane in lanes {
        sum = step(sum, lane);
    }
    sum ^ (sum >> 29)
}

#[inline(always)]
fn step(lane: u64, word: u64) -> u64 {
    (lane ^ word).wrapping_mul(MULTIPLIER).rotate_left(29)
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn every_single_bit_counts() {
        let words: Vec<u64> = (0..13u64).map(|i| i * 0x0123_4567_89AB_CDEF).collect();
        let clean = checksum(&words);
        for i in 0..words.len() {
            for bit in 0..64 {
                let mut damaged = words.clone();
                damaged[i] ^= 1 << bit;
                assert_ne!(clean, checksum(&damaged), "word {i}, bit {bit}");
            }
        }
    }

    #[test]
    fn length_and_order_count() {
        assert_ne!(checksum(&[]), checksum(&[0]));
        assert_ne!(checksum(&[0]), checksum(&[0, 0]));
        assert_ne!(checksum(&[1, 2, 3, 4, 5]), checksum(&[5, 2, 3, 4, 1]));
    }
}
