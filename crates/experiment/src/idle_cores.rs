//! A note for the user about a mapping that ignores the number of cores, so that some hosts have more processes than cores while
//! other cores are idle.

use migsim_base::{
    units::HostId,
    words::{format_count, singular_or_plural},
};
use migsim_platform::{Mapping, MappingRule, Platform};

/// Returns a note for the user if `mapping` leaves cores idle although some host has more processes than cores.
pub(super) fn idle_cores_note(
    platform: &Platform,
    placement: &[HostId],
    mapping: &Mapping,
) -> Option<String> {
    let Mapping::Rule(rule @ (MappingRule::Contiguous | MappingRule::RoundRobin), entries) =
        mapping
    else {
        return None;
    };
    if !entries.is_empty() || placement.len() <= platform.hosts.len() {
        return None;
    }
    let mut processes = vec![0_u32; platform.hosts.len()];
    for host in placement {
        processes[host.index()] += 1;
    }
    let both = || platform.hosts.iter().zip(&processes);
    let crowded = both().filter(|(host, count)| **count > host.cores).count();
    let idle: u64 = both()
        .map(|(host, count)| u64::from(host.cores.saturating_sub(*count)))
        .sum();
    if crowded == 0 || idle == 0 {
        return None;
    }
    Some(format!(
        "{} {} more processes than cores while {} {} idle, since the mapping `{}` ignores the numbers of cores: to give each core one process, use `--mapping by-core`",
        format_count(crowded, "host"),
        singular_or_plural(crowded as u64, ["has", "have"]),
        format_count(idle, "core"),
        singular_or_plural(idle, ["is", "are"]),
        rule.name()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_cores_beside_crowded_hosts_are_reported() {
        let text = r#"{"schema": "migsim-platform-1", "name": "mixed", "clusters": [
            {"name": "new", "hosts": 2, "speed": "2 GHz", "cores": 4, "link": {"bandwidth": "1 Gbps", "latency": "1 us"}, "router": "R"},
            {"name": "old", "hosts": 3, "speed": "1 GHz", "link": {"bandwidth": "1 Gbps", "latency": "1 us"}, "router": "R"}]}"#;
        let platform = migsim_platform::from_json("mixed.json", text)
            .unwrap()
            .platform;
        let note = |mapping: &str, processes| {
            let mapping: Mapping = mapping.parse().unwrap();
            let placement = mapping.place(&platform, processes).unwrap();
            idle_cores_note(&platform, &placement, &mapping)
        };
        assert_eq!(note("contiguous", 5), None);
        // 2 2 | 2 1 1: one host of old is crowded, 2 + 2 cores are idle.
        let told = note("contiguous", 8).unwrap();
        assert!(
            told.starts_with("1 host has more processes than cores while 4 cores are idle"),
            "{told}"
        );
        assert!(
            told.ends_with("to give each core one process, use `--mapping by-core`"),
            "{told}"
        );
        // With 20 processes each host has four, so that no core is idle. Mappings that the user chose host by host get no note.
        assert_eq!(note("contiguous", 20), None);
        assert_eq!(note("by-core", 8), None);
        assert_eq!(note("contiguous:old", 6), None);
        assert_eq!(note("new-0,new-0,new-0,new-0,new-0,old-0", 6), None);
    }
}
