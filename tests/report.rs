//! The report: one self-contained page, equal whether made from a folder or from the run, and refused if the folder is damaged.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use migsim::output::{CallExplanation, Question, Report, Run};
use miniz_oxide::inflate::decompress_to_vec_zlib;
use serde_json::Value;

use crate::support::{command, done, refused, said, succeeded};

/// Forced moves, because a small run has none otherwise.
const MOVES: &str = r#"[{ "superstep": 5, "process": 3, "to": "Aquario" }, { "superstep": 9, "process": 3, "to": "Frontal" }]"#;
const SMALL: &str = "run --app lu --n 20 --procs 4 --grid 2x2 --policy replay:moves.json --quiet";

/// Makes a small run with the activity of its processes, and returns its folder.
fn small(scratch: &Path, more: &str) -> PathBuf {
    fs::write(scratch.join("moves.json"), MOVES).unwrap();
    done(scratch, &format!("{SMALL} --out run {more}"));
    scratch.join("run")
}

/// Returns the content of the script element `id`.
fn block<'a>(page: &'a str, id: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("id=\"{id}\">")).unwrap();
    rest.split_once("</script>").unwrap().0
}

fn facts(page: &str) -> Value {
    serde_json::from_str(block(page, "facts")).unwrap()
}

/// The arrays of a page.
struct Arrays {
    bytes: Vec<u8>,
    directory: Value,
}

impl Arrays {
    fn of(page: &str) -> Self {
        let bits = |letter: u8| match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => 0,
        };
        let base64 = block(page, "arrays").as_bytes();
        let mut packed = Vec::new();
        for four in base64.chunks(4) {
            let all = four
                .iter()
                .fold(0_u32, |all, letter| all << 6 | u32::from(bits(*letter)));
            let count = 3 - four
                .iter()
                .rev()
                .take_while(|letter| **letter == b'=')
                .count();
            packed.extend(&all.to_be_bytes()[1..=count]);
        }
        Self {
            bytes: decompress_to_vec_zlib(&packed).unwrap(),
            directory: facts(page)["arrays"].clone(),
        }
    }

    fn get(&self, name: &str) -> Vec<f64> {
        let entry = &self.directory[name];
        let (start, count) = (place(&entry[1]), place(&entry[2]));
        let chunk = |size: usize| self.bytes[start..start + size * count].chunks(size);
        match entry[0].as_str().unwrap() {
            "f64" => chunk(8)
                .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
                .collect(),
            "f32" => chunk(4)
                .map(|bytes| f64::from(f32::from_le_bytes(bytes.try_into().unwrap())))
                .collect(),
            "u8" => chunk(1).map(|bytes| f64::from(bytes[0])).collect(),
            other => unreachable!("{other}"),
        }
    }

    /// Lists the row of bars of each superstep of a scenario.
    fn rows(&self, scenario: usize) -> Vec<usize> {
        let entry = &self.directory[format!("rows/{scenario}")];
        assert_eq!(entry[0], "u32");
        let (start, count) = (place(&entry[1]), place(&entry[2]));
        self.bytes[start..start + 4 * count]
            .chunks(4)
            .map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()) as usize)
            .collect()
    }
}

/// Reads an index, from a number in JSON or in an array.
fn place(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{what}: {found} is not {expected}"
    );
}

#[test]
fn the_page_of_a_folder_is_that_of_its_run_to_the_byte() {
    let scratch = tempfile::tempdir().unwrap();
    let here = scratch.path();
    small(here, "--processes --report direct.html");
    let read = |file: &str| fs::read_to_string(here.join(file)).unwrap();
    done(here, "report run");
    let page = read("run/report.html");
    assert!(page == read("direct.html"), "the two differ");
    done(here, "report run -o again.html");
    assert!(page == read("again.html"));
    // Without `--out` and without `--processes`, the page is the same.
    done(here, &format!("{SMALL} --report alone.html"));
    // It names the file of moves where it is, and not its copy.
    assert!(page == read("alone.html").replace("moves.json", "inputs/moves.json"));
}

