//! Figures on the reproduction of a paper: simulated against published times, errors, gains and overheads.
//!
//! - *Times*: simulated against published times, with the diagonal on which they would be equal.
//! - *Errors*: the errors of the simulated times, with a row for each run.
//! - *Gains* and *overheads*: scenarios iii and ii compared with scenario i; rings are published values, dots are simulated
//!   values.

use std::collections::BTreeSet;

use super::{
    cells::{CellResult, differences_from_i},
    reproduce::PaperResults,
};
use migsim_base::error::{Error, Problem};
use migsim_output::figure::{
    ChartRow, Dot, DotRowChart, Drawing, Figure, FigureStyle, LegendSeries, Mark, RowGroup,
    SCENARIO_COLOURS_AND_MARKS, ScatterChart, ScatterPoint, scenario_label, select_figures,
};

const SCENARIO_NAMES: [&str; 3] = ["i", "ii", "iii"];

/// Maximum number of rows of a figure, so that it fits beside a text. If there are more rows, cases that differ only in their
/// last settings share a row.
const MAX_ROWS: usize = 36;

/// Entry in the list of figures that a paper can have: the name, a description in one sentence, and the function that draws the
/// figure.
type FigureEntry = (
    &'static str,
    &'static str,
    fn(&PaperResults, &FigureStyle) -> Drawing,
);

const PICTURES: [FigureEntry; 4] = [
    (
        "times",
        "simulated against published times, with the diagonal and ± 5 %",
        draw_times,
    ),
    ("errors", "the error of each simulated time", draw_errors),
    (
        "gains",
        "the gain of scenario iii over i, published as rings and simulated as dots",
        |paper, style| {
            let title = style.translate(
                "gain of iii over i [% of i]",
                "ganho de iii sobre i [% de i]",
            );
            draw_differences((paper, "iii"), title, -1.0, style)
        },
    ),
    (
        "overheads",
        "the overhead of scenario ii over i, published as rings and simulated as dots",
        |paper, style| {
            let title = style.translate(
                "overhead of ii over i [% of i]",
                "sobrecusto de ii sobre i [% de i]",
            );
            draw_differences((paper, "ii"), title, 1.0, style)
        },
    ),
];

pub(super) fn figure_names(paper: &PaperResults) -> impl Iterator<Item = &'static str> {
    let has = |scenario: &str| !differences_from_i(&paper.cells, scenario).is_empty();
    let (gains, overheads) = (has("iii"), has("ii"));
    let is_empty = paper.cells.is_empty();
    PICTURES
        .iter()
        .map(|(name, ..)| *name)
        .filter(move |name| match *name {
            "gains" => gains,
            "overheads" => overheads,
            _ => !is_empty,
        })
}

/// Draws the wanted figures of a paper; the name of a figure is `PAPER-FIGURE`.
pub(super) fn draw_figures(
    paper: &PaperResults,
    style: &FigureStyle,
    is_wanted: impl Fn(&str) -> bool,
) -> Vec<Figure> {
    let existing: Vec<&str> = figure_names(paper).collect();
    let pictures = PICTURES.iter();
    let pictures = pictures.filter(|(name, ..)| existing.contains(name) && is_wanted(name));
    pictures
        .map(|(name, _, draw)| Figure::new(format!("{}-{name}", paper.paper), draw(paper, style)))
        .collect()
}

/// Draws the figure with the name `wanted` for each paper that has this figure. If `wanted` is `all`, draws all figures of all
/// papers.
///
/// # Errors
/// No paper has the figure; the error lists the names of the existing figures.
pub fn draw_figures_named(
    papers: &[PaperResults],
    wanted: &str,
    style: &FigureStyle,
) -> Result<Vec<Figure>, Error> {
    let known = all_figure_names(papers);
    if known.is_empty() {
        let problem = Problem::new("the paper publishes no times, so that it has no figure");
        return Err(problem
            .hint("name another paper (`migsim list papers`)")
            .into());
    }
    let wanted = select_figures(wanted, &known)?;
    let draw = |paper| draw_figures(paper, style, |name| wanted.contains(&name));
    Ok(papers.iter().flat_map(draw).collect())
}

