//! Tests of the potential of migration and the two heuristics, worked out by hand.

use super::*;
use crate::{ExternalLoad, Measures, testing::test_view};
use migsim_base::units::{Bytes, Instructions, InstructionsPerSecond};
use proptest::prelude::*;

fn potential(process: usize, cluster: usize, value: f64) -> MigrationPotential {
    MigrationPotential {
        computation_term: value,
        process_number: to_u32(process),
        cluster_number: to_u32(cluster),
        own_cluster: NO_PROCESS,
        ..MigrationPotential::default()
    }
}

#[test]
fn a_host_with_half_its_speed_taken_and_three_processes_on_two_cores_gives_each_a_third() {
    let mut platform = migsim_engine::testing::single_cluster_platform(&[3e9], 1e6, 0.0);
    platform.hosts[0].cores = 2;
    let measures = Measures::default();
    let view = View {
        external_load: &[ExternalLoad::reserved(0.5)],
        ..test_view(&platform, &[HostId(0)], &measures)
    };
    // 3e9 / 2 = 1.5e9, times 2 cores for 3 processes.
    assert_eq!(present_speed(&[3], 0, &view), 1e9);
    assert_eq!(present_speed(&[2], 0, &view), 1.5e9);
    assert_eq!(present_speed(&[1], 0, &view), 1.5e9);
}

#[test]
fn each_manager_may_have_a_list_of_its_own() {
    // x = 80 % of 10 in cluster 0, of 4 in cluster 1; cluster 2 gains nothing.
    let mut all = [
        potential(0, 3, 10.0),
        potential(1, 3, 7.0),
        potential(2, 3, 4.0),
        potential(3, 3, 3.5),
        potential(4, 3, -1.0),
    ];
    let config = MigBspConfig {
        x_of: ThresholdMeaning::OfClusterMaximum,
        ..MigBspConfig::default()
    };
    for (potential, own) in all.iter_mut().zip([0, 0, 1, 1, 2]) {
        potential.own_cluster = own;
    }
    let Selection {
        candidates: found,
        threshold,
        ..
    } = select_candidates(&config, highest_potentials(&all), 5, false);
    assert_eq!((found, threshold), (vec![all[0], all[2], all[3]], None));
}

/// Returns the terms of all PM after one superstep: p1 on lan-0 and p2 on s-0, 1e6 instructions, 500 kB from p1 to p2 in 50 ms; p1 started on a-0.
fn after_a_move(config: &MigBspConfig) -> Vec<MigrationPotential> {
    after_a_move_over(config, 1.0, 0)
}

/// Returns the same over a horizon of supersteps, with `mapped` processes on each host.
fn after_a_move_over(config: &MigBspConfig, horizon: f64, mapped: u32) -> Vec<MigrationPotential> {
    let platform = migsim_platform::open("lbm").unwrap().platform;
    let host = |name: &str| platform.host_named(name).unwrap();
    let mut measures = Measures::default();
    measures.clear(2);
    measures.work = vec![Instructions::of(1e6); 2];
    measures.computation_times = vec![Seconds::of(2e-3), Seconds::of(1e-3)];
    let bytes = Bytes::of(500e3);
    measures.traffic_mut(0, 3).sent_bytes = bytes;
    measures.traffic_mut(0, 3).send_time = Seconds::of(0.05);
    measures.traffic_mut(1, 2).received_bytes = bytes;
    measures.traffic_mut(1, 2).receive_time = Seconds::of(0.05);
    let idle = vec![ExternalLoad::default(); platform.hosts.len()];
    let before = [host("a-0"), host("s-0")];
    let memory = [bytes, bytes];
    let mut view = View {
        process_memory: &memory,
        external_load: &idle,
        ..test_view(&platform, &before, &measures)
    };
    let mut forecasts = Forecasts::default();
    forecasts.observe(config, 4, &view);
    let now = [host("lan-0"), host("s-0")];
    view.placement = &now;
    let occupancy = vec![mapped; platform.hosts.len()];
    let all = PotentialComputation::new(config, horizon, &forecasts, &occupancy, &view);
    assert_eq!(
        all.pair_count(),
        (0..2)
            .flat_map(|process| all.potentials_of_process(process))
            .count()
    );
    (0..2)
        .flat_map(|process| all.potentials_of_process(process))
        .collect()
}

