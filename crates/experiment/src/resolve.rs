//! Resolves settings to an experiment that is ready to run: reads files, looks up names, checks every value.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::basis::{Remark, Whole, notes, unknown_platforms};
use super::by_workload;
use super::chosen::Chosen;
use super::config::{Basis, ExperimentConfig, NONE};
use super::idle_cores;
use super::layers::{Layers, is_within, lookup};
use super::plausibility::{self, Finding};
use super::seed::{self, Draws};
use super::shared::Shared;
use super::starts;
use crate::registry::Registry;
use migsim_base::document;
use migsim_base::error::{Error, Problem, Unknown, did_you_mean};
use migsim_base::memory::{self, Limits, Size};
use migsim_base::units::{HostId, ProcessId, Seconds};
use migsim_base::words::nearest;
use migsim_bsp::Scenario;
use migsim_engine::NetworkModel;
use migsim_platform::load::Loads;
use migsim_platform::{self as platform, Clusters, LoadedPlatform, Mapping, Platform};
use migsim_policies as policy;
use migsim_policies::explain::Narrator;
use migsim_workloads::{Workload, registry};

/// A file that a result depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Input {
    /// `platform`, `profile`, `clusters`, `load`, `workload`, `policy`, `mapping` or `library`.
    pub role: &'static str,
    /// Its name as given.
    pub source: String,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
}

/// An experiment that is ready to run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Experiment {
    /// The machine, with the load that others put on it, and its file.
    pub platform: Arc<LoadedPlatform>,
    /// The application.
    pub workload: Box<dyn Workload>,
    /// The first host of each process.
    pub placement: Vec<HostId>,
    /// The constants of the network.
    pub network: NetworkModel,
    /// The settings, complete.
    pub config: ExperimentConfig,
    /// The same as JSON, every default filled in: the place of record for a manifest. It is an experiment file, too.
    pub resolved: Value,
    /// The files that it depends on.
    pub inputs: Vec<Input>,
    /// The built-in experiment that was filled in.
    pub basis: Basis,
    /// The remark about the built-in experiment, if there is one.
    pub remark: Option<Remark>,
    /// The registry that gives its names a meaning.
    pub registry: Registry,
    /// Notes for the user about the application, its load and its mapping, a sentence each.
    pub said: Vec<String>,
    /// The note about a seed that was chosen and changes nothing.
    vain_seed: Option<String>,
    draws: Draws,
    loads: Loads,
    pub(super) policy: Chosen,
}

impl Experiment {
    /// Makes an experiment from `layers` (a file, flags), on top of the built-in experiment of the application they name, or of neutral
    /// settings on a platform that this was not fitted to ([`Self::basis`] and [`Self::notes`] say which).
    ///
    /// # Errors
    /// Everything that is wrong with the settings and the files they name.
    pub fn load(layers: &Layers, limits: Limits) -> Result<Self, Error> {
        Self::load_with(&Registry::standard(), layers, limits)
    }

    /// The same with the policies, applications and loads of `registry`.
    ///
    /// # Errors
    /// As [`Self::load`]; or the registry is at fault ([`Registry::check`]).
    pub fn load_with(registry: &Registry, layers: &Layers, limits: Limits) -> Result<Self, Error> {
        registry.check()?;
        Self::load_shared(registry, layers, limits, &Shared::default())
    }

    /// The same, with what other experiments have read already.
    ///
    /// # Errors
    /// As [`Self::load_with`], but for those of the registry.
    pub fn load_shared(
        registry: &Registry,
        layers: &Layers,
        limits: Limits,
        shared: &Shared,
    ) -> Result<Self, Error> {
        let load = || {
            let mut whole = Whole::new(registry, layers, limits, shared)?;
            let made = Self::from_layers(registry, &mut whole, limits, shared);
            made.map_err(|error| whole.layers.locate(error))
        };
        load().map_err(|error| {
            let all = "`migsim schema experiment` prints all keys, with their units and ranges";
            let error = error.map(|problem| meant(registry, problem));
            error.listing(all).hinting(all)
        })
    }

