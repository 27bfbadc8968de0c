//! The runtime on cases small enough to work out by hand; the arithmetic stands beside each.

use migsim::bsp::{
    BarrierConfig, BarrierKind, CallCost, CallModel, Costs, GatherOrder, MoveCost, MoveOrder,
    Outcome, Receives, Recorder, Release, RuntimeConfig, Scenario, Sends, Setup, Transfer, Waiting,
    simulate,
};
use migsim::engine::NetworkModel;
use migsim::error::Error;
use migsim::platform::{Platform, Routes};
use migsim::policy::{Measures, Never};
use migsim::workload::{Plan, PrescribedMove};

use crate::support::{
    Case, Plans, ROUNDING, Script, Wire, assert_close, bytes, instructions, machine, plan, seconds,
    switch,
};
use migsim::units::{HostId, ProcessId};

/// 1e6 B/s and 1 ms: a message of 1e6 B over two of them takes 1.002 s.
const WIRE: Wire = Wire(1e6, 1e-3);

fn makespan(outcome: &Outcome) -> f64 {
    outcome.makespan.get()
}

fn exchange(sends: Sends, receives: Receives) -> RuntimeConfig {
    RuntimeConfig {
        sends,
        receives,
        ..RuntimeConfig::default()
    }
}

/// The time of one superstep under `runtime`, process i on host i.
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
    // 1 s of work; both flows wait 2 ms, then move at half of 1e6 B/s each: 2 s.
    let time = time_of(
        &platform,
        two(),
        exchange(Sends::Concurrent, Receives::Early),
    );
    assert_close(time, 3.002, ROUNDING, "concurrent");
    // 1 s + 2 · (2 ms + 1 s).
    let time = time_of(
        &platform,
        two(),
        exchange(Sends::Sequential, Receives::Early),
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
        exchange(Sends::Concurrent, Receives::Early),
    );
    assert_close(time, 3.0, ROUNDING, "early");
    // It starts at 3 s.
    let time = time_of(
        &platform,
        one(),
        exchange(Sends::Concurrent, Receives::Late),
    );
    assert_close(time, 4.002, ROUNDING, "late");
}

#[test]
fn a_sequential_sender_waits_for_a_late_receiver_before_its_next_message() {
    // The first message goes from 3 s to 4.002 s, the second one only then: 5.004 s. Concurrently it would be there at 1.002 s.
    let platform = switch(3, WIRE);
    let two = || plan(&[0.0, 3e9, 0.0], &[(0, 1, 1e6), (0, 2, 1e6)]);
    let time = time_of(
        &platform,
        two(),
        exchange(Sends::Sequential, Receives::Late),
    );
    assert_close(time, 5.004, ROUNDING, "sequential");
    let time = time_of(
        &platform,
        two(),
        exchange(Sends::Concurrent, Receives::Late),
    );
    assert_close(time, 4.002, ROUNDING, "concurrent");
}

#[test]
fn processes_on_a_host_share_it_and_its_cores() {
    // 1, 2 and 3e9 at 1 GHz: a third each until 3 s, half each until 5 s, the rest alone until 6 s.
    let mut platform = switch(1, WIRE);
    let plans = Plans::new(vec![plan(&[1e9, 2e9, 3e9], &[])]);
    let time = |platform: &Platform| makespan(&Case::new(platform, &plans, [0, 0, 0]).run());
    assert_close(time(&platform), 6.0, ROUNDING, "one core");
    // Two cores: 2/3 each until 1.5 s; then one core each: 2e9 at 2.5 s, 3e9 at 3.5 s.
    platform.hosts[0].cores = 2;
    assert_close(time(&platform), 3.5, ROUNDING, "two cores");
}

#[test]
fn a_message_within_a_host_moves_at_the_loopback_bandwidth() {
    // 2e10 B at 1e10 B/s.
    let platform = switch(1, WIRE);
    let plans = Plans::new(vec![plan(&[0.0, 0.0], &[(0, 1, 2e10)])]);
    let time = makespan(&Case::new(&platform, &plans, [0, 0]).run());
    assert_close(time, 2.0, ROUNDING, "loopback");
}

// Barriers: on the switch below a message of b bytes takes d + b · t with d = 2 s, and t = 1 s per 1e6 B.

const D: f64 = 2.0;
const PROCESSES: [usize; 5] = [1, 2, 3, 5, 8];

fn barrier(kind: BarrierKind, size: f64, gather: GatherOrder, release: Release) -> RuntimeConfig {
    RuntimeConfig {
        barrier: BarrierConfig {
            kind,
            bytes: bytes(size),
            gather,
            release,
            ..BarrierConfig::default()
        },
        ..RuntimeConfig::default()
    }
}

