//! Common items for users of the library: everything that a user's own policy, strategy, trigger, application or load needs, and
//! the items that run it. Import them with `use migsim::prelude::*;`.

pub use crate::{
    Registry,
    bsp::Scenario,
    error::{Error, Problem},
    experiment::{Experiment, Layers, Limits, Progress, Results, ScenarioRun},
    load::{Load, LoadOptions},
    plugin::{FlagValues, OptionFlag},
    policy::{
        Candidate, Decision, ExternalLoad, Migration, Policy, PolicyOptions, View,
        strategy::{Assignment, Gather, Instance, Strategy, StrategyOptions},
        trigger::{ObservedSuperstep, Trigger, TriggerOptions},
    },
    random::Stream,
    units::{Bytes, BytesPerSecond, HostId, Instructions, ProcessId, Seconds, Time},
    workload::{
        Message, Plan, Workload,
        registry::{BuiltWorkload, WorkloadOptions},
    },
};
