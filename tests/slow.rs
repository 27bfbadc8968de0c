//! A slow, obvious simulator of executions and flows: the twin of the engine.
//!
//! At the time of every event, it computes all rates from scratch from the state of the platform, and steps to the next time at which
//! anything changes. It has no queue, no components and no lazy updates, and shares no code with the engine.

use migsim::{
    engine::NetworkModel,
    platform::{Platform, Profile},
    units::{HostId, LinkId},
};

/// An activity to start.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Activity {
    /// Instructions on a host.
    Execution { host: HostId, work: f64 },
    /// Bytes from host to host.
    Flow { from: HostId, to: HostId, size: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Announced,
    /// In the latency of its route, until a time.
    Delayed(f64),
    /// The remaining amount, and the lowest bandwidth of the route when the activity started.
    Active(f64, f64),
    Ended(f64),
}

/// Returns the value of a profile at a time; `None` before its first step.
fn value_at(profile: Option<&Profile>, date: f64) -> Option<f64> {
    let steps = (0..).map_while(|index| profile?.step(index));
    steps
        .take_while(|step| step.0 <= date)
        .last()
        .map(|step| step.1)
}

/// Returns the time of the first step of a profile after `date`.
fn change_after(profile: Option<&Profile>, date: f64) -> f64 {
    let mut steps = (0..).map_while(|index| profile?.step(index));
    steps
        .find(|step| step.0 > date)
        .map_or(f64::INFINITY, |step| step.0)
}

/// A platform at one time.
struct Moment<'a> {
    platform: &'a Platform,
    model: &'a NetworkModel,
    date: f64,
}

impl Moment<'_> {
    fn bandwidth(&self, link: LinkId) -> f64 {
        let link = &self.platform.links[link.index()];
        value_at(link.bandwidth_profile.as_ref(), self.date).unwrap_or(link.bandwidth.get())
    }

    fn latency(&self, from: HostId, to: HostId) -> f64 {
        let route = self.platform.route(from, to).expect("a route");
        let of = |link: LinkId| {
            let link = &self.platform.links[link.index()];
            value_at(link.latency_profile.as_ref(), self.date).unwrap_or(link.latency.get())
        };
        route
            .latency
            .map_or_else(|| route.links().map(of).sum(), migsim::units::Seconds::get)
    }

    /// Returns the lowest bandwidth of a route; no bound if a link is down.
    fn narrowest(&self, from: HostId, to: HostId) -> f64 {
        let route = self.platform.route(from, to).expect("a route");
        let narrowest = route
            .links()
            .map(|link| self.bandwidth(link))
            .fold(f64::INFINITY, f64::min);
        if narrowest > 0.0 {
            narrowest
        } else {
            f64::INFINITY
        }
    }

    /// Lists the share of a flow's rate that it uses of each link.
    fn uses(&self, from: HostId, to: HostId) -> Vec<f64> {
        let mut uses = vec![0.0; self.platform.links.len()];
        for link in self.platform.route(from, to).expect("a route").links() {
            uses[link.index()] += 1.0;
        }
        if self.model.crosstraffic {
            for link in self.platform.route(to, from).expect("a route").links() {
                uses[link.index()] += 0.05;
            }
        }
        uses
    }

    /// Computes the weight of a flow and the bound of its window.
    fn weight_and_window(&self, from: HostId, to: HostId) -> (f64, f64) {
        let latency = self.latency(from, to);
        if latency == 0.0 {
            return (1.0, f64::INFINITY);
        }
        let route = self.platform.route(from, to).expect("a route");
        let per_byte: f64 = route
            .links()
            .map(|link| self.bandwidth(link))
            .filter(|&bandwidth| bandwidth > 0.0)
            .map(|bandwidth| self.model.weight_s / bandwidth)
            .sum();
        let window = self
            .model
            .tcp_gamma
            .map_or(f64::INFINITY, |gamma| gamma / (2.0 * latency));
        (latency + per_byte, window)
    }

    /// Computes the rates of executions and flows in progress; all other activities have the rate 0.
    fn rates(&self, activities: &[(f64, Activity)], states: &[State]) -> Vec<f64> {
        let mut rates = vec![0.0; states.len()];
        let mut flows = Vec::new();
        for (index, &(_, activity)) in activities.iter().enumerate() {
            let State::Active(_, narrowest) = states[index] else {
                continue;
            };
            match activity {
                Activity::Execution { host, .. } => {
                    let same = |other: usize| {
                        matches!(states[other], State::Active(..))
                            && matches!(activities[other].1, Activity::Execution { host: there, .. } if there == host)
                    };
                    let crowd = (0..states.len()).filter(|&other| same(other)).count() as f64;
                    let host = &self.platform.hosts[host.index()];
                    let left = value_at(host.speed_profile.as_ref(), self.date).unwrap_or(1.0);
                    rates[index] =
                        host.speed.get() * left * (f64::from(host.cores) / crowd).min(1.0);
                }
                Activity::Flow { from, to, .. } if from == to => {
                    rates[index] = self.model.loopback_bandwidth * self.model.bandwidth_factor;
                }
                Activity::Flow { from, to, .. } => {
                    let (weight, window) = self.weight_and_window(from, to);
                    flows.push((index, self.uses(from, to), weight, narrowest.min(window)));
                }
            }
        }
        let capacities: Vec<f64> = (0..self.platform.links.len())
            .map(|link| self.bandwidth(LinkId::from_index(link)))
            .collect();
        if self.model.sharing {
            let shares = fair(&capacities, &flows);
            for (&(index, ..), share) in flows.iter().zip(shares) {
                rates[index] = share * self.model.bandwidth_factor;
            }
        } else {
            for flow in flows {
                rates[flow.0] =
                    fair(&capacities, std::slice::from_ref(&flow))[0] * self.model.bandwidth_factor;
            }
        }
        rates
    }

    fn next_change(&self) -> f64 {
        let hosts = self.platform.hosts.iter().map(|host| &host.speed_profile);
        let links = self.platform.links.iter();
        let links = links.flat_map(|link| [&link.bandwidth_profile, &link.latency_profile]);
        let after = |profile: &Option<Profile>| change_after(profile.as_ref(), self.date);
        hosts.chain(links).map(after).fold(f64::INFINITY, f64::min)
    }
}

