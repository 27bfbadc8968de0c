//! The identity of a run: the resolved settings, the contents of their files, and the version of the program.

use std::fmt::Write as _;

use serde_json::{Value, json};

use migsim_base::document::sha256;
use migsim_experiment::{Experiment, NOTES, remove_notes};

/// The number of hexadecimal digits of the SHA-256 that name a run: 128 bits.
const DIGITS: usize = 32;

/// The settings of a run that its results depend on, but for the seed.
#[derive(Clone, Debug)]
pub(super) struct Identity(Value);

impl Identity {
    pub(super) fn of(experiment: &Experiment) -> Self {
        let mut settings = experiment.resolved.clone();
        remove_notes(&mut settings);
        let inputs = experiment.inputs.iter();
        settings["inputs"] = inputs
            .map(|input| json!([input.role, input.sha256]))
            .collect();
        settings["version"] = env!("CARGO_PKG_VERSION").into();
        Self(settings)
    }

    /// Settings that are no experiment: whatever was given.
    pub(super) fn of_broken(given: &Value) -> Self {
        Self(json!({ "given": given, "version": env!("CARGO_PKG_VERSION") }))
    }

    /// The name of the run with `seed`.
    pub(super) fn id(&mut self, seed: u64) -> String {
        self.0["seed"] = seed.into();
        digest(&self.0)
    }
}

/// All that scenario i of an experiment depends on, as a text: not the policy, which is never asked there.
pub(super) fn of_scenario_i(experiment: &Experiment) -> String {
    let settings = experiment.resolved.as_object().into_iter().flatten();
    let is_kept = |key: &str| !NOTES.contains(&key) && key != "policy" && key != "scenarios";
    let mut text = String::new();
    for (key, value) in settings.filter(|(key, _)| is_kept(key)) {
        let _ = write!(text, "{key} {value} ");
    }
    for input in &experiment.inputs {
        let _ = write!(text, "{} {} ", input.role, input.sha256);
    }
    text
}

fn digest(value: &Value) -> String {
    let mut digest = sha256(value.to_string().as_bytes());
    digest.truncate(DIGITS);
    digest
}
