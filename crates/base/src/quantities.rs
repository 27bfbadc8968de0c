//! Quantities as text: four digits, in the unit of suitable size.

/// Duration above which single digits are not written \[s\]: 300 000 years.
pub const AGES: f64 = 1e13;

/// Formats seconds with two decimals as in the papers, with more for short times.
pub fn seconds(value: f64) -> String {
    match value {
        0.0 => "0.00".into(),
        AGES.. => format!("{value:.4e}"),
        1.0.. => format!("{value:.2}"),
        0.001.. => format!("{value:.4}"),
        _ => format!("{value:.2e}"),
    }
}

/// Formats a duration \[s\].
pub fn duration(seconds: f64) -> String {
    scaled(
        seconds,
        &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)],
    )
}

/// Formats a rate \[B/s\].
pub fn rate(bytes_per_second: f64) -> String {
    scaled(
        bytes_per_second * 8.0,
        &[
            ("Tbps", 1e12),
            ("Gbps", 1e9),
            ("Mbps", 1e6),
            ("kbps", 1e3),
            ("bps", 1.0),
        ],
    )
}

/// Formats a speed \[instr/s\].
pub fn speed(instructions_per_second: f64) -> String {
    scaled(
        instructions_per_second,
        &[
            ("THz", 1e12),
            ("GHz", 1e9),
            ("MHz", 1e6),
            ("kHz", 1e3),
            ("Hz", 1.0),
        ],
    )
}

/// Formats an amount of data \[B\].
pub fn size(bytes: f64) -> String {
    scaled(
        bytes,
        &[
            ("TB", 1e12),
            ("GB", 1e9),
            ("MB", 1e6),
            ("kB", 1e3),
            ("B", 1.0),
        ],
    )
}

/// Formats an amount of computation \[instr\].
pub fn work(instructions: f64) -> String {
    scaled(
        instructions,
        &[
            ("Tinstr", 1e12),
            ("Ginstr", 1e9),
            ("Minstr", 1e6),
            ("Kinstr", 1e3),
            ("instr", 1.0),
        ],
    )
}

/// Formats a number with four digits (below 1 at least three), without trailing zeros.
pub fn digits(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e6).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let decimals = match value.abs() {
        1000.0.. => 0,
        100.0.. => 1,
        10.0.. => 2,
        0.1.. => 3,
        0.01.. => 5,
        _ => 6,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Formats a value in the largest unit that it reaches, or in the smallest one; `units` are in decreasing order.
fn scaled(value: f64, units: &[(&str, f64)]) -> String {
    // A value of 999.96 is written as 1 of the next unit.
    let fits = |(_, one): &&(&str, f64)| value.abs() >= one * 0.999_95;
    let (unit, one) = match units.iter().find(fits) {
        Some(unit) => *unit,
        None if value == 0.0 => units.first().copied().unwrap_or(("", 1.0)),
        None => units.last().copied().unwrap_or(("", 1.0)),
    };
    let unit = if value == 0.0 && one > 1.0 {
        units.last().map_or("", |last| last.0)
    } else {
        unit
    };
    format!("{} {unit}", digits(value / one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_the_unit_that_suits_them() {
        assert_eq!(rate(12.5e6), "100 Mbps");
        assert_eq!(duration(5e-5), "50 us");
        assert_eq!(duration(0.0), "0 s");
        assert_eq!(size(0.0), "0 B");
        assert_eq!(size(999.99), "1 kB");
        assert_eq!(speed(1.5e9), "1.5 GHz");
        assert_eq!(work(123_456.0), "123.5 Kinstr");
        assert_eq!(duration(1.234_567e-12), "0.001235 ns");
        assert_eq!(rate(1e20), "8.000e8 Tbps");
    }

    #[test]
    fn seconds_have_the_digits_that_somebody_reads() {
        let shown = [0.0, 1.5e-7, 0.012_345, 21.049, 1e12, 1e200].map(seconds);
        let expected = [
            "0.00",
            "1.50e-7",
            "0.0123",
            "21.05",
            "1000000000000.00",
            "1.0000e200",
        ];
        assert_eq!(shown, expected);
    }
}
