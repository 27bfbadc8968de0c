//! The results of a benchmark as printed tables, JSON and CSV.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::rows::{BenchResults, PolicyStatistics};
use crate::stats::format_short;
use migsim_base::words::format_count;
use migsim_experiment::suite::CaseSet;
use migsim_output::{Cell, Sheet, Table, number_column, text_column};

/// Factor of the best known makespan: one column of the results counts the cases in which a policy stays within this factor.
const CLOSE_FACTOR: f64 = 1.1;

/// The version of the format in which `migsim bench --json` prints results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
enum Version {
    /// `migsim-bench-1`, which is the only version so far.
    #[default]
    #[serde(rename = "migsim-bench-1")]
    One,
}

/// The data that `migsim bench --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Benchmark")]
struct BenchOutput {
    /// The version of the format of this output.
    schema: Version,
    /// The name of the suite from which the cases were drawn.
    suite: String,
    /// The number of the draw (random sample of cases), or `fixed` for the fixed cases of the suite.
    draw: CaseSet,
    /// The number of cases that the benchmark ran.
    cases: usize,
    /// The seeds with which each case was run.
    seeds: Vec<u64>,
    /// The version of migsim that ran the benchmark.
    version: String,
    /// The results of each policy, sorted by the mean ratio, the lowest first.
    policies: Vec<PolicyRow>,
}

/// The results of one policy over all cases. A ratio is the makespan divided by the best known makespan of the case and seed. A
/// policy that failed in a case has no rank: its mean is `null`, and it stands after all others.
#[derive(Debug, Serialize, JsonSchema)]
struct PolicyRow {
    policy: String,
    /// The mean over the cases of the ratio of the makespan to the best known makespan.
    mean_ratio: Option<f64>,
    /// The 95 % confidence interval of the mean ratio (lower and upper end), computed by bootstrap over the cases.
    mean_ratio_ci95: [Option<f64>; 2],
    /// The median over the cases of the ratio of the makespan to the best known makespan.
    median_ratio: Option<f64>,
    /// The largest ratio of the makespan to the best known makespan in a case.
    worst_ratio: Option<f64>,
    /// Number of cases in which no other policy is faster by more than the margin of indifference, a percentage of the makespan.
    wins: usize,
    /// Number of rescheduling calls in a run, mean over the cases.
    calls: Option<f64>,
    /// Number of migrations in a run, mean over the cases.
    moves: Option<f64>,
    /// Number of migrations in a run that take a process straight back to the host it came from, mean over the cases.
    straight_returns: Option<f64>,
    /// Number of cases in which a run of the policy failed.
    failures: usize,
    /// Number of cases in which the policy was not run, because three of its runs had failed.
    cases_not_run: usize,
}

/// Returns the number if it is finite, otherwise `None`, because JSON has no infinite numbers.
fn finite_or_none(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// Returns the JSON Schema of the output of `migsim bench --json`.
pub fn schema() -> String {
    format!("{:#}\n", schemars::schema_for!(BenchOutput).to_value())
}

impl BenchResults {
    /// Returns the output of `migsim bench --json`: the results of each policy, the policy with the lowest mean ratio first.
    pub fn to_json(&self) -> Value {
        let of_policy = |one: &PolicyStatistics| PolicyRow {
            policy: one.policy.clone(),
            mean_ratio: finite_or_none(one.mean_ratio),
            mean_ratio_ci95: one.mean_ratio_ci95.map(finite_or_none),
            median_ratio: finite_or_none(one.median_ratio),
            worst_ratio: finite_or_none(one.worst_ratio),
            wins: one.win_count,
            calls: finite_or_none(one.mean_call_move_and_return_counts[0]),
            moves: finite_or_none(one.mean_call_move_and_return_counts[1]),
            straight_returns: finite_or_none(one.mean_call_move_and_return_counts[2]),
            failures: one.failed_case_count,
            cases_not_run: one.unrun_case_count,
        };
        let file = BenchOutput {
            schema: Version::One,
            suite: self.suite_name.clone(),
            draw: self.case_draw,
            cases: self.case_results.len(),
            seeds: self.seeds.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            policies: self
                .ranked_policy_statistics
                .iter()
                .map(of_policy)
                .collect(),
        };
        serde_json::to_value(file).expect("numbers and texts are JSON")
    }

    /// Returns the remarks below the table of policies, one sentence each: what was run, new best results, and failures.
    pub fn remarks(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "Suite {}, {}: {}, {}. A ratio is the makespan of a policy divided by the shortest known makespan of the same case; the 95 % interval of its mean comes from random resampling of the cases (bootstrap).",
            self.suite_name,
            self.draw_description(),
            format_count(self.case_results.len(), "case"),
            format_count(self.seeds.len(), "seed")
        )];
        for one in self
            .ranked_policy_statistics
            .iter()
            .filter(|one| one.new_best_case_and_run_counts[1] > 0)
        {
            let runs = self.case_results.len() * self.seeds.len();
            let remark = if self.is_best_static_start(one) {
                "; this row is no policy, since its initial placement is chosen after the runs, and does not count as best known"
            } else {
                ""
            };
            lines.push(format!(
                "New best: the makespan of `{}` is below the shortest known one in {} ({} of {runs} runs){remark}.",
                one.policy,
                format_count(one.new_best_case_and_run_counts[0], "case"),
                one.new_best_case_and_run_counts[1]
            ));
        }
        for one in self
            .ranked_policy_statistics
            .iter()
            .filter(|one| one.failed_case_count > 0)
        {
            let stopped = if one.unrun_case_count > 0 {
                format!(
                    "; after {} it was not run in {}",
                    format_count(super::MAX_FAILURES, "failed run"),
                    format_count(one.unrun_case_count, "other case")
                )
            } else {
                String::new()
            };
            lines.push(format!(
                "`{}` failed in {}, and therefore has no rank{stopped}.",
                one.policy,
                format_count(one.failed_case_count, "case")
            ));
        }
        lines
    }

    /// Returns a text that names the draw (random sample of cases), such as `draw 1`, or `fixed cases`.
    pub(super) fn draw_description(&self) -> String {
        match self.case_draw {
            CaseSet::Fixed => "fixed cases".to_owned(),
            CaseSet::RandomDraw(number) => format!("draw {number}"),
        }
    }

    /// Returns whether a row of the table stands for the best static start (initial placement without rescheduling).
    fn is_best_static_start(&self, one: &PolicyStatistics) -> bool {
        self.policy_names.last() == Some(&one.policy)
    }
}

