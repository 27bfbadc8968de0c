//! The activities in progress, found by their tokens.

use std::collections::BTreeMap;

use super::trace::Running;
use crate::event::{BarrierMessage, Token};
use migsim_base::units::{LinkId, to_u32};

/// No activity.
const NONE: u32 = u32::MAX;
/// The number of kinds of tokens that have one number.
const KINDS: usize = 9;

/// Activities in progress; those of one token end in the order in which they started.
#[derive(Clone, Debug, Default)]
pub(super) struct InProgress {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// By kind and number of the token: its first and its last activity.
    queues: [Vec<(u32, u32)>; KINDS],
    /// The same of tokens that have several numbers.
    rounds: BTreeMap<Token, (u32, u32)>,
}

/// An activity in progress, or room for one.
#[derive(Clone, Debug)]
struct Slot {
    running: Option<Running>,
    /// The next activity of the same token.
    next: u32,
    /// The links that it uses, in the order of its route.
    links: Vec<LinkId>,
}

/// The kind and the number of a token; none if it has several numbers.
fn place(token: &Token) -> Option<(usize, u32)> {
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
    /// An activity starts; returns the list for its links.
    pub(super) fn start(&mut self, token: Token, running: Running) -> &mut Vec<LinkId> {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                running: None,
                next: NONE,
                links: Vec::new(),
            });
            to_u32(self.slots.len() - 1)
        });
        let queue = match place(&token) {
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

    /// The first activity of a token ends; returns its links, too.
    pub(super) fn end(&mut self, token: Token) -> Option<(Running, &[LinkId])> {
        let queue = match place(&token) {
            Some((kind, number)) => self.queues[kind].get_mut(number as usize)?,
            None => self.rounds.get_mut(&token)?,
        };
        let slot = queue.0;
        let own = self.slots.get_mut(slot as usize)?;
        let running = own.running.take()?;
        queue.0 = own.next;
        if queue.0 == NONE {
            queue.1 = NONE;
            if place(&token).is_none() {
                self.rounds.remove(&token);
            }
        }
        self.free.push(slot);
        Some((running, &own.links))
    }
}
