//! The durations of migrations and calls on cases worked out by hand.

use super::*;

// Three processes are on four hosts of a switch, with 1e6 B of memory each. The first two move after the first superstep (1 s of work
// each) to hosts 2 and 3. Then they compute 1 s, and the third one 4 s.

fn moves(migration: MigrationCostConfig, targets: [u32; 2]) -> RunOutcome {
    let platform = switch(5, WIRE);
    let plans = Plans {
        memory: vec![1e6; 3],
        ..Plans::new(vec![
            plan(&[1e9, 1e9, 1e9], &[]),
            plan(&[1e9, 1e9, 4e9], &[]),
        ])
    };
    let case = Case {
        scenario: Scenario::Iii,
        costs: Costs {
            call: CallCostConfig {
                model: CallModel::None,
                ..CallCostConfig::default()
            },
            migration: MigrationCostConfig {
                fixed: seconds(0.5),
                ..migration
            },
        },
        ..Case::new(&platform, &plans, [0, 1, 4])
    };
    let script = Script(vec![(0, vec![(0, targets[0]), (1, targets[1])])]);
    case.run_with(script).expect("the run ends")
}

#[test]
fn parallel_moves_take_as_long_as_one_and_serial_moves_as_long_as_all() {
    // A move takes 2 ms + 1 s + 0.5 s.
    let outcome = moves(MigrationCostConfig::default(), [2, 3]);
    assert_close(makespan(&outcome), 1.0 + 1.502 + 4.0, ROUNDING, "parallel");
    assert_close(
        outcome.migration_waiting_time.get(),
        1.502,
        ROUNDING,
        "parallel",
    );
    let serial = MigrationCostConfig {
        order: MigrationOrder::Serial,
        ..MigrationCostConfig::default()
    };
    let outcome = moves(serial, [2, 3]);
    assert_close(makespan(&outcome), 1.0 + 3.004 + 4.0, ROUNDING, "serial");
    assert_close(
        outcome.calls[0].migration_duration.get(),
        3.004,
        ROUNDING,
        "serial",
    );
    let starts: Vec<f64> = outcome.migrations.iter().map(|m| m.start.get()).collect();
    assert_close(starts[0], 1.0, ROUNDING, "first");
    assert_close(starts[1], 2.502, ROUNDING, "second");
}

#[test]
fn a_move_sends_the_memory_of_the_superstep_that_ends() {
    let text = "migsim-trace 2\nprocesses 1\nmemory 2MB\nstep 0\nmemory 0 1MB\nc 0 1\nstep 1\nc 0 1\nstep 2\nmemory 0 3MB\nc 0 1\nstep 3\nc 0 1\nend\n";
    let trace = Trace::parse("t", text).unwrap();
    let platform = switch(2, WIRE);
    let case = Case {
        scenario: Scenario::Iii,
        ..Case::new(&platform, &trace, [0])
    };
    let script = Script(
        [1, 0, 1]
            .into_iter()
            .map(|to| vec![(0, to)])
            .enumerate()
            .collect(),
    );
    let moves = case.run_with(script).unwrap().migrations;
    let sent: Vec<f64> = moves
        .iter()
        .map(|one| one.transferred_bytes.get())
        .collect();
    assert_eq!(sent, [1e6, 1e6, 3e6]);
}

#[test]
fn parallel_moves_to_one_host_share_its_link() {
    // The moves take 2 ms, then 2e6 B over the link of host 2, then 0.5 s.
    let outcome = moves(MigrationCostConfig::default(), [2, 2]);
    assert_close(
        outcome.migration_waiting_time.get(),
        2.502,
        ROUNDING,
        "migration",
    );
}

#[test]
fn processes_that_are_packed_or_unpacked_at_the_same_time_share_the_cores() {
    // Each is packed on its own host in 0.1 s + 1e6 · 100 ns. After the transfer, both are unpacked on one core in 0.6 s.
    let costs = MigrationCostConfig {
        pack: "100 ms + 100 ns/B".parse().unwrap(),
        unpack: "300 ms".parse().unwrap(),
        ..MigrationCostConfig::default()
    };
    let spent = |targets| moves(costs, targets).migration_waiting_time.get();
    assert_close(spent([2, 2]), 0.2 + 2.002 + 0.6 + 0.5, ROUNDING, "one host");
    assert_close(
        spent([2, 3]),
        0.2 + 1.002 + 0.3 + 0.5,
        ROUNDING,
        "two hosts",
    );
    let none = MigrationCostConfig {
        transfer: MemoryTransfer::None,
        ..costs
    };
    let outcome = moves(none, [2, 2]);
    assert_close(
        outcome.migration_waiting_time.get(),
        1.3,
        ROUNDING,
        "no transfer",
    );
}

