//! Flows whose end times are computed from the service of their bottleneck links, without a visit to each flow whose rate
//! changes.
//!
//! All flows with the same bottleneck link run at the fair-share level x of that link: a flow of weight w transfers `factor · x /
//! w` bytes per second, where `factor` is the bandwidth factor. With S the service of the link,
//!
//! ```text
//! S(t) = S(t0) + x · (t - t0)        a flow of B bytes bottlenecked there from s on ends when S = S(s) + B · w / factor
//! ```
//! A new level therefore changes the next end of one link, whatever the number of its flows. A flow is visited only when its
//! bottleneck link changes. The groups of flows and their bottleneck links are those of [`super::maxmin::bottleneck`].
//!
//! Cost: 50 ns per link whose level changes, 100 ns per group whose bottleneck link changes. The reference implementations are
//! [`super::batch`] and the flows of [`super::transport`], which visit each flow whose rate changes.

use std::{cmp::Reverse, collections::BinaryHeap};

use super::{
    checks::{InvariantViolation, is_explained_by_rounding},
    clock::{SAME_TIME_TOLERANCE, last_simultaneous_time},
    completion::{CompletionIndex, FlowsByTarget},
    maxmin::bottleneck::{BottleneckChange, BottleneckMaxMin},
};
use migsim_base::units::to_u32;

/// Groups of flows with equal routes; the end times of the flows are computed from the service of their bottleneck links.
#[derive(Clone, Debug, Default)]
pub(super) struct BottleneckedFlows {
    max_min_solver: BottleneckMaxMin,
    link_services: Vec<LinkService>,
    groups: Vec<FlowGroup>,
    /// For each link, the time at which the next of the flows bottlenecked at the link ends \[s\].
    next_end_times: CompletionIndex,
    links_with_stale_next_end: Vec<u32>,
    links_with_ending_flow: Vec<u32>,
    bottleneck_changes: Vec<BottleneckChange>,
    active_group_count: usize,
    /// Bandwidth factor of the network model, by which the share of a flow is multiplied to give its rate; dimensionless.
    bandwidth_factor: f64,
    /// Whether any flow ended with bytes left, or with more bytes transferred than its size.
    violates_byte_conservation: bool,
}

/// Maximum ratio of the time in which a link would attain its service at its present fair-share level to the present time. Beyond
/// it, the service is counted from 0 again, so that times keep their precision.
const MAX_SERVICE_TIME_RATIO: f64 = 100.0;

/// Service of a link: the integral of its fair-share level over time, which each group bottlenecked at the link receives.
#[derive(Clone, Debug, Default)]
struct LinkService {
    attained_service: f64,
    last_update_time: f64,
    /// Fair-share level of the link since the last update; 0 if the link is unsaturated.
    fair_share_level: f64,
    /// Heap of the next ends of the groups bottlenecked at the link, in order of service. An entry has the service at which the
    /// next flow of the group ends (as bits, which sort like the value), the number of the group, and the stamp of the group. An
    /// entry whose stamp differs from the present stamp of the group is invalid.
    next_end_heap: BinaryHeap<Reverse<(u64, u32, u32)>>,
    bottlenecked_group_count: usize,
    is_next_end_stale: bool,
}

impl LinkService {
    fn advance_to(&mut self, now: f64) {
        if self.fair_share_level > 0.0 {
            self.attained_service += self.fair_share_level * (now - self.last_update_time);
        }
        self.last_update_time = now;
    }
}

/// A group of flows with equal routes; the end of each flow is given as an amount of service that the group receives.
#[derive(Clone, Debug, Default)]
struct FlowGroup {
    /// The bottleneck link of the group; `None` until the fair shares are updated after the group was added or rerouted.
    bottleneck: Option<u32>,
    offset: f64,
    next_end_stamp: u32,
    /// Service that the group needs for each byte of its flows: w / factor in the equation of the module.
    service_per_byte: f64,
    flows: FlowsByTarget,
}

/// Computes when the flows of groups end; all flows of a group have the same route. Links and groups are numbered from 0.
pub(super) trait FlowSolver: Default {
    /// Creates the solver without flows, for links with the given capacities \[B/s\]. `varies` states whether capacities may
    /// change, and `bandwidth_factor` is the factor of the network model by which the share of a flow is multiplied.
    fn new(capacities: impl Iterator<Item = f64>, varies: bool, bandwidth_factor: f64) -> Self;

