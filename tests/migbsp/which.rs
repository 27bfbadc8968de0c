//! The choice of candidates: forecasts and potentials.

use super::*;

/// Reads a term of PM(i,j) [s]; processes count from 0.
fn term(decision: &Decision, process: u64, cluster: &str, key: &str) -> f64 {
    let explained = decision.explanation_json();
    let all = explained["potentials"].as_array().expect("a list");
    all.iter()
        .find(|entry| entry["process"] == process + 1 && entry["cluster"] == cluster)
        .and_then(|entry| entry[key].as_f64())
        .expect("a term")
}

/// Reads a term at cluster b, the best one, whose index is 1.
fn compute_term(decision: &Decision) -> f64 {
    term(decision, 0, "b", "compute_s")
}

#[test]
fn a_forecast_ages_by_half_and_starts_again_after_a_call() {
    // The forecast is 8; (8 + 4)/2 = 6; (6 + 4)/2 = 5; 4.5. All are within half of 4 (6 just so), so Pcomp stays 1.
    let mut world = two_clusters();
    let mut policy = policy(default());
    let decision = world.call_after(&mut policy, &[8.0, 4.0, 4.0, 4.0]);
    assert_eq!(compute_term(&decision), 4.5);
    policy.on_migrations_executed(0);
    // The call is stable, with eight supersteps of 2 s. If a part of the 4.5 s remained, the value would be 2.01.
    let decision = world.call_after(&mut policy, &[2.0; 8]);
    assert_eq!(compute_term(&decision), 2.0);
}

#[test]
fn the_regularity_falls_and_rises_by_one_over_alpha() {
    // With δ = 0.1, 8 is right (1); 6, 5 and 4.5 are not within 10 % of 4: 0.75, 0.5, 0.25. PM = 0.25 · 4.5.
    let mut world = two_clusters();
    let config = MigBspConfig {
        delta: 0.1,
        ..default()
    };
    let mut policy = policy(config);
    let decision = world.call_after(&mut policy, &[8.0, 4.0, 4.0, 4.0]);
    assert_eq!(compute_term(&decision), 1.125);
    policy.on_migrations_executed(0);
    // α is 8 now. Four right supersteps of 2 s add 4/8, then 4 more: 0.25 + 1, at most 1.
    let decision = world.call_after(&mut policy, &[2.0; 8]);
    assert_eq!(compute_term(&decision), 2.0);
}

#[test]
fn idle_supersteps_age_the_forecast_and_the_regularity() {
    // Process 1 computes 8 s, and is idle in three supersteps: the forecast is 4, 2, 1 s, and the pattern 0.75, 0.5, 0.25.
    let mut policy = policy(default());
    let decision = two_clusters().call_after(&mut policy, &[8.0, 0.0, 0.0, 0.0]);
    assert_eq!(compute_term(&decision), 0.25);
}

/// Returns Comm(1, b) at two calls. In each interval, 1000 B and 1 s are exchanged with cluster b in the first superstep only; α stays 4.
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
        policy.on_migrations_executed(0);
        term(&decision, 0, "b", "communication_s")
    })
}

#[test]
fn the_lifetime_of_the_regularity_of_communication_is_an_option() {
    // BTP is 1, 0.5, 0.25, 0.125 s: right once, then three times wrong.
    let with = |patterns| {
        communication_terms(MigBspConfig {
            patterns,
            ..default()
        })
    };
    // The pattern is 1, 0.75, 0.5, 0.25, and then 0.5, 0.25, 0, 0.
    assert_eq!(with(Patterns::Kept), [0.25 * 0.125, 0.0]);
    assert_eq!(with(Patterns::EachCall), [0.25 * 0.125; 2]);
}

#[test]
fn the_lifetime_of_the_regularity_of_computation_is_an_option() {
    // With δ = 0.1, 8 is right; 6, 5 and 4.5 are not within 10 % of 4: 0.25. The second interval is the same, from 0.25 or from 1.
    let with = |patterns| {
        let config = MigBspConfig {
            delta: 0.1,
            d: 0.0,
            patterns,
            ..default()
        };
        let (mut world, mut policy) = (two_clusters(), policy(config));
        [0, 1].map(|_| {
            let decision = world.call_after(&mut policy, &[8.0, 4.0, 4.0, 4.0]);
            policy.on_migrations_executed(0);
            compute_term(&decision)
        })
    };
    // The pattern is 0.25 + 0.25 = 0.5, then 0.25, 0, 0.
    assert_eq!(with(Patterns::Kept), [0.25 * 4.5, 0.0]);
    assert_eq!(with(Patterns::EachCall), [0.25 * 4.5; 2]);
}

