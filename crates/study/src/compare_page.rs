//! `index.html` of a comparison: the verdict, the table of results, makespans with their confidence intervals, and one run of
//! each policy side by side.
//!
//! The runs shown side by side are the runs with the first seed. The page shows a strip of phases for each run on one axis of
//! time, the number of processes in each cluster after any superstep, and the terms of the difference of the makespan from
//! scenario i.

use std::fmt::Write as _;

use rayon::prelude::*;
use serde_json::json;

use super::{
    cells::cell_with,
    compare::{Comparison, PolicyResults},
    config::Sweep,
    page::INITIAL_ROWS,
    plan::Plan,
    stats::{Sample, format_short},
};
use migsim_base::{
    error::Result,
    units::{HostId, Time},
    words::format_count,
};
use migsim_bsp::Scenario;
use migsim_experiment::{Experiment, MakespanTerm, Progress};
use migsim_output::{
    Cell, Table, escape_html,
    figure::{
        ChartRow, Dot, DotRowChart, Figure, FigureStyle, LegendSeries, RowGroup, round_ticks,
    },
    frame::{picture_html, script_element, sections_page, sentence_html},
    number_column, text_column,
};

/// Maximum number of policies of which the page shows a run.
const MAX_EXAMPLE_RUNS: usize = 8;

/// The run of one policy that the page of a comparison shows as an example.
#[derive(Clone, Debug)]
pub struct ExampleRun {
    /// The name of the policy.
    pub policy: String,
    /// The makespan of the example run \[s\].
    pub makespan: f64,
    /// Three times of each superstep since the start of the run: its start, the end of the last computation, and its end \[s\].
    pub superstep_times: Vec<[f64; 3]>,
    /// Three times of each rescheduling call since the start of the run: start and end of the wait for the call, and end of the
    /// delay by its moves \[s\].
    pub call_times: Vec<[f64; 3]>,
    /// The moves in order of time, each with the number of supersteps before it, the index of the origin cluster, and the index
    /// of the destination cluster.
    pub moves: Vec<(usize, usize, usize)>,
    /// The difference of the makespan from scenario i (no rescheduling), divided into terms, and the sum of the terms \[s\];
    /// `None` if scenario i was not run.
    pub difference_terms: Option<(Vec<(MakespanTerm, f64)>, f64)>,
}

impl ExampleRun {
    /// Simulates the run of a policy.
    fn simulate(policy: &str, experiment: &Experiment) -> Result<Self> {
        let results = experiment.run(&Progress::default())?;
        let run = results.get(Scenario::Iii).expect("a comparison runs it");
        let outcome = &run.outcome;
        let times = |start: Time, middle: Time, end: Time| [start, middle, end].map(Time::get);
        let supersteps = outcome.supersteps.iter();
        let calls = outcome.calls.iter().map(|one| {
            let wait = &one.waiting_period;
            times(wait.from, wait.until, one.application_delayed_until)
        });
        let cluster = |host: HostId| experiment.platform.platform.cluster_of(host).index();
        let mut moves: Vec<_> = outcome
            .migrations
            .iter()
            .map(|one| (one.superstep + 1, cluster(one.from), cluster(one.to)))
            .collect();
        moves.sort_by_key(|one| one.0);
        Ok(Self {
            policy: policy.to_owned(),
            makespan: outcome.makespan.get(),
            superstep_times: supersteps
                .map(|one| times(one.start, one.last_computation_end, one.end))
                .collect(),
            call_times: calls.collect(),
            moves,
            difference_terms: results.ledger(run).map(|ledger| {
                let terms = ledger.terms_in_seconds().collect();
                (terms, ledger.difference_in_seconds())
            }),
        })
    }
}

/// The example runs that the page of a comparison shows, one for each policy.
#[derive(Debug, Default)]
pub struct ExampleRuns {
    /// The title of the page.
    pub title: String,
    /// A description of the runs for headings, such as `seed 1`.
    pub description: String,
    /// The names of the clusters, each with the number of processes that start in it; empty if this is not known.
    pub clusters: Vec<(String, u32)>,
    /// The example runs in the order of the comparison, the run of the best policy first.
    pub runs: Vec<ExampleRun>,
}