    fn has_links(&self) -> bool;

    fn is_empty(&self) -> bool;

    /// Changes the capacity of a link \[B/s\].
    fn set_capacity(&mut self, link: u32, capacity: f64);

    /// Starts a flow with a size \[B\] and an identifier at the time `now` \[s\]. The first flow of a group determines the weight,
    /// the maximum rate \[B/s\] and the links of the group, each with the load on the link per unit of a flow's rate.
    fn start_flow(
        &mut self,
        group: u32,
        flow: (f64, u32),
        now: f64,
        limits: (f64, f64),
        uses: impl ExactSizeIterator<Item = (u32, f64)> + Clone,
    );

    /// Updates the fair shares and the times of the next ends that have changed at the time `now` \[s\].
    fn update_fair_shares(&mut self, now: f64);

    /// Returns the time at which the next of all flows ends \[s\]; infinite if no flow ends.
    fn next_end_time(&mut self) -> f64;

    /// Ends all flows that end at `now`, the time of the next end \[s\]. Calls `ended(group, flow_id, is_last)` for each flow; a
    /// group is removed with its last flow.
    fn end_flows(&mut self, now: f64, ended: impl FnMut(u32, u32, bool));

    /// Removes the remaining flows, which never end; calls `ended(flow_id)` for each of them. Later flows then end as on a new
    /// solver.
    fn remove_unending_flows(&mut self, ended: impl FnMut(u32));

    /// Returns the first violated invariant of the engine that the solver has found; `None` if there is none.
    fn first_violation(&self) -> Option<InvariantViolation>;
}

impl BottleneckedFlows {
    /// Changes the weight and the maximum rate \[B/s\] of the flows of a group, whose links are `uses`.
    pub(super) fn set_weight_and_max_rate(
        &mut self,
        group: u32,
        now: f64,
        (weight, max_rate): (f64, f64),
        uses: impl ExactSizeIterator<Item = (u32, f64)> + Clone,
    ) {
        let solver = &mut self.max_min_solver;
        if !solver.try_set_weight_and_max_rate(group, weight, max_rate) {
            self.groups[group as usize].offset = self.attained_service(group, now);
            self.max_min_solver.set_flow_count(group, 0);
            self.detach_from_bottleneck(group);
            self.max_min_solver.add_group(group, weight, max_rate, uses);
        }
        self.apply_weight_of_group(group, now);
        if let Some(bottleneck) = self.groups[group as usize].bottleneck {
            self.schedule_next_end(group, bottleneck);
        }
    }

    /// Applies to the flows of a group the weight that the group has in the max-min solver. The service that these flows still
    /// need is then counted from 0, because rounding would otherwise remove it from the sum if the weight decreases greatly.
    fn apply_weight_of_group(&mut self, group: u32, now: f64) {
        let price = self.compute_service_per_byte(group);
        let had = self.attained_service(group, now);
        let state = &mut self.groups[group as usize];
        let before = std::mem::replace(&mut state.service_per_byte, price);
        state
            .flows
            .map_targets(|target| (target - had).max(0.0) * (price / before));
        state.offset = state
            .bottleneck
            .map(|link| &self.link_services[link as usize])
            .map_or(0.0, |service| -service.attained_service);
    }

    fn compute_service_per_byte(&self, group: u32) -> f64 {
        self.max_min_solver.weight_of_group(group) / self.bandwidth_factor
    }

    /// Returns the service that a group has received by the time `now` \[s\].
    fn attained_service(&mut self, group: u32, now: f64) -> f64 {
        let FlowGroup {
            bottleneck, offset, ..
        } = self.groups[group as usize];
        let Some(bottleneck) = bottleneck else {
            return offset;
        };
        let service = &mut self.link_services[bottleneck as usize];
        service.advance_to(now);
        (service.attained_service + offset).max(0.0)
    }

