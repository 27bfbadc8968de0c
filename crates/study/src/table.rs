//! `runs.csv`: one row per run, in the order of the plan, with the values of all varied keys, the seed and the results. The
//! content depends neither on the number of threads and processes nor on interruptions of the sweep.

use std::borrow::Cow;

use super::{cells::csv_text, plan::Plan, run::Shard, spec::csv_field, store::Rows};
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

/// Creates the CSV table of the finished runs in one part (shard) of a plan; runs without a row in `rows` are left out. A float has
/// as many digits as are needed to read exactly the same number again.
pub(super) fn runs_csv(plan: &Plan, shard: Shard, rows: &Rows) -> String {
    let float = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let count = |value: Option<u64>| value.map(|value| value.to_string()).unwrap_or_default();
    let lines = shard
        .runs(plan)
        .filter_map(|(run, id)| Some((run, id, rows.get(id)?)))
        .map(|(run, id, row)| {
            let (setting, seed) = plan.setting_and_seed(run);
            let values = plan.settings[setting]
                .iter()
                .map(|value| csv_field(value.as_ref()));
            let mut fields = vec![(setting + 1).to_string()];
            fields.extend(values);
            fields.push(seed.to_string());
            fields.extend(row.makespan_s.map(float));
            fields.extend([row.overhead_percent(), row.gain_percent()].map(float));
            fields.extend(row.calls.map(count));
            fields.push(count(row.migrations));
            fields.extend(row.cost_s.map(float));
            let error = row.error.as_deref().unwrap_or_default();
            fields.push(protect_formula_like_text(error).into_owned());
            fields.extend([
                id.to_owned(),
                plan.version.clone(),
                count(row.straight_returns),
            ]);
            fields
        });
    let names = plan
        .names
        .iter()
        .map(|name| protect_formula_like_text(name));
    let columns = ["setting".into()]
        .into_iter()
        .chain(names)
        .chain(["seed".into()])
        .chain(RESULT_COLUMNS.map(Into::into));
    csv_text(columns.map(Cow::into_owned), lines)
}
