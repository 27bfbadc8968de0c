//! Sweeps as a user meets them: equal tables for any number of threads, parts and kills; finished runs are not repeated; invalid input.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use crate::support::{command, done, json, read, refused, said, succeeded};

/// A sweep of 24 runs.
const SWEEP: &str = "sweep --platform ufrgs --app synthetic --procs 10 --set workload.spread=0.5 --policy never,migbsp --alpha 2,4,8 \
    --seeds 1..6 --quiet";

/// Runs the sweep into a folder, with more arguments.
fn swept(scratch: &Path, folder: &str, more: &str) -> String {
    done(scratch, &format!("{SWEEP} --out {folder} {more}"))
}

const TABLES: [&str; 5] = [
    "runs.csv",
    "summary.csv",
    "lines.svg",
    "heat.svg",
    "index.html",
];

fn assert_same(scratch: &Path, first: &str, second: &str) {
    let table = |folder: &str, file| read(&scratch.join(folder), file);
    for file in TABLES {
        assert_eq!(table(first, file), table(second, file), "{file}");
    }
}

#[test]
fn tables_are_equal_for_any_number_of_threads() {
    let scratch = tempfile::tempdir().unwrap();
    let here = scratch.path();
    swept(here, "one", "-j 1");
    swept(here, "two", "-j 2");
    assert_same(here, "one", "two");
    let runs = read(here, "one/runs.csv");
    // The policy never has one setting, and migbsp has three values of alpha; each has six seeds.
    assert_eq!(runs.lines().count(), 1 + 4 * 6);
    assert!(
        runs.starts_with("setting,policy,alpha,seed,makespan_i_s,"),
        "{runs}"
    );
}

#[test]
fn all_policies_face_the_same_random_numbers() {
    let scratch = tempfile::tempdir().unwrap();
    swept(scratch.path(), ".", "");
    let text = read(scratch.path(), "runs.csv");
    let mut table = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    let alone = |setting: &str| -> Vec<&str> {
        let own = rows.iter().filter(|row| &row[0] == setting);
        own.map(|row| &row[4]).collect()
    };
    // Scenario i by seed is the same under all policies, and differs between seeds.
    assert_eq!(alone("1"), alone("2"));
    assert_eq!(alone("1"), alone("4"));
    assert_ne!(alone("1")[0], alone("1")[1]);
}

#[test]
fn a_sweep_that_was_torn_off_goes_on_where_it_was() {
    let scratch = tempfile::tempdir().unwrap();
    let (here, records) = (scratch.path(), scratch.path().join("torn/runs.jsonl"));
    swept(here, "whole", "");
    swept(here, "torn", "");
    let whole = fs::read(&records).unwrap();
    fs::write(&records, &whole[..whole.len() / 2]).unwrap();
    fs::remove_file(here.join("torn/runs.csv")).unwrap();
    swept(here, "torn", "");
    assert_same(here, "whole", "torn");
    // Finished runs are not repeated: no row is added.
    let before = fs::read(&records).unwrap();
    assert_eq!(before.len(), whole.len());
    swept(here, "torn", "");
    assert_eq!(before, fs::read(&records).unwrap());
}

#[test]
fn a_sweep_that_is_killed_three_times_gives_the_same_tables() {
    let scratch = tempfile::tempdir().unwrap();
    let (here, more) = (scratch.path(), "--x 0.5..1.0:0.025");
    swept(here, "whole", more);
    for pause in [30, 80, 150] {
        let line = format!("{SWEEP} --out killed {more}");
        let mut child = Command::new(env!("CARGO_BIN_EXE_migsim"))
            .args(line.split_whitespace())
            .current_dir(here)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        // Sends SIGKILL. If the process has already ended, the rest of the test still holds.
        let _ = child.kill();
        child.wait().unwrap();
    }
    swept(here, "killed", more);
    assert_same(here, "whole", "killed");
}

