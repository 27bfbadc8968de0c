//! The measurements of one superstep that a policy receives.

use super::{pairs::ProcessClusterTable, workload::Plan};
use migsim_base::units::{Bytes, Instructions, Seconds, greater};

/// The measurements of one superstep for each process: work, times, and traffic with each cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measures {
    /// Number of instructions that each process executed (I of the papers).
    pub work: Vec<Instructions>,
    /// Time from the instant when the first process began the superstep to the instant when each process began it.
    pub begin_delays: Vec<Seconds>,
    /// Duration of the computation of each process, slowed by load and by other processes on its host (CT of the papers).
    pub computation_times: Vec<Seconds>,
    /// Duration from the end of the computation of each process until the last message that it sent was delivered.
    pub send_times: Vec<Seconds>,
    /// Duration from the end of the computation of each process until the process reached the barrier; it includes its sends and
    /// receives.
    pub communication_times: Vec<Seconds>,
    /// Time after the computation of each process in which at least one message that the process sends or receives is in
    /// progress. This list and the next one are empty unless a recorder requests them
    /// ([`Recorder::wants_transfer_times`](super::Recorder::wants_transfer_times)).
    pub transfer_times: Vec<Seconds>,
    /// Time between the end of the computation of each process and its arrival at the barrier in which none of its messages is in
    /// progress.
    pub message_waits: Vec<Seconds>,
    /// Traffic of each process with each cluster with which it exchanged messages. It is empty if no policy needs it: in scenario
    /// i, and when no more rescheduling calls can come ([`Policy::is_done`](super::Policy::is_done)).
    pub traffic: ProcessClusterTable<Traffic>,
}

/// The traffic of a process with the processes of one cluster in one superstep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Bytes sent to the cluster.
    pub sent_bytes: Bytes,
    /// Bytes received from the cluster.
    pub received_bytes: Bytes,
    /// Sum of the durations of all messages sent to the cluster.
    pub send_time: Seconds,
    /// Sum of the durations of all messages received from the cluster.
    pub receive_time: Seconds,
    /// Number of messages sent to the cluster.
    pub sent_messages: u32,
    /// Number of messages received from the cluster.
    pub received_messages: u32,
}

impl Measures {
    /// Sets all measurements to zero, for a superstep with `processes` processes; the memory of the arrays is kept.
    pub fn clear(&mut self, processes: usize) {
        resize_and_fill(&mut self.work, processes, Instructions::default());
        resize_and_fill(&mut self.computation_times, processes, Seconds::default());
        resize_and_fill(&mut self.communication_times, processes, Seconds::default());
        self.clear_accumulated(processes);
    }

    /// Sets to zero the measurements to which values are added during a superstep (delays, send times, traffic). The other
    /// measurements are overwritten in each superstep and need no reset.
    pub fn clear_accumulated(&mut self, processes: usize) {
        resize_and_fill(&mut self.begin_delays, processes, Seconds::default());
        resize_and_fill(&mut self.send_times, processes, Seconds::default());
        self.traffic.clear(processes);
    }

    /// Returns the traffic of `process` with `cluster`.
    pub fn traffic(&self, process: usize, cluster: usize) -> Traffic {
        self.traffic
            .get(process, cluster)
            .copied()
            .unwrap_or_default()
    }

    /// Returns a mutable reference to the traffic of `process` with `cluster`, so that messages can be added to the traffic.
    #[inline]
    pub fn traffic_mut(&mut self, process: usize, cluster: usize) -> &mut Traffic {
        self.traffic.get_or_default(process, cluster)
    }

