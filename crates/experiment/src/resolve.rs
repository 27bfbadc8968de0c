//! Creates an experiment that is ready to run from settings: reads the input files, looks up the names of policies, applications
//! and loads, and checks every value.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    basis::{BasisRemark, CompleteSettings, calibrated_platform_problems, merge_remarks},
    by_workload,
    checked::CheckedWorkload,
    config::{self, Basis, EXTENDS_NOTHING, ExperimentConfig},
    former, idle_cores, origins,
    placement::initial_placement,
    plausibility::{self, Finding},
    policy_choice::{DECISION_KEY, PolicyChoice, read_decision_cost},
    recorded_library, recorded_start,
    seed::{self, RandomDraws},
    settings::{LIBRARY_KEY, Layers},
    shared::SharedInputs,
    size, starts,
};
use crate::registry::Registry;
use migsim_base::{
    document,
    error::{Error, Problem, Result, UnknownName, did_you_mean},
    memory::Limits,
    setting::KeySetting,
    units::{BytesPerSecond, HostId, ProcessId, Seconds},
    words::most_similar_name,
};
use migsim_bsp::Scenario;
use migsim_engine::NetworkModel;
use migsim_platform::{HostGrouping, LoadedPlatform, load::Loads};
use migsim_policies as policy;
use migsim_policies::explain::Narrator;
use migsim_workloads::{Workload, registry};

/// An input file on which the results of an experiment depend.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputFile {
    /// The role of the file: `platform`, `profile`, `clusters`, `load`, `workload`, `policy`, `mapping` or `library`.
    pub role: &'static str,
    /// The name of the file, as it is written in the settings.
    pub name: String,
    /// The SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
}

/// An experiment that is ready to run, with all files read and all settings checked.
#[derive(Debug)]
#[non_exhaustive]
pub struct Experiment {
    /// The platform with its background load, and the file that describes it.
    pub platform: Arc<LoadedPlatform>,
    /// The application whose supersteps are simulated.
    pub workload: Box<dyn Workload>,
    /// The host of each process at the start.
    pub placement: Vec<HostId>,
    /// The network model with its constants.
    pub network: NetworkModel,
    /// The complete settings. The fields `runtime` and `costs` already contain the changes that the key `changes` lists.
    pub config: ExperimentConfig,
    /// The complete settings as JSON, with a value for every option, but without the changes that the key `changes` lists. The
    /// manifest of a run contains these settings, and they can be run as an experiment file.
    pub resolved_settings: Value,
    /// The input files on which the results depend.
    pub input_files: Vec<InputFile>,
    /// The built-in experiment that completed the settings.
    pub built_in_basis: Basis,
    /// The remark for the user about built-in settings whose constants were not fitted to this platform: those of the built-in
    /// experiment, or those of the application's experiment that neutral settings replaced. Otherwise `None`.
    pub basis_remark: Option<BasisRemark>,
    /// The registry in which the names in the settings were looked up.
    pub registry: Registry,
    /// Notes for the user, one sentence each, about settings of former versions, the library, the application, its background
    /// load and the mapping.
    pub setting_notes: Vec<String>,
    /// Whether the application is a program whose supersteps were recorded in a trace.
    pub is_recorded_program: bool,
    /// The note for the user that the seed which the user chose has no effect; `None` if the seed has an effect or if the user
    /// chose no seed.
    unused_seed_note: Option<String>,
    /// Whether policies leave the terms of their decisions out of the records of calls.
    pub omits_terms: bool,
    random_draws: RandomDraws,
    /// The background loads as the settings describe them, before they reduce the capacities of the platform.
    pub(super) loads: Loads,
    /// The chosen policy, with its trigger.
    pub(super) policy: PolicyChoice,
}

