//! Common items for users of the library: everything that a user's own policy, strategy, trigger, application or load needs, and
//! the items that run it. Import them with `use migsim::prelude::*;`.

pub use crate::Registry;
pub use crate::bsp::Scenario;
pub use crate::error::{Error, Problem};
pub use crate::experiment::{Experiment, Layers, Limits, Progress, Results, ScenarioRun};
pub use crate::load::{Load, LoadOptions};
pub use crate::plugin::{FlagValues, OptionFlag};
pub use crate::policy::strategy::{Assignment, Gather, Instance, Strategy, StrategyOptions};
pub use crate::policy::trigger::{ObservedSuperstep, Trigger, TriggerOptions};
pub use crate::policy::{Candidate, Decision, Migration, Policy, PolicyOptions, View};
pub use crate::random::Stream;
pub use crate::units::{Bytes, BytesPerSecond, HostId, Instructions, ProcessId, Seconds, Time};
pub use crate::workload::registry::{BuiltWorkload, WorkloadOptions};
pub use crate::workload::{Message, Plan, Workload};
