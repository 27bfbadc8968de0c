//! The notation for the values of a parameter: `2,4,8,16`, `0.1..0.9:0.1`, `1..5`, `ufrgs,mine.json`, `10..50:10 ms`.
//!
//! Numbers without a unit in a list get the unit of the last value: `0,0.1,1s` stands for `0 s,0.1 s,1s`.
//!
//! A range includes both ends. It is computed with decimal digits, so that the third value of `0.1..0.9:0.1` is 0.3 and not
//! 0.30000000000000004. The values of a range are computed when they are needed, so that a long range takes no memory. A range of
//! whole numbers without a step has the step 1. A range of decimals without a step has 10 000 steps; it is meant for plans that
//! draw their settings at random.

use serde_json::{Value, json};

use crate::{document::parse_typed_value, plugin::FlagValues};

/// Number of steps into which a range of decimals without a step is divided.
pub const FINE_STEPS: u64 = 10_000;

/// Maximum number of digits before, and also after, the decimal point of a number in a range.
const MAX_DIGITS: u32 = 15;

/// The values of a parameter, as a list of single values and ranges in the order of the user.
#[derive(Clone, Debug, PartialEq)]
pub struct ValuesSpec {
    values_and_ranges: Vec<Part>,
    /// The values as the user wrote them.
    source_text: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    One(Value),
    Range(DecimalRange),
}

/// A range of decimal numbers: `(start + i · step) / 10^digits` for i from 0 to `count` - 1, optionally with a unit.
#[derive(Clone, Debug, PartialEq)]
struct DecimalRange {
    /// First value, multiplied by `10^digits`.
    scaled_start: i128,
    /// Step, multiplied by `10^digits`.
    scaled_step: i128,
    value_count: u64,
    /// Number of digits after the decimal point.
    fraction_digits: u32,
    /// Unit that follows each number; `None` for numbers without a unit.
    unit: Option<String>,
    /// Whether the user wrote a range of decimals without a step, so that the range has 10 000 steps.
    is_without_step: bool,
}

