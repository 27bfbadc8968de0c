//! A folder holds one run: no file of an older run stays, no file of another origin is removed, and other settings are refused.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fs, path::Path};

use serde_json::json;

use crate::support::{done, refused};

/// A run of LU into a folder.
const LU: &str = "run --app lu --procs 4 --grid 2x2 --quiet --out run --n";

/// Lists the names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The files that every run writes.
const ALWAYS: [&str; 5] = [
    "calls.jsonl",
    "migrations.csv",
    "platform.json",
    "run.json",
    "supersteps.csv",
];

#[test]
fn nothing_of_an_older_run_stays_beside_a_newer_one() {
    let scratch = tempfile::tempdir().unwrap();
    let (here, folder) = (scratch.path(), scratch.path().join("run"));
    let everything = "--processes --write-trace perfetto,paje";
    let with_page = format!("{LU} 20 {everything} --report run/page.html");
    done(here, &with_page);
    done(here, "report run");
    let all = names(&folder);
    let optional = ["links.csv", "page.html", "processes.csv", "report.html"];
    for name in ALWAYS.into_iter().chain(optional) {
        assert!(
            all.iter().any(|one| one == name),
            "{name} is not in {all:?}"
        );
    }
    assert_eq!(all.len(), ALWAYS.len() + optional.len() + 2 * 3, "{all:?}");

    fs::write(folder.join("notes.txt"), "mine").unwrap();
    fs::write(folder.join("mine.html"), "<p>mine</p>").unwrap();
    fs::create_dir(folder.join("figures")).unwrap();
    let mut left: Vec<&str> = ALWAYS.to_vec();
    left.extend(["notes.txt", "mine.html", "figures"]);
    left.sort_unstable();

    // The same settings with fewer files.
    done(here, &format!("{LU} 20"));
    assert_eq!(names(&folder), left);
    // Write all files again, and then use other settings.
    done(here, &with_page);
    done(here, &format!("{LU} 24 --force"));
    assert_eq!(names(&folder), left);
    // With fewer scenarios, no file of another scenario is left.
    done(here, &format!("{LU} 24 {everything} --force"));
    done(here, &format!("{LU} 24 {everything} --force --scenario i"));
    let mut traces = names(&folder);
    traces.retain(|name| name.starts_with("trace-"));
    assert_eq!(traces, ["trace-i.paje", "trace-i.perfetto.json"]);
}

#[test]
fn a_folder_that_lost_its_manifest_is_cleared_as_well() {
    let scratch = tempfile::tempdir().unwrap();
    let (here, folder) = (scratch.path(), scratch.path().join("run"));
    let everything = "--processes --report --write-trace perfetto,paje";
    done(here, &format!("{LU} 20 {everything}"));
    // A run that is killed while it publishes its files may leave this state.
    fs::remove_file(folder.join("run.json")).unwrap();
    done(here, &format!("{LU} 24"));
    assert_eq!(names(&folder), ALWAYS);
}

#[test]
fn a_run_of_other_settings_is_not_replaced_unless_that_is_forced() {
    let scratch = tempfile::tempdir().unwrap();
    let (here, folder) = (scratch.path(), scratch.path().join("run"));
    done(here, &format!("{LU} 20 --report"));
    let before = fs::read(folder.join("run.json")).unwrap();
    let errors = refused(here, &format!("{LU} 24"));
    assert!(
        errors.contains(
            "a run with other settings than this run: `workload.n` is 20 in the folder, but 24 in this run"
        ) && errors.contains("run.json\n  hint: ")
            && errors.contains("`--force`"),
        "{errors}"
    );
    // A page of other numbers must not be left either.
    let page = "run --app lu --n 24 --procs 4 --grid 2x2 --report run/page.html";
    assert!(refused(here, page).contains("a run with other settings"));
    assert_eq!(fs::read(folder.join("run.json")).unwrap(), before);
    assert!(folder.join("report.html").exists() && !folder.join("page.html").exists());
    // Flags that change no result are no other settings.
    done(here, &format!("{LU} 20 --threads 1 --processes"));
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/platforms/ufrgs.json");
    done(here, &format!("{LU} 20 --platform {file}"));
    done(here, &format!("{LU} 24 --force"));
    assert!(!folder.join("report.html").exists());
}

#[test]
fn an_input_whose_contents_have_changed_is_another_setting() {
    let scratch = tempfile::tempdir().unwrap();
    let (here, platform) = (scratch.path(), scratch.path().join("mine.json"));
    let text = fs::read_to_string("platforms/ufrgs.json").unwrap();
    fs::write(&platform, &text).unwrap();
    let run = format!("{LU} 20 --platform mine.json");
    done(here, &run);
    done(here, &run);
    fs::write(&platform, format!("{text}\n")).unwrap();
    let errors = refused(here, &run);
    assert!(
        errors.contains("mine.json` has other contents than in the run"),
        "{errors}"
    );
}

