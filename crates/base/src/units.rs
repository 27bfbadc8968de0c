//! Quantities with their units as types, and the identifiers of clusters, hosts, links and processes.
//!
//! An instant is not a duration and a byte is not an instruction, so each has its own type. The number inside a quantity is
//! private, the constructors refuse NaN and values out of range, and only meaningful operations exist. Input files write units
//! (`"1.5 GHz"`, `"100 Mbps"`, `"100 us"`); a bare number is refused.
//!
//! Prefixes are decimal (1 kB = 1000 B); binary prefixes are written `KiB`, `MiB`, `GiB`. `b` is a bit and `B` a byte. Some units
//! have other common spellings (`Mb/s` for `Mbps`, `Gf` for `Ginstr/s`); messages list one spelling of each unit. The table of
//! all units is in the book (`docs/reference/units.md`).

use std::{
    fmt,
    ops::{Add, AddAssign, Div, Mul, Sub},
    str::FromStr,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// The reason why a text cannot be read as a quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnitError(String);

#[derive(Clone, Copy, Debug)]
struct UnitNames {
    /// The names of units that error messages list, each with the factor that converts a value in this unit to the base unit.
    listed_units: &'static [(&'static str, f64)],
    /// Further accepted names of units, each with the factor that converts a value in this unit to the base unit.
    unit_aliases: &'static [(&'static str, f64)],
}

impl UnitNames {
    /// Returns an iterator over all names of units and their factors, the listed names first.
    fn iter(self) -> impl Iterator<Item = &'static (&'static str, f64)> {
        self.listed_units.iter().chain(self.unit_aliases)
    }
}

/// Parses a text that consists of a number and a unit, and returns the value in the base unit of the quantity.
fn parse_quantity(
    text: &str,
    quantity: &'static str,
    example: &'static str,
    units: UnitNames,
) -> Result<f64, UnitError> {
    let text = text.trim();
    // An exponent is part of the number only if digits follow it, as in `1e3 B`; in `1 EB` and `1e` there is no exponent.
    let mut end = 0;
    let bytes = text.as_bytes();
    while end < bytes.len() {
        let c = bytes[end];
        let sign_ok = end == 0 || matches!(bytes[end - 1], b'e' | b'E');
        let exponent_ok = end > 0
            && matches!(c, b'e' | b'E')
            && bytes.get(end + 1).is_some_and(|&n| {
                n.is_ascii_digit()
                    || ((n == b'-' || n == b'+')
                        && bytes.get(end + 2).is_some_and(u8::is_ascii_digit))
            });
        if c.is_ascii_digit() || c == b'.' || ((c == b'-' || c == b'+') && sign_ok) || exponent_ok {
            end += 1;
        } else {
            break;
        }
    }
    let (number, unit) = text.split_at(end);
    let Ok(value) = number.parse::<f64>() else {
        return Err(UnitError(format!(
            "`{text}` is not a number with a unit (for example `{example}`)"
        )));
    };
    let unit = unit.trim();
    if unit.is_empty() {
        return Err(UnitError(format!(
            "`{text}` has no unit (write for example `{example}`)"
        )));
    }
    match units.iter().find(|(name, _)| *name == unit) {
        Some((_, 1.0)) => Ok(value),
        Some((_, scale)) => Ok(parse_and_scale_number(number, *scale).unwrap_or(value * scale)),
        None => {
            let known: Vec<&str> = units.listed_units.iter().map(|(name, _)| *name).collect();
            Err(UnitError(format!(
                "unknown unit `{unit}` for a {quantity} (known units: {})",
                known.join(", ")
            )))
        }
    }
}

