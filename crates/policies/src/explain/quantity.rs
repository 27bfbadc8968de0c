//! Quantities of sentences: a name, a unit, a definition and a value, from which words and JSON are both written.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::numbers::duration;

/// The unit of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// A duration or an instant \[s\].
    Seconds,
    /// A whole number of things, or the number of a superstep.
    Count,
    /// A number without a unit.
    Number,
    /// A hundredth.
    Percent,
    /// An amount of memory \[B\].
    Bytes,
    /// A speed \[instr/s\].
    InstructionsPerSecond,
}

/// The meaning of a quantity: the same wherever its name occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    name: Cow<'static, str>,
    unit: Unit,
    definition: &'static str,
}

/// A quantity in a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    meaning: Meaning,
    value: Value,
    shown: String,
}

impl Unit {
    /// The unit in JSON.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Count | Self::Number => "1",
            Self::Percent => "%",
            Self::Bytes => "B",
            Self::InstructionsPerSecond => "instr/s",
        }
    }
}

impl Meaning {
    /// A quantity by its name in JSON, with the equation or words that define it.
    pub const fn new(name: &'static str, unit: Unit, definition: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            unit,
            definition,
        }
    }

    /// A number that a policy has written into its record without a definition.
    pub fn recorded(name: &str) -> Self {
        Self {
            name: Cow::Owned(name.to_owned()),
            unit: Unit::Number,
            definition: "as the record of the policy has it",
        }
    }

    /// The name in JSON.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The unit of its values.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The definition.
    pub fn definition(&self) -> &'static str {
        self.definition
    }

    /// The quantity with this value, shown as its unit wants it.
    pub fn of(&self, value: f64) -> Quantity {
        let shown = match self.unit {
            Unit::Seconds => duration(value),
            Unit::Count | Unit::Number => value.to_string(),
            Unit::Percent => format!("{value:.1} %"),
            Unit::Bytes => format!("{value:.0} B"),
            Unit::InstructionsPerSecond => format!("{:.3} Ginstr/s", value / 1e9),
        };
        self.with(json!(value), shown)
    }

    /// The quantity with this whole number.
    pub fn count(&self, value: u64) -> Quantity {
        self.with(json!(value), value.to_string())
    }

    /// The quantity with a number of a record, shown with all its digits.
    pub fn as_recorded(&self, value: &Value) -> Quantity {
        self.with(value.clone(), value.to_string())
    }

    fn with(&self, value: Value, shown: String) -> Quantity {
        Quantity {
            meaning: self.clone(),
            value,
            shown,
        }
    }
}

impl Quantity {
    /// The same quantity in other words or with other digits.
    #[must_use]
    pub fn shown_as(mut self, shown: impl Into<String>) -> Self {
        self.shown = shown.into();
        self
    }

    /// The meaning.
    pub fn meaning(&self) -> &Meaning {
        &self.meaning
    }

    /// The value in JSON.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The value as it stands in the sentence.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Name and value.
    pub fn to_json(&self) -> Value {
        json!({ "name": self.meaning.name, "value": self.value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_is_shown_in_its_unit_and_keeps_its_value() {
        let shown = |unit, value| {
            let meaning = Meaning::new("q", unit, "a quantity");
            let quantity = meaning.of(value);
            assert_eq!(quantity.to_json(), json!({ "name": "q", "value": value }));
            quantity.shown().to_owned()
        };
        assert_eq!(shown(Unit::Seconds, 0.001_234_56), "1.235 ms");
        assert_eq!(shown(Unit::Number, 0.68), "0.68");
        assert_eq!(shown(Unit::Percent, 8.349), "8.3 %");
        assert_eq!(shown(Unit::Bytes, 320_000.0), "320000 B");
        assert_eq!(shown(Unit::InstructionsPerSecond, 2.4e9), "2.400 Ginstr/s");
        let units = [Unit::Count, Unit::Percent, Unit::InstructionsPerSecond].map(Unit::symbol);
        assert_eq!(units, ["1", "%", "instr/s"]);
    }
}