impl Experiment {
    /// Loads an experiment from the settings in `layers` (files and flags); the built-in experiment of its application completes
    /// these settings.
    ///
    /// If that built-in experiment was not fitted to the platform, neutral settings complete the settings instead;
    /// [`Self::built_in_basis`] and [`Self::notes`] state which settings were used.
    ///
    /// # Errors
    /// All problems of the settings and of the files that they name.
    pub fn load(layers: &Layers, limits: Limits) -> Result<Self> {
        Self::load_with(&Registry::standard(), layers, limits)
    }

    /// Loads an experiment with the policies, applications and loads of `registry`.
    ///
    /// # Errors
    /// As [`Self::load`]; or an entry of the registry cannot be used ([`Registry::check`]).
    pub fn load_with(registry: &Registry, layers: &Layers, limits: Limits) -> Result<Self> {
        registry.check()?;
        Self::load_shared(registry, layers, limits, &SharedInputs::default())
    }

    /// Loads an experiment; files that were already read through `shared` for another experiment are not read again.
    ///
    /// # Errors
    /// As [`Self::load_with`], except the problems of the registry.
    pub fn load_shared(
        registry: &Registry,
        layers: &Layers,
        limits: Limits,
        shared: &SharedInputs,
    ) -> Result<Self> {
        let whole = CompleteSettings::new(registry, layers, limits, shared);
        whole
            .and_then(|mut whole| {
                Self::from_complete_settings(registry, &mut whole, limits, shared)
                    .map_err(|error| whole.merged_layers.add_locations_to_problems(error))
            })
            .map_err(|error| {
                let all = "list all keys, with their units and ranges: `migsim schema experiment`";
                error
                    .map_problems(|problem| add_policy_option_hint(registry, problem))
                    .with_key_reference(all)
                    .with_default_hint(all)
            })
    }

    /// Returns whether the key `seed` has an effect. If not, the runs for all seeds are equal.
    pub fn uses_seed(&self) -> bool {
        self.random_draws.uses_seed()
    }

    /// Loads an experiment from complete settings: reads and checks all its parts, and determines the initial placement, the
    /// notes and the input files.
    fn from_complete_settings(
        registry: &Registry,
        whole: &mut CompleteSettings,
        limits: Limits,
        shared: &SharedInputs,
    ) -> Result<Self> {
        let mut parts = ExperimentParts::read_parts(registry, whole, limits, shared)?;
        let (basis, remark) = whole.basis_and_remark(&parts.config, &parts.platform);
        // Platform rules are checked here, before a load changes speeds.
        let findings = plausibility::find_implausible_platform_values(
            &parts.platform.platform,
            parts.config.clusters.is_some(),
        );
        let unloaded = Arc::clone(&parts.platform);
        if !parts.loads.is_empty() {
            parts.platform =
                shared.get_or_apply_load(&parts.platform, &parts.loads, parts.config.seed)?;
        }
        let of_library = parts.insert_workload_settings(whole)?;
        let noise = parts.config.runtime.noise;
        parts.workload.add_noise(noise, parts.config.seed)?;
        if parts.config.runtime.supersteps > 0 {
            parts.workload.most = parts.config.runtime.supersteps as usize;
        }
        parts.platform = add_missing_loopbacks(parts.platform, &parts.network);
        let is_recorded = !parts.workload.built.recording.is_empty();
        starts::set_default_mapping(&mut parts.config, &parts.platform, is_recorded);
        let draws = parts.check_memory_and_find_random_draws(limits)?;
        let is_mapped =
            whole.is_set_by_user("mapping") || parts.workload.initial_host(ProcessId(0)).is_none();
        let mut placement = initial_placement(
            (&parts.config, &basis),
            is_mapped,
            &parts.workload,
            &parts.platform,
        )?;
        let resolved = parts.resolve_settings(&basis, is_mapped, whole, registry)?;
        let input_files = parts.list_input_files(is_mapped, whole)?;
        let setting_notes = former::former_setting_notes(&whole.merged_layers)
            .into_iter()
            .chain(of_library)
            .chain(parts.user_notes(&resolved, is_mapped, &placement, findings))
            .collect();
        // The resolved settings stay without the changes, so that a run of these settings applies them once only.
        if !parts.config.changes.is_empty() {
            parts.apply_changes(&mut placement, &unloaded)?;
        }
        Ok(Self {
            unused_seed_note: draws.note_on_unused_seed(whole, parts.config.seed),
            input_files,
            setting_notes,
            platform: parts.platform,
            workload: Box::new(parts.workload),
            placement,
            network: parts.network,
            config: parts.config,
            resolved_settings: resolved,
            built_in_basis: basis,
            basis_remark: remark,
            registry: registry.clone(),
            is_recorded_program: is_recorded,
            omits_terms: limits.omits_terms,
            random_draws: draws,
            loads: parts.loads,
            policy: parts.policy,
        })
    }

