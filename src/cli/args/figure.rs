//! Defines the flags for the appearance of a figure.

use std::path::{Path, PathBuf};

use clap::Args;

use super::FIGURE;
use crate::cli::complete::named_value_parser;
use crate::figure;

/// The flags of a command that determine the appearance of its figures.
#[derive(Clone, Copy, Debug, Args)]
pub(in crate::cli) struct FigureArguments {
    /// The width of the figure on paper: 40 to 420 mm, in mm, cm, in or pt
    #[arg(long, value_name = "LENGTH", default_value = "85mm", requires = "figure", help_heading = FIGURE)]
    width: figure::PaperWidth,
    /// The font size of all texts of the figure: 6 to 24 pt
    #[arg(long, value_name = "SIZE", default_value = "8pt", requires = "figure", help_heading = FIGURE)]
    font_size: figure::FontSize,
    /// The language of the texts in the figure: English or Portuguese
    #[arg(long, value_parser = named_value_parser(&FIGURE_LANGUAGES), default_value = "en", requires = "figure", help_heading = FIGURE)]
    language: figure::Language,
}

/// The languages of figures, with the names by which `--language` accepts them.
const FIGURE_LANGUAGES: [(&str, figure::Language); 2] = [
    ("en", figure::Language::English),
    ("pt", figure::Language::Portuguese),
];

impl FigureArguments {
    /// Returns the style of figures that the user has chosen with these flags.
    pub(in crate::cli) fn figure_style(self) -> figure::FigureStyle {
        figure::FigureStyle {
            width: self.width,
            font_size: self.font_size,
            language: self.language,
        }
    }
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
