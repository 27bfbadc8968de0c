//! A JSON file with the position of every value, so that an error can point at it.
//!
//! [`Document::parse`] checks the syntax (`serde_json` does, and refuses to nest deeper than 128) and that no object has a key twice.
//! [`Document::locate`] scans the text for the line and column of a dotted path such as `routes[2].to`, which is needed only for errors.
//! [`Document::deserialize`] converts the file into a typed value and reports all keys and values that do not fit. The meaning of values is
//! left to the caller.

mod file;
mod json;
mod kind;
mod problems;
mod repair;
mod scanner;
mod separator;
mod syntax;
mod value;

pub use file::{cannot_read, read_any, read_bytes, read_text, sha256};
pub use json::Document;
pub use kind::FileKind;
pub use problems::{MOST_PROBLEMS, limited, line_column};
pub use separator::{Separator, has_decimal_comma, is_nameless};
pub use value::{from_value, resolve};
pub use value::{typed_value, value_as_typed};
