//! Laws that hold for every machine and workload, on random ones.

use migsim::{
    bsp::{
        BarrierConfig, BarrierKind, CallCostConfig, CallModel, CallOrder, CallWaiting, Costs,
        GatherOrder, Memo, MemoBudget, MigrationCostConfig, MigrationOrder, Recorder, ReleaseOrder,
        RunOutcome, RuntimeConfig, Scenario, SendOrder, ShortcutChoice, SuperstepTimes,
        TransferStart, WaitingProcesses,
    },
    engine::{NetworkModel, Simulation, SizeFactor, SizeFactors, Weights},
    experiment::{MakespanLedger, MakespanTerm},
    platform::{Platform, Profile, Routes},
    policy::Measures,
    units::{BytesPerSecond, HostId, InstructionsPerSecond, Seconds, Time},
    workload::{Plan, PrescribedMigration},
};
use proptest::{prelude::*, test_runner::RngSeed};

use crate::{
    slow::{self, Activity},
    support::{
        Case, Plans, ROUNDING, Script, Wire, any_notices, assert_close, bytes, instructions,
        machine, plan, seconds, switch,
    },
};

// The engine compared with its slow twin.

/// Relative tolerance between the engine and the twin.
const TWIN: f64 = 1e-9;

/// Draws a profile with steps at eighths of a second, in `unit`s; it repeats after `pause` more eighths.
fn profile(unit: f64) -> impl Strategy<Value = Option<Profile>> {
    let steps = prop::collection::vec((1_u32..12, 0_u32..6), 1..4);
    prop::option::weighted(0.3, (steps, prop::option::of(1_u32..10))).prop_map(move |drawn| {
        let (steps, pause) = drawn?;
        let mut date = -1.0; // the first step may be at 0
        let mut list = Vec::new();
        for (index, (wait, value)) in steps.into_iter().enumerate() {
            date += f64::from(wait);
            // A value may be zero only for a while, so that activities end.
            let least = if index > 0 && pause.is_some() {
                0.0
            } else {
                0.25
            };
            list.push((date / 8.0, f64::from(value).max(least) * unit));
        }
        let period = pause.map(|pause| (date + f64::from(pause)) / 8.0);
        Some(Profile::new(list, period).expect("rising dates"))
    })
}

/// Draws up to three clusters, and every number of hosts and links.
fn any_machine(profiles: bool) -> impl Strategy<Value = Platform> {
    let host = (1_u32..5, 1_u32..4, profile(0.2));
    let link = (1_u32..20, 0_u32..8, profile(5e3), profile(1e-3));
    (
        prop::collection::vec(1_usize..4, 1..4),
        prop::collection::vec(host, 9),
        prop::collection::vec(link, 12),
        prop::option::weighted(0.2, 0_u32..9),
    )
        .prop_map(move |(sizes, hosts, links, fixed)| {
            let clusters: Vec<Vec<f64>> = sizes.iter().map(|&size| vec![1.0; size]).collect();
            let clusters: Vec<&[f64]> = clusters.iter().map(Vec::as_slice).collect();
            let mut platform = machine(&clusters, Wire(1.0, 0.0), Wire(1.0, 0.0));
            for (host, (speed, cores, profile)) in platform.hosts.iter_mut().zip(hosts) {
                host.speed = InstructionsPerSecond::new(f64::from(speed) * 1e3).expect("a speed");
                host.cores = cores;
                host.speed_profile = profile.filter(|_| profiles);
            }
            for (link, drawn) in platform.links.iter_mut().zip(links) {
                let (bandwidth, latency, bandwidths, latencies) = drawn;
                link.bandwidth = BytesPerSecond::new(f64::from(bandwidth) * 1e3).expect("a rate");
                link.latency = seconds(f64::from(latency) * 1e-3);
                link.bandwidth_profile = bandwidths.filter(|_| profiles);
                link.latency_profile = latencies.filter(|_| profiles);
            }
            if let (
                Some(fixed),
                Routes::StoredClusterPaths {
                    cluster_paths: pairs,
                    ..
                },
            ) = (fixed, &mut platform.routes)
            {
                let path = pairs[0].as_mut().expect("a route in the first cluster");
                path.latency = Some(seconds(f64::from(fixed) * 1e-3));
            }
            platform
        })
}

