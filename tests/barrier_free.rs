//! Supersteps without barriers on cases worked out by hand; the arithmetic is in a comment beside each.

use migsim::{
    bsp::{
        BarrierConfig, BarrierKind, CallCostConfig, CallModel, Costs, MigrationCostConfig,
        Recorder, RunOutcome, RuntimeConfig, Scenario, SendOrder, TransferStart, WaitingProcesses,
    },
    policy::{Measures, Never},
    workload::PrescribedMigration,
};

use crate::support::{
    Case, Plans, ROUNDING, Script, Wire, assert_close, bytes, plan, seconds, switch,
};
use migsim::units::{HostId, ProcessId};

/// Links of 1e6 B/s and 1 ms: a message of 1e6 B over two of them takes 1.002 s.
const WIRE: Wire = Wire(1e6, 1e-3);

fn without(receives: TransferStart) -> RuntimeConfig {
    RuntimeConfig {
        receives,
        barrier: BarrierConfig {
            kind: BarrierKind::None,
            ..BarrierConfig::default()
        },
        ..RuntimeConfig::default()
    }
}

fn free_calls() -> Costs {
    Costs {
        call: CallCostConfig {
            model: CallModel::None,
            ..CallCostConfig::default()
        },
        ..Costs::default()
    }
}

fn ends(outcome: &RunOutcome) -> Vec<f64> {
    let supersteps = outcome.supersteps.iter();
    supersteps.map(|dates| dates.end.get()).collect()
}

/// Two pairs that exchange 1e6 B. The first pair computes 1 s and then 3 s, the second 3 s and then 1 s.
fn two_pairs() -> Plans {
    let exchange = [(0, 1, 1e6), (1, 0, 1e6), (2, 3, 1e6), (3, 2, 1e6)];
    Plans::new(vec![
        plan(&[1e9, 1e9, 3e9, 3e9], &exchange),
        plan(&[3e9, 3e9, 1e9, 1e9], &exchange),
    ])
}

#[test]
fn a_pair_does_not_wait_for_another_pair() {
    // Both directions share the links of the hosts: an exchange takes 2.002 s. Each pair computes 4 s and exchanges twice.
    let (platform, plans) = (switch(4, WIRE), two_pairs());
    let case = Case {
        runtime: without(TransferStart::Early),
        ..Case::new(&platform, &plans, [0, 1, 2, 3])
    };
    let outcome = case.run();
    assert_close(outcome.makespan.get(), 8.004, ROUNDING, "none");
    // The slow pair ends the first superstep at 3 + 2.002 s.
    assert_close(ends(&outcome)[0], 5.002, ROUNDING, "the first superstep");
    let outcome = Case::new(&platform, &plans, [0, 1, 2, 3]).run();
    assert_close(outcome.makespan.get(), 10.004, ROUNDING, "ideal");
}

#[test]
fn a_sender_runs_ahead_of_its_receiver() {
    // Process 1 only sends, one message after each second. Process 2 computes 10 s first, and both messages have arrived by then. It has
    // no work in its second superstep: 10 s. With rendezvous the messages leave at 10 s: 2.002 s for both at once, or one after the other.
    let platform = switch(2, WIRE);
    let plans = Plans::new(vec![
        plan(&[1e9, 10e9], &[(0, 1, 1e6)]),
        plan(&[1e9, 0.0], &[(0, 1, 1e6)]),
    ]);
    let time = |receives| {
        let case = Case {
            runtime: without(receives),
            ..Case::new(&platform, &plans, [0, 1])
        };
        case.run().makespan.get()
    };
    assert_close(time(TransferStart::Early), 10.0, ROUNDING, "early");
    // The second message waits until the first one has arrived.
    assert_close(time(TransferStart::Late), 12.004, ROUNDING, "late");
    // Above 64 kB the sender waits for its own message, too: the handshake takes 4 ms and the message 1.002 s, twice.
    let above = TransferStart::Above {
        late_above: bytes(64e3),
    };
    assert_close(time(above), 13.012, ROUNDING, "above");
}

/// A recorder of the communication time of process 1 in each superstep \[s\].
#[derive(Default)]
struct Communication(Vec<f64>);

impl Recorder for Communication {
    fn on_superstep(&mut self, _: usize, measures: &Measures, _: &[HostId]) {
        self.0.push(measures.communication_times[0].get());
    }
}

