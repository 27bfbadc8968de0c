//! Seeded random numbers: one named stream per purpose, so that all policies face the same workload and load.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// The purpose of a stream of random numbers. For a given seed, each purpose has a different sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Decisions of a policy.
    Policy,
    /// The work of the processes of the application `synthetic`.
    Work,
    /// The change of that work from the first superstep to the last.
    Drift,
    /// Receivers and sizes of the messages of the application `synthetic`.
    Messages,
    /// The background load of hosts.
    HostLoad,
    /// The background load of links.
    LinkLoad,
    /// The memory of the processes of the application `synthetic`.
    Memory,
    /// The errors and losses of the reports of processes, which policies see.
    Reports = 20,
    /// The errors and losses of the reports of hosts about their load.
    LoadReports = 21,
    /// The choice of the settings of a sweep that are run.
    Sweep = 100,
    /// The settings with which a search starts.
    Tune = 101,
    /// The changes in a search for the best plan in hindsight.
    Search = 102,
    /// The parameters of a case of a suite.
    Suite = 103,
    /// The cases that a bootstrap resamples.
    Bootstrap = 104,
}

/// A portable stream of random numbers (ChaCha8): the same seed and purpose give the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// Creates the stream of `seed` for `purpose`.
    pub fn new(seed: u64, purpose: Purpose) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(purpose as u64);
        Self(generator)
    }

    /// Creates the stream of `seed` for superstep `superstep` of `purpose`, independent of the streams of other supersteps.
    pub fn at(seed: u64, purpose: Purpose, superstep: u64) -> Self {
        let mut stream = Self::new(seed, purpose);
        // 2^36 words for each superstep: 2^32 blocks, more than any superstep draws.
        stream.0.set_word_pos(u128::from(superstep) << 36);
        stream
    }

    /// Creates the stream of `seed` for the object `name` of `purpose`, independent of other objects: its key is a hash of seed and name.
    pub fn named(seed: u64, purpose: Purpose, name: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        hash.update(name.as_bytes());
        let mut generator = ChaCha8Rng::from_seed(hash.finalize().into());
        generator.set_stream(purpose as u64);
        Self(generator)
    }

    /// Draws 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draws a uniform number above 0 and at most 1, a multiple of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Draws a uniform number from -1 to 1, a multiple of 2^-52.
    #[inline]
    pub fn symmetric(&mut self) -> f64 {
        let bits = self.0.next_u64() >> 11;
        bits as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Draws a uniform integer from 0 to `bound` - 1; 0 if `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        let below = self.below_u64(bound as u64);
        usize::try_from(below).expect("less than the bound, which is a usize")
    }

    /// Draws a uniform integer below a bound of 64 bits.
    #[inline]
    pub fn below_u64(&mut self, bound: u64) -> u64 {
        // Multiply-shift: the bias is below bound / 2^64.
        let wide = u128::from(self.0.next_u64()) * u128::from(bound);
        u64::try_from(wide >> 64).expect("less than the bound, which has 64 bits")
    }
}

/// Rounds a value of the mathematical library to a multiple of 2^-40, so that libraries that differ in the last bit give the same value.
pub fn portable(value: f64) -> f64 {
    const GRID: f64 = (1_u64 << 40) as f64;
    (value * GRID).round() / GRID
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        let mut stream = Stream::new(1, Purpose::Policy);
        let numbers: Vec<usize> = (0..4).map(|_| stream.below(1000)).collect();
        assert_eq!(numbers, [402, 80, 596, 219]);
    }
}
