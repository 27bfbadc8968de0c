//! The pages of sweeps, searches and explanations: one file each in one frame, with contents, tables that sort, ties, and without raw JSON.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{fs, path::Path};

use crate::support::done;

/// Reads a page and checks that it is self-contained: it has no address outside, and its contents lead to its headings.
fn checked(file: &Path) -> String {
    let page = fs::read_to_string(file).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
    assert!(page.contains("default-src 'none'; script-src 'sha256-"));
    let own = page.replace(" href=\"#", "");
    for reference in [" src=", " href=", "url(", "@import", "fetch("] {
        assert!(!own.contains(reference), "{reference}");
    }
    let links: Vec<&str> = page.split("<a href=\"#").skip(1).collect();
    assert!(!links.is_empty());
    for link in links {
        let (id, _) = link.split_once('"').unwrap();
        assert!(page.contains(&format!("<h2 id=\"{id}\">")), "{id}");
    }
    let (_, body) = page.split_once("<main>").unwrap();
    let (body, _) = body.split_once("</main>").unwrap();
    assert!(!body.contains("&quot;:"), "JSON: {body}");
    body.to_owned()
}

const SMALL: &str = "--app lu --n 200 --procs 4";

#[test]
fn the_page_of_a_sweep_ranks_settings_and_shows_ties() {
    let scratch = tempfile::tempdir().unwrap();
    let values = "--alpha 2,4 --set policy.migbsp.delta=0.8 --d 0.4,0.5 --quiet --out sweep";
    done(scratch.path(), &format!("sweep {SMALL} {values}"));
    let body = checked(&scratch.path().join("sweep/index.html"));
    assert_eq!(
        body.matches("<tr>").count() - body.matches("<thead><tr>").count(),
        // Settings, parameters, and their interactions.
        4 + 2 + 1 + body.matches("<tr><th scope=\"row\">").count()
    );
    assert!(body.contains("data-name=\"settings\"") && body.contains("data-name=\"sensitivity\""));
    // The parameter d has no effect for LU 200/4.
    assert!(body.contains("<td data-value=\"1\">1=</td>"), "{body}");
    assert!(body.contains("<i style=\"width:100.0%\"></i>"));
    assert!(
        body.contains("<th scope=\"row\">experiment.workload.procs</th>"),
        "{body}"
    );
    assert!(body.contains("<figure class=\"picture\" data-name=\"lines\">"));
}

#[test]
fn the_page_of_a_search_has_the_result_the_rounds_and_all_settings() {
    let scratch = tempfile::tempdir().unwrap();
    let values = "--alpha 2,4 --d 0.4,0.5 --budget 8 --quiet --out tune";
    done(scratch.path(), &format!("tune {SMALL} {values}"));
    let body = checked(&scratch.path().join("tune/index.html"));
    for table in ["comparison", "search", "settings"] {
        assert!(body.contains(&format!("data-name=\"{table}\"")), "{table}");
    }
    assert!(
        body.contains("<code>migsim run --app lu --n 200 --procs 4"),
        "{body}"
    );
}

#[test]
fn explanations_are_pages_too() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("page.html");
    done(scratch.path(), &format!("explain {SMALL} --html page.html"));
    let body = checked(&file);
    assert!(
        body.contains("<summary>After superstep 4: no process is to move</summary>"),
        "{body}"
    );
    assert!(body.contains(
        "A rescheduling call was due after superstep 4: the first call comes after α = 4 supersteps."
    ));
    let question = "--superstep 4 --why-not 2 --html page.html";
    done(scratch.path(), &format!("explain {SMALL} {question}"));
    let body = checked(&file);
    assert!(
        body.contains("<h2 id=\"h-part-1\">When</h2>") && body.contains("p2 stays"),
        "{body}"
    );
}
