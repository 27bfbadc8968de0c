//! The event hash: reduces the whole history of a run to one number, by which runs are compared.
//!
//! The hash covers every message (sender, receiver, bytes), the computation and communication of each process in each superstep,
//! the end of each superstep, and every rescheduling call and migration. Two runs with the same hash agree in all of these to the
//! last bit. The tests of determinism compare the hash: it is equal for any number of threads, any build profile and every
//! repetition.

use std::fmt;

/// A 128-bit hash of a sequence of numbers, updated as each number is added. The hash uses two lanes of multiply and rotate, and
/// is not safe against an adversary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventHash {
    hash_lanes: [u64; 2],
    entry_count: u64,
}

impl Default for EventHash {
    fn default() -> Self {
        // The fractional digits of the golden ratio and of the square root of 2: constants that were not chosen for an effect.
        Self {
            hash_lanes: [0x9e37_79b9_7f4a_7c15, 0x6a09_e667_f3bc_c909],
            entry_count: 0,
        }
    }
}

impl EventHash {
    /// Adds a time or a duration \[s\] to the hash, by its bits.
    pub fn add_time(&mut self, value: f64) {
        self.add_number(value.to_bits());
    }

    /// Adds the value of another hash to this hash, as two numbers.
    pub fn add_hash(&mut self, other: &Self) {
        self.add_number(other.hash_lanes[0]);
        self.add_number(other.hash_lanes[1]);
    }

    /// Adds two numbers to the hash in one step.
    pub fn add_number_pair(&mut self, first: u64, second: u64) {
        self.add_number(first.wrapping_mul(0x9fb2_1c65_1e98_df25).rotate_left(32) ^ second);
    }

    /// Adds a number to the hash, such as an identifier, a count, or a kind of event.
    pub fn add_number(&mut self, value: u64) {
        self.entry_count += 1;
        self.hash_lanes[0] = (self.hash_lanes[0] ^ value)
            .wrapping_mul(0xff51_afd7_ed55_8ccd)
            .rotate_left(29);
        self.hash_lanes[1] =
            (self.hash_lanes[1].rotate_left(23) ^ value).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    }
}

/// Writes the hash as 32 hexadecimal digits.
impl fmt::Display for EventHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut end = *self;
        let entries = end.entry_count;
        (0..4).for_each(|_| end.add_number(entries));
        write!(f, "{:016x}{:016x}", end.hash_lanes[0], end.hash_lanes[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_every_bit_count() {
        let hash = |dates: &[f64]| {
            let mut log = EventHash::default();
            for &date in dates {
                log.add_time(date);
            }
            log.to_string()
        };
        assert_eq!(hash(&[1.0, 2.0]), hash(&[1.0, 2.0]));
        assert_ne!(hash(&[1.0, 2.0]), hash(&[2.0, 1.0]));
        assert_ne!(hash(&[1.0]), hash(&[1.0 + f64::EPSILON]));
        assert_ne!(hash(&[]), hash(&[0.0]));
        let pair = |first, second| {
            let mut log = EventHash::default();
            log.add_number_pair(first, second);
            log.to_string()
        };
        assert_ne!(pair(1, 2), pair(2, 1));
        assert_ne!(pair(1, 2), pair(1, 3));
    }
}
