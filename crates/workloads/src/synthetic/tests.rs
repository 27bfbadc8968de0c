//! Tests of synthetic workloads: patterns, draws, drift, and errors.

use super::*;
use migsim_base::error::Error;

fn plan(config: &SyntheticConfig, superstep: usize) -> Plan {
    let synthetic = Synthetic::new(config).unwrap();
    let mut plan = Plan::default();
    plan.clear(synthetic.processes());
    synthetic.fill(superstep, &mut plan);
    assert_eq!(plan.messages.len() as u64, config.generated_message_count());
    plan
}

fn pairs(procs: u64, pattern: CommunicationPattern) -> Vec<(u32, u32)> {
    let config = SyntheticConfig {
        pattern,
        ..SyntheticConfig::new(procs)
    };
    let messages = plan(&config, 0).messages;
    messages
        .iter()
        .map(|message| (message.from.0, message.to.0))
        .collect()
}

#[test]
fn patterns_are_those_of_the_table() {
    assert_eq!(pairs(3, CommunicationPattern::None), []);
    assert_eq!(pairs(3, CommunicationPattern::Line), [(0, 1), (1, 2)]);
    assert_eq!(
        pairs(3, CommunicationPattern::Ring),
        [(0, 1), (1, 2), (2, 0)]
    );
    let all = [(0, 1), (0, 2), (1, 2), (1, 0), (2, 0), (2, 1)];
    assert_eq!(pairs(3, CommunicationPattern::AllToAll), all);
    // 0 1 2
    // 3 4 5
    let stencil = pairs(6, CommunicationPattern::Stencil);
    let of = |rank| {
        stencil
            .iter()
            .filter(|pair| pair.0 == rank)
            .map(|pair| pair.1)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (of(0), of(1), of(5)),
        (vec![1, 3], vec![0, 2, 4], vec![2, 4])
    );
    for pattern in [
        CommunicationPattern::None,
        CommunicationPattern::Line,
        CommunicationPattern::Ring,
        CommunicationPattern::Stencil,
        CommunicationPattern::AllToAll,
    ] {
        assert_eq!(pairs(1, pattern), []);
    }
}

#[test]
fn a_superstep_repeats_the_previous_one_if_work_is_drawn_once_and_does_not_drift() {
    let plain = SyntheticConfig {
        random_messages: 0,
        ..SyntheticConfig::new(20)
    };
    let repeats = |config: &SyntheticConfig| {
        let synthetic = Synthetic::new(config).unwrap();
        assert!(!synthetic.repeats(0));
        let is_equal = plan(config, 3) == plan(config, 4);
        assert_eq!(synthetic.repeats(4), is_equal);
        is_equal
    };
    let spread = SyntheticConfig {
        spread: 0.5,
        ..plain.clone()
    };
    let redrawn = SyntheticConfig {
        draw: DrawFrequency::EachSuperstep,
        ..spread.clone()
    };
    let drift = SyntheticConfig {
        drift: 0.5,
        ..plain.clone()
    };
    let random = SyntheticConfig {
        random_messages: 1,
        ..plain.clone()
    };
    let sizes = SyntheticConfig {
        bytes_spread: 0.5,
        ..plain.clone()
    };
    assert!(repeats(&plain) && repeats(&spread));
    assert!(![redrawn, drift, random, sizes].iter().any(repeats));
}

#[test]
fn work_stays_within_its_spread_and_has_the_mean_that_was_asked_for() {
    for distribution in [
        WorkDistribution::Uniform,
        WorkDistribution::Linear,
        WorkDistribution::Bimodal,
    ] {
        let config = SyntheticConfig {
            distribution,
            spread: 0.5,
            ..SyntheticConfig::new(10_000)
        };
        let work: Vec<f64> = plan(&config, 4)
            .work
            .iter()
            .map(|work| work.get())
            .collect();
        assert!(work.iter().all(|work| (0.5e9..=1.5e9).contains(work)));
        let mean = work.iter().sum::<f64>() / 1e4;
        // Four standard deviations of the mean of 10 000 values that differ by at most 0.5e9 from their mean.
        assert!((mean - 1e9).abs() <= 4.0 * 0.5e9 / 100.0, "{mean}");
    }
    let linear = SyntheticConfig {
        distribution: WorkDistribution::Linear,
        spread: 0.5,
        ..SyntheticConfig::new(3)
    };
    assert_eq!(
        plan(&linear, 0)
            .work
            .iter()
            .map(|work| work.get())
            .collect::<Vec<_>>(),
        [0.5e9, 1e9, 1.5e9]
    );
}

