//! Settings of the network model that consist of several values: how flows are weighted, and factors that depend on the size of a
//! message.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use migsim_base::{error::Problem, units::Bytes};

/// Rule that sets the weights of flows that share a link, and so the parts of the capacity that they get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// The weight depends on the latency of the route: a flow with a longer latency gets a smaller share of a link.
    #[default]
    Latency,
    /// All flows get equal shares of a link, as on networks where packets wait longer in queues than they travel on links.
    Equal,
}

/// Factors by which latency and bandwidth are multiplied for all messages of a minimum size or more.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeFactor {
    /// Minimum size of the messages to which the factors apply.
    pub from: Bytes,
    /// Factor by which the latency for these messages is multiplied, in addition to `latency_factor`.
    #[serde(default = "one")]
    pub latency: f64,
    /// Factor by which the bandwidth for these messages is multiplied, in addition to `bandwidth_factor`.
    #[serde(default = "one")]
    pub bandwidth: f64,
}

fn one() -> f64 {
    1.0
}

const NO_FACTOR: SizeFactor = SizeFactor {
    from: Bytes::ZERO,
    latency: 1.0,
    bandwidth: 1.0,
};

/// Maximum number of message sizes for which factors can be given.
const MAX_SIZE_FACTORS: usize = 4;

/// Factors of latency and bandwidth that depend on the size of a message, in increasing order of minimum sizes. Both factors are
/// 1 for messages below the first minimum size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeFactors {
    size_factors: [SizeFactor; MAX_SIZE_FACTORS],
    factor_count: usize,
}

impl SizeFactors {
    /// The empty list of factors, with which latency and bandwidth are not changed.
    pub const NONE: Self = Self {
        size_factors: [NO_FACTOR; MAX_SIZE_FACTORS],
        factor_count: 0,
    };

    /// Creates the size-dependent factors from a list in increasing order of minimum sizes.
    ///
    /// # Errors
    /// There are too many factors, their sizes do not increase, or a factor is not positive.
    pub fn new(factors: &[SizeFactor]) -> Result<Self, Problem> {
        if factors.len() > MAX_SIZE_FACTORS {
            let count = factors.len();
            return Err(Problem::new(format!(
                "the list `factors` (factors by message size) has {count} entries, which is too many"
            ))
            .hint(format!("give at most {MAX_SIZE_FACTORS} entries")));
        }
        let rises = factors.is_sorted_by(|a, b| a.from < b.from);
        let is_factor = |value: f64| value.is_finite() && value > 0.0;
        let are_factors = factors
            .iter()
            .all(|f| is_factor(f.latency) && is_factor(f.bandwidth));
        if !rises || !are_factors {
            return Err(Problem::new(
                "in the list `factors` the sizes `from` do not increase from entry to entry, or a factor is not positive",
            )
            .hint("sort the entries by increasing `from`, and write factors above 0"));
        }
        let mut all = Self::NONE;
        all.size_factors[..factors.len()].copy_from_slice(factors);
        all.factor_count = factors.len();
        Ok(all)
    }

    /// Whether the list of factors is empty, so that no factor depends on the size of a message.
    pub(super) fn is_empty(&self) -> bool {
        self.factor_count == 0
    }

    /// Returns the factors of latency and bandwidth that apply to a message of `bytes` bytes.
    pub(super) fn factors_for_bytes(&self, bytes: f64) -> &SizeFactor {
        let mut steps = self.size_factors[..self.factor_count]
            .iter()
            .rev()
            .skip_while(|step| step.from.get() > bytes);
        steps.next().unwrap_or(&NO_FACTOR)
    }

    /// Returns the largest bandwidth factor for any size of message; at least 1.
    pub(super) fn largest_bandwidth_factor(&self) -> f64 {
        self.size_factors[..self.factor_count]
            .iter()
            .map(|step| step.bandwidth)
            .fold(1.0, f64::max)
    }
}

impl Default for SizeFactors {
    fn default() -> Self {
        Self::NONE
    }
}

impl Serialize for SizeFactors {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.size_factors[..self.factor_count].serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SizeFactors {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let steps = Vec::<SizeFactor>::deserialize(deserializer)?;
        Self::new(&steps).map_err(|problem| serde::de::Error::custom(problem.message))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Factors of latency and bandwidth from sizes on.
    pub(crate) fn factors(steps: &[(f64, f64, f64)]) -> SizeFactors {
        let steps: Vec<SizeFactor> = steps
            .iter()
            .map(|&(from, latency, bandwidth)| SizeFactor {
                from: Bytes::of(from),
                latency,
                bandwidth,
            })
            .collect();
        SizeFactors::new(&steps).unwrap()
    }

    #[test]
    fn factors_that_make_no_sense_are_refused() {
        let step = |from: f64, latency: f64| SizeFactor {
            from: Bytes::of(from),
            latency,
            bandwidth: 1.0,
        };
        assert!(SizeFactors::new(&[step(1.0, 1.0), step(1.0, 1.0)]).is_err());
        assert!(SizeFactors::new(&[step(1.0, 0.0)]).is_err());
        assert!(SizeFactors::new(&[step(1.0, 1.0); 5]).is_err());
        let text = r#"[{"from":"1 KiB","latency":2.0,"bandwidth":0.5}]"#;
        let read: SizeFactors = serde_json::from_str(text).unwrap();
        assert_eq!(read, factors(&[(1024.0, 2.0, 0.5)]));
    }
}
