//! The runtime on cases that are small enough to work out by hand; the arithmetic is in a comment beside each.

mod barriers;
mod calls_in_turn;
mod moves_and_calls;
mod processor_time;
mod refusals;

use migsim::{
    bsp::{
        BarrierConfig, BarrierKind, CallCostConfig, CallModel, CallOrder, Costs, GatherOrder,
        MemoryTransfer, MigrationCostConfig, MigrationOrder, Recorder, ReleaseOrder, RunOutcome,
        RuntimeConfig, Scenario, SendOrder, Setup, TransferStart, WaitingProcesses, simulate,
    },
    engine::NetworkModel,
    error::Error,
    platform::{Platform, Routes},
    policy::{Measures, Never},
    workload::{Plan, PrescribedMigration, trace::Trace},
};

use crate::support::{
    Case, Plans, ROUNDING, Script, Wire, assert_close, bytes, machine, plan, seconds, switch,
};
use migsim::units::{Bytes, BytesPerSecond, HostId, ProcessId, Seconds};

/// Links of 1e6 B/s and 1 ms: a message of 1e6 B over two of them takes 1.002 s.
const WIRE: Wire = Wire(1e6, 1e-3);

fn makespan(outcome: &RunOutcome) -> f64 {
    outcome.makespan.get()
}

fn exchange(sends: SendOrder, receives: TransferStart) -> RuntimeConfig {
    RuntimeConfig {
        sends,
        receives,
        ..RuntimeConfig::default()
    }
}

/// Returns the time of one superstep with `runtime`, with process i on host i.
fn time_of(platform: &Platform, plan: Plan, runtime: RuntimeConfig) -> f64 {
    let hosts = (0..).take(plan.work.len());
    let plans = Plans::new(vec![plan]);
    let case = Case {
        runtime,
        ..Case::new(platform, &plans, hosts)
    };
    makespan(&case.run())
}

#[test]
fn concurrent_sends_share_the_link_and_sequential_sends_wait_for_each_other() {
    let platform = switch(3, WIRE);
    let two = || plan(&[1e9, 0.0, 0.0], &[(0, 1, 1e6), (0, 2, 1e6)]);
    // After 1 s of work, both flows wait 2 ms, and then move at half of 1e6 B/s each: 2 s.
    let time = time_of(
        &platform,
        two(),
        exchange(SendOrder::Concurrent, TransferStart::Early),
    );
    assert_close(time, 3.002, ROUNDING, "concurrent");
    // The time is 1 s + 2 · (2 ms + 1 s).
    let time = time_of(
        &platform,
        two(),
        exchange(SendOrder::Sequential, TransferStart::Early),
    );
    assert_close(time, 3.004, ROUNDING, "sequential");
}

#[test]
fn a_late_receive_holds_the_message_until_its_receiver_has_computed() {
    let platform = switch(2, WIRE);
    let one = || plan(&[0.0, 3e9], &[(0, 1, 1e6)]);
    // The message arrives at 1.002 s; process 2 computes until 3 s.
    let time = time_of(
        &platform,
        one(),
        exchange(SendOrder::Concurrent, TransferStart::Early),
    );
    assert_close(time, 3.0, ROUNDING, "early");
    // The message starts at 3 s.
    let time = time_of(
        &platform,
        one(),
        exchange(SendOrder::Concurrent, TransferStart::Late),
    );
    assert_close(time, 4.002, ROUNDING, "late");
}

#[test]
fn a_sequential_sender_waits_for_a_late_receiver_before_its_next_message() {
    // The first message goes from 3 s to 4.002 s, and the second one only then, until 5.004 s. Concurrently it would arrive at 1.002 s.
    let platform = switch(3, WIRE);
    let two = || plan(&[0.0, 3e9, 0.0], &[(0, 1, 1e6), (0, 2, 1e6)]);
    let time = time_of(
        &platform,
        two(),
        exchange(SendOrder::Sequential, TransferStart::Late),
    );
    assert_close(time, 5.004, ROUNDING, "sequential");
    let time = time_of(
        &platform,
        two(),
        exchange(SendOrder::Concurrent, TransferStart::Late),
    );
    assert_close(time, 4.002, ROUNDING, "concurrent");
}

