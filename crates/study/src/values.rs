//! The distinct values of each parameter of a plan, with an index by setting. The index is created once per parameter, so that
//! tables and figures need no search.

use std::collections::BTreeMap;

use serde_json::Value;

use super::plan::Plan;

/// Maximum number of values of a parameter that figures draw one by one.
pub(super) const MAX_VALUES: usize = 24;

/// The distinct values of a parameter in the settings of a plan.
#[derive(Debug)]
pub(super) struct Values<'p> {
    /// The distinct values, in the order of their first occurrence.
    pub(super) distinct: Vec<&'p Value>,
    /// The index in `distinct` of the value of each setting; `None` if the parameter does not apply.
    pub(super) indices: Vec<Option<usize>>,
}

impl<'p> Values<'p> {
    /// Collects the values of the parameter with this index.
    pub(super) fn of(plan: &'p Plan, parameter: usize) -> Self {
        let (mut distinct, mut known) = (Vec::new(), BTreeMap::new());
        let settings = plan.settings.iter();
        let ranks = settings
            .map(|setting| {
                let value = setting[parameter].as_ref()?;
                Some(*known.entry(value.to_string()).or_insert_with(|| {
                    distinct.push(value);
                    distinct.len() - 1
                }))
            })
            .collect();
        Self { distinct, indices: ranks }
    }

    /// Collects the values of all parameters, in the order of the plan.
    pub(super) fn of_all(plan: &'p Plan) -> Vec<Self> {
        let parameters = 0..plan.names.len();
        parameters
            .map(|parameter| Self::of(plan, parameter))
            .collect()
    }

    /// Returns, for each distinct value, the indices of the settings that have this value.
    pub(super) fn settings_by_value(&self) -> Vec<Vec<usize>> {
        let mut with = vec![Vec::new(); self.count()];
        for (setting, rank) in self.indices.iter().enumerate() {
            if let Some(rank) = rank {
                with[*rank].push(setting);
            }
        }
        with
    }

    /// Returns the number of distinct values.
    pub(super) fn count(&self) -> usize {
        self.distinct.len()
    }
}
