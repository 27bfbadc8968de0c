//! Draws the platform of a benchmark case: clusters that uplinks connect to a backbone.

use serde_json::{Value, json};

use super::{
    draw::{random_stream, round_to_three_digits},
    file::{FixedOrDrawnValue, LinkDistribution, PlatformDistribution, Unit},
};
use migsim_base::{
    random::Stream,
    units::{BytesPerSecond, InstructionsPerSecond},
};

/// A platform that was drawn for a benchmark case, with totals that the drawing of other parts uses.
#[derive(Debug)]
pub(super) struct DrawnPlatform {
    /// The JSON value of the platform file.
    pub platform_file: Value,
    /// The names of the hosts of the platform.
    pub host_names: Vec<String>,
    /// Total number of cores of all hosts.
    pub total_core_count: f64,
    /// Mean speed of a core of the platform \[instructions/s\]. While groups of hosts are still being drawn, it holds the total
    /// speed of all cores.
    pub mean_core_speed: f64,
    /// Bandwidth of the slowest access link of a host \[B/s\].
    pub slowest_access_bandwidth: f64,
    /// The number of clusters of the platform.
    pub cluster_count: usize,
    /// Whether the clusters are joined by a wide-area network.
    pub has_wide_area_network: bool,
}

/// Draws a number from a distribution and rounds it to a whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of the suite, from 0 to some thousands"
)]
pub(super) fn draw_whole_number(drawn: &FixedOrDrawnValue, random: &mut Stream) -> u64 {
    drawn.draw_number(random).round().max(0.0) as u64
}

/// Draws a quantity from a distribution with a unit; returns the number and a text of the number with its unit.
fn draw_quantity(drawn: &FixedOrDrawnValue, random: &mut Stream) -> (f64, String) {
    let number = round_to_three_digits(drawn.draw_number(random));
    let unit = match drawn {
        FixedOrDrawnValue::Uniform {
            unit: Unit::Named(unit),
            ..
        }
        | FixedOrDrawnValue::LogUniform {
            unit: Unit::Named(unit),
            ..
        } => unit.as_str(),
        _ => "",
    };
    (number, format!("{number} {unit}"))
}

/// Draws the bandwidth and latency of a link; returns the bandwidth \[B/s\] and the JSON value of the link.
fn draw_link(draw: &LinkDistribution, random: &mut Stream) -> (f64, Value) {
    let (_, bandwidth) = draw_quantity(&draw.bandwidth, random);
    let (_, latency) = draw_quantity(&draw.latency, random);
    let speed = BytesPerSecond::parse(&bandwidth).map_or(0.0, BytesPerSecond::get);
    (speed, json!({ "bandwidth": bandwidth, "latency": latency }))
}

impl PlatformDistribution {
    fn draw_host_count(&self, most_processes: Option<u64>, random: &mut Stream) -> u64 {
        let mut hosts = self.hosts.clone();
        if let (FixedOrDrawnValue::LogUniform { log_uniform, .. }, Some(most)) =
            (&mut hosts, most_processes)
        {
            *log_uniform = log_uniform.map(|end| end.min(most as f64 / 2.0));
        }
        draw_whole_number(&hosts, random).max(2)
    }

    /// Draws a platform from this distribution for the case with the given draw number and name.
    /// It has at most half as many hosts as
    /// `most_processes`.
    pub(super) fn draw_platform(
        &self,
        draw: u64,
        name: &str,
        most_processes: Option<u64>,
    ) -> DrawnPlatform {
        let mut random = random_stream(draw, name, "platform");
        let hosts = self.draw_host_count(most_processes, &mut random);
        let clusters = draw_whole_number(&self.clusters, &mut random).clamp(1, hosts / 2);
        let is_wide = random.draw_from_zero_to_one() <= self.wan && clusters > 1;
        let sizes = random_partition(hosts, clusters, &mut random);
        let mut machine = DrawnPlatform {
            platform_file: Value::Null,
            host_names: Vec::new(),
            total_core_count: 0.0,
            mean_core_speed: 0.0,
            slowest_access_bandwidth: f64::INFINITY,
            cluster_count: sizes.len(),
            has_wide_area_network: is_wide,
        };
        let mut entries = Vec::new();
        let mut links = Vec::new();
        for (index, size) in sizes.iter().enumerate() {
            let own = format!("c{index}");
            let router = format!("r{index}");
            let (bandwidth, access) = draw_link(&self.access, &mut random);
            machine.slowest_access_bandwidth = machine.slowest_access_bandwidth.min(bandwidth);
            let is_unlike = random.draw_from_zero_to_one() <= self.unlike && *size > 1;
            let first = if is_unlike { size / 2 } else { *size };
            let groups: Vec<Value> = [first, size - first]
                .into_iter()
                .filter(|hosts| *hosts > 0)
                .map(|hosts| machine.draw_host_group(self, hosts, &mut random))
                .collect();
            let mut entry = json!({ "name": own, "link": access, "groups": groups });
            machine
                .host_names
                .extend((0..*size).map(|host| format!("{own}-{host}")));
            if clusters > 1 {
                entry["router"] = json!(router);
                let draw = if is_wide { &self.wide } else { &self.local };
                let (_, mut uplink) = draw_link(draw, &mut random);
                uplink["name"] = json!(format!("uplink-{index}"));
                uplink["from"] = json!(router);
                uplink["to"] = json!("backbone");
                links.push(uplink);
            }
            entries.push(entry);
        }
        machine.mean_core_speed /= machine.total_core_count;
        machine.platform_file =
            json!({ "schema": "migsim-platform-1", "name": name, "clusters": entries });
        if !links.is_empty() {
            machine.platform_file["links"] = json!(links);
        }
        machine
    }
}

impl DrawnPlatform {
    /// Draws a group of `hosts` equal hosts, adds its cores and speeds to the totals of the platform, and returns the JSON value
    /// of the group.
    fn draw_host_group(
        &mut self,
        draw: &PlatformDistribution,
        hosts: u64,
        random: &mut Stream,
    ) -> Value {
        let (_, speed) = draw_quantity(&draw.speed, random);
        let cores = draw_whole_number(&draw.cores, random).max(1);
        let all = (hosts * cores) as f64;
        let each = InstructionsPerSecond::parse(&speed);
        self.total_core_count += all;
        self.mean_core_speed += all * each.map_or(0.0, InstructionsPerSecond::get);
        json!({ "hosts": hosts, "speed": speed, "cores": cores })
    }
}

/// Divides the number `whole` into `count` random whole numbers, each at least 2, which add up to `whole`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a part of a count"
)]
fn random_partition(whole: u64, count: u64, random: &mut Stream) -> Vec<u64> {
    let weights: Vec<f64> = (0..count)
        .map(|_| 0.3 + 0.7 * random.draw_from_zero_to_one())
        .collect();
    let sum: f64 = weights.iter().sum();
    let free = whole - 2 * count;
    let mut sizes: Vec<u64> = weights
        .iter()
        .map(|weight| 2 + (free as f64 * weight / sum).floor() as u64)
        .collect();
    let rest = whole - sizes.iter().sum::<u64>();
    sizes[0] += rest;
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_add_up_to_the_whole() {
        let mut random = random_stream(1, "c", "p");
        for whole in 12..60 {
            let sizes = random_partition(whole, 6, &mut random);
            assert_eq!(sizes.iter().sum::<u64>(), whole);
            assert!(sizes.iter().all(|size| *size >= 2), "{sizes:?}");
        }
    }
}
