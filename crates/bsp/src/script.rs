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
//!
//! For few processes, the actions of a barrier are stored in a table. For many processes, each action is computed when it is
//! needed, so that scripts take no memory.

use super::config::BarrierKind;
use migsim_base::units::to_u32;

/// An action of a process at a barrier: to send or to receive a control message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Sends a control message to process `to`, where the number `slot` identifies the message.
    Send { to: u32, slot: u32 },
    /// Waits until the control message that the number `slot` identifies has arrived at this process.
    Receive { slot: u32 },
}

/// The sends and receives of all processes at one kind of barrier.
#[derive(Clone, Debug)]
pub(super) struct Script {
    /// The kind of barrier that the script implements.
    kind: BarrierKind,
    processes: u32,
    /// Number of rounds in which control messages are sent.
    rounds: u32,
    /// Number of processes that take part in the rounds of recursive doubling, which is the largest power of two up to the number
    /// of processes.
    round_processes: u32,
    /// The stored actions of all processes, `table_width` entries for each process; empty if there are too many processes for a
    /// table.
    action_table: Vec<Option<Action>>,
    /// Number of entries for each process in the table of actions; it exceeds the largest number of actions by one.
    table_width: u32,
}

/// Maximum number of processes for which the actions are stored in a table (of at most 200 kB).
const MOST_IN_TABLE: u32 = 512;

/// The slot for the messages outside the rounds of recursive doubling: the message before the rounds and the release after them.
/// The rounds use the following slots.
const OUTSIDE: u32 = 0;

impl Script {
    /// Creates the scripts for two or more processes.
    pub(super) fn new(kind: BarrierKind, processes: u32) -> Self {
        let lower = u32::BITS - 1 - processes.leading_zeros();
        let is_power = processes.is_power_of_two();
        let rounds = match kind {
            BarrierKind::Dissemination => lower + u32::from(!is_power),
            _ => lower,
        };
        let mut script = Self {
            kind,
            processes,
            rounds,
            round_processes: 1 << lower,
            action_table: Vec::new(),
            table_width: 0,
        };
        if processes <= MOST_IN_TABLE {
            let count = |process: u32| {
                let actions = (0..).map_while(|at| script.compute_action(process, at));
                actions.count()
            };
            let longest = (0..processes).map(count).max().unwrap_or(0);
            script.table_width = to_u32(longest) + 1;
            let places = (0..processes)
                .flat_map(|process| (0..script.table_width).map(move |at| (process, at)));
            script.action_table = places
                .map(|(process, at)| script.compute_action(process, at))
                .collect();
        }
        script
    }

    /// Returns the action with index `at`, counted from 0, in the script of a process; `None` after the last action.
    #[inline]
    pub(super) fn action(&self, process: u32, at: u32) -> Option<Action> {
        if self.action_table.is_empty() {
            return self.compute_action(process, at);
        }
        self.action_table[(process * self.table_width + at) as usize]
    }

    /// Computes the action with index `at` in the script of a process; `None` after the last action.
    fn compute_action(&self, process: u32, at: u32) -> Option<Action> {
        match self.kind {
            BarrierKind::Dissemination => self.dissemination_action(process, at),
            BarrierKind::DoubleRing => self.ring_action(process, at),
            _ => self.doubling_action(process, at),
        }
    }

    /// Computes the action with index `at` of a process in a dissemination barrier; `None` after the last action.
    fn dissemination_action(&self, process: u32, at: u32) -> Option<Action> {
        let slot = at / 2;
        (slot < self.rounds).then(|| match at % 2 {
            0 => Action::Send {
                to: self.process_after(process, 1 << slot),
                slot,
            },
            _ => Action::Receive { slot },
        })
    }

