//! Tests of the viability of migrations, worked out by hand.

use super::*;
use crate::{
    Decision, ExternalLoad, Measures, Policy, migbsp::config::CommunicationTime, testing::test_view,
};
use migsim_base::{
    error::Error,
    random::Stream,
    units::{Bytes, Instructions, InstructionsPerSecond},
};
use migsim_bsp::{Costs, Plan, RuntimeConfig, Scenario, SendOrder, Setup, Workload, simulate};
use migsim_platform::Platform;

#[test]
fn a_reservation_moves_with_its_process() {
    let platform = migsim_platform::open("lbm").unwrap().platform;
    let (from, to) = (HostId(0), HostId(3));
    let mut measures = Measures::default();
    measures.clear(2);
    measures.work.fill(Instructions::of(1e6));
    let placement = [from, from];
    let memory = [30.0, 4.0].map(Bytes::of);
    let view = View {
        process_memory: &memory,
        ..test_view(&platform, &placement, &measures)
    };
    let config = MigBspConfig::default();
    let mut forecasts = Forecasts::default();
    forecasts.observe(&config, 4, &view);
    let mut reservations = Reservations::new(&forecasts, &view);
    let on = |all: &Reservations, host: HostId| {
        let at = host.index();
        let counts = (all.process_counts[at], all.active_process_counts[at]);
        (counts, all.used_memory[at])
    };
    assert_eq!(on(&reservations, from), ((2, 2), 34.0));
    reservations.move_process(0, [from, to], &forecasts, &view);
    assert_eq!(on(&reservations, from), ((1, 1), 4.0));
    assert_eq!(on(&reservations, to), ((1, 1), 30.0));
    assert_eq!(reservations.process_counts_before_call[from.index()], 2);
}

