//! Sweeps as a user meets them: the same tables for any number of threads, parts and kills; what is there is not run again; bad input.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::support::{SYNTHETIC, migsim, migsim_in, read, said, succeeded};

/// Runs a sweep of 24 runs into `folder`, with more arguments.
const SWEEP: &[&str] = &[
    "--policy",
    "never,migbsp",
    "--alpha",
    "2,4,8",
    "--seeds",
    "1..6",
    "--quiet",
    "--out",
];

/// The whole of its arguments.
fn sweep_into<'a>(folder: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    let folder = [folder.to_str().unwrap()];
    [&["sweep"], SYNTHETIC, SWEEP, &folder, more].concat()
}

fn swept(folder: &Path, more: &[&str]) -> Output {
    succeeded(migsim(&sweep_into(folder, more)))
}

const TABLES: [&str; 5] = [
    "runs.csv",
    "summary.csv",
    "lines.svg",
    "heat.svg",
    "index.html",
];

fn assert_same(first: &Path, second: &Path) {
    for file in TABLES {
        assert_eq!(read(first, file), read(second, file), "{file}");
    }
}

#[test]
fn tables_are_equal_for_any_number_of_threads() {
    let scratch = tempfile::tempdir().unwrap();
    let (one, two) = (scratch.path().join("1"), scratch.path().join("2"));
    swept(&one, &["-j", "1"]);
    swept(&two, &["-j", "2"]);
    assert_same(&one, &two);
    let runs = read(&one, "runs.csv");
    // never once, migbsp with three values of alpha, six seeds each.
    assert_eq!(runs.lines().count(), 1 + 4 * 6);
    assert!(
        runs.starts_with("setting,policy,alpha,seed,makespan_i_s,"),
        "{runs}"
    );
}

#[test]
fn all_policies_face_the_same_random_numbers() {
    let scratch = tempfile::tempdir().unwrap();
    swept(scratch.path(), &[]);
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
    let (whole, torn) = (scratch.path().join("whole"), scratch.path().join("torn"));
    swept(&whole, &[]);
    swept(&torn, &[]);
    let records = fs::read(torn.join("runs.jsonl")).unwrap();
    fs::write(torn.join("runs.jsonl"), &records[..records.len() / 2]).unwrap();
    fs::remove_file(torn.join("runs.csv")).unwrap();
    swept(&torn, &[]);
    assert_same(&whole, &torn);
    // What is there is not run again: nothing is added.
    let before = fs::read(torn.join("runs.jsonl")).unwrap();
    assert_eq!(before.len(), records.len());
    swept(&torn, &[]);
    assert_eq!(before, fs::read(torn.join("runs.jsonl")).unwrap());
}

#[test]
fn a_sweep_that_is_killed_three_times_gives_the_same_tables() {
    let scratch = tempfile::tempdir().unwrap();
    let (whole, killed) = (scratch.path().join("whole"), scratch.path().join("killed"));
    let more = ["--x", "0.5..1.0:0.025"];
    swept(&whole, &more);
    for pause in [30, 80, 150] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_migsim"))
            .args(sweep_into(&killed, &more))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(pause));
        // SIGKILL; if it has ended before, the rest of the test still holds.
        let _ = child.kill();
        child.wait().unwrap();
    }
    swept(&killed, &more);
    assert_same(&whole, &killed);
}

#[test]
fn seven_parts_in_any_order_make_the_whole() {
    let scratch = tempfile::tempdir().unwrap();
    let whole = scratch.path().join("whole");
    swept(&whole, &[]);
    let parts: Vec<_> = [5, 1, 7, 2, 6, 3, 4]
        .map(|part| {
            let folder = scratch.path().join(format!("part-{part}"));
            swept(&folder, &["--shard", &format!("{part}/7")]);
            folder.to_str().unwrap().to_owned()
        })
        .to_vec();
    let merged = scratch.path().join("merged");
    let merge = |folders: &[String]| {
        let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
        migsim(
            &[
                &[
                    "sweep",
                    "merge",
                    "--quiet",
                    "--out",
                    merged.to_str().unwrap(),
                ],
                &folders[..],
            ]
            .concat(),
        )
    };
    let missing = merge(&parts[1..]);
    assert_eq!(missing.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&missing.stderr);
    assert!(
        errors.contains("runs are in none of the folders"),
        "{errors}"
    );
    let output = merge(&parts);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_same(&whole, &merged);
    // A folder may be named twice: duplicates agree.
    assert!(merge(&[&parts[..], &parts[..1]].concat()).status.success());
    assert_same(&whole, &merged);
}

