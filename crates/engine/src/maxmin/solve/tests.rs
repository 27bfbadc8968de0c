//! Tests of the solver that computes all rates from scratch.

use super::*;
use proptest::prelude::*;

/// A flow in the plainest form: its weight, its bound, and its links with the share of its rate that it takes on each.
type Flow = (f64, f64, Vec<(u32, f64)>);

#[derive(Clone, Debug)]
struct System {
    capacity: Vec<f64>,
    flows: Vec<Flow>,
}

fn solve(system: &System) -> Vec<f64> {
    let mut problem = SharingProblem::default();
    problem.clear();
    for &capacity in &system.capacity {
        problem.add_link(capacity);
    }
    for (weight, bound, links) in &system.flows {
        problem.add_flow(*weight, *bound, links.iter().copied());
    }
    let mut rates = Vec::new();
    problem.solve(&mut rates);
    rates
}

/// The slow twin: recomputes every sum in each round, and fixes one link or bound at a time.
fn solve_slowly(system: &System) -> Vec<f64> {
    let mut rate: Vec<Option<f64>> = vec![None; system.flows.len()];
    let share = |flow: usize, link: usize| -> f64 {
        system.flows[flow]
            .2
            .iter()
            .filter(|used| used.0 as usize == link)
            .map(|used| used.1)
            .sum()
    };
    while rate.iter().any(Option::is_none) {
        let rising: Vec<usize> = (0..rate.len())
            .filter(|&flow| rate[flow].is_none())
            .collect();
        let mut best = (f64::INFINITY, Vec::new());
        for link in 0..system.capacity.len() {
            let pull: f64 = rising
                .iter()
                .map(|&flow| share(flow, link) / system.flows[flow].0)
                .sum();
            if pull > 0.0 {
                let used: f64 = (0..rate.len())
                    .filter_map(|flow| rate[flow].map(|r| r * share(flow, link)))
                    .sum();
                let level = (system.capacity[link] - used).max(0.0) / pull;
                if level < best.0 {
                    best = (
                        level,
                        rising
                            .iter()
                            .copied()
                            .filter(|&flow| share(flow, link) > 0.0)
                            .collect(),
                    );
                }
            }
        }
        for &flow in &rising {
            let level = system.flows[flow].0 * system.flows[flow].1;
            if level < best.0 {
                best = (level, vec![flow]);
            }
        }
        for flow in best.1 {
            rate[flow] = Some((best.0 / system.flows[flow].0).min(system.flows[flow].1));
        }
    }
    rate.into_iter().map(Option::unwrap).collect()
}

fn systems() -> impl Strategy<Value = System> {
    // Few distinct values make ties frequent; wide ranges test the precision.
    let capacity = prop_oneof![Just(1e6), Just(1.25e7), Just(1.25e8), 1e3..1e9];
    let weight = prop_oneof![Just(1.0), Just(1e-4), Just(2e-4), 1e-7..1.0];
    let bound = prop_oneof![Just(1e20), Just(1e6), 1e2..1e9];
    let share = prop_oneof![4 => Just(1.0), 1 => Just(0.05), 1 => Just(1.05)];
    prop::collection::vec(capacity, 1..12).prop_flat_map(move |capacity| {
        let links = to_u32(capacity.len());
        let route = prop::collection::btree_map(0..links, share.clone(), 1..=4.min(links as usize));
        let flow = (weight.clone(), bound.clone(), route)
            .prop_map(|(w, b, route)| (w, b, route.into_iter().collect()));
        prop::collection::vec(flow, 0..40).prop_map(move |flows| System {
            capacity: capacity.clone(),
            flows,
        })
    })
}

#[test]
fn a_link_is_shared_even_if_the_levels_of_its_flows_are_no_numbers() {
    let mut problem = SharingProblem::default();
    problem.clear();
    problem.add_link(1e306);
    for _ in 0..2 {
        problem.add_flow(1e31, 1e306, [(0, 1.0)]);
    }
    let mut rates = Vec::new();
    problem.solve(&mut rates);
    let half = |rate: &f64| (rate - 5e305).abs() < 1e292;
    assert!(rates.iter().all(half), "{rates:?}");
}

#[test]
fn rates_above_a_capacity_are_found() {
    let mut problem = SharingProblem::default();
    problem.clear();
    let links = [problem.add_link(10.0), problem.add_link(4.0)];
    problem.add_flow(1.0, 1e20, [(links[0], 1.0), (links[1], 0.05)]);
    problem.add_flow(1.0, 1e20, [(links[1], 1.0)]);
    assert_eq!(problem.find_overloaded_link(&[10.0, 3.5]), None);
    assert_eq!(problem.find_overloaded_link(&[10.1, 3.4]), Some(0));
    assert_eq!(problem.find_overloaded_link(&[10.0, 3.6]), Some(1));
}

#[test]
fn two_flows_share_a_link_equally_and_a_third_takes_what_is_left_elsewhere() {
    // Link 0 carries 10 for flows 0 and 1: 5 each. Link 1 carries 20 for flows 1 and 2: 5 and 15.
    let flow = |links: &[u32]| (1.0, 1e20, links.iter().map(|&link| (link, 1.0)).collect());
    let system = System {
        capacity: vec![10.0, 20.0],
        flows: vec![flow(&[0]), flow(&[0, 1]), flow(&[1])],
    };
    assert_eq!(solve(&system), [5.0, 5.0, 15.0]);
}

#[test]
fn a_flow_that_rises_alone_has_all_digits_of_what_the_others_leave() {
    // The first flow has bound 1 of 10 and pulls 1e16 times as much as the other, whose pull of 1.25 is lost in rounding.
    let system = System {
        capacity: vec![10.0],
        flows: vec![(3e-16, 1.0, vec![(0, 1.0)]), (0.8, 1e20, vec![(0, 1.0)])],
    };
    assert_eq!(solve(&system), [1.0, 9.0]);
}

proptest! {
    #[test]
    fn the_solver_agrees_with_its_slow_twin(system in systems()) {
        let (fast, slow) = (solve(&system), solve_slowly(&system));
        for (flow, (a, b)) in fast.iter().zip(&slow).enumerate() {
            prop_assert!((a - b).abs() <= 1e-9 * b.abs(), "flow {flow}: {a} against {b}");
        }
    }
}