#[test]
fn a_move_without_transfer_takes_its_operations_only() {
    let none = MigrationCostConfig {
        transfer: MemoryTransfer::None,
        order: MigrationOrder::Serial,
        ..MigrationCostConfig::default()
    };
    assert_close(
        moves(none, [2, 3]).migration_waiting_time.get(),
        1.0,
        ROUNDING,
        "2 · 0.5 s",
    );
}

#[test]
fn where_only_movers_wait_the_others_go_on() {
    // In serial order, the second mover is on its host at 1 + 3.004 s and computes 1 s. The third process is ready at 5 s.
    let movers = MigrationCostConfig {
        order: MigrationOrder::Serial,
        wait: WaitingProcesses::Movers,
        ..MigrationCostConfig::default()
    };
    assert_close(makespan(&moves(movers, [2, 3])), 5.004, ROUNDING, "serial");
    // In parallel order, movers are ready at 1 + 1.502 + 1 s, and the third process at 5 s.
    let movers = MigrationCostConfig {
        wait: WaitingProcesses::Movers,
        ..MigrationCostConfig::default()
    };
    assert_close(makespan(&moves(movers, [2, 3])), 5.0, ROUNDING, "parallel");
}

#[test]
fn a_moved_process_computes_at_the_speed_of_its_new_host() {
    // The process computes 1 s on a host of 1 GHz, then 0.5 s on one of 2 GHz.
    let platform = machine(&[&[1e9, 2e9]], WIRE, WIRE);
    let plans = Plans::repeat(plan(&[1e9], &[]), 2);
    let case = Case {
        scenario: Scenario::Iii,
        costs: free_calls(),
        ..Case::new(&platform, &plans, [0])
    };
    let outcome = case.run_with(Script(vec![(0, vec![(0, 1)])])).unwrap();
    assert_close(makespan(&outcome), 1.5, ROUNDING, "makespan");
}

#[test]
fn an_additive_call_costs_a_fixed_part_and_one_per_process_and_superstep() {
    // Of three processes, calls come after superstep 2 (2 since the start) and 5 (3 since the previous call): 0.25 + 0.01·3·2 and 0.25 +
    // 0.01·3·3.
    let platform = switch(3, WIRE);
    let plans = Plans::repeat(plan(&[1e9; 3], &[]), 6);
    let case = Case {
        scenario: Scenario::Iii,
        costs: call_costs(CallCostConfig {
            model: CallModel::Additive,
            fixed: seconds(0.25),
            per_process_superstep: seconds(0.01),
            ..CallCostConfig::default()
        }),
        ..Case::new(&platform, &plans, 0..3)
    };
    let calls = Script(vec![(1, vec![]), (4, vec![])]);
    let outcome = case.run_with(calls.clone()).unwrap();
    let costs: Vec<f64> = outcome.calls.iter().map(|call| call.cost.get()).collect();
    assert_close(costs[0], 0.31, ROUNDING, "first call");
    assert_close(costs[1], 0.34, ROUNDING, "second call");
    assert_close(outcome.call_waiting_time.get(), 0.65, ROUNDING, "all calls");
    assert_close(makespan(&outcome), 6.65, ROUNDING, "makespan");
    let free = Case {
        costs: free_calls(),
        ..case
    };
    let outcome = free.run_with(calls).unwrap();
    assert_eq!(
        (outcome.call_waiting_time.get(), outcome.calls.len()),
        (0.0, 2)
    );
    assert_close(makespan(&outcome), 6.0, ROUNDING, "free calls");
}

#[test]
fn an_overlapped_call_only_fills_up_the_superstep_that_it_closes() {
    // Supersteps take 1 s and 3 s, and a call takes the rest of at least 2 s after each of the first two: 1 s more after the first, and no
    // time after the second.
    let platform = switch(1, WIRE);
    let plans = Plans::new([1e9, 3e9, 1e9].map(|work| plan(&[work], &[])).into());
    let case = Case {
        scenario: Scenario::Iii,
        costs: call_costs(CallCostConfig {
            model: CallModel::Overlapped,
            fixed: seconds(2.0),
            ..CallCostConfig::default()
        }),
        ..Case::new(&platform, &plans, 0..1)
    };
    let outcome = case
        .run_with(Script(vec![(0, vec![]), (1, vec![])]))
        .unwrap();
    let costs: Vec<f64> = outcome.calls.iter().map(|call| call.cost.get()).collect();
    assert_close(costs[0], 1.0, ROUNDING, "first call");
    assert_eq!(costs[1], 0.0);
    assert_close(makespan(&outcome), 6.0, ROUNDING, "makespan");
}

