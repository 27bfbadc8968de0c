//! Calls whose messages are sent one after the other, on cases worked out by hand.
//!
//! There are clusters a (h0, h1) and b (h2, h3) with the managers h0 and h2. Access links have 1 ms, the backbone 10 ms, and all 1e6 B/s.
//! Processes 1 and 2 are on h1 of 1 GHz, process 3 is on h3 of 2 GHz. A report of 1000 B takes 3 ms, and a message between managers of 500
//! B 12.5 ms. An answer of 2000 B takes 4 ms in a cluster and 14 ms between clusters.

use super::*;
use migsim::{
    policy::{Decision, Policy, View},
    random::Stream,
};

/// A policy like [`Script`] whose calls are known in advance.
#[derive(Debug)]
struct Planned(Script);

impl Policy for Planned {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        self.0.is_call_due(view)
    }

    fn is_call_planned(&self, superstep: usize) -> bool {
        self.0.0.iter().any(|(at, _)| *at == superstep)
    }

    fn decide(&mut self, view: &View<'_>, random: &mut Stream) -> Result<Decision, Error> {
        self.0.decide(view, random)
    }
}

fn costs(wait: WaitingProcesses, fixed: f64) -> Costs {
    Costs {
        call: CallCostConfig {
            model: CallModel::Messages,
            order: CallOrder::Sequential,
            report: bytes(1000.0),
            exchange: bytes(500.0),
            decision: "0 s".parse().expect("a formula"),
            answer: bytes(2000.0),
            ..CallCostConfig::default()
        },
        migration: MigrationCostConfig {
            transfer: MemoryTransfer::None,
            fixed: seconds(fixed),
            wait,
            ..MigrationCostConfig::default()
        },
    }
}

/// Runs two supersteps, the first with this work and the second with 1e9 for each process, and a call between them that decides these
/// moves.
fn run(
    (first, barrier): ([f64; 3], BarrierKind),
    costs: Costs,
    policy: impl FnOnce(Script) -> Box<dyn Policy>,
    moves: &[(u32, u32)],
) -> RunOutcome {
    let platform = machine(&[&[1e9, 1e9], &[2e9, 2e9]], WIRE, Wire(1e6, 1e-2));
    let plans = Plans::new(vec![plan(&first, &[]), plan(&[1e9; 3], &[])]);
    let setup = Setup {
        platform: &platform,
        network: NetworkModel::default(),
        workload: &plans,
        placement: &[HostId(1), HostId(1), HostId(3)],
        runtime: RuntimeConfig {
            barrier: BarrierConfig {
                kind: barrier,
                ..BarrierConfig::default()
            },
            ..RuntimeConfig::default()
        },
        costs,
        view: migsim::bsp::ViewConfig::default(),
        scenario: Scenario::Iii,
        seed: 1,
        memo: None,
    };
    let policy = policy(Script(vec![(0, moves.to_vec())]));
    simulate(&setup, policy, &mut ()).expect("the run ends")
}

fn unplanned(script: Script) -> Box<dyn Policy> {
    Box::new(script)
}

fn planned(script: Script) -> Box<dyn Policy> {
    Box::new(Planned(script))
}

fn answers(outcome: &RunOutcome) -> Vec<f64> {
    let answered = outcome.calls[0].answer_times.iter();
    answered.map(|date| date.get()).collect()
}

const EQUAL: ([f64; 3], BarrierKind) = ([1e9; 3], BarrierKind::Ideal);

#[test]
fn managers_receive_exchange_and_answer_one_message_at_a_time() {
    // All processes are at the barrier at 2 s. Manager a has its two reports at 2.006 s. The managers exchange messages twice, a to b and
    // b to a: 50 ms, 2.056 s. Answers arrive at 2.060 s (processes 1 and 3) and 2.064 s (process 2). Then each process computes 1e9, two
    // of them on one host of 1 GHz: 2 s.
    let outcome = run(EQUAL, costs(WaitingProcesses::All, 0.0), unplanned, &[]);
    for (answer, date) in answers(&outcome).iter().zip([2.060, 2.064, 2.060]) {
        assert_close(*answer, date, ROUNDING, "answer");
    }
    assert_close(outcome.calls[0].cost.get(), 0.064, ROUNDING, "cost");
    assert_close(makespan(&outcome), 4.064, ROUNDING, "all wait");
}