    /// Computes the action with index `at` of a process in a barrier by recursive doubling; `None` after the last action.
    fn doubling_action(&self, process: u32, at: u32) -> Option<Action> {
        let answer = self.rounds + 1;
        if process >= self.round_processes {
            let to = process - self.round_processes;
            return match at {
                0 => Some(Action::Send { to, slot: OUTSIDE }),
                1 => Some(Action::Receive { slot: OUTSIDE }),
                2 => Some(Action::Send { to, slot: answer }),
                _ => None,
            };
        }
        let has_partner = process < self.processes - self.round_processes;
        let (at, rounds) = match at.checked_sub(u32::from(has_partner)) {
            None => return Some(Action::Receive { slot: OUTSIDE }),
            Some(at) => (at, 2 * self.rounds),
        };
        let slot = at / 2 + 1;
        match at.checked_sub(rounds) {
            None if at % 2 == 0 => Some(Action::Send {
                to: process ^ (1 << (slot - 1)),
                slot,
            }),
            None => Some(Action::Receive { slot }),
            Some(0) if has_partner => Some(Action::Send {
                to: process + self.round_processes,
                slot: OUTSIDE,
            }),
            Some(1) if has_partner => Some(Action::Receive { slot: answer }),
            Some(_) => None,
        }
    }

    /// Computes the action with index `at` of a process in a double-ring barrier; `None` after the last action.
    fn ring_action(&self, process: u32, at: u32) -> Option<Action> {
        let right = self.process_after(process, 1);
        let left = self.process_after(process, self.processes - 1);
        let (send, receive) = (
            |slot| Action::Send { to: right, slot },
            |slot| Action::Receive { slot },
        );
        let answer = Action::Send { to: left, slot: 2 };
        let actions = if process == 0 {
            [send(0), receive(0), send(1), receive(2), receive(1), answer]
        } else {
            [receive(0), send(0), receive(1), answer, send(1), receive(2)]
        };
        actions.get(at as usize).copied()
    }

    /// Returns the number of the process that is `places` places after `process` in a ring of all processes. It is computed in 64
    /// bits, since the sum may exceed 2^32.
    fn process_after(&self, process: u32, places: u32) -> u32 {
        let sum = u64::from(process) + u64::from(places);
        u32::try_from(sum % u64::from(self.processes)).expect("below the number of processes")
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

    fn actions(script: &Script, process: u32) -> impl Iterator<Item = Action> + '_ {
        (0..).map_while(move |at| script.action(process, at))
    }

    #[test]
    fn each_notice_is_received_once_and_each_receive_has_its_notice() {
        for kind in KINDS {
            for processes in 2..70 {
                let script = Script::new(kind, processes);
                let (mut sent, mut received) = (Vec::new(), Vec::new());
                for process in 0..processes {
                    for action in actions(&script, process) {
                        match action {
                            Action::Send { to, slot } => sent.push((to, slot)),
                            Action::Receive { slot } => received.push((process, slot)),
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
                let script = Script::new(kind, processes);
                for missing in 0..processes {
                    let mut at = vec![0; processes as usize];
                    let mut slots = vec![0_u64; processes as usize];
                    let mut is_moving = true;
                    while std::mem::take(&mut is_moving) {
                        for process in (0..processes).filter(|process| *process != missing) {
                            let place = process as usize;
                            match script.action(process, at[place]) {
                                Some(Action::Send { to, slot }) => {
                                    slots[to as usize] |= 1 << slot;
                                }
                                Some(Action::Receive { slot })
                                    if slots[place] & (1 << slot) == 0 =>
                                {
                                    continue;
                                }
                                Some(Action::Receive { .. }) => {}
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
    fn a_table_of_actions_has_those_that_are_computed() {
        for kind in KINDS {
            for processes in [2, 5, 16, 50, MOST_IN_TABLE, MOST_IN_TABLE + 1] {
                let script = Script::new(kind, processes);
                assert_eq!(script.action_table.is_empty(), processes > MOST_IN_TABLE);
                for process in 0..processes {
                    let end = actions(&script, process).count();
                    for at in (0..).take(end + 1) {
                        assert_eq!(
                            script.action(process, at),
                            script.compute_action(process, at)
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn twelve_processes_double_among_eight() {
        let script = Script::new(BarrierKind::RecursiveDoubling, 12);
        let of = |process| actions(&script, process).collect::<Vec<_>>();
        let send = |to, slot| Action::Send { to, slot };
        let receive = |slot| Action::Receive { slot };
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
