//! Options of calls, worked out by hand: the waiting for calls, their costs by ping-pong, and moves at nominal speed.

use std::sync::{Arc, Mutex};

use migsim::{
    bsp::{
        CallCostConfig, CallModel, CallWaiting, Costs, LoadMeasure, MemoryTransfer,
        MigrationCostConfig, RunOutcome, Scenario, WaitingProcesses,
    },
    error::Error,
    platform::Profile,
    policy::{Decision, Policy, View},
    random::Stream,
};

use crate::support::{
    Case, Plans, ROUNDING, Script, Wire, assert_close, bytes, machine, plan, seconds, switch,
};

const WIRE: Wire = Wire(1e6, 1e-3);

/// Two processes that compute 1 s in each of four supersteps; calls of `price` after some supersteps (counted from 0).
fn run(scenario: Scenario, call: CallCostConfig, calls: &[usize]) -> RunOutcome {
    let platform = switch(2, WIRE);
    let plans = Plans::repeat(plan(&[1e9; 2], &[]), 4);
    let migration = MigrationCostConfig::default();
    let case = Case {
        scenario,
        costs: Costs { call, migration },
        ..Case::new(&platform, &plans, 0..2)
    };
    let script = calls.iter().map(|&superstep| (superstep, vec![])).collect();
    case.run_with(Script(script)).expect("the run ends")
}

fn overlapped(price: f64) -> CallCostConfig {
    CallCostConfig {
        model: CallModel::Additive,
        fixed: seconds(price),
        waiting: CallWaiting::Overlapped,
        ..CallCostConfig::default()
    }
}

#[test]
fn an_overlapped_call_costs_the_part_that_the_next_superstep_does_not_hide() {
    // The supersteps take 4 s. Of a call of 1.5 s that begins after the first one, 0.5 s are left at the end of the second.
    let outcome = run(Scenario::Ii, overlapped(1.5), &[0]);
    assert_close(outcome.makespan.get(), 4.5, ROUNDING, "one call");
    assert_close(outcome.calls[0].cost.get(), 0.5, ROUNDING, "its cost");
    assert_close(outcome.call_waiting_time.get(), 0.5, ROUNDING, "all calls");
    // A call of 0.75 s is hidden completely.
    let outcome = run(Scenario::Ii, overlapped(0.75), &[0, 2]);
    assert_eq!(
        (outcome.makespan.get(), outcome.call_waiting_time.get()),
        (4.0, 0.0)
    );
    // Calls after each superstep leave 0.5 s after supersteps 2, 3 and 4. The call after the last superstep, if made, is waited for
    // completely.
    for (after_last, last, calls) in [(true, 1.5, 4), (false, 0.0, 3)] {
        let call = CallCostConfig {
            after_last,
            ..overlapped(1.5)
        };
        let outcome = run(Scenario::Ii, call, &[0, 1, 2, 3]);
        let expected = 4.0 + 3.0 * 0.5 + last;
        assert_close(outcome.makespan.get(), expected, ROUNDING, "four calls");
        assert_eq!(outcome.calls.len(), calls);
    }
}

#[test]
fn an_overlapped_call_by_messages_runs_beside_the_superstep() {
    // Two messages of some ms are hidden in the next superstep of 1 s. Computation of the managers would slow that superstep, so there is
    // none.
    let call = CallCostConfig {
        decision: "0 s".parse().unwrap(),
        waiting: CallWaiting::Overlapped,
        ..CallCostConfig::default()
    };
    let outcome = run(Scenario::Ii, call, &[0, 1]);
    assert_eq!((outcome.makespan.get(), outcome.calls.len()), (4.0, 2));
}

#[test]
fn in_scenario_iii_the_answer_is_waited_for() {
    let outcome = run(Scenario::Iii, overlapped(1.5), &[0]);
    assert_close(outcome.makespan.get(), 5.5, ROUNDING, "blocking");
}

#[test]
fn a_call_after_the_last_superstep_is_paid_and_moves_nothing() {
    let call = CallCostConfig {
        after_last: true,
        ..overlapped(1.5)
    };
    assert_close(
        run(Scenario::Iii, call, &[3]).makespan.get(),
        5.5,
        ROUNDING,
        "called",
    );
    let platform = switch(2, WIRE);
    let plans = Plans::repeat(plan(&[1e9; 2], &[]), 1);
    for wait in [WaitingProcesses::All, WaitingProcesses::Movers] {
        let migration = MigrationCostConfig {
            wait,
            ..MigrationCostConfig::default()
        };
        let case = Case {
            scenario: Scenario::Iii,
            costs: Costs { call, migration },
            ..Case::new(&platform, &plans, 0..2)
        };
        let outcome = case.run_with(Script(vec![(0, vec![(0, 1)])])).unwrap();
        assert_eq!((outcome.migrations.len(), outcome.makespan.get()), (0, 2.5));
    }
}