    /// Whether the key `seed` changes anything in it. If not, the runs for all seeds are equal.
    pub fn uses_seed(&self) -> bool {
        self.draws.uses_seed()
    }

    fn from_layers(
        registry: &Registry,
        whole: &mut Whole,
        limits: Limits,
        shared: &Shared,
    ) -> Result<Self, Error> {
        let mut config: ExperimentConfig = document::from_value(&whole.layers.merged()?, "")?;
        let app = registry.workloads().find(app_name(&config.workload)?)?;
        let mut keys = Value::Object(config.workload.clone());
        check_processes(app, &config.workload, limits)?;
        // Whatever is wrong in several places is reported together.
        let mut problems: Vec<Problem> = unknown_platforms(&config).collect();
        let opened = whole.platform(&config.platform, limits, shared);
        let opened = opened.map_err(|error| name_key(error, "platform"));
        let clustered = opened.and_then(|platform| match &config.clusters {
            None => Ok(platform),
            Some(clusters) => shared
                .clustered(&config.platform, &platform, clusters)
                .map_err(|error| name_key(error, "clusters")),
        });
        let platform = keep(clustered, &mut problems);
        if let Some(platform) = platform
            .as_ref()
            .filter(|platform| !platform.settings.is_empty())
        {
            whole.take_from_platform(&config.platform, &platform.settings);
            config = document::from_value(&whole.layers.merged()?, "")?;
        }
        let network = keep(network(&config.network), &mut problems);
        let policy = keep(Chosen::of(registry, &config.policy), &mut problems);
        let loads = keep(
            Loads::read(registry.loads(), config.load.as_ref()),
            &mut problems,
        );
        let shares_seed = seed::share(whole, &config, app, &mut keys);
        let built = keep(app.build(&keys), &mut problems);
        let (Some(mut platform), Some(network), Some(chosen), Some(loads), Some(built)) =
            (platform, network, policy, loads, built)
        else {
            return Err(Error::Input(problems));
        };
        if !problems.is_empty() {
            return Err(Error::Input(problems));
        }
        let (basis, remark) = whole.basis(&config, &platform);
        // Before a load changes its speeds.
        let mut findings = plausibility::of_platform(&platform.platform, config.clusters.is_some());
        if !loads.is_empty() {
            platform = shared.under_load(&platform, &loads, config.seed)?;
        }
        if !built.settings.is_empty() {
            let name = built.inputs.first().map_or("workload", |file| &file.0);
            whole.take_in(name, &built.settings);
            config = document::from_value(&whole.layers.merged()?, "")?;
        }
        starts::fill_in(&mut config, &platform);
        let layers = &whole.layers;
        let pairs = built.workload.processes() as f64 * platform.platform.clusters.len() as f64;
        let policy = chosen.build()?;
        let held = policy.memory(pairs, built.workload.supersteps() as f64);
        let draws = Draws {
            beside: policy.uses_seed() || loads.uses_seed(),
            of_workload: built.workload.uses_seed(),
            is_shared: shares_seed,
        };
        check_size(
            (&config, app, held),
            built.workload.as_ref(),
            &platform,
            limits,
        )?;
        let is_mapped =
            whole.gives("mapping") || built.workload.initial_host(ProcessId(0)).is_none();
        let placement = place(&config, is_mapped, built.workload.as_ref(), &platform);
        let placement = placement.map_err(|error| match (&basis.is_calibrated, error) {
            (Some(false), Error::Input(problems)) => mapped_elsewhere(problems, &basis),
            (_, error) => error,
        })?;
        check_memory(&placement, built.workload.as_ref(), &platform)?;
        check_moves(built.workload.as_ref(), &platform)?;
        if config.scenarios.is_empty() {
            return Err(Problem::new("no scenario is chosen")
                .key("scenarios")
                .hint("choose from i, ii, iii")
                .into());
        }
        if shares_seed {
            seed::leave_out(&mut config);
        }
        // Every key is there, so nothing is to be taken from below.
        config.extends = Some(NONE.into());
        config.basis = Some(basis.clone());
        config.scenarios.sort_unstable();
        config.scenarios.dedup();
        // A value that was replaced has no longer the origin of the one below it.
        for (key, origin) in &mut config.origins {
            let by = layers.overrides(key);
            if let Some(by) = by.or_else(|| layers.replaces_preset(key)) {
                *origin = format!("stated: given by {by}");
            }
        }
        if let Some(library) = whole.library() {
            let own = |key: &str| layers.is_of_library(key, &library.settings);
            let origins = library.origins.iter().filter(|(key, _)| own(key));
            let origins = origins.map(|(key, origin)| (key.clone(), origin.clone()));
            config.origins.extend(origins);
        }
        if !is_mapped {
            config.origins.remove("mapping");
        }
        tell_origins_of_load(&mut config.origins, layers, loads.resolved());
        let mapping = config.mapping();
        let table = mapping.file().filter(|_| is_mapped);
        let mut inputs = inputs(&platform, &loads, &built.inputs, &chosen, table)?;
        let file = whole.library().and_then(|library| library.file.clone());
        inputs.extend(file.map(|(source, sha256)| Input {
            role: "library",
            source,
            sha256,
        }));
        let clusters = config.clusters.as_deref().map(str::parse::<Clusters>);
        if let Some(file) = clusters
            .and_then(Result::ok)
            .as_ref()
            .and_then(Clusters::file)
        {
            inputs.push(Input {
                role: "clusters",
                source: file.to_owned(),
                sha256: document::sha256(&document::read_bytes(file.as_ref())?),
            });
        }
        let vain_seed = draws.note(whole, config.seed);
        let mut resolved = resolved((&mut config, draws), network, &loads, app, &chosen)?;
        if let Some(keys) = resolved.as_object_mut().filter(|_| !is_mapped) {
            keys.remove("mapping"); // the workload itself says where its processes start
        }
        // What was set back to a default that is not written has no value whose origin could be told.
        let mut back: Vec<String> = config.origins.keys().cloned().collect();
        let is_replaced =
            |key: &String| layers.overrides(key).is_some() || layers.replaces_preset(key).is_some();
        back.retain(|key| lookup(&resolved, key).is_none() && is_replaced(key));
        for key in back {
            config.origins.remove(&key);
            if let Some(told) = resolved["origins"].as_object_mut() {
                told.shift_remove(&key);
            }
        }
        let problems = origin_problems(&config.origins, &resolved);
        if !problems.is_empty() {
            return Err(Error::Input(problems));
        }
        let mut said =
            by_workload::notes(&config, is_mapped, built.workload.as_ref(), &chosen.entry);
        said.extend(built.notes);
        said.extend(loads.notes());
        // Tasks share the cores of their rank, as the recorded ones did.
        if is_mapped && built.workload.labels().is_none() {
            said.extend(idle_cores::note(&platform.platform, &placement, &mapping));
        }
        findings.extend(plausibility::of_settings(plausibility::Given {
            policy: &chosen.entry,
            options: &resolved["policy"][chosen.entry.name],
            loads: &loads,
            workload: built.workload.as_ref(),
            is_read: !built.inputs.is_empty(),
            platform: &platform.platform,
            scenarios: &config.scenarios,
        }));
        said.extend(findings.iter().map(Finding::note));
        config.network = resolved["network"].as_object().cloned().unwrap_or_default();
        Ok(Self {
            platform,
            workload: built.workload,
            placement,
            network,
            config,
            resolved,
            inputs,
            basis,
            remark,
            registry: registry.clone(),
            said,
            vain_seed,
            draws,
            loads,
            policy: chosen,
        })
    }

