//! The activities in progress, which the trace of the critical path finds by the tokens with which they were started.

use std::collections::BTreeMap;

use super::trace::Running;
use crate::event::{BarrierMessage, Token};
use migsim_base::units::{LinkId, to_u32};

/// Index that means that there is no activity.
const NONE: u32 = u32::MAX;
/// Number of kinds of tokens that contain no number or one number.
const KINDS: usize = 9;

/// The activities that are in progress. If several activities have the same token, they end in the order in which they started.
#[derive(Clone, Debug, Default)]
pub(super) struct InProgress {
    slots: Vec<Slot>,
    unused_slots: Vec<u32>,
    /// For each kind of token and each number in a token of this kind, the first and the last slot in the queue of the activities
    /// with this token.
    queues: [Vec<(u32, u32)>; KINDS],
    /// For each token that contains several numbers, the first and the last slot in the queue of the activities with that token.
    queues_of_rounds: BTreeMap<Token, (u32, u32)>,
}

/// Storage for one activity in progress; the slot is unused if `running_activity` is `None`.
#[derive(Clone, Debug)]
struct Slot {
    running: Option<Running>,
    /// Index of the slot of the next activity with the same token.
    next_slot: u32,
    /// The links that the message of the activity uses, in the order of its route.
    links: Vec<LinkId>,
}

/// Returns the kind of a token and the number in it; `None` if the token contains several numbers.
fn kind_and_number(token: &Token) -> Option<(usize, u32)> {
    Some(match *token {
        Token::Begins(process) => (0, process),
        Token::Computed(process) => (1, process),
        Token::Delivered(message) => (2, message),
        Token::Call => (3, 0),
        Token::Turn(manager) => (4, manager),
        Token::Transferred(index) => (5, index),
        Token::Settled(index) => (6, index),
        Token::Barrier(BarrierMessage::Arrived(process)) => (7, process),
        Token::Barrier(BarrierMessage::Leave(process)) => (8, process),
        Token::Barrier(BarrierMessage::Round { .. }) => return None,
    })
}

impl InProgress {
    /// Adds an activity that starts now. Returns the list of links of the activity, which is empty, so that the caller can add
    /// the links that the activity uses.
    pub(super) fn add_activity(&mut self, token: Token, running: Running) -> &mut Vec<LinkId> {
        let slot = self.unused_slots.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                running: None,
                next_slot: NONE,
                links: Vec::new(),
            });
            to_u32(self.slots.len() - 1)
        });
        let queue = match kind_and_number(&token) {
            Some((kind, number)) => {
                let queues = &mut self.queues[kind];
                let number = number as usize;
                if queues.len() <= number {
                    queues.resize(number + 1, (NONE, NONE));
                }
                &mut queues[number]
            }
            None => self.queues_of_rounds.entry(token).or_insert((NONE, NONE)),
        };
        let last = std::mem::replace(&mut queue.1, slot);
        if last == NONE {
            queue.0 = slot;
        } else {
            self.slots[last as usize].next_slot = slot;
        }
        let own = &mut self.slots[slot as usize];
        own.running = Some(running);
        own.next_slot = NONE;
        own.links.clear();
        &mut own.links
    }

    /// Removes the earliest activity with this token. Returns the activity and the links that it uses; `None` if no activity has
    /// this token.
    pub(super) fn remove_activity(&mut self, token: Token) -> Option<(Running, &[LinkId])> {
        let queue = match kind_and_number(&token) {
            Some((kind, number)) => self.queues[kind].get_mut(number as usize)?,
            None => self.queues_of_rounds.get_mut(&token)?,
        };
        let slot = queue.0;
        let own = self.slots.get_mut(slot as usize)?;
        let running = own.running.take()?;
        queue.0 = own.next_slot;
        if queue.0 == NONE {
            queue.1 = NONE;
            if kind_and_number(&token).is_none() {
                self.queues_of_rounds.remove(&token);
            }
        }
        self.unused_slots.push(slot);
        Some((running, &own.links))
    }
}
