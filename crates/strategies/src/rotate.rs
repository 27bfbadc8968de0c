//! Rotation: moves each process to the next host, which shows the cost of migrations without any benefit.
//!
//! `host_i := (host_i + 1) mod P` for process i and P hosts (Rotate of `TreeLB`, Charm++ 8).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Assignment, Gather, Instance, Strategy, StrategyOptions};
use migsim_base::{error::Result, random::Stream};

/// Options of the strategy `rotate`, which has no options.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateOptions {}

impl StrategyOptions for RotateOptions {}

impl Strategy for RotateOptions {
    fn assign(&mut self, instance: &Instance<'_>, _: &mut Stream) -> Result<Assignment> {
        let next = |host: &usize| (host + 1) % instance.host_count();
        Ok(Assignment {
            assigned_hosts: instance.current_hosts.iter().map(next).collect(),
            operation_count: instance.process_count() as u64,
            communication_pattern: Gather::None,
            remarks: Vec::new(),
        })
    }
}