    /// Notes for its user before believing its results, a sentence each: about the settings that were filled in (neutral ones, or fitted
    /// to other platforms), the application, its load, its mapping and its seed, and values that can hardly be meant.
    pub fn notes(&self) -> Vec<String> {
        let said = self.said.iter().cloned();
        let of_platform = self.platform.notes.iter().cloned();
        let remarks = notes(self.remark.clone()).into_iter();
        let of_seed = self.vain_seed.iter().cloned();
        (remarks.chain(of_platform).chain(said).chain(of_seed)).collect()
    }

    /// The readings of the policy's papers on which results depend, a few words each. There are none on a platform that the settings were
    /// fitted to, where the page of the paper tells them, nor if the policy is never asked.
    pub fn readings(&self) -> Vec<String> {
        let is_asked = self.config.scenarios.iter().any(|one| *one != Scenario::I);
        if self.basis.is_calibrated == Some(true) || !is_asked {
            return Vec::new();
        }
        self.policy.readings().unwrap_or_default() // its options have been read before
    }

    /// The name of the application.
    pub fn app(&self) -> &str {
        self.config
            .workload
            .get("app")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The background loads of which it is known when they first take anything: a name for each, and the time.
    pub(super) fn load_beginnings(&self) -> impl Iterator<Item = (String, Seconds)> {
        self.loads.beginnings()
    }

    /// Whether its background load depends on the seed.
    pub fn load_uses_seed(&self) -> bool {
        self.loads.uses_seed()
    }

    /// The narrator of the policy's calls.
    pub fn narrator(&self) -> &'static dyn Narrator {
        self.policy.entry.narrator()
    }

