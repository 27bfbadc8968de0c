//! Tests of changes of a case.

use super::*;
use crate::{Experiment, Layers, Limits, Progress};
use migsim_bsp::Scenario;
use serde_json::{Value, json};

#[test]
fn a_change_reads_back_as_it_is_written() {
    for text in [
        "cluster ICE speed +10%",
        "cluster two words links latency -12.5%",
        "link R1-R2 bandwidth unlimited",
        "link a b latency unlimited",
        "route Labtec ICE latency -10%",
        "barrier -10%",
        "overhead unlimited",
        "calls +25%",
        "loopback bandwidth +10%",
        "moves -10%",
        "load -10%",
        "imbalance unlimited",
        "processes per host -1",
    ] {
        let change: CaseChange = text.parse().unwrap();
        assert_eq!(change.to_string(), text);
    }
}

#[test]
fn a_change_that_cannot_be_made_is_refused_with_its_forms() {
    let refusal = |text: &str| text.parse::<CaseChange>().unwrap_err();
    for (text, what) in [
        ("", "the text of the change is empty"),
        ("link wan", "not a change that migsim can make"),
        ("link wan speed +10%", "not a change that migsim can make"),
        ("cluster speed +10%", "not a change that migsim can make"),
        ("link wan bandwidth 10%", "`10%` does not say by how much"),
        ("link wan bandwidth +10", "`+10` does not say by how much"),
        ("link wan bandwidth -100%", "out of range"),
        ("load +10%", "would increase the background load"),
        ("processes per host +2", "must be one process"),
    ] {
        let problem = refusal(text);
        assert!(problem.message.contains(what), "{text}: {problem}");
        assert!(problem.hint.is_some(), "{text}");
    }
}

/// Two clusters of two hosts with a link between them; four processes send 1 MB around a ring.
fn experiment(changes: &[&str]) -> Result<Experiment, migsim_base::error::Error> {
    let settings = settings(changes);
    let settings = settings.iter().map(|(key, value)| (*key, value.clone()));
    Experiment::load(&Layers::from_pairs(settings), Limits::default())
}

fn settings(changes: &[&str]) -> Vec<(&'static str, Value)> {
    vec![
        ("workload.app", "synthetic".into()),
        ("workload.procs", 30.into()),
        ("workload.supersteps", 20.into()),
        ("workload.spread", 0.5.into()),
        ("platform", "ufrgs".into()),
        ("policy.name", "never".into()),
        ("changes", json!(changes)),
    ]
}

fn makespan(changes: &[&str]) -> f64 {
    let run =
        experiment(changes)
            .unwrap()
            .run_scenario(Scenario::I, &Progress::default(), &mut (), None);
    run.unwrap().outcome.makespan.get()
}

#[test]
fn a_platform_that_is_twice_as_fast_in_everything_halves_the_time() {
    let base = makespan(&[]);
    let clusters = ["Labtec", "Corisco", "Frontal", "ICE", "Aquario"];
    let mut changes: Vec<String> = Vec::new();
    for (index, one) in clusters.iter().enumerate() {
        changes.push(format!("cluster {one} speed +100%"));
        changes.push(format!("cluster {one} links bandwidth +100%"));
        for other in &clusters[index..] {
            changes.push(format!("route {one} {other} latency -50%"));
        }
    }
    changes.extend(["R1-R2", "R2-R3"].map(|link| format!("link {link} bandwidth +100%")));
    let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
    let half = makespan(&changes);
    assert!((2.0 * half / base - 1.0).abs() < 1e-12, "{half} {base}");
}

