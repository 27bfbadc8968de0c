//! Scripts of barriers, ordered in stages: a stage contains the control messages that can be sent after the messages of earlier
//! stages have been received.
//!
//! ```text
//! sent(n)   = t(from) + time(n)                 stage by stage: first all messages that can be sent,
//! t(to)     = max(t(to), sent(n))               then the receives of these messages
//! t         = before the first stage the arrivals, after the last stage the times at which processes leave
//! ```
//! In these equations, n is a control message, `time(n)` its duration, `sent(n)` the time at which it is delivered, and `t` the
//! present time of each process. The division into stages affects only the cost of the computation. Messages with the same slot
//! (number at the receiver) are in one stage, so that a round in which all processes exchange messages at one distance is a loop
//! over pairs of blocks.
//!
//! Cost: 5 instructions per message in such rounds, 10 if a range of processes sends to another range in order, 25 otherwise.

use super::script::{BarrierScript, ScriptAction};
use migsim_base::units::{greater, to_u32};

/// Maximum number of control messages in a script that is ordered in stages; more messages would take too much memory.
const MAX_CONTROL_MESSAGES: usize = 1_000_000;

/// The control messages of a barrier and their receives, ordered in stages, from which the departure times of processes are
/// computed.
#[derive(Clone, Debug, Default)]
pub(super) struct ScriptStages {
    stages: Vec<ScriptStage>,
    control_messages: Vec<ControlMessage>,
    /// Duration of each control message, from sending to delivery \[s\].
    message_durations: Vec<f64>,
    receives: Vec<Receive>,
}

/// A stage of a barrier: the ends of its parts in the lists of control messages and of receives, and the arrangement of its
/// senders and receivers.
#[derive(Clone, Copy, Debug)]
struct ScriptStage {
    messages_end_index: usize,
    receives_end_index: usize,
    pattern: StagePattern,
}

/// The arrangement of the senders and receivers in a stage of a barrier.
#[derive(Clone, Copy, Debug, PartialEq)]
enum StagePattern {
    /// Each process p, from process 0 on, exchanges control messages with process p xor n, where the number n is a power of two.
    PairwiseExchange(usize),
    /// The processes of a range that begins with `from` send to the processes of an equally long range that begins with `to`, in
    /// order. In a range, process 0 follows the process with the largest number.
    RangeToRange { from: usize, to: usize },
    /// The senders and receivers have no regular arrangement; they are taken from the lists of messages and receives.
    Irregular,
}

/// A control message from one process to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct ControlMessage {
    pub(super) from: u32,
    pub(super) to: u32,
    /// Whether the message keeps its connection from becoming idle, on a connection with slow start.
    pub(super) uses_connection: bool,
}

#[derive(Clone, Copy, Debug)]
struct Receive {
    process: u32,
    message_index: u32,
}

impl ScriptStages {
    /// Orders the control messages of a script in stages; returns `None` if the script has too many control messages.
    pub(super) fn from_script(script: &BarrierScript, processes: u32) -> Option<Self> {
        let mut waves = Self::default();
        let mut reading = ScriptProgress::new(script, processes);
        let mut ready: Vec<u32> = (0..processes).collect();
        while let Some(slot) = ready
            .iter()
            .filter_map(|&process| reading.next_send_slot(process))
            .min()
        {
            let (first, first_receive) = (waves.control_messages.len(), waves.receives.len());
            for &process in &ready {
                if reading.next_send_slot(process) == Some(slot) {
                    reading.execute_sends(process, &mut waves.control_messages);
                }
            }
            if waves.control_messages.len() > MAX_CONTROL_MESSAGES {
                return None;
            }
            ready.extend(
                waves.control_messages[first..]
                    .iter()
                    .map(|notice| notice.to),
            );
            ready.sort_unstable();
            ready.dedup();
            ready.retain(|&process| {
                reading.execute_receives(process, &mut waves.receives);
                reading.next_send_slot(process).is_some()
            });
            // A process takes the latest of its control messages, in any order.
            let received = &mut waves.receives[first_receive..];
            received.sort_unstable_by_key(|received| received.message_index);
            let shape = find_stage_pattern(
                processes,
                (first, &waves.control_messages[first..]),
                received,
            );
            waves.stages.push(ScriptStage {
                messages_end_index: waves.control_messages.len(),
                receives_end_index: waves.receives.len(),
                pattern: shape,
            });
        }
        waves
            .message_durations
            .resize(waves.control_messages.len(), 0.0);
        Some(waves)
    }

    pub(super) fn control_messages(&self) -> &[ControlMessage] {
        &self.control_messages
    }

    /// Returns the duration of each control message \[s\].
    pub(super) fn message_durations(&self) -> &[f64] {
        &self.message_durations
    }

