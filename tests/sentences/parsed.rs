//! Reads the numbers of a sentence as a person does: a number, its printed digits, and the unit after it.

/// A number as it is printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    /// Its value in the unit of the quantity [s, %, B, instr/s, 1].
    pub(crate) value: f64,
    /// Half a unit of its last digit, in the same unit.
    pub(crate) half_digit: f64,
    /// Whether it has neither a point nor an exponent.
    pub(crate) is_whole: bool,
}

/// Returns the factor of a unit that may follow a number.
fn unit(word: &str) -> f64 {
    match word {
        "ms" => 1e-3,
        "us" => 1e-6,
        "Ginstr/s" => 1e9,
        _ => 1.0,
    }
}

/// Reads the number that a word is, if it is one.
fn number(word: &str) -> Option<Number> {
    let is_number = word.chars().any(|letter| letter.is_ascii_digit())
        && word
            .chars()
            .all(|letter| letter.is_ascii_digit() || "+-.e".contains(letter));
    let value: f64 = word.parse().ok().filter(|_| is_number)?;
    let (digits, exponent) = word.split_once('e').unwrap_or((word, "0"));
    let exponent: i32 = exponent.parse().ok()?;
    let decimals = digits.split_once('.').map_or(0, |(_, after)| after.len());
    let decimals = i32::try_from(decimals).ok()?;
    Some(Number {
        value,
        half_digit: 0.5 * 10_f64.powi(exponent - decimals),
        is_whole: !word.contains(['.', 'e']),
    })
}

/// Lists the numbers of a sentence in their order, without those in the texts in `verbatim`.
pub(crate) fn numbers(sentence: &str, verbatim: &[String]) -> Vec<Number> {
    let mut text = sentence.to_owned();
    for known in verbatim {
        text = text.replace(known, "_");
    }
    let words = text.split_whitespace();
    let words: Vec<&str> = words
        .map(|word| word.trim_matches(['(', ')', ',', ';', ':', '.']))
        .collect();
    let read = |(at, word): (usize, &&str)| {
        let mut number = number(word)?;
        let factor = words.get(at + 1).map_or(1.0, |next| unit(next));
        number.value *= factor;
        number.half_digit *= factor;
        Some(number)
    };
    words.iter().enumerate().filter_map(read).collect()
}

#[test]
fn numbers_are_read_with_their_units_and_names_are_not() {
    let text = "p15 on east-3 saves t1 - t2 = -172.083 ms, 12 % (3 of 4); 2.5e-7 in `greedy/charm-8`: 1.500 Ginstr/s.";
    let found = numbers(text, &["3 of 4".into()]);
    let values: Vec<f64> = found.iter().map(|one| one.value).collect();
    assert_eq!(values, [-172.083e-3, 12.0, 2.5e-7, 1.5e9]);
    assert!((found[0].half_digit - 0.5e-6).abs() < 1e-18);
    assert!((found[2].half_digit - 0.05e-7).abs() < 1e-18);
    assert!(found[1].is_whole && !found[2].is_whole);
}
