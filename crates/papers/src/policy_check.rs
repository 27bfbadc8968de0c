//! Checks of claims on the policy of the first paper ([`migsim_policies::migbsp_2007`]), as the facts describe them: the policy
//! decides calls after a few constructed supersteps on the platform `ufrgs`, and values in the records of its decisions are
//! compared.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use migsim_base::{
    error::Error,
    random::{Stream, StreamPurpose},
    units::{Bytes, BytesPerSecond, HostId, Instructions, Seconds, Time},
};
use migsim_bsp::{ExternalLoad, Measures, Policy, Traffic, View};
use migsim_engine::NetworkModel;
use migsim_platform::{Platform, Profile};
use migsim_policies::{MigBsp2007, MigBsp2007Config};

/// Result of checking a claim: whether the claim holds (`None` if the simulation cannot decide this), and the simulated value
/// that decides the claim.
pub type ClaimOutcome = Result<(Option<bool>, Value), Error>;

/// Check of a claim on the policy: constructed runs, the values that their calls record, and a text about these values.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct PolicyCheck {
    runs: Vec<PolicyRun>,
    /// Expected value at each place in the records: number of the run, number of the call and keys; `*` stands for all entries.
    read: BTreeMap<String, Value>,
    /// Description of the expected values; for a claim without runs, the reason why it cannot be checked.
    seen: String,
}

/// Processes on the platform `ufrgs`, and what the policy measures in each superstep. Every superstep lasts a second.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyRun {
    hosts: Vec<u32>,
    alpha: Option<u32>,
    /// Memory of each process \[B\]; 1 MB if it is empty.
    #[serde(default)]
    memory: Vec<f64>,
    /// Number of rescheduling calls after which the run ends; 1 if it is not given.
    calls: Option<usize>,
    /// Work \[instr\] and computation time \[s\] of each process; a list of amounts of work is repeated over the supersteps.
    #[serde(default)]
    computation: Vec<(Vec<f64>, f64)>,
    #[serde(default)]
    traffic: Vec<ClusterTraffic>,
    /// Host that others use by half.
    loaded: Option<usize>,
    /// Range of hosts with a memory of 1 B.
    full: Option<(usize, usize)>,
    /// Host whose link is a thousand times slower.
    slow_link: Option<u32>,
}

#[derive(Clone, Debug, Deserialize)]
struct ClusterTraffic {
    process: usize,
    cluster: usize,
    /// Amounts of data \[B\], repeated over the supersteps, and the time \[s\].
    #[serde(default)]
    sent: (Vec<f64>, f64),
    #[serde(default)]
    received: (Vec<f64>, f64),
}

impl PolicyCheck {
    pub(super) fn outcome(&self) -> ClaimOutcome {
        let calls = self.runs.iter().map(PolicyRun::decide_calls);
        let calls = Value::Array(calls.collect::<Result<_, _>>()?);
        let read = |path: &String| value_at(&calls, &path.split('/').collect::<Vec<_>>());
        let holds = self.read.iter().all(|(path, wanted)| read(path) == *wanted);
        Ok(match self.runs[..] {
            [] => (None, self.seen.as_str().into()),
            _ if holds => (Some(true), self.seen.as_str().into()),
            _ => (Some(false), self.read.keys().map(read).collect()),
        })
    }
}

fn value_at(value: &Value, path: &[&str]) -> Value {
    let entries = value.as_array().into_iter().flatten();
    match path {
        [] => value.clone(),
        ["*", rest @ ..] => entries.map(|entry| value_at(entry, rest)).collect(),
        [key, rest @ ..] => value_at(value.pointer(&format!("/{key}")).unwrap_or_default(), rest),
    }
}

impl PolicyRun {
    /// Returns the record of each rescheduling call, with its superstep (from 1) and its moves (process and host).
    fn decide_calls(&self) -> Result<Value, Error> {
        let platform = self.platform()?;
        let alpha = self.alpha;
        let config = MigBsp2007Config::default();
        let mut policy = MigBsp2007::new(MigBsp2007Config {
            alpha: alpha.unwrap_or(config.alpha),
            ..config
        })?;
        let placement: Vec<HostId> = self.hosts.iter().copied().map(HostId).collect();
        let mut memory: Vec<Bytes> = self.memory.iter().copied().map(Bytes::of).collect();
        memory.resize(placement.len(), Bytes::of(1e6));
        let mut random = Stream::new(1, StreamPurpose::PolicyDecisions);
        let mut measures = Measures::default();
        let mut calls = Vec::new();
        for superstep in 0.. {
            measures.clear(placement.len());
            self.fill(superstep, &mut measures);
            let view = View {
                platform: &platform,
                network: &NetworkModel::default(),
                superstep,
                now: Time::ZERO + Seconds::of((superstep + 1) as f64),
                placement: &placement,
                measurements: &measures,
                process_memory: &memory,
                external_load: &vec![ExternalLoad::default(); platform.hosts.len()],
                cycles_per_instruction: 1.0,
                executes_migrations: false,
                messages: &[],
                total_supersteps: usize::MAX,
                last_call_cost: Seconds::default(),
                pinned_processes: &[],
                seed: 1,
                workload: None,
            };
            if policy.is_call_due(&view) {
                let decision = policy.decide(&view, &mut random)?;
                let moves = decision.migrations.iter();
                let moves: Value = moves.map(|one| json!([one.process.0, one.to.0])).collect();
                let mut record: Map<String, Value> = decision.explanation_json();
                record.insert("superstep".into(), (superstep + 1).into());
                record.insert("moves".into(), moves);
                calls.push(record);
                policy.on_migrations_executed(0);
            }
            if calls.len() == self.calls.unwrap_or(1) {
                break;
            }
        }
        Ok(calls.into())
    }

    fn platform(&self) -> Result<Platform, Error> {
        let mut platform = migsim_platform::open("ufrgs")?.platform;
        if let Some(host) = self.loaded {
            platform.hosts[host].speed_profile = Profile::new(vec![(0.0, 0.5)], None).ok();
        }
        for host in self.full.map_or(0..0, |(first, end)| first..end) {
            platform.hosts[host].memory = Some(Bytes::of(1.0));
        }
        let route = self
            .slow_link
            .and_then(|host| platform.route(HostId(0), HostId(host)));
        if let Some(link) = route.and_then(|route| route.last_link) {
            let link = &mut platform.links[link.index()];
            link.bandwidth = BytesPerSecond::of(link.bandwidth.get() / 1000.0);
        }
        Ok(platform)
    }

    /// Sets the measures of a superstep (from 0).
    fn fill(&self, superstep: usize, measures: &mut Measures) {
        let amount = |amounts: &[f64]| {
            amounts
                .iter()
                .cycle()
                .nth(superstep)
                .copied()
                .unwrap_or(0.0)
        };
        for (process, (work, time)) in self.computation.iter().enumerate() {
            measures.work[process] = Instructions::of(amount(work));
            measures.computation_times[process] = Seconds::of(*time);
        }
        for one in &self.traffic {
            *measures.traffic_mut(one.process, one.cluster) = Traffic {
                sent_bytes: Bytes::of(amount(&one.sent.0)),
                send_time: Seconds::of(one.sent.1),
                received_bytes: Bytes::of(amount(&one.received.0)),
                receive_time: Seconds::of(one.received.1),
                ..Traffic::default()
            };
        }
    }
}