/// Lists the figures that at least one of the papers has: the name, and a description in one sentence.
pub fn figure_names_and_descriptions(papers: &[PaperResults]) -> Vec<(&'static str, &'static str)> {
    let known = all_figure_names(papers);
    let pictures = PICTURES.iter().filter(|(name, ..)| known.contains(name));
    pictures.map(|(name, about, _)| (*name, *about)).collect()
}

fn all_figure_names(papers: &[PaperResults]) -> Vec<&'static str> {
    let known: BTreeSet<&str> = papers.iter().flat_map(figure_names).collect();
    known.into_iter().collect()
}

/// Assignment of published times to the rows of a chart: the labels of the rows, the keys of the settings in the labels, and the
/// row of each published time. A row may be shared by several cases, which differ in settings that its label does not show.
struct CaseRows {
    labels: Vec<String>,
    label_keys: String,
    row_indices: Vec<usize>,
    has_shared_rows: bool,
}

impl CaseRows {
    /// Assigns published times to rows whose labels show only the settings in which the cases differ. If there are more than
    /// [`MAX_ROWS`] rows, the labels leave out the last of these settings, so that several cases share a row.
    fn from_cells(cells: &[&CellResult]) -> Self {
        let keys = varying_keys(cells);
        let whole = Self::from_cells_and_keys(cells, &keys);
        let row_count = whole.labels.len();
        let shorter = (1..=keys.len()).rev();
        let shorter = shorter.map(|count| Self::from_cells_and_keys(cells, &keys[..count]));
        let mut shorter = shorter.filter(|rows| rows.labels.len() <= MAX_ROWS);
        let rows = shorter.next().unwrap_or(whole);
        Self {
            has_shared_rows: rows.labels.len() < row_count,
            ..rows
        }
    }

    fn from_cells_and_keys(cells: &[&CellResult], keys: &[String]) -> Self {
        let (mut labels, mut row_indices) = (Vec::<String>::new(), Vec::new());
        for cell in cells {
            let pairs = keys_and_values(&cell.case);
            let values = keys
                .iter()
                .filter_map(|key| pairs.iter().find(|pair| pair.0 == key));
            let values: Vec<&str> = values.map(|pair| pair.1).collect();
            let label = values.join(" / ");
            let known = labels.iter().position(|one| *one == label);
            row_indices.push(known.unwrap_or(labels.len()));
            if known.is_none() {
                labels.push(label);
            }
        }
        Self {
            labels,
            label_keys: keys.join(" / "),
            row_indices,
            has_shared_rows: false,
        }
    }

    /// Converts the rows to a group of rows of a chart; `dots` has the dots to draw for each published time.
    fn into_row_group(self, dots: impl Iterator<Item = Vec<Dot>>) -> RowGroup {
        let labels = self.labels.into_iter();
        let mut rows: Vec<ChartRow> = labels
            .map(|label| ChartRow {
                label,
                ..ChartRow::default()
            })
            .collect();
        for (row, dots) in self.row_indices.iter().zip(dots) {
            rows[*row].dots.extend(dots);
        }
        RowGroup {
            heading: self.label_keys,
            rows,
            ..RowGroup::default()
        }
    }
}

/// Splits the description of a case, such as `n=1000 procs=25`, into pairs of key and value.
fn keys_and_values(case: &str) -> Vec<(&str, &str)> {
    case.split(' ')
        .filter_map(|pair| pair.split_once('='))
        .collect()
}

/// Lists the keys whose values differ among the published times, in the order of their first occurrence.
fn varying_keys(cells: &[&CellResult]) -> Vec<String> {
    let all = cells.iter().flat_map(|cell| keys_and_values(&cell.case));
    let all: Vec<(&str, &str)> = all.collect();
    let mut keys: Vec<String> = Vec::new();
    for (key, value) in &all {
        let differs = all.iter().any(|other| other.0 == *key && other.1 != *value);
        if differs && !keys.iter().any(|known| known == key) {
            keys.push((*key).to_owned());
        }
    }
    keys
}

fn scenario_index(cell: &CellResult) -> usize {
    let found = SCENARIO_NAMES
        .iter()
        .position(|name| *name == cell.scenario);
    found.expect("cells are of scenarios i, ii and iii")
}

