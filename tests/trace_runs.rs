//! Traces as applications: exported and run again with the same hash, with and without memory, hosts and settings; and the page that
//! describes the format.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::fs;

use serde_json::Value;

use crate::support::{command, done, json, lacks, refused, said};

const PAGE: &str = include_str!("../docs/trace-format.md");
const OLD: &str = include_str!("oracle/rnd-migrations/trace.txt");

/// Returns the path of a file of the tests.
fn test_file(name: &str) -> String {
    format!("{}/tests/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn hashes(summary: &Value) -> Vec<&str> {
    let scenarios = summary["scenarios"].as_array().unwrap().iter();
    scenarios
        .map(|one| one["event_hash"].as_str().unwrap())
        .collect()
}

/// A trace in its own folder.
struct Written(tempfile::TempDir);

impl Written {
    fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("app.trace"), text).unwrap();
        Self(folder)
    }

    /// Returns what a command prints about the trace with these flags.
    fn printed(&self, kind: &str, flags: &str) -> String {
        done(
            self.0.path(),
            &format!("{kind} --app trace --trace app.trace {flags}"),
        )
    }

    /// Returns the messages of a run with these flags.
    fn errors(&self, flags: &str) -> String {
        let line = format!("run --app trace --trace app.trace {flags}");
        said(&command(self.0.path(), &line))
    }

    fn json(&self, flags: &str) -> Value {
        serde_json::from_str(&self.printed("run", &format!("{flags} --json"))).unwrap()
    }

    fn shown(&self, flags: &str) -> Value {
        serde_json::from_str(&self.printed("run", &format!("{flags} --show"))).unwrap()
    }
}

#[test]
fn every_application_is_exported_and_runs_again_to_the_same_hash_with_the_command_that_the_trace_names()
 {
    let folder = tempfile::tempdir().unwrap();
    let oracle = test_file("oracle/rnd-migrations");
    let trace = format!("--platform {oracle}/platform.xml --app trace --trace {oracle}/trace.txt");
    let cases = [
        "--app lu --n 200 --procs 25",
        "--app sw --n 25",
        "--app sw --n 25 --set runtime.sends=concurrent",
        "--app lbm --set workload.supersteps=50",
        "--app synthetic --procs 20 --set workload.spread=0.5 --set workload.supersteps=20",
        trace.as_str(),
        "sw-dynamic --n 25",
        "--app lu --n 100 --procs 25 --mapping round-robin --load walk --seed 4 --policy migbsp-2007 --network lv08 --scenario iii",
        "--app lu --n 100 --procs 25 --set runtime.barrier.kind=central --set runtime.barrier.bytes=20B --set runtime.receives=late --set runtime.sends=concurrent",
    ];
    for case in cases {
        let here = folder.path();
        done(here, &format!("trace export --out app.trace {case}"));
        let text = fs::read_to_string(here.join("app.trace")).unwrap();
        let mut lines = text.lines();
        let again = lines.find_map(|line| line.strip_prefix("# the same run: migsim "));
        let again = again.expect("a trace says how it runs again");
        let original = json(here, &format!("run {case}"));
        assert_eq!(
            hashes(&original),
            hashes(&json(here, again)),
            "{case} and {again}"
        );
        assert!(text.contains("\nmemory "), "{case}");
    }
}

