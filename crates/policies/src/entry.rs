//! An entry of the table of policies: the name of a policy, its options, and the function that creates the policy from its
//! options.

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use super::{
    Never, Policy,
    balancer::{BalancerNarrator, StrategyPolicy},
    explain::{Narrator, PlainNarrator},
    strategy,
    window::Forecast,
};
use migsim_base::{
    document,
    error::Result,
    plugin::{self, OptionFlag, PluginFactory},
};

/// The name of the policy that never moves a process.
pub const NEVER: &str = "never";

/// The options of a policy, as a user sets them under `policy.<name>` in an experiment file.
///
/// A type with the derives of serde and schemars and with [`Self::policy`] is enough; the other items define how commands treat
/// the options.
pub trait PolicyOptions: Serialize + DeserializeOwned + JsonSchema {
    /// The options that have their own flags on the command line, such as `--alpha`.
    const FLAGS: &'static [OptionFlag] = &[];

    /// The keys of the options whose values are file names.
    const FILES: &'static [&'static str] = &[];

    /// The values that `migsim tune` tries by default for the options of the policy. Each pair has the key of an option and its
    /// values, as a list or range in the syntax of the command line.
    const RANGES: &'static [(&'static str, &'static str)] = &[];

    /// The keys of the options that are shares of a whole; a value above 1 causes a warning, since it was probably meant as
    /// percent.
    const SHARES: &'static [&'static str] = &[];

    /// The variants of the policy: sets of options with a name, such as `migbsp/equal-information`.
    const VARIANTS: &'static [strategy::Variant] = &[];

    /// The option and value that allow moves between hosts of one cluster, such as `own_cluster=within`; empty if the policy has
    /// no such option.
    const MOVE_INSIDE: &'static str = "";

    /// The key of the option whose value may stand behind the name of the policy and a colon, as in `exec:./mylb`; empty if there is
    /// none.
    const MAIN_OPTION: &'static str = "";

    /// Returns whether all moves of the policy lead to another cluster, so that no process can move on a platform with one
    /// cluster.
    fn moves_only_between_clusters(&self) -> bool {
        false
    }

    /// Whether the policy needs a trigger, because it does not determine itself after which supersteps rescheduling calls take
    /// place.
    const NEEDS_TRIGGER: bool = false;

    /// Returns how the options interpret points that the policy's source leaves open and on which results depend, as short
    /// phrases. They are printed below the table of a run.
    fn interpretations_of_source(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the narrator, which describes the rescheduling calls of the policy in `migsim explain` and on the page of a run.
    /// The default narrator lists decision records unchanged.
    fn narrator() -> &'static dyn Narrator {
        &PlainNarrator
    }

    /// Creates the policy with these options.
    ///
    /// # Errors
    /// Options are out of range; each problem has the key of its option.
    fn policy(self) -> Result<Box<dyn Policy>>;
}

/// An entry of the table of policies: the name and description of a policy, and its [`PolicyKind`].
pub type Entry = plugin::PluginEntry<PolicyKind>;

/// The table of all policies, by name.
pub type Table = plugin::PluginTable<PolicyKind>;

/// The functions and constants of a policy with which commands check its options and create it.
#[derive(Clone, Copy, Debug)]
pub struct PolicyKind {
    constructor: Constructor,
    tuning_ranges: &'static [(&'static str, &'static str)],
    narrator: &'static dyn Narrator,
    fraction_option_keys: &'static [&'static str],
    option_for_moves_within_cluster: &'static str,
    needs_trigger: bool,
    main_option_key: &'static str,
}

