//! No superstep allocates memory after the largest one: a run with twice as many supersteps makes the same number of allocations.

use migsim::{
    bsp::{
        BarrierConfig, BarrierKind, GatherOrder, ReleaseOrder, RuntimeConfig, Scenario, SendOrder,
        TransferStart,
    },
    engine::NetworkModel,
    policy::{MigBsp2007, MigBsp2007Config},
    units::{Bytes, ProcessId},
    workload::{
        Plan, Workload,
        lu::{Lu, LuConfig},
    },
};

use crate::support::{Case, Plans, Wire, bytes, machine, plan, seconds};

/// A workload that repeats the first supersteps of another one.
#[derive(Debug)]
struct Again<'a> {
    workload: &'a dyn Workload,
    period: usize,
    times: usize,
}

impl Workload for Again<'_> {
    fn processes(&self) -> usize {
        self.workload.processes()
    }

    fn supersteps(&self) -> usize {
        self.period * self.times
    }

    fn fill(&self, superstep: usize, plan: &mut Plan) {
        self.workload.fill(superstep % self.period, plan);
    }

    fn memory(&self, process: ProcessId) -> Bytes {
        self.workload.memory(process)
    }
}

const BARRIERS: [BarrierKind; 9] = [
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

/// Fails if the second half of a run allocates memory, for each barrier.
fn assert_steady(
    workload: &dyn Workload,
    period: usize,
    sends: SendOrder,
    receives: TransferStart,
    network: NetworkModel,
) {
    let speeds = [&[1.5e9; 5][..], &[1e9; 5], &[2e9; 15]];
    let platform = machine(&speeds, Wire(1e7, 1e-4), Wire(5e6, 1e-3));
    let processes = u32::try_from(workload.processes()).expect("a few");
    for kind in BARRIERS {
        let count = |times| {
            let again = Again {
                workload,
                period,
                times,
            };
            let runtime = RuntimeConfig {
                sends,
                receives,
                barrier: BarrierConfig {
                    kind,
                    bytes: bytes(8.0),
                    gather: GatherOrder::Arrival,
                    release: ReleaseOrder::Sequential,
                    per_process: seconds(0.001),
                    ..BarrierConfig::default()
                },
                ..RuntimeConfig::default()
            };
            let hosts = (0..processes).map(|process| process % 25);
            let case = Case {
                network,
                runtime,
                ..Case::new(&platform, &again, hosts)
            };
            let mut hash = String::new();
            let counted = allocation_counter::measure(|| hash = case.run().event_hash);
            counted.count_total - allocations_of_hash(&hash)
        };
        assert_eq!(count(4), count(8), "{kind:?}");
    }
}

/// Counts how often the text of a hash grows while it is written, because leading zeros are written one by one.
fn allocations_of_hash(hash: &str) -> u64 {
    struct Lanes(u64, u64);
    impl std::fmt::Display for Lanes {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "{:016x}{:016x}", self.0, self.1)
        }
    }
    let (first, second) = hash.split_at(16);
    let lane = |digits| u64::from_str_radix(digits, 16).expect("hexadecimal digits");
    let lanes = Lanes(lane(first), lane(second));
    let mut text = String::new();
    let counted = allocation_counter::measure(|| text = lanes.to_string());
    assert_eq!(text, hash);
    counted.count_total
}

fn lu(element: f64) -> Lu {
    Lu::new(&LuConfig {
        bytes_per_element: bytes(element),
        ..LuConfig::new(200, 25)
    })
    .expect("a configuration that fits")
}

#[test]
fn lu_with_sequential_sends_and_empty_messages_is_steady() {
    for receives in [TransferStart::Early, TransferStart::Late] {
        let sends = SendOrder::Sequential;
        assert_steady(&lu(0.0), 401, sends, receives, NetworkModel::default());
    }
}

#[test]
fn lu_with_concurrent_sends_that_share_links_is_steady() {
    let (sends, receives) = (SendOrder::Concurrent, TransferStart::Early);
    assert_steady(&lu(8.0), 61, sends, receives, NetworkModel::default());
}

#[test]
fn messages_of_all_to_some_are_steady_with_late_receives_and_cross_traffic() {
    // 30 processes are on 25 hosts; process i sends to i+1, 3i and 7i+2, in another order in each of five supersteps.
    let superstep = |round: u32| {
        let work: Vec<f64> = (0..30_u32)
            .map(|process| f64::from((process * 7 + round * 11) % 13) * 1e6)
            .collect();
        let targets = |process: u32| [process + 1, 3 * process, 7 * process + 2];
        let messages: Vec<(u32, u32, f64)> = (0..30)
            .flat_map(|process| targets(process).map(|to| (process, (to + round) % 30)))
            .map(|(from, to)| (from, to, f64::from(1000 * (to % 5) + 100 * round)))
            .collect();
        plan(&work, &messages)
    };
    let plans = Plans::new((0..5).map(superstep).collect());
    let lv08 = NetworkModel::preset("lv08").expect("a preset");
    assert_steady(&plans, 5, SendOrder::Concurrent, TransferStart::Late, lv08);
}

#[test]
fn a_policy_that_watches_is_steady_between_its_calls() {
    // The only call would come after more supersteps than there are.
    let platform = machine(&[&[1.5e9; 5], &[2e9; 20]], Wire(1e7, 1e-4), Wire(5e6, 1e-3));
    let lu = lu(8.0);
    let config = MigBsp2007Config {
        alpha: u32::MAX,
        load_window: seconds(0.01),
        ..MigBsp2007Config::default()
    };
    let count = |times| {
        let again = Again {
            workload: &lu,
            period: 61,
            times,
        };
        let case = Case {
            scenario: Scenario::Iii,
            ..Case::new(&platform, &again, 0..25)
        };
        let policy = MigBsp2007::new(config.clone()).expect("options in range");
        let mut hash = String::new();
        let counted = allocation_counter::measure(|| {
            hash = case.run_with(policy).expect("the run ends").event_hash;
        });
        counted.count_total - allocations_of_hash(&hash)
    };
    assert_eq!(count(4), count(8));
}