    /// Returns notes that the user should read before trusting the results, one sentence each.
    ///
    /// They concern the built-in settings in use, the application, its load, its mapping and its seed, and implausible values.
    pub fn notes(&self) -> Vec<String> {
        merge_remarks(self.basis_remark.clone())
            .into_iter()
            .chain(self.platform.user_notes.iter().cloned())
            .chain(self.setting_notes.iter().cloned())
            .chain(self.unused_seed_note.iter().cloned())
            .collect()
    }

    /// Lists the rules that the papers of the policy leave open and on whose interpretation the results depend, each in a few
    /// words.
    ///
    /// The list is empty on a platform to which the settings were fitted, because the page of the paper in the user manual states
    /// the interpretations. The list is also empty if the policy is never called.
    pub fn list_open_interpretations(&self) -> Vec<String> {
        let is_asked = self.config.scenarios.iter().any(|one| *one != Scenario::I);
        if self.built_in_basis.is_calibrated == Some(true) || !is_asked {
            return Vec::new();
        }
        self.policy.list_open_interpretations().unwrap_or_default() // its options have been read before
    }

    /// Returns all settings on which the results depend, as JSON, with the SHA-256 of the input files instead of their names.
    pub fn identifying_settings(&self) -> Value {
        let mut settings = self.resolved_settings.clone();
        config::remove_informative_keys(&mut settings);
        let names = self.input_files.iter().map(|input| &*input.name);
        config::remove_input_file_names(&self.registry, &mut settings, &names);
        settings["inputs"] = self
            .input_files
            .iter()
            .map(|input| json!([input.role, input.sha256]))
            .collect();
        settings
    }

    /// Returns the name of the application.
    pub fn application_name(&self) -> &str {
        self.config
            .workload
            .get("app")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// Lists the names of the background loads and the times at which they begin, for each load whose beginning is known.
    pub(super) fn background_load_start_times(&self) -> impl Iterator<Item = (String, Seconds)> {
        self.loads.first_positive_times()
    }

    /// Returns the narrator, which describes the rescheduling calls of the policy in sentences.
    pub fn narrator(&self) -> &'static dyn Narrator {
        self.policy.registry_entry.narrator()
    }

    /// Returns the name of the policy.
    pub fn policy_name(&self) -> &'static str {
        self.policy.registry_entry.name
    }
}

/// Returns an error if a file of settings names the external program that the policy starts, but only the user may name programs.
/// Running the file of another person therefore starts no program unless the user allows it.
fn check_program_named_by_file(
    layers: &Layers,
    policy: Option<&PolicyChoice>,
    limits: Limits,
) -> Option<Problem> {
    let policy = policy?;
    let name = layers.get("policy.name");
    let entry = &policy.registry_entry;
    let command = policy::program_of(entry.name, &policy.policy_options)?;
    let is_in_name = name.is_some_and(|name| name.as_str().is_some_and(|name| name.contains(':')));
    let key = if is_in_name {
        "policy.name".to_owned()
    } else {
        format!("policy.{}.{}", entry.name, entry.main_option_key())
    };
    let (_, is_file) = layers.source_and_is_file(&key)?;
    (is_file && !limits.allows_starting_programs).then(|| {
        let message = format!(
            "the file names the program `{command}` as a policy; programs that a file names are not started by default"
        );
        let hint = "check what the program does, then allow it with `--allow-exec`";
        Problem::new(message).key(key).hint(hint)
    })
}