#[derive(Clone, Copy, Debug)]
enum Constructor {
    /// A policy that is implemented in Rust and determines itself when rescheduling calls take place, unless it needs a trigger.
    RustPolicy {
        build: fn(&Value) -> Result<Box<dyn Policy>>,
        resolve: fn(&Value) -> Result<Value>,
        readings: fn(&Value) -> Result<Vec<String>>,
        moves_between_clusters: fn(&Value) -> Result<bool>,
        variants: &'static [strategy::Variant],
    },
    /// A strategy, which becomes a policy if a trigger decides when it is called.
    Strategy(strategy::StrategyKind),
    /// A policy whose options have no Rust type, such as a plug-in in another language; the stored object creates the policy from
    /// its options in JSON form.
    PluginMaker(&'static dyn PluginFactory<Box<dyn Policy>>),
}

/// Creates the table entry of a policy whose options have no Rust type; the object `maker` creates the policy.
pub fn entry_from_maker(
    maker: &'static dyn PluginFactory<Box<dyn Policy>>,
    name: &'static str,
    summary: &'static str,
    source: &'static str,
) -> Entry {
    let kind = PolicyKind::without_declarations(Constructor::PluginMaker(maker));
    Entry::new::<Map<String, Value>>([name, summary, source], kind)
}

/// Creates the table entry of a policy that is implemented in Rust; `T` is the type of its options.
pub fn table_entry<T: PolicyOptions>(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
) -> Entry {
    let kind = PolicyKind {
        constructor: Constructor::RustPolicy {
            build: |options| document::from_value::<T>(options, "")?.policy(),
            resolve: |options| document::fill_in_defaults::<T>(options, ""),
            readings: |options| {
                Ok(document::from_value::<T>(options, "")?.interpretations_of_source())
            },
            moves_between_clusters: |options| {
                Ok(document::from_value::<T>(options, "")?.moves_only_between_clusters())
            },
            variants: T::VARIANTS,
        },
        tuning_ranges: T::RANGES,
        narrator: T::narrator(),
        fraction_option_keys: T::SHARES,
        option_for_moves_within_cluster: T::MOVE_INSIDE,
        needs_trigger: T::NEEDS_TRIGGER,
        main_option_key: T::MAIN_OPTION,
    };
    let mut entry = Entry::new::<T>([name, summary, source], kind);
    (entry.flags, entry.file_options) = (T::FLAGS, T::FILES);
    entry
}

/// Creates the table entry of a policy that consists of the strategy `entry` and needs a trigger.
pub fn entry_from_strategy(entry: &strategy::StrategyEntry) -> Entry {
    entry.with_kind_functions(PolicyKind {
        narrator: &BalancerNarrator,
        needs_trigger: true,
        ..PolicyKind::without_declarations(Constructor::Strategy(entry.kind_functions))
    })
}

impl plugin::PluginKind for PolicyKind {
    type Product = Box<dyn Policy>;

    const SECTION: Option<&'static str> = Some("policy");

    fn build(&self, options: &Value) -> Result<Box<dyn Policy>> {
        match self.constructor {
            Constructor::RustPolicy { build, .. } => build(options),
            Constructor::Strategy(kind) => Ok(Box::new(StrategyPolicy::of_kind(
                kind,
                options,
                Forecast::Mean,
            )?)),
            Constructor::PluginMaker(maker) => plugin::create_plugin(maker, options),
        }
    }

    fn resolve(&self, options: &Value) -> Result<Value> {
        match self.constructor {
            Constructor::RustPolicy { resolve, .. } => resolve(options),
            Constructor::Strategy(kind) => plugin::PluginKind::resolve(&kind, options),
            Constructor::PluginMaker(maker) => plugin::resolve_options(maker, options),
        }
    }
}

impl PolicyKind {
    fn without_declarations(constructor: Constructor) -> Self {
        Self {
            constructor,
            tuning_ranges: &[],
            narrator: &PlainNarrator,
            fraction_option_keys: &[],
            option_for_moves_within_cluster: "",
            needs_trigger: false,
            main_option_key: "",
        }
    }

    /// Creates a policy from a strategy with these options, which plans with the given forecast of the processes' loads; `None`
    /// if the policy is not a strategy.
    ///
    /// # Errors
    /// The options are unknown or out of range.
    pub fn build_with_forecast(
        &self,
        options: &Value,
        forecast: Forecast,
    ) -> Result<Option<Box<dyn Policy>>> {
        let Constructor::Strategy(kind) = self.constructor else {
            return Ok(None);
        };
        let policy = StrategyPolicy::of_kind(kind, options, forecast)?;
        Ok(Some(Box::new(policy)))
    }