/// Returns the product of the number in a text and `scale`; `None` if the text is not a number. A power of ten is added to the
/// exponent in the text, so that the value is rounded only once: `20.4 us` becomes 20.4e-6.
fn parse_and_scale_number(number: &str, scale: f64) -> Option<f64> {
    let power: i32 = format!("{scale:e}").strip_prefix("1e")?.parse().ok()?;
    let (digits, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let exponent = exponent.parse::<i32>().ok()?.checked_add(power)?;
    format!("{digits}e{exponent}").parse().ok()
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $what:literal, $unit:literal, $example:literal, $least:literal..=$most:literal, $units:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        pub struct $name(f64);

        impl $name {
            /// Symbol of the unit in which [`Self::get`] returns the value.
            pub const UNIT: &'static str = $unit;

            /// Range of the values that input may contain, in [`Self::UNIT`]; values that the simulation computes may be larger.
            pub const RANGE: std::ops::RangeInclusive<f64> = $least..=$most;

            /// The units that are accepted in texts.
            const UNITS: UnitNames = $units;

            /// Creates the quantity, or `None` if `value` is not in [`Self::RANGE`].
            pub fn new(value: f64) -> Option<Self> {
                Self::RANGE.contains(&value).then_some(Self(value))
            }

            /// Creates the quantity from a number in [`Self::UNIT`] that the simulation has computed. An infinite number is
            /// replaced by the largest finite number.
            #[allow(dead_code, reason = "not every quantity is computed")]
            pub fn of(value: f64) -> Self {
                debug_assert!(value >= 0.0, "{value} is no {}", $what);
                Self(value.min(f64::MAX))
            }

            /// Returns the value as a number, in [`Self::UNIT`].
            pub const fn get(self) -> f64 {
                self.0
            }

            /// Parses a number with a unit, such as `1.5 GHz`.
            ///
            /// # Errors
            /// The text has no number, no unit, an unknown unit, or a value out of range.
            pub fn parse(text: &str) -> Result<Self, UnitError> {
                Self::new(parse_quantity(text, $what, $example, Self::UNITS)?).ok_or_else(|| {
                    let least = if $least > 0.0 { stringify!($least) } else { "0" };
                    UnitError(format!(
                        concat!($what, " `{}` is out of range (it must be from {} to ", stringify!($most), " ", $unit, ")"),
                        text.trim(), least
                    ))
                })
            }
        }

        /// Formats the quantity as the shortest text that [`Self::parse`] converts back into the same value.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_number(f, self.0)?;
                write!(f, " {}", $unit)
            }
        }

        impl std::str::FromStr for $name {
            type Err = UnitError;
            fn from_str(text: &str) -> Result<Self, UnitError> {
                Self::parse(text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl serde::de::Visitor<'_> for Visitor {
                    type Value = $name;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "a {} with its unit, for example \"{}\"", $what, $example)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        $name::parse(text).map_err(E::custom)
                    }
                }
                deserializer.deserialize_any(Visitor)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let units = Self::UNITS.iter().map(|(name, _)| name.replace('/', "\\/")).collect::<Vec<_>>().join("|");
                schemars::json_schema!({
                    "type": "string",
                    "description": concat!("a ", $what, " with its unit"),
                    "examples": [$example],
                    "pattern": format!("^\\s*\\+?[0-9]*\\.?[0-9]+([eE][+-]?[0-9]+)?\\s*({units})\\s*$"),
                })
            }
        }
    };
}