/// Any barrier but a sequential one.
fn plain(kind: BarrierKind, size: f64) -> RuntimeConfig {
    barrier(kind, size, GatherOrder::Ascending, Release::Simultaneous)
}

/// The time of a superstep in which nobody does anything, with messages of 0 B and of 1e6 B.
fn barrier_times(processes: usize, runtime: impl Fn(f64) -> RuntimeConfig) -> [f64; 2] {
    let platform = switch(processes, Wire(1e6, D / 2.0));
    let idle = || plan(&vec![0.0; processes], &[]);
    [0.0, 1e6].map(|size| time_of(&platform, idle(), runtime(size)))
}

fn assert_times(found: [f64; 2], expected: [f64; 2], what: &str) {
    for (found, expected) in found.into_iter().zip(expected) {
        assert_close(found, expected, ROUNDING, what);
    }
}

#[test]
fn an_ideal_barrier_costs_nothing() {
    for processes in PROCESSES {
        let found = barrier_times(processes, |size| plain(BarrierKind::Ideal, size));
        assert_eq!(found, [0.0, 0.0]);
    }
}

#[test]
fn a_central_barrier_costs_two_messages_and_the_link_of_its_root() {
    for processes in PROCESSES {
        // p-1 notices share the link of process 1, then p-1 answers do.
        let others = processes as f64 - 1.0;
        let ways = if processes == 1 { 0.0 } else { 2.0 };
        let found = barrier_times(processes, |size| plain(BarrierKind::Central, size));
        let what = format!("{processes} processes");
        assert_times(found, [ways * D, ways * (D + others)], &what);
    }
}

#[test]
fn a_sequential_barrier_costs_a_message_per_process_each_way() {
    // The coordinator is on the host of process 1, whose own messages take 1e6 B / 1e10 B/s.
    let own = 1e-4;
    for processes in PROCESSES {
        let others = processes as f64 - 1.0;
        for release in [Release::Simultaneous, Release::Sequential] {
            for gather in [
                GatherOrder::Ascending,
                GatherOrder::Descending,
                GatherOrder::Arrival,
                GatherOrder::Parallel,
            ] {
                let found = barrier_times(processes, |size| {
                    barrier(BarrierKind::Sequential, size, gather, release)
                });
                let release = [others * D, others * (D + 1.0) + own];
                let gathered = match gather {
                    // All in flight together on the link of the coordinator.
                    GatherOrder::Parallel => [D, D + others],
                    _ => release,
                };
                let expected = if processes == 1 {
                    [0.0; 2]
                } else {
                    [gathered[0] + release[0], gathered[1] + release[1]]
                };
                assert_times(
                    found,
                    expected,
                    &format!("{processes} processes, {gather:?}"),
                );
            }
        }
    }
}

#[test]
fn messages_of_a_barrier_on_links_that_are_not_shared_take_their_latency_and_bytes() {
    // Three each way: 1e-4 s on the host of the coordinator, and twice 2 s + 1 s.
    let mut platform = switch(3, Wire(1e6, D / 2.0));
    for link in &mut platform.links {
        link.is_shared = false;
    }
    let runtime = plain(BarrierKind::Sequential, 1e6);
    let time = time_of(&platform, plan(&[0.0; 3], &[]), runtime);
    assert_close(time, 2.0 * (1e-4 + 2.0 * (D + 1.0)), ROUNDING, "unshared");
}

#[test]
fn messages_of_a_barrier_share_links_with_those_of_the_superstep() {
    // After an empty superstep (1e-4 s on the host of the coordinator, 1 s for each other process, each way) process 1 leaves that host.
    // Then the last process is gathered first: its message and the one that it sends to process 2 share its link until 2 s. The others are
    // gathered until 4 s and all answered until 7 s.
    let platform = switch(4, Wire(1e6, 0.0));
    let away = PrescribedMove {
        process: ProcessId(0),
        to: "h3".into(),
        size: bytes(0.0),
        delay: seconds(0.0),
    };
    let plans = Plans {
        moves: vec![vec![away]],
        ..Plans::new(vec![plan(&[0.0; 3], &[]), plan(&[0.0; 3], &[(2, 1, 1e6)])])
    };
    let order = GatherOrder::Descending;
    let case = Case {
        runtime: barrier(BarrierKind::Sequential, 1e6, order, Release::Simultaneous),
        ..Case::new(&platform, &plans, 0..3)
    };
    let expected = 2.0 * (1e-4 + 2.0) + 7.0;
    assert_close(makespan(&case.run()), expected, ROUNDING, "shared");
}