impl ValuesSpec {
    /// Parses the values of a parameter as a user writes them on the command line.
    ///
    /// # Errors
    /// A value is wrong; the error describes in a sentence what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        for part in split_at_commas(text) {
            let part = part.trim();
            if part.is_empty() {
                return Err(if text.trim().is_empty() {
                    "the list of values is empty".to_owned()
                } else {
                    format!("`{text}` has an empty value between its commas")
                });
            }
            parts.push(match parse_range(part)? {
                Some(range) => Part::Range(range),
                None => Part::One(parse_typed_value(part)),
            });
        }
        if let Some(Part::One(Value::String(last))) = parts.last()
            && let Some(unit) = unit_of_number(last).map(str::to_owned)
        {
            for part in &mut parts {
                if let Part::One(value @ Value::Number(_)) = part {
                    *value = Value::from(format!("{value} {unit}"));
                }
            }
        }
        Ok(Self {
            values_and_ranges: parts,
            source_text: text.to_owned(),
        })
    }

    /// Creates the values of a parameter from a list; `text` is the list as the user wrote it.
    pub fn from_list(values: Vec<Value>, text: impl Into<String>) -> Self {
        Self {
            values_and_ranges: values.into_iter().map(Part::One).collect(),
            source_text: text.into(),
        }
    }

    /// Converts the values of a parameter in a sweep file: a text as on the command line, a list of values, or a single value.
    ///
    /// # Errors
    /// A text is wrong, as in [`Self::parse`].
    pub fn from_json(value: &Value) -> Result<Self, String> {
        let parts = match value {
            Value::String(text) => return Self::parse(text),
            Value::Array(values) if values.is_empty() => {
                return Err("the list of values is empty".into());
            }
            Value::Array(values) => values.clone(),
            one => vec![one.clone()],
        };
        Ok(Self::from_list(parts, value.to_string()))
    }

    /// Returns the values as they are written in a sweep file: a list of single values, in which each range remains a text.
    pub fn to_json(&self) -> Value {
        match self
            .values_and_ranges
            .iter()
            .map(|part: &Part| match part {
                Part::One(value) => Some(value.clone()),
                Part::Range(_) => None,
            })
            .collect::<Option<Vec<Value>>>()
        {
            Some(values) => Value::Array(values),
            None => Value::from(self.source_text.as_str()),
        }
    }

    /// Replaces each single value by the result of `map`; ranges are not changed.
    #[must_use]
    pub fn map_single_values(mut self, map: impl Fn(&Value) -> Value) -> Self {
        for part in &mut self.values_and_ranges {
            if let Part::One(value) = part {
                *value = map(value);
            }
        }
        self
    }

    /// Returns the number of all values, including every value of the ranges.
    pub fn value_count(&self) -> u64 {
        self.values_and_ranges
            .iter()
            .map(|part| match part {
                Part::One(_) => 1,
                Part::Range(range) => range.value_count,
            })
            .fold(0, u64::saturating_add)
    }

    /// Returns whether the values contain a range of decimals without a step.
    pub fn has_decimal_range_without_step(&self) -> bool {
        self.values_and_ranges
            .iter()
            .any(|part| matches!(part, Part::Range(range) if range.is_without_step))
    }

    /// Returns the value with the index `index`, counted from 0 over all single values and ranges.
    ///
    /// # Panics
    /// There are no more than `index` values.
    pub fn value_at(&self, index: u64) -> Value {
        let mut rest = index;
        for part in &self.values_and_ranges {
            match part {
                Part::One(value) if rest == 0 => return value.clone(),
                Part::One(_) => rest -= 1,
                Part::Range(range) if rest < range.value_count => return range.value_at(rest),
                Part::Range(range) => rest -= range.value_count,
            }
        }
        unreachable!("the index is below the count")
    }

    /// Lists the single values, and of each range only the first and the last value.
    pub fn single_values_and_range_ends(&self) -> Vec<Value> {
        let ends = |part: &Part| match part {
            Part::One(value) => vec![value.clone()],
            Part::Range(range) => vec![range.value_at(0), range.value_at(range.value_count - 1)],
        };
        self.values_and_ranges.iter().flat_map(ends).collect()
    }

    /// Lists all values, including every value of the ranges.
    pub fn values(&self) -> impl Iterator<Item = Value> {
        (0..self.value_count()).map(|index| self.value_at(index))
    }

    /// Returns the values as the user wrote them.
    pub fn source_text(&self) -> &str {
        &self.source_text
    }
}

impl DecimalRange {
    fn value_at(&self, index: u64) -> Value {
        let decimal = self.scaled_start + i128::from(index) * self.scaled_step;
        let text = format_decimal(decimal, self.fraction_digits);
        match &self.unit {
            Some(unit) => Value::from(format!("{text} {unit}")),
            None => serde_json::from_str(&text).expect("a decimal number is JSON"),
        }
    }
}

/// Formats the decimal number `decimal / 10^digits` with `digits` digits after the decimal point.
fn format_decimal(decimal: i128, digits: u32) -> String {
    if digits == 0 {
        return decimal.to_string();
    }
    let scale = 10_u128.pow(digits);
    let whole = decimal.unsigned_abs() / scale;
    let rest = decimal.unsigned_abs() % scale;
    let sign = if decimal < 0 { "-" } else { "" };
    let rest = format!("{rest:0width$}", width = digits as usize);
    let rest = rest.trim_end_matches('0');
    // Keep at least one digit after the point: the values of a range are either all whole or all decimals.
    let rest = if rest.is_empty() { "0" } else { rest };
    format!("{sign}{whole}.{rest}")
}

