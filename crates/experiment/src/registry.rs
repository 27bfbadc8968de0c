//! The registry: every policy, strategy, trigger, application and load that a run may name, built in or added by the user.
//!
//! ```
//! use migsim_base::{error::Error, random::Stream};
//! use migsim_experiment::{Experiment, Layers, Limits, Registry};
//! use migsim_policies::{Decision, Policy, PolicyOptions, View};
//!
//! /// Moves nobody.
//! #[derive(Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
//! #[serde(deny_unknown_fields, default)]
//! struct Idle {}
//!
//! impl PolicyOptions for Idle {
//!     fn policy(self) -> Result<Box<dyn Policy>, Error> {
//!         Ok(Box::new(self))
//!     }
//! }
//!
//! impl Policy for Idle {
//!     fn is_call_due(&mut self, _view: &View<'_>) -> bool {
//!         false
//!     }
//!
//!     fn decide(&mut self, _view: &View<'_>, _random: &mut Stream) -> Result<Decision, Error> {
//!         Ok(Decision::default())
//!     }
//! }
//!
//! let registry = Registry::standard().policy::<Idle>("idle", "moves nobody", "-");
//! let settings = Layers::from_pairs([("workload.app", "lbm".into()), ("policy.name", "idle".into())]);
//! let experiment = Experiment::load_with(&registry, &settings, Limits::default())?;
//! assert_eq!(experiment.policy_name(), "idle");
//! # Ok::<(), Error>(())
//! ```
//!
//! # How the registry is passed on
//!
//! A registry is a value that callers pass as an argument; there is no global registry.
//!
//! ```text
//! cli::main_with(registry) ──> command line     flags, names offered to shells
//!                          ├─> Experiment::load_with ──> names, options, files; `Experiment::registry`
//!                          ├─> Sweep::registry ──> short names of keys, usual ranges; Experiment::load_shared for each run
//!                          ├─> explain, report ──> sentences and columns of the policy
//!                          └─> list, schema
//! ```
//! [`Experiment::load`](crate::Experiment::load) and the command take [`Registry::standard`].

use std::sync::Arc;

use migsim_base::{
    error::{Error, Problem, Result},
    plugin::{OptionFlag, PluginFactory},
};
use migsim_platform::load::{self, LoadOptions};
use migsim_policies::{
    self as policy, Policy, PolicyOptions,
    strategy::{self, StrategyOptions},
    trigger::{self, Trigger, TriggerOptions},
};
use migsim_workloads::{
    registry as workload,
    registry::{BuiltWorkload, WorkloadOptions},
};

/// The policies, strategies, triggers, applications and background loads that settings can name; clones of a registry share the
/// same tables.
#[derive(Clone, Debug)]
pub struct Registry(Arc<Tables>);

#[derive(Clone, Debug)]
struct Tables {
    policies: policy::Table,
    strategies: strategy::StrategyTable,
    triggers: trigger::Table,
    workloads: workload::Table,
    loads: load::Table,
    /// The problems of entries that could not be registered, for example because another entry has the same name.
    registration_problems: Vec<Problem>,
}

impl Default for Registry {
    fn default() -> Self {
        Self::standard()
    }
}

impl Registry {
    /// Returns a registry with the built-in policies, strategies, triggers, applications and background loads.
    pub fn standard() -> Self {
        Self(Arc::new(Tables {
            policies: policy::standard(),
            strategies: strategy::standard_table(),
            triggers: trigger::standard(),
            workloads: workload::standard(),
            loads: load::standard(),
            registration_problems: Vec::new(),
        }))
    }

    /// Adds a policy: the type `T` of its options, its name, a sentence about what the policy does, and its publication (`-` for
    /// none).
    ///
    /// A name that another policy already has, and a wrong declaration, are refused when the registry is used ([`Self::check`]).
    #[must_use]
    pub fn policy<T: PolicyOptions>(
        self,
        name: &'static str,
        summary: &'static str,
        source: &'static str,
    ) -> Self {
        let entry = policy::table_entry::<T>(name, summary, source);
        self.add_entry(policy_problems(&entry), |tables| tables.policies.add(entry))
    }

