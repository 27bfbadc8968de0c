//! Tests of the engine.

use proptest::prelude::*;

use super::*;
use crate::testing::{random_flows, run_to_end, single_cluster_platform};
use migsim_base::units::BytesPerSecond;
use migsim_platform::{ClusterPath, Routes};

#[test]
fn an_execution_takes_its_work_over_the_speed() {
    // 3e9 instructions at 1.5 GHz: 2 s.
    let platform = single_cluster_platform(&[1.5e9, 1e9], 1e6, 1e-3);
    let mut simulation = Simulation::new(&platform, NetworkModel::default());
    simulation
        .execute(HostId(0), Instructions::new(3e9).unwrap(), 'a')
        .unwrap();
    assert_eq!(run_to_end(&mut simulation), [('a', 2.0)]);
    assert_eq!(
        (
            simulation.started_flow_count(),
            simulation.describe_first_violation()
        ),
        (0, None)
    );
}

#[test]
fn a_link_that_a_route_passes_twice_counts_twice() {
    // h0, l0, l2 twice, l1, h1: four latencies, and half of a capacity. 1 + 1e6 / 5e5 s.
    let mut platform = single_cluster_platform(&[1e9; 3], 1e6, 0.25);
    let Routes::StoredClusterPaths {
        cluster_paths: pairs,
        path_links: links,
        ..
    } = &mut platform.routes
    else {
        unreachable!("a line has clusters");
    };
    links.extend([LinkId(2), LinkId(2)]);
    *pairs = vec![Some(ClusterPath {
        link_range: 0..2,
        latency: None,
    })];
    let mut simulation = Simulation::new(&platform, NetworkModel::default());
    let size = Bytes::new(1e6).unwrap();
    simulation.send(HostId(0), HostId(1), size, 'm').unwrap();
    assert_eq!(run_to_end(&mut simulation), [('m', 3.0)]);
    let mut paths = crate::batch::PathTable::new(&platform, NetworkModel::default());
    let path = paths
        .find_or_add_path(
            &platform,
            &crate::transport::LinkState::all(&platform),
            HostId(0),
            HostId(1),
        )
        .unwrap();
    let path = paths.get(path);
    assert_eq!((path.delay, path.uncontended_rate), (1.0, 5e5));
}

#[test]
fn time_passes_only_while_nothing_is_in_progress_and_flows_are_counted() {
    let platform = single_cluster_platform(&[1e9, 1e9], 1e6, 0.0);
    let mut simulation = Simulation::new(&platform, NetworkModel::default());
    assert!(simulation.try_advance_time(2.0, 3));
    assert_eq!(
        (simulation.local_time(), simulation.started_flow_count()),
        (2.0, 3)
    );
    let size = Bytes::new(1e6).unwrap();
    simulation.send(HostId(0), HostId(1), size, 'a').unwrap();
    assert!(!simulation.try_advance_time(2.0, 3));
    assert_eq!(
        (simulation.local_time(), simulation.started_flow_count()),
        (2.0, 4)
    );
    assert_eq!(run_to_end(&mut simulation), [('a', 3.0)]);
    assert!(!simulation.try_advance_time(f64::INFINITY, 0));
}

#[test]
fn flows_with_a_common_link_share_it_and_the_ideal_network_shares_nothing() {
    let platform = single_cluster_platform(&[1e9; 3], 1e6, 0.0);
    let dates = |model| {
        let mut simulation = Simulation::new(&platform, model);
        simulation
            .send(HostId(0), HostId(1), Bytes::new(1e6).unwrap(), 'a')
            .unwrap();
        simulation
            .send(HostId(0), HostId(2), Bytes::new(2e6).unwrap(), 'b')
            .unwrap();
        run_to_end(&mut simulation)
    };
    // Half of 1e6 B/s each until a ends at 2 s; b then has 1e6 B left.
    assert_eq!(dates(NetworkModel::default()), [('a', 2.0), ('b', 3.0)]);
    assert_eq!(
        dates(NetworkModel::preset("ideal").unwrap()),
        [('a', 1.0), ('b', 2.0)]
    );
}

/// Returns the ends of flows of 1e6 B from host 0 to each other host, over links of 1e6 B/s and 1 ms.
fn star(platform: &migsim_platform::Platform, model: NetworkModel) -> Vec<(usize, f64)> {
    let mut simulation = Simulation::new(platform, model);
    for to in 1..platform.hosts.len() {
        simulation
            .send(
                HostId(0),
                HostId::from_index(to),
                Bytes::new(1e6).unwrap(),
                to,
            )
            .unwrap();
    }
    run_to_end(&mut simulation)
}