#[test]
fn speeds_at_the_ends_of_their_range_have_potentials_that_are_numbers() {
    let mut platform = migsim_platform::open("lbm").unwrap().platform;
    let (slow, fast) = (1e-9, 1e21);
    for (host, speed) in platform
        .hosts
        .iter_mut()
        .zip([slow, fast, fast].iter().cycle())
    {
        host.speed = InstructionsPerSecond::new(*speed).unwrap();
    }
    let mut measures = Measures::default();
    measures.clear(2);
    measures.work = vec![Instructions::of(1e300); 2];
    measures.computation_times = vec![Seconds::of(f64::MAX), Seconds::of(1.0)];
    measures.traffic_mut(0, 1).sent_bytes = Bytes::of(f64::MAX);
    measures.traffic_mut(0, 1).send_time = Seconds::of(f64::MAX);
    let placement = [HostId(0), HostId(1)];
    let memory = [Bytes::of(f64::MAX); 2];
    let idle = vec![ExternalLoad::default(); platform.hosts.len()];
    let view = View {
        process_memory: &memory,
        external_load: &idle,
        ..test_view(&platform, &placement, &measures)
    };
    let occupancy = vec![1; platform.hosts.len()];
    for set_index in [SetIndex::MeanClock, SetIndex::FreePowerSum] {
        for index_form in [IndexForm::OfBest, IndexForm::GainOverSource] {
            let config = MigBspConfig {
                set_index,
                index_form,
                ..MigBspConfig::default()
            };
            let mut forecasts = Forecasts::default();
            forecasts.observe(&config, 4, &view);
            let all = PotentialComputation::new(&config, 1e9, &forecasts, &occupancy, &view);
            let values = (0..2).flat_map(|process| all.potentials_of_process(process));
            let mut finite = values.map(|potential| potential.value().is_finite());
            assert!(finite.all(|is| is), "{config:?}");
        }
    }
}

#[test]
fn the_transfer_may_be_counted_from_the_first_cluster() {
    let memory = |config: &MigBspConfig| -> Vec<f64> {
        let all = after_a_move(config);
        all[..4]
            .iter()
            .map(|potential| potential.memory_term)
            .collect()
    };
    let mut config = MigBspConfig {
        own_cluster: OwnCluster::Competes,
        ..MigBspConfig::default()
    };
    // 500 kB from lan at 9.96 MB/s to n, a and s, and nothing to lan itself.
    let (slow, fast) = (500e3 / 9.96e6, 500e3 / 99.6e6);
    assert_eq!(memory(&config), [slow, slow, 0.0, slow]);
    // From a at 99.6 MB/s, at 9.96 MB/s to lan.
    config.memory_origin = MemoryOrigin::Initial;
    assert_eq!(memory(&config), [fast, fast, slow, fast]);
}

#[test]
fn computation_and_communication_count_over_all_supersteps_ahead() {
    let config = MigBspConfig {
        own_cluster: OwnCluster::Competes,
        ..MigBspConfig::default()
    };
    let (one, ten) = (
        after_a_move_over(&config, 1.0, 0),
        after_a_move_over(&config, 10.0, 0),
    );
    // p1 sends to s for 50 ms in each.
    assert!((ten[3].communication_term - 0.5).abs() < 1e-12);
    for (one, ten) in one.iter().zip(&ten) {
        assert!((ten.computation_term - 10.0 * one.computation_term).abs() < 1e-12);
    }
}

#[test]
fn where_no_host_of_any_cluster_is_free_computation_draws_nowhere() {
    for index_form in [IndexForm::OfBest, IndexForm::GainOverSource] {
        let config = MigBspConfig {
            set_index: SetIndex::BestFreeHost,
            index_form,
            ..MigBspConfig::default()
        };
        let all = after_a_move_over(&config, 1.0, 1);
        let compute: Vec<f64> = all
            .iter()
            .map(|potential| potential.computation_term)
            .collect();
        assert_eq!(compute, [0.0; 6], "{index_form:?}");
    }
}

#[test]
fn where_x_counts_processes_those_that_gain_nothing_are_none_unless_they_may() {
    let all = [
        potential(0, 1, 1.0),
        potential(1, 1, 0.0),
        potential(2, 1, -1.0),
    ];
    let config = MigBspConfig {
        x: 1.0,
        x_of: ThresholdMeaning::OfProcesses,
        ..MigBspConfig::default()
    };
    assert_eq!(
        select_candidates(&config, highest_potentials(&all), 3, false).candidates,
        [all[0]]
    );
}

#[test]
fn inside_a_cluster_bytes_go_from_its_manager_to_the_next_host() {
    use migsim_engine::testing::single_cluster_platform;
    let platform = single_cluster_platform(&[1e9; 3], 1e6, 0.0);
    let route = manager_route(&platform, 0, 0).unwrap();
    let links: Vec<u32> = route.links().map(|link| link.0).collect();
    assert_eq!(links, [0, 1]);
    assert!(manager_route(&single_cluster_platform(&[1e9], 1e6, 0.0), 0, 0).is_none());
}