#[test]
fn each_process_goes_on_with_its_answer_where_only_movers_wait() {
    // Process 1 has its host alone for 4 ms, and then shares it with process 2 until 4.056 s; process 2 has 4 ms left.
    let outcome = run(EQUAL, costs(WaitingProcesses::Movers, 0.0), unplanned, &[]);
    assert_close(outcome.calls[0].cost.get(), 0.064, ROUNDING, "cost");
    assert_close(makespan(&outcome), 4.060, ROUNDING, "none waits for others");
}

#[test]
fn a_report_is_sent_when_a_process_leaves_its_barrier_if_the_call_is_planned() {
    // Without barriers, process 1 ends its superstep at 2 s and process 2 at 4 s. At that time only the report of process 2 is missing.
    let uneven = ([1e9, 3e9, 1e9], BarrierKind::None);
    let outcome = run(uneven, costs(WaitingProcesses::All, 0.0), planned, &[]);
    assert_close(outcome.calls[0].cost.get(), 0.061, ROUNDING, "one at 2 s");
}

#[test]
fn a_process_may_report_for_the_next_call_before_others_have_their_answers() {
    // There are calls after both supersteps. Process 3 has its answer at 2.060 s and ends its second superstep at 2.560 s, the others at
    // 4.056 s and 4.060 s. If answers take 1 s more, process 3 reports while process 2 still waits: the second call begins when process 2
    // is answered.
    let mut slow = costs(WaitingProcesses::Movers, 0.0);
    slow.call.answer = bytes(1e6);
    slow.call.after_last = true;
    let calls =
        |_| -> Box<dyn Policy> { Box::new(Planned(Script(vec![(0, vec![]), (1, vec![])]))) };
    let none = ([1e9; 3], BarrierKind::None);
    let outcome = run(none, slow, calls, &[]);
    let answered: Vec<f64> = answers(&outcome);
    // The exchange ends at 2.056 s, and each answer takes 1.002 s.
    assert_close(answered[1], 4.060, ROUNDING, "process 2");
    assert_close(answered[2], 3.058, ROUNDING, "process 3");
    // Process 1 computes alone until 4.060 s, process 2 until 5.058 s: they end at 4.060 and 5.060 s.
    assert_eq!(outcome.calls.len(), 2);
    assert_close(outcome.calls[1].start.get(), 5.060, ROUNDING, "second call");
}

#[test]
fn a_moving_process_is_answered_at_its_old_host_by_its_new_manager() {
    // Process 1 goes to h3. From 2.056 s on manager b answers it at h1 (14 ms), then process 3; manager a answers process 2 (4 ms).
    // Process 1 has h3 alone for 4 ms (8e6), and then shares it with process 3 until 3.066 s. Process 3 then has 8e6 left, 4 ms.
    let outcome = run(
        EQUAL,
        costs(WaitingProcesses::Movers, 0.0),
        unplanned,
        &[(0, 3)],
    );
    for (answer, date) in answers(&outcome).iter().zip([2.070, 2.060, 2.074]) {
        assert_close(*answer, date, ROUNDING, "answer");
    }
    assert_close(outcome.migrations[0].end.get(), 2.070, ROUNDING, "move");
    assert_eq!(outcome.migration_waiting_time.get(), 0.0);
    assert_close(makespan(&outcome), 3.070, ROUNDING, "an instant move");
    // With operations of 0.5 s, process 1 is on h3 at 2.570 s, when process 3 has 8e6 left. Both share the host until 2.578 s.
    let outcome = run(
        EQUAL,
        costs(WaitingProcesses::Movers, 0.5),
        unplanned,
        &[(0, 3)],
    );
    assert_close(
        outcome.migration_waiting_time.get(),
        0.5,
        ROUNDING,
        "its operations",
    );
    assert_close(
        makespan(&outcome),
        3.074,
        ROUNDING,
        "a move that takes time",
    );
}

#[test]
fn managers_compute_their_decisions_between_the_exchanges() {
    // The computation of 3 · 1e6 takes 3 ms on h0 and 1.5 ms on h2, and a is the next to send.
    let mut costs = costs(WaitingProcesses::All, 0.0);
    costs.call.decision = "1e6 instr * P".parse().unwrap();
    let outcome = run(EQUAL, costs, unplanned, &[]);
    assert_close(outcome.calls[0].cost.get(), 0.067, ROUNDING, "cost");
}
