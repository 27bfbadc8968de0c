//! Tests of the critical path of drawn runs.

use super::*;
use crate::{Layers, Limits, ReschedulingPlan};
use migsim_base::random::{Stream, StreamPurpose};
use serde_json::{Value, json};

fn one<T: Clone>(random: &mut Stream, values: &[T]) -> T {
    values[random.draw_below(values.len())].clone()
}

/// Draws the settings under which processes, messages, calls and moves share resources.
fn share(settings: &mut Vec<(&str, Value)>, random: &mut Stream) {
    let barriers = [
        "ideal",
        "central",
        "sequential",
        "tree",
        "dissemination",
        "recursive-doubling",
        "none",
        "root-serial",
        "released-by-first",
        "double-ring",
    ];
    settings.push(("runtime.barrier.kind", one(random, &barriers).into()));
    settings.push((
        "runtime.receives",
        one(
            random,
            &[
                json!("early"),
                json!("late"),
                json!({ "late_above": "100 kB" }),
            ],
        ),
    ));
    settings.push(("runtime.sends", "concurrent".into()));
    settings.push((
        "network.model",
        one(random, &["cm02", "lv08", "ideal"]).into(),
    ));
    settings.push(("network.overhead", one(random, &["0 s", "5 us"]).into()));
    for key in ["network.o_send", "network.o_receive"] {
        settings.push((key, one(random, &["0 s", "20 us + 1 ns/B"]).into()));
    }
    settings.push((
        "mapping",
        one(random, &["contiguous", "round-robin", "by-speed"]).into(),
    ));
    settings.push(("costs.move.fixed", one(random, &["0 s", "20 ms"]).into()));
    settings.push(("costs.move.wait", one(random, &["all", "movers"]).into()));
    settings.push((
        "costs.call.model",
        one(random, &["messages", "additive", "none", "ping-pong"]).into(),
    ));
    let policies = [
        "never",
        "greedy-refine/every=2",
        "refine/every=3",
        "rotate/every=2",
        "migbsp",
    ];
    settings.push(("policy.name", one(random, &policies).into()));
    if random.draw_below(3) == 0 {
        settings.push(("load", json!({ "kind": "ar", "mean": 0.3 })));
    }
}

/// Creates an experiment with drawn settings. With `is_shared`, several processes share a core and messages share links, and there are loads
/// and any policy.
fn drawn(seed: u64, is_shared: bool) -> Experiment {
    let mut random = Stream::new(seed, StreamPurpose::MigrationSearch);
    let mut settings: Vec<(&str, Value)> = vec![
        ("workload.app", "synthetic".into()),
        ("workload.procs", (2 + random.draw_below(24)).into()),
        ("workload.supersteps", (1 + random.draw_below(12)).into()),
        (
            "workload.spread",
            one(&mut random, &[json!(0.0), json!(0.3), json!(0.9)]),
        ),
        (
            "workload.bytes",
            one(&mut random, &[json!("0 B"), json!("10 kB"), json!("1 MB")]),
        ),
        (
            "workload.memory",
            one(&mut random, &[json!("0 B"), json!("100 kB"), json!("5 MB")]),
        ),
        (
            "workload.instructions",
            one(&mut random, &[json!("1e6 instr"), json!("1e8 instr")]),
        ),
        ("workload.seed", seed.into()),
        ("seed", seed.into()),
        (
            "platform",
            one(&mut random, &[json!("ufrgs"), json!("lbm")]),
        ),
    ];
    let pattern = one(
        &mut random,
        &["none", "line", "ring", "stencil", "all-to-all"],
    );
    settings.push((
        "workload.pattern",
        if is_shared {
            pattern.into()
        } else {
            "line".into()
        },
    ));
    if is_shared {
        share(&mut settings, &mut random);
    } else {
        settings.push(("network.model", "ideal".into()));
        settings.push(("runtime.barrier.kind", "ideal".into()));
        settings.push(("mapping", "by-core".into()));
        settings.push(("policy.name", "never".into()));
    }
    Experiment::load(&Layers::from_pairs(settings), Limits::default()).unwrap()
}

/// Returns the number of drawn runs: 200 in a usual run, 1 000 if `MIGSIM_DRAWS` is `full`, or the number in `MIGSIM_DRAWS`.
fn runs() -> u64 {
    match std::env::var("MIGSIM_DRAWS").as_deref() {
        Ok("full") => 1000,
        Ok(count) => count.parse().unwrap(),
        Err(_) => 200,
    }
}