#[test]
fn a_forecast_starts_from_its_first_value_or_from_zero() {
    // With 8 s in both intervals the forecast is 8 throughout, or 4, 6, 7, 7.5. With δ = 0.1, of the latter only 7.5 is right: 0.75, 0.5,
    // 0.25, 0.5.
    let with = |ageing| {
        let config = MigBspConfig {
            delta: 0.1,
            d: 0.0,
            patterns: Patterns::EachCall,
            ageing,
            ..default()
        };
        let (mut world, mut policy) = (two_clusters(), policy(config));
        [0, 1].map(|_| {
            let decision = world.call_after(&mut policy, &[8.0; 4]);
            policy.on_migrations_executed(0);
            compute_term(&decision)
        })
    };
    assert_eq!(with(Ageing::FirstValue), [8.0; 2]);
    assert_eq!(with(Ageing::FromZero), [0.5 * 7.5; 2]);
    // Communication ages in the same way: 1/2, 1/4, 1/8, 1/16 s. It is right within 100 % once, then three times wrong.
    let config = MigBspConfig {
        ageing: Ageing::FromZero,
        patterns: Patterns::EachCall,
        beta: 1.0,
        ..default()
    };
    assert_eq!(communication_terms(config), [0.25 * 0.0625; 2]);
}

#[test]
fn beta_is_the_tolerance_of_a_forecast_of_bytes() {
    // The process exchanges 1000, then 400 B: 700, 550, 475 are predicted. With β = 0.5 (at most 600) one is wrong; with β = 1 none is.
    // BTP is always 1 s.
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
    // The pattern is 0.75 after the wrong prediction, and 1 after two right ones.
    assert_eq!(with(0.5), 1.0);
}

#[test]
fn communication_time_is_that_of_the_larger_side_or_of_receiving() {
    let with = |communication_time| {
        let mut world = two_clusters();
        world.exchange(0, 1, [10.0, 20.0], [0.5, 0.25]);
        let config = MigBspConfig {
            communication_time,
            ..default()
        };
        term(&world.first_call(config), 0, "b", "communication_s")
    };
    assert_eq!(with(CommunicationTime::Larger), 0.5);
    assert_eq!(with(CommunicationTime::Received), 0.25);
}

#[test]
fn the_potential_is_computation_and_communication_less_memory() {
    // Clusters at 1, 2 and 4 GHz (means 1, 2, 4) have the indices 0.25, 0.5, 1. There are 6 s of computation, 3 s of communication with b,
    // 1e6 B of memory at 1e6 B/s, and 0.5 s of operations.
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
    // Of equal clusters, the process prefers the first.
    assert_eq!(decision.candidates[0].to_cluster.0, 1);
    assert_eq!(decision.candidates[0].score, 4.5);
}

#[test]
fn memory_counts_according_to_the_options() {
    // The memory is 2e6 B; managers have access links of 1e6 B/s, and the backbone has 4e6 B/s.
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
fn the_index_of_a_cluster_is_an_option() {
    // Cluster b has four hosts of 1 GHz; c has one of 3 GHz with two processes already (and process 1 is on a).
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
    // 3 GHz for two processes and one more give 1 GHz, as on each host of b.
    assert_eq!(with(SetIndex::MeanFreePower), [1.0, 1.0]);
    assert_eq!(with(SetIndex::FreePowerSum), [1.0, 0.25]);
    assert_eq!(with(SetIndex::BestFreeHost), [1.0, 0.0]);
}

#[test]
fn the_horizon_of_the_potential_sets_gain_against_memory() {
    // A superstep gains 1 s, and the memory takes 3 s: 1 - 3, 8 · 1 - 3.
    for (potential_horizon, potential, candidates) in [
        (Horizon::Superstep, -2.0, 0),
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
fn only_a_positive_potential_makes_a_candidate() {
    let mut world = two_clusters();
    world.memory[0] = bytes(3e6);
    let config = MigBspConfig {
        heuristic: Heuristic::Two,
        ..default()
    };
    assert_eq!(world.first_call(config).candidates.len(), 0);
}

#[test]
fn the_own_cluster_competes_only_by_option() {
    // The process is on the best cluster: it prefers a (half as fast), or to stay.
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

/// Lists the candidates (from 0), in order, for processes on cluster a that compute 10, 8.5, 8 and 1 s.
fn candidates(config: MigBspConfig) -> Vec<u32> {
    let mut world = World::new(&[&[1e9; 4], &[2e9; 4]], &[0, 1, 2, 3]);
    world.compute(&[10.0, 8.5, 8.0, 1.0]);
    let decision = world.first_call(config);
    let all = decision.candidates.iter();
    all.map(|candidate| candidate.process.0).collect()
}

#[test]
fn heuristic_one_takes_potentials_above_x_times_the_highest_and_two_the_highest() {
    use ThresholdMeaning::{OfMaximum, OfProcesses};
    let with = |x, x_of, heuristic| {
        candidates(MigBspConfig {
            x,
            x_of,
            heuristic,
            ..default()
        })
    };
    // The thresholds are 8 (8 is not above it), 9 and 0.
    assert_eq!(with(0.8, OfMaximum, Heuristic::One), [0, 1]);
    assert_eq!(with(0.9, OfMaximum, Heuristic::One), [0]);
    assert_eq!(with(0.0, OfMaximum, Heuristic::One), [0, 1, 2, 3]);
    // These are three of four processes.
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
        // The first process that is tried gets the only host of b.
        moves(&world.first_call(config))
    };
    assert_eq!(with(CandidateOrder::Potential), [(1, 3)]);
    assert_eq!(with(CandidateOrder::RankAscending), [(0, 3)]);
    assert_eq!(with(CandidateOrder::RankDescending), [(2, 3)]);
}