#[test]
fn a_link_that_is_not_shared_gives_each_flow_its_whole_bandwidth() {
    let mut platform = single_cluster_platform(&[1e9; 3], 1e6, 1e-3);
    for link in &mut platform.links {
        link.is_shared = false;
    }
    // 2 ms and 1 s for both, as if alone.
    let both = [(1, 1.002), (2, 1.002)];
    assert_eq!(star(&platform, NetworkModel::default()), both);
    // Only the link of host 0 is not shared now; the other links have one flow each, so nothing changes.
    platform.links[1].is_shared = true;
    platform.links[2].is_shared = true;
    assert_eq!(star(&platform, NetworkModel::default()), both);
    // Packets of two messages do not wait for each other there. Ten have headers of 90 B each; the last one crosses the next link alone.
    let queues = NetworkModel {
        packet: Some(Bytes::of(1e5)),
        queues: true,
        ..NetworkModel::default()
    };
    for link in &mut platform.links[1..] {
        link.bandwidth = BytesPerSecond::of(1e9);
    }
    for (_, end) in star(&platform, queues) {
        assert!((end - 1.002 - 9e-4 - 100_090e-9).abs() < 1e-9, "{end}");
    }
}

#[test]
fn flows_keep_their_bytes_when_they_become_many() {
    // The link carries 1e6 B/s all the time. Half of the 200 x 1e4 B of 0 s are left at 1 s, when 100 x 1e4 B more are sent.
    let platform = single_cluster_platform(&[1e9; 2], 1e6, 0.0);
    let mut simulation = Simulation::new(&platform, NetworkModel::default());
    simulation.start_wait(Seconds::of(1.0), 0);
    for message in 1..=300 {
        if message == 201 {
            assert_eq!(simulation.next_ended().unwrap(), Some(0));
        }
        simulation
            .send(HostId(0), HostId(1), Bytes::of(1e4), message)
            .unwrap();
    }
    let (_, end) = *run_to_end(&mut simulation).last().unwrap();
    assert!((end - 3.0).abs() < 1e-9, "{end}");
}

/// Returns the local ends of messages, each sent once its sender has computed for a given time.
fn local_ends(
    simulation: &mut Simulation<'_, (bool, usize)>,
    flows: &[(f64, u32, u32, f64)],
) -> Vec<u64> {
    for (at, &(seconds, from, ..)) in flows.iter().enumerate() {
        let work = Instructions::new(1e9 * seconds + 1e6).unwrap();
        simulation.execute(HostId(from), work, (false, at)).unwrap();
    }
    let mut ends = vec![0; flows.len()];
    while let Some((is_message, at)) = simulation.next_ended().unwrap() {
        if is_message {
            ends[at] = simulation.local_time().to_bits();
            continue;
        }
        let (_, from, to, bytes) = flows[at];
        let size = Bytes::new(bytes).unwrap();
        simulation
            .send(HostId(from), HostId(to), size, (true, at))
            .unwrap();
    }
    ends
}

proptest! {
    #[test]
    fn messages_after_a_rebase_end_to_the_bit_as_if_they_were_the_first(
        before in prop::collection::vec(random_flows(3), 1..4),
        flows in random_flows(3),
        narrow in prop_oneof![Just(1.0), Just(0.1)],
    ) {
        let mut platform = single_cluster_platform(&[1e9; 8], 1e3, 1e-3);
        for link in &mut platform.links[2..4] {
            link.bandwidth = BytesPerSecond::new(1e3 * narrow).unwrap();
        }
        let model = NetworkModel::preset("lv08").unwrap();
        let first = local_ends(&mut Simulation::new(&platform, model), &flows);
        let mut simulation = Simulation::new(&platform, model);
        for flows in &before {
            local_ends(&mut simulation, flows);
            prop_assert!(simulation.try_move_time_origin_to_now());
        }
        prop_assert_eq!(local_ends(&mut simulation, &flows), first);
    }
}

#[test]
fn a_long_execution_under_a_fine_profile_is_not_stuck() {
    // Half of each 1 us at half speed: 3 s of work at 3/4 of the speed take 4 s, over 8 million changes.
    let mut platform = single_cluster_platform(&[1e9], 1e6, 0.0);
    let steps = vec![(0.0, 1.0), (5e-7, 0.5)];
    platform.hosts[0].speed_profile =
        Some(migsim_platform::Profile::new(steps, Some(1e-6)).unwrap());
    let mut simulation = Simulation::new(&platform, NetworkModel::default());
    simulation
        .execute(HostId(0), Instructions::new(3e9).unwrap(), 'a')
        .unwrap();
    let ended = run_to_end(&mut simulation);
    assert!((ended[0].1 - 4.0).abs() < 1e-6, "{ended:?}");
}

