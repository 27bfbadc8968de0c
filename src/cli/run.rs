//! `migsim run`: settings from file and flags, the runs, the table or the folder.

use std::io::Write;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde_json::{Value, json};

use super::args::{RunArguments, ScenarioChoice, SettingsArguments};
use super::bar::{Bar, with_bar};
use super::print;
use crate::document::Document;
use crate::error::{Error, Problem};
use crate::experiment::{Experiment, Flag, Layers, Limits, Progress, Results, ScenarioRun};
use crate::load::from_flag;
use crate::output::{ProcessTable, RunFolder, summary, table};

pub(super) fn run(arguments: &RunArguments, out: &mut dyn Write) -> Result<(), Error> {
    let experiment = Experiment::load(&layers(&arguments.settings)?, limits(&arguments.settings))?;
    if arguments.show {
        return print(out, &format!("{:#}\n", experiment.resolved));
    }
    let folder = arguments
        .out
        .as_deref()
        .map(RunFolder::create)
        .transpose()?;
    let threads = rayon::ThreadPoolBuilder::new()
        .num_threads(
            arguments
                .threads
                .unwrap_or(0)
                .min(experiment.config.scenarios.len()),
        )
        .build();
    let threads = threads.map_err(|error| {
        Problem::new(format!("cannot start threads: {error}")).source("--threads")
    })?;
    let progress = Progress::default();
    let total = experiment.workload.supersteps() as u64 * experiment.config.scenarios.len() as u64;
    let bar = Bar {
        total: Some(total),
        is_quiet: arguments.quiet,
    };
    let (results, parts) = with_bar(&bar, &progress, || {
        threads.install(|| run_all(arguments, &experiment, &progress, folder.as_ref()))
    })?;
    if let Some(folder) = &folder {
        folder.write(&experiment, &results, &parts)?;
    }
    if arguments.json {
        print(out, &format!("{:#}\n", summary(&experiment, &results)))
    } else if arguments.quiet {
        Ok(())
    } else {
        print(out, &table(&experiment, &results))
    }
}

/// Runs the scenarios; with `--processes` each writes its part of that table while it runs.
fn run_all(
    arguments: &RunArguments,
    experiment: &Experiment,
    progress: &Progress,
    folder: Option<&RunFolder>,
) -> Result<(Results, Vec<PathBuf>), Error> {
    let Some(folder) = folder.filter(|_| arguments.processes) else {
        return Ok((experiment.run(progress)?, Vec::new()));
    };
    let one = |&scenario: &crate::bsp::Scenario| -> Result<(ScenarioRun, PathBuf), Error> {
        let path = folder.temporary(&format!("processes-{}.csv", scenario.name()));
        let mut table = ProcessTable::create(&path, &experiment.platform.platform, scenario)?;
        let run = experiment.run_scenario(scenario, progress, &mut table)?;
        table.finish()?;
        Ok((run, path))
    };
    let done: Vec<Result<(ScenarioRun, PathBuf), Error>> =
        experiment.config.scenarios.par_iter().map(one).collect();
    let done = done.into_iter().collect::<Result<Vec<_>, _>>()?;
    let (runs, parts) = done.into_iter().unzip();
    Ok((Results { runs }, parts))
}

/// The settings of the file and the flags.
pub(super) fn layers(arguments: &SettingsArguments) -> Result<Layers, Error> {
    let mut layers = Layers::default();
    if let Some(path) = &arguments.experiment {
        layers.push_file(read_experiment(path)?);
    }
    let named = layers.get("policy.name");
    let named = arguments
        .policy
        .as_deref()
        .or(named.as_ref().and_then(Value::as_str));
    let policy = named.unwrap_or("migbsp");
    let generations = ["migbsp", "migbsp-2007"];
    let of_policies = [
        ("--alpha", arguments.alpha.is_some(), &generations[..]),
        ("--d", arguments.d.is_some(), &generations),
        ("--omega", arguments.omega.is_some(), &generations[..1]),
        ("--x", arguments.x.is_some(), &generations[..1]),
    ];
    let is_wrong =
        |(_, is_given, policies): &&(_, bool, &[&str])| *is_given && !policies.contains(&policy);
    if let Some((flag, _, policies)) = of_policies.iter().find(is_wrong) {
        let noun = if policies.len() == 1 {
            "policy"
        } else {
            "policies"
        };
        let policies = policies.join("` and `");
        let problem = Problem::new(format!(
            "`{flag}` is an option of the {noun} `{policies}`, not of `{policy}`"
        ));
        return Err(problem
            .source(*flag)
            .hint("leave it out, or choose `--policy migbsp`")
            .into());
    }
    let mut flags = flags(arguments, policy);
    flags.splice(0..0, load_flag(&arguments.load)?);
    layers.push_flags(flags);
    Ok(layers)
}

