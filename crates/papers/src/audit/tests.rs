//! The committed page and tables equal the output of the command: the page as a whole, the tables in a sample.
//!
//! Computing all rows takes minutes. The page is therefore made again from the committed tables, with all counts computed again. For each
//! paper, two numbers with the ends of their windows and two options are computed again (one each for LU), and the held-out predictions of
//! all papers except LU. The sample is drawn by the SHA-256 of paper and keys, so that it is not chosen by hand and changes with the
//! settings.

use sha2::{Digest as _, Sha256};

use super::ablation::{Ablation, ablate_option};
use super::held_out::predict_held_out_and_refit;
use super::sensitivity::{results_without_loss, sensitivity_without_window};
use super::settings::{Setting, papers_with_settings};
use super::*;
use crate::reproduce::read_facts;
use migsim_base::error::Problem;

const RENEW: &str = "is not current: run `migsim reproduce audit --out results`";

/// Number of numbers, and of options, that are drawn for each paper.
const DRAWN: usize = 2;

fn committed(name: &str) -> Result<String, Error> {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../results")
        .join(name);
    std::fs::read_to_string(file).map_err(|error| Problem::new(error.to_string()).into())
}

fn drawn(subject: &AuditedPaper, is_wanted: impl Fn(&Setting) -> bool) -> Vec<&Setting> {
    let mut all: Vec<&Setting> = subject
        .settings
        .iter()
        .filter(|one| is_wanted(one))
        .collect();
    all.sort_by_key(|one| {
        let name = format!("{} {}", subject.paper.name, one.keys.join(" "));
        Sha256::digest(name).to_vec()
    });
    // A reproduction of LU takes ten times as long as that of another paper.
    all.truncate(if subject.paper.name == "lu" { 1 } else { DRAWN });
    all
}

/// Asserts that no result is lost at the last step of a window, and that one is lost at the next step.
fn assert_window(subject: &AuditedPaper, setting: &Setting, (is_above, last): (bool, f64)) {
    let progress = Progress::default();
    let keeps = |step: f64| {
        results_without_loss((setting, is_above, step), &subject.accuracy, &progress).is_some()
    };
    let next = WINDOW_STEPS.iter().find(|&&step| step > last);
    assert!(
        last == 0.0 || keeps(last),
        "{:?} at {last} % {RENEW}",
        setting.keys
    );
    assert!(
        next.is_none_or(|&next| !keeps(next)),
        "{:?} beyond {last} % {RENEW}",
        setting.keys
    );
}

#[test]
fn the_committed_audit_equals_the_output_of_the_command() {
    let progress = Progress::default();
    let tables = AuditTables::read(committed).unwrap();
    for page in tables.csv_pages().unwrap() {
        assert!(
            committed(&page.name).unwrap() == page.text,
            "results/{} is no table of ours",
            page.name
        );
    }
    let subjects = AuditedPaper::reproduce_all_papers(&progress).unwrap();
    let page = audit_page(&subjects, &tables).unwrap();
    assert!(
        committed(&page.name).unwrap() == page.text,
        "results/{} {RENEW}",
        page.name
    );

    for subject in &subjects {
        let paper = subject.paper.name;
        let numbers: Vec<&Setting> = subject
            .settings
            .iter()
            .filter(|one| one.is_number())
            .collect();
        let listed = tables.sensitivity.iter().filter(|row| row.paper == paper);
        let listed: Vec<&str> = listed.map(|row| row.keys.as_str()).collect();
        let expected: Vec<String> = numbers.iter().map(|one| one.keys.join(" ")).collect();
        assert_eq!(listed, expected, "results/audit-sensitivity.csv {RENEW}");
        for setting in drawn(subject, Setting::is_number) {
            let keys = setting.keys.join(" ");
            let mut rows = tables.sensitivity.iter();
            let committed = rows
                .find(|row| row.paper == paper && row.keys == keys)
                .unwrap();
            let row = Sensitivity {
                window_below: committed.window_below,
                window_above: committed.window_above,
                ..sensitivity_without_window(setting, &subject.accuracy, &progress)
            };
            assert_eq!(row, *committed, "results/audit-sensitivity.csv {RENEW}");
            assert_window(subject, setting, (false, row.window_below));
            assert_window(subject, setting, (true, row.window_above));
        }
        let unknown = |row: &&Ablation| row.refused.contains("unknown v");
        let refused: Vec<&Ablation> = tables.ablation.iter().filter(unknown).collect();
        assert!(refused.is_empty(), "no value of that key: {refused:?}");
        for setting in drawn(subject, |one| !one.is_number()) {
            for row in ablate_option(setting, &subject.accuracy, &progress) {
                let found = tables.ablation.contains(&row);
                assert!(found, "results/audit-ablation.csv {RENEW}: {row:?}");
            }
        }
        // The runs of LU take a hundred times as long as those of all other papers.
        if paper != "lu" {
            let cells = subject.table_cells();
            let cells = (&*cells, &subject.accuracy);
            let (rows, refitted) =
                predict_held_out_and_refit(subject.paper, &subject.settings, cells, &progress)
                    .unwrap();
            let listed: Vec<&HeldOutPrediction> = tables
                .held_out
                .iter()
                .filter(|row| row.paper == paper)
                .collect();
            assert_eq!(
                listed,
                rows.iter().collect::<Vec<_>>(),
                "results/audit-held-out.csv {RENEW}"
            );
            assert!(
                refitted.iter().all(|row| tables.refitted.contains(row)),
                "results/audit-refitted.csv {RENEW}"
            );
        }
    }
}

#[test]
fn searches_are_recorded_in_the_files_that_are_named() {
    let digits = |text: &str| -> String {
        // The texts 85 440 and 12,000 mean 85440 and 12000.
        let chars: Vec<char> = text.chars().collect();
        let is_digit = |at: Option<&char>| at.is_some_and(char::is_ascii_digit);
        let keeps = |at: usize| {
            let between = is_digit(at.checked_sub(1).and_then(|at| chars.get(at)))
                && is_digit(chars.get(at + 1));
            !(matches!(chars[at], ' ' | ',') && between)
        };
        (0..chars.len())
            .filter(|&at| keeps(at))
            .map(|at| chars[at])
            .collect()
    };
    let mut count = 0;
    for paper in papers_with_settings() {
        for search in read_facts(paper).unwrap().audit.searched {
            let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../..")
                .join(&search.source);
            let text = digits(&std::fs::read_to_string(&file).unwrap());
            let wanted = search.settings.to_string();
            let mut numbers = text.split(|letter: char| !letter.is_ascii_digit());
            assert!(
                numbers.any(|number| number == wanted),
                "{}: {wanted}",
                search.source
            );
            count += 1;
        }
    }
    assert!(count > 0);
}