/// The parts of an experiment that are read and checked one by one before the experiment is put together from them.
pub(super) struct ExperimentParts<'r> {
    pub config: ExperimentConfig,
    application_entry: &'r registry::Entry,
    pub platform: Arc<LoadedPlatform>,
    pub network: NetworkModel,
    policy: PolicyChoice,
    pub loads: Loads,
    pub workload: CheckedWorkload,
    /// Whether the application draws its random numbers from the seed of the run, because it has no separate seed.
    does_workload_share_seed: bool,
}

impl<'r> ExperimentParts<'r> {
    /// Reads all parts of an experiment, and inserts the settings that the platform adds.
    ///
    /// # Errors
    /// Any part has a problem; the problems of all parts are reported together.
    fn read_parts(
        registry: &'r Registry,
        whole: &mut CompleteSettings,
        limits: Limits,
        shared: &SharedInputs,
    ) -> Result<Self> {
        let mut config = whole.experiment_config()?;
        let app = config.workload.get("app").and_then(Value::as_str);
        let app = registry.workloads().find(app.ok_or_else(|| {
            Problem::new("the value of `workload.app` is not a text")
                .key("workload.app")
                .hint("write the name of an application in double quotes (`migsim list apps`)")
        })?)?;
        let mut keys = Value::Object(config.workload.clone());
        size::check_process_memory(app, &config.workload, limits)?;
        let mut problems: Vec<Problem> = calibrated_platform_problems(&config).collect();
        problems.extend(config.view.problems());
        let platform =
            ok_or_collect_problems(read_platform(&config, limits, shared), &mut problems);
        if let Some(platform) = platform
            .as_ref()
            .filter(|one| !one.experiment_settings.is_empty())
        {
            let settings = platform.experiment_settings.clone();
            config = whole.insert_settings_below_user(&config.platform, settings)?;
        }
        let network = ok_or_collect_problems(read_network_model(&config.network), &mut problems);
        let policy = PolicyChoice::from_settings(registry, &config.policy, &|key| {
            whole.is_chosen_by_user(key)
        });
        let policy = ok_or_collect_problems(policy, &mut problems);
        problems.extend(check_program_named_by_file(
            &whole.merged_layers,
            policy.as_ref(),
            limits,
        ));
        let loads = Loads::read(registry.loads(), config.load.as_ref());
        let loads = ok_or_collect_problems(loads, &mut problems);
        let shares_seed = seed::share_seed_with_workload(whole, &config, app, &mut keys);
        let built = app.build(&keys);
        let workload = built.and_then(|built| Ok(CheckedWorkload::new(app.name, built)?));
        let workload = ok_or_collect_problems(workload, &mut problems);
        let all = (platform, network, policy, loads, workload);
        let (Some(platform), Some(network), Some(policy), Some(loads), Some(workload)) = all else {
            return Err(Error::Input(problems));
        };
        let parts = Self {
            config,
            application_entry: app,
            platform,
            network,
            policy,
            loads,
            workload,
            does_workload_share_seed: shares_seed,
        };
        Error::unless_empty(problems).map(|()| parts)
    }

