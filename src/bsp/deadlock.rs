//! A run that cannot go on: who waits for what.

use super::runtime::{Runtime, Stage};
use crate::error::{Error, Problem};

/// How many processes are named.
const NAMED: usize = 6;

impl Runtime<'_, '_> {
    /// The error of a run in which nothing is in progress although processes have not finished.
    pub(super) fn deadlock(&self) -> Error {
        let stuck: Vec<usize> = (0..self.stage.len())
            .filter(|&process| self.stage[process] != Stage::Finished)
            .collect();
        // Those at the barrier only wait for the others: name the others first.
        let waits_at_barrier =
            |process: &usize| matches!(self.stage[*process], Stage::AtBarrier | Stage::Waiting);
        let (at_barrier, blocked): (Vec<usize>, Vec<usize>) =
            stuck.iter().partition(|process| waits_at_barrier(process));
        let mut waits: Vec<String> = blocked
            .iter()
            .take(NAMED)
            .map(|&process| self.waits_for(process))
            .collect();
        if blocked.len() > NAMED {
            waits.push(format!("{} more wait like this", blocked.len() - NAMED));
        }
        if !at_barrier.is_empty() {
            waits.push(format!("{} wait at the barrier", at_barrier.len()));
        }
        let message = format!(
            "deadlock in superstep {} at {}: {} of {} processes wait for ever: {}",
            self.superstep() + 1,
            self.engine.now(),
            stuck.len(),
            self.stage.len(),
            waits.join("; "),
        );
        let hint = "blocking sends with late receives need an order in which some receiver is always ready: use \
                    `sends: concurrent` or `receives: early`";
        Error::Run(Problem::new(message).key("runtime.sends").hint(hint))
    }

    fn waits_for(&self, process: usize) -> String {
        let number = process + 1;
        match self.stage[process] {
            Stage::Sending => {
                let id = u32::try_from(process).expect("processes have u32 ids");
                let to = self.exchange.last_taken(id).map_or(0, |message| {
                    self.plan.messages[message as usize].to.index() + 1
                });
                format!("process {number} sends to process {to} and waits until it receives")
            }
            Stage::Receiving => format!(
                "process {number} waits for {} messages",
                self.exchange.awaited[process]
            ),
            Stage::Computing => format!("process {number} computes"),
            Stage::AtBarrier | Stage::Waiting | Stage::Finished => {
                format!("process {number} waits at the barrier")
            }
        }
    }
}