#[test]
fn a_host_that_has_slept_has_the_speed_of_the_date() {
    let mut platform = single_cluster_platform(&[1e9, 1e9], 1e6, 0.0);
    let steps = vec![(0.0, 0.5), (1.0, 0.25), (2.0, 1.0), (9.0, 0.5)];
    let profile = migsim_platform::Profile::new(steps, None).unwrap();
    platform.hosts[0].speed_profile = Some(profile);
    let mut simulation = Simulation::new(&platform, NetworkModel::default());
    simulation.start_wait(Seconds::of(1.5), 'a');
    assert_eq!(simulation.next_ended().unwrap(), Some('a'));
    // From 1.5 to 2 s a quarter of the speed, 0.125e9; the rest at full speed.
    simulation
        .execute(HostId(0), Instructions::new(1e9).unwrap(), 'b')
        .unwrap();
    assert_eq!(run_to_end(&mut simulation), [('b', 2.875)]);
    let since_start = AvailabilityIntervalStart::default();
    // 1 s of 0.5, 1 s of 0.25, 0.875 s of 1.
    let mean = simulation.mean_load_state(HostId(0), since_start);
    assert_eq!(mean.unwrap(), [1.625 / 2.875, 0.0]);
    // The next change is known, whether the host is asleep or not.
    let mut settle = |host| simulation.settle_capacities(&[HostId(host)]).unwrap().0;
    assert_eq!((settle(0), settle(1)), (9.0, f64::INFINITY));
}

fn slow_in_half_of_each_second(speed: f64) -> Platform {
    let mut platform = single_cluster_platform(&[speed], 1e6, 0.0);
    let steps = vec![(0.0, 1.0), (0.5, 0.5)];
    platform.hosts[0].speed_profile =
        Some(migsim_platform::Profile::new(steps, Some(1.0)).unwrap());
    platform
}

#[test]
fn an_execution_ends_through_as_many_changes_as_are_allowed_and_no_more() {
    // 4 and 2 instructions in the halves of each second: 3 n + 2 instructions end after n changes, not counting the change at time 0.
    let platform = slow_in_half_of_each_second(8.0);
    for (changes, is_refused) in [(101.0, false), (102.0, true)] {
        let mut simulation = Simulation::new(&platform, NetworkModel::default());
        simulation.max_changes_without_end = 101;
        let work = Instructions::new(3.0 * changes + 2.0).unwrap();
        simulation.execute(HostId(0), work, 'a').unwrap();
        let ended = simulation.next_ended();
        assert_eq!(ended.is_err(), is_refused, "{changes}");
    }
}

#[test]
fn a_host_with_too_many_changes_while_it_is_idle_is_an_error() {
    let platform = slow_in_half_of_each_second(1e9);
    // 2 changes a second, from 0 s on.
    for (until, is_refused) in [(50.0, false), (60.0, true), (1e254, true)] {
        let mut simulation = Simulation::<char>::new(&platform, NetworkModel::default());
        simulation.max_unused_changes = 101;
        assert!(simulation.try_advance_time(until, 0));
        let done = simulation.apply_due_speed_changes(HostId(0));
        assert_eq!(done.is_err(), is_refused, "{until}");
        if let Err(error) = done {
            let error = error.to_string();
            assert!(error.contains("the speed of host `h0`"), "{error}");
        }
    }
}

#[test]
fn a_capacity_of_zero_for_ever_is_an_error() {
    let mut platform = single_cluster_platform(&[1e9], 1e6, 0.0);
    platform.hosts[0].speed_profile =
        Some(migsim_platform::Profile::new(vec![(1.0, 0.0)], None).unwrap());
    let mut simulation = Simulation::new(&platform, NetworkModel::default());
    simulation
        .execute(HostId(0), Instructions::new(2e9).unwrap(), 'a')
        .unwrap();
    let error = simulation.next_ended().unwrap_err().to_string();
    assert!(
        error.contains("can ever end") && error.contains("host `h0`"),
        "{error}"
    );
}

#[test]
fn executions_end_apart_however_short_or_long_they_are() {
    // One and two units of work on a host: half of the speed each for two units of time, then the second runs alone.
    let platform = single_cluster_platform(&[1e9], 1e6, 0.0);
    let ends = |work: f64| {
        let mut simulation = Simulation::new(&platform, NetworkModel::default());
        for (name, times) in [('a', 1.0), ('b', 2.0)] {
            let work = Instructions::new(times * work).unwrap();
            simulation.execute(HostId(0), work, name).unwrap();
        }
        run_to_end(&mut simulation)
    };
    for (work, unit) in [(8.0, 8e-9), (2e15, 2e6)] {
        let found = ends(work);
        let [(first, a), (second, b)] = found[..] else {
            panic!("{found:?}");
        };
        assert_eq!((first, second), ('a', 'b'));
        assert!((a / unit - 2.0).abs() < 1e-12, "{a}");
        assert!((b / unit - 3.0).abs() < 1e-12, "{b}");
    }
}

