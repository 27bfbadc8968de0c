//! A policy in the registry: its name, its options and the function that reads them.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::balancer::{Balancer, BalancerNarrator};
use super::explain::{Narrator, Plain};
use super::strategy;
use super::window::Forecast;
use super::{Adviser, Never, Policy};
use migsim_base::document;
use migsim_base::error::Error;
use migsim_base::plugin::{self, Maker, OptionFlag};

/// The options of a policy, which are under `policy.<name>` in an experiment.
///
/// A type with serde's and schemars' derives and [`Self::policy`] is enough; the other items define how the command uses the options.
pub trait PolicyOptions: Serialize + DeserializeOwned + JsonSchema {
    /// The options that have flags of their own.
    const FLAGS: &'static [OptionFlag] = &[];

    /// The options that name files.
    const FILES: &'static [&'static str] = &[];

    /// The values that `migsim tune` tries if none are given: an option, and a list or range as on the command line.
    const RANGES: &'static [(&'static str, &'static str)] = &[];

    /// The options that are shares of a whole: a value above 1 gets a note.
    const SHARES: &'static [&'static str] = &[];

    /// Settings with a name of their own: `migbsp/equal-information`.
    const VARIANTS: &'static [strategy::Variant] = &[];

    /// The option and value that allow moves inside a cluster, such as `own_cluster=within`; empty if there is none.
    const MOVE_INSIDE: &'static str = "";

    /// Returns whether all its moves lead to another cluster, so that nothing can move on a platform of one cluster.
    fn moves_between_clusters(&self) -> bool {
        false
    }

    /// Whether the policy only decides, so that a trigger has to call it.
    const NEEDS_TRIGGER: bool = false;

    /// Returns the readings of its source on which results depend, a few words each; they are printed below the table of a run.
    fn readings(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the narrator that describes its calls in `migsim explain` and on the page of a run; by default records are listed unchanged.
    fn narrator() -> &'static dyn Narrator {
        &Plain
    }

    /// Creates the policy.
    ///
    /// # Errors
    /// Options are out of range; each problem has the key of its option.
    fn policy(self) -> Result<Box<dyn Policy>, Error>;
}

/// A policy by its name.
pub type Entry = plugin::Entry<Kind>;

/// The policies, by name.
pub type Table = plugin::Table<Kind>;

/// A kind of policy: the operations on its options.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    make: Make,
    ranges: &'static [(&'static str, &'static str)],
    narrator: &'static dyn Narrator,
    shares: &'static [&'static str],
    move_inside: &'static str,
    needs_trigger: bool,
}

/// The function that makes the policy from its options.
#[derive(Clone, Copy, Debug)]
enum Make {
    /// A policy that decides itself when it is called.
    Policy {
        build: fn(&Value) -> Result<Box<dyn Policy>, Error>,
        resolve: fn(&Value) -> Result<Value, Error>,
        readings: fn(&Value) -> Result<Vec<String>, Error>,
        moves_between_clusters: fn(&Value) -> Result<bool, Error>,
        variants: &'static [strategy::Variant],
    },
    /// A strategy, which a trigger calls.
    Strategy(strategy::Kind),
    /// A policy whose options have no Rust type.
    Maker(&'static dyn Maker<Box<dyn Policy>>),
}

/// Creates a row of the table for a policy that is made by `maker`.
pub fn made_by(
    maker: &'static dyn Maker<Box<dyn Policy>>,
    name: &'static str,
    summary: &'static str,
    source: &'static str,
) -> Entry {
    let kind = Kind {
        make: Make::Maker(maker),
        ranges: &[],
        narrator: &Plain,
        shares: &[],
        move_inside: "",
        needs_trigger: false,
    };
    Entry::new::<Map<String, Value>>([name, summary, source], kind)
}

/// Creates a row of the table; `T` are the options of the policy.
pub fn row<T: PolicyOptions>(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
) -> Entry {
    let kind = Kind {
        make: Make::Policy {
            build: |options| document::from_value::<T>(options, "")?.policy(),
            resolve: |options| document::resolve::<T>(options, ""),
            readings: |options| Ok(document::from_value::<T>(options, "")?.readings()),
            moves_between_clusters: |options| {
                Ok(document::from_value::<T>(options, "")?.moves_between_clusters())
            },
            variants: T::VARIANTS,
        },
        ranges: T::RANGES,
        narrator: T::narrator(),
        shares: T::SHARES,
        move_inside: T::MOVE_INSIDE,
        needs_trigger: T::NEEDS_TRIGGER,
    };
    let mut entry = Entry::new::<T>([name, summary, source], kind);
    (entry.flags, entry.files) = (T::FLAGS, T::FILES);
    entry
}

/// Creates a policy from a strategy.
pub fn of_strategy(entry: &strategy::Entry) -> Entry {
    entry.with_kind(Kind {
        make: Make::Strategy(entry.kind),
        ranges: &[],
        narrator: &BalancerNarrator,
        shares: &[],
        move_inside: "",
        needs_trigger: true,
    })
}

impl plugin::Kind for Kind {
    type Product = Box<dyn Policy>;