fn any_network() -> impl Strategy<Value = NetworkModel> {
    let gamma = prop::option::of(prop::sample::select(vec![40.0, 200.0, 2e4]));
    let weight = prop::sample::select(vec![0.0, 10.0, 20_537.0]);
    (
        gamma,
        weight,
        any::<bool>(),
        prop::bool::weighted(0.9),
        any::<bool>(),
    )
        .prop_map(
            |(tcp_gamma, weight_s, crosstraffic, sharing, corrected)| NetworkModel {
                // The slow twin has only the plain rule; the other rule is judged by SimGrid's own times.
                reweigh_slip: false,
                fatpipe: None,
                sharing,
                latency_factor: if corrected { 13.01 } else { 1.0 },
                bandwidth_factor: if corrected { 0.97 } else { 1.0 },
                weight_s,
                tcp_gamma,
                crosstraffic,
                loopback_bandwidth: 1e5,
                ..NetworkModel::default()
            },
        )
}

/// Adds the costs of messages that a library has. With slow start, a round trip is long enough for it to matter.
fn library(network: NetworkModel, slow_start: bool) -> NetworkModel {
    let above = |from: f64| SizeFactor {
        from: bytes(from),
        latency: 1.5,
        bandwidth: 0.75,
    };
    NetworkModel {
        weights: Weights::Equal,
        overhead: seconds(if slow_start { 5e-2 } else { 1e-3 }),
        packet: Some(bytes(1000.0)),
        slow_start,
        factors: SizeFactors::new(&[above(100.0), above(3e3)]).expect("they rise"),
        ..network
    }
}

/// Configures the same cases in every run. A failing case is printed, shrunk, and becomes a test of its own.
fn cases(count: u32) -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(count)
    }
}

/// Draws executions and flows that start at sixteenths of a second, many of them at the same time.
fn any_activities() -> impl Strategy<Value = Vec<(u32, bool, usize, usize, u32)>> {
    let one = (
        0_u32..40,
        any::<bool>(),
        0_usize..99,
        0_usize..99,
        0_u32..50,
    );
    prop::collection::vec(one, 1..14)
}

fn activities(
    drawn: &[(u32, bool, usize, usize, u32)],
    platform: &Platform,
) -> Vec<(f64, Activity)> {
    let host = |drawn: usize| HostId::from_index(drawn % platform.hosts.len());
    let activity = |&(start, is_flow, a, b, amount): &(u32, bool, usize, usize, u32)| {
        // The amount is not a multiple of the work between two changes. Otherwise an activity could end exactly when a capacity falls to
        // zero, and the result would depend on rounding.
        let amount = f64::from(amount) * 100.0 / std::f64::consts::E;
        let what = if is_flow {
            Activity::Flow {
                from: host(a),
                to: host(b),
                size: amount,
            }
        } else {
            Activity::Execution {
                host: host(a),
                work: amount,
            }
        };
        (f64::from(start) / 16.0, what)
    };
    drawn.iter().map(activity).collect()
}

/// Computes the end of each activity with the engine.
fn fast_ends(platform: &Platform, model: NetworkModel, activities: &[(f64, Activity)]) -> Vec<f64> {
    let mut simulation = Simulation::new(platform, model);
    for (index, (start, _)) in activities.iter().enumerate() {
        simulation.start_wait(seconds(*start), (index, true));
    }
    let mut ends = vec![f64::NAN; activities.len()];
    while let Some((index, starts)) = simulation.next_ended().expect("something gets on") {
        match activities[index].1 {
            _ if !starts => ends[index] = simulation.now().get(),
            Activity::Execution { host, work } => {
                simulation
                    .execute(host, instructions(work), (index, false))
                    .expect("no host varies");
            }
            Activity::Flow { from, to, size } => simulation
                .send(from, to, bytes(size), (index, false))
                .expect("a route"),
        }
    }
    ends
}

fn assert_twins(platform: &Platform, model: NetworkModel, activities: &[(f64, Activity)]) {
    let fast = fast_ends(platform, model, activities);
    let slow = slow::ends(platform, &model, activities);
    for (index, (fast, slow)) in fast.into_iter().zip(slow).enumerate() {
        assert_close(fast, slow, TWIN, &format!("activity {index}"));
    }
}