    /// The name of the policy.
    pub fn policy_name(&self) -> &'static str {
        self.policy.entry.name
    }
}

/// The value, or `None` after adding what is wrong to `problems`.
fn keep<T>(result: Result<T, Error>, problems: &mut Vec<Problem>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Error::Input(found)) => {
            problems.extend(found);
            None
        }
        Err(Error::Run(problem) | Error::Output(problem)) => {
            problems.push(problem);
            None
        }
        Err(Error::Broken(broken)) => {
            problems.push(broken.problem);
            None
        }
    }
}

fn app_name(workload: &Map<String, Value>) -> Result<&str, Error> {
    let wrong = || Error::from(Problem::new("the application is not a name").key("workload.app"));
    workload
        .get("app")
        .and_then(Value::as_str)
        .ok_or_else(wrong)
}

/// Gives the problems of an error that have no place the key that named the file.
fn name_key(error: Error, key: &str) -> Error {
    error.map_nowhere(|problem| problem.key(key))
}

/// The network model of the key `network`.
pub(super) fn network(keys: &Map<String, Value>) -> Result<NetworkModel, Error> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        other => other.to_string(),
    };
    let preset = keys.get("model").map_or_else(|| "cm02".to_owned(), &text);
    let mut model =
        NetworkModel::preset(&preset).map_err(|problem| problem.key("network.model"))?;
    let mut problems = Vec::new();
    for (key, value) in keys.iter().filter(|(key, _)| *key != "model") {
        if let Err(problem) = model.set(key, &text(value)) {
            problems.push(problem.key(format!("network.{key}")));
        }
    }
    if problems.is_empty() {
        Ok(model)
    } else {
        Err(Error::Input(problems))
    }
}

/// The first hosts of the processes: those of the workload, or by the mapping.
fn place(
    config: &ExperimentConfig,
    is_mapped: bool,
    workload: &dyn Workload,
    loaded: &LoadedPlatform,
) -> Result<Vec<HostId>, Error> {
    let platform = &loaded.platform;
    let processes = workload.processes();
    if is_mapped {
        return placed_by(&config.mapping(), workload, platform);
    }
    let by_name: BTreeMap<&str, usize> = platform
        .hosts
        .iter()
        .enumerate()
        .map(|(index, host)| (host.name.as_str(), index))
        .collect();
    let mut placement = Vec::with_capacity(processes);
    for process in 0..processes {
        let name = workload
            .initial_host(ProcessId::from_index(process))
            .unwrap_or_default();
        let Some(&index) = by_name.get(name) else {
            let message = format!(
                "process {} of the workload starts on the unknown host `{name}`",
                process + 1
            );
            return Err(Problem::new(message)
                .names_no("host", name)
                .source(&loaded.source)
                .known("hosts", by_name.keys().copied())
                .into());
        };
        placement.push(HostId::from_index(index));
    }
    Ok(placement)
}

