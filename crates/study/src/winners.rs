//! Maps of winners over two parameters: the fastest policy at each pair of values, its lead over the next policy, and whether
//! statistical tests separate it from the other policies.
//!
//! At each pair of values, the policies are compared seed by seed as in [`Comparison`]. The lead of the winner over the next
//! policy is `100 (T_next - T_best) / T_best`, with the mean makespans T. The winner is separated if it is the only policy of
//! rank 1. Each pair of values is a separate comparison: if all policies are equal, 5 % of the pairs may have a separated winner
//! by chance.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::compare::{AdditionalResults, Comparison};
use super::plan::Plan;
use super::row::RunRow;
use super::separate::Indifference;
use super::spec::{csv_field, value_label};
use super::stats::format_short;
use super::values::ParameterValues;
use migsim_output::figure::{self, Figure, FigureStyle};

/// Comparison of the policies at one pair of values of the two parameters, which is one cell of the map.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyWinnerCell {
    /// Indices of the two values in the lists of values in [`PolicyWinnerMap::axes`].
    pub value_indices: [usize; 2],
    /// Comparison of the policies at these values, sorted from the best to the worst policy.
    pub comparison: Comparison,
}

impl PolicyWinnerCell {
    /// Computes how much longer the second best policy takes than the best policy, in percent of the best mean makespan \[%\];
    /// `None` if only one policy ran.
    pub fn lead_percent(&self) -> Option<f64> {
        let best = self.comparison.ranked_policy_results.first()?;
        let next = self.comparison.second_best_policy()?;
        Some(100.0 * next.makespan_behind_best_policy?.mean / best.makespan.mean)
    }

    /// Returns whether the best policy is separated: all other policies are slower by more than the margin of indifference,
    /// significantly so if the seed changes results.
    pub fn is_separated(&self) -> bool {
        let mut others = self.comparison.ranked_policy_results.iter().skip(1);
        self.is_compared() && others.all(|other| !other.is_rank_one())
    }