    /// Inserts the settings that the application adds, such as the library with which its trace was recorded. Returns a note for
    /// the user about the choice of this library if the application is a recorded program; otherwise `None`.
    fn insert_workload_settings(&mut self, whole: &mut CompleteSettings) -> Result<Option<String>> {
        let built = &self.workload.built;
        let name = built
            .input_files_with_hashes
            .first()
            .map_or("workload", |file| &file.0);
        let mut settings = built.added_settings.clone();
        let named = whole.merged_layers.get(LIBRARY_KEY).is_some();
        if !named
            && let Some(library) =
                recorded_library::choose_library_for_recording(&built.recording, name)
        {
            let source = format!("the recording {name}");
            settings.push(KeySetting::new(LIBRARY_KEY, source, library));
        }
        if !settings.is_empty() {
            self.config = whole.insert_settings_below_user(name, settings)?;
            self.network = read_network_model(&self.config.network)?;
        }
        Ok(recorded_library::recorded_library_note(
            &built.recording,
            whole.message_passing_library.as_ref(),
        ))
    }

    /// Checks that the experiment fits into memory, and returns which parts of the run draw random numbers.
    ///
    /// # Errors
    /// The experiment needs too much memory.
    fn check_memory_and_find_random_draws(&self, limits: Limits) -> Result<RandomDraws> {
        let mut policy = self.policy.create_policy()?;
        if limits.omits_terms {
            policy.omit_terms();
        }
        let workload = &self.workload;
        if !(0.0..f64::MAX).contains(&policy.memory(1.0, 1.0)) {
            let name = self.policy.registry_entry.name;
            return Err(Problem::new(format!(
                "the policy `{name}` states a wrong size of its memory"
            ))
            .key(format!("policy.{name}"))
            .hint("correct the code of the policy")
            .into());
        }
        let settings = (&self.config, self.application_entry);
        size::check_experiment_memory(settings, workload, &*policy, &self.platform, limits)?;
        let draws = RandomDraws {
            is_policy_or_load_random: policy.uses_seed()
                || self.loads.uses_seed()
                || self.has_random_measurement_errors()
                || self.config.runtime.noise > 0.0,
            is_workload_random: workload.uses_seed(),
            does_workload_share_seed: self.does_workload_share_seed,
        };
        self.policy.keep_policy(policy);
        Ok(draws)
    }

    fn has_random_measurement_errors(&self) -> bool {
        self.config.scenarios.iter().any(|one| *one != Scenario::I) && self.config.view.uses_seed()
    }

    /// Completes the settings of the experiment, and returns them as JSON with every default filled in.
    fn resolve_settings(
        &mut self,
        basis: &Basis,
        is_mapped: bool,
        whole: &CompleteSettings,
        registry: &Registry,
    ) -> Result<Value> {
        let config = &mut self.config;
        if config.scenarios.is_empty() {
            let problem = Problem::new("the list `scenarios` is empty").key("scenarios");
            let hint = "list at least one of i (application only), ii (scheduler without moves) and iii (with migrations)";
            return Err(problem.hint(hint).into());
        }
        if self.does_workload_share_seed {
            seed::remove_shared_seed(config);
        }
        // Every key is set, so no built-in experiment is needed below.
        config.extends = Some(EXTENDS_NOTHING.into());
        config.basis = Some(basis.clone());
        config.scenarios.sort_unstable();
        config.scenarios.dedup();
        let mut written = std::mem::take(&mut config.origins);
        if !is_mapped {
            written.remove("mapping");
        }
        let mut workload = self
            .application_entry
            .resolve(&Value::Object(config.workload.clone()))?;
        if let Some(keys) = workload.as_object_mut() {
            keys.shift_insert(0, "app".into(), self.application_entry.name.into());
            if self.does_workload_share_seed {
                keys.shift_remove(seed::SEED_KEY);
            }
        }
        let mut network = json!(self.network);
        if let Some(constants) = network.as_object_mut() {
            let preset = config.network.get("model").cloned();
            constants.shift_insert(
                0,
                "model".into(),
                preset.filter(Value::is_string).unwrap_or("cm02".into()),
            );
            config.network.clone_from(constants);
        }
        let mut resolved = json!(config);
        resolved["workload"] = workload;
        resolved["network"] = network;
        if let Some(load) = self.loads.load_key_with_defaults() {
            resolved["load"] = load;
        }
        resolved["policy"] = self.policy.complete_policy_settings()?;
        let name = self.policy.registry_entry.name;
        if let Some((text, cost)) = read_decision_cost(registry, &config.policy, name)? {
            resolved["policy"][DECISION_KEY] = json!({ name: text });
            config.costs.call.decision = cost;
        }
        config.origins = origins::determine_origins(
            written,
            &whole.merged_layers,
            whole.message_passing_library.as_ref(),
            &resolved,
        )?;
        if !config.origins.is_empty() {
            resolved["origins"] = json!(config.origins);
        }
        if let Some(keys) = resolved.as_object_mut().filter(|_| !is_mapped) {
            keys.remove("mapping"); // the workload defines where its processes start
        }
        Ok(resolved)
    }