#[test]
fn parts_of_another_plan_and_rows_that_differ_are_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let at = |name: &str| scratch.path().join(name);
    swept(&at("1"), &["--shard", "1/2"]);
    swept(&at("2"), &["--shard", "2/2"]);
    swept(
        &at("other"),
        &["--shard", "2/2", "--set", "workload.drift=0.1"],
    );
    let merge = |names: [&str; 2]| {
        let [first, second] = names.map(|name| at(name).to_str().unwrap().to_owned());
        let output = migsim(&[
            "sweep",
            "merge",
            &first,
            &second,
            "--out",
            at("merged").to_str().unwrap(),
        ]);
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, errors) = merge(["1", "other"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("the plan is not the one of"), "{errors}");
    assert!(errors.contains("other settings or input files"), "{errors}");
    // The rows of another sweep under the names of this one's.
    let (plan, rows) = (read(&at("1"), "plan.json"), read(&at("1"), "runs.jsonl"));
    fs::create_dir(at("false")).unwrap();
    fs::write(at("false").join("plan.json"), plan).unwrap();
    let store = |folder: &str| migsim::sweep::Store::open(&at(folder)).unwrap();
    let id = store("1").rows().keys().next().unwrap().clone();
    store("false")
        .add(&id, migsim::sweep::Row::default())
        .unwrap();
    let (code, errors) = merge(["1", "false"]);
    assert_eq!(code, Some(2));
    assert!(
        errors.contains("has other results here than in"),
        "{errors}"
    );
    assert_eq!(rows, read(&at("1"), "runs.jsonl"), "nothing is lost");
}

#[test]
fn a_plan_whose_parts_do_not_fit_together_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    swept(scratch.path(), &[]);
    let plan: serde_json::Value = serde_json::from_str(&read(scratch.path(), "plan.json")).unwrap();
    for (key, value, message) in [
        ("seeds", serde_json::json!([]), "a plan without seeds"),
        ("settings", serde_json::json!([]), "a plan without settings"),
        ("runs", serde_json::json!(["a"]), "1 runs instead of 24"),
        (
            "names",
            serde_json::json!(["alpha"]),
            "2 values of 1 parameters",
        ),
    ] {
        let mut plan = plan.clone();
        plan[key] = value;
        fs::write(scratch.path().join("plan.json"), plan.to_string()).unwrap();
        let folder = scratch.path().to_str().unwrap();
        for command in [
            &["report", folder][..],
            &["sweep", "merge", folder, "--out", folder],
        ] {
            let output = migsim(command);
            assert_eq!(output.status.code(), Some(2), "{}", said(&output));
            let place = "plan.json:1:";
            assert!(
                said(&output).contains(message) && said(&output).contains(place),
                "{}",
                said(&output)
            );
        }
    }
}

#[test]
fn a_run_that_fails_is_a_row_with_its_error() {
    let scratch = tempfile::tempdir().unwrap();
    let sweep = |more: &[&str]| {
        let start = [
            "sweep",
            "--app",
            "sw",
            "--procs",
            "5",
            "--scenario",
            "i",
            "--out",
            scratch.path().to_str().unwrap(),
        ];
        migsim(&[&start[..], more].concat())
    };
    let output = sweep(&["--n", "4,5,6"]);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.starts_with("2 of 3 runs failed, the first: `procs` is 5 for a matrix of order 4"),
        "{errors}"
    );
    let runs = read(scratch.path(), "runs.csv");
    assert_eq!(
        runs.lines()
            .filter(|line| line.contains("for a matrix of order"))
            .count(),
        2,
        "{runs}"
    );
    // The one that does not fail is there, and in no need of another run.
    assert_eq!(sweep(&["--n", "5"]).status.code(), Some(0));
}

