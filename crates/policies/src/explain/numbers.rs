//! Formatting of numbers in the sentences of `migsim explain`.

/// Returns a duration given in seconds as a text in a suitable unit, such as `3.2 ms`.
pub fn format_duration(seconds: f64) -> String {
    match seconds.abs() {
        0.0 => "0 s".into(),
        1.0.. => format!("{seconds:.3} s"),
        1e-4.. => format!("{:.3} ms", seconds * 1e3),
        _ => format!("{:.3} us", seconds * 1e6),
    }
}

/// Returns the factor by which a time changes by a move: `go` divided by `stay`; 1 if `stay` is 0.
pub fn time_ratio(go: f64, stay: f64) -> f64 {
    let ratio = go / stay;
    if stay > 0.0 && ratio.is_finite() {
        ratio
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_unit_that_suits_them() {
        let shown = [12.5, -0.00076, 2e-6, 0.0].map(format_duration);
        assert_eq!(shown, ["12.500 s", "-0.760 ms", "2.000 us", "0 s"]);
    }
}
