//! The results of a benchmark as printed tables, JSON and CSV.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    archive::{Archive, ArchiveComparison},
    hash_draw::DrawSource,
    reliability::SplitHalfReliability,
    rows::{BenchResults, MIN_CASES_OF_INTERVAL, PolicyStatistics},
};
use crate::cells::{cell_with, csv_text, number_cell};
use migsim_base::words::format_count;
use migsim_experiment::{
    describe_prices,
    suite::{CaseSet, RankingMean, Start},
};
use migsim_output::{Cell, Column, Sheet, Table, number_column, text_column};

/// Factor of the best known makespan: one column of the results counts the cases in which a policy stays within this factor.
const CLOSE_FACTOR: f64 = 1.1;

/// Factors of the best known makespan with the titles and keys of their columns: points of the performance profile that the tables
/// of suites with geometric means show first, besides the close factor.
const PROFILE_FACTORS: [(f64, &str, &str); 3] = [
    (1.02, "within 1.02 [%]", "within_1_02_percent"),
    (1.05, "within 1.05 [%]", "within_1_05_percent"),
    (1.5, "within 1.5 [%]", "within_1_5_percent"),
];

/// The version of the format in which `migsim bench --json` prints results.
#[derive(Debug, Serialize, JsonSchema)]
enum Version {
    /// `migsim-bench-1`, which is the only version so far.
    #[serde(rename = "migsim-bench-1")]
    One,
}

/// The data that `migsim bench --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Benchmark")]
struct BenchOutput<'b> {
    /// The version of the format of this output.
    schema: Version,
    /// The name of the suite from which the cases were drawn.
    suite: &'b str,
    /// The number of the draw (random sample of cases), or `fixed` for the fixed cases of the suite.
    draw: CaseSet,
    /// The source whose hash is the number of the draw; `null` if the user stated the number.
    draw_source: &'b Option<DrawSource>,
    /// The number of cases that the benchmark ran.
    cases: usize,
    /// The seeds with which each case was run.
    seeds: &'b [u64],
    /// The version of migsim that ran the benchmark.
    version: &'static str,
    /// From which start the policies ran.
    start: Start,
    /// The mean of the ratios by which the suite ranks policies.
    rank_by: RankingMean,
    /// The agreement of rankings from halves of the cases; `null` if there are too few cases.
    reliability: Option<SplitHalfReliability>,
    /// The results of each policy, sorted by the mean ratio by which the suite ranks them, the lowest first.
    policies: &'b [PolicyStatistics],
    /// The same benchmark from the other starts of the suite.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_starts: Vec<Value>,
    /// With `--against`: the policies among the rivals of the archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<ArchiveComparison>,
}

