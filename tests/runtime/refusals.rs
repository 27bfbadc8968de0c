//! Errors that end a run, and properties that all scenarios share.

use super::*;

fn error_of(case: &Case<'_>, script: Vec<(usize, Vec<(u32, u32)>)>) -> String {
    let error = case.run_with(Script(script)).expect_err("it cannot go on");
    assert!(matches!(error, Error::SimulationFailure(_)), "{error}");
    assert_eq!(error.exit_code(), 1);
    error.to_string()
}

#[test]
fn a_deadlock_is_an_error_that_names_the_waiting_processes() {
    // Both processes send first and receive later.
    let platform = switch(3, WIRE);
    let plans = Plans::new(vec![plan(&[1e9, 2e9, 0.0], &[(0, 1, 8.0), (1, 0, 8.0)])]);
    let case = Case {
        runtime: exchange(SendOrder::Sequential, TransferStart::Late),
        ..Case::new(&platform, &plans, 0..3)
    };
    let error = error_of(&case, vec![]);
    for part in [
        "deadlock in superstep 1 at 2 s: 3 of 3 processes wait forever",
        "process 1 sends to process 2 and waits until process 2 receives",
        "process 2 sends to process 1 and waits until process 1 receives",
        "waiting at the barrier: 1 process\n",
        "`runtime.receives` to `early`",
    ] {
        assert!(error.contains(part), "no `{part}` in {error}");
    }
    // If many processes wait in the same way, some are named.
    let platform = switch(9, WIRE);
    let ring: Vec<(u32, u32, f64)> = (0..9).map(|at| (at, (at + 1) % 9, 8.0)).collect();
    let many = Plans::new(vec![plan(&[0.0; 9], &ring)]);
    let many = Case {
        runtime: exchange(SendOrder::Sequential, TransferStart::Late),
        ..Case::new(&platform, &many, 0..9)
    };
    assert!(error_of(&many, vec![]).contains("3 more processes wait for messages"));
    let ring: Vec<(u32, u32, f64)> = (0..6).map(|at| (at, (at + 1) % 6, 8.0)).collect();
    let six = Plans::new(vec![plan(&[0.0; 6], &ring)]);
    let six = Case {
        runtime: exchange(SendOrder::Sequential, TransferStart::Late),
        ..Case::new(&platform, &six, 0..6)
    };
    assert!(!error_of(&six, vec![]).contains("more process"));
    // The same messages arrive in any other configuration.
    for runtime in [
        exchange(SendOrder::Sequential, TransferStart::Early),
        exchange(SendOrder::Concurrent, TransferStart::Late),
    ] {
        let case = Case {
            runtime,
            ..case.clone()
        };
        assert!(makespan(&case.run()) > 2.0);
    }
}

#[test]
fn a_run_that_lasts_until_a_failure_is_refused() {
    let mut platform = machine(&[&[1e9]], WIRE, WIRE);
    let plans = Plans::new(vec![plan(&[2e9], &[])]);
    let run = |date: f64, platform: &mut migsim::platform::Platform| {
        platform.first_failure = Some(migsim::platform::Failure {
            host_or_link_name: "h0".into(),
            time: seconds(date),
        });
        let case = Case::new(platform, &plans, [0]);
        let done = case.run_with(Script(vec![]));
        done.map_err(|error| error.to_string())
    };
    // The superstep ends at 2 s.
    assert!(run(2.0, &mut platform).is_ok());
    let error = run(1.5, &mut platform).expect_err("h0 fails");
    assert!(
        error.contains(
            "`h0` fails at 1.5 s according to its `state_file`, before the run ends at 2 s"
        ),
        "{error}"
    );
}

#[test]
fn a_missing_route_is_an_error_that_names_both_hosts() {
    let mut platform = machine(&[&[1e9], &[1e9]], WIRE, WIRE);
    let Routes::StoredClusterPaths {
        cluster_paths: pairs,
        ..
    } = &mut platform.routes
    else {
        unreachable!()
    };
    pairs[1] = None;
    let plans = Plans::new(vec![plan(&[0.0, 0.0], &[(0, 1, 8.0)])]);
    let case = Case::new(&platform, &plans, [0, 1]);
    let error = case.run_with(Script(vec![])).expect_err("it cannot go on");
    // The platform is the cause, so the input is wrong.
    assert_eq!(error.exit_code(), 2);
    let error = error.to_string();
    assert!(
        error.contains("no route from host `h0` to host `h1`"),
        "{error}"
    );
    // The route back exists.
    let plans = Plans::new(vec![plan(&[0.0, 0.0], &[(1, 0, 8.0)])]);
    assert!(makespan(&Case::new(&platform, &plans, [0, 1]).run()) > 0.0);
}

