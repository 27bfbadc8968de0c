//! The papers on Smith-Waterman (da Rosa Righi et al.): what `migsim reproduce` does not judge.
//!
//! Of the paper on dynamic platforms only the dates of the calls are here.

use std::path::Path;

use migsim::experiment::{Experiment, Flag, Layers, Limits, Progress};
use migsim::paper::{Facts, find};

/// The calls of the paper on dynamic platforms (Righi et al.): n, α, after which supersteps. The first calls of 200 processes come every
/// four supersteps, so that supersteps are unstable there in which processes compute equally long.
const CHAINS: [(u64, u64, &[usize]); 6] = [
    (10, 4, &[4, 12]),
    (25, 4, &[4, 12, 28]),
    (50, 4, &[4, 12, 28, 60]),
    (100, 4, &[4, 10, 22, 46, 94, 190]),
    (100, 16, &[16, 46, 106]),
    (200, 4, &[4, 8, 12, 16, 20, 28, 44, 76, 140, 268]),
];

/// Fitted to the six chains together (148 to 150 us are possible): what process 1 pays for each process at the barrier. Messages cost
/// nothing here, nothing moves and D does not grow; the times of that paper are not reproduced.
const ROOT_PAYS: &str = "149 us";

#[test]
fn a_barrier_that_process_1_pays_for_gives_all_calls_of_the_paper_on_dynamic_platforms() {
    for (n, alpha, published) in CHAINS {
        let flag = |key: &str, value: serde_json::Value| Flag {
            key: key.into(),
            flag: key.into(),
            value,
        };
        let mut layers = Layers::default();
        layers.push_flags(vec![
            flag("workload.app", "sw".into()),
            flag("workload.n", n.into()),
            flag("workload.cycles_per_instruction", 2.into()),
            flag("network.model", "ideal".into()),
            flag("network.bandwidth_factor", 1e9.into()),
            flag("runtime.barrier.kind", "root-serial".into()),
            flag("runtime.barrier.per_process", ROOT_PAYS.into()),
            flag("policy.migbsp.alpha", alpha.into()),
            flag("policy.migbsp.d_factor", 1.into()),
            flag("scenarios", serde_json::json!(["ii"])),
        ]);
        let experiment = Experiment::load(&layers, Limits::default()).expect("it is built in");
        let results = experiment.run(&Progress::default()).expect("it runs");
        let calls = &results.runs[0].outcome.calls;
        let found: Vec<usize> = calls.iter().map(|call| call.superstep + 1).collect();
        assert_eq!(found[..published.len()], *published, "{n}, α = {alpha}");
    }
}

#[test]
fn no_published_time_reaches_the_simulator() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let paper = find("sw-irregular").expect("it is a paper");
    let facts = Facts::parse(paper.name, paper.facts).expect("they are its facts");
    let published: Vec<String> = facts
        .tables
        .iter()
        .map(|cell| format!("{:.2}", cell.seconds))
        .collect();
    for name in [
        "src/workload/sw.rs",
        "workloads/sw.json",
        "platforms/ufrgs-sw.json",
    ] {
        let text = std::fs::read_to_string(root.join(name)).expect("it is there");
        for time in &published {
            assert!(!text.contains(time.as_str()), "{time} in {name}");
        }
    }
}
