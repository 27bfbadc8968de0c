//! The load since the last rescheduling call: the mean work and the mean messages of a superstep.
//!
//! `w_i = Σ_t w_it / n` over the n supersteps since the last call, or since the start without one. A single superstep says little of an
//! application whose work changes from one to the next: a process of LU without work in one of them has work in others.

use std::collections::BTreeMap;

use super::View;
use super::strategy::Row;
use migsim_base::units::{Bytes, Instructions};

/// The measures since the last call.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    supersteps: usize,
    /// The instructions of each process, summed.
    work: Vec<f64>,
    /// Messages and bytes by sender and receiver, summed.
    messages: BTreeMap<(usize, usize), (f64, f64)>,
}

impl Window {
    /// Takes note of the superstep that has just ended, of its messages only on demand.
    pub(super) fn note(&mut self, view: &View<'_>, needs_communication: bool) {
        self.supersteps += 1;
        self.work.resize(view.processes(), 0.0);
        for (sum, work) in self.work.iter_mut().zip(&view.measures.work) {
            *sum += work.get();
        }
        if !needs_communication {
            return;
        }
        for message in view.messages {
            let pair = (message.from.index(), message.to.index());
            let (count, bytes) = self.messages.entry(pair).or_default();
            *count += 1.0;
            *bytes += message.size.get();
        }
    }

    /// Whether no superstep has ended since the last call.
    pub(super) fn is_empty(&self) -> bool {
        self.supersteps == 0
    }

    /// The mean work of a process in a superstep.
    pub(super) fn work(&self, process: usize) -> Instructions {
        Instructions::of(self.work[process] / self.supersteps as f64)
    }

    /// The mean messages of a superstep between the processes `movable`, numbered by their place in it, by sender and receiver.
    pub(super) fn rows(&self, movable: &[usize]) -> Vec<Row> {
        let count = self.supersteps as f64;
        let place = |process: usize| movable.binary_search(&process).ok();
        let row = |(&(from, to), &(messages, bytes)): (&(usize, usize), &(f64, f64))| {
            Some(Row {
                from: place(from)?,
                to: place(to)?,
                messages: messages / count,
                bytes: Bytes::of(bytes / count),
            })
        };
        self.messages.iter().filter_map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measures, testing};
    use migsim_base::units::{HostId, ProcessId};
    use migsim_bsp::Message;

    #[test]
    fn work_and_messages_are_means_of_the_supersteps_that_were_noted() {
        let platform = migsim_platform::open("lbm").unwrap().platform;
        let placement = [0, 1].map(HostId::from_index);
        let mut window = Window::default();
        assert!(window.is_empty());
        for (work, bytes) in [([4.0, 0.0], 10.0), ([0.0, 4.0], 30.0)] {
            let mut measures = Measures::default();
            measures.clear(2);
            measures.work = work.map(Instructions::of).to_vec();
            let messages = [Message {
                from: ProcessId(0),
                to: ProcessId(1),
                size: Bytes::of(bytes),
            }];
            let view = View {
                messages: &messages,
                ..testing::view(&platform, &placement, &measures)
            };
            window.note(&view, true);
        }
        // (4 + 0) / 2 and (0 + 4) / 2: neither process is without work.
        assert_eq!([0, 1].map(|process| window.work(process).get()), [2.0, 2.0]);
        let [row] = window.rows(&[0, 1])[..] else {
            panic!("one pair of processes")
        };
        assert_eq!((row.messages, row.bytes.get()), (1.0, 20.0));
        // Who may not move is no part of the rows.
        assert!(window.rows(&[1]).is_empty());
    }
}
