//! `MigBSP` on hand-worked cases, through the view that the runtime would show it; each option has a case in which it changes the
//! outcome.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use migsim::bsp::Scenario;
use migsim::error::Error;
use migsim::platform::Platform;
use migsim::policy::migbsp::{
    AfterMigration, CallingSuperstep, CandidateOrder, CommunicationPattern, CommunicationTime,
    FirstTest, Floor, FreeHost, FullCluster, Heuristic, Horizon, HostLoad, IdleAgeing, IdlePattern,
    IdleSuperstep, MemoryRate, OwnCluster, Population, ProcessTime, QuietCall, SetIndex, Sharing,
    ThresholdMeaning, ToleranceGrowth, ToleranceTrigger,
};
use migsim::policy::{Decision, Measures, MigBsp, MigBspConfig, Policy, Traffic, View};
use migsim::random::{Purpose, Stream};
use migsim::units::{Bytes, HostId, Time};

use crate::support::{
    Case, Plans, ROUNDING, Wire, assert_close, bytes, instructions, machine, plan, seconds,
};

/// 1e6 B/s, no delay: a memory of 1e6 B takes 1 s.
const WIRE: Wire = Wire(1e6, 0.0);

/// What the runtime would know: processes that compute, on a machine.
struct World {
    platform: Platform,
    placement: Vec<HostId>,
    memory: Vec<Bytes>,
    external_load: Vec<f64>,
    measures: Measures,
    superstep: usize,
}

impl World {
    /// Process i is on host `placement[i]` and computes 1 s in every superstep.
    fn new(clusters: &[&[f64]], placement: &[u32]) -> Self {
        let platform = machine(clusters, WIRE, WIRE);
        let mut measures = Measures::default();
        measures.clear(placement.len());
        let mut world = Self {
            placement: placement.iter().copied().map(HostId).collect(),
            memory: vec![Bytes::default(); placement.len()],
            external_load: vec![0.0; platform.hosts.len()],
            platform,
            measures,
            superstep: 0,
        };
        world.compute(&vec![1.0; placement.len()]);
        world
    }

    /// Lets each process compute so long [s] at the speed of its host.
    fn compute(&mut self, times: &[f64]) {
        for (process, &time) in times.iter().enumerate() {
            let speed = self.platform.hosts[self.placement[process].index()]
                .speed
                .get();
            self.measures.work[process] = instructions(time * speed);
            self.measures.compute[process] = seconds(time);
        }
    }

    /// What a process exchanges with a cluster: bytes sent and received, and how long that takes [s].
    fn exchange(&mut self, process: usize, cluster: usize, size: [f64; 2], time: [f64; 2]) {
        *self.measures.traffic_mut(process, cluster) = Traffic {
            sent: bytes(size[0]),
            received: bytes(size[1]),
            send_time: seconds(time[0]),
            receive_time: seconds(time[1]),
        };
    }

    fn view(&self) -> View<'_> {
        View {
            platform: &self.platform,
            superstep: self.superstep,
            now: Time::ZERO,
            placement: &self.placement,
            measures: &self.measures,
            memory: &self.memory,
            external_load: &self.external_load,
            cycles_per_instruction: 1.0,
            migrations_happen: true,
            messages: &[],
            supersteps: usize::MAX,
            last_price: seconds(0.0),
            pinned: &[],
        }
    }

    fn observe(&mut self, policy: &mut MigBsp) -> bool {
        let is_due = policy.is_call_due(&self.view());
        self.superstep += 1;
        is_due
    }

    fn decide(&self, policy: &mut MigBsp) -> Decision {
        let mut random = Stream::new(1, Purpose::Policy);
        policy
            .decide(&self.view(), &mut random)
            .expect("a decision")
    }

    /// The decision of the next call, all supersteps until then alike.
    fn call(&mut self, policy: &mut MigBsp) -> Decision {
        while !self.observe(policy) {}
        self.decide(policy)
    }

    /// The decision of the first call under `config`.
    fn first_call(&mut self, config: MigBspConfig) -> Decision {
        self.call(&mut policy(config))
    }

    /// The decision of a call after supersteps in which process 1 computes these times [s] and the others nothing.
    fn call_after(&mut self, policy: &mut MigBsp, times: &[f64]) -> Decision {
        let mut all = vec![0.0; self.placement.len()];
        for (index, &time) in times.iter().enumerate() {
            all[0] = time;
            self.compute(&all);
            assert_eq!(self.observe(policy), index + 1 == times.len());
        }
        self.decide(policy)
    }
}

fn policy(config: MigBspConfig) -> MigBsp {
    MigBsp::new(config).expect("options in range")
}

fn default() -> MigBspConfig {
    MigBspConfig::default()
}