    /// Separates a group from its bottleneck link; the entry for the group in the heap of the link becomes invalid.
    fn detach_from_bottleneck(&mut self, group: u32) {
        let state = &mut self.groups[group as usize];
        state.next_end_stamp = state.next_end_stamp.wrapping_add(1);
        if let Some(bottleneck) = state.bottleneck.take() {
            self.link_services[bottleneck as usize].bottlenecked_group_count -= 1;
            self.mark_next_end_stale(bottleneck);
        }
    }

    fn mark_next_end_stale(&mut self, link: u32) {
        let service = &mut self.link_services[link as usize];
        if !service.is_next_end_stale {
            service.is_next_end_stale = true;
            self.links_with_stale_next_end.push(link);
        }
    }

    fn schedule_next_end(&mut self, group: u32, bottleneck: u32) {
        let state = &mut self.groups[group as usize];
        state.next_end_stamp = state.next_end_stamp.wrapping_add(1);
        let target = (state.flows.next_target() - state.offset).max(0.0) + 0.0;
        let entry = (target.to_bits(), group, state.next_end_stamp);
        let service = &mut self.link_services[bottleneck as usize];
        service.next_end_heap.push(Reverse(entry));
        if service.next_end_heap.len() > 2 * service.bottlenecked_group_count + 64 {
            let groups = &self.groups;
            service.next_end_heap.retain(|Reverse((_, group, stamp))| {
                groups[*group as usize].next_end_stamp == *stamp
            });
        }
        self.mark_next_end_stale(bottleneck);
    }

    /// Applies to the flows the new fair-share levels and bottleneck links of the max-min solver, at the time `now` \[s\].
    fn apply_fair_share_levels(&mut self, now: f64) {
        let mut moved = std::mem::take(&mut self.bottleneck_changes);
        moved.clear();
        moved.extend(self.max_min_solver.bottleneck_changes());
        self.max_min_solver.clear_bottleneck_changes();
        // The service that the groups have had follows from their previous bottleneck links.
        for &BottleneckChange { group, .. } in &moved {
            let had = self.attained_service(group, now);
            self.detach_from_bottleneck(group);
            self.groups[group as usize].offset = had;
        }
        while let Some(link) = self.max_min_solver.take_link_with_changed_level() {
            let level = self.max_min_solver.fair_share_level(link);
            let service = &mut self.link_services[link as usize];
            service.advance_to(now);
            // An unsaturated link has no level.
            service.fair_share_level = if level < f64::INFINITY { level } else { 0.0 };
            if service.attained_service > MAX_SERVICE_TIME_RATIO * service.fair_share_level * now {
                self.restart_service_of_link(link);
            }
            self.mark_next_end_stale(link);
        }
        for &BottleneckChange {
            group,
            new_bottleneck_link: bottleneck,
        } in &moved
        {
            let service = &mut self.link_services[bottleneck as usize];
            service.advance_to(now);
            service.bottlenecked_group_count += 1;
            let state = &mut self.groups[group as usize];
            state.bottleneck = Some(bottleneck);
            state.offset -= service.attained_service;
            self.schedule_next_end(group, bottleneck);
        }
        self.bottleneck_changes = moved;
    }

    /// Counts the service of a link from 0 again, because rounding would otherwise remove from the sum the small service that a
    /// new flow of little weight needs.
    fn restart_service_of_link(&mut self, link: u32) {
        let service = &mut self.link_services[link as usize];
        let done = std::mem::replace(&mut service.attained_service, 0.0);
        let mut entries = std::mem::take(&mut service.next_end_heap).into_vec();
        entries.retain_mut(|Reverse((target, group, stamp))| {
            let state = &mut self.groups[*group as usize];
            let is_valid = state.next_end_stamp == *stamp;
            if is_valid {
                state.offset += done;
                let left = (state.flows.next_target() - state.offset).max(0.0) + 0.0;
                *target = left.to_bits();
            }
            is_valid
        });
        self.link_services[link as usize].next_end_heap = BinaryHeap::from(entries);
    }

    fn update_next_end_time(&mut self, link: u32) {
        let service = &mut self.link_services[link as usize];
        service.is_next_end_stale = false;
        while let Some(&Reverse((target, group, stamp))) = service.next_end_heap.peek() {
            if self.groups[group as usize].next_end_stamp == stamp {
                let left = (f64::from_bits(target) - service.attained_service).max(0.0);
                self.next_end_times.set_end_time(
                    link,
                    service.last_update_time + left / service.fair_share_level,
                );
                return;
            }
            service.next_end_heap.pop();
        }
        if service.bottlenecked_group_count == 0 {
            service.attained_service = 0.0;
        }
        self.next_end_times.set_end_time(link, f64::INFINITY);
    }

