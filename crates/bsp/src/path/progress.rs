//! The activities in progress, which the trace of the critical path finds by the tokens with which they were started.

use std::collections::BTreeMap;

use super::trace::RunningActivity;
use crate::event::{ActivityToken, BarrierMessage};
use migsim_base::units::{LinkId, to_u32};

/// Index that means that there is no activity.
const NO_ACTIVITY: u32 = u32::MAX;
/// Number of kinds of tokens that contain no number or one number.
const SIMPLE_TOKEN_KINDS: usize = 9;

/// The activities that are in progress. If several activities have the same token, they end in the order in which they started.
#[derive(Clone, Debug, Default)]
pub(super) struct ActivitiesInProgress {
    slots: Vec<ActivitySlot>,
    unused_slots: Vec<u32>,
    /// For each kind of token and each number in a token of this kind, the first and the last slot in the queue of the activities
    /// with this token.
    queue_ends: [Vec<(u32, u32)>; SIMPLE_TOKEN_KINDS],
    /// For each token that contains several numbers, the first and the last slot in the queue of the activities with that token.
    queue_ends_of_script_messages: BTreeMap<ActivityToken, (u32, u32)>,
}

/// Storage for one activity in progress; the slot is unused if `running_activity` is `None`.
#[derive(Clone, Debug)]
struct ActivitySlot {
    running_activity: Option<RunningActivity>,
    /// Index of the slot of the next activity with the same token.
    next_slot: u32,
    /// The links that the message of the activity uses, in the order of its route.
    links: Vec<LinkId>,
}

/// Returns the kind of a token and the number in it; `None` if the token contains several numbers.
fn token_kind_and_number(token: &ActivityToken) -> Option<(usize, u32)> {
    Some(match *token {
        ActivityToken::ProcessBegins(process) => (0, process),
        ActivityToken::ComputationEnded(process) => (1, process),
        ActivityToken::MessageDelivered(message) => (2, message),
        ActivityToken::CallActivityEnded => (3, 0),
        ActivityToken::ManagerActivityEnded(manager) => (4, manager),
        ActivityToken::MemoryTransferred(index) => (5, index),
        ActivityToken::MigrationEnded(index) => (6, index),
        ActivityToken::BarrierActivityEnded(BarrierMessage::ArrivalReport(process)) => (7, process),
        ActivityToken::BarrierActivityEnded(BarrierMessage::LeavePermission(process)) => {
            (8, process)
        }
        ActivityToken::BarrierActivityEnded(BarrierMessage::ScriptMessage { .. }) => return None,
    })
}

impl ActivitiesInProgress {
    /// Adds an activity that starts now. Returns the list of links of the activity, which is empty, so that the caller can add
    /// the links that the activity uses.
    pub(super) fn add_activity_returning_links(
        &mut self,
        token: ActivityToken,
        running: RunningActivity,
    ) -> &mut Vec<LinkId> {
        let slot = self.unused_slots.pop().unwrap_or_else(|| {
            self.slots.push(ActivitySlot {
                running_activity: None,
                next_slot: NO_ACTIVITY,
                links: Vec::new(),
            });
            to_u32(self.slots.len() - 1)
        });
        let queue = match token_kind_and_number(&token) {
            Some((kind, number)) => {
                let queues = &mut self.queue_ends[kind];
                let number = number as usize;
                if queues.len() <= number {
                    queues.resize(number + 1, (NO_ACTIVITY, NO_ACTIVITY));
                }
                &mut queues[number]
            }
            None => self
                .queue_ends_of_script_messages
                .entry(token)
                .or_insert((NO_ACTIVITY, NO_ACTIVITY)),
        };
        let last = std::mem::replace(&mut queue.1, slot);
        if last == NO_ACTIVITY {
            queue.0 = slot;
        } else {
            self.slots[last as usize].next_slot = slot;
        }
        let own = &mut self.slots[slot as usize];
        own.running_activity = Some(running);
        own.next_slot = NO_ACTIVITY;
        own.links.clear();
        &mut own.links
    }

    /// Removes the earliest activity with this token. Returns the activity and the links that it uses; `None` if no activity has
    /// this token.
    pub(super) fn remove_activity(
        &mut self,
        token: ActivityToken,
    ) -> Option<(RunningActivity, &[LinkId])> {
        let queue = match token_kind_and_number(&token) {
            Some((kind, number)) => self.queue_ends[kind].get_mut(number as usize)?,
            None => self.queue_ends_of_script_messages.get_mut(&token)?,
        };
        let slot = queue.0;
        let own = self.slots.get_mut(slot as usize)?;
        let running = own.running_activity.take()?;
        queue.0 = own.next_slot;
        if queue.0 == NO_ACTIVITY {
            queue.1 = NO_ACTIVITY;
            if token_kind_and_number(&token).is_none() {
                self.queue_ends_of_script_messages.remove(&token);
            }
        }
        self.unused_slots.push(slot);
        Some((running, &own.links))
    }
}
