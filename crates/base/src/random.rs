//! Streams of random numbers that are derived from one seed. Each purpose has its own stream, so that all policies are simulated
//! with the same workload and the same load.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};
use sha2::{Digest, Sha256};

/// The purpose of a stream of random numbers. Streams with the same seed and different purposes contain different numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamPurpose {
    /// The random decisions of a policy.
    PolicyDecisions,
    /// The work per process in the application `synthetic`.
    ProcessWork,
    /// The gradual change (drift) of the work of each process in the application `synthetic`, from the first superstep to the
    /// last.
    WorkDrift,
    /// The receivers and sizes of the messages in the application `synthetic`.
    MessagePattern,
    /// The background load of each host.
    HostLoad,
    /// The background load of each link.
    LinkLoad,
    /// The size of the memory of each process in the application `synthetic`.
    ProcessMemory,
    /// The errors and losses of the reports that processes send and on which policies base their decisions.
    ProcessReports = 20,
    /// The errors and losses of the reports about the load of hosts, on which policies base their decisions.
    LoadReports = 21,
    /// The random disturbances of the computation of processes (noise).
    ComputationNoise = 22,
    /// The random selection of those settings of a sweep that are run.
    SweepSampling = 100,
    /// The settings at which the automatic search for good settings of a policy starts.
    TuningStart = 101,
    /// The random changes in the search for the best migrations of a run whose supersteps are all known in advance.
    MigrationSearch = 102,
    /// The parameters of each case of a benchmark suite.
    BenchmarkCases = 103,
    /// The random resampling of cases for bootstrap confidence intervals.
    BootstrapResampling = 104,
}

/// A stream of random numbers (`ChaCha8`); the same seed and purpose yield the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// Creates the stream for `seed` and `purpose`.
    pub fn new(seed: u64, purpose: StreamPurpose) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(purpose as u64);
        Self(generator)
    }

    /// Creates the stream for `seed`, `purpose` and one superstep; streams of different supersteps are independent.
    pub fn for_superstep(seed: u64, purpose: StreamPurpose, superstep: u64) -> Self {
        let mut stream = Self::new(seed, purpose);
        // 2^36 words for each superstep: 2^32 blocks, more than any superstep draws.
        stream.0.set_word_pos(u128::from(superstep) << 36);
        stream
    }

    /// Creates the stream for `seed`, `purpose` and the object named `name`, such as a host. Streams of different objects are
    /// independent, because the key of each stream is a hash of the seed and the name.
    pub fn for_object(seed: u64, purpose: StreamPurpose, name: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update(seed.to_le_bytes());
        hash.update(name.as_bytes());
        let mut generator = ChaCha8Rng::from_seed(hash.finalize().into());
        generator.set_stream(purpose as u64);
        Self(generator)
    }

    /// Draws a uniform random integer of 64 bits.
    #[inline]
    pub fn draw_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draws a uniform random number that is greater than 0 and at most 1, a multiple of 2^-53.
    #[inline]
    pub fn draw_from_zero_to_one(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Draws a uniform random number from -1 to 1, a multiple of 2^-52.
    #[inline]
    pub fn draw_from_minus_one_to_one(&mut self) -> f64 {
        let bits = self.0.next_u64() >> 11;
        bits as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Draws a uniform random integer from 0 to `bound` - 1. If `bound` is 0, the result is 0.
    #[inline]
    pub fn draw_below(&mut self, bound: usize) -> usize {
        let below = self.draw_below_u64(bound as u64);
        usize::try_from(below).expect("less than the bound, which is a usize")
    }

    /// Draws a uniform random integer from 0 to `bound` - 1, for bounds of up to 64 bits on every machine.
    #[inline]
    pub fn draw_below_u64(&mut self, bound: u64) -> u64 {
        // Multiply-shift: the bias is below bound / 2^64.
        let wide = u128::from(self.0.next_u64()) * u128::from(bound);
        u64::try_from(wide >> 64).expect("less than the bound, which has 64 bits")
    }
}

/// Rounds the result of a mathematical function to a multiple of 2^-40. Mathematical libraries that differ in the last bit of the
/// result then yield the same value.
pub fn round_portably(value: f64) -> f64 {
    const GRID: f64 = (1_u64 << 40) as f64;
    (value * GRID).round() / GRID
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        let mut stream = Stream::new(1, StreamPurpose::PolicyDecisions);
        let numbers: Vec<usize> = (0..4).map(|_| stream.draw_below(1000)).collect();
        assert_eq!(numbers, [402, 80, 596, 219]);
    }
}
