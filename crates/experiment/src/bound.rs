//! A lower bound of the makespan that holds for every rescheduling policy, from the work, the messages, the barriers and the
//! costs of moves.
//!
//! ```text
//! bound = min_n ( cost(n) + Σ_t max( F(t), R_n(t), M_n(t) ) + b(t) )  n processes move at least once, n = 0 in the first superstep
//! F(t) = max( max_{k <= min(p, c)} W_k(t) / S_k ,  W_p(t) / S_c )     the computation, wherever processes run
//! R_n(t)   time of the slowest host for the processes it has at the start, without the n of them with the most work
//! M_n(t)   time of the (n + 1)-th longest message between hosts, among messages that share no process, sent once its sender has computed
//! cost(n)  lowest cost of one rescheduling call and n moves     b(t)   time that the barrier of superstep t takes
//! W_k(t)   sum of the k largest works of superstep t            S_k    total speed of the k fastest cores
//! ```
//! Symbols: t is a superstep, p the number of processes, c the number of cores of the platform. F is the optimum of the
//! preemptive relaxation (Q|pmtn|Cmax; Horvath, Lam and Sethi 1977). If only n processes ever move, each host keeps all but at
//! most n of its processes. Of n + 1 messages that share no process, at least one message then keeps its sender and its receiver
//! on the hosts of the start. Everything that the bound leaves out only adds time. If a profile changes the bandwidth of a link
//! during the run, the bound uses the largest value. Beside other work that keeps L of the c cores of a host busy for the whole
//! run, k processes have `k · min(1, c / (k + L))` of its cores; `S_k` adds the largest increments of all hosts. If hosts change
//! during the run, `W_p / S_p`, `R_n` and the sum over t become integrals of the capacity ([`super::bound_capacity`]).

use super::{bound_capacity::CapacityIntegral, resolve::Experiment};
use migsim_base::units::{Bytes, BytesPerSecond, HostId, Instructions, ProcessId, Seconds};
use migsim_bsp::{
    BarrierKind, CallModel, CallWaiting, MemoryTransfer, MigrationOrder, WaitingProcesses,
};
use migsim_engine::{NetworkModel, ProcessorTime};
use migsim_platform::{Host, Link, Platform};
use migsim_workloads::Plan;

impl Experiment {
    /// Computes a lower bound of the makespan \[s\] that holds for every rescheduling policy.
    pub fn makespan_lower_bound(&self) -> Seconds {
        let workload = self.workload.as_ref();
        let processes = workload.processes();
        let kind = self.config.runtime.barrier.kind;
        let has_barriers = !matches!(kind, BarrierKind::None | BarrierKind::ReleasedByFirst);
        let mut bound = SuperstepBoundCalculator::new(self);
        let mut sums = vec![0.0; processes + 1];
        let mut constant = sums.clone();
        let mut last = sums.clone();
        let mut plan = Plan::default();
        let mut whole = Plan::default();
        whole.clear(processes);
        for superstep in 0..workload.supersteps() {
            if superstep == 0 || !workload.repeats(superstep) {
                plan.clear(processes);
                workload.fill(superstep, &mut plan);
                bound.bound_superstep_times(&plan, &mut constant);
            }
            last.clone_from(&constant);
            bound.raise_bounds_under_load(&plan, &sums, &mut last);
            for (sum, work) in whole.work.iter_mut().zip(&plan.work) {
                *sum = Instructions::of(sum.get() + work.get());
            }
            for (moved, sum) in sums.iter_mut().enumerate() {
                *sum += last[if superstep == 0 { 0 } else { moved }];
            }
        }
        if !has_barriers {
            // A process waits only for processes with which it exchanges messages. The bound therefore uses the work of the whole run at
            // once.
            bound.bound_superstep_times(&whole, &mut sums);
            bound.raise_bounds_under_load(&whole, &vec![0.0; processes + 1], &mut sums);
        }
        Seconds::of(
            sums.iter()
                .zip(self.lowest_rescheduling_costs())
                .map(|(sum, price)| sum + price)
                .fold(f64::INFINITY, f64::min),
        )
    }