#[test]
fn an_empty_message_passes_a_link_that_is_down() {
    for latency in [0.0, 0.5] {
        let mut platform = single_cluster_platform(&[1e9, 1e9], 1e6, latency);
        platform.links[0].bandwidth_profile =
            Some(migsim_platform::Profile::new(vec![(0.0, 0.0)], None).unwrap());
        let mut simulation = Simulation::new(&platform, NetworkModel::default());
        simulation.start_wait(Seconds::of(1.0), 'w');
        assert_eq!(simulation.next_ended().unwrap(), Some('w'));
        simulation
            .send(HostId(0), HostId(1), Bytes::default(), 'm')
            .unwrap();
        assert_eq!(run_to_end(&mut simulation), [('m', 1.0 + 2.0 * latency)]);
    }
}

#[test]
fn what_stands_still_for_ever_is_named_if_something_waits_for_it() {
    let stop = || Some(migsim_platform::Profile::new(vec![(1.0, 0.0)], None).unwrap());
    let mut platform = single_cluster_platform(&[1e9; 3], 1e6, 0.0);
    platform.hosts[0].speed_profile = stop();
    platform.hosts[1].speed_profile = stop();
    platform.links[0].bandwidth_profile = stop();
    platform.links[2].bandwidth_profile = stop();
    // Nothing runs on h1 and no message crosses l2. l1 could carry the flow that l0 stops.
    let mut simulation = Simulation::new(&platform, NetworkModel::default());
    simulation
        .execute(HostId(0), Instructions::new(2e9).unwrap(), 'a')
        .unwrap();
    let size = Bytes::new(2e6).unwrap();
    simulation.send(HostId(0), HostId(1), size, 'm').unwrap();
    let error = simulation.next_ended().unwrap_err().to_string();
    for (name, is_told) in [
        ("h0", true),
        ("h1", false),
        ("l0", true),
        ("l1", false),
        ("l2", false),
    ] {
        assert_eq!(
            error.contains(&format!("`{name}`")),
            is_told,
            "{name}: {error}"
        );
    }
}

#[test]
fn over_no_time_a_host_was_available() {
    let mut platform = single_cluster_platform(&[1e9], 1e6, 0.0);
    let profile = migsim_platform::Profile::new(vec![(0.0, 0.5)], None).unwrap();
    platform.hosts[0].speed_profile = Some(profile);
    let mut simulation = Simulation::<char>::new(&platform, NetworkModel::default());
    let mark = simulation.start_availability_interval(HostId(0)).unwrap();
    let mean = simulation.mean_load_state(HostId(0), mark);
    assert_eq!(mean.unwrap(), [1.0, 0.0]);
}

#[test]
fn a_bandwidth_that_changes_cuts_no_latency_short_where_weights_do_not_depend_on_it() {
    // 1 s of latency; then 1e6 B at 5e5 B/s, as the link is from 0.25 s on.
    let mut platform = single_cluster_platform(&[1e9, 1e9], 1e6, 0.5);
    let profile = migsim_platform::Profile::new(vec![(0.25, 5e5)], None).unwrap();
    platform.links[0].bandwidth_profile = Some(profile);
    let mut simulation = Simulation::new(&platform, NetworkModel::default());
    let size = Bytes::new(1e6).unwrap();
    simulation.send(HostId(0), HostId(1), size, 'm').unwrap();
    assert_eq!(run_to_end(&mut simulation), [('m', 3.0)]);
}

#[test]
fn a_flow_that_has_lost_its_latency_shares_as_one_without() {
    // The first flow moves from 0.5 s on; at 1.5 s both have 1e6 B left, and half of 1e6 B/s each.
    let mut platform = single_cluster_platform(&[1e9; 3], 1e6, 0.0);
    platform.links[0].latency = Seconds::of(0.5);
    let profile = migsim_platform::Profile::new(vec![(1.0, 0.0)], None).unwrap();
    platform.links[0].latency_profile = Some(profile);
    let mut simulation = Simulation::new(&platform, NetworkModel::default());
    let mut send = |to: u32, size: f64, name: char, until: f64| {
        let size = Bytes::new(size).unwrap();
        simulation.send(HostId(0), HostId(to), size, name).unwrap();
        if until > 0.0 {
            simulation.start_wait(Seconds::of(until), 'w');
            assert_eq!(simulation.next_ended().unwrap(), Some('w'));
        }
    };
    send(1, 2e6, 'a', 1.5);
    send(2, 1e6, 'b', 0.0);
    let found = run_to_end(&mut simulation);
    assert!(
        found.iter().all(|(_, date)| (date - 3.5).abs() < 1e-9),
        "{found:?}"
    );
}
