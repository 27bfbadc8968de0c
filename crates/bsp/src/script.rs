//! Scripts of barriers: the sends and receives of control messages that each process executes in a fixed order.
//!
//! ```text
//! dissemination       round r: send to p + 2^r, receive from p - 2^r                            ⌈log2 P⌉ rounds
//! recursive doubling  round r: exchange with p xor 2^r, among the A = 2^⌊log2 P⌋ lower processes
//!                     p >= A: send to p - A before the rounds; receive its release after them, and answer it
//! double ring         twice: receive from p - 1, send to p + 1 (process 0 begins); the second message is answered
//! ```
//! In this table, p is the number of a process and P the number of processes. Each control message has a slot (a number) at its
//! receiver that distinguishes it from the other messages to this process. An answer models a synchronous send, which ends when
//! the receiver has begun to receive. Sources: the barriers of Open MPI 4.1 (`coll/base`), Hensgen, Finkel and Manber 1988
//! (dissemination).

use super::config::BarrierKind;

/// An action of a process at a barrier: to send or to receive a control message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScriptAction {
    Send {
        to: u32,
        slot: u32,
    },
    /// Waits until the control message that the number `slot` identifies has arrived at this process.
    Receive {
        slot: u32,
    },
}

#[derive(Clone, Debug)]
pub(super) struct BarrierScript {
    kind: BarrierKind,
    process_count: u32,
    round_count: u32,
    /// Number of processes that take part in the rounds of recursive doubling, which is the largest power of two up to the number
    /// of processes.
    processes_in_rounds: u32,
}

/// The slot for the messages outside the rounds of recursive doubling: the message before the rounds and the release after them.
/// The rounds use the following slots.
const SLOT_OUTSIDE_ROUNDS: u32 = 0;

/// The kinds of barriers that have a protocol of their own.
macro_rules! without_script {
    () => {
        BarrierKind::Ideal
            | BarrierKind::Central
            | BarrierKind::Sequential
            | BarrierKind::Tree
            | BarrierKind::Library
            | BarrierKind::None
            | BarrierKind::ReleasedByFirst
            | BarrierKind::RootSerial
    };
}

impl BarrierScript {
    pub(super) fn new(kind: BarrierKind, processes: u32) -> Self {
        let lower = u32::BITS - 1 - processes.leading_zeros();
        let is_power = processes.is_power_of_two();
        let rounds = match kind {
            BarrierKind::Dissemination => lower + u32::from(!is_power),
            // The double ring uses no rounds.
            BarrierKind::RecursiveDoubling | BarrierKind::DoubleRing => lower,
            without_script!() => 0,
        };
        Self {
            kind,
            process_count: processes,
            round_count: rounds,
            processes_in_rounds: 1 << lower,
        }
    }

    pub(super) fn action_at_index(&self, process: u32, at: u32) -> Option<ScriptAction> {
        match self.kind {
            BarrierKind::Dissemination => self.dissemination_action(process, at),
            BarrierKind::DoubleRing => self.ring_action(process, at),
            BarrierKind::RecursiveDoubling => self.doubling_action(process, at),
            without_script!() => None,
        }
    }

    fn dissemination_action(&self, process: u32, at: u32) -> Option<ScriptAction> {
        let slot = at / 2;
        (slot < self.round_count).then(|| match at % 2 {
            0 => ScriptAction::Send {
                to: self.process_at_ring_distance(process, 1 << slot),
                slot,
            },
            _ => ScriptAction::Receive { slot },
        })
    }

    /// Computes the action with index `at` of a process in a barrier by recursive doubling; `None` after the last action.
    fn doubling_action(&self, process: u32, at: u32) -> Option<ScriptAction> {
        let answer = self.round_count + 1;
        if process >= self.processes_in_rounds {
            let to = process - self.processes_in_rounds;
            return match at {
                0 => Some(ScriptAction::Send {
                    to,
                    slot: SLOT_OUTSIDE_ROUNDS,
                }),
                1 => Some(ScriptAction::Receive {
                    slot: SLOT_OUTSIDE_ROUNDS,
                }),
                2 => Some(ScriptAction::Send { to, slot: answer }),
                _ => None,
            };
        }
        let has_partner = process < self.process_count - self.processes_in_rounds;
        let (at, rounds) = match at.checked_sub(u32::from(has_partner)) {
            None => {
                return Some(ScriptAction::Receive {
                    slot: SLOT_OUTSIDE_ROUNDS,
                });
            }
            Some(at) => (at, 2 * self.round_count),
        };
        let slot = at / 2 + 1;
        match at.checked_sub(rounds) {
            None if at % 2 == 0 => Some(ScriptAction::Send {
                to: process ^ (1 << (slot - 1)),
                slot,
            }),
            None => Some(ScriptAction::Receive { slot }),
            Some(0) if has_partner => Some(ScriptAction::Send {
                to: process + self.processes_in_rounds,
                slot: SLOT_OUTSIDE_ROUNDS,
            }),
            Some(1) if has_partner => Some(ScriptAction::Receive { slot: answer }),
            Some(_) => None,
        }
    }

