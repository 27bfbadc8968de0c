//! Barriers: their messages on cases worked out by hand.

use super::*;

// Barriers: on the switch below a message of b bytes takes d + b · t with d = 2 s, and t = 1 s per 1e6 B.

const D: f64 = 2.0;
const PROCESSES: [usize; 5] = [1, 2, 3, 5, 8];

fn barrier(
    kind: BarrierKind,
    size: f64,
    gather: GatherOrder,
    release: ReleaseOrder,
) -> RuntimeConfig {
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

/// Makes a barrier other than a sequential one.
fn plain(kind: BarrierKind, size: f64) -> RuntimeConfig {
    barrier(
        kind,
        size,
        GatherOrder::Ascending,
        ReleaseOrder::Simultaneous,
    )
}

/// The times of a superstep without work, with messages of 0 B and of 1e6 B.
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
        // Process 1 receives p-1 control messages over its link, and then sends p-1 answers.
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
        for release in [ReleaseOrder::Simultaneous, ReleaseOrder::Sequential] {
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
                    // All messages share the link of the coordinator.
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
    // Three messages go in each direction: 1e-4 s on the host of the coordinator, and twice 2 s + 1 s.
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
    // After an empty superstep (1e-4 s on the host of the coordinator, 1 s for each other process, in each direction) process 1 leaves
    // that host. Then the last process is gathered first: its message and the one that it sends to process 2 share its link until 2 s. The
    // others are gathered until 4 s, and all are answered until 7 s.
    let platform = switch(4, Wire(1e6, 0.0));
    let away = PrescribedMigration {
        process: ProcessId(0),
        destination_host: "h3".into(),
        transferred_bytes: bytes(0.0),
        wait_after_transfer: seconds(0.0),
    };
    let plans = Plans {
        moves: vec![vec![away]],
        ..Plans::new(vec![plan(&[0.0; 3], &[]), plan(&[0.0; 3], &[(2, 1, 1e6)])])
    };
    let order = GatherOrder::Descending;
    let case = Case {
        runtime: barrier(
            BarrierKind::Sequential,
            1e6,
            order,
            ReleaseOrder::Simultaneous,
        ),
        ..Case::new(&platform, &plans, 0..3)
    };
    let expected = 2.0 * (1e-4 + 2.0) + 7.0;
    assert_close(makespan(&case.run()), expected, ROUNDING, "shared");
}

#[test]
fn each_superstep_that_repeats_one_that_was_simulated_by_events_has_its_flows() {
    // Each superstep has a message, a control message and an answer.
    let platform = switch(2, WIRE);
    let other = plan(&[1e9, 2e9], &[(1, 0, 1e6)]);
    let again = plan(&[1e9, 1e9], &[(0, 1, 1e6)]);
    let plans = Plans::new(vec![other, again.clone(), again]);
    let case = Case {
        runtime: plain(BarrierKind::Central, 8.0),
        ..Case::new(&platform, &plans, 0..2)
    };
    assert_eq!(case.run().flow_count, 9);
}

#[test]
fn a_prescribed_move_to_the_same_host_pays_the_loopback() {
    // 1.5e6 B over 1e10 B/s, then the delay.
    let platform = switch(2, WIRE);
    let stay = PrescribedMigration {
        process: ProcessId(0),
        destination_host: "h0".into(),
        transferred_bytes: bytes(1.5e6),
        wait_after_transfer: seconds(0.25),
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
    assert_eq!((makespan(&outcome), outcome.flow_count), (0.0, 0));
}

#[test]
fn flows_share_the_changed_bandwidth_of_a_link() {
    // The superstep has 1 s of work, then two flows over the link of process 1: 2 s at 1e6 B/s. From 10 s on the link has half its
    // bandwidth. The fourth superstep ends its work then, and its flows take 4 s, as those of the fifth do.
    let mut platform = switch(3, Wire(1e6, 0.0));
    let profile = migsim::platform::Profile::new(vec![(10.0, 5e5)], None);
    platform.links[0].bandwidth_profile = Some(profile.expect("a profile"));
    let work = plan(&[1e9, 0.0, 0.0], &[(0, 1, 1e6), (0, 2, 1e6)]);
    let plans = Plans::repeat(work, 5);
    let outcome = Case::new(&platform, &plans, 0..3).run();
    assert_close(makespan(&outcome), 9.0 + 5.0 + 5.0, 1e-9, "makespan");
}

#[test]
fn the_order_of_gathering_matters_if_a_process_is_late() {
    // Of three processes, the second one computes 10 d. The release takes 2 d.
    let platform = switch(3, Wire(1e6, D / 2.0));
    let time = |gather| {
        let late = plan(&[0.0, 10.0 * D * 1e9, 0.0], &[]);
        let runtime = barrier(
            BarrierKind::Sequential,
            0.0,
            gather,
            ReleaseOrder::Simultaneous,
        );
        time_of(&platform, late, runtime) / D
    };
    // The third process has to wait for the second: 10 + 1 + 1 + 2.
    assert_close(time(GatherOrder::Ascending), 14.0, ROUNDING, "ascending");
    // The third process is received while the second computes: 10 + 1 + 2.
    assert_close(time(GatherOrder::Descending), 13.0, ROUNDING, "descending");
    assert_close(time(GatherOrder::Arrival), 13.0, ROUNDING, "arrival");
    assert_close(time(GatherOrder::Parallel), 13.0, ROUNDING, "parallel");
}

#[test]
fn a_sequential_release_lets_the_first_process_begin_early() {
    // Processes are gathered at d. Process 1 (the coordinator's) leaves at d, or at 2 d with a simultaneous release, and computes 10 d.
    // Process 2 is received during that time, and its release takes d.
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
    assert_close(time(ReleaseOrder::Sequential), 12.0, ROUNDING, "sequential");
    assert_close(
        time(ReleaseOrder::Simultaneous),
        13.0,
        ROUNDING,
        "simultaneous",
    );
}

#[test]
fn a_tree_barrier_costs_the_depth_of_the_tree_each_way() {
    // Parents: 1, 2, 4 -> 0; 3 -> 2; 5, 6 -> 4; 7 -> 6 (from 0). The depth is the largest number of ones in a binary number below p.
    // With bytes, children that notify or are released simultaneously share the link of their parent:
    // p = 3: (d + 2) up, (d + 2) down. p = 5: 1 and 4 up (d + 2), 3 at the same time, then 2 (d; its bytes after theirs, as d > 1);
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
    // There are ⌈log2 p⌉ rounds; in each, every link carries one message out and one in.
    for (processes, rounds) in [(1, 0.0), (2, 1.0), (3, 2.0), (5, 3.0), (8, 3.0)] {
        let found = barrier_times(processes, |size| plain(BarrierKind::Dissemination, size));
        let what = format!("{processes} processes");
        assert_times(found, [rounds * D, rounds * (D + 2.0)], &what);
    }
}

#[test]
fn a_barrier_of_recursive_doubling_costs_a_message_per_round_and_some_outside() {
    // There are log2 p rounds; in each, every link carries one message out and one in.
    for (processes, rounds) in [(1, 0.0), (2, 1.0), (4, 2.0), (8, 3.0)] {
        let found = barrier_times(processes, |size| {
            plain(BarrierKind::RecursiveDoubling, size)
        });
        let what = format!("{processes} processes");
        assert_times(found, [rounds * D, rounds * (D + 2.0)], &what);
    }
    // Otherwise there is a control message before the rounds, and a release after them with its answer. The control message delays a
    // partner by d, but a process without one sends at once. Of 5 processes, process 1 waits for none in its first round. Of 7, process 4
    // waits there for 3, and then 2 for 4.
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
    // The barrier takes 0.1 s for each of four processes. Process 1 arrives 0.4 s after it is ready, the others at once.
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
    // All four processes leave 4 · 0.1 s after the last arrival, and 0.05 s later for each process that computed.
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
    // Four processes compute in the first superstep, and one in the second.
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
fn the_price_of_a_barrier_is_part_of_the_times_of_its_root() {
    /// A recorder of the measures of the first two processes.
    #[derive(Default)]
    struct Times(Vec<[f64; 4]>);
    impl Recorder for Times {
        fn on_superstep(&mut self, _superstep: usize, measures: &Measures, _placement: &[HostId]) {
            let (send, all) = (&measures.send_times, &measures.communication_times);
            self.0
                .push([send[0], all[0], send[1], all[1]].map(migsim::units::Seconds::get));
        }
    }
    // Process 1 computes 1 s, sends 1e6 B within 1.002 s to process 2, and pays 0.1 s for each of two processes.
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
            sends: SendOrder::Sequential,
            barrier: BarrierConfig {
                kind: BarrierKind::RootSerial,
                per_process: seconds(0.1),
                ..BarrierConfig::default()
            },
            ..RuntimeConfig::default()
        },
        costs: free_calls(),
        view: migsim::bsp::ViewConfig::default(),
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
    // This also holds if the first processes arrive again before the last ones have left.
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
    // Process 1 computes 5 s. The control message of process 2 has arrived before (answer: d), or starts only then (2 d).
    let platform = switch(2, Wire(1e6, D / 2.0));
    let time = |receives| {
        let runtime = RuntimeConfig {
            receives,
            ..plain(BarrierKind::Central, 0.0)
        };
        time_of(&platform, plan(&[5e9, 0.0], &[]), runtime)
    };
    assert_close(time(TransferStart::Early), 5.0 + D, ROUNDING, "early");
    assert_close(time(TransferStart::Late), 5.0 + 2.0 * D, ROUNDING, "late");
}