#[test]
fn processes_on_a_host_share_it_and_its_cores() {
    // The works are 1, 2 and 3e9 at 1 GHz: a third of the host each until 3 s, half each until 5 s, and the last one alone until 6 s.
    let mut platform = switch(1, WIRE);
    let plans = Plans::new(vec![plan(&[1e9, 2e9, 3e9], &[])]);
    let time = |platform: &Platform| makespan(&Case::new(platform, &plans, [0, 0, 0]).run());
    assert_close(time(&platform), 6.0, ROUNDING, "one core");
    // With two cores, each process has 2/3 of a core until 1.5 s, and then a whole core: 2e9 end at 2.5 s, 3e9 at 3.5 s.
    platform.hosts[0].cores = 2;
    assert_close(time(&platform), 3.5, ROUNDING, "two cores");
}

#[test]
fn a_message_within_a_host_moves_at_the_loopback_bandwidth() {
    // The message has 2e10 B at 1e10 B/s.
    let platform = switch(1, WIRE);
    let plans = Plans::new(vec![plan(&[0.0, 0.0], &[(0, 1, 2e10)])]);
    let time = makespan(&Case::new(&platform, &plans, [0, 0]).run());
    assert_close(time, 2.0, ROUNDING, "loopback");
}

#[test]
fn messages_within_a_host_have_costs_of_their_own_and_share_its_loopback() {
    let network = NetworkModel {
        overhead: Seconds::of(100.0), // of messages between hosts
        loopback_overhead: Seconds::of(0.5),
        loopback_latency: Seconds::of(0.25),
        ..NetworkModel::default()
    };
    let plans = Plans::new(vec![plan(
        &[0.0; 4],
        &[(0, 1, 2e10), (1, 0, 2e10), (2, 3, 2e10)],
    )]);
    let time = |platform: &Platform| {
        let mut case = Case::new(platform, &plans, [0, 0, 1, 1]);
        case.network = network;
        makespan(&case.run())
    };
    let mut platform = switch(2, WIRE);
    // 0.5 + 0.25 s, then 2e10 B at 1e10 B/s, each alone.
    assert_close(time(&platform), 2.75, ROUNDING, "of the model");
    // Two on the first host share 1e10 B/s; the latency is that of the link.
    platform.add_loopbacks(0..2, BytesPerSecond::of(1e10), Seconds::of(0.125));
    assert_close(time(&platform), 4.625, ROUNDING, "shared");
    let library = NetworkModel {
        packet: Some(Bytes::of(1448.0)),
        bandwidth_factor: 0.5,
        slow_start: true,
        ..network
    };
    let mut case = Case::new(&platform, &plans, [0, 0, 1, 1]);
    case.network = library;
    let with_library = makespan(&case.run());
    assert_close(
        with_library,
        8.625,
        ROUNDING,
        "half the bandwidth, no other cost",
    );
    // In queues headers are counted instead of the factor: 2000 packets of 1538 B share 1e6 B/s.
    let small = Plans::new(vec![plan(&[0.0; 2], &[(0, 1, 1.448e6), (1, 0, 1.448e6)])]);
    let mut slow = switch(1, WIRE);
    slow.add_loopbacks(0..1, BytesPerSecond::of(1e6), Seconds::of(0.125));
    let mut case = Case::new(&slow, &small, [0, 0]);
    case.network = NetworkModel {
        queues: true,
        ..library
    };
    assert_close(makespan(&case.run()), 0.625 + 3.076, ROUNDING, "in queues");
}

fn free_calls() -> Costs {
    call_costs(CallCostConfig {
        model: CallModel::None,
        ..CallCostConfig::default()
    })
}

fn call_costs(call: CallCostConfig) -> Costs {
    Costs {
        call,
        ..Costs::default()
    }
}
