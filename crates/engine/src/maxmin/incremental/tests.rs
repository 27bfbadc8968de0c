//! Tests of incremental max-min against the solver that computes from scratch.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    /// A new group of this number of flows: weight, bound, links.
    Put(f64, f64, u32, Vec<(u32, f64)>),
    /// Changes the number of flows of one of the present groups.
    Count(usize, u32),
    Capacity(u32, f64),
    Reweigh(usize, f64, f64),
}

const LINKS: u32 = 8;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Few distinct values make ties frequent; wide ranges test the precision; a capacity of 0 is a link that is down.
    let capacity = prop_oneof![Just(1e6), Just(1.25e7), Just(1.25e8), 1e3..1e9, Just(0.0)];
    let weight = || prop_oneof![Just(1.0), Just(1e-4), Just(2e-4), 1e-7..1.0];
    let bound = || prop_oneof![Just(f64::INFINITY), Just(1e6), 1e2..1e9];
    let share = prop_oneof![4 => Just(1.0), 1 => Just(0.05), 1 => Just(1.05)];
    let route = prop::collection::btree_map(0..LINKS, share, 1..=4);
    let put = (weight(), bound(), 1_u32..4, route)
        .prop_map(|(w, b, n, route)| Step::Put(w, b, n, route.into_iter().collect()));
    let step = prop_oneof![
        5 => put,
        3 => (any::<usize>(), 0_u32..4).prop_map(|(group, count)| Step::Count(group, count)),
        1 => (0..LINKS, capacity).prop_map(|(link, capacity)| Step::Capacity(link, capacity)),
        1 => (any::<usize>(), weight(), bound()).prop_map(|(group, w, b)| Step::Reweigh(group, w, b)),
    ];
    prop::collection::vec(step, 1..60)
}

/// The present groups in the plainest form.
type Plain = Vec<Option<(f64, f64, u32, Vec<(u32, f64)>)>>;

fn solved(capacities: &[f64], groups: &Plain) -> Vec<f64> {
    let mut problem = SharingProblem::default();
    problem.clear();
    for &capacity in capacities {
        problem.add_link(capacity);
    }
    for (weight, bound, count, uses) in groups.iter().flatten() {
        for _ in 0..*count {
            problem.add_flow(*weight, *bound, uses.iter().copied());
        }
    }
    let mut rates = Vec::new();
    problem.solve(&mut rates);
    rates
}

fn check(
    levels: &mut IncrementalMaxMin,
    groups: &Plain,
    capacities: &[f64],
) -> Result<(), TestCaseError> {
    let mut told = vec![None; groups.len()];
    levels.update_fair_share_levels(|group, rate| told[group as usize] = Some(rate));
    let solved = solved(capacities, groups);
    let mut flow = 0;
    for (number, group) in groups.iter().enumerate() {
        let Some((_, _, count, _)) = group else {
            continue;
        };
        let (rate, expected) = (levels.groups[number].flow_rate(), solved[flow]);
        flow += *count as usize;
        prop_assert!(
            (rate - expected).abs() <= 1e-9 * expected,
            "group {number}: {rate} against {expected}"
        );
        prop_assert!(told[number].is_none_or(|told| told == rate));
    }
    Ok(())
}

fn play(steps: Vec<Step>, is_recomputed: bool) -> Result<(), TestCaseError> {
    let mut capacities = vec![1e6; LINKS as usize];
    let mut levels = IncrementalMaxMin::new(capacities.iter().copied());
    let mut groups: Plain = Vec::new();
    let alive = |groups: &Plain, which: usize| {
        let alive: Vec<usize> = (0..groups.len()).filter(|&g| groups[g].is_some()).collect();
        (!alive.is_empty()).then(|| alive[which % alive.len()])
    };
    for (at, step) in steps.into_iter().enumerate() {
        match step {
            Step::Put(weight, bound, count, uses) => {
                let number = to_u32(groups.len());
                levels.add_group(number, (weight, bound, count), uses.iter().copied());
                groups.push(Some((weight, bound, count, uses)));
            }
            Step::Count(which, count) => {
                if let Some(group) = alive(&groups, which) {
                    levels.set_flow_count(to_u32(group), count);
                    if let (Some(state), true) = (&mut groups[group], count > 0) {
                        state.2 = count;
                    } else {
                        groups[group] = None;
                    }
                }
            }
            Step::Capacity(link, capacity) => {
                levels.set_capacity(link, capacity);
                capacities[link as usize] = capacity;
            }
            Step::Reweigh(which, weight, bound) => {
                if let Some(group) = alive(&groups, which) {
                    levels.set_weight_and_max_rate(to_u32(group), weight, bound);
                    let state = groups[group].as_mut().unwrap();
                    (state.0, state.1) = (weight, bound);
                }
            }
        }
        // Every other time, so that later updates start from the recomputed levels.
        if is_recomputed && at % 2 == 0 {
            levels.solve_from_scratch();
        }
        check(&mut levels, &groups, &capacities)?;
    }
    Ok(())
}

