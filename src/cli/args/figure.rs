//! Defines the flags for the appearance of a figure.

use std::path::{Path, PathBuf};

use clap::Args;

use super::FIGURE;
use crate::figure::FigureStyle;

/// The flag of a command that determines the appearance of its figures.
#[derive(Clone, Copy, Debug, Args)]
pub(in crate::cli) struct FigureArguments {
    /// The width of the figure on paper (40 to 420 mm, in mm, cm, in or pt), the font size of all its texts (6 to 24 pt) and
    /// their language (en or pt): one or more of these keys, separated by commas
    #[arg(long, value_name = "KEY=VALUE,...", default_value = "width=85mm,font-size=8pt,language=en", requires = "figure", help_heading = FIGURE)]
    pub(in crate::cli) style: FigureStyle,
}

/// Parses the name of the file of a figure.
///
/// # Errors
/// The name ends like a file of another format than SVG.
pub(in crate::cli) fn parse_figure_file(text: &str) -> Result<PathBuf, String> {
    let file = Path::new(text);
    match file.extension() {
        Some(end) if !end.eq_ignore_ascii_case("svg") => Err(
            "figures are SVG files, whose names end in `.svg`; `rsvg-convert -f pdf -o a.pdf a.svg` or Inkscape makes a PDF or PNG of them"
                .to_owned(),
        ),
        _ => Ok(file.to_owned()),
    }
}
