//! MigBSP with a test of the whole plan: candidates leave the slowest host first, and only as many move as pay together.
//!
//! In the papers a candidate moves if its own time falls. But a superstep lasts as long as its slowest host, so that a move from
//! another host gains nothing, while each move is paid for. `migbsp-2` is migsim's own; it keeps the interval between calls, the
//! forecasts, the potential of migration PM and the choice of the host, and changes the last step of a call:
//!
//! ```text
//! time(h)  = max(share(h) · Σ_i t_i(h), max_i t_i(h)) + max_i comm_i(h)     predicted, over the processes i on host h
//! T(k)     = max_h time(h) after the first k moves of the plan
//! gain(k)  = left · (T(0) - T(k)) - Σ price                                  the k with the largest gain above 0 is taken
//! ```
//! `t_i(h)` is the time of process i alone on host h, `share(h)` what the cores and the load of the host leave to a process, and
//! `comm_i(h)` the time of its messages without contention. The next move of the plan is that of the candidate with the highest PM
//! on the host that is then the slowest, if it is viable (t1 > t2, both without messages) and the new host stays faster; the plan
//! ends when this host has no candidate left. The price of a move is that of the last call with moves, with the call itself,
//! divided by their number; before such a call it is the transfer of the memory. `left` is the number of supersteps that are left,
//! so that the application must know its end.
//!
//! A plan moves one process after the other and predicts the messages of each from where its partners are. So it does not find
//! moves that pay only together: where processes that exchange much are spread over a WAN, `migbsp` may gather them and `migbsp-2`
//! leave them (22 times as long in LU on two sites from a round-robin start). Choose a start first: `migsim advise`.
//!
//! | | `migbsp` on a platform of your own | `migbsp-2` |
//! |---|---|---|
//! | moves of a call | each candidate alone | a plan, slowest host first |
//! | t2 | without the transfer of the memory, over one superstep | with it, over all supersteps that are left |
//! | x, the share of the highest PM above which processes are candidates | 0.68 | 0.3, since the plan leaves out what does not pay |
//!
//! So it is `migbsp{plan=slowest,viability_transfer=true,viability_horizon=rest,x=0.3}` on a platform of your own.
//!
//! How it was chosen, on what it was judged and where it loses stands in `results/migbsp-2.md`.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    MigBsp,
    config::{
        CandidateOrder, CommunicationTime, FirstTest, Horizon, IndexForm, MemoryRate, MigBspConfig,
        OwnCluster, Plan, ProcessTime, SetIndex,
    },
    explain::{MigBspNarrator, PlanRecord},
    potential::MigrationPotential,
    viability::{CandidateTimes, Reservations, ViabilityTest},
};
use crate::{Candidate, Policy, PolicyOptions, explain::Narrator};
use migsim_base::{
    error::Error,
    plugin::OptionFlag,
    units::{HostId, ProcessId, Seconds},
};

/// The options of the policy `migbsp-2`; all other options of MigBSP have the values that the policy stands for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MigBsp2Options {
    /// Number α of supersteps until the first call, and the smallest number of supersteps between two calls.
    pub alpha: u32,
    /// Tolerance D of the stability test. A superstep is stable if the times of all processes lie within avg·(1 ± D); a share,
    /// from 0 to 10.
    pub d: f64,
    /// Number ω of calls in a row without migration after which the tolerance D grows.
    pub omega: u32,
    /// The share x of the highest potential of migration PM above which processes are candidates; in \[0, 1\].
    pub x: f64,
}

impl Default for MigBsp2Options {
    fn default() -> Self {
        let MigBspConfig {
            alpha, d, omega, ..
        } = MigBspConfig::default();
        Self {
            alpha,
            d,
            omega,
            x: 0.3,
        }
    }
}

impl PolicyOptions for MigBsp2Options {
    const FLAGS: &'static [OptionFlag] = MigBspConfig::FLAGS;
    const RANGES: &'static [(&'static str, &'static str)] = &[
        super::ALPHA_RANGE,
        ("omega", "1..8"),
        super::TOLERANCE_RANGE,
        ("x", "0..1.0:0.1"),
    ];
    const SHARES: &'static [&'static str] = &["d"];

    fn narrator() -> &'static dyn Narrator {
        &MigBspNarrator
    }

    fn policy(self) -> Result<Box<dyn Policy>, Error> {
        let Self { alpha, d, omega, x } = self;
        Ok(Box::new(MigBsp::new(MigBspConfig {
            alpha,
            d,
            omega,
            x,
            // As `migbsp` on a platform of one's own.
            process_time: ProcessTime::ComputeAndSend,
            first_test: FirstTest::Stable,
            communication_time: CommunicationTime::Received,
            set_index: SetIndex::BestHost,
            index_form: IndexForm::GainOverSource,
            potential_horizon: Horizon::NextInterval,
            memory_rate: MemoryRate::Backbone,
            own_cluster: OwnCluster::Within,
            candidate_order: CandidateOrder::PotentialLastAnswered,
            // Its own.
            plan: Plan::Slowest,
            viability_horizon: Horizon::Rest,
            viability_transfer: true,
            ..MigBspConfig::default()
        })?))
    }
}

/// The predicted times of the hosts of a placement.
struct HostTimes {
    members: Vec<Vec<u32>>,
    times: Vec<f64>,
}

