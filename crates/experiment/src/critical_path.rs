//! Evaluates the critical path of a run: sums its time by kind of activity, by process or by resource, and computes the share of
//! the path that depends on a quantity of the experiment.

use std::collections::BTreeMap;

use super::{
    case_change::{ChangedQuantity, LinkQuantity, links_altered_by_change},
    resolve::Experiment,
    run::{Progress, ScenarioRun},
};
use migsim_base::{
    error::{Error, Problem, Result},
    units::{HostId, LinkId, ProcessId, Seconds},
};
use migsim_bsp::{CriticalPath, PathPiece, PieceKind, PieceResources, RateLimit, Scenario};
use migsim_platform::Platform;

/// The total time that activities of one kind, on one resource and for one process take on the critical path of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CriticalPathShare {
    /// The kind of activity, such as computation or the transfer of a message.
    pub activity_kind: PieceKind,
    /// The resource that the activity uses: the name of a host, of a link or of two clusters, `window` (the TCP window), or
    /// `loopback` (messages inside a host). The name of the kind of activity if it uses no such resource.
    pub resource: String,
    /// The process that performs the activity; `None` for kinds that belong to no process.
    pub process: Option<ProcessId>,
    /// Total time of the activities on the critical path \[s\].
    pub time: Seconds,
    /// Percentage of the makespan that the activities take on the critical path.
    pub percent: f64,
}

impl Experiment {
    /// Runs a scenario event by event and records its critical path. The times agree with the times of [`Self::run_scenario`] up
    /// to rounding.
    ///
    /// # Errors
    /// As [`Self::run_scenario`].
    ///
    /// ```
    /// use migsim_bsp::Scenario;
    /// use migsim_experiment::{Experiment, Layers, Limits, Progress};
    ///
    /// let settings = Layers::from_pairs([("workload.app", "lu".into()), ("workload.n", 500.into()), ("workload.procs", 25.into())]);
    /// let experiment = Experiment::load(&settings, Limits::default())?;
    /// let (run, path) = experiment.run_with_path(Scenario::I, &Progress::default())?;
    /// let last = path.pieces.last().ok_or("no pieces")?;
    /// assert_eq!(last.end, run.outcome.makespan);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_with_path(
        &self,
        scenario: Scenario,
        progress: &Progress,
    ) -> Result<(ScenarioRun, CriticalPath)> {
        let mut path: Option<CriticalPath> = None;
        let run = self.run_scenario(scenario, progress, &mut path, None)?;
        let path = path.ok_or_else(|| {
            let problem = Problem::new("the run has no critical path (chain of activities that determines its time), since no activity takes time");
            Error::SimulationFailure(problem.hint("simulate an application with work or messages"))
        })?;
        Ok((run, path))
    }

    /// Returns the name of the resource that a piece of the critical path uses.
    ///
    /// This is the name of a host, of a link or of two clusters, `window` (the TCP window), `loopback` (messages inside a host),
    /// or the name of the kind of the piece if it uses no such resource.
    pub fn piece_resource_name(&self, piece: &PathPiece) -> String {
        resource_name(piece, &self.platform.platform)
    }

    /// Sums the time of the critical path for each combination of kind of activity, resource and process; the combination with
    /// the longest time is first.
    pub fn path_shares(&self, path: &CriticalPath) -> Vec<CriticalPathShare> {
        let platform = &self.platform.platform;
        let mut sums: BTreeMap<(PieceKind, String, Option<ProcessId>), f64> = BTreeMap::new();
        for piece in &path.pieces {
            let key = (piece.kind, resource_name(piece, platform), piece.process);
            *sums.entry(key).or_default() += piece.duration().get();
        }
        let whole = nonzero_path_duration(path);
        let mut shares: Vec<CriticalPathShare> = sums
            .into_iter()
            .map(|((kind, resource, process), seconds)| CriticalPathShare {
                activity_kind: kind,
                resource,
                process,
                time: Seconds::of(seconds),
                percent: 100.0 * seconds / whole,
            })
            .collect();
        shares.sort_by(|a, b| b.percent.total_cmp(&a.percent));
        shares
    }

    /// Computes the percentage of the critical path whose duration depends on a quantity; `None` for the background load, the
    /// imbalance, and the number of processes per host, which belong to no activity of the path.
    pub fn path_percent_of_quantity(
        &self,
        path: &CriticalPath,
        changed: &ChangedQuantity,
    ) -> Option<f64> {
        let platform = &self.platform.platform;
        let links = links_altered_by_change(changed, platform);
        let seconds = |piece: &PathPiece| -> f64 {
            let seconds = piece.duration().get();
            let is_it = |is_it: bool| if is_it { seconds } else { 0.0 };
            match (changed, piece.resources) {
                (ChangedQuantity::ClusterSpeed(name), PieceResources::Compute { host, .. }) => {
                    is_it(piece.kind == PieceKind::Compute && cluster_name(platform, host) == name)
                }
                (ChangedQuantity::BarrierCosts, _) => is_it(piece.kind == PieceKind::Barrier),
                (ChangedQuantity::CallCosts, _) => is_it(piece.kind == PieceKind::Call),
                (ChangedQuantity::MoveCosts, _) => is_it(piece.kind == PieceKind::Move),
                (ChangedQuantity::MessageOverhead, PieceResources::Overhead)
                | (
                    ChangedQuantity::Loopback(LinkQuantity::Bandwidth),
                    PieceResources::Transfer(_, _, RateLimit::Loopback),
                ) => seconds,
                (
                    ChangedQuantity::Link(_, LinkQuantity::Bandwidth)
                    | ChangedQuantity::ClusterLinks(_, LinkQuantity::Bandwidth)
                    | ChangedQuantity::Loopback(LinkQuantity::Bandwidth),
                    PieceResources::Transfer(_, _, RateLimit::Link { link, .. }),
                ) => is_it(links.contains(&link)),
                (
                    ChangedQuantity::Loopback(LinkQuantity::Latency),
                    PieceResources::Latency(from, to),
                ) => is_it(from == to),
                (
                    ChangedQuantity::Link(_, LinkQuantity::Latency)
                    | ChangedQuantity::ClusterLinks(_, LinkQuantity::Latency),
                    PieceResources::Latency(from, to),
                ) => seconds * latency_fraction_of_links(platform, from, to, &links),
                (ChangedQuantity::RouteLatency(names), PieceResources::Latency(from, to)) => {
                    let [a, b] = [from, to].map(|host| cluster_name(platform, host));
                    is_it(*names == format!("{a} {b}") || *names == format!("{b} {a}"))
                }
                _ => 0.0,
            }
        };
        if matches!(
            changed,
            ChangedQuantity::BackgroundLoad
                | ChangedQuantity::Imbalance
                | ChangedQuantity::ProcessesPerHost
        ) {
            return None;
        }
        let sum: f64 = path.pieces.iter().map(seconds).sum();
        Some(100.0 * sum / nonzero_path_duration(path))
    }
}