#[test]
fn the_page_contains_the_values_of_the_tables() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = small(scratch.path(), "--processes --report");
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    let (facts, arrays) = (facts(&page), Arrays::of(&page));
    assert_eq!(
        (&facts["processes"], &facts["supersteps"], &facts["unit"]),
        (&4.into(), &41.into(), &1.into())
    );
    let mut rows = csv::Reader::from_path(folder.join("processes.csv")).unwrap();
    let (compute, communication) = (arrays.get("compute"), arrays.get("communication"));
    let mut longest: BTreeMap<(String, usize), (f64, f64)> = BTreeMap::new();
    for row in rows.records() {
        let row = row.unwrap();
        let scenario = ["i", "ii", "iii"]
            .iter()
            .position(|name| *name == &row[0])
            .unwrap();
        let number = |column: usize| row[column].parse::<f64>().unwrap();
        let (superstep, process) = (
            row[1].parse::<usize>().unwrap(),
            row[2].parse::<usize>().unwrap(),
        );
        let at = arrays.rows(scenario)[superstep - 1] * 4 + process - 1;
        let tolerance = 1.0 / 8192.0;
        assert_near(compute[at], number(7), tolerance * number(7), "computation");
        assert_near(
            communication[at],
            number(9),
            tolerance * number(9),
            "communication",
        );
        let sums = longest.entry((row[0].to_owned(), superstep)).or_default();
        *sums = (sums.0.max(number(7)), sums.1 + number(7));
    }
    for ((scenario, superstep), (most, sum)) in longest {
        let at = ["i", "ii", "iii"]
            .iter()
            .position(|name| *name == scenario)
            .unwrap();
        let found = arrays.get(&format!("imbalance/{at}"))[superstep - 1];
        if sum > 0.0 {
            assert_near(found, 4.0 * most / sum, 1e-3, "imbalance");
        } else {
            assert!(found.is_nan());
        }
    }
    // Scenario ii is scenario i with calls: its bars are equal, and stored once.
    assert_eq!(arrays.rows(0), arrays.rows(1));
    assert!(compute.len() < 2 * 41 * 4 + 1, "{}", compute.len());
    // p3 is moved twice.
    let moves = facts["scenarios"][2]["moves"].as_array().unwrap();
    assert_eq!(moves.len(), 2);
    let host = |at: usize| facts["hosts"][place(&moves[at][2])].clone();
    let cluster = |at: usize| facts["clusters"][place(&host(at)[1])].clone();
    assert_eq!(
        (cluster(0), cluster(1)),
        ("Aquario".into(), "Frontal".into())
    );
    // Its memory image crosses the links of its hosts, whatever the sizes of messages are.
    let links = facts["link_usage"]["scenarios"][2]["rows"]
        .as_array()
        .unwrap();
    assert!(
        links
            .iter()
            .any(|row| row[0] == "R1-R2" && row[2].as_f64() > Some(0.0)),
        "{links:?}"
    );
    assert_eq!(
        facts["link_usage"]["scenarios"][0]["rows"],
        Value::Array(Vec::new())
    );
    // A core of every host is busy while its process computes.
    let mut busy: BTreeMap<String, f64> = BTreeMap::new();
    let mut rows = csv::Reader::from_path(folder.join("processes.csv")).unwrap();
    for row in rows
        .records()
        .map(Result::unwrap)
        .filter(|row| &row[0] == "iii")
    {
        *busy.entry(row[4].to_owned()).or_default() += row[7].parse::<f64>().unwrap();
    }
    let makespan = facts["scenarios"][2]["makespan_s"].as_f64().unwrap();
    let machine = fs::read_to_string(folder.join("platform.json")).unwrap();
    let machine: Value = serde_json::from_str(&machine).unwrap();
    for row in facts["host_usage"]["scenarios"][2]["rows"]
        .as_array()
        .unwrap()
    {
        let cluster = usize::try_from(row[1].as_u64().unwrap()).unwrap();
        let cores = machine["clusters"][cluster]["cores"].as_f64().unwrap();
        let expected = busy[row[0].as_str().unwrap()] / makespan / cores;
        assert_near(row[2].as_f64().unwrap(), expected, 2e-6, "share of a host");
    }
}