#[test]
fn a_flow_that_starts_while_its_link_is_down_gets_on_when_it_is_up() {
    // The link is down from 0 to 2 s, then 1e3 B take place at 500 B/s; the link of the other host would allow 1e3 B/s.
    let mut platform = switch(2, Wire(1e3, 0.0));
    let steps = vec![(0.0, 0.0), (2.0, 500.0)];
    platform.links[0].bandwidth_profile = Profile::new(steps, None).ok();
    let flow = Activity::Flow {
        from: HostId(0),
        to: HostId(1),
        size: 1e3,
    };
    let ends = fast_ends(&platform, NetworkModel::default(), &[(0.0, flow)]);
    assert_eq!(ends, [4.0]);
}

#[test]
fn an_empty_computation_ends_at_once_even_on_a_stopped_host() {
    let mut platform = switch(1, Wire(1e3, 0.0));
    let steps = vec![(0.0, 0.0), (2.0, 1.0)];
    platform.hosts[0].speed_profile = Profile::new(steps, None).ok();
    let execution = |work| Activity::Execution {
        host: HostId(0),
        work,
    };
    let list = [(1.0, execution(0.0)), (1.0, execution(1e9))];
    let ends = fast_ends(&platform, NetworkModel::default(), &list);
    assert_eq!(ends, [1.0, 3.0]);
}

proptest! {
    #![proptest_config(cases(5000))]

    /// The engine ends each activity at the same time as the slow simulator.
    #[test]
    fn the_engine_agrees_with_its_slow_twin(platform in any_machine(false), model in any_network(), drawn in any_activities()) {
        assert_twins(&platform, model, &activities(&drawn, &platform));
    }

    /// The same holds if speeds, bandwidths and latencies change, and are zero for a while.
    #[test]
    fn the_engine_agrees_with_its_slow_twin_while_capacities_change(platform in any_machine(true), model in any_network(), drawn in any_activities()) {
        assert_twins(&platform, model, &activities(&drawn, &platform));
    }
}

// Runs of a whole application.

/// Draws supersteps of five processes: work in 1e6 instructions, messages in kB.
fn any_plans() -> impl Strategy<Value = Vec<Plan>> {
    let work = prop::collection::vec(0_u32..20, 5);
    let messages = prop::collection::vec((0_u32..5, 0_u32..5, 0_u32..30), 0..12);
    let one = (work, messages).prop_map(|(work, messages)| {
        let work: Vec<f64> = work.into_iter().map(|work| f64::from(work) * 1e6).collect();
        let messages: Vec<(u32, u32, f64)> = messages
            .into_iter()
            .map(|(from, to, size)| (from, to, f64::from(size) * 1e3))
            .collect();
        plan(&work, &messages)
    });
    prop::collection::vec(one, 1..6)
}

fn any_runtime() -> impl Strategy<Value = RuntimeConfig> {
    let kinds = vec![
        BarrierKind::Ideal,
        BarrierKind::Central,
        BarrierKind::Sequential,
        BarrierKind::Tree,
        BarrierKind::Dissemination,
        BarrierKind::RecursiveDoubling,
        BarrierKind::DoubleRing,
        BarrierKind::Library,
        BarrierKind::RootSerial,
    ];
    let gathers = vec![
        GatherOrder::Ascending,
        GatherOrder::Descending,
        GatherOrder::Arrival,
        GatherOrder::Parallel,
    ];
    let ways = vec![
        (SendOrder::Concurrent, TransferStart::Early),
        (SendOrder::Concurrent, TransferStart::Late),
        (
            SendOrder::Concurrent,
            TransferStart::Above {
                late_above: bytes(2e4),
            },
        ),
        (SendOrder::Sequential, TransferStart::Early),
    ];
    (
        prop::sample::select(ways),
        prop::sample::select(kinds),
        prop::sample::select(gathers),
        (any::<bool>(), any_notices()),
        0_u32..3,
    )
        .prop_map(
            |((sends, receives), kind, gather, (together, notices), size)| RuntimeConfig {
                sends,
                receives,
                barrier: BarrierConfig {
                    kind,
                    bytes: bytes(f64::from(size) * 500.0),
                    notices,
                    gather,
                    release: if together {
                        ReleaseOrder::Simultaneous
                    } else {
                        ReleaseOrder::Sequential
                    },
                    per_process: seconds(0.001),
                    ..BarrierConfig::default()
                },
                ..RuntimeConfig::default()
            },
        )
}