/// The first hosts of the processes by a mapping; of a workload that has ranks, it places these.
pub(super) fn placed_by(
    mapping: &Mapping,
    workload: &dyn Workload,
    platform: &Platform,
) -> Result<Vec<HostId>, Error> {
    let processes = workload.processes();
    let ranks: Option<Vec<usize>> = (0..processes)
        .map(|process| workload.initial_rank(ProcessId::from_index(process)))
        .collect();
    let placed = workload.labels().map_or(processes, |labels| labels.ranks);
    let hosts = mapping.place(platform, placed);
    let hosts = hosts.map_err(|error| name_key(error, "mapping"))?;
    Ok(match ranks {
        Some(ranks) => ranks.into_iter().map(|rank| hosts[rank]).collect(),
        None => hosts,
    })
}

/// Says of a mapping that was made for another platform how to do without it, in one problem for all its hosts.
fn mapped_elsewhere(mut problems: Vec<Problem>, basis: &Basis) -> Error {
    problems.truncate(1);
    let hint = format!(
        "use `--mapping contiguous`: the mapping of the experiment `{}` is for other platforms",
        basis.experiment
    );
    Error::Input(problems).map(|problem| problem.hint(hint.clone()))
}

/// Whether the memory of the hosts holds the processes that start there.
pub(super) fn fits_memory(
    placement: &[HostId],
    workload: &dyn Workload,
    loaded: &LoadedPlatform,
) -> bool {
    check_memory(placement, workload, loaded).is_ok()
}

/// The memory of the hosts must hold the processes that start there.
fn check_memory(
    placement: &[HostId],
    workload: &dyn Workload,
    loaded: &LoadedPlatform,
) -> Result<(), Error> {
    let platform = &loaded.platform;
    if platform.hosts.iter().all(|host| host.memory.is_none()) {
        return Ok(());
    }
    let mut needed = vec![migsim_base::units::Bytes::default(); platform.hosts.len()];
    for (process, host) in placement.iter().enumerate() {
        needed[host.index()] =
            needed[host.index()] + workload.memory(ProcessId::from_index(process));
    }
    let full = platform
        .hosts
        .iter()
        .zip(&needed)
        .find(|(host, needed)| host.memory.is_some_and(|memory| **needed > memory));
    let Some((host, needed)) = full else {
        return Ok(());
    };
    let memory = host
        .memory
        .map(|memory| memory.to_string())
        .unwrap_or_default();
    let message = format!(
        "host `{}` has {memory} of memory, and the processes that start there need {needed}",
        host.name
    );
    Err(Problem::new(message)
        .source(&loaded.source)
        .hint("spread the processes with `mapping`, or use fewer or smaller ones")
        .into())
}

/// The hosts of prescribed moves must exist.
fn check_moves(workload: &dyn Workload, loaded: &LoadedPlatform) -> Result<(), Error> {
    if !workload.prescribes_moves() {
        return Ok(());
    }
    for superstep in 0..workload.supersteps() {
        for wanted in workload.prescribed_moves(superstep) {
            if loaded.platform.host_named(&wanted.to).is_none() {
                let message = format!(
                    "process {} of the workload moves to the unknown host `{}` after superstep {}",
                    u64::from(wanted.process.0) + 1,
                    wanted.to,
                    superstep + 1
                );
                let names = loaded.platform.hosts.iter().map(|host| host.name.as_str());
                return Err(Problem::new(message)
                    .source(&loaded.source)
                    .known("hosts", names)
                    .into());
            }
        }
    }
    Ok(())
}

/// So many processes are for the application to make, or to refuse by itself.
const MANY_PROCESSES: u64 = 10_000_000;

