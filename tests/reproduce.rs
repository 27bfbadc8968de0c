//! `migsim reproduce`: its results equal the committed ones, and its facts are complete.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

use std::{collections::BTreeSet, fs, path::Path};

use migsim::{
    experiment::Progress,
    paper::{ConstantWithEvidence, Facts, PAPERS, Verdict, reproduce},
};
use serde_json::Value;

use crate::support::{done, json, refused};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_committed_results_equal_the_output_of_the_command() {
    let scratch = tempfile::tempdir().unwrap();
    let update = std::env::var_os("UPDATE_RESULTS").is_some();
    let folder = if update {
        root().join("results")
    } else {
        scratch.path().to_owned()
    };
    let all = format!("reproduce all --out {}", folder.display());
    let printed = json(root(), &all);
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name();
        let read = |folder: &Path| fs::read_to_string(folder.join(&name)).unwrap_or_default();
        let is_current = read(&root().join("results")) == read(&folder);
        assert!(
            is_current,
            "results/{} is not current: run `migsim reproduce all --out results`",
            name.display()
        );
    }
    check_first_page(update);
    let cell = &printed["cells"][0];
    assert!(cell["id"].is_string() && cell["published_s"].is_f64() && cell["simulated_s"].is_f64());
    let decision = &printed["decisions"][0];
    assert!(
        decision["verdict"].is_string()
            && !decision["published"].is_null()
            && !decision["simulated"].is_null()
    );
    assert!(printed["claims"][0]["verdict"].is_string());
}

/// Checks that the first page of the project has the results in short of the results' page.
fn check_first_page(is_update: bool) {
    let short = |text: &str| {
        let start = text.find("- **Times**").unwrap();
        start..start + text[start..].find("\n\n").unwrap()
    };
    let results = fs::read_to_string(root().join("results/README.md")).unwrap();
    let mut page = fs::read_to_string(root().join("README.md")).unwrap();
    let wanted = &results[short(&results)];
    if is_update {
        page.replace_range(short(&page), wanted);
        fs::write(root().join("README.md"), &page).unwrap();
    }
    assert_eq!(&page[short(&page)], wanted, "UPDATE_RESULTS=1 renews it");
}

#[test]
fn every_claim_is_evaluated_and_every_id_is_unique() {
    for paper in PAPERS {
        let facts = Facts::parse(paper.name, paper.facts_json).unwrap();
        let claims: Vec<&str> = facts.claims.iter().map(|claim| claim.id.as_str()).collect();
        // Each claim has either a function, a test or a check of the policy.
        let json: Value = serde_json::from_str(paper.facts_json).unwrap();
        for (at, claim) in facts.claims.iter().enumerate() {
            let functions = paper.claim_checks.iter().filter(|(id, _)| *id == claim.id);
            let ways = functions.count()
                + usize::from(!claim.test.compare.is_empty())
                + usize::from(json["claims"][at]["policy"].is_object());
            assert_eq!(ways, 1, "{}", claim.id);
        }
        assert!(paper.claim_checks.iter().all(|(id, _)| claims.contains(id)));
        let cells = facts.tables.iter().map(|cell| cell.id.as_str());
        let decisions = facts.decisions.iter().map(|decision| decision.id.as_str());
        let all: Vec<&str> = cells.chain(decisions).chain(claims).collect();
        assert_eq!(
            all.iter().collect::<BTreeSet<_>>().len(),
            all.len(),
            "{}",
            paper.name
        );
    }
}

