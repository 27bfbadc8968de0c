//! The distinct values of each parameter in the settings of a plan, and the value of each setting as an index. The indices are
//! computed once, so that tables and figures need no search.

use std::collections::BTreeMap;

use serde_json::Value;

use super::plan::Plan;

/// Maximum number of values of a parameter for which figures draw each value separately.
pub(super) const MAX_DRAWN_VALUES: usize = 24;

/// Distinct values of a parameter in the settings of a plan, and the value of each setting as an index.
#[derive(Debug)]
pub(super) struct ParameterValues<'p> {
    /// Distinct values of the parameter, in the order of their first occurrence.
    pub distinct_values: Vec<&'p Value>,
    /// For each setting of the plan, the index of its value in the list of distinct values; `None` if the parameter does not
    /// apply.
    pub value_indices: Vec<Option<usize>>,
}

impl<'p> ParameterValues<'p> {
    /// Collects the distinct values of the parameter with the index `parameter` from the settings of the plan.
    pub(super) fn of_parameter(plan: &'p Plan, parameter: usize) -> Self {
        let mut distinct = Vec::new();
        let mut known = BTreeMap::new();
        let ranks = plan
            .settings
            .iter()
            .map(|setting| {
                let value = setting[parameter].as_ref()?;
                Some(*known.entry(value.to_string()).or_insert_with(|| {
                    distinct.push(value);
                    distinct.len() - 1
                }))
            })
            .collect();
        Self {
            distinct_values: distinct,
            value_indices: ranks,
        }
    }

    /// Collects the distinct values of every parameter, in the order of the parameters.
    pub(super) fn of_all_parameters(plan: &'p Plan) -> Vec<Self> {
        let parameters = 0..plan.names.len();
        parameters
            .map(|parameter| Self::of_parameter(plan, parameter))
            .collect()
    }

    /// Returns for each distinct value the indices of the settings that have this value.
    pub(super) fn settings_by_value(&self) -> Vec<Vec<usize>> {
        let mut with = vec![Vec::new(); self.count_distinct_values()];
        for (setting, rank) in self.value_indices.iter().enumerate() {
            if let Some(rank) = rank {
                with[*rank].push(setting);
            }
        }
        with
    }

    /// Returns the number of distinct values of the parameter.
    pub(super) fn count_distinct_values(&self) -> usize {
        self.distinct_values.len()
    }
}