#[test]
fn files_that_no_run_has_written_are_never_replaced() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("run");
    for name in [
        "platform.json",
        "processes.csv",
        "report.html",
        "run.json",
        "plan.json",
    ] {
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(name), "{\"mine\": true}").unwrap();
        let errors = refused(scratch.path(), &format!("{LU} 20 --force"));
        assert!(
            errors.contains(name) && errors.contains("hint: choose another folder"),
            "{errors}"
        );
        assert_eq!(names(&folder), [name]);
        fs::remove_dir_all(&folder).unwrap();
    }
}

/// Collects the keys of a JSON value and of the values inside it.
fn keys(value: &serde_json::Value, found: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(object) => {
            for (key, value) in object {
                found.push(key.clone());
                keys(value, found);
            }
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn the_reference_names_every_file_column_and_key_of_sweeps_searches_and_comparisons() {
    let scratch = tempfile::tempdir().unwrap();
    let page = fs::read_to_string("docs/reference/files.md").unwrap();
    let (_, page) = page.split_once("\n## A sweep\n").unwrap();
    // A parameter has the name of its flag; a setting is an object with these names.
    let is_known =
        |name: &str| ["alpha", "x"].contains(&name) || page.contains(&format!("`{name}`"));
    let usual = "--app lu --n 20 --procs 4 --grid 2x2 --load walk --quiet --seeds 1,2 --out";
    for (kind, more) in [
        ("sweep", "--alpha 2,4 --x 0.6,0.8"),
        ("tune", "--alpha 2,4 --x 0.6,0.8 --budget 16 --fresh 3,4"),
        ("compare", "--policies never,migbsp"),
    ] {
        let folder = scratch.path().join(kind);
        done(scratch.path(), &format!("{kind} {usual} {kind} {more}"));
        for file in names(&folder) {
            assert!(is_known(&file), "{kind}: {file}");
            let text = fs::read_to_string(folder.join(&file)).unwrap();
            let mut found = Vec::new();
            let (_, ending) = file.rsplit_once('.').unwrap();
            match ending {
                "csv" => {
                    found.extend(text.lines().next().unwrap().split(',').map(str::to_owned));
                }
                "jsonl" => {
                    let record = text.lines().next().unwrap();
                    keys(&serde_json::from_str(record).unwrap(), &mut found);
                }
                "json" => {
                    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
                    // A sweep file has its own schema.
                    value.as_object_mut().unwrap().remove("sweep");
                    keys(&value, &mut found);
                }
                _ => {}
            }
            for name in found {
                // Scenario ii has the same columns as i.
                assert!(
                    is_known(&name.replace("_ii_", "_i_").replace("_iii_", "_i_"))
                        || is_known(&name),
                    "{kind}/{file}: {name}"
                );
            }
        }
    }
}

/// Writes a platform, two loads of one name, and a table of work below `folder`, and runs two policies from there.
fn run_own_files(folder: &Path) {
    let link = r#""link": { "bandwidth": "100 MB/s", "latency": "1 us" }"#;
    let platform = format!(
        r#"{{ "schema": "migsim-platform-1", "name": "two", "clusters": [
            {{ "name": "slow", "hosts": 2, "speed": "1 GHz", {link}, "router": "a" }},
            {{ "name": "fast", "hosts": 2, "speed": "2 GHz", {link}, "router": "b" }} ],
          "routers": ["a", "b"],
          "links": [{{ "name": "wan", "from": "a", "to": "b", "bandwidth": "1 MB/s", "latency": "10 ms" }}] }}"#
    );
    let rows = (1..=20).flat_map(|step| (1..=4).map(move |one| format!("{step},{one},{one}\n")));
    let work = format!(
        "superstep,process,work [Ginstr]\n{}",
        rows.collect::<String>()
    );
    let loads = ["one", "two"].map(|one| {
        let load = json!({ "kind": "file", "file": format!("{one}/load.csv"), "on": "slow" });
        let steps = if one == "one" {
            "0,0\n9,0.5\n"
        } else {
            "0,0\n5,0.1\n"
        };
        fs::create_dir_all(folder.join(one)).unwrap();
        fs::write(
            folder.join(one).join("load.csv"),
            format!("date_s,load\n{steps}"),
        )
        .unwrap();
        load
    });
    fs::create_dir(folder.join("in")).unwrap();
    fs::write(folder.join("in/two.json"), platform).unwrap();
    fs::write(folder.join("in/work.csv"), work).unwrap();
    let experiment =
        json!({ "load": loads, "workload": { "app": "table", "work": "in/work.csv" } });
    fs::write(folder.join("e.json"), experiment.to_string()).unwrap();
    for policy in ["migbsp/every=5", "refine/every=5"] {
        let name = policy.split('/').next().unwrap();
        let run = "run e.json --platform in/two.json --mapping contiguous --quiet --processes";
        done(folder, &format!("{run} --policy {policy} --out {name}"));
    }
}