/// Returns twelve clusters of three hosts behind two kinds of links, with these speeds \[GHz\].
fn twelve(speeds: &[u32]) -> migsim_platform::Platform {
    let cluster = |(at, speed): (usize, &u32)| {
        let bandwidth = 1 + at % 2;
        format!(
            r#"{{ "name": "c{at}", "hosts": 3, "speed": "{speed} GHz", "link": {{ "bandwidth": "{bandwidth} Gbps", "latency": "1 us" }}, "router": "r{at}" }}"#
        )
    };
    let link = |at: usize| {
        let bandwidth = 1 + at % 3;
        format!(
            r#"{{ "name": "up{at}", "from": "r{at}", "to": "core", "bandwidth": "{bandwidth}00 Mbps", "latency": "1 us" }}"#
        )
    };
    let clusters: Vec<_> = speeds.iter().enumerate().map(cluster).collect();
    let links: Vec<_> = (0..speeds.len()).map(link).collect();
    let text = format!(
        r#"{{ "schema": "migsim-platform-1", "name": "twelve", "clusters": [{}], "links": [{}] }}"#,
        clusters.join(","),
        links.join(",")
    );
    migsim_platform::from_json("twelve", &text)
        .unwrap()
        .platform
}

/// Options that affect PM(i,j).
fn any_config() -> impl Strategy<Value = MigBspConfig> {
    let set_index = prop::sample::select(vec![
        SetIndex::MeanClock,
        SetIndex::MeanFreePower,
        SetIndex::BestFreeHost,
        SetIndex::BestHost,
        SetIndex::FreePowerSum,
    ]);
    let index_form = prop::sample::select(vec![IndexForm::OfBest, IndexForm::GainOverSource]);
    let own = prop::sample::select(vec![
        OwnCluster::Excluded,
        OwnCluster::Competes,
        OwnCluster::Within,
    ]);
    let origin = prop::sample::select(vec![MemoryOrigin::Present, MemoryOrigin::Initial]);
    let rate = prop::sample::select(vec![MemoryRate::Managers, MemoryRate::Backbone]);
    (set_index, index_form, own, origin, rate, any::<bool>()).prop_map(
        |(set_index, index_form, own_cluster, memory_origin, memory_rate, memory_transfer)| {
            MigBspConfig {
                set_index,
                index_form,
                memory_transfer,
                memory_rate,
                memory_origin,
                own_cluster,
                ..MigBspConfig::default()
            }
        },
    )
}

proptest! {
    #[test]
    fn the_best_is_found_without_visiting_all(
        config in any_config(),
        speeds in prop::collection::vec(1_u32..4, 12),
        places in prop::collection::vec((0_u32..36, 0_u32..36), 1..9),
        work in prop::collection::vec(prop::sample::select(vec![0.0, 1e-3, 1.0]), 27),
        messages in prop::collection::vec((0_usize..3, 0_usize..9, 0_usize..12, 0.0..0.2), 0..30),
        load in prop::collection::vec(prop::sample::select(vec![0.0, 0.25, 1.0]).prop_map(ExternalLoad::reserved), 36),
    ) {
        let platform = twelve(&speeds);
        let count = places.len();
        let memory = vec![Bytes::of(1e6); count];
        let mut placement: Vec<HostId> = places.iter().map(|place| HostId(place.0)).collect();
        let mut forecasts = Forecasts::default();
        let mut occupancy = vec![0; platform.hosts.len()];
        let mut measures = Measures::default();
        for superstep in 0..3 {
            measures.clear(count);
            for process in 0..count {
                measures.work[process] = Instructions::of(work[3 * process + superstep] * 1e9);
                measures.computation_times[process] = Seconds::of(work[3 * process + superstep]);
            }
            for &(at, process, cluster, time) in &messages {
                if at == superstep && process < count {
                    let with = measures.traffic_mut(process, cluster);
                    (with.sent_bytes, with.send_time) = (Bytes::of(1e3), Seconds::of(time));
                }
            }
            let view = View { process_memory: &memory, external_load: &load, ..test_view(&platform, &placement, &measures) };
            forecasts.observe(&config, 4, &view);
        }
        for (process, place) in places.iter().enumerate() {
            placement[process] = HostId(place.1);
            occupancy[place.1 as usize] += 1;
        }
        let view = View { process_memory: &memory, external_load: &load, ..test_view(&platform, &placement, &measures) };
        let all = PotentialComputation::new(&config, 1.0, &forecasts, &occupancy, &view);
        let every: Vec<MigrationPotential> = (0..count).flat_map(|process| all.potentials_of_process(process)).collect();
        let mut best = all.best_potentials();
        best.sort_by_key(|potential| potential.process_number);
        prop_assert_eq!(best, highest_potentials(&every));
    }
}
