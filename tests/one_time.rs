//! A run has one time: computed directly, event by event and with its critical path, whatever the library and the numbers of processes.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use migsim::{
    bsp::{
        BarrierConfig, BarrierKind, CallCostConfig, CallModel, ControlTransport, Costs,
        CriticalPath, GatherOrder, MigrationCostConfig, ReleaseOrder, RuntimeConfig, Scenario,
        SendOrder, ShortcutChoice, TransferStart, WaitingProcesses,
    },
    engine::{NetworkModel, ProcessorTime, Weights},
    platform::Platform,
    units::ProcessId,
    workload::Plan,
};
use proptest::{prelude::*, sample::select, test_runner::RngSeed};

use crate::support::{
    Case, Plans, ROUNDING, Script, Wire, assert_close, bytes, draws, machine, plan, seconds,
    split_mix, switch,
};

/// Links of 12.5 MB/s and 20 ms: the route between two hosts has 40 ms, the round trip 80 ms.
const SLOW_WIRE: Wire = Wire(12.5e6, 0.02);
/// Duration of a message of 100 kB without slow start on such a route: 40 ms and 8 ms.
const WARM: f64 = 0.048;
/// Additional time after a pause: windows of 14 480 and 28 960 B wait for the rest of a round trip each.
const COLD: f64 = 2.0 * 0.08 - (14_480.0 + 28_960.0) / 12.5e6;

/// A run of a library that is drawn.
#[derive(Clone, Debug)]
struct Drawn {
    platform: Platform,
    plans: Plans,
    placement: Vec<u32>,
    network: NetworkModel,
    runtime: RuntimeConfig,
    costs: Costs,
    script: Script,
}

impl Drawn {
    fn case(&self) -> Case<'_> {
        Case {
            network: self.network,
            runtime: self.runtime,
            costs: self.costs,
            scenario: Scenario::Iii,
            ..Case::new(&self.platform, &self.plans, self.placement.iter().copied())
        }
    }

    fn makespan(&self) -> f64 {
        let outcome = self.case().run_with(self.script.clone()).unwrap();
        outcome.makespan.get()
    }

    /// Returns the makespans by shortcuts, event by event, and with the critical path.
    fn makespans(&self) -> [f64; 3] {
        let mut by_events = self.clone();
        by_events.runtime.shortcuts = ShortcutChoice::None;
        let mut path: Option<CriticalPath> = None;
        let traced = self
            .case()
            .run_watched(self.script.clone(), &mut path)
            .unwrap();
        [self.makespan(), by_events.makespan(), traced.makespan.get()]
    }

    /// Returns the same run with the number of each process replaced by `number`.
    fn renumbered(&self, number: impl Fn(u32) -> u32) -> Self {
        let mut drawn = self.clone();
        let id = |process: ProcessId| ProcessId(number(process.0));
        for (process, &host) in (0..).zip(&self.placement) {
            drawn.placement[number(process) as usize] = host;
        }
        for (plan, before) in drawn.plans.cycle.iter_mut().zip(&self.plans.cycle) {
            for (process, work) in (0..).zip(&before.work) {
                plan.work[number(process) as usize] = *work;
            }
            for message in &mut plan.messages {
                (message.from, message.to) = (id(message.from), id(message.to));
            }
        }
        for (process, _) in drawn.script.0.iter_mut().flat_map(|call| &mut call.1) {
            *process = number(*process);
        }
        drawn
    }
}

