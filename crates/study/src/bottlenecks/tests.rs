//! Tests of causal profiles.

use super::*;
use migsim_experiment::{Layers, Limits, Registry};
use serde_json::Value;

/// Two clusters of two hosts of 1 GHz and 2 GHz, joined by the link `wan` of 1 MB/s.
fn layers(settings: &[(&str, Value)]) -> (tempfile::TempDir, Layers) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("two.json");
    let link = r#""link": { "bandwidth": "100 MB/s", "latency": "1 us" }"#;
    let platform = format!(
        r#"{{ "schema": "migsim-platform-1", "name": "two", "clusters": [
            {{ "name": "slow", "hosts": 2, "speed": "1 GHz", {link}, "router": "a" }},
            {{ "name": "fast", "hosts": 2, "speed": "2 GHz", {link}, "router": "b" }} ],
          "routers": ["a", "b"],
          "links": [{{ "name": "wan", "from": "a", "to": "b", "bandwidth": "1 MB/s", "latency": "10 ms" }}] }}"#
    );
    std::fs::write(&file, platform).unwrap();
    let mut all: Vec<(&str, Value)> = vec![
        ("platform", file.display().to_string().into()),
        ("workload.app", "synthetic".into()),
        ("workload.procs", 4.into()),
        ("workload.supersteps", 10.into()),
        ("workload.pattern", "ring".into()),
        ("workload.instructions", "1e9 instr".into()),
        ("workload.bytes", "1 MB".into()),
        ("policy.name", "never".into()),
        ("mapping", "contiguous".into()),
        ("scenarios", json!(["i"])),
    ];
    all.extend(settings.iter().cloned());
    (folder, Layers::from_pairs(all))
}

fn sweep(layers: &Layers) -> Sweep {
    Sweep {
        base_settings: layers.clone(),
        ..Sweep::new(&Registry::standard())
    }
}

fn profile(settings: &[(&str, Value)], wanted: ProfileOptions) -> CausalProfile {
    let (_folder, layers) = layers(settings);
    let prepared = prepare_profile(sweep(&layers), wanted).unwrap();
    prepared.simulate_all_changes(&Mutex::default()).unwrap()
}

fn row<'p>(profile: &'p CausalProfile, name: &str) -> &'p QuantityRow {
    let found = profile
        .rows
        .iter()
        .find(|row| row.quantity().to_string() == name);
    found.unwrap_or_else(|| panic!("no row {name}"))
}

#[test]
fn gains_are_those_of_the_closed_form() {
    let settings = [
        ("workload.procs", json!(2)),
        ("workload.pattern", json!("line")),
        ("workload.bytes", json!("2 MB")),
        ("mapping", json!("slow-0,fast-0")),
    ];
    let profile = profile(&settings, ProfileOptions::default());
    // A superstep: 1 s of work on the slow host, 10 ms and 2 us of latency, 2 MB over the wan of 1 MB/s.
    let superstep = 1.0 + 0.010_002 + 2.0;
    let time = profile.makespan.mean / 10.0;
    assert!((time / superstep - 1.0).abs() < 1e-9, "{time}");
    let close =
        |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    let wan = row(&profile, "link wan bandwidth");
    close(
        wan.improvement().gain.mean,
        100.0 * 2.0 * (1.0 - 1.0 / 1.1) / superstep,
    );
    let latency = row(&profile, "link wan latency");
    close(latency.changes[1].gain.mean, 100.0 * 0.010 / superstep);
    let slow = row(&profile, "cluster slow speed");
    close(
        slow.improvement().gain.mean,
        100.0 * (1.0 - 1.0 / 1.1) / superstep,
    );
    // The fast hosts wait for the slow ones.
    let fast = row(&profile, "cluster fast speed");
    close(fast.changes[1].gain.mean, 0.0);
    // With both processes on one host, no message crosses the wan. Of all resources, the wan therefore has the largest gain.
    let mut names = profile.rows.iter().map(|row| row.quantity().to_string());
    let most = names.find(|name| name != "processes per host");
    assert_eq!(most.as_deref(), Some("link wan bandwidth"));
    // The path contains the work of a slow host, the latency and the transfer, except the 2 us of access links.
    let share = |name: &str| row(&profile, name).critical_path_percent.unwrap();
    close(share("cluster slow speed"), 100.0 / superstep);
    close(share("cluster fast speed"), 0.0);
    close(share("link wan latency"), 100.0 * 0.010 / superstep);
    close(share("link wan bandwidth"), 100.0 * 2.0 / superstep);
    let verdict = profile.verdict();
    assert_eq!(verdict.matches(". ").count(), 3, "{verdict}");
    assert!(
        verdict.contains("by one process per host, `processes per host +1` shortens the run most")
            && verdict.contains("`link wan bandwidth` would gain most"),
        "{verdict}"
    );
    assert!(
        verdict.contains("for example `cluster slow links latency`"),
        "{verdict}"
    );
}

