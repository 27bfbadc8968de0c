//! Formats quantities for people: with four digits, in a unit of suitable size.

/// Duration from which on durations are written with an exponent instead of all their digits \[s\]; it equals about 300 000
/// years.
pub const AGES: f64 = 1e13;

/// Formats a duration \[s\] as a number of seconds without its unit. The number has two decimals, as in the papers, and more if
/// it is below 1 s.
pub fn format_seconds(value: f64) -> String {
    match value {
        0.0 => "0.00".into(),
        AGES.. => format!("{value:.4e}"),
        1.0.. => format!("{value:.2}"),
        0.001.. => format!("{value:.4}"),
        _ => format!("{value:.2e}"),
    }
}

/// Returns a time \[s\] with three decimals in a suitable unit, such as `3.200 ms`, for sentences.
pub fn format_time(seconds: f64) -> String {
    match seconds.abs() {
        0.0 => "0 s".into(),
        1.0.. => format!("{seconds:.3} s"),
        1e-4.. => format!("{:.3} ms", seconds * 1e3),
        _ => format!("{:.3} us", seconds * 1e6),
    }
}

/// Returns a percentage with one decimal, such as `8.3 %`.
pub fn format_percent(percent: f64) -> String {
    format!("{percent:.1} %")
}

/// Formats a duration, given in seconds, with the suitable unit of s, ms, us and ns.
pub fn format_duration(seconds: f64) -> String {
    format_in_suitable_unit(
        seconds,
        &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)],
    )
}

/// Formats a data rate, given in bytes per second, in the suitable unit of bits per second (bps to Tbps).
pub fn format_data_rate(bytes_per_second: f64) -> String {
    format_in_suitable_unit(
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

/// Formats a speed of computation, given in instructions per second, in the suitable unit from Hz to THz.
pub fn format_speed(instructions_per_second: f64) -> String {
    format_in_suitable_unit(
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

/// Formats an amount of data, given in bytes, in the suitable decimal unit.
pub fn format_data_size(bytes: f64) -> String {
    format_in_suitable_unit(
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

/// Formats an amount of computation, given in instructions, in the suitable unit.
pub fn format_work(instructions: f64) -> String {
    format_in_suitable_unit(
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

/// Formats a number with four significant digits (with at least three decimals if it is below 1), without trailing zeros.
pub fn format_four_digits(value: f64) -> String {
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

/// Formats a value with the largest unit for which the number is at least 1, or with the smallest unit if there is none. The
/// `units` are pairs of name and factor, in decreasing order of the factor.
fn format_in_suitable_unit(value: f64, units: &[(&str, f64)]) -> String {
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
    format!("{} {unit}", format_four_digits(value / one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_the_unit_that_suits_them() {
        assert_eq!(format_data_rate(12.5e6), "100 Mbps");
        let shown = [12.5, -0.00076, 2e-6, 0.0].map(format_time);
        assert_eq!(shown, ["12.500 s", "-0.760 ms", "2.000 us", "0 s"]);
        assert_eq!(format_duration(5e-5), "50 us");
        assert_eq!(format_duration(0.0), "0 s");
        assert_eq!(format_data_size(0.0), "0 B");
        assert_eq!(format_data_size(999.99), "1 kB");
        assert_eq!(format_speed(1.5e9), "1.5 GHz");
        assert_eq!(format_work(123_456.0), "123.5 Kinstr");
        assert_eq!(format_duration(1.234_567e-12), "0.001235 ns");
        assert_eq!(format_data_rate(1e20), "8.000e8 Tbps");
    }

    #[test]
    fn seconds_have_the_digits_that_somebody_reads() {
        let shown = [0.0, 1.5e-7, 0.012_345, 21.049, 1e12, 1e200].map(format_seconds);
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
