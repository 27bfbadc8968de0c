//! `migsim tune`: searches good settings, then prints them with the command that runs them.

use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::args::{GoalChoice, SettingsArguments, TuneArguments};
use super::memory_limit::limits;
use super::print::{print, print_json, say, say_notes};
use super::progress::{Bar, with_bar_and_farewell};
use super::run::given;
use super::sweep::{Varied, open_store, varied};
use super::threads::planning_threads;
use crate::Registry;
use crate::document::value_as_typed;
use crate::error::{Error, Problem, visible};
use crate::experiment::Flag;
use crate::memory::Purpose;
use crate::output::{Form, cannot_write, write_file};
use crate::sweep::folder::write_plan;
use crate::sweep::goal::Goal;
use crate::sweep::setting::{layers, varied as varied_settings};
use crate::sweep::slurm::quoted;
use crate::sweep::spec::label;
use crate::sweep::tune::{FRESH, Found, Setting, Tuning, usual_parameters};
use crate::sweep::tune_report::{self, TuneReport};
use crate::sweep::{Common, Done, Shard, Spec, Store, keys, table::runs_csv};
use crate::words::counted;

/// The seeds of the search if none are given.
const SEEDS: &str = "1..8";

pub(super) fn tune(
    registry: &Registry,
    arguments: &TuneArguments,
    out: &mut dyn Write,
    errors: &mut dyn Write,
) -> Result<(), Error> {
    let varied = sweep_of(registry, arguments)?;
    let sweep = &varied.sweep;
    let memory = &arguments.varied.settings.memory;
    let limits = limits(memory, arguments.threads, Purpose::Sweep);
    let threads = planning_threads(arguments.threads, limits)?;
    let store = match &arguments.out {
        Some(folder) => open_store(folder, arguments.quiet, errors)?,
        None => Store::in_memory(),
    };
    let (common, store, done) = (Common::default(), Mutex::new(store), Done::default());
    let tuning = Tuning {
        sweep,
        goal: match arguments.goal {
            GoalChoice::Makespan => Goal::MAKESPAN,
            GoalChoice::Gain => Goal::GAIN,
        },
        budget: usize::try_from(arguments.budget).expect("at most a million"),
        fresh: arguments.fresh.as_ref(),
        limits,
        common: &common,
        store: &store,
        done: &done,
    };
    let bar = Bar {
        unit: "runs",
        // The search, and the comparison of two settings.
        total: Some(
            arguments
                .fresh
                .as_ref()
                .map_or(FRESH, Spec::count)
                .saturating_mul(2)
                .saturating_add(u64::from(arguments.budget)),
        ),
        has_lines: true,
        is_quiet: arguments.quiet,
    };
    let farewell = || {
        let store = store.lock().unwrap_or_else(PoisonError::into_inner);
        let text = match &arguments.out {
            Some(folder) => format!(
                "{} kept in `{}`; the same command goes on",
                counted(store.rows().len(), "run"),
                visible(&folder.display().to_string())
            ),
            None => format!(
                "{} done, none kept: a search with `--out DIR` goes on where it was",
                counted(done.runs(), "run")
            ),
        };
        let _ = store.sync();
        // Nothing is added from here on.
        std::mem::forget(store);
        (!arguments.quiet).then_some(text)
    };
    let found = with_bar_and_farewell(&bar, &|| done.runs(), &farewell, || {
        threads.install(|| tuning.run())
    })?;
    store
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .sync()?;
    let names = sweep.parameters.iter().map(|one| one.name.clone());
    let command = command(&arguments.varied.settings, &varied, &found.best)?;
    let told = (tuning.goal, sweep.draw_seed, command);
    let report = TuneReport::of(&found, names.collect(), told);
    if let Some(folder) = &arguments.out {
        write(folder, &found, &report)?;
    }
    match arguments.form.form_unless(arguments.quiet) {
        None => {}
        Some(Form::Json) => print_json(out, &report.to_json())?,
        Some(form) => print(out, &report.sheet().render(form))?,
    }
    if !arguments.quiet {
        say_notes(&found.all.0.notes, errors);
    }
    if let Some((count, first)) = found.failed.as_ref().filter(|_| !arguments.quiet) {
        let runs = counted(count, "run");
        say(errors, &format!("note: {runs} failed, the first: {first}"));
    }
    Ok(())
}

fn write(folder: &Path, found: &Found, report: &TuneReport) -> Result<(), Error> {
    let path = folder.join("runs.csv");
    let (plan, rows) = &found.all;
    let table = runs_csv(plan, Shard::WHOLE, rows)
        .map_err(|error| cannot_write(&path.display().to_string(), &error))?;
    write_file(&path, &table)?;
    write_plan(folder, plan)?;
    let json = format!("{:#}\n", report.to_json());
    write_file(&folder.join(tune_report::FILE), json.as_bytes())?;
    write_file(
        &folder.join("index.html"),
        report.page(plan, rows).as_bytes(),
    )
}

