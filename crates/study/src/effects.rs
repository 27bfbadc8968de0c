//! Main effects of parameters on the results of a sweep. The effect of a parameter is the share of the variance between settings
//! that the means at the values of the parameter explain: the η² of an analysis of variance.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    goal::Goal,
    plan::Plan,
    spec::value_label,
    stats::{format_short, mean},
};

/// The main effect of a parameter on the goal, which is the result by which settings are compared, such as the makespan.
#[derive(Clone, Debug, PartialEq)]
pub struct MainEffect {
    /// The index of the parameter in the list of the plan's parameters.
    pub parameter_index: usize,
    /// The share of the variance of the goal between settings that the values of the parameter explain, from 0 to 1; `None` if
    /// there is no variance.
    pub variance_share: Option<f64>,
    /// The values of the parameter, each with the mean of the goal over all settings with this value (in the unit of the goal);
    /// the best value comes first.
    pub means_by_value: Vec<(String, f64)>,
}

/// Computes the main effect of a parameter that has several values. `parameter` is the index of the parameter in the plan of the
/// sweep, and `means` has the mean of the goal for each setting.
pub(super) fn main_effect(
    plan: &Plan,
    goal: Goal,
    means: &[Option<f64>],
    parameter: usize,
) -> MainEffect {
    let with = plan
        .settings
        .iter()
        .zip(means)
        .filter_map(|(values, mean)| Some((values[parameter].as_ref()?, (*mean)?)));
    let with: Vec<(&Value, f64)> = with.collect();
    // Settings without the parameter count in the variance, so that the shares of all parameters are of the same whole.
    let all: Vec<f64> = means.iter().flatten().copied().collect();
    let all_centre = mean(&all);
    let total: f64 = all.iter().map(|goal| (goal - all_centre).powi(2)).sum();
    let having: Vec<f64> = with.iter().map(|(_, goal)| *goal).collect();
    let centre = mean(&having);
    let groups = group_goal_by_parameter_value(&with);
    let explained: f64 = groups
        .iter()
        .map(|(_, goals)| goals.len() as f64 * (mean(goals) - centre).powi(2))
        .sum();
    let values = groups.into_iter().map(|(name, goals)| (name, mean(&goals)));
    let mut values: Vec<(String, f64)> = values.collect();
    let rank = |value: &(String, f64)| goal.sign() * value.1;
    values.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    // Differences by rounding do not count as variance.
    let is_varied = total > 1e-18 * all_centre * all_centre * all.len() as f64;
    MainEffect {
        parameter_index: parameter,
        variance_share: is_varied.then(|| (explained / total).min(1.0)),
        means_by_value: values,
    }
}

/// Number of ranges into which the values of a parameter are grouped if they were drawn at random.
const RANGE_COUNT: usize = 5;

fn group_goal_by_parameter_value(with: &[(&Value, f64)]) -> Vec<(String, Vec<f64>)> {
    let mut by_value: BTreeMap<String, (&Value, Vec<f64>)> = BTreeMap::new();
    for (value, goal) in with {
        let (_, goals) = by_value
            .entry(value.to_string())
            .or_insert_with(|| (value, Vec::new()));
        goals.push(*goal);
    }
    let is_numeric = with.iter().all(|(value, _)| value.is_number());
    if by_value.len() * 2 <= with.len() || by_value.len() <= 2 * RANGE_COUNT || !is_numeric {
        return by_value
            .into_values()
            .map(|(value, goals)| (value_label(value), goals))
            .collect();
    }
    let mut sorted: Vec<(f64, &Value, f64)> = with
        .iter()
        .map(|(value, goal)| (value.as_f64().unwrap_or_default(), *value, *goal))
        .collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    sorted
        .chunks(sorted.len().div_ceil(RANGE_COUNT))
        .map(|group| {
            let ends = format!(
                "{}..{}",
                value_label(group[0].1),
                value_label(group[group.len() - 1].1)
            );
            (ends, group.iter().map(|(_, _, goal)| *goal).collect())
        })
        .collect()
}

/// Returns the values of a parameter with their means of the goal as a text; of more than five values only the first two and the
/// last.
pub(super) fn describe_extreme_values(values: &[(String, f64)]) -> String {
    let one = |(value, mean): &(String, f64)| format!("{value} ({})", format_short(*mean));
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
        let groups = group_goal_by_parameter_value(&with);
        assert_eq!(groups.len(), 5);
        assert_eq!(groups[1], ("0.04..0.07".into(), vec![1.0; 4]));
    }
}
