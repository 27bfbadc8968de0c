//! `runs.csv`: one row per run, in the order of the plan, with the values of all varied keys, the seed and the results. The
//! content depends neither on the number of threads and processes nor on interruptions of the sweep.

use std::collections::BTreeMap;
use std::io;

use super::plan::Plan;
use super::row::RunRow;
use super::run::Shard;
use super::spec::csv_field;
use migsim_output::protect_formula_like_text;

/// Headings of the columns with results; these follow the columns of the parameters and the seed.
const RESULT_COLUMNS: [&str; 14] = [
    "makespan_i_s",
    "makespan_ii_s",
    "makespan_iii_s",
    "overhead_percent",
    "gain_percent",
    "calls_ii",
    "calls_iii",
    "migrations",
    "calls_cost_s",
    "migrations_cost_s",
    "error",
    "id",
    "version",
    "straight_returns",
];

/// Creates the CSV table of the finished runs in one part (shard) of a plan; runs without a row in `rows` are left out.
///
/// # Errors
/// None in practice, because the table is written to memory.
pub fn runs_csv(plan: &Plan, shard: Shard, rows: &BTreeMap<String, RunRow>) -> io::Result<Vec<u8>> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_field("setting")?;
    for name in &plan.names {
        table.write_field(protect_formula_like_text(name).as_ref())?;
    }
    table.write_record(["seed"].into_iter().chain(RESULT_COLUMNS))?;
    for (run, id) in shard.runs(plan) {
        let Some(row) = rows.get(id) else {
            continue;
        };
        let (setting, seed) = plan.setting_and_seed(run);
        table.write_field((setting + 1).to_string())?;
        for value in &plan.settings[setting] {
            table.write_field(csv_field(value.as_ref()))?;
        }
        table.write_field(seed.to_string())?;
        for field in result_fields(row) {
            table.write_field(field)?;
        }
        let returns = row.straight_returns.map(|count| count.to_string());
        table.write_record([id, plan.version.as_str(), &returns.unwrap_or_default()])?;
    }
    table.into_inner().map_err(csv::IntoInnerError::into_error)
}

/// Formats the results of a run as fields of a CSV table. A float has as many digits as are needed to read exactly the same
/// number again.
fn result_fields(row: &RunRow) -> [String; 11] {
    let float = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let count = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let [i, ii, iii] = row.makespan_s.map(float);
    let [calls_ii, calls_iii] = row.calls.map(count);
    let [calls_cost, migrations_cost] = row.cost_s.map(float);
    [
        i,
        ii,
        iii,
        float(row.overhead_percent()),
        float(row.gain_percent()),
        calls_ii,
        calls_iii,
        count(row.migrations),
        calls_cost,
        migrations_cost,
        protect_formula_like_text(row.error.as_deref().unwrap_or_default()).into_owned(),
    ]
}
