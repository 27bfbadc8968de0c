//! Simulates the work of the processes of one host, if it is known when each process gets work: computations, then the processor
//! times of sends, and, on the cores that these leave, the processor times of receives.

use crate::{
    activity::Message,
    cpu::{Cpu, HostQuantity},
    model::NetworkModel,
};
use migsim_base::units::{HostId, greater, to_u32};

/// Maximum number of changes of a host's speed during computations. With more changes, simulation by events detects sooner that
/// the run cannot continue.
const MAX_SPEED_CHANGES: usize = 1_000_000;

/// No message.
pub(super) const NONE: u32 = u32::MAX;

/// The work of each process, one piece at a time.
pub(super) trait Turns {
    /// A process gets `work`; returns the work that it starts now, if it is not busy \[instructions\].
    fn take(&mut self, process: u32, work: f64) -> Option<f64>;

    /// The work of a process ends at local time `time` \[s\]; returns the work that follows \[instructions\].
    fn end(&mut self, process: u32, time: f64) -> Option<f64>;
}

/// The messages that processes send or receive, in lists by process, and the processor times of their ends.
#[derive(Clone, Debug, Default)]
pub(super) struct MessageLists {
    /// For each process, its first message.
    pub(super) first: Vec<u32>,
    /// For each message, the next message of the same process.
    pub(super) next: Vec<u32>,
}

impl MessageLists {
    /// Links the messages of each process, the sender or the receiver of a message by `process_of`.
    pub(super) fn link(
        &mut self,
        processes: usize,
        messages: &[Message],
        process_of: impl Fn(&Message) -> usize,
    ) {
        self.clear(processes, messages.len());
        for (index, message) in messages.iter().enumerate().rev() {
            self.push(process_of(message), index);
        }
    }

    pub(super) fn clear(&mut self, processes: usize, messages: usize) {
        self.first.clear();
        self.first.resize(processes, NONE);
        self.next.clear();
        self.next.resize(messages, NONE);
    }

    #[inline]
    pub(super) fn push(&mut self, process: usize, message: usize) {
        self.next[message] = std::mem::replace(&mut self.first[process], to_u32(message));
    }

    /// Returns the messages of a process, in order.
    pub(super) fn of_process(&self, process: u32) -> impl Iterator<Item = usize> + '_ {
        let message = |index: u32| (index != NONE).then_some(index);
        std::iter::successors(message(self.first[process as usize]), move |&index| {
            message(self.next[index as usize])
        })
        .map(|index| index as usize)
    }
}

/// Computations, and then sends in their order.
#[derive(Debug)]
pub(super) struct Sends<'a> {
    pub(super) lists: &'a mut MessageLists,
    pub(super) messages: &'a [Message],
    pub(super) placement: &'a [HostId],
    pub(super) model: &'a NetworkModel,
    /// Nominal speed of the host \[instructions/s\].
    pub(super) nominal_speed: f64,
    /// The end of the computation of each process; NaN until it has ended \[s\].
    pub(super) computed: &'a mut [f64],
    /// The start of each message \[s\].
    pub(super) started: &'a mut [f64],
    /// The end of the last send of each process \[s\].
    pub(super) sent: &'a mut [f64],
}

impl Sends<'_> {
    /// Returns the work of the next send of a process; messages without one start at local time `time` \[s\].
    pub(super) fn next_work(&mut self, process: usize, time: f64) -> Option<f64> {
        let mut next = *self.lists.first.get(process)?;
        while next != NONE {
            let send = self.send_time(process, &self.messages[next as usize]);
            if send > 0.0 {
                return Some(send * self.nominal_speed);
            }
            self.start_next(process, time);
            next = self.lists.first[process];
        }
        self.sent[process] = time;
        None
    }
}