quantity!(
    /// A duration, in seconds \[s\]; from 0 to 1e15 s.
    ///
    /// ```
    /// use migsim_base::units::Seconds;
    /// assert_eq!(Seconds::parse("100 us")?.get(), 1e-4);
    /// assert!(Seconds::parse("100").is_err()); // a bare number is refused
    /// # Ok::<(), migsim_base::units::UnitError>(())
    /// ```
    Seconds, "duration", "s", "100 us", 0.0..=1e15,
    UnitNames {
        listed_units: &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("min", 60.0), ("h", 3600.0)],
        unit_aliases: &[("µs", 1e-6)],
    }
);
quantity!(
    /// An amount of data, in bytes \[B\]; from 0 to 1e21 B.
    Bytes, "size", "B", "1.2 MB", 0.0..=1e21,
    UnitNames {
        listed_units: &[("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12),
                  ("KiB", 1024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0), ("TiB", 1_099_511_627_776.0)],
        unit_aliases: &[("KB", 1e3)],
    }
);
quantity!(
    /// A transfer rate, in bytes per second \[B/s\]; from 1e-9 to 1e21 B/s.
    BytesPerSecond, "bandwidth", "B/s", "100 Mbps", 1e-9..=1e21,
    UnitNames {
        listed_units: &[("B/s", 1.0), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9), ("TB/s", 1e12),
                  ("bps", 1.0 / 8.0), ("kbps", 125.0), ("Mbps", 125e3), ("Gbps", 125e6), ("Tbps", 125e9)],
        unit_aliases: &[("Bps", 1.0), ("kBps", 1e3), ("MBps", 1e6), ("GBps", 1e9),
                ("b/s", 1.0 / 8.0), ("kb/s", 125.0), ("Mb/s", 125e3), ("Gb/s", 125e6), ("Tb/s", 125e9),
                ("bit/s", 1.0 / 8.0), ("kbit/s", 125.0), ("Mbit/s", 125e3), ("Gbit/s", 125e6), ("Tbit/s", 125e9),
                ("KiB/s", 1024.0), ("MiB/s", 1_048_576.0), ("GiB/s", 1_073_741_824.0)],
    }
);
quantity!(
    /// An amount of computation, in instructions \[instr\]; from 0 to 1e21 instr.
    Instructions, "computation", "instr", "1e9 instr", 0.0..=1e21,
    UnitNames {
        listed_units: &[("instr", 1.0), ("Kinstr", 1e3), ("Minstr", 1e6), ("Ginstr", 1e9), ("Tinstr", 1e12)],
        unit_aliases: &[("kinstr", 1e3), ("flop", 1.0), ("kflop", 1e3), ("Mflop", 1e6), ("Gflop", 1e9), ("Tflop", 1e12)],
    }
);
quantity!(
    /// The speed of one core, in instructions per second \[instr/s\]; from 1e-9 to 1e21 instr/s. A clock of 1 GHz equals 1e9
    /// instructions per second for a workload of one cycle per instruction; the unit 1 Gf of `SimGrid` equals the same speed.
    InstructionsPerSecond, "speed", "Hz", "1.5 GHz", 1e-9..=1e21,
    UnitNames {
        listed_units: &[("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9), ("THz", 1e12),
                  ("instr/s", 1.0), ("Minstr/s", 1e6), ("Ginstr/s", 1e9), ("Gf", 1e9)],
        unit_aliases: &[("Tinstr/s", 1e12), ("f", 1.0), ("kf", 1e3), ("Mf", 1e6), ("Tf", 1e12),
                ("flops", 1.0), ("kflops", 1e3), ("Mflops", 1e6), ("Gflops", 1e9), ("Tflops", 1e12),
                ("flop/s", 1.0), ("kflop/s", 1e3), ("Mflop/s", 1e6), ("Gflop/s", 1e9), ("Tflop/s", 1e12)],
    }
);

/// Accepted range of the number of clock cycles that an application needs per instruction.
pub const CYCLES: std::ops::RangeInclusive<f64> = 1e-9..=1e9;
/// Hint in the error message about a number of clock cycles outside [`CYCLES`].
pub const CYCLES_HINT: &str = "give a number from 1e-9 to 1e9";

/// An instant of simulated time, in seconds since the start of the run \[s\]; finite, not negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Time(f64);

impl Time {
    /// The instant at which the run starts.
    pub const ZERO: Self = Self(0.0);

    /// Creates the instant that is `seconds` after the start of the run; `None` if the number is negative, infinite or NaN.
    pub fn new(seconds: f64) -> Option<Self> {
        (seconds.is_finite() && seconds >= 0.0).then_some(Self(seconds))
    }

    /// Returns the time since the start of the run \[s\].
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Returns the duration from `earlier` to this instant; zero if `earlier` is in fact later.
    pub fn since(self, earlier: Self) -> Seconds {
        Seconds((self.0 - earlier.0).max(0.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_number(f, self.0)?;
        f.write_str(" s")
    }
}

/// Writes a number as a text that is parsed back as the same value. The text has an exponent if there would be more than 16
/// digits before or after the decimal point.
fn write_number(f: &mut fmt::Formatter<'_>, number: f64) -> fmt::Result {
    if number == 0.0 || (1e-16..1e16).contains(&number) {
        write!(f, "{number}")
    } else {
        write!(f, "{number:e}")
    }
}

/// Converts a count or an index to 32 bits, the size of all identifiers. The program panics if the number does not fit, since
/// this is an internal error.
#[inline]
pub fn to_u32(count: usize) -> u32 {
    u32::try_from(count)
        .expect("runs hold fewer than 2^32 processes, messages, flows, hosts and links")
}

/// Returns the lesser of two ordered values, and `b` if the values are equal. Unlike `f64::min`, this function does not treat NaN
/// separately and therefore compiles to one machine instruction.
#[inline]
pub fn lesser<T: PartialOrd>(a: T, b: T) -> T {
    if a < b { a } else { b }
}

/// Returns the greater of two ordered values, and `b` if the values are equal.
#[inline]
pub fn greater<T: PartialOrd>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

impl Add<Seconds> for Time {
    type Output = Self;
    fn add(self, duration: Seconds) -> Self {
        Self(self.0 + duration.0)
    }
}

impl Add for Seconds {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self((self.0 + other.0).min(f64::MAX))
    }
}

impl AddAssign for Seconds {
    fn add_assign(&mut self, other: Self) {
        self.0 = (self.0 + other.0).min(f64::MAX);
    }
}

/// Subtraction of durations; the result is never below zero, because a duration cannot be negative.
impl Sub for Seconds {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self((self.0 - other.0).max(0.0))
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self((self.0 + other.0).min(f64::MAX))
    }
}

impl Mul<f64> for Bytes {
    type Output = Self;
    fn mul(self, factor: f64) -> Self {
        Self((self.0 * factor).min(f64::MAX))
    }
}

impl Div<BytesPerSecond> for Bytes {
    type Output = Seconds;
    fn div(self, rate: BytesPerSecond) -> Seconds {
        Seconds((self.0 / rate.0).min(f64::MAX))
    }
}

impl Div<InstructionsPerSecond> for Instructions {
    type Output = Seconds;
    /// Returns the duration of a computation at this speed; at most the largest finite number.
    fn div(self, speed: InstructionsPerSecond) -> Seconds {
        Seconds((self.0 / speed.0).min(f64::MAX))
    }
}

impl Bytes {
    /// The amount of zero bytes.
    pub const ZERO: Self = Self(0.0);
}

impl Seconds {
    /// The duration zero.
    pub const ZERO: Self = Self(0.0);
}

macro_rules! identity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        pub struct $name(pub u32);

        impl $name {
            /// Creates the identifier of the object at position `index`, counted from 0, in the list of all objects of its kind.
            #[inline]
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("loaders refuse inputs with more than u32::MAX things of a kind"))
            }

            /// Returns the position, counted from 0, of the object in the list of all objects of its kind.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

