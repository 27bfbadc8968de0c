//! The results of a benchmark as printed tables, JSON and CSV.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::rows::{Bench, Standing};
use crate::stats::format_short;
use migsim_base::words::counted;
use migsim_experiment::suite::Draw;
use migsim_output::{Cell, Sheet, Table, number_column, text_column};

/// Factor of the best known makespan: one column of the results counts the cases in which a policy stays within this factor.
const WITHIN_FACTOR: f64 = 1.1;

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
struct File {
    /// The version of the format of this output.
    schema: Version,
    /// The name of the suite from which the cases were drawn.
    suite: String,
    /// The number of the draw of cases, or `fixed` for the fixed cases of the suite.
    draw: Draw,
    /// The number of cases that the benchmark ran.
    cases: usize,
    /// The results of each policy, sorted by the mean ratio, the lowest first.
    policies: Vec<PolicyRow>,
}

/// The results of one policy over all cases. A ratio is the makespan divided by the best known makespan of the case and seed;
/// `null` if a run failed and there is no number.
#[derive(Debug, Serialize, JsonSchema)]
struct PolicyRow {
    /// The name of the policy.
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
}

/// Returns the number if it is finite, otherwise `None`, because JSON has no infinite numbers.
fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// Returns the JSON Schema of the output of `migsim bench --json`.
pub fn schema() -> String {
    format!("{:#}\n", schemars::schema_for!(File).to_value())
}

impl Bench {
    /// Returns the output of `migsim bench --json`: the results of each policy, the policy with the lowest mean ratio first.
    pub fn to_json(&self) -> Value {
        let of_policy = |one: &Standing| PolicyRow {
            policy: one.policy.clone(),
            mean_ratio: finite(one.mean_ratio),
            mean_ratio_ci95: one.mean_ratio_ci95.map(finite),
            median_ratio: finite(one.median_ratio),
            worst_ratio: finite(one.worst_ratio),
            wins: one.wins,
            calls: finite(one.counts[0]),
            moves: finite(one.counts[1]),
            straight_returns: finite(one.counts[2]),
        };
        let file = File {
            schema: Version::One,
            suite: self.suite.clone(),
            draw: self.draw,
            cases: self.cases.len(),
            policies: self.standings.iter().map(of_policy).collect(),
        };
        serde_json::to_value(file).expect("numbers and texts are JSON")
    }

    /// Returns the remarks below the table of policies, one sentence each: what was run, new best results, and failures.
    pub fn remarks(&self) -> Vec<String> {
        let mut lines = vec![format!(
            "Suite {}, {}: {}, {}. A ratio is the makespan over the best known of the case; intervals: 95 %, bootstrap over the cases.",
            self.suite,
            self.cases_of(),
            counted(self.cases.len(), "case"),
            counted(self.seeds.len(), "seed")
        )];
        for one in self.standings.iter().filter(|one| one.new_bests[1] > 0) {
            let runs = self.cases.len() * self.seeds.len();
            let remark = if self.is_best_start(one) {
                "; the start is chosen after the runs and is no part of the best known"
            } else {
                ""
            };
            lines.push(format!(
                "New best: `{}` is below the best known in {} ({} of {runs} runs){remark}.",
                one.policy,
                counted(one.new_bests[0], "case"),
                one.new_bests[1]
            ));
        }
        for one in self.standings.iter().filter(|one| one.failures > 0) {
            lines.push(format!(
                "`{}` failed in {}, which count with the largest ratio of the default set.",
                one.policy,
                counted(one.failures, "case")
            ));
        }
        lines
    }

    /// Returns a text that names the draw, such as `draw 1`, or `fixed cases`.
    pub(super) fn cases_of(&self) -> String {
        match self.draw {
            Draw::Fixed => "fixed cases".to_owned(),
            Draw::Number(number) => format!("draw {number}"),
        }
    }

    /// Returns whether a row of the table stands for the best static start (initial placement without rescheduling).
    fn is_best_start(&self, one: &Standing) -> bool {
        self.policies.last() == Some(&one.policy)
    }
}

/// Creates the printed output of a benchmark: the table of policies with its remarks, and the table of classes of cases.
pub fn sheet(bench: &Bench) -> Sheet {
    let mut sheet = Sheet::default();
    sheet.add_table(table(bench));
    sheet.add_line("");
    for line in bench.remarks() {
        sheet.add_line(line);
    }
    sheet.add_table(class_table(bench));
    sheet
}

/// Creates the table of results with a row per policy, sorted by the mean ratio to the best known makespan, the lowest ratio
/// first.
pub fn table(bench: &Bench) -> Table {
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
    for one in &bench.standings {
        table.push_row(policy_row(one));
    }
    table
}

fn number_cell(value: f64) -> Cell {
    Cell::value(value, format_short(value))
}

/// Returns a table cell with a ratio of makespans, shown with three decimals.
fn ratio_cell(value: f64) -> Cell {
    Cell::value(value, format!("{value:.3}"))
}

/// Formats the confidence interval of a ratio as a text with its lower and upper end.
fn format_interval([low, high]: [f64; 2]) -> String {
    format!("{low:.3} to {high:.3}")
}