impl Sends<'_> {
    /// Returns the time at which a process has sent all its messages, if it has a core of this speed to itself
    /// \[instructions/s\].
    pub(super) fn last_send(&self, process: u32, speed: f64) -> f64 {
        let times = self.lists.of_process(process).map(|message| {
            let message = &self.messages[message];
            self.send_time(process as usize, message)
        });
        self.computed[process as usize] + times.sum::<f64>() * self.nominal_speed / speed
    }

    fn send_time(&self, process: usize, message: &Message) -> f64 {
        let is_inside = self.placement[process] == self.placement[message.to.index()];
        let (send, _) = self.model.processor_times(is_inside, message.size.get());
        send
    }

    /// Computes the start of each message of a process that has a core of this speed to itself \[instructions/s\].
    pub(super) fn spend_alone(&mut self, process: usize, speed: f64) {
        let mut time = self.computed[process];
        while let Some(work) = self.next_work(process, time) {
            time += work / speed;
            self.start_next(process, time);
        }
    }

    fn start_next(&mut self, process: usize, time: f64) {
        let next = &mut self.lists.first[process];
        self.started[*next as usize] = time;
        *next = self.lists.next[*next as usize];
    }
}

impl Turns for Sends<'_> {
    fn take(&mut self, _process: u32, work: f64) -> Option<f64> {
        Some(work)
    }

    fn end(&mut self, process: u32, time: f64) -> Option<f64> {
        let process = process as usize;
        if self.computed[process].is_nan() {
            self.computed[process] = time;
        } else {
            self.start_next(process, time);
        }
        self.next_work(process, time)
    }
}

/// Receives: a process takes the work of one message after the other.
#[derive(Debug)]
pub(super) struct Receives<'a> {
    /// Work that waits for each process \[instructions\]; NaN for a process that receives nothing at present.
    pub(super) waiting: &'a mut [f64],
    /// The end of the last receive of each process \[s\].
    pub(super) received: &'a mut [f64],
}

impl Turns for Receives<'_> {
    fn take(&mut self, process: u32, work: f64) -> Option<f64> {
        let waiting = &mut self.waiting[process as usize];
        if waiting.is_nan() {
            *waiting = 0.0;
            return Some(work);
        }
        *waiting += work;
        None
    }

    fn end(&mut self, process: u32, time: f64) -> Option<f64> {
        let waiting = &mut self.waiting[process as usize];
        if *waiting > 0.0 {
            return Some(std::mem::take(waiting));
        }
        *waiting = f64::NAN;
        let received = &mut self.received[process as usize];
        *received = greater(time, *received);
        None
    }
}

/// Simulates a host whose processes get work at given times, as time \[s\], work and process in the order of time. Quantities of
/// the host change at the times `changes`; at the times `prior` the number of executions that go first changes \[s\]. Returns the
/// time of the last end, or `None` if some work does not end.
pub(super) fn simulate_host(
    (cpu, ended): (&mut Cpu<u32>, &mut Vec<u32>),
    coming: &[(f64, f64, u32)],
    (changes, prior): (
        impl Iterator<Item = (f64, HostQuantity, f64)>,
        &[(f64, f64)],
    ),
    turns: &mut impl Turns,
) -> Option<f64> {
    let mut changes = changes.take(MAX_SPEED_CHANGES + 1).peekable();
    let (mut coming, mut prior) = (coming.iter().peekable(), prior.iter().peekable());
    let (mut last, mut count) = (f64::NEG_INFINITY, 0);
    loop {
        let end = cpu.next_end_time();
        let begin = coming.peek().map(|next| next.0);
        let next = end.unwrap_or(f64::INFINITY);
        if end.is_none() && begin.is_none() {
            return Some(last);
        }
        let until = next.min(begin.unwrap_or(f64::INFINITY));
        let change = changes.peek().map_or(f64::INFINITY, |change| change.0);
        if let Some(&(time, more)) = prior.next_if(|step| step.0 <= change && step.0 < until) {
            cpu.add_prior_executions(more, time);
        } else if let Some((time, quantity, value)) = changes.next_if(|change| change.0 < until) {
            cpu.set_quantity(quantity, value, time);
            count += 1;
            if count >= MAX_SPEED_CHANGES {
                return None;
            }
        } else if let Some(&(begin, work, process)) =
            coming.next_if(|coming| coming.0 <= next && coming.0.is_finite())
        {
            if let Some(work) = turns.take(process, work) {
                cpu.start_execution(work, process, begin);
            }
        } else if next.is_finite() {
            cpu.end_executions(next, |process| ended.push(process));
            for process in ended.drain(..) {
                if let Some(work) = turns.end(process, next) {
                    cpu.start_execution(work, process, next);
                }
            }
            last = next;
        } else {
            return None;
        }
    }
}