#[test]
fn seven_parts_in_any_order_make_the_whole() {
    let scratch = tempfile::tempdir().unwrap();
    let here = scratch.path();
    swept(here, "whole", "");
    for part in [5, 1, 7, 2, 6, 3, 4] {
        swept(here, &part.to_string(), &format!("--shard {part}/7"));
    }
    let merge = "sweep merge --quiet --out merged";
    let errors = refused(here, &format!("{merge} 1 7 2 6 3 4"));
    assert!(
        errors.contains("the named folders lack 3 of the 24 runs of the sweep"),
        "{errors}"
    );
    // A folder may be named twice, since equal rows agree.
    for folders in ["5 1 7 2 6 3 4", "5 1 7 2 6 3 4 5"] {
        done(here, &format!("{merge} {folders}"));
        assert_same(here, "whole", "merged");
    }
}

#[test]
fn parts_of_another_plan_and_rows_that_differ_are_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let at = |name: &str| scratch.path().join(name);
    let here = scratch.path();
    swept(here, "1", "--shard 1/2");
    swept(here, "2", "--shard 2/2");
    swept(here, "other", "--shard 2/2 --set workload.drift=0.1");
    let errors = refused(here, "sweep merge 1 other --out merged");
    assert!(
        errors.contains("the plan of this folder differs from that of"),
        "{errors}"
    );
    assert!(
        errors.contains("its fixed settings or input files are different"),
        "{errors}"
    );
    // Write the rows of another sweep under the run names of this one.
    let (plan, rows) = (read(&at("1"), "plan.json"), read(&at("1"), "runs.jsonl"));
    fs::create_dir(at("false")).unwrap();
    fs::write(at("false").join("plan.json"), plan).unwrap();
    let store = |folder: &str| migsim::sweep::Store::open(&at(folder)).unwrap();
    let id = store("1").rows.keys().next().unwrap().clone();
    store("false")
        .add(&id, migsim::sweep::RunRow::default())
        .unwrap();
    let errors = refused(here, "sweep merge 1 false --out merged");
    assert!(
        errors.contains("in this folder differ from those in"),
        "{errors}"
    );
    assert_eq!(rows, read(&at("1"), "runs.jsonl"), "nothing is lost");
}

#[test]
fn an_inconsistent_plan_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    swept(scratch.path(), ".", "");
    let plan: serde_json::Value = serde_json::from_str(&read(scratch.path(), "plan.json")).unwrap();
    for (key, value, message) in [
        (
            "seeds",
            serde_json::json!([]),
            "the list `seeds` of the plan is empty",
        ),
        (
            "settings",
            serde_json::json!([]),
            "the list `settings` of the plan is empty",
        ),
        (
            "runs",
            serde_json::json!(["a"]),
            "the plan lists 1 run instead of 24",
        ),
        (
            "names",
            serde_json::json!(["alpha"]),
            "this setting has 2 values, but the plan has 1 parameter",
        ),
    ] {
        let mut plan = plan.clone();
        plan[key] = value;
        fs::write(scratch.path().join("plan.json"), plan.to_string()).unwrap();
        for command in ["report .", "sweep merge . --out ."] {
            let errors = refused(scratch.path(), command);
            assert!(
                errors.contains(message) && errors.contains("plan.json:1:"),
                "{errors}"
            );
        }
    }
}

#[test]
fn a_run_that_fails_is_a_row_with_its_error() {
    let scratch = tempfile::tempdir().unwrap();
    let sweep = "sweep --app sw --procs 5 --scenario i --out . --n";
    let output = command(scratch.path(), &format!("{sweep} 4,5,6"));
    assert_eq!(output.status.code(), Some(1));
    let errors = said(&output);
    assert!(
        errors.starts_with(
            "2 of 3 runs failed; the error of the first: the number of processes, `procs`, is 5, but the matrix has the order 4"
        ),
        "{errors}"
    );
    let runs = read(scratch.path(), "runs.csv");
    assert_eq!(
        runs.lines()
            .filter(|line| line.contains("but the matrix has the order"))
            .count(),
        2,
        "{runs}"
    );
    // The run that did not fail has a row, and is not repeated.
    done(scratch.path(), &format!("{sweep} 5"));
}

