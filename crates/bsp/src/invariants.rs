//! Checks invariants at the end of every superstep and every run. A violation is a fault of this program and stops the run with
//! [`Error::InternalFault`], which names the superstep and the process and contains data for a diagnosis.
//!
//! ```text
//! always                  times: start(k-1) <= start(k) <= computed(k) <= end(k)
//!                         each message is delivered once; no process waits for a message when the barrier opens
//!                         placement(end) = placement(start) and the migrations in their order; every host exists
//!                         the policy's own check of its state ([`Policy::fault`]); for MigBSP: α >= 1, 0 <= D < ∞
//!                         the parts into which a difference between two runs is split add up to the difference
//!                         (see [`migsim_experiment`])
//! with debug assertions   no process computes faster than its host:          compute(p) >= work(p) / speed
//!   (in all tests)        no host does more than its cores can:     Σ work(p on h) <= cores · speed · longest(h)
//!                         no link carries more than its capacity:   Σ bytes over l <= factor · capacity · duration
//!                         the engine's own sums ([`Simulation::describe_first_violation`])
//! ```
//! In this list, k is a superstep, p a process, h a host and l a link; computed(k) is the end of the last computation of
//! superstep k, and longest(h) is the longest computation on host h. In MigBSP, α is the number of supersteps between
//! rescheduling calls and D the deviation up to which the times of processes count as balanced. The factor of a link is the
//! largest bandwidth factor of the network model. Two times are considered equal within the resolution of floating-point numbers:
//! at 1e6 s a microsecond is barely resolved. The bounds of hosts and links are computed from the plan of the superstep and its
//! measurements alone, in the same way for supersteps that were simulated by events, computed directly, or taken from stored
//! results. They are checked only for hosts and links that do not vary.
//!
//! [`Policy::fault`]: crate::Policy::fault
//! [`Simulation::describe_first_violation`]: migsim_engine::Simulation::describe_first_violation

use std::collections::BTreeMap;

use super::{
    event::ProcessStage, record::SuperstepTimes, superstep::SuperstepState, world::RunState,
};
use crate::resize_and_fill;
use migsim_base::{
    error::{Error, Problem, Result},
    units::{HostId, ProcessId, Time, to_u32},
    words::{format_count, singular_or_plural},
};
use migsim_engine::END_TIME_TOLERANCE;

/// Factor by which a sum of many numbers may exceed its theoretical limit because of rounding.
const SUM_TOLERANCE: f64 = 1.0 + 1e-6;
/// Factor by which two computations of the same time in different ways may differ because of rounding.
const TIME_TOLERANCE: f64 = 1.0 + 1e-12;
/// Maximum number of blocked processes that the error message about a deadlock describes.
const MAX_DESCRIBED_PROCESSES: usize = 6;

/// Sums for the check of each host (executed clock cycles; end of the last computation \[s\]) or of each link (transferred bytes;
/// unused). Their memory is reused from one superstep to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct ReusableSums(Vec<(f64, f64)>);

#[inline]
pub(super) fn check_superstep(
    world: &RunState<'_>,
    superstep: &SuperstepState,
    sums: &mut ReusableSums,
) -> Result {
    check_times(world)?;
    if superstep.is_simulated_by_events
        && let Some(process) = superstep
            .message_exchange
            .pending_receive_counts
            .iter()
            .position(|&left| left != 0)
    {
        let what = "the process left the barrier before all messages to it were delivered";
        return Err(world.internal_error(Some(process), what));
    }
    if cfg!(debug_assertions) {
        check_hosts(world, &mut sums.0)?;
        check_links(world, superstep, &mut sums.0)?;
        if let Some(fault) = world.engine.describe_first_violation() {
            return Err(world.internal_error(None, &fault));
        }
    }
    Ok(())
}

fn check_times(world: &RunState<'_>) -> Result {
    let dates = world.times(world.open_superstep);
    let before = world.open_superstep.checked_sub(1);
    let began = before.map_or(Time::ZERO, |before| world.times(before).start);
    let now = world.engine.now();
    let rises = |a: Time, b: Time| a.get() <= b.get() * TIME_TOLERANCE;
    if rises(began, dates.start)
        && rises(dates.start, dates.last_computation_end)
        && rises(dates.last_computation_end, now)
    {
        return Ok(());
    }
    Err(time_order_error(world, began))
}

