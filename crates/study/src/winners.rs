//! Maps of winners over two parameters: the fastest policy at each pair of values, its lead over the next policy, and whether
//! statistical tests separate it from the other policies.
//!
//! At each pair of values, the policies are compared seed by seed as in [`Comparison`]. The lead of the winner over the next
//! policy is `100 (T_next - T_best) / T_best`, with the mean makespans T. The winner is separated if it is the only policy of
//! rank 1. Each pair of values is a separate comparison: if all policies are equal, 5 % of the pairs may have a separated winner
//! by chance.

use serde_json::{Value, json};

use super::{
    cells::{csv_text, mean_cell},
    compare::{AdditionalResults, Comparison, PolicyResults},
    config::Parameter,
    plan::Plan,
    separate::TestConditions,
    spec::{csv_field, value_label},
    stats::{Sample, format_short},
    store::Rows,
    values::ParameterValues,
};
use migsim_base::{
    error::{Error, Problem, Result},
    words::format_count,
};
use migsim_experiment::Registry;
use migsim_output::{
    Cell, Sheet, Table,
    figure::{Figure, FigureStyle, WinnerCell, WinnerMap},
    frame::{picture_html, sections_page, sentence_html},
    number_column, text_column,
};

/// Parses the value of `--map`, which describes two parameters: `KEY=VALUES,KEY=VALUES`. A comma that is followed by `KEY=`
/// separates the parameters.
///
/// # Errors
/// The text does not describe two different parameters.
pub fn parse_map_parameters(registry: &Registry, map: &str) -> Result<[Parameter; 2]> {
    let wrong = |message: String| {
        let problem = Problem::new(message).source(format!("--map {map}"));
        let hint = "name two parameters with their values, for example `--map workload.spread=0,0.5,1,costs.move.fixed=0s,0.1s,1s`";
        Error::from(problem.hint(hint))
    };
    let mut found: Vec<(&str, String)> = Vec::new();
    for part in map.split(',') {
        match (part.split_once('='), found.last_mut()) {
            (Some((key, value)), _) => found.push((key.trim(), value.to_owned())),
            (None, Some((_, values))) => *values = format!("{values},{part}"),
            (None, None) => {
                return Err(wrong(format!(
                    "the map begins with `{part}`, which is a value without a key"
                )));
            }
        }
    }
    let parameter = |(key, values): &(&str, String)| {
        if key.trim_start_matches("policy").is_empty() || key.starts_with("policy.name") {
            return Err(wrong(
                "the map names the policy as a parameter, but `--policies` names the policies"
                    .into(),
            ));
        }
        Parameter::parse(registry, key, values, format!("--map {key}={values}")).map_err(wrong)
    };
    let [first, second] = &found[..] else {
        return Err(wrong(format!(
            "the number of parameters of the map is {} instead of two",
            found.len()
        )));
    };
    let pair = [parameter(first)?, parameter(second)?];
    if pair[0].name == pair[1].name {
        let name = &pair[0].name;
        return Err(wrong(format!("the map names the parameter `{name}` twice")));
    }
    Ok(pair)
}

/// Number of rows of the table that the page shows before the reader expands it.
const VISIBLE_ROWS: usize = 50;

/// Comparison of the policies at one pair of values of the two parameters, which is one cell of the map.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyWinnerCell {
    /// Indices of the two values in the lists of values in [`PolicyWinnerMap::axes`].
    pub value_indices: [usize; 2],
    /// Comparison of the policies at these values, sorted from the best to the worst policy.
    pub comparison: Comparison,
}

impl PolicyWinnerCell {
    fn best(&self) -> &PolicyResults {
        &self.comparison.policies[0]
    }

    /// Computes how much longer the second best policy takes than the best policy, in percent of the best mean makespan \[%\];
    /// `None` if only one policy ran.
    pub fn lead_percent(&self) -> Option<Sample> {
        let behind = self.comparison.second_best_policy()?.behind_best_s?;
        let percent = |seconds: f64| 100.0 * seconds / self.best().makespan_s.mean;
        Some(Sample {
            mean: percent(behind.mean),
            deviation: behind.deviation.map(percent),
            ci95: behind.ci95.map(percent),
            ..behind
        })
    }