#[test]
fn changes_are_kept_in_the_settings_without_other_effects() {
    let (plain, changed) = (
        experiment(&[]).unwrap(),
        experiment(&["calls unlimited"]).unwrap(),
    );
    assert!(plain.resolved_settings.get("changes").is_none());
    let mut settings = changed.resolved_settings.clone();
    let kept = settings.as_object_mut().unwrap().remove("changes");
    assert_eq!(kept, Some(json!(["calls unlimited"])));
    // The origins record that the key was given.
    let origins = |mut settings: Value| {
        settings.as_object_mut().unwrap().remove("origins");
        settings
    };
    assert_eq!(origins(settings), origins(plain.resolved_settings.clone()));
    // Resolved settings are an experiment with the same changes.
    let mut layers = Layers::default();
    let text = changed.resolved_settings.to_string();
    layers.push_file(migsim_base::document::Document::parse("again.json", text).unwrap());
    let again = Experiment::load(&layers, Limits::default()).unwrap();
    assert_eq!(again.config.costs, changed.config.costs);
}

#[test]
fn perfect_balance_takes_the_sum_of_the_work_over_the_sum_of_the_speeds() {
    let mut settings = settings(&["imbalance unlimited"]);
    settings.push(("workload.pattern", "none".into()));
    settings.push(("runtime.barrier.kind", "ideal".into()));
    let settings = settings.iter().map(|(key, value)| (*key, value.clone()));
    let experiment = Experiment::load(&Layers::from_pairs(settings), Limits::default()).unwrap();
    let mut plan = migsim_workloads::Plan::default();
    plan.clear(30);
    experiment.workload.fill(0, &mut plan);
    let hosts = &experiment.platform.platform.hosts;
    let speed = |process: usize| hosts[experiment.placement[process].index()].speed.get();
    let times: Vec<f64> = (0..30)
        .map(|process| plan.work[process].get() / speed(process))
        .collect();
    for time in &times {
        assert!((time / times[0] - 1.0).abs() < 1e-12, "{times:?}");
    }
}

#[test]
fn one_process_less_or_more_a_host_uses_more_or_fewer_hosts() {
    let place = |count: i32, before: &[usize]| {
        let mut placement: Vec<_> = before
            .iter()
            .map(|host| migsim_base::units::HostId::from_index(*host))
            .collect();
        let changed =
            spread::change_processes_per_host(Amount::ProcessCount(count), &mut placement, 5);
        changed.map(|()| {
            placement
                .iter()
                .map(|host| host.index())
                .collect::<Vec<_>>()
        })
    };
    // Two processes on each host become three, then one.
    assert_eq!(place(1, &[1, 1, 2, 2, 0]).unwrap(), [1, 1, 1, 2, 2]);
    assert_eq!(place(-1, &[1, 1, 2, 2]).unwrap(), [1, 2, 0, 3]);
    assert!(
        place(-1, &[0, 0, 1, 1, 2, 2])
            .unwrap_err()
            .message
            .contains("too few hosts")
    );
}

#[test]
fn names_that_the_platform_does_not_have_are_refused_together() {
    let error = experiment(&[
        "cluster ice speed +10%",
        "link R1 bandwidth +10%",
        "route Labtec Mars latency -10%",
        "link R1-R2 latency -10%",
    ])
    .unwrap_err()
    .to_string();
    for text in [
        "unknown cluster `ice`",
        "unknown link `R1`",
        "`Labtec Mars`",
        "has no effect",
    ] {
        assert!(error.contains(text), "{text}: {error}");
    }
}

#[test]
fn less_load_leaves_more_and_no_load_leaves_all() {
    let with = |changes: &[&str]| {
        let mut settings = settings(changes);
        settings.push(("load", json!({ "kind": "ar", "mean": 0.4 })));
        let settings = settings.iter().map(|(key, value)| (*key, value.clone()));
        let experiment =
            Experiment::load(&Layers::from_pairs(settings), Limits::default()).unwrap();
        let run = experiment.run_scenario(Scenario::I, &Progress::default(), &mut (), None);
        run.unwrap().outcome.makespan.get()
    };
    let (all, less, none) = (with(&[]), with(&["load -50%"]), with(&["load unlimited"]));
    assert!(none < less && less < all, "{none} {less} {all}");
    assert_eq!(none, makespan(&[]));
}