#[test]
fn each_superstep_that_repeats_one_that_was_simulated_by_events_has_its_flows() {
    // A message, a notice and an answer in each.
    let platform = switch(2, WIRE);
    let other = plan(&[1e9, 2e9], &[(1, 0, 1e6)]);
    let again = plan(&[1e9, 1e9], &[(0, 1, 1e6)]);
    let plans = Plans::new(vec![other, again.clone(), again]);
    let case = Case {
        runtime: plain(BarrierKind::Central, 8.0),
        ..Case::new(&platform, &plans, 0..2)
    };
    assert_eq!(case.run().flows, 9);
}

#[test]
fn a_prescribed_move_to_the_same_host_pays_the_loopback() {
    // 1.5e6 B over 1e10 B/s, then the delay.
    let platform = switch(2, WIRE);
    let stay = PrescribedMove {
        process: ProcessId(0),
        to: "h0".into(),
        size: bytes(1.5e6),
        delay: seconds(0.25),
    };
    let plans = Plans {
        moves: vec![vec![stay]],
        ..Plans::repeat(plan(&[1e9; 2], &[]), 2)
    };
    let outcome = Case::new(&platform, &plans, 0..2).run();
    assert_close(makespan(&outcome), 2.25015, ROUNDING, "the run");
}

#[test]
fn a_workload_without_supersteps_takes_no_time() {
    let platform = switch(2, WIRE);
    let plans = Plans::repeat(plan(&[1e9; 2], &[(0, 1, 1e6)]), 0);
    let outcome = Case::new(&platform, &plans, 0..2).run();
    assert_eq!((makespan(&outcome), outcome.flows), (0.0, 0));
}

#[test]
fn after_a_link_has_changed_flows_share_what_it_has_now() {
    // 1 s of work, then two flows over the link of process 1: 2 s at 1e6 B/s. From 10 s on it has half: the fourth superstep ends its
    // work then, and its flows take 4 s, as those of the fifth do.
    let mut platform = switch(3, Wire(1e6, 0.0));
    let profile = migsim::platform::Profile::new(vec![(10.0, 5e5)], None);
    platform.links[0].bandwidth_profile = Some(profile.expect("a profile"));
    let work = plan(&[1e9, 0.0, 0.0], &[(0, 1, 1e6), (0, 2, 1e6)]);
    let plans = Plans::repeat(work, 5);
    let outcome = Case::new(&platform, &plans, 0..3).run();
    assert_close(makespan(&outcome), 9.0 + 5.0 + 5.0, 1e-9, "makespan");
}

#[test]
fn the_order_of_the_gathering_matters_when_somebody_is_late() {
    // Three processes, the second one computes 10 d. Release: 2 d.
    let platform = switch(3, Wire(1e6, D / 2.0));
    let time = |gather| {
        let late = plan(&[0.0, 10.0 * D * 1e9, 0.0], &[]);
        let runtime = barrier(BarrierKind::Sequential, 0.0, gather, Release::Simultaneous);
        time_of(&platform, late, runtime) / D
    };
    // The third has to wait for the second: 10 + 1 + 1 + 2.
    assert_close(time(GatherOrder::Ascending), 14.0, ROUNDING, "ascending");
    // The third is received while the second computes: 10 + 1 + 2.
    assert_close(time(GatherOrder::Descending), 13.0, ROUNDING, "descending");
    assert_close(time(GatherOrder::Arrival), 13.0, ROUNDING, "arrival");
    assert_close(time(GatherOrder::Parallel), 13.0, ROUNDING, "parallel");
}

#[test]
fn a_sequential_release_lets_the_first_process_begin_early() {
    // Gathered at d; process 1 (the coordinator's) leaves at d or, released together, at 2 d, and computes 10 d. Process 2 is
    // received meanwhile, its release takes d.
    let platform = switch(2, Wire(1e6, D / 2.0));
    let plans = Plans::new(vec![
        plan(&[0.0, 0.0], &[]),
        plan(&[10.0 * D * 1e9, 0.0], &[]),
    ]);
    let time = |release| {
        let case = Case {
            runtime: barrier(
                BarrierKind::Sequential,
                0.0,
                GatherOrder::Descending,
                release,
            ),
            ..Case::new(&platform, &plans, [0, 1])
        };
        makespan(&case.run()) / D
    };
    assert_close(time(Release::Sequential), 12.0, ROUNDING, "sequential");
    assert_close(time(Release::Simultaneous), 13.0, ROUNDING, "simultaneous");
}

