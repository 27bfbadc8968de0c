//! Random cases from a seed. Most values are round, so that many events are simultaneous.

use crate::support::split_mix;

use super::case::{
    Backbone, Barrier, Call, Case, Cluster, Forced, Group, Local, Moves, Network, Prescribed,
    Profile, Receives, Step, Transfer, Wire,
};

/// A generator of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    fn next(&mut self) -> u64 {
        split_mix(&mut self.0)
    }

    /// Draws a number from 0 to `count` - 1.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count as u64).expect("a small number")
    }

    /// Returns true once in `count` times on average.
    pub(crate) fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            list.swap(last, self.below(last + 1));
        }
    }
}

/// Makes the case of a seed, which the reference simulator supports.
pub(crate) fn case(seed: u64) -> Case {
    let draw = &mut Draw(seed);
    let networks = [Network::Cm02, Network::Cm02, Network::Ideal, Network::Lv08];
    let network = draw.one(&networks);
    // Half of the cases are made for ties: they have no latency, round work, and many moves with equal durations.
    let is_tied = draw.once_in(2);
    let mut case = machine(draw, network, is_tied);
    case.is_sequential = draw.once_in(4);
    case.receives = draw.one(&[
        Receives::Early,
        Receives::Early,
        Receives::Late,
        Receives::LateAbove(3e5),
    ]);
    case.barrier = draw.one(&[
        Barrier::Ideal,
        Barrier::Central(0.0),
        Barrier::Central(1e5),
        Barrier::None,
    ]);
    case.shortcuts = draw.one(&["all", "none"]);
    application(draw, &mut case, is_tied);
    case.call = draw.one(&[
        Call::None,
        Call::None,
        Call::Additive(0.5, 0.125, 0.0),
        Call::Additive(0.25, 0.0, 0.125),
        Call::Hidden(1.0),
        Call::PingPong(1e5),
    ]);
    case.moves = Moves {
        transfer: draw.one(&[Transfer::Flow, Transfer::Nominal, Transfer::None]),
        fixed: draw.one(&[0.0, 0.3]),
        is_serial: draw.once_in(if is_tied { 4 } else { 2 }),
        only_movers_wait: !draw.once_in(3),
    };
    decisions(draw, &mut case, is_tied);
    case
}

/// Makes a case with any barrier and any price of a call, for the law of order; the reference simulator does not support all of them.
pub(crate) fn any_case(seed: u64) -> Case {
    let mut case = case(seed);
    let draw = &mut Draw(!seed);
    if draw.once_in(2) {
        case.barrier = Barrier::Other(
            draw.one(&[
                "sequential",
                "sequential",
                "tree",
                "dissemination",
                "recursive-doubling",
                "double-ring",
                "library",
                "root-serial",
            ]),
            draw.one(&[0.0, 1e5]),
        );
        case.gather = draw.one(&["ascending", "descending", "arrival", "parallel"]);
        case.release = draw.one(&["simultaneous", "sequential"]);
        case.notices = draw.one(&["flows", "packets"]);
    }
    if draw.once_in(4) {
        case.call = Call::Messages;
    }
    if draw.once_in(4) {
        case.waits_later_for_calls = true;
    }
    case
}

// The platform.

fn machine(draw: &mut Draw, network: Network, is_tied: bool) -> Case {
    let has_profiles = draw.once_in(3);
    let mut case = Case {
        network,
        ..Case::default()
    };
    let routers = 1 + draw.below(3);
    for index in 0..=draw.below(3) {
        let cluster = cluster(draw, index, routers, network, has_profiles);
        case.clusters.push(cluster);
    }
    for index in 1..routers {
        case.backbones.push(Backbone {
            name: format!("l{index}"),
            from: draw.below(index),
            to: index,
            wire: wire(draw, has_profiles),
        });
    }
    if is_tied {
        let clusters = case.clusters.iter_mut().map(|cluster| &mut cluster.wire);
        let wires = clusters.chain(case.backbones.iter_mut().map(|backbone| &mut backbone.wire));
        wires.for_each(|wire| wire.latency = 0.0);
    }
    if has_profiles {
        case.speeds = vec![profile(draw, &[0.5, 1.0, 0.25]), profile(draw, &[2.0, 0.5])];
        case.bandwidths = vec![profile(draw, &[5e5, 2e6, 1e6]), profile(draw, &[1e8, 1e6])];
    }
    case
}

