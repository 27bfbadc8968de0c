//! Barriers that are foreseen: when each process leaves follows from the arrivals, with no event for each notice.
//!
//! The notices are packets ([`super::packets`]), so that none waits for another one but by the script, which goes in waves
//! ([`super::waves`]). All arrive before anybody leaves. Twin: the script by events ([`super::barrier`]), which barriers of very many notices
//! take, too.

use std::cmp::Reverse;
use std::sync::Arc;

use super::event::Token;
use super::packets::Packets;
use super::shortcut::are_equal;
use super::waves::{Notice, Waves};
use migsim_base::units::{HostId, lesser};
use migsim_engine::Simulation;
use migsim_platform::Platform;

/// A barrier that is foreseen.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
enum Noted {
    /// The last notice of each connection, all of which one process sends: the others are before it, in this barrier and in those before.
    Last(Arc<[(u32, u32)]>),
    /// Several processes send over one connection.
    All(Vec<(u32, u32)>),
}

impl Foreseen {
    /// A barrier of these waves.
    pub(super) fn new(waves: Waves, processes: u32, packets: Packets) -> Self {
        Self {
            delivered: vec![0.0; waves.notices().len()],
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
        self.waves.notices().len() as u64
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
        self.waves.pass(&mut self.date, &mut self.delivered);
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
        for (notice, duration) in self.waves.durations() {
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
            .get_or_insert_with(|| noted(waves.notices(), placement, engine));
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
    use crate::config::BarrierKind;
    use crate::script::Script;
    use migsim_base::units::Bytes;
    use migsim_engine::NetworkModel;
    use migsim_engine::testing::line;

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
