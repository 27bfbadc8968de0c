//! The report of a search: its file `tune.json`, its printed form, and its page.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::folder::read_plan;
use super::goal::Goal;
use super::page::{SHOWN, ranking};
use super::plan::Plan;
use super::row::Row;
use super::separate::{Basis, Indifference};
use super::stats::{Estimate, Sample, short};
use super::store;
use super::summary::{Summary, named};
use migsim_base::document::{Document, read_text};
use migsim_base::error::{Error, Problem, visible};
use migsim_base::words::counted;
use migsim_output::frame::{list, sections_page};
use migsim_output::{Cell, Sheet, Table, escaped, numbers, read_inside, words};

/// The name of its file.
pub const FILE: &str = "tune.json";

/// Maximum number of equally good settings that are named.
const MOST_TIES: usize = 4;

/// A setting by the names of its parameters; parameters that do not apply are left out.
pub type Named = Map<String, Value>;

/// The result of a search, as its folder stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct TuneReport {
    /// The goal, with its unit.
    pub goal: String,
    /// The names of the parameters, in their order.
    pub parameters: Vec<String>,
    /// The best setting.
    pub best: Named,
    /// The other settings with the same mean over the seeds of the search.
    pub ties: Vec<Named>,
    /// The values without tuning.
    pub defaults: Named,
    /// The course of the search.
    pub search: Search,
    /// Whether seeds change results.
    pub is_random: bool,
    /// The comparison of the best setting with the defaults.
    pub comparison: Comparison,
    /// The command that runs the best setting; empty until it is known.
    pub command: String,
}

/// The course of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Search {
    /// The number of its runs.
    pub runs: usize,
    /// The number of different settings.
    pub settings: usize,
    /// The seeds of the search.
    pub seeds: Vec<u64>,
    /// The seed that draws the first settings.
    pub draw_seed: u64,
    /// The number of failed runs.
    pub failed: usize,
    /// The rounds of the search.
    pub rounds: Vec<Round>,
}

/// A round of the search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Round {
    /// The method: `halving` or `compass`.
    pub method: String,
    /// The number of settings.
    pub settings: usize,
    /// The number of seeds of each.
    pub seeds: usize,
    /// The number of new runs.
    pub runs: usize,
    /// The best setting.
    pub best: Named,
    /// The mean of the round, in the unit of the goal; none if no setting could be run.
    pub mean: Option<f64>,
}

/// The best setting and the defaults, compared on fresh seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Comparison {
    /// The seeds.
    pub seeds: Vec<u64>,
    /// The goal with the best setting.
    pub best: Option<Estimate>,
    /// The goal with the defaults.
    pub defaults: Option<Estimate>,
    /// The advantage of the best setting, seed by seed, in the unit of the goal.
    pub improvement: Option<Estimate>,
    /// The advantage in percent of the value of the defaults \[%\]; none if the goal is a gain.
    pub gain_percent: Option<Estimate>,
    /// The correction for the number of comparisons: `none`, since there is only one.
    #[serde(default = "no_correction")]
    pub correction: String,
    /// The margin of indifference, in percent of the defaults' time, or in percentage points of a gain.
    #[serde(default, rename = "indifference_percent")]
    pub indifference: Indifference,
}

/// Returns the correction of a single comparison.
pub(super) fn no_correction() -> String {
    "none".to_owned()
}