    fn end_flows_of_group(
        &mut self,
        group: u32,
        service: f64,
        ended: &mut impl FnMut(u32, u32, bool),
    ) {
        let state = &mut self.groups[group as usize];
        let limit = (service + state.offset).max(state.flows.next_target());
        while let Some(name) = state.flows.pop_ended(limit) {
            ended(group, name, state.flows.is_empty());
        }
        let count = state.flows.len();
        self.max_min_solver.set_flow_count(group, count);
        if let (true, Some(bottleneck)) = (count > 0, state.bottleneck) {
            self.schedule_next_end(group, bottleneck);
        } else {
            self.detach_from_bottleneck(group);
            self.active_group_count -= 1;
        }
    }
}

impl FlowSolver for BottleneckedFlows {
    fn new(capacities: impl Iterator<Item = f64>, varies: bool, bandwidth_factor: f64) -> Self {
        Self {
            max_min_solver: BottleneckMaxMin::new(capacities, varies),
            bandwidth_factor,
            ..Self::default()
        }
    }

    fn has_links(&self) -> bool {
        self.max_min_solver.has_links()
    }

    fn is_empty(&self) -> bool {
        self.active_group_count == 0
    }

    fn set_capacity(&mut self, link: u32, capacity: f64) {
        self.max_min_solver.set_capacity(link, capacity);
    }

    fn start_flow(
        &mut self,
        group: u32,
        (bytes, name): (f64, u32),
        now: f64,
        (weight, max_rate): (f64, f64),
        uses: impl ExactSizeIterator<Item = (u32, f64)> + Clone,
    ) {
        let at = group as usize;
        if at >= self.groups.len() {
            self.groups.resize(at + 1, FlowGroup::default());
        }
        let count = self.groups[at].flows.len();
        if count == 0 {
            self.max_min_solver.add_group(group, weight, max_rate, uses);
            let state = &mut self.groups[at];
            (state.bottleneck, state.offset) = (None, 0.0);
            self.active_group_count += 1;
            self.groups[at].service_per_byte = self.compute_service_per_byte(group);
        } else {
            self.max_min_solver.set_flow_count(group, count + 1);
        }
        let had = self.attained_service(group, now);
        let state = &mut self.groups[at];
        let is_first = state.flows.add(had + bytes * state.service_per_byte, name);
        if let (true, Some(bottleneck)) = (is_first, state.bottleneck) {
            self.schedule_next_end(group, bottleneck);
        }
    }

    fn update_fair_shares(&mut self, now: f64) {
        if self.max_min_solver.update_fair_share_levels() {
            self.link_services
                .resize(self.max_min_solver.link_count(), LinkService::default());
            self.apply_fair_share_levels(now);
        }
        let mut stale = std::mem::take(&mut self.links_with_stale_next_end);
        for &link in &stale {
            self.update_next_end_time(link);
        }
        stale.clear();
        self.links_with_stale_next_end = stale;
    }

    fn next_end_time(&mut self) -> f64 {
        self.next_end_times.next_end_time()
    }

    fn end_flows(&mut self, now: f64, mut ended: impl FnMut(u32, u32, bool)) {
        let mut done = std::mem::take(&mut self.links_with_ending_flow);
        self.next_end_times
            .take_classes_ending_until(last_simultaneous_time(now), &mut done);
        for &link in &done {
            let service = &mut self.link_services[link as usize];
            service.advance_to(now);
            let near = service.fair_share_level * SAME_TIME_TOLERANCE * now;
            let mut is_first = true;
            while let Some(&Reverse((target, group, stamp))) =
                self.link_services[link as usize].next_end_heap.peek()
            {
                let service = &mut self.link_services[link as usize];
                if self.groups[group as usize].next_end_stamp != stamp {
                    service.next_end_heap.pop();
                    continue;
                }
                let target = f64::from_bits(target);
                if cfg!(debug_assertions) && is_first {
                    let left = target - service.attained_service;
                    self.violates_byte_conservation |= !is_explained_by_rounding(
                        left,
                        service.attained_service,
                        service.fair_share_level,
                        now,
                    );
                }
                // At least one flow has ended, even if rounding leaves the service below its target.
                if target > service.attained_service + near && !is_first {
                    break;
                }
                service.attained_service = service.attained_service.max(target);
                is_first = false;
                service.next_end_heap.pop();
                let had = service.attained_service;
                self.end_flows_of_group(group, had + near, &mut ended);
            }
            self.mark_next_end_stale(link);
        }
        self.links_with_ending_flow = done;
    }

