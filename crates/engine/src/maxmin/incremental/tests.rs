//! Tests of incremental max-min against the solver that computes from scratch.

use proptest::prelude::*;

use super::{
    super::testing::{Levels, Plain, Step, steps},
    *,
};

impl Levels for IncrementalMaxMin {
    fn put(&mut self, group: u32, weight: f64, bound: f64, uses: &[(u32, f64)]) {
        self.add_group(group, weight, bound, uses.iter().copied());
    }

    fn set_count(&mut self, group: u32, count: u32) {
        self.set_flow_count(group, count);
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        self.set_capacity(link, capacity);
    }

    fn reweigh(&mut self, group: u32, weight: f64, bound: f64) {
        self.set_weight_and_max_rate(group, weight, bound);
    }
}

fn play(steps: Vec<Step>, is_recomputed: bool) -> Result<(), TestCaseError> {
    let mut plain = Plain::default();
    let mut levels = IncrementalMaxMin::new(plain.capacities.iter().copied());
    for (at, step) in steps.into_iter().enumerate() {
        if !plain.apply(step, &mut levels) {
            continue;
        }
        // Every other time, so that later updates start from the recomputed levels.
        if is_recomputed && at % 2 == 0 {
            levels.solve_from_scratch();
        }
        let mut told = vec![None; plain.groups.len()];
        levels.update_fair_share_levels(|group, rate| told[group as usize] = Some(rate));
        plain.check(|group| levels.groups[group].flow_rate())?;
        for (group, told) in told.into_iter().enumerate() {
            prop_assert!(told.is_none_or(|told| told == levels.groups[group].flow_rate()));
        }
    }
    Ok(())
}

#[test]
fn a_link_that_carries_too_much_is_found() {
    let mut levels = IncrementalMaxMin::new([10.0, 20.0]);
    levels.add_group(0, 1.0, 8.0, [(0, 1.0)].into_iter());
    levels.add_group(1, 1.0, 1e20, [(1, 1.0)].into_iter());
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
        levels.add_group(group, 1.0, 1e20, [(link, 1.0)].into_iter());
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
    levels.add_group(0, 5e-324, 10.0, [(0, 1.0)].into_iter());
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
        levels.add_group(group, weight, bound, [(0, 1.0)].into_iter());
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
    levels.add_group(0, 1e-300, capacity, [(0, 1.0)].into_iter());
    levels.add_group(1, 2.37e-154, 1.25e5, [(0, 1.0)].into_iter());
    let mut rates = Vec::new();
    levels.update_fair_share_levels(|_, rate| rates.push(rate));
    let expected = capacity * 1e-300 / 2.37e-154;
    assert_eq!(rates[0], capacity);
    assert!((rates[1] - expected).abs() <= 1e-9 * expected, "{rates:?}");
    assert_eq!(levels.first_violation(), None);
}

#[test]
fn what_is_left_on_an_almost_full_link_is_found_when_another_link_no_longer_limits() {
    // After the three heavy flows, link 1 has 99.990 left for the light one, which link 0 keeps at 99.9895 until link 2 is shared.
    let steps = [
        (1.0, 1, vec![(0, 1.05), (1, 1.0)]),
        (1e-4, 3, vec![(3, 1.0), (1, 1.0)]),
        (1e-4, 1, vec![(0, 1.0), (2, 1.0)]),
        (1.0, 3, vec![(3, 1.0)]),
        (1.0, 2, vec![(2, 1.0)]),
    ]
    .map(|(weight, count, uses)| Step::Put(weight, f64::INFINITY, count, uses));
    // Solved from scratch before the last two are there.
    for at in 0..2 {
        let mut steps = steps.to_vec();
        steps.splice(0..0, vec![Step::Wait; at]);
        play(steps, true).unwrap();
    }
}

proptest! {
    #[test]
    fn repaired_levels_agree_with_the_solver(steps in steps(2)) {
        play(steps, false)?;
    }

    #[test]
    fn levels_that_were_recomputed_from_scratch_agree_too(steps in steps(2)) {
        play(steps, true)?;
    }
}