#[test]
fn a_moved_folder_is_run_explained_and_compared_without_its_input_files() {
    let made = tempfile::tempdir().unwrap();
    run_own_files(made.path());
    let text = |folder: &Path, line: &str| {
        let text = done(folder, line);
        let lines = text.lines().filter(|line| !line.contains("CPU time"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let compare = "compare migbsp refine";
    let verdict = text(made.path(), compare);
    assert!(verdict.contains("nothing is random"), "{verdict}");
    let before = text(made.path(), "run refine/run.json --quiet --json");
    // Elsewhere, with nothing but the two folders.
    let moved = tempfile::tempdir().unwrap();
    for name in ["migbsp", "refine"] {
        fs::rename(made.path().join(name), moved.path().join(name)).unwrap();
    }
    drop(made);
    let copies =
        ["load.csv", "2-load.csv", "two.json", "work.csv"].map(|name| format!("inputs/{name}"));
    assert!(
        copies
            .iter()
            .all(|name| moved.path().join("refine").join(name).is_file())
    );
    assert_eq!(text(moved.path(), compare), verdict);
    let parent = moved.path().parent().unwrap();
    let inside = |name: &str| moved.path().join(name).display().to_string();
    let (migbsp, refine) = (inside("migbsp"), inside("refine"));
    let all = format!("compare {migbsp} {refine}");
    assert_eq!(text(parent, &all), verdict);
    let scenarios = |text: &str| {
        let text: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(text["version"], env!("CARGO_PKG_VERSION"));
        text["scenarios"].clone()
    };
    let again = text(parent, &format!("run {refine} --quiet --json"));
    assert_eq!(scenarios(&before), scenarios(&again));
    let call = text(parent, &format!("explain {migbsp} --superstep 5"));
    assert!(!call.contains("unknown"), "{call}");
    text(parent, &format!("bottlenecks {refine} --quiet"));
    text(parent, &format!("report {refine}"));
    // Run again into its own folder, which has the same settings.
    let own = "run refine/run.json --quiet --out refine";
    text(moved.path(), own);
    // A column of the user is ignored; a missing file is named once.
    let path = moved.path().join("refine/supersteps.csv");
    let table = fs::read_to_string(&path).unwrap();
    let noted = table
        .lines()
        .map(|line| match line.strip_prefix("scenario,") {
            Some(rest) => format!("note,scenario,{rest}\n"),
            None => format!("mine,{line}\n"),
        });
    fs::write(&path, noted.collect::<String>()).unwrap();
    text(moved.path(), "explain refine");
    for name in &copies {
        fs::remove_file(moved.path().join("refine").join(name)).unwrap();
    }
    let errors = refused(moved.path(), "run refine/run.json --quiet");
    assert_eq!(errors.matches("error: ").count(), 1, "{errors}");
    assert!(
        errors.contains("two.json` of the run and 3 more are missing"),
        "{errors}"
    );
}

#[test]
fn what_another_run_or_sweep_has_written_is_not_replaced() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    let report = "run --app lu --procs 4 --grid 2x2 --quiet --report --n";
    done(folder, &format!("{report} 20"));
    done(folder, &format!("{report} 20"));
    let errors = refused(folder, &format!("{report} 24"));
    assert!(
        errors.contains("report.html") && errors.contains("--force"),
        "{errors}"
    );
    done(folder, &format!("{report} 24 --force"));
    let sweep = "sweep --app lu --procs 4 --grid 2x2 --n 20 --quiet --alpha";
    done(folder, &format!("{sweep} 4,8"));
    done(folder, &format!("{sweep} 4,8,12"));
    let errors = refused(folder, &format!("{sweep} 4,16"));
    assert!(
        errors.contains("other settings") && errors.contains("--out"),
        "{errors}"
    );
}

#[test]
fn a_run_that_is_too_long_for_a_viewer_keeps_its_other_files() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("run");
    let run = "run --app synthetic --procs 2 --set workload.supersteps=4 --set 'workload.instructions=1e19 instr' --policy never \
        --scenario i --quiet --write-trace perfetto,paje --out run";
    let errors = refused(scratch.path(), run);
    assert!(
        errors.contains("latest time of a trace for Perfetto"),
        "{errors}"
    );
    let mut all = ALWAYS.to_vec();
    all.push("trace-i.paje");
    assert_eq!(names(&folder), all);
}