#[test]
fn a_sweep_file_is_equivalent_to_its_flags() {
    let scratch = tempfile::tempdir().unwrap();
    let here = scratch.path();
    swept(here, "flags", "");
    let shown = swept(here, "flags", "--show");
    fs::write(here.join("sweep.json"), shown).unwrap();
    done(here, "sweep sweep.json --quiet --out file");
    assert_eq!(read(here, "flags/runs.csv"), read(here, "file/runs.csv"));
    // A flag wins over the file.
    let few = "sweep sweep.json --alpha 2 --seeds 3 --out file --dry-run";
    let text = done(here, few);
    assert!(
        text.starts_with("2 settings x 1 seed = 2 runs (all combinations)"),
        "{text}"
    );
}

#[test]
fn more_seeds_add_to_the_existing_rows() {
    let scratch = tempfile::tempdir().unwrap();
    let records = || read(scratch.path(), "runs.jsonl").lines().count();
    swept(scratch.path(), ".", "");
    assert_eq!(records(), 24);
    let more = SWEEP.replace("1..6", "1..7");
    done(scratch.path(), &format!("{more} --out ."));
    assert_eq!(records(), 28);
}

#[test]
fn a_folder_that_cannot_be_written_is_reported_before_any_run() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("file");
    fs::write(&file, "not a folder").unwrap();
    let errors = refused(scratch.path(), &format!("{SWEEP} --out file"));
    assert!(errors.starts_with("error: cannot write `"), "{errors}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "not a folder");
}

#[test]
fn files_that_a_sweep_file_names_are_found_beside_it() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("mine");
    fs::create_dir(&folder).unwrap();
    let ufrgs = Path::new(env!("CARGO_MANIFEST_DIR")).join("platforms/ufrgs.json");
    for name in ["one.json", "two.json"] {
        let text = fs::read_to_string(&ufrgs).unwrap();
        let other = if name == "one.json" { "" } else { "\n" };
        fs::write(folder.join(name), text + other).unwrap();
    }
    fs::write(folder.join("load.csv"), "0,0.5\n").unwrap();
    let sweep = r#"{
        "schema": "migsim-sweep-1",
        "experiment": {
            "platform": "one.json",
            "workload": { "app": "lu", "n": 50, "procs": 25 },
            "load": [{ "kind": "file", "file": "load.csv" }]
        },
        "vary": { "policy.migbsp.alpha": [4, 8] }
    }"#;
    fs::write(folder.join("sweep.json"), sweep).unwrap();
    let varied = sweep.replace(
        "policy.migbsp.alpha\": [4, 8]",
        "platform\": [\"one.json\", \"two.json\"]",
    );
    fs::write(folder.join("varied.json"), varied).unwrap();
    for file in ["mine/sweep.json", "mine/varied.json"] {
        let _ = fs::remove_dir_all(scratch.path().join("out"));
        done(scratch.path(), &format!("sweep {file} --quiet --out out"));
        assert_eq!(read(scratch.path(), "out/runs.csv").lines().count(), 3);
    }
}

#[test]
fn a_damaged_record_is_reported_once_and_its_run_repeated() {
    for kind in ["sweep", "tune --budget 10"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.jsonl");
        let line = format!("{kind} --app sw --n 10 --alpha 2,4 --out .");
        let repeat = || said(&succeeded(command(folder.path(), &line)));
        repeat();
        let whole = fs::read(&path).unwrap();
        let mut damaged = whole.clone();
        damaged[40] ^= 1;
        fs::write(&path, &damaged).unwrap();
        let errors = repeat();
        assert!(
            errors.contains("removed 1 record of runs that were cut off or damaged"),
            "{errors}"
        );
        let errors = repeat();
        assert!(!errors.contains("damaged"), "{errors}");
        assert_eq!(fs::read(&path).unwrap().len(), whole.len());
    }
}