#[test]
fn the_pieces_of_drawn_runs_join_exactly_and_add_up_to_the_makespan() {
    let mut kinds = std::collections::BTreeSet::new();
    let mut refused = 0;
    for seed in 1..=runs() {
        let experiment = drawn(seed, true);
        // Some draws never end, or move a process to a host without free memory.
        let Ok((run, path)) = experiment.run_with_path(Scenario::Iii, &Progress::default()) else {
            refused += 1;
            continue;
        };
        let makespan = run.outcome.makespan;
        let (mut end, mut sum) = (migsim_base::units::Time::ZERO, 0.0);
        for piece in &path.pieces {
            assert_eq!(piece.begin, end, "seed {seed}");
            assert!(piece.end > piece.begin, "seed {seed}");
            end = piece.end;
            sum += piece.duration().get();
            kinds.insert(piece.kind);
        }
        assert_eq!(end, makespan, "seed {seed}");
        let error = (sum - makespan.get()).abs();
        assert!(
            error <= 1e-12 * makespan.get(),
            "seed {seed}: {sum} {makespan}"
        );
        let shares = experiment.path_shares(&path);
        let percent: f64 = shares.iter().map(|share| share.percent).sum();
        assert!(
            (percent - 100.0).abs() < 1e-9 || path.pieces.is_empty(),
            "seed {seed}"
        );
    }
    assert!(10 * refused <= runs(), "{refused} refused");
    // The draws reach every kind except waits, which need slow start or queues.
    let all = [
        PieceKind::Compute,
        PieceKind::Latency,
        PieceKind::Transfer,
        PieceKind::Overhead,
        PieceKind::Barrier,
        PieceKind::Call,
        PieceKind::Move,
    ];
    assert!(kinds.iter().eq(&all), "{kinds:?}");
}

#[test]
fn a_path_by_events_is_that_of_the_same_run_without_a_path() {
    for seed in 1..=20 {
        let experiment = drawn(seed, true);
        let progress = Progress::default();
        let Ok((traced, _)) = experiment.run_with_path(Scenario::Iii, &progress) else {
            continue;
        };
        let plain = experiment
            .run_scenario(Scenario::Iii, &progress, &mut (), None)
            .unwrap();
        let (traced, plain) = (traced.outcome.makespan.get(), plain.outcome.makespan.get());
        assert!(
            (traced - plain).abs() <= 1e-9 * plain,
            "seed {seed}: {traced} {plain}"
        );
    }
}

fn changed(experiment: &Experiment, change: &str) -> Experiment {
    let mut layers = Layers::default();
    let text = experiment.resolved_settings.to_string();
    layers.push_file(migsim_base::document::Document::parse("drawn.json", text).unwrap());
    layers.push_flags(vec![crate::KeySetting {
        key: "changes".into(),
        source_text: "--change".into(),
        value: json!([change]),
    }]);
    Experiment::load(&layers, Limits::default()).unwrap()
}

/// The makespan of scenario iii with a change.
fn with(experiment: &Experiment, change: &str) -> f64 {
    let changed = changed(experiment, change);
    let run = changed.run_scenario(Scenario::Iii, &Progress::default(), &mut (), None);
    run.unwrap().outcome.makespan.get()
}

/// Returns a drawn experiment in which nothing is shared, its makespan, and the share of each cluster's speed in the critical path \[%\].
fn unshared(seed: u64) -> (Experiment, f64, Vec<(ChangedQuantity, f64)>) {
    let experiment = drawn(seed, false);
    let (run, path) = experiment
        .run_with_path(Scenario::Iii, &Progress::default())
        .unwrap();
    let clusters = experiment.platform.platform.clusters.iter();
    let shares = clusters.map(|cluster| {
        let changed = ChangedQuantity::ClusterSpeed(cluster.name.clone());
        let share = experiment
            .path_percent_of_quantity(&path, &changed)
            .unwrap();
        (changed, share)
    });
    let shares = shares.collect();
    let makespan = run.outcome.makespan.get();
    (experiment, makespan, shares)
}