    /// Returns the least memory of each process in the run.
    pub(super) fn least_memory(&self) -> Vec<Bytes> {
        let workload = &self.workload;
        let mut least: Vec<Bytes> = (0..workload.processes())
            .map(ProcessId::from_index)
            .map(|process| workload.memory(process))
            .collect();
        for (process, size) in (0..workload.supersteps()).flat_map(|k| workload.memory_changes(k)) {
            let least = &mut least[process.index()];
            *least = Bytes::of(least.get().min(size.get()));
        }
        least
    }

    /// Computes the lowest total cost of rescheduling calls and moves \[s\], as a list: the element with index n holds for runs
    /// in which at least n processes move.
    fn lowest_rescheduling_costs(&self) -> Vec<f64> {
        let call = &self.config.costs.call;
        let moves = &self.config.costs.migration;
        let platform = &self.platform.platform;
        let processes = self.placement.len();
        let of_call = match call.model {
            CallModel::Additive if call.waiting == CallWaiting::Blocking => {
                let each = call.per_process.get() + call.per_process_superstep.get();
                call.fixed.get() + each * processes as f64
            }
            CallModel::Additive
            | CallModel::Messages
            | CallModel::Overlapped
            | CallModel::PingPong
            | CallModel::None => 0.0,
        };
        let memory = self.least_memory();
        // The processor time of a move is that of packing, not that of a message.
        let network = NetworkModel {
            o_send: ProcessorTime::ZERO,
            o_receive: ProcessorTime::ZERO,
            ..self.network
        };
        let waits = moves.wait == WaitingProcesses::All;
        let are_few = processes * platform.hosts.len() <= MAX_MIGRATION_PAIRS;
        let of_move = |process: usize| {
            let from = self.placement[process];
            let memory = memory[process];
            let has_flow = moves.transfer == MemoryTransfer::Flow
                && memory.get() > 0.0
                && !self.network.queues;
            let price = |to: HostId| {
                let flow = if has_flow {
                    unshared_message_time(self, &network, (from, to), memory) * ROUNDING_MARGIN
                } else {
                    0.0
                };
                moves
                    .duration_outside_flow(platform, from, to, memory)
                    .get()
                    + flow
            };
            (0..platform.hosts.len())
                .map(HostId::from_index)
                .filter(|to| *to != from)
                .map(price)
                .fold(f64::INFINITY, f64::min)
        };
        let of_process = |process: usize| match (waits, are_few) {
            (true, true) => of_move(process),
            (true, false) => moves.fixed.get(),
            (false, _) => 0.0, // other processes compute during the move
        };
        let mut each: Vec<f64> = (0..processes).map(of_process).collect();
        each.sort_unstable_by(f64::total_cmp);
        let mut price = 0.0;
        let after = |of_move: f64| {
            price = match moves.order {
                MigrationOrder::Serial => price + of_move,
                // Parallel moves of one call last as long as the longest of them.
                MigrationOrder::Parallel => of_move,
            };
            of_call + price
        };
        std::iter::once(0.0)
            .chain(each.into_iter().map(after))
            .collect()
    }
}

/// Maximum number of pairs of a process and a host for which the lower bound includes the time that migrations need to transfer
/// memory. With more pairs this time is left out of the bound.
const MAX_MIGRATION_PAIRS: usize = 1 << 18;

/// Calculator of lower bounds of the time of each superstep, with the core speeds that the bounds need and buffers that are
/// reused for each superstep.
struct SuperstepBoundCalculator<'e> {
    experiment: &'e Experiment,
    /// Total speed of the fastest core of the platform, of its two fastest cores, and so on \[instructions/s\]: index k holds the
    /// sum over the k + 1 fastest cores.
    cumulative_fastest_core_speeds: Vec<f64>,
    /// The largest speed that a core of each host ever has, by index of the host \[instructions/s\].
    peak_core_speeds: Vec<f64>,
    cycles_per_instruction: f64,
    /// Integral of the capacity of the platform for all processes, and of each host that changes and has processes at the start
    /// for them; `None` if no host changes.
    capacity_of_platform: Option<CapacityIntegral>,
    capacity_by_host: Vec<Option<CapacityIntegral>>,
    /// Buffer: the work of each process in the superstep, the largest first \[instructions\].
    sorted_process_work: Vec<f64>,
    /// Buffer: for each host, a list of the work \[instructions\] of each process that the host has at the start of the run.
    initial_host_work: Vec<Vec<f64>>,
    /// Buffer: the messages between different hosts, each as the shortest time from the start of the superstep until it arrives
    /// \[s\], and the indices of its sender and its receiver.
    inter_host_messages: Vec<(f64, usize, usize)>,
    /// Buffer: whether each process is the sender or the receiver of a message that was already counted, which is longer than the
    /// present message.
    has_counted_message: Vec<bool>,
}

