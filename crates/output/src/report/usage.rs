//! The use of hosts and links over time, for the report page.
//!
//! The use of a host is the share of its cores that compute for the application in each time interval. The use of a link is
//! the number of bytes that crossed the link in a group of supersteps, divided by the number of bytes that the nominal bandwidth
//! of the link allows in the time of these supersteps.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    compress::{ArrayPack, fraction_to_byte},
    drawing::{HostIndices, hosts_in_index_order},
    natural_sort_key,
    page_data::Report,
};
use crate::{
    activity::{PlacementReplay, ProcessTimes},
    machine::{HostLocation, PlatformSummary},
    read::ScenarioRecords,
    traffic::supersteps_per_group,
};

/// Number of equal time intervals into which a run is divided in order to show the use of its hosts.
const INTERVAL_COUNT: usize = 240;
/// Maximum number of hosts, and of links, that are shown; the hosts and links with the highest use are chosen.
const MAX_SHOWN_ROWS: usize = 400;

/// Adds the use of the hosts over time to the arrays of the page, and returns the names of the hosts by scenario; null if the
/// activity was not recorded.
pub(super) fn pack_host_use(
    report: &Report,
    hosts: &HostIndices<'_>,
    pack: &mut ArrayPack,
) -> Value {
    let Some(all) = &report.process_times_by_scenario else {
        return Value::Null;
    };
    let names: Vec<(usize, &str)> = hosts_in_index_order(hosts).collect();
    let mut scenarios = Vec::new();
    for (scenario, (run, activity)) in report.run.scenarios.iter().zip(all).enumerate() {
        let busy = host_busy_times(run, activity, &report.platform_summary, hosts);
        let mut rows: Vec<_> = names
            .iter()
            .zip(busy)
            .filter_map(|(name, line)| Some((name, line?)))
            .collect();
        let interval = run.makespan_s / INTERVAL_COUNT as f64;
        let total = |line: &HostUsage| line.busy_times.iter().sum::<f64>();
        let left_out = keep_most_used(&mut rows, |(_, line)| total(line));
        let busy = rows.iter().flat_map(|(_, line)| &line.busy_times);
        let shares: Vec<u8> = busy.map(|busy| fraction_to_byte(*busy, interval)).collect();
        pack.add_u8(&format!("hosts/{scenario}"), &shares);
        let names: Vec<Value> = rows
            .iter()
            .map(|((cluster, host), line)| {
                json!([host, cluster, rounded_fraction(total(line), run.makespan_s)])
            })
            .collect();
        scenarios.push(json!({ "rows": names, "left_out": left_out }));
    }
    json!({ "intervals": INTERVAL_COUNT, "scenarios": scenarios })
}

fn host_busy_times(
    run: &ScenarioRecords,
    activity: &ProcessTimes,
    machine: &PlatformSummary,
    hosts: &HostIndices<'_>,
) -> Vec<Option<HostUsage>> {
    let processes = machine.placement.len();
    let interval = run.makespan_s / INTERVAL_COUNT as f64;
    let mut lines: Vec<Option<HostUsage>> = hosts.iter().map(|_| None).collect();
    let index_of = |place: &HostLocation, lines: &mut Vec<Option<HostUsage>>| {
        let cluster = machine.cluster_index(&place.cluster).unwrap_or(0);
        let index = hosts[&(cluster, &*place.host)];
        lines[index].get_or_insert_with(|| HostUsage::new(interval, machine.core_count(place)));
        index
    };
    let mut places = PlacementReplay::new(machine, run);
    let mut at: Vec<usize> = places
        .current_places
        .iter()
        .map(|place| index_of(place, &mut lines))
        .collect();
    let next_starts = run
        .supersteps
        .iter()
        .skip(1)
        .map(|row| row.start_s)
        .chain([f64::INFINITY]);
    for ((index, dates), next_start) in run.supersteps.iter().enumerate().zip(next_starts) {
        let moved = places
            .advance_to_superstep(dates.superstep)
            .iter()
            .filter_map(|moved| usize::try_from(moved.process - 1).ok());
        for process in moved.collect::<Vec<_>>() {
            at[process] = index_of(&places.current_places[process], &mut lines);
        }
        let cells = index * processes..(index + 1) * processes;
        let delays = &activity.start_delay_s[cells.clone()];
        let bars = delays.iter().zip(&activity.computation_s[cells]);
        for (&host, (&delay, &compute)) in at.iter().zip(bars) {
            if let Some(line) = lines[host].as_mut().filter(|_| compute > 0.0) {
                let start = dates.start_s + f64::from(delay);
                line.computing_periods
                    .push((start, start + f64::from(compute)));
            }
        }
        for line in lines.iter_mut().flatten() {
            line.add_periods_until(next_start);
        }
    }
    lines
}