    /// Computes the action with index `at` of a process in a double-ring barrier; `None` after the last action.
    fn ring_action(&self, process: u32, at: u32) -> Option<ScriptAction> {
        let right = self.process_at_ring_distance(process, 1);
        let left = self.process_at_ring_distance(process, self.process_count - 1);
        let send = |slot| ScriptAction::Send { to: right, slot };
        let receive = |slot| ScriptAction::Receive { slot };
        let answer = ScriptAction::Send { to: left, slot: 2 };
        let actions = if process == 0 {
            [send(0), receive(0), send(1), receive(2), receive(1), answer]
        } else {
            [receive(0), send(0), receive(1), answer, send(1), receive(2)]
        };
        actions.get(at as usize).copied()
    }

    /// Returns the number of the process that is `places` places after `process` in a ring of all processes. It is computed in 64
    /// bits, since the sum may exceed 2^32.
    fn process_at_ring_distance(&self, process: u32, places: u32) -> u32 {
        let sum = u64::from(process) + u64::from(places);
        u32::try_from(sum % u64::from(self.process_count)).expect("below the number of processes")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [BarrierKind; 3] = [
        BarrierKind::Dissemination,
        BarrierKind::RecursiveDoubling,
        BarrierKind::DoubleRing,
    ];

    fn actions(script: &BarrierScript, process: u32) -> impl Iterator<Item = ScriptAction> + '_ {
        (0..).map_while(move |at| script.action_at_index(process, at))
    }

    #[test]
    fn each_notice_is_received_once_and_each_receive_has_its_notice() {
        for kind in KINDS {
            for processes in 2..70 {
                let script = BarrierScript::new(kind, processes);
                let (mut sent, mut received) = (Vec::new(), Vec::new());
                for process in 0..processes {
                    for action in actions(&script, process) {
                        match action {
                            ScriptAction::Send { to, slot } => sent.push((to, slot)),
                            ScriptAction::Receive { slot } => received.push((process, slot)),
                        }
                    }
                }
                sent.sort_unstable();
                received.sort_unstable();
                assert_eq!(sent, received, "{kind:?} of {processes}");
                sent.dedup();
                assert_eq!(sent.len(), received.len(), "{kind:?} of {processes}");
                assert!(sent.iter().all(|(_, slot)| *slot < u64::BITS));
            }
        }
    }

    #[test]
    fn no_process_leaves_before_all_have_arrived() {
        // If one process never arrives, no process completes its script.
        for kind in KINDS {
            for processes in 2..20 {
                let script = BarrierScript::new(kind, processes);
                for missing in 0..processes {
                    let mut at = vec![0; processes as usize];
                    let mut slots = vec![0_u64; processes as usize];
                    let mut is_moving = true;
                    while std::mem::take(&mut is_moving) {
                        for process in (0..processes).filter(|process| *process != missing) {
                            let place = process as usize;
                            match script.action_at_index(process, at[place]) {
                                Some(ScriptAction::Send { to, slot }) => {
                                    slots[to as usize] |= 1 << slot;
                                }
                                Some(ScriptAction::Receive { slot })
                                    if slots[place] & (1 << slot) == 0 =>
                                {
                                    continue;
                                }
                                Some(ScriptAction::Receive { .. }) => {}
                                None => panic!("{kind:?}: {process} leaves without {missing}"),
                            }
                            at[place] += 1;
                            is_moving = true;
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn twelve_processes_double_among_eight() {
        let script = BarrierScript::new(BarrierKind::RecursiveDoubling, 12);
        let of = |process| actions(&script, process).collect::<Vec<_>>();
        let send = |to, slot| ScriptAction::Send { to, slot };
        let receive = |slot| ScriptAction::Receive { slot };
        assert_eq!(of(9), [send(1, 0), receive(0), send(1, 4)]);
        assert_eq!(
            of(1),
            [
                receive(0),
                send(0, 1),
                receive(1),
                send(3, 2),
                receive(2),
                send(5, 3),
                receive(3),
                send(9, 0),
                receive(4)
            ]
        );
        assert_eq!(of(5).len(), 6);
    }
}
