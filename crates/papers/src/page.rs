//! A file in the folder `results/`, which is committed to the repository.

/// A file with results (Markdown or CSV): its name and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultsFile {
    /// Name of the file in the folder of results.
    pub name: String,
    /// Text of the file.
    pub text: String,
}
