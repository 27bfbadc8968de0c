//! The times of calls: the interval and the tolerance.

use super::*;

#[test]
fn a_stable_system_doubles_the_interval_at_each_call() {
    // Intervals are 4, 4 + 4 = 8 and 8 + 8 = 16, so calls come at 4, 4 + 8, 12 + 16.
    assert_eq!(dates(default(), |_| STABLE), [4, 12, 28]);
}

#[test]
fn an_unstable_system_is_called_at_the_floor_of_the_interval() {
    assert_eq!(dates(default(), |_| UNSTABLE), [4, 8, 12]);
    let one = MigBspConfig {
        floor: Floor::One,
        ..default()
    };
    // The interval is 4 - 4 = 0, and at least 1.
    assert_eq!(dates(one, |_| UNSTABLE), [4, 5, 6]);
}

#[test]
fn the_margin_of_stability_is_strict() {
    // The mean is 2; 1 and 3 differ from it by exactly 0.5.
    let times = [1.0, 2.0, 3.0];
    assert_eq!(dates(default(), |_| times), [4, 8, 12]);
    let wider = MigBspConfig {
        d: 0.51,
        ..default()
    };
    assert_eq!(dates(wider, |_| times), [4, 12, 28]);
}

#[test]
fn a_superstep_without_computation_has_no_vote() {
    let config = MigBspConfig {
        floor: Floor::One,
        ..default()
    };
    assert_eq!(dates(config, |_| [0.0; 3]), [4, 8, 12]);
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
        world.measures.send_times[0] = seconds(send);
        world.measures.communication_times[0] = seconds(communication);
        let config = MigBspConfig {
            process_time,
            ..default()
        };
        calls(config, &mut world, 2, |_| STABLE, |_| 0).0
    };
    // The times 1 + 5, 1 and 1 s are not stable.
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
    // The interval is 4 + 1 - 3 = 2.
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
    // The votes are -, -, -, +. Before: 4 - 3 + 1 = 2, then -, - gives 1 at the call after 6.
    assert_eq!(with(CallingSuperstep::Before), [4, 6, 7]);
    // After: 4 - 3 = 1, so a call comes after 5. The + of the first call makes that α' = 2, whose interval ends at 7.
    assert_eq!(with(CallingSuperstep::After), [4, 5, 7]);
}

#[test]
fn d_grows_from_the_omega_th_quiet_call_on() {
    let grown = [0.5, 0.5, 0.5, 1.0, 2.0, 4.0, 8.0];
    assert_eq!(tolerances(default(), UNSTABLE, |_| 0), grown);
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
    // Calls come at 4, 8 and 12. Then D is large enough, and intervals are 4 (found stable only now), 8, 16.
    let (dates, _) = calls(default(), &mut still(), 6, |_| UNSTABLE, |_| 0);
    assert_eq!(dates, [4, 8, 12, 16, 24, 40]);
}

#[test]
fn alpha_may_double_in_place_of_d() {
    // All supersteps are unstable. α stays 4 until the third call without migration, and is then 8, 16 and 32. The fifth call moves a
    // process: α' decreases by one for each of its 16 supersteps, but not below 4.
    let with = |moving| {
        let config = MigBspConfig {
            d_growth: ToleranceGrowth::DoubleAlpha,
            quiet_call: QuietCall::Moved,
            ..default()
        };
        let moved = |call| usize::from(call == moving);
        calls(config, &mut still(), 6, |_| UNSTABLE, moved)
    };
    assert_eq!(with(0), (vec![4, 8, 12, 20, 36, 68], vec![0.5; 6]));
    assert_eq!(with(5), (vec![4, 8, 12, 20, 36, 40], vec![0.5; 6]));
}

#[test]
fn a_decision_that_moves_nothing_is_quiet_or_not() {
    // With a faster cluster, one process is to move at each call, and does not (scenario ii).
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