impl HostTimes {
    fn new(test: &ViabilityTest<'_>) -> Self {
        let mut members = vec![Vec::new(); test.view.platform.hosts.len()];
        for (process, host) in test.view.placement.iter().enumerate() {
            members[host.index()].push(ProcessId::from_index(process).0);
        }
        let hosts = members.iter().enumerate();
        let times = hosts.map(|(host, own)| time_of_host(test, host, own));
        Self {
            times: times.collect(),
            members,
        }
    }

    /// Returns the slowest host, the first of several, and its time.
    fn slowest(&self) -> (usize, f64) {
        let mut slowest = (0, 0.0);
        for (host, &time) in self.times.iter().enumerate() {
            if time > slowest.1 {
                slowest = (host, time);
            }
        }
        slowest
    }

    /// Moves a process, unless the time of its new host would not be below `limit`; returns whether it moved.
    fn try_move(
        &mut self,
        test: &ViabilityTest<'_>,
        process: u32,
        [from, to]: [usize; 2],
        limit: f64,
    ) -> bool {
        self.members[to].push(process);
        let time = time_of_host(test, to, &self.members[to]);
        if time >= limit {
            self.members[to].pop();
            return false;
        }
        self.members[from].retain(|&one| one != process);
        self.times[to] = time;
        self.times[from] = time_of_host(test, from, &self.members[from]);
        true
    }
}

/// Returns the predicted time of a superstep on a host with these processes \[s\].
fn time_of_host(test: &ViabilityTest<'_>, host: usize, members: &[u32]) -> f64 {
    let id = HostId::from_index(host);
    let (mut sum, mut longest, mut messages) = (0.0_f64, 0.0_f64, 0.0_f64);
    for &process in members {
        let process = process as usize;
        let work = test.forecasts.predicted_work(process);
        let time = test.view.execution_time(work, id).get();
        sum += time;
        longest = longest.max(time);
        messages = messages.max(test.uncontended_communication_times(process, id).1);
    }
    if members.is_empty() {
        return 0.0;
    }
    let count = members.len() as f64;
    let share = test.view.slowdown(id, count) / test.view.slowdown(id, 1.0) / count;
    (sum * share).max(longest) + messages
}

impl ViabilityTest<'_> {
    /// Decides the moves of a call as a plan. `price` is the price of a move, if a call has shown it.
    pub(super) fn judge_plan(
        &self,
        reservations: &mut Reservations,
        price: Option<Seconds>,
    ) -> (Vec<Candidate>, Vec<CandidateTimes>, PlanRecord) {
        let mut hosts = HostTimes::new(self);
        let mut waiting: Vec<Vec<&MigrationPotential>> = vec![Vec::new(); hosts.times.len()];
        for candidate in self.candidates.iter().rev() {
            let host = self.view.placement[candidate.process()];
            waiting[host.index()].push(candidate);
        }
        let (first, before_s) = hosts.slowest();
        let mut plan = PlanRecord {
            slowest_host: self.view.platform.hosts[first].name.clone(),
            supersteps: self.horizon_supersteps,
            before_s,
            after_s: before_s,
            ..PlanRecord::default()
        };
        let (mut judged, mut times) = (Vec::new(), Vec::new());
        // The number of judged candidates up to the end of the best plan; the moves so far and their price.
        let (mut end, mut moves, mut price_s) = (0, 0, 0.0);
        loop {
            let (slowest, limit) = hosts.slowest();
            let Some(candidate) = waiting[slowest].pop() else {
                break;
            };
            let (mut record, its_times) = self.judge_candidate(candidate, reservations);
            if let (true, Some(to)) = (record.accepted, record.to) {
                let process = record.process.0;
                if hosts.try_move(self, process, [slowest, to.index()], limit) {
                    let cost_of =
                        |times: &CandidateTimes| times.go_transfer_s + times.go_operations_s;
                    let stated = its_times.as_ref().map_or(0.0, cost_of);
                    moves += 1;
                    price_s += price.map_or(stated, Seconds::get);
                    let after_s = hosts.slowest().1;
                    let longer = PlanRecord {
                        moves,
                        after_s,
                        price_s,
                        ..plan.clone()
                    };
                    if longer.gain_s() > plan.gain_s() {
                        (plan, end) = (longer, judged.len() + 1);
                    }
                } else {
                    let back = [to, record.from];
                    reservations.move_process(process as usize, back, self.forecasts, self.view);
                    record.accepted = false;
                    record.reason =
                        "viable alone, but its new host would be as slow as the slowest".into();
                }
            }
            times.extend(its_times);
            judged.push(record);
        }
        self.complete_records(&mut judged, end);
        (judged, times, plan)
    }

    /// Says why accepted candidates after the first `end` ones stay, and adds those that no plan tried, in the order of the
    /// candidates, so that the record has all of them.
    fn complete_records(&self, judged: &mut Vec<Candidate>, end: usize) {
        for record in &mut judged[end..] {
            if record.accepted {
                record.accepted = false;
                record.reason = "viable alone, but the plan gains less with its move".into();
            }
        }
        let tried: BTreeSet<usize> = judged.iter().map(|one| one.process.index()).collect();
        let left = self.candidates.iter();
        let left = left.filter(|one| !tried.contains(&one.process()));
        judged.extend(left.map(|one| {
            self.staying_candidate(one, "not on the slowest host during the plan".into())
        }));
    }
}
