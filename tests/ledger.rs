//! The ledger on cases worked out by hand.

use migsim::{
    bsp::{
        CallCostConfig, CallModel, Costs, MemoryTransfer, MigrationCostConfig, MigrationOrder,
        Scenario, WaitingProcesses,
    },
    experiment::{MakespanLedger, MakespanTerm},
    workload::Workload,
};

use crate::support::{Case, Plans, ROUNDING, Script, Wire, assert_close, machine, plan, seconds};

/// Hosts `h0` and `h1` of 1 GHz, `h2` and `h3` of 2 GHz.
fn ledger(workload: &dyn Workload, costs: Costs, script: &Script) -> MakespanLedger {
    let platform = machine(&[&[1e9; 2], &[2e9; 2]], Wire(1e6, 0.0), Wire(1e6, 0.0));
    let run = |scenario| {
        let case = Case {
            costs,
            scenario,
            ..Case::new(&platform, workload, 0..2)
        };
        case.run_with(script.clone()).expect("the run ends")
    };
    MakespanLedger::new(&run(Scenario::Iii), &run(Scenario::I))
}

fn assert_terms(ledger: &MakespanLedger, expected: &[(MakespanTerm, f64)]) {
    for (term, found) in ledger.terms_in_seconds() {
        let wanted = expected.iter().find(|(known, _)| *known == term);
        let wanted = wanted.map_or(0.0, |(_, seconds)| *seconds);
        assert!(
            (found - wanted).abs() < ROUNDING,
            "{}: {found} instead of {wanted}",
            term.name()
        );
    }
    let sum: f64 = ledger.terms_in_seconds().map(|(_, seconds)| seconds).sum();
    assert_eq!(sum.to_bits(), ledger.difference_in_seconds().to_bits());
}

/// A call of 0.5 s, and moves of 0.25 s each.
fn costs(wait: WaitingProcesses, order: MigrationOrder) -> Costs {
    Costs {
        call: CallCostConfig {
            model: CallModel::Additive,
            fixed: seconds(0.5),
            ..CallCostConfig::default()
        },
        migration: MigrationCostConfig {
            transfer: MemoryTransfer::None,
            fixed: seconds(0.25),
            order,
            wait,
            ..MigrationCostConfig::default()
        },
    }
}

#[test]
fn two_moves_to_faster_hosts_are_split_into_terms() {
    // Each of three supersteps has 1 s of computation and 1 s for 1e6 B. From the second one on, the computation takes 0.5 s.
    let plans = Plans::repeat(plan(&[1e9; 2], &[(0, 1, 1e6)]), 3);
    let script = Script(vec![(0, vec![(0, 2), (1, 3)])]);
    let ledger = ledger(
        &plans,
        costs(WaitingProcesses::All, MigrationOrder::Serial),
        &script,
    );
    assert_terms(
        &ledger,
        &[
            (MakespanTerm::CallWaiting, 0.5),
            (MakespanTerm::Migrations, 2.0 * 0.25),
            (MakespanTerm::Computation, -2.0 * 0.5),
        ],
    );
    assert_close(
        ledger.difference_in_seconds() + 1.0,
        1.0,
        ROUNDING,
        "the sum",
    );
}

#[test]
fn a_migration_that_others_hide_costs_nothing() {
    // Process 1 computes 1 s on its slow host. Process 0 moves for 0.25 s and then computes 0.5 s.
    let plans = Plans::repeat(plan(&[1e9; 2], &[]), 2);
    let script = Script(vec![(0, vec![(0, 2)])]);
    let hidden = ledger(
        &plans,
        costs(WaitingProcesses::Movers, MigrationOrder::Serial),
        &script,
    );
    assert_terms(&hidden, &[(MakespanTerm::CallWaiting, 0.5)]);
    // Both processes move, one after the other: at 0.25 and 0.5 s. They have computed by 1.0 s, 0.5 s after the time at which the first
    // could have.
    let script = Script(vec![(0, vec![(0, 2), (1, 3)])]);
    let late = ledger(
        &plans,
        costs(WaitingProcesses::Movers, MigrationOrder::Serial),
        &script,
    );
    assert_terms(
        &late,
        &[
            (MakespanTerm::CallWaiting, 0.5),
            (MakespanTerm::Migrations, 0.5),
            (MakespanTerm::Computation, -0.5),
        ],
    );
}

#[test]
fn a_call_by_messages_is_split_into_messages_and_work() {
    // Reports of 30 B and answers of 20 B at 1e6 B/s go between h0, h1 and the manager h0: h0 sends to itself, h1 over two links. The
    // manager computes 2 · 1e6 instructions at 1 GHz.
    let plans = Plans::repeat(plan(&[1e9; 2], &[]), 2);
    let call = CallCostConfig {
        decision: "1e6 instr * P".parse().unwrap(),
        ..CallCostConfig::default()
    };
    let costs = Costs {
        call,
        ..Costs::default()
    };
    let ledger = ledger(&plans, costs, &Script(vec![(0, vec![])]));
    assert_terms(
        &ledger,
        &[
            (MakespanTerm::CallMessages, 50e-6),
            (MakespanTerm::CallWork, 2e-3),
        ],
    );
}