/// Parses a range `a..b` or `a..b:step`, possibly with a unit; returns `None` for a text that is not a range.
fn parse_range(text: &str) -> Result<Option<DecimalRange>, String> {
    let Some((start, rest)) = text.split_once("..") else {
        return Ok(None);
    };
    let (rest, unit) = match rest.split_once(' ') {
        Some((rest, unit)) => (rest, Some(unit.trim().to_owned())),
        None => (rest, None),
    };
    let (stop, step) = match rest.split_once(':') {
        Some((stop, step)) => (stop, Some(step)),
        None => (rest, None),
    };
    let (Some(start), Some(stop)) = (parse_decimal(start), parse_decimal(stop)) else {
        return Ok(None); // for example a range of hosts
    };
    let step = step
        .map(|step| {
            parse_decimal(step).ok_or_else(|| {
                format!("the step of `{text}` is not a number of at most {MAX_DIGITS} digits")
            })
        })
        .transpose()?;
    let digits = [Some(start), Some(stop), step]
        .into_iter()
        .flatten()
        .map(|(_, digits)| digits)
        .max()
        .unwrap_or(0);
    let at = |(mantissa, own): (i128, u32)| mantissa * 10_i128.pow(digits - own);
    let start = at(start);
    let stop = at(stop);
    let Some(step) = step else {
        if start > stop {
            return Err(format!(
                "the range `{text}` is empty: it ends below its start (a range downwards needs a negative step, as in `5..1:-1`)"
            ));
        }
        return Ok(Some(if digits == 0 {
            range_from_ends(start, stop, 1, 0, unit, false)
        } else {
            // Add four digits, because a step is a ten-thousandth of the range.
            let [start, stop] = [start, stop].map(|end| end * i128::from(FINE_STEPS));
            range_from_ends(
                start,
                stop,
                ((stop - start) / i128::from(FINE_STEPS)).max(1),
                digits + 4,
                unit,
                true,
            )
        }));
    };
    let step = at(step);
    if step == 0 {
        return Err(format!("the step of `{text}` is 0"));
    }
    if (stop - start).signum() * step.signum() < 0 {
        return Err(format!(
            "the step of `{text}` has the wrong sign: it leads away from the end"
        ));
    }
    Ok(Some(range_from_ends(
        start, stop, step, digits, unit, false,
    )))
}

fn range_from_ends(
    start: i128,
    stop: i128,
    step: i128,
    digits: u32,
    unit: Option<String>,
    is_fine: bool,
) -> DecimalRange {
    let count = (stop - start) / step + 1;
    DecimalRange {
        scaled_start: start,
        scaled_step: step,
        value_count: u64::try_from(count).unwrap_or(u64::MAX),
        fraction_digits: digits,
        unit,
        is_without_step: is_fine,
    }
}

/// Parses a decimal number; returns its digits as an integer, and the number of digits after the decimal point.
fn parse_decimal(text: &str) -> Option<(i128, u32)> {
    let text = text.trim();
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, rest) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    if unsigned.is_empty() || !is_number(unsigned) || !is_number(rest) {
        return None;
    }
    let most = MAX_DIGITS as usize;
    if unsigned.len() > most || rest.len() > most || !(-15..=15).contains(&exponent) {
        return None;
    }
    let mantissa: i128 = format!("{whole}{rest}").parse().ok()?;
    let digits = i32::try_from(rest.len()).ok()? - exponent;
    // The numbers of a range get the same number of digits, so there must be room for the digits of all of them.
    let (mantissa, digits) = match u32::try_from(digits) {
        Ok(digits) if digits <= MAX_DIGITS => (mantissa, digits),
        Ok(_) => return None,
        Err(_) => (mantissa * 10_i128.pow(digits.unsigned_abs()), 0),
    };
    let is_small = mantissa.unsigned_abs() < 10_u128.pow(MAX_DIGITS + digits);
    is_small.then_some((mantissa, digits))
}