#[test]
fn work_is_drawn_once_or_in_each_superstep_and_drifts_from_the_first_to_the_last() {
    let once = SyntheticConfig {
        spread: 0.5,
        ..SyntheticConfig::new(20)
    };
    assert_eq!(plan(&once, 0).work, plan(&once, 9).work);
    let redrawn = SyntheticConfig {
        draw: DrawFrequency::EachSuperstep,
        ..once.clone()
    };
    assert_ne!(plan(&redrawn, 0).work, plan(&redrawn, 1).work);
    assert_eq!(plan(&redrawn, 7), plan(&redrawn, 7));
    let drifting = SyntheticConfig {
        drift: 0.2,
        ..SyntheticConfig::new(20)
    };
    let change = |superstep| {
        plan(&drifting, superstep)
            .work
            .iter()
            .map(|work| work.get() - 1e9)
            .collect::<Vec<_>>()
    };
    assert!(change(0).iter().all(|change| *change == 0.0));
    assert!(
        change(9)
            .iter()
            .all(|change| change.abs() <= 0.2e9 && *change != 0.0)
    );
    let single = SyntheticConfig {
        supersteps: 1,
        ..drifting
    };
    assert!(plan(&single, 0).work.iter().all(|work| work.get() == 1e9));
}

#[test]
fn random_messages_go_to_others_in_whole_bytes_and_differ_between_supersteps_and_seeds() {
    let config = SyntheticConfig {
        pattern: CommunicationPattern::None,
        random_messages: 3,
        bytes_spread: 0.5,
        ..SyntheticConfig::new(50)
    };
    let messages = plan(&config, 2).messages;
    assert!(messages.iter().all(|message| message.from != message.to
        && (25e4..=75e4).contains(&message.size.get())
        && message.size.get().fract() == 0.0));
    assert_ne!(messages, plan(&config, 3).messages);
    assert_ne!(
        messages,
        plan(&SyntheticConfig { seed: 2, ..config }, 2).messages
    );
}

#[test]
fn memory_differs_in_whole_bytes_and_is_the_same_for_all_without_a_spread() {
    let memory = |config: &SyntheticConfig| -> Vec<f64> {
        let synthetic = Synthetic::new(config).unwrap();
        let of = |process| synthetic.memory(ProcessId::from_index(process)).get();
        (0..synthetic.processes()).map(of).collect()
    };
    let plain = SyntheticConfig::new(1000);
    assert!(memory(&plain).iter().all(|&own| own == 500e3));
    let spread = SyntheticConfig {
        memory_spread: 0.5,
        ..plain.clone()
    };
    let own = memory(&spread);
    let is_within = |own: &f64| (25e4..=75e4).contains(own) && own.fract() == 0.0;
    assert!(own.iter().all(is_within) && own[0] != own[1]);
    // Drawing the memory changes no other draw.
    let drawn = |config: &SyntheticConfig| {
        let config = SyntheticConfig {
            spread: 0.5,
            drift: 0.5,
            random_messages: 1,
            ..config.clone()
        };
        plan(&config, 3)
    };
    assert_eq!(drawn(&plain), drawn(&spread));
    assert!(Synthetic::new(&spread).unwrap().uses_seed());
}

#[test]
fn a_hot_spot_goes_round_all_processes() {
    let hot = |width: f64, rounds: f64| SyntheticConfig {
        hot_spot: HotSpot {
            factor: 4.0,
            width,
            rounds,
        },
        ..SyntheticConfig::new(10)
    };
    let covered = |config: &SyntheticConfig, superstep: usize| -> Vec<usize> {
        let work = plan(config, superstep).work;
        let expected = [1e9, 4e9];
        assert!(work.iter().all(|work| expected.contains(&work.get())));
        (0..10)
            .filter(|&process| work[process].get() > 1e9)
            .collect()
    };
    // 10 supersteps, 10 processes: the group moves by one process in each superstep.
    let once = hot(0.25, 1.0);
    assert_eq!(covered(&once, 0), [0, 1]);
    assert_eq!(covered(&once, 4), [4, 5]);
    assert_eq!(covered(&once, 9), [0, 9]);
    assert_eq!(covered(&hot(0.0, 2.0), 7), [4]);
    assert_eq!(covered(&hot(1.0, 1.0), 3).len(), 10);
    let still = hot(0.1, 0.0);
    assert_eq!(covered(&still, 9), [0]);
    let repeats = |config: &SyntheticConfig| Synthetic::new(config).unwrap().repeats(4);
    assert!(repeats(&still) && !repeats(&once));
}