/// The varied parameters: those with several values, or else the usual ranges of the policy's options.
fn sweep_of(registry: &Registry, arguments: &TuneArguments) -> Result<Varied, Error> {
    let settings = &arguments.varied.settings;
    if !settings.scenario.is_empty() {
        return Err(Problem::new("the goal says which scenarios are run")
            .source("--scenario")
            .hint("leave it out; `--goal gain` runs scenario i, too")
            .into());
    }
    let mut varied = varied(registry, &arguments.varied)?;
    let sweep = &mut varied.sweep;
    if sweep.parameters.is_empty() {
        let is_fixed = |key: &str| sweep.fixed.iter().any(|flag| flag.key == key);
        let policy = keys::policy_of(&sweep.layers());
        sweep.parameters = usual_parameters(registry, &policy, is_fixed)?;
    }
    if sweep.seeds.is_none() {
        let seed = sweep.fixed.iter().rfind(|flag| flag.key == "seed");
        sweep.seeds = Some(match seed {
            Some(flag) => Spec::list(vec![flag.value.clone()], flag.value.to_string()),
            None => Spec::parse(SEEDS).expect("the usual seeds can be read"),
        });
        // It is that of the search; those of the comparison are others.
        sweep.fixed.retain(|flag| flag.key != "seed");
    }
    let scenarios = match arguments.goal {
        GoalChoice::Makespan => json!(["iii"]),
        GoalChoice::Gain => json!(["i", "iii"]),
    };
    sweep.fixed.push(Flag {
        key: "scenarios".into(),
        flag: "--goal".into(),
        value: scenarios,
    });
    sweep.draw_seed = arguments.draw_seed;
    Ok(varied)
}

/// Keys of an experiment file that are for people.
const FOR_PEOPLE: [&str; 5] = ["$schema", "schema", "description", "origins", "basis"];

/// The command that runs a setting. What varies comes last, as `--set`, which wins over all that stands before it.
fn command(
    arguments: &SettingsArguments,
    Varied {
        sweep,
        is_sweep_file,
    }: &Varied,
    setting: &Setting,
) -> Result<String, Error> {
    let mut words = vec!["migsim".to_owned(), "run".to_owned()];
    if *is_sweep_file {
        // A sweep file is no experiment: what it and the flags say together is said key by key.
        let merged = layers(sweep, setting, None).merged()?;
        let own = merged.as_object().into_iter().flatten();
        // All scenarios are run, whichever the goal needs.
        let is_told = |key: &str| !FOR_PEOPLE.contains(&key) && key != "scenarios";
        let varied = varied_settings(sweep, setting);
        for (key, value) in own.filter(|(key, _)| is_told(key)) {
            for (path, value) in keys::leaves(value, key) {
                if !varied.iter().any(|one| one.key == path) {
                    words.extend(set(&path, value));
                }
            }
        }
        words.extend(varied.iter().flat_map(|one| set(&one.key, &one.value)));
        if let Some(seed) = sweep.seeds.as_ref().filter(|seeds| seeds.count() == 1) {
            words.extend(["--seed".to_owned(), label(&seed.get(0))]);
        }
    } else {
        let path = arguments.experiment.iter();
        words.extend(path.map(|path| path.display().to_string()));
        let varies = |name: &str| sweep.parameters.iter().any(|one| one.name == name);
        for one in given(&sweep.registry, arguments) {
            if one.spec.count() == 1 && !varies(one.name) {
                words.extend([one.flag.clone(), one.spec.text().to_owned()]);
            }
        }
        if sweep.base.get("scenarios").is_some() {
            words.extend(["--scenario", "all"].map(str::to_owned));
        }
        for load in arguments.load.iter().filter(|_| !varies("load")) {
            words.extend(["--load".to_owned(), load.clone()]);
        }
        let pairs = |flag: &'static str, pairs: &[(String, String)]| {
            let pair =
                |(key, value): &(String, String)| [flag.to_owned(), format!("{key}={value}")];
            pairs.iter().flat_map(pair).collect::<Vec<String>>()
        };
        words.extend(pairs("--net", &arguments.constants));
        words.extend(pairs("--set", &arguments.settings));
        let varied = varied_settings(sweep, setting);
        words.extend(varied.iter().flat_map(|one| set(&one.key, &one.value)));
    }
    if let Some(limit) = arguments.memory.memory_limit {
        words.extend(["--memory-limit".to_owned(), format!("{} B", limit.get())]);
    }
    let words: Vec<String> = words.iter().map(|word| plain_or_quoted(word)).collect();
    Ok(words.join(" "))
}

/// A setting as the words that give it.
pub(super) fn set(key: &str, value: &Value) -> [String; 2] {
    [
        "--set".to_owned(),
        format!("{key}={}", value_as_typed(value)),
    ]
}

/// A word that a shell reads as it is, in quotes only where it needs them.
pub(super) fn plain_or_quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./,=:+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        quoted(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_says_what_was_given_and_what_was_found() {
        let line = "migsim tune --app sw --n 25 --alpha 2,4 --load walk,on=Aquario+ICE --vary grid=[10,5],[5,10] --vary policy.migbsp.delta=0.0..1.0:0.5";
        let more = ["--set", "workload.image_bytes=1 MB"];
        let registry = Registry::standard();
        let typed: Vec<_> = line.split(' ').chain(more).map(Into::into).collect();
        let known = crate::cli::command::of_registry(&registry).unwrap();
        let arguments = crate::cli::parsed(known, &typed).unwrap();
        let crate::cli::args::Command::Tune(tune) = arguments.command else {
            unreachable!("the line says tune");
        };
        let varied = sweep_of(&registry, &tune).unwrap();
        let sweep = &varied.sweep;
        let names: Vec<&str> = sweep
            .parameters
            .iter()
            .map(|one| one.name.as_str())
            .collect();
        assert_eq!(names, ["alpha", "grid", "policy.migbsp.delta"]);
        let setting = vec![Some(json!(4)), Some(json!([10, 5])), Some(json!(0.5))];
        assert_eq!(
            command(&tune.varied.settings, &varied, &setting).unwrap(),
            "migsim run --app sw --n 25 --load walk,on=Aquario+ICE --set 'workload.image_bytes=1 MB' --set policy.migbsp.alpha=4 --set 'workload.grid=[10,5]' --set policy.migbsp.delta=0.5"
        );
    }
}