    /// Adds a policy whose options are not described by a Rust type; `maker` creates the policy from its options.
    #[must_use]
    pub fn policy_from_maker(
        self,
        maker: &'static dyn PluginFactory<Box<dyn Policy>>,
        name: &'static str,
        summary: &'static str,
        source: &'static str,
    ) -> Self {
        let entry = policy::entry_from_maker(maker, name, summary, source);
        self.add_entry(policy_problems(&entry), |tables| tables.policies.add(entry))
    }

    /// Adds a strategy, with the same arguments as [`Self::policy`]. Any trigger can call the strategy, and `migsim decide` can
    /// use it.
    ///
    /// ```
    /// use migsim_base::{error::Error, random::Stream};
    /// use migsim_bsp::Scenario;
    /// use migsim_experiment::{Experiment, Layers, Limits, Progress, Registry};
    /// use migsim_policies::strategy::{Assignment, Instance, Strategy, StrategyOptions};
    ///
    /// /// All processes on the fastest core.
    /// #[derive(Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    /// #[serde(deny_unknown_fields, default)]
    /// struct Crowd {}
    ///
    /// impl StrategyOptions for Crowd {
    ///     fn into_strategy(self) -> Result<Box<dyn Strategy>, Error> {
    ///         Ok(Box::new(self))
    ///     }
    /// }
    ///
    /// impl Strategy for Crowd {
    ///     fn assign(&mut self, instance: &Instance<'_>, _: &mut Stream) -> Result<Assignment, Error> {
    ///         let speed = |core: &usize| instance.host_speeds[*core];
    ///         let fastest = (0..instance.host_count()).rev().max_by(|a, b| speed(a).total_cmp(&speed(b)));
    ///         Ok(Assignment::from_central_decision(vec![fastest.unwrap_or(0); instance.process_count()], instance.host_count() as u64))
    ///     }
    /// }
    ///
    /// let registry = Registry::standard().strategy::<Crowd>("crowd", "all on the fastest core", "-");
    /// let settings = Layers::from_pairs([("workload.app", "sw".into()), ("policy.name", "crowd/every=20".into())]);
    /// let experiment = Experiment::load_with(&registry, &settings, Limits::default())?;
    /// let results = experiment.run(&Progress::default())?;
    /// assert!(results.get(Scenario::Iii).is_some_and(|run| !run.outcome.migrations.is_empty()));
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn strategy<T: StrategyOptions>(
        self,
        name: &'static str,
        summary: &'static str,
        source: &'static str,
    ) -> Self {
        let entry = strategy::strategy_entry::<T>(name, summary, source);
        let of_policy = policy::entry_from_strategy(&entry);
        self.add_entry(policy_problems(&of_policy), |tables| {
            tables.policies.add(of_policy)?;
            tables.strategies.add(entry)
        })
    }

    /// Adds a trigger, with the same arguments as [`Self::policy`].
    #[must_use]
    pub fn trigger<T: TriggerOptions>(
        self,
        name: &'static str,
        summary: &'static str,
        source: &'static str,
    ) -> Self {
        let entry = trigger::table_entry::<T>(name, summary, source);
        self.add_entry(trigger_problems(&entry), |tables| {
            tables.triggers.add(entry)
        })
    }

    /// Adds a trigger whose options are not described by a Rust type; `maker` creates the trigger from its options.
    #[must_use]
    pub fn trigger_from_maker(
        self,
        maker: &'static dyn PluginFactory<Box<dyn Trigger>>,
        name: &'static str,
        summary: &'static str,
        source: &'static str,
    ) -> Self {
        let entry = trigger::entry_from_maker(maker, name, summary, source);
        self.add_entry(trigger_problems(&entry), |tables| {
            tables.triggers.add(entry)
        })
    }

    /// Adds an application, with the same arguments as [`Self::policy`].
    #[must_use]
    pub fn workload<T: WorkloadOptions>(
        self,
        name: &'static str,
        summary: &'static str,
        source: &'static str,
    ) -> Self {
        let entry = workload::table_entry::<T>(name, summary, source);
        self.add_entry(workload_problems(&entry), |tables| {
            tables.workloads.add(entry)
        })
    }