    /// Returns whether the best policy is separated: all other policies are slower by more than the margin of indifference,
    /// significantly so if the seed changes results.
    pub fn is_separated(&self) -> bool {
        let mut others = self.comparison.policies.iter().skip(1);
        self.is_compared() && others.all(|other| other.rank > 1)
    }

    fn is_compared(&self) -> bool {
        self.comparison.policies.len() > 1 || self.comparison.failed_policies.is_empty()
    }
}

/// Map of winners: the comparison of the policies at each pair of values of two parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyWinnerMap {
    /// Name and values of the parameter on the horizontal axis, then of the parameter on the vertical axis.
    pub axes: [(String, Vec<Value>); 2],
    /// Names of the compared policies, as the user wrote them.
    pub policies: Vec<String>,
    /// Comparisons at all pairs of values at which at least one policy ran with all seeds.
    pub cells: Vec<PolicyWinnerCell>,
    seed_count: usize,
}

impl PolicyWinnerMap {
    /// Creates the map of winners from the finished runs of a plan. Returns `None` unless the plan varies the policy and exactly
    /// two other parameters.
    pub fn from_rows(plan: &Plan, rows: &Rows) -> Option<Self> {
        let policy = plan.names.iter().position(|name| name == "policy")?;
        let others: Vec<usize> = (0..plan.names.len()).filter(|one| *one != policy).collect();
        let [x, y] = others[..] else {
            return None;
        };
        let values = |parameter: usize| -> Vec<Value> {
            ParameterValues::of_parameter(plan, parameter)
                .distinct_values
                .into_iter()
                .cloned()
                .collect()
        };
        let axes = [x, y].map(|parameter| (plan.names[parameter].clone(), values(parameter)));
        let mut cells = Vec::new();
        for (row, above) in axes[1].1.iter().enumerate() {
            for (column, beside) in axes[0].1.iter().enumerate() {
                let mut here = Plan {
                    names: vec![plan.names[policy].clone()],
                    seeds: plan.seeds.clone(),
                    is_random: plan.is_random,
                    indifference: plan.indifference,
                    ..Plan::default()
                };
                for (index, setting) in plan.settings.iter().enumerate() {
                    if [&setting[x], &setting[y]].map(Option::as_ref) == [Some(beside), Some(above)]
                    {
                        here.settings.push(vec![setting[policy].clone()]);
                        here.drawn.extend(plan.drawn.get(index));
                        here.runs.extend_from_slice(plan.runs_of(index));
                    }
                }
                let comparison = Comparison::from_rows(&here, rows, &AdditionalResults::default());
                if !comparison.policies.is_empty() {
                    cells.push(PolicyWinnerCell {
                        value_indices: [column, row],
                        comparison,
                    });
                }
            }
        }
        Some(Self {
            policies: values(policy).iter().map(value_label).collect(),
            axes,
            cells,
            seed_count: plan.seeds.len(),
        })
    }

    /// Describes in one sentence per policy at how many pairs of values the policy is the fastest, alone or beside others. The
    /// sentence also states at how many of these pairs the tests separate the policy from all other policies.
    pub fn separated_wins_text(&self) -> String {
        let mut sentences = Vec::new();
        let all = self.axes[0].1.len() * self.axes[1].1.len();
        for policy in &self.policies {
            let is_best = |won: &&PolicyWinnerCell| {
                let best = won.best().makespan_s.mean;
                let mut results = won.comparison.policies.iter();
                won.is_compared()
                    && results.any(|one| one.policy == *policy && one.makespan_s.mean <= best)
            };
            let won: Vec<&PolicyWinnerCell> = self.cells.iter().filter(is_best).collect();
            let separated = won.iter().filter(|won| won.is_separated()).count();
            if !won.is_empty() {
                sentences.push(format!(
                    "`{policy}` is fastest at {} of {all} pairs of values. At {separated} of these it is clearly faster than all others: by more than the margin of indifference and, if runs are random, significantly.",
                    won.len()
                ));
            }
        }
        let alone = self.cells.iter().filter(|won| !won.is_compared()).count();
        if alone > 0 {
            sentences.push(format!(
                "At {alone} of {all} pairs of values only one policy completed its runs with all seeds, so that nothing is compared there."
            ));
        }
        let failed = all - self.cells.len();
        if failed > 0 && !sentences.is_empty() {
            sentences.push(format!(
                "At {failed} of {all} pairs of values no policy completed its runs with all seeds."
            ));
        }
        if sentences.is_empty() {
            sentences.push("No policy completed its runs with all seeds.".into());
        }
        sentences.join(" ")
    }

