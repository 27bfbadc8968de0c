//! Expands each entry of a platform file that stands for several clusters or links (`copies`) into one entry per cluster or link.
//!
//! ```text
//! { "name": "c#", "copies": 3, "router": "r#", ... }   ─>   c0 at r0, c1 at r1, c2 at r2
//! ```

use super::format::PlatformFile;
use migsim_base::{
    document::Document,
    error::{Error, Result},
};

/// Maximum number of copies in a platform file, summed over all entries. A copy of a cluster with several groups of hosts counts
/// once for each group.
const MAX_COPIES: u64 = 1_000_000;

/// Maps each cluster and link of the expanded platform to the entry of the file from which it was copied.
#[derive(Default)]
pub(super) struct CopySources {
    entry_of_cluster: Vec<usize>,
    entry_of_link: Vec<usize>,
}

impl CopySources {
    /// Converts a key of the expanded platform to the key of the entry in the file from which the cluster or link was copied, for
    /// messages: `clusters[7].name` may become `clusters[0].name`.
    pub(super) fn to_key_in_file(&self, key: &str) -> String {
        let in_file = |list: &str, sources: &[usize]| {
            let (index, rest) = key.strip_prefix(list)?.strip_prefix('[')?.split_once(']')?;
            let source = sources.get(index.parse::<usize>().ok()?)?;
            Some(format!("{list}[{source}]{rest}"))
        };
        in_file("clusters", &self.entry_of_cluster)
            .or_else(|| in_file("links", &self.entry_of_link))
            .unwrap_or_else(|| key.to_owned())
    }
}

/// Replaces all entries with `copies` in `file` by their copies; returns the entry of the file that each cluster and link comes
/// from.
///
/// # Errors
/// A number of copies is out of range, or copies would all have the same name.
pub(super) fn expand_copies(document: &Document, file: &mut PlatformFile) -> Result<CopySources> {
    let clusters = file.clusters.iter().enumerate().map(|(index, cluster)| {
        let groups = cluster.groups.as_ref().map_or(1, Vec::len).max(1) as u64;
        ("clusters", index, cluster.copies, groups, &cluster.name)
    });
    let links = file
        .links
        .iter()
        .enumerate()
        .map(|(index, link)| ("links", index, link.copies, 1, &link.name));
    let mut left = MAX_COPIES;
    let mut problems = Vec::new();
    for (list, index, copies, groups, name) in clusters.chain(links) {
        let Some(copies) = copies else { continue };
        let entries = copies.saturating_mul(groups);
        if !(1..=left).contains(&entries) {
            let of = if groups > 1 {
                format!(" of {groups} groups")
            } else {
                String::new()
            };
            let message = format!("`copies` is out of range: {copies} copies{of}");
            let problem = document.problem_at(&format!("{list}[{index}].copies"), message);
            problems.push(problem.hint(format!(
                "set `copies` to at least 1, and reduce the copies so that the whole file has at most {MAX_COPIES} copies of groups and links"
            )));
        } else if !name.contains('#') {
            let message = format!("all copies would have the same name, `{name}`");
            let problem = document.problem_at(&format!("{list}[{index}].name"), message);
            problems.push(problem.hint(format!(
                "write `{name}#`: `#` is replaced by the number of the copy, counted from 0"
            )));
        }
        left = left.saturating_sub(entries);
    }
    Error::unless_empty(problems)?;
    let mut sources = CopySources::default();
    file.clusters = replace_entries_by_copies(
        &file.clusters,
        |cluster| cluster.copies,
        |cluster| {
            [&mut cluster.name]
                .into_iter()
                .chain(&mut cluster.router)
                .collect()
        },
        &mut sources.entry_of_cluster,
    );
    file.links = replace_entries_by_copies(
        &file.links,
        |link| link.copies,
        |link| vec![&mut link.name, &mut link.from, &mut link.to],
        &mut sources.entry_of_link,
    );
    Ok(sources)
}

fn replace_entries_by_copies<T: Clone>(
    entries: &[T],
    copies: fn(&T) -> Option<u64>,
    names: fn(&mut T) -> Vec<&mut String>,
    sources: &mut Vec<usize>,
) -> Vec<T> {
    let mut all = Vec::new();
    for (source, entry) in entries.iter().enumerate() {
        for number in 0..copies(entry).unwrap_or(1) {
            let mut copy = entry.clone();
            if copies(entry).is_some() {
                for name in names(&mut copy) {
                    *name = name.replace('#', &number.to_string());
                }
            }
            all.push(copy);
        }
        sources.resize(all.len(), source);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::from_json;

    fn text(clusters: &str, links: &str) -> String {
        format!(
            r#"{{"schema": "migsim-platform-1", "name": "many", "clusters": [{clusters}], "links": [{links}]}}"#
        )
    }

    const LINK: &str = r#""link": {"bandwidth": "1 Gbps", "latency": "1 us"}"#;

    #[test]
    fn copies_have_their_number_in_names_and_routers() {
        let clusters = format!(
            r#"{{"name": "c#", "copies": 3, "hosts": 2, "speed": "1 GHz", "router": "r#", {LINK}}}, {{"name": "x", "hosts": 1, "speed": "2 GHz", "router": "core", {LINK}}}"#
        );
        let links = r#"{"name": "up#", "copies": 3, "from": "r#", "to": "core", "bandwidth": "10 Gbps", "latency": "10 us"}"#;
        let platform = from_json("many.json", &text(&clusters, links))
            .unwrap()
            .platform;
        let names: Vec<_> = platform
            .clusters
            .iter()
            .map(|cluster| &*cluster.name)
            .collect();
        assert_eq!(names, ["c0", "c1", "c2", "x"]);
        assert_eq!(platform.hosts[5].name, "c2-1");
        let route = platform
            .route(migsim_base::units::HostId(0), migsim_base::units::HostId(5))
            .unwrap();
        let links: Vec<_> = route
            .links()
            .map(|link| &*platform.links[link.index()].name)
            .collect();
        assert_eq!(links, ["c0-0-link", "up0", "up2", "c2-1-link"]);
    }

    #[test]
    fn bad_copies_are_errors_with_their_place() {
        let message = |name: &str, copies: &str, router: &str| {
            let clusters = format!(
                r#"{{"name": "{name}", "copies": {copies}, "hosts": 2, "speed": "1 GHz", "router": "{router}", {LINK}}}"#
            );
            from_json("many.json", &text(&clusters, ""))
                .unwrap_err()
                .to_string()
        };
        assert!(message("c", "3", "r").contains("all copies would have the same name, `c`"));
        assert!(message("c#", "0", "r").contains("0 copies"));
        assert!(message("c#", "1000001", "r").contains("at most 1000000"));
        // Each entry alone is within the limit; both together exceed it.
        let entry = |name: &str| {
            format!(
                r#"{{"name": "{name}#", "copies": 600000, "hosts": 1, "speed": "1 GHz", {LINK}}}"#
            )
        };
        let both = format!("{}, {}", entry("a"), entry("b"));
        let together = from_json("many.json", &text(&both, ""))
            .unwrap_err()
            .to_string();
        assert!(
            together.contains("600000 copies") && together.contains("clusters[1].copies"),
            "{together}"
        );
        // A problem of a copy is reported at its entry.
        let unconnected = message("c#", "3", "r#");
        assert!(
            unconnected.contains("no route from cluster `c0` to cluster `c1`")
                && unconnected.contains("clusters[0].router"),
            "{unconnected}"
        );
    }
}