fn cluster(
    draw: &mut Draw,
    index: usize,
    routers: usize,
    network: Network,
    has_profiles: bool,
) -> Cluster {
    // The effect of crosstraffic on an unshared link is not documented.
    let kinds = match network {
        Network::Lv08 => &[Local::Switch, Local::Medium][..],
        _ => &[Local::Switch, Local::Switch, Local::Medium, Local::Unshared][..],
    };
    let local = draw.one(kinds);
    let mut wire = wire(draw, has_profiles);
    wire.is_duplex &= local == Local::Switch;
    if local == Local::Unshared {
        wire.profile = None;
    }
    let groups = (0..=draw.below(2)).map(|_| Group {
        hosts: 1 + draw.below(3),
        speed: draw.one(&[1e9, 1e9, 1e9, 5e8, 2e9]),
        cores: draw.one(&[1, 1, 2, 4]),
        profile: (has_profiles && draw.once_in(2)).then(|| draw.below(2)),
    });
    Cluster {
        name: ["a", "b", "c"][index].to_owned(),
        groups: groups.collect(),
        local,
        wire,
        router: draw.below(routers),
    }
}

fn wire(draw: &mut Draw, has_profiles: bool) -> Wire {
    Wire {
        bandwidth: draw.one(&[1e6, 1e6, 4e6, 1e8]),
        latency: draw.one(&[0.0, 0.0, 0.0, 0.125, 1e-3]),
        is_duplex: draw.once_in(3),
        profile: (has_profiles && draw.once_in(2)).then(|| draw.below(2)),
    }
}

/// Draws steps at eighths of a second, repeated or not.
fn profile(draw: &mut Draw, values: &[f64]) -> Profile {
    let mut time = 0.0;
    let mut steps = Vec::new();
    for _ in 0..=draw.below(3) {
        time += draw.one(&[0.25, 0.5, 1.0, 1.0, 2.0]);
        steps.push((time, draw.one(values)));
    }
    let period = draw.once_in(2).then(|| time + draw.one(&[0.5, 1.0]));
    Profile { steps, period }
}

// The application and the decisions.

fn application(draw: &mut Draw, case: &mut Case, is_tied: bool) {
    let processes = 2 + draw.below(4);
    let hosts = case.host_names();
    case.start = (0..processes)
        .map(|_| hosts[draw.below(hosts.len())].clone())
        .collect();
    case.memory = draw.one(&[0.0, 1e3, 3e6]);
    let is_round = is_tied || !draw.once_in(4);
    for _ in 0..2 + draw.below(4) {
        let step = step(draw, case, is_round);
        case.steps.push(step);
    }
}

fn step(draw: &mut Draw, case: &Case, is_round: bool) -> Step {
    let processes = case.start.len();
    let amount = |draw: &mut Draw, unit: f64| {
        if is_round {
            draw.one(&[0.0, 0.25, 0.5, 1.0, 1.0]) * unit
        } else {
            (draw.below(1000) as f64 * unit / 700.0).floor()
        }
    };
    let work = (0..processes).map(|_| amount(draw, 1e9)).collect();
    let mut messages = Vec::new();
    for _ in 0..draw.below(2 * processes) {
        let (from, to) = (draw.below(processes), draw.below(processes));
        // Blocking senders with rendezvous could wait for each other for ever.
        let can_block = case.is_sequential && case.receives != Receives::Early;
        if !can_block || from < to {
            messages.push((from, to, amount(draw, 1e6)));
        }
    }
    let mut moves = Vec::new();
    if draw.once_in(5) {
        let mask = draw.below(16);
        for process in (0..processes).filter(|process| (mask >> process) & 1 == 0) {
            moves.push(Prescribed {
                process,
                to: host(draw, case),
                size: draw.one(&[0.0, 1e6, 1.5e6]),
                delay: draw.one(&[0.0, 0.25, 0.3]),
            });
        }
    }
    Step {
        work,
        messages,
        moves,
    }
}

fn host(draw: &mut Draw, case: &Case) -> String {
    let hosts = case.host_names();
    hosts[draw.below(hosts.len())].clone()
}

fn decisions(draw: &mut Draw, case: &mut Case, is_tied: bool) {
    for superstep in 1..=case.steps.len() {
        if !is_tied && draw.once_in(2) {
            continue;
        }
        let mut processes: Vec<usize> = (0..case.start.len()).collect();
        draw.shuffle(&mut processes);
        processes.truncate(1 + draw.below(5));
        for process in processes {
            let to = host(draw, case);
            case.decisions.push(Forced {
                superstep,
                process,
                to,
            });
        }
    }
}