    /// Adds an application whose options are not described by a Rust type; `maker` creates the application from its options. The
    /// options `n`, `procs` and `seed` have the same meaning as in all other applications.
    #[must_use]
    pub fn workload_from_maker(
        self,
        maker: &'static dyn PluginFactory<BuiltWorkload>,
        name: &'static str,
        summary: &'static str,
        source: &'static str,
    ) -> Self {
        let entry = workload::entry_of_maker(maker, name, summary, source);
        self.add_entry(workload_problems(&entry), |tables| {
            tables.workloads.add(entry)
        })
    }

    /// Adds a kind of background load, with the same arguments as [`Self::policy`].
    #[must_use]
    pub fn load<T: LoadOptions>(
        self,
        name: &'static str,
        summary: &'static str,
        source: &'static str,
    ) -> Self {
        let entry = load::load_entry::<T>(name, summary, source);
        self.add_entry(load_problems(&entry), |tables| tables.loads.add(entry))
    }

    /// Adds an entry to the tables of the registry by calling the function `add`; stores the `problems` of its declarations, and
    /// the problem if it cannot be added, which [`Self::check`] reports.
    fn add_entry(
        mut self,
        problems: Vec<Problem>,
        add: impl FnOnce(&mut Tables) -> Result<(), Problem>,
    ) -> Self {
        let tables = Arc::make_mut(&mut self.0);
        tables.registration_problems.extend(problems);
        if let Err(problem) = add(tables) {
            tables.registration_problems.push(problem);
        }
        self
    }

    /// Checks that all entries of the registry could be added, that their declarations are right and that their flags are unique.
    ///
    /// # Errors
    /// A name is already taken or cannot be written in settings, a declaration names an option that does not exist, or a flag has
    /// two meanings; all problems are reported together.
    pub fn check(&self) -> Result {
        let mut problems = self.0.registration_problems.clone();
        let flags = [self.workload_flags(), self.policy_flags()].concat();
        for (index, flag) in flags.iter().enumerate() {
            let is_again = flags[..index].iter().any(|other| other.name == flag.name);
            if is_again || self.has_conflicting_flag(flag) {
                let message = format!("two plug-ins define the flag `--{}`", flag.name);
                let hint =
                    "give one of the two flags another name (`OptionFlag::with_option_name`)";
                problems.push(Problem::new(message).hint(hint));
            }
        }
        Error::unless_empty(problems)
    }

    /// Returns whether another policy or application uses the same flag with other possible values, or another application uses
    /// the flag for another key.
    fn has_conflicting_flag(&self, flag: &OptionFlag) -> bool {
        let of_workloads = self
            .workloads()
            .iter()
            .filter_map(|entry| entry.flag(flag.name));
        let of_policies = self
            .policies()
            .iter()
            .filter_map(|entry| entry.flag(flag.name));
        of_workloads
            .clone()
            .any(|other| other.option_name != flag.option_name)
            || of_workloads
                .chain(of_policies)
                .any(|other| other.accepted_values != flag.accepted_values)
    }

    /// Returns the registered policies.
    pub fn policies(&self) -> &policy::Table {
        &self.0.policies
    }

    /// Returns the registered strategies; a strategy with a trigger is also a policy.
    pub fn strategies(&self) -> &strategy::StrategyTable {
        &self.0.strategies
    }

    /// Returns the registered triggers.
    pub fn triggers(&self) -> &trigger::Table {
        &self.0.triggers
    }

    /// Returns the registered applications.
    pub fn workloads(&self) -> &workload::Table {
        &self.0.workloads
    }

    /// Returns the registered kinds of background load.
    pub fn loads(&self) -> &load::Table {
        &self.0.loads
    }