impl<'e> SuperstepBoundCalculator<'e> {
    /// Creates the buffers and computes the speeds of the cores for an experiment.
    fn new(experiment: &'e Experiment) -> Self {
        let hosts = &experiment.platform.platform.hosts;
        let processes = experiment.placement.len();
        let speeds = cumulative_core_speeds(hosts, processes);
        let peak = speeds.last().copied().unwrap_or_default();
        let varies = processes > 0 && hosts.iter().any(Host::speed_varies);
        let mut counts = vec![0; hosts.len()];
        for host in &experiment.placement {
            counts[host.index()] += 1;
        }
        let of_host = |(index, host): (usize, &Host)| {
            let count = counts[index];
            let peak = largest_core_speed(host) * f64::from(host.cores);
            let hosts = std::iter::once(host);
            (host.speed_varies() && count > 0).then(|| CapacityIntegral::new(hosts, count, peak))
        };
        Self {
            capacity_of_platform: varies
                .then(|| CapacityIntegral::new(hosts.iter(), processes, peak)),
            capacity_by_host: hosts.iter().enumerate().map(of_host).collect(),
            cumulative_fastest_core_speeds: speeds,
            peak_core_speeds: hosts.iter().map(largest_core_speed).collect(),
            cycles_per_instruction: experiment.workload.cycles_per_instruction(),
            sorted_process_work: Vec::with_capacity(processes),
            initial_host_work: vec![Vec::new(); hosts.len()],
            inter_host_messages: Vec::new(),
            has_counted_message: Vec::new(),
            experiment,
        }
    }

    /// Computes lower bounds of the time of a superstep \[s\]: `times[n]` becomes the bound if at most n processes are away from
    /// the hosts that they had at the start.
    fn bound_superstep_times(&mut self, plan: &Plan, times: &mut [f64]) {
        self.sorted_process_work.clear();
        self.sorted_process_work
            .extend(plan.work.iter().map(|work| work.get()));
        let anywhere = computation_time_lower_bound(
            &mut self.sorted_process_work,
            &self.cumulative_fastest_core_speeds,
        ) * self.cycles_per_instruction;
        times.fill(anywhere);
        // If the application prescribes moves, its processes may be on any host.
        if !self.experiment.workload.prescribes_moves() {
            self.raise_bounds_for_initial_hosts(plan, times);
            self.raise_bounds_for_messages(plan, times);
            // A bound for n moved processes also holds for fewer.
            for moved in (1..times.len()).rev() {
                times[moved - 1] = times[moved - 1].max(times[moved]);
            }
        }
        let barrier = barrier_time(self.experiment, plan);
        for time in times.iter_mut() {
            *time += barrier;
        }
    }

    /// Raises each bound `times[n]` of a superstep that begins at `starts[n]` or later \[s\] to the time in which the changing
    /// capacity of the platform, or of a host for the processes that it had at the start, suffices for the work.
    fn raise_bounds_under_load(&mut self, plan: &Plan, starts: &[f64], times: &mut [f64]) {
        let Some(capacity) = &mut self.capacity_of_platform else {
            return;
        };
        let work: f64 = plan.work.iter().map(|work| work.get()).sum();
        let cycles = work * self.cycles_per_instruction * ROUNDING_MARGIN;
        let barrier = barrier_time(self.experiment, plan);
        let mut known = (f64::NAN, 0.0);
        for (start, time) in starts.iter().zip(&mut *times) {
            if known.0 != *start {
                known = (*start, capacity.duration(*start, cycles));
            }
            *time = time.max((known.1 + barrier) * ROUNDING_MARGIN);
        }
        if self.experiment.workload.prescribes_moves() {
            return;
        }
        for (capacity, works) in self
            .capacity_by_host
            .iter_mut()
            .zip(&self.initial_host_work)
        {
            let Some(capacity) = capacity else {
                continue;
            };
            let mut left: f64 = works.iter().sum();
            for (moved, work) in works.iter().enumerate() {
                let cycles = left * self.cycles_per_instruction * ROUNDING_MARGIN;
                let time = capacity.duration(starts[moved], cycles) + barrier;
                times[moved] = times[moved].max(time * ROUNDING_MARGIN);
                left -= work;
            }
        }
    }

