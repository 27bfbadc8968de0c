//! Performance profiles of policies: for each factor, the share of the benchmark's cases in which a policy needs at most this
//! factor times the best known makespan.
//!
//! Source: Dolan and Moré, Benchmarking optimization software with performance profiles, Mathematical Programming 91, 2002.

use super::rows::{BenchResults, PolicyStatistics};
use migsim_output::figure::{Colour, Curve, CurveChart, Drawing, FigureStyle};

/// Largest factor of the best known makespan on the horizontal axis of the figure.
const MAX_FACTOR: f64 = 2.0;

/// Maximum number of policies whose curves the figure shows.
const MAX_CURVES: usize = 6;

/// The policies that the figure always shows, in addition to the rivals (the policies that the user added to the default set),
/// whatever their ratios to the best known makespan are.
const ALWAYS_SHOWN_POLICIES: [&str; 2] = ["migbsp", "never"];

/// The colours of the curves in the figure, from the palette of Okabe and Ito, which colour-blind readers can distinguish.
const COLOURS: [Colour; MAX_CURVES] = [
    Colour(0, 114, 178),
    Colour(213, 94, 0),
    Colour(0, 158, 115),
    Colour(204, 121, 167),
    Colour(230, 159, 0),
    Colour(90, 90, 90),
];

/// Returns the results of the policies that the figure shows: the rivals, which the user added, `migbsp` and `never`, and the
/// policies with the lowest mean ratios to the best known makespan.
fn policies_to_draw(bench: &BenchResults) -> Vec<&PolicyStatistics> {
    let rows = &bench.policies;
    let is_always = |one: &&PolicyStatistics| {
        !one.is_in_default_set || ALWAYS_SHOWN_POLICIES.contains(&one.policy.as_str())
    };
    let others = rows.iter().filter(|one| !is_always(one));
    let always = rows.iter().filter(is_always).take(MAX_CURVES - 1);
    let mut best: Vec<_> = others
        .take(MAX_CURVES - always.clone().count())
        .chain(always)
        .collect();
    best.sort_by(|a, b| a.ranked_ratio.total_cmp(&b.ranked_ratio));
    best
}

/// Draws the performance profiles of the selected policies as a figure.
pub(super) fn draw_performance_profiles(bench: &BenchResults) -> Drawing {
    let curves = policies_to_draw(bench)
        .into_iter()
        .zip(COLOURS)
        .map(|(one, colour)| Curve {
            name: one.policy.clone(),
            colour,
            curve_points: performance_profile_corners(one),
        });
    let chart = CurveChart {
        name: "Performance profiles of the policies".into(),
        axis_titles: [
            "factor of the best known makespan".into(),
            "cases within the factor [%]".into(),
        ],
        curves: curves.collect(),
    };
    chart.draw(&FigureStyle::of_page())
}

/// Returns the corners of the step curve that is a policy's performance profile, from factor 1 on: the factor, and the share of
/// cases \[%\].
fn performance_profile_corners(one: &PolicyStatistics) -> Vec<(f64, f64)> {
    let all = one.sorted_ratios.len() as f64;
    let mut points = vec![(1.0, one.percent_of_cases_within(1.0))];
    for (index, ratio) in one.sorted_ratios.iter().enumerate() {
        if (1.0..=MAX_FACTOR).contains(ratio) {
            points.push((*ratio, 100.0 * index as f64 / all));
            points.push((*ratio, 100.0 * (index + 1) as f64 / all));
        }
    }
    points.push((MAX_FACTOR, one.percent_of_cases_within(MAX_FACTOR)));
    points
}
