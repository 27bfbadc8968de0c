//! Computations, flows and delays in progress. All rates are computed from scratch at the time of every event.

use super::{
    case::{Case, Network},
    machine::{Machine, has_come},
};

/// Bandwidth of a flow inside a host \[B/s\].
const LOOPBACK: f64 = 1e10;

/// The constants of a network model.
#[derive(Debug)]
struct Constants {
    is_shared: bool,
    latency_factor: f64,
    bandwidth_factor: f64,
    weight_s: f64,
    tcp_gamma: f64,
    /// Share of a flow's rate that it uses of the links of the route back.
    crosstraffic: f64,
}

impl Constants {
    fn of(network: Network) -> Self {
        let cm02 = Self {
            is_shared: true,
            latency_factor: 1.0,
            bandwidth_factor: 1.0,
            weight_s: 0.0,
            tcp_gamma: f64::INFINITY,
            crosstraffic: 0.0,
        };
        match network {
            Network::Cm02 => cm02,
            Network::Ideal => Self {
                is_shared: false,
                ..cm02
            },
            Network::Lv08 => Self {
                is_shared: true,
                latency_factor: 13.01,
                bandwidth_factor: 0.97,
                weight_s: 20_537.0,
                tcp_gamma: 4_194_304.0,
                crosstraffic: 0.05,
            },
        }
    }
}

#[derive(Debug)]
enum Kind {
    /// A delay until a time.
    Delay(f64),
    /// Remaining instructions on a host.
    Work {
        host: usize,
        left: f64,
    },
    Flow(Flow),
}

#[derive(Debug)]
struct Flow {
    /// Share of the flow's rate that it uses of each link; empty inside a host.
    uses: Vec<(usize, f64)>,
    latency: f64,
    /// The end of its latency phase.
    transfers_from: f64,
    left: f64,
    /// Lowest bandwidth of the flow's route when it started.
    bound: f64,
}

/// The activities in progress at a time; each has a tag, which is returned at its end.
#[derive(Debug)]
pub(crate) struct Fluid<Tag> {
    pub(crate) machine: Machine,
    constants: Constants,
    pub(crate) now: f64,
    running: Vec<(Tag, Kind)>,
}

impl<Tag> Fluid<Tag> {
    pub(crate) fn new(case: &Case) -> Self {
        Self {
            machine: Machine::new(case),
            constants: Constants::of(case.network),
            now: 0.0,
            running: Vec::new(),
        }
    }

    pub(crate) fn delay(&mut self, duration: f64, tag: Tag) {
        self.running.push((tag, Kind::Delay(self.now + duration)));
    }

    pub(crate) fn work(&mut self, host: usize, left: f64, tag: Tag) {
        self.running.push((tag, Kind::Work { host, left }));
    }

    /// Starts a flow between two hosts. A handshake is a round trip before the flow, and part of its latency phase.
    pub(crate) fn flow(
        &mut self,
        from: usize,
        to: usize,
        size: f64,
        has_handshake: bool,
        tag: Tag,
    ) {
        let mut flow = Flow {
            uses: Vec::new(),
            latency: 0.0,
            transfers_from: self.now,
            left: size,
            bound: LOOPBACK,
        };
        if from != to {
            let route = self.machine.route(from, to);
            let bandwidths = route
                .iter()
                .map(|&link| self.machine.bandwidth(link, self.now));
            flow.bound = bandwidths.fold(f64::INFINITY, f64::min);
            flow.latency = self.machine.latency(&route);
            let ways = if has_handshake { 3.0 } else { 1.0 };
            flow.transfers_from += ways * self.constants.latency_factor * flow.latency;
            flow.uses = route.iter().map(|&link| (link, 1.0)).collect();
            if self.constants.crosstraffic > 0.0 {
                let back = self.machine.route(to, from);
                let share = self.constants.crosstraffic;
                flow.uses.extend(back.into_iter().map(|link| (link, share)));
            }
        }
        self.running.push((tag, Kind::Flow(flow)));
    }

    /// Advances to the next time at which any activity ends or changes, and returns the tags of all activities that end then. `None` if no
    /// activity is in progress.
    pub(crate) fn advance(&mut self) -> Option<Vec<Tag>> {
        if self.running.is_empty() {
            return None;
        }
        let rates = self.rates();
        let ends: Vec<f64> = self
            .running
            .iter()
            .zip(&rates)
            .map(|((_, kind), rate)| self.end(kind, *rate))
            .collect();
        let phases = self.running.iter().filter_map(|(_, kind)| match kind {
            Kind::Flow(flow) if !has_come(flow.transfers_from, self.now) => {
                Some(flow.transfers_from)
            }
            _ => None,
        });
        let first = ends
            .iter()
            .copied()
            .chain(phases)
            .fold(f64::INFINITY, f64::min);
        let next = first.min(self.machine.next_change(self.now));
        assert!(next.is_finite(), "nothing in progress can end");
        let mut ended = Vec::new();
        let before = std::mem::take(&mut self.running);
        for (((tag, mut kind), end), rate) in before.into_iter().zip(ends).zip(rates) {
            if has_come(end, next) {
                ended.push(tag);
                continue;
            }
            if let Kind::Work { left, .. } | Kind::Flow(Flow { left, .. }) = &mut kind {
                *left -= rate * (next - self.now);
            }
            self.running.push((tag, kind));
        }
        self.now = next;
        Some(ended)
    }