#[test]
fn data_have_the_keys_of_the_format_and_each_change_can_be_repeated() {
    let json = profile(&[], ProfileOptions::default()).to_json();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        [
            "schema",
            "version",
            "makespan_s",
            "verdict",
            "path",
            "changes"
        ]
    );
    let part = &json["path"][0];
    let keys: Vec<&String> = part.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["kind", "resource", "process", "seconds", "percent"]);
    assert_eq!(
        (&part["kind"], &part["resource"]),
        (&json!("transfer"), &json!("wan"))
    );
    let (_folder, layers) = layers(&[]);
    for change in json["changes"].as_array().unwrap() {
        let keys: Vec<&String> = change.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["change", "makespan_s", "gain_percent"]);
        let mut layers = layers.clone();
        layers.push_flags(vec![KeySetting {
            key: "changes".into(),
            source_text: "--change".into(),
            value: json!([change["change"]]),
        }]);
        let again = Experiment::load(&layers, Limits::default()).unwrap();
        let run = again.run_scenario(Scenario::I, &Progress::default(), &mut (), None);
        assert_eq!(
            json!(run.unwrap().outcome.makespan.get()),
            change["makespan_s"]
        );
    }
}

#[test]
fn seeds_give_intervals_and_held_decisions_a_second_gain() {
    let settings = [
        ("policy.name", json!("greedy-refine/every=3")),
        ("scenarios", json!(["iii"])),
        ("workload.spread", json!(0.6)),
        ("workload.memory", json!("1 kB")),
        ("load", json!({ "kind": "ar", "mean": 0.3 })),
    ];
    let wanted = ProfileOptions {
        keeps_decisions: true,
        simulates_pairs: true,
        ..ProfileOptions::default()
    };
    let (_folder, layers) = layers(&settings);
    let sweep = Sweep {
        seeds: Some(ValuesSpec::parse("1..3").unwrap()),
        ..sweep(&layers)
    };
    let prepared = prepare_profile(sweep, wanted).unwrap();
    let profile = prepared.simulate_all_changes(&Mutex::default()).unwrap();
    assert_eq!(profile.makespan.count, 3);
    for row in &profile.rows {
        assert!(row.improvement().gain.ci95.is_some() && row.improvement().held_gain.is_some());
    }
    let load = &row(&profile, "load").changes[1];
    // A policy that makes other decisions may lose the gain of the hosts.
    assert!(load.held_gain.unwrap().mean > 0.0, "{load:?}");
    let json = profile.to_json();
    assert!(json["changes"][0]["gain_ci95_percent"].is_f64());
    assert!(
        json["pairs"]
            .as_array()
            .is_some_and(|pairs| pairs.len() == 10)
    );
    for pair in &profile.pairs {
        let alone = pair.changes.each_ref().map(|change| {
            let found = profile
                .rows
                .iter()
                .find(|row| row.improvement().change == *change);
            found.unwrap().improvement().ranking_gain(true).mean
        });
        assert!((pair.gain.mean - alone[0] - alone[1] - pair.excess_gain).abs() < 1e-9);
    }
}

#[test]
fn scenario_i_has_no_decisions_to_hold() {
    let (_folder, layers) = layers(&[]);
    let wanted = ProfileOptions {
        keeps_decisions: true,
        ..ProfileOptions::default()
    };
    let error = prepare_profile(sweep(&layers), wanted).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`--hold-decisions` needs decisions of a policy, but in scenario i (application only) no policy decides"),
        "{error}"
    );
}