#[test]
fn a_tree_barrier_costs_the_depth_of_the_tree_each_way() {
    // Parents: 1, 2, 4 -> 0; 3 -> 2; 5, 6 -> 4; 7 -> 6 (from 0). Depth: the most ones in a number below p.
    // With bytes, children that notify or are released together share the link of their parent:
    // p = 3: (d + 2) up, (d + 2) down. p = 5: 1 and 4 up (d + 2), 3 meanwhile, then 2 (d; its bytes after theirs, as d > 1);
    // down d + 3 and d + 1. p = 8: up 3 · (d + 1); down d + 3 (1, 2, 4), d + 2 (5, 6), d + 1 (7).
    let expected = [
        (1, [0.0, 0.0]),
        (2, [2.0 * D, 2.0 * D + 2.0]),
        (3, [2.0 * D, 2.0 * D + 4.0]),
        (5, [4.0 * D, 4.0 * D + 6.0]),
        (8, [6.0 * D, 6.0 * D + 9.0]),
    ];
    for (processes, expected) in expected {
        let found = barrier_times(processes, |size| plain(BarrierKind::Tree, size));
        assert_times(found, expected, &format!("{processes} processes"));
    }
}

#[test]
fn a_dissemination_barrier_costs_a_message_per_round() {
    // ⌈log2 p⌉ rounds; in each, every link carries one message out and one in.
    for (processes, rounds) in [(1, 0.0), (2, 1.0), (3, 2.0), (5, 3.0), (8, 3.0)] {
        let found = barrier_times(processes, |size| plain(BarrierKind::Dissemination, size));
        let what = format!("{processes} processes");
        assert_times(found, [rounds * D, rounds * (D + 2.0)], &what);
    }
}

#[test]
fn a_barrier_of_recursive_doubling_costs_a_message_per_round_and_some_outside() {
    // log2 p rounds; in each, every link carries one message out and one in.
    for (processes, rounds) in [(1, 0.0), (2, 1.0), (4, 2.0), (8, 3.0)] {
        let found = barrier_times(processes, |size| {
            plain(BarrierKind::RecursiveDoubling, size)
        });
        let what = format!("{processes} processes");
        assert_times(found, [rounds * D, rounds * (D + 2.0)], &what);
    }
    // Else a notice before the rounds, a release after them and its answer. The notice delays a partner by d, but a process without one sends
    // at once: of 5, process 1 waits for nobody in its first round. Of 7, process 4 waits there for 3, and then 2 for it.
    for (processes, messages) in [(3, 3.0), (5, 4.0), (6, 4.0), (7, 5.0), (12, 5.0)] {
        let [found, _] = barrier_times(processes, |size| {
            plain(BarrierKind::RecursiveDoubling, size)
        });
        let what = format!("{processes} processes");
        assert_close(found, messages * D, ROUNDING, &what);
    }
}

#[test]
fn a_double_ring_costs_two_messages_per_process_and_an_answer() {
    for processes in [2, 3, 5] {
        let [found, _] = barrier_times(processes, |size| plain(BarrierKind::DoubleRing, size));
        let what = format!("{processes} processes");
        assert_close(found, (2 * processes + 1) as f64 * D, ROUNDING, &what);
    }
}

#[test]
fn the_library_chooses_its_barrier_by_the_number_of_processes() {
    for (processes, chosen) in [
        (3, BarrierKind::RecursiveDoubling),
        (4, BarrierKind::Central),
        (7, BarrierKind::Central),
        (8, BarrierKind::RecursiveDoubling),
        (12, BarrierKind::RecursiveDoubling),
    ] {
        let of = |kind| barrier_times(processes, |size| plain(kind, size));
        let what = format!("{processes} processes");
        assert_times(of(BarrierKind::Library), of(chosen), &what);
    }
}

#[test]
fn a_root_that_pays_for_a_barrier_delays_it_only_if_it_is_the_last() {
    // Four processes, 0.1 s each: process 1 arrives 0.4 s after it is ready, the others at once.
    let runtime = RuntimeConfig {
        barrier: BarrierConfig {
            kind: BarrierKind::RootSerial,
            per_process: seconds(0.1),
            ..BarrierConfig::default()
        },
        ..RuntimeConfig::default()
    };
    let platform = switch(4, WIRE);
    let time = |work: [f64; 4]| time_of(&platform, plan(&work, &[]), runtime);
    assert_close(time([1e9; 4]), 1.4, ROUNDING, "all together");
    assert_close(time([1e9, 1e9, 1e9, 1.3e9]), 1.4, ROUNDING, "a late one");
    assert_close(time([1e9, 1e9, 1e9, 2e9]), 2.0, ROUNDING, "a later one");
    assert_close(time([0.0, 1e9, 1e9, 1e9]), 1.0, ROUNDING, "an idle root");
    // Two supersteps take twice as long.
    let plans = Plans::repeat(plan(&[1e9; 4], &[]), 2);
    let case = Case {
        runtime,
        ..Case::new(&platform, &plans, 0..4)
    };
    assert_close(makespan(&case.run()), 2.8, ROUNDING, "two in a row");
}