#[test]
fn a_sweep_file_says_the_same_as_the_flags() {
    let scratch = tempfile::tempdir().unwrap();
    let (flags, file) = (scratch.path().join("flags"), scratch.path().join("file"));
    swept(&flags, &[]);
    let shown = swept(&flags, &["--show"]);
    let path = scratch.path().join("sweep.json");
    fs::write(&path, &shown.stdout).unwrap();
    let output = migsim(&[
        "sweep",
        path.to_str().unwrap(),
        "--quiet",
        "--out",
        file.to_str().unwrap(),
    ]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(read(&flags, "runs.csv"), read(&file, "runs.csv"));
    // A flag wins over the file.
    let few = migsim(&[
        "sweep",
        path.to_str().unwrap(),
        "--alpha",
        "2",
        "--seeds",
        "3",
        "--out",
        file.to_str().unwrap(),
        "--dry-run",
    ]);
    let text = String::from_utf8(few.stdout).unwrap();
    assert!(
        text.starts_with("2 settings x 1 seed = 2 runs (grid)"),
        "{text}"
    );
}

#[test]
fn more_seeds_add_to_what_is_there() {
    let scratch = tempfile::tempdir().unwrap();
    let records = || read(scratch.path(), "runs.jsonl").lines().count();
    swept(scratch.path(), &[]);
    assert_eq!(records(), 24);
    let mut more = sweep_into(scratch.path(), &[]);
    let seeds = more
        .iter()
        .position(|argument| *argument == "1..6")
        .unwrap();
    more[seeds] = "1..7";
    succeeded(migsim(&more));
    assert_eq!(records(), 28);
}

#[test]
fn a_folder_that_cannot_be_written_is_said_before_anything_runs() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("file");
    fs::write(&file, "not a folder").unwrap();
    let output = migsim(&sweep_into(&file, &[]));
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.starts_with("error: cannot write `"), "{errors}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "not a folder");
}

/// A Slurm that runs every task at once, but for task 2 the first time.
pub(crate) const SBATCH: &str = r#"#!/bin/bash
for argument in "$@"; do
  case "$argument" in --array=*) tasks=${argument#--array=} ;; esac
  script=$argument
done
echo "$tasks" >> "$(dirname "$0")/arrays"
for task in ${tasks//,/ }; do
  if [ "$task" = 2 ] && [ ! -e "$(dirname "$0")/preempted" ]; then touch "$(dirname "$0")/preempted"; continue; fi
  SLURM_ARRAY_TASK_ID=$task bash "$script" >&2
done
echo "77;cluster"
"#;

/// Programs of these names and texts in a folder of their own.
pub(crate) fn programs(scratch: &Path, texts: &[(&str, &str)]) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let bin = scratch.join("bin");
    fs::create_dir(&bin).unwrap();
    for (name, text) in texts {
        fs::write(bin.join(name), text).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    bin
}

#[test]
fn a_job_array_is_submitted_awaited_merged_and_submitted_again() {
    let scratch = tempfile::tempdir().unwrap();
    let (whole, slurm) = (
        scratch.path().join("whole"),
        scratch.path().join("it's slurm"),
    );
    let fakes = [("sbatch", SBATCH), ("squeue", "#!/bin/bash\n")];
    let bin = programs(scratch.path(), &fakes);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let submit = |more: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_migsim"))
            .args(sweep_into(&slurm, &[&["--shards", "3"], more].concat()))
            .env("PATH", &path)
            .output()
            .unwrap()
    };
    let script = String::from_utf8(
        submit(&["--slurm-dry-run", "--sbatch-option", "partition=short"]).stdout,
    )
    .unwrap();
    assert!(
        script.starts_with("#!/bin/bash\n")
            && script.contains("'--array=1,2,3'")
            && script.contains("'--partition=short'"),
        "{script}"
    );
    assert!(!slurm.exists(), "a dry run writes nothing");
    let first = submit(&["--slurm"]);
    let errors = String::from_utf8_lossy(&first.stderr);
    assert_eq!(first.status.code(), Some(1), "{errors}");
    assert!(
        errors.starts_with("error: 1 of 3 tasks have not done their part: 2\n"),
        "{errors}"
    );
    let second = submit(&["--slurm"]);
    assert!(
        second.status.success(),
        "{}",
        String::from_utf8_lossy(&second.stderr)
    );
    assert_eq!(
        fs::read_to_string(bin.join("arrays")).unwrap(),
        "1,2,3\n2\n"
    );
    swept(&whole, &[]);
    assert_same(&whole, &slurm);
}

#[test]
fn files_that_a_sweep_file_names_are_found_beside_it() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("mine");
    fs::create_dir(&folder).unwrap();
    let ufrgs = Path::new(env!("CARGO_MANIFEST_DIR")).join("platforms/ufrgs.json");
    for name in ["one.json", "two.json"] {
        fs::copy(&ufrgs, folder.join(name)).unwrap();
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
        let arguments = ["sweep", file, "--quiet", "--out", "out"];
        succeeded(migsim_in(scratch.path(), &arguments));
        assert_eq!(
            read(&scratch.path().join("out"), "runs.csv")
                .lines()
                .count(),
            3
        );
    }
}

