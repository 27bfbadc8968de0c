//! Tests of the bottleneck solver against the solver that computes from scratch.

use proptest::prelude::*;

use super::super::SharingProblem;
use super::*;
use migsim_base::units::to_u32;

#[derive(Clone, Debug)]
enum Step {
    /// A new group: weight, bound, number of flows, links.
    Put(f64, f64, u32, Vec<(u32, f64)>),
    /// Another number of flows for one of the present groups.
    Count(usize, u32),
    Capacity(u32, f64),
    /// The capacities of all links.
    Capacities(Vec<f64>),
    /// No check until the next step.
    Wait,
}

const LINKS: u32 = 12;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Few distinct values make ties frequent; wide ranges test the precision; a capacity of 0 is a link that is down.
    let capacity = || prop_oneof![Just(1e6), Just(1.25e7), Just(1.25e8), 1e3..1e9, Just(0.0)];
    let weight = || prop_oneof![Just(1.0), Just(1e-4), Just(2e-4), 1e-7..1.0];
    let bound = || prop_oneof![3 => Just(f64::INFINITY), 1 => Just(1e6), 1 => 1e2..1e9];
    let share = prop_oneof![4 => Just(1.0), 1 => Just(0.05), 1 => Just(1.05)];
    let route = prop::collection::btree_map(0..LINKS, share, 1..=6);
    let put = (weight(), bound(), 1_u32..4, route)
        .prop_map(|(w, b, n, route)| Step::Put(w, b, n, route.into_iter().collect()));
    let step = prop_oneof![
        8 => put,
        4 => (any::<usize>(), 0_u32..4).prop_map(|(group, count)| Step::Count(group, count)),
        1 => (0..LINKS, capacity()).prop_map(|(link, capacity)| Step::Capacity(link, capacity)),
        1 => prop::collection::vec(capacity(), LINKS as usize).prop_map(Step::Capacities),
        2 => Just(Step::Wait),
    ];
    prop::collection::vec(step, 1..120)
}

/// The present groups: weight, bound, number of flows, links.
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

/// Checks the invariants of the tables after an update.
fn check_tables(levels: &BottleneckMaxMin) -> Result<(), TestCaseError> {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (a.abs() + b.abs());
    for (link, state) in (0..).zip(&levels.links).skip(1) {
        let level = levels.fair_share_level_of_link[link as usize];
        prop_assert!(!levels.is_marked_for_update[link as usize]);
        let (mut reserved, mut taken) = (0.0, 0.0);
        for (at, share) in (0..).zip(&state.classes) {
            let number = share.class_number;
            let class = &levels.classes[number as usize];
            let bottleneck = &levels.links[class.bottleneck_link as usize];
            prop_assert_eq!((class.link, class.position_in_classes_of_link), (link, at));
            let listed =
                bottleneck.bottlenecked_classes[class.position_in_bottlenecked_classes as usize];
            prop_assert_eq!((listed.link, listed.class_number), (link, number));
            prop_assert_eq!(share.bottleneck_link, class.bottleneck_link);
            prop_assert_eq!(
                class.position_in_bottlenecked_classes < bottleneck.tight_class_count,
                state.is_tight
            );
            let mut pull = 0.0;
            for (at, &(group, which)) in (0..).zip(&class.groups_with_link_index) {
                let used =
                    &levels.link_uses[group as usize * levels.max_uses_per_group + which as usize];
                prop_assert_eq!(
                    (used.link, used.class_number, used.position_in_class),
                    (link, number, at)
                );
                prop_assert_eq!(
                    levels.groups[group as usize].bottleneck_link,
                    class.bottleneck_link
                );
                pull += used.load_per_level;
            }
            prop_assert!(near(share.load_per_level, pull));
            let by = levels.fair_share_level_of_link[class.bottleneck_link as usize];
            prop_assert!(
                by <= level * (1.0 + 1e-9),
                "link {link} at {level}, {} bottlenecked at {by}",
                class.bottleneck_link
            );
            prop_assert!(
                by <= bottleneck.level_estimate,
                "{by} of {}",
                bottleneck.level_estimate
            );
            reserved += pull * bottleneck.level_estimate;
            taken += pull * by;
        }
        if !state.is_tight {
            let is_near = (state.estimated_demand - reserved).abs()
                <= 1e-9 * (state.capacity + reserved) + 1e-6;
            prop_assert!(
                is_near,
                "link {link}: {} instead of {reserved}",
                state.estimated_demand
            );
            prop_assert_eq!(level, f64::INFINITY);
        }
        prop_assert!(taken <= state.capacity * (1.0 + 1e-9), "link {link}");
        prop_assert!(
            level == f64::INFINITY || taken >= state.capacity * (1.0 - 1e-9),
            "link {link} of {} at {level} has {taken}",
            state.capacity
        );
    }
    Ok(())
}

