//! Benchmarks of parts of the engine: the event queue, and flows that share links, solved as they start and end.

use divan::{Bencher, black_box, counter::ItemsCount};
use migsim::engine::{EventQueue, PRESETS, Simulation};
use migsim::units::{Bytes, HostId};
use migsim_benches::{experiment, platform};
use serde_json::json;

fn main() {
    divan::main();
}

/// Returns a pseudo-random number from 0 to 1.
fn scattered(index: usize) -> f64 {
    (index as f64 * 0.618_033_988_749_895).fract()
}

/// Removes one event and adds another, with `waiting` events in the queue.
#[divan::bench(args = [10, 100, 1_000, 10_000, 100_000])]
fn queue(bencher: Bencher, waiting: usize) {
    let mut queue = EventQueue::new();
    for index in 0..waiting {
        queue.push(scattered(index), index);
    }
    let mut count = waiting;
    bencher.bench_local(move || {
        let (date, event) = queue.pop().expect("the queue is never empty");
        count += 1;
        queue.push(date + scattered(count), event);
        black_box(event)
    });
}

/// Solves `flows` flows of different sizes that start together between hosts of one cluster, up to the last end: each end changes the rates
/// of other flows. Every host sends and receives `flows / hosts` of them.
#[divan::bench(args = [10, 100, 1_000, 3_000])]
fn coupled_flows(bencher: Bencher, flows: usize) {
    let experiment = experiment(json!({
        "workload.app": "synthetic",
        "workload.procs": 1,
        "platform": platform("one-cluster-1000"),
    }));
    let machine = &experiment.platform.platform;
    let hosts = (flows / 3).max(2);
    let cm02 = PRESETS
        .iter()
        .find(|preset| preset.name == "cm02")
        .expect("a preset");
    bencher.counter(ItemsCount::new(flows)).bench_local(|| {
        let mut simulation = Simulation::new(machine, cm02.model);
        for flow in 0..flows {
            let from = flow % hosts;
            let far = 1 + (scattered(flow) * (hosts - 1) as f64) as usize;
            let size = Bytes::new(1e6 + 1e7 * scattered(7 * flow)).expect("a size");
            let (from, to) = (
                HostId::from_index(from),
                HostId::from_index((from + far) % hosts),
            );
            simulation.send(from, to, size, flow).expect("a route");
        }
        let mut last = 0;
        while let Some(flow) = simulation.next_ended().expect("every flow ends") {
            last = flow;
        }
        last
    });
}
