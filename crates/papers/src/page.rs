//! A file of the committed results.

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The name of the file.
    pub name: String,
    /// The text of the file.
    pub text: String,
}