/// The use of a host while the run is evaluated: the periods in which processes of the host compute and that are not counted yet,
/// and the time in each interval that its cores compute, divided by the number of cores \[s\].
struct HostUsage {
    interval_length: f64,
    cores: f64,
    computing_periods: Vec<(f64, f64)>,
    busy_times: Vec<f64>,
}

impl HostUsage {
    fn new(interval: f64, cores: f64) -> Self {
        Self {
            interval_length: interval,
            cores,
            computing_periods: Vec::new(),
            busy_times: vec![0.0; INTERVAL_COUNT],
        }
    }

    /// Adds the periods up to the time `until`, before which no further period begins, to the busy times. If more processes
    /// compute than the host has cores, all cores compute.
    fn add_periods_until(&mut self, until: f64) {
        let mut periods = std::mem::take(&mut self.computing_periods);
        if periods.len() as f64 <= self.cores {
            for (start, end) in periods.drain(..) {
                self.add_busy_time(start, end, 1.0 / self.cores);
            }
            self.computing_periods = periods;
            return;
        }
        let mut changes = Vec::new();
        for (start, end) in periods {
            if start < until {
                changes.extend([(start, 1.0), (end.min(until), -1.0)]);
            }
            if end > until {
                self.computing_periods.push((start.max(until), end));
            }
        }
        changes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut computing = 0.0_f64;
        let mut since = 0.0;
        for (time, change) in changes {
            if computing > 0.0 {
                self.add_busy_time(since, time, computing.min(self.cores) / self.cores);
            }
            computing += change;
            since = time;
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place in a list of a few hundred"
    )]
    fn add_busy_time(&mut self, mut start: f64, end: f64, share: f64) {
        if self.interval_length <= 0.0 {
            return;
        }
        let place = |date: f64| ((date / self.interval_length) as usize).min(INTERVAL_COUNT - 1);
        let first = place(start);
        let last = place(end);
        for at in first..=last {
            let edge = if at == last {
                end
            } else {
                (at + 1) as f64 * self.interval_length
            };
            self.busy_times[at] += (edge - start).max(0.0) * share;
            start = start.max(edge);
        }
    }
}