/// Creates the error that the times of a superstep decrease, or that the superstep begins before the time `began`.
#[cold]
fn time_order_error(world: &RunState<'_>, began: Time) -> Error {
    let SuperstepTimes {
        start,
        last_computation_end: computed,
        ..
    } = world.times(world.open_superstep);
    let now = world.engine.now();
    let what = format!(
        "time went backwards: the superstep began at {began}, its computation at {start}, its communication at {computed}, and it ended at {now}"
    );
    world.internal_error(None, &what)
}

/// Checks the invariants of a run that has ended: the sums of the engine, and whether the recorded migrations lead from the
/// initial to the final placement.
pub(super) fn check_run(world: &RunState<'_>) -> Result {
    if let Some(fault) = world.engine.describe_first_violation() {
        return Err(world.internal_error(None, &fault));
    }
    let started = world.setup.placement;
    // The last destination of each process that has moved.
    let mut moved_to: BTreeMap<usize, HostId> = BTreeMap::new();
    for moved in &world.outcome.migrations {
        let process = moved.process.index();
        let before = moved_to.insert(process, moved.to);
        if before.unwrap_or(started[process]) != moved.from {
            let what = "the process migrated from a host on which it was not";
            return Err(world.internal_error(Some(process), what));
        }
    }
    let differs = |process: &usize| {
        let is_at = moved_to.get(process).unwrap_or(&started[*process]);
        *is_at != world.placement[*process]
    };
    match (0..started.len()).find(differs) {
        Some(process) => Err(world.internal_error(
            Some(process),
            "the last migration of the process did not end on its present host",
        )),
        None => Ok(()),
    }
}

/// Returns the shortest duration that floating-point times can resolve in the open superstep \[s\]; any shorter activity has the
/// duration zero.
fn time_resolution(world: &RunState<'_>) -> f64 {
    END_TIME_TOLERANCE * world.engine.local_time() + f64::MIN_POSITIVE
}

/// Checks that no process computed faster than its host allows, and that the processes of each host together did not compute
/// faster than the cores of the host allow.
fn check_hosts(world: &RunState<'_>, sums: &mut Vec<(f64, f64)>) -> Result {
    let hosts = &world.setup.platform.hosts;
    // For each host: the cycles done there, and the end of the last computation.
    resize_and_fill(sums, hosts.len(), (0.0, 0.0));
    let resolution = time_resolution(world);
    let per_instruction = world.setup.workload.cycles_per_instruction();
    for (process, &HostId(at)) in world.placement.iter().enumerate() {
        let host = &hosts[at as usize];
        let cycles = world.superstep_plan.work[process].get() * per_instruction;
        let compute = world.measurements.computation_times[process].get() + resolution;
        if !host.speed_varies() && cycles > host.speed.get() * compute * SUM_TOLERANCE {
            let what = format!("the process computed faster than host `{}` can", host.name);
            return Err(world.internal_error(Some(process), &what));
        }
        let delay = world.measurements.begin_delays.get(process);
        let delay = delay.map_or(0.0, |delay| delay.get());
        let (sum, until) = &mut sums[at as usize];
        (*sum, *until) = (*sum + cycles, until.max(delay + compute));
    }
    for (host, &(sum, until)) in hosts.iter().zip(&*sums) {
        let most = f64::from(host.cores) * host.speed.get() * until;
        if !host.speed_varies() && sum > most * SUM_TOLERANCE {
            let what = format!("host `{}` executed more than its cores can", host.name);
            return Err(world.internal_error(None, &what));
        }
    }
    Ok(())
}

/// Checks that each link carried at most as many bytes in this superstep as its capacity allows in the duration of the superstep.
fn check_links(
    world: &RunState<'_>,
    superstep: &SuperstepState,
    sums: &mut Vec<(f64, f64)>,
) -> Result {
    let platform = world.setup.platform;
    let network = world.setup.network;
    if !network.sharing {
        return Ok(());
    }
    // Bytes carried by each link.
    resize_and_fill(sums, platform.links.len(), (0.0, 0.0));
    for (index, message) in world.superstep_plan.messages.iter().enumerate() {
        let (from, to) = if superstep.is_simulated_by_events {
            superstep.message_exchange.flow_hosts()[index]
        } else {
            let host = |process: ProcessId| world.placement[process.index()];
            (host(message.from), host(message.to))
        };
        if let Some(route) = platform.route(from, to) {
            route
                .links()
                .for_each(|link| sums[link.index()].0 += message.size.get());
        }
    }
    let duration = elapsed_superstep_time(world, superstep) + time_resolution(world);
    for (link, &(bytes, _)) in platform.links.iter().zip(&*sums) {
        let most = link.bandwidth.get() * network.largest_bandwidth_factor() * duration;
        let is_checked = link.is_shared && !link.varies_over_time();
        if is_checked && bytes > most * SUM_TOLERANCE {
            let what = format!("link `{}` carried more than its capacity", link.name);
            return Err(world.internal_error(None, &what));
        }
    }
    Ok(())
}