    /// Returns an iterator over all control messages and their durations \[s\], both mutable.
    pub(super) fn iter_durations_mut(
        &mut self,
    ) -> impl Iterator<Item = (&mut ControlMessage, &mut f64)> {
        self.control_messages
            .iter_mut()
            .zip(&mut self.message_durations)
    }

    /// Replaces the local arrival times of processes in `dates` by the times at which the processes leave the barrier \[s\]. Sets
    /// `delivered` to the times at which the control messages are delivered \[s\].
    pub(super) fn compute_departures(&self, dates: &mut [f64], delivered: &mut [f64]) {
        let (mut notice, mut receive) = (0, 0);
        for wave in &self.stages {
            let part = notice..wave.messages_end_index;
            let row = (
                &self.message_durations[part.clone()],
                &mut delivered[part.clone()],
            );
            match wave.pattern {
                StagePattern::PairwiseExchange(distance) => {
                    exchange_at_distance(distance, dates, row);
                }
                StagePattern::RangeToRange { from, to } => {
                    send_between_ranges((from, to), dates, row);
                }
                StagePattern::Irregular => {
                    let sent = self.control_messages[part].iter().zip(row.0);
                    for (date, (sent, duration)) in row.1.iter_mut().zip(sent) {
                        *date = dates[sent.from as usize] + duration;
                    }
                    for received in &self.receives[receive..wave.receives_end_index] {
                        let date = &mut dates[received.process as usize];
                        *date = greater(delivered[received.message_index as usize], *date);
                    }
                }
            }
            (notice, receive) = (wave.messages_end_index, wave.receives_end_index);
        }
    }
}

/// The position of each process in its script, and the messages not yet received, while the script is ordered in stages.
#[derive(Debug)]
struct ScriptProgress<'s> {
    script: &'s BarrierScript,
    next_action_indices: Vec<u32>,
    /// For each process, the control messages that were sent to the process and that it has not received yet, as pairs of slot
    /// and message.
    unreceived_messages: Vec<Vec<(u32, u32)>>,
}

impl<'s> ScriptProgress<'s> {
    fn new(script: &'s BarrierScript, processes: u32) -> Self {
        Self {
            script,
            next_action_indices: vec![0; processes as usize],
            unreceived_messages: vec![Vec::new(); processes as usize],
        }
    }

    /// Returns the next action in the script of a process; `None` at the end of the script.
    fn next_action(&self, process: u32) -> Option<ScriptAction> {
        self.script
            .action_at_index(process, self.next_action_indices[process as usize])
    }

    /// Returns the slot of the control message that a process sends next; `None` if the process must receive first or has
    /// finished its script.
    fn next_send_slot(&self, process: u32) -> Option<u32> {
        match self.next_action(process)? {
            ScriptAction::Send { slot, .. } => Some(slot),
            ScriptAction::Receive { .. } => None,
        }
    }

    /// Executes the sends of a process up to its next receive, and appends the sent control messages to `notices`.
    fn execute_sends(&mut self, process: u32, notices: &mut Vec<ControlMessage>) {
        while let Some(ScriptAction::Send { to, slot }) = self.next_action(process) {
            self.next_action_indices[process as usize] += 1;
            self.unreceived_messages[to as usize].push((slot, to_u32(notices.len())));
            notices.push(ControlMessage {
                from: process,
                to,
                uses_connection: false,
            });
        }
    }

    /// Executes the receives of a process up to its next send, or to a message that has not been sent, and appends them to
    /// `receives`.
    fn execute_receives(&mut self, process: u32, receives: &mut Vec<Receive>) {
        while let Some(ScriptAction::Receive { slot }) = self.next_action(process) {
            let here = &mut self.unreceived_messages[process as usize];
            let Some(found) = here.iter().position(|notice| notice.0 == slot) else {
                return;
            };
            let (_, notice) = here.swap_remove(found);
            receives.push(Receive {
                process,
                message_index: notice,
            });
            self.next_action_indices[process as usize] += 1;
        }
    }
}

/// Returns the arrangement of the senders and receivers in a stage among `processes` processes. The control messages of the stage
/// have numbers from `first` on, and the receives are in the order of these messages.
fn find_stage_pattern(
    processes: u32,
    (first, notices): (usize, &[ControlMessage]),
    receives: &[Receive],
) -> StagePattern {
    let sent = to_u32(first)..to_u32(first + notices.len());
    if !sent.eq(receives.iter().map(|received| received.message_index)) {
        return StagePattern::Irregular;
    }
    let Some(&ControlMessage { from, to, .. }) = notices.first() else {
        return StagePattern::Irregular;
    };
    let have_ends = |ends: &dyn Fn(u32) -> (u32, u32)| {
        let mut numbered = (0..).zip(notices);
        numbered.all(|(at, notice)| (notice.from, notice.to) == ends(at))
    };
    let distance = from ^ to;
    let is_whole =
        distance.is_power_of_two() && notices.len().is_multiple_of(2 * distance as usize);
    if is_whole && have_ends(&|at| (at, at ^ distance)) {
        StagePattern::PairwiseExchange(distance as usize)
    } else if have_ends(&|at| (from + at, (to + at) % processes)) {
        StagePattern::RangeToRange {
            from: from as usize,
            to: to as usize,
        }
    } else {
        StagePattern::Irregular
    }
}

