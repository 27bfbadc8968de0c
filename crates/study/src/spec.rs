//! Values of parameters in tables, and the notation for them ([`migsim_base::values`]).

use serde_json::Value;

pub(super) use migsim_base::values::split_at_commas;
pub use migsim_base::values::{FINE_STEPS, ValuesSpec, value_label};
use migsim_output::protect_formula_like_text;

/// Formats a value as a field of a CSV table. A text that a spreadsheet would evaluate as a formula gets a leading `'`; an absent
/// value is empty.
pub fn csv_field(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => protect_formula_like_text(text).into_owned(),
        Some(other) => value_label(other),
        None => String::new(),
    }
}