/// Returns the time from the moment when the first process began the open superstep to the present \[s\].
fn elapsed_superstep_time(world: &RunState<'_>, superstep: &SuperstepState) -> f64 {
    let since = if superstep.is_simulated_by_events {
        superstep.first_begin_time
    } else {
        world.times(world.open_superstep).start.get() - superstep.local_time_origin.get()
    };
    world.engine.local_time() - since
}

/// Creates the error for a deadlock, in which no activity is in progress although some processes have not finished.
pub(super) fn deadlock_error(world: &RunState<'_>, superstep: &SuperstepState) -> Error {
    let stage = &superstep.process_stages;
    let stuck = (0..stage.len()).filter(|&process| stage[process] != ProcessStage::Finished);
    // The other processes are named first: processes at the barrier only wait for them.
    let is_at_barrier = |process: &usize| {
        matches!(
            stage[*process],
            ProcessStage::AtBarrier | ProcessStage::WaitingForNextSuperstep
        )
    };
    let (at_barrier, blocked): (Vec<usize>, Vec<usize>) = stuck.partition(is_at_barrier);
    let mut waits: Vec<String> = blocked
        .iter()
        .take(MAX_DESCRIBED_PROCESSES)
        .map(|&process| describe_wait(process, world, superstep))
        .collect();
    if blocked.len() > MAX_DESCRIBED_PROCESSES {
        let more = blocked.len() - MAX_DESCRIBED_PROCESSES;
        waits.push(format!(
            "{} {} for messages",
            format_count(more, "more process"),
            singular_or_plural(more as u64, ["waits", "wait"])
        ));
    }
    if !at_barrier.is_empty() {
        let wait = if superstep.barrier.allows_early_departure() {
            "for other processes"
        } else {
            "at the barrier"
        };
        let waiting = format_count(at_barrier.len(), "process");
        waits.push(format!("waiting {wait}: {waiting}"));
    }
    let message = format!(
        "deadlock in superstep {} at {}: {} of {} wait forever: {}",
        world.open_superstep + 1,
        world.engine.now(),
        at_barrier.len() + blocked.len(),
        format_count(stage.len(), "process"),
        waits.join("; "),
    );
    let hint = "set `runtime.sends` to `concurrent` or `runtime.receives` to `early`: with other values, processes that send to each \
    other in a cycle wait for each other";
    Error::SimulationFailure(Problem::new(message).key("runtime.sends").hint(hint))
}