    /// Returns notes for the user about the application, its load, its mapping and implausible values, one sentence each.
    fn user_notes(
        &self,
        resolved: &Value,
        is_mapped: bool,
        placement: &[HostId],
        mut findings: Vec<Finding>,
    ) -> Vec<String> {
        let config = &self.config;
        let policy = &self.policy.registry_entry;
        let platform = &self.platform.platform;
        let workload = &self.workload;
        let mut notes = by_workload::workload_notes(config, is_mapped, workload, policy);
        notes.extend(workload.built.notes.iter().cloned());
        notes.extend(self.loads.user_notes());
        // Tasks share the cores of their rank, as in the recorded run.
        if is_mapped && workload.labels().is_none() {
            notes.extend(idle_cores::idle_cores_note(
                platform,
                placement,
                &config.mapping(),
            ));
        }
        if !workload.built.recording.is_empty() && policy.name != policy::NEVER {
            notes.extend(recorded_start::equal_hosts_note(
                platform,
                placement,
                self.loads.is_empty(),
            ));
        }
        findings.extend(plausibility::find_implausible_settings(
            plausibility::CheckedSettings {
                policy,
                policy_options: &resolved["policy"][policy.name],
                loads: &self.loads,
                workload,
                is_work_from_files: !workload.built.input_files_with_hashes.is_empty(),
                platform,
                scenarios: &config.scenarios,
            },
        ));
        notes.extend(findings.iter().map(Finding::note_text));
        notes
    }

    /// Lists the input files on which the results of the experiment depend, with their SHA-256.
    fn list_input_files(
        &self,
        is_mapped: bool,
        whole: &CompleteSettings,
    ) -> Result<Vec<InputFile>> {
        let platform = &self.platform;
        let config = &self.config;
        let mut inputs = Vec::new();
        let mut add = |role, source: &str, sha256: &str| {
            inputs.push(InputFile {
                role,
                name: source.to_owned(),
                sha256: sha256.to_owned(),
            });
        };
        add(
            "platform",
            &platform.source_description,
            &platform.file_sha256,
        );
        for (source, sha256) in &platform.profile_files {
            add("profile", source, sha256);
        }
        for (source, sha256) in self.loads.trace_files() {
            add("load", source, sha256);
        }
        for (source, sha256) in &self.workload.built.input_files_with_hashes {
            add("workload", source, sha256);
        }
        for key in self.policy.registry_entry.file_options {
            if let Some(file) = self.policy.policy_options.get(*key).and_then(Value::as_str) {
                add("policy", file, &sha256_of_file(file)?);
            }
        }
        if let Some(file) = config.mapping().table_file().filter(|_| is_mapped) {
            add("mapping", file, &sha256_of_file(file)?);
        }
        for (source, sha256) in whole
            .message_passing_library
            .iter()
            .flat_map(|library| &library.path_and_sha256)
        {
            add("library", source, sha256);
        }
        if let Some(Ok(clusters)) = config.clusters.as_deref().map(str::parse::<HostGrouping>)
            && let Some(file) = clusters.table_file()
        {
            add("clusters", file, &sha256_of_file(file)?);
        }
        Ok(inputs)
    }
}