#[test]
fn levels_of_detail_hold_the_shares_of_their_parts() {
    let scratch = tempfile::tempdir().unwrap();
    done(
        scratch.path(),
        "run --app lu --n 400 --procs 25 --quiet --report page.html",
    );
    let page = fs::read_to_string(scratch.path().join("page.html")).unwrap();
    let (facts, arrays) = (facts(&page), Arrays::of(&page));
    assert_eq!(facts["bars"]["levels"], serde_json::json!([4, 16]));
    let (start, rows, compute) = (arrays.get("start/2"), arrays.rows(2), arrays.get("compute"));
    let level = arrays.get("level/2/4/compute");
    let bins = 801_usize.div_ceil(4);
    assert_eq!(level.len(), bins * 25);
    for (process, bin) in [(0, 0), (7, 3), (24, 100), (12, 200)] {
        let units = bin * 4..((bin + 1) * 4).min(801);
        let time = start[units.end] - start[units.start];
        let sum: f64 = units.map(|unit| compute[rows[unit] * 25 + process]).sum();
        assert_near(
            level[process * bins + bin],
            255.0 * sum / time,
            0.6,
            "share of a level",
        );
    }
}

#[test]
fn the_page_of_the_main_job_stays_below_3_megabytes() {
    let scratch = tempfile::tempdir().unwrap();
    let page = scratch.path().join("page.html");
    let main_job = "run --platform ufrgs --app lu --n 2000 --procs 50 --quiet --report page.html";
    done(scratch.path(), main_job);
    let length = fs::metadata(&page).unwrap().len();
    assert!((100_000..3_000_000).contains(&length), "{length}");
    let page = fs::read_to_string(&page).unwrap();
    assert!(page.contains("Migration pays: scenario iii (with migrations) takes 52.78 s instead of 60.33 s in scenario i (application only), a gain of 12.5 %, with 15 calls and 20 migrations"));
    // The page fetches nothing: no element refers to an address outside, only to anchors and images inside the page.
    let page = [" href=\"#", " href=\"${cut.toDataURL()}\"", "url(#c"]
        .iter()
        .fold(page, |page, own| page.replace(own, ""));
    for reference in [
        " src=",
        " href=",
        "url(",
        "@import",
        "fetch(",
        "XMLHttpRequest",
    ] {
        assert!(!page.contains(reference), "{reference}");
    }
}

#[test]
fn names_are_inserted_as_texts() {
    let scratch = tempfile::tempdir().unwrap();
    let name = r#"</script><img/src=x/onerror='alert(1)'>"&{{block}}"#;
    let platform = serde_json::json!({
        "schema": "migsim-platform-1", "name": name,
        "clusters": [
            { "name": name, "hosts": 2, "speed": "1 GHz", "link": { "bandwidth": "1 Gbps", "latency": "1 us" }, "router": "a" },
            { "name": format!("{name}2"), "hosts": 2, "speed": "2 GHz", "link": { "bandwidth": "1 Gbps", "latency": "1 us" }, "router": "b" },
        ],
        "links": [{ "name": name, "from": "a", "to": "b", "bandwidth": "1 Gbps", "latency": "1 us" }],
    });
    fs::write(scratch.path().join("platform.json"), platform.to_string()).unwrap();
    let run = "run --platform platform.json --app lu --n 20 --procs 4 --grid 2x2 --quiet --report page.html";
    done(scratch.path(), run);
    let page = scratch.path().join("page.html");
    let page = fs::read_to_string(&page).unwrap();
    assert!(!page.contains("<img") && !page.contains("</script><img"));
    assert_eq!(
        page.matches("<script").count(),
        page.matches("</script>").count()
    );
    let facts = facts(&page);
    assert_eq!(facts["clusters"][0], name);
    assert_eq!(facts["clusters"][1], format!("{name}2"));
    assert!(
        page.contains("&lt;/script&gt;&lt;img/src=x/onerror='alert(1)'&gt;&quot;&amp;{{block}}")
    );
}