fn any_runtime() -> impl Strategy<Value = RuntimeConfig> {
    use BarrierKind as Kind;
    let kinds = vec![
        Kind::Library,
        Kind::Library,
        Kind::Library,
        Kind::RecursiveDoubling,
        Kind::Dissemination,
        Kind::DoubleRing,
        Kind::Ideal,
        Kind::None,
        Kind::Central,
        Kind::Tree,
        Kind::Sequential,
        Kind::ReleasedByFirst,
        Kind::RootSerial,
    ];
    let late = TransferStart::Above {
        late_above: bytes(65_536.0),
    };
    let receives = vec![late, late, TransferStart::Early, TransferStart::Late];
    (
        (
            select(kinds),
            select(receives),
            prop::bool::weighted(0.2),
            prop::bool::weighted(0.2),
        ),
        (
            select(vec![0.0, 80.0, 2e4]),
            prop::bool::weighted(0.8),
            any::<bool>(),
        ),
        select(vec![
            GatherOrder::Ascending,
            GatherOrder::Descending,
            GatherOrder::Arrival,
            GatherOrder::Parallel,
        ]),
    )
        .prop_map(
            |(
                (kind, receives, wait_for_sends, is_sequential),
                (size, has_packets, together),
                gather,
            )| RuntimeConfig {
                sends: if is_sequential {
                    SendOrder::Sequential
                } else {
                    SendOrder::Concurrent
                },
                receives,
                wait_for_sends,
                barrier: BarrierConfig {
                    kind,
                    bytes: bytes(size),
                    notices: if has_packets {
                        ControlTransport::Packets
                    } else {
                        ControlTransport::Flows
                    },
                    gather,
                    release: if together {
                        ReleaseOrder::Simultaneous
                    } else {
                        ReleaseOrder::Sequential
                    },
                    per_process: seconds(1e-3),
                    ..BarrierConfig::default()
                },
                ..RuntimeConfig::default()
            },
        )
}

fn any_network() -> impl Strategy<Value = NetworkModel> {
    let flags = (
        prop::bool::weighted(0.8),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    );
    let ends = select(vec!["0 s", "0 s", "0 s", "10 us", "3 ms + 1 us/B", "50 ms"]);
    let ends = prop::collection::vec(ends.prop_map(|text| text.parse().unwrap()), 4);
    (
        flags,
        select(vec![0.0, 1e-4, 1e-2]),
        prop::option::weighted(0.6, ends),
    )
        .prop_map(
            |((slow_start, has_packets, is_equal, has_loopback), overhead, ends)| {
                let ends = ends.unwrap_or_else(|| vec![ProcessorTime::ZERO; 4]);
                NetworkModel {
                    o_send: ends[0],
                    o_receive: ends[1],
                    loopback_o_send: ends[2],
                    loopback_o_receive: ends[3],
                    slow_start,
                    overhead: seconds(overhead),
                    packet: has_packets.then(|| bytes(1448.0)),
                    bandwidth_factor: 1448.0 / 1538.0,
                    weights: if is_equal {
                        Weights::Equal
                    } else {
                        Weights::Latency
                    },
                    loopback_overhead: seconds(if has_loopback { 1e-5 } else { 0.0 }),
                    loopback_latency: seconds(if has_loopback { 1e-4 } else { 0.0 }),
                    ..NetworkModel::default()
                }
            },
        )
}

/// Draws supersteps whose processes arrive at their barriers at unlike times, with messages around the first window and the limit from
/// which receives are late.
fn any_plan(processes: u32) -> impl Strategy<Value = Plan> {
    let work = select(vec![0.0, 0.0, 1e7, 1.1e8, 2.5e8]);
    let sizes = vec![100.0, 2e4, 6e4, 1e5, 4e5];
    let message = (0..processes, 0..processes, select(sizes));
    let count = processes as usize;
    (
        prop::collection::vec(work, count),
        prop::collection::vec(message, 0..2 * count),
    )
        .prop_map(|(work, messages)| {
            let messages: Vec<_> = messages
                .into_iter()
                .filter(|(from, to, _)| from != to)
                .collect();
            plan(&work, &messages)
        })
}

/// Removes messages so that no processes whose sends and receives both block wait for each other in a circle.
fn without_circles(mut list: Vec<Plan>, runtime: &RuntimeConfig) -> Vec<Plan> {
    if runtime.sends == SendOrder::Sequential && runtime.receives != TransferStart::Early {
        for plan in &mut list {
            plan.messages.retain(|message| message.from < message.to);
        }
    }
    list
}