#[test]
fn the_messages_of_a_file_stand_in_place_of_the_pattern() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("m.csv");
    std::fs::write(&file, "from,to,bytes\np3,p1,7\n").unwrap();
    let config = SyntheticConfig {
        messages: Some(file.display().to_string()),
        pattern: CommunicationPattern::AllToAll,
        ..SyntheticConfig::new(3)
    };
    let (synthetic, sha256) = Synthetic::new_with_file_hash(&config).unwrap();
    assert_eq!(sha256.map(|text| text.len()), Some(64));
    let mut filled = Plan::default();
    filled.clear(3);
    synthetic.fill(5, &mut filled);
    let expected = Message {
        from: ProcessId(2),
        to: ProcessId(0),
        size: Bytes::of(7.0),
    };
    assert_eq!(filled.messages, [expected]);
    assert!(synthetic.repeats(5) && synthetic.extent().max_messages == 1.0);
}

#[test]
fn work_holds_and_phases_take_turns() {
    let config = SyntheticConfig {
        supersteps: 40,
        spread: 0.5,
        draw: DrawFrequency::EachSuperstep,
        hold: 5,
        phases: 2,
        pattern: CommunicationPattern::None,
        ..SyntheticConfig::new(6)
    };
    let synthetic = Synthetic::new(&config).unwrap();
    let work = |superstep: usize| {
        let mut plan = Plan::default();
        plan.clear(6);
        synthetic.fill(superstep, &mut plan);
        plan.work
    };
    assert_eq!(work(5), work(9));
    assert_eq!(work(0), work(14));
    assert_ne!(work(4), work(5));
    assert!(synthetic.repeats(4) && !synthetic.repeats(5));
}

#[test]
fn neighbours_of_a_graph_send_to_each_other_in_all_supersteps() {
    let config = SyntheticConfig {
        pattern: CommunicationPattern::Graph,
        bytes_spread: 0.5,
        ..SyntheticConfig::new(50)
    };
    let synthetic = Synthetic::new(&config).unwrap();
    let messages = |superstep: usize| {
        let mut plan = Plan::default();
        plan.clear(50);
        synthetic.fill(superstep, &mut plan);
        plan.messages
    };
    let first = messages(0);
    assert_eq!(first, messages(3));
    assert!(synthetic.repeats(3) && synthetic.uses_seed());
    assert_eq!(first.len(), 2 * 3 * 50);
    for one in &first {
        let is_back = |other: &&Message| (other.from, other.to) == (one.to, one.from);
        assert!(first.iter().any(|other| is_back(&other)));
    }
}

#[test]
fn values_out_of_range_are_named_together() {
    let config = SyntheticConfig {
        supersteps: 0,
        spread: 1.5,
        drift: f64::NAN,
        bytes_spread: -0.1,
        memory_spread: 2.0,
        hot_spot: HotSpot {
            factor: 0.5,
            width: 1.5,
            rounds: -1.0,
        },
        ..SyntheticConfig::new(0)
    };
    let Err(Error::Input(problems)) = Synthetic::new(&config) else {
        panic!("accepted");
    };
    let keys: Vec<_> = problems
        .iter()
        .map(|problem| problem.location.key.as_deref().unwrap())
        .collect();
    assert_eq!(
        keys,
        [
            "workload.procs",
            "workload.supersteps",
            "workload.spread",
            "workload.drift",
            "workload.bytes_spread",
            "workload.memory_spread",
            "workload.hot_spot.factor",
            "workload.hot_spot.width",
            "workload.hot_spot.rounds"
        ]
    );
    let too_many = SyntheticConfig {
        pattern: CommunicationPattern::AllToAll,
        ..SyntheticConfig::new(1_000_000)
    };
    assert!(Synthetic::new(&too_many).is_err());
}
