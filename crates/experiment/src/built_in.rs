//! The built-in experiments: those of the papers, with their calibration.
//!
//! The one named like an application is what `migsim run --app` starts from, on the platforms that it was fitted to (see
//! [`super::basis`]); the others are run by name. An experiment says under `extends` which built-in one lies below it (`none`: only the
//! defaults); without that, the one of its application, or else [`ONE_READING`].

use super::suite::case_named;
use migsim_base::document::Document;
use migsim_base::error::{Error, Problem};

/// Name and text of each.
const BUILT_IN: &[(&str, &str)] = &[
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

/// The single set of MigBSP's rules that does best for all papers.
pub const COMMON_RULES: &str = "common-rules";

/// The experiment with neutral settings, below those of applications that have none of their own and of platforms that no paper used: the
/// common rules, with the transfer of the memory counted.
pub const ONE_READING: &str = "one-reading";

/// The platforms that some experiment of a paper names, without `.json`: a list, since reading all experiments is a tenth of a short run.
const PLATFORMS: [&str; 9] = [
    "lbm",
    "sw-dynamic",
    "sw-dynamic-t10",
    "sw-dynamic-t100",
    "sw-dynamic-t25",
    "sw-dynamic-t75",
    "ufrgs",
    "ufrgs-as-printed",
    "ufrgs-sw",
];

/// Whether a built-in platform is the platform of a paper.
pub(super) fn is_of_a_paper(platform: &str) -> bool {
    PLATFORMS.contains(&platform)
}

/// Tells built-in experiments from files.
pub(super) const MARK: &str = " (built in)";

/// The names of all built-in experiments that can be run.
pub fn names() -> impl Iterator<Item = &'static str> {
    let all = BUILT_IN.iter().map(|(name, _)| *name);
    all.filter(|name| ![COMMON_RULES, ONE_READING].contains(name))
}

/// The built-in experiment `name` (with or without `.json`), if there is one; `lb-1.2.17` is case 17 of draw 2 of the suite `lb-1`.
///
/// # Errors
/// It cannot be read, which would be a fault of the program.
pub fn built_in(name: &str) -> Result<Option<Document>, Error> {
    let wanted = name.strip_suffix(".json").unwrap_or(name);
    let source = |name: &str| format!("workloads/{name}.json{MARK}");
    if let Some((name, text)) = BUILT_IN.iter().find(|(name, _)| *name == wanted) {
        return Document::parse(source(name), *text).map(Some);
    }
    let case = case_named(wanted);
    case.map(|case| Document::parse(source(&case.name), format!("{:#}", case.experiment)))
        .transpose()
}

/// The built-in experiments below one that extends `extends` or else belongs to `app`, the lowest first.
pub(super) fn chain(extends: Option<&str>, app: &str) -> Result<Vec<Document>, Error> {
    let mut chain = Vec::new();
    let mut next = match extends {
        Some("none") => None,
        Some(name) => Some(found(name)?),
        None => match built_in(app)? {
            None => built_in(ONE_READING)?,
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
            // Deeper than any chain of ours; a cycle ends here.
            Some(name) if name != "none" && chain.len() <= BUILT_IN.len() => Some(found(name)?),
            _ => None,
        };
    }
    chain.reverse();
    Ok(chain)
}

fn found(name: &str) -> Result<Document, Error> {
    built_in(name)?.ok_or_else(|| {
        let problem = Problem::unknown("experiment", name).key("extends");
        problem
            .known(
                "experiments",
                names().chain([COMMON_RULES, ONE_READING, "none"]),
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
        let documents = names().map(|name| built_in(name).unwrap().unwrap());
        let mut named = BTreeSet::new();
        for document in documents {
            let fitted = document.value["calibrated_for"].as_array();
            let fitted = fitted.into_iter().flatten();
            let names = fitted.chain(document.value.get("platform"));
            let names = names.filter_map(|name| name.as_str());
            named.extend(names.map(|name| name.trim_end_matches(".json").to_owned()));
        }
        // The platform of the authors' program is that of no paper.
        assert!(named.remove("authors-2015"), "{named:?}");
        assert!(named.iter().eq(&PLATFORMS), "{named:?}");
    }
}