    /// Returns the tags of all activities that end at the present time.
    pub(crate) fn ended_now(&mut self) -> Vec<Tag> {
        let (now, running) = (self.now, std::mem::take(&mut self.running));
        let is_over = |kind: &Kind| match kind {
            Kind::Delay(until) => has_come(*until, now),
            Kind::Work { left, .. } => *left <= 0.0,
            Kind::Flow(flow) => flow.left <= 0.0 && has_come(flow.transfers_from, now),
        };
        let (ended, rest) = running.into_iter().partition(|(_, kind)| is_over(kind));
        self.running = rest;
        let ended: Vec<(Tag, Kind)> = ended;
        ended.into_iter().map(|(tag, _)| tag).collect()
    }

    /// Computes the end of an activity if all rates stay as they are.
    fn end(&self, kind: &Kind, rate: f64) -> f64 {
        match kind {
            Kind::Delay(until) => *until,
            Kind::Work { left, .. } => self.now + left / rate,
            Kind::Flow(flow) if flow.left <= 0.0 => flow.transfers_from.max(self.now),
            Kind::Flow(flow) if has_come(flow.transfers_from, self.now) => {
                self.now + flow.left / rate
            }
            Kind::Flow(_) => f64::INFINITY,
        }
    }

    /// Computes the rate of each activity: instructions per second, bytes per second, 0 for delays and latency phases.
    fn rates(&self) -> Vec<f64> {
        let mut rates = vec![0.0; self.running.len()];
        let mut flows = Vec::new();
        for (index, (_, kind)) in self.running.iter().enumerate() {
            match kind {
                Kind::Work { host, .. } => {
                    let is_there = |kind: &Kind| matches!(kind, Kind::Work { host: other, .. } if other == host);
                    let count = self
                        .running
                        .iter()
                        .filter(|(_, kind)| is_there(kind))
                        .count();
                    rates[index] = self.machine.speed(*host, count, self.now);
                }
                Kind::Flow(flow) if has_come(flow.transfers_from, self.now) => {
                    flows.push((index, flow));
                }
                Kind::Flow(_) | Kind::Delay(_) => {}
            }
        }
        // Without sharing, each flow is computed as if it were alone.
        let groups = if self.constants.is_shared {
            vec![flows]
        } else {
            flows.into_iter().map(|flow| vec![flow]).collect()
        };
        for group in groups {
            for ((index, _), share) in group.iter().zip(self.shares(&group)) {
                rates[*index] = share * self.constants.bandwidth_factor;
            }
        }
        rates
    }

    /// Computes weighted max-min fair shares by progressive filling: the water level rises until a flow reaches its bound or a link is
    /// saturated. The flows concerned keep their shares, and the level of the others rises further.
    fn shares(&self, flows: &[(usize, &Flow)]) -> Vec<f64> {
        let mut shares: Vec<Option<f64>> = vec![None; flows.len()];
        let weights: Vec<f64> = flows.iter().map(|(_, flow)| self.weight(flow)).collect();
        let use_of = |flow: &Flow, link: usize| -> f64 {
            let uses = flow.uses.iter().filter(|entry| entry.0 == link);
            uses.map(|entry| entry.1).sum()
        };
        while shares.contains(&None) {
            // Find the level at which each flow reaches its bound, and each shared link is saturated.
            let mut stop = (f64::INFINITY, Vec::new());
            for (index, (_, flow)) in flows.iter().enumerate() {
                let level = self.bound(flow) * weights[index];
                if shares[index].is_none() && level < stop.0 {
                    stop = (level, vec![index]);
                }
            }
            for (link, values) in self.machine.links.iter().enumerate() {
                let (mut left, mut rising) = (self.machine.bandwidth(link, self.now), 0.0);
                let mut there = Vec::new();
                for (index, (_, flow)) in flows.iter().enumerate() {
                    let part = use_of(flow, link);
                    match shares[index] {
                        Some(share) => left -= part * share,
                        None if part > 0.0 => {
                            rising += part / weights[index];
                            there.push(index);
                        }
                        None => {}
                    }
                }
                let level = left.max(0.0) / rising;
                if values.is_shared && !there.is_empty() && level < stop.0 {
                    stop = (level, there);
                }
            }
            for index in stop.1 {
                shares[index] = Some(stop.0 / weights[index]);
            }
        }
        shares.into_iter().flatten().collect()
    }

    /// Computes the penalty of a flow, by which the level is divided.
    fn weight(&self, flow: &Flow) -> f64 {
        if flow.latency == 0.0 {
            return 1.0;
        }
        let own = flow.uses.iter().filter(|entry| entry.1 == 1.0);
        let per_link =
            own.map(|entry| self.constants.weight_s / self.machine.bandwidth(entry.0, self.now));
        flow.latency + per_link.sum::<f64>()
    }

    fn bound(&self, flow: &Flow) -> f64 {
        let window = if flow.latency == 0.0 {
            f64::INFINITY
        } else {
            self.constants.tcp_gamma / (2.0 * flow.latency)
        };
        flow.bound.min(window)
    }
}
