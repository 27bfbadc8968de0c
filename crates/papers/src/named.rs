//! Descriptions of runs and published times in words, such as `LU n=1000, 25 processes, scenario iii`.

use serde_json::Value;

use super::Paper;
use super::facts::Config;

/// Returns the name of the application of a paper as it is printed in tables, such as `LU`.
pub(super) fn application_name(paper: &str) -> &str {
    match paper {
        "lu" => "LU",
        "lbm" => "Lattice Boltzmann",
        "sw-irregular" => "irregular Smith-Waterman",
        "sw-dynamic" => "dynamic Smith-Waterman",
        other => other,
    }
}

/// Describes a run in words, without its scenario; `config` has the settings of the run.
pub(super) fn describe_run(paper: &Paper, config: &Config) -> String {
    let get = |key: &str| config.get(key).filter(|value| !value.is_null());
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let is_alone = get("scenario").and_then(Value::as_str) == Some("i");
    let order = get("n");
    let mut parts = Vec::new();
    parts.extend(get("test").map(|test| format!("test {}", text(test))));
    let mapping = get("mapping").filter(|mapping| mapping.is_number());
    parts.extend(mapping.map(|mapping| format!("mapping {mapping}")));
    parts.extend(order.map(|n| format!("n={n}")));
    // Smith-Waterman has one process per column.
    let processes = get("procs").filter(|&procs| order != Some(procs) && get("test").is_none());
    parts.extend(processes.map(|procs| format!("{procs} processes")));
    let supersteps = get("supersteps").filter(|_| order.is_none());
    parts.extend(supersteps.map(|supersteps| format!("{supersteps} supersteps")));
    parts.extend(get("x_seconds").map(|seconds| format!("halved at {seconds} s")));
    // If a paper has only one initial interval, its facts do not name it.
    let alpha = get("alpha").filter(|_| !is_alone && paper.name != "lu");
    parts.extend(alpha.map(|alpha| format!("alpha {alpha}")));
    format!("{} {}", application_name(paper.name), parts.join(", "))
}

/// Describes a run and its scenario in words; `config` has the settings of the run.
pub(super) fn describe_cell(paper: &Paper, config: &Config) -> String {
    let scenario = config.get("scenario").and_then(Value::as_str);
    let run = describe_run(paper, config);
    scenario.map_or(run.clone(), |scenario| {
        format!("{run}, scenario {scenario}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Facts;

    #[test]
    fn cells_have_words() {
        let words = |name: &str, id: &str| {
            let paper = crate::find_paper(name).unwrap();
            let facts = Facts::parse(paper.name, paper.facts_json).unwrap();
            let found = facts.tables.iter().find(|cell| cell.id == id).unwrap();
            describe_cell(paper, &found.config)
        };
        assert_eq!(
            words("lu", "lu-t2-n1000-p25-iii"),
            "LU n=1000, 25 processes, scenario iii"
        );
        assert_eq!(
            words("lbm", "lbm-t1-s50-iii-a4"),
            "Lattice Boltzmann test A, mapping 1, 50 supersteps, alpha 4, scenario iii"
        );
        assert_eq!(
            words("sw-irregular", "swi-t1-n10-i"),
            "irregular Smith-Waterman n=10, scenario i"
        );
    }
}