#[test]
fn a_root_that_releases_one_after_the_other_delays_all() {
    // Four processes: all leave 4 · 0.1 s after the last arrival, and 0.05 s later for each that computed.
    let runtime = RuntimeConfig {
        barrier: BarrierConfig {
            kind: BarrierKind::RootSerial,
            release_per_process: seconds(0.1),
            release_per_computing: seconds(0.05),
            ..BarrierConfig::default()
        },
        ..RuntimeConfig::default()
    };
    let platform = switch(4, WIRE);
    let time = |work: [f64; 4]| time_of(&platform, plan(&work, &[]), runtime);
    assert_close(time([1e9, 1e9, 1e9, 2e9]), 2.6, ROUNDING, "all compute");
    assert_close(time([1e9, 0.0, 0.0, 0.0]), 1.45, ROUNDING, "one computes");
    // Supersteps in a row, in which four and one compute.
    let plans = Plans::new(vec![
        plan(&[1e9; 4], &[]),
        plan(&[0.0, 1e9, 0.0, 0.0], &[]),
        plan(&[1e9; 4], &[]),
    ]);
    let case = Case {
        runtime,
        ..Case::new(&platform, &plans, 0..4)
    };
    assert_close(makespan(&case.run()), 4.65, ROUNDING, "three in a row");
}

#[test]
fn what_the_root_pays_for_a_barrier_enters_its_measured_times() {
    /// Keeps what was measured of the first two processes.
    #[derive(Default)]
    struct Times(Vec<[f64; 4]>);
    impl Recorder for Times {
        fn superstep(&mut self, _superstep: usize, measures: &Measures, _placement: &[HostId]) {
            let (send, all) = (&measures.send, &measures.communication);
            self.0
                .push([send[0], all[0], send[1], all[1]].map(migsim::units::Seconds::get));
        }
    }
    // 1 s; process 1 sends 1e6 B within 1.002 s to process 2, and pays 0.1 s for each of two processes.
    let platform = switch(2, WIRE);
    let plans = Plans::new(vec![plan(&[1e9; 2], &[(0, 1, 1e6)])]);
    let placement = [HostId(0), HostId(1)];
    let mut times = Times::default();
    let setup = Setup {
        platform: &platform,
        network: NetworkModel::default(),
        workload: &plans,
        placement: &placement,
        runtime: RuntimeConfig {
            sends: Sends::Sequential,
            barrier: BarrierConfig {
                kind: BarrierKind::RootSerial,
                per_process: seconds(0.1),
                ..BarrierConfig::default()
            },
            ..RuntimeConfig::default()
        },
        costs: free_calls(),
        scenario: Scenario::I,
        seed: 1,
        memo: None,
    };
    let outcome = simulate(&setup, Box::new(Never {}), &mut times).unwrap();
    for (found, expected) in times.0[0].into_iter().zip([1.202, 1.202, 0.0, 1.002]) {
        assert_close(found, expected, ROUNDING, "time");
    }
    assert_close(makespan(&outcome), 2.202, ROUNDING, "makespan");
}

#[test]
fn barriers_in_a_row_cost_a_multiple_of_one() {
    // Also where the first processes arrive again before the last ones have left.
    let processes = 5;
    let platform = switch(processes, Wire(1e6, D / 2.0));
    let plans = Plans::repeat(plan(&vec![0.0; processes], &[]), 50);
    for (kind, once) in [
        (BarrierKind::Central, 2.0),
        (BarrierKind::Sequential, 8.0),
        (BarrierKind::Tree, 4.0),
        (BarrierKind::Dissemination, 3.0),
    ] {
        let case = Case {
            runtime: plain(kind, 0.0),
            ..Case::new(&platform, &plans, 0..5)
        };
        let time = makespan(&case.run());
        assert_close(time, 50.0 * once * D, ROUNDING, &format!("{kind:?}"));
    }
}

#[test]
fn with_late_receives_the_notices_of_a_central_barrier_wait_for_its_root() {
    // Process 1 computes 5 s. The notice of process 2 is there before (answer: d), or starts only then (2 d).
    let platform = switch(2, Wire(1e6, D / 2.0));
    let time = |receives| {
        let runtime = RuntimeConfig {
            receives,
            ..plain(BarrierKind::Central, 0.0)
        };
        time_of(&platform, plan(&[5e9, 0.0], &[]), runtime)
    };
    assert_close(time(Receives::Early), 5.0 + D, ROUNDING, "early");
    assert_close(time(Receives::Late), 5.0 + 2.0 * D, ROUNDING, "late");
}

// Migrations: three processes on four hosts of a switch, 1e6 B each; the first two move after the first superstep (1 s of
// work each) to hosts 2 and 3; then they compute 1 s, the third one 4 s.