    const SECTION: Option<&'static str> = Some("policy");

    fn build(&self, options: &Value) -> Result<Box<dyn Policy>, Error> {
        match self.make {
            Make::Policy { build, .. } => build(options),
            Make::Strategy(kind) => {
                plugin::Kind::build(&kind, options).map(|strategy| -> Box<dyn Policy> {
                    Box::new(Balancer::new(strategy, Forecast::Mean))
                })
            }
            Make::Maker(maker) => plugin::make(maker, options),
        }
    }

    fn resolve(&self, options: &Value) -> Result<Value, Error> {
        match self.make {
            Make::Policy { resolve, .. } => resolve(options),
            Make::Strategy(kind) => plugin::Kind::resolve(&kind, options),
            Make::Maker(maker) => plugin::resolve(maker, options),
        }
    }
}

impl Kind {
    /// Creates the strategy of these options as a policy that plans with a forecast; none if the policy is no strategy.
    ///
    /// # Errors
    /// As when building the policy.
    pub fn forecasting(
        &self,
        options: &Value,
        forecast: Forecast,
    ) -> Result<Option<Box<dyn Policy>>, Error> {
        let Make::Strategy(kind) = self.make else {
            return Ok(None);
        };
        let strategy = plugin::Kind::build(&kind, options)?;
        Ok(Some(Box::new(Balancer::new(strategy, forecast))))
    }

    /// Returns the options of the preset (edition) with this name, if it exists.
    pub fn variant(&self, name: &str) -> Option<Value> {
        let found = self.settings().iter().find(|variant| variant.name == name);
        found.map(strategy::Variant::value)
    }

    /// Returns the names of the presets (editions) of the policy.
    pub fn variants(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.settings().iter().map(|variant| variant.name)
    }

    fn settings(&self) -> &'static [strategy::Variant] {
        match self.make {
            Make::Strategy(kind) => kind.variants(),
            Make::Policy { variants, .. } => variants,
            Make::Maker(_) => &[],
        }
    }

    /// Whether the policy only decides, so that a trigger has to call it.
    pub fn needs_trigger(&self) -> bool {
        self.needs_trigger
    }

    /// Whether the policy is a strategy, which `migsim decide` can call.
    pub fn is_strategy(&self) -> bool {
        matches!(self.make, Make::Strategy(_))
    }

    /// Returns the strategy of the policy for a caller that decides when calls take place, in a run with this seed; none if it is no
    /// strategy.
    ///
    /// # Errors
    /// Options are out of range.
    pub fn adviser(&self, options: &Value, seed: u64) -> Result<Option<Adviser>, Error> {
        match self.make {
            Make::Strategy(kind) => Adviser::new(kind, options, seed).map(Some),
            Make::Policy { .. } | Make::Maker(_) => Ok(None),
        }
    }

    /// Returns, in a few words each, the interpretations of the policy's source that the options choose and on which results depend.
    ///
    /// # Errors
    /// Options are unknown or unreadable.
    pub fn readings(&self, options: &Value) -> Result<Vec<String>, Error> {
        match self.make {
            Make::Policy { readings, .. } => readings(options),
            Make::Strategy(_) | Make::Maker(_) => Ok(Vec::new()),
        }
    }

    /// Returns the options that are shares of a whole.
    pub fn shares(&self) -> &'static [&'static str] {
        self.shares
    }

    /// Whether with these options all moves of the policy lead to another cluster.
    ///
    /// # Errors
    /// Options are unknown or unreadable.
    pub fn moves_between_clusters(&self, options: &Value) -> Result<bool, Error> {
        match self.make {
            Make::Policy {
                moves_between_clusters,
                ..
            } => moves_between_clusters(options),
            Make::Strategy(_) | Make::Maker(_) => Ok(false),
        }
    }

    /// Returns the option and value that allow moves inside a cluster, such as `own_cluster=within`; empty if there is none.
    pub fn move_inside(&self) -> &'static str {
        self.move_inside
    }

    /// Returns the values that `migsim tune` tries if none are given: an option, and a list or range of values.
    pub fn ranges(&self) -> &'static [(&'static str, &'static str)] {
        self.ranges
    }

    /// Returns the narrator that describes the calls of the policy.
    pub fn narrator(&self) -> &'static dyn Narrator {
        self.narrator
    }
}

impl PolicyOptions for Never {
    fn policy(self) -> Result<Box<dyn Policy>, Error> {
        Ok(Box::new(self))
    }
}
