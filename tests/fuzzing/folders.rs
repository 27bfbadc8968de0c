//! Folders of runs and sweeps, as `report` and `explain` read them: they are complete, or they are refused.

use migsim::{
    Registry,
    bsp::Scenario,
    error::Error,
    output::{CallExplanation, Overview, Question, Report, Run},
    sweep::{RunRow, Store, folder::page_from_folder},
};
use serde_json::Value;
use tempfile::TempDir;

use super::{check_told, scratch};

/// The files of a folder.
const FILES: [&str; 9] = [
    "run.json",
    "supersteps.csv",
    "calls.jsonl",
    "migrations.csv",
    "platform.json",
    "processes.csv",
    "links.csv",
    "plan.json",
    "runs.jsonl",
];

/// Maximum number of runs of a sweep.
const MOST_RUNS: usize = 100;

/// Checks an input that consists of the files of a folder, each after a line `== NAME`. The lines after `== rows` are rows for the runs of
/// `plan.json`; they are used again if there are too few, and get their checksums here.
pub(super) fn folder(data: &[u8]) {
    let Some(folder) = unpacked(data) else {
        return;
    };
    let path = folder.path();
    let read = if path.join("run.json").is_file() {
        read_run(&folder)
    } else {
        page_from_folder(path).map(|_| ())
    };
    if let Err(error) = read {
        check_told(&error, "", "");
    }
}

fn unpacked(data: &[u8]) -> Option<TempDir> {
    let text = std::str::from_utf8(data).ok()?.strip_prefix("== ")?;
    let folder = scratch();
    for part in text.split("\n== ") {
        let (name, content) = part.split_once('\n').unwrap_or((part, ""));
        if FILES.contains(&name) {
            // The line break before the next name belongs to the file.
            std::fs::write(folder.path().join(name), format!("{content}\n")).ok()?;
        } else if name == "rows" {
            add_rows(&folder, content)?;
        }
    }
    Some(folder)
}

fn add_rows(folder: &TempDir, rows: &str) -> Option<()> {
    let plan = std::fs::read_to_string(folder.path().join("plan.json")).ok()?;
    let plan: Value = serde_json::from_str(&plan).ok()?;
    let rows: Vec<RunRow> = rows
        .lines()
        .filter_map(|row| serde_json::from_str(row).ok())
        .collect();
    let runs = plan["runs"].as_array()?.iter().filter_map(Value::as_str);
    let mut store = Store::open(folder.path()).ok()?;
    for (run, row) in runs.zip(rows.iter().cycle()).take(MOST_RUNS) {
        store.add(run, row.clone()).ok()?;
    }
    Some(())
}

fn read_run(folder: &TempDir) -> Result<(), Error> {
    let run = Run::read(&Registry::standard(), folder.path())?;
    for scenario in [None, Some(Scenario::Ii)] {
        match Overview::new(&run, scenario) {
            Ok(overview) => {
                overview.to_text();
                overview.to_json();
            }
            Err(problem) => check_told(&problem.into(), "", ""),
        }
        for superstep in 0..4 {
            for (process, why_not) in [(None, false), (Some(1), false), (Some(2), true)] {
                let question = Question {
                    superstep,
                    process,
                    asks_why_not_moved: why_not,
                    scenario,
                };
                match CallExplanation::new(&run, question, None) {
                    Ok(story) => {
                        story.to_text();
                        story.to_json();
                    }
                    Err(problem) => check_told(&problem.into(), "", ""),
                }
            }
        }
    }
    let html = Report::read(&migsim::Registry::standard(), folder.path())?.to_html();
    assert!(html.ends_with("</html>\n"));
    Ok(())
}