/// Calls `look` with a call with these options, in which processes are on the named hosts of `lbm` and each has computed 1e6 instructions
/// in 1 ms; `change` is made to the platform before.
fn in_a_call(
    config: &MigBspConfig,
    names: &[&str],
    change: impl FnOnce(&mut Platform, &mut [ExternalLoad]),
    look: impl FnOnce(&ViabilityTest<'_>, &mut Reservations, &dyn Fn(&str) -> HostId),
) {
    let mut platform = migsim_platform::open("lbm").unwrap().platform;
    let mut load = vec![ExternalLoad::default(); platform.hosts.len()];
    change(&mut platform, &mut load);
    let host = |name: &str| platform.host_named(name).unwrap();
    let mut measures = Measures::default();
    measures.clear(names.len());
    measures.work.fill(Instructions::of(1e6));
    measures.computation_times.fill(Seconds::of(1e-3));
    // From cluster a three messages without a byte came.
    measures.traffic_mut(0, 1).receive_time = Seconds::of(0.2);
    measures.traffic_mut(0, 1).received_messages = 3;
    let placement: Vec<HostId> = names.iter().map(|name| host(name)).collect();
    let view = View {
        external_load: &load,
        ..test_view(&platform, &placement, &measures)
    };
    let mut forecasts = Forecasts::default();
    forecasts.observe(config, 4, &view);
    let mut reservations = Reservations::new(&forecasts, &view);
    let occupancy = reservations.resident_counts(config);
    let call = ViabilityTest {
        config,
        forecasts: &forecasts,
        view: &view,
        horizon_supersteps: 10.0,
        candidates: &[],
        potentials: &PotentialComputation::new(config, 10.0, &forecasts, &occupancy, &view),
    };
    look(&call, &mut reservations, &host);
}

/// PM(1,j) of `cluster`, as a candidate has it.
fn candidate(cluster: usize) -> MigrationPotential {
    MigrationPotential {
        cluster_number: u32::try_from(cluster).unwrap(),
        computation_term: 1.0,
        ..MigrationPotential::default()
    }
}

const A: usize = 1;

#[test]
fn who_would_be_as_fast_elsewhere_stays() {
    // 10 · 1e6 / 1e9 s, where p1 is (as measured) and on a, which is empty or has p2.
    let config = MigBspConfig {
        viability_transfer: false,
        ..MigBspConfig::default()
    };
    for (second, reason) in [
        ("n-0", "not viable: t1 <= t2"),
        ("a-0", "not viable: t1 <= t2 on a host shared with 1"),
    ] {
        let alone = |platform: &mut Platform, _: &mut [ExternalLoad]| {
            let hosts = &mut platform.clusters[A].hosts;
            hosts.end = hosts.start + 1;
        };
        in_a_call(
            &config,
            &["lan-0", second],
            alone,
            |call, reservations, host| {
                let (record, _) = call.judge_candidate(&candidate(A), reservations);
                assert_eq!((record.accepted, &*record.reason), (false, reason));
                assert_eq!(record.to, Some(host("a-0")));
                assert_eq!(record.stay, Some(Seconds::of(0.01)));
            },
        );
    }
}

#[test]
fn the_host_that_has_most_left_is_offered_by_all_that_could_take_the_process() {
    // a-0 has 2 GHz, but three quarters of it are taken; the five others have 1 GHz.
    let config = MigBspConfig::default();
    let load = |platform: &mut Platform, load: &mut [ExternalLoad]| {
        let at = platform.host_named("a-0").unwrap().index();
        let two = InstructionsPerSecond::new(2e9).unwrap();
        (platform.hosts[at].speed, load[at]) = (two, ExternalLoad::reserved(0.75));
    };
    in_a_call(&config, &["lan-0"], load, |call, reservations, host| {
        let offer = call.best_host_offer(0, A, reservations).unwrap();
        let found = (offer.host, offer.remaining_power, offer.free_host_count);
        assert_eq!(found, (host("a-1"), 1e9, 6));
    });
}

#[test]
fn a_crowd_is_as_slow_as_processes_are_many_for_each_core() {
    let two = |platform: &mut Platform, _: &mut [ExternalLoad]| {
        platform.hosts[0].cores = 2;
    };
    in_a_call(&MigBspConfig::default(), &["lan-0"], two, |call, _, _| {
        let slowdowns = [1, 2, 3, 4].map(|processes| call.sharing_slowdown(0, processes));
        assert_eq!(slowdowns, [1.0, 1.0, 1.5, 2.0]);
    });
}

#[test]
fn each_message_without_a_byte_takes_its_latency() {
    let far = |platform: &mut Platform, _: &mut [ExternalLoad]| {
        let links = platform.links.iter_mut();
        links.for_each(|link| link.latency = Seconds::of(1.0));
    };
    // From a to n: the medium of a and the link of n; from a to a: its medium. Three messages.
    for (to, expected) in [("n-0", 6.0), ("a-0", 3.0)] {
        in_a_call(
            &MigBspConfig::default(),
            &["lan-0"],
            far,
            |call, _, host| {
                assert_eq!(
                    call.uncontended_communication_times(0, host(to)),
                    (0.2, expected)
                );
            },
        );
    }
}

/// An application in which process 0 gets two messages from process 1 of its cluster and one from process 2 of another cluster, of these
/// sizes, one after the other.
#[derive(Debug)]
struct Three([f64; 3]);

impl Workload for Three {
    fn processes(&self) -> usize {
        3
    }

    fn supersteps(&self) -> usize {
        3
    }

    fn fill(&self, superstep: usize, plan: &mut Plan) {
        plan.work.fill(Instructions::of(1e9));
        // Process 2 is late, so that its message shares no link.
        plan.work[2] = Instructions::of(1e11);
        for (from, size) in [1, 1, 2].into_iter().zip(self.0) {
            // The sizes grow with each superstep, so that ageing has an effect.
            plan.send(from, 0, Bytes::of(size * (superstep + 1) as f64));
        }
    }

    fn memory(&self, _process: ProcessId) -> Bytes {
        Bytes::default()
    }
}

/// A policy that compares the predicted communication of process 0 without a move with the measured one, after each superstep.
#[derive(Debug)]
struct Stay(MigBspConfig, Forecasts);

impl Policy for Stay {
    fn is_call_due(&mut self, view: &View<'_>) -> bool {
        let Self(config, forecasts) = self;
        forecasts.observe(config, 4, view);
        let mut reservations = Reservations::new(forecasts, view);
        let potentials = PotentialComputation::new(config, 1.0, forecasts, &[0; 31], view);
        let call = ViabilityTest {
            config,
            forecasts,
            view,
            horizon_supersteps: 1.0,
            candidates: &[],
            potentials: &potentials,
        };
        reservations.remove_process(0, view.placement[0], forecasts, view);
        let offer = HostOffer {
            host: view.placement[0],
            remaining_power: 1e9,
            free_host_count: 1,
        };
        let weighing = call.predict_times(0, offer, 0, &reservations);
        let [stay, go] = weighing.sums();
        assert!(weighing.stay_communication_s > 0.0);
        let off = (stay.get() - go.get()).abs();
        assert!(off < 1e-12 * stay.get(), "{stay:?} {go:?}");
        false
    }

    fn decide(&mut self, _view: &View<'_>, _random: &mut Stream) -> Result<Decision, Error> {
        Ok(Decision::default())
    }
}

#[test]
fn a_process_that_stays_has_t2_equal_to_t1() {
    let mut platform = migsim_platform::open("lbm").unwrap().platform;
    let links = platform.links.iter_mut();
    links.for_each(|link| link.latency = Seconds::of(0.3));
    let host = |name: &str| platform.host_named(name).unwrap();
    let placement = ["n-0", "n-1", "a-0"].map(host);
    let models = migsim_engine::PRESETS.iter();
    let models = models.filter(|preset| ["cm02", "ideal", "simgrid-3.4"].contains(&preset.name));
    for (preset, sizes) in models.flat_map(|preset| [(preset, [0.0; 3]), (preset, [1e6; 3])]) {
        let setup = Setup {
            platform: &platform,
            network: preset.model,
            workload: &Three(sizes),
            placement: &placement,
            runtime: RuntimeConfig {
                sends: SendOrder::Sequential,
                ..RuntimeConfig::default()
            },
            costs: Costs::default(),
            view: migsim_bsp::ViewConfig::default(),
            scenario: Scenario::Ii,
            seed: 1,
            memo: None,
        };
        for communication_time in [CommunicationTime::Larger, CommunicationTime::Received] {
            let config = MigBspConfig {
                communication_time,
                viability_communication: ViabilityCommunication::Uncontended,
                viability_transfer: false,
                ..MigBspConfig::default()
            };
            let policy = Box::new(Stay(config, Forecasts::default()));
            let outcome = simulate(&setup, policy, &mut ()).unwrap();
            assert_eq!(outcome.supersteps.len(), 3);
        }
    }
}
