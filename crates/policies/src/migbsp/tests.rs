//! Calls on the cluster of clusters of the papers, worked out by hand.

use super::*;
use crate::explain::DecisionRecord;
use crate::{ExternalLoad, Measures, testing::test_view};
use migsim_base::{
    random::StreamPurpose,
    units::{Bytes, HostId, Instructions, Seconds},
};
use migsim_platform::{LoadedPlatform, open};

/// Labtec-0 (1.5 GHz), the first host; Aquario-0 (2.0 GHz), after 20 + 16 + 6 + 112 others.
const LABTEC: u32 = 0;
const AQUARIO: u32 = 154;

/// The rule of the Smith-Waterman papers with round numbers: calls every 2 supersteps at first, 0.9 s per move.
fn config() -> MigBspConfig {
    let cost = Seconds::of(0.9);
    MigBspConfig {
        alpha: 2,
        x: 0.5,
        set_index: SetIndex::BestHost,
        index_form: IndexForm::GainOverSource,
        potential_horizon: Horizon::NextInterval,
        memory_transfer: false,
        migration_operations: cost,
        free_host: FreeHost::Inactive,
        viability_horizon: Horizon::NextInterval,
        viability_cost: cost,
        viability_transfer: false,
        ..MigBspConfig::default()
    }
}

/// A process: its host, and its instructions in each superstep.
type Process = (u32, [f64; 2]);

/// Shows two supersteps to the policy, after which a call must be due, and lets it decide.
fn decide(config: MigBspConfig, processes: &[Process], happen: bool) -> (MigBsp, Decision) {
    let mut policy = MigBsp::new(config).unwrap();
    let decision = next_call(&mut policy, processes, happen);
    (policy, decision)
}

/// Shows the same two supersteps in turn until a call is due, and lets the policy decide.
fn next_call(policy: &mut MigBsp, processes: &[Process], happen: bool) -> Decision {
    let LoadedPlatform { platform, .. } = open("ufrgs-sw").unwrap();
    let placement: Vec<HostId> = processes.iter().map(|process| HostId(process.0)).collect();
    let memory = vec![Bytes::default(); processes.len()];
    let load = vec![ExternalLoad::default(); platform.hosts.len()];
    let mut measures = Measures::default();
    for superstep in 0..8 {
        measures.clear(processes.len());
        for (process, (host, work)) in processes.iter().enumerate() {
            let work = Instructions::of(work[superstep % 2]);
            measures.work[process] = work;
            measures.computation_times[process] = work / platform.hosts[*host as usize].speed;
        }
        let view = View {
            superstep,
            process_memory: &memory,
            external_load: &load,
            executes_migrations: happen,
            ..test_view(&platform, &placement, &measures)
        };
        if policy.is_call_due(&view) {
            let mut random = Stream::new(1, StreamPurpose::PolicyDecisions);
            return policy.decide(&view, &mut random).unwrap();
        }
    }
    panic!("a call is due after at most 8 supersteps");
}

fn moves(decision: &Decision) -> Vec<(u32, u32)> {
    let pair = |wanted: &Migration| (wanted.process.0, wanted.to.0);
    decision.migrations.iter().map(pair).collect()
}

#[test]
fn the_gain_over_the_source_is_what_the_next_interval_would_save() {
    // 3e9 instructions at 1.5 GHz: CTP = 2 s. Both supersteps are stable: α' = 4.
    let (_, decision) = decide(config(), &[(LABTEC, [3e9, 3e9])], true);
    assert_eq!(moves(&decision), [(0, AQUARIO)]);
    let candidate = &decision.candidates[0];
    // Aquario: PM = 2 · (1 - 1.5/2) · 4 - 0.9; t1 = 2 · 4, t2 = 1.5 · 4 + 0.9, so that PM = t1 - t2.
    assert!((candidate.score - 1.1).abs() < 1e-12, "{}", candidate.score);
    assert_eq!(
        (candidate.stay, candidate.go),
        (Seconds::new(8.0), Seconds::new(6.9))
    );
    // ICE: 2 · (1 - 1.5/1.6) · 4 - 0.9 = -0.4; Corisco, slower: 2 · (1 - 1.5/1.2) · 4 - 0.9 = -2.9.
    let explained = decision.explanation_json();
    let potentials = explained["potentials"].as_array().unwrap();
    let value = |cluster: &str| {
        let found = potentials.iter().find(|terms| terms["cluster"] == cluster);
        found.unwrap()["potential_s"].as_f64().unwrap()
    };
    assert!((value("ICE") + 0.4).abs() < 1e-12);
    assert!((value("Corisco") + 2.9).abs() < 1e-12);
}

