//! Draws the figures of a run for articles: makespans, durations of supersteps, placement and activity of the processes.

use super::page_data::Report;
use crate::{
    activity::{PlacementReplay, ProcessTimes},
    figure::{
        ActivityChart, ActivityRow, Bar, Colour, ColourMeaning, Curve, CurveChart, Drawing, Figure,
        FigureStyle, SCENARIO_COLOURS_AND_MARKS, scenario_label, select_figures, viridis_colour,
    },
    read::ScenarioRecords,
    rows::SuperstepRow,
};
use migsim_base::error::{Problem, Result};

const COMPUTES: Colour = Colour(0, 74, 124);
const COMMUNICATES: Colour = Colour(230, 159, 0);
const MIGRATES: Colour = Colour(158, 60, 0);
const WAITS: Colour = Colour(222, 222, 222);

/// Maximum number of supersteps that the chart of the activity shows one by one, as bars for computation, communication and
/// waiting. If a run has more supersteps, colours show the share of the time in which a process computes.
const MAX_SUPERSTEPS_WITH_BARS: usize = 48;

/// Maximum number of points of a curve, and of bars in a row of a chart; several supersteps are combined if there are more
/// supersteps.
const MAX_POINTS: usize = 200;

/// A figure that can be drawn from a run: its name, a sentence that describes it, and the function that draws it.
type FigureEntry = (
    &'static str,
    &'static str,
    fn(&Report, &FigureStyle) -> Drawing,
);

const PICTURES: [FigureEntry; 4] = [
    (
        GANTT,
        "when each process computes, sends or receives, waits and moves; of more than 48 supersteps the share of time computing",
        draw_activity,
    ),
    (
        "makespan",
        "the time of each scenario: supersteps, rescheduling calls, migrations",
        draw_makespans,
    ),
    (
        "placement",
        "the number of processes of each cluster, in the last scenario",
        draw_placement,
    ),
    (
        "supersteps",
        "the time of each superstep, scenario by scenario",
        draw_superstep_times,
    ),
];
const GANTT: &str = "gantt";

impl Report {
    /// Draws the figure `wanted` of this run, or all figures for which there is data if `wanted` is `all`.
    ///
    /// # Errors
    /// There is no such figure, or the run folder lacks the data for it.
    pub fn draw_figures(&self, wanted: &str, style: &FigureStyle) -> Result<Vec<Figure>> {
        let names = select_figures(wanted, &PICTURES.map(|(name, ..)| name))?;
        let figures: Vec<Figure> = PICTURES
            .iter()
            .filter(|picture| names.contains(&picture.0))
            .filter(|picture| self.has_data_for(picture))
            .map(|(name, _, draw)| Figure::new(*name, draw(self, style)))
            .collect();
        if figures.is_empty() {
            let problem = Problem::new(
                "the folder of the run has no data on what each process does over time, which this figure needs",
            );
            let hint = "repeat the run with the additional flag `--processes`: `migsim run ... --processes --out FOLDER`";
            return Err(problem.hint(hint).into());
        }
        Ok(figures)
    }

    fn has_data_for(&self, (name, ..): &FigureEntry) -> bool {
        *name != GANTT || self.process_times_by_scenario.is_some()
    }

    /// Lists the figures that can be drawn from this run: the name of each figure, and a sentence that describes it.
    pub fn available_figures(&self) -> Vec<(&'static str, &'static str)> {
        PICTURES
            .iter()
            .filter(|picture| self.has_data_for(picture))
            .map(|(name, about, _)| (*name, *about))
            .collect()
    }

    /// Returns the scenarios that figures in this style show; all scenarios if the run has none of them.
    fn shown_scenarios(&self, style: &FigureStyle) -> Vec<&ScenarioRecords> {
        let all = &self.run.scenarios;
        let is_any_shown = all.iter().any(|run| style.shows(run.scenario));
        let shown = all.iter();
        shown
            .filter(|run| style.shows(run.scenario) || !is_any_shown)
            .collect()
    }

    fn last_scenario(&self, style: &FigureStyle) -> &ScenarioRecords {
        let shown = self.shown_scenarios(style);
        shown.last().expect("a run has a scenario")
    }
}

fn time_axis_title(style: &FigureStyle) -> String {
    style.translate("time [s]", "tempo [s]").to_owned()
}

