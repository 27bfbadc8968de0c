//! Predictions and measurements: the committed page equals the output of the command, and the errors are as small as the page says.

use std::{fs, path::Path};

use crate::support::migsim;

fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let half = numbers.len() / 2;
    if numbers.len() % 2 == 1 {
        numbers[half]
    } else {
        f64::midpoint(numbers[half - 1], numbers[half])
    }
}

#[test]
fn the_committed_page_equals_the_output_and_its_errors_are_small() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let scratch = tempfile::tempdir().unwrap();
    let is_update = std::env::var_os("UPDATE_RESULTS").is_some();
    let folder = if is_update { &*results } else { scratch.path() };
    let arguments = ["reproduce", "reality", "--quiet", "--out"];
    let output = migsim(&[&arguments[..], &[folder.to_str().unwrap()]].concat());
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    for name in [
        "reality.md",
        "reality.csv",
        "reality-scatter.svg",
        "reality-ratios.svg",
    ] {
        let read = |folder: &Path| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let hint = "run `migsim reproduce reality --out results`";
        assert!(
            read(&results) == read(folder),
            "results/{name} is not current: {hint}"
        );
    }
    let table = fs::read(folder.join("reality.csv")).unwrap();
    let mut rows = csv::Reader::from_reader(&*table);
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 29);
    let errors = |class: &str| -> Vec<f64> {
        let is_meant = |row: &&csv::StringRecord| class.is_empty() || &row[1] == class;
        let rows = rows.iter().filter(is_meant);
        rows.map(|row| row[8].parse::<f64>().unwrap().abs())
            .collect()
    };
    assert!(median(errors("")) <= 2.5);
    assert!(median(errors("latency")) <= 4.0);
    let near = errors("").iter().filter(|error| **error <= 5.0).count();
    assert!(near as f64 >= 0.65 * 29.0, "{near} of 29");
    let page = fs::read_to_string(folder.join("reality.md")).unwrap();
    let (_, barriers) = page.split_once("## Barriers").unwrap();
    let rows = barriers.lines().filter(|line| line.starts_with("| `"));
    let off = rows.map(|row| row.split('|').nth(5).unwrap().trim().parse::<f64>());
    let off: Vec<f64> = off.map(Result::unwrap).collect();
    assert_eq!(off.len(), 12);
    assert!(off.iter().all(|off| off.abs() <= 3.0), "{off:?}");
    // For recorded programs the packets wait in queues, as in the emulated network.
    let (_, recorded) = page.split_once("## Recorded programs").unwrap();
    let rows = recorded.lines().filter(|line| line.ends_with(" |"));
    let cells = rows.map(|row| row.split('|').map(str::trim).collect::<Vec<_>>());
    let programs = cells.filter(|cells| {
        let is_heat = cells[1].starts_with("heat");
        cells.len() == 12 && (is_heat || cells[2] == "second" || cells[3] == "`two-slow`")
    });
    let off: Vec<f64> = programs.map(|cells| cells[10].parse().unwrap()).collect();
    assert_eq!(off.len(), 10);
    assert!(off.iter().all(|off| off.abs() <= 5.0), "{off:?}");
}
