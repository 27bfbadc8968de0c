//! Barriers that are foreseen: when each process leaves follows from the arrivals, with no event for each notice.
//!
//! ```text
//! sent(n)   = t(from) + time(n)                 wave by wave: first all notices that can be sent,
//! t(to)     = max(t(to), sent(n))               then all receives whose notices were
//! t         = the arrivals before the first wave, and when each process leaves after the last one
//! ```
//! The notices are packets ([`super::packets`]), so that none waits for another one but by the script. All arrive before anybody leaves.
//!
//! The wave of a notice changes the cost alone. Notices of one slot go together: a round in which all processes exchange notices at one
//! distance is a loop over pairs of blocks.
//!
//! Cost: 5 instructions a notice in such rounds, 10 where processes send to as many others in their order, 25 otherwise. Twin: the script by
//! events ([`super::barrier`]), which barriers of very many notices take, too.

use std::cmp::Reverse;
use std::sync::Arc;

use super::event::Token;
use super::packets::Packets;
use super::script::{Action, Script};
use super::shortcut::are_equal;
use crate::engine::Simulation;
use crate::platform::Platform;
use crate::units::{HostId, greater, lesser, to_u32};

/// A barrier of more notices is not foreseen: its waves would take too much memory.
const MOST_NOTICES: usize = 1_000_000;

/// A barrier that is foreseen.
#[derive(Debug)]
pub(super) struct Foreseen {
    waves: Waves,
    packets: Packets,
    /// The places of the processes for which the durations of the notices hold.
    placement: Vec<HostId>,
    /// The notices that keep a connection awake, and that connection; none until the engine has been asked for connections.
    noted: Option<Noted>,
    /// Per notice: the local date of its delivery \[s\].
    delivered: Vec<f64>,
    /// Per process: the local date of its arrival, then that at which it leaves \[s\].
    date: Vec<f64>,
    /// The number of processes that have arrived.
    arrived: usize,
}

/// Pairs of a notice and its connection.
#[derive(Debug)]
enum Noted {
    /// The last notice of each connection, all of which one process sends: the others are before it, in this barrier and in those before.
    Last(Arc<[(u32, u32)]>),
    /// Several processes send over one connection.
    All(Vec<(u32, u32)>),
}

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

#[derive(Clone, Copy, Debug)]
struct Notice {
    from: u32,
    to: u32,
    /// Whether it keeps a connection awake for messages that slow start could hold up.
    is_noted: bool,
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

impl Foreseen {
    /// A barrier of these waves.
    pub(super) fn new(waves: Waves, processes: u32, packets: Packets) -> Self {
        Self {
            delivered: vec![0.0; waves.notices.len()],
            waves,
            packets,
            placement: Vec::new(),
            noted: None,
            date: vec![0.0; processes as usize],
            arrived: 0,
        }
    }

    /// The number of its notices.
    pub(super) fn notices(&self) -> u64 {
        self.waves.notices.len() as u64
    }

    /// A process arrives; whether it is the last one.
    pub(super) fn arrive(&mut self, process: u32, now: f64) -> bool {
        self.date[process as usize] = now;
        self.arrived += 1;
        let are_all_here = self.arrived == self.date.len();
        if are_all_here {
            self.arrived = 0;
        }
        are_all_here
    }

    /// Takes the arrivals of all processes.
    pub(super) fn arrive_all(&mut self, arrival: &[f64]) {
        self.date.copy_from_slice(arrival);
    }

    /// All have arrived: the local date at which the first process leaves \[s\]. `later` gets the time after it at which each one does \[s\].
    ///
    /// # Errors
    /// The hosts of a notice between which there is no route.
    pub(super) fn leave(
        &mut self,
        (platform, placement): (&Platform, &[HostId]),
        later: &mut Vec<f64>,
    ) -> Result<f64, (HostId, HostId)> {
        if !are_equal(&self.placement, placement) {
            self.settle(platform, placement)?;
        }
        let Waves {
            ends,
            notices,
            duration,
            receives,
        } = &self.waves;
        let dates = &mut self.date[..];
        let (mut notice, mut receive) = (0, 0);
        for wave in ends {
            let part = notice..wave.notices;
            let row = (&duration[part.clone()], &mut self.delivered[part.clone()]);
            match wave.shape {
                Shape::Exchange(distance) => exchange(distance, dates, row),
                Shape::Rows { from, to } => send_in_rows((from, to), dates, row),
                Shape::Listed => {
                    let sent = notices[part].iter().zip(row.0);
                    for (date, (sent, duration)) in row.1.iter_mut().zip(sent) {
                        *date = dates[sent.from as usize] + duration;
                    }
                    for received in &receives[receive..wave.receives] {
                        let date = &mut dates[received.process as usize];
                        *date = greater(self.delivered[received.notice as usize], *date);
                    }
                }
            }
            (notice, receive) = (wave.notices, wave.receives);
        }
        let first = self.date.iter().copied().fold(f64::INFINITY, lesser);
        // Infinite dates have no difference.
        let after = |&date: &f64| if date > first { date - first } else { 0.0 };
        later.clear();
        later.extend(self.date.iter().map(after));
        Ok(first)
    }

