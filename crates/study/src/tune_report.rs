//! Report of a search for good settings of a policy: the file `tune.json`, the text for a terminal, and the page.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    cells::number_cell,
    folder::read_plan,
    goal::Goal,
    page::{INITIAL_ROWS, ranking_table},
    plan::Plan,
    separate::{Indifference, TestConditions},
    stats::{Sample, format_short},
    store::{Rows, read_rows},
    summary::{Summary, format_setting},
};
use migsim_base::{
    document::{Document, read_text},
    error::{Error, Result, escape_control_characters},
    words::format_count,
};
use migsim_output::{
    Cell, Sheet, Table, escape_html,
    frame::{list_html, sections_page},
    number_column, read_refusing_outside_links, text_column, with_version,
};

/// Name of the file with the report.
pub const REPORT_FILE: &str = "tune.json";

/// Maximum number of equally good settings that the report names.
const MAX_NAMED_TIES: usize = 4;

/// Values of a setting by the names of their parameters; parameters that do not apply are left out.
pub type NamedValues = Map<String, Value>;

/// Result of a search for good settings, as it is stored in the folder of the search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TuneReport {
    /// Goal of the search (a makespan or a gain), with its unit.
    pub goal: String,
    /// Names of the varied parameters, in their order.
    pub parameters: Vec<String>,
    /// Best setting that the search found: the values of the parameters by name.
    pub best: NamedValues,
    /// Other settings whose mean goal over the seeds of the search equals the mean goal of the best setting.
    pub ties: Vec<NamedValues>,
    /// Values that the parameters have without tuning.
    pub defaults: NamedValues,
    /// Extent of the search: its runs, settings, seeds and rounds.
    pub search: SearchExtent,
    /// Whether the seed changes the results of runs.
    pub is_random: bool,
    /// Comparison of the best setting with the defaults on new seeds.
    pub comparison: DefaultsComparison,
    /// Command that runs the best setting; empty until the command is known.
    pub command: String,
}

/// Extent of a search for good settings: its runs, settings, seeds and rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchExtent {
    /// Number of runs that the search did.
    pub runs: usize,
    /// Number of different settings that the search ran.
    pub settings: usize,
    /// Seeds with which the search ran its settings.
    pub seeds: Vec<u64>,
    /// Seed of the random numbers with which the settings of the first round were drawn.
    pub draw_seed: u64,
    /// Number of runs that failed.
    pub failed: usize,
    /// Rounds of the search, in their order.
    pub rounds: Vec<SearchRound>,
}

/// A round of the search, in which some settings were run with the same number of seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SearchRound {
    /// The search method of the round: `halving` or `compass`.
    pub method: String,
    /// Number of settings in this round.
    pub settings: usize,
    /// Number of seeds with which each setting was run.
    pub seeds: usize,
    /// Number of runs in this round that no earlier round had already done.
    pub runs: usize,
    /// Best setting of this round: the values of the parameters by name.
    pub best: NamedValues,
    /// Mean of the goal for the best setting of this round, in the unit of the goal; absent if no setting could be run.
    pub mean: Option<f64>,
}

/// Comparison of the best setting with the defaults on new seeds, which the search did not use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DefaultsComparison {
    /// The new seeds, with which both settings were run.
    pub seeds: Vec<u64>,
    /// Goal of the best setting over the new seeds; absent if all its runs failed.
    pub best: Option<Sample>,
    /// Goal of the defaults over the new seeds; absent if all runs with the defaults failed.
    pub defaults: Option<Sample>,
    /// Advantage of the best setting over the defaults in the unit of the goal, over pairs of runs with the same seed. It is
    /// positive if the best setting is better.
    pub improvement: Option<Sample>,
    /// Advantage of the best setting in percent of the goal with the defaults \[%\]; absent if the goal itself is a gain.
    pub gain_percent: Option<Sample>,
    /// Method that corrects for the number of comparisons: `none`, because there is only one comparison.
    #[serde(default = "no_correction")]
    pub correction: String,
    /// Margin of indifference, in percent of the makespan with the defaults, or in percentage points if the goal is a gain.
    #[serde(default, rename = "indifference_percent")]
    pub indifference: Indifference,
}

/// Returns `none`, the name of the correction for a single comparison.
pub(super) fn no_correction() -> String {
    "none".to_owned()
}

impl TuneReport {
    /// Returns the report as JSON.
    pub fn to_json(&self) -> Value {
        with_version(serde_json::to_value(self).expect("a report is JSON"))
    }