#[test]
fn every_fitted_value_belongs_to_a_constant_that_is_listed() {
    let read = |file: String| -> Value {
        let text = fs::read_to_string(root().join(file)).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    for paper in PAPERS {
        let Some(own) = paper.experiment else {
            continue;
        };
        let facts = Facts::parse(paper.name, paper.facts_json).unwrap();
        let listed: BTreeSet<String> = facts.fitted.into_iter().flat_map(|one| one.keys).collect();
        let experiment = |name: &str| read(format!("workloads/{name}.json"));
        let platform = experiment(own)["platform"].as_str().unwrap().to_owned();
        let mut files = vec![
            (String::new(), experiment(own)),
            (
                "platform:".to_owned(),
                read(format!("platforms/{platform}")),
            ),
        ];
        for name in migsim::experiment::built_in_names() {
            if experiment(name)["extends"] == own {
                files.push((format!("{name}:"), experiment(name)));
            }
        }
        for (place, file) in files {
            for (key, origin) in file["origins"].as_object().into_iter().flatten() {
                let is_fitted = origin.as_str().unwrap().starts_with("fitted");
                let key = format!("{place}{key}");
                assert!(!is_fitted || listed.contains(&key), "{}: {key}", paper.name);
            }
        }
    }
}

#[test]
fn misses_have_a_reason_and_hits_have_none() {
    let all = reproduce("all", &Progress::default()).unwrap();
    for (results, paper) in all.papers.iter().zip(PAPERS) {
        let facts = Facts::parse(paper.name, paper.facts_json).unwrap();
        let decisions = results.decisions.iter().map(|one| (&one.id, one.verdict));
        let schedules = results.call_schedules.iter();
        let schedules = schedules.map(|one| (&one.id, one.verdict));
        for (id, verdict) in decisions.chain(schedules) {
            let is_missed = matches!(verdict, Verdict::Near | Verdict::Mismatch);
            assert_eq!(facts.reasons.contains_key(id), is_missed, "{id}");
        }
        assert!(results.cells.iter().all(|cell| cell.is_explained));
    }
}

#[test]
fn a_shared_constant_has_the_same_value_in_the_paper_that_counts_it() {
    let all = reproduce("all", &Progress::default()).unwrap();
    let mut shared = 0;
    for paper in &all.papers {
        for constant in &paper.constants {
            let Some(name) = &constant.shared_with else {
                continue;
            };
            let other = all.papers.iter().find(|one| one.paper == name).unwrap();
            // The key may belong to another experiment of the paper.
            let plain = |key: &str| key.rsplit(':').next().map(str::to_owned);
            let of_key =
                |one: &&ConstantWithEvidence| plain(&one.keys[0]) == plain(&constant.keys[0]);
            let there = other.constants.iter().find(of_key).unwrap();
            assert_eq!(there.shared_with, None, "{} of {name}", constant.what);
            assert_eq!(there.value, constant.value, "{} of {name}", constant.what);
            shared += 1;
        }
    }
    assert!(shared > 5, "{shared}");
}

#[test]
fn a_setting_changes_every_run_of_a_paper() {
    let setting = "policy.migbsp.floor=one";
    let found = json(root(), &format!("reproduce sw-dynamic --set {setting}"));
    let count = |key: &str, is_reproduced: &dyn Fn(&Value) -> bool| {
        let all = found[key].as_array().unwrap().iter();
        all.filter(|one| is_reproduced(one)).count()
    };
    let is_near = |cell: &Value| cell["error"].as_f64().unwrap().abs() <= 0.025;
    let matches = |one: &Value| one["verdict"] == "match";
    let schedules = count("call_schedules", &matches);
    // As in results/audit-ablation.csv.
    let counts = [
        count("cells", &is_near),
        count("decisions", &matches),
        schedules,
    ];
    assert_eq!(counts, [7, 31, 5]);
    // The residuals count the same, and what is lost and gained is the difference from what ships.
    let number = |key: &str, at: &str| found[key][0].pointer(at).unwrap().as_u64().unwrap();
    let listed = |key: &str, what: &str| {
        let lists = found[key].as_array().unwrap().iter();
        let list = lists.filter(|one| one["what"] == what);
        let ids = list.map(|one| one["ids"].as_array().unwrap().len() as u64);
        ids.sum::<u64>()
    };
    for (at, what, count) in [
        ("/cells_within/3", "cells within 2.5 %", counts[0]),
        ("/decisions/0", "decisions", counts[1]),
        ("/call_schedules/0", "call schedules", counts[2]),
    ] {
        let now = number("residuals", at);
        assert_eq!(now, count as u64, "{what}");
        let shipped = number("shipped", at);
        assert_eq!(
            now + listed("lost", what),
            shipped + listed("gained", what),
            "{what}"
        );
    }
    assert!(listed("lost", "decisions") > 0);
    let printed = done(root(), &format!("reproduce sw-dynamic --set {setting}"));
    assert!(printed.contains("sw-dynamic as shipped") && printed.contains("Lost against"));
    let printed = done(root(), "reproduce sw-dynamic");
    assert!(printed.contains("mean log error") && !printed.contains("against what ships"));
    assert!(!printed.contains("cells within 0.25 %"));
}

#[test]
fn a_platform_file_replaces_the_built_in_platform_of_its_name() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("mine.json");
    let text = fs::read_to_string(root().join("platforms/lbm.json")).unwrap();
    let with = |text: &str, flags: &str| {
        fs::write(&file, text).unwrap();
        format!("reproduce lbm --platform {}{flags}", file.display())
    };
    let same = json(root(), &with(&text, ""));
    assert_eq!(same["residuals"], same["shipped"]);
    assert_eq!([&same["lost"], &same["gained"]], [&Value::Array(vec![]); 2]);
    let key = "platform:clusters[0].speed";
    let slower = text.replacen("\"1.5 GHz\"", "\"1.2 GHz\"", 1);
    let edited = json(root(), &with(&slower, ""));
    let set = json(root(), &format!("reproduce lbm --set {key}=1.2GHz"));
    assert_eq!(edited["residuals"], set["residuals"]);
    assert_ne!(edited["residuals"], same["residuals"]);
    let other = fs::read_to_string(root().join("platforms/ufrgs.json")).unwrap();
    let errors = refused(root(), &with(&other, ""));
    assert!(errors.contains("`ufrgs` has no effect") && errors.contains("their platforms: lbm"));
    let errors = refused(root(), "reproduce lbm --set policy.name=refine");
    assert!(
        errors.contains("the policy of the runs of papers cannot be changed"),
        "{errors}"
    );
    let unknown = text.replacen("\"lbm\"", "\"lbmx\"", 1);
    let errors = refused(root(), &with(&unknown, ""));
    assert!(
        errors.contains("mine.json") && errors.contains("`lbmx` has no effect"),
        "{errors}"
    );
}

#[test]
fn an_unknown_paper_lists_the_known_ones() {
    let errors = refused(root(), "reproduce lux");
    assert!(errors.contains("known papers: all, lbm, lu"));
}
