//! Makes choices from bytes: numbers, and any value that a JSON Schema allows.

use serde_json::{Map, Value, json};

/// Bytes from which choices are drawn. When no bytes are left, each choice is the first one.
#[derive(Debug)]
pub(super) struct Choices<'a> {
    pub(super) bytes: &'a [u8],
    /// Whether magnitudes are extreme instead of realistic.
    pub(super) is_extreme: bool,
}

/// Factors of usual magnitudes.
const USUAL: &[f64] = &[1.0, 0.01, 10.0, 100.0];
/// Extreme factors up to the limit of floats, mixed with usual ones.
const EXTREME: &[f64] = &[
    1.0, 100.0, 1.0, 0.01, 1.0, 1e6, 1.0, 1e-6, 1e12, 1e-12, 1e40, 1e-40, 1e150, 1e-150, 1e300,
    1e-300,
];

impl Choices<'_> {
    pub(super) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        *first
    }

    /// Draws a number from 0 to `count` - 1, for a `count` of at most 256.
    pub(super) fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count
    }

    /// Returns true once in `count` times.
    pub(super) fn rarely(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }

    pub(super) fn one<'v, T: ?Sized>(&mut self, of: &[&'v T]) -> &'v T {
        of[self.below(of.len())]
    }

    /// Draws a number from 0 to 1.
    fn unit(&mut self) -> f64 {
        f64::from(self.byte()) / 255.0
    }

    /// Draws a magnitude with three digits: with usual scales from 0 to 25 500 times `unit`.
    pub(super) fn amount(&mut self, unit: f64) -> f64 {
        let scales = if self.is_extreme { EXTREME } else { USUAL };
        let scale = scales[self.below(scales.len())];
        f64::from(self.byte()) * scale * unit
    }
}

/// Draws values that a schema allows.
#[derive(Debug)]
pub(super) struct Drawer<'a, 'b> {
    pub(super) choices: Choices<'b>,
    /// The definitions that the schema refers to.
    pub(super) definitions: &'a Value,
    /// The names to which texts may refer: clusters, hosts, links.
    pub(super) names: Vec<String>,
}

impl Drawer<'_, '_> {
    /// Draws an object with some of the properties of `schema`, and with those of `given`.
    pub(super) fn object(&mut self, schema: &Value, given: Value) -> Value {
        let mut object = match given {
            Value::Object(given) => given,
            _ => Map::new(),
        };
        for part in schema["allOf"].as_array().into_iter().flatten() {
            object = match self.object(part, Value::Object(object)) {
                Value::Object(object) => object,
                _ => Map::new(),
            };
        }
        if let Some(target) = self.target(schema) {
            return self.object(target, Value::Object(object));
        }
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            // Only an input with its files may name files.
            let is_given = object.contains_key(key) || ["file", "format"].contains(&key.as_str());
            if !is_given && self.choices.below(3) > 0 {
                let value = self.value(property);
                object.insert(key.clone(), value);
            }
        }
        Value::Object(object)
    }

    /// Returns the definition that a reference points to.
    fn target<'s>(&self, schema: &'s Value) -> Option<&'s Value>
    where
        Self: 's,
    {
        let path = schema["$ref"].as_str()?;
        self.definitions.get(path.strip_prefix("#/$defs/")?)
    }

    pub(super) fn value(&mut self, schema: &Value) -> Value {
        if let Some(target) = self.target(schema) {
            return self.value(target);
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        for key in ["enum", "oneOf", "anyOf"] {
            if let Some(all) = schema[key].as_array() {
                let one = &all[self.choices.below(all.len())];
                return if key == "enum" {
                    one.clone()
                } else {
                    self.value(one)
                };
            }
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => &kinds[self.choices.below(kinds.len())],
            kind => kind,
        };
        match kind.as_str() {
            Some("boolean") => json!(self.choices.below(2) > 0),
            Some("integer") => self.whole(schema),
            Some("number") => self.number(schema),
            Some("string") => self.text(schema),
            Some("array") => self.list(schema),
            Some("object") => self.object(schema, json!({})),
            _ => Value::Null,
        }
    }

    fn whole(&mut self, schema: &Value) -> Value {
        let least = schema["minimum"].as_u64().unwrap_or(0);
        json!(least + [0, 1, 2, 3, 5, 8, 13, 40][self.choices.below(8)])
    }

    fn number(&mut self, schema: &Value) -> Value {
        let bound = |key: &str| schema[key].as_f64();
        match (bound("minimum"), bound("maximum")) {
            (Some(least), Some(most)) => json!(least + (most - least) * self.choices.unit()),
            _ => json!([0.5, 1.0, 2.0, 0.0, 0.01, 1.5, 10.0][self.choices.below(7)]),
        }
    }

    /// Draws a quantity, if the schema is that of a quantity, and a name otherwise.
    fn text(&mut self, schema: &Value) -> Value {
        let pattern = schema["pattern"].as_str().unwrap_or_default();
        let (scale, unit) = match () {
            () if pattern.contains("(s|") => (1e-4, "s"),
            () if pattern.contains("(B|") => (1.0, "B"),
            () if pattern.contains("(instr|") => (1e3, "instr"),
            () => {
                let index = self.choices.below(self.names.len());
                return json!(self.names[index]);
            }
        };
        json!(format!("{} {unit}", self.choices.amount(scale)))
    }

    fn list(&mut self, schema: &Value) -> Value {
        let least = schema["minItems"].as_u64().unwrap_or(0);
        let count = least + self.choices.below(3) as u64;
        let count = count.min(schema["maxItems"].as_u64().unwrap_or(u64::MAX));
        (0..count).map(|_| self.value(&schema["items"])).collect()
    }
}