impl ExampleRuns {
    /// Simulates a run with the first seed for each of the best policies of a comparison.
    ///
    /// # Errors
    /// A run that succeeded for the comparison cannot be repeated.
    pub fn simulate(sweep: &Sweep, plan: &Plan, comparison: &Comparison) -> Result<Self> {
        let seed = plan.seeds[0];
        let experiment = |one: &PolicyResults| plan.experiment(sweep, one.setting, seed);
        let policies = &comparison.policies[..comparison.policies.len().min(MAX_EXAMPLE_RUNS)];
        let runs = policies
            .par_iter()
            .map(|one| ExampleRun::simulate(&one.policy, &experiment(one)?));
        let count = format_count(plan.settings.len(), "policy");
        let mut examples = Self {
            title: format!("Comparison of {count}"),
            description: format!("seed {seed}"),
            runs: runs.collect::<Result<_, _>>()?,
            ..Self::default()
        };
        if let Some(first) = policies.first() {
            let first = experiment(first)?;
            examples.title = format!("{}: {}", examples.title, first.application_name());
            examples.clusters = processes_per_cluster(&first);
        }
        Ok(examples)
    }
}

/// Returns the names of the clusters of a platform, each with the number of processes that start in it.
pub(super) fn processes_per_cluster(experiment: &Experiment) -> Vec<(String, u32)> {
    let platform = &experiment.platform.platform;
    let names = platform.clusters.iter().map(|one| (one.name.clone(), 0));
    let mut clusters: Vec<(String, u32)> = names.collect();
    for host in &experiment.placement {
        clusters[platform.cluster_of(*host).index()].1 += 1;
    }
    clusters
}

impl Comparison {
    /// Returns the HTML page of the comparison.
    pub fn page(&self, examples: &ExampleRuns) -> String {
        let which = &examples.description;
        let of = |html: fn(&ExampleRuns) -> String| match examples.runs[..] {
            [] => String::new(),
            _ => html(examples),
        };
        let sections = [
            (
                "ranking",
                "Ranking: from best to worst",
                format!(
                    "<p class=\"verdict\">{}</p>\n{}",
                    sentence_html(&self.verdict()),
                    self.table().to_html(INITIAL_ROWS)
                ),
            ),
            (
                "makespans",
                "Makespans of scenario iii (with migrations)",
                self.draw_makespans(),
            ),
            (
                "time",
                &format!("Runs: {which}, on one axis of time"),
                of(draw_phase_strips),
            ),
            (
                "places",
                &format!("Places: processes by cluster, {which}"),
                of(processes_by_cluster_table),
            ),
            (
                "terms",
                &format!(
                    "Parts of the time of scenario iii less that of scenario i (application only), {which}"
                ),
                of(difference_table),
            ),
        ];
        let policies = format_count(self.policies.len(), "policy");
        let seeds = format_count(self.test_conditions.seed_count, "seed");
        let lead = format!("<p>{policies}, {seeds}.</p>\n");
        sections_page(&examples.title, &lead, sections, &[SLIDER_SCRIPT])
    }

    /// Returns a figure as HTML with the makespans of the policies; empty if no policy ran with all seeds.
    fn draw_makespans(&self) -> String {
        if self.policies.is_empty() {
            return String::new();
        }
        let svg = self.ranking_figure(&FigureStyle::of_page()).to_svg();
        let label = "Makespans of the policies, from best to worst";
        picture_html("makespans", label, &svg)
    }