#[test]
fn the_page_of_a_folder_without_processes_explains_how_to_get_them() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = small(scratch.path(), "");
    assert!(!folder.join("processes.csv").exists() && !folder.join("links.csv").exists());
    done(scratch.path(), "report run");
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    let facts = facts(&page);
    assert!(
        facts["bars"]["reason"]
            .as_str()
            .unwrap()
            .contains("--processes")
    );
    assert_eq!(
        (&facts["host_usage"], &facts["link_usage"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(facts["scenarios"][2]["moves"].as_array().unwrap().len(), 2);
    assert!(facts["arrays"]["time/2"].is_array() && facts["arrays"]["rows/2"].is_null());
}

#[test]
fn a_damaged_table_of_processes_is_refused_with_file_and_line() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = small(scratch.path(), "--processes");
    let path = folder.join("processes.csv");
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(lines.len(), 1 + 3 * 41 * 4);
    let with = |at: usize, line: String| {
        let mut all: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        all[at] = line;
        all.join("\n") + "\n"
    };
    let p3 = 1 + (2 * 41 + 6) * 4 + 2; // iii, superstep 7, p3, which is in Aquario
    assert!(lines[p3].starts_with("iii,7,3,Aquario,"), "{}", lines[p3]);
    let cases = [
        (
            with(0, lines[0].replace("delay_s", "delay")),
            1,
            "no column `delay_s`",
        ),
        (
            with(5, lines[5].replacen("i,2,", "i,3,", 1)),
            6,
            "superstep 2",
        ),
        (with(9, lines[9].replacen(",0,", ",-1,", 1)), 10, "`-1`"),
        (with(9, lines[9].replacen(",0,", ",nan,", 1)), 10, "`nan`"),
        (
            with(9, format!("{},1", lines[9])),
            10,
            "this line has another number of values than the first line",
        ),
        (
            with(p3, lines[p3].replace("Aquario", "ICE")),
            p3 + 1,
            "is not on host Aquario-",
        ),
        (lines[..100].join("\n") + "\n", 101, "ends before"),
        (whole.clone() + lines[1] + "\n", 494, "more lines"),
        (whole.trim_end().to_owned(), 493, "incomplete"),
    ];
    for (damaged, line, says) in cases {
        fs::write(&path, damaged).unwrap();
        let told = refused(scratch.path(), "report run");
        let place = format!("run/processes.csv:{line}:");
        assert!(
            told.contains(says) && told.contains(&place) && told.contains("hint"),
            "{says} {line}: {told}"
        );
    }
    assert!(!folder.join("report.html").exists());
    // `explain` reads other files only.
    done(scratch.path(), "explain run --superstep 5");
}

#[test]
fn no_file_of_a_folder_makes_the_report_panic_when_it_is_cut_or_changed() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = small(scratch.path(), "--processes");
    for file in [
        "platform.json",
        "links.csv",
        "processes.csv",
        "calls.jsonl",
        "migrations.csv",
        "supersteps.csv",
        "run.json",
    ] {
        let path = folder.join(file);
        let whole = fs::read(&path).unwrap();
        let read = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            let known = migsim::Registry::standard();
            let report = Report::read(&known, &folder);
            // The page and the explanation of a call are also made if the files could be read.
            let read = report.and_then(|report| {
                drop(report.to_html());
                Run::read(&known, &folder)
            });
            let question = Question {
                superstep: 5,
                process: Some(3),
                asks_why_not_moved: false,
                scenario: None,
            };
            let story =
                |run: Run| CallExplanation::new(&run, question, None).map(|story| story.to_json());
            read.map(story).err()
        };
        let step = (whole.len() / 40).max(1);
        for at in (0..whole.len()).step_by(step) {
            let error = read(&whole[..at]);
            // JSON is complete without the newline at its end.
            let is_whole = whole[at..] == *b"\n" && whole[0] == b'{' && file != "calls.jsonl";
            assert!(error.is_some() || is_whole, "{file} {at}");
            for other in [b'9', b'-', b'"', b'\n', 0xff] {
                let mut changed = whole.clone();
                changed[at] = other;
                if let Some(error) = read(&changed) {
                    assert!(
                        error.exit_code() == 2 && error.to_string().contains("hint"),
                        "{file} {at}: {error}"
                    );
                }
            }
        }
        fs::write(&path, &whole).unwrap();
    }
}