#[test]
fn a_process_that_waits_for_its_sends_begins_its_next_superstep_after_them() {
    // Process 1 sends 10 B at 0 s, which process 2 can receive after 10 s, for 2.01 ms. Then process 1 computes 1 s twice.
    let platform = switch(2, WIRE);
    let plans = Plans::new(vec![
        plan(&[0.0, 10e9], &[(0, 1, 10.0)]),
        plan(&[1e9, 0.0], &[]),
        plan(&[1e9, 0.0], &[]),
    ]);
    let run = |wait_for_sends| {
        let case = Case {
            runtime: RuntimeConfig {
                wait_for_sends,
                ..without(TransferStart::Late)
            },
            ..Case::new(&platform, &plans, [0, 1])
        };
        let mut communication = Communication::default();
        let outcome = case.run_watched(Never {}, &mut communication).unwrap();
        (outcome.makespan.get(), communication.0)
    };
    assert_close(run(false).0, 10.002_01, ROUNDING, "it runs ahead");
    let (makespan, communication) = run(true);
    assert_close(makespan, 12.002_01, ROUNDING, "it waits");
    // Process 1 receives nothing, and the wait for its own message is not part of its communication time.
    assert_eq!(communication, [0.0; 3]);
}

#[test]
fn the_wait_for_own_sends_comes_after_the_receives() {
    // Both send 1e6 B to each other, process 2 after 3 s. From then on their messages share the links of the hosts for 2.002 s. A third
    // process receives from process 1 after 9 s, and process 1 waits for this message, too: 1.002 s more.
    let platform = switch(3, WIRE);
    let plans = Plans::new(vec![plan(
        &[1e9, 3e9, 9e9],
        &[(0, 1, 1e6), (1, 0, 1e6), (0, 2, 1e6)],
    )]);
    let case = Case {
        runtime: RuntimeConfig {
            wait_for_sends: true,
            receives: TransferStart::Late,
            ..RuntimeConfig::default()
        },
        ..Case::new(&platform, &plans, [0, 1, 2])
    };
    let mut communication = Communication::default();
    let outcome = case.run_watched(Never {}, &mut communication).unwrap();
    assert_close(outcome.makespan.get(), 10.002, ROUNDING, "the last one");
    assert_close(communication.0[0], 5.002 - 1.0, ROUNDING, "until received");
}

/// The ends of two supersteps on three processes, with a barrier that process 1 opens with messages of 1e4 B: 12 ms each, if alone.
fn released_by_first(second: &[f64]) -> Vec<f64> {
    let platform = switch(3, WIRE);
    let plans = Plans::new(vec![plan(&[2e9, 1e9, 4e9], &[]), plan(second, &[])]);
    let case = Case {
        runtime: RuntimeConfig {
            barrier: BarrierConfig {
                kind: BarrierKind::ReleasedByFirst,
                bytes: bytes(1e4),
                ..BarrierConfig::default()
            },
            ..RuntimeConfig::default()
        },
        ..Case::new(&platform, &plans, [0, 1, 2])
    };
    ends(&case.run())
}

#[test]
fn the_first_process_releases_each_process_when_both_are_at_the_barrier() {
    // Process 1 arrives at 2 s and releases process 2 at 2.012 s and process 3, which computes 4 s, at 4.012 s; then it leaves. Process 2
    // computes until 7.012 s, and is the last one at the second barrier: 12 ms more.
    let ends = released_by_first(&[1e9, 5e9, 1e9]);
    assert_close(ends[0], 4.012, ROUNDING, "first superstep");
    assert_close(ends[1], 7.024, ROUNDING, "second superstep");
    // Process 2 is at the second barrier at 2.512 s, while process 1 still waits at the first one. Processes 1 and 3 are there at 5.012 s:
    // both releases share the link of process 1 for 20 ms.
    let ends = released_by_first(&[1e9, 0.5e9, 1e9]);
    assert_close(ends[1], 5.034, ROUNDING, "ahead by one superstep");
}

#[test]
fn equal_processes_take_the_same_time_with_and_without_a_barrier() {
    let platform = switch(3, WIRE);
    let ring = [(0, 1, 1e5), (1, 2, 1e5), (2, 0, 1e5)];
    let plans = Plans::repeat(plan(&[1e9; 3], &ring), 5);
    let time = |runtime| {
        let case = Case {
            runtime,
            ..Case::new(&platform, &plans, [0, 1, 2])
        };
        case.run().makespan.get()
    };
    let both = [without(TransferStart::Early), RuntimeConfig::default()].map(time);
    assert_close(both[0], both[1], ROUNDING, "a ring");
}

#[test]
fn the_lead_of_an_independent_process_is_limited() {
    // Process 1 has no work in 3 000 supersteps, process 2 has 1 ms in each.
    let platform = switch(2, WIRE);
    let plans = Plans::repeat(plan(&[0.0, 1e6], &[]), 3000);
    let case = Case {
        runtime: without(TransferStart::Early),
        ..Case::new(&platform, &plans, [0, 1])
    };
    assert_close(case.run().makespan.get(), 3.0, 1e-9, "3 000 of 1 ms");
}

