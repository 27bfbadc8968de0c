//! Divides recordings into exchanges: finds one sequence of communication patterns that describes the recordings for all numbers
//! of processes. The number of supersteps of an exchange may depend on the number of processes.

use std::collections::BTreeMap;
use std::ops::Range;

use super::family::{ALL_FAMILIES, FamilyMessage, PatternFamily};
use super::sample::{RecordedRun, RecordedSuperstep};
use migsim_base::error::{Error, Problem};
use migsim_base::words::{format_count, singular_or_plural};

/// Maximum deviation of a message size in a slot from the mean size of the slot, relative to the mean.
const MAX_MESSAGE_SIZE_DEVIATION: f64 = 0.1;

/// One exchange of the program, which occurs at the same place of all recordings.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RecordedExchange {
    /// Communication pattern of the exchange.
    pub(super) family: PatternFamily,
    /// The range of supersteps that the exchange takes in each recording.
    pub(super) supersteps_in_recording: Vec<Range<usize>>,
    /// Mean size of the messages \[B\] in each recording (outer index) and slot (inner index); `None` if the slot has no message
    /// in the recording.
    pub(super) mean_message_sizes: Vec<Vec<Option<f64>>>,
}

/// Divides the recordings into exchanges, and returns the exchanges in the order of the program.
///
/// # Errors
/// At some superstep no family of patterns describes all recordings, or one recording ends before the others.
pub(super) fn find_exchanges(samples: &[RecordedRun]) -> Result<Vec<RecordedExchange>, Error> {
    let families: Vec<(PatternFamily, Vec<Vec<Vec<FamilyMessage>>>)> = (ALL_FAMILIES.into_iter())
        .filter_map(|family| {
            let steps = samples
                .iter()
                .map(|sample| family.messages_by_superstep(sample.process_count));
            Some((family, steps.collect::<Option<Vec<_>>>()?))
        })
        .collect();
    let mut at = vec![0; samples.len()];
    let mut phases: Vec<RecordedExchange> = Vec::new();
    while samples
        .iter()
        .zip(&at)
        .any(|(sample, at)| *at < sample.supersteps.len())
    {
        let matches = families
            .iter()
            .filter_map(|(family, steps)| match_exchange(samples, &at, *family, steps));
        // The family that describes most supersteps is taken; of equal ones the first.
        let best = matches.reduce(|best, other| {
            let length = |phase: &RecordedExchange| {
                phase
                    .supersteps_in_recording
                    .iter()
                    .map(Range::len)
                    .sum::<usize>()
            };
            if length(&other) > length(&best) {
                other
            } else {
                best
            }
        });
        let Some(found) = best else {
            return Err(no_pattern_error(samples, &at));
        };
        at = found
            .supersteps_in_recording
            .iter()
            .map(|range| range.end)
            .collect();
        phases.push(found);
    }
    Ok(phases)
}

/// Returns the exchange of the given family that begins at the supersteps `at` of the recordings; `None` if some recording has
/// other messages in these supersteps. `steps` are the messages of the family for each recording.
fn match_exchange(
    samples: &[RecordedRun],
    at: &[usize],
    family: PatternFamily,
    steps: &[Vec<Vec<FamilyMessage>>],
) -> Option<RecordedExchange> {
    let mut found = RecordedExchange {
        family,
        supersteps_in_recording: Vec::new(),
        mean_message_sizes: Vec::new(),
    };
    for ((sample, &at), steps) in samples.iter().zip(at).zip(steps) {
        let end = at + steps.len();
        let recorded = sample.supersteps.get(at..end)?;
        let mut sizes = vec![Vec::new(); family.slot_count()];
        for (index, (expected, step)) in steps.iter().zip(recorded).enumerate() {
            collect_message_sizes(
                expected,
                step,
                family.relative_message_size(index, steps.len()),
                &mut sizes,
            )?;
        }
        found.supersteps_in_recording.push(at..end);
        found.mean_message_sizes.push(
            sizes
                .iter()
                .map(|sizes| mean_of_similar_sizes(sizes))
                .collect::<Option<_>>()?,
        );
    }
    Some(found)
}

/// Appends the message sizes of a recorded superstep, divided by `factor`, to the lists of their slots; `None` if the recorded
/// messages are not the expected messages.
fn collect_message_sizes(
    expected: &[FamilyMessage],
    step: &RecordedSuperstep,
    factor: f64,
    sizes: &mut [Vec<f64>],
) -> Option<()> {
    let mut left: BTreeMap<(usize, usize), &[f64]> = BTreeMap::new();
    for (ends, sizes) in &step.message_sizes_by_pair {
        left.insert(*ends, sizes);
    }
    for &(from, to, slot) in expected {
        let of_pair = left.get_mut(&(from, to))?;
        let (first, rest) = of_pair.split_first()?;
        sizes[slot].push(first / factor);
        *of_pair = rest;
    }
    left.values().all(|rest| rest.is_empty()).then_some(())
}

/// Returns the mean of message sizes that are nearly equal: `Some(None)` if the list is empty, and `None` if the sizes differ too
/// much to belong to one slot.
#[expect(clippy::option_option, reason = "an empty slot is no unequal one")]
fn mean_of_similar_sizes(sizes: &[f64]) -> Option<Option<f64>> {
    if sizes.is_empty() {
        return Some(None);
    }
    let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
    let is_near = sizes
        .iter()
        .all(|size| (size - mean).abs() <= MAX_MESSAGE_SIZE_DEVIATION * mean);
    is_near.then_some(Some(mean))
}

/// Creates the error that the recordings follow no common pattern at the supersteps `at`.
fn no_pattern_error(samples: &[RecordedRun], at: &[usize]) -> Error {
    let ended = samples
        .iter()
        .zip(at)
        .find(|(sample, at)| **at >= sample.supersteps.len());
    if let Some((sample, _)) = ended {
        let message = format!(
            "the recording ends after {}, but the other recordings continue there",
            format_count(sample.supersteps.len(), "superstep")
        );
        let hint = "record the same number of iterations with each number of processes";
        return Problem::new(message)
            .source(&sample.file_name)
            .hint(hint)
            .into();
    }
    let last = samples.len() - 1;
    let (sample, at) = (&samples[last], at[last]);
    let count: usize = sample.supersteps[at]
        .message_sizes_by_pair
        .values()
        .map(Vec::len)
        .sum();
    let message = format!(
        "in superstep {at} (counted from 0), {} {} no known pattern that the smaller recordings also have",
        format_count(count, "message"),
        singular_or_plural(count as u64, ["follows", "follow"])
    );
    let hint = "record again with `--repeat 5`, so that noise splits no superstep; the known patterns are rings, open and periodic grids, trees, \
    all-to-all and recursive doubling, with sizes that differ by at most 10 %";
    Problem::new(message)
        .source(&sample.file_name)
        .hint(hint)
        .into()
}