#[test]
fn the_page_of_a_sweep_is_its_index() {
    const SWEEP: &str = "sweep --platform ufrgs --app synthetic --procs 5 --set workload.supersteps=20 --alpha 2,4,8 --quiet --out";
    let scratch = tempfile::tempdir().unwrap();
    let here = scratch.path();
    done(here, &format!("{SWEEP} sweep"));
    done(here, "report sweep -o page.html");
    let read = |file: &str| fs::read(here.join(file)).unwrap();
    assert_eq!(read("page.html"), read("sweep/index.html"));
    // At half-time, the page shows the existing rows and says that runs are missing.
    let part = here.join("part");
    done(here, &format!("{SWEEP} part --shard 1/3"));
    let output = succeeded(command(here, "report part"));
    let half_time = "only 1 of 3 runs are finished";
    assert!(said(&output).contains(half_time), "{}", said(&output));
    let page = fs::read_to_string(part.join("report.html")).unwrap();
    assert!(page.contains(half_time) && page.contains("setting 1: alpha=2"));
    // Before the first run there is also a page.
    fs::write(part.join("runs.jsonl"), "").unwrap();
    let output = succeeded(command(here, "report part"));
    assert!(said(&output).contains("only 0 of 3 runs are finished"));
}

#[test]
fn folders_without_a_run_and_unwritable_files_are_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let here = scratch.path();
    let told = refused(here, "report .");
    assert!(
        told.contains("the folder has no results of a run, sweep, search or comparison"),
        "{told}"
    );
    let told = refused(here, "report nothing");
    assert!(told.contains("there is no such folder"), "{told}");
    small(here, "");
    let told = refused(here, "report run -o no/such/page.html");
    assert!(told.contains("cannot write"), "{told}");
    // The error comes before any run.
    let told = refused(here, &format!("{SMALL} --report no/such/page.html"));
    assert!(told.contains("cannot write"), "{told}");
    let large = "run --platform ufrgs --app synthetic --procs 100 --set workload.supersteps=1000000 --memory-limit '1 GB' --report page.html";
    let told = refused(here, large);
    assert!(
        told.contains("would need about 10.1 GB of memory, more than the limit of 1.0 GB"),
        "{told}"
    );
    // An experiment is never taken for the name of a page.
    let told = refused(here, "run --report experiment.json");
    assert!(told.contains("ends in .html"), "{told}");
}

#[test]
fn a_process_that_leaves_the_barrier_late_begins_late() {
    let scratch = tempfile::tempdir().unwrap();
    let late =
        "--processes --set runtime.barrier.release=sequential --set 'runtime.barrier.bytes=1 kB'";
    let folder = small(scratch.path(), late);
    let mut dates = csv::Reader::from_path(folder.join("supersteps.csv")).unwrap();
    let dates: Vec<csv::StringRecord> = dates.records().map(Result::unwrap).collect();
    let mut rows = csv::Reader::from_path(folder.join("processes.csv")).unwrap();
    let mut late = 0;
    for (row, at) in rows.records().map(Result::unwrap).zip(0..) {
        let number = |column: usize| row[column].parse::<f64>().unwrap();
        let date = |column: usize| dates[at / 4][column].parse::<f64>().unwrap();
        late += usize::from(number(5) > 0.0);
        let arrival = date(2) + number(5) + number(7) + number(9);
        assert!(
            arrival <= date(3) * (1.0 + 1e-12),
            "{row:?} {:?}",
            dates[at / 4]
        );
    }
    assert!(late > 100, "{late}");
    done(scratch.path(), "report run");
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(
        facts(&page)["bars"]["has_delays"] == true && !Arrays::of(&page).get("delay").is_empty()
    );
}