/// Returns the unit that follows a number in a text, such as `ms` of `1.5 ms`; `None` for any other text.
fn unit_of_number(text: &str) -> Option<&str> {
    let is_unit = |unit: &str| {
        unit.chars()
            .all(|letter| letter.is_alphabetic() || "/%".contains(letter))
    };
    text.char_indices()
        .skip(1)
        .map(|(at, _)| text.split_at(at))
        .filter(|(number, _)| parse_decimal(number).is_some())
        .map(|(_, unit)| unit.trim())
        .find(|unit| is_unit(unit))
}

/// Splits a text at those commas that are outside brackets and quotes.
pub fn split_at_commas(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut depth = 0_i32;
    let mut is_quoted = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '[' | '{' if !is_quoted => depth += 1,
            ']' | '}' if !is_quoted => depth -= 1,
            ',' if !is_quoted && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Formats a value for a table: a text without quotes, a float without a fraction as a whole number, and any other value as JSON.
pub fn value_label(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            number.as_f64().map_or_else(String::new, |n| n.to_string())
        }
        other => other.to_string(),
    }
}

impl FlagValues {
    /// Parses one or more values of a flag, such as `1..5`, `2,4,8` or `10x5,20x10`.
    ///
    /// # Errors
    /// A value is wrong; the error describes in a sentence what is wrong.
    pub fn parse(self, text: &str) -> Result<ValuesSpec, String> {
        let (is_right, message): (fn(&Value) -> bool, _) = match self {
            Self::Counts => (
                Value::is_u64,
                "it must be a whole number that is not negative",
            ),
            Self::Numbers => (Value::is_number, "it must be a finite number"),
            Self::Grids => {
                return Ok(ValuesSpec::from_list(
                    text.split(',').map(parse_grid).collect::<Result<_, _>>()?,
                    text,
                ));
            }
            Self::Texts => return Ok(ValuesSpec::from_list(vec![text.into()], text)),
        };
        let spec = ValuesSpec::parse(text)?;
        if spec.single_values_and_range_ends().iter().all(is_right) {
            Ok(spec)
        } else {
            Err(message.to_owned())
        }
    }
}