/// Whether processes may be in different supersteps, so that a call may come later than the script says.
fn may_be_ahead(runtime: &RuntimeConfig) -> bool {
    let kind = runtime.barrier.kind;
    matches!(kind, BarrierKind::None | BarrierKind::ReleasedByFirst)
}

/// Draws a run of 2 to 17 processes on two clusters of up to four hosts; a policy moves some of them.
fn any_run() -> impl Strategy<Value = Drawn> {
    let wires = vec![Wire(1.25e7, 1e-4), SLOW_WIRE, Wire(1.25e6, 5e-3)];
    (2_u32..18, 1_usize..5, 1_usize..5).prop_flat_map(move |(processes, here, there)| {
        let hosts = u32::try_from(here + there).unwrap();
        (
            (select(wires.clone()), select(wires.clone())),
            prop::collection::vec(any_plan(processes), 1..7),
            prop::collection::vec(0..hosts, processes as usize),
            (any_network(), any_runtime()),
            prop::collection::btree_map(0..processes, 0..hosts, 0..3),
            select(vec![CallModel::Messages, CallModel::None]),
            select(vec![WaitingProcesses::All, WaitingProcesses::Movers]),
        )
            .prop_map(
                move |(
                    (access, backbone),
                    list,
                    placement,
                    (network, runtime),
                    moves,
                    model,
                    wait,
                )| Drawn {
                    platform: machine(&[&vec![1e9; here], &vec![7e8; there]], access, backbone),
                    plans: Plans {
                        memory: vec![2e5; processes as usize],
                        ..Plans::new(without_circles(list, &runtime))
                    },
                    placement,
                    network,
                    runtime,
                    costs: Costs {
                        call: CallCostConfig {
                            model,
                            ..CallCostConfig::default()
                        },
                        migration: MigrationCostConfig {
                            wait,
                            ..MigrationCostConfig::default()
                        },
                    },
                    script: Script(if may_be_ahead(&runtime) {
                        Vec::new()
                    } else {
                        vec![(1, moves.into_iter().collect())]
                    }),
                },
            )
    })
}

fn cases(few: u64, full: u64) -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(u32::try_from(draws(few, full)).unwrap())
    }
}