    fn remove_unending_flows(&mut self, mut ended: impl FnMut(u32)) {
        for group in 0..to_u32(self.groups.len()) {
            let state = &mut self.groups[group as usize];
            if state.flows.is_empty() {
                continue;
            }
            while let Some(name) = state.flows.pop_ended(f64::INFINITY) {
                ended(name);
            }
            self.max_min_solver.set_flow_count(group, 0);
            self.detach_from_bottleneck(group);
            self.active_group_count -= 1;
        }
        self.max_min_solver.update_fair_share_levels();
        self.max_min_solver.reset_state_of_removed_groups();
        for service in &mut self.link_services {
            service.next_end_heap.clear();
            (
                service.attained_service,
                service.last_update_time,
                service.fair_share_level,
            ) = (0.0, 0.0, 0.0);
            service.is_next_end_stale = false;
        }
        self.links_with_stale_next_end.clear();
        self.next_end_times.clear();
    }

    fn first_violation(&self) -> Option<InvariantViolation> {
        self.violates_byte_conservation
            .then_some(InvariantViolation::BytesNotConserved)
            .or(self.max_min_solver.first_violation())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USES: [(u32, f64); 1] = [(0, 1.0)];

    #[test]
    fn a_flow_that_starts_later_gets_its_part_of_the_link_that_holds_another() {
        let mut flows = BottleneckedFlows::new([1e3; 2].into_iter(), false, 1.0);
        let start = |flows: &mut BottleneckedFlows, group: u32, bytes: f64, now: f64| {
            // There and back.
            let uses = [(group, 1.0), (1 - group, 1.0)].into_iter();
            flows.start_flow(group, (bytes, group), now, (2e-3, 1e3), uses);
            flows.update_fair_shares(now);
        };
        start(&mut flows, 0, 1450.0, 0.0);
        assert!((flows.next_end_time() - 1.45).abs() < 1e-12);
        // Half of the links each: the second flow ends after 0.1 s, when 650 B are left of the first.
        start(&mut flows, 1, 50.0, 0.75);
        let next = flows.next_end_time();
        assert!((next - 0.85).abs() < 1e-12, "{next}");
        let mut ends = Vec::new();
        flows.end_flows(next, |group, name, is_last| {
            ends.push((group, name, is_last));
        });
        assert_eq!(ends, [(1, 1, true)]);
        flows.update_fair_shares(next);
        assert!((flows.next_end_time() - 1.5).abs() < 1e-12);
    }

    #[test]
    fn what_is_left_of_a_heavy_flow_is_not_lost_when_it_becomes_a_light_one() {
        let mut flows = BottleneckedFlows::new([1e3].into_iter(), true, 1.0);
        for (group, bytes) in [(0, 2e3), (1, 3e3)] {
            flows.start_flow(group, (bytes, group), 0.0, (1e60, 1e9), USES.into_iter());
        }
        flows.update_fair_shares(0.0);
        // After 1 s at half of the link each, 1 500 and 2 500 B are left.
        for group in [0, 1] {
            flows.set_weight_and_max_rate(group, 1.0, (1e-7, 1e9), USES.into_iter());
        }
        flows.update_fair_shares(1.0);
        let next = flows.next_end_time();
        assert!((next - 4.0).abs() < 1e-12, "{next}");
        flows.end_flows(next, |group, _, _| {
            assert_eq!(group, 0);
        });
        flows.update_fair_shares(next);
        assert!(
            (flows.next_end_time() - 5.0).abs() < 1e-12,
            "{}",
            flows.next_end_time()
        );
        assert_eq!(flows.first_violation(), None);
    }
}
