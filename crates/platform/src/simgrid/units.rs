//! Parses quantities with the units of `SimGrid`: `1.5Gf`, `125MBps`, `100us`.

pub(super) struct Units {
    pub quantity: &'static str,
    base_unit_factors: &'static [(&'static str, f64)],
    /// Unit of a number that is written without a unit.
    pub base_unit: &'static str,
    /// Whether the units can have a prefix: k, M, G, Ki, Mi, Gi, and so on.
    has_prefixes: bool,
    /// List of the most common units, for messages.
    unit_examples: &'static str,
}

/// Units of speeds in floating-point operations per second, each of which counts as one instruction.
pub(super) const SPEED_UNITS: Units = Units {
    quantity: "speed",
    base_unit: "f",
    base_unit_factors: &[("f", 1.0), ("flops", 1.0)],
    has_prefixes: true,
    unit_examples: "f, kf, Mf, Gf, Tf",
};

pub(super) const BANDWIDTH_UNITS: Units = Units {
    quantity: "bandwidth",
    base_unit: "Bps",
    base_unit_factors: &[("Bps", 1.0), ("bps", 0.125)],
    has_prefixes: true,
    unit_examples: "Bps, kBps, MBps, GBps, KiBps, MiBps, GiBps, bps, kbps, Mbps, Gbps",
};

pub(super) const LATENCY_UNITS: Units = Units {
    quantity: "latency",
    base_unit: "s",
    base_unit_factors: &[
        ("ps", 1e-12),
        ("ns", 1e-9),
        ("us", 1e-6),
        ("ms", 1e-3),
        ("s", 1.0),
        ("m", 60.0),
        ("h", 3600.0),
        ("d", 86400.0),
        ("w", 604_800.0),
    ],
    has_prefixes: false,
    unit_examples: "ps, ns, us, ms, s, m, h, d, w",
};

const PREFIXES: &[(&str, f64)] = &[
    ("", 1.0),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("E", 1e18),
    ("Z", 1e21),
    ("Y", 1e24),
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
    ("Ei", 1_152_921_504_606_846_976.0),
    ("K", 1e3),
    ("kilo", 1e3),
    ("mega", 1e6),
    ("giga", 1e9),
    ("tera", 1e12),
    ("peta", 1e15),
    ("exa", 1e18),
    ("zetta", 1e21),
    ("yotta", 1e24),
];

impl Units {
    fn unit_factor(&self, unit: &str) -> Option<f64> {
        self.base_unit_factors.iter().find_map(|(base, factor)| {
            let prefix = unit.strip_suffix(base)?;
            let known = if self.has_prefixes {
                PREFIXES
            } else {
                &PREFIXES[..1]
            };
            let (_, scale) = known.iter().find(|(name, _)| *name == prefix)?;
            Some(scale * factor)
        })
    }
}

/// Parses a quantity; returns its value in the SI unit, and whether the text has no unit. A number without a unit is already in
/// the SI unit.
pub(super) fn parse_with_units(text: &str, units: &Units) -> Result<(f64, bool), String> {
    let quantity = units.quantity;
    let text = text.trim();
    let Some((number, unit)) = split_unit(text) else {
        return Err(format!("`{text}` is not a {quantity}"));
    };
    if unit.is_empty() {
        return Ok((number, true));
    }
    match units.unit_factor(unit) {
        Some(factor) => Ok((number * factor, false)),
        None => Err(format!(
            "unknown unit `{unit}` for a {quantity} (known units: {})",
            units.unit_examples
        )),
    }
}

fn split_unit(text: &str) -> Option<(f64, &str)> {
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    let end = text.find(|c| !digits(c)).unwrap_or(text.len());
    // At most an `E` (exa) belongs to the unit instead of the number.
    let shortest = end.saturating_sub(1);
    (shortest..=end)
        .rev()
        .find_map(|end| Some((text[..end].parse().ok()?, text[end..].trim())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_simgrid_are_read() {
        let read = |text, units: &Units| parse_with_units(text, units).unwrap().0;
        assert_eq!(read("1.5Gf", &SPEED_UNITS), 1.5e9);
        assert_eq!(read("2Ef", &SPEED_UNITS), 2e18);
        assert_eq!(read("1e3kf", &SPEED_UNITS), 1e6);
        assert_eq!(read("10 Mflops", &SPEED_UNITS), 1e7);
        assert_eq!(read("125MBps", &BANDWIDTH_UNITS), 125e6);
        assert_eq!(read("1Gbps", &BANDWIDTH_UNITS), 125e6);
        assert_eq!(read("1KiBps", &BANDWIDTH_UNITS), 1024.0);
        assert_eq!(read("1.56e-06s", &LATENCY_UNITS), 1.56e-6);
        assert_eq!(read("2m", &LATENCY_UNITS), 120.0);
    }
}