    /// Draws the makespans of the policies from best to worst, with their ranks, gains and the margin of indifference.
    pub(super) fn ranking_figure(&self, style: &FigureStyle) -> Figure {
        let row = |label: String, makespan: Sample, gain: Option<Sample>| ChartRow {
            label,
            dots: vec![Dot::from_half_width(0, makespan.mean, makespan.ci95)],
            note: gain.map_or(String::new(), |gain| {
                style.localise_decimal_mark(&format!("{:.1}", gain.mean))
            }),
        };
        let policies = self.policies.iter().map(|one| {
            let label = format!("{} {}", self.format_rank(one.rank), one.policy);
            row(label, one.makespan_s, one.gain_percent)
        });
        let start = self
            .other_static_start()
            .map(|one| row(one.table_label(), one.makespan_s, one.gain_percent));
        let rows: Vec<ChartRow> = policies.chain(start).collect();
        let has_gains = rows.iter().any(|row| !row.note.is_empty());
        let makespan = style.translate("makespan of scenario iii [s]", "tempo do cenário iii [s]");
        let interval = style.translate("mean and 95 % interval", "média e intervalo de 95 %");
        let best = self.policies.first().map_or(0.0, |one| one.makespan_s.mean);
        let conditions = self.test_conditions;
        let margin = conditions.indifference_margin(false, best);
        let percent = style.localise_decimal_mark(&conditions.indifference.percent().to_string());
        let percent = format!("{percent} %");
        let name = style.translate("margin of indifference", "margem de indiferença");
        let band = ((best, best + margin), format!("{name}, {percent}"));
        let gain = style.translate("gain [%]", "ganho [%]");
        let chart = DotRowChart {
            name: "makespans of the policies".into(),
            axis_title: match conditions.seed_count {
                0 | 1 => makespan.into(),
                _ => format!("{makespan}, {interval}"),
            },
            legend_series: vec![LegendSeries::from_index("scenario iii", 2)],
            row_groups: vec![RowGroup {
                rows,
                ..RowGroup::default()
            }],
            band: (margin > 0.0).then_some(band),
            note_title: if has_gains { gain } else { "" }.into(),
            ..DotRowChart::default()
        };
        Figure::new("ranking", chart.draw(style))
    }
}

/// Number of columns into which the time axis of a strip is divided; a strip shows the phases of one run.
const STRIP_COLUMNS: usize = 480;
/// Height of the strip that shows the phases of one run \[pixels\].
const STRIP_HEIGHT: f64 = 34.0;
const LABEL: f64 = 18.0;
const AXIS: f64 = 26.0;
const WIDTH: f64 = 960.0;

/// The names of the phases of a run (such as computation and calls) with their colours, alternately dark and light.
const PHASES: [(&str, &str); 4] = [
    ("computation", "#1f5a99"),
    ("communication, barrier", "#e6b93c"),
    ("calls", "#7a2a8c"),
    ("moves", "#c8442a"),
];

/// Returns a figure as HTML with a strip for each run, which shows how its time is divided among computation, communication,
/// calls and moves.
fn draw_phase_strips(ExampleRuns { runs, .. }: &ExampleRuns) -> String {
    let longest = runs.iter().map(|run| run.makespan).fold(0.0, f64::max);
    let height = AXIS + runs.len() as f64 * (STRIP_HEIGHT + LABEL);
    let mut svg = format!(
        "<svg role=\"img\" aria-label=\"Phases of the runs on one axis of time\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" style=\"min-width:600px;max-width:100%;height:auto\" font-family=\"sans-serif\" font-size=\"12\" fill=\"currentColor\">\n"
    );
    for (place, run) in runs.iter().enumerate() {
        let top = place as f64 * (STRIP_HEIGHT + LABEL);
        let _ = writeln!(
            svg,
            "<text x=\"0\" y=\"{:.0}\">{} · {} s · {} · {}</text>",
            top + LABEL - 5.0,
            escape_html(&run.policy),
            format_short(run.makespan),
            format_count(run.call_times.len(), "call"),
            format_count(run.moves.len(), "move")
        );
        svg += &draw_phase_strip(run, longest, top + LABEL);
    }
    for (date, label) in round_ticks(longest, 9) {
        let x = WIDTH * date / longest.max(f64::MIN_POSITIVE);
        let anchor = match x {
            x if x < 20.0 => "start",
            x if x > WIDTH - 20.0 => "end",
            _ => "middle",
        };
        let top = height - AXIS + 1.0;
        let base = height - 6.0;
        let _ = writeln!(
            svg,
            "<path d=\"M{x:.1} {top}v5\" stroke=\"currentColor\"/><text x=\"{x:.1}\" y=\"{base}\" text-anchor=\"{anchor}\">{label} s</text>",
        );
    }
    svg += "</svg>";
    let key = |(name, colour): &(&str, &str)| {
        format!(
            "<span style=\"white-space:nowrap\"><span aria-hidden=\"true\" style=\"display:inline-block;width:.9em;height:.9em;background:{colour}\"></span> {name}</span> "
        )
    };
    let legend: String = PHASES.iter().map(key).collect();
    format!(
        "<p>{legend}</p>\n<figure class=\"picture\" data-name=\"runs\"><div class=\"wide\" aria-label=\"Runs\">{svg}</div></figure>\n<p class=\"note\">The height of a colour is the share of the time of its column.</p>\n"
    )
}

