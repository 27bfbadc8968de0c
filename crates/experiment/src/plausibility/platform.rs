//! Rules about implausible platforms: the speeds of hosts, the latencies of links, and the sizes and number of clusters.

use serde_json::Value;

use super::rules::{
    Finding, HOST_SPEED_RATIO, LONG_LATENCY, ONE_CLUSTER, PlausibilityRule, SMALL_CLUSTERS,
};
use migsim_base::{
    quantities::{format_duration, format_speed},
    words::format_count,
};
use migsim_platform::{GroupingRule, Host, Platform, Routes};
use migsim_policies as policy;

/// Minimum number of clusters for which small clusters are reported. On a platform with fewer clusters, small clusters are
/// assumed to be intended.
const MIN_CLUSTERS: usize = 3;

/// Maximum depth of the zones whose clusters the note about small clusters counts.
const MAX_LEVELS: usize = 3;

/// Returns the implausible values of a platform. The sizes of the clusters are checked only if the user did not choose the
/// clusters (`are_clusters_chosen` is false).
pub fn find_implausible_platform_values(
    platform: &Platform,
    are_clusters_chosen: bool,
) -> Vec<Finding> {
    let small = (!are_clusters_chosen).then(|| check_small_clusters(platform));
    [
        check_host_speeds(platform),
        check_link_latencies(platform),
        small.flatten(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns a finding if the platform has only one cluster, because some policies move processes only between clusters.
pub fn check_single_cluster(platform: &Platform) -> Option<Finding> {
    let clusters = platform.clusters.len();
    (clusters as f64 <= ONE_CLUSTER.threshold).then(|| {
        let name = &platform.clusters[0].name;
        let what = format!("the platform has only one cluster, `{name}`, but MigBSP moves processes only between clusters");
        Finding::new(ONE_CLUSTER, what)
    })
}

/// Returns a finding if the platform has only one cluster and the policy, with these options, moves processes only between
/// clusters.
pub(super) fn check_clusters_for_policy(
    platform: &Platform,
    policy: &policy::Entry,
    options: &Value,
) -> Option<Finding> {
    let mut found = policy
        .moves_only_between_clusters(options)
        .ok()?
        .then(|| check_single_cluster(platform))
        .flatten()?;
    let cluster = &platform.clusters[0].name;
    let name = policy.name;
    let inside = policy.option_for_moves_within_cluster();
    let unless = if inside.is_empty() {
        String::new()
    } else {
        format!(" unless you add `--set policy.{name}.{inside}`")
    };
    found.description = format!(
        "no process will move, since the policy `{name}` moves processes only between clusters{unless}, and the platform has only one cluster, `{cluster}`"
    );
    Some(found)
}

/// Returns a finding if the ratio of the fastest to the slowest host speed is above the threshold of its rule.
fn check_host_speeds(platform: &Platform) -> Option<Finding> {
    let by_speed = |a: &&Host, b: &&Host| a.speed.get().total_cmp(&b.speed.get());
    let slow = platform.hosts.iter().min_by(by_speed)?;
    let fast = platform.hosts.iter().max_by(by_speed)?;
    let ratio = fast.speed.get() / slow.speed.get();
    finding_above_threshold(HOST_SPEED_RATIO, ratio, || {
        format!(
            "host `{}` has a speed of {} and host `{}` of {}, {ratio:.0} times as much",
            slow.name,
            format_speed(slow.speed.get()),
            fast.name,
            format_speed(fast.speed.get()),
        )
    })
}

/// Returns a finding if the longest latency of a link is above the threshold of its rule.
fn check_link_latencies(platform: &Platform) -> Option<Finding> {
    let slow = platform
        .links
        .iter()
        .max_by(|a, b| a.latency.get().total_cmp(&b.latency.get()))?;
    let latency = slow.latency.get();
    finding_above_threshold(LONG_LATENCY, latency, || {
        format!(
            "link `{}` has a latency of {}",
            slow.name,
            format_duration(latency)
        )
    })
}

/// Returns a finding if clusters that were formed from zones or from host names have only one or two hosts.
fn check_small_clusters(platform: &Platform) -> Option<Finding> {
    let hosts = platform.hosts.len();
    let clusters = platform.clusters.len();
    if !matches!(platform.routes, Routes::Zoned { .. }) || clusters < MIN_CLUSTERS {
        return None;
    }
    let is_small = hosts as f64 <= SMALL_CLUSTERS.threshold * clusters as f64;
    is_small.then(|| {
        let first = &platform.clusters[0].name;
        let what = format!(
            "the {} form {} (the first is `{first}`), so that a cluster has two hosts or fewer on average",
            format_count(hosts, "host"),
            format_count(clusters, "cluster")
        );
        let counted = |rule: GroupingRule| {
            let mut other = platform.clone();
            other.group_hosts(rule);
            other.clusters.len()
        };
        let levels = (1..).map(|depth| (format!("level={depth}"), GroupingRule::ZoneDepth(depth)));
        let larger = [
            ("zone".to_owned(), GroupingRule::InnermostZone),
            ("name".to_owned(), GroupingRule::HostNamePrefix),
        ].into_iter().chain(levels.take(MAX_LEVELS))
            .map(|(flag, rule)| (flag, counted(rule)))
            .filter(|&(_, count)| count > 1 && count < clusters);
        let larger: Vec<String> = larger
            .map(|(flag, count)| format!(", or {count} with `--clusters {flag}`"))
            .collect();
        Finding::new(SMALL_CLUSTERS, what + &larger.concat())
    })
}

/// Returns a finding, described by the text of `what`, if a value is above the threshold of its rule.
pub(super) fn finding_above_threshold(
    rule: PlausibilityRule,
    value: f64,
    what: impl FnOnce() -> String,
) -> Option<Finding> {
    (value > rule.threshold).then(|| Finding::new(rule, what()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use migsim_platform::{HostGrouping, from_json, from_simgrid};
    use serde_json::json;

    /// Two clusters of two hosts, of 3 GHz and of `speed`, joined by a link of `latency`.
    fn pair(speed: &str, latency: &str) -> Platform {
        let cluster = |name: &str, speed: &str| {
            format!(
                r#"{{"name": "{name}", "hosts": 2, "speed": "{speed}", "router": "R{name}", "link": {{"bandwidth": "1 Gbps", "latency": "5 us"}}}}"#
            )
        };
        let (a, b) = (cluster("a", "3 GHz"), cluster("b", speed));
        let text = format!(
            r#"{{"schema": "migsim-platform-1", "name": "two", "clusters": [{a}, {b}],
            "links": [{{"name": "wan", "from": "Ra", "to": "Rb", "bandwidth": "1 Gbps", "latency": "{latency}"}}]}}"#
        );
        from_json("two.json", &text).unwrap().platform
    }

    /// A flat zone with hosts of these names.
    fn flat(names: &[&str]) -> Platform {
        let host = |name: &&str| format!("<host id='{name}' speed='1Gf'/>");
        let hosts = names.iter().map(host).collect::<Vec<_>>().concat();
        let text =
            format!("<platform version='4'><zone id='z' routing='None'>{hosts}</zone></platform>");
        from_simgrid("flat.xml", &text).unwrap().platform
    }

    fn found(platform: &Platform) -> Vec<&'static str> {
        let findings = find_implausible_platform_values(platform, false).into_iter();
        findings.map(|finding| finding.rule.name).collect()
    }

    #[test]
    fn a_slipped_prefix_of_a_speed_is_noticed() {
        assert_eq!(found(&pair("29 MHz", "10 ms")), ["speed-ratio"]);
        assert_eq!(found(&pair("30 MHz", "10 ms")), [""; 0]); // a ratio of 100 is allowed
        let note =
            find_implausible_platform_values(&pair("2.6 MHz", "10 ms"), false)[0].note_text();
        let expected = "host `b-0` has a speed of 2.6 MHz and host `a-1` of 3 GHz, 1154 times as much: check the units of `speed` (MHz, GHz)";
        assert_eq!(note, expected);
    }

    #[test]
    fn a_latency_of_seconds_is_noticed() {
        assert_eq!(found(&pair("3 GHz", "1.01 s")), ["long-latency"]);
        assert_eq!(found(&pair("3 GHz", "1 s")), [""; 0]);
        let note = find_implausible_platform_values(&pair("3 GHz", "10 s"), false)[0].note_text();
        let expected = "link `wan` has a latency of 10 s: check the unit of `latency` (us, ms)";
        assert_eq!(note, expected);
    }

    #[test]
    fn clusters_made_of_every_other_host_are_noticed_unless_they_were_chosen() {
        let six = ["n-0.0", "n-0.1", "n-1.0", "n-1.1", "n-2.0", "n-2.1"];
        assert_eq!(found(&flat(&six)), ["small-clusters"]);
        assert_eq!(find_implausible_platform_values(&flat(&six), true), []);
        // Seven hosts in three clusters are more than two each. Two clusters may be intended.
        let seven = [&six[..], &["n-2.2"]].concat();
        assert_eq!(found(&flat(&seven)), [""; 0]);
        assert_eq!(found(&flat(&six[..4])), [""; 0]);
        let note = find_implausible_platform_values(&flat(&six), false)[0].note_text();
        assert!(
            note.starts_with("the 6 hosts form 3 clusters (the first is `n-0`), so that a cluster has two hosts or fewer on average: "),
            "{note}"
        );
        let mut formed = flat(&six);
        "level=0"
            .parse::<HostGrouping>()
            .unwrap()
            .apply_to(&mut formed)
            .unwrap();
        assert_eq!(found(&formed), [""; 0]);
    }

    #[test]
    fn one_cluster_is_noticed_for_a_policy_that_needs_two() {
        let registry = Registry::standard();
        let of = |platform: &Platform, policy: &str| {
            let (policy, option) = policy.split_once('/').unwrap_or((policy, "competes"));
            let options = if policy == "migbsp" {
                json!({ "own_cluster": option })
            } else {
                json!({})
            };
            let policy = registry.policies().find(policy).unwrap();
            let finding = check_clusters_for_policy(platform, policy, &options)?;
            assert_eq!(finding.rule.name, "one-cluster");
            Some(finding.note_text())
        };
        let one = flat(&["a-0", "a-1", "a-2"]);
        let note = of(&one, "migbsp").unwrap();
        let expected = "no process will move, since the policy `migbsp` moves processes only between clusters unless you add \
            `--set policy.migbsp.own_cluster=within`, and the platform has only one cluster, `a`: ";
        assert!(note.starts_with(expected), "{note}");
        assert!(of(&one, "authors-2015").is_some());
        assert_eq!(of(&one, "migbsp/within"), None);
        assert_eq!(of(&one, "refine"), None);
        assert_eq!(of(&one, "migbsp-2007"), None); // this policy may move a process to another host of its own Set
        assert_eq!(of(&flat(&["a-0", "a-1", "b-0"]), "migbsp"), None);
    }
}