#[test]
fn a_nominal_move_takes_latency_and_transfer_without_sharing_links() {
    // The move takes 1 + 1 ms and 1e5 B at 1e6 B/s: 0.102 s, although process 1 sends 1e6 B over the same link at that time (1.002 s).
    let platform = switch(3, WIRE);
    let mut plans = Plans::repeat(plan(&[0.0; 3], &[(1, 0, 1e6)]), 2);
    plans.memory = vec![0.0, 1e5, 1e5];
    let call = CallCostConfig {
        model: CallModel::None,
        ..CallCostConfig::default()
    };
    let migration = MigrationCostConfig {
        transfer: MemoryTransfer::Nominal,
        wait: WaitingProcesses::Movers,
        ..MigrationCostConfig::default()
    };
    let case = Case {
        scenario: Scenario::Iii,
        costs: Costs { call, migration },
        ..Case::new(&platform, &plans, 0..3)
    };
    let outcome = case.run_with(Script(vec![(0, vec![(2, 1)])])).unwrap();
    assert_close(
        outcome.migration_waiting_time.get(),
        0.102,
        ROUNDING,
        "the move",
    );
    assert_close(outcome.makespan.get(), 2.004, ROUNDING, "makespan");
}

/// A policy that calls after each superstep and records the load of the first host in its view.
#[derive(Clone, Debug)]
struct Loads(Arc<Mutex<Vec<f64>>>);

impl Policy for Loads {
    fn is_call_due(&mut self, _: &View<'_>) -> bool {
        true
    }

    fn decide(&mut self, view: &View<'_>, _: &mut Stream) -> Result<Decision, Error> {
        let load = view.external_load[0].reserved;
        self.0.lock().expect("one thread").push(load);
        Ok(Decision::default())
    }
}

#[test]
fn a_policy_sees_the_load_since_the_last_call_or_that_of_the_moment() {
    // The host computes 1e9 instr in each superstep and loses half of its speed after 1.5 s. The supersteps end at 1 s, at 2.5 s (0.5 s at
    // full speed, then 1 s at half) and at 4.5 s.
    let mut platform = switch(2, WIRE);
    platform.hosts[0].speed_profile = Profile::new(vec![(1.5, 0.5)], None).ok();
    let plans = Plans::repeat(plan(&[1e9, 0.0], &[]), 4);
    for (load, expected) in [
        // In the second superstep, a mean share of (0.5 · 1 + 1 · 0.5) / 1.5 s = 2/3 was left.
        (LoadMeasure::SinceCall, [0.0, 1.0 / 3.0, 0.5]),
        (LoadMeasure::Present, [0.0, 0.5, 0.5]),
    ] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let mut case = Case {
            scenario: Scenario::Ii,
            ..Case::new(&platform, &plans, 0..2)
        };
        case.runtime.load = load;
        case.costs.call.model = CallModel::None;
        case.run_with(Loads(Arc::clone(&seen))).unwrap();
        for (found, expected) in seen.lock().unwrap().iter().zip(expected) {
            assert_close(*found, expected, ROUNDING, &format!("{load:?}"));
        }
    }
}

#[test]
fn a_ping_pong_call_costs_the_busiest_manager() {
    // Cluster a has h0, and h1 with two processes; cluster b has h2 with one. Routes have 1 + 10 + 1 ms and 10 ms for 1e4 B at 1e6 B/s.
    // The manager of b exchanges messages with two processes, that of a with one: 2 · 2 · (12 + 10) ms.
    let platform = machine(&[&[1e9, 1e9], &[1e9]], Wire(1e6, 1e-3), Wire(1e6, 1e-2));
    let plans = Plans::repeat(plan(&[1e9; 3], &[]), 2);
    let call = CallCostConfig {
        model: CallModel::PingPong,
        ping: bytes(1e4),
        ..CallCostConfig::default()
    };
    let migration = MigrationCostConfig::default();
    let case = Case {
        scenario: Scenario::Iii,
        costs: Costs { call, migration },
        ..Case::new(&platform, &plans, 0..3)
    };
    let outcome = case.run_with(Script(vec![(0, vec![])])).unwrap();
    assert_close(outcome.calls[0].cost.get(), 0.088, ROUNDING, "price");
    assert_close(outcome.makespan.get(), 2.088, ROUNDING, "makespan");
}