/// Returns the strip of one run as SVG; neighbouring columns with the same phases are joined. `longest` is the largest makespan
/// \[s\], and `top` the vertical position.
fn draw_phase_strip(run: &ExampleRun, longest: f64, top: f64) -> String {
    let spent = sum_phase_times_by_column(run, longest);
    let shares = spent.iter().map(|spent| {
        let all: f64 = spent.iter().sum();
        spent.map(|time| {
            if all > 0.0 {
                (40.0 * time / all).round()
            } else {
                0.0
            }
        })
    });
    let shares: Vec<[f64; PHASES.len()]> = shares.collect();
    let mut svg = String::new();
    let mut at = 0;
    while at < STRIP_COLUMNS {
        let same = shares[at..]
            .iter()
            .take_while(|one| **one == shares[at])
            .count();
        let all: f64 = shares[at].iter().sum();
        let mut below = top + STRIP_HEIGHT;
        for (share, (_, colour)) in shares[at].iter().zip(PHASES) {
            if *share > 0.0 {
                let height = STRIP_HEIGHT * share / all;
                below -= height;
                let _ = writeln!(
                    svg,
                    "<rect x=\"{:.0}\" y=\"{below:.1}\" width=\"{}\" height=\"{height:.1}\" fill=\"{colour}\"/>",
                    at as f64 * WIDTH / STRIP_COLUMNS as f64,
                    same as f64 * WIDTH / STRIP_COLUMNS as f64
                );
            }
        }
        at += same;
    }
    svg
}

/// Adds up the times \[s\] that a run spends in each phase, for each column of its strip. `longest` is the makespan \[s\] to which
/// all columns together correspond.
fn sum_phase_times_by_column(run: &ExampleRun, longest: f64) -> Vec<[f64; PHASES.len()]> {
    let mut spent = vec![[0.0_f64; PHASES.len()]; STRIP_COLUMNS];
    let column = if longest > 0.0 {
        longest / STRIP_COLUMNS as f64
    } else {
        1.0
    };
    let mut add = |phase: usize, from: f64, until: f64| {
        let mut now = from;
        while now < until {
            let mut index = truncate_to_usize(now / column);
            if (index + 1) as f64 * column <= now {
                // Rounding put the end of the column inside it.
                index += 1;
            }
            let end = if index + 1 < STRIP_COLUMNS {
                until.min((index + 1) as f64 * column)
            } else {
                until
            };
            spent[index.min(STRIP_COLUMNS - 1)][phase] += end - now;
            now = end;
        }
    };
    for &[start, computed, end] in &run.superstep_times {
        let computed = computed.clamp(start, end.max(start));
        add(0, start, computed);
        add(1, computed, end);
    }
    for &[from, until, held] in &run.call_times {
        add(2, from, until);
        add(3, until, held);
    }
    spent
}