/// Parses a grid of processes, written as rows x columns: `10x5`.
fn parse_grid(text: &str) -> Result<Value, String> {
    let wrong =
        || format!("`{text}` is not a grid of processes; write rows x columns, for example 10x5");
    let (rows, columns) = text.split_once(['x', 'X']).ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
    Ok(json!([number(rows)?, number(columns)?]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn values(text: &str) -> Value {
        ValuesSpec::parse(text).unwrap().values().collect()
    }

    #[test]
    fn lists_hold_numbers_texts_and_json() {
        assert_eq!(values("2, 4,16"), json!([2, 4, 16]));
        assert_eq!(
            values("ufrgs,a b.json,true"),
            json!(["ufrgs", "a b.json", true])
        );
        assert_eq!(values("[10,5],[5,10]"), json!([[10, 5], [5, 10]]));
        assert_eq!(values("1 s,20 ms"), json!(["1 s", "20 ms"]));
    }

    #[test]
    fn ranges_count_in_decimal_digits() {
        assert_eq!(
            values("0.1..0.9:0.1"),
            json!([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
        );
        assert_eq!(values("1..5"), json!([1, 2, 3, 4, 5]));
        assert_eq!(values("1..4:2"), json!([1, 3]));
        assert_eq!(values("5..1:-2"), json!([5, 3, 1]));
        assert_eq!(values("-0.1..0.1:0.1"), json!([-0.1, 0.0, 0.1]));
        assert_eq!(values("1..2:0.5"), json!([1.0, 1.5, 2.0]));
        assert_eq!(values("1e-3..3e-3:1e-3"), json!([0.001, 0.002, 0.003]));
        assert_eq!(values("1,3..5,9"), json!([1, 3, 4, 5, 9]));
        assert_eq!(values("7..7"), json!([7]));
    }

    #[test]
    fn ranges_may_have_a_unit() {
        assert_eq!(values("10..30:10 ms"), json!(["10 ms", "20 ms", "30 ms"]));
    }

    #[test]
    fn a_range_of_hosts_is_a_text() {
        assert_eq!(values("ICE-0..ICE-4"), json!(["ICE-0..ICE-4"]));
    }

    #[test]
    fn a_range_without_a_step_is_fine() {
        let spec = ValuesSpec::parse("0.5..1.0").unwrap();
        assert!(spec.has_decimal_range_without_step());
        assert_eq!(spec.value_count(), FINE_STEPS + 1);
        assert_eq!(spec.value_at(0), json!(0.5));
        assert_eq!(spec.value_at(1), json!(0.50005)); // 0.5 / 10 000
        assert_eq!(spec.value_at(FINE_STEPS), json!(1.0));
    }

    #[test]
    fn a_huge_range_costs_nothing_to_count() {
        assert_eq!(
            ValuesSpec::parse("1..1000000000").unwrap().value_count(),
            1_000_000_000
        );
        assert_eq!(
            ValuesSpec::parse("0..1:1e-12").unwrap().value_count(),
            1_000_000_000_001
        );
    }

    #[test]
    fn numbers_that_no_range_has_room_for_are_texts() {
        // 1e29 with 15 more digits would be more than 38 digits.
        let text = "100000000000000e15..0.000000000000001:-1";
        assert_eq!(values(text), json!([text]));
        assert_eq!(
            ValuesSpec::parse("0.000000000000001..999999999999999.0:1")
                .unwrap()
                .value_count(),
            999_999_999_999_999
        );
        assert!(
            ValuesSpec::parse("-999999999999999..999999999999999.5")
                .unwrap()
                .has_decimal_range_without_step()
        );
    }

    #[test]
    fn single_values_are_replaced_and_huge_ranges_stay() {
        let spec = ValuesSpec::parse("a,1..1000000000000").unwrap();
        let spec = spec.map_single_values(|value| json!([value]));
        assert_eq!(spec.value_at(0), json!(["a"]));
        assert_eq!(spec.value_count(), 1_000_000_000_001);
    }

    #[test]
    fn errors_of_ranges_name_the_problem() {
        let error = |text: &str| ValuesSpec::parse(text).unwrap_err();
        assert!(error("5..1").contains("is empty"));
        assert!(error("1..5:-1").contains("wrong sign"));
        assert!(error("1..5:0").contains("is 0"));
        assert!(error("1..5:x").contains("not a number"));
        assert!(error("1,,2").contains("empty value"));
        assert!(error("").contains("the list of values is empty"));
    }

    #[test]
    fn files_and_command_lines_give_equal_values() {
        assert_eq!(
            ValuesSpec::from_json(&json!("1..3"))
                .unwrap()
                .values()
                .collect::<Value>(),
            json!([1, 2, 3])
        );
        let list = ValuesSpec::from_json(&json!(["a,b", 2])).unwrap();
        assert_eq!(list.to_json(), json!(["a,b", 2]));
        assert_eq!(ValuesSpec::parse("1..3").unwrap().to_json(), json!("1..3"));
        assert!(ValuesSpec::from_json(&json!([])).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[-0-9.,:e \\[\\]\"a]{0,24}") {
            if let Ok(spec) = ValuesSpec::parse(&text) {
                let _ = (spec.value_at(0), spec.value_at(spec.value_count() - 1));
            }
        }
    }

    #[test]
    fn grids_are_rows_and_columns() {
        let parse = |text| FlagValues::Grids.parse(text);
        assert_eq!(parse("10x5").unwrap().value_at(0), json!([10, 5]));
        assert_eq!(parse("10x5,5x10").unwrap().value_count(), 2);
        assert!(
            ["10", "axb", "-1x2"]
                .iter()
                .all(|text| parse(text).is_err())
        );
    }
}