    /// Sets `transfer_times` and `message_waits` from the local times at which the computation of each process ended, and the
    /// start and delivery of each message of `plan` \[s\].
    pub(crate) fn record_transfers(
        &mut self,
        plan: &Plan,
        computed: &[f64],
        periods: impl Iterator<Item = (f64, f64)>,
    ) {
        resize_and_fill(&mut self.transfer_times, computed.len(), Seconds::default());
        resize_and_fill(&mut self.message_waits, computed.len(), Seconds::default());
        let ends = plan
            .messages
            .iter()
            .zip(periods)
            .flat_map(|(message, (start, end))| {
                [message.from.index(), message.to.index()].map(|process| (process, start, end))
            });
        let mut parts: Vec<(usize, f64, f64)> = ends.collect();
        parts.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut now = 0.0;
        for (at, &(process, start, end)) in parts.iter().enumerate() {
            if at == 0 || parts[at - 1].0 != process {
                now = computed[process];
            }
            let begin = greater(start, now);
            let arrived = computed[process] + self.communication_times[process].get();
            self.message_waits[process] += Seconds::of((begin.min(arrived) - now).max(0.0));
            self.transfer_times[process] += Seconds::of((end - begin).max(0.0));
            now = greater(begin, end);
        }
    }

    /// Adds all messages of a superstep to the traffic of their senders and receivers. The function `cluster` returns the cluster
    /// of a process; `durations` contains the durations of the messages, in the order of `plan`.
    pub fn add_traffic(
        &mut self,
        plan: &Plan,
        cluster: impl Fn(usize) -> usize,
        durations: impl Iterator<Item = Seconds>,
    ) {
        for (message, duration) in plan.messages.iter().zip(durations) {
            let from = message.from.index();
            let to = message.to.index();
            self.add_message(
                (from, cluster(from)),
                (to, cluster(to)),
                message.size,
                duration,
            );
        }
    }

    /// Adds one message to the traffic of its sender `from` and its receiver `to`. Both are given as the number of the process
    /// and the number of its cluster.
    pub fn add_message(
        &mut self,
        from: (usize, usize),
        to: (usize, usize),
        size: Bytes,
        duration: Seconds,
    ) {
        let sent = self.traffic_mut(from.0, to.1);
        sent.sent_bytes = sent.sent_bytes + size;
        sent.send_time += duration;
        sent.sent_messages += 1;
        let received = self.traffic_mut(to.0, from.1);
        received.received_bytes = received.received_bytes + size;
        received.receive_time += duration;
        received.received_messages += 1;
    }
}

/// Resizes a reused list to `count` elements and sets all elements to `value`.
#[inline]
pub fn resize_and_fill<T: Copy>(list: &mut Vec<T>, count: usize, value: T) {
    if list.len() != count {
        list.resize(count, value);
    }
    list.fill(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traffic_is_told_as_it_was_measured_and_makes_measures_differ() {
        let mut measures = Measures::default();
        measures.clear(2);
        let quiet = measures.clone();
        measures.traffic_mut(1, 3).sent_bytes = Bytes::of(7.0);
        assert_eq!(measures.traffic(1, 3).sent_bytes, Bytes::of(7.0));
        assert_eq!(measures.traffic(0, 3), Traffic::default());
        assert_ne!(measures, quiet);
    }

    #[test]
    fn a_process_waits_for_the_message_of_a_late_sender() {
        use crate::Message;
        use migsim_base::units::ProcessId;
        let message = |from, to| Message {
            from: ProcessId(from),
            to: ProcessId(to),
            size: Bytes::of(1.0),
        };
        let plan = Plan {
            messages: vec![message(0, 1), message(1, 0), message(1, 0)],
            ..Plan::default()
        };
        let mut measures = Measures::default();
        measures.clear(2);
        // Process 1 ends its computation at 1 s and sends until 3 s, in two messages that overlap; process 0 sends from 10 to 11 s.
        measures.communication_times = vec![Seconds::of(1.0), Seconds::of(10.0)];
        let periods = [(10.0, 11.0), (1.0, 2.5), (2.0, 3.0)];
        measures.record_transfers(&plan, &[10.0, 1.0], periods.into_iter());
        let numbers = |list: &[Seconds]| list.iter().map(|one| one.get()).collect::<Vec<_>>();
        assert_eq!(numbers(&measures.transfer_times), [1.0, 3.0]);
        assert_eq!(numbers(&measures.message_waits), [0.0, 7.0]);
    }

    #[test]
    fn a_list_that_is_used_again_holds_what_it_is_told_to() {
        let mut list = vec![1, 2, 3];
        for (count, value) in [(2, 7), (2, 8), (4, 9), (0, 1)] {
            resize_and_fill(&mut list, count, value);
            assert_eq!(list, vec![value; count]);
        }
    }
}
