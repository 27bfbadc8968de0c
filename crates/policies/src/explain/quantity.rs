//! Quantities in sentences: each has a name, a unit, a definition and a value, from which both the words and the JSON are
//! written.

use std::borrow::Cow;

use serde_json::{Value, json};

use super::numbers::format_duration;

/// The unit of a quantity in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unit {
    /// A duration or a point in simulated time \[s\].
    Seconds,
    /// A whole number that counts things, or the number of a superstep; without a unit.
    Count,
    /// A real number without a unit, such as a factor.
    Number,
    /// A share as a percentage \[%\]: the value 5 stands for 5 %.
    Percent,
    /// An amount of data or memory \[B\].
    Bytes,
    /// A computing speed in instructions per second \[instr/s\].
    InstructionsPerSecond,
}

/// The name, unit and definition of a quantity, which are the same for every value of this quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    name: Cow<'static, str>,
    unit: Unit,
    definition: &'static str,
}

/// A value of a quantity with its name, unit and definition, and the text that stands for it in a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    meaning: Meaning,
    value: Value,
    shown_text: String,
}

impl Unit {
    /// Returns the symbol of the unit, as written in JSON.
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
    /// Creates the meaning of a quantity from its name in JSON, its unit, and the equation or words that define it.
    pub const fn new(name: &'static str, unit: Unit, definition: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            unit,
            definition,
        }
    }

    /// Creates the meaning of a number that a policy has written into its decision record without a definition.
    pub fn without_definition(name: &str) -> Self {
        Self {
            name: Cow::Owned(name.to_owned()),
            unit: Unit::Number,
            definition: "a value that the policy recorded under this name",
        }
    }

    /// Returns the name of the quantity in JSON.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the unit of the quantity.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// Returns the equation or words that define the quantity.
    pub fn definition(&self) -> &'static str {
        self.definition
    }

    /// Returns the quantity with this value, which the sentence shows in the unit of the quantity.
    pub fn with_value(&self, value: f64) -> Quantity {
        let shown = match self.unit {
            Unit::Seconds => format_duration(value),
            Unit::Count | Unit::Number => value.to_string(),
            Unit::Percent => format!("{value:.1} %"),
            Unit::Bytes => format!("{value:.0} B"),
            Unit::InstructionsPerSecond => format!("{:.3} Ginstr/s", value / 1e9),
        };
        self.with_value_and_text(json!(value), shown)
    }

    /// Returns the quantity with this whole number as its value, which the sentence shows unchanged.
    pub fn with_count(&self, value: u64) -> Quantity {
        self.with_value_and_text(json!(value), value.to_string())
    }

    /// Returns the quantity with a number from a decision record as its value, which the sentence shows with all its digits.
    pub fn with_recorded_value(&self, value: &Value) -> Quantity {
        self.with_value_and_text(value.clone(), value.to_string())
    }

    fn with_value_and_text(&self, value: Value, shown: String) -> Quantity {
        Quantity {
            meaning: self.clone(),
            value,
            shown_text: shown,
        }
    }
}

impl Quantity {
    /// Returns the same quantity with another text, which replaces the value in the sentence.
    #[must_use]
    pub fn with_shown_text(mut self, shown: impl Into<String>) -> Self {
        self.shown_text = shown.into();
        self
    }

    /// Returns the name, unit and definition of the quantity.
    pub fn meaning(&self) -> &Meaning {
        &self.meaning
    }

    /// Returns the value of the quantity in JSON.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the text that stands for the value in the sentence.
    pub fn shown_text(&self) -> &str {
        &self.shown_text
    }

    /// Returns a JSON object with the name and the value of the quantity.
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
            let quantity = meaning.with_value(value);
            assert_eq!(quantity.to_json(), json!({ "name": "q", "value": value }));
            quantity.shown_text().to_owned()
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