/// Creates the printed output of a benchmark: the table of policies with its remarks, and the table of classes of cases.
pub fn printed_sheet(bench: &BenchResults) -> Sheet {
    let mut sheet = Sheet::default();
    sheet.add_table(policy_table(bench));
    sheet.add_line("");
    for line in bench.remarks() {
        sheet.add_line(line);
    }
    sheet.add_table(class_table(bench));
    sheet
}

/// Creates the table of results with a row per policy, sorted by the mean ratio to the best known makespan, the lowest ratio
/// first.
pub fn policy_table(bench: &BenchResults) -> Table {
    let mut table = Table::new(
        "policies",
        "",
        &[
            text_column("policy", "policy"),
            number_column("mean ratio", "mean_ratio"),
            text_column("95 %", "mean_ratio_ci95"),
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
        ],
    );
    for one in &bench.ranked_policy_statistics {
        table.push_row(policy_table_cells(one));
    }
    table
}

fn number_cell(value: f64) -> Cell {
    Cell::from_value_and_text(value, format_short(value))
}

/// Returns a table cell with a ratio of makespans, shown with three decimals; empty if the ratio is infinite.
fn ratio_cell(value: f64) -> Cell {
    if value.is_infinite() {
        return Cell::empty();
    }
    Cell::from_value_and_text(value, format!("{value:.3}"))
}

/// Formats the confidence interval of a ratio as a text with its lower and upper end; empty if there is none.
fn format_interval([low, high]: [f64; 2]) -> String {
    if high.is_infinite() {
        return String::new();
    }
    format!("{low:.3} to {high:.3}")
}

/// Returns a table cell with a share given in percent, shown with one decimal.
fn percent_cell(value: f64) -> Cell {
    Cell::from_value_and_text(value, format!("{value:.1}"))
}

fn policy_table_cells(one: &PolicyStatistics) -> Vec<Cell> {
    vec![
        Cell::text(&one.policy),
        ratio_cell(one.mean_ratio),
        Cell::text(format_interval(one.mean_ratio_ci95)),
        ratio_cell(one.median_ratio),
        if one.worst_ratio.is_infinite() {
            Cell::empty()
        } else {
            Cell::from_value_and_text(one.worst_ratio, format!("{:.2}", one.worst_ratio))
        },
        Cell::from_value_and_text(one.worst_case_number, one.worst_case_number.to_string()),
        Cell::count(one.win_count),
        Cell::from_value_and_text(
            one.percent_of_cases_within(CLOSE_FACTOR),
            format!("{:.0}", one.percent_of_cases_within(CLOSE_FACTOR)),
        ),
        number_cell(one.mean_call_move_and_return_counts[0]),
        number_cell(one.mean_call_move_and_return_counts[1]),
        number_cell(one.mean_call_move_and_return_counts[2]),
        percent_cell(one.call_and_move_cost_percent[0]),
        percent_cell(one.call_and_move_cost_percent[1]),
        Cell::count(one.failed_case_count),
    ]
}