#[test]
fn a_policy_that_asks_for_the_impossible_ends_the_run_with_its_decision() {
    let mut platform = switch(3, WIRE);
    platform.hosts[2].memory = Some(bytes(1.5e6));
    let plans = Plans {
        memory: vec![1e6; 2],
        ..Plans::repeat(plan(&[1e9, 1e9], &[]), 3)
    };
    let case = Case {
        scenario: Scenario::Iii,
        ..Case::new(&platform, &plans, [0, 1])
    };
    let refused = |moves: Vec<(u32, u32)>| error_of(&case, vec![(1, moves)]);
    let intro = "the policy requested an impossible migration after superstep 2: ";
    for (moves, what, decision) in [
        (
            vec![(0, 7)],
            "there is no host with the number 7",
            "p1 to `?`",
        ),
        (vec![(5, 2)], "there is no process 6", "p6 to `h2`"),
        (
            vec![(1, 2), (1, 0)],
            "it moves process 2 twice",
            "p2 to `h2`, p2 to `h0`",
        ),
        (
            vec![(0, 2), (1, 2)],
            "host `h2` has less memory than the 2000000 B that its processes would need",
            "p1 to `h2`, p2 to `h2`",
        ),
    ] {
        let error = refused(moves);
        assert!(error.contains(&format!("{intro}{what}")), "{error}");
        assert!(
            error.contains(&format!(
                "correct the policy, which decided these migrations: {decision}"
            )),
            "{error}"
        );
    }
    // One process fits, also if another one leaves the host at the same call.
    let script = |moves| Script(vec![(0, vec![(0, 2)]), (1, moves)]);
    let outcome = case.run_with(script(vec![(1, 2), (0, 1)])).unwrap();
    assert_eq!(outcome.migrations.len(), 3);
    // Both processes fill a host of 2e6 B to the last byte.
    platform.hosts[2].memory = Some(bytes(2e6));
    let case = Case {
        scenario: Scenario::Iii,
        ..Case::new(&platform, &plans, [0, 1])
    };
    let outcome = case.run_with(script(vec![(1, 2)])).unwrap();
    assert_eq!(outcome.migrations.len(), 2);
}

#[test]
fn scenario_ii_pays_its_calls_and_moves_nothing() {
    let platform = machine(&[&[1e9, 4e9]], WIRE, WIRE);
    let plans = Plans {
        memory: vec![1e6],
        ..Plans::repeat(plan(&[1e9], &[]), 4)
    };
    let run = |scenario| {
        let case = Case {
            scenario,
            costs: call_costs(CallCostConfig {
                model: CallModel::Additive,
                fixed: seconds(0.125),
                ..CallCostConfig::default()
            }),
            ..Case::new(&platform, &plans, [0])
        };
        case.run_with(Script(vec![(0, vec![(0, 1)]), (1, vec![])]))
            .unwrap()
    };
    let [first, second, third] = Scenario::ALL.map(run);
    assert_eq!((makespan(&first), first.calls.len()), (4.0, 0));
    assert_close(makespan(&second), 4.25, ROUNDING, "two calls");
    assert_eq!(
        (second.migrations.len(), second.calls[0].migrations_applied),
        (0, false)
    );
    assert_eq!(second.calls[0].decision.migrations.len(), 1);
    // The times are 1 s, a call, 2 ms + 1 s, a quarter of a second, a call, and two more quarters.
    assert_close(makespan(&third), 1.0 + 0.25 + 1.002 + 0.75, ROUNDING, "iii");
    assert_eq!(
        (third.migrations.len(), third.calls[0].migrations_applied),
        (1, true)
    );
}

#[test]
fn prescribed_moves_happen_in_every_scenario() {
    // The times are 1 s, then 2 ms + 1 s + 0.5 s, then 0.5 s on the faster host.
    let platform = machine(&[&[1e9, 2e9, 1e9]], WIRE, WIRE);
    let prescribed = PrescribedMigration {
        process: ProcessId(0),
        destination_host: "h1".into(),
        transferred_bytes: bytes(1e6),
        wait_after_transfer: seconds(0.5),
    };
    let plans = Plans {
        moves: vec![vec![prescribed]],
        ..Plans::repeat(plan(&[1e9, 0.0], &[]), 2)
    };
    for scenario in Scenario::ALL {
        let case = Case {
            scenario,
            ..Case::new(&platform, &plans, [0, 2])
        };
        let outcome = case.run();
        assert_close(
            makespan(&outcome),
            1.0 + 1.502 + 0.5,
            ROUNDING,
            scenario.name(),
        );
        let [migration] = &outcome.migrations[..] else {
            panic!("{:?}", outcome.migrations);
        };
        assert_eq!(
            (migration.from.0, migration.to.0, migration.superstep),
            (0, 1, 0)
        );
        assert_eq!(migration.cause.name(), "workload");
        assert_eq!(
            outcome.migration_waiting_time.get(),
            0.0,
            "not a cost of the policy"
        );
    }
}

#[test]
fn an_unknown_host_of_a_prescribed_move_is_an_error() {
    let platform = switch(1, WIRE);
    let prescribed = PrescribedMigration {
        process: ProcessId(0),
        destination_host: "elsewhere".into(),
        transferred_bytes: bytes(0.0),
        wait_after_transfer: seconds(0.0),
    };
    let plans = Plans {
        moves: vec![vec![prescribed]],
        ..Plans::repeat(plan(&[1e9], &[]), 2)
    };
    let error = error_of(&Case::new(&platform, &plans, [0]), vec![]);
    assert!(
        error.contains("unknown host `elsewhere`") && error.contains("h0"),
        "{error}"
    );
}
