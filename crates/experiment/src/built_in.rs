//! The built-in experiments: the experiments of the papers, with their calibrated constants.
//!
//! `migsim run --app NAME` starts from the experiment with the name of the application, on the platforms to which the constants
//! of this experiment were fitted (see [`super::basis`]). The other experiments are run by their names. The key `extends` of an
//! experiment names the built-in experiment that completes its settings; the value `none` stands for the defaults alone. Without
//! that key, the experiment of its application completes the settings; if the application has no experiment, [`NEUTRAL`]
//! completes them.

use super::suite::{NEUTRAL, ONE_READING, find_case_by_name};
use migsim_base::{
    document::Document,
    error::{Problem, Result},
};

/// Name and JSON text of each built-in experiment.
const BUILT_IN_EXPERIMENTS: &[(&str, &str)] = &[
    (
        "authors-cpu",
        include_str!("../../../workloads/authors-cpu.json"),
    ),
    (
        "authors-decrescent",
        include_str!("../../../workloads/authors-decrescent.json"),
    ),
    (
        "authors-roundrobin",
        include_str!("../../../workloads/authors-roundrobin.json"),
    ),
    ("lbm", include_str!("../../../workloads/lbm.json")),
    ("lbm-a2", include_str!("../../../workloads/lbm-a2.json")),
    ("lbm-b1", include_str!("../../../workloads/lbm-b1.json")),
    ("lbm-b2", include_str!("../../../workloads/lbm-b2.json")),
    ("lu", include_str!("../../../workloads/lu.json")),
    (
        COMMON_RULES,
        include_str!("../../../workloads/common-rules.json"),
    ),
    (NEUTRAL, include_str!("../../../workloads/neutral.json")),
    (
        ONE_READING,
        include_str!("../../../workloads/one-reading.json"),
    ),
    ("sw", include_str!("../../../workloads/sw.json")),
    (
        "sw-dynamic",
        include_str!("../../../workloads/sw-dynamic.json"),
    ),
    (
        "sw-dynamic-static",
        include_str!("../../../workloads/sw-dynamic-static.json"),
    ),
];

/// Name of the built-in experiment with the single set of `MigBSP` rules that fits all papers best.
pub const COMMON_RULES: &str = "common-rules";

/// Names of the built-in platforms that the experiments of the papers use, without `.json`. The list is a constant because
/// deriving it from all experiments would take a tenth of the time of a short run.
const PAPER_PLATFORMS: [&str; 10] = [
    "lbm",
    "sw-dynamic",
    "sw-dynamic-t10",
    "sw-dynamic-t100",
    "sw-dynamic-t25",
    "sw-dynamic-t75",
    "sw-irregular",
    "ufrgs",
    "ufrgs-as-printed",
    "ufrgs-sw",
];

/// Returns whether a built-in platform was used in a paper.
pub(super) fn is_paper_platform(platform: &str) -> bool {
    PAPER_PLATFORMS.contains(&platform)
}

/// Suffix that messages add to the name of a built-in experiment, so that the name is not mistaken for the name of a file.
pub(super) const BUILT_IN_SUFFIX: &str = " (built in)";

/// Returns the names of the built-in experiments that a user can run by name, without [`COMMON_RULES`],
/// [`ONE_READING`] and [`NEUTRAL`].
pub fn experiment_names() -> impl Iterator<Item = &'static str> {
    BUILT_IN_EXPERIMENTS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| ![COMMON_RULES, ONE_READING, NEUTRAL].contains(name))
}

/// Returns the built-in experiment `name` (with or without `.json`); `None` if there is no such experiment.
///
/// The cases of benchmark suites are built-in experiments, too: `lb-1.2.17` is case 17 of the cases that the suite `lb-1` draws
/// at random with draw number 2, and `lb-1.fixed.3` is case 3 of its cases that are the same for every draw number.
///
/// # Errors
/// The text of the built-in experiment cannot be read, which would be a fault of the program.
pub fn find_built_in_experiment(name: &str) -> Result<Option<Document>> {
    let wanted = name.strip_suffix(".json").unwrap_or(name);
    let source = |name: &str| format!("workloads/{name}.json{BUILT_IN_SUFFIX}");
    if let Some((name, text)) = BUILT_IN_EXPERIMENTS
        .iter()
        .find(|(name, _)| *name == wanted)
    {
        return Document::parse(source(name), *text).map(Some);
    }
    let case = find_case_by_name(wanted);
    case.map(|case| Document::parse(source(&case.name), format!("{:#}", case.experiment)))
        .transpose()
}

/// Returns the chain of built-in experiments that complete an experiment, in which each experiment overrides the experiments
/// before it. The last experiment is the one that the key `extends` names; without this key, it is the experiment of the
/// application `app`.
pub(super) fn chain_of_extended_experiments(
    extends: Option<&str>,
    app: &str,
) -> Result<Vec<Document>> {
    let mut chain = Vec::new();
    let mut next = match extends {
        Some("none") => None,
        Some(name) => Some(find_extended_experiment(name)?),
        None => match find_built_in_experiment(app)? {
            None => find_built_in_experiment(NEUTRAL)?,
            own => own,
        },
    };
    while let Some(document) = next {
        let below = document
            .value
            .get("extends")
            .and_then(|name| name.as_str().map(str::to_owned));
        chain.push(document);
        next = match below.as_deref() {
            // The limit is larger than the longest chain of built-in experiments, so that a cycle ends.
            Some(name) if name != "none" && chain.len() <= BUILT_IN_EXPERIMENTS.len() => {
                Some(find_extended_experiment(name)?)
            }
            _ => None,
        };
    }
    chain.reverse();
    Ok(chain)
}

/// Returns the built-in experiment with the name that a key `extends` contains.
///
/// # Errors
/// There is no such experiment; the error lists the known names.
fn find_extended_experiment(name: &str) -> Result<Document> {
    find_built_in_experiment(name)?.ok_or_else(|| {
        Problem::unknown_name("experiment", name)
            .key("extends")
            .with_known_names(
                "experiments",
                experiment_names().chain([COMMON_RULES, ONE_READING, NEUTRAL, "none"]),
            )
            .into()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_platforms_of_the_papers_are_those_that_their_experiments_name() {
        let documents =
            experiment_names().map(|name| find_built_in_experiment(name).unwrap().unwrap());
        let mut named = BTreeSet::new();
        for document in documents {
            let fitted = document.value["calibrated_for"].as_array();
            let fitted = fitted.into_iter().flatten();
            let names = fitted.chain(document.value.get("platform"));
            let names = names.filter_map(|name| name.as_str());
            named.extend(names.map(|name| name.trim_end_matches(".json").to_owned()));
        }
        // No paper describes the platform of the authors' program.
        assert!(named.remove("authors-2015"), "{named:?}");
        assert!(named.iter().eq(&PAPER_PLATFORMS), "{named:?}");
    }
}