/// Reads an experiment file; files that it names are looked for beside it, too.
fn read_experiment(path: &Path) -> Result<Document, Error> {
    let name = path.display().to_string();
    if !path.exists()
        && let Some(document) = crate::experiment::built_in(&name)?
    {
        return Ok(document);
    }
    let text = std::fs::read_to_string(path).map_err(|error| {
        let problem =
            Problem::new(format!("cannot read the experiment: {error}")).source(name.clone());
        if error.kind() == std::io::ErrorKind::NotFound {
            problem.hint("name a file or a built-in experiment (`migsim list experiments`); `--show` prints one to start from")
        } else {
            problem
        }
    })?;
    let mut document = Document::parse(name, text)?;
    if document.value["schema"] == "migsim-run-1" && document.value["experiment"].is_object() {
        // The manifest of a run: its experiment is run again.
        let text = format!("{:#}", document.value["experiment"]);
        document = Document::parse(format!("{}, experiment", document.source), text)?;
    }
    let beside = |value: &mut Value| {
        let Some(named) = value.as_str().map(Path::new) else {
            return;
        };
        let candidate = path.parent().unwrap_or(Path::new("")).join(named);
        if named.is_relative() && !named.exists() && candidate.is_file() {
            *value = candidate.display().to_string().into();
        }
    };
    let loads = document.value["load"].as_array().map_or(0, Vec::len);
    let in_loads = (0..loads).map(|index| format!("/load/{index}/file"));
    let pointers = ["/platform", "/workload/trace", "/load/file"].map(str::to_owned);
    for pointer in pointers.into_iter().chain(in_loads) {
        document
            .value
            .pointer_mut(&pointer)
            .into_iter()
            .for_each(beside);
    }
    Ok(document)
}

/// The flags `--load` together.
fn load_flag(loads: &[String]) -> Result<Option<Flag>, Error> {
    if loads.is_empty() {
        return Ok(None);
    }
    let flag = format!("--load {}", loads.join(" --load "));
    let value = from_flag(loads).map_err(|message| {
        let problem = Problem::new(message).source(&flag);
        problem.hint("write a kind and its parameters, for example `--load ar,mean=0.3`")
    })?;
    Ok(Some(Flag {
        key: "load".into(),
        flag,
        value,
    }))
}

/// The flags that are set, as settings; those of a policy go to `policy`.
pub(super) fn flags(arguments: &SettingsArguments, policy: &str) -> Vec<Flag> {
    let mut flags = Vec::new();
    let mut add = |key: &str, flag: &str, value: Option<Value>| {
        if let Some(value) = value {
            let shown = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            flags.push(Flag {
                key: key.into(),
                flag: format!("{flag} {shown}"),
                value,
            });
        }
    };
    add(
        "platform",
        "--platform",
        arguments.platform.as_ref().map(|value| json!(value)),
    );
    add(
        "workload.app",
        "--app",
        arguments.app.as_ref().map(|value| json!(value)),
    );
    add("workload.n", "--n", arguments.n.map(|value| json!(value)));
    add(
        "workload.procs",
        "--procs",
        arguments.procs.map(|value| json!(value)),
    );
    add(
        "workload.grid",
        "--grid",
        arguments.grid.map(|value| json!(value)),
    );
    add(
        "workload.trace",
        "--trace",
        arguments.trace.as_ref().map(|value| json!(value)),
    );
    add(
        "mapping",
        "--mapping",
        arguments.mapping.as_ref().map(|value| json!(value)),
    );
    add("seed", "--seed", arguments.seed.map(|value| json!(value)));
    add(
        "policy.name",
        "--policy",
        arguments.policy.as_ref().map(|value| json!(value)),
    );
    add(
        "policy.replay.file",
        "--decisions",
        arguments.decisions.as_ref().map(|value| json!(value)),
    );
    add(
        &format!("policy.{policy}.alpha"),
        "--alpha",
        arguments.alpha.map(|value| json!(value)),
    );
    add(
        &format!("policy.{policy}.omega"),
        "--omega",
        arguments.omega.map(|value| json!(value)),
    );
    add(
        &format!("policy.{policy}.d"),
        "--d",
        arguments.d.map(|value| json!(value)),
    );
    add(
        &format!("policy.{policy}.x"),
        "--x",
        arguments.x.map(|value| json!(value)),
    );
    add(
        "network.model",
        "--network",
        arguments.network.as_ref().map(|value| json!(value)),
    );
    let scenarios = arguments.scenario.map(|choice| match choice {
        ScenarioChoice::I => json!(["i"]),
        ScenarioChoice::Ii => json!(["ii"]),
        ScenarioChoice::Iii => json!(["iii"]),
        ScenarioChoice::All => json!(["i", "ii", "iii"]),
    });
    add("scenarios", "--scenario", scenarios);
    if let Some([rows, columns]) = arguments.grid {
        let flag = format!("--grid {rows}x{columns}");
        flags.push(Flag {
            key: "workload.grid".into(),
            flag,
            value: json!([rows, columns]),
        });
    }
    for (key, value) in &arguments.constants {
        let flag = format!("--net {key}={value}");
        flags.push(Flag {
            key: format!("network.{}", key.to_ascii_lowercase().replace('-', "_")),
            flag,
            value: json!(value),
        });
    }
    for (key, value) in &arguments.settings {
        let flag = format!("--set {key}={value}");
        // A number, a switch or a list is JSON; anything else is text.
        let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
        flags.push(Flag {
            key: key.clone(),
            flag,
            value,
        });
    }
    flags
}

/// The memory that there is: the flag, or what the machine says is free.
pub(super) fn limits(arguments: &SettingsArguments) -> Limits {
    let free = || {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("MemAvailable:"))?;
        let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        Some(kibibytes * 1024.0)
    };
    // Where the machine does not say, a common size; the flag overrides it.
    let usual = 8e9;
    Limits {
        memory: Some(
            arguments
                .memory_limit
                .map_or_else(|| free().unwrap_or(usual), crate::units::Bytes::get),
        ),
    }
}
