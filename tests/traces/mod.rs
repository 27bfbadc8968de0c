//! Traces for viewers, read by strict parsers and compared with the tables of the run folder. (`tests/traces/run` compares with `pj_dump`.)

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod paje;
mod perfetto;

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Output},
};

use crate::support::assert_close;

/// Updates are slow enough for migrations to pay.
const LU: &str = "--app lu --n 100 --procs 25 --set workload.instructions_per_update=100e3instr";

fn run(folder: &Path, arguments: &str, viewers: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_migsim"))
        .args(["run", "--quiet", "--processes", "--out"])
        .arg(folder)
        .args((!viewers.is_empty()).then(|| format!("--write-trace={viewers}")))
        .args(arguments.split_whitespace())
        .output()
        .unwrap()
}

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| {
        let name = entry.unwrap().file_name();
        name.to_str().unwrap().to_owned()
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn rows(folder: &Path, file: &str, scenario: &str) -> Vec<BTreeMap<String, String>> {
    let mut table = csv::Reader::from_path(folder.join(file)).unwrap();
    let rows = table.deserialize::<BTreeMap<String, String>>();
    let rows = rows.map(|row| row.unwrap());
    rows.filter(|row| row["scenario"] == scenario).collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap()
}

fn sum(rows: &[BTreeMap<String, String>], column: &str) -> f64 {
    rows.iter().map(|row| number(row, column)).sum()
}

/// Runs a case with both traces, parses them strictly, and compares them with the tables; returns the number of migrations.
fn check(arguments: &str) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), arguments, "perfetto,paje");
    assert!(output.status.success(), "{arguments}: {output:?}");
    let mut moved = 0;
    for scenario in ["i", "ii", "iii"] {
        moved += check_scenario(folder.path(), scenario, arguments);
    }
    moved
}