/// One cluster of three hosts: nothing can ever migrate.
fn still() -> World {
    World::new(&[&[1e9; 3]], &[0, 1, 2])
}

/// After which supersteps (from 1) the first `count` calls come, and D at each; `times` gives what each superstep computes, `moved` how
/// many processes move after each call.
fn calls(
    config: MigBspConfig,
    world: &mut World,
    count: usize,
    times: impl Fn(usize) -> [f64; 3],
    moved: impl Fn(usize) -> usize,
) -> (Vec<usize>, Vec<f64>) {
    let mut policy = policy(config);
    let (mut dates, mut tolerances) = (Vec::new(), Vec::new());
    while dates.len() < count {
        world.compute(&times(world.superstep + 1)[..world.placement.len()]);
        if world.observe(&mut policy) {
            let decision = world.decide(&mut policy);
            dates.push(world.superstep);
            tolerances.push(decision.explained()["d"].as_f64().expect("a number"));
            policy.on_outcome(moved(dates.len()));
        }
    }
    (dates, tolerances)
}

/// The dates of the first three calls on the still machine.
fn dates(config: MigBspConfig, times: impl Fn(usize) -> [f64; 3]) -> Vec<usize> {
    calls(config, &mut still(), 3, times, |_| 0).0
}

/// The D of the first seven calls, all supersteps alike.
fn tolerances(config: MigBspConfig, times: [f64; 3], moved: impl Fn(usize) -> usize) -> Vec<f64> {
    calls(config, &mut still(), 7, |_| times, moved).1
}

const STABLE: [f64; 3] = [1.0, 1.0, 1.0];
/// Mean 1, D of 0.9 needed (and a hair).
const UNSTABLE: [f64; 3] = [0.1, 1.0, 1.9];

// When.

#[test]
fn a_stable_system_doubles_the_interval_at_each_call() {
    // 4; +4 = 8; +8 = 16: 4, 4 + 8, 12 + 16.
    assert_eq!(dates(default(), |_| STABLE), [4, 12, 28]);
}

#[test]
fn an_unstable_system_is_called_at_the_floor_of_the_interval() {
    assert_eq!(dates(default(), |_| UNSTABLE), [4, 8, 12]);
    let one = MigBspConfig {
        floor: Floor::One,
        ..default()
    };
    // 4 - 4 = 0, at least 1.
    assert_eq!(dates(one, |_| UNSTABLE), [4, 5, 6]);
}

#[test]
fn the_margin_of_stability_is_strict() {
    // Mean 2; 1 and 3 are exactly 0.5 off.
    let times = [1.0, 2.0, 3.0];
    assert_eq!(dates(default(), |_| times), [4, 8, 12]);
    let wider = MigBspConfig {
        d: 0.51,
        ..default()
    };
    assert_eq!(dates(wider, |_| times), [4, 12, 28]);
}

#[test]
fn a_superstep_in_which_nobody_computes_votes_as_the_option_says() {
    let idle = |idle_superstep| {
        let config = MigBspConfig {
            floor: Floor::One,
            idle_superstep,
            ..default()
        };
        dates(config, |_| [0.0; 3])
    };
    assert_eq!(idle(IdleSuperstep::NoVote), [4, 8, 12]);
    assert_eq!(idle(IdleSuperstep::Stable), [4, 12, 28]);
    assert_eq!(idle(IdleSuperstep::Unstable), [4, 5, 6]);
}

#[test]
fn idle_processes_take_part_in_the_test_only_where_all_do() {
    let with = |population| {
        dates(
            MigBspConfig {
                population,
                ..default()
            },
            |_| [1.0, 1.0, 0.0],
        )
    };
    assert_eq!(with(Population::Computing), [4, 12, 28]);
    assert_eq!(with(Population::All), [4, 8, 12]);
}

#[test]
fn the_time_that_is_tested_is_an_option() {
    let run = |process_time, send, communication| {
        let mut world = still();
        world.measures.send[0] = seconds(send);
        world.measures.communication[0] = seconds(communication);
        let config = MigBspConfig {
            process_time,
            ..default()
        };
        calls(config, &mut world, 2, |_| STABLE, |_| 0).0
    };
    // 1 + 5, 1 and 1 s are not stable.
    for (process_time, with_send, with_communication) in [
        (ProcessTime::Compute, 12, 12),
        (ProcessTime::ComputeAndSend, 8, 12),
        (ProcessTime::ComputeAndCommunicate, 12, 8),
    ] {
        assert_eq!(run(process_time, 5.0, 0.0), [4, with_send]);
        assert_eq!(run(process_time, 0.0, 5.0), [4, with_communication]);
    }
}