#[test]
fn a_damaged_record_is_told_of_once_and_done_again() {
    for command in [&["sweep"][..], &["tune", "--budget", "10"]] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.jsonl");
        let arguments = ["--app", "sw", "--n", "10", "--alpha", "2,4", "--out"];
        let folder = [folder.path().to_str().unwrap()];
        let arguments = [command, &arguments, &folder].concat();
        succeeded(migsim(&arguments));
        let whole = fs::read(&path).unwrap();
        let mut damaged = whole.clone();
        damaged[40] ^= 1;
        fs::write(&path, &damaged).unwrap();
        let errors = said(&succeeded(migsim(&arguments)));
        assert!(errors.contains("1 record cut off or damaged"), "{errors}");
        let errors = said(&succeeded(migsim(&arguments)));
        assert!(!errors.contains("damaged"), "{errors}");
        assert_eq!(fs::read(&path).unwrap().len(), whole.len());
    }
}

#[test]
fn a_seed_that_is_fixed_is_not_passed_over() {
    let plan = |arguments: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let start = sweep_into(folder.path(), &["--dry-run"]);
        let start: Vec<&str> = start
            .into_iter()
            .filter(|one| !["--seeds", "1..6"].contains(one))
            .collect();
        migsim(&[&start, arguments].concat())
    };
    let refused = plan(&["--seeds", "1..4", "--set", "seed=3"]);
    assert_eq!(refused.status.code(), Some(2));
    let errors = said(&refused);
    assert!(
        errors.starts_with(
            "error: the seeds are 1..4, and `--set seed=3` fixes one\n  --> --set seed=3\n"
        ),
        "{errors}"
    );
    let one = succeeded(plan(&["--set", "seed=3"]));
    assert!(String::from_utf8_lossy(&one.stdout).starts_with("4 settings x 1 seed = 4 runs"));
    // A flag wins over the seeds of a file.
    let scratch = tempfile::tempdir().unwrap();
    let file = r#"{ "schema": "migsim-sweep-1", "experiment": { "workload": { "app": "synthetic", "procs": 5 } }, "seeds": "1..4" }"#;
    fs::write(scratch.path().join("sweep.json"), file).unwrap();
    for seed in [&["--seed", "3"][..], &["--set", "seed=3"]] {
        let arguments = [&["sweep", "sweep.json", "--out", "out"], seed].concat();
        succeeded(migsim_in(scratch.path(), &arguments));
        let runs = read(&scratch.path().join("out"), "runs.csv");
        assert!(runs.lines().nth(1).unwrap().starts_with("1,3,"), "{runs}");
    }
}
