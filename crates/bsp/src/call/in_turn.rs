//! A rescheduling call whose messages are sent one by one, as in the program that the authors of MigBSP published in 2015.
//!
//! ```text
//! process         sends its report to its manager, and waits for the answer
//! manager         receives the reports of its processes, in the order in which they are sent
//!                 each manager in turn: sends its list to every other manager, which receives nothing else meanwhile
//!                 decides
//!                 the managers exchange the decisions in the same way
//!                 answers its processes by increasing rank; the new manager answers a process that moves, at its old host
//! ```
//! Each of these messages starts when both sender and receiver are ready, and the sender is blocked until the message is
//! delivered.

use std::collections::VecDeque;

use crate::{config::Scenario, event::ActivityToken, world::RunState};
use migsim_base::{
    error::Result,
    units::{ClusterId, HostId, ProcessId, to_u32},
};
use migsim_engine::MessageEnds;

/// State of a rescheduling call whose messages are sent one by one: the remaining actions of each manager, and the processes that
/// have not been answered.
#[derive(Clone, Debug)]
pub(super) struct SequentialCall {
    managers: Vec<Manager>,
    manager_indices: Vec<usize>,
    has_reported: Vec<bool>,
    unanswered_processes: usize,
}

/// The manager of a cluster during a rescheduling call, with the actions that it must still execute.
#[derive(Clone, Debug)]
struct Manager {
    host: HostId,
    waiting_reports: VecDeque<u32>,
    remaining_actions: VecDeque<ManagerAction>,
    is_busy: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ManagerAction {
    ReceiveReport,
    SendList(usize),
    ReceiveList(usize),
    Decide,
    AnswerProcess(u32),
}

impl SequentialCall {
    /// Creates the state of a call in which the managers wait for the reports of all processes.
    pub(super) fn new(world: &RunState<'_>) -> Self {
        let platform = world.setup.platform;
        let cluster_of = |host: &HostId| platform.cluster_of(*host).index();
        let manager = |cluster| Manager {
            host: platform.manager_host(cluster),
            waiting_reports: VecDeque::new(),
            remaining_actions: VecDeque::new(),
            is_busy: false,
        };
        let clusters = (0..platform.clusters.len()).map(ClusterId::from_index);
        let mut call = Self {
            managers: clusters.map(manager).collect(),
            manager_indices: world.placement.iter().map(cluster_of).collect(),
            has_reported: vec![false; world.placement.len()],
            unanswered_processes: world.placement.len(),
        };
        for &manager in &call.manager_indices {
            call.managers[manager]
                .remaining_actions
                .push_back(ManagerAction::ReceiveReport);
        }
        call.append_exchange();
        for manager in &mut call.managers {
            manager.remaining_actions.push_back(ManagerAction::Decide);
        }
        call
    }

    fn append_exchange(&mut self) {
        let count = self.managers.len();
        for from in 0..count {
            for to in (0..count).filter(|to| *to != from) {
                self.managers[from]
                    .remaining_actions
                    .push_back(ManagerAction::SendList(to));
                self.managers[to]
                    .remaining_actions
                    .push_back(ManagerAction::ReceiveList(from));
            }
        }
    }

    /// Sends the report of a process to its manager, unless it was already sent in this call.
    pub(super) fn send_report(&mut self, process: u32, world: &mut RunState<'_>) -> Result {
        if std::mem::replace(&mut self.has_reported[process as usize], true) {
            return Ok(());
        }
        let manager = self.manager_indices[process as usize];
        self.managers[manager].waiting_reports.push_back(process);
        self.start_next_action(manager, world)
    }

    /// Appends to each manager the actions that follow the decision: the second exchange between managers, then the answers to
    /// processes. It also sends the reports of all processes that have not reported yet.
    pub(super) fn append_actions_after_decision(&mut self, world: &mut RunState<'_>) -> Result {
        let platform = world.setup.platform;
        let mut by = self.manager_indices.clone();
        // After the last superstep nothing moves, but the managers do not know this.
        if world.setup.scenario == Scenario::Iii
            && let Some(call) = world.outcome.calls.last()
        {
            for moved in &call.decision.migrations {
                by[moved.process.index()] = platform.cluster_of(moved.to).index();
            }
        }
        self.append_exchange();
        for (process, manager) in by.into_iter().enumerate() {
            let answer = ManagerAction::AnswerProcess(ProcessId::from_index(process).0);
            self.managers[manager].remaining_actions.push_back(answer);
        }
        for process in 0..self.manager_indices.len() {
            self.send_report(ProcessId::from_index(process).0, world)?;
        }
        (0..self.managers.len()).try_for_each(|manager| self.start_next_action(manager, world))
    }