/// Returns a table cell with a share given in percent, shown with one decimal.
fn percent_cell(value: f64) -> Cell {
    Cell::value(value, format!("{value:.1}"))
}

fn policy_row(one: &Standing) -> Vec<Cell> {
    vec![
        Cell::text(&one.policy),
        ratio_cell(one.mean_ratio),
        Cell::text(format_interval(one.mean_ratio_ci95)),
        ratio_cell(one.median_ratio),
        Cell::value(one.worst_ratio, format!("{:.2}", one.worst_ratio)),
        Cell::value(one.worst_case, one.worst_case.to_string()),
        Cell::count(one.wins),
        Cell::value(
            one.share_within(WITHIN_FACTOR),
            format!("{:.0}", one.share_within(WITHIN_FACTOR)),
        ),
        number_cell(one.counts[0]),
        number_cell(one.counts[1]),
        number_cell(one.counts[2]),
        percent_cell(one.cost_shares[0]),
        percent_cell(one.cost_shares[1]),
        Cell::count(one.failures),
    ]
}

/// Creates a table with a row per class of cases: the policies with the lowest mean ratios to the best known makespan in this
/// class.
pub(super) fn class_table(bench: &Bench) -> Table {
    let mut table = Table::new(
        "classes",
        "Classes of cases",
        &[
            text_column("class", "class"),
            number_column("cases", "cases"),
            text_column("least mean ratio", "first"),
            number_column("mean ratio", "first_ratio"),
            text_column("next", "second"),
            number_column("mean ratio", "second_ratio"),
        ],
    );
    for (class, count) in bench.classes() {
        let is_one =
            |case: &migsim_experiment::suite::Case| case.classes.iter().any(|one| one == class);
        let standings = bench.standings_among(is_one);
        let mut row = vec![Cell::text(class), Cell::count(count)];
        for one in standings
            .iter()
            .filter(|one| !bench.is_best_start(one))
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

const POLICY_COLUMNS: &str = "policy,mean_ratio,mean_ratio_low,mean_ratio_high,median_ratio,median_ratio_low,median_ratio_high,worst_ratio,worst_case,wins,within_1_1_percent,calls,moves,straight_returns,calls_cost_percent,moves_cost_percent,failures,new_best_cases,new_best_runs";

fn csv_row(one: &Standing) -> String {
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
    fields.extend(numbers.map(|number| number.to_string()));
    fields.extend([one.worst_case.to_string(), one.wins.to_string()]);
    fields.push(one.share_within(WITHIN_FACTOR).to_string());
    fields.extend(
        one.counts
            .iter()
            .chain(&one.cost_shares)
            .map(f64::to_string),
    );
    fields.push(one.failures.to_string());
    fields.extend(one.new_bests.map(|count| count.to_string()));
    fields.join(",")
}

/// Returns all results of each policy over all cases as CSV, with one line per policy.
pub fn csv_of_policies(bench: &Bench) -> String {
    let mut text = format!("{POLICY_COLUMNS}\n");
    for one in &bench.standings {
        text += &csv_row(one);
        text.push('\n');
    }
    text
}

/// Returns all results of each policy over the cases of each class as CSV, with one line per class and policy.
pub fn csv_of_classes(bench: &Bench) -> String {
    let mut text = format!("class,cases,{POLICY_COLUMNS}\n");
    for (class, count) in bench.classes() {
        let is_one =
            |case: &migsim_experiment::suite::Case| case.classes.iter().any(|one| one == class);
        for one in bench.standings_among(is_one) {
            let _ = writeln!(text, "{},{count},{}", csv_field(class), csv_row(&one));
        }
    }
    text
}

/// Returns the results of each policy in each case as CSV, with one line per case and policy.
pub fn csv_of_cases(bench: &Bench) -> String {
    let mut text = String::from(
        "case,name,classes,policy,ratio,makespan_s,calls,moves,straight_returns,calls_cost_share,moves_cost_share,failed,new_best_runs\n",
    );
    for case in &bench.cases {
        let start = [
            case.case.number.to_string(),
            case.case.name.clone(),
            csv_field(&case.case.classes.join("; ")),
        ];
        for (policy, entry) in bench.policies.iter().zip(&case.entries) {
            let numbers = [
                entry.ratio,
                entry.makespan,
                entry.calls,
                entry.moves,
                entry.straight_returns,
                entry.call_share,
                entry.move_share,
            ];
            let mut fields = start.to_vec();
            fields.push(csv_field(policy));
            fields.extend(numbers.map(|number| number.to_string()));
            fields.extend([entry.is_failure.to_string(), entry.new_bests.to_string()]);
            text += &fields.join(",");
            text.push('\n');
        }
    }
    text
}

/// Returns the lowest makespan of each case and seed with the policy that reached it, in the CSV format of the stored best
/// makespans.
pub fn csv_of_best(bench: &Bench) -> String {
    let mut text = format!("{}\n", super::best::COLUMNS);
    for case in &bench.cases {
        let seeds = bench.seeds.iter().zip(&case.fastest);
        for (seed, (policy, makespan)) in seeds {
            let policy = csv_field(&bench.policies[*policy]);
            let _ = writeln!(text, "{},{seed},{policy},{makespan}", case.case.number);
        }
    }
    text
}
