//! Forced decisions: a policy that carries out the moves of a list, so that the effect of the time of each move can be studied
//! independently of any policy.
//!
//! The list is given in the experiment (`policy.replay.decisions`) or in a JSON file (`--policy replay:FILE`). Its objects have the
//! keys `superstep` and `process` (`24` or `"p24"`), counted from 1, and `to`, which is a host or a cluster. If `to` is a
//! cluster, the destination is the host of this cluster with the fewest processes, in case of ties the host with the lowest
//! index. A call takes place after each superstep in the list and costs as much as a call of MigBSP. The file may also be the
//! `calls.jsonl` of a run folder: then the calls of its scenario iii are repeated, each with the messages and operations that it had
//! in that run. All results of such a run are marked with the policy name `replay`, since no policy has decided the moves.

use std::{collections::BTreeMap, path::Path};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CallProcedure, Decision, Migration, Policy, PolicyOptions, View, explain::RecordedMigration,
};
use migsim_base::{
    document::{Document, read_text},
    error::{Error, Problem, Result},
    random::Stream,
    units::{HostId, ProcessId, process_number, process_number_schema},
};

/// The options of the policy `replay`, which carries out the moves of a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ReplayConfig {
    /// The name of a JSON file with a list of forced moves, or of the `calls.jsonl` of a run folder; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// A list of forced moves, in addition to the moves of the file.
    pub decisions: Vec<ForcedMove>,
}

/// A move that the policy `replay` carries out: the process, its destination, and the superstep after which it moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForcedMove {
    /// The superstep after which the process moves, counted from 1.
    pub superstep: u64,
    /// The process that moves, counted from 1: `24` or `"p24"`.
    #[serde(deserialize_with = "process_number")]
    #[schemars(schema_with = "process_number_schema")]
    pub process: u32,
    /// The name of the destination, which is a host or a cluster. In a cluster the process moves to the host with the fewest
    /// processes.
    pub to: String,
}

#[derive(Clone, Debug, Default)]
struct Replay {
    /// The forced calls by the superstep after which they happen, counted from 1.
    calls_by_superstep: BTreeMap<u64, ForcedCall>,
}

/// The moves of a forced call, and its messages and operations; `None` stands for those of MigBSP.
#[derive(Clone, Debug, Default)]
struct ForcedCall {
    moves: Vec<ForcedMove>,
    procedure: Option<CallProcedure>,
}

#[derive(Debug, Deserialize)]
struct RecordedLine {
    scenario: String,
    superstep: u64,
    migrations: Vec<RecordedMigration>,
    #[serde(default)]
    procedure: Option<CallProcedure>,
}

fn parse_recorded_calls(file: &str, text: &str) -> Result<BTreeMap<u64, ForcedCall>> {
    let mut calls = BTreeMap::new();
    for (line, number) in text.lines().zip(1..) {
        let line: RecordedLine = serde_json::from_str(line).map_err(|error| {
            Problem::new(error.to_string())
                .source(file)
                .at_line_column(number, error.column())
        })?;
        if line.scenario == "iii" {
            let moves = line
                .migrations
                .into_iter()
                .map(|one| ForcedMove {
                    superstep: line.superstep,
                    process: u32::try_from(one.process).unwrap_or(u32::MAX),
                    to: one.to_host,
                })
                .collect();
            let procedure = line.procedure;
            calls.insert(line.superstep, ForcedCall { moves, procedure });
        }
    }
    Ok(calls)
}

impl PolicyOptions for ReplayConfig {
    const MAIN_OPTION: &'static str = "file";
    const FILES: &'static [&'static str] = &["file"];

    fn policy(self) -> Result<Box<dyn Policy>> {
        let mut all = self.decisions;
        let mut calls = BTreeMap::new();
        if let Some(file) = self.file {
            let text = read_text(&file).map_err(|problem| problem.key("file"))?;
            if Path::new(&file).extension() == Some("jsonl".as_ref()) {
                calls = parse_recorded_calls(&file, &text)?;
            } else {
                all.extend(Document::parse(file, text)?.deserialize::<Vec<ForcedMove>>()?);
            }
        }
        let recorded = calls.values().flat_map(|call| &call.moves);
        if let Some(index) = recorded
            .chain(&all)
            .position(|forced| forced.superstep == 0 || forced.process == 0)
        {
            return Err(Problem::new(format!(
                "move {} of the list of forced moves has superstep 0 or process 0",
                index + 1
            ))
            .key("decisions")
            .hint("count supersteps and processes from 1")
            .into());
        }
        for forced in all {
            let call: &mut ForcedCall = calls.entry(forced.superstep).or_default();
            call.moves.push(forced);
        }
        Ok(Box::new(Replay {
            calls_by_superstep: calls,
        }))
    }
}

