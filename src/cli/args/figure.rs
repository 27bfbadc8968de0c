//! Defines the flags for the appearance of a figure.

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
    /// The resolution of PNG files in pixels per inch: 72 to 1200
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(72..=1200), requires = "figure", help_heading = FIGURE)]
    dpi: u32,
}

/// The file formats of figures, with the names by which `--figure` and similar flags accept them.
pub(super) const FIGURE_FORMATS: [(&str, figure::FigureFormat); 3] = [
    ("svg", figure::FigureFormat::Svg),
    ("pdf", figure::FigureFormat::Pdf),
    ("png", figure::FigureFormat::Png),
];

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
            dpi: self.dpi,
        }
    }
}