/// Makes two clusters; five processes start on hosts 0, 1, 1, 3 and 4.
fn two_clusters() -> Platform {
    machine(
        &[&[1.3e9, 0.7e9, 1.1e9], &[2e9, 1.9e9]],
        Wire(1e6, 1e-4),
        Wire(2.5e5, 3e-3),
    )
}

const PLACEMENT: [u32; 5] = [0, 1, 1, 3, 4];

/// Computes the time of a superstep by the BSP cost model on a network without sharing:
/// `max_i max(w_i/s + sends of i, arrivals at i)`, then the barrier; a message takes `d + size/b` with d the latency of two links.
fn bsp_cost(
    plan: &Plan,
    sends: SendOrder,
    central: bool,
    (speed, bandwidth, d): (f64, f64, f64),
) -> f64 {
    let computed: Vec<f64> = plan.work.iter().map(|work| work.get() / speed).collect();
    let mut ready = computed.clone();
    let mut sent = computed.clone();
    for message in &plan.messages {
        let (from, to) = (message.from.index(), message.to.index());
        // A message from a process to itself moves at the loopback bandwidth and waits for no other.
        let size = message.size.get();
        let time = if from == to {
            size / 1e10
        } else {
            d + size / bandwidth
        };
        let start = match sends {
            SendOrder::Concurrent => computed[from],
            SendOrder::Sequential => sent[from],
        };
        sent[from] = start + time;
        ready[to] = ready[to].max(start + time);
        if sends == SendOrder::Sequential {
            ready[from] = ready[from].max(start + time);
        }
    }
    let last = |ready: &[f64]| ready.iter().copied().fold(0.0, f64::max);
    if central {
        // All processes notify process 1, which answers: l = 2 d, less the time that process 1 itself computes meanwhile.
        ready[0].max(last(&ready[1..]) + d) + d
    } else {
        last(&ready)
    }
}

fn double(platform: &Platform) -> Platform {
    let scale = |profile: &Option<Profile>, factor: f64| {
        let profile = profile.as_ref()?;
        let steps = (0..2).map_while(|index| profile.step(index));
        let steps = steps
            .map(|(date, value)| (date / 2.0, value * factor))
            .collect();
        Some(Profile::new(steps, None).expect("still a profile"))
    };
    let mut faster = platform.clone();
    for host in &mut faster.hosts {
        host.speed = InstructionsPerSecond::new(host.speed.get() * 2.0).expect("a speed");
        host.speed_profile = scale(&host.speed_profile, 1.0);
    }
    for link in &mut faster.links {
        link.bandwidth = BytesPerSecond::new(link.bandwidth.get() * 2.0).expect("a rate");
        link.latency = half(link.latency);
        link.bandwidth_profile = scale(&link.bandwidth_profile, 2.0);
        link.latency_profile = scale(&link.latency_profile, 0.5);
    }
    faster
}

fn half(duration: Seconds) -> Seconds {
    seconds(duration.get() / 2.0)
}

/// Lists all times and durations of a run.
fn dates(outcome: &RunOutcome) -> Vec<f64> {
    let mut dates = vec![
        outcome.makespan.get(),
        outcome.call_waiting_time.get(),
        outcome.migration_waiting_time.get(),
    ];
    for superstep in &outcome.supersteps {
        let SuperstepTimes {
            start,
            last_computation_end: computed,
            end,
            ..
        } = *superstep;
        dates.extend([start, computed, end].map(Time::get));
    }
    for call in &outcome.calls {
        dates.extend([
            call.start.get(),
            call.cost.get(),
            call.migration_duration.get(),
        ]);
    }
    for migration in &outcome.migrations {
        dates.extend([migration.start.get(), migration.end.get()]);
    }
    dates
}

/// Puts the hosts of `platform` into another order inside each cluster; `order[new] = old`.
fn reordered(platform: &Platform, order: &[usize]) -> Platform {
    let mut other = platform.clone();
    for (new, &old) in order.iter().enumerate() {
        other.hosts[new] = platform.hosts[old].clone();
        if let (
            Routes::StoredClusterPaths {
                access_links: access,
                ..
            },
            Routes::StoredClusterPaths {
                access_links: before,
                ..
            },
        ) = (&mut other.routes, &platform.routes)
        {
            access[new] = before[old];
        }
    }
    other
}