/// Lists the indices (0 to 2) of the scenarios that occur among the published times, in ascending order. Each is a series of a
/// figure.
fn present_scenarios(cells: &[CellResult]) -> Vec<usize> {
    let present: BTreeSet<usize> = cells.iter().map(scenario_index).collect();
    present.into_iter().collect()
}

fn series_index(present: &[usize], cell: &CellResult) -> usize {
    present.binary_search(&scenario_index(cell)).unwrap_or(0)
}

fn draw_times(paper: &PaperResults, style: &FigureStyle) -> Drawing {
    let present = present_scenarios(&paper.cells);
    let key = |one: &usize| {
        let (colour, mark) = SCENARIO_COLOURS_AND_MARKS[*one];
        (scenario_label(style, SCENARIO_NAMES[*one]), colour, mark)
    };
    let point = |cell: &CellResult| ScatterPoint {
        series_index: series_index(&present, cell),
        coordinates: (cell.published_s, cell.simulated_s),
    };
    let chart = ScatterChart {
        name: format!("{}: simulated against published times", paper.paper),
        axis_titles: [
            ("published time [s]", "tempo publicado [s]"),
            ("simulated time [s]", "tempo simulado [s]"),
        ]
        .map(|(english, portuguese)| style.translate(english, portuguese).to_owned()),
        legend_series: present.iter().map(key).collect(),
        points: paper.cells.iter().map(point).collect(),
        marked_deviation: 0.05,
    };
    chart.draw(style)
}

fn draw_errors(paper: &PaperResults, style: &FigureStyle) -> Drawing {
    let cells: Vec<&CellResult> = paper.cells.iter().collect();
    let present = present_scenarios(&paper.cells);
    let dot = |cell: &&CellResult| {
        vec![Dot {
            series_index: series_index(&present, cell),
            value: 100.0 * cell.error,
            whisker_limits: None,
        }]
    };
    let key =
        |one: &usize| LegendSeries::from_index(scenario_label(style, SCENARIO_NAMES[*one]), *one);
    let chart = DotRowChart {
        name: format!("{}: errors of simulated times", paper.paper),
        axis_title: style
            .translate(
                "error of the simulated time [%]",
                "erro do tempo simulado [%]",
            )
            .to_owned(),
        legend_series: present.iter().map(key).collect(),
        row_groups: vec![CaseRows::from_cells(&cells).into_row_group(cells.iter().map(dot))],
        has_zero_line: true,
        ..DotRowChart::default()
    };
    chart.draw(style)
}

/// Draws the relative differences \[%\] of the times of a scenario from the times of scenario i, published and simulated. If
/// `sign` is -1, a shorter time is drawn as a positive gain.
fn draw_differences(
    (paper, name): (&PaperResults, &str),
    title: &str,
    sign: f64,
    style: &FigureStyle,
) -> Drawing {
    let relative = differences_from_i(&paper.cells, name);
    let cells: Vec<&CellResult> = relative.iter().map(|one| one.cell).collect();
    let colour = SCENARIO_COLOURS_AND_MARKS[cells.first().map_or(0, |cell| scenario_index(cell))].0;
    let key = |name: &str, is_filled| LegendSeries {
        name: name.to_owned(),
        colour,
        mark: Mark::Circle,
        is_filled,
    };
    let dots = relative.iter().map(|one| {
        let dot = |(key, value): (usize, f64)| Dot {
            series_index: key,
            value: sign * value,
            whisker_limits: None,
        };
        [(0, one.published_percent), (1, one.simulated_percent)]
            .map(dot)
            .to_vec()
    });
    let cases = CaseRows::from_cells(&cells);
    let chart = DotRowChart {
        name: format!("{}: {title}", paper.paper),
        axis_title: title.to_owned(),
        legend_series: vec![
            key(style.translate("published", "publicado"), false),
            key(style.translate("simulated", "simulado"), true),
        ],
        are_dots_joined: !cases.has_shared_rows,
        row_groups: vec![cases.into_row_group(dots)],
        has_zero_line: true,
        ..DotRowChart::default()
    };
    chart.draw(style)
}