fn check_scenario(folder: &Path, scenario: &str, arguments: &str) -> usize {
    let what = |what: &str| format!("{what}, scenario {scenario} of {arguments}");
    let read = |suffix: &str| fs::read_to_string(folder.join(format!("trace-{scenario}.{suffix}")));
    let paje = paje::check(&read("paje").unwrap()).expect(arguments);
    let perfetto = perfetto::check(&read("perfetto.json").unwrap());
    let perfetto = perfetto.expect(arguments);

    let manifest = fs::read_to_string(folder.join("run.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let runs = manifest["summary"]["scenarios"].as_array().unwrap();
    let run = runs.iter().find(|run| run["scenario"] == scenario).unwrap();
    let makespan = run["makespan_s"].as_f64().unwrap();
    assert_eq!(paje.end, makespan, "{}", what("makespan"));
    assert!((perfetto.end as f64 - makespan * 1e9).abs() <= 1.0);

    let moves = rows(folder, "migrations.csv", scenario);
    let count = manifest["processes"].as_f64().unwrap();
    let processes = rows(folder, "processes.csv", scenario);
    let tables = Tables { processes, moves };
    check_states(&tables, (run, count), (&paje, &perfetto), &what);
    check_counters(run, (&paje, &perfetto), &what);
    check_moves(&tables.moves, (&paje, &perfetto), &what);
    tables.moves.len()
}

/// The rows of a scenario in the tables of its folder.
struct Tables {
    processes: Vec<BTreeMap<String, String>>,
    moves: Vec<BTreeMap<String, String>>,
}

/// The traces of a scenario for both viewers.
type Traces<'a> = (&'a paje::Told, &'a perfetto::Told);

/// Checks the states of the processes; the rest of the makespan is waiting, calls and migrations.
fn check_states(
    Tables { processes, moves }: &Tables,
    (run, count): (&serde_json::Value, f64),
    (paje, perfetto): Traces<'_>,
    what: &impl Fn(&str) -> String,
) {
    let makespan = paje.end;
    let took = sum(moves, "end_s") - sum(moves, "start_s");
    let expected = [
        ("compute", sum(processes, "compute_s")),
        ("communicate", sum(processes, "communication_s")),
        ("migrate", took),
    ];
    for (state, expected) in expected {
        let found = paje.seconds.get(state).copied().unwrap_or(0.0);
        assert!(
            (found - expected).abs() <= 1e-9 * makespan * count,
            "{}: {found} is not {expected}",
            what(state)
        );
        let found = perfetto.spent.get(state).copied().unwrap_or(0) as f64 * 1e-9;
        let rounding = 1e-9 * processes.len() as f64;
        assert!((found - expected).abs() <= rounding, "{}", what(state));
    }
    // In Perfetto, the time between slices is waiting.
    let [waits, waits_shown] = [
        paje.seconds.get("wait").copied().unwrap_or(0.0),
        perfetto.spent.get("wait").copied().unwrap_or(0) as f64 * 1e-9,
    ];
    assert!(!moves.is_empty() || waits_shown == 0.0, "{}", what("waits"));
    assert!(waits_shown <= waits + 1e-9 * processes.len() as f64);
    let whole = paje.seconds.values().sum::<f64>();
    assert_close(whole, makespan * count, 1e-9, &what("all states"));
    let rescheduling = paje.seconds.get("rescheduling").copied().unwrap_or(0.0);
    let cost = run["scheduling_s"].as_f64().unwrap();
    assert_close(rescheduling, cost * count, 1e-9, &what("calls"));
    assert_eq!(
        perfetto.spent.contains_key("rescheduling"),
        cost > 0.0,
        "{}",
        what("calls")
    );
}

/// Checks supersteps and counters.
fn check_counters(
    run: &serde_json::Value,
    (paje, perfetto): Traces<'_>,
    what: &impl Fn(&str) -> String,
) {
    let calls = run["calls"].as_array().unwrap().len();
    let supersteps = run["supersteps"].as_u64().unwrap();
    let numbers: Vec<f64> = (1..=supersteps).map(|number| number as f64).collect();
    assert_eq!(paje.values["superstep"], numbers);
    assert_eq!(perfetto.supersteps as u64, supersteps);
    for (name, values) in &perfetto.values {
        assert_eq!(paje.values[name], *values, "{}", what(name));
    }
    let intervals = paje
        .values
        .iter()
        .find(|(name, _)| name.starts_with("interval"));
    assert_eq!(intervals.map_or(0, |(_, values)| values.len()), calls);
}

/// Checks that links lead from host to host at the times of the migrations.
fn check_moves(
    moves: &[BTreeMap<String, String>],
    (paje, perfetto): Traces<'_>,
    what: &impl Fn(&str) -> String,
) {
    let mut found = paje.links.clone();
    found.sort_by(|a, b| (a.3, &a.0).partial_cmp(&(b.3, &b.0)).unwrap());
    let mut expected: Vec<(u64, f64, f64)> = moves
        .iter()
        .map(|row| {
            let process = row["process"].parse().unwrap();
            (process, number(row, "start_s"), number(row, "end_s"))
        })
        .collect();
    expected.sort_by(|a, b| {
        (a.2, format!("p{}", a.0))
            .partial_cmp(&(b.2, format!("p{}", b.0)))
            .unwrap()
    });
    assert_eq!(found.len(), expected.len(), "{}", what("links"));
    for (link, (process, start, end)) in found.iter().zip(&expected) {
        let (from, to) = (link.0.split('.'), link.1.split('.'));
        let mut both = from.take(1).chain(to.take(1));
        assert!(both.all(|name| name == format!("p{process}")), "{link:?}");
        assert_eq!((link.2, link.3), (*start, *end));
    }
    let mut places: Vec<String> = moves
        .iter()
        .map(|row| {
            let name = |end: &str| {
                format!(
                    "{} ({})",
                    row[&format!("{end}_host")],
                    row[&format!("{end}_cluster")]
                )
            };
            format!("{} > {}", name("from"), name("to"))
        })
        .collect();
    let arrows = perfetto.arrows.iter();
    let mut arrows: Vec<String> = arrows
        .map(|arrow| format!("{} > {}", arrow.0, arrow.1))
        .collect();
    places.sort();
    arrows.sort();
    assert_eq!(arrows, places, "{}", what("arrows"));
}

#[test]
fn traces_and_tables_agree() {
    assert!(check(LU) > 0);
    assert!(check("--app sw --n 25 --load walk") > 0);
    check("--app lbm --set workload.supersteps=60");
}

#[test]
fn traces_and_tables_agree_for_all_settings_of_the_runtime() {
    for kind in ["ideal", "central", "sequential", "tree", "dissemination"] {
        check(&format!("{LU} --set runtime.barrier.kind={kind}"));
    }
    check(&format!("{LU} --set runtime.sends=concurrent"));
    check(&format!(
        "{LU} --set runtime.sends=concurrent --set runtime.receives=late"
    ));
    check(&format!("{LU} --set runtime.shortcuts=none"));
}

#[test]
fn traces_contain_calls_and_migrations_of_every_kind() {
    for call in ["none", "additive", "overlapped", "ping-pong", "messages"] {
        check(&format!(
            "{LU} --set costs.call.model={call} --set costs.call.fixed=0.01s"
        ));
    }
    check(&format!("{LU} --set costs.call.waiting=overlapped"));
    for order in ["serial", "parallel"] {
        for wait in ["all", "movers"] {
            let moved = check(&format!(
                "{LU} --set costs.move.order={order} --set costs.move.wait={wait}"
            ));
            assert!(moved > 0);
        }
    }
    let at_no_price = "--set costs.move.transfer=none --set costs.move.fixed=0s";
    assert!(check(&format!("{LU} {at_no_price} --set costs.call.model=none")) > 0);
}

#[test]
fn traces_contain_prescribed_migrations() {
    let folder = "tests/oracle/rnd-migrations";
    assert!(
        check(&format!(
            "--app trace --trace {folder}/trace.txt --platform {folder}/platform.xml"
        )) > 0
    );
}

#[test]
fn traces_are_the_same_for_any_number_of_threads_and_go_with_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let read = |threads: u32| {
        let output = run(
            folder.path(),
            &format!("{LU} -j {threads}"),
            "paje,perfetto",
        );
        assert!(output.status.success(), "{output:?}");
        let traces = files(folder.path())
            .into_iter()
            .filter(|name| name.starts_with("trace-"));
        let traces = traces.map(|name| fs::read(folder.path().join(name)).unwrap());
        traces.collect::<Vec<_>>()
    };
    let first = read(1);
    assert_eq!(first.len(), 6);
    assert!(first == read(3));
    let output = run(folder.path(), &format!("{LU} --scenario i --force"), "paje");
    assert!(output.status.success(), "{output:?}");
    let left = |folder: &Path| -> Vec<String> {
        let is_trace = |name: &String| name.contains("trace");
        files(folder).into_iter().filter(is_trace).collect()
    };
    assert_eq!(left(folder.path()), ["trace-i.paje"]);
    run(folder.path(), &format!("{LU} --force"), "");
    assert!(left(folder.path()).is_empty());
}

#[test]
fn a_run_that_fails_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let crossing = "--platform ufrgs --app trace --trace tests/transcripts/files/crossing.trace";
    let output = run(
        folder.path(),
        &format!("{crossing} --set runtime.sends=sequential"),
        "perfetto,paje",
    );
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("deadlock"), "{errors}");
    let traces = files(folder.path());
    assert!(
        !traces.iter().any(|name| name.contains("trace")),
        "{traces:?}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_and_leaves_no_trace() {
    // No file may be larger than 8 KiB, where no results fit, or 24 KiB, where all but the trace fit and are kept.
    let sizes = [(8, "supersteps.csv"), (24, "trace-i.")];
    for (viewer, (most, first)) in ["paje", "perfetto"]
        .into_iter()
        .flat_map(|viewer| sizes.map(|size| (viewer, size)))
    {
        let folder = tempfile::tempdir().unwrap();
        let limited = format!(r#"trap '' XFSZ; ulimit -f {most}; exec "$0" "$@""#);
        let output = Command::new("bash")
            .args([
                "-c",
                &limited,
                env!("CARGO_BIN_EXE_migsim"),
                "run",
                "--quiet",
                "--out",
            ])
            .arg(folder.path())
            .args(["--scenario", "i", "--write-trace", viewer])
            .args(LU.split_whitespace())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        let told = format!("cannot write `{}", folder.path().join(first).display());
        assert!(text.contains(&told), "{text}");
        let left = files(folder.path());
        assert!(!left.iter().any(|name| name.contains("trace")), "{left:?}");
        assert_eq!(left.iter().any(|name| name == "run.json"), most == 24);
    }
}

#[test]
fn the_readers_refuse_wrong_traces() {
    let folder = tempfile::tempdir().unwrap();
    assert!(
        run(
            folder.path(),
            &format!("{LU} --scenario iii"),
            "perfetto,paje"
        )
        .status
        .success()
    );
    let paje = fs::read_to_string(folder.path().join("trace-iii.paje")).unwrap();
    let lines: Vec<&str> = paje.lines().collect();
    let find = |start: &str| {
        let found = lines.iter().position(|line| line.starts_with(start));
        found.expect(start)
    };
    let without = |at: usize| {
        let mut lines = lines.clone();
        lines.remove(at);
        lines.join("\n") + "\n"
    };
    assert!(paje::check(&paje).is_ok());
    for start in [
        "%EventDef PajeSetState",
        "0 H",
        "1 S",
        "4 w",
        "5 0.0 p3",
        "9 ",
        "10 ",
        "6 ",
    ] {
        assert!(paje::check(&without(find(start))).is_err(), "{start}");
    }
    assert!(paje::check(&without(find("7 0.0 S p2 "))).is_err());
    assert!(paje::check(&paje[..paje.len() - 1]).is_err());
    assert!(paje::check(&paje.replacen("7 0.0 S p1 w", "7 0.0 S p1 q", 1)).is_err());
    assert!(paje::check(&paje.replacen("7 0.0 S p1 w", "7 0e0 S p1 w", 1)).is_err());
    let mut swapped = lines.clone();
    let late = swapped.len() - 60;
    swapped.swap(late, late - 3000);
    assert!(paje::check(&(swapped.join("\n") + "\n")).is_err());

    let perfetto = fs::read_to_string(folder.path().join("trace-iii.perfetto.json")).unwrap();
    assert!(perfetto::check(&perfetto).is_ok());
    assert!(perfetto::check(&perfetto[..perfetto.len() - 3]).is_err());
    for (from, to) in [
        ("\"ph\":\"f\"", "\"ph\":\"s\""),
        ("\"dur\":1", "\"dur\":9999991"),
        ("\"tid\":3,\"ts\":", "\"tid\":99,\"ts\":"),
        ("\"args\":{\"value\":", "\"args\":{\"values\":"),
        ("\"name\":\"migrate\"", "\"name\":\"wait\""),
        ("\"ts\":0.0002", "\"ts\":\"0.0002\""),
    ] {
        assert!(perfetto.contains(from), "{from}");
        assert!(
            perfetto::check(&perfetto.replacen(from, to, 1)).is_err(),
            "{from}"
        );
    }
}
