//! Notes about implausible values: no case of the papers has one; they are printed as text and JSON, by `platform show` as by `run`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fmt::Write as _, fs, path::Path};

use migsim::{
    experiment::{
        KeySetting, Layers, PLAUSIBILITY_RULES, built_in_names, find_built_in_experiment,
    },
    prelude::*,
};
use serde_json::{Value, json};

use crate::support::{command, done, read, refused, said, succeeded};

/// Lists the names of the rules of some notes, recognised by their advice.
fn rules(notes: &[String]) -> Vec<&'static str> {
    let is_of = |note: &str, advice: &str| note.ends_with(&format!(": {advice}"));
    let found = notes.iter().filter_map(|note| {
        let rule = PLAUSIBILITY_RULES
            .iter()
            .find(|rule| is_of(note, rule.advice));
        rule.map(|rule| rule.name)
    });
    found.collect()
}

/// Lists the notes of a run before and after it, with these settings above those of a built-in experiment.
fn notes_of(experiment: &str, settings: &[(&str, Value)]) -> Vec<String> {
    let mut layers = Layers::default();
    layers.push_file(find_built_in_experiment(experiment).unwrap().unwrap());
    let flags = settings.iter().map(|(key, value)| KeySetting {
        key: (*key).to_owned(),
        source_text: (*key).to_owned(),
        value: value.clone(),
    });
    layers.push_flags(flags.collect());
    let experiment = Experiment::load(&layers, Limits::default()).unwrap();
    let results = experiment.run(&Progress::default()).unwrap();
    let mut notes = experiment.notes();
    notes.extend(experiment.implausible_result_notes(&results));
    notes
}

#[test]
fn no_experiment_of_a_paper_has_a_note() {
    for name in built_in_names() {
        let notes = notes_of(name, &[]);
        assert_eq!(rules(&notes), [""; 0], "{name}");
        let is_kept = |note: &String| note.contains("moves no process inside it");
        assert!(!notes.iter().any(is_kept), "{name}: {notes:?}");
    }
    // The smallest and the largest published cases.
    let cases: [(&str, &[(&str, Value)]); 6] = [
        (
            "lu",
            &[("workload.n", json!(500)), ("workload.procs", json!(25))],
        ),
        (
            "lu",
            &[("workload.n", json!(1000)), ("workload.procs", json!(100))],
        ),
        ("lbm", &[("workload.supersteps", json!(10))]),
        ("lbm-b1", &[("workload.supersteps", json!(10))]),
        ("sw", &[("workload.n", json!(10))]),
        ("sw-dynamic", &[("workload.n", json!(10))]),
    ];
    for (name, settings) in cases {
        assert_eq!(
            rules(&notes_of(name, settings)),
            [""; 0],
            "{name} {settings:?}"
        );
    }
}

#[test]
fn no_platform_that_comes_with_the_program_has_a_finding() {
    let mut count = 0;
    for entry in fs::read_dir("platforms").unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().ends_with(".schema.json") {
            continue;
        }
        let show = format!("platform show {}", path.display());
        let shown = done(Path::new("."), &show);
        for rule in PLAUSIBILITY_RULES {
            assert!(
                !shown.contains(rule.advice),
                "{}: {}",
                path.display(),
                rule.name
            );
        }
        count += 1;
    }
    assert!(count >= 11, "{count}");
}

/// A run on the platform `lab.json`.
const LAB: &str = "--platform lab.json --app synthetic --procs 4";

/// Two clusters of two hosts each, of 1 GHz and of `speed`.
fn lab(speed: &str) -> String {
    let cluster = |name: &str, speed: &str| {
        json!({ "name": name, "hosts": 2, "speed": speed, "router": format!("R{name}"),
            "link": { "bandwidth": "100 Mbps", "latency": "5 us" } })
    };
    let platform = json!({ "schema": "migsim-platform-1", "name": "lab",
        "clusters": [cluster("a", "1 GHz"), cluster("b", speed)],
        "links": [{ "name": "wan", "from": "Ra", "to": "Rb", "bandwidth": "100 Mbps", "latency": "5 ms" }] });
    platform.to_string()
}

