//! Draws the values of a benchmark case from random streams that are named after its parts; drawn numbers have three significant
//! digits.

use serde_json::{Value, json};

use super::file::{CasePart, FixedOrDrawnValue, FixedValue, PartChoice, Unit};
use migsim_base::random::{Stream, StreamPurpose, round_portably};

/// The quantities of a benchmark case to which drawn values refer: the time of a superstep, the number of supersteps, and the
/// names of the hosts.
#[derive(Clone, Copy, Debug)]
pub(super) struct CaseQuantities<'a> {
    /// The nominal computation time of a superstep of the case \[s\].
    pub superstep_time: f64,
    /// The number of supersteps of the case.
    pub superstep_count: u64,
    /// The names of the hosts of the case.
    pub host_names: &'a [String],
}

/// Rounds a number to three significant digits.
pub(super) fn round_to_three_digits(number: f64) -> f64 {
    format!("{:.2e}", round_portably(number))
        .parse()
        .expect("a number that was written")
}

/// Creates the random stream from which the values of one part of a case are drawn.
pub(super) fn random_stream(draw: u64, case: &str, part: &str) -> Stream {
    Stream::for_object(
        draw,
        StreamPurpose::BenchmarkCases,
        &format!("{case} {part}"),
    )
}

impl FixedOrDrawnValue {
    /// Draws a number from the distribution, without its unit and without rounding; 0 if the values of the distribution are not
    /// numbers.
    pub(super) fn draw_number(&self, random: &mut Stream) -> f64 {
        match self {
            Self::Uniform {
                uniform: [a, b], ..
            } => a + (b - a) * random.draw_from_zero_to_one(),
            Self::LogUniform {
                log_uniform: [a, b],
                ..
            } => {
                round_portably((a.ln() + (b.ln() - a.ln()) * random.draw_from_zero_to_one()).exp())
            }
            Self::OneOf { one_of } => one_of[random.draw_below(one_of.len())]
                .as_f64()
                .unwrap_or(0.0),
            Self::Fixed(FixedValue::Number(number)) => *number,
            Self::HostSubset { .. } | Self::Object { .. } | Self::Fixed(_) => 0.0,
        }
    }

    /// Draws a value from the distribution, as the JSON value of a setting of an experiment.
    pub(super) fn draw_value(&self, random: &mut Stream, measures: CaseQuantities<'_>) -> Value {
        match self {
            Self::Uniform { unit, .. } | Self::LogUniform { unit, .. } => {
                unit.setting_json_value(self.draw_number(random), measures)
            }
            Self::OneOf { one_of } => one_of[random.draw_below(one_of.len())].clone(),
            Self::HostSubset { hosts: [a, b] } => {
                let share = a + (b - a) * random.draw_from_zero_to_one();
                let count = (share * measures.host_names.len() as f64).ceil().max(1.0);
                json!(random_subset(measures.host_names, count, random))
            }
            Self::Object { object } => Value::Object(
                object
                    .iter()
                    .map(|(key, one)| (key.clone(), one.draw_value(random, measures)))
                    .collect(),
            ),
            Self::Fixed(FixedValue::Boolean(truth)) => json!(truth),
            Self::Fixed(FixedValue::Number(number)) => json_number(*number),
            Self::Fixed(FixedValue::Text(text)) => json!(text),
        }
    }
}

impl Unit {
    /// Converts a drawn number with this unit to the JSON value of a setting. A duration in multiples of supersteps or of runs is
    /// converted to seconds.
    fn setting_json_value(&self, number: f64, measures: CaseQuantities<'_>) -> Value {
        let seconds = |number: f64| json!(format!("{} s", round_to_three_digits(number)));
        match self {
            Self::None => json_number(round_to_three_digits(number)),
            Self::Whole => json_number(number.round()),
            Self::Supersteps => seconds(number * measures.superstep_time),
            Self::Runs => {
                seconds(number * measures.superstep_time * measures.superstep_count as f64)
            }
            Self::Named(unit) => json!(format!("{} {unit}", round_to_three_digits(number))),
        }
    }
}

/// Converts a number to a JSON value; a whole number has no decimal point.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number below 2^53"
)]
fn json_number(number: f64) -> Value {
    if number >= 0.0 && number.fract() == 0.0 && number < 9e15 {
        json!(number as u64)
    } else {
        json!(number)
    }
}

/// Draws `count` of the names at random and returns them in their original order; each subset of this size has the same
/// probability.
fn random_subset(names: &[String], count: f64, random: &mut Stream) -> Vec<String> {
    let mut left = count.min(names.len() as f64);
    let mut chosen = Vec::new();
    for (index, name) in names.iter().enumerate() {
        // Selection sampling: take each of the remaining names with the probability left / remaining.
        if random.draw_from_zero_to_one() * (names.len() - index) as f64 <= left {
            chosen.push(name.clone());
            left -= 1.0;
        }
    }
    chosen
}

impl CasePart {
    /// Draws one of the choices of this part; the probability of a choice is proportional to its weight.
    pub(super) fn draw_choice(&self, random: &mut Stream) -> &PartChoice {
        let all: f64 = self.choices.iter().map(|one| one.weight).sum();
        let mut left = all * random.draw_from_zero_to_one();
        for choice in &self.choices {
            left -= choice.weight;
            if left <= 0.0 {
                return choice;
            }
        }
        self.choices.last().expect("a part has choices")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_stay_within_their_bounds() {
        assert_eq!(
            [1.23456, 0.000_123_456, 98_765.0].map(round_to_three_digits),
            [1.23, 0.000_123, 98_800.0]
        );
        let drawn = FixedOrDrawnValue::LogUniform {
            log_uniform: [1.0, 100.0],
            unit: Unit::Named("MB".into()),
        };
        let mut random = random_stream(1, "c", "p");
        let numbers: Vec<f64> = (0..1000).map(|_| drawn.draw_number(&mut random)).collect();
        assert!(numbers.iter().all(|one| (1.0..=100.0).contains(one)));
        // Half of the numbers lie below the geometric mean.
        let below = numbers.iter().filter(|one| **one < 10.0).count();
        assert!((450..550).contains(&below), "{below}");
    }

    #[test]
    fn units_follow_numbers_or_are_those_of_the_run() {
        let measures = CaseQuantities {
            superstep_time: 0.5,
            superstep_count: 10,
            host_names: &[],
        };
        let value = |unit: Unit| unit.setting_json_value(2.004, measures);
        assert_eq!(value(Unit::None), json!(2));
        assert_eq!(value(Unit::Whole), json!(2));
        assert_eq!(value(Unit::Named("us".into())), json!("2 us"));
        assert_eq!(value(Unit::Supersteps), json!("1 s"));
        assert_eq!(value(Unit::Runs), json!("10 s"));
    }

    #[test]
    fn hosts_are_drawn_in_the_number_that_was_asked_for() {
        let names: Vec<String> = (0..10).map(|index| format!("h{index}")).collect();
        let mut random = random_stream(1, "c", "p");
        for count in 1..=10_u32 {
            let chosen = random_subset(&names, f64::from(count), &mut random).len();
            assert_eq!(u32::try_from(chosen), Ok(count));
        }
    }
}