    /// Raises each bound `times[n]` to the time that the slowest host needs for the processes that it had at the start, without
    /// the n processes with the most work.
    fn raise_bounds_for_initial_hosts(&mut self, plan: &Plan, times: &mut [f64]) {
        for works in &mut self.initial_host_work {
            works.clear();
        }
        for (work, host) in plan.work.iter().zip(&self.experiment.placement) {
            self.initial_host_work[host.index()].push(work.get());
        }
        let hosts = &self.experiment.platform.platform.hosts;
        for (index, works) in self.initial_host_work.iter_mut().enumerate() {
            works.sort_unstable_by(|a, b| b.total_cmp(a));
            let mut left: f64 = works.iter().sum();
            for (moved, work) in works.iter().enumerate() {
                // Either all processes share the cores evenly, or the largest process is alone: the longer time bounds the host.
                let shared = left / usable_cores(&hosts[index], works.len() - moved);
                let alone = work * hosts[index].slowdown(1.0, hosts[index].busy_cores);
                let time =
                    shared.max(alone) * self.cycles_per_instruction / self.peak_core_speeds[index];
                times[moved] = times[moved].max(time * ROUNDING_MARGIN);
                left -= work;
            }
        }
    }

    /// Raises each bound `times[n]` to the time of the (n + 1)-th longest message between hosts, among messages that share no
    /// process.
    ///
    /// If only n processes moved, at least one of these n + 1 messages still runs between the hosts that its sender and its
    /// receiver had at the start.
    fn raise_bounds_for_messages(&mut self, plan: &Plan, times: &mut [f64]) {
        if self.experiment.network.queues {
            return; // packets of several messages take turns
        }
        let placement = &self.experiment.placement;
        self.inter_host_messages.clear();
        for message in &plan.messages {
            let from = message.from.index();
            let to = message.to.index();
            let ends = (placement[from], placement[to]);
            if ends.0 == ends.1 {
                continue;
            }
            let computed = plan.work[from].get() * self.cycles_per_instruction
                / self.peak_core_speeds[ends.0.index()];
            let network = &self.experiment.network;
            let sent = unshared_message_time(self.experiment, network, ends, message.size);
            self.inter_host_messages
                .push(((computed + sent) * ROUNDING_MARGIN, from, to));
        }
        self.inter_host_messages
            .sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        self.has_counted_message.clear();
        self.has_counted_message.resize(placement.len(), false);
        let mut moved = 0;
        for &(time, from, to) in &self.inter_host_messages {
            if !self.has_counted_message[from] && !self.has_counted_message[to] {
                (self.has_counted_message[from], self.has_counted_message[to]) = (true, true);
                // This message is the (moved + 1)-th longest one.
                times[moved] = times[moved].max(time);
                moved += 1;
            }
        }
    }
}

/// Computes the time \[s\] that the barrier takes in a superstep after the last process has arrived.
fn barrier_time(experiment: &Experiment, plan: &Plan) -> f64 {
    let barrier = &experiment.config.runtime.barrier;
    if barrier.kind != BarrierKind::RootSerial || plan.work.len() < 2 {
        return 0.0;
    }
    let computing = plan.work.iter().filter(|work| work.get() > 0.0).count();
    let release = barrier.release_per_process.get() * plan.work.len() as f64;
    release + barrier.release_per_computing.get() * computing as f64
}

/// Factor just below 1 that multiplies each computed time, so that rounding errors cannot make the lower bound larger than a
/// simulated makespan whose terms are added in another order.
const ROUNDING_MARGIN: f64 = 1.0 - 1e-12;

/// Computes the shortest time \[s\] that a message of this size takes between two hosts, with no other message on its route; 0 if
/// there is no route.
fn unshared_message_time(
    experiment: &Experiment,
    network: &NetworkModel,
    (from, to): (HostId, HostId),
    size: Bytes,
) -> f64 {
    let platform: &Platform = &experiment.platform.platform;
    let Some(route) = platform.route(from, to) else {
        return 0.0;
    };
    let varies = route
        .links()
        .any(|link| platform.links[link.index()].latency_profile.is_some());
    let latency = if varies {
        Seconds::default()
    } else {
        platform.route_latency(&route)
    };
    let widest = |link: &Link| {
        let profile = link.bandwidth_profile.as_ref();
        profile
            .map_or(&[][..], |profile| profile.steps_without_repetition())
            .iter()
            .map(|step| step.1)
            .fold(link.bandwidth.get(), f64::max)
    };
    network
        .message_time(
            latency,
            route
                .links()
                .map(|link| widest(&platform.links[link.index()]))
                .reduce(f64::min)
                .and_then(BytesPerSecond::new),
            size,
        )
        .get()
}

