//! Style of figures, which the user chooses: width, font size and language.

use std::str::FromStr;

use migsim_base::error::Problem;
use migsim_bsp::Scenario;

/// Number of points (1/72 inch) in one millimetre; an inch has 25.4 mm.
const POINTS_PER_MM: f64 = 72.0 / 25.4;

/// The style of a figure; users write it as `width=85mm,font-size=8pt,language=en`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureStyle {
    /// Width of the figure on paper \[pt\].
    pub(super) width: f64,
    /// Font size of all texts in the figure \[pt\].
    pub(super) font_size: f64,
    /// Whether the texts are Portuguese, with a decimal comma, instead of English.
    is_portuguese: bool,
    /// Whether scenarios i, ii and iii are shown in figures of several scenarios.
    shown_scenarios: [bool; 3],
}

impl Default for FigureStyle {
    /// Creates the default style: the width of one column of an article.
    fn default() -> Self {
        Self {
            width: 85.0 * POINTS_PER_MM,
            font_size: 8.0,
            is_portuguese: false,
            shown_scenarios: [true; 3],
        }
    }
}

impl FromStr for FigureStyle {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut style = Self::default();
        for part in text.split(',') {
            match part.split_once('=').unwrap_or((part, "")) {
                ("width", width) => style.width = parse_width(width)?,
                ("font-size", size) => style.font_size = parse_font_size(size)?,
                ("language", "en") => style.is_portuguese = false,
                ("language", "pt") => style.is_portuguese = true,
                ("language", _) => return Err("the languages are `en` and `pt`".to_owned()),
                ("scenarios", names) => style.shown_scenarios = parse_scenarios(names)?,
                _ => {
                    return Err(format!(
                        "`{part}` is none of `width=`, `font-size=`, `language=` and `scenarios=`, which are separated by commas"
                    ));
                }
            }
        }
        Ok(style)
    }
}

fn parse_width(text: &str) -> Result<f64, String> {
    let units = [
        ("mm", 1.0),
        ("cm", 10.0),
        ("in", 25.4),
        ("pt", 1.0 / POINTS_PER_MM),
    ];
    let mm = parse_with_unit(text, &units, "85mm, 8.5cm or 3.35in")?;
    if !(40.0 - 1e-9..=420.0 + 1e-9).contains(&mm) {
        return Err(
            "the width must be from 40 to 420 mm; a column has about 85 mm, a page 170 mm"
                .to_owned(),
        );
    }
    Ok(mm * POINTS_PER_MM)
}

fn parse_font_size(text: &str) -> Result<f64, String> {
    let size = parse_with_unit(text, &[("pt", 1.0)], "8pt")?;
    if !(6.0..=24.0).contains(&size) {
        return Err("the size of letters must be from 6 to 24 pt; journals ask for at least 6 pt, and 8 pt is usual".to_owned());
    }
    Ok(size)
}

fn parse_scenarios(text: &str) -> Result<[bool; 3], String> {
    let mut shown = [false; 3];
    for name in text.split('+') {
        let known = Scenario::ALL.into_iter().find(|one| one.name() == name);
        let scenario = known.ok_or("the scenarios are `i`, `ii` and `iii`, joined by `+`")?;
        shown[scenario as usize] = true;
    }
    Ok(shown)
}

fn parse_with_unit(text: &str, units: &[(&str, f64)], example: &str) -> Result<f64, String> {
    units
        .iter()
        .find_map(|(unit, factor)| {
            let number = text.strip_suffix(unit)?.trim_end().parse::<f64>().ok()?;
            number.is_finite().then_some(number * factor)
        })
        .ok_or_else(|| format!("expected a number with its unit, such as {example}"))
}

impl FigureStyle {
    /// Selects one of two translations of a text: the translation in the language of the figure.
    pub fn translate<'t>(&self, english: &'t str, portuguese: &'t str) -> &'t str {
        if self.is_portuguese {
            portuguese
        } else {
            english
        }
    }

    /// Creates the style of figures on pages, which fill the width of a screen.
    pub fn of_page() -> Self {
        Self {
            width: 930.0,
            font_size: 10.0,
            ..Self::default()
        }
    }

    /// Returns whether figures of several scenarios show `scenario`.
    pub fn shows(&self, scenario: Scenario) -> bool {
        self.shown_scenarios[scenario as usize]
    }

    /// Writes a number with the minus sign and the decimal mark of the language of the figure.
    pub fn localise_decimal_mark(&self, number: &str) -> String {
        let number = number.replace('-', "\u{2212}");
        if self.is_portuguese {
            number.replace('.', ",")
        } else {
            number
        }
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
            let width = parse_width(text).unwrap() / POINTS_PER_MM;
            assert!((width - mm).abs() < 1e-3, "{text}: {width}");
        }
    }

    #[test]
    fn absurd_sizes_are_refused_with_the_usual_ones() {
        for (text, what) in [
            ("width=85", "85mm, 8.5cm or 3.35in"),
            ("width=2mm", "40 to 420 mm"),
            ("width=NaNmm", "a number with its unit"),
            ("width=85mm,font-size=5pt", "6 to 24 pt"),
            ("font-size=8px", "such as 8pt"),
            ("85mm", "none of `width=`"),
        ] {
            let error = text.parse::<FigureStyle>().unwrap_err();
            assert!(error.contains(what), "{error}");
        }
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