/// Tells what more would need, before the application makes anything for each of them.
fn check_processes(
    app: &registry::Entry,
    workload: &Map<String, Value>,
    limits: Limits,
) -> Result<(), Problem> {
    let asked = app.processes(workload);
    let Some((key, processes)) = asked.filter(|(_, processes)| *processes > MANY_PROCESSES) else {
        return Ok(());
    };
    let needed = memory::least(processes as f64);
    let checked = limits.check("the experiment", needed, format!("{processes} processes"));
    checked.map_err(|problem| problem.key(format!("workload.{key}")))
}

/// Refuses what cannot fit in memory, before anything is allocated for it.
fn check_size(
    (config, app, policy): (&ExperimentConfig, &registry::Entry, f64),
    workload: &dyn Workload,
    loaded: &LoadedPlatform,
    limits: Limits,
) -> Result<(), Problem> {
    let platform = &loaded.platform;
    let extent = workload.extent();
    let loads = platform.hosts.iter().filter(|host| host.varies()).count()
        + platform.links.iter().filter(|link| link.varies()).count();
    let size = Size {
        processes: workload.processes() as f64,
        supersteps: workload.supersteps() as f64,
        messages: extent.messages,
        repeats: workload.supersteps() > 1 && workload.repeats(1),
        application: extent.bytes,
        clusters: platform.clusters.len() as f64,
        hosts: platform.hosts.len() as f64,
        platform: platform::memory_of(platform),
        loads: loads as f64,
        scenarios: config.scenarios.len(),
        has_policy: config
            .scenarios
            .iter()
            .any(|scenario| *scenario != Scenario::I),
        policy,
    };
    let details = format!(
        "processes: {}, supersteps: {}, messages in one of them: {}",
        size.processes, size.supersteps, size.messages
    );
    let key = app.grows_with(&config.workload, size.processes >= size.supersteps);
    limits
        .check("the experiment", size.needed(limits), details)
        .map_err(|problem| problem.key(format!("workload.{key}")))
}

/// Notes where each key of the load comes from, as `origins` does for calibrated values: who gave it, or that it is a default.
fn tell_origins_of_load(
    origins: &mut BTreeMap<String, String>,
    layers: &Layers,
    resolved: Option<Value>,
) {
    let load = resolved.unwrap_or_default();
    let specs: Vec<(String, &Value)> = match &load {
        Value::Array(list) => (list.iter().enumerate())
            .map(|(index, spec)| (format!("load[{index}]"), spec))
            .collect(),
        one => vec![("load".into(), one)],
    };
    // What is told of another load, below this one, no longer holds.
    origins.retain(|key, _| !is_within(key, "load"));
    for (prefix, spec) in specs {
        for key in spec.as_object().into_iter().flat_map(Map::keys) {
            let key = format!("{prefix}.{key}");
            let origin = layers.origin_in_load(&key);
            let usual = || format!("inferred: default of the load {}", spec["kind"]);
            origins.insert(key, origin.unwrap_or_else(usual));
        }
    }
}

/// Suggests the whole key of an option of a policy where the option alone, or nearly, was given as a key of the experiment.
fn meant(registry: &Registry, problem: Problem) -> Problem {
    let is_at_top = |name: &str| problem.location.key.as_deref() == Some(name);
    let name = match problem.unknown.as_deref() {
        Some(Unknown::Key(name)) if is_at_top(name) => name.clone(),
        _ => return problem,
    };
    let hint = problem.hint.as_deref().unwrap_or_default().to_owned();
    if hint.starts_with("did you mean") {
        return problem;
    }
    let options = |entry: &policy::Entry| {
        let options = entry.resolve(&json!({})).unwrap_or_default();
        let keys = options.as_object().into_iter().flatten();
        let keys = keys.map(|(key, _)| (key.clone(), format!("policy.{}.{key}", entry.name)));
        keys.collect::<Vec<_>>()
    };
    let all: Vec<(String, String)> = registry.policies().iter().flat_map(options).collect();
    let is_it = |option: &str| option == name;
    let long = all
        .iter()
        .map(|(option, _)| option.as_str())
        .filter(|option| option.len() > 3);
    let near = nearest(&name, long);
    let found = all
        .iter()
        .find(|(option, _)| is_it(option))
        .or_else(|| all.iter().find(|(option, _)| Some(option.as_str()) == near));
    match found {
        Some((_, key)) => problem.hint(format!("{} {hint}", did_you_mean(key))),
        None => problem,
    }
}