#[test]
fn weights_that_adjust_themselves_enter_the_terms_of_a_call() {
    let config = MigBspConfig {
        weights: WeightRule::Adaptive,
        ..config()
    };
    let (mut policy, decision) = decide(config, &[(LABTEC, [3e9, 3e9])], true);
    // All time is computation: the weight of Comp is 1/2 + 1. Aquario: PM = 1.5 · 2 · (1 - 1.5/2) · 4 - 0.9, with fixed weights 1.1.
    let candidate = &decision.candidates[0];
    assert!((candidate.score - 2.1).abs() < 1e-12, "{}", candidate.score);
    let weights = |decision: &Decision| decision.explanation_json()["weights"].clone();
    let expected = json!({ "computation": 1.5, "communication": 0.5, "memory": 1.0 });
    assert_eq!(weights(&decision), expected);
    // The process has moved to a host on which the next supersteps last 1.5 s instead of 2 s: Mem counts half.
    policy.on_migrations_executed(1);
    let decision = next_call(&mut policy, &[(AQUARIO, [3e9, 3e9])], true);
    let expected = json!({ "computation": 1.75, "communication": 0.25, "memory": 0.5 });
    assert_eq!(weights(&decision), expected);
}

/// Returns a case in which two hosts of Aquario have no process, and four equal processes on Labtec prefer them.
fn four_for_two_hosts() -> Vec<Process> {
    let labtec = (0..4).map(|host| (LABTEC + host, [3e9, 3e9]));
    let aquario = (2..20).map(|host| (AQUARIO + host, [4e9, 4e9]));
    labtec.chain(aquario).collect()
}

#[test]
fn of_equal_candidates_those_answered_last_are_first_and_hosts_go_by_rank() {
    let config = MigBspConfig {
        candidate_order: CandidateOrder::PotentialLastAnswered,
        ..config()
    };
    // No process was answered before the first call.
    let (mut policy, decision) = decide(config, &four_for_two_hosts(), false);
    assert_eq!(moves(&decision), [(0, AQUARIO), (1, AQUARIO + 1)]);
    policy.on_migrations_executed(0);
    let decision = next_call(&mut policy, &four_for_two_hosts(), false);
    let tried: Vec<u32> = decision
        .candidates
        .iter()
        .map(|one| one.process.0)
        .collect();
    assert_eq!(tried, [3, 2, 1, 0]);
    assert_eq!(moves(&decision), [(2, AQUARIO), (3, AQUARIO + 1)]);
}

#[test]
fn the_record_of_a_call_has_the_interval_that_follows() {
    // No process has a faster host to go to, and D = 0 makes both supersteps unstable: α' = 2, its floor; ω = 1.
    let next_alpha = |d_growth| {
        let config = MigBspConfig {
            d: 0.0,
            omega: 1,
            d_growth,
            ..config()
        };
        let (mut policy, decision) = decide(config, &[(AQUARIO, [3e9, 3e9])], true);
        policy.on_migrations_executed(0);
        assert_eq!(
            decision.explanation_json()["next_alpha"],
            json!(policy.trigger.alpha())
        );
        policy.trigger.alpha()
    };
    assert_eq!(next_alpha(ToleranceGrowth::Never), 2);
    assert_eq!(next_alpha(ToleranceGrowth::DoubleAlpha), 4);
}

#[test]
fn a_smaller_delta_where_nothing_moves_makes_growing_work_irregular() {
    // I = 1e9, 2e9: PI = 1.5e9 is right within 50 %, wrong within 1 %, which takes 1/α = 1/2 off.
    let processes = [(LABTEC, [1e9, 2e9])];
    let config = || MigBspConfig {
        delta_without_moves: Some(0.01),
        ..config()
    };
    assert_eq!(
        decide(config(), &processes, true)
            .0
            .forecasts
            .computation_regularity(0),
        1.0
    );
    assert_eq!(
        decide(config(), &processes, false)
            .0
            .forecasts
            .computation_regularity(0),
        0.5
    );
}

#[test]
fn new_options_out_of_range_are_named() {
    let config = MigBspConfig {
        delta_without_moves: Some(1.5),
        d: f64::NAN,
        d_factor: f64::INFINITY,
        ..MigBspConfig::default()
    };
    let problems = config.problems();
    let keys: Vec<_> = problems
        .iter()
        .filter_map(|p| p.location.key.as_deref())
        .collect();
    assert_eq!(keys, ["delta_without_moves", "d", "d_factor"]);
}

/// Returns the moves of the first call on one cluster of three hosts of 1 GHz: p1 and p2 have 1e9 instructions in each superstep and start
/// on `placement`; `load` is the external load.
fn moves_in_one_cluster(
    config: &MigBspConfig,
    placement: [u32; 2],
    reserved: [f64; 3],
) -> Vec<(u32, u32)> {
    let platform = migsim_engine::testing::single_cluster_platform(&[1e9; 3], 1e6, 0.0);
    assert_eq!(platform.clusters.len(), 1);
    let mut policy = MigBsp::new(MigBspConfig {
        alpha: 2,
        ..config.clone()
    })
    .unwrap();
    let crowd = if placement[0] == placement[1] {
        2.0
    } else {
        1.0
    };
    let mut measures = Measures::default();
    measures.clear(2);
    for process in 0..2 {
        measures.work[process] = Instructions::of(1e9);
        measures.computation_times[process] =
            Seconds::of(crowd / (1.0 - reserved[placement[process] as usize]));
    }
    let placement = placement.map(HostId);
    for superstep in 0..2 {
        let view = View {
            superstep,
            external_load: &reserved.map(ExternalLoad::reserved),
            ..test_view(&platform, &placement, &measures)
        };
        if policy.is_call_due(&view) {
            let mut random = Stream::new(1, StreamPurpose::PolicyDecisions);
            return moves(&policy.decide(&view, &mut random).unwrap());
        }
    }
    panic!("the first call is due after 2 supersteps");
}

