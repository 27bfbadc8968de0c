//! Scripts in waves: the notices of a barrier in an order in which each is sent after all that its sender waits for.
//!
//! ```text
//! sent(n)   = t(from) + time(n)                 wave by wave: first all notices that can be sent,
//! t(to)     = max(t(to), sent(n))               then all receives whose notices were
//! t         = the arrivals before the first wave, and when each process leaves after the last one
//! ```
//! The wave of a notice changes the cost alone. Notices of one slot go together: a round in which all processes exchange notices at one
//! distance is a loop over pairs of blocks.
//!
//! Cost: 5 instructions a notice in such rounds, 10 where processes send to as many others in their order, 25 otherwise.

use super::script::{Action, Script};
use migsim_base::units::{greater, to_u32};

/// A script of more notices has no waves: they would take too much memory.
const MOST_NOTICES: usize = 1_000_000;

/// A script in waves.
#[derive(Clone, Debug, Default)]
pub(super) struct Waves {
    ends: Vec<Wave>,
    notices: Vec<Notice>,
    /// Per notice: from sending to delivery \[s\].
    duration: Vec<f64>,
    receives: Vec<Receive>,
}

/// Ends of parts of the lists of notices and receives.
#[derive(Clone, Copy, Debug)]
struct Wave {
    notices: usize,
    receives: usize,
    shape: Shape,
}

/// The senders and receivers of a wave.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    /// Process p sends to p xor this number, which is a power of two, and receives from there: each of the first so many processes.
    Exchange(usize),
    /// Processes from the first one on send to as many from the second one on, in their order, who receive that. After the last process
    /// comes process 0.
    Rows { from: usize, to: usize },
    /// As the lists say.
    Listed,
}

/// A notice of a process to another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Notice {
    pub(super) from: u32,
    pub(super) to: u32,
    /// Whether it keeps a connection awake for messages that slow start could hold up.
    pub(super) is_noted: bool,
}

#[derive(Clone, Copy, Debug)]
struct Receive {
    process: u32,
    notice: u32,
}

impl Waves {
    /// The waves of a script, if it has not too many notices.
    pub(super) fn of(script: &Script, processes: u32) -> Option<Self> {
        let mut waves = Self::default();
        let mut reading = Reading::new(script, processes);
        let mut ready: Vec<u32> = (0..processes).collect();
        while let Some(slot) = ready
            .iter()
            .filter_map(|&process| reading.slot(process))
            .min()
        {
            let (first, first_receive) = (waves.notices.len(), waves.receives.len());
            for &process in &ready {
                if reading.slot(process) == Some(slot) {
                    reading.send(process, &mut waves.notices);
                }
            }
            if waves.notices.len() > MOST_NOTICES {
                return None;
            }
            ready.extend(waves.notices[first..].iter().map(|notice| notice.to));
            ready.sort_unstable();
            ready.dedup();
            ready.retain(|&process| {
                reading.receive(process, &mut waves.receives);
                reading.slot(process).is_some()
            });
            // A process takes the latest of its notices, in whatever order.
            let received = &mut waves.receives[first_receive..];
            received.sort_unstable_by_key(|received| received.notice);
            let shape = shape(processes, (first, &waves.notices[first..]), received);
            waves.ends.push(Wave {
                notices: waves.notices.len(),
                receives: waves.receives.len(),
                shape,
            });
        }
        waves.duration.resize(waves.notices.len(), 0.0);
        Some(waves)
    }

    pub(super) fn notices(&self) -> &[Notice] {
        &self.notices
    }

    /// Each notice, and what it takes \[s\].
    pub(super) fn durations(&mut self) -> impl Iterator<Item = (&mut Notice, &mut f64)> {
        self.notices.iter_mut().zip(&mut self.duration)
    }

    /// From the local dates of arrivals to those at which the processes leave \[s\]; `delivered` gets those of the notices.
    pub(super) fn pass(&self, dates: &mut [f64], delivered: &mut [f64]) {
        let (mut notice, mut receive) = (0, 0);
        for wave in &self.ends {
            let part = notice..wave.notices;
            let row = (&self.duration[part.clone()], &mut delivered[part.clone()]);
            match wave.shape {
                Shape::Exchange(distance) => exchange(distance, dates, row),
                Shape::Rows { from, to } => send_in_rows((from, to), dates, row),
                Shape::Listed => {
                    let sent = self.notices[part].iter().zip(row.0);
                    for (date, (sent, duration)) in row.1.iter_mut().zip(sent) {
                        *date = dates[sent.from as usize] + duration;
                    }
                    for received in &self.receives[receive..wave.receives] {
                        let date = &mut dates[received.process as usize];
                        *date = greater(delivered[received.notice as usize], *date);
                    }
                }
            }
            (notice, receive) = (wave.notices, wave.receives);
        }
    }
}