/// Truncates a small number to an integer; negative numbers become 0.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a column of a strip"
)]
fn truncate_to_usize(number: f64) -> usize {
    number.max(0.0) as usize
}

fn processes_by_cluster_table(ExampleRuns { runs, clusters, .. }: &ExampleRuns) -> String {
    if clusters.is_empty() {
        return String::new();
    }
    let mut columns = vec![text_column("cluster", "cluster")];
    columns.extend(
        runs.iter()
            .map(|run| number_column(&run.policy, "processes")),
    );
    let mut table = Table::new("places", "", &columns);
    let histories = runs
        .iter()
        .map(|run| processes_by_cluster_over_time(run, clusters));
    let histories: Vec<Vec<(usize, Vec<u32>)>> = histories.collect();
    for (index, (cluster, _)) in clusters.iter().enumerate() {
        let last = histories.iter().filter_map(|history| history.last());
        let counts = last.map(|last| Cell::count(last.1[index] as usize));
        table.push_row(
            [Cell::text(cluster)]
                .into_iter()
                .chain(counts)
                .collect::<Vec<_>>(),
        );
    }
    let supersteps = runs[0].superstep_times.len();
    let data = json!({ "histories": histories, "clusters": clusters.len() });
    // The data are numbers, so they contain no `<` that could close the element.
    format!(
        "<p><label for=\"barrier\">After superstep <output id=\"barrier-shown\" for=\"barrier\">{supersteps}</output></label> \
         <input id=\"barrier\" type=\"range\" min=\"0\" max=\"{supersteps}\" value=\"{supersteps}\" style=\"width:min(40em,90%)\"></p>\n{}\
         <script type=\"application/json\" id=\"place-data\">{data}</script>\n{}\n",
        table.to_html(usize::MAX),
        script_element(SLIDER_SCRIPT)
    )
}

/// JavaScript of the page that updates the table of processes per cluster to the superstep chosen by the slider.
const SLIDER_SCRIPT: &str = "\"use strict\";
{
  const data = JSON.parse(document.getElementById('place-data').textContent);
  const slider = document.getElementById('barrier');
  const show = () => {
    const superstep = Number(slider.value);
    document.getElementById('barrier-shown').textContent = superstep;
    const rows = slider.closest('section').querySelectorAll('tbody tr');
    rows.forEach((row, cluster) => data.histories.forEach((history, run) => {
      let last = history[0];
      for (const one of history) if (one[0] <= superstep) last = one;
      const cell = row.cells[run + 1];
      if (cell && cell.textContent !== String(last[1][cluster])) cell.textContent = last[1][cluster];
    }));
  };
  slider.addEventListener('input', show);
}
";

/// Returns the number of processes in each cluster at the start and after each superstep with moves. Each entry has the number of
/// supersteps so far and the list of the numbers of processes, in the order of the clusters.
fn processes_by_cluster_over_time(
    run: &ExampleRun,
    clusters: &[(String, u32)],
) -> Vec<(usize, Vec<u32>)> {
    let mut counts: Vec<u32> = clusters.iter().map(|one| one.1).collect();
    let mut history = vec![(0, counts.clone())];
    for &(after, from, to) in &run.moves {
        counts[from] = counts[from].saturating_sub(1);
        counts[to] += 1;
        match history.last_mut() {
            Some(last) if last.0 == after => last.1.clone_from(&counts),
            _ => history.push((after, counts.clone())),
        }
    }
    history
}

