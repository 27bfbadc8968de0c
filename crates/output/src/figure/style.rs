//! Style of figures, which the user chooses: width, font size and language.

use std::fmt;
use std::str::FromStr;

use migsim_base::error::Problem;

/// Number of points (1/72 inch) in one millimetre; an inch has 25.4 mm.
const POINTS_PER_MM: f64 = 72.0 / 25.4;

/// Minimum and maximum width of a figure that the user may choose \[mm\]: half a column of text, and the longer side of A3 paper.
const WIDTH_LIMITS_MM: (f64, f64) = (40.0, 420.0);

/// Minimum and maximum font size of a figure that the user may choose \[pt\].
const FONT_SIZE_LIMITS: (f64, f64) = (6.0, 24.0);

/// The width of a figure on paper; users write it with its unit (`85mm`, `8.5cm`, `3.5in`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaperWidth {
    mm: f64,
}

impl PaperWidth {
    /// Creates a width on paper from its value \[mm\].
    pub const fn from_mm(mm: f64) -> Self {
        Self { mm }
    }

    /// Returns the width on paper in points \[pt\].
    pub fn to_points(self) -> f64 {
        self.mm * POINTS_PER_MM
    }
}

impl FromStr for PaperWidth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let units = [
            ("mm", 1.0),
            ("cm", 10.0),
            ("in", 25.4),
            ("pt", 1.0 / POINTS_PER_MM),
        ];
        let mm = parse_with_unit(text, &units, "85mm, 8.5cm or 3.35in")?;
        if mm < WIDTH_LIMITS_MM.0 - 1e-9 || mm > WIDTH_LIMITS_MM.1 + 1e-9 {
            return Err(format!(
                "the width must be from {} to {} mm; a column has about 85 mm, a page 170 mm",
                WIDTH_LIMITS_MM.0, WIDTH_LIMITS_MM.1
            ));
        }
        Ok(Self { mm })
    }
}

impl fmt::Display for PaperWidth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}mm", self.mm)
    }
}

/// A font size in points; users write it with its unit (`8pt`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FontSize(f64);

impl FontSize {
    /// Returns the font size \[pt\].
    pub fn get(self) -> f64 {
        self.0
    }
}

impl FromStr for FontSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let size = parse_with_unit(text, &[("pt", 1.0)], "8pt")?;
        if size < FONT_SIZE_LIMITS.0 || size > FONT_SIZE_LIMITS.1 {
            return Err(format!(
                "the size of letters must be from {} to {} pt; journals ask for at least 6 pt, and 8 pt is usual",
                FONT_SIZE_LIMITS.0, FONT_SIZE_LIMITS.1
            ));
        }
        Ok(Self(size))
    }
}

impl fmt::Display for FontSize {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}pt", self.0)
    }
}

/// Parses a number that is followed by one of the given units, and multiplies the number by the factor of this unit. `example`
/// shows the expected form in the error message.
fn parse_with_unit(text: &str, units: &[(&str, f64)], example: &str) -> Result<f64, String> {
    let text = text.trim();
    let found = units.iter().find_map(|(unit, factor)| {
        let number = text.strip_suffix(unit)?.trim_end().parse::<f64>().ok()?;
        number.is_finite().then_some(number * factor)
    });
    found.ok_or_else(|| format!("expected a number with its unit, such as {example}"))
}

/// Language of the labels and legends in a figure. Portuguese uses a decimal comma.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English labels and a decimal point.
    #[default]
    English,
    /// Portuguese labels and a decimal comma.
    Portuguese,
}

/// The style of a figure: width, font size and language.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureStyle {
    /// Width of the figure on paper.
    pub width: PaperWidth,
    /// Font size of all texts in the figure.
    pub font_size: FontSize,
    /// Language of the texts in the figure.
    pub language: Language,
}

impl Default for FigureStyle {
    /// Creates the default style: the width of one column of an article.
    fn default() -> Self {
        Self {
            width: PaperWidth::from_mm(85.0),
            font_size: FontSize(8.0),
            language: Language::English,
        }
    }
}

impl FigureStyle {
    /// Selects one of two translations of a text: the translation in the language of the figure.
    pub fn translate<'t>(&self, english: &'t str, portuguese: &'t str) -> &'t str {
        match self.language {
            Language::English => english,
            Language::Portuguese => portuguese,
        }
    }

    /// Returns a number, given as text with a decimal point, with the decimal mark of the language of the figure.
    pub fn localise_decimal_mark(&self, number: &str) -> String {
        match self.language {
            Language::English => number.replace('-', "\u{2212}"),
            Language::Portuguese => number.replace('-', "\u{2212}").replace('.', ","),
        }
    }

    /// Returns the font size of the texts in the figure \[pt\].
    pub fn font_points(&self) -> f64 {
        self.font_size.get()
    }
}

/// Returns the names of the figures that the user selected: the name `wanted`, or all names in `known` if `wanted` is `all`.
///
/// # Errors
/// There is no figure of this name; the error lists the known figures.
pub fn select_figures<'n>(wanted: &str, known: &[&'n str]) -> Result<Vec<&'n str>, Problem> {
    if wanted == "all" {
        return Ok(known.to_vec());
    }
    let found: Vec<&str> = known.iter().copied().filter(|one| *one == wanted).collect();
    if found.is_empty() {
        let names = known.iter().copied().chain(["all"]);
        return Err(Problem::unknown_name("figure", wanted).with_known_names("figures", names));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_take_the_units_of_paper() {
        for (text, mm) in [
            ("85mm", 85.0),
            ("8.5 cm", 85.0),
            ("3.5in", 88.9),
            ("241pt", 85.019),
        ] {
            let width: PaperWidth = text.parse().unwrap();
            assert!((width.mm - mm).abs() < 1e-3, "{text}: {}", width.mm);
        }
    }

    #[test]
    fn absurd_sizes_are_refused_with_the_usual_ones() {
        let error = |text: &str| text.parse::<PaperWidth>().unwrap_err();
        assert!(
            error("85").contains("85mm, 8.5cm or 3.35in"),
            "{}",
            error("85")
        );
        assert!(error("2mm").contains("40 to 420 mm"));
        assert!(error("NaNmm").contains("a number with its unit"));
        assert!(
            "5pt"
                .parse::<FontSize>()
                .unwrap_err()
                .contains("6 to 24 pt")
        );
        assert!(
            "8px"
                .parse::<FontSize>()
                .unwrap_err()
                .contains("such as 8pt")
        );
    }

    #[test]
    fn an_unknown_figure_lists_the_known_ones() {
        assert_eq!(
            select_figures("all", &["gains", "times"]).unwrap(),
            ["gains", "times"]
        );
        let problem = select_figures("time", &["gains", "times"]).unwrap_err();
        assert_eq!(problem.message, "unknown figure `time`");
        assert!(problem.hint.unwrap().contains("times"));
    }
}