    /// Returns the report as a sheet of sections and tables that can be printed.
    pub fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        sheet.add_line(self.heading());
        sheet.add_line("");
        sheet.add_table(self.round_table());
        sheet.add_line("");
        for (name, goal, setting) in self.compared_settings() {
            let mean = goal.map_or("cannot be run".to_owned(), |goal| format_short(goal.mean));
            sheet.add_line(format!(
                "{name:<8}  {mean}  {}",
                self.format_setting(setting)
            ));
        }
        if let Some(ties) = self.describe_ties() {
            sheet.add_line(format!("ties      {ties}"));
        }
        sheet.add_line(format!("gain      {}", self.describe_gain()));
        sheet.add_line("");
        sheet.add_line(&self.command);
        sheet
    }

    /// Creates the text of the page `index.html` with the report and all settings that were tried.
    pub fn page(&self, plan: &Plan, rows: &Rows) -> String {
        let settings = ranking_table(plan, &Summary::from_rows(plan, rows));
        let ties = self.describe_ties().map(|ties| format!("Ties: {ties}."));
        let result = format!(
            "<p class=\"verdict\">Gain over the defaults: {}</p>\n{}{}<p>The command that runs the best setting:</p>\n<pre class=\"wide\" aria-label=\"command\"><code>{}</code></pre>\n",
            escape_html(&self.describe_gain()),
            self.comparison_table().to_html(INITIAL_ROWS),
            list_html(&Vec::from_iter(ties)),
            escape_html(&escape_control_characters(&self.command))
        );
        let note = "<p class=\"note\">Each mean is over all seeds with which the setting was run, including those of the comparison; the search dropped settings with few seeds early. The result above compares the best setting with the defaults on seeds that the search did not use.</p>\n";
        let sections = [
            (
                "result",
                "Result: the best setting beside the defaults",
                result,
            ),
            (
                "search",
                "Search: its rounds",
                self.round_table().to_html(INITIAL_ROWS),
            ),
            ("settings", "Settings: all that were tried", settings + note),
        ];
        let title = format!("Search over {}", self.parameters.join(", "));
        let lead = format!("<p>{}.</p>\n", escape_html(&self.heading()));
        sections_page(&title, &lead, sections, &[])
    }

    fn is_gain(&self) -> bool {
        self.goal == Goal::GAIN.name()
    }

    /// Returns the title of the report.
    fn heading(&self) -> String {
        let search = &self.search;
        format!(
            "{} ({}, {}); goal: {} {}",
            format_count(search.runs, "run"),
            format_count(search.settings, "setting"),
            format_count(search.seeds.len(), "seed"),
            if self.is_gain() { "highest" } else { "lowest" },
            Goal::with_scenario_glosses(&self.goal)
        )
    }

    fn compared_settings(&self) -> [(&'static str, Option<Sample>, &NamedValues); 2] {
        let compared = &self.comparison;
        [
            ("best", compared.best, &self.best),
            ("defaults", compared.defaults, &self.defaults),
        ]
    }

    fn round_table(&self) -> Table {
        let columns = [
            text_column("search", "method"),
            number_column("settings", "settings"),
            number_column("seeds", "seeds"),
            number_column("runs", "runs"),
            number_column("best", "best"),
            text_column("at", "setting"),
        ];
        let mut table = Table::new("search", "", &columns);
        for round in &self.search.rounds {
            let mean = round.mean.map_or("-".to_owned(), format_short);
            table.push_row([
                Cell::text(&round.method),
                Cell::count(round.settings),
                Cell::count(round.seeds),
                Cell::count(round.runs),
                Cell::from_value_and_text(round.mean, mean),
                Cell::text(self.format_setting(&round.best)),
            ]);
        }
        table
    }

    /// Describes the settings whose mean goal in the search equals the mean goal of the best setting; `None` if there are no such
    /// settings.
    fn describe_ties(&self) -> Option<String> {
        let named: Vec<String> = self
            .ties
            .iter()
            .take(MAX_NAMED_TIES)
            .map(|one| self.format_setting(one))
            .collect();
        let more = if self.ties.len() > MAX_NAMED_TIES {
            "; ..."
        } else {
            ""
        };
        let count = match self.ties.len() {
            0 => return None,
            1 => "1 other is".to_owned(),
            count => format!("{count} others are"),
        };
        Some(format!(
            "{count} as good as the best setting of the search: {}{more}",
            named.join("; ")
        ))
    }

    fn comparison_table(&self) -> Table {
        let columns = [
            text_column("which", "which"),
            number_column(&self.goal, "mean"),
            number_column("± 95 %", "ci95"),
            text_column("setting", "setting"),
        ];
        let mut table = Table::new("comparison", "", &columns);
        let largest = self
            .compared_settings()
            .map(|(_, goal, _)| goal)
            .into_iter()
            .flatten()
            .map(|goal| goal.mean)
            .fold(0.0, f64::max);
        for (name, goal, setting) in self.compared_settings() {
            let mean = goal.map(|goal| number_cell(goal.mean).with_bar(goal.mean / largest));
            table.push_row([
                Cell::text(name),
                mean.unwrap_or_else(|| Cell::text("cannot be run")),
                number_cell(goal.and_then(|goal| goal.ci95)),
                Cell::text(self.format_setting(setting)),
            ]);
        }
        table
    }

    fn describe_gain(&self) -> String {
        let compared = &self.comparison;
        let Some(gain) = compared.gain_percent.or(compared.improvement) else {
            return "unknown, since the run with the defaults failed".into();
        };
        if self.best == self.defaults {
            return "none: no setting better than the defaults was found".into();
        }
        let unit = if self.is_gain() {
            "percentage points"
        } else {
            "%"
        };
        let seeds = &compared.seeds;
        let basis = TestConditions {
            seed_count: seeds.len(),
            has_random_results: self.is_random,
            indifference: compared.indifference,
        };
        let gain = Sample {
            count: seeds.len(),
            ..gain
        };
        let margin = basis.indifference.percent();
        let is_shown = basis.is_significant(gain, margin, 1);
        let mean = format_short(gain.mean);
        let fresh = match seeds[..] {
            [first, .., last] => format!("{} fresh seeds from {first} to {last}", seeds.len()),
            _ => "one fresh seed".into(),
        };
        let (shown, doubt) = match gain.deviation {
            _ if !self.is_random => (
                format!(
                    "{mean} {unit}, without an interval, since nothing in these runs is random"
                ),
                format!(
                    "; this counts as no gain, since it is not above {margin} %, the margin of indifference"
                ),
            ),
            None => {
                return format!("{mean} {unit} (from {fresh}, therefore without an interval)");
            }
            Some(deviation) => (
                format!(
                    "{} {unit} (mean and 95 % interval over {fresh}, compared seed by seed)",
                    gain.format()
                ),
                describe_doubt_about_gain(basis, gain, deviation, unit),
            ),
        };
        if is_shown { shown } else { shown + &doubt }
    }

    fn format_setting(&self, setting: &NamedValues) -> String {
        let values = self
            .parameters
            .iter()
            .map(|name| setting.get(name).cloned());
        format_setting(&self.parameters, &values.collect::<Vec<_>>())
    }
}