#[test]
fn the_first_test_can_count_as_stable() {
    let with = |first_test| {
        let config = MigBspConfig {
            floor: Floor::One,
            first_test,
            ..default()
        };
        dates(config, |_| UNSTABLE)
    };
    assert_eq!(with(FirstTest::Measured)[..2], [4, 5]);
    // 4 + 1 - 3 = 2.
    assert_eq!(with(FirstTest::Stable)[..2], [4, 6]);
}

#[test]
fn the_test_of_the_calling_superstep_counts_before_or_after_the_call() {
    let with = |calling_superstep| {
        let config = MigBspConfig {
            floor: Floor::One,
            calling_superstep,
            ..default()
        };
        let times = |superstep: usize| {
            if superstep.is_multiple_of(4) {
                STABLE
            } else {
                UNSTABLE
            }
        };
        dates(config, times)
    };
    // Votes -, -, -, +. Before: 4 - 3 + 1 = 2, then -, - gives 1 at the call after 6.
    assert_eq!(with(CallingSuperstep::Before), [4, 6, 7]);
    // After: 4 - 3 = 1: a call after 5. The + of the first call makes that α' = 2, whose interval ends at 7.
    assert_eq!(with(CallingSuperstep::After), [4, 5, 7]);
}

#[test]
fn d_grows_at_the_omega_th_quiet_call_and_as_the_options_say() {
    use ToleranceGrowth::{Add, Fit, Multiply};
    use ToleranceTrigger::{EachOmega, Every, Once};
    let with = |d_growth, d_trigger| {
        let config = MigBspConfig {
            d_growth,
            d_trigger,
            ..default()
        };
        tolerances(config, UNSTABLE, |_| 0)
    };
    assert_eq!(with(Multiply, Every), [0.5, 0.5, 0.5, 1.0, 2.0, 4.0, 8.0]);
    assert_eq!(
        with(Multiply, EachOmega),
        [0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 2.0]
    );
    assert_eq!(with(Multiply, Once), [0.5, 0.5, 0.5, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(with(Add, Every), [0.5, 0.5, 0.5, 1.0, 1.5, 2.0, 2.5]);
    let fitted = with(Fit, Every);
    assert_eq!(fitted[..3], [0.5; 3]);
    assert_close(fitted[3], 0.9, 1e-8, "what the superstep needs");
    let slower = MigBspConfig {
        d_factor: 1.5,
        omega: 2,
        ..default()
    };
    assert_eq!(
        tolerances(slower, UNSTABLE, |_| 0)[..4],
        [0.5, 0.5, 0.75, 1.125]
    );
}

#[test]
fn a_grown_d_lets_the_interval_grow() {
    // Calls at 4, 8 and 12; then D is enough, and intervals are 4 (found stable only now), 8, 16.
    for d_growth in [ToleranceGrowth::Multiply, ToleranceGrowth::Fit] {
        let config = MigBspConfig {
            d_growth,
            ..default()
        };
        let (dates, _) = calls(config, &mut still(), 6, |_| UNSTABLE, |_| 0);
        assert_eq!(dates, [4, 8, 12, 16, 24, 40]);
    }
}

#[test]
fn a_migration_keeps_resets_or_takes_back_d() {
    // D is 2 at the fifth call, at which one process moves.
    let with = |d_after_migration| {
        let config = MigBspConfig {
            d_after_migration,
            quiet_call: QuietCall::Moved,
            ..default()
        };
        tolerances(config, UNSTABLE, |call| usize::from(call == 5))[4..].to_vec()
    };
    assert_eq!(with(AfterMigration::Keep), [2.0, 2.0, 2.0]);
    assert_eq!(with(AfterMigration::Reset), [2.0, 0.5, 0.5]);
    assert_eq!(with(AfterMigration::StepBack), [2.0, 1.0, 1.0]);
}

#[test]
fn a_decision_that_moves_nothing_is_quiet_or_not() {
    // A faster cluster: one process is to move at each call, and does not (scenario ii).
    let with = |quiet_call| {
        let mut world = World::new(&[&[1e9], &[2e9]], &[0]);
        let config = MigBspConfig {
            quiet_call,
            ..default()
        };
        calls(config, &mut world, 5, |_| STABLE, |_| 0).1
    };
    assert_eq!(with(QuietCall::Decided), [0.5; 5]);
    assert_eq!(with(QuietCall::Moved), [0.5, 0.5, 0.5, 1.0, 2.0]);
}

// Which: forecasts and potentials.

/// A term of PM(i,j) [s]; processes from 0.
fn term(decision: &Decision, process: u64, cluster: &str, key: &str) -> f64 {
    let explained = decision.explained();
    let all = explained["potentials"].as_array().expect("a list");
    all.iter()
        .find(|entry| entry["process"] == process + 1 && entry["cluster"] == cluster)
        .and_then(|entry| entry[key].as_f64())
        .expect("a term")
}

/// Process 1 on the slow host of cluster a, cluster b twice as fast.
fn two_clusters() -> World {
    World::new(&[&[1e9, 1e9], &[2e9, 2e9]], &[0])
}

/// The terms below are read at cluster b, the best one: its index is 1.
fn compute_term(decision: &Decision) -> f64 {
    term(decision, 0, "b", "compute_s")
}

#[test]
fn a_forecast_ages_by_half_and_starts_afresh_after_a_call() {
    // 8; (8 + 4)/2 = 6; (6 + 4)/2 = 5; 4.5. All within half of 4 (6 just so): Pcomp stays 1.
    let mut world = two_clusters();
    let mut policy = policy(default());
    let decision = world.call_after(&mut policy, &[8.0, 4.0, 4.0, 4.0]);
    assert_eq!(compute_term(&decision), 4.5);
    policy.on_outcome(0);
    // Stable: eight supersteps of 2 s; with a trace of the 4.5 s it would be 2.01.
    let decision = world.call_after(&mut policy, &[2.0; 8]);
    assert_eq!(compute_term(&decision), 2.0);
}

#[test]
fn the_regularity_falls_and_rises_by_one_over_alpha() {
    // δ = 0.1: 8 is right (1); 6, 5 and 4.5 are not within 10 % of 4: 0.75, 0.5, 0.25. PM = 0.25 · 4.5.
    let mut world = two_clusters();
    let config = MigBspConfig {
        delta: 0.1,
        ..default()
    };
    let mut policy = policy(config);
    let decision = world.call_after(&mut policy, &[8.0, 4.0, 4.0, 4.0]);
    assert_eq!(compute_term(&decision), 1.125);
    policy.on_outcome(0);
    // α is 8 now: four right supersteps of 2 s add 4/8, then 4 more: 0.25 + 1, at most 1.
    let decision = world.call_after(&mut policy, &[2.0; 8]);
    assert_eq!(compute_term(&decision), 2.0);
}

#[test]
fn idle_supersteps_age_the_forecast_and_the_regularity_as_the_options_say() {
    // 8 s, then three idle ones. Zero enters: 4, 2, 1 s; else 8 s stays. Judged: 0.75, 0.5, 0.25; else 1 stays.
    for (idle_ageing, idle_pattern, expected) in [
        (IdleAgeing::Zero, IdlePattern::Judged, 0.25),
        (IdleAgeing::Zero, IdlePattern::Unchanged, 1.0),
        (IdleAgeing::Skip, IdlePattern::Judged, 2.0),
        (IdleAgeing::Skip, IdlePattern::Unchanged, 8.0),
    ] {
        let config = MigBspConfig {
            idle_ageing,
            idle_pattern,
            ..default()
        };
        let decision = two_clusters().call_after(&mut policy(config), &[8.0, 0.0, 0.0, 0.0]);
        assert_eq!(
            compute_term(&decision),
            expected,
            "{idle_ageing:?} {idle_pattern:?}"
        );
    }
}

/// Comm(1, b) at two calls, in each interval 1000 B and 1 s with cluster b in the first superstep only; α stays 4.
fn communication_terms(config: MigBspConfig) -> [f64; 2] {
    let mut world = World::new(&[&[1e9; 3], &[2e9]], &[0, 1, 2]);
    let mut policy = policy(config);
    world.compute(&UNSTABLE);
    [0, 1].map(|_| {
        for index in 0..4 {
            let size = if index == 0 { 1.0 } else { 0.0 };
            world.exchange(0, 1, [size * 1000.0, 0.0], [size, 0.0]);
            world.observe(&mut policy);
        }
        let decision = world.decide(&mut policy);
        policy.on_outcome(0);
        term(&decision, 0, "b", "communication_s")
    })
}

#[test]
fn the_regularity_of_communication_lives_as_the_option_says() {
    // BTP: 1, 0.5, 0.25, 0.125 s. Right, then three times wrong.
    let with = |communication_pattern| {
        communication_terms(MigBspConfig {
            communication_pattern,
            ..default()
        })
    };
    // 1, 0.75, 0.5, 0.25; then 0.5, 0.25, 0, 0.
    assert_eq!(with(CommunicationPattern::OneKept), [0.25 * 0.125, 0.0]);
    assert_eq!(with(CommunicationPattern::OneEachCall), [0.25 * 0.125; 2]);
    // 0.25, 0, 0, 0.
    assert_eq!(with(CommunicationPattern::ZeroKept), [0.0; 2]);
}

#[test]
fn beta_says_how_near_a_forecast_of_bytes_must_be() {
    // 1000, then 400 B: 700, 550, 475 foreseen. β = 0.5 (at most 600): one wrong; β = 1: none. BTP = 1 s throughout.
    let with = |beta| {
        let mut world = two_clusters();
        let config = MigBspConfig { beta, ..default() };
        let mut policy = policy(config);
        for size in [1000.0, 400.0, 400.0, 400.0] {
            world.exchange(0, 1, [size, 0.0], [1.0, 0.0]);
            world.observe(&mut policy);
        }
        term(&world.decide(&mut policy), 0, "b", "communication_s")
    };
    assert_eq!(with(0.1), 0.25);
    assert_eq!(with(1.0), 1.0);
    // 0.75 after the wrong one, 1 after two right ones.
    assert_eq!(with(0.5), 1.0);
}

#[test]
fn communication_time_is_the_larger_side_or_the_sum() {
    let with = |communication_time| {
        let mut world = two_clusters();
        world.exchange(0, 1, [10.0, 20.0], [0.25, 0.5]);
        let config = MigBspConfig {
            communication_time,
            ..default()
        };
        term(&world.first_call(config), 0, "b", "communication_s")
    };
    assert_eq!(with(CommunicationTime::Larger), 0.5);
    assert_eq!(with(CommunicationTime::Sum), 0.75);
}

#[test]
fn the_potential_is_computation_and_communication_less_memory() {
    // Clusters at 1, 2 and 4 GHz (means 1, 2, 4): indices 0.25, 0.5, 1. 6 s of computation; with b 3 s of communication;
    // 1e6 B of memory at 1e6 B/s and 0.5 s of operations.
    let mut world = World::new(&[&[1e9], &[1e9, 3e9], &[4e9]], &[0]);
    world.compute(&[6.0]);
    world.memory[0] = bytes(1e6);
    world.exchange(0, 1, [100.0, 0.0], [3.0, 0.0]);
    let config = MigBspConfig {
        migration_operations: seconds(0.5),
        x: 0.0,
        ..default()
    };
    let decision = world.first_call(config);
    let terms = |cluster| {
        ["compute_s", "communication_s", "memory_s", "potential_s"]
            .map(|key| term(&decision, 0, cluster, key))
    };
    assert_eq!(terms("b"), [3.0, 3.0, 1.5, 4.5]);
    assert_eq!(terms("c"), [6.0, 0.0, 1.5, 4.5]);
    // Of equal ones the first cluster is wanted.
    assert_eq!(decision.candidates[0].to_cluster.0, 1);
    assert_eq!(decision.candidates[0].score, 4.5);
}

#[test]
fn memory_counts_as_the_options_say() {
    // 2e6 B; managers: access links of 1e6 B/s; backbone: 4e6 B/s.
    let with = |memory_transfer, memory_rate| {
        let mut world = two_clusters();
        world.platform = machine(&[&[1e9, 1e9], &[2e9, 2e9]], WIRE, Wire(4e6, 0.0));
        world.memory[0] = bytes(2e6);
        let config = MigBspConfig {
            memory_transfer,
            memory_rate,
            ..default()
        };
        term(&world.first_call(config), 0, "b", "memory_s")
    };
    assert_eq!(with(true, MemoryRate::Managers), 2.0);
    assert_eq!(with(true, MemoryRate::Backbone), 0.5);
    assert_eq!(with(false, MemoryRate::Managers), 0.0);
}

#[test]
fn the_index_of_a_cluster_is_what_the_option_says() {
    // b: four hosts of 1 GHz; c: one of 3 GHz with two processes already (and process 1 on a).
    let with = |set_index| {
        let mut world = World::new(&[&[1e9], &[1e9; 4], &[3e9]], &[0, 5, 5]);
        let config = MigBspConfig {
            set_index,
            ..default()
        };
        let decision = world.first_call(config);
        ["b", "c"].map(|cluster| term(&decision, 0, cluster, "compute_s"))
    };
    assert_eq!(with(SetIndex::MeanClock), [1.0 / 3.0, 1.0]);
    assert_eq!(with(SetIndex::AggregatePower), [1.0, 0.75]);
    // 3 GHz for two and one more: 1 GHz, as in b.
    assert_eq!(with(SetIndex::MeanFreePower), [1.0, 1.0]);
    assert_eq!(with(SetIndex::BestFreeHost), [1.0, 0.0]);
}

#[test]
fn the_horizon_of_the_potential_sets_gain_against_memory() {
    // 1 s a superstep against 3 s of memory: 1 - 3, 4 · 1 - 3, 8 · 1 - 3.
    for (potential_horizon, potential, candidates) in [
        (Horizon::Superstep, -2.0, 0),
        (Horizon::Interval, 1.0, 1),
        (Horizon::NextInterval, 5.0, 1),
    ] {
        let mut world = two_clusters();
        world.memory[0] = bytes(3e6);
        let config = MigBspConfig {
            potential_horizon,
            ..default()
        };
        let decision = world.first_call(config);
        assert_eq!(term(&decision, 0, "b", "potential_s"), potential);
        assert_eq!(decision.candidates.len(), candidates);
    }
}

#[test]
fn only_a_positive_potential_makes_a_candidate_unless_told_otherwise() {
    let with = |only_positive| {
        let mut world = two_clusters();
        world.memory[0] = bytes(3e6);
        let config = MigBspConfig {
            only_positive,
            heuristic: Heuristic::Two,
            ..default()
        };
        world.first_call(config).candidates.len()
    };
    assert_eq!([with(true), with(false)], [0, 1]);
}

#[test]
fn the_own_cluster_competes_only_if_told_so() {
    // On the best cluster: a (half as fast) is wanted, or to stay is.
    let with = |own_cluster| {
        let mut world = World::new(&[&[1e9], &[2e9]], &[1]);
        let config = MigBspConfig {
            own_cluster,
            ..default()
        };
        let decision = world.first_call(config);
        assert_eq!(decision.migrations, []);
        let candidates = decision.candidates.iter();
        candidates
            .map(|candidate| candidate.to_cluster.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(with(OwnCluster::Excluded), [0]);
    assert_eq!(with(OwnCluster::Competes), [0; 0]);
}

/// Who are candidates (from 0), in order, where the processes on cluster a compute 10, 8.5, 8 and 1 s.
fn candidates(config: MigBspConfig) -> Vec<u32> {
    let mut world = World::new(&[&[1e9; 4], &[2e9; 4]], &[0, 1, 2, 3]);
    world.compute(&[10.0, 8.5, 8.0, 1.0]);
    let decision = world.first_call(config);
    let all = decision.candidates.iter();
    all.map(|candidate| candidate.process.0).collect()
}

#[test]
fn heuristic_one_takes_what_is_above_x_times_the_highest_and_two_the_highest() {
    use ThresholdMeaning::{OfMaximum, OfProcesses};
    let with = |x, x_of, heuristic| {
        candidates(MigBspConfig {
            x,
            x_of,
            heuristic,
            ..default()
        })
    };
    // Above 8 (8 is not), above 9, above 0.
    assert_eq!(with(0.8, OfMaximum, Heuristic::One), [0, 1]);
    assert_eq!(with(0.9, OfMaximum, Heuristic::One), [0]);
    assert_eq!(with(0.0, OfMaximum, Heuristic::One), [0, 1, 2, 3]);
    // Three of four.
    assert_eq!(with(0.8, OfProcesses, Heuristic::One), [0, 1, 2]);
    assert_eq!(with(0.8, OfMaximum, Heuristic::Two), [0]);
}

#[test]
fn candidates_are_tried_by_potential_or_by_rank() {
    let with = |candidate_order| {
        let mut world = World::new(&[&[1e9; 3], &[4e9]], &[0, 1, 2]);
        world.compute(&[9.0, 10.0, 9.0]);
        let config = MigBspConfig {
            candidate_order,
            sharing: Sharing::Alone,
            ..default()
        };
        // The only host of b is for the first one that is tried.
        moves(&world.first_call(config))
    };
    assert_eq!(with(CandidateOrder::Potential), [(1, 3)]);
    assert_eq!(with(CandidateOrder::RankAscending), [(0, 3)]);
    assert_eq!(with(CandidateOrder::RankDescending), [(2, 3)]);
}

// Where and whether.

/// Who is to move to which host, from 0.
fn moves(decision: &Decision) -> Vec<(u32, u32)> {
    let all = decision.migrations.iter();
    all.map(|wanted| (wanted.process.0, wanted.to.0)).collect()
}

#[test]
fn ties_go_to_the_lowest_index_and_each_host_is_reserved_at_once() {
    let mut world = World::new(&[&[1e9; 2], &[4e9; 3]], &[0, 1]);
    assert_eq!(moves(&world.first_call(default())), [(0, 2), (1, 3)]);
}

#[test]
fn external_load_changes_the_destination() {
    let mut world = World::new(&[&[1e9], &[4e9, 4e9, 4e9]], &[0]);
    world.external_load[1] = 0.5;
    world.external_load[2] = 0.25;
    world.external_load[3] = 0.125;
    let decision = world.first_call(default());
    assert_eq!(moves(&decision), [(0, 3)]);
    // 1e9 at 3.5 GHz.
    let go = decision.candidates[0].go.expect("it was judged");
    assert_close(go.get(), 1.0 / 3.5, ROUNDING, "t2");
}

#[test]
fn a_host_without_memory_is_no_destination() {
    let mut world = World::new(&[&[1e9, 1e9], &[4e9, 3e9]], &[0, 2]);
    world.compute(&[1.0, 0.0]);
    world.memory = vec![bytes(1000.0); 2];
    world.platform.hosts[2].memory = Some(bytes(2000.0));
    let config = || MigBspConfig {
        host_load: HostLoad::External,
        ..default()
    };
    assert_eq!(moves(&world.first_call(config())), [(0, 2)]);
    world.platform.hosts[2].memory = Some(bytes(1999.0));
    assert_eq!(moves(&world.first_call(config())), [(0, 3)]);
}

#[test]
fn the_load_of_a_host_includes_its_processes_or_not() {
    // 4 GHz with a process, or 3 GHz without: 4/2 < 3.
    let with = |host_load| {
        let mut world = World::new(&[&[1e9], &[4e9, 3e9]], &[0, 1]);
        world.compute(&[1.0, 0.0]);
        let config = MigBspConfig {
            host_load,
            ..default()
        };
        moves(&world.first_call(config))
    };
    assert_eq!(with(HostLoad::External), [(0, 1)]);
    assert_eq!(with(HostLoad::WithProcesses), [(0, 2)]);
}

#[test]
fn which_hosts_are_free_is_an_option() {
    // The only host of b has a process that does not compute, or does.
    let with = |free_host, other| {
        let mut world = World::new(&[&[1e9], &[4e9]], &[0, 1]);
        world.compute(&[1.0, other]);
        let config = MigBspConfig {
            free_host,
            heuristic: Heuristic::Two,
            ..default()
        };
        let decision = world.first_call(config);
        assert_eq!(decision.candidates[0].process.0, 0);
        moves(&decision)
    };
    assert_eq!(with(FreeHost::Any, 0.0), [(0, 1)]);
    assert_eq!(with(FreeHost::Any, 0.1), [(0, 1)]);
    assert_eq!(with(FreeHost::Inactive, 0.0), [(0, 1)]);
    assert_eq!(with(FreeHost::Inactive, 0.1), []);
    assert_eq!(with(FreeHost::Unmapped, 0.0), []);
}

#[test]
fn a_candidate_of_a_full_cluster_stays_or_tries_the_next_best() {
    // c is best and its host is taken; b is next.
    let with = |full_cluster| {
        let mut world = World::new(&[&[1e9], &[2e9], &[4e9]], &[0, 2]);
        world.compute(&[1.0, 0.0]);
        let config = MigBspConfig {
            full_cluster,
            free_host: FreeHost::Unmapped,
            ..default()
        };
        let decision = world.first_call(config);
        let candidate = &decision.candidates[0];
        (
            moves(&decision),
            candidate.to_cluster.0,
            candidate.reason.clone(),
        )
    };
    let (stays, cluster, reason) = with(FullCluster::Stay);
    assert_eq!((stays, cluster), (vec![], 2));
    assert_eq!(reason, "no host of the cluster is free for it");
    let (goes, cluster, _) = with(FullCluster::NextBest);
    assert_eq!((goes, cluster), (vec![(0, 1)], 1));
}

#[test]
fn a_shared_destination_costs_what_the_option_says() {
    // 1e9 instructions, 1 s here; there 0.4 s at 2.5 GHz, with `residents` there: fair n + 1 times, with what is inflicted on
    // them 2 n + 1 times.
    let with = |sharing, residents: usize| {
        let placement: Vec<u32> = std::iter::once(0).chain(vec![1; residents]).collect();
        let mut world = World::new(&[&[1e9], &[2.5e9]], &placement);
        let mut times = vec![0.0; placement.len()];
        times[0] = 1.0;
        world.compute(&times);
        let config = MigBspConfig {
            sharing,
            ..default()
        };
        let decision = world.first_call(config);
        let candidate = &decision.candidates[0];
        (
            candidate.go.map(|go| (go.get() * 10.0).round()),
            candidate.accepted,
        )
    };
    assert_eq!(with(Sharing::Fair, 0), (Some(4.0), true));
    assert_eq!(with(Sharing::Fair, 1), (Some(8.0), true));
    assert_eq!(with(Sharing::Fair, 2), (Some(12.0), false));
    assert_eq!(with(Sharing::FairAndInflicted, 0), (Some(4.0), true));
    assert_eq!(with(Sharing::FairAndInflicted, 1), (Some(12.0), false));
    assert_eq!(with(Sharing::FairAndInflicted, 2), (Some(20.0), false));
    assert_eq!(with(Sharing::Alone, 0), (Some(4.0), true));
    assert_eq!(with(Sharing::Alone, 1), (None, false));
}

#[test]
fn who_stays_on_a_host_that_another_leaves_is_relieved() {
    // Two processes share a host of 1 GHz: 2 s measured for 1e9 each. The first goes to 0.9 GHz (1.11 s); the second is then alone
    // here (1 s) and stays.
    let mut world = World::new(&[&[1e9], &[0.9e9, 0.9e9]], &[0, 0]);
    world.measures.compute = vec![seconds(2.0); 2];
    let decision = world.first_call(default());
    assert_eq!(moves(&decision), [(0, 1)]);
    let stay: Vec<f64> = decision
        .candidates
        .iter()
        .filter_map(|candidate| candidate.stay)
        .map(migsim::units::Seconds::get)
        .collect();
    assert_eq!(stay, [2.0, 1.0]);
}

#[test]
fn the_horizon_of_the_viability_sets_gain_against_cost() {
    // 1 s here, 0.5 s there and 1 s for the move: 1 < 1.5; 4 > 3; 8 > 5.
    for (viability_horizon, times, accepted) in [
        (Horizon::Superstep, [1.0, 1.5], false),
        (Horizon::Interval, [4.0, 3.0], true),
        (Horizon::NextInterval, [8.0, 5.0], true),
    ] {
        let mut world = two_clusters();
        let config = MigBspConfig {
            viability_horizon,
            viability_cost: seconds(1.0),
            ..default()
        };
        let decision = world.first_call(config);
        let candidate = &decision.candidates[0];
        let found =
            [candidate.stay, candidate.go].map(|time| time.map(migsim::units::Seconds::get));
        assert_eq!(found, times.map(Some));
        assert_eq!(candidate.accepted, accepted);
    }
}

#[test]
fn the_transfer_of_the_memory_counts_in_the_viability_or_not() {
    // 0.75 s of transfer: Mem is left out of PM, so that only t2 feels it. 0.5 + 0.75 > 1.
    let with = |viability_transfer| {
        let mut world = two_clusters();
        world.memory[0] = bytes(0.75e6);
        let config = MigBspConfig {
            memory_transfer: false,
            viability_transfer,
            ..default()
        };
        moves(&world.first_call(config))
    };
    assert_eq!(with(true), []);
    assert_eq!(with(false), [(0, 2)]);
}

#[test]
fn options_out_of_range_are_all_named() {
    let config = MigBspConfig {
        alpha: 0,
        omega: 0,
        x: 1.5,
        d_factor: 0.5,
        ..default()
    };
    let error = MigBsp::new(config).unwrap_err().to_string();
    for key in ["alpha", "omega", "x", "d_factor"] {
        assert!(error.contains(&format!("--> {key}")), "{error}");
    }
}

/// `MigBSP`, and how many supersteps it is told of.
#[derive(Debug)]
struct Told {
    policy: MigBsp,
    supersteps: Arc<AtomicUsize>,
    /// Whether it hides when no more calls come.
    goes_on: bool,
}

impl Policy for Told {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.supersteps.fetch_add(1, Ordering::Relaxed);
        self.policy.is_call_due(view)
    }

    fn is_done(&self, left: usize) -> bool {
        !self.goes_on && self.policy.is_done(left)
    }

    fn decide(&mut self, view: &View<'_>, random: &mut Stream) -> Result<Decision, Error> {
        self.policy.decide(view, random)
    }

    fn on_outcome(&mut self, moved: usize) {
        self.policy.on_outcome(moved);
    }
}

#[test]
fn supersteps_after_the_last_call_are_not_observed_and_change_nothing() {
    let platform = machine(&[&[1e9, 1e9], &[2e9, 2e9]], WIRE, WIRE);
    let messages = [(0, 1, 1e5), (1, 2, 2e5), (2, 0, 1e5)];
    let workload = Plans::repeat(plan(&[1e9, 1.1e9, 1e9], &messages), 25);
    for scenario in [Scenario::Ii, Scenario::Iii] {
        let case = Case {
            scenario,
            ..Case::new(&platform, &workload, [0, 1, 0])
        };
        let run = |goes_on| {
            let supersteps = Arc::new(AtomicUsize::new(0));
            let told = Told {
                policy: policy(default()),
                supersteps: Arc::clone(&supersteps),
                goes_on,
            };
            let outcome = case.run_with(told).expect("it ends");
            (outcome, supersteps.load(Ordering::Relaxed))
        };
        let (whole, all) = run(true);
        let (short, few) = run(false);
        assert_eq!(all, 25);
        let last = short.calls.last().expect("there are calls").superstep;
        // Those up to the call, and the first one of the next interval, which is longer than the rest.
        assert_eq!(few, last + 2);
        assert_eq!(short, whole);
    }
}