#[test]
fn a_link_that_carries_too_much_is_found() {
    let mut levels = IncrementalMaxMin::new([10.0, 20.0]);
    levels.add_group(0, (1.0, 8.0, 1), [(0, 1.0)].into_iter());
    levels.add_group(1, (1.0, 1e20, 1), [(1, 1.0)].into_iter());
    levels.update_fair_share_levels(|_, _| {});
    assert_eq!(levels.first_violation(), None);
    // The capacity falls without a call that would update the levels.
    levels.links[0].capacity = 7.9;
    levels.mark_group_changed(0);
    assert_eq!(levels.find_overloaded_link(), Some(0));
    levels.update_fair_share_levels(|_, _| {});
    assert_eq!(
        levels.first_violation(),
        Some(InvariantViolation::LinkOverloaded(0))
    );
}

#[test]
fn the_end_of_a_flow_raises_those_that_waited_for_it_and_no_other() {
    // Link 0 carries 10 for groups 0 and 1, link 1 20 for group 2 alone.
    let mut levels = IncrementalMaxMin::new([10.0, 20.0]);
    for (group, link) in [(0, 0), (1, 0), (2, 1)] {
        levels.add_group(group, (1.0, 1e20, 1), [(link, 1.0)].into_iter());
    }
    let mut rates = Vec::new();
    levels.update_fair_share_levels(|group, rate| rates.push((group, rate)));
    assert_eq!(rates, [(0, 5.0), (1, 5.0), (2, 20.0)]);
    levels.set_flow_count(0, 0);
    rates.clear();
    levels.update_fair_share_levels(|group, rate| rates.push((group, rate)));
    assert_eq!(rates, [(1, 10.0)]);
}

#[test]
fn a_flow_of_next_to_no_latency_gets_its_bound() {
    let mut levels = IncrementalMaxMin::new([10.0]);
    levels.add_group(0, (5e-324, 10.0, 1), [(0, 1.0)].into_iter());
    let mut rates = Vec::new();
    levels.update_fair_share_levels(|_, rate| rates.push(rate));
    assert_eq!(rates, [10.0]);
}

#[test]
fn flows_of_next_to_no_latency_are_weighed_as_the_solver_weighs_them() {
    // Weights outside the range of normal numbers, whose order is lost.
    let flows = [1e-305, 4e-305, f64::INFINITY].map(|weight| (weight, f64::INFINITY));
    let mut levels = IncrementalMaxMin::new([12.0]);
    let mut problem = SharingProblem::default();
    problem.clear();
    problem.add_link(12.0);
    for (group, (weight, bound)) in (0..).zip(flows) {
        levels.add_group(group, (weight, bound, 1), [(0, 1.0)].into_iter());
        problem.add_flow(weight, bound, [(0, 1.0)]);
    }
    let (mut repaired, mut solved) = (Vec::new(), Vec::new());
    levels.update_fair_share_levels(|_, rate| repaired.push(rate));
    problem.solve(&mut solved);
    assert_eq!(repaired, [6.0, 6.0, 0.0]);
    assert_eq!(solved, repaired);
}

#[test]
fn a_flow_beside_one_of_almost_no_latency_gets_the_rest_after_rounding() {
    let capacity = 2.625e6;
    let mut levels = IncrementalMaxMin::new([capacity]);
    levels.add_group(0, (1e-300, capacity, 1), [(0, 1.0)].into_iter());
    levels.add_group(1, (2.37e-154, 1.25e5, 1), [(0, 1.0)].into_iter());
    let mut rates = Vec::new();
    levels.update_fair_share_levels(|_, rate| rates.push(rate));
    let expected = capacity * 1e-300 / 2.37e-154;
    assert_eq!(rates[0], capacity);
    assert!((rates[1] - expected).abs() <= 1e-9 * expected, "{rates:?}");
    assert_eq!(levels.first_violation(), None);
}

proptest! {
    #[test]
    fn repaired_levels_agree_with_the_solver(steps in steps()) {
        play(steps, false)?;
    }

    #[test]
    fn levels_that_were_recomputed_from_scratch_agree_too(steps in steps()) {
        play(steps, true)?;
    }
}
