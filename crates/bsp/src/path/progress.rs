//! The activities in progress of a trace, which are found by their tokens.

use std::collections::BTreeMap;

use super::trace::Running;
use crate::event::{BarrierMessage, Token};
use migsim_base::units::{LinkId, to_u32};

/// Index that stands for no activity.
const NONE: u32 = u32::MAX;
/// Number of kinds of tokens that contain at most one number.
const KINDS: usize = 9;

/// The activities in progress. Activities with the same token end in the order in which they started.
#[derive(Clone, Debug, Default)]
pub(super) struct InProgress {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// By kind and number of the token: the first and the last activity in the queue of activities with that token.
    queues: [Vec<(u32, u32)>; KINDS],
    /// The same queues for tokens that contain several numbers.
    rounds: BTreeMap<Token, (u32, u32)>,
}

/// A slot for one activity, which is unused if `running` is `None`.
#[derive(Clone, Debug)]
struct Slot {
    running: Option<Running>,
    /// Index of the next activity with the same token.
    next: u32,
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
    /// Adds an activity that starts; returns the empty list in which the caller puts the links that it uses.
    pub(super) fn start(&mut self, token: Token, running: Running) -> &mut Vec<LinkId> {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                running: None,
                next: NONE,
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
            None => self.rounds.entry(token).or_insert((NONE, NONE)),
        };
        let last = std::mem::replace(&mut queue.1, slot);
        if last == NONE {
            queue.0 = slot;
        } else {
            self.slots[last as usize].next = slot;
        }
        let own = &mut self.slots[slot as usize];
        own.running = Some(running);
        own.next = NONE;
        own.links.clear();
        &mut own.links
    }

    /// Removes and returns the activity with this token that started first, with the links that it uses; `None` if there is none.
    pub(super) fn end(&mut self, token: Token) -> Option<(Running, &[LinkId])> {
        let queue = match kind_and_number(&token) {
            Some((kind, number)) => self.queues[kind].get_mut(number as usize)?,
            None => self.rounds.get_mut(&token)?,
        };
        let slot = queue.0;
        let own = self.slots.get_mut(slot as usize)?;
        let running = own.running.take()?;
        queue.0 = own.next;
        if queue.0 == NONE {
            queue.1 = NONE;
            if kind_and_number(&token).is_none() {
                self.rounds.remove(&token);
            }
        }
        self.free.push(slot);
        Some((running, &own.links))
    }
}