impl Policy for Replay {
    fn copy(&self) -> Option<Box<dyn Policy>> {
        Some(Box::new(self.clone()))
    }

    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.is_call_planned(view.superstep)
    }

    fn is_call_planned(&self, superstep: usize) -> bool {
        self.calls_by_superstep
            .contains_key(&(superstep as u64 + 1))
    }

    fn decide(&mut self, view: &View<'_>, _random: &mut Stream) -> Result<Decision> {
        let mut occupancy = vec![0_u32; view.platform.hosts.len()];
        for host in view.placement {
            occupancy[host.index()] += 1;
        }
        let call = self
            .calls_by_superstep
            .get(&(view.superstep as u64 + 1))
            .cloned()
            .unwrap_or_default();
        let mut migrations = Vec::with_capacity(call.moves.len());
        for forced in &call.moves {
            let to = find_destination(&forced.to, &occupancy, view)?;
            occupancy[to.index()] += 1;
            migrations.push(Migration {
                process: ProcessId(forced.process - 1),
                to,
            });
        }
        Ok(Decision {
            procedure: call.procedure,
            ..Decision::from_migrations(migrations)
        })
    }

    fn uses_seed(&self) -> bool {
        false
    }
}

/// Returns the host with this name, or the host with the fewest processes in the cluster with this name. `occupancy` is the
/// number of processes on each host.
///
/// # Errors
/// Neither a host nor a cluster has this name.
fn find_destination(name: &str, occupancy: &[u32], view: &View<'_>) -> Result<HostId> {
    let platform = view.platform;
    if let Some(host) = platform.host_named(name) {
        return Ok(host);
    }
    let cluster = platform.cluster_named(name);
    let hosts = cluster.map_or(0..0, |cluster| {
        platform.clusters[cluster.index()].hosts.clone()
    });
    hosts
        .min_by_key(|&host| occupancy[host as usize])
        .map(HostId)
        .ok_or_else(|| {
            let names = platform
                .clusters
                .iter()
                .map(|cluster| cluster.name.as_str());
            let problem = Problem::new(format!(
                "a move of the list of forced moves goes to `{name}`, which is neither a host nor a cluster of the platform"
            ));
            let problem = problem.key("policy.replay").with_unknown_name("host", name);
            Error::SimulationFailure(problem.with_known_names("clusters", names))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measures, testing::test_view};
    use migsim_base::random::StreamPurpose;

    fn forced(process: u32, to: &str) -> ForcedMove {
        ForcedMove {
            superstep: 1,
            process,
            to: to.to_owned(),
        }
    }

    #[test]
    fn moves_into_one_cluster_go_to_different_hosts() {
        let platform = migsim_platform::open("lbm").unwrap().platform;
        let host = |name: &str| platform.host_named(name).unwrap();
        let placement = [host("lan-0"), host("lan-0"), host("a-0")];
        let measures = Measures::default();
        let view = test_view(&platform, &placement, &measures);
        let config = ReplayConfig {
            decisions: vec![forced(1, "a"), forced(2, "a"), forced(3, "n-0")],
            file: None,
        };
        let mut policy = config.policy().unwrap();
        assert!(policy.is_call_due(&view) && !policy.uses_seed());
        let decision = policy.decide(&view, &mut Stream::new(1, StreamPurpose::PolicyDecisions));
        let to: Vec<HostId> = decision.unwrap().migrations.iter().map(|m| m.to).collect();
        assert_eq!(to, [host("a-1"), host("a-2"), host("n-0")]);
    }
}