#[test]
fn where_nothing_is_shared_a_resource_that_is_never_on_the_path_changes_nothing() {
    let mut tried = 0;
    for seed in 1..=30 {
        let (experiment, makespan, shares) = unshared(seed);
        for (changed, share) in shares {
            if share == 0.0 {
                let faster = with(&experiment, &format!("{changed} unlimited"));
                assert!(
                    (faster - makespan).abs() <= 1e-12 * makespan,
                    "seed {seed} {changed}"
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 30, "{tried}");
}

#[test]
fn the_share_of_the_path_predicts_a_small_gain() {
    // 1 % more speed gains share · (1 - 1/1.01), unless another path becomes critical.
    let mut errors = Vec::new();
    for seed in 1..=runs() / 4 {
        let (experiment, makespan, shares) = unshared(seed);
        for (changed, share) in shares {
            if share <= 0.0 {
                continue;
            }
            let predicted = share * (1.0 - 1.0 / 1.01);
            let gain = 100.0 * (1.0 - with(&experiment, &format!("{changed} +1%")) / makespan);
            // If another path becomes critical, the gain is smaller, never larger.
            assert!(
                gain <= predicted + 1e-9,
                "seed {seed} {changed}: {gain} {predicted}"
            );
            errors.push(predicted - gain);
        }
    }
    errors.sort_by(f64::total_cmp);
    let median = errors[errors.len() / 2];
    // The predictions are up to 1 point.
    assert!(median < 0.1, "{median}");
}

/// A change of one resource of a drawn run, with the decisions of the unchanged run.
#[derive(Debug)]
struct Probe {
    seed: u64,
    changed: ChangedQuantity,
    /// The gain that the share of the path predicts for 1 %, and the one that is simulated \[% of the makespan\].
    predicted: f64,
    gain: f64,
}

impl Probe {
    fn error(&self) -> f64 {
        (self.gain - self.predicted).abs()
    }
}

/// The kind of a resource, as the table of the results names it.
fn class(changed: &ChangedQuantity) -> Option<&'static str> {
    Some(match changed {
        ChangedQuantity::ClusterSpeed(_) => "cluster speed",
        ChangedQuantity::Link(_, LinkQuantity::Bandwidth)
        | ChangedQuantity::ClusterLinks(_, LinkQuantity::Bandwidth) => "link bandwidth",
        ChangedQuantity::Link(_, LinkQuantity::Latency)
        | ChangedQuantity::ClusterLinks(_, LinkQuantity::Latency)
        | ChangedQuantity::RouteLatency(_) => "latency",
        _ => return None,
    })
}

/// Changes every speed, bandwidth and latency of a drawn run by 1 %; none if the run is refused.
fn probes(seed: u64, is_shared: bool) -> Option<Vec<Probe>> {
    let progress = Progress::default();
    let experiment = drawn(seed, is_shared);
    let (run, path) = experiment.run_with_path(Scenario::Iii, &progress).ok()?;
    let base = run.outcome.makespan.get();
    let possible = experiment
        .possible_changes(&run.outcome)
        .changeable_quantities;
    let resources = possible.into_iter().filter(|one| class(one).is_some());
    let probe = |changed: ChangedQuantity| {
        let share = experiment
            .path_percent_of_quantity(&path, &changed)
            .unwrap();
        let (sign, part) = if changed.is_rate() {
            ('+', 1.0 - 1.0 / 1.01)
        } else {
            ('-', 0.01)
        };
        let other = self::changed(&experiment, &format!("{changed} {sign}1%"));
        let plan = ReschedulingPlan::from_outcome(&run.outcome);
        let held = other.run_with_plan(Scenario::Iii, &plan, &progress, &mut (), None);
        let time = held.unwrap().outcome.makespan.get();
        Probe {
            seed,
            predicted: share * part,
            gain: 100.0 * (base - time) / base,
            changed,
        }
    };
    Some(resources.map(probe).collect())
}

/// Gain \[% of the makespan\] that rounding explains.
const ROUNDING: f64 = 1e-9;

/// Prints the table of `results/reliability.md` about predictions, and the changes to explain.
#[test]
#[ignore = "prints figures for the results: cargo test --release -p migsim-experiment --lib -- --ignored --nocapture first_order"]
#[expect(clippy::print_stdout, reason = "the figures are what it is for")]
fn first_order_truth_of_the_path() {
    println!(
        "| runs | quantity | on the path | median error | 90 % | worst | off the path | of these with an effect | in runs |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|---:|");
    let mut to_explain: Vec<(bool, Probe)> = Vec::new();
    for is_shared in [false, true] {
        let all = (1..=runs()).filter_map(|seed| probes(seed, is_shared));
        let all: Vec<Probe> = all.flatten().collect();
        for kind in ["cluster speed", "link bandwidth", "latency"] {
            let of_kind = || all.iter().filter(|one| class(&one.changed) == Some(kind));
            let (on, off): (Vec<&Probe>, Vec<&Probe>) =
                of_kind().partition(|one| one.predicted > 0.0);
            let mut errors: Vec<f64> = on.iter().map(|one| one.error()).collect();
            errors.sort_by(f64::total_cmp);
            let at = |percent: usize| {
                let place = percent * errors.len() / 100;
                errors
                    .get(place.min(errors.len().saturating_sub(1)))
                    .map_or("-".to_owned(), |error| format!("{error:.1e}"))
            };
            let moved: Vec<&&Probe> = off.iter().filter(|one| one.gain.abs() > ROUNDING).collect();
            let mut seeds: Vec<u64> = moved.iter().map(|one| one.seed).collect();
            seeds.dedup();
            println!(
                "| {} | {kind} | {} | {} | {} | {} | {} | {} | {} |",
                if is_shared { "shared" } else { "not shared" },
                on.len(),
                at(50),
                at(90),
                at(100),
                off.len(),
                moved.len(),
                seeds.len()
            );
        }
        to_explain.extend(all.into_iter().map(|one| (is_shared, one)));
    }
    let mut off: Vec<&(bool, Probe)> = to_explain
        .iter()
        .filter(|(_, one)| one.predicted <= 0.0)
        .collect();
    off.sort_by(|a, b| b.1.gain.abs().total_cmp(&a.1.gain.abs()));
    println!("largest effects off the path:");
    for one in off.iter().take(8) {
        println!("{one:?}");
    }
    let mut on: Vec<&(bool, Probe)> = to_explain
        .iter()
        .filter(|(_, one)| one.predicted > 0.0)
        .collect();
    on.sort_by(|a, b| b.1.error().total_cmp(&a.1.error()));
    println!("largest errors on the path:");
    for one in on.iter().take(12) {
        println!("{one:?}");
    }
}