#[test]
fn movers_pay_their_operations_in_their_next_superstep_beside_the_others() {
    // After 1 s, both movers wait 0.25 s and compute 1 s, while the third process computes 1.1 s: 1 + 1.25.
    let platform = switch(4, WIRE);
    let plans = Plans::new(vec![plan(&[1e9; 3], &[]), plan(&[1e9, 1e9, 1.1e9], &[])]);
    let mut costs = free_calls();
    costs.migration = MigrationCostConfig {
        transfer: MemoryTransfer::None,
        fixed: seconds(0.25),
        wait: WaitingProcesses::Movers,
        ..MigrationCostConfig::default()
    };
    let case = Case {
        scenario: Scenario::Iii,
        costs,
        ..Case::new(&platform, &plans, 0..3)
    };
    let outcome = case
        .run_with(Script(vec![(0, vec![(0, 3), (1, 0)])]))
        .unwrap();
    assert_close(makespan(&outcome), 2.25, ROUNDING, "makespan");
}

#[test]
fn a_call_by_messages_costs_reports_exchange_computation_and_answers() {
    // Clusters a (h0, h1) and b (h2, h3); managers h0 and h2; processes on h0, h1 and h3. Access 1 ms, backbone 10 ms, 1e6 B/s.
    // Reports of 1000 B: 2 ms + 1 ms (that of process 1 stays on its host).
    // Exchange, 500 B per process, 12 ms; a to b 1000 B and b to a 500 B share the route: 1 ms, and 0.5 ms for the rest.
    // Computation of 3 · 1e6: 3 ms at 1 GHz (1.5 ms at 2 GHz). Answers of 2000 B: 2 ms + 2 ms.
    let platform = machine(&[&[1e9, 1e9], &[2e9, 2e9]], WIRE, Wire(1e6, 1e-2));
    let by_messages = call_costs(CallCostConfig {
        model: CallModel::Messages,
        report: bytes(1000.0),
        exchange: bytes(500.0),
        decision: "1e6 instr * P".parse().unwrap(),
        answer: bytes(2000.0),
        ..CallCostConfig::default()
    });
    let cost = |processes: usize, hosts: &[u32]| {
        let plans = Plans::repeat(plan(&vec![1e9; processes], &[]), 2);
        let case = Case {
            scenario: Scenario::Ii,
            costs: by_messages,
            ..Case::new(&platform, &plans, hosts.iter().copied())
        };
        let outcome = case.run_with(Script(vec![(0, vec![])])).unwrap();
        let work = outcome.calls[0].decision_period;
        let from = (work.from.get() - 1.0, work.until.get() - 1.0);
        (outcome.call_waiting_time.get(), from)
    };
    let expected = 0.003 + 0.0135 + 0.003 + 0.004;
    let (all, (from, until)) = cost(3, &[0, 1, 3]);
    assert_close(all, expected, ROUNDING, "two managers");
    // The reports come first, and the answers come last.
    assert_close(from, 0.003 + 0.0135, 1e-9, "they begin to compute");
    assert_close(until, 0.003 + 0.0135 + 0.003, 1e-9, "they have computed");
    // A single manager has no other manager for an exchange: 3 ms + 2 ms + 4 ms.
    let (all, _) = cost(2, &[0, 1]);
    assert_close(all, 0.009, ROUNDING, "one manager");
}

#[test]
fn managers_that_have_nothing_to_compute_answer_at_once() {
    // A report of 1000 B and an answer of 2000 B each take 2 ms more.
    let platform = switch(2, WIRE);
    let plans = Plans::repeat(plan(&[1e9; 2], &[]), 2);
    let case = Case {
        scenario: Scenario::Ii,
        costs: call_costs(CallCostConfig {
            model: CallModel::Messages,
            report: bytes(1000.0),
            exchange: bytes(500.0),
            decision: "0 s".parse().unwrap(),
            answer: bytes(2000.0),
            ..CallCostConfig::default()
        }),
        ..Case::new(&platform, &plans, 0..2)
    };
    let outcome = case.run_with(Script(vec![(0, vec![])])).unwrap();
    assert_close(outcome.call_waiting_time.get(), 0.003 + 0.004, 1e-9, "both");
}
