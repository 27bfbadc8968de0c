//! A file with results that is committed to the repository.

/// A file of results: its name and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Name of the file in the folder of results.
    pub name: String,
    /// The text of the file.
    pub text: String,
}