fn inputs(
    platform: &LoadedPlatform,
    loads: &Loads,
    workload: &[(String, String)],
    policy: &Chosen,
    mapping: Option<&str>,
) -> Result<Vec<Input>, Error> {
    let input = |role, (source, sha256): (&str, &str)| Input {
        role,
        source: source.to_owned(),
        sha256: sha256.to_owned(),
    };
    let mut all = vec![input("platform", (&platform.source, &platform.sha256))];
    all.extend(
        platform
            .profile_files
            .iter()
            .map(|file| input("profile", (&file.0, &file.1))),
    );
    all.extend(loads.files().map(|file| input("load", file)));
    all.extend(
        workload
            .iter()
            .map(|file| input("workload", (&file.0, &file.1))),
    );
    let of_policy = policy.entry.files.iter();
    let of_policy =
        of_policy.filter_map(|key| Some(("policy", policy.options.get(*key)?.as_str()?)));
    for (role, file) in of_policy.chain(mapping.map(|file| ("mapping", file))) {
        let bytes = document::read_bytes(file.as_ref())?;
        all.push(input(role, (file, &document::sha256(&bytes))));
    }
    Ok(all)
}

/// The settings as JSON, every default filled in.
fn resolved(
    (config, draws): (&mut ExperimentConfig, Draws),
    network: NetworkModel,
    loads: &Loads,
    app: &registry::Entry,
    policy: &Chosen,
) -> Result<Value, Error> {
    let failed = |error: serde_json::Error| {
        Error::from(Problem::new(format!(
            "the settings cannot be written: {error}"
        )))
    };
    // What is written anew below is not copied first.
    let given = [
        &mut config.workload,
        &mut config.network,
        &mut config.policy,
    ]
    .map(std::mem::take);
    let written = serde_json::to_value(&*config).map_err(failed);
    [config.workload, config.network, config.policy] = given;
    let mut value = written?;
    let mut workload = Map::from_iter([("app".to_owned(), app.name.into())]);
    let keys = Value::Object(config.workload.clone());
    if let Value::Object(keys) = app.resolve(&keys)? {
        workload.extend(keys);
    }
    if draws.is_shared {
        workload.shift_remove(seed::KEY);
    }
    value["workload"] = workload.into();
    let preset = config.network.get("model").and_then(Value::as_str);
    let mut constants = Map::from_iter([("model".to_owned(), preset.unwrap_or("cm02").into())]);
    if let Value::Object(rest) = serde_json::to_value(network).map_err(failed)? {
        constants.extend(rest);
    }
    value["network"] = constants.into();
    if let Some(load) = loads.resolved() {
        value["load"] = load;
    }
    value["policy"] = policy.resolved()?;
    Ok(value)
}

/// Origins must belong to values that exist and say of which kind they are. Those of other policies' options do not count.
fn origin_problems(origins: &BTreeMap<String, String>, resolved: &Value) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (key, text) in origins {
        let of_other_policy = key.starts_with("policy.") && lookup(resolved, key).is_none();
        if lookup(resolved, key).is_none() && !of_other_policy {
            problems.push(
                Problem::new(format!(
                    "there is no value at `{key}` whose origin could be told"
                ))
                .key("origins"),
            );
        }
        if !["stated", "inferred", "fitted"]
            .iter()
            .any(|kind| text.starts_with(kind))
        {
            let message =
                format!("the origin of `{key}` does not begin with stated, inferred or fitted");
            problems.push(Problem::new(message).key("origins"));
        }
    }
    problems
}
