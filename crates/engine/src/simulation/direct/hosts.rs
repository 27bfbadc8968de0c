//! Direct evaluation of the work on hosts: computations and the processor times of sends before the transfers, and the processor
//! times of receives after them.

use std::fmt;

use super::{
    Activities, Direct, Evaluated, SIMULTANEITY_TOLERANCE,
    turns::{Receives, Sends, Turns, simulate_host},
};
use crate::{cpu::Cpu, simulation::Simulation};
use migsim_base::units::{HostId, greater};

impl<'p, T: Copy + fmt::Debug + Send + 'p> Simulation<'p, T> {
    /// Computes when each computation ends. The speeds of hosts stay constant up to the time `speeds`, the links up to the time
    /// `capacities` \[s\]. Returns whether all computations end before a link changes and their hosts' changes are known.
    pub(super) fn compute_ends(
        &self,
        direct: &mut Direct,
        activities: &Activities<'_>,
        speeds: f64,
        capacities: f64,
    ) -> bool {
        direct.group_processes(activities.placement);
        let Direct {
            processes_by_host,
            cpu,
            ended,
            computations,
            lists,
            sent,
            evaluated: Evaluated {
                computed, started, ..
            },
            ..
        } = direct;
        computed.clear();
        computed.extend(
            activities
                .placement
                .iter()
                .enumerate()
                .map(|(process, host)| {
                    let speed = self.cpus.cpu(*host).speed_of_one();
                    activities.cycles(process) / speed + activities.begin(process)
                }),
        );
        let model = &self.network.network_state().model;
        let has_sends = model.has_processor_times();
        if has_sends {
            started.resize(activities.messages.len(), 0.0);
        }
        let is_before = |end: f64, until: f64| end * SIMULTANEITY_TOLERANCE < until;
        let mut groups = processes_by_host.chunk_by(|a, b| a.0 == b.0);
        let are_known = groups.all(|group| {
            let (host, process) = group[0];
            let is_first_alone = group.len() == 1 && is_before(computed[process as usize], speeds);
            if is_first_alone && !has_sends {
                return true;
            }
            let mut sends = Sends {
                lists: &mut *lists,
                messages: activities.messages,
                placement: activities.placement,
                model,
                nominal_speed: self.platform.hosts[host.index()].speed.get(),
                computed: &mut *computed,
                started: &mut *started,
                sent: &mut *sent,
            };
            if has_sends {
                let is_uncrowded = self.is_uncrowded(host, group.len());
                if activities.in_order {
                    // Sends wait for each other: they take their time on a core of their own.
                    let last = sends.computed[process as usize];
                    return is_uncrowded && speeds.is_infinite() && is_before(last, capacities);
                }
                let speed = self.cpus.cpu(host).speed_of_one();
                let last_send = |&(_, process): &(HostId, u32)| sends.last_send(process, speed);
                let is_constant = || group.iter().all(|one| is_before(last_send(one), speeds));
                if is_uncrowded && (speeds.is_infinite() || is_constant()) {
                    for &(_, process) in group {
                        sends.spend_alone(process as usize, speed);
                    }
                    return true;
                }
            }
            computations.clear();
            for &(_, process) in group {
                let at = process as usize;
                let begin = activities.begin(at);
                let mut work = activities.cycles(at);
                if work > 0.0 {
                    sends.computed[at] = f64::NAN;
                } else if has_sends {
                    work = sends.next_work(at, begin).unwrap_or(0.0);
                }
                if work > 0.0 {
                    computations.push((begin, work, process));
                }
            }
            computations.sort_by(|a, b| a.0.total_cmp(&b.0));
            self.simulate_host((cpu, ended), (host, computations), &[], &mut sends)
        });
        let ends = computed.iter().chain(&*sent);
        are_known && ends.copied().all(|end| is_before(end, capacities))
    }

    /// Whether each of `count` processes of a host computes, sends and receives as if it were alone on the host.
    fn is_uncrowded(&self, host: HostId, count: usize) -> bool {
        count == 1 || self.cpus.cpu(host).has_cores_for(count)
    }

    /// Simulates a host from the present time on, as [`simulate_host`]; returns whether all changes of the host are known that
    /// influence an end.
    fn simulate_host(
        &self,
        (cpu, ended): (&mut Cpu<u32>, &mut Vec<u32>),
        (host, coming): (HostId, &[(f64, f64, u32)]),
        prior: &[(f64, f64)],
        turns: &mut impl Turns,
    ) -> bool {
        cpu.reset_like(self.cpus.cpu(host));
        let (changes, known) = self.capacity_schedule.computed_changes_of_host(host);
        let changes =
            changes.map(|(time, quantity, value)| (self.clock.to_local(time), quantity, value));
        let last = simulate_host((cpu, ended), coming, (changes, prior), turns);
        last.is_some_and(|last| last < self.clock.to_local(known))
    }

    /// Computes when each process has spent the processor times of the messages delivered to it. Returns whether that is known; the
    /// speeds of hosts stay constant up to the time `speeds` \[s\].
    pub(super) fn evaluate_receives(
        &self,
        direct: &mut Direct,
        activities: &Activities<'_>,
        speeds: f64,
    ) -> bool {
        let Direct {
            processes_by_host,
            cpu,
            ended,
            computations: coming,
            lists,
            sent,
            waiting,
            prior,
            evaluated,
            ..
        } = direct;
        let (delivered, received) = (&evaluated.delivered, &mut evaluated.received);
        received.resize(sent.len(), 0.0);
        waiting.clear();
        waiting.resize(sent.len(), f64::NAN);
        lists.link(sent.len(), activities.messages, |one| one.to.index());
        let model = &self.network.network_state().model;
        let mut groups = processes_by_host.chunk_by(|a, b| a.0 == b.0);
        groups.all(|group| {
            let host = group[0].0;
            let nominal_speed = self.platform.hosts[host.index()].speed.get();
            let speed = self.cpus.cpu(host).speed_of_one();
            let mut is_alone = self.is_uncrowded(host, group.len());
            coming.clear();
            let mut processes = group.iter();
            while let Some(&(_, process)) = processes.next() {
                let at = process as usize;
                received[at] = sent[at];
                for index in lists.of_process(process) {
                    let message = &activities.messages[index];
                    let is_inside = activities.is_inside_host(message);
                    let (_, time) = model.processor_times(is_inside, message.size.get());
                    let begin = greater(delivered[index], sent[at]);
                    if time > 0.0 {
                        coming.push((begin, time * nominal_speed, process));
                    } else {
                        received[at] = greater(begin, received[at]);
                    }
                }
                if is_alone {
                    coming.sort_by(|a, b| a.0.total_cmp(&b.0));
                    let mut end = f64::NEG_INFINITY;
                    for (begin, work, _) in coming.drain(..) {
                        end = greater(begin, end) + work / speed;
                    }
                    received[at] = greater(end, received[at]);
                    if received[at] * SIMULTANEITY_TOLERANCE >= speeds {
                        is_alone = false;
                        processes = group.iter();
                    }
                }
            }
            if is_alone {
                return true;
            }
            coming.sort_by(|a, b| a.0.total_cmp(&b.0));
            prior.clear();
            for &(_, process) in group {
                let process = process as usize;
                prior.push((activities.begin(process), 1.0));
                prior.push((sent[process], -1.0));
            }
            prior.sort_by(|a, b| a.0.total_cmp(&b.0));
            self.simulate_host(
                (cpu, ended),
                (host, coming),
                prior,
                &mut Receives { waiting, received },
            )
        })
    }
}