/// Returns the options of the edition `equal-information`.
fn equal_information() -> MigBspConfig {
    serde_json::from_value(EQUAL_INFORMATION.options_value()).unwrap()
}

#[test]
fn a_process_may_move_inside_its_own_cluster() {
    let competes = MigBspConfig {
        own_cluster: OwnCluster::Competes,
        ..equal_information()
    };
    let quiet = [0.0; 3];
    // Two processes on host 0 take 2 s. p1 goes to host 1, where it takes 1 s; then p2 is alone, and its move would gain nothing.
    assert_eq!(moves_in_one_cluster(&competes, [0, 0], quiet), []);
    assert_eq!(
        moves_in_one_cluster(&equal_information(), [0, 0], quiet),
        [(0, 1)]
    );
    // Each process is on a host of its own, which is as good as any other.
    assert_eq!(
        moves_in_one_cluster(&equal_information(), [0, 1], quiet),
        []
    );
    // External load takes half of host 0: the nominal clock rate promises a gain for staying there.
    let loaded = [0.5, 0.0, 0.0];
    assert_eq!(moves_in_one_cluster(&competes, [0, 1], loaded), []);
    assert_eq!(
        moves_in_one_cluster(&equal_information(), [0, 1], loaded),
        [(0, 2)]
    );
    // External load takes half of all hosts: no host is better, but by the nominal clock rate one would be.
    assert_eq!(
        moves_in_one_cluster(&equal_information(), [0, 1], [0.5; 3]),
        []
    );
    assert!(!equal_information().moves_only_between_clusters());
}

/// Returns the processes that move if those on Labtec take this long \[s\] and a move has this price \[s\].
fn moving(plan: Plan, times: &[f64], price: f64) -> Vec<u32> {
    let config = MigBspConfig {
        plan,
        own_cluster: OwnCluster::Within,
        viability_cost: Seconds::of(price),
        ..config()
    };
    let works = times.iter().map(|time| [1.5e9 * time; 2]);
    let processes: Vec<Process> = (LABTEC..).zip(works).collect();
    let (_, decision) = decide(config, &processes, true);
    moves(&decision)
        .into_iter()
        .map(|(process, _)| process)
        .collect()
}

#[test]
fn a_plan_moves_who_makes_supersteps_shorter() {
    // On Aquario p1 takes 3 s; then no other move makes the superstep shorter.
    assert_eq!(moving(Plan::Each, &[4.0, 3.0, 3.0], 0.9), [0, 1, 2]);
    assert_eq!(moving(Plan::Slowest, &[4.0, 3.0, 3.0], 0.9), [0]);
}

#[test]
fn a_plan_says_what_it_gains() {
    let config = MigBspConfig {
        plan: Plan::Slowest,
        own_cluster: OwnCluster::Within,
        viability_cost: Seconds::of(0.9),
        ..config()
    };
    let (_, decision) = decide(config, &[(LABTEC, [6e9; 2]), (LABTEC + 1, [3e9; 2])], true);
    let record = decision.explanation.unwrap().to_json();
    // p1 takes 4 s on Labtec and 3 s on Aquario, in each of α' = 4 supersteps.
    let expected = json!({
        "slowest_host": "Labtec-0", "moves": 1, "supersteps": 4.0, "before_s": 4.0, "after_s": 3.0, "price_s": 0.9
    });
    assert_eq!(record["plan"], expected);
    let call = DecisionRecord {
        superstep: 4,
        candidates: &[],
        migrations: &[],
        explanation: &record,
    };
    assert_eq!(
        PlanRecord::describe(call).unwrap(),
        "The slowest host is Labtec-0, with 4.000 s in a superstep; after a plan of 1 move the slowest one takes 3.000 s. In 4 supersteps the plan gains 4 x (4.000 s - 3.000 s) - 900.000 ms for its moves = 3.100 s."
    );
}

#[test]
fn a_plan_pays_for_all_its_moves() {
    // One move gains nothing, two gain 1 s in each of α' = 4 supersteps.
    assert_eq!(moving(Plan::Slowest, &[4.0, 4.0], 1.9), [0, 1]);
    assert_eq!(moving(Plan::Slowest, &[4.0, 4.0], 2.1), [0_u32; 0]);
    assert_eq!(moving(Plan::Each, &[4.0, 4.0], 2.1), [0, 1]);
}
