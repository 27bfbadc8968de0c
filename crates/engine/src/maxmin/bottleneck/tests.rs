//! Tests of the bottleneck solver against the solver that computes from scratch.

use proptest::prelude::*;

use super::{
    super::testing::{Levels, Plain, Step, steps},
    *,
};

impl Levels for BottleneckMaxMin {
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
        self.try_set_weight_and_max_rate(group, weight, bound);
    }
}

/// Checks the invariants of the tables after an update.
fn check_tables(levels: &BottleneckMaxMin) -> Result<(), TestCaseError> {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (a.abs() + b.abs());
    for (link, state) in (0..).zip(&levels.links).skip(1) {
        let level = levels.level[link as usize];
        prop_assert!(!levels.is_marked_for_update[link as usize]);
        let (mut reserved, mut taken) = (0.0, 0.0);
        for (at, share) in (0..).zip(&state.classes) {
            let number = share.class;
            let class = &levels.classes[number as usize];
            let bottleneck = &levels.links[class.bottleneck as usize];
            prop_assert_eq!((class.link, class.at_link), (link, at));
            let listed = bottleneck.bottlenecked_classes[class.at_bottleneck as usize];
            prop_assert_eq!((listed.link, listed.class), (link, number));
            prop_assert_eq!(share.bottleneck, class.bottleneck);
            prop_assert_eq!(
                class.at_bottleneck < bottleneck.tight_class_count,
                state.is_tight
            );
            let mut pull = 0.0;
            for (at, &(group, which)) in (0..).zip(&class.groups_with_link_index) {
                let used = &levels.uses[group as usize * levels.width + which as usize];
                prop_assert_eq!((used.link, used.class, used.at_class), (link, number, at));
                prop_assert_eq!(levels.groups[group as usize].bottleneck, class.bottleneck);
                pull += used.pull;
            }
            prop_assert!(near(share.pull, pull));
            let by = levels.level[class.bottleneck as usize];
            prop_assert!(
                by <= level * (1.0 + 1e-9),
                "link {link} at {level}, {} bottlenecked at {by}",
                class.bottleneck
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
    plain: &Plain,
    bottlenecks: &mut Vec<u32>,
) -> Result<(), TestCaseError> {
    levels.update_fair_share_levels();
    bottlenecks.resize(plain.groups.len(), NO_LINK);
    for moved in levels.bottleneck_changes() {
        bottlenecks[moved.group as usize] = moved.new_bottleneck_link;
    }
    levels.clear_bottleneck_changes();
    check_tables(levels)?;
    for (number, group) in plain.groups.iter().enumerate() {
        let is_listed = levels.groups[number].bottleneck == bottlenecks[number];
        prop_assert!(group.is_none() || is_listed, "moved groups are listed");
    }
    plain.check(|group| rate(levels, group))?;
    prop_assert_eq!(levels.overloaded_link, None);
    Ok(())
}

fn rate(levels: &BottleneckMaxMin, group: usize) -> f64 {
    let group = levels.groups[group];
    levels.level[group.bottleneck as usize] / group.weight
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
    let mut plain = Plain::default();
    let mut levels = BottleneckMaxMin::new(plain.capacities.iter().copied(), true);
    let mut bottlenecks = Vec::new();
    for (at, step) in steps.into_iter().enumerate() {
        if !plain.apply(step, &mut levels) {
            continue;
        }
        if from_scratch != FromScratch::Never && at % 2 == 0 {
            if let FromScratch::After(count) = from_scratch {
                levels.queue_marked_links();
                for _ in 0..count {
                    let next = levels.worklist.pop();
                    next.inspect(|Reverse(entry)| levels.update_link_level(entry.link()));
                }
            }
            levels.solve_from_scratch();
        }
        check(&mut levels, &plain, &mut bottlenecks)?;
    }
    Ok(())
}

#[test]
fn a_bound_is_met_even_if_the_level_of_the_link_would_be_no_number() {
    for solves_from_scratch in [false, true] {
        let mut levels = BottleneckMaxMin::new([1.425e307], true);
        levels.put(0, 1e60, 2e-139, &[(0, 1.05)]);
        levels.set_flow_count(0, 10);
        levels.put(1, 1.0, 1.425e307, &[(0, 1.0)]);
        if solves_from_scratch {
            levels.solve_from_scratch();
        }
        levels.update_fair_share_levels();
        let rate = |group| rate(&levels, group);
        assert!((rate(0) / 2e-139 - 1.0).abs() < 1e-12, "{}", rate(0));
        assert!((rate(1) / 1.425e307 - 1.0).abs() < 1e-12, "{}", rate(1));
        assert_eq!(levels.first_violation(), None);
    }
}

proptest! {
    #[test]
    fn the_levels_of_bottleneck_links_agree_with_the_solver(steps in steps(0)) {
        play(steps, FromScratch::Never)?;
    }

    #[test]
    fn levels_recomputed_from_scratch_agree_too(steps in steps(0)) {
        play(steps, FromScratch::AtOnce)?;
    }

    #[test]
    fn levels_recomputed_in_the_midst_of_an_update_agree_too(
        steps in steps(0),
        count in 0_usize..4,
    ) {
        play(steps, FromScratch::After(count))?;
    }
}
