//! The destinations of candidates, and the verdict on their moves.

use super::*;
use migsim::policy::ExternalLoad;

#[test]
fn ties_go_to_the_lowest_index_and_each_host_is_reserved_at_once() {
    let mut world = World::new(&[&[1e9; 2], &[4e9; 3]], &[0, 1]);
    assert_eq!(moves(&world.first_call(default())), [(0, 2), (1, 3)]);
}

#[test]
fn external_load_changes_the_destination() {
    let mut world = World::new(&[&[1e9], &[4e9, 4e9, 4e9]], &[0]);
    world.external_load[1] = ExternalLoad::reserved(0.5);
    world.external_load[2] = ExternalLoad::reserved(0.25);
    world.external_load[3] = ExternalLoad::reserved(0.125);
    let decision = world.first_call(default());
    assert_eq!(moves(&decision), [(0, 3)]);
    // The time is that of 1e9 instructions at 3.5 GHz.
    let go = decision.candidates[0].go.expect("it was judged");
    assert_close(go.get(), 1.0 / 3.5, ROUNDING, "t2");
}

#[test]
fn a_host_without_memory_is_no_destination() {
    let mut world = World::new(&[&[1e9, 1e9], &[7e9, 3e9]], &[0, 2]);
    world.compute(&[1.0, 0.0]);
    world.memory = vec![bytes(1000.0); 2];
    world.platform.hosts[2].memory = Some(bytes(2000.0));
    // Two processes share 7 GHz, which is more than 3.
    assert_eq!(moves(&world.first_call(default())), [(0, 2)]);
    world.platform.hosts[2].memory = Some(bytes(1999.0));
    assert_eq!(moves(&world.first_call(default())), [(0, 3)]);
}

#[test]
fn which_hosts_are_free_is_an_option() {
    // The only host of b has a process that computes, or one that does not.
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
fn a_candidate_of_a_full_cluster_stays() {
    // Cluster c is best, but its host is taken; b is next.
    let mut world = World::new(&[&[1e9], &[2e9], &[4e9]], &[0, 2]);
    world.compute(&[1.0, 0.0]);
    let config = MigBspConfig {
        free_host: FreeHost::Unmapped,
        ..default()
    };
    let decision = world.first_call(config);
    let candidate = &decision.candidates[0];
    assert_eq!((moves(&decision), candidate.to_cluster.0), (vec![], 2));
    let reason = "no host of the cluster is free for the process";
    assert_eq!(candidate.reason, reason);
}

#[test]
fn the_cost_of_a_shared_destination_is_an_option() {
    // A process has 1e9 instructions: 1 s on its host, and 0.4 s at 2.5 GHz on a host with `residents`. Fair sharing takes n + 1 times as
    // long, and with the harm to the residents 2 n + 1 times.
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
fn a_process_gains_if_another_leaves_its_host() {
    // Two processes share a host of 1 GHz: 2 s are measured for 1e9 instructions each. The first goes to 0.9 GHz (1.11 s). The second is
    // then alone on its host (1 s) and stays.
    let mut world = World::new(&[&[1e9], &[0.9e9, 0.9e9]], &[0, 0]);
    world.measures.computation_times = vec![seconds(2.0); 2];
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
    // The process takes 1 s on its host and 0.5 s at the destination, and the move takes 1 s: 1 < 1.5; 8 > 5.
    for (viability_horizon, times, accepted) in [
        (Horizon::Superstep, [1.0, 1.5], false),
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
    // The transfer takes 0.75 s. Mem is left out of PM, so that the transfer counts only in t2: 0.5 + 0.75 > 1.
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

/// A policy that counts the supersteps reported to `MigBSP`.
#[derive(Debug)]
struct Told {
    policy: MigBsp,
    supersteps: Arc<AtomicUsize>,
    /// Whether it hides that no more calls come.
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

    fn on_migrations_executed(&mut self, moved: usize) {
        self.policy.on_migrations_executed(moved);
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
        // The reports are of the supersteps up to the call, and of the first one of the next interval, which is longer than the rest of
        // the run.
        assert_eq!(few, last + 2);
        assert_eq!(short, whole);
    }
}