fn describe_wait(process: usize, world: &RunState<'_>, superstep: &SuperstepState) -> String {
    let number = process + 1;
    match superstep.process_stages[process] {
        ProcessStage::Sending => {
            let message = superstep
                .message_exchange
                .last_started_send(to_u32(process));
            let messages = &world.superstep_plan.messages;
            let to = message.map_or(0, |message| messages[message as usize].to.index() + 1);
            format!("process {number} sends to process {to} and waits until process {to} receives")
        }
        ProcessStage::Receiving => {
            let exchange = &superstep.message_exchange;
            let awaited = exchange.pending_receive_counts[process]
                + exchange.undelivered_send_counts[process];
            let awaited = format_count(awaited, "message");
            format!("process {number} waits for {awaited} to arrive")
        }
        ProcessStage::Computing => format!("process {number} computes"),
        ProcessStage::AtBarrier
        | ProcessStage::WaitingForNextSuperstep
        | ProcessStage::Finished => {
            format!("process {number} waits at the barrier")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Costs, Message, MigrationRecord, Never, Plan, RuntimeConfig, Scenario, Setup, Workload,
        run::Run,
    };
    use migsim_base::units::{Bytes, Instructions, ProcessId, Seconds};
    use migsim_engine::{NetworkModel, testing::single_cluster_platform};

    /// An application of two processes that compute 1e9 instructions each and send each other 1e6 B, twice.
    #[derive(Debug)]
    struct Two;

    impl Workload for Two {
        fn processes(&self) -> usize {
            2
        }
        fn supersteps(&self) -> usize {
            2
        }
        fn fill(&self, _superstep: usize, plan: &mut Plan) {
            plan.work.fill(Instructions::of(1e9));
            for (from, to) in [(0, 1), (1, 0)] {
                plan.messages.push(Message {
                    from: ProcessId(from),
                    to: ProcessId(to),
                    size: Bytes::of(1e6),
                });
            }
        }
        fn memory(&self, _process: ProcessId) -> Bytes {
            Bytes::default()
        }
    }

    /// Returns the message of the check that fails after `change` to a run that has opened its first barrier at 3 s; nothing if none fails.
    fn fault(change: impl FnOnce(&mut Run<'_, '_>)) -> Option<String> {
        // 1 s of computation, and 2e6 B over each link of 1 MB/s: 2 s.
        let platform = single_cluster_platform(&[1e9, 1e9], 1e6, 0.0);
        let setup = Setup {
            platform: &platform,
            network: NetworkModel::default(),
            workload: &Two,
            placement: &[HostId(0), HostId(1)],
            runtime: RuntimeConfig::default(),
            costs: Costs::default(),
            view: crate::ViewConfig::default(),
            scenario: Scenario::I,
            seed: 1,
            memo: None,
        };
        let mut ignored = ();
        let mut run = Run::new(&setup, Some(Box::new(Never {})), &mut ignored);
        run.begin_superstep(0).expect("routes are there");
        let dates = &mut run.world.outcome.supersteps[0];
        dates.last_computation_end = dates.start + Seconds::of(1.0);
        change(&mut run);
        let Run {
            world, superstep, ..
        } = &run;
        let checked = check_superstep(world, superstep, &mut ReusableSums::default());
        let checked = checked.and_then(|()| check_run(world));
        let Err(Error::InternalFault(broken)) = checked else {
            assert_eq!(checked, Ok(()));
            return None;
        };
        assert_eq!(broken.debug_data["superstep"], 1);
        assert_eq!(
            broken.debug_data["message"].as_array().map(Vec::len),
            Some(2)
        );
        Some(broken.problem.to_string())
    }

    fn breaks(what: &str, change: impl FnOnce(&mut Run<'_, '_>)) {
        let told = fault(change).unwrap_or_default();
        assert!(told.contains(what), "`{told}` does not tell `{what}`");
    }

    #[test]
    fn a_run_as_it_is_breaks_nothing() {
        assert_eq!(fault(|_| ()), None);
    }

    #[test]
    fn dates_that_fall_stop_a_run() {
        breaks("time went back", |run| {
            run.world.outcome.supersteps[0].start = Time::new(2.0).unwrap();
        });
        breaks("time went back", |run| {
            run.world.outcome.supersteps[0].last_computation_end = Time::new(3.5).unwrap();
        });
    }

    #[test]
    fn a_computation_faster_than_its_host_stops_a_run() {
        breaks("process 2\n", |run| {
            run.world.measurements.computation_times[1] = Seconds::of(0.999);
        });
        // Both processes on one host of one core: each may take 1 s, but not both.
        breaks("host `h0` executed more than its cores can", |run| {
            run.world.placement[1] = HostId(0);
        });
    }

    #[test]
    fn more_bytes_than_a_link_can_carry_stop_a_run() {
        breaks("link `l0` carried more", |run| {
            run.world.superstep_plan.messages[0].size = Bytes::of(3.1e6);
        });
    }

    #[test]
    fn a_process_that_is_not_where_its_migrations_lead_stops_a_run() {
        let moved = |from: u32, to: u32| MigrationRecord {
            superstep: 0,
            process: ProcessId(1),
            from: HostId(from),
            to: HostId(to),
            transferred_bytes: Bytes::default(),
            start: Time::ZERO,
            end: Time::ZERO,
            cause: crate::MigrationCause::Policy,
        };
        breaks(
            "the process migrated from a host on which it was not",
            |run| {
                run.world.outcome.migrations.push(moved(0, 1));
            },
        );
        breaks(
            "the last migration of the process did not end on its present host",
            |run| {
                run.world.outcome.migrations.push(moved(1, 0));
            },
        );
    }
}