    fn values_of_cell(&self, won: &PolicyWinnerCell) -> [&Value; 2] {
        [0, 1].map(|axis: usize| &self.axes[axis].1[won.value_indices[axis]])
    }

    /// Returns the texts of the files of the map: `map.csv`, `map.svg` and `index.html`.
    pub fn files(&self) -> [(&'static str, String); 3] {
        [
            ("map.csv", self.csv()),
            ("index.html", self.page()),
            ("map.svg", self.figure(&FigureStyle::default()).to_svg()),
        ]
    }

    fn csv(&self) -> String {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let lines = self.cells.iter().map(|won| {
            let best = won.best();
            let lead = won.lead_percent();
            let next = won.comparison.second_best_policy();
            let [beside, above] = self.values_of_cell(won).map(|value| csv_field(Some(value)));
            vec![
                beside,
                above,
                best.policy.clone(),
                best.makespan_s.mean.to_string(),
                number(best.makespan_s.ci95),
                next.map_or(String::new(), |next| next.policy.clone()),
                number(lead.map(|lead| lead.mean)),
                number(lead.and_then(|lead| lead.ci95)),
                won.is_separated().to_string(),
            ]
        });
        let axes = self.axes.iter().map(|axis| csv_field(Some(&json!(axis.0))));
        let columns = "best,makespan_iii_mean_s,makespan_iii_ci95_s,next,margin_percent,margin_ci95_percent,is_separated";
        csv_text(axes.chain(columns.split(',').map(str::to_owned)), lines)
    }

    /// Returns the map as JSON.
    pub fn to_json(&self) -> Value {
        let axes = self.axes.each_ref();
        let of_cell = |won: &PolicyWinnerCell| {
            json!({
                "values": self.values_of_cell(won),
                "best": won.best().policy,
                "margin_percent": won.lead_percent().map(|lead| lead.mean),
                "is_separated": won.is_separated(),
                "comparison": won.comparison.to_json(),
            })
        };
        let basis = self.cells.first().map(|won| won.comparison.test_conditions);
        json!({
            "correction": basis.map(TestConditions::correction_method),
            "indifference_percent": basis.map(|basis| basis.indifference),
            "verdict": self.separated_wins_text(),
            "axes": axes.map(|axis| json!({ "parameter": axis.0, "values": axis.1 })),
            "cells": self.cells.iter().map(of_cell).collect::<Vec<_>>(),
        })
    }

    /// Returns the printed output of the map: the table of the fastest policies and how many of them are separated.
    pub fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        sheet.add_table(self.table());
        sheet.add_line("");
        sheet.add_line(self.separated_wins_text());
        sheet
    }

    fn table(&self) -> Table {
        let [(beside, _), (above, _)] = &self.axes;
        let columns = [
            text_column(beside, "x"),
            text_column(above, "y"),
            text_column("best", "best"),
            number_column("makespan iii [s]", "makespan_s"),
            text_column("next", "next"),
            number_column("margin [%]", "margin_percent"),
            text_column("separated", "is_separated"),
        ];
        let mut table = Table::new("map", "", &columns);
        for won in &self.cells {
            let next = won.comparison.second_best_policy();
            let [beside, above] = self.values_of_cell(won).map(value_label);
            table.push_row([
                Cell::text(beside),
                Cell::text(above),
                Cell::text(&won.best().policy),
                mean_cell(won.best().makespan_s),
                next.map_or_else(Cell::empty, |next| Cell::text(&next.policy)),
                mean_cell(won.lead_percent()),
                Cell::text(if won.is_separated() { "yes" } else { "no" }),
            ]);
        }
        table
    }

    /// Draws the map of winners: each pair of values has the colour of its fastest policy.
    fn figure(&self, style: &FigureStyle) -> Figure {
        let of_cell = |won: &PolicyWinnerCell| {
            let mut policies = self.policies.iter();
            let lead = won.lead_percent();
            Some(WinnerCell {
                column_and_row: won.value_indices,
                winner_index: policies.position(|policy| *policy == won.best().policy)?,
                winner_margin_text: lead.map_or(String::new(), |lead| {
                    format!("{} %", format_short(lead.mean))
                }),
                is_clear_winner: won.is_separated(),
            })
        };
        let axes = self.axes.each_ref();
        let chart = WinnerMap {
            name: format!("The fastest policy by {} and {}", axes[0].0, axes[1].0),
            policy_names: self.policies.clone(),
            remark_below_legend: "%: advantage over the next policy; hatched: not clearly faster"
                .into(),
            axis_parameters: axes
                .map(|(name, values)| (name.clone(), values.iter().map(value_label).collect())),
            winner_cells: self.cells.iter().filter_map(of_cell).collect(),
        };
        Figure::new("map", chart.draw(style))
    }