/// For the control messages of a stage: their durations \[s\], and the local times at which they are delivered \[s\].
type MessageTimes<'a> = (&'a [f64], &'a mut [f64]);

/// Updates the times of the processes by a stage in which processes exchange control messages whose numbers differ by `distance`,
/// a power of two.
fn exchange_at_distance(distance: usize, dates: &mut [f64], row: MessageTimes<'_>) {
    match distance {
        1 => exchange_at_small_distance::<1>(dates, row),
        2 => exchange_at_small_distance::<2>(dates, row),
        4 => exchange_at_small_distance::<4>(dates, row),
        _ => exchange_at_large_distance(distance, dates, row),
    }
}

/// Updates the times of the processes by a stage in which processes exchange control messages whose numbers differ by N (1, 2 or
/// 4).
fn exchange_at_small_distance<const N: usize>(
    dates: &mut [f64],
    (duration, delivered): MessageTimes<'_>,
) {
    let dates = dates.as_chunks_mut::<N>().0.as_chunks_mut::<2>().0;
    let duration = duration.as_chunks::<N>().0.as_chunks::<2>().0;
    let delivered = delivered.as_chunks_mut::<N>().0.as_chunks_mut::<2>().0;
    for (([a, b], [from_a, from_b]), [of_a, of_b]) in dates.iter_mut().zip(duration).zip(delivered)
    {
        exchange_blocks((a, b), (from_a, from_b), (of_a, of_b));
    }
}

/// Updates the times of the processes by a stage in which processes exchange control messages whose numbers differ by `distance`,
/// a multiple of 8.
fn exchange_at_large_distance(
    distance: usize,
    dates: &mut [f64],
    (duration, delivered): MessageTimes<'_>,
) {
    let dates = dates.chunks_exact_mut(2 * distance);
    let duration = duration.chunks_exact(2 * distance);
    let delivered = delivered.chunks_exact_mut(2 * distance);
    for ((dates, duration), delivered) in dates.zip(duration).zip(delivered) {
        let (dates, duration, delivered) = (
            dates.split_at_mut(distance),
            duration.split_at(distance),
            delivered.split_at_mut(distance),
        );
        let dates = blocks_of_eight_mut(dates.0).zip(blocks_of_eight_mut(dates.1));
        let duration = duration
            .0
            .as_chunks()
            .0
            .iter()
            .zip(duration.1.as_chunks().0);
        let delivered = blocks_of_eight_mut(delivered.0).zip(blocks_of_eight_mut(delivered.1));
        for ((dates, duration), delivered) in dates.zip(duration).zip(delivered) {
            exchange_blocks(dates, duration, delivered);
        }
    }
}

fn blocks_of_eight_mut(values: &mut [f64]) -> impl Iterator<Item = &mut [f64; 8]> {
    values.as_chunks_mut().0.iter_mut()
}

/// Updates the times of the processes of two blocks that exchange control messages in pairs. All values are read before any value
/// is written, so that several pairs are computed with one instruction.
#[inline]
fn exchange_blocks<const N: usize>(
    (a, b): (&mut [f64; N], &mut [f64; N]),
    (from_a, from_b): (&[f64; N], &[f64; N]),
    (of_a, of_b): (&mut [f64; N], &mut [f64; N]),
) {
    let (mut date_a, mut date_b) = (*a, *b);
    let (mut sent_a, mut sent_b) = (*from_a, *from_b);
    for n in 0..N {
        sent_a[n] += date_a[n];
        sent_b[n] += date_b[n];
        date_a[n] = greater(sent_b[n], date_a[n]);
        date_b[n] = greater(sent_a[n], date_b[n]);
    }
    (*a, *b, *of_a, *of_b) = (date_a, date_b, sent_a, sent_b);
}