/// How far each process has come in its script.
#[derive(Debug)]
struct Reading<'s> {
    script: &'s Script,
    at: Vec<u32>,
    /// Per process: the notices that it has not received yet, by slot.
    here: Vec<Vec<(u32, u32)>>,
}

impl<'s> Reading<'s> {
    fn new(script: &'s Script, processes: u32) -> Self {
        Self {
            script,
            at: vec![0; processes as usize],
            here: vec![Vec::new(); processes as usize],
        }
    }

    /// What a process does next.
    fn next(&self, process: u32) -> Option<Action> {
        self.script.action(process, self.at[process as usize])
    }

    /// The slot of the notice that a process sends next, if it does not wait.
    fn slot(&self, process: u32) -> Option<u32> {
        match self.next(process) {
            Some(Action::Send { slot, .. }) => Some(slot),
            _ => None,
        }
    }

    /// Adds the notices that a process sends before it waits.
    fn send(&mut self, process: u32, notices: &mut Vec<Notice>) {
        while let Some(Action::Send { to, slot }) = self.next(process) {
            self.at[process as usize] += 1;
            self.here[to as usize].push((slot, to_u32(notices.len())));
            notices.push(Notice {
                from: process,
                to,
                is_noted: false,
            });
        }
    }

    /// Adds what a process receives before it sends or waits.
    fn receive(&mut self, process: u32, receives: &mut Vec<Receive>) {
        while let Some(Action::Receive { slot }) = self.next(process) {
            let here = &mut self.here[process as usize];
            let Some(found) = here.iter().position(|notice| notice.0 == slot) else {
                return;
            };
            let (_, notice) = here.swap_remove(found);
            receives.push(Receive { process, notice });
            self.at[process as usize] += 1;
        }
    }
}

/// The shape of a wave among so many processes: its notices, numbered from `first` on, and its receives by their notices.
fn shape(processes: u32, (first, notices): (usize, &[Notice]), receives: &[Receive]) -> Shape {
    let sent = to_u32(first)..to_u32(first + notices.len());
    if !sent.eq(receives.iter().map(|received| received.notice)) {
        return Shape::Listed;
    }
    let Some(&Notice { from, to, .. }) = notices.first() else {
        return Shape::Listed;
    };
    let have_ends = |ends: &dyn Fn(u32) -> (u32, u32)| {
        let mut numbered = (0..).zip(notices);
        numbered.all(|(at, notice)| (notice.from, notice.to) == ends(at))
    };
    let distance = from ^ to;
    let is_whole =
        distance.is_power_of_two() && notices.len().is_multiple_of(2 * distance as usize);
    if is_whole && have_ends(&|at| (at, at ^ distance)) {
        Shape::Exchange(distance as usize)
    } else if have_ends(&|at| (from + at, (to + at) % processes)) {
        Shape::Rows {
            from: from as usize,
            to: to as usize,
        }
    } else {
        Shape::Listed
    }
}

/// The notices of a wave: what they take \[s\], and the local dates of their deliveries.
type Row<'a> = (&'a [f64], &'a mut [f64]);

/// Each process exchanges notices with that whose number differs by `distance`, a power of two.
fn exchange(distance: usize, dates: &mut [f64], row: Row<'_>) {
    match distance {
        1 => exchange_near::<1>(dates, row),
        2 => exchange_near::<2>(dates, row),
        4 => exchange_near::<4>(dates, row),
        _ => exchange_far(distance, dates, row),
    }
}

/// The same for processes that are N apart.
fn exchange_near<const N: usize>(dates: &mut [f64], (duration, delivered): Row<'_>) {
    let dates = dates.as_chunks_mut::<N>().0.as_chunks_mut::<2>().0;
    let duration = duration.as_chunks::<N>().0.as_chunks::<2>().0;
    let delivered = delivered.as_chunks_mut::<N>().0.as_chunks_mut::<2>().0;
    for (([a, b], [from_a, from_b]), [of_a, of_b]) in dates.iter_mut().zip(duration).zip(delivered)
    {
        exchange_blocks((a, b), (from_a, from_b), (of_a, of_b));
    }
}

