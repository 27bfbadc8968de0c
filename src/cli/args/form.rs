//! Defines the flags for the output form of printed results.

use clap::Args;

use super::OUTPUT;
use crate::{cli::complete::named_value_parser, output::OutputForm};

/// The flags of a command that determine the format of its printed results.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct OutputFormArguments {
    /// Print the results as aligned columns (in colour on a terminal), Markdown, CSV or JSON [default: table]
    #[arg(long, value_parser = named_value_parser(&FORMS), help_heading = OUTPUT)]
    pub(super) format: Option<OutputForm>,
    /// The same as `--format json`
    #[arg(long, conflicts_with = "format", help_heading = OUTPUT)]
    pub(super) json: bool,
}

/// The formats of printed results, with the names by which `--format` accepts them.
const FORMS: [(&str, OutputForm); 4] = [
    ("table", OutputForm::Table),
    ("markdown", OutputForm::Markdown),
    ("csv", OutputForm::Csv),
    ("json", OutputForm::Json),
];

impl OutputFormArguments {
    /// Returns the format in which results are printed: the format that `--json` or `--format` requests, or aligned columns.
    pub(crate) fn output_form(self) -> OutputForm {
        self.json
            .then_some(OutputForm::Json)
            .or(self.format)
            .unwrap_or_default()
    }

    /// Returns whether `--json` or `--format` is given.
    pub(crate) fn is_requested(self) -> bool {
        self.json || self.format.is_some()
    }

    /// Returns the format in which results are printed. With `--quiet`, results are printed only if `--json` or `--format`
    /// requests a format; otherwise the function returns `None`.
    pub(crate) fn output_form_unless_quiet(self, is_quiet: bool) -> Option<OutputForm> {
        (self.is_requested() || !is_quiet).then(|| self.output_form())
    }
}
