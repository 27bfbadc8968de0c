//! Draws the figures of a run for articles: makespans, durations of supersteps, placement and activity of the processes.

use super::page_data::Report;
use crate::{
    activity::{PlacementReplay, ProcessTimes},
    figure::{
        ActivityChart, Bar, Colour, ColourMeaning, Curve, CurveChart, Drawing, Figure, FigureStyle,
        SCENARIO_COLOURS_AND_MARKS, scenario_label, select_figures, viridis_colour,
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
        "when each process computes, sends or receives, and waits; of more than 48 supersteps the share of time computing",
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

    fn last_scenario(&self) -> (usize, &ScenarioRecords) {
        self.run
            .scenarios
            .iter()
            .enumerate()
            .next_back()
            .expect("a run has a scenario")
    }
}

fn time_axis_title(style: &FigureStyle) -> String {
    style.translate("time [s]", "tempo [s]").to_owned()
}

fn draw_activity(report: &Report, style: &FigureStyle) -> Drawing {
    let (index, run) = report.last_scenario();
    let activity = report
        .process_times_by_scenario
        .as_ref()
        .map(|all| &all[index]);
    let is_coarse = run.supersteps.len() > MAX_SUPERSTEPS_WITH_BARS;
    let draw_bars = if is_coarse {
        computation_share_bars
    } else {
        activity_bars
    };
    let count = report.process_count();
    let rows = (0..count).map(|process| {
        let bars = activity.map(|activity| draw_bars(run, activity, process, count));
        (format!("p{}", process + 1), bars.unwrap_or_default())
    });
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
        name: format!("processes in scenario {}", run.scenario.name()),
        axis_titles: [time_axis_title(style), title.to_owned()],
        colour_meaning,
        named_rows: rows.collect(),
    };
    chart.draw(style)
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
        let sent = begin + compute + communication;
        let ends = [begin, computed, sent.min(row.end_s), row.end_s];
        let pairs = ends
            .windows(2)
            .zip([COMPUTES, COMMUNICATES, WAITS])
            .filter(|(pair, _)| pair[1] > pair[0]);
        bars.extend(pairs.map(|(pair, colour)| Bar {
            start_time: pair[0],
            end_time: pair[1],
            colour,
        }));
    }
    bars
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
    let rows =
        report.run.scenarios.iter().map(|run| {
            let ends = [
                run.makespan_s - run.scheduling_s - run.migration_s,
                run.makespan_s - run.migration_s,
                run.makespan_s,
            ];
            let starts = [0.0, ends[0], ends[1]];
            let colours = [COMPUTES, COMMUNICATES, MIGRATES];
            let bars = starts.into_iter().zip(ends).zip(colours).map(
                |((start_time, end_time), colour)| Bar {
                    start_time,
                    end_time,
                    colour,
                },
            );
            (run.scenario.name().to_owned(), bars.collect())
        });
    let chart = ActivityChart {
        name: "makespan by scenario".to_owned(),
        axis_titles: [
            time_axis_title(style),
            style.translate("scenario", "cenário").to_owned(),
        ],
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
        named_rows: rows.collect(),
    };
    chart.draw(style)
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
    let curves = report.run.scenarios.iter().map(|run| {
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
    let (_, run) = report.last_scenario();
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