#[test]
fn a_seed_that_is_fixed_is_not_passed_over() {
    let scratch = tempfile::tempdir().unwrap();
    let here = scratch.path();
    let plan = SWEEP.replace("--seeds 1..6", "--dry-run --out plan");
    let errors = refused(here, &format!("{plan} --seeds 1..4 --set seed=3"));
    assert!(
        errors.starts_with(
            "error: the seeds are 1..4, but `--set seed=3` fixes one seed\n  --> --set seed=3\n"
        ),
        "{errors}"
    );
    let one = done(here, &format!("{plan} --set seed=3"));
    assert!(one.starts_with("4 settings x 1 seed = 4 runs"));
    // A flag wins over the seeds of a file.
    let file = r#"{ "schema": "migsim-sweep-1", "experiment": { "workload": { "app": "synthetic", "procs": 5 } }, "seeds": "1..4" }"#;
    fs::write(scratch.path().join("sweep.json"), file).unwrap();
    for seed in ["--seed 3", "--set seed=3"] {
        done(here, &format!("sweep sweep.json --out out {seed}"));
        let runs = read(here, "out/runs.csv");
        assert!(runs.lines().nth(1).unwrap().starts_with("1,3,"), "{runs}");
    }
}

/// Reads the rows of a table, by the names of its columns.
fn table(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut table = csv::Reader::from_reader(text.as_bytes());
    table.deserialize().map(Result::unwrap).collect()
}

#[test]
fn a_varied_key_wins_over_the_object_that_a_flag_gives() {
    let scratch = tempfile::tempdir().unwrap();
    let here = scratch.path();
    let migbsp = r#"--set policy.migbsp={"alpha":8}"#;
    for (fixed, key, values) in [
        ("--load walk", "load.step", ["0.1", "0.3"]),
        (migbsp, "policy.migbsp.alpha", ["2", "4"]),
    ] {
        let lu = format!("--app lu --n 500 --procs 25 {fixed}");
        let varied = format!("{key}={}", values.join(","));
        done(
            here,
            &format!("sweep {lu} --vary {varied} --quiet --out {key}"),
        );
        let rows = table(&read(&here.join(key), "runs.csv"));
        assert_ne!(rows[0]["id"], rows[1]["id"]);
        assert_ne!(rows[0]["makespan_iii_s"], rows[1]["makespan_iii_s"]);
        for (row, value) in rows.iter().zip(values) {
            let run = json(here, &format!("run {lu} --set {key}={value}"));
            for (index, name) in ["i", "ii", "iii"].iter().enumerate() {
                let makespan = &run["scenarios"][index]["makespan_s"];
                assert_eq!(row[&format!("makespan_{name}_s")], makespan.to_string());
            }
        }
    }
}