/// Computes weighted max-min fair shares: raises x, the rate of every flow times its weight, until a flow reaches its bound or a link is
/// saturated. The flows concerned are fixed, and the others rise further. A flow has an index, its use of each link, its weight and its
/// bound.
fn fair(capacities: &[f64], flows: &[(usize, Vec<f64>, f64, f64)]) -> Vec<f64> {
    let mut rates: Vec<Option<f64>> = vec![None; flows.len()];
    while rates.contains(&None) {
        let is_rising = |flow: usize| rates[flow].is_none();
        let level_of_link = |link: usize| {
            let (mut taken, mut pull) = (0.0, 0.0);
            for (flow, (_, uses, weight, _)) in flows.iter().enumerate() {
                match rates[flow] {
                    Some(rate) => taken += uses[link] * rate,
                    None => pull += uses[link] / weight,
                }
            }
            if pull > 0.0 {
                (capacities[link] - taken).max(0.0) / pull
            } else {
                f64::INFINITY
            }
        };
        let rising: Vec<usize> = (0..flows.len()).filter(|&flow| is_rising(flow)).collect();
        // Find the first limit of a flow: its bound, or one of its links.
        let limit = |flow: usize| {
            let (_, uses, weight, bound) = &flows[flow];
            let links = (0..capacities.len()).filter(|&link| uses[link] > 0.0);
            links.map(level_of_link).fold(bound * weight, f64::min)
        };
        let (level, flow) = rising
            .into_iter()
            .map(|flow| (limit(flow), flow))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .expect("one is rising");
        rates[flow] = Some(level / flows[flow].2);
    }
    rates.into_iter().flatten().collect()
}

/// Relative tolerance within which ends are simultaneous.
const SIMULTANEOUS: f64 = 1.0 + 1e-13;

/// Computes the end of each activity, which starts at the time beside it [s].
pub(crate) fn ends(
    platform: &Platform,
    model: &NetworkModel,
    activities: &[(f64, Activity)],
) -> Vec<f64> {
    let mut states = vec![State::Announced; activities.len()];
    let mut date = 0.0;
    loop {
        let moment = Moment {
            platform,
            model,
            date,
        };
        // Some activities begin now, or pass their latency.
        for (state, &(start, activity)) in states.iter_mut().zip(activities) {
            if *state == State::Announced && start <= date {
                *state = match activity {
                    Activity::Execution { work, .. } => State::Active(work, f64::INFINITY),
                    Activity::Flow { from, to, size } if from == to => {
                        State::Active(size, f64::INFINITY)
                    }
                    Activity::Flow { from, to, size } => {
                        let delay = model.latency_factor * moment.latency(from, to);
                        if delay > 0.0 {
                            // The lowest bandwidth is that at the start of the flow.
                            State::Delayed(date + delay)
                        } else {
                            State::Active(size, moment.narrowest(from, to))
                        }
                    }
                };
            }
            if let (State::Delayed(until), Activity::Flow { from, to, size }) = (*state, activity)
                && until <= date * SIMULTANEOUS
            {
                let at_start = Moment {
                    platform,
                    model,
                    date: start,
                };
                *state = State::Active(size, at_start.narrowest(from, to));
            }
            if let State::Active(left, _) = *state
                && left <= 0.0
            {
                *state = State::Ended(date);
            }
        }
        if states.iter().all(|state| matches!(state, State::Ended(_))) {
            let end = |state: &State| {
                if let State::Ended(date) = state {
                    *date
                } else {
                    f64::NAN
                }
            };
            return states.iter().map(end).collect();
        }
        let rates = moment.rates(activities, &states);
        let candidate = |index: usize| match states[index] {
            State::Announced => activities[index].0,
            State::Delayed(until) => until,
            State::Active(left, _) if rates[index] > 0.0 => date + left / rates[index],
            State::Active(..) | State::Ended(_) => f64::INFINITY,
        };
        let next = (0..states.len())
            .map(candidate)
            .fold(moment.next_change(), f64::min);
        assert!(next < 1e5, "nothing gets on at {date}");
        for (index, state) in states.iter_mut().enumerate() {
            if let State::Active(left, narrowest) = *state {
                let end = if rates[index] > 0.0 {
                    date + left / rates[index]
                } else {
                    f64::INFINITY
                };
                *state = if end <= next * SIMULTANEOUS {
                    State::Active(0.0, narrowest)
                } else {
                    State::Active(left - rates[index] * (next - date), narrowest)
                };
            }
        }
        date = next;
    }
}