proptest! {
    #![proptest_config(cases(400, 20_000))]

    /// Shortcuts, events and the recording of the critical path give one time.
    #[test]
    fn a_run_has_one_time(
        drawn in any_run(),
        queues in prop::bool::weighted(0.15),
        hosts in prop::collection::vec((1_u32..5, select(vec![0.0, 0.0, 0.5, 3.0])), 8),
    ) {
        let mut drawn = drawn;
        drawn.network.queues = queues;
        for (host, (cores, busy)) in drawn.platform.hosts.iter_mut().zip(hosts) {
            (host.cores, host.busy_cores) = (cores, busy);
        }
        let [by_shortcuts, by_events, traced] = drawn.makespans();
        for other in [by_events, traced] {
            prop_assert!((by_shortcuts - other).abs() <= 1e-9 * other, "{} {} {}", by_shortcuts, by_events, traced);
        }
    }

    /// Numbers of processes mean nothing where the roles of processes in the barrier are equal.
    #[test]
    fn other_numbers_of_processes_change_nothing(drawn in any_run(), shift in 1_u32..17, seed: u64) {
        let mut drawn = drawn;
        let processes = u32::try_from(drawn.placement.len()).unwrap();
        let mut order: Vec<u32> = (0..processes).collect();
        let (mut state, kept) = (seed, usize::from(drawn.runtime.barrier.kind == BarrierKind::Central));
        for at in (kept + 1..order.len()).rev() {
            order.swap(at, kept + usize::try_from(split_mix(&mut state)).unwrap() % (at + 1 - kept));
        }
        match drawn.runtime.barrier.kind {
            BarrierKind::Ideal | BarrierKind::None | BarrierKind::Central => {}
            BarrierKind::RecursiveDoubling if processes.is_power_of_two() => {
                order = (0..processes).map(|process| process ^ (shift % processes)).collect();
            }
            _ => {
                drawn.runtime.barrier.kind = BarrierKind::Dissemination;
                order = (0..processes).map(|process| (process + shift) % processes).collect();
            }
        }
        let other = drawn.renumbered(|process| order[process as usize]);
        for (time, renumbered) in drawn.makespans().into_iter().zip(other.makespans()) {
            prop_assert!((time - renumbered).abs() <= 1e-9 * time, "{} {} {:?}", time, renumbered, order);
        }
    }

    /// Where nothing has to queue, packets in queues take the time of flows, within the time of one packet on each link.
    #[test]
    fn queues_without_waiting_take_the_time_of_flows(drawn in any_run()) {
        let mut drawn = drawn;
        let mut kept = 0;
        for plan in &mut drawn.plans.cycle {
            plan.messages.truncate(1);
            kept += plan.messages.len();
        }
        drawn.script = Script(Vec::new());
        drawn.network.packet = Some(bytes(1448.0));
        let barrier = &mut drawn.runtime.barrier;
        barrier.notices = ControlTransport::Packets;
        if !matches!(barrier.kind, BarrierKind::RecursiveDoubling | BarrierKind::DoubleRing) {
            barrier.kind = BarrierKind::Dissemination;
        }
        let mut in_queues = drawn.clone();
        in_queues.network.queues = true;
        let packets = drawn.platform.links.iter().map(|link| 1538.0 / link.bandwidth.get());
        let slowest = packets.fold(0.0, f64::max);
        let (flows, queues) = (drawn.makespan(), in_queues.makespan());
        prop_assert!((flows - queues).abs() <= 3.0 * slowest * kept as f64 + 1e-9 * flows, "{} {}", flows, queues);
    }
}

#[test]
fn a_packet_to_a_moving_process_goes_to_its_new_host() {
    // Process 2 moves to the other host until 0.175 s. Process 1 is at the barrier from 0.17 s on; its packet takes 15 ms.
    let wire = Wire(1.25e6, 5e-3);
    let supersteps = vec![
        plan(&[0.0, 0.0], &[]),
        plan(&[0.17e9, 0.0], &[]),
        plan(&[0.0, 1e7], &[]),
    ];
    let drawn = Drawn {
        platform: machine(&[&[1e9], &[1e9]], wire, wire),
        plans: Plans {
            memory: vec![2e5; 2],
            ..Plans::new(supersteps)
        },
        placement: vec![0, 0],
        network: NetworkModel::default(),
        runtime: packets_by_doubling(),
        costs: Costs {
            call: CallCostConfig {
                model: CallModel::None,
                ..CallCostConfig::default()
            },
            migration: MigrationCostConfig {
                wait: WaitingProcesses::Movers,
                ..MigrationCostConfig::default()
            },
        },
        script: Script(vec![(0, vec![(1, 1)])]),
    };
    // So process 2 leaves at 0.185 s, computes for 10 ms and sends its last packet.
    for time in drawn.makespans() {
        assert_close(time, 0.185 + 0.01 + 0.015, ROUNDING, "time");
    }
}

#[test]
fn a_message_does_not_overtake_another_one_of_its_processes() {
    // Slow start delays the first message by 6 round trips or less; the second one fits into the first window.
    let messages = [(0, 1, 4e5), (0, 1, 1e4)];
    let network = NetworkModel {
        queues: true,
        slow_start: true,
        ..NetworkModel::default()
    };
    let platform = switch(2, SLOW_WIRE);
    let time = |messages: &[(u32, u32, f64)]| {
        let plans = Plans::new(vec![plan(&[0.0, 0.0], messages)]);
        let case = Case {
            network,
            ..Case::new(&platform, &plans, 0..2)
        };
        case.run().makespan.get()
    };
    // Behind the first message, the second one needs 7 packets more, on the link that the last packet crosses.
    let more = (1e4 + 7.0 * 90.0) / 12.5e6;
    let (one, two) = (time(&messages[..1]), time(&messages));
    let packet = 1538.0 / 12.5e6;
    assert!((two - one - more).abs() <= packet, "{one} {two}");
}

