//! Common parts of the benchmarks: experiments made of settings.

use migsim::bsp::Scenario;
use migsim::experiment::{Experiment, KeySetting, Layers, Limits, Progress};
use serde_json::Value;

/// Returns the built-in experiment of an application, modified by these settings.
pub fn experiment(settings: Value) -> Experiment {
    let Value::Object(settings) = settings else {
        panic!("settings are an object of dotted keys");
    };
    let flags = settings
        .into_iter()
        .map(|(key, value)| KeySetting {
            source_text: key.clone(),
            key,
            value,
        })
        .collect();
    let mut layers = Layers::default();
    layers.push_flags(flags);
    Experiment::load(&layers, Limits::default()).expect("the settings of a benchmark are valid")
}

/// Runs a scenario and returns its makespan [s].
pub fn run(experiment: &Experiment, scenario: Scenario) -> f64 {
    experiment
        .run_scenario(scenario, &Progress::default(), &mut (), None)
        .expect("a benchmark ends")
        .outcome
        .makespan
        .get()
}

/// Returns the path of a platform of the benchmarks.
pub fn platform(name: &str) -> String {
    format!("{}/platforms/{name}.json", env!("CARGO_MANIFEST_DIR"))
}
