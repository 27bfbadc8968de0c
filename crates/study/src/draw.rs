//! Selects the settings of a sweep: all combinations of the parameters' values (grid), the values at the same position in the
//! list of each parameter (zip), or a random sample ([`StreamPurpose::SweepSampling`]).

use std::collections::BTreeSet;

use super::config::Combine;
use migsim_base::random::{Stream, StreamPurpose};

/// Returns the settings of a sweep, each as one index of a value per parameter. `counts` are the numbers of values of the
/// parameters, and `seed` is the seed of random samples.
///
/// The caller must have checked that each parameter has a value, that the settings fit into memory, and that for `zip` the counts
/// are equal.
pub(super) fn select_settings(combine: Combine, counts: &[u64], seed: u64) -> Vec<Vec<u64>> {
    match combine {
        Combine::Grid => (0..grid_size(counts))
            .map(|index| grid_setting(index, counts))
            .collect(),
        Combine::Zip => {
            let length = counts.iter().copied().max().unwrap_or(1);
            (0..length)
                .map(|index| {
                    counts
                        .iter()
                        .map(|&n| if n == 1 { 0 } else { index })
                        .collect()
                })
                .collect()
        }
        Combine::Random(wanted) => draw_random_settings(
            wanted,
            counts,
            &mut Stream::new(seed, StreamPurpose::SweepSampling),
        ),
        Combine::Latin(wanted) => draw_latin_hypercube(wanted, counts, seed),
    }
}

/// Returns the number of settings in the grid of all combinations of values; at most `u64::MAX`.
pub(super) fn grid_size(counts: &[u64]) -> u64 {
    counts.iter().copied().fold(1, u64::saturating_mul)
}

/// Returns the setting with the number `index` (counted from 0) in the grid of all combinations, as one index of a value per
/// parameter. The last parameter changes fastest.
fn grid_setting(mut index: u64, counts: &[u64]) -> Vec<u64> {
    let mut digits = vec![0; counts.len()];
    for (digit, count) in digits.iter_mut().zip(counts).rev() {
        *digit = index % count;
        index /= count;
    }
    digits
}

/// Returns `wanted` different settings that are drawn at random from the grid of all combinations, all equally likely; returns
/// the whole grid if it is not larger.
pub(super) fn draw_random_settings(
    wanted: u64,
    counts: &[u64],
    stream: &mut Stream,
) -> Vec<Vec<u64>> {
    if wanted >= grid_size(counts) {
        return select_settings(Combine::Grid, counts, 0);
    }
    let mut drawn = BTreeSet::new();
    let mut all = Vec::new();
    while (all.len() as u64) < wanted {
        let setting: Vec<u64> = counts
            .iter()
            .map(|&count| stream.draw_below_u64(count))
            .collect();
        if drawn.insert(setting.clone()) {
            all.push(setting);
        }
    }
    all
}

/// Returns `wanted` settings drawn as a Latin hypercube: the values of each parameter are divided into `wanted` strata (ranges),
/// and each stratum is used once.
fn draw_latin_hypercube(wanted: u64, counts: &[u64], seed: u64) -> Vec<Vec<u64>> {
    let mut stream = Stream::new(seed, StreamPurpose::SweepSampling);
    let mut columns = Vec::new();
    for &count in counts {
        let mut strata: Vec<u64> = (0..wanted).collect();
        // Shuffle (Fisher and Yates).
        for last in (1..wanted).rev() {
            let other = stream.draw_below_u64(last + 1);
            strata.swap(to_index(last), to_index(other));
        }
        let within = |stratum: u64| {
            // The value is at (stratum + u) / wanted of the range, with u in [0, 1) as a multiple of 2^-32.
            let place = (u128::from(stratum) << 32) + u128::from(stream.draw_below_u64(1 << 32));
            let value = place * u128::from(count) / (u128::from(wanted) << 32);
            u64::try_from(value).expect("below the count")
        };
        columns.push(strata.into_iter().map(within).collect::<Vec<u64>>());
    }
    (0..wanted)
        .map(|setting| {
            columns
                .iter()
                .map(|column| column[to_index(setting)])
                .collect()
        })
        .collect()
}

fn to_index(number: u64) -> usize {
    usize::try_from(number).expect("plans fit in memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_grid_the_last_parameter_changes_fastest() {
        let all = select_settings(Combine::Grid, &[2, 3], 1);
        assert_eq!(all, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        // Without a parameter there is one setting.
        assert_eq!(select_settings(Combine::Grid, &[], 1), [[0; 0]]);
    }

    #[test]
    fn zip_takes_values_of_equal_rank() {
        assert_eq!(
            select_settings(Combine::Zip, &[2, 2, 1], 1),
            [[0, 0, 0], [1, 1, 0]]
        );
    }

    #[test]
    fn random_settings_differ_and_follow_the_seed() {
        let drawn = select_settings(Combine::Random(10), &[5, 5], 7);
        let different: BTreeSet<_> = drawn.iter().collect();
        assert_eq!((drawn.len(), different.len()), (10, 10));
        assert_eq!(drawn, select_settings(Combine::Random(10), &[5, 5], 7));
        assert_ne!(drawn, select_settings(Combine::Random(10), &[5, 5], 8));
        assert_eq!(select_settings(Combine::Random(99), &[5, 5], 7).len(), 25);
    }

    #[test]
    fn a_latin_hypercube_takes_each_value_equally_often() {
        let drawn = select_settings(Combine::Latin(12), &[4, 12], 3);
        for value in 0..4 {
            assert_eq!(drawn.iter().filter(|s| s[0] == value).count(), 3);
        }
        for value in 0..12 {
            assert_eq!(drawn.iter().filter(|s| s[1] == value).count(), 1);
        }
    }
}