    /// Measures the notices between the places of the processes.
    fn settle(
        &mut self,
        platform: &Platform,
        placement: &[HostId],
    ) -> Result<(), (HostId, HostId)> {
        let before = std::mem::take(&mut self.placement);
        let has_moved = |process: u32| {
            let process = process as usize;
            before.get(process) != Some(&placement[process])
        };
        let Waves {
            notices, duration, ..
        } = &mut self.waves;
        for (notice, duration) in notices.iter_mut().zip(duration) {
            if has_moved(notice.from) || has_moved(notice.to) {
                let ends = (
                    placement[notice.from as usize],
                    placement[notice.to as usize],
                );
                let packet = self.packets.packet(platform, ends);
                let packet = packet.ok_or(ends)?;
                (*duration, notice.is_noted) = (packet.duration, packet.is_noted);
            }
        }
        self.noted = None;
        self.placement = before;
        self.placement.clear();
        self.placement.extend_from_slice(placement);
        Ok(())
    }

    /// Tells the engine of the notices that keep connections awake; all were delivered, or will be without it.
    pub(super) fn note(&mut self, engine: &mut Simulation<'_, Token>) {
        let Self {
            waves,
            placement,
            delivered,
            ..
        } = self;
        let noted = self
            .noted
            .get_or_insert_with(|| noted(&waves.notices, placement, engine));
        match noted {
            Noted::Last(last) => engine.note_all(last, delivered),
            Noted::All(all) => {
                for &(notice, connection) in &*all {
                    engine.note_connection(connection, delivered[notice as usize]);
                }
            }
        }
    }
}

/// Asks the engine for the connections of notices.
fn noted(notices: &[Notice], placement: &[HostId], engine: &mut Simulation<'_, Token>) -> Noted {
    let place = |process: u32| placement[process as usize];
    let numbered = (0..).zip(notices);
    let of_connections = numbered.filter(|(_, notice)| notice.is_noted);
    let mut all: Vec<(u32, u32)> = of_connections
        .filter_map(|(number, notice)| {
            let ends = (place(notice.from), place(notice.to));
            Some((number, engine.connection(ends)?))
        })
        .collect();
    all.sort_unstable_by_key(|&(notice, connection)| (connection, Reverse(notice)));
    let sender = |notice: u32| notices[notice as usize].from;
    let mut connections = all.chunk_by(|a, b| a.1 == b.1);
    let have_one_sender =
        connections.all(|group| group.iter().all(|one| sender(one.0) == sender(group[0].0)));
    if have_one_sender {
        all.dedup_by_key(|one| one.1);
        Noted::Last(all.into())
    } else {
        Noted::All(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsp::config::BarrierKind;
    use crate::engine::NetworkModel;
    use crate::engine::testing::line;
    use crate::units::Bytes;

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
                let platform = line(&[1e9], 1e6, 0.0);
                let places = vec![HostId(0); processes as usize];
                let arrival: Vec<f64> = (1..=processes)
                    .map(|process| f64::from(process * 6101 % 997))
                    .collect();
                let [a, b] = [shaped, listed].map(|waves| {
                    let model = NetworkModel::default();
                    let packets = Packets::new(&platform, model, Bytes::default());
                    let mut barrier = Foreseen::new(waves, processes, packets);
                    barrier.placement.clone_from(&places);
                    barrier.arrive_all(&arrival);
                    let mut later = Vec::new();
                    let first = barrier.leave((&platform, &places), &mut later);
                    (first.unwrap(), later, barrier.delivered)
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

    #[test]
    fn the_last_arrival_holds_all_and_nobody_leaves_before_it() {
        // Two processes 1 s apart by the latency of two links.
        let platform = line(&[1e9, 1e9], 1e6, 0.5);
        let script = Script::new(BarrierKind::Dissemination, 2);
        let waves = Waves::of(&script, 2).expect("few notices");
        let packets = Packets::new(&platform, NetworkModel::default(), Bytes::default());
        let mut barrier = Foreseen::new(waves, 2, packets);
        let mut later = Vec::new();
        for (arrival, places, first, expected) in [
            ([0.0, 5.0], [HostId(0), HostId(1)], 5.0, [1.0, 0.0]),
            // On one host they are no way apart.
            ([0.0, 5.0], [HostId(0); 2], 5.0, [0.0, 0.0]),
            // A date that no number can hold is after all others.
            (
                [0.0, f64::INFINITY],
                [HostId(0); 2],
                f64::INFINITY,
                [0.0, 0.0],
            ),
        ] {
            barrier.arrive_all(&arrival);
            assert_eq!(barrier.leave((&platform, &places), &mut later), Ok(first));
            assert_eq!(later, expected);
        }
    }
}