    fn page(&self) -> String {
        let svg = self.figure(&FigureStyle::of_page()).to_svg();
        let label = "The fastest policy at each pair of values";
        let verdict = sentence_html(&self.separated_wins_text());
        let map = picture_html("map", label, &svg);
        let sections = [
            (
                "map",
                "Map: the fastest policy",
                format!("<p class=\"verdict\">{verdict}</p>\n{map}"),
            ),
            (
                "values",
                "Values: margin over the next policy",
                self.table().to_html(VISIBLE_ROWS),
            ),
        ];
        let policies = format_count(self.policies.len(), "policy");
        let seeds = format_count(self.seed_count, "seed");
        let lead = format!("<p>{policies}, {seeds}.</p>\n");
        let title = format!("Policies by {} and {}", self.axes[0].0, self.axes[1].0);
        sections_page(&title, &lead, sections, &[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::RunRow;

    #[test]
    fn the_winner_of_each_pair_with_its_margin() {
        let runs: Vec<String> = (0..8).map(|run| run.to_string()).collect();
        let settings = [
            json!(["a", 1, 5]),
            json!(["a", 2, 5]),
            json!(["b", 1, 5]),
            json!(["b", 2, 5]),
        ];
        let plan: Plan = serde_json::from_value(json!({
            "schema": "migsim-plan-1",
            "version": "0",
            "sweep": { "schema": "migsim-sweep-1" },
            "names": ["policy", "x", "y"],
            "settings": settings,
            "seeds": [1, 2],
            "is_random": true,
            "runs": runs,
        }))
        .unwrap();
        // At x = 1 policy a is 1 s and 3 s faster, which two seeds do not separate. At x = 2 policy b is 2 s faster with both.
        let times = [10.0, 20.0, 12.0, 22.0, 11.0, 23.0, 10.0, 20.0];
        let row = |(run, time): (&String, &f64)| {
            let makespan_s = [Some(30.0), None, Some(*time)];
            (
                run.clone(),
                RunRow {
                    makespan_s,
                    ..RunRow::default()
                },
            )
        };
        let rows: Rows = runs.iter().zip(&times).map(row).collect();
        let winners = PolicyWinnerMap::from_rows(&plan, &rows).unwrap();
        let [left, right] = &winners.cells[..] else {
            panic!()
        };
        assert_eq!(left.comparison.policies[0].policy, "a");
        assert!((left.lead_percent().unwrap().mean - 100.0 * 2.0 / 15.0).abs() < 1e-12);
        assert!(!left.is_separated() && right.is_separated());
        assert_eq!(right.comparison.policies[0].policy, "b");
        assert!(winners.csv().contains("2,5,b,15,"), "{}", winners.csv());
        let verdict = "`a` is fastest at 1 of 2 pairs of values. At 0 of these it is clearly faster than all others: by more than the margin of indifference and, if runs are random, significantly. \
                       `b` is fastest at 1 of 2 pairs of values. At 1 of these it is clearly faster than all others: by more than the margin of indifference and, if runs are random, significantly.";
        assert_eq!(winners.separated_wins_text(), verdict);
        assert!(
            winners
                .figure(&FigureStyle::default())
                .to_svg()
                .contains("not clearly faster")
        );
        // With one seed, a single run is sufficient only for policies that draw nothing.
        let mut single = Plan {
            seeds: vec![1],
            runs: runs[..4].to_vec(),
            ..plan
        };
        let separated = |plan: &Plan| {
            let winners = PolicyWinnerMap::from_rows(plan, &rows).unwrap();
            let cells = winners.cells.iter().map(PolicyWinnerCell::is_separated);
            cells.collect::<Vec<bool>>()
        };
        assert_eq!(separated(&single), [false, false]);
        single.drawn = vec![false, true, false, true];
        assert_eq!(separated(&single), [true, false]);
    }

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