identity!(
    /// Identifier of a cluster (a "Set" in the papers), counted from 0 in the order of the platform file.
    ClusterId
);
identity!(
    /// Identifier of a host, counted from 0; the hosts of the same cluster have consecutive numbers.
    HostId
);
identity!(
    /// Identifier of a network link, counted from 0 over all links of the platform.
    LinkId
);
identity!(
    /// Identifier of a BSP process, counted from 0 inside the program and from 1 in all input and output (as in the papers).
    ///
    /// ```
    /// use migsim_base::units::ProcessId;
    /// assert_eq!("p24".parse(), Ok(ProcessId(23))); // as all output writes it
    /// assert_eq!("24".parse(), Ok(ProcessId(23)));
    /// assert!("p0".parse::<ProcessId>().is_err());
    /// ```
    ProcessId
);

/// The error that a text is not the number of a process; it contains this text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a process number; write `p24` or `24` (processes are counted from 1)")]
pub struct InvalidProcessNumber(String);

impl FromStr for ProcessId {
    type Err = InvalidProcessNumber;

    fn from_str(text: &str) -> Result<Self, InvalidProcessNumber> {
        let digits = text.strip_prefix('p').unwrap_or(text);
        let number = digits.parse::<u32>().ok();
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        number
            .filter(|_| is_number)
            .and_then(|number| number.checked_sub(1))
            .map(Self)
            .ok_or_else(|| InvalidProcessNumber(text.to_owned()))
    }
}

/// Deserializes the number of a process, counted from 1, from `24`, `"24"` or `"p24"`. Fields of file formats use this function
/// through the serde attribute `deserialize_with`, together with the schema of [`process_number_schema`].
///
/// # Errors
/// The value has none of these forms.
pub fn process_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Given {
        Number(u64),
        Text(String),
    }
    const EXPECTED: &str = "expected a process number counted from 1, as `24` or `\"p24\"`";
    let text = match Given::deserialize(deserializer).map_err(|_| Error::custom(EXPECTED))? {
        Given::Number(number) => number.to_string(),
        Given::Text(text) => text,
    };
    let process: ProcessId = text.parse().map_err(Error::custom)?;
    Ok(process.0 + 1)
}