    /// Lists the command-line flags that the registered applications define; a flag that several applications define is listed
    /// once.
    pub fn workload_flags(&self) -> Vec<&'static OptionFlag> {
        merge_flag_lists(self.workloads().iter().map(|entry| entry.flags))
    }

    /// Lists the command-line flags that the registered policies define; a flag that several policies define is listed once.
    pub fn policy_flags(&self) -> Vec<&'static OptionFlag> {
        merge_flag_lists(self.policies().iter().map(|entry| entry.flags))
    }

    /// Returns whether some policy has a command-line flag with this name.
    pub fn is_policy_flag(&self, name: &str) -> bool {
        self.policies()
            .iter()
            .any(|entry| entry.flag(name).is_some())
    }

    /// Lists the keys of an experiment whose values are, or may be (`mapping`), names of files. The keys of a load are listed as
    /// `load.KEY`, even if `load` is a list of loads.
    pub fn keys_of_file_names(&self) -> Vec<String> {
        let mut keys = vec![
            "platform".to_owned(),
            "clusters".to_owned(),
            "mapping".to_owned(),
            "library".to_owned(),
        ];
        let of_workloads = self.workloads().iter().flat_map(|entry| entry.file_options);
        keys.extend(of_workloads.map(|key| format!("workload.{key}")));
        for entry in self.policies() {
            let own = entry.file_options.iter();
            keys.extend(own.map(|key| format!("policy.{}.{key}", entry.name)));
        }
        keys.extend(
            self.background_load_file_keys()
                .map(|key| format!("load.{key}")),
        );
        keys
    }

    /// Returns the keys of background loads whose values are names of files.
    pub fn background_load_file_keys(&self) -> impl Iterator<Item = &'static str> {
        self.loads()
            .iter()
            .flat_map(|entry| entry.file_options)
            .copied()
    }
}

fn variant_texts(variants: &[strategy::Variant]) -> impl Iterator<Item = (&str, &str)> {
    variants
        .iter()
        .map(|variant| (variant.name, variant.options))
}

fn policy_problems(entry: &policy::Entry) -> Vec<Problem> {
    let mut problems = entry.declaration_problems(
        "policy",
        &entry.declared_keys(),
        variant_texts(entry.variants()),
    );
    let empty = entry
        .tuning_ranges()
        .iter()
        .filter(|range| range.1.is_empty());
    problems.extend(empty.map(|(key, _)| {
        Problem::new(format!(
            "the policy `{}` is declared wrongly: its range of `{key}` is empty",
            entry.name
        ))
    }));
    problems
}

fn trigger_problems(entry: &trigger::Entry) -> Vec<Problem> {
    let key = [entry.main_option_key()];
    let keys: &[&str] = if key[0].is_empty() { &[] } else { &key };
    entry.declaration_problems("trigger", keys, variant_texts(entry.variants()))
}

fn workload_problems(entry: &workload::Entry) -> Vec<Problem> {
    entry.declaration_problems("application", &entry.declared_keys(), [])
}

fn load_problems(entry: &load::Entry) -> Vec<Problem> {
    entry.declaration_problems("load", &[], [])
}

