//! JSON files in which the position of every value can be found, so that an error can point at the faulty value.
//!
//! [`Document::parse`] checks that the text is valid JSON, that values are nested at most 128 deep, and that no object has a key
//! twice. [`Document::locate`] scans the text for the line and column of a dotted path such as `routes[2].to`; this scan is done
//! only for error messages. [`Document::deserialize`] converts the file into a value of a Rust type and reports all keys and
//! values that do not fit the type. Checks of the meaning of the values are left to the caller.

mod file;
mod json;
mod kind;
mod native;
mod problems;
mod repair;
mod scanner;
mod separator;
mod syntax;
mod value;

pub use file::{BUILT_IN, cannot_read_error, read_binary, read_bytes, read_text, sha256, was_read};
pub use json::Document;
pub use kind::FileKind;
pub use native::{path_of_text, text_of_path};
pub use problems::{MOST_PROBLEMS, limit_problems, line_column};
pub use separator::{Separator, has_decimal_comma, is_placeholder_heading};
pub use value::{fill_in_defaults, format_typed_value, from_value, parse_typed_value};