/// Returns the JSON Schema of the output of `migsim bench --json`.
pub fn schema() -> String {
    format!("{:#}\n", schemars::schema_for!(BenchOutput<'_>).to_value())
}

impl BenchResults {
    /// Returns the output of `migsim bench --json`: the results of each policy, the policy with the lowest mean ratio first.
    pub fn to_json(&self) -> Value {
        self.to_json_with(&[], None)
    }

    /// Returns the output of `migsim bench --json` for a benchmark from several starts, of which this is the first, each compared
    /// with the archive.
    pub fn to_json_with(&self, others: &[Self], archive: Option<&Archive>) -> Value {
        let other_starts = others.iter().map(|one| one.to_json_with(&[], archive));
        let output = BenchOutput {
            schema: Version::One,
            suite: &self.suite,
            draw: self.draw,
            draw_source: &self.draw_source,
            cases: self.cases.len(),
            seeds: &self.seeds,
            version: env!("CARGO_PKG_VERSION"),
            start: self.start,
            rank_by: self.rank_by,
            reliability: self.reliability,
            policies: &self.policies,
            other_starts: other_starts.collect(),
            against: archive.map(|archive| self.compare_with_archive(archive)),
        };
        serde_json::to_value(output).expect("numbers and texts are JSON")
    }

    /// Returns the texts of the files with the results, except `bench.json`.
    pub fn files(&self) -> [(&'static str, String); 5] {
        [
            ("policies.csv", self.policies_csv()),
            ("classes.csv", self.classes_csv()),
            ("cases.csv", self.cases_csv()),
            ("best.csv", self.best_makespans_csv()),
            ("index.html", self.page()),
        ]
    }

    /// Returns the remarks below the table of policies, one sentence each: what was run, new best results, and failures.
    pub(super) fn remarks(&self) -> Vec<String> {
        let interval = if self.cases.len() < MIN_CASES_OF_INTERVAL {
            "its mean has no 95 % interval, which needs at least 8 cases"
        } else {
            "the 95 % interval of its mean comes from random resampling of the cases (bootstrap)"
        };
        let mut lines = vec![format!(
            "Suite {}, {}, {}: {}, {}. A ratio is the makespan of a policy divided by the shortest known makespan of the same case; {interval}.",
            self.suite,
            self.draw_description(),
            self.start_description(),
            format_count(self.cases.len(), "case"),
            format_count(self.seeds.len(), "seed")
        )];
        lines.extend(self.draw_source.iter().map(|one| {
            format!(
                "The number of the draw is the hash of `{}` without comments (SHA-256 {}).",
                one.file, one.sha256
            )
        }));
        lines.extend(self.reliability.map(|found| {
            let (tau, [low, high]) = (found.tau, found.tau_range95);
            format!("Rankings from two halves of these cases agree with Kendall's tau {tau:.2} (mean of {} random divisions, 95 % of them from {low:.2} to {high:.2}).", found.divisions)
        }));
        lines.extend(self.prices_remark());
        let runs = self.cases.len() * self.seeds.len();
        for one in &self.policies {
            let [cases, own] = one.new_best_cases_and_runs;
            let remark = if self.is_best_static_start(one) {
                "; this row is no policy, since its initial placement is chosen after the runs, and does not count as best known"
            } else {
                ""
            };
            if own > 0 {
                lines.push(format!(
                    "New best: the makespan of `{}` is below the shortest known one in {} ({own} of {runs} runs){remark}.",
                    one.policy,
                    format_count(cases, "case")
                ));
            }
        }
        for one in self.policies.iter().filter(|one| one.failures > 0) {
            let stopped = match one.cases_not_run {
                0 => String::new(),
                cases => format!(
                    "; after {} it was not run in {}",
                    format_count(super::MAX_FAILURES, "failed run"),
                    format_count(cases, "other case")
                ),
            };
            lines.push(format!(
                "`{}` failed in {}, and therefore has no rank{stopped}.",
                one.policy,
                format_count(one.failures, "case")
            ));
        }
        lines
    }

    /// Returns a text that names the draw (random sample of cases), such as `draw 1`, or `fixed cases`.
    pub(super) fn draw_description(&self) -> String {
        match self.draw {
            CaseSet::Fixed => "fixed cases".to_owned(),
            CaseSet::RandomDraw(number) => format!("draw {number}"),
        }
    }

    fn prices_remark(&self) -> Option<String> {
        let cases = self.cases.iter();
        let of_case = |settings: &Value| match settings["library"].as_str() {
            Some(library) => Some(format!("that of the library {library}")),
            None => describe_prices([settings]),
        };
        let mut prices = cases.map(|one| of_case(&one.case.experiment));
        let first = prices.next()??;
        let is_same = prices.all(|other| other.as_ref() == Some(&first));
        let differ = "Processor times of messages, moves and decisions differ between cases (see the classes).";
        Some(if is_same {
            format!("Processor time: {first}.")
        } else {
            differ.to_owned()
        })
    }

    /// Returns the name of the start from which the policies ran.
    pub fn start_name(&self) -> String {
        json!(self.start).as_str().unwrap_or_default().to_owned()
    }

    /// Returns a text that says from which start the policies ran.
    pub(super) fn start_description(&self) -> &'static str {
        match self.start {
            Start::Drawn => "from the drawn starts",
            Start::FastFirst => "from the start `fast-first`",
            Start::BestStatic => "from the best static starts (chosen with other seeds)",
        }
    }

    fn is_best_static_start(&self, one: &PolicyStatistics) -> bool {
        self.policy_names.last() == Some(&one.policy)
    }

    /// Adds the printed output of the benchmark: the table of policies with its remarks, the table of classes of cases, and the
    /// comparison with an archive.
    pub fn add_to_sheet(&self, sheet: &mut Sheet, archive: Option<&Archive>) {
        sheet.add_table(self.policy_table());
        sheet.add_line("");
        for line in self.remarks() {
            sheet.add_line(line);
        }
        sheet.add_table(self.class_table());
        if let Some(archive) = archive {
            self.add_archive(sheet, archive);
        }
    }

    /// Returns the points of the performance profile that the table shows first: factor, title and key.
    fn profile_columns(&self) -> &'static [(f64, &'static str, &'static str)] {
        match self.rank_by {
            RankingMean::Arithmetic => &[],
            RankingMean::Geometric => &PROFILE_FACTORS,
        }
    }

    fn policy_columns(&self) -> Vec<Column> {
        let is_geometric = self.rank_by == RankingMean::Geometric;
        let mut columns = vec![text_column("policy", "policy")];
        let profile = self.profile_columns().iter();
        columns.extend(profile.map(|(_, title, key)| number_column(*title, key)));
        columns.extend(if is_geometric {
            [
                number_column("geometric mean", "geometric_mean_ratio"),
                text_column("95 %", "geometric_mean_ratio_ci95"),
            ]
        } else {
            [
                number_column("mean ratio", "mean_ratio"),
                text_column("95 %", "mean_ratio_ci95"),
            ]
        });
        columns.extend([
            number_column("median", "median_ratio"),
            number_column("worst", "worst_ratio"),
            number_column("in case", "worst_case"),
            number_column("wins", "wins"),
            number_column("within 1.1 [%]", "within_1_1_percent"),
            number_column("calls", "calls"),
            number_column("moves", "moves"),
            number_column("straight returns", "straight_returns"),
            number_column("calls cost [%]", "calls_cost_percent"),
            number_column("moves cost [%]", "moves_cost_percent"),
            number_column("failures", "failures"),
        ]);
        columns
    }

    /// Returns the table of results with a row per policy, sorted by the mean ratio to the best known makespan, the lowest ratio
    /// first.
    pub(super) fn policy_table(&self) -> Table {
        let profile = self.profile_columns();
        let mut table = Table::new("policies", "", &self.policy_columns());
        for one in &self.policies {
            let [low, high] = one.ranked_ratio_ci95;
            let interval = finite(high).map(|high| format!("{low:.3} to {high:.3}"));
            let [calls_cost, moves_cost] = one
                .cost_percent
                .map(|cost| cell_with(cost, |cost| format!("{cost:.1}")));
            let share_cell = |factor| {
                cell_with(one.percent_of_cases_within(factor), |share| {
                    format!("{share:.0}")
                })
            };
            let mut row = vec![Cell::text(&one.policy)];
            row.extend(profile.iter().map(|(factor, ..)| share_cell(*factor)));
            row.extend([
                ratio_cell(one.ranked_ratio),
                Cell::text(interval.unwrap_or_default()),
                ratio_cell(one.median_ratio),
                cell_with(finite(one.worst_ratio), |ratio| format!("{ratio:.2}")),
                Cell::from_value_and_text(one.worst_case, one.worst_case.to_string()),
                Cell::count(one.wins),
                share_cell(CLOSE_FACTOR),
                number_cell(one.calls),
                number_cell(one.moves),
                number_cell(one.straight_returns),
                calls_cost,
                moves_cost,
                Cell::count(one.failures),
            ]);
            table.push_row(row);
        }
        table
    }

    /// Returns a table with a row per class of cases: the policies with the lowest mean ratios to the best known makespan in this
    /// class.
    pub(super) fn class_table(&self) -> Table {
        let (title, least, mean) = match self.rank_by {
            RankingMean::Arithmetic => (
                "The two policies with the lowest mean ratio in each class of cases",
                "least mean ratio",
                "mean ratio",
            ),
            RankingMean::Geometric => (
                "The two policies with the lowest geometric mean in each class of cases",
                "least geometric mean",
                "geometric mean",
            ),
        };
        let columns = [
            text_column("class", "class"),
            number_column("cases", "cases"),
            text_column(least, "first"),
            number_column(mean, "first_ratio"),
            text_column("next", "second"),
            number_column(mean, "second_ratio"),
        ];
        let mut table = Table::new("classes", title, &columns);
        for (class, count, policies) in self.classes() {
            let mut row = vec![Cell::text(class), Cell::count(count)];
            let policies = policies
                .iter()
                .filter(|one| !self.is_best_static_start(one));
            for one in policies.take(2) {
                row.extend([Cell::text(&one.policy), ratio_cell(one.ranked_ratio)]);
            }
            row.resize(columns.len(), Cell::empty());
            table.push_row(row);
        }
        table
    }

    /// Returns all results of each policy over all cases as CSV, with one line per policy.
    pub(super) fn policies_csv(&self) -> String {
        csv_text(
            POLICY_COLUMNS.split(','),
            self.policies.iter().map(policy_csv_fields),
        )
    }

    fn classes_csv(&self) -> String {
        let classes = self.classes();
        let lines = classes.iter().flat_map(|(class, count, policies)| {
            let start = [(*class).to_owned(), count.to_string()];
            policies
                .iter()
                .map(move |one| [&start[..], &policy_csv_fields(one)].concat())
        });
        csv_text(format!("class,cases,{POLICY_COLUMNS}").split(','), lines)
    }

    fn cases_csv(&self) -> String {
        let lines = self.cases.iter().flat_map(|case| {
            let start = [
                case.case.case_number.to_string(),
                case.case.name.clone(),
                case.case.classes.join("; "),
            ];
            self.policy_names
                .iter()
                .zip(&case.policies)
                .map(move |(policy, one)| {
                    let numbers = [
                        one.ratio,
                        one.makespan,
                        one.calls,
                        one.moves,
                        one.straight_returns,
                        one.calls_cost_share,
                        one.moves_cost_share,
                    ];
                    let mut fields = [
                        &start[..],
                        std::slice::from_ref(policy),
                        &numbers.map(csv_number),
                    ]
                    .concat();
                    fields.extend([one.has_failed.to_string(), one.new_best_runs.to_string()]);
                    fields
                })
        });
        let columns = "case,name,classes,policy,ratio,makespan_s,calls,moves,straight_returns,calls_cost_share,moves_cost_share,failed,new_best_runs";
        csv_text(columns.split(','), lines)
    }

    /// Returns the lowest makespan of each case and seed with the policy that reached it, in the CSV format of the stored best
    /// makespans.
    pub(super) fn best_makespans_csv(&self) -> String {
        let lines = self.cases.iter().flat_map(|case| {
            self.seeds
                .iter()
                .zip(&case.fastest)
                .map(|(seed, (policy, makespan))| {
                    vec![
                        case.case.case_number.to_string(),
                        seed.to_string(),
                        self.policy_names[*policy].clone(),
                        makespan.to_string(),
                    ]
                })
        });
        csv_text(["case", "seed", "policy", "makespan_s"], lines)
    }
}

/// Returns the number if it is finite; an infinite number stands for a missing one.
fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// Returns a table cell with a ratio of makespans, shown with three decimals; empty if the ratio is infinite.
fn ratio_cell(ratio: f64) -> Cell {
    cell_with(finite(ratio), |ratio| format!("{ratio:.3}"))
}

fn csv_number(number: f64) -> String {
    finite(number).map_or(String::new(), |number| number.to_string())
}

const POLICY_COLUMNS: &str = "policy,mean_ratio,mean_ratio_low,mean_ratio_high,median_ratio,median_ratio_low,median_ratio_high,worst_ratio,worst_case,wins,within_1_1_percent,calls,moves,straight_returns,calls_cost_percent,moves_cost_percent,failures,cases_not_run,new_best_cases,new_best_runs,geometric_mean_ratio,geometric_mean_ratio_low,geometric_mean_ratio_high,runs_sha256";

fn policy_csv_fields(one: &PolicyStatistics) -> Vec<String> {
    let ([low, high], [median_low, median_high]) = (one.mean_ratio_ci95, one.median_ratio_ci95);
    let ratios = [
        one.mean_ratio,
        low,
        high,
        one.median_ratio,
        median_low,
        median_high,
        one.worst_ratio,
    ];
    let numbers = [
        one.percent_of_cases_within(CLOSE_FACTOR),
        one.calls,
        one.moves,
        one.straight_returns,
        one.cost_percent[0],
        one.cost_percent[1],
    ];
    let [new_cases, new_runs] = one.new_best_cases_and_runs;
    let counts = [one.failures, one.cases_not_run, new_cases, new_runs];
    let mut fields = vec![one.policy.clone()];
    fields.extend(ratios.map(csv_number));
    fields.extend([one.worst_case.to_string(), one.wins.to_string()]);
    fields.extend(numbers.map(|number| number.to_string()));
    fields.extend(counts.map(|count| count.to_string()));
    let [low, high] = one.geometric_mean_ratio_ci95;
    fields.extend([one.geometric_mean_ratio, low, high].map(csv_number));
    fields.push(one.runs_sha256.clone());
    fields
}