/// Adds the use of the links over time to the arrays of the page, and returns the names of the links of each scenario; null if
/// the traffic was not recorded.
pub(super) fn pack_link_use(report: &Report, pack: &mut ArrayPack) -> Value {
    let Some(all) = &report.traffic_by_scenario else {
        return Value::Null;
    };
    let mut scenarios = Vec::new();
    for (scenario, run) in report.run.scenarios.iter().enumerate() {
        let size = supersteps_per_group(run.supersteps.len());
        let edges: Vec<f64> = super::gantt::unit_boundaries(run, size);
        let groups = edges.len() - 1;
        let mut links: BTreeMap<&str, LinkUsage> = BTreeMap::new();
        for row in all.iter().filter(|row| row.scenario == run.scenario) {
            let link = links.entry(&row.link).or_insert_with(|| LinkUsage {
                shares: vec![0; groups],
                ..LinkUsage::default()
            });
            let group = usize::try_from(row.first_superstep - 1).unwrap_or(0) / size;
            let could = (edges[group + 1] - edges[group]) * row.bandwidth_bytes_per_s;
            link.shares[group] = fraction_to_byte(row.bytes, could);
            link.carried_bytes += row.bytes;
            link.carried_flows += row.flows;
            link.capacity_bytes = run.makespan_s * row.bandwidth_bytes_per_s;
        }
        let (mut rows, weightless): (Vec<_>, Vec<_>) = links
            .into_iter()
            .partition(|(_, row)| row.carried_bytes > 0.0);
        rows.sort_by_key(|(name, _)| natural_sort_key(name));
        let flows = weightless.iter().map(|(_, row)| row.carried_flows);
        let weightless = (weightless.len(), flows.sum::<u64>());
        let left_out = keep_most_used(&mut rows, |(_, row)| row.carried_bytes);
        let shares: Vec<u8> = rows
            .iter()
            .flat_map(|(_, row)| &row.shares)
            .copied()
            .collect();
        pack.add_u8(&format!("links/{scenario}"), &shares);
        pack.add_f64(&format!("link_edges/{scenario}"), &edges);
        let names: Vec<Value> = rows
            .iter()
            .map(|(name, row)| {
                json!([
                    name,
                    rounded_fraction(row.carried_bytes, row.capacity_bytes),
                    row.carried_bytes,
                    row.carried_flows
                ])
            })
            .collect();
        scenarios.push(json!({ "rows": names, "left_out": left_out, "weightless": weightless }));
    }
    json!({ "scenarios": scenarios })
}

/// Traffic on a link in a scenario: its use in each group of supersteps, and the total numbers of bytes and flows.
#[derive(Default)]
struct LinkUsage {
    shares: Vec<u8>,
    carried_bytes: f64,
    carried_flows: u64,
    /// Number of bytes that the link could have carried at its nominal bandwidth during the whole run \[B\].
    capacity_bytes: f64,
}

/// Removes the rows with the lowest use if there are more rows than are shown; the order of the remaining rows is kept. Returns
/// the number of removed rows.
fn keep_most_used<T>(rows: &mut Vec<T>, used: impl Fn(&T) -> f64) -> usize {
    let left_out = rows.len().saturating_sub(MAX_SHOWN_ROWS);
    if left_out > 0 {
        let mut amounts: Vec<(f64, usize)> = rows.iter().map(&used).zip(0..).collect();
        amounts.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut is_kept = vec![false; rows.len()];
        for (_, at) in amounts.into_iter().take(MAX_SHOWN_ROWS) {
            is_kept[at] = true;
        }
        let mut is_kept = is_kept.into_iter();
        rows.retain(|_| is_kept.next().unwrap_or(false));
    }
    left_out
}

fn rounded_fraction(part: f64, whole: f64) -> f64 {
    if whole > 0.0 {
        (part / whole * 1e6).round() / 1e6
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_use_of_a_host_is_the_share_of_its_busy_cores() {
        // Intervals of 1 s. One core: 0.5 to 2.5 s and 1.0 to 3.0 s together are 0.5 to 3.0 s, the last second counted later.
        let mut one = HostUsage::new(1.0, 1.0);
        one.computing_periods = vec![(1.0, 3.0), (0.5, 2.5)];
        one.add_periods_until(2.0);
        assert_eq!(one.busy_times[..4], [0.5, 1.0, 0.0, 0.0]);
        one.computing_periods.push((2.0, 2.5));
        one.add_periods_until(f64::INFINITY);
        assert_eq!(one.busy_times[..4], [0.5, 1.0, 1.0, 0.0]);
        // Four cores: two of them, then one.
        let mut four = HostUsage::new(1.0, 4.0);
        four.computing_periods = vec![(0.0, 2.0), (0.0, 1.0)];
        four.add_periods_until(f64::INFINITY);
        assert_eq!(four.busy_times[..3], [0.5, 0.25, 0.0]);
    }

    #[test]
    fn of_many_rows_the_busiest_stay_in_their_order() {
        let mut rows: Vec<usize> = (0..MAX_SHOWN_ROWS + 2).collect();
        let left_out = keep_most_used(&mut rows, |row| if *row < 2 { 0.0 } else { *row as f64 });
        assert_eq!((left_out, rows.len(), rows[0]), (2, MAX_SHOWN_ROWS, 2));
    }
}