#[test]
fn a_slipped_unit_is_named_by_platform_show_and_by_run_in_words_and_in_json() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join("lab.json"), lab("2 MHz")).unwrap();
    let what = "host `b-0` has a speed of 2 MHz and host `a-1` of 1 GHz, 500 times as much";
    let shown = done(scratch.path(), "platform show lab.json");
    let row = shown.lines().find(|line| line.starts_with("warning"));
    assert!(row.unwrap().contains(what), "{shown}");
    let run = format!("run {LAB} --json --out r");
    let output = succeeded(command(scratch.path(), &run));
    assert!(
        said(&output).contains(&format!("note: {what}: ")),
        "{}",
        said(&output)
    );
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(summary["notes"][0].as_str().unwrap().starts_with(what));
    let manifest: Value =
        serde_json::from_str(&read(&scratch.path().join("r"), "run.json")).unwrap();
    assert_eq!(manifest["summary"]["notes"], summary["notes"]);
}

/// Lists the rules of which a run has notes: four processes of a table in the given unit, each of 10 MB.
fn found(table: &str, more: &str) -> Vec<&'static str> {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    fs::write(folder.join("lab.json"), lab("2 GHz")).unwrap();
    fs::write(folder.join("work.csv"), table).unwrap();
    fs::write(folder.join("late.csv"), "0,0\n7.9,0.5\n").unwrap();
    fs::write(
        folder.join("epoch.csv"),
        "1700000000,0.5\n1700000005,0.25\n",
    )
    .unwrap();
    let run = format!("run --platform lab.json --app table --work work.csv --json {more}");
    let output = succeeded(command(folder, &run));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let notes = summary["notes"].as_array().cloned().unwrap_or_default();
    let notes: Vec<String> = notes
        .iter()
        .map(|note| note.as_str().unwrap().to_owned())
        .collect();
    for note in &notes {
        assert!(
            said(&output).contains(&format!("note: {note}\n")),
            "{}",
            said(&output)
        );
    }
    rules(&notes)
}

/// Makes a table of eight supersteps in which each of the processes has this work.
fn table(processes: &[u32], work: &str) -> String {
    let mut text = String::from("superstep,process,work,memory\n");
    for superstep in 1..=8 {
        for process in processes {
            writeln!(text, "{superstep},{process},{work},10 MB").unwrap();
        }
    }
    text
}

#[test]
fn mistakes_of_new_users_are_noticed() {
    let all = [1, 2, 3, 4];
    let fine = table(&all, "1 Ginstr");
    assert_eq!(found(&fine, ""), [""; 0]);
    // Eight supersteps of 1 s end shortly after 8 s.
    assert_eq!(found(&fine, "--load file,file=late.csv"), [""; 0]);
    let short = table(&all, "0.9 Ginstr");
    assert_eq!(found(&short, "--load file,file=late.csv"), ["late-load"]);
    assert_eq!(
        found(&fine, "--load file,file=epoch.csv"),
        ["dates-of-a-clock"]
    );
    assert_eq!(found(&fine, "--d 1"), [""; 0]);
    assert_eq!(found(&fine, "--d 2"), ["share-above-one"]);
    assert_eq!(found(&fine, "--d 2 --scenario i"), [""; 0]);
    assert_eq!(
        found(&table(&[1, 2, 41], "1 Ginstr"), ""),
        ["idle-processes"]
    );
    // The units are wrong: instr for Ginstr, and Ginstr for instr.
    assert_eq!(
        found(&table(&all, "5 instr"), "--policy never"),
        ["short-supersteps"]
    );
    assert_eq!(
        found(&table(&all, "1e18 instr"), "--policy never"),
        ["long-superstep"]
    );
    assert_eq!(
        found(&table(&all, "86399 Ginstr"), "--policy never"),
        [""; 0]
    );
}

#[test]
fn moves_of_a_recording_that_is_shorter_than_one_of_them_are_noticed() {
    // 10 MB over 100 Mbps take 0.8 s; eight supersteps of 99 ms take less, and eight of 102 ms take more.
    let of = |work: &str, more: &str| found(&table(&[1, 2, 3, 4], work), more);
    assert_eq!(of("99 Minstr", ""), ["move-longer-than-run"]);
    assert_eq!(of("102 Minstr", ""), [""; 0]);
    assert_eq!(of("99 Minstr", "--policy never"), [""; 0]);
    assert_eq!(of("99 Minstr", "--scenario i"), [""; 0]);
    assert_eq!(of("99 Minstr", "--set costs.move.transfer=none"), [""; 0]);
}

