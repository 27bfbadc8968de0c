//! Creates the errors of a simulation that cannot continue: too many changes of capacities, messages with too many packets,
//! missing routes, and activities that can never end.

use super::Simulation;
use migsim_base::{
    error::{Error, Problem},
    units::{Bytes, HostId},
};

pub(super) const TIME_TOO_LARGE_HINT: &str = "correct a very low speed or bandwidth, or a very large amount of work: the next event is so late that its time cannot be represented";
/// Hint for an error about a run in which capacities change too often.
pub(super) const TOO_MANY_CHANGES_HINT: &str = "give the profiles and loads longer periods, or correct a very low speed or bandwidth or a very large amount of work";

impl<'p, T: Copy + std::fmt::Debug + Send + 'p> Simulation<'p, T> {
    /// Creates the error for a capacity that has changed too often while no activity used it. `what` is the first part of the
    /// message, and `meanwhile` states that the host or link was not used.
    pub(super) fn too_many_changes_error(&self, what: &str, meanwhile: &str) -> Error {
        let most = self.max_unused_changes;
        let now = self.now();
        Error::SimulationFailure(
            Problem::new(format!(
                "{what} more than {most} times up to {now}, while {meanwhile}"
            ))
            .source(self.platform.name.clone())
            .hint(TOO_MANY_CHANGES_HINT),
        )
    }

    pub(super) fn too_many_packets_error(&self, size: Bytes, packets: f64) -> Error {
        let problem = Problem::new(format!(
            "a message of {size} has {packets:.3e} packets, too many to simulate them in queues"
        ));
        let hint = "set `network.queues` to false (messages are then simulated as flows), send fewer bytes, or set a larger `network.packet`";
        Error::SimulationFailure(problem.source(self.platform.name.clone()).hint(hint))
    }

    pub(super) fn no_route_error(&self, from: HostId, to: HostId) -> Error {
        let name = |host: HostId| &self.platform.hosts[host.index()].name;
        let problem = Problem::new(format!(
            "the platform has no route from host `{}` to host `{}`",
            name(from),
            name(to)
        ));
        // The error names the platform, although only the sender detects it.
        problem
            .source(format!("platform `{}`", self.platform.name))
            .hint("add a route between these hosts to the platform")
            .into()
    }

    /// Creates the error for a run in which no activity can end any more. The message names the hosts and links without capacity;
    /// if there are none, it contains `hint`.
    pub(super) fn stuck_simulation_error(&self, what: &str, hint: &str) -> Error {
        let hosts = self
            .cpus
            .hosts_with_stopped_executions()
            .map(|host| format!("host `{}`", self.platform.hosts[host].name));
        let links = self
            .network
            .network_state()
            .stopped_links_in_use()
            .map(|link| format!("link `{}`", self.platform.links[link].name));
        let stopped: Vec<String> = hosts.chain(links).take(6).collect();
        let problem =
            Problem::new(format!("{what} at {}", self.now())).source(self.platform.name.clone());
        Error::SimulationFailure(if stopped.is_empty() {
            problem.hint(hint)
        } else {
            problem.hint(format!(
                "raise the last value of the profiles of these hosts and links, which stays 0 for ever: {}",
                stopped.join(", ")
            ))
        })
    }
}