#[test]
fn a_trace_with_memory_pays_for_its_moves() {
    let folder = tempfile::tempdir().unwrap();
    let export = "trace export --out lu.trace --app lu --n 1000 --procs 25";
    done(folder.path(), export);
    let text = fs::read_to_string(folder.path().join("lu.trace")).unwrap();
    let is_kept = |line: &&str| !line.starts_with("memory ");
    let without: Vec<&str> = text.lines().filter(is_kept).collect();
    // The costs are neutral: a move costs the time of its memory on the network.
    let flags = "--platform ufrgs --policy migbsp";
    let paid = |written: &Written, more: &str| {
        let summary = written.json(&format!("{flags} {more}"));
        let moved = &summary["scenarios"][2];
        assert!(moved["moved"] != 0, "nothing moved: {moved}");
        let price = moved["ledger"]["migrations_s"].as_f64().unwrap();
        (price, summary)
    };
    let (price, summary) = paid(&Written::new(&text), "");
    assert!(price > 0.0);
    assert_eq!(summary["notes"], Value::Null);
    let without = Written::new(&without.join("\n"));
    let (free, summary) = paid(&without, "");
    // The latency of the routes remains as a cost.
    assert!(free < price / 10.0, "{free} and {price}");
    let told = summary["notes"][0].as_str().unwrap();
    assert!(told.contains("cost no time"), "{told}");
    let note = "note: the trace does not state the memory of its processes, so that their migrations send 0 B and cost no time; \
        state the memory with `memory` lines or `--set workload.memory=100MB`\n";
    assert_eq!(without.errors(flags), note);
    // The flag gives the same memory: 8 B for each of 1000 · 1000 / 25 elements.
    let given = "--set workload.memory=320kB";
    assert_eq!(paid(&without, given).0, price);
    assert_eq!(without.errors(&format!("{flags} {given}")), "");
}

#[test]
fn unknown_memory_is_no_matter_where_nothing_moves_or_memory_has_no_price() {
    let trace = Written::new(OLD);
    let platform = test_file("oracle/rnd-migrations/platform.xml");
    let errors = |more: &str| trace.errors(&format!("--platform {platform} {more}"));
    assert!(errors("").contains("the memory of 1 of 7 processes"));
    assert!(errors("--set costs.move.fixed=1ms").contains("cost 0.001 s each"));
    for quiet in [
        "--policy never",
        "--scenario i",
        "--set costs.move.transfer=none",
        "--set workload.memory=1MB",
    ] {
        assert_eq!(errors(quiet), "", "{quiet}");
    }
}

const SMALL: &str = "migsim-trace 2\nprocesses 4\nmemory 1MB\nstep 0\nc 0 1Ginstr\nc 1 1Ginstr\nm 0 1 1MB\nm 2 3 1MB\nstep 1\nc 3 2Ginstr\nend\n";

#[test]
fn a_trace_without_hosts_is_placed_by_the_mapping_and_its_settings_are_those_of_the_experiment() {
    let trace = Written::new(SMALL);
    assert_eq!(trace.shown("")["mapping"], "contiguous");
    assert_eq!(trace.shown("--procs 4")["workload"]["procs"], 4);
    let default = trace.shown("")["runtime"].clone();
    assert_eq!(default["sends"], "concurrent");
    assert_eq!(default["barrier"]["kind"], "ideal");
    let tree = trace.shown("--set runtime.barrier.kind=tree");
    assert_eq!(tree["runtime"]["barrier"]["kind"], "tree");
    // Corisco is slower than Labtec.
    let makespan = |mapping: &str| {
        trace.json(&format!("--mapping {mapping}"))["scenarios"][0]["makespan_s"].as_f64()
    };
    assert!(makespan("Corisco-0..Corisco-3") > makespan("Labtec-0..Labtec-3"));
    let errors = refused(
        trace.0.path(),
        "run --app trace --trace app.trace --procs 5",
    );
    assert!(
        errors.contains("has 4 processes") && errors.contains("--procs 5"),
        "{errors}"
    );
}

