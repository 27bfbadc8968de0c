//! Processor time that the ends of messages take on the cores of their processes (the overhead o of the `LogP` model; Culler et al.
//! 1993), in contrast to `overhead`, a delay that occupies no core.
//!
//! ```text
//! time of an end = (per message + per byte · size) · growth     growth = 1 + o_per_core · (cores in use - 1) between hosts, else 1
//! ```
//! The time is that of a core of the host at its nominal speed. A process computes, then spends the time of each message that it
//! sends, one after the other, then that of the messages delivered to it. A message is handed to the network when its time is
//! spent. The processes of a host that compute or send share its cores equally; receives share the cores that these leave.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use migsim_base::units::{Seconds, UnitError};

/// Processor time that one end of a message takes: a time per message and a time per byte.
///
/// ```
/// let time = "20 us + 0.5 ns/B".parse::<migsim_engine::ProcessorTime>()?;
/// assert!((time.of_bytes(1e4) - 25e-6).abs() < 1e-12);
/// assert_eq!(time.to_string().parse(), Ok(time));
/// # Ok::<(), migsim_base::units::UnitError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProcessorTime {
    /// Time that each message takes.
    pub per_message: Seconds,
    /// Time that each byte of a message takes.
    pub per_byte: Seconds,
}

impl ProcessorTime {
    /// No time.
    pub const ZERO: Self = Self {
        per_message: Seconds::ZERO,
        per_byte: Seconds::ZERO,
    };

    /// Returns the time of a message of `bytes` bytes \[s\].
    #[inline]
    pub fn of_bytes(&self, bytes: f64) -> f64 {
        self.per_message.get() + self.per_byte.get() * bytes
    }

    /// Returns the time multiplied by `factor`.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let times = |one: Seconds| Seconds::of(one.get() * factor);
        Self {
            per_message: times(self.per_message),
            per_byte: times(self.per_byte),
        }
    }
}

/// Parses a time per message, a time per byte (`0.5 ns/B`), or their sum (`20 us + 0.5 ns/B`).
impl FromStr for ProcessorTime {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let mut time = Self::ZERO;
        for part in text.split(" + ") {
            match part.trim().strip_suffix("/B") {
                Some(part) => time.per_byte = Seconds::parse(part)?,
                None => time.per_message = Seconds::parse(part)?,
            }
        }
        Ok(time)
    }
}

impl fmt::Display for ProcessorTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.per_message)?;
        if self.per_byte > Seconds::ZERO {
            write!(f, " + {}/B", self.per_byte)?;
        }
        Ok(())
    }
}

impl TryFrom<String> for ProcessorTime {
    type Error = UnitError;

    fn try_from(text: String) -> Result<Self, UnitError> {
        text.parse()
    }
}

impl From<ProcessorTime> for String {
    fn from(time: ProcessorTime) -> Self {
        time.to_string()
    }
}

impl JsonSchema for ProcessorTime {
    fn schema_name() -> Cow<'static, str> {
        "ProcessorTime".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "a time per message, per byte, or both, with their units",
            "examples": ["20 us", "20 us + 0.5 ns/B"],
        })
    }
}