/// Merges lists of flags into one list without duplicates, in the order of the lists as far as possible.
fn merge_flag_lists<'t>(lists: impl Iterator<Item = &'t [OptionFlag]>) -> Vec<&'t OptionFlag> {
    let mut all: Vec<&OptionFlag> = Vec::new();
    for list in lists {
        for (index, flag) in list.iter().enumerate() {
            let place = |flag: &OptionFlag| all.iter().position(|known| known.name == flag.name);
            if place(flag).is_none() {
                let next = list[index..].iter().find_map(place);
                all.insert(next.unwrap_or(all.len()), flag);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_base::plugin::FlagValues;
    use migsim_policies::{Never, Policy};

    #[derive(Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    struct Clash {}

    impl PolicyOptions for Clash {
        const FLAGS: &'static [OptionFlag] = &[
            OptionFlag::new("alpha", FlagValues::Numbers, "a number, not a count"),
            OptionFlag::new("n", FlagValues::Counts, "the order of a matrix elsewhere"),
        ];

        fn policy(self) -> Result<Box<dyn Policy>> {
            Ok(Box::new(Never {}))
        }
    }

    /// Declares what it does not have; its options have no braces.
    #[derive(Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    struct Bare;

    /// Declares what it does not have.
    #[derive(Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    struct Boastful {
        share: f64,
    }

    impl PolicyOptions for Bare {
        fn policy(self) -> Result<Box<dyn Policy>> {
            Ok(Box::new(Never {}))
        }
    }

    impl PolicyOptions for Boastful {
        const FLAGS: &'static [OptionFlag] = &[
            OptionFlag::new("", FlagValues::Numbers, "no name").with_option_name("share"),
            OptionFlag::new("a=b", FlagValues::Numbers, "no word").with_option_name("share"),
            OptionFlag::new("--a", FlagValues::Numbers, "dashes").with_option_name("share"),
            OptionFlag::new("own-flag", FlagValues::Numbers, "no option"),
        ];
        const FILES: &'static [&'static str] = &["own-file"];
        const RANGES: &'static [(&'static str, &'static str)] = &[("range", "1,2"), ("share", "")];
        const SHARES: &'static [&'static str] = &["share", "percent"];
        const MOVE_INSIDE: &'static str = "cluster=within";
        const VARIANTS: &'static [strategy::Variant] =
            &[strategy::Variant::new("one", "{ no JSON", "")];

        fn policy(self) -> Result<Box<dyn Policy>> {
            Ok(Box::new(Never {}))
        }
    }

    #[test]
    fn declarations_of_what_is_not_there_are_refused() {
        let registry = Registry::standard().policy::<Bare>("bare", "two\nlines", "-");
        let error = refused(&registry.policy::<Boastful>("boastful", "much", "-"));
        for what in [
            "the policy `bare` is declared wrongly: its summary or publication is not one line",
            "the policy `bare` is declared wrongly: its options are a struct without braces",
            "the flag `` is no word",
            "the flag `a=b` is no word",
            "the flag `--a` is no word",
            "it declares `own-flag`",
            "it declares `own-file`",
            "it declares `range`",
            "it declares `percent`",
            "it declares `cluster`",
            "its range of `share` is empty",
            "the options `{ no JSON` of its variant `one`",
        ] {
            assert!(error.contains(what), "{what}: {error}");
        }
        assert!(!error.contains("declares `share`"), "{error}");
    }

    fn refused(registry: &Registry) -> String {
        registry.check().unwrap_err().to_string()
    }

    #[test]
    fn built_in_plug_ins_are_consistent() {
        let registry = Registry::standard();
        registry.check().unwrap();
        let mut problems: Vec<Problem> = registry
            .policies()
            .iter()
            .flat_map(policy_problems)
            .collect();
        problems.extend(registry.triggers().iter().flat_map(trigger_problems));
        problems.extend(registry.workloads().iter().flat_map(workload_problems));
        problems.extend(registry.loads().iter().flat_map(load_problems));
        assert!(problems.is_empty(), "{problems:?}");
        let names: Vec<&str> = registry
            .workload_flags()
            .iter()
            .map(|flag| flag.name)
            .collect();
        assert_eq!(
            names,
            ["n", "procs", "grid", "work", "messages", "trace", "data"]
        );
        let files = registry.keys_of_file_names();
        for key in [
            "platform",
            "workload.trace",
            "policy.replay.file",
            "load.file",
        ] {
            assert!(files.iter().any(|known| known == key), "{key}");
        }
    }

    #[test]
    fn a_name_that_is_taken_or_cannot_be_written_is_refused() {
        let error = refused(&Registry::standard().policy::<Never>("migbsp", "-", "-"));
        assert!(
            error.contains("the policy `migbsp` is registered twice"),
            "{error}"
        );
        for name in ["", "a.b", "name", "a,b"] {
            let error = refused(&Registry::standard().policy::<Never>(name, "-", "-"));
            assert!(error.contains("hint: choose a name of letters"), "{error}");
        }
    }

    #[test]
    fn a_flag_that_means_two_things_is_refused() {
        let error = refused(&Registry::standard().policy::<Clash>("clash", "-", "-"));
        assert!(
            error.contains("`--alpha`") && error.contains("`--n`"),
            "{error}"
        );
    }
}