#[test]
fn flags_win_over_the_settings_of_a_trace() {
    let records = "runtime sends sequential\nrecv late\nbarrier central 8\nhost 0 Corisco-0\nhost 1 Corisco-1\nhost 2 Corisco-2\nhost 3 Corisco-3\nstep 0";
    let trace = Written::new(&SMALL.replace("step 0", records));
    let runtime = |set: &str| {
        let flags = if set.is_empty() {
            String::new()
        } else {
            format!("--set {set}")
        };
        let shown = trace.shown(&flags);
        let runtime = &shown["runtime"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        [
            text(&runtime["sends"]),
            text(&runtime["receives"]),
            text(&runtime["barrier"]["kind"]),
            text(&runtime["barrier"]["bytes"]),
        ]
    };
    assert_eq!(runtime(""), ["sequential", "late", "central", "8 B"]);
    assert_eq!(
        runtime("runtime.sends=concurrent"),
        ["concurrent", "late", "central", "8 B"]
    );
    assert_eq!(
        runtime("runtime.receives=early"),
        ["sequential", "early", "central", "8 B"]
    );
    assert_eq!(
        runtime("runtime.barrier.bytes=9B"),
        ["sequential", "late", "central", "9 B"]
    );
    // Another barrier has its own keys.
    assert_eq!(
        runtime("runtime.barrier.kind=tree"),
        ["sequential", "late", "tree", "0 B"]
    );
    // The built-in experiment of another application lies below the trace.
    assert_eq!(
        runtime("extends=lu"),
        ["sequential", "late", "central", "8 B"]
    );
    let hosts = |flags: &str| trace.json(flags)["scenarios"][0]["makespan_s"].as_f64();
    let placed = "--mapping Labtec-0..Labtec-3";
    assert!(hosts(placed) < hosts(""));
    let note = "note: the setting `mapping` places the processes, so that the `host` lines of the trace are ignored\n";
    assert_eq!(trace.errors(placed), note);
    assert_eq!(trace.errors(""), "");
}

#[test]
fn a_wrong_setting_of_a_trace_is_refused_at_its_place() {
    for (line, key) in [
        ("runtime sends never", "runtime.sends"),
        ("barrier ring", "runtime.barrier.kind"),
        ("runtime barrier.bytes 8", "runtime.barrier.bytes"),
        ("runtime speed 8", "runtime.speed"),
    ] {
        let trace = Written::new(&SMALL.replace("step 0", &format!("{line}\nstep 0")));
        let errors = trace.errors("");
        let column = 1 + line.rfind(' ').unwrap() + 1;
        let place = format!("--> app.trace:4:{column}, {key}");
        assert!(
            errors.contains(&place) && errors.contains("hint:"),
            "{errors}"
        );
    }
}

#[test]
fn a_run_of_a_trace_is_run_again_from_its_manifest_explained_and_reported() {
    let platform = test_file("oracle/rnd-migrations/platform.xml");
    for (text, platform) in [(OLD, platform.as_str()), (SMALL, "ufrgs")] {
        let trace = Written::new(text);
        let here = trace.0.path();
        let first = trace.json(&format!("--platform {platform} --out run"));
        assert_eq!(hashes(&first), hashes(&json(here, "run run/run.json")));
        done(here, "report run");
        done(here, "explain run --superstep 1");
        let sweep = format!("--platform {platform} --alpha 2,4 --out sweep --quiet");
        trace.printed("sweep", &sweep);
    }
}

/// Returns the block of the page in this language.
fn block(language: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_example_of_the_page_runs_and_pays_for_its_moves() {
    let trace = Written::new(block("text"));
    let summary = trace.json("--platform ufrgs");
    assert_eq!(summary["scenarios"].as_array().unwrap().len(), 3);
    assert_eq!(summary["notes"], Value::Null);
    let sheet = trace.printed("workload show", "");
    assert!(
        sheet.contains("total memory of the processes: 600 MB"),
        "{sheet}"
    );
    // The work is 1 + 1 + 4, twice, and 0.5 billion instructions.
    assert!(sheet.contains("12.5 Ginstr"), "{sheet}");
    assert_eq!(done(trace.0.path(), "schema trace"), PAGE);
}

#[test]
fn the_script_of_the_page_writes_a_trace_that_runs_where_there_is_python() {
    if lacks("python3") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut python = std::process::Command::new("python3");
    let script = python.args(["-c", block("python")]);
    assert!(
        script
            .current_dir(folder.path())
            .status()
            .unwrap()
            .success()
    );
    let summary = json(folder.path(), "run --app trace --trace ring.trace");
    assert_eq!(summary["scenarios"][0]["supersteps"], 20);
}
