//! The built-in cases, and folders with faults.

use std::fs;
use std::sync::LazyLock;

use super::*;

/// The built-in cases, decided and simulated again.
static ALL: LazyLock<AuthorsComparison> = LazyLock::new(|| compare_with_authors(None).unwrap());

#[test]
fn whole_runs_end_when_those_of_the_program_do() {
    assert_eq!(ALL.makespans, 61);
    for run in &ALL.by_run {
        // In these two runs, the last digit of a time decides between equal potentials, and differs from that of the program.
        let is_tied = ["cpu-mighull-iii", "decrescent-6p-one-iii"].contains(&run.case.as_str());
        assert_eq!(run.is_makespan_equal(), !is_tied, "{run:?}");
        let (starts, calls) = (run.starts_equal, run.calls_equal);
        // In scenario ii no process moves, so that the tie has no visible effect.
        let is_tied_decision = is_tied || run.case == "cpu-mighull-ii";
        assert_eq!(starts == run.supersteps, !is_tied, "{run:?}");
        assert_eq!(calls == run.calls, !is_tied_decision, "{run:?}");
        // Rounding is the cause: pairs of processes compare differently only if their distance is at most the difference between the two
        // runs.
        assert_eq!(run.tie.is_some(), is_tied_decision, "{run:?}");
        assert!(
            run.tie
                .as_ref()
                .is_none_or(PotentialsComparison::can_be_explained_by_rounding),
            "{run:?}"
        );
    }
    assert_eq!(ALL.makespans_within_1e6, 59);
}

#[test]
fn scenario_ii_is_faster_where_answers_come_in_turn_and_not_where_they_come_at_once() {
    for one in &ALL.answered {
        assert!(
            one.in_turn_s < one.alone_s || one.experiment == "authors-roundrobin",
            "{one:?}"
        );
        assert!(one.at_once_s > one.alone_s, "{one:?}");
        assert!(one.free_s > one.alone_s - 1e-6, "{one:?}");
    }
}

#[test]
fn every_stored_call_comes_out_to_the_last_bit() {
    let authors = &*ALL;
    let counts = authors.counts;
    assert_eq!(authors.cases, 61);
    assert_eq!(
        [counts.calls, counts.potentials, counts.moves],
        [151, 19_116, 3_943]
    );
    let differences = authors.by_case.iter().flat_map(|one| &one.differences);
    assert_eq!(differences.collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(authors.are_all_decisions_equal());
    // The results depend on the slips: without one of them other moves are decided.
    for without in &authors.without_slips {
        assert!(without.calls_changed > 0, "{:?}", without.slip);
    }
}

/// Returns the text of a small built-in case.
fn small() -> String {
    let text = decompress_text(CASES).unwrap();
    let case = text
        .lines()
        .find(|line| line.contains("\"roundrobin-6p-one-iii\""));
    case.unwrap().to_owned()
}

/// Reads the cases of a folder with one file of this text.
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
    assert!(found.are_all_decisions_equal());
    // Change the last digit of a potential of the first call.
    let text = small();
    let at = text.find("\"pm_2\"").unwrap();
    let at = at + text[at..].find("]]").unwrap();
    let digit = &text[at - 1..at];
    let other = if digit == "3" { "5" } else { "3" };
    let changed = format!("{}{other}{}", &text[..at - 1], &text[at..]);
    let found = in_a_folder(&changed).unwrap();
    assert!(!found.are_all_decisions_equal());
    assert_eq!(found.counts.potentials - found.counts.potentials_equal, 1);
    let difference = &found.by_case[0].differences[0];
    let expected = "call after superstep 8: PM of rank 6 for Set 2 is";
    assert!(difference.starts_with(expected), "{difference}");
    assert!(page::terminal_text(&found).contains(expected));
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
        ("\"one\"", "\"two\"", "unknown heuristic `two`"),
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
        ("\"iii\"", "\"iv\"", "unknown scenario `iv`"),
        ("\"ctp\"", "\"cpt\"", "no column `ctp`"),
        (
            "\"columns\":[\"rank\",\"set\"],\"rows\":[[",
            "\"columns\":[\"rank\",\"set\"],\"rows\":[[9",
            "(its ranks are 1 to 6)",
        ),
        (
            "1,\"suno-1\",3.",
            "1,\"sun-1\",3.",
            "must be the prefix of a Set (capricorne, suno, chicon)",
        ),
        (
            "\"candidates\":[",
            "\"candidates\":[0,",
            "the case has no rank 0 (its ranks are 1 to 6)",
        ),
        ("\"case\":", "\"cases\":", "missing"),
        (
            "\"end\":",
            "\"finish\":",
            "the case has `placement`, but no `end`",
        ),
        (
            "\"calls\":",
            "\"called\":",
            "the case has the heuristic `one`, but no `calls`",
        ),
    ] {
        let error = fault(from, to);
        assert!(
            error.contains(expected) && error.contains("case.json:1:"),
            "{expected}: {error}"
        );
    }
    let error = fault("\"pattern_margin\":", "\"margin\":");
    let form = "the run of the case cannot be read: missing field `pattern_margin`";
    assert!(
        error.contains(form) && error.contains("case.json"),
        "{error}"
    );
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