/// Creates a table with a row per class of cases: the policies with the lowest mean ratios to the best known makespan in this
/// class.
pub(super) fn class_table(bench: &BenchResults) -> Table {
    let mut table = Table::new(
        "classes",
        "The two policies with the lowest mean ratio in each class of cases",
        &[
            text_column("class", "class"),
            number_column("cases", "cases"),
            text_column("least mean ratio", "first"),
            number_column("mean ratio", "first_ratio"),
            text_column("next", "second"),
            number_column("mean ratio", "second_ratio"),
        ],
    );
    for (class, count) in bench.case_count_by_class() {
        let is_one = |case: &migsim_experiment::suite::BenchmarkCase| {
            case.classes.iter().any(|one| one == class)
        };
        let standings = bench.policy_statistics_over_cases(is_one);
        let mut row = vec![Cell::text(class), Cell::count(count)];
        for one in standings
            .iter()
            .filter(|one| !bench.is_best_static_start(one))
            .take(2)
        {
            row.extend([Cell::text(&one.policy), ratio_cell(one.mean_ratio)]);
        }
        while row.len() < 6 {
            row.push(Cell::empty());
        }
        table.push_row(row);
    }
    table
}

/// Formats a text as a field of a CSV file, in quotes if it contains special characters.
fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Formats a number as a field of a CSV file; an infinite number stands for a missing one.
fn csv_number(number: f64) -> String {
    finite_or_none(number).map_or(String::new(), |number| number.to_string())
}

const POLICY_COLUMNS: &str = "policy,mean_ratio,mean_ratio_low,mean_ratio_high,median_ratio,median_ratio_low,median_ratio_high,worst_ratio,worst_case,wins,within_1_1_percent,calls,moves,straight_returns,calls_cost_percent,moves_cost_percent,failures,cases_not_run,new_best_cases,new_best_runs";

fn policy_csv_line(one: &PolicyStatistics) -> String {
    let numbers = [
        one.mean_ratio,
        one.mean_ratio_ci95[0],
        one.mean_ratio_ci95[1],
        one.median_ratio,
        one.median_ratio_ci95[0],
        one.median_ratio_ci95[1],
        one.worst_ratio,
    ];
    let mut fields = vec![csv_field(&one.policy)];
    fields.extend(numbers.map(csv_number));
    fields.extend([one.worst_case_number.to_string(), one.win_count.to_string()]);
    fields.push(one.percent_of_cases_within(CLOSE_FACTOR).to_string());
    fields.extend(
        one.mean_call_move_and_return_counts
            .iter()
            .chain(&one.call_and_move_cost_percent)
            .map(f64::to_string),
    );
    fields.extend([one.failed_case_count, one.unrun_case_count].map(|count| count.to_string()));
    fields.extend(
        one.new_best_case_and_run_counts
            .map(|count| count.to_string()),
    );
    fields.join(",")
}

/// Returns all results of each policy over all cases as CSV, with one line per policy.
pub fn policies_csv(bench: &BenchResults) -> String {
    let mut text = format!("{POLICY_COLUMNS}\n");
    for one in &bench.ranked_policy_statistics {
        text += &policy_csv_line(one);
        text.push('\n');
    }
    text
}

/// Returns all results of each policy over the cases of each class as CSV, with one line per class and policy.
pub fn classes_csv(bench: &BenchResults) -> String {
    let mut text = format!("class,cases,{POLICY_COLUMNS}\n");
    for (class, count) in bench.case_count_by_class() {
        let is_one = |case: &migsim_experiment::suite::BenchmarkCase| {
            case.classes.iter().any(|one| one == class)
        };
        for one in bench.policy_statistics_over_cases(is_one) {
            let _ = writeln!(
                text,
                "{},{count},{}",
                csv_field(class),
                policy_csv_line(&one)
            );
        }
    }
    text
}

/// Returns the results of each policy in each case as CSV, with one line per case and policy.
pub fn cases_csv(bench: &BenchResults) -> String {
    let mut text = String::from(
        "case,name,classes,policy,ratio,makespan_s,calls,moves,straight_returns,calls_cost_share,moves_cost_share,failed,new_best_runs\n",
    );
    for case in &bench.case_results {
        let start = [
            case.case.case_number.to_string(),
            case.case.name.clone(),
            csv_field(&case.case.classes.join("; ")),
        ];
        for (policy, entry) in bench.policy_names.iter().zip(&case.policy_results) {
            let numbers = [
                entry.ratio_to_best_known,
                entry.makespan,
                entry.call_count,
                entry.move_count,
                entry.straight_return_count,
                entry.call_cost_share,
                entry.migration_cost_share,
            ];
            let mut fields = start.to_vec();
            fields.push(csv_field(policy));
            fields.extend(numbers.map(csv_number));
            fields.extend([
                entry.has_failed.to_string(),
                entry.new_best_count.to_string(),
            ]);
            text += &fields.join(",");
            text.push('\n');
        }
    }
    text
}

/// Returns the lowest makespan of each case and seed with the policy that reached it, in the CSV format of the stored best
/// makespans.
pub fn best_makespans_csv(bench: &BenchResults) -> String {
    let mut text = format!("{}\n", super::best::COLUMNS);
    for case in &bench.case_results {
        let seeds = bench
            .seeds
            .iter()
            .zip(&case.fastest_policy_index_and_makespan);
        for (seed, (policy, makespan)) in seeds {
            let policy = csv_field(&bench.policy_names[*policy]);
            let _ = writeln!(text, "{},{seed},{policy},{makespan}", case.case.case_number);
        }
    }
    text
}