/// Updates `delivered` by the control messages that the processes `from`, `from` + 1, ... send to the processes `to`, `to` + 1,
/// ..., and the times of the receivers.
fn send_between_ranges(
    (from, to): (usize, usize),
    dates: &mut [f64],
    (duration, delivered): MessageTimes<'_>,
) {
    let senders = dates[from..].iter().zip(duration);
    for (delivered, (date, duration)) in delivered.iter_mut().zip(senders) {
        *delivered = date + duration;
    }
    let (of_first, of_last) = dates.split_at_mut(to);
    let (to_last, to_first) = delivered.split_at(delivered.len().min(of_last.len()));
    delay_processes_to_deliveries(of_last, to_last);
    delay_processes_to_deliveries(of_first, to_first);
}

/// Sets the time of each process to the delivery time of its control message, if the message is delivered later.
fn delay_processes_to_deliveries(dates: &mut [f64], delivered: &[f64]) {
    for (date, delivered) in dates.iter_mut().zip(delivered) {
        *date = greater(*delivered, *date);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::BarrierKind;

    #[test]
    fn each_notice_is_received_once_in_the_wave_in_which_it_is_sent_or_later() {
        use BarrierKind::{Dissemination, DoubleRing, RecursiveDoubling};
        for kind in [Dissemination, RecursiveDoubling, DoubleRing] {
            for processes in 2..40 {
                let script = BarrierScript::new(kind, processes);
                let found = ScriptStages::from_script(&script, processes).expect("few notices");
                let mut times = vec![0; found.control_messages.len()];
                let mut receive = 0;
                for wave in &found.stages {
                    for received in &found.receives[receive..wave.receives_end_index] {
                        let notice = received.message_index as usize;
                        assert!(notice < wave.messages_end_index);
                        assert_eq!(found.control_messages[notice].to, received.process);
                        times[notice] += 1;
                    }
                    receive = wave.receives_end_index;
                }
                assert!(
                    times.iter().all(|times| *times == 1),
                    "{kind:?} {processes}"
                );
            }
        }
    }

    #[test]
    fn notices_in_shapes_are_delivered_as_those_of_lists() {
        use BarrierKind::{Dissemination, DoubleRing, RecursiveDoubling};
        for kind in [Dissemination, RecursiveDoubling, DoubleRing] {
            for processes in 2..140_u32 {
                let script = BarrierScript::new(kind, processes);
                let mut shaped =
                    ScriptStages::from_script(&script, processes).expect("few notices");
                for (at, duration) in (1_u32..).zip(&mut shaped.message_durations) {
                    *duration = f64::from(at * 7919 % 1009);
                }
                let mut listed = shaped.clone();
                for wave in &mut listed.stages {
                    wave.pattern = StagePattern::Irregular;
                }
                let arrival: Vec<f64> = (1..=processes)
                    .map(|process| f64::from(process * 6101 % 997))
                    .collect();
                let [a, b] = [shaped, listed].map(|waves| {
                    let mut dates = arrival.clone();
                    let mut delivered = vec![0.0; waves.control_messages.len()];
                    waves.compute_departures(&mut dates, &mut delivered);
                    (dates, delivered)
                });
                assert_eq!(a, b, "{kind:?} {processes}");
            }
        }
    }

    #[test]
    fn rounds_of_recursive_doubling_are_exchanges() {
        for processes in [8, 50, 64, 100] {
            let script = BarrierScript::new(BarrierKind::RecursiveDoubling, processes);
            let waves = ScriptStages::from_script(&script, processes).expect("few notices");
            let shapes = waves.stages.iter().map(|wave| wave.pattern);
            let core = 1 << processes.ilog2();
            let partners = processes as usize - core;
            let rows = |from, to| {
                std::iter::repeat_n(StagePattern::RangeToRange { from, to }, partners.min(1))
            };
            let distances =
                (0..processes.ilog2()).map(|round| StagePattern::PairwiseExchange(1 << round));
            let expected = rows(core, 0).chain(distances).chain(rows(0, core));
            let expected = expected.chain(rows(core, 0));
            assert!(shapes.eq(expected), "{processes}: {:?}", waves.stages);
        }
    }

    #[test]
    fn rounds_of_dissemination_are_rows() {
        for processes in [7, 50, 100_usize] {
            let count = to_u32(processes);
            let script = BarrierScript::new(BarrierKind::Dissemination, count);
            let waves = ScriptStages::from_script(&script, count).expect("few notices");
            let shapes = waves.stages.iter().map(|wave| wave.pattern);
            let rounds = processes.next_power_of_two().ilog2();
            let distances = (0..rounds).map(|round| 1 << round);
            let expected = distances.map(|to| StagePattern::RangeToRange { from: 0, to });
            assert!(shapes.eq(expected), "{processes}: {:?}", waves.stages);
        }
    }

    #[test]
    fn a_barrier_of_very_many_notices_is_not_foreseen() {
        let script = BarrierScript::new(BarrierKind::Dissemination, 100_000);
        assert!(ScriptStages::from_script(&script, 100_000).is_none());
    }
}