fn packets_by_doubling() -> RuntimeConfig {
    RuntimeConfig {
        barrier: BarrierConfig {
            kind: BarrierKind::RecursiveDoubling,
            notices: ControlTransport::Packets,
            ..BarrierConfig::default()
        },
        ..RuntimeConfig::default()
    }
}

/// Returns the times of four processes, two on each of two hosts, which pass the barrier of recursive doubling in 40 ms.
fn times_of_four(list: Vec<Plan>) -> [f64; 3] {
    let plans = Plans::new(list);
    let drawn = Drawn {
        platform: switch(2, SLOW_WIRE),
        placement: vec![0, 1, 0, 1],
        network: NetworkModel {
            slow_start: true,
            ..NetworkModel::default()
        },
        runtime: packets_by_doubling(),
        costs: Costs::default(),
        script: Script(Vec::new()),
        plans,
    };
    drawn.makespans()
}

#[test]
fn a_connection_belongs_to_two_processes() {
    let barrier = 0.04;
    // The sender first computes.
    let step = |work: f64, from: u32, to| {
        let mut works = [0.0; 4];
        works[from as usize] = work;
        plan(&works, &[(from, to, 1e5)])
    };
    let cold = WARM + COLD + barrier;
    for (list, expected) in [
        // Control messages that start with a message find and leave the connection of its processes as it was.
        (vec![step(0.0, 2, 3)], cold),
        (vec![step(0.0, 0, 1)], cold),
        // Processes 1 and 2 have used their connection, not that of processes 3 and 4, which are on the same hosts.
        (vec![step(1e8, 2, 3)], 0.1 + cold),
        (vec![step(0.0, 0, 1), step(0.0, 0, 3)], 2.0 * cold),
        // Process 4 arrives last and leaves at once. Its control message to process 3 keeps their connection from becoming idle, but not
        // for 0.3 s.
        (
            vec![step(0.0, 0, 3), step(1e8, 3, 2)],
            (WARM + COLD) + 0.1 + (WARM + barrier),
        ),
        (
            vec![step(0.0, 0, 3), step(3e8, 3, 2)],
            (WARM + COLD) + 0.3 + cold,
        ),
    ] {
        for time in times_of_four(list) {
            assert_close(time, expected, ROUNDING, "time");
        }
    }
}

#[test]
fn messages_that_wait_for_their_receiver_are_served_as_they_were_sent() {
    // Processes 1 and 2 share a host and send 100 packets each, of 1 ms on each of two links, before process 3 receives at 1 s.
    for (waits, expected) in [(0, 1.103), (1, 1.203)] {
        let messages = [(0, 2, 91_000.0), (1, 2, 91_000.0)];
        let mut work = [0.0; 3];
        work[waits] = 1e10;
        let plans = Plans::new(vec![plan(&[1e8, 5e8, 1e9], &messages), plan(&work, &[])]);
        let platform = machine(&[&[1e9, 1e9]], Wire(1e6, 1e-3), Wire(1e6, 1e-3));
        let case = Case {
            network: NetworkModel {
                packet: Some(bytes(910.0)),
                queues: true,
                ..NetworkModel::default()
            },
            runtime: RuntimeConfig {
                receives: TransferStart::Late,
                wait_for_sends: true,
                barrier: BarrierConfig {
                    kind: BarrierKind::None,
                    ..BarrierConfig::default()
                },
                ..RuntimeConfig::default()
            },
            ..Case::new(&platform, &plans, [0, 0, 1])
        };
        // The sender then computes 10 s.
        assert_close(case.run().makespan.get(), expected + 10.0, ROUNDING, "time");
    }
}
