//! Main effects of parameters: the share of the variance between settings that is explained by the mean at each value of a
//! parameter. This share is the η² of an analysis of variance.

use std::collections::BTreeMap;

use serde_json::Value;

use super::goal::Goal;
use super::plan::Plan;
use super::spec::label;
use super::stats::{mean, short};

/// The main effect of a parameter on the goal.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The index of the parameter in the plan.
    pub parameter: usize,
    /// The share of the variance of the goal that the values of the parameter explain, from 0 to 1; `None` if there is no
    /// variance.
    pub share: Option<f64>,
    /// The values of the parameter, each with the mean of the goal (in the unit of the goal) over all settings with this value,
    /// the best value first.
    pub values: Vec<(String, f64)>,
}

/// Computes the effect of a parameter that has several values; `means` contains the mean of the goal for each setting.
pub(super) fn main_effect(plan: &Plan, goal: Goal, means: &[Option<f64>], parameter: usize) -> Effect {
    let with: Vec<(&Value, f64)> = plan
        .settings
        .iter()
        .zip(means)
        .filter_map(|(values, mean)| Some((values[parameter].as_ref()?, (*mean)?)))
        .collect();
    let all: Vec<f64> = with.iter().map(|(_, goal)| *goal).collect();
    let centre = mean(&all);
    let total: f64 = all.iter().map(|goal| (goal - centre).powi(2)).sum();
    let groups = group_by_value(&with);
    let explained: f64 = groups
        .iter()
        .map(|(_, goals)| goals.len() as f64 * (mean(goals) - centre).powi(2))
        .sum();
    let mut values: Vec<(String, f64)> = groups
        .into_iter()
        .map(|(name, goals)| (name, mean(&goals)))
        .collect();
    values.sort_by(|a, b| {
        if goal.is_gain() {
            b.1.total_cmp(&a.1)
        } else {
            a.1.total_cmp(&b.1)
        }
    });
    // Differences by rounding do not count as variance.
    let is_varied = total > 1e-18 * centre * centre * all.len() as f64;
    Effect {
        parameter,
        share: is_varied.then(|| (explained / total).min(1.0)),
        values,
    }
}

/// Number of ranges into which random values of a parameter are grouped.
const RANGES: usize = 5;

/// Groups the values of the goal by the value of a parameter. If few values occur twice, as in a random sample, five ranges with
/// equal numbers of settings are the groups.
fn group_by_value(with: &[(&Value, f64)]) -> Vec<(String, Vec<f64>)> {
    let mut by_value: BTreeMap<String, (&Value, Vec<f64>)> = BTreeMap::new();
    for (value, goal) in with {
        let (_, goals) = by_value
            .entry(value.to_string())
            .or_insert_with(|| (value, Vec::new()));
        goals.push(*goal);
    }
    let is_numeric = with.iter().all(|(value, _)| value.is_number());
    if by_value.len() * 2 <= with.len() || by_value.len() <= 2 * RANGES || !is_numeric {
        let named = |(value, goals): (&Value, Vec<f64>)| (label(value), goals);
        return by_value.into_values().map(named).collect();
    }
    let mut sorted: Vec<(f64, &Value, f64)> = with
        .iter()
        .map(|(value, goal)| (value.as_f64().unwrap_or_default(), *value, *goal))
        .collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    sorted
        .chunks(sorted.len().div_ceil(RANGES))
        .map(|group| {
            let ends = format!("{}..{}", label(group[0].1), label(group[group.len() - 1].1));
            (ends, group.iter().map(|(_, _, goal)| *goal).collect())
        })
        .collect()
}

/// Describes in words the best and the worst value of a parameter with their means of the goal.
pub(super) fn describe_extremes(values: &[(String, f64)]) -> String {
    let one = |(value, mean): &(String, f64)| format!("{value} ({})", short(*mean));
    match values {
        [first, second, _, .., last] if values.len() > 5 => {
            format!("{}, {}, ..., {}", one(first), one(second), one(last))
        }
        few => few.iter().map(one).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn drawn_values_are_put_into_groups() {
        let values: Vec<Value> = (0..20).map(|n| json!(f64::from(n) / 100.0)).collect();
        let with: Vec<(&Value, f64)> = values.iter().map(|value| (value, 1.0)).collect();
        let groups = group_by_value(&with);
        assert_eq!(groups.len(), 5);
        assert_eq!(groups[1], ("0.04..0.07".into(), vec![1.0; 4]));
    }
}
