//! Implements `migsim compare --map`: shows the fastest policy for each pair of values of two parameters.

use std::path::Path;

use crate::Registry;
use crate::error::{Error, Problem};
use crate::figure::FigureStyle;
use crate::output::frame::{picture_html, sections_page, sentence_html};
use crate::output::{Cell, Sheet, Table, number_column, text_column};
use crate::sweep::folder::{write_runs_csv, write_text_files};
use crate::sweep::run::Shard;
use crate::sweep::spec::value_label;
use crate::sweep::stats::format_with_half_width;
use crate::sweep::winners::PolicyWinnerMap;
use crate::sweep::{Parameter, Plan, Store};
use crate::words::format_count;

/// Number of rows of a table that the HTML page shows at first; the reader unfolds the other rows.
const VISIBLE_ROWS: usize = 50;

/// Parses the value of `--map`, which describes two parameters: `KEY=VALUES,KEY=VALUES`. A comma that is followed by `KEY=`
/// separates the parameters.
///
/// # Errors
/// The text does not describe two different parameters.
pub(super) fn parse_map_parameters(
    registry: &Registry,
    map: &str,
) -> Result<[Parameter; 2], Error> {
    let wrong = |message: String| {
        let problem = Problem::new(message).source(format!("--map {map}"));
        let hint = "name two parameters with their values, for example `--map workload.spread=0,0.5,1,costs.move.fixed=0s,0.1s,1s`";
        Error::from(problem.hint(hint))
    };
    let mut found: Vec<(&str, String)> = Vec::new();
    for part in map.split(',') {
        match (part.split_once('='), found.last_mut()) {
            (Some((key, value)), _) => found.push((key.trim(), value.to_owned())),
            (None, Some((_, values))) => {
                values.push(',');
                *values += part;
            }
            (None, None) => {
                return Err(wrong(format!(
                    "the map begins with `{part}`, which is a value without a key"
                )));
            }
        }
    }
    let [first, second] = &found[..] else {
        return Err(wrong(format!(
            "the number of parameters of the map is {} instead of two",
            found.len()
        )));
    };
    let parameter = |(key, values): &(&str, String)| {
        if key.trim_start_matches("policy").is_empty() || key.starts_with("policy.name") {
            return Err(wrong(
                "the map names the policy as a parameter, but `--policies` names the policies"
                    .into(),
            ));
        }
        Parameter::parse(registry, key, values, format!("--map {key}={values}")).map_err(wrong)
    };
    let pair = [parameter(first)?, parameter(second)?];
    if pair[0].name == pair[1].name {
        return Err(wrong(format!(
            "the map names the parameter `{}` twice",
            pair[0].name
        )));
    }
    Ok(pair)
}

/// Writes the map of the fastest policies into the folder of the comparison, if there is one: `map.csv`, `map.svg`,
/// `compare.json`, `index.html`, `runs.csv`.
pub(super) fn write_fastest_policies_map(
    folder: Option<&Path>,
    (plan, store): (&Plan, &Store),
    winners: &PolicyWinnerMap,
) -> Result<(), Error> {
    let Some(folder) = folder else {
        return Ok(());
    };
    write_runs_csv(folder, plan, Shard::WHOLE, store.rows())?;
    let picture = winners.figure(&FigureStyle::default()).to_svg();
    let files = [
        ("map.csv", &*winners.csv()),
        ("map.svg", &picture),
        ("compare.json", &format!("{:#}\n", winners.to_json())),
        ("index.html", &fastest_policies_page(winners, plan)),
    ];
    write_text_files(folder, &files)
}

/// Creates the printed output of the map: the table of the fastest policies and how many of them are separated.
pub(super) fn fastest_policies_sheet(winners: &PolicyWinnerMap) -> Sheet {
    let mut sheet = Sheet::default();
    sheet.add_table(fastest_policies_table(winners));
    sheet.add_line("");
    sheet.add_line(winners.separated_wins_text());
    sheet
}

/// Creates a table of the fastest policies, with a row for each pair of values of the two parameters.
fn fastest_policies_table(winners: &PolicyWinnerMap) -> Table {
    let [(beside, _), (above, _)] = &winners.axes;
    let columns = [
        text_column(beside.as_str(), "x"),
        text_column(above.as_str(), "y"),
        text_column("best", "best"),
        number_column("makespan iii [s]", "makespan_s"),
        text_column("next", "next"),
        number_column("margin [%]", "margin_percent"),
        text_column("separated", "is_separated"),
    ];
    let mut table = Table::new("map", "", &columns);
    for won in &winners.cells {
        let best = &won.comparison.ranked_policy_results[0];
        let next = won.comparison.second_best_policy();
        let [beside, above] = winners.values_of_cell(won);
        let half = next.and_then(|next| next.makespan_behind_best_policy?.confidence_half_width());
        let half = half.map(|half| 100.0 * half / best.makespan.mean);
        table.push_row([
            Cell::text(value_label(beside)),
            Cell::text(value_label(above)),
            Cell::text(&best.policy),
            Cell::from_value_and_text(best.makespan.mean, best.makespan.format()),
            next.map_or_else(Cell::empty, |next| Cell::text(&next.policy)),
            won.lead_percent().map_or_else(Cell::empty, |margin| {
                Cell::from_value_and_text(margin, format_with_half_width(margin, half))
            }),
            Cell::text(if won.is_separated() { "yes" } else { "no" }),
        ]);
    }
    table
}

fn fastest_policies_page(winners: &PolicyWinnerMap, plan: &Plan) -> String {
    let svg = winners.figure(&FigureStyle::default()).to_svg();
    let label = "The fastest policy at each pair of values";
    let verdict = sentence_html(&winners.separated_wins_text());
    let map = picture_html("map", label, (300, 640), &svg);
    let sections = [
        (
            "map",
            "Map: the fastest policy".to_owned(),
            format!("<p class=\"verdict\">{verdict}</p>\n{map}"),
        ),
        (
            "values",
            "Values: margin over the next policy".to_owned(),
            fastest_policies_table(winners).to_html(VISIBLE_ROWS),
        ),
    ];
    let [(beside, _), (above, _)] = &winners.axes;
    let policies = format_count(winners.policies.len(), "policy");
    let seeds = format_count(plan.seeds.len(), "seed");
    let lead = format!("<p>{policies}, {seeds}.</p>\n");
    let title = format!("Policies by {beside} and {above}");
    sections_page(&title, &lead, sections, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_before_a_key_begins_the_second_parameter() {
        let registry = Registry::standard();
        let pair = parse_map_parameters(&registry, "workload.spread=0,0.5,procs=10,20").unwrap();
        assert_eq!(pair.map(|one| one.name), ["workload.spread", "procs"]);
        for (map, part) in [
            (
                "procs=1,2",
                "the number of parameters of the map is 1 instead of two",
            ),
            (
                "1,2",
                "the map begins with `1`, which is a value without a key",
            ),
            (
                "procs=1,procs=2",
                "the map names the parameter `procs` twice",
            ),
            (
                "policy=never,procs=2",
                "but `--policies` names the policies",
            ),
        ] {
            let error = parse_map_parameters(&registry, map)
                .unwrap_err()
                .to_string();
            assert!(error.contains(part), "{map}: {error}");
        }
    }
}