fn check(
    levels: &mut BottleneckMaxMin,
    groups: &Plain,
    capacities: &[f64],
    bottlenecks: &mut Vec<u32>,
) -> Result<(), TestCaseError> {
    levels.update_fair_share_levels();
    bottlenecks.resize(groups.len(), NO_LINK);
    for moved in levels.bottleneck_changes() {
        bottlenecks[moved.group as usize] = moved.new_bottleneck_link;
    }
    levels.clear_bottleneck_changes();
    check_tables(levels)?;
    let solved = solved(capacities, groups);
    let mut flow = 0;
    for (number, group) in groups.iter().enumerate() {
        let Some((_, _, count, uses)) = group else {
            continue;
        };
        let state = &levels.groups[number];
        prop_assert_eq!(
            state.bottleneck_link,
            bottlenecks[number],
            "moved groups are listed"
        );
        let rate = levels.fair_share_level_of_link[state.bottleneck_link as usize] / state.weight;
        let expected = solved[flow];
        flow += *count as usize;
        // In both solutions the capacity left on a link has the rounding error of the sum of the other flows.
        let widest = uses.iter().map(|used| capacities[used.0 as usize]);
        let rounding = 1e-12 * widest.fold(0.0, f64::max);
        prop_assert!(
            (rate - expected).abs() <= 1e-9 * expected + rounding,
            "group {number}: {rate} against {expected}"
        );
    }
    prop_assert_eq!(levels.overloaded_link, None);
    Ok(())
}

/// When, in every other step, all levels are recomputed from scratch, so that later updates start from there.
#[derive(Clone, Copy, Debug, PartialEq)]
enum FromScratch {
    Never,
    AtOnce,
    /// After the update of this number of links of the work queue.
    After(usize),
}

fn play(steps: Vec<Step>, from_scratch: FromScratch) -> Result<(), TestCaseError> {
    let mut capacities = vec![1e6; LINKS as usize];
    let mut levels = BottleneckMaxMin::new(capacities.iter().copied(), true);
    let mut groups: Plain = Vec::new();
    let mut bottlenecks = Vec::new();
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
            Step::Capacities(all) => {
                for (link, &capacity) in (0..).zip(&all) {
                    levels.set_capacity(link, capacity);
                }
                capacities = all;
            }
            Step::Wait => continue,
        }
        if from_scratch != FromScratch::Never && at % 2 == 0 {
            if let FromScratch::After(count) = from_scratch {
                levels.queue_marked_links();
                for _ in 0..count {
                    let next = levels.worklist.pop();
                    next.inspect(|entry| levels.update_link_level(entry.link()));
                }
            }
            levels.solve_from_scratch();
        }
        check(&mut levels, &groups, &capacities, &mut bottlenecks)?;
    }
    Ok(())
}

#[test]
fn a_bound_is_met_even_if_the_level_of_the_link_would_be_no_number() {
    for solves_from_scratch in [false, true] {
        let mut levels = BottleneckMaxMin::new([1.425e307], true);
        levels.add_group(0, (1e60, 2e-139, 10), [(0, 1.05)].into_iter());
        levels.add_group(1, (1.0, 1.425e307, 1), [(0, 1.0)].into_iter());
        if solves_from_scratch {
            levels.solve_from_scratch();
        }
        levels.update_fair_share_levels();
        let rate = |group: u32| {
            let Group {
                bottleneck_link: bottleneck,
                weight,
                ..
            } = levels.groups[group as usize];
            levels.fair_share_level_of_link[bottleneck as usize] / weight
        };
        assert!((rate(0) / 2e-139 - 1.0).abs() < 1e-12, "{}", rate(0));
        assert!((rate(1) / 1.425e307 - 1.0).abs() < 1e-12, "{}", rate(1));
        assert_eq!(levels.first_violation(), None);
    }
}

proptest! {
    #[test]
    fn the_levels_of_bottleneck_links_agree_with_the_solver(steps in steps()) {
        play(steps, FromScratch::Never)?;
    }

    #[test]
    fn levels_recomputed_from_scratch_agree_too(steps in steps()) {
        play(steps, FromScratch::AtOnce)?;
    }

    #[test]
    fn levels_recomputed_in_the_midst_of_an_update_agree_too(
        steps in steps(),
        count in 0_usize..4,
    ) {
        play(steps, FromScratch::After(count))?;
    }
}