/// Draws supersteps of many messages, all equal or all different; some supersteps repeat several times.
fn many_plans() -> impl Strategy<Value = Vec<Plan>> {
    let work = prop::collection::vec(0_u32..20, 5);
    let messages = prop::collection::vec((0_u32..5, 0_u32..5, 0_u32..3000), 0..90);
    let one = (work, messages, any::<bool>(), 1_usize..4);
    let one = one.prop_map(|(work, messages, alike, times)| {
        let work: Vec<f64> = work.into_iter().map(|work| f64::from(work) * 1e3).collect();
        let messages: Vec<(u32, u32, f64)> = messages
            .into_iter()
            .map(|(from, to, size)| (from, to, f64::from(if alike { size % 3 } else { size })))
            .collect();
        vec![plan(&work, &messages); times]
    });
    prop::collection::vec(one, 1..4).prop_map(|list| list.concat())
}

/// A recorder of the measures of each superstep.
#[derive(Debug, Default)]
struct Keep(Vec<Measures>);

impl Recorder for Keep {
    fn on_superstep(&mut self, _: usize, measures: &Measures, _: &[HostId]) {
        self.0.push(measures.clone());
    }

    fn wants_transfer_times(&self) -> bool {
        true
    }
}

/// Lists all measured durations.
fn durations(measures: &Measures) -> Vec<f64> {
    let lists = [
        &measures.computation_times,
        &measures.send_times,
        &measures.communication_times,
        &measures.transfer_times,
        &measures.message_waits,
    ];
    // Sorted by process and cluster; the table itself has the order in which messages arrived.
    let of = |process| {
        let mut with: Vec<_> = measures.traffic.iter_clusters_of_process(process).collect();
        with.sort_unstable_by_key(|with| with.0);
        with
    };
    let traffic = (0..measures.work.len()).flat_map(of);
    let traffic = traffic.flat_map(|(_, with)| [with.send_time, with.receive_time]);
    let processes = lists.into_iter().flatten().copied();
    processes.chain(traffic).map(Seconds::get).collect()
}

/// The root of the barrier has waited no longer for its own message in a superstep that is taken from the cache.
#[test]
fn a_remembered_superstep_has_the_waits_of_the_first() {
    let platform = switch(1, Wire(1e6, 1e-3));
    let plans = Plans::new(vec![plan(&[0.0, 1e3], &[(0, 1, 0.0)])]);
    let memo = Memo::new(MemoBudget::new(1 << 20));
    let waits = [(); 2].map(|()| {
        let case = Case {
            runtime: RuntimeConfig {
                receives: TransferStart::Late,
                barrier: BarrierConfig {
                    kind: BarrierKind::RootSerial,
                    per_process: seconds(1e-9),
                    ..BarrierConfig::default()
                },
                ..RuntimeConfig::default()
            },
            memo: Some(&memo),
            ..Case::new(&platform, &plans, [0, 0])
        };
        let mut kept = Keep::default();
        case.run_watched(Script(vec![]), &mut kept)
            .expect("it ends");
        kept.0
    });
    assert_eq!(waits[0], waits[1]);
}