/// Returns the duration of the critical path \[s\]; returns 1 if the duration is 0, because callers divide times of activities by
/// this number.
fn nonzero_path_duration(path: &CriticalPath) -> f64 {
    let end = path.pieces.last().map_or(0.0, |piece| piece.end.get());
    if end > 0.0 { end } else { 1.0 }
}

fn cluster_name(platform: &Platform, host: HostId) -> &str {
    &platform.clusters[platform.cluster_of(host).index()].name
}

/// Computes the fraction of the latency of the route between two hosts that the given links contribute; 0 if the platform
/// specifies the latency of the whole route.
fn latency_fraction_of_links(
    platform: &Platform,
    from: HostId,
    to: HostId,
    links: &[LinkId],
) -> f64 {
    let Some(route) = platform.route(from, to) else {
        return 0.0;
    };
    let whole = platform.route_latency(&route).get();
    if route.latency.is_some() || whole <= 0.0 {
        return 0.0;
    }
    route
        .links()
        .filter(|link| links.contains(link))
        .map(|link| platform.links[link.index()].latency.get())
        .sum::<f64>()
        / whole
}

fn resource_name(piece: &PathPiece, platform: &Platform) -> String {
    let between = |from: HostId, to: HostId| {
        let [from, to] = [from, to].map(|host| cluster_name(platform, host));
        format!("{from} to {to}")
    };
    match piece.resources {
        PieceResources::Compute { host, .. } => platform.hosts[host.index()].name.clone(),
        PieceResources::Latency(from, to) | PieceResources::Wait(from, to) => between(from, to),
        PieceResources::Transfer(_, _, RateLimit::Link { link, .. }) => {
            platform.links[link.index()].name.clone()
        }
        PieceResources::Transfer(_, _, RateLimit::TcpWindow) => "window".to_owned(),
        PieceResources::Transfer(_, _, RateLimit::Loopback) => "loopback".to_owned(),
        PieceResources::Overhead | PieceResources::PredefinedWait => piece.kind.name().to_owned(),
    }
}

#[cfg(test)]
mod tests;
