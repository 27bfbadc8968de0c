//! Implements `migsim bottlenecks`: finds what limits the speed of a run, by repeating the run with one quantity changed at a
//! time.

use std::io::Write;
use std::sync::Mutex;

use super::args::{BottleneckArguments, ScenarioChoice};
use super::experiment_file::settings_of_run_folder;
use super::run::{join_settings, refuse_changed_settings};
use super::setup::SimulationSetup;
use crate::Registry;
use crate::error::{Error, Problem};
use crate::experiment::{Experiment, Layers, Limits};
use crate::output::{OutputForm, Run, write_file_named_by_user};
use crate::sweep::ValuesSpec;
use crate::sweep::bottlenecks::{ProfileOptions, prepare_profile};

pub(super) fn run_bottlenecks(
    registry: &Registry,
    arguments: &BottleneckArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<(), Error> {
    let output = arguments.output_and_threads;
    let folder = arguments.out.as_deref();
    let setup = SimulationSetup::new(&arguments.settings.memory, output, folder)?;
    let limits = setup.limits;
    let layers = experiment_settings(registry, arguments, limits)?;
    let wanted = profile_options(arguments)?;
    let experiment = Experiment::load_with(registry, &layers, limits)?;
    setup.print_notes(&experiment.notes(), errors);
    let with = (registry, &layers, limits);
    let store = Mutex::new(setup.open_store(errors)?);
    let prepared = setup.threads.install(|| prepare_profile(with, wanted))?;
    let counts = (&store, prepared.finished_runs());
    let profile = setup.run_work_with_store(counts, prepared.run_count(), || {
        prepared.simulate_all_changes(&store)
    })?;
    setup.print_notes(&profile.user_notes, errors);
    if let Some(folder) = folder {
        profile.write_into_folder(folder)?;
    }
    if let Some(file) = &arguments.figure {
        let style = arguments.figure_style.style;
        write_file_named_by_user(file, profile.gain_figure(&style).to_svg().as_bytes())?;
    }
    let sheet = || match output.form.output_form() {
        OutputForm::Csv => profile.change_sheet(),
        _ => profile.printed_sheet(),
    };
    setup.print_result(out, || profile.to_json(), sheet)
}

/// Returns the settings of the experiment that is examined: the settings of the run folder if the user named one, otherwise the
/// settings of the command line.
fn experiment_settings(
    registry: &Registry,
    arguments: &BottleneckArguments,
    limits: Limits,
) -> Result<Layers, Error> {
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

/// Returns the options of the bottleneck profile that the user chose: the scenario, the seeds, whether changes are also run with
/// recorded decisions, and whether changes are combined in pairs.
fn profile_options(arguments: &BottleneckArguments) -> Result<ProfileOptions, Error> {
    let scenario = match ScenarioChoice::chosen_scenarios(&arguments.settings.scenario)[..] {
        [] => None,
        [one] => Some(one),
        _ => {
            let problem =
                Problem::new("several scenarios are chosen, but only one can be examined")
                    .source("--scenario");
            let hint = "choose `i` (application only), `ii` (scheduler without moves) or `iii` (with migrations)";
            return Err(problem.hint(hint).into());
        }
    };
    let seeds = arguments.seeds.as_ref().map_or(0, ValuesSpec::value_count);
    let seed = |index| arguments.seeds.as_ref()?.value_at(index).as_u64();
    Ok(ProfileOptions {
        scenario,
        seeds: (0..seeds).filter_map(seed).collect(),
        keeps_decisions: arguments.hold_decisions,
        simulates_pairs: arguments.pairs,
    })
}
