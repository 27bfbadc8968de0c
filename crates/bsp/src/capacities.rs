//! Determines whether the capacities of a platform vary and are above zero, and updates the capacities of its links.

use super::event::ActivityToken;
use migsim_base::units::{BytesPerSecond, LinkId, Seconds};
use migsim_engine::Simulation;
use migsim_platform::{Link, Platform};

/// Returns whether the capacities of the platform never change and every host and every link has a capacity above zero.
pub(super) fn has_constant_positive_capacities(platform: &Platform) -> bool {
    !has_varying_links(platform)
        && has_capacity_everywhere(platform)
        && platform.hosts.iter().all(|host| !host.speed_varies())
}

/// Returns whether the capacity or the latency of at least one link varies over time.
pub(super) fn has_varying_links(platform: &Platform) -> bool {
    platform.links.iter().any(Link::varies_over_time)
}

/// Sets the links of `platform` to their present capacities and latencies; calls `has_changed` for each link whose values have
/// changed.
pub(super) fn update_link_capacities(
    platform: &mut Platform,
    engine: &Simulation<'_, ActivityToken>,
    mut has_changed: impl FnMut(LinkId),
) {
    for (index, link) in platform.links.iter_mut().enumerate() {
        let id = LinkId::from_index(index);
        let (bandwidth, latency) = engine.capacity_and_latency(id);
        if link.bandwidth.get() != bandwidth || link.latency.get() != latency {
            link.bandwidth = BytesPerSecond::of(bandwidth);
            link.latency = Seconds::of(latency);
            has_changed(id);
        }
    }
}

/// Returns whether every host and every link of the platform has a capacity above zero.
pub(super) fn has_capacity_everywhere(platform: &Platform) -> bool {
    let hosts = platform.hosts.iter().map(|host| host.speed.get());
    let links = platform.links.iter().map(|link| link.bandwidth.get());
    hosts.chain(links).all(|capacity| capacity > 0.0)
}