    /// Returns whether the cell shows a comparison, because at least two policies ran or no policy failed.
    fn is_compared(&self) -> bool {
        self.comparison.ranked_policy_results.len() > 1
            || self.comparison.failed_policies.is_empty()
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
}

impl PolicyWinnerMap {
    /// Creates the map of winners from the finished runs of a plan. Returns `None` unless the plan varies the policy and exactly
    /// two other parameters.
    pub fn from_rows(
        plan: &Plan,
        rows: &BTreeMap<String, RunRow>,
        indifference: Indifference,
    ) -> Option<Self> {
        let policy = plan.names.iter().position(|name| name == "policy")?;
        let others: Vec<usize> = (0..plan.names.len()).filter(|one| *one != policy).collect();
        let [x, y] = others[..] else {
            return None;
        };
        let values = |parameter: usize| -> Vec<Value> {
            let distinct = ParameterValues::of_parameter(plan, parameter)
                .distinct_values
                .into_iter();
            distinct.cloned().collect()
        };
        let axes = [x, y].map(|parameter| (plan.names[parameter].clone(), values(parameter)));
        let seeds = plan.seeds.len();
        let mut cells = Vec::new();
        for (row, above) in axes[1].1.iter().enumerate() {
            for (column, beside) in axes[0].1.iter().enumerate() {
                let is_here = |setting: &Vec<Option<Value>>| {
                    setting[x].as_ref() == Some(beside) && setting[y].as_ref() == Some(above)
                };
                let mut here = Plan {
                    names: vec![plan.names[policy].clone()],
                    seeds: plan.seeds.clone(),
                    is_random: plan.is_random,
                    ..Plan::default()
                };
                for (index, setting) in plan.settings.iter().enumerate() {
                    if is_here(setting) {
                        here.settings.push(vec![setting[policy].clone()]);
                        here.drawn.extend(plan.drawn.get(index));
                        let runs = &plan.runs[index * seeds..(index + 1) * seeds];
                        here.runs.extend_from_slice(runs);
                    }
                }
                let comparison =
                    Comparison::from_rows(&here, rows, &AdditionalResults::default(), indifference);
                if !comparison.ranked_policy_results.is_empty() {
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
        })
    }

    /// Describes in one sentence per policy at how many pairs of values the policy is the fastest, alone or beside others. The
    /// sentence also states at how many of these pairs the tests separate the policy from all other policies.
    pub fn separated_wins_text(&self) -> String {
        let mut sentences = Vec::new();
        let all = self.axes[0].1.len() * self.axes[1].1.len();
        for policy in &self.policies {
            let is_best = |won: &&PolicyWinnerCell| {
                let results = &won.comparison.ranked_policy_results;
                let best = results[0].makespan.mean;
                let mut equal = results.iter().filter(|one| one.makespan.mean <= best);
                won.is_compared() && equal.any(|one| one.policy == *policy)
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

    /// Returns the values of a cell of the map: the value on the horizontal axis and the value on the vertical axis.
    pub fn values_of_cell(&self, won: &PolicyWinnerCell) -> [&Value; 2] {
        [0, 1].map(|axis: usize| &self.axes[axis].1[won.value_indices[axis]])
    }

    /// Creates the text of `map.csv`, with one row for each pair of values.
    pub fn csv(&self) -> String {
        let mut text = format!(
            "{},{},best,makespan_iii_mean_s,makespan_iii_ci95_s,next,margin_percent,margin_ci95_percent,is_separated\n",
            csv_field(Some(&json!(self.axes[0].0))),
            csv_field(Some(&json!(self.axes[1].0)))
        );
        for won in &self.cells {
            let best = &won.comparison.ranked_policy_results[0];
            let next = won.comparison.second_best_policy();
            let half =
                next.and_then(|next| next.makespan_behind_best_policy?.confidence_half_width());
            let number =
                |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
            let [beside, above] = self.values_of_cell(won);
            let fields = [
                csv_field(Some(beside)),
                csv_field(Some(above)),
                best.policy.clone(),
                best.makespan.mean.to_string(),
                number(best.makespan.confidence_half_width()),
                next.map_or(String::new(), |next| next.policy.clone()),
                number(won.lead_percent()),
                number(half.map(|half| 100.0 * half / best.makespan.mean)),
                won.is_separated().to_string(),
            ];
            text += &fields.join(",");
            text.push('\n');
        }
        text
    }

    /// Returns the map as JSON.
    pub fn to_json(&self) -> Value {
        let axes = self
            .axes
            .each_ref()
            .map(|axis| json!({ "parameter": axis.0, "values": axis.1 }));
        let of_cell = |won: &PolicyWinnerCell| {
            json!({
                "values": self.values_of_cell(won),
                "best": won.comparison.ranked_policy_results[0].policy,
                "margin_percent": won.lead_percent(),
                "is_separated": won.is_separated(),
                "comparison": won.comparison.to_json(),
            })
        };
        json!({
            "correction": self.cells.first().map(|won| won.comparison.test_conditions.correction_method()),
            "indifference_percent": self.cells.first().map(|won| won.comparison.test_conditions.indifference.percent()),
            "verdict": self.separated_wins_text(),
            "axes": axes,
            "cells": self.cells.iter().map(of_cell).collect::<Vec<_>>(),
        })
    }

    /// Draws the map of winners: each pair of values has the colour of its fastest policy.
    pub fn figure(&self, style: &FigureStyle) -> Figure {
        let winner = |won: &PolicyWinnerCell| {
            let best = &won.comparison.ranked_policy_results[0].policy;
            self.policies.iter().position(|policy| policy == best)
        };
        let of_cell = |won: &PolicyWinnerCell| {
            Some(figure::WinnerCell {
                column_and_row: won.value_indices,
                winner_index: winner(won)?,
                winner_margin_text: won.lead_percent().map_or(String::new(), |margin| {
                    format!("{} %", format_short(margin))
                }),
                is_clear_winner: won.is_separated(),
            })
        };
        let axes = self
            .axes
            .each_ref()
            .map(|(name, values)| (name.clone(), values.iter().map(value_label).collect()));
        let chart = figure::WinnerMap {
            name: format!(
                "The fastest policy by {} and {}",
                self.axes[0].0, self.axes[1].0
            ),
            policy_names: self.policies.clone(),
            remark_below_legend: "%: advantage over the next policy; hatched: not clearly faster"
                .into(),
            axis_parameters: axes,
            winner_cells: self.cells.iter().filter_map(of_cell).collect(),
        };
        Figure::new("map", chart.draw(style))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let rows: BTreeMap<String, RunRow> = runs.iter().zip(&times).map(row).collect();
        let winners = PolicyWinnerMap::from_rows(&plan, &rows, Indifference::default()).unwrap();
        let [left, right] = &winners.cells[..] else {
            panic!()
        };
        assert_eq!(left.comparison.ranked_policy_results[0].policy, "a");
        assert!((left.lead_percent().unwrap() - 100.0 * 2.0 / 15.0).abs() < 1e-12);
        assert!(!left.is_separated() && right.is_separated());
        assert_eq!(right.comparison.ranked_policy_results[0].policy, "b");
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
            let winners = PolicyWinnerMap::from_rows(plan, &rows, Indifference::default()).unwrap();
            let cells = winners.cells.iter().map(PolicyWinnerCell::is_separated);
            cells.collect::<Vec<bool>>()
        };
        assert_eq!(separated(&single), [false, false]);
        single.drawn = vec![false, true, false, true];
        assert_eq!(separated(&single), [true, false]);
    }
}