fn draw_activity(report: &Report, style: &FigureStyle) -> Drawing {
    let run = report.last_scenario(style);
    let all = report.process_times_by_scenario.as_ref();
    let pairs = || report.run.scenarios.iter().zip(all.into_iter().flatten());
    let activity = pairs().find(|pair| pair.0.scenario == run.scenario);
    let is_coarse = run.supersteps.len() > MAX_SUPERSTEPS_WITH_BARS;
    let draw_bars = if is_coarse {
        computation_share_bars
    } else {
        activity_bars
    };
    // As on the page, processes that begin on the same cluster form a group.
    let platform = &report.platform_summary;
    let count = report.process_count();
    let mut rows = Vec::new();
    for cluster in &platform.clusters {
        let own = (0..count).filter(|process| platform.placement[*process].cluster == cluster.name);
        for (place, process) in own.enumerate() {
            let bars = activity.map(|(_, activity)| draw_bars(run, activity, process, count));
            let moves = run.migrations.iter();
            let moves = moves.filter(|one| one.process == process as u64 + 1);
            let heading = (place == 0).then(|| cluster.name.clone());
            rows.push(ActivityRow {
                heading: heading.unwrap_or_default(),
                name: format!("p{}", process + 1),
                bars: bars.unwrap_or_default(),
                event_times: moves.map(|one| one.start_s).collect(),
            });
        }
    }
    let colour_meaning = if is_coarse {
        let title = style.translate(
            "share of time computing [%]",
            "parte do tempo em computação [%]",
        );
        ColourMeaning::ColourScale(title.to_owned(), (0.0, 100.0))
    } else {
        named_colours(
            style,
            [
                ("computes", "computa", COMPUTES),
                ("sends or receives", "envia ou recebe", COMMUNICATES),
                ("waits", "espera", WAITS),
            ],
        )
    };
    let title = style.translate("process", "processo");
    let chart = ActivityChart {
        axis_titles: [time_axis_title(style), title.to_owned()],
        colour_meaning,
        event_name: style.translate("migration", "migração").to_owned(),
        rows,
    };
    let name = format!("processes in scenario {}", run.scenario.name());
    ActivityChart::draw_all(&[chart], &name, style)
}

/// Creates the legend of three colours, each with its name in English and in Portuguese.
fn named_colours(style: &FigureStyle, names: [(&str, &str, Colour); 3]) -> ColourMeaning {
    let names = names.map(|(english, portuguese, colour)| {
        (style.translate(english, portuguese).to_owned(), colour)
    });
    ColourMeaning::NamedColours(names.to_vec())
}

fn activity_bars(
    run: &ScenarioRecords,
    activity: &ProcessTimes,
    process: usize,
    processes: usize,
) -> Vec<Bar> {
    let mut bars = Vec::new();
    for (superstep, row) in run.supersteps.iter().enumerate() {
        let at = superstep * processes + process;
        let [delay, compute, communication] = activity.lists().map(|list| f64::from(list[at]));
        let begin = row.start_s + delay;
        let computed = begin + compute;
        let sent = (computed + communication).min(row.end_s);
        let ends = [begin, computed, sent, row.end_s];
        bars.extend(successive_bars(ends, [COMPUTES, COMMUNICATES, WAITS]));
    }
    bars
}

/// Returns the bars between successive times that differ.
fn successive_bars(times: [f64; 4], colours: [Colour; 3]) -> impl Iterator<Item = Bar> {
    let bar = move |part: usize| Bar {
        start_time: times[part],
        end_time: times[part + 1],
        colour: colours[part],
    };
    (0..3).map(bar).filter(|bar| bar.end_time > bar.start_time)
}

fn computation_share_bars(
    run: &ScenarioRecords,
    activity: &ProcessTimes,
    process: usize,
    processes: usize,
) -> Vec<Bar> {
    let size = run.supersteps.len().div_ceil(MAX_POINTS);
    let columns = run.supersteps.chunks(size).enumerate();
    columns
        .map(|(column, rows)| {
            let from = rows[0].start_s;
            let to = rows[rows.len() - 1].end_s;
            let computed: f64 = (0..rows.len())
                .map(|row| (column * size + row) * processes + process)
                .map(|at| f64::from(activity.computation_s[at]))
                .sum();
            let share = if to > from {
                computed / (to - from)
            } else {
                0.0
            };
            Bar {
                start_time: from,
                end_time: to,
                colour: viridis_colour(share),
            }
        })
        .collect()
}