fn moves(migration: MoveCost, targets: [u32; 2]) -> Outcome {
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
            call: CallCost {
                model: CallModel::None,
                ..CallCost::default()
            },
            migration: MoveCost {
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
    let outcome = moves(MoveCost::default(), [2, 3]);
    assert_close(makespan(&outcome), 1.0 + 1.502 + 4.0, ROUNDING, "parallel");
    assert_close(outcome.migration.get(), 1.502, ROUNDING, "parallel");
    let serial = MoveCost {
        order: MoveOrder::Serial,
        ..MoveCost::default()
    };
    let outcome = moves(serial, [2, 3]);
    assert_close(makespan(&outcome), 1.0 + 3.004 + 4.0, ROUNDING, "serial");
    assert_close(outcome.calls[0].migration.get(), 3.004, ROUNDING, "serial");
    let starts: Vec<f64> = outcome.migrations.iter().map(|m| m.start.get()).collect();
    assert_close(starts[0], 1.0, ROUNDING, "first");
    assert_close(starts[1], 2.502, ROUNDING, "second");
}

#[test]
fn parallel_moves_to_one_host_share_its_link() {
    // 2 ms, then 2e6 B over the link of host 2, then 0.5 s.
    let outcome = moves(MoveCost::default(), [2, 2]);
    assert_close(outcome.migration.get(), 2.502, ROUNDING, "migration");
}

#[test]
fn a_move_without_transfer_takes_its_operations_only() {
    let none = MoveCost {
        transfer: Transfer::None,
        order: MoveOrder::Serial,
        ..MoveCost::default()
    };
    assert_close(
        moves(none, [2, 3]).migration.get(),
        1.0,
        ROUNDING,
        "2 · 0.5 s",
    );
}

#[test]
fn where_only_movers_wait_the_others_go_on() {
    // Serial: the second mover is in its place at 1 + 3.004 s and computes 1 s; the third process is ready at 5 s.
    let movers = MoveCost {
        order: MoveOrder::Serial,
        wait: Waiting::Movers,
        ..MoveCost::default()
    };
    assert_close(makespan(&moves(movers, [2, 3])), 5.004, ROUNDING, "serial");
    // Parallel: movers are ready at 1 + 1.502 + 1 s; the third at 5 s.
    let movers = MoveCost {
        wait: Waiting::Movers,
        ..MoveCost::default()
    };
    assert_close(makespan(&moves(movers, [2, 3])), 5.0, ROUNDING, "parallel");
}

#[test]
fn a_moved_process_computes_at_the_speed_of_its_new_host() {
    // 1 s on a host of 1 GHz, then 0.5 s on one of 2 GHz.
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

fn free_calls() -> Costs {
    call_costs(CallCost {
        model: CallModel::None,
        ..CallCost::default()
    })
}

fn call_costs(call: CallCost) -> Costs {
    Costs {
        call,
        ..Costs::default()
    }
}

#[test]
fn an_additive_call_costs_a_fixed_part_and_one_per_process_and_superstep() {
    // Three processes; calls after superstep 2 (2 since the start) and 5 (3 since): 0.25 + 0.01·3·2 and 0.25 + 0.01·3·3.
    let platform = switch(3, WIRE);
    let plans = Plans::repeat(plan(&[1e9; 3], &[]), 6);
    let case = Case {
        scenario: Scenario::Iii,
        costs: call_costs(CallCost {
            model: CallModel::Additive,
            fixed: seconds(0.25),
            per_process_superstep: seconds(0.01),
            ..CallCost::default()
        }),
        ..Case::new(&platform, &plans, 0..3)
    };
    let calls = Script(vec![(1, vec![]), (4, vec![])]);
    let outcome = case.run_with(calls.clone()).unwrap();
    let costs: Vec<f64> = outcome.calls.iter().map(|call| call.cost.get()).collect();
    assert_close(costs[0], 0.31, ROUNDING, "first call");
    assert_close(costs[1], 0.34, ROUNDING, "second call");
    assert_close(outcome.scheduling.get(), 0.65, ROUNDING, "all calls");
    assert_close(makespan(&outcome), 6.65, ROUNDING, "makespan");
    let free = Case {
        costs: free_calls(),
        ..case
    };
    let outcome = free.run_with(calls).unwrap();
    assert_eq!((outcome.scheduling.get(), outcome.calls.len()), (0.0, 2));
    assert_close(makespan(&outcome), 6.0, ROUNDING, "free calls");
}

#[test]
fn an_overlapped_call_only_fills_up_the_superstep_that_it_closes() {
    // Supersteps of 1 s and 3 s, and a call of at least 2 s after each of the first two: 1 s more after the first, nothing after the
    // second.
    let platform = switch(1, WIRE);
    let plans = Plans::new([1e9, 3e9, 1e9].map(|work| plan(&[work], &[])).into());
    let case = Case {
        scenario: Scenario::Iii,
        costs: call_costs(CallCost {
            model: CallModel::Overlapped,
            fixed: seconds(2.0),
            ..CallCost::default()
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
    // 1 s; then both movers wait 0.25 s and compute 1 s, while the third process computes 1.1 s: 1 + 1.25.
    let platform = switch(4, WIRE);
    let plans = Plans::new(vec![plan(&[1e9; 3], &[]), plan(&[1e9, 1e9, 1.1e9], &[])]);
    let mut costs = free_calls();
    costs.migration = MoveCost {
        transfer: Transfer::None,
        fixed: seconds(0.25),
        order: MoveOrder::Parallel,
        wait: Waiting::Movers,
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
    // Exchange, 500 B per process, 12 ms; a to b 1000 B and b to a 500 B share the way: 1 ms, and 0.5 ms for the rest.
    // Computation of 3 · 1e6: 3 ms at 1 GHz (1.5 ms at 2 GHz). Answers of 2000 B: 2 ms + 2 ms.
    let platform = machine(&[&[1e9, 1e9], &[2e9, 2e9]], WIRE, Wire(1e6, 1e-2));
    let by_messages = call_costs(CallCost {
        model: CallModel::Messages,
        report: bytes(1000.0),
        exchange: bytes(500.0),
        decision: instructions(1e6),
        answer: bytes(2000.0),
        ..CallCost::default()
    });
    let cost = |processes: usize, hosts: &[u32]| {
        let plans = Plans::repeat(plan(&vec![1e9; processes], &[]), 2);
        let case = Case {
            scenario: Scenario::Ii,
            costs: by_messages,
            ..Case::new(&platform, &plans, hosts.iter().copied())
        };
        let outcome = case.run_with(Script(vec![(0, vec![])])).unwrap();
        let work = outcome.calls[0].work;
        let from = (work.from.get() - 1.0, work.until.get() - 1.0);
        (outcome.scheduling.get(), from)
    };
    let expected = 0.003 + 0.0135 + 0.003 + 0.004;
    let (all, (from, until)) = cost(3, &[0, 1, 3]);
    assert_close(all, expected, ROUNDING, "two managers");
    // The reports come first, the answers last.
    assert_close(from, 0.003 + 0.0135, 1e-9, "they begin to compute");
    assert_close(until, 0.003 + 0.0135 + 0.003, 1e-9, "they have computed");
    // One manager has nobody to exchange with: 3 ms + 2 ms + 4 ms.
    let (all, _) = cost(2, &[0, 1]);
    assert_close(all, 0.009, ROUNDING, "one manager");
}

#[test]
fn managers_that_have_nothing_to_compute_answer_at_once() {
    // A report of 1000 B and an answer of 2000 B, each after 2 ms.
    let platform = switch(2, WIRE);
    let plans = Plans::repeat(plan(&[1e9; 2], &[]), 2);
    let case = Case {
        scenario: Scenario::Ii,
        costs: call_costs(CallCost {
            model: CallModel::Messages,
            report: bytes(1000.0),
            exchange: bytes(500.0),
            decision: instructions(0.0),
            answer: bytes(2000.0),
            ..CallCost::default()
        }),
        ..Case::new(&platform, &plans, 0..2)
    };
    let outcome = case.run_with(Script(vec![(0, vec![])])).unwrap();
    assert_close(outcome.scheduling.get(), 0.003 + 0.004, 1e-9, "both");
}

fn error_of(case: &Case<'_>, script: Vec<(usize, Vec<(u32, u32)>)>) -> String {
    let error = case.run_with(Script(script)).expect_err("it cannot go on");
    assert!(matches!(error, Error::Run(_)), "{error}");
    assert_eq!(error.exit_code(), 1);
    error.to_string()
}

#[test]
fn a_deadlock_is_an_error_that_says_who_waits_for_whom() {
    // Both send first and receive later.
    let platform = switch(3, WIRE);
    let plans = Plans::new(vec![plan(&[1e9, 2e9, 0.0], &[(0, 1, 8.0), (1, 0, 8.0)])]);
    let case = Case {
        runtime: exchange(Sends::Sequential, Receives::Late),
        ..Case::new(&platform, &plans, 0..3)
    };
    let error = error_of(&case, vec![]);
    for part in [
        "deadlock in superstep 1 at 2 s: 3 of 3 processes wait for ever",
        "process 1 sends to process 2 and waits until it receives",
        "process 2 sends to process 1 and waits until it receives",
        "1 wait at the barrier",
        "receives: early",
    ] {
        assert!(error.contains(part), "no `{part}` in {error}");
    }
    // Of many that wait alike some are named.
    let platform = switch(9, WIRE);
    let ring: Vec<(u32, u32, f64)> = (0..9).map(|at| (at, (at + 1) % 9, 8.0)).collect();
    let many = Plans::new(vec![plan(&[0.0; 9], &ring)]);
    let many = Case {
        runtime: exchange(Sends::Sequential, Receives::Late),
        ..Case::new(&platform, &many, 0..9)
    };
    assert!(error_of(&many, vec![]).contains("3 more wait like this"));
    let ring: Vec<(u32, u32, f64)> = (0..6).map(|at| (at, (at + 1) % 6, 8.0)).collect();
    let six = Plans::new(vec![plan(&[0.0; 6], &ring)]);
    let six = Case {
        runtime: exchange(Sends::Sequential, Receives::Late),
        ..Case::new(&platform, &six, 0..6)
    };
    assert!(!error_of(&six, vec![]).contains("more wait like this"));
    // The same messages get through in any other way.
    for runtime in [
        exchange(Sends::Sequential, Receives::Early),
        exchange(Sends::Concurrent, Receives::Late),
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
        platform.failure = Some(migsim::platform::Failure {
            name: "h0".into(),
            date: seconds(date),
        });
        let case = Case::new(platform, &plans, [0]);
        let done = case.run_with(Script(vec![]));
        done.map_err(|error| error.to_string())
    };
    // It ends at 2 s.
    assert!(run(2.0, &mut platform).is_ok());
    let error = run(1.5, &mut platform).expect_err("h0 fails");
    assert!(
        error.contains("`h0` fails at 1.5 s, before the run ends at 2 s"),
        "{error}"
    );
}

#[test]
fn a_missing_route_is_an_error_that_names_both_hosts() {
    let mut platform = machine(&[&[1e9], &[1e9]], WIRE, WIRE);
    let Routes::Clustered { pairs, .. } = &mut platform.routes else {
        unreachable!()
    };
    pairs[1] = None;
    let plans = Plans::new(vec![plan(&[0.0, 0.0], &[(0, 1, 8.0)])]);
    let case = Case::new(&platform, &plans, [0, 1]);
    let error = case.run_with(Script(vec![])).expect_err("it cannot go on");
    // The platform is to blame, so it is bad input.
    assert_eq!(error.exit_code(), 2);
    let error = error.to_string();
    assert!(
        error.contains("no route from host `h0` to host `h1`"),
        "{error}"
    );
    // The way back is there.
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
    let intro = "the policy asks for the impossible after superstep 2: ";
    for (moves, what, decision) in [
        (vec![(0, 7)], "there is no host number 7", "p1 to `?`"),
        (vec![(5, 2)], "there is no process 6", "p6 to `h2`"),
        (
            vec![(1, 2), (1, 0)],
            "process 2 moves twice",
            "p2 to `h2`, p2 to `h0`",
        ),
        (
            vec![(0, 2), (1, 2)],
            "host `h2` has no memory for 2000000 B",
            "p1 to `h2`, p2 to `h2`",
        ),
    ] {
        let error = refused(moves);
        assert!(error.contains(&format!("{intro}{what}")), "{error}");
        assert!(
            error.contains(&format!("its decision: {decision}")),
            "{error}"
        );
    }
    // One of them fits, also where the other one goes away at the same call.
    let script = |moves| Script(vec![(0, vec![(0, 2)]), (1, moves)]);
    let outcome = case.run_with(script(vec![(1, 2), (0, 1)])).unwrap();
    assert_eq!(outcome.migrations.len(), 3);
    // Both fill a host of 2e6 B to the last byte.
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
            costs: call_costs(CallCost {
                model: CallModel::Additive,
                fixed: seconds(0.125),
                ..CallCost::default()
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
        (second.migrations.len(), second.calls[0].applied),
        (0, false)
    );
    assert_eq!(second.calls[0].decision.migrations.len(), 1);
    // 1 s, a call, 2 ms + 1 s, a quarter of a second, a call, two more.
    assert_close(makespan(&third), 1.0 + 0.25 + 1.002 + 0.75, ROUNDING, "iii");
    assert_eq!((third.migrations.len(), third.calls[0].applied), (1, true));
}

#[test]
fn what_a_workload_prescribes_happens_in_every_scenario() {
    // 1 s, then 2 ms + 1 s + 0.5 s, then 0.5 s on the faster host.
    let platform = machine(&[&[1e9, 2e9, 1e9]], WIRE, WIRE);
    let prescribed = PrescribedMove {
        process: ProcessId(0),
        to: "h1".into(),
        size: bytes(1e6),
        delay: seconds(0.5),
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
        assert_eq!(outcome.migration.get(), 0.0, "not a cost of the policy");
    }
}

#[test]
fn an_unknown_host_of_a_prescribed_move_is_an_error() {
    let platform = switch(1, WIRE);
    let prescribed = PrescribedMove {
        process: ProcessId(0),
        to: "elsewhere".into(),
        size: bytes(0.0),
        delay: seconds(0.0),
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