/// Returns the end of a sentence about a gain that does not count. It is negligible if its interval excludes 0; otherwise it may
/// be chance, and the sentence has the number of seeds that would detect a gain. `deviation` is the standard deviation of the
/// gain over the seeds, in `unit`.
fn describe_doubt_about_gain(
    basis: TestConditions,
    gain: Sample,
    deviation: f64,
    unit: &str,
) -> String {
    let margin = basis.indifference.percent();
    if basis.is_significant(gain.abs(), 0.0, 1) {
        return if gain.mean < 0.0 {
            "; the defaults are better with these seeds".to_owned()
        } else {
            format!(
                "; this is negligible, since it is not significantly above {margin} %, the margin of indifference"
            )
        };
    }
    let separable = basis.indifference.separable_percent();
    let needed = basis.seeds_to_separate(separable, margin, deviation);
    let needed = needed.map_or("more than ten thousand".to_owned(), |needed| {
        format!("about {needed}")
    });
    format!(
        "; this may be chance, since it is not significantly above {margin} %, the margin of indifference; to detect a gain of {separable} {unit}, {needed} seeds would be needed"
    )
}

/// Creates the page of a finished search from the report, the plan and the rows in its folder.
///
/// # Errors
/// The folder cannot be read, or its files contradict each other.
pub fn page_from_folder(folder: &Path) -> Result<String> {
    let path = folder.join(REPORT_FILE);
    let name = path.display().to_string();
    let text = read_refusing_outside_links(&path, read_text)
        .map_err(|problem| problem.hint("name a folder that `migsim tune --out` has written"))?;
    let report: TuneReport = Document::parse(name.clone(), text)?.deserialize()?;
    let plan = read_plan(folder)?;
    if plan.names != report.parameters {
        return Err(Error::input(
            format!(
                "the files of the search contradict each other: here {} vary, but in `plan.json` {}",
                report.parameters.join(", "),
                plan.names.join(", ")
            ),
            name,
            "repeat the command of the search, which writes both files again",
        ));
    }
    Ok(report.page(&plan, &read_rows(folder)?))
}