fn draw_makespans(report: &Report, style: &FigureStyle) -> Drawing {
    let shown = report.shown_scenarios(style);
    let row = |run: &ScenarioRecords, supersteps_s: f64| {
        let called = supersteps_s + run.scheduling_s;
        let ends = [0.0, supersteps_s, called, called + run.migration_s];
        ActivityRow {
            name: run.scenario.name().to_owned(),
            bars: successive_bars(ends, [COMPUTES, COMMUNICATES, MIGRATES]).collect(),
            ..ActivityRow::default()
        }
    };
    let added = |run: &ScenarioRecords| run.scheduling_s + run.migration_s;
    let title = style.translate("scenario", "cenário");
    let chart = |title: &str, rows| ActivityChart {
        axis_titles: [time_axis_title(style), title.to_owned()],
        colour_meaning: named_colours(
            style,
            [
                ("supersteps", "superpassos", COMPUTES),
                (
                    "rescheduling calls",
                    "chamadas de reescalonamento",
                    COMMUNICATES,
                ),
                ("migrations", "migrações", MIGRATES),
            ],
        ),
        event_name: String::new(),
        rows,
    };
    let whole = shown
        .iter()
        .map(|run| row(run, run.makespan_s - added(run)));
    let mut charts = vec![chart(title, whole.collect())];
    // The calls and migrations are often too short to be seen beside the supersteps.
    let costs = shown.iter().filter(|run| added(run) > 0.0);
    let costs: Vec<ActivityRow> = costs.map(|run| row(run, 0.0)).collect();
    if !costs.is_empty() {
        let alone = style.translate("calls and migrations alone", "só chamadas e migrações");
        charts.push(chart(&format!("{title}, {alone}"), costs));
    }
    ActivityChart::draw_all(&charts, "makespan by scenario", style)
}

/// Returns the title of an axis of supersteps on which each point is the mean of `supersteps_per_point` supersteps.
fn superstep_axis_title(style: &FigureStyle, supersteps_per_point: usize) -> String {
    let name = style.translate("superstep", "superpasso");
    if supersteps_per_point == 1 {
        return name.to_owned();
    }
    format!(
        "{name} ({} {supersteps_per_point})",
        style.translate("mean of", "média de")
    )
}

fn draw_superstep_times(report: &Report, style: &FigureStyle) -> Drawing {
    let size = match report.superstep_count().div_ceil(MAX_POINTS) {
        size @ (0 | 1) => size.max(1),
        // The size is even, since many applications alternate between two kinds of supersteps.
        size => size.next_multiple_of(2),
    };
    let shown = report.shown_scenarios(style);
    let curves = shown.into_iter().map(|run| {
        let place = run.scenario.name().len() - 1;
        let point = |(index, rows): (usize, &[SuperstepRow])| {
            let sum: f64 = rows.iter().map(|row| row.end_s - row.start_s).sum();
            let middle = (index * size) as f64 + f64::midpoint(rows.len() as f64, 1.0);
            (middle, sum / rows.len() as f64)
        };
        Curve {
            name: scenario_label(style, run.scenario.name()),
            colour: SCENARIO_COLOURS_AND_MARKS[place].0,
            curve_points: run.supersteps.chunks(size).enumerate().map(point).collect(),
        }
    });
    let chart = CurveChart {
        name: "durations of supersteps".to_owned(),
        axis_titles: [
            superstep_axis_title(style, size),
            style
                .translate(
                    "duration of a superstep [s]",
                    "duração de um superpasso [s]",
                )
                .to_owned(),
        ],
        curves: curves.collect(),
    };
    chart.draw(style)
}

fn draw_placement(report: &Report, style: &FigureStyle) -> Drawing {
    let run = report.last_scenario(style);
    let mut places = PlacementReplay::new(&report.platform_summary, run);
    let names: Vec<&str> = report
        .platform_summary
        .clusters
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    let mut points: Vec<Vec<(f64, f64)>> = vec![Vec::new(); names.len()];
    for superstep in 1..=run.supersteps.len() {
        places.advance_to_superstep(superstep as u64);
        let at = superstep as f64;
        for (name, points) in names.iter().zip(&mut points) {
            let count = places
                .current_places
                .iter()
                .filter(|place| place.cluster == *name)
                .count() as f64;
            // The curve is a step function: of a constant part only the ends are kept.
            match points.last().copied() {
                Some((_, last)) if last == count => {}
                Some((_, last)) => points.extend([(at, last), (at, count)]),
                None => points.push((at, count)),
            }
        }
    }
    let end = run.supersteps.len() as f64;
    let last = names.len().saturating_sub(1).max(1) as f64;
    let curves = names
        .iter()
        .zip(points)
        .enumerate()
        .map(|(index, (name, mut points))| {
            points.extend(points.last().map(|(_, count)| (end, *count)));
            Curve {
                name: (*name).to_owned(),
                colour: viridis_colour(0.9 * index as f64 / last),
                curve_points: points,
            }
        });
    let used = curves.filter(|curve| curve.curve_points.iter().any(|point| point.1 > 0.0));
    let chart = CurveChart {
        name: format!("processes by cluster in scenario {}", run.scenario.name()),
        axis_titles: [
            superstep_axis_title(style, 1),
            style
                .translate("processes by cluster", "processos por cluster")
                .to_owned(),
        ],
        curves: used.collect(),
    };
    chart.draw(style)
}
