//! A file of the committed results.

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
}