#[test]
fn a_profile_that_was_stopped_goes_on_with_equal_bytes() {
    let (folder, layers) = layers(&[]);
    let run = |name: &str| {
        let out = folder.path().join(name);
        let store = Mutex::new(Store::open(&out).unwrap());
        let wanted = ProfileOptions {
            simulates_pairs: true,
            ..ProfileOptions::default()
        };
        let prepared = prepare_profile(sweep(&layers), wanted).unwrap();
        let before = store.lock().unwrap().rows.len();
        let profile = prepared.simulate_all_changes(&store).unwrap();
        let store = store.into_inner().unwrap();
        assert_eq!(store.finished_runs, prepared.run_count());
        let texts = (profile.to_json().to_string(), profile.files());
        (before, store.rows.len(), texts)
    };
    let (_, all, whole) = run("whole");
    // Of a run that was killed some rows are left, and half of one more.
    let stopped = folder.path().join("stopped");
    std::fs::create_dir(&stopped).unwrap();
    let rows = std::fs::read(folder.path().join("whole/runs.jsonl")).unwrap();
    std::fs::write(stopped.join("runs.jsonl"), &rows[..rows.len() / 2]).unwrap();
    let (before, after, resumed) = run("stopped");
    assert!(
        before > 3 && before < all - 3 && after == all,
        "{before} {after} {all}"
    );
    assert!(resumed == whole);
    // Rows that are there are not simulated again: what stands there counts.
    let (before, after, again) = run("whole");
    assert!(before == all && after == all && again == whole);
}

#[test]
fn the_verdict_names_equal_gains_together_the_decisions_and_the_losses() {
    let sample = |numbers: f64| Sample::from_numbers(&[numbers]).unwrap();
    let tried = |text: &str, free: f64, held: f64| SimulatedChange {
        change: text.parse().unwrap(),
        makespan: sample(1.0),
        gain: sample(free),
        held_gain: Some(sample(held)),
        held_only: false,
    };
    let row = |name: &str, [step, held]: [f64; 2], unlimited: f64| QuantityRow {
        changes: vec![
            tried(&format!("{name} +10%"), step, held),
            SimulatedChange {
                held_only: true,
                ..tried(&format!("{name} unlimited"), unlimited, unlimited)
            },
        ],
        critical_path_percent: None,
    };
    let mut all = profile(&[], ProfileOptions::default());
    all.has_held_gains = true;
    all.rows = vec![
        row("cluster slow speed", [5.8, 1.0], 20.0),
        row("cluster fast speed", [5.8, 2.0], 20.0),
        row("link wan bandwidth", [-3.0, 2.5], 0.001),
    ];
    let verdict = all.verdict();
    for sentence in [
        "`cluster slow speed +10%` and `cluster fast speed +10%` shorten the run most, by 5.80 % each.",
        "`cluster slow speed` and `cluster fast speed` would gain most, 20.00 % of the time each with the decisions of the unchanged run, and no",
        "1 of 6 improvements makes the run slower, since the policy then decides otherwise.",
    ] {
        assert!(verdict.contains(sentence), "{sentence}: {verdict}");
    }
    // Ranked by held decisions, the verdict follows that column and says so.
    all.keeps_decisions = true;
    all.rows.reverse();
    let verdict = all.verdict();
    let sentence = "`link wan bandwidth +10%` shortens the run most, by 2.50 % with the decisions of the unchanged run (-3.00 % if the policy decides again).";
    assert!(verdict.contains(sentence), "{verdict}");
}

#[test]
fn of_many_quantities_those_on_the_critical_path_are_changed() {
    let quantity = |index: usize| {
        let changed = ChangedQuantity::ClusterSpeed(format!("c{index}"));
        let share = (index < 70).then_some((index % 30) as f64);
        (vec![CaseChange::new(changed, Amount::Unlimited)], share)
    };
    let mut few: Vec<_> = (0..MAX_QUANTITIES).map(quantity).collect();
    assert_eq!(leave_out_small_shares(&mut few), None);
    assert_eq!(few.len(), MAX_QUANTITIES);
    let mut many: Vec<_> = (0..72).map(quantity).collect();
    let note = leave_out_small_shares(&mut many).unwrap();
    // 2 have no share and two each have 29 to 21 %: 20 in all.
    assert!(
        note.starts_with("52 more quantities are not tried: at most 20.00 % "),
        "{note}"
    );
    let shares: Vec<f64> = many.iter().filter_map(|one| one.1).collect();
    assert_eq!(shares.len(), KEPT_QUANTITIES - 2);
    assert!(shares.iter().all(|share| *share >= 21.0), "{shares:?}");
}