proptest! {
    #![proptest_config(cases(256))]

    /// Without a policy and without sharing a run takes the sum of the BSP costs of its supersteps.
    #[test]
    fn never_on_unshared_resources_is_the_bsp_cost(list in any_plans(), sequential: bool, central: bool) {
        let (speed, bandwidth, latency) = (1e9, 1e6, 1e-3);
        let platform = switch(5, Wire(bandwidth, latency));
        let (sends, kind) = (
            if sequential { SendOrder::Sequential } else { SendOrder::Concurrent },
            if central { BarrierKind::Central } else { BarrierKind::Ideal },
        );
        let constants = (speed, bandwidth, 2.0 * latency);
        let expected: f64 = list.iter().map(|plan| bsp_cost(plan, sends, central, constants)).sum();
        let plans = Plans::new(list);
        let case = Case {
            network: NetworkModel::preset("ideal").expect("a preset"),
            runtime: RuntimeConfig {
                sends,
                barrier: BarrierConfig { kind, ..BarrierConfig::default() },
                ..RuntimeConfig::default()
            },
            ..Case::new(&platform, &plans, 0..5)
        };
        let found = case.run().makespan.get();
        prop_assert!((found - expected).abs() <= ROUNDING * expected, "{} {}", found, expected);
    }

    /// If all capacities double and all delays halve, all times halve to the last bit: no absolute constant is involved.
    #[test]
    fn doubling_all_capacities_and_halving_all_delays_halves_all_times(list in any_plans(), runtime in any_runtime(), lv08: bool, serial: bool, profiled: bool) {
        let mut platform = two_clusters();
        if profiled {
            let steps = |values: [f64; 2]| Profile::new(vec![(0.01, values[0]), (0.035, values[1])], None).ok();
            platform.hosts[1].speed_profile = steps([0.3, 0.9]);
            platform.links[3].bandwidth_profile = steps([3e5, 2e6]);
            platform.links[5].latency_profile = steps([1e-3, 7e-3]);
        }
        let plans = Plans { memory: vec![3e4; 5], ..Plans::new(list) };
        let network = NetworkModel::preset(if lv08 { "lv08" } else { "cm02" }).expect("a preset");
        let costs = Costs {
            migration: MigrationCostConfig {
                fixed: seconds(0.25),
                order: if serial { MigrationOrder::Serial } else { MigrationOrder::Parallel },
                ..MigrationCostConfig::default()
            },
            call: CallCostConfig::default(),
        };
        let case = Case { network, runtime, costs, scenario: Scenario::Iii, ..Case::new(&platform, &plans, PLACEMENT) };
        let twice = double(&platform);
        let mut faster = Case { platform: &twice, ..case.clone() };
        faster.network.loopback_bandwidth *= 2.0;
        faster.costs.migration.fixed = half(costs.migration.fixed);
        faster.runtime.barrier.per_process = half(runtime.barrier.per_process);
        let script = Script(vec![(0, vec![(0, 3), (2, 2)]), (2, vec![(4, 0)])]);
        let slow = dates(&case.run_with(script.clone()).expect("it ends"));
        let fast = dates(&faster.run_with(script).expect("it ends"));
        prop_assert_eq!(slow.len(), fast.len());
        for (slow, fast) in slow.iter().zip(&fast) {
            prop_assert_eq!((slow / 2.0).to_bits(), fast.to_bits(), "{} {}", slow, fast);
        }
    }

    /// The order of the hosts inside a cluster has no effect on times.
    #[test]
    fn renumbering_hosts_inside_a_cluster_moves_no_time(list in any_plans(), runtime in any_runtime(), first in Just(vec![0_usize, 1, 2]).prop_shuffle(), swap: bool) {
        let platform = two_clusters();
        let mut order = first;
        order.extend(if swap { [4, 3] } else { [3, 4] });
        let other = reordered(&platform, &order);
        let moved = PLACEMENT.map(|host| {
            let new = order.iter().position(|&old| old == host as usize).expect("a permutation");
            HostId::from_index(new).0
        });
        let plans = Plans::new(list);
        let case = Case { runtime, ..Case::new(&platform, &plans, PLACEMENT) };
        let renumbered = Case { runtime, ..Case::new(&other, &plans, moved) };
        for (a, b) in dates(&case.run()).into_iter().zip(dates(&renumbered.run())) {
            prop_assert!((a - b).abs() <= 1e-12 * a, "{} {}", a, b);
        }
    }

    /// Equal runs have equal hashes, and one more byte in one message changes the hash.
    #[test]
    fn the_hash_hears_of_every_byte(list in any_plans(), mut runtime in any_runtime(), which: prop::sample::Index, ahead: Option<bool>) {
        let platform = two_clusters();
        if let Some(is_released) = ahead {
            runtime.barrier.kind = if is_released { BarrierKind::ReleasedByFirst } else { BarrierKind::None };
        }
        let hash = |list: &[Plan]| {
            let plans = Plans::new(list.to_vec());
            Case { runtime, ..Case::new(&platform, &plans, PLACEMENT) }.run().event_hash
        };
        let before = hash(&list);
        prop_assert_eq!(&before, &hash(&list));
        let messages: usize = list.iter().map(|plan| plan.messages.len()).sum();
        prop_assume!(messages > 0);
        let mut longer = list;
        let message = longer.iter_mut().flat_map(|plan| &mut plan.messages).nth(which.index(messages));
        if let Some(message) = message {
            message.size = message.size + bytes(1.0);
        }
        prop_assert_ne!(before, hash(&longer));
    }

    /// A superstep that is computed with a shortcut, or taken from the cache, gives the result of the simulation event by event.
    #[test]
    fn shortcuts_change_no_result(
        mut platform in any::<bool>().prop_flat_map(any_machine),
        network in any_network(),
        mut list in many_plans(),
        runtime in any_runtime(),
        places in prop::collection::vec(0_usize..9, 7),
        unshared in 0_u32..12,
        room in prop::sample::select(vec![0, 500, 1 << 20]),
        (of_library, slow_start, queues) in (prop::bool::weighted(0.5), any::<bool>(), prop::bool::weighted(0.2)),
        overlapped: bool,
    ) {
        let network = if of_library { library(network, slow_start) } else { network };
        let network = NetworkModel { queues, ..network };
        if of_library && slow_start {
            // Some of these messages do not fit into the first window, and some begin with a handshake.
            for message in list.iter_mut().flat_map(|plan| &mut plan.messages) {
                message.size = bytes(message.size.get() * 20.0);
            }
        }
        if let Some(link) = platform.links.get_mut(unshared as usize) {
            link.is_shared = false;
            link.bandwidth_profile = None;
            link.latency_profile = None;
        }
        let hosts = platform.hosts.len();
        let host = |index: usize| HostId::from_index(places[index] % hosts).0;
        let plans = Plans { memory: vec![3e4; 5], ..Plans::new(list) };
        let script = Script(vec![(1, vec![(0, host(5)), (2, host(6))]), (3, vec![(4, host(5))])]);
        let run = |shortcuts, scenario, remembered| {
            let case = Case {
                network,
                runtime: RuntimeConfig { shortcuts, ..runtime },
                costs: Costs {
                    call: CallCostConfig {
                        waiting: if overlapped { CallWaiting::Overlapped } else { CallWaiting::Blocking },
                        ..CallCostConfig::default()
                    },
                    ..Costs::default()
                },
                scenario,
                memo: remembered,
                ..Case::new(&platform, &plans, (0..5).map(host))
            };
            let mut kept = Keep::default();
            let outcome = case.run_watched(script.clone(), &mut kept).expect("it ends");
            (outcome, kept.0)
        };
        let (all, measured) = run(ShortcutChoice::All, Scenario::Iii, None);
        // The runs share one cache; the first run fills it, if there is room.
        let remembered = Memo::new(MemoBudget::new(room));
        let alone = run(ShortcutChoice::All, Scenario::I, None);
        for scenario in [Scenario::I, Scenario::Iii, Scenario::I, Scenario::Iii] {
            let expected = if scenario == Scenario::I { &alone } else { &(all.clone(), measured.clone()) };
            prop_assert_eq!(&run(ShortcutChoice::All, scenario, Some(&remembered)), expected);
        }
        let (at_once, measured_at_once) = run(ShortcutChoice::AtOnce, Scenario::Iii, None);
        prop_assert_eq!((&all, &measured), (&at_once, &measured_at_once));
        for (fast, scenario) in [((all, measured), Scenario::Iii), (run(ShortcutChoice::All, Scenario::Ii, None), Scenario::Ii)] {
            let (all, measured) = fast;
            let (slow, slowly) = run(ShortcutChoice::None, scenario, None);
            prop_assert_eq!(all.flow_count, slow.flow_count);
            for (a, b) in dates(&all).into_iter().zip(dates(&slow)) {
                prop_assert!((a - b).abs() <= 1e-12 * b, "{} {}", a, b);
            }
            for (a, b) in measured.iter().zip(&slowly) {
                prop_assert_eq!(&a.work, &b.work);
                for (a, b) in durations(a).into_iter().zip(durations(b)) {
                    prop_assert!((a - b).abs() <= 1e-12 * slow.makespan.get(), "{} {}", a, b);
                }
            }
        }
    }

    /// The terms of a ledger add up to the difference of the makespans, to the last bit, for all kinds of waiting.
    #[test]
    fn the_terms_of_a_ledger_add_up(
        platform in any::<bool>().prop_flat_map(any_machine),
        network in any_network(),
        list in many_plans(),
        runtime in any_runtime(),
        places in prop::collection::vec(0_usize..9, 7),
        model in prop::sample::select(vec![CallModel::Messages, CallModel::Additive, CallModel::Overlapped, CallModel::PingPong, CallModel::None]),
        (overlapped, movers, serial, prescribed, moves) in any::<(bool, bool, bool, bool, bool)>(),
        in_turn: bool,
    ) {
        let hosts = platform.hosts.len();
        let host = |index: usize| HostId::from_index(places[index] % hosts).0;
        let mut plans = Plans { memory: vec![3e4; 5], ..Plans::new(list) };
        if prescribed {
            let (process, to) = (migsim::units::ProcessId(3), format!("h{}", host(6)));
            let (size, delay) = (bytes(1e4), seconds(0.2));
            plans.moves = vec![vec![], vec![PrescribedMigration { process, destination_host: to, transferred_bytes: size, wait_after_transfer: delay }]];
        }
        let costs = Costs {
            call: CallCostConfig {
                model,
                fixed: seconds(0.3),
                ping: bytes(100.0),
                waiting: if overlapped { CallWaiting::Overlapped } else { CallWaiting::Blocking },
                order: if in_turn { CallOrder::Sequential } else { CallOrder::Parallel },
                ..CallCostConfig::default()
            },
            migration: MigrationCostConfig {
                fixed: seconds(0.1),
                order: if serial { MigrationOrder::Serial } else { MigrationOrder::Parallel },
                wait: if movers { WaitingProcesses::Movers } else { WaitingProcesses::All },
                ..MigrationCostConfig::default()
            },
        };
        let wanted = if moves { vec![(0, host(5)), (2, host(6))] } else { vec![] };
        let script = Script(vec![(0, vec![]), (1, wanted), (3, vec![(4, host(5))])]);
        let run = |scenario| {
            let case = Case { network, runtime, costs, scenario, ..Case::new(&platform, &plans, (0..5).map(host)) };
            case.run_with(script.clone()).expect("it ends")
        };
        let base = run(Scenario::I);
        for scenario in [Scenario::Ii, Scenario::Iii] {
            let outcome = run(scenario);
            let ledger = MakespanLedger::new(&outcome, &base);
            prop_assert_eq!(ledger.term_ticks.iter().sum::<i64>(), ledger.difference_ticks);
            let difference = outcome.makespan.get() - base.makespan.get();
            prop_assert_eq!(ledger.difference_in_seconds().to_bits(), difference.to_bits());
            let ours = outcome.makespan.get();
            if ledger.term_ticks.iter().map(|ticks| ticks.abs()).sum::<i64>() < 1 << 53 {
                // All partial sums are exact, in any order.
                let sum = |terms: &mut dyn Iterator<Item = (MakespanTerm, f64)>| terms.map(|(_, seconds)| seconds).fold(0.0, |a, b| a + b);
                prop_assert_eq!(sum(&mut ledger.terms_in_seconds()), difference);
                let mut terms: Vec<_> = ledger.terms_in_seconds().collect();
                terms.reverse();
                prop_assert_eq!(sum(&mut terms.into_iter()), difference);
            }
            // Each term is the time that its name describes.
            let spent = |term| ledger.terms_in_seconds().find(|(known, _)| *known == term).map_or(f64::NAN, |(_, seconds)| seconds);
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * ours.max(1.0);
            let calls = spent(MakespanTerm::CallMessages) + spent(MakespanTerm::CallWork) + spent(MakespanTerm::CallWaiting);
            prop_assert!(near(calls, outcome.call_waiting_time.get()), "{} {:?}", calls, outcome.calls);
            if movers {
                prop_assert!(spent(MakespanTerm::Migrations) <= outcome.migration_waiting_time.get() + 1e-9);
            } else {
                prop_assert!(near(spent(MakespanTerm::Migrations), outcome.migration_waiting_time.get()));
            }
            if !prescribed {
                prop_assert!(near(spent(MakespanTerm::PrescribedMoves), 0.0));
            }
        }
    }
}
