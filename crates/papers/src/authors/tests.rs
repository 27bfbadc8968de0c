//! The built-in cases, and folders with faults.

use std::fs;

use super::*;

#[test]
fn every_stored_call_comes_out_to_the_last_bit() {
    let authors = compare_with_authors(None).unwrap();
    let counts = authors.counts;
    assert_eq!(
        [authors.cases, counts.calls, counts.potentials, counts.moves],
        [61, 151, 19_116, 3_943]
    );
    let differences = authors.by_case.iter().flat_map(|one| &one.differences);
    assert_eq!(differences.collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(counts.are_all_values_equal());
}

/// Returns the text of a small built-in case.
fn small() -> String {
    let text = decompress_text(CASES).unwrap();
    let case = text
        .lines()
        .find(|line| line.contains("\"roundrobin-6p-one-iii\""));
    case.unwrap().to_owned()
}

fn in_a_folder(text: &str) -> Result<AuthorsComparison, Error> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("case.json"), text).unwrap();
    fs::write(folder.path().join("notes.txt"), "no case").unwrap();
    compare_with_authors(Some(folder.path()))
}

#[test]
fn a_folder_of_cases_is_read_and_differences_are_described() {
    let found = in_a_folder(&small()).unwrap();
    assert_eq!([found.cases, found.counts.calls], [1, 10]);
    assert!(found.counts.are_all_values_equal());
    // Change the last digit of a potential of the first call.
    let text = small();
    let at = text.find("\"pm_2\"").unwrap();
    let at = at + text[at..].find("]]").unwrap();
    let digit = &text[at - 1..at];
    let other = if digit == "3" { "5" } else { "3" };
    let changed = format!("{}{other}{}", &text[..at - 1], &text[at..]);
    let found = in_a_folder(&changed).unwrap();
    assert!(!found.counts.are_all_values_equal());
    assert_eq!(found.counts.potentials - found.counts.potentials_equal, 1);
    let difference = &found.by_case[0].differences[0];
    let expected = "call after superstep 8: PM of rank 6 for Set 2: ";
    assert!(difference.starts_with(expected), "{difference}");
}

#[test]
fn faults_of_a_folder_are_named_with_their_place() {
    let fault = |from: &str, to: &str| {
        let text = small();
        assert!(text.contains(from), "{from}");
        in_a_folder(&text.replacen(from, to, 1))
            .unwrap_err()
            .to_string()
    };
    for (from, to, expected) in [
        ("\"one\"", "\"two\"", "unknown value `two`"),
        (
            "\"one\"",
            "\"none\"",
            "the case has calls, but no heuristic",
        ),
        (
            "\"one\"",
            "\"percentage\"",
            "the heuristic `percentage` needs `parameters.x`",
        ),
        ("\"iii\"", "\"iv\"", "the scenario must be"),
        ("\"ctp\"", "\"cpt\"", "no column `ctp`"),
        (
            "[3,\"suno-7\",1.0",
            "[3,\"sun-7\",1.0",
            "must be the prefix of a Set",
        ),
        ("\"case\":", "\"cases\":", "missing"),
        ("\"calls\":", "\"called\":", "a heuristic, but no `calls`"),
    ] {
        let error = fault(from, to);
        assert!(
            error.contains(expected) && error.contains("case.json:1:"),
            "{expected}: {error}"
        );
    }
    let error = in_a_folder("{}").unwrap_err().to_string();
    assert!(
        error.contains("the file is not a case of the 2015 program of MigBSP's authors"),
        "{error}"
    );
    let error = compare_with_authors(Some(Path::new("no/such/folder")))
        .unwrap_err()
        .to_string();
    assert!(error.contains("--cases no/such/folder"), "{error}");
    let empty = tempfile::tempdir().unwrap();
    let error = compare_with_authors(Some(empty.path()))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("has no file whose name ends in `.json`"),
        "{error}"
    );
}
