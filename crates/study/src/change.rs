//! Refuses a sweep with a parameter that has no effect, because its rows would show equal results under different labels.
//!
//! A parameter is checked in one setting after the other, until another value of the parameter changes the run of a setting. One
//! such setting is enough, so that a key that has no effect for one of several policies, applications or loads may vary. Runs are
//! compared by their identity (a hash of their settings and inputs), and no run is simulated.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::{
    config::Sweep, plan::Plan, setting::SettingProperties, settings::MAX_NAMED, spec::value_label,
    values::ParameterValues,
};
use migsim_base::error::{Error, Result};

/// Checks that every parameter with several values changes at least one run of the plan.
///
/// # Errors
/// A parameter has no effect.
pub(super) fn check_parameter_effects(sweep: &Sweep, plan: &Plan) -> Result {
    for (index, parameter) in sweep.varied_parameters.iter().enumerate() {
        let values = ParameterValues::of_parameter(plan, index);
        if values.count_distinct_values() < 2 {
            continue;
        }
        let changes = |setting: usize| {
            let Some(rank) = values.value_indices[setting] else {
                return false;
            };
            let mut other = plan.settings[setting].clone();
            other[index] =
                Some(values.distinct_values[(rank + 1) % values.count_distinct_values()].clone());
            // Settings that cannot be loaded count as different from those that can.
            let other = SettingProperties::load(sweep, &other, &plan.seeds[..1]);
            other.map_or(true, |other| other.run_ids[0] != plan.runs_of(setting)[0])
        };
        if !(0..plan.settings.len()).into_par_iter().any(changes) {
            let shown = values
                .distinct_values
                .iter()
                .map(|value| value_label(value));
            return Err(Error::input(
                format!(
                    "the parameter `{}` changes nothing: its values mean the same settings, `{}",
                    parameter.name,
                    join_first_names(&shown.collect::<Vec<_>>(), "`, `", "`")
                ),
                &parameter.definition_text,
                "leave out this parameter, or name values with which runs differ",
            ));
        }
    }
    Ok(())
}

/// Returns a note on settings that describe the same run as an earlier setting; `None` if there are none. Such a run is simulated
/// only once.
pub(super) fn equal_settings_note(plan: &Plan) -> Option<String> {
    let mut first = BTreeMap::new();
    let mut equal = Vec::new();
    for (setting, run) in plan.runs.iter().step_by(plan.seeds.len()).enumerate() {
        let before = *first.entry(run).or_insert(setting);
        if before != setting {
            equal.push(format!(
                "setting {} is the same as setting {}",
                setting + 1,
                before + 1
            ));
        }
    }
    (!equal.is_empty()).then_some(format!(
        "of the {} settings, some describe the same run as an earlier setting, whose result they share: {}",
        plan.settings.len(),
        join_first_names(&equal, ", ", "")
    ))
}

/// Joins the first few names with `comma`, followed by `end`, and by an ellipsis if there are more names.
fn join_first_names(names: &[String], comma: &str, end: &str) -> String {
    let more = if names.len() > MAX_NAMED { ", ..." } else { "" };
    let first = names[..names.len().min(MAX_NAMED)].join(comma);
    format!("{first}{end}{more}")
}