#[test]
fn a_parameter_that_changes_nothing_is_refused_before_anything_runs() {
    let scratch = tempfile::tempdir().unwrap();
    let here = scratch.path();
    let sw = "--app sw --n 10 --out out";
    let whole = r#"--vary load={"kind":"walk","step":0.1},{"kind":"walk","step":0.3}"#;
    let (nothing, part) = (
        "changes nothing: its values mean the same settings",
        "overrides a part of",
    );
    let described = "--vary description=a,b --alpha";
    for (line, message) in [
        ("sweep --load walk,walk,step=0.1", nothing),
        ("tune --load walk,walk,step=0.1", nothing),
        (r#"sweep --vary scenarios=["i","ii"],["ii","i"]"#, nothing),
        // The parameter stands beside one that has an effect, in every combination of the two.
        (&format!("sweep {described} 2,4"), nothing),
        (&format!("sweep {described} 2,4 --zip"), nothing),
        (&format!("sweep {described} 2..40 --random 20"), nothing),
        (&format!("tune {described} 2..40"), nothing),
        (&format!("sweep {whole} --set load.step=0.2"), part),
        (&format!("tune {whole} --vary load.step=0.2,0.4"), part),
    ] {
        let errors = refused(here, &format!("{line} {sw}"));
        assert!(
            errors.contains(message) && errors.contains("\n  --> --"),
            "{errors}"
        );
        assert!(!here.join("out/runs.csv").exists());
    }
    // A parameter that has no effect for one of two policies or loads may vary.
    for more in [
        "--policy never,migbsp --alpha 2,4",
        "--load none,walk --vary load.step=0.1,0.3",
    ] {
        let text = done(here, &format!("sweep --dry-run {sw} {more}"));
        assert!(text.starts_with("3 settings x 1 seed = 3 runs"), "{text}");
    }
}

#[test]
fn whole_loads_platforms_and_applications_vary_under_readable_names() {
    let scratch = tempfile::tempdir().unwrap();
    let here = scratch.path();
    let names = |more: &str, column: &str| -> Vec<String> {
        let sweep = format!("sweep --scenario i --quiet --out {column} {more}");
        done(here, &sweep);
        let rows = table(&read(&here.join(column), "runs.csv"));
        rows.iter().map(|row| row[column].clone()).collect()
    };
    let loads = "--app sw --n 10 --load none,walk,step=0.2 --load ar,on=links,none";
    let expected = [
        "ar,on=links",
        "none",
        "walk,step=0.2 & ar,on=links",
        "walk,step=0.2",
    ];
    assert_eq!(names(loads, "load"), expected);
    let page = read(here, "load/index.html");
    assert!(page.contains("walk,step=0.2 &amp; ar,on=links") && !page.contains("kind"));
    let applications = "--vary workload=lu,n=50,procs=10,sw,n=10";
    assert_eq!(
        names(applications, "workload"),
        ["lu,n=50,procs=10", "sw,n=10"]
    );
    let both = "--platform ufrgs,ufrgs-sw --app lu,sw --n 20 --procs 20";
    assert_eq!(names(both, "app"), ["lu", "sw", "lu", "sw"]);
}

#[test]
fn a_sweep_file_of_shown_flags_keeps_constants_for_every_network() {
    let scratch = tempfile::tempdir().unwrap();
    let here = scratch.path();
    let flags = "sweep --app sw --n 10 --network cm02,lv08 --net tcp_gamma=20000";
    let shown = done(here, &format!("{flags} --show"));
    fs::write(here.join("sweep.json"), shown).unwrap();
    done(here, &format!("{flags} --quiet --out flags"));
    done(here, "sweep sweep.json --quiet --out file");
    let runs = |folder: &str| read(&here.join(folder), "runs.csv");
    assert_eq!(runs("flags"), runs("file"));
}

#[test]
fn results_are_printed_for_people_and_for_programs() {
    let scratch = tempfile::tempdir().unwrap();
    let printed = |more: &str| swept(scratch.path(), ".", &format!("--x 0.7,0.8 {more}"));
    // `--quiet` prints only what is requested.
    assert_eq!(printed(""), "");
    assert_eq!(printed("--format csv"), read(scratch.path(), "summary.csv"));
    let json: serde_json::Value = serde_json::from_str(&printed("--json")).unwrap();
    assert_eq!((&json["tried"], &json["planned"]), (&7.into(), &42.into()));
    let settings = json["settings"].as_array().unwrap();
    let mean = |setting: &serde_json::Value| setting["makespan_iii_mean_s"].as_f64().unwrap();
    let least = settings.iter().map(mean).fold(f64::MAX, f64::min);
    let best = settings.iter().filter(|setting| mean(setting) == least);
    let best: Vec<&serde_json::Value> = best.map(|setting| &setting["setting"]).collect();
    assert_eq!(
        json["best"].as_array().unwrap().iter().collect::<Vec<_>>(),
        best
    );
    for form in ["--dry-run", "--show"] {
        refused(scratch.path(), &format!("{SWEEP} --out . --json {form}"));
    }
}

#[test]
fn studies_leave_the_folders_of_sweeps_and_runs_as_they_are() {
    let scratch = tempfile::tempdir().unwrap();
    let case = "--app synthetic --procs 4 --set workload.supersteps=4";
    done(
        scratch.path(),
        &format!("sweep {case} --policy never,refine --out s --quiet"),
    );
    done(scratch.path(), &format!("run {case} --out r --quiet"));
    for study in ["tune --budget 8", "advise --policies refine", "bottlenecks"] {
        for (folder, of) in [("s", "migsim sweep"), ("r", "migsim run")] {
            let told = refused(scratch.path(), &format!("{study} {case} --out {folder}"));
            assert!(
                told.contains(&format!("already holds the results of `{of}`")),
                "{told}"
            );
        }
    }
}

#[test]
#[cfg(unix)]
fn ctrl_c_prints_the_kept_runs_and_how_to_continue() {
    let scratch = tempfile::tempdir().unwrap();
    let usual = "--app synthetic --procs 10 --set workload.supersteps=300 --load ar --seeds 1..9";
    for command in ["sweep --alpha 2..64", "tune --budget 500"] {
        let folder = scratch.path().join(&command[..4]);
        // The signal may be ignored where the tests run.
        let child = Command::new("env")
            .args(["--default-signal=INT", env!("CARGO_BIN_EXE_migsim")])
            .args(format!("{command} {usual} --out").split(' '))
            .arg(&folder)
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let runs = folder.join("runs.jsonl");
        while !fs::metadata(&runs).is_ok_and(|file| file.len() > 0) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let kill = format!("kill -INT {}", child.id());
        let killed = Command::new("sh").args(["-c", &kill]).status();
        assert!(killed.unwrap().success());
        let output = child.wait_with_output().unwrap();
        let errors = said(&output);
        assert_eq!(output.status.code(), Some(130), "{errors}");
        let last = errors.lines().last().unwrap();
        assert!(
            last.ends_with("; to continue, repeat the same command"),
            "{errors}"
        );
        let kept = last.strip_prefix("the results of ").unwrap();
        let kept: usize = kept.split(' ').next().unwrap().parse().unwrap();
        let records = fs::read_to_string(&runs).unwrap();
        assert_eq!(records.lines().count(), kept, "{errors}");
        assert!(records.ends_with('\n'));
    }
}

#[test]
fn the_best_ten_settings_are_printed_with_their_ties() {
    let scratch = tempfile::tempdir().unwrap();
    let text = |out: &str, more: &str| {
        let line = format!("sweep --app sw --n 10 --out {out} {more}");
        done(scratch.path(), &line)
    };
    let tied = text("tied", "--vary policy.migbsp.delta=0.8,0.9,1.0");
    assert!(
        tied.contains(
            "\nbest makespan of scenario iii (with migrations) [s]: 4 of 4 settings tie at "
        ),
        "{tied}"
    );
    let page = read(&scratch.path().join("tied"), "index.html");
    assert!(page.contains("4 of 4 settings tie at "));
    let many = text("many", "--alpha 1..4 --d 0.1,0.5,0.9");
    let lines: Vec<&str> = many.lines().collect();
    let head = lines
        .iter()
        .position(|line| line.starts_with("setting  alpha"));
    let table = &lines[head.unwrap()..];
    assert_eq!(
        table[11], "and 2 more settings, which are in summary.csv",
        "{many}"
    );
    let time = |line: &&str| -> f64 { line.split_whitespace().nth(3).unwrap().parse().unwrap() };
    assert!(table[1..11].is_sorted_by_key(time), "{many}");
    assert!(many.contains(" of 12 settings"), "{many}");
    // The means of drawn loads are those over the seeds of the sweep.
    let drawn = text("drawn", "--alpha 2,4 --load walk --seeds 1..3");
    assert!(
        drawn.contains("chosen as the best of 2 on these seeds"),
        "{drawn}"
    );
}
