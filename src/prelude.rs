//! Common items for users of the library: everything that a user's own policy, strategy, trigger, application or load needs, and
//! the items that run it. Import them with `use migsim::prelude::*;`.

pub use std::sync::Arc;

pub use serde_json;

pub use crate::{
    Registry,
    bsp::Scenario,
    error::{Error, Problem},
    experiment::{Experiment, Layers, Limits, Progress, Results, ScenarioRun},
    load::{Load, LoadOptions},
    platform::Steps,
    plugin::{FlagValues, OptionFlag},
    policy::{
        Candidate, Decision, Explain, ExternalLoad, Migration, Policy, PolicyOptions, View,
        explain::{DecisionRecord, ExplainContext, Narrator},
        strategy::{Assignment, Gather, Instance, Strategy, StrategyOptions, Variant},
        trigger::{ObservedSuperstep, Reason, Trigger, TriggerOptions},
    },
    random::{Stream, StreamPurpose},
    units::{Bytes, BytesPerSecond, ClusterId, HostId, Instructions, ProcessId, Seconds, Time},
    workload::{
        Message, Plan, Workload,
        registry::{BuiltWorkload, WorkloadOptions},
    },
};
