//! Draws the parts of a case from named random streams; drawn numbers have three significant digits.

use serde_json::{Value, json};

use super::file::{Choice, Drawn, Fixed, Part, Unit};
use migsim_base::random::{Purpose, Stream, round_portably};

/// The quantities of a case to which the units of drawn values refer, and the names of its hosts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measures<'a> {
    /// The nominal computation time of a superstep \[s\].
    pub(super) superstep: f64,
    /// The number of supersteps.
    pub(super) supersteps: u64,
    /// The names of the hosts.
    pub(super) hosts: &'a [String],
}

/// Rounds a number to three significant digits.
pub(super) fn rounded(number: f64) -> f64 {
    let text = format!("{:.2e}", round_portably(number));
    text.parse().expect("a number that was written")
}

/// Creates the random stream for one part of a case.
pub(super) fn stream(draw: u64, case: &str, part: &str) -> Stream {
    Stream::for_object(draw, Purpose::Suite, &format!("{case} {part}"))
}

impl Drawn {
    /// Draws a number, without its unit and without rounding.
    pub(super) fn number(&self, random: &mut Stream) -> f64 {
        match self {
            Self::Uniform {
                uniform: [a, b], ..
            } => a + (b - a) * random.unit(),
            Self::LogUniform {
                log_uniform: [a, b],
                ..
            } => round_portably((a.ln() + (b.ln() - a.ln()) * random.unit()).exp()),
            Self::OneOf { one_of } => one_of[random.below(one_of.len())].as_f64().unwrap_or(0.0),
            Self::Fixed(Fixed::Number(number)) => *number,
            Self::Hosts { .. } | Self::Object { .. } | Self::Fixed(_) => 0.0,
        }
    }

    /// Draws a value for the settings of an experiment.
    pub(super) fn value(&self, random: &mut Stream, measures: Measures<'_>) -> Value {
        match self {
            Self::Uniform { unit, .. } | Self::LogUniform { unit, .. } => {
                unit.value(self.number(random), measures)
            }
            Self::OneOf { one_of } => one_of[random.below(one_of.len())].clone(),
            Self::Hosts { hosts: [a, b] } => {
                let share = a + (b - a) * random.unit();
                let count = (share * measures.hosts.len() as f64).ceil().max(1.0);
                json!(random_subset(measures.hosts, count, random))
            }
            Self::Object { object } => {
                let values = object.iter();
                let values = values.map(|(key, one)| (key.clone(), one.value(random, measures)));
                Value::Object(values.collect())
            }
            Self::Fixed(Fixed::Truth(truth)) => json!(truth),
            Self::Fixed(Fixed::Number(number)) => plain(*number),
            Self::Fixed(Fixed::Text(text)) => json!(text),
        }
    }
}

impl Unit {
    /// Returns a drawn number with this unit as a JSON value.
    fn value(&self, number: f64, measures: Measures<'_>) -> Value {
        let seconds = |number: f64| json!(format!("{} s", rounded(number)));
        match self {
            Self::None => plain(rounded(number)),
            Self::Whole => plain(number.round()),
            Self::Supersteps => seconds(number * measures.superstep),
            Self::Runs => seconds(number * measures.superstep * measures.supersteps as f64),
            Self::Of(unit) => json!(format!("{} {unit}", rounded(number))),
        }
    }
}

/// Returns a number as a JSON value; a whole number has no decimal point.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a whole number below 2^53"
)]
fn plain(number: f64) -> Value {
    if number >= 0.0 && number.fract() == 0.0 && number < 9e15 {
        json!(number as u64)
    } else {
        json!(number)
    }
}

/// Draws `count` of the names at random, in their original order; each set of names has the same probability.
fn random_subset(names: &[String], count: f64, random: &mut Stream) -> Vec<String> {
    let mut left = count.min(names.len() as f64);
    let mut chosen = Vec::new();
    for (index, name) in names.iter().enumerate() {
        // Selection sampling: take each of the remaining names with the probability left / remaining.
        if random.unit() * (names.len() - index) as f64 <= left {
            chosen.push(name.clone());
            left -= 1.0;
        }
    }
    chosen
}

impl Part {
    /// Draws one of the choices of this part, by their weights.
    pub(super) fn choice(&self, random: &mut Stream) -> &Choice {
        let all: f64 = self.choices.iter().map(|one| one.weight).sum();
        let mut left = all * random.unit();
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
            [1.23456, 0.000_123_456, 98_765.0].map(rounded),
            [1.23, 0.000_123, 98_800.0]
        );
        let drawn = Drawn::LogUniform {
            log_uniform: [1.0, 100.0],
            unit: Unit::Of("MB".into()),
        };
        let mut random = stream(1, "c", "p");
        let numbers: Vec<f64> = (0..1000).map(|_| drawn.number(&mut random)).collect();
        assert!(numbers.iter().all(|one| (1.0..=100.0).contains(one)));
        // Half of the numbers lie below the geometric mean.
        let below = numbers.iter().filter(|one| **one < 10.0).count();
        assert!((450..550).contains(&below), "{below}");
    }

    #[test]
    fn units_follow_numbers_or_are_those_of_the_run() {
        let measures = Measures {
            superstep: 0.5,
            supersteps: 10,
            hosts: &[],
        };
        let value = |unit: Unit| unit.value(2.004, measures);
        assert_eq!(value(Unit::None), json!(2));
        assert_eq!(value(Unit::Whole), json!(2));
        assert_eq!(value(Unit::Of("us".into())), json!("2 us"));
        assert_eq!(value(Unit::Supersteps), json!("1 s"));
        assert_eq!(value(Unit::Runs), json!("10 s"));
    }

    #[test]
    fn hosts_are_drawn_in_the_number_that_was_asked_for() {
        let names: Vec<String> = (0..10).map(|index| format!("h{index}")).collect();
        let mut random = stream(1, "c", "p");
        for count in 1..=10_u32 {
            let chosen = random_subset(&names, f64::from(count), &mut random).len();
            assert_eq!(u32::try_from(chosen), Ok(count));
        }
    }
}