#[test]
fn a_constant_load_changes_as_every_other_load() {
    let with = |load: Option<f64>, changes: &[&str]| {
        let mut settings = settings(changes);
        settings.push(("workload.pattern", "none".into()));
        settings.extend(load.map(|load| ("load", json!({ "kind": "constant", "load": load }))));
        let settings = settings.iter().map(|(key, value)| (*key, value.clone()));
        let experiment = Experiment::load(&Layers::from_pairs(settings), Limits::default())?;
        let run = experiment.run_scenario(Scenario::I, &Progress::default(), &mut (), None)?;
        Ok::<f64, migsim_base::error::Error>(run.outcome.makespan.get())
    };
    assert_eq!(
        with(Some(0.5), &["load unlimited"]).unwrap(),
        with(None, &[]).unwrap()
    );
    // 0.9 x 0.5 of each host is loaded, which leaves 0.55.
    assert_eq!(
        with(Some(0.5), &["load -10%"]).unwrap(),
        with(Some(0.45), &[]).unwrap()
    );
}

#[test]
fn a_change_of_a_quantity_that_the_run_does_not_have_is_refused() {
    for (change, settings) in [
        ("load -10%", vec![]),
        (
            "barrier -10%",
            vec![("runtime.barrier.kind", json!("ideal"))],
        ),
        ("overhead -10%", vec![]),
        ("calls -10%", vec![("costs.call.model", json!("none"))]),
        ("calls -10%", vec![("scenarios", json!(["i"]))]),
        ("moves -10%", vec![("scenarios", json!(["i", "ii"]))]),
        ("loopback latency -10%", vec![]),
        ("imbalance -10%", vec![("workload.procs", json!(1))]),
    ] {
        let load = |change: &str| {
            let mut all = self::settings(&[change]);
            all.extend(settings.iter().cloned());
            let all = all.iter().map(|(key, value)| (*key, value.clone()));
            Experiment::load(&Layers::from_pairs(all), Limits::default())
        };
        let error = load(change).unwrap_err().to_string();
        assert!(error.contains("no effect"), "{change}: {error}");
        let quantity = change.strip_suffix("-10%").unwrap();
        load(&format!("{quantity}-0%")).expect(change);
    }
}

