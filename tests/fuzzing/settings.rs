//! Experiment files and sweep files: with all defaults written out, an experiment stays the same, and so does the plan of a sweep.

use migsim::{
    Registry,
    document::Document,
    error::Error,
    experiment::{Experiment, Layers, Limits},
    memory::ExperimentPurpose,
    sweep::{Combine, Plan, Sweep},
};

use super::check_told;

const SOURCE: &str = "fuzzed.json";

/// Maximum memory that an experiment may need \[B\].
const LIMITS: Limits = Limits {
    allows_starting_programs: false,
    allows_outside_files: false,
    max_memory: Some(5e7),
    thread_count: 1,
    purpose: ExperimentPurpose::Run,
    omits_terms: false,
};

/// Maximum number of runs of a plan, since larger plans take long.
const MOST_RUNS: u64 = 40;

pub(super) fn settings(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let read = Document::parse(SOURCE, text).and_then(|document| {
        if document.value["schema"] == "migsim-sweep-1" {
            sweep(&document)
        } else {
            experiment(document)
        }
    });
    if let Err(error) = read {
        check_told(&error, SOURCE, text);
    }
}

fn experiment(document: Document) -> Result<(), Error> {
    let experiment = load(document)?;
    let text = format!("{:#}", experiment.resolved_settings);
    let again = Document::parse("again.json", text).and_then(load);
    assert_eq!(
        again
            .expect("what was read is read again")
            .resolved_settings,
        experiment.resolved_settings
    );
    Ok(())
}

fn load(document: Document) -> Result<Experiment, Error> {
    let mut layers = Layers::default();
    layers.push_file(document);
    Experiment::load(&layers, LIMITS)
}

fn sweep(document: &Document) -> Result<(), Error> {
    let mut sweep = Sweep::from_file(&Registry::standard(), document)?;
    sweep.limits = LIMITS;
    if is_large(&sweep) {
        return Ok(());
    }
    let plan = Plan::new(&sweep)?;
    let file = serde_json::to_string(&sweep.to_sweep_file()?).expect("a sweep is JSON");
    let again = Sweep::from_file(&Registry::standard(), &Document::parse("again.json", file)?);
    let again = Plan::new(&Sweep {
        limits: LIMITS,
        ..again.expect("what was read is read again")
    });
    let again = again.expect("what was planned is planned again");
    assert_eq!(
        (again.settings, again.seeds, again.runs),
        (plan.settings, plan.seeds, plan.runs)
    );
    Ok(())
}

fn is_large(sweep: &Sweep) -> bool {
    let counts = sweep
        .varied_parameters
        .iter()
        .map(|one| one.values_spec.value_count());
    let settings = match sweep.combine {
        Combine::Grid => counts.fold(1, u64::saturating_mul),
        Combine::Zip => counts.max().unwrap_or(1),
        Combine::Random(count) | Combine::Latin(count) => count,
        other => unreachable!("a new way to combine: {other}"),
    };
    let seeds = sweep
        .seeds
        .as_ref()
        .map_or(1, migsim::sweep::ValuesSpec::value_count);
    settings.saturating_mul(seeds) > MOST_RUNS
}