    /// Returns the options of the variant with this name, or `None` if the policy has no such variant.
    pub fn variant_options(&self, name: &str) -> Option<Value> {
        self.variants()
            .iter()
            .find(|variant| variant.name == name)
            .map(strategy::Variant::options_value)
    }

    /// Returns the names of the variants of the policy.
    pub fn variant_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.variants().iter().map(|variant| variant.name)
    }

    /// Returns the variants of the policy, which are sets of options with a name.
    pub fn variants(&self) -> &'static [strategy::Variant] {
        match self.constructor {
            Constructor::Strategy(kind) => kind.variants(),
            Constructor::RustPolicy { variants, .. } => variants,
            Constructor::PluginMaker(_) => &[],
        }
    }

    /// Returns whether the policy needs a trigger, because it does not determine itself after which supersteps rescheduling calls
    /// take place.
    pub fn needs_trigger(&self) -> bool {
        self.needs_trigger
    }

    /// Returns whether the policy consists of a strategy, so that `migsim decide` can call the strategy at a barrier that is read
    /// from a file.
    pub fn is_strategy(&self) -> bool {
        matches!(self.constructor, Constructor::Strategy(_))
    }

    /// Returns how the given options interpret points that the policy's source leaves open and on which results depend, as short
    /// phrases.
    ///
    /// # Errors
    /// Options are unknown or unreadable.
    pub fn interpretations_of_source(&self, options: &Value) -> Result<Vec<String>> {
        match self.constructor {
            Constructor::RustPolicy { readings, .. } => readings(options),
            Constructor::Strategy(_) | Constructor::PluginMaker(_) => Ok(Vec::new()),
        }
    }

    /// Returns the keys of the options that are shares of a whole, so that a value above 1 causes a warning.
    pub fn fraction_option_keys(&self) -> &'static [&'static str] {
        self.fraction_option_keys
    }

    /// Returns whether all moves of the policy with these options lead to another cluster, so that no process can move on a
    /// platform with one cluster.
    ///
    /// # Errors
    /// Options are unknown or unreadable.
    pub fn moves_only_between_clusters(&self, options: &Value) -> Result<bool> {
        match self.constructor {
            Constructor::RustPolicy {
                moves_between_clusters,
                ..
            } => moves_between_clusters(options),
            Constructor::Strategy(_) | Constructor::PluginMaker(_) => Ok(false),
        }
    }

    /// Returns the option and value that allow moves between hosts of one cluster, such as `own_cluster=within`; empty if the
    /// policy has no such option.
    pub fn option_for_moves_within_cluster(&self) -> &'static str {
        self.option_for_moves_within_cluster
    }

    /// Returns the key of the option whose value may stand behind the name of the policy and a colon; empty if there is none.
    pub fn main_option_key(&self) -> &'static str {
        self.main_option_key
    }

    /// Returns the values that `migsim tune` tries for the options of the policy by default: pairs of an option's key and its
    /// values, as a list or range.
    pub fn tuning_ranges(&self) -> &'static [(&'static str, &'static str)] {
        self.tuning_ranges
    }

    /// Returns the keys of the options that the policy names in its declarations.
    pub fn declared_keys(&self) -> Vec<&'static str> {
        let inside = self
            .option_for_moves_within_cluster
            .split('=')
            .next()
            .filter(|key| !key.is_empty());
        let tuned = self.tuning_ranges.iter().map(|(key, _)| *key);
        let shares = self.fraction_option_keys.iter().copied();
        let main = Some(self.main_option_key).filter(|key| !key.is_empty());
        tuned.chain(shares).chain(inside).chain(main).collect()
    }

    /// Returns the narrator, which describes the rescheduling calls of the policy in `migsim explain`.
    pub fn narrator(&self) -> &'static dyn Narrator {
        self.narrator
    }
}

impl PolicyOptions for Never {
    fn policy(self) -> Result<Box<dyn Policy>> {
        Ok(Box::new(self))
    }
}