/// Returns the largest speed that a core of a host ever has, over its speed profile \[instructions/s\].
fn largest_core_speed(host: &Host) -> f64 {
    let profile = host.speed_profile.as_ref();
    let most = profile
        .map_or(&[][..], |profile| profile.steps_without_repetition())
        .iter()
        .map(|step| step.1)
        .fold(1.0, f64::max);
    host.speed.get() * most
}

/// Returns the number of cores of a host that `processes` processes have together beside the other work of the whole run.
fn usable_cores(host: &Host, processes: usize) -> f64 {
    if host.busy_cores <= 0.0 {
        return f64::from(host.cores);
    }
    processes as f64 / host.slowdown(processes as f64, host.busy_cores)
}

/// Computes the total speed \[instructions/s\] of the fastest core, of the two fastest cores, and so on up to `most` cores, as a
/// list. If the platform has fewer cores, the list ends with the total speed of all cores.
fn cumulative_core_speeds(hosts: &[Host], most: usize) -> Vec<f64> {
    let mut speeds: Vec<f64> = hosts
        .iter()
        .flat_map(|host| {
            let is_shared = host.busy_cores > 0.0;
            let count = if is_shared {
                most
            } else {
                (host.cores as usize).min(most)
            };
            let speed = largest_core_speed(host);
            (0..count).map(move |before| match before {
                0 if is_shared => speed * usable_cores(host, 1),
                _ if is_shared => {
                    speed * (usable_cores(host, before + 1) - usable_cores(host, before))
                }
                _ => speed,
            })
        })
        .collect();
    speeds.sort_unstable_by(|a, b| b.total_cmp(a));
    speeds.truncate(most);
    let mut sum = 0.0;
    for speed in &mut speeds {
        sum += *speed;
        *speed = sum;
    }
    speeds
}

