//! The authors' simulation program: a folder of cases is judged, and calls in turn end.

use std::fs;

use crate::support::migsim;

/// A case of two processes on two Sets of one host each, with this candidate.
fn case(candidate: u32) -> String {
    format!(
        r#"{{
  "case": "small", "scenario": "iii", "heuristic": "one",
  "parameters": {{ "processes": 2, "message_bytes": 1000000, "alpha": 1, "d": 0.2, "x": null }},
  "sets": [{{ "prefix": "a", "hosts": 1, "power": 1e9 }}, {{ "prefix": "b", "hosts": 1, "power": 3e9 }}],
  "latency": [[1e-6, 0.1], [0.1, 1e-6]],
  "calls": [{{
    "superstep": 1, "iset": [0.1111111111111111, 1.0],
    "order": {{ "columns": ["rank", "set"], "rows": [[2, 1], [1, 1]] }},
    "candidates_left_from_earlier_calls": [], "candidates": [{candidate}],
    "decided_moves": {{ "columns": ["rank", "set", "host"], "rows": [[2, 1, "b-1"]] }},
    "reports": {{
      "columns": ["rank", "host", "pcomp", "ctp", "pcomm_0", "pcomm_1", "btp_0", "btp_1", "pm_0", "pm_1"],
      "rows": [[1, "a-1", 1, 0.5, 1, 1, 0, 0, 0.05555555555555555, 0.5],
               [2, "a-1", 1, 1.0, 1, 1, 0, 0, -0.3888888888888889, 1]]
    }}
  }}]
}}"#
    )
}

#[test]
fn a_difference_fails_the_command_and_is_described() {
    // Power is 1/3 against 3/1, so that ISet is 1/9 and 1. On its own Set, the second process has 1/9 - 0.5 s of Mem.
    let folder = tempfile::tempdir().unwrap();
    let run = |candidate: u32| {
        fs::write(folder.path().join("small.json"), case(candidate)).unwrap();
        migsim(&[
            "reproduce",
            "authors-2015",
            "--cases",
            folder.path().to_str().unwrap(),
        ])
    };
    let right = run(2);
    assert_eq!(
        right.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&right.stdout)
    );
    let wrong = run(1);
    assert_eq!(wrong.status.code(), Some(1));
    let text = String::from_utf8_lossy(&wrong.stdout);
    let expected = "small: call after superstep 1: candidates: [2], stored [1]";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn a_call_in_turn_ends_once_its_managers_are_done() {
    // Two of five clusters have processes. The other managers still exchange lists when the last process gets its answer.
    let usual = [
        "run",
        "--platform",
        "ufrgs",
        "--app",
        "lu",
        "--n",
        "200",
        "--procs",
        "25",
    ];
    let turn = [
        "--set",
        "costs.call.model=messages",
        "--set",
        "costs.call.order=sequential",
    ];
    for policy in ["migbsp", "greedy/every=50"] {
        let output = migsim(&[&usual[..], &turn, &["--policy", policy, "--quiet"]].concat());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
    }
}
