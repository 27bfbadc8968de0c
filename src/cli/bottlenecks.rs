//! Implements `migsim bottlenecks`: finds what limits the speed of a run, by repeating the run with one quantity changed at a
//! time.

use std::io::Write;

use super::{
    args::{BottleneckArguments, ScenarioChoice},
    experiment_file::settings_of_run_folder,
    run::{join_settings, refuse_changed_settings},
    setup::StudySetup,
};
use crate::{
    Registry,
    bsp::Scenario,
    error::{Error, Result},
    experiment::{Experiment, Layers, Limits},
    output::{OutputForm, Run, write_file_named_by_user},
    sweep::{
        Sweep,
        bottlenecks::{ProfileOptions, prepare_profile},
    },
};

pub(super) fn run_bottlenecks(
    registry: &Registry,
    arguments: &BottleneckArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result {
    let output = arguments.output_and_threads;
    let setup = StudySetup::new(
        &arguments.settings.memory,
        output,
        arguments.out.as_deref(),
        "bottlenecks.json",
    )?;
    let layers = experiment_settings(registry, arguments, setup.limits)?;
    let wanted = ProfileOptions {
        scenario: chosen_scenario(arguments)?,
        keeps_decisions: arguments.hold_decisions,
        simulates_pairs: arguments.pairs,
    };
    let experiment = Experiment::load_with(registry, &layers, setup.limits)?;
    setup.print_notes(&experiment.notes(), errors);
    let sweep = Sweep {
        base_settings: layers,
        seeds: arguments.seeds.clone(),
        limits: setup.limits,
        ..Sweep::new(registry)
    };
    let store = setup.open_store(errors)?;
    let prepared = setup.threads.install(|| prepare_profile(sweep, wanted))?;
    let profile = setup.run_with_store(&store, Some(prepared.run_count()), || {
        prepared.simulate_all_changes(&store)
    })?;
    setup.print_notes(&profile.notes, errors);
    if let Some(file) = &arguments.figure {
        let style = arguments.figure_style.style;
        write_file_named_by_user(file, profile.gain_figure(&style).to_svg().as_bytes())?;
    }
    let sheet = || match output.form.output_form() {
        OutputForm::Csv => profile.change_sheet(),
        _ => profile.sheet(),
    };
    setup.finish(out, profile.to_json(), sheet, || profile.files())
}

/// Returns the settings of the experiment that is examined: the settings of the run folder if the user named one, otherwise the
/// settings of the command line.
fn experiment_settings(
    registry: &Registry,
    arguments: &BottleneckArguments,
    limits: Limits,
) -> Result<Layers> {
    let named = arguments.settings.experiment.as_deref();
    let Some(folder) = named.filter(|path| path.is_dir()) else {
        return join_settings(registry, &arguments.settings);
    };
    refuse_changed_settings(registry, &arguments.settings)?;
    let run = Run::read(registry, folder)?;
    let layers = settings_of_run_folder(registry, folder)?;
    run.check_inputs_are_unchanged(&Experiment::load_with(registry, &layers, limits)?)?;
    Ok(layers)
}

/// Returns the scenario that the user chose; `None` if the user chose none.
fn chosen_scenario(arguments: &BottleneckArguments) -> Result<Option<Scenario>> {
    match ScenarioChoice::chosen_scenarios(&arguments.settings.scenario)[..] {
        [] => Ok(None),
        [one] => Ok(Some(one)),
        _ => {
            let hint = "choose `i` (application only), `ii` (scheduler without moves) or `iii` (with migrations)";
            Err(Error::input(
                "several scenarios are chosen, but only one can be examined",
                "--scenario",
                hint,
            ))
        }
    }
}