/// Returns the JSON schema of the number of a process.
pub fn process_number_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "anyOf": [
            { "type": "integer", "minimum": 1, "maximum": u32::MAX },
            { "type": "string", "pattern": "^p?[0-9]+$" },
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units_are_read_exactly() {
        assert_eq!(
            InstructionsPerSecond::parse("1.5 GHz").unwrap().get(),
            1.5e9
        );
        assert_eq!(BytesPerSecond::parse("100 Mbps").unwrap().get(), 12.5e6);
        assert_eq!(BytesPerSecond::parse("125MB/s").unwrap().get(), 125e6);
        assert_eq!(Seconds::parse("1e-3s").unwrap().get(), 1e-3);
        assert_eq!(Seconds::parse("20.4 us").unwrap().get(), 20.4e-6);
        assert_eq!(Seconds::parse("1.5E+3 us").unwrap().get(), 1.5e-3);
        assert_eq!(Bytes::parse("1e3 B").unwrap().get(), 1000.0);
    }

    #[test]
    fn other_spellings_of_a_unit_are_the_same_unit() {
        let speed = |text| InstructionsPerSecond::parse(text).unwrap().get();
        for text in [
            "2.4 Gf",
            "2.4Gflops",
            "2.4 Gflop/s",
            "2.4 Ginstr/s",
            "2400 Mf",
        ] {
            assert_eq!(speed(text), 2.4e9, "{text}");
        }
        let bandwidth = |text| BytesPerSecond::parse(text).unwrap().get();
        for text in ["100 Mb/s", "100 Mbit/s", "0.1 Gb/s", "12.5 MB/s"] {
            assert_eq!(bandwidth(text), bandwidth("100 Mbps"), "{text}");
        }
        assert_eq!(bandwidth("1 MiB/s"), 1_048_576.0);
        // Units that differ only in upper and lower case are not guessed.
        for text in ["100 mbps", "100 MBPS", "100 mb/s"] {
            assert!(BytesPerSecond::parse(text).is_err(), "{text}");
        }
        assert!(InstructionsPerSecond::parse("1 GF").is_err());
    }

    #[test]
    fn the_book_lists_every_unit() {
        let page = include_str!("../../../docs/reference/units.md");
        let table = page.split("| quantity | units |").nth(1).unwrap();
        let table = table.split("\n\n").next().unwrap();
        let units = [
            Seconds::UNITS,
            Bytes::UNITS,
            BytesPerSecond::UNITS,
            Instructions::UNITS,
            InstructionsPerSecond::UNITS,
        ];
        for (name, _) in units.into_iter().flat_map(UnitNames::iter) {
            assert!(table.contains(&format!("`{name}`")), "{name}");
        }
    }

    #[test]
    fn processes_are_named_as_output_names_them_and_counted_from_one() {
        let read = |text: &str| text.parse::<ProcessId>().ok().map(ProcessId::index);
        assert_eq!(
            ["p1", "24", "p4294967295"].map(read),
            [0, 23, 4_294_967_294].map(Some)
        );
        assert!(
            [
                "p0",
                "0",
                "",
                "p",
                "P3",
                "+3",
                "p-3",
                "pp3",
                " 3",
                "4294967296"
            ]
            .map(read)
            .iter()
            .all(Option::is_none)
        );
    }

    #[test]
    fn a_quantity_prints_as_a_text_that_reads_back() {
        for value in [0.1, 1e-300, 5.7e-6, 12_500_000.0] {
            let text = Seconds::new(value).unwrap().to_string();
            assert_eq!(Seconds::parse(&text).unwrap().get(), value, "{text}");
            assert!(text.len() < 16, "{text}");
        }
        assert_eq!(Seconds::of(0.0).to_string(), "0 s");
        assert_eq!(Time::new(1.5e16).unwrap().to_string(), "1.5e16 s");
    }

    #[test]
    fn what_is_not_a_quantity_is_refused_with_the_reason() {
        for (text, why) in [
            ("100", "has no unit"),
            ("fast", "is not a number"),
            ("1 GHz", "unknown unit `GHz`"),
            ("-1 s", "out of range"),
            ("1e16 s", "out of range"),
        ] {
            let reason = Seconds::parse(text).unwrap_err().to_string();
            assert!(reason.contains(why), "{reason}");
        }
        assert_eq!(
            BytesPerSecond::parse("1e-10 B/s").unwrap_err().to_string(),
            "bandwidth `1e-10 B/s` is out of range (it must be from 1e-9 to 1e21 B/s)"
        );
        assert!(Bytes::parse("1e").is_err());
    }
}