#[test]
fn a_deadlock_names_no_barrier() {
    // Two processes send first and receive later; the third has finished its only superstep.
    let platform = switch(3, WIRE);
    let plans = Plans::new(vec![plan(&[1e9; 3], &[(0, 1, 8.0), (1, 0, 8.0)])]);
    let case = Case {
        runtime: RuntimeConfig {
            sends: SendOrder::Sequential,
            ..without(TransferStart::Late)
        },
        ..Case::new(&platform, &plans, 0..3)
    };
    let error = case.run_with(Script(vec![])).expect_err("it cannot go on");
    let error = error.to_string();
    let sends = "process 1 sends to process 2 and waits until process 2 receives";
    assert!(
        error.contains(sends) && !error.contains("barrier"),
        "{error}"
    );
}

#[test]
fn all_meet_for_a_call_after_the_furthest_superstep() {
    // Process 1 needs 0.9 s for a superstep, process 2 needs 2 s. Superstep 1 closes at 2 s, after process 1 has begun its third one at
    // 1.8 s. All processes therefore meet after superstep 3, at 6 s. Process 2 then moves to a host of equal speed in 1.002 s, and needs 2
    // s more.
    let platform = switch(3, WIRE);
    let plans = Plans {
        memory: vec![1e6; 2],
        ..Plans::repeat(plan(&[0.9e9, 2e9], &[]), 4)
    };
    let case = |wait| Case {
        scenario: Scenario::Iii,
        costs: Costs {
            migration: MigrationCostConfig {
                wait,
                ..MigrationCostConfig::default()
            },
            ..free_calls()
        },
        runtime: without(TransferStart::Early),
        ..Case::new(&platform, &plans, [0, 1])
    };
    let script = || {
        Script(vec![
            (0, vec![(1, 2)]),
            (1, vec![(1, 2)]),
            (2, vec![(1, 2)]),
        ])
    };
    for wait in [WaitingProcesses::All, WaitingProcesses::Movers] {
        let outcome = case(wait).run_with(script()).unwrap();
        let [call] = &outcome.calls[..] else {
            panic!("{:?}", outcome.calls);
        };
        assert_eq!(call.superstep, 2);
        assert_close(call.start.get(), 6.0, ROUNDING, "the call");
        assert_close(outcome.makespan.get(), 9.002, ROUNDING, "the run");
    }
}

#[test]
fn all_meet_where_the_workload_moves_a_process() {
    // After superstep 1, which ends at 2 s, process 1 moves for 1.002 s. Process 2 continues when all have met and the move is done.
    let platform = switch(3, WIRE);
    let plans = Plans {
        moves: vec![vec![PrescribedMigration {
            process: ProcessId(0),
            destination_host: platform.hosts[2].name.clone(),
            transferred_bytes: bytes(1e6),
            wait_after_transfer: seconds(0.0),
        }]],
        ..Plans::repeat(plan(&[1e9, 2e9], &[]), 2)
    };
    let case = Case {
        runtime: without(TransferStart::Early),
        ..Case::new(&platform, &plans, [0, 1])
    };
    assert_close(case.run().makespan.get(), 5.002, ROUNDING, "the run");
}

#[test]
fn a_superstep_is_closed_before_those_go_on_that_end_at_the_same_time() {
    // Process 3 computes 1 s, then its message takes 1 s: superstep 1 closes at 2 s, when process 2 has received it. Process 1 ends its
    // second superstep at 2 s, too, whether it began at 0.5 s or at 1.5 s, and so does process 3. No process has begun a later superstep,
    // so all meet after this one, at 3 s.
    let platform = switch(3, Wire(1e6, 0.0));
    for first in [0.5e9, 1.5e9] {
        let plans = Plans::new(vec![
            plan(&[first, 0.0, 1e9], &[(2, 1, 1e6)]),
            plan(&[2e9 - first, 1e9, 1e9], &[]),
            plan(&[1e9; 3], &[]),
        ]);
        let case = Case {
            scenario: Scenario::Iii,
            costs: free_calls(),
            runtime: without(TransferStart::Early),
            ..Case::new(&platform, &plans, [0, 1, 2])
        };
        let outcome = case.run_with(Script(vec![(0, vec![]), (1, vec![])]));
        let outcome = outcome.unwrap();
        let [call] = &outcome.calls[..] else {
            panic!("{:?}", outcome.calls);
        };
        let found = (call.superstep, call.start.get());
        assert_eq!(found, (1, 3.0), "{first}");
    }
}
