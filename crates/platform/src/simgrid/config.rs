//! Translates the settings of a `<config>` in a SimGrid file into settings of migsim.

/// Name of the property of the outermost zone that sets `network.fatpipe`, the rule for links that are not shared, unless the
/// experiment sets it. SimGrid ignores this property.
pub(super) const FATPIPE_PROPERTY: &str = "migsim.network.fatpipe";

/// Name of the property of a `<host>` or `<cluster>` that sets the memory of each host. SimGrid ignores this property.
pub(super) const MEMORY_PROPERTY: &str = "migsim.memory";

/// What a setting of `SimGrid` means for a simulation by migsim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SettingMeaning {
    /// The setting corresponds to a key of `network` in an experiment, given with its value.
    NetworkSetting(&'static str, String),
    /// The setting may change simulated times and has no counterpart in migsim.
    WithoutCounterpart,
    /// The setting changes no simulated time.
    WithoutEffect,
}

/// Constants of the network model: for each, the key in SimGrid, in lower case with dashes, and the key in migsim.
const NETWORK_CONSTANTS: [(&str, &str); 8] = [
    ("network/latency-factor", "latency_factor"),
    ("network/bandwidth-factor", "bandwidth_factor"),
    ("network/weight-s", "weight_s"),
    ("network/tcp-gamma", "tcp_gamma"),
    ("network/loopback-bw", "loopback_bandwidth"),
    ("smpi/lat-factor", "latency_factor"),
    ("smpi/bw-factor", "bandwidth_factor"),
    ("network/crosstraffic", "crosstraffic"),
];

/// Settings that change no simulated time, although they belong to a group that may change simulated times: they control how
/// `SimGrid` computes.
const HARMLESS_SETTINGS: [&str; 8] = [
    "network/optim",
    "cpu/optim",
    "host/optim",
    "cpu/maxmin-selective-update",
    "network/maxmin-selective-update",
    "maxmin/concurrency-limit",
    "smpi/host-speed",
    "smpi/display-timing",
];

/// Prefixes of the keys of SimGrid's settings that may change simulated times.
const TIMING_PREFIXES: [&str; 9] = [
    "network/",
    "cpu/",
    "host/",
    "workstation/",
    "disk/",
    "smpi/",
    "surf/",
    "maxmin/",
    "precision/",
];

/// Returns the meaning of a setting of `SimGrid`. Older versions of `SimGrid` write `_` for `-` in keys.
pub(super) fn meaning_of_setting(key: &str, value: &str) -> SettingMeaning {
    let key = key.to_ascii_lowercase().replace('_', "-");
    let value = value.trim().to_ascii_lowercase();
    if let Some((_, ours)) = NETWORK_CONSTANTS.iter().find(|(theirs, _)| *theirs == key) {
        let value = match (*ours, value.as_str()) {
            ("crosstraffic", "yes" | "on" | "true" | "1") => "true",
            ("crosstraffic", "no" | "off" | "false" | "0") => "false",
            (_, number) if number.parse::<f64>().is_ok() => number,
            // Factors by size (`65472:11.6;15424:3.4`), numbers with units.
            _ => return SettingMeaning::WithoutCounterpart,
        };
        return SettingMeaning::NetworkSetting(ours, value.to_owned());
    }
    match key.as_str() {
        "network/model" if matches!(&*value, "cm02" | "lv08") => {
            SettingMeaning::NetworkSetting("model", value)
        }
        // The usual models of hosts and processors; their network has a key of its own.
        "host/model" | "workstation/model" if value == "default" => SettingMeaning::WithoutEffect,
        "cpu/model" if value == "cas01" => SettingMeaning::WithoutEffect,
        known if HARMLESS_SETTINGS.contains(&known) => SettingMeaning::WithoutEffect,
        other if TIMING_PREFIXES.iter().any(|group| other.starts_with(group)) => {
            SettingMeaning::WithoutCounterpart
        }
        _ => SettingMeaning::WithoutEffect,
    }
}

pub(super) fn network_flag(key: &str, value: &str) -> String {
    if key == "model" {
        format!("--network {value}")
    } else {
        format!("--net {key}={value}")
    }
}

#[cfg(test)]
mod tests {
    use super::{SettingMeaning, meaning_of_setting, network_flag};

    #[test]
    fn what_changes_times_is_a_setting_or_told() {
        let written = |key: &str, value: &str| match meaning_of_setting(key, value) {
            SettingMeaning::NetworkSetting(key, value) => network_flag(key, &value),
            other => format!("{other:?}"),
        };
        assert_eq!(written("network/model", "CM02"), "--network cm02");
        assert_eq!(
            written("network/TCP_gamma", "4194304.0"),
            "--net tcp_gamma=4194304.0"
        );
        assert_eq!(
            written("network/crosstraffic", "no"),
            "--net crosstraffic=false"
        );
        assert_eq!(
            meaning_of_setting("network/model", "ns-3"),
            SettingMeaning::WithoutCounterpart
        );
        assert_eq!(
            meaning_of_setting("smpi/bw-factor", "65472:0.9;5000:0.6"),
            SettingMeaning::WithoutCounterpart
        );
        assert_eq!(
            meaning_of_setting("network/loopback-lat", "1e-6"),
            SettingMeaning::WithoutCounterpart
        );
        assert_eq!(
            meaning_of_setting("host/model", "ptask_L07"),
            SettingMeaning::WithoutCounterpart
        );
        assert_eq!(
            meaning_of_setting("network/optim", "Full"),
            SettingMeaning::WithoutEffect
        );
        assert_eq!(
            meaning_of_setting("tracing", "yes"),
            SettingMeaning::WithoutEffect
        );
    }
}