impl TuneReport {
    /// Returns the report as JSON.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("a report is JSON")
    }

    /// Returns the report as it is printed.
    pub fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        sheet.line(self.heading());
        sheet.line("");
        sheet.table(self.rounds());
        sheet.line("");
        for (name, estimate, setting) in self.pair() {
            let mean = estimate.map_or("cannot be run".to_owned(), |one| short(one.mean));
            sheet.line(format!("{name:<8}  {mean}  {}", self.named(setting)));
        }
        if let Some(ties) = self.ties() {
            sheet.line(format!("ties      {ties}"));
        }
        sheet.line(format!("gain      {}", self.gain()));
        sheet.line("");
        sheet.line(&self.command);
        sheet
    }

    /// Creates `index.html`: the report with all settings that were tried.
    pub fn page(&self, plan: &Plan, rows: &BTreeMap<String, Row>) -> String {
        let settings = ranking(plan, &Summary::of(plan, rows));
        let ties = self.ties().map(|ties| format!("Ties: {ties}."));
        let result = format!(
            "<p class=\"verdict\">Gain over the defaults: {}</p>\n{}{}<p>The command that runs the best setting:</p>\n<pre class=\"wide\" aria-label=\"command\"><code>{}</code></pre>\n",
            escaped(&self.gain()),
            self.compared().html(SHOWN),
            list(&Vec::from_iter(ties)),
            escaped(&visible(&self.command))
        );
        let note = "<p class=\"note\">The means are over all seeds that a setting was run with, those of the comparison included; a setting with few seeds was dropped early. The best is judged on fresh seeds above.</p>\n";
        let sections = [
            (
                "result",
                "Result: the best setting beside the defaults",
                result,
            ),
            ("search", "Search: its rounds", self.rounds().html(SHOWN)),
            ("settings", "Settings: all that were tried", settings + note),
        ];
        let sections = sections.map(|(id, heading, html)| (id, heading.to_owned(), html));
        let title = format!("Search over {}", self.parameters.join(", "));
        let lead = format!("<p>{}.</p>\n", escaped(&self.heading()));
        sections_page(&title, &lead, sections, &[])
    }

    fn heading(&self) -> String {
        let search = &self.search;
        format!(
            "{} of {} with {}, for the best {}",
            counted(search.runs, "run"),
            counted(search.settings, "setting"),
            counted(search.seeds.len(), "seed"),
            self.goal
        )
    }

    /// Returns the best setting and the defaults on the seeds of the comparison.
    fn pair(&self) -> [(&'static str, Option<Estimate>, &Named); 2] {
        let compared = &self.comparison;
        [
            ("best", compared.best, &self.best),
            ("defaults", compared.defaults, &self.defaults),
        ]
    }

    /// Creates the table of the rounds of the search.
    fn rounds(&self) -> Table {
        let columns = [
            words("search", "method"),
            numbers("settings", "settings"),
            numbers("seeds", "seeds"),
            numbers("runs", "runs"),
            numbers("best", "best"),
            words("at", "setting"),
        ];
        let mut table = Table::new("search", "", &columns);
        for round in &self.search.rounds {
            let mean = round.mean;
            table.push([
                Cell::text(&round.method),
                Cell::count(round.settings),
                Cell::count(round.seeds),
                Cell::count(round.runs),
                Cell::value(mean, mean.map_or("-".to_owned(), short)),
                Cell::text(self.named(&round.best)),
            ]);
        }
        table
    }

    /// Describes the settings that are as good as the best, if there are any.
    fn ties(&self) -> Option<String> {
        let ties = &self.ties;
        let named = ties.iter().take(MOST_TIES).map(|one| self.named(one));
        let named = named.collect::<Vec<_>>().join("; ");
        let more = if ties.len() > MOST_TIES { "; ..." } else { "" };
        let (count, verb) = match ties.len() {
            0 => return None,
            1 => ("1 other".to_owned(), "is"),
            count => (format!("{count} others"), "are"),
        };
        Some(format!(
            "{count} {verb} as good as the best in the search: {named}{more}"
        ))
    }

    /// Creates the table of the best setting and the defaults.
    fn compared(&self) -> Table {
        let columns = [
            words("which", "which"),
            numbers(&self.goal, "mean"),
            numbers("± 95 %", "ci95"),
            words("setting", "setting"),
        ];
        let mut table = Table::new("comparison", "", &columns);
        let means = self.pair().map(|(_, one, _)| one.map(|one| one.mean));
        let largest = means.into_iter().flatten().fold(0.0, f64::max);
        for (name, estimate, setting) in self.pair() {
            let mean = estimate.map_or_else(
                || Cell::text("cannot be run"),
                |one| Cell::value(one.mean, short(one.mean)).with_bar(one.mean / largest),
            );
            let half = estimate.and_then(|one| one.ci95);
            let half = half.map_or_else(Cell::empty, |half| Cell::value(half, short(half)));
            table.push([
                Cell::text(name),
                mean,
                half,
                Cell::text(self.named(setting)),
            ]);
        }
        table
    }

    fn gain(&self) -> String {
        let compared = &self.comparison;
        let Some(gain) = compared.gain_percent.or(compared.improvement) else {
            return "unknown: the defaults cannot be run".into();
        };
        if self.best == self.defaults {
            return "none: nothing better than the defaults was found".into();
        }
        let unit = if self.goal == Goal::GAIN.name() {
            "percentage points"
        } else {
            "%"
        };
        let basis = Basis {
            seeds: compared.seeds.len(),
            is_random: self.is_random,
            indifference: compared.indifference,
        };
        let sample = Sample {
            count: compared.seeds.len(),
            mean: gain.mean,
            deviation: gain.deviation,
        };
        let margin = basis.indifference.percent();
        let is_shown = basis.is_above(sample, margin, 1);
        let mean = short(gain.mean);
        if !self.is_random {
            let doubt = if is_shown {
                String::new()
            } else {
                format!("; no more than the margin of indifference of {margin} %: no gain is shown")
            };
            return format!(
                "{mean} {unit}; the interval has no width: nothing here is random, seeds change nothing{doubt}"
            );
        }
        let (first, last) = (compared.seeds.first(), compared.seeds.last());
        let seeds = match (first, last) {
            (Some(first), Some(last)) if first != last => format!(
                "{} fresh seeds from {first} to {last}",
                compared.seeds.len()
            ),
            _ => "one fresh seed".into(),
        };
        let Some(deviation) = gain.deviation else {
            return format!("{mean} {unit} ({seeds}: no interval)");
        };
        let doubt = if is_shown {
            String::new()
        } else {
            let separable = basis.indifference.separable_percent();
            let needed = basis.seeds_to_separate(separable, margin, deviation, 2);
            let needed = needed.map_or("more than ten thousand".to_owned(), |needed| {
                format!("about {needed}")
            });
            format!(
                "; not separated from the defaults by a margin of {margin} %: {needed} seeds would separate {separable} {unit}"
            )
        };
        format!("{} {unit} (95 %, {seeds}, paired){doubt}", gain.shown())
    }

    fn named(&self, setting: &Named) -> String {
        let values = self.parameters.iter().map(|name| setting.get(name));
        let values: Vec<Option<Value>> = values.map(Option::<&Value>::cloned).collect();
        named(&self.parameters, &values)
    }
}

/// Creates the page of the folder of a search again, from its report, its plan and its rows.
///
/// # Errors
/// The folder cannot be read, or its files are inconsistent.
pub fn page_of(folder: &Path) -> Result<String, Error> {
    let path = folder.join(FILE);
    let name = path.display().to_string();
    let hint = "name a folder that `migsim tune --out` has written";
    let text = read_inside(&path, read_text).map_err(|problem| problem.hint(hint))?;
    let report: TuneReport = Document::parse(name.clone(), text)?.deserialize()?;
    let plan = read_plan(folder)?;
    if plan.names != report.parameters {
        let problem = Problem::new(format!(
            "the search varied {}, and `plan.json` varies {}",
            report.parameters.join(", "),
            plan.names.join(", ")
        ));
        let hint = "run the command of the search again: it writes both files";
        return Err(problem.source(name).hint(hint).into());
    }
    Ok(report.page(&plan, &store::rows(folder)?))
}