/// The same for processes that are a multiple of 8 apart.
fn exchange_far(distance: usize, dates: &mut [f64], (duration, delivered): Row<'_>) {
    let dates = dates.chunks_exact_mut(2 * distance);
    let duration = duration.chunks_exact(2 * distance);
    let delivered = delivered.chunks_exact_mut(2 * distance);
    for ((dates, duration), delivered) in dates.zip(duration).zip(delivered) {
        let (dates, duration, delivered) = (
            dates.split_at_mut(distance),
            duration.split_at(distance),
            delivered.split_at_mut(distance),
        );
        let dates = blocks_mut(dates.0).zip(blocks_mut(dates.1));
        let duration = duration
            .0
            .as_chunks()
            .0
            .iter()
            .zip(duration.1.as_chunks().0);
        let delivered = blocks_mut(delivered.0).zip(blocks_mut(delivered.1));
        for ((dates, duration), delivered) in dates.zip(duration).zip(delivered) {
            exchange_blocks(dates, duration, delivered);
        }
    }
}

fn blocks_mut(values: &mut [f64]) -> impl Iterator<Item = &mut [f64; 8]> {
    values.as_chunks_mut().0.iter_mut()
}

/// The processes of two blocks exchange notices, one by one. All is read before anything is written, so that several go at once.
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

/// Processes from `from` on send to as many from `to` on.
fn send_in_rows((from, to): (usize, usize), dates: &mut [f64], (duration, delivered): Row<'_>) {
    let senders = dates[from..].iter().zip(duration);
    for (delivered, (date, duration)) in delivered.iter_mut().zip(senders) {
        *delivered = date + duration;
    }
    let (of_first, of_last) = dates.split_at_mut(to);
    let (to_last, to_first) = delivered.split_at(delivered.len().min(of_last.len()));
    receive(of_last, to_last);
    receive(of_first, to_first);
}

/// Processes receive a notice each.
fn receive(dates: &mut [f64], delivered: &[f64]) {
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
                let script = Script::new(kind, processes);
                let found = Waves::of(&script, processes).expect("few notices");
                let mut times = vec![0; found.notices.len()];
                let mut receive = 0;
                for wave in &found.ends {
                    for received in &found.receives[receive..wave.receives] {
                        let notice = received.notice as usize;
                        assert!(notice < wave.notices);
                        assert_eq!(found.notices[notice].to, received.process);
                        times[notice] += 1;
                    }
                    receive = wave.receives;
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
                let script = Script::new(kind, processes);
                let mut shaped = Waves::of(&script, processes).expect("few notices");
                for (at, duration) in (1_u32..).zip(&mut shaped.duration) {
                    *duration = f64::from(at * 7919 % 1009);
                }
                let mut listed = shaped.clone();
                for wave in &mut listed.ends {
                    wave.shape = Shape::Listed;
                }
                let arrival: Vec<f64> = (1..=processes)
                    .map(|process| f64::from(process * 6101 % 997))
                    .collect();
                let [a, b] = [shaped, listed].map(|waves| {
                    let mut dates = arrival.clone();
                    let mut delivered = vec![0.0; waves.notices.len()];
                    waves.pass(&mut dates, &mut delivered);
                    (dates, delivered)
                });
                assert_eq!(a, b, "{kind:?} {processes}");
            }
        }
    }

    #[test]
    fn rounds_of_recursive_doubling_are_exchanges() {
        for processes in [8, 50, 64, 100] {
            let script = Script::new(BarrierKind::RecursiveDoubling, processes);
            let waves = Waves::of(&script, processes).expect("few notices");
            let shapes = waves.ends.iter().map(|wave| wave.shape);
            let core = 1 << processes.ilog2();
            let partners = processes as usize - core;
            let rows = |from, to| std::iter::repeat_n(Shape::Rows { from, to }, partners.min(1));
            let distances = (0..processes.ilog2()).map(|round| Shape::Exchange(1 << round));
            let expected = rows(core, 0).chain(distances).chain(rows(0, core));
            let expected = expected.chain(rows(core, 0));
            assert!(shapes.eq(expected), "{processes}: {:?}", waves.ends);
        }
    }

    #[test]
    fn rounds_of_dissemination_are_rows() {
        for processes in [7, 50, 100_usize] {
            let count = to_u32(processes);
            let script = Script::new(BarrierKind::Dissemination, count);
            let waves = Waves::of(&script, count).expect("few notices");
            let shapes = waves.ends.iter().map(|wave| wave.shape);
            let rounds = processes.next_power_of_two().ilog2();
            let distances = (0..rounds).map(|round| 1 << round);
            let expected = distances.map(|to| Shape::Rows { from: 0, to });
            assert!(shapes.eq(expected), "{processes}: {:?}", waves.ends);
        }
    }

    #[test]
    fn a_barrier_of_very_many_notices_is_not_foreseen() {
        let script = Script::new(BarrierKind::Dissemination, 100_000);
        assert!(Waves::of(&script, 100_000).is_none());
    }
}