#[test]
fn the_links_of_a_cluster_are_those_of_its_hosts_and_no_others() {
    // Three hosts in a row: the link between the first two also serves the third. Each host of the
    // second zone has its own link, and the hosts leave the zone over `gate`.
    let row = r#"<zone id="row" routing="Floyd">
        <host id="row-1" speed="1Gf"/><host id="row-2" speed="1Gf"/><host id="row-3" speed="1Gf"/>
        <link id="l12" bandwidth="1GBps" latency="1us"/><link id="l23" bandwidth="1GBps" latency="1us"/>
        <route src="row-1" dst="row-2"><link_ctn id="l12"/></route>
        <route src="row-2" dst="row-3"><link_ctn id="l23"/></route></zone>"#;
    let star = r#"<cluster id="star" prefix="star-" suffix="" radical="1-2" speed="1Gf" bw="1GBps" lat="1us" router_id="center"/>"#;
    let text = format!(
        r#"<platform version="4.1"><zone id="all" routing="Full">{row}{star}
        <link id="gate" bandwidth="1GBps" latency="1us"/>
        <zoneRoute src="row" dst="star" gw_src="row-1" gw_dst="center"><link_ctn id="gate"/></zoneRoute></zone></platform>"#
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("p.xml");
    std::fs::write(&file, text).unwrap();
    let platform = migsim_platform::open(file.to_str().unwrap())
        .unwrap()
        .platform;
    let links = |cluster: &str| -> Vec<&str> {
        let cluster = platform.cluster_named(cluster).expect(cluster);
        let links = capacities::links_of_cluster(&platform, cluster);
        links
            .iter()
            .map(|link| &*platform.links[link.index()].name)
            .collect()
    };
    assert_eq!(links("row"), ["l23"]); // `row-3` alone is behind it
    assert_eq!(links("star").len(), 4, "{:?}", links("star"));
    assert!(links("star").iter().all(|name| name.starts_with("star")));
}

/// An experiment on `ufrgs` in which only control messages take time, and the computations before calls.
fn controlled(change: Option<&str>, settings: &[(&str, Value)]) -> migsim_bsp::RunOutcome {
    let mut all: Vec<(&str, Value)> = vec![
        ("platform", "ufrgs".into()),
        ("workload.app", "synthetic".into()),
        ("workload.procs", 30.into()),
        ("workload.supersteps", 6.into()),
        ("workload.pattern", "none".into()),
        ("workload.instructions", "0 instr".into()),
        ("changes", json!(change.into_iter().collect::<Vec<_>>())),
    ];
    all.extend_from_slice(settings);
    let experiment = Experiment::load(&Layers::from_pairs(all), Limits::default()).unwrap();
    let run = experiment.run_scenario(Scenario::Ii, &Progress::default(), &mut (), None);
    run.unwrap().outcome
}

fn assert_a_tenth_less(changed: f64, base: f64, case: &str) {
    assert!(base > 0.0, "{case}: nothing to change");
    let ratio = changed / base;
    assert!((ratio - 0.9).abs() < 1e-9, "{case}: {ratio}");
}

#[test]
fn a_tenth_less_of_a_barrier_shortens_all_that_its_messages_take() {
    let kinds = [
        ("central", "flows"),
        ("sequential", "flows"),
        ("tree", "flows"),
        ("dissemination", "flows"),
        ("recursive-doubling", "packets"),
    ];
    for (kind, notices) in kinds {
        for shortcuts in ["all", "none"] {
            for bytes in ["0 B", "10 kB"] {
                let settings = [
                    ("policy.name", json!("never")),
                    ("runtime.barrier.kind", kind.into()),
                    ("runtime.barrier.notices", notices.into()),
                    ("runtime.barrier.bytes", bytes.into()),
                    ("runtime.shortcuts", shortcuts.into()),
                ];
                let time = |change| controlled(change, &settings).makespan.get();
                let case = format!("{kind} {notices} {shortcuts} {bytes}");
                assert_a_tenth_less(time(Some("barrier -10%")), time(None), &case);
            }
        }
    }
}

#[test]
fn a_tenth_less_of_calls_shortens_all_that_they_take() {
    let cases = [
        ("messages", "parallel", "migbsp"),
        ("messages", "parallel", "greedy-refine/every=2"),
        ("messages", "sequential", "migbsp"),
        ("ping-pong", "parallel", "migbsp"),
        ("additive", "parallel", "migbsp"),
    ];
    for (model, order, policy) in cases {
        for shortcuts in ["all", "none"] {
            let settings = [
                ("policy.name", json!(policy)),
                ("workload.instructions", "1e8 instr".into()),
                ("workload.supersteps", 12.into()),
                ("costs.call.model", model.into()),
                ("costs.call.order", order.into()),
                ("costs.call.fixed", "1 ms".into()),
                ("runtime.shortcuts", shortcuts.into()),
            ];
            let price = |change| controlled(change, &settings).call_waiting_time.get();
            let case = format!("{model} {order} {policy} {shortcuts}");
            assert_a_tenth_less(price(Some("calls -10%")), price(None), &case);
        }
    }
}

#[test]
fn one_process_more_a_host_runs_where_hosts_have_no_link_to_themselves() {
    // The hosts of the torus of this platform have links to others only: messages inside a host take the loopback of the network model.
    let settings = [
        (
            "platform",
            json!(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/../../platforms/two-fabrics.json"
            )),
        ),
        ("workload.app", "synthetic".into()),
        ("workload.procs", 32.into()),
        ("workload.supersteps", 2.into()),
        ("workload.pattern", "ring".into()),
        ("mapping", "round-robin".into()),
        ("policy.name", "never".into()),
        ("changes", json!(["processes per host +1"])),
    ];
    let experiment = Experiment::load(&Layers::from_pairs(settings), Limits::default()).unwrap();
    let run = experiment.run_scenario(Scenario::I, &Progress::default(), &mut (), None);
    assert!(run.unwrap().outcome.makespan.get() > 0.0);
}