/// Returns a table as HTML that shows, for each run, the terms of the difference of its makespan from scenario i (no
/// rescheduling).
fn difference_table(ExampleRuns { runs, .. }: &ExampleRuns) -> String {
    let known = || {
        runs.iter()
            .filter_map(|run| Some((run, run.difference_terms.as_ref()?)))
    };
    let Some((_, (first, _))) = known().next() else {
        return "<p>The runs have no scenario i (application only) with which scenario iii could be compared.</p>\n".to_owned();
    };
    let mut columns = vec![text_column("term [s]", "term")];
    columns.extend(known().map(|(run, _)| number_column(&run.policy, "seconds")));
    let mut table = Table::new("terms", "", &columns);
    // The sum is the last row.
    for at in 0..=first.len() {
        let name = first.get(at).map_or("sum", |(term, _)| term.name());
        let cells = known().map(|(_, (terms, sum))| {
            // A term that is only the rounding of the others is shown as 0.
            let largest = terms
                .iter()
                .fold(sum.abs(), |largest, term| largest.max(term.1.abs()));
            let seconds = terms.get(at).map_or(*sum, |term| term.1);
            let is_rounding = seconds.abs() < 1e-12 * largest;
            cell_with(if is_rounding { 0.0 } else { seconds }, |seconds| {
                let sign = if seconds > 0.0 { "+" } else { "" };
                format!("{sign}{}", format_short(seconds))
            })
        });
        table.push_row(
            [Cell::text(name)]
                .into_iter()
                .chain(cells)
                .collect::<Vec<_>>(),
        );
    }
    table.to_html(INITIAL_ROWS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{Plan, RunRow, compare::AdditionalResults};
    use migsim_experiment::{Layers, Limits};

    #[test]
    fn the_strips_share_one_axis_and_places_count_all_processes() {
        let settings = Layers::from_pairs([
            ("workload.app", "sw".into()),
            ("workload.n", 25.into()),
            ("policy.name", "refine/every=10".into()),
        ]);
        let experiment = Experiment::load(&settings, Limits::default()).unwrap();
        let run = ExampleRun::simulate("refine/every=10", &experiment).unwrap();
        let makespan = run.makespan;
        let examples = ExampleRuns {
            clusters: processes_per_cluster(&experiment),
            runs: vec![run],
            ..ExampleRuns::default()
        };
        let labels = |longest: f64| -> Vec<String> {
            let ticks = round_ticks(longest, 9).into_iter();
            ticks.map(|(_, label)| label).collect()
        };
        assert_eq!(labels(126.1), ["0", "20", "40", "60", "80", "100", "120"]);
        assert_eq!(
            labels(0.41),
            [
                "0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.35", "0.4"
            ]
        );
        // No column is empty, however the ends of columns are rounded.
        for part in 1..=40 {
            let longest = makespan * (1.0 + f64::from(part) / 97.0);
            let svg = draw_phase_strip(&examples.runs[0], longest, 0.0);
            let mut filled = BTreeMap::new();
            for rectangle in svg.lines() {
                let number = |key: &str| -> u32 {
                    let (_, rest) = rectangle.split_once(&format!(" {key}=\"")).unwrap();
                    rest.split('"').next().unwrap().parse().unwrap()
                };
                filled.insert(number("x"), number("width"));
            }
            let end = filled.into_iter().fold(0, |end, (x, width)| {
                assert_eq!(end, x, "{part}");
                x + width
            });
            assert!(f64::from(end) >= WIDTH * makespan / longest - 1.0);
        }
        for (_, counts) in processes_by_cluster_over_time(&examples.runs[0], &examples.clusters) {
            assert_eq!(counts.iter().sum::<u32>(), 25);
        }
        let plan: Plan = serde_json::from_value(json!({
            "schema": "migsim-plan-1", "version": "0", "sweep": { "schema": "migsim-sweep-1" },
            "names": ["policy"], "settings": [["refine/every=10"]], "seeds": [1], "runs": ["a"],
        }))
        .unwrap();
        let row = RunRow {
            makespan_s: [Some(40.0), None, Some(30.0)],
            ..RunRow::default()
        };
        let rows = [("a".to_owned(), row)].into();
        let comparison = Comparison::from_rows(&plan, &rows, &AdditionalResults::default());
        let html = comparison.page(&examples);
        for part in [
            "<p class=\"verdict\">",
            "id=\"barrier\"",
            "computation",
            "sum",
        ] {
            assert!(html.contains(part), "{part}");
        }
        assert!(html.len() < 1_000_000, "{}", html.len());
    }
}