#[test]
fn percent_are_refused_with_the_share_that_is_meant() {
    let refused = |more: &str| refused(Path::new("."), &format!("run --app sw --n 10 {more}"));
    let error = refused("--d 50");
    assert!(
        error.contains("`d` is 50; it must be from 0 to 10: 50 % is 0.5"),
        "{error}"
    );
    let error = refused("--x 80");
    assert!(
        error.contains("`x` is 80; it must be from 0 to 1: 80 % is 0.8"),
        "{error}"
    );
    let error = refused("--load constant,load=30");
    assert!(
        error.contains("choose a value from 0 to 1: 30 % is 0.3"),
        "{error}"
    );
    let drift = "run --app synthetic --set workload.drift=20";
    let errors = said(&command(Path::new("."), drift));
    assert!(
        errors.contains("choose a number from 0 to 1: 20 % is 0.2"),
        "{errors}"
    );
    // A value that is not a percentage has no such hint.
    assert!(!refused("--x 2").contains('%'));
}

#[test]
fn a_note_says_which_processes_a_reading_of_migbsp_keeps_on_a_dying_host() {
    let scratch = tempfile::tempdir().unwrap();
    let cluster = |name, hosts, cores, speed| json!({ "name": name, "hosts": hosts, "cores": cores, "speed": speed, "link": { "bandwidth": "1 Gbps", "latency": "10 us" }, "router": name });
    let platform = json!({ "schema": "migsim-platform-1", "name": "two", "clusters": [cluster("north", 6, 4, "2.6 GHz"), cluster("south", 8, 2, "1.8 GHz")],
        "links": [{ "name": "wan", "from": "north", "to": "south", "bandwidth": "1 Gbps", "latency": "10 ms" }] });
    fs::write(scratch.path().join("two.json"), platform.to_string()).unwrap();
    fs::write(scratch.path().join("gone.csv"), "0,0\n20,0.99\n").unwrap();
    let of = |verb: &str, on: &str, own_cluster: &str| {
        let line = format!(
            "{verb} --platform two.json --app synthetic --procs 12 --set workload.spread=0.5 --set workload.supersteps=80 --load file,file=gone.csv,values=reserved,on={on} --set policy.migbsp.own_cluster={own_cluster}"
        );
        let output = succeeded(command(scratch.path(), &line));
        said(&output) + &String::from_utf8(output.stdout).unwrap()
    };
    let note = "note: `migbsp` keeps 4 processes at less than a tenth of the speed of another host of the same cluster (in ";
    for verb in ["run", "compare --policies migbsp"] {
        let told = of(verb, "north-0", "competes");
        assert!(told.contains(note), "{told}");
        assert!(told.contains("add `--set policy.migbsp.own_cluster=within`"));
        // Processes that can move, or that no host of their cluster would help, are no reason for a note.
        for (on, own) in [("north-0", "within"), ("north", "competes")] {
            let told = of(verb, on, own);
            assert!(!told.contains("`migbsp` keeps"), "{told}");
        }
    }
    let told = of("explain --superstep 60", "north-0", "competes");
    assert!(told.contains("cannot move inside their cluster, although another host there would be more than ten times as fast for them: 4."), "{told}");
}

#[test]
fn quiet_runs_print_no_notes() {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join("lab.json"), lab("2 MHz")).unwrap();
    let run = format!("run {LAB} --quiet");
    let output = succeeded(command(scratch.path(), &run));
    assert_eq!(said(&output), "");
}

#[test]
fn a_sweep_prints_a_note_of_all_its_settings_once() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    fs::write(folder.join("lab.json"), lab("2 MHz")).unwrap();
    let sweep = format!("sweep {LAB} --d 1,2,3 --dry-run");
    let errors = said(&succeeded(command(folder, &sweep)));
    let count = |text: &str| errors.matches(text).count();
    let both = (
        count("500 times as much"),
        count("`policy.migbsp.d` is a share (1 is all), but its value is above 1"),
    );
    assert_eq!(both, (1, 1), "{errors}");
}

#[test]
fn the_page_of_a_run_has_its_notes_and_readings() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    fs::write(folder.join("lab.json"), lab("2 MHz")).unwrap();
    done(folder, &format!("run {LAB} --out r --report --quiet"));
    // Check the page of the run, and one made from its folder.
    for _ in 0..2 {
        let page = read(&folder.join("r"), "report.html");
        for told in [
            "Note: host `b-0` has a speed of 2 MHz and host `a-1` of 1 GHz",
            "Choices of this run for rules that the papers on migbsp leave open: t2, the predicted time after a move, without the cost of the move; ",
        ] {
            assert!(
                page.contains(&format!("<p class=\"note\">{told}")),
                "{told}"
            );
        }
        done(folder, "report r");
    }
}