    /// Starts the next action of a manager; does nothing if the action is a message whose other manager or process is not ready.
    fn start_next_action(&mut self, manager: usize, world: &mut RunState<'_>) -> Result {
        let cost = world.setup.costs.call;
        let token = ActivityToken::ManagerActivityEnded(to_u32(manager));
        while !self.managers[manager].is_busy {
            let one = &mut self.managers[manager];
            match one.remaining_actions.front().copied() {
                Some(ManagerAction::ReceiveReport) => {
                    let Some(process) = one.waiting_reports.pop_front() else {
                        return Ok(());
                    };
                    one.is_busy = true;
                    let ends = MessageEnds::of_hosts(world.placement[process as usize], one.host);
                    return world.send_control_message(ends, cost.report, token);
                }
                Some(ManagerAction::SendList(to)) => {
                    return self.send_list_if_both_ready(manager, to, world);
                }
                Some(ManagerAction::ReceiveList(from)) => {
                    return match self.managers[from].remaining_actions.front() {
                        Some(ManagerAction::SendList(to)) if *to == manager => {
                            self.send_list_if_both_ready(from, manager, world)
                        }
                        _ => Ok(()),
                    };
                }
                Some(ManagerAction::Decide) => {
                    let work = world.decision_work(one.host);
                    if work.get() > 0.0 {
                        one.is_busy = true;
                        return world.engine.execute(one.host, work, token);
                    }
                    one.remaining_actions.pop_front();
                }
                Some(ManagerAction::AnswerProcess(process)) => {
                    one.is_busy = true;
                    let ends = MessageEnds::of_hosts(one.host, world.placement[process as usize]);
                    return world.send_control_message(ends, cost.answer, token);
                }
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// Starts the message with the list of manager `from` to manager `to`, if this message is the next action of both managers.
    fn send_list_if_both_ready(
        &mut self,
        from: usize,
        to: usize,
        world: &mut RunState<'_>,
    ) -> Result {
        let sender = &self.managers[from];
        let receiver = &self.managers[to];
        let is_expected =
            receiver.remaining_actions.front() == Some(&ManagerAction::ReceiveList(from));
        if sender.is_busy || receiver.is_busy || !is_expected {
            return Ok(());
        }
        let ends = MessageEnds::of_hosts(sender.host, receiver.host);
        self.managers[from].is_busy = true;
        self.managers[to].is_busy = true;
        let size = world.setup.costs.call.exchange;
        let token = ActivityToken::ManagerActivityEnded(to_u32(from));
        world.send_control_message(ends, size, token)
    }

    /// Handles the end of the current action of a manager, which then starts its next action. Returns the process that has just
    /// received its answer; `None` if the action was not an answer.
    pub(super) fn on_action_ended(
        &mut self,
        manager: u32,
        world: &mut RunState<'_>,
    ) -> Result<Option<u32>> {
        let manager = manager as usize;
        let one = &mut self.managers[manager];
        one.is_busy = false;
        let done = one.remaining_actions.pop_front();
        if let Some(ManagerAction::SendList(to)) = done {
            self.managers[to].is_busy = false;
            self.managers[to].remaining_actions.pop_front();
            self.start_next_action(to, world)?;
        }
        self.start_next_action(manager, world)?;
        let Some(ManagerAction::AnswerProcess(process)) = done else {
            return Ok(None);
        };
        self.unanswered_processes -= 1;
        Ok(Some(process))
    }

    /// Returns whether all processes have received their answers and all managers have executed all their actions. Managers
    /// without processes may still exchange lists after the last answer.
    pub(super) fn is_complete(&self) -> bool {
        let is_done = |one: &Manager| one.remaining_actions.is_empty() && !one.is_busy;
        self.unanswered_processes == 0 && self.managers.iter().all(is_done)
    }
}
