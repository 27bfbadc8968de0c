//! Sentences with quantities, created from a template whose gaps `{}` are filled with texts, quantities and other sentences.

use serde_json::{Map, Value, json};

use super::quantity::Quantity;

/// A sentence with the quantities that occur in it, in the order of their appearance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sentence {
    text: String,
    quantities: Vec<Quantity>,
}

impl Sentence {
    /// Creates a sentence from a template, in which each gap `{}` is replaced by the next of `parts`.
    ///
    /// # Panics
    /// The number of gaps of the template is not the number of parts.
    pub fn from_template(template: &str, parts: impl IntoIterator<Item = Self>) -> Self {
        let mut sentence = Self::default();
        let mut texts = template.split("{}");
        sentence.text.push_str(texts.next().unwrap_or_default());
        for part in parts {
            sentence.push(part);
            let text = texts.next().expect("a gap of the template for each part");
            sentence.text.push_str(text);
        }
        assert!(texts.next().is_none(), "a gap is left over: {template}");
        sentence
    }

    /// Appends the text and the quantities of another sentence.
    pub fn push(&mut self, other: impl Into<Self>) {
        let other = other.into();
        self.text.push_str(&other.text);
        self.quantities.extend(other.quantities);
    }

    /// Creates one sentence that consists of `parts`, separated by the text `between`.
    pub fn joined(parts: impl IntoIterator<Item = Self>, between: &str) -> Self {
        let mut all = Self::default();
        for (place, part) in parts.into_iter().enumerate() {
            if place > 0 {
                all.push(between);
            }
            all.push(part);
        }
        all
    }

    /// Returns the text of the sentence.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the quantities of the sentence in the order of their appearance.
    pub fn quantities(&self) -> &[Quantity] {
        &self.quantities
    }

    /// Returns a JSON object with the name and value of each quantity in the sentence.
    pub fn to_json(&self) -> Value {
        self.quantities.iter().map(Quantity::to_json).collect()
    }
}

/// Returns a JSON object that maps the name of each quantity in the sentences to its unit and definition.
pub fn quantity_definitions<'a>(sentences: impl IntoIterator<Item = &'a Sentence>) -> Value {
    let mut known = Map::new();
    for quantity in sentences.into_iter().flat_map(Sentence::quantities) {
        let meaning = quantity.meaning();
        known.entry(meaning.name()).or_insert_with(
            || json!({ "unit": meaning.unit().symbol(), "definition": meaning.definition() }),
        );
    }
    Value::Object(known)
}

impl From<&str> for Sentence {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Sentence {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl From<String> for Sentence {
    fn from(text: String) -> Self {
        Self {
            text,
            quantities: Vec::new(),
        }
    }
}

impl From<Quantity> for Sentence {
    fn from(quantity: Quantity) -> Self {
        Self {
            text: quantity.shown_text().to_owned(),
            quantities: vec![quantity],
        }
    }
}

/// Creates a `Sentence` from a template whose gaps `{}` are filled with texts, quantities and other sentences.
#[macro_export]
macro_rules! say {
    ($template:expr $(, $part:expr)* $(,)?) => {
        $crate::explain::Sentence::from_template(
            $template,
            [$($crate::explain::Sentence::from($part)),*],
        )
    };
}

pub use crate::say;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::{Meaning, Unit};

    const TIME: Meaning = Meaning::new("time_s", Unit::Seconds, "a time");

    #[test]
    fn a_sentence_has_the_quantities_of_its_parts_in_their_order() {
        let inner = say!("{} and {}", TIME.with_value(1.5), TIME.with_value(2e-3));
        let mut sentence = say!("p{} takes {}, not {}", "3", inner, TIME.with_value(0.0));
        sentence.push(".");
        assert_eq!(sentence.text(), "p3 takes 1.500 s and 2.000 ms, not 0 s.");
        let values: Vec<&Value> = sentence.quantities().iter().map(Quantity::value).collect();
        assert_eq!(values, [&json!(1.5), &json!(2e-3), &json!(0.0)]);
        let known = quantity_definitions([&sentence]);
        assert_eq!(
            known,
            json!({ "time_s": { "unit": "s", "definition": "a time" } })
        );
        let list = Sentence::joined([TIME.with_value(1.0).into(), "now".into()], ", ");
        assert_eq!(list.text(), "1.000 s, now");
    }

    #[test]
    #[should_panic(expected = "a gap is left over")]
    fn a_gap_without_a_part_is_a_mistake() {
        let _ = say!("{} and {}", "one");
    }
}