fn sha256_of_file(file: &str) -> Result<String> {
    Ok(document::sha256(&document::read_bytes(file.as_ref())?))
}

/// Reads the platform of the experiment, and forms the clusters that the settings choose.
fn read_platform(
    config: &ExperimentConfig,
    limits: Limits,
    shared: &SharedInputs,
) -> Result<Arc<LoadedPlatform>> {
    let name = &config.platform;
    let named = |error: Error, key| error.map_problems_without_location(|problem| problem.key(key));
    let opened = shared
        .get_or_read_platform(name, limits)
        .map_err(|error| named(error, "platform"))?;
    match &config.clusters {
        None => Ok(opened),
        Some(clusters) => shared
            .get_or_form_clusters(name, &opened, clusters)
            .map_err(|error| named(error, "clusters")),
    }
}

/// Returns a copy of the platform in which each host without a loopback (the link for messages inside the host) gets the loopback
/// of the network model.
pub(super) fn add_missing_loopbacks(
    mut loaded: Arc<LoadedPlatform>,
    network: &NetworkModel,
) -> Arc<LoadedPlatform> {
    if !network.loopback_shared {
        return loaded;
    }
    let platform = &mut Arc::make_mut(&mut loaded).platform;
    let hosts = 0..HostId::from_index(platform.hosts.len()).0;
    let bandwidth = BytesPerSecond::of(network.loopback_bandwidth);
    platform.add_loopbacks(hosts, bandwidth, network.loopback_latency);
    loaded
}

/// Returns the value of a successful result; for an error, returns `None` and appends its problems to `problems`.
fn ok_or_collect_problems<T>(result: Result<T>, problems: &mut Vec<Problem>) -> Option<T> {
    result
        .map_err(|error| problems.extend(error.into_problems()))
        .ok()
}

/// Reads the network model from the settings under the key `network`: a preset (`model`), and constants that override the
/// constants of the preset.
pub(super) fn read_network_model(keys: &Map<String, Value>) -> Result<NetworkModel> {
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
        if let Err(problem) = model.set_constant(key, &text(value)) {
            problems.push(problem.key(format!("network.{key}")));
        }
    }
    Error::unless_empty(problems).map(|()| model)
}

/// Adds a hint to the problem of an unknown key: the complete key of a policy option that has the same or a similar name.
fn add_policy_option_hint(registry: &Registry, problem: Problem) -> Problem {
    let name = match problem.unknown_name.as_deref() {
        Some(UnknownName::Key(name)) if problem.location.key.as_ref() == Some(name) => name.clone(),
        _ => return problem,
    };
    let hint = problem.hint.as_deref().unwrap_or_default().to_owned();
    if hint.starts_with("did you mean") {
        return problem;
    }
    let options = |entry: &policy::Entry| match entry.resolve(&json!({})) {
        Ok(Value::Object(options)) => options
            .into_iter()
            .map(|(key, _)| (key, entry.name))
            .collect(),
        _ => Vec::new(),
    };
    let all: Vec<(String, &str)> = registry.policies().iter().flat_map(options).collect();
    let is_there = all.iter().any(|(option, _)| *option == name);
    let long = all
        .iter()
        .map(|(option, _)| option.as_str())
        .filter(|option| option.len() > 3);
    let wanted = if is_there {
        Some(name.as_str())
    } else {
        most_similar_name(&name, long)
    };
    match all
        .iter()
        .find(|(option, _)| Some(option.as_str()) == wanted)
    {
        Some((option, policy)) => {
            let key = format!("policy.{policy}.{option}");
            problem.hint(format!("{} {hint}", did_you_mean(&key)))
        }
        None => problem,
    }
}