/// Computes a lower bound of the computation time \[s\] of one superstep on any placement, for one cycle per instruction: `max_k
/// W_k / S_k`.
///
/// `W_k` is the total of the k largest works \[instructions\], and `S_k` the total speed of the k fastest cores
/// \[instructions/s\]. If there are fewer cores than works, the last term divides all work by the speed of all cores.
fn computation_time_lower_bound(works: &mut [f64], cores: &[f64]) -> f64 {
    works.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut sum = 0.0;
    let mut bound = 0.0_f64;
    for (index, work) in works.iter().enumerate() {
        sum += work;
        match cores.get(index) {
            Some(speed) if index + 1 < cores.len() || works.len() <= cores.len() => {
                bound = bound.max(sum / speed);
            }
            _ => {}
        }
    }
    cores.last().map_or(bound, |all| bound.max(sum / all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_that_of_the_preemptive_schedule() {
        // Speeds 2 and 1, works 6, 3, 3: the largest alone takes 3 s, all of them 12 / 3 = 4 s.
        assert_eq!(
            computation_time_lower_bound(&mut [3.0, 6.0, 3.0], &[2.0, 3.0]),
            4.0
        );
        // 10 alone takes 5 s on the fastest core, longer than 12 / 3.
        assert_eq!(
            computation_time_lower_bound(&mut [10.0, 2.0], &[2.0, 3.0]),
            5.0
        );
        // One process has no use for the second core.
        assert_eq!(computation_time_lower_bound(&mut [4.0], &[2.0]), 2.0);
        assert_eq!(computation_time_lower_bound(&mut [], &[]), 0.0);
    }

    /// Places six processes on the first two of four hosts, with settings for the prices.
    fn drawn(seed: u64, settings: &[(&str, &str)]) -> Experiment {
        use crate::{Layers, Limits};
        let seed = seed.to_string();
        let common = [
            ("workload.app", "synthetic"),
            ("workload.procs", "6"),
            ("workload.supersteps", "12"),
            ("workload.spread", "0.9"),
            ("seed", &seed),
        ];
        let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| text.into());
        let all = common.iter().chain(settings);
        let layers = Layers::from_pairs(all.map(|&(key, text)| (key, value(text))));
        Experiment::load(&layers, Limits::default()).unwrap()
    }

    #[test]
    fn the_bound_counts_remaining_processes_and_prices_of_moves() {
        let free = [
            ("costs.call.model", "none"),
            ("costs.move.transfer", "none"),
            ("costs.move.fixed", "0 s"),
        ];
        let bound = |settings: &[(&str, &str)]| drawn(1, settings).makespan_lower_bound().get();
        let dear = [
            ("costs.call.model", "additive"),
            ("costs.call.fixed", "1000 s"),
            ("costs.move.transfer", "none"),
            ("costs.move.fixed", "0 s"),
        ];
        // Calls cost more than the run, so nothing moves. The bound is then close to the time of the run, which is computation and
        // messages.
        let experiment = drawn(1, &dear);
        let progress = crate::Progress::default();
        let scenario = migsim_bsp::Scenario::I;
        let run = experiment.run_scenario(scenario, &progress, &mut (), None);
        let makespan = run.unwrap().outcome.makespan.get();
        let [free, dear] = [bound(&free), bound(&dear)];
        assert!(
            free < dear && dear <= makespan && dear > 0.8 * makespan,
            "{free} {dear} {makespan}"
        );
    }

    #[test]
    fn no_run_is_below_the_bound_for_any_barrier_and_prices() {
        use crate::Progress;
        use migsim_bsp::Scenario;
        let some: [&[(&str, &str)]; 10] = [
            &[],
            &[("runtime.barrier.kind", "none")],
            &[("runtime.barrier.kind", "released-by-first")],
            &[
                ("runtime.barrier.kind", "root-serial"),
                ("runtime.barrier.release_per_process", "5 ms"),
            ],
            &[
                ("costs.move.order", "serial"),
                ("costs.move.transfer", "nominal"),
                ("costs.move.fixed", "20 ms"),
            ],
            &[("costs.move.wait", "movers"), ("workload.memory", "100 MB")],
            &[
                ("load", r#"{ "kind": "walk" }"#),
                ("workload.memory", "10 MB"),
            ],
            &[
                (
                    "load",
                    r#"{ "kind": "on-off", "period": "10 ms", "busy": "1 s", "idle": "1 s", "values": "reserved" }"#,
                ),
                ("runtime.barrier.kind", "none"),
            ],
            &[(
                "load",
                r#"[{ "kind": "ar", "period": "0.1 s", "mean": 0.8 }, { "kind": "constant", "load": 1 }]"#,
            )],
            &[
                ("network", r#"{ "model": "simgrid-3.9" }"#),
                ("runtime.sends", "sequential"),
            ],
        ];
        for settings in some {
            for (seed, policy) in (1..).zip([
                "never",
                "greedy/every=2",
                "refine/every=3",
                "rotate/every=4",
            ]) {
                let experiment = drawn(seed, &[settings, &[("policy.name", policy)]].concat());
                let run =
                    experiment.run_scenario(Scenario::Iii, &Progress::default(), &mut (), None);
                let makespan = run.unwrap().outcome.makespan.get();
                let bound = experiment.makespan_lower_bound().get();
                assert!(
                    0.0 < bound && bound <= makespan,
                    "{settings:?} {policy}: {bound} {makespan}"
                );
            }
        }
    }

    #[test]
    fn no_policy_is_faster() {
        use crate::{Layers, Limits, Progress};
        for (app, policy) in [("lu", "refine"), ("sw", "greedy"), ("synthetic", "migbsp")] {
            let settings = Layers::from_pairs([
                ("workload.app", app.into()),
                ("policy.name", policy.into()),
                ("costs.call.model", "none".into()),
                ("costs.move.transfer", "none".into()),
                ("costs.move.fixed", "0 s".into()),
            ]);
            let experiment = Experiment::load(&settings, Limits::default()).unwrap();
            let bound = experiment.makespan_lower_bound();
            let results = experiment.run(&Progress::default()).unwrap();
            for run in &results.scenario_runs {
                let makespan = run.outcome.makespan.get();
                assert!(
                    bound.get() > 0.0 && bound.get() <= makespan,
                    "{app}: {bound} {makespan}"
                );
            }
        }
    }
}
