//! Records the cause of each activity for the critical path, and deletes chains of causes that cannot become part of the path.
//!
//! Each ended activity is a node with a reference to the node of its cause. A node is kept while an activity in progress, a
//! process or another node refers to it. The memory is therefore proportional to the number of processes and the length of one
//! chain of causes.

use super::{
    CriticalPath, PathPiece, PieceKind, PieceResources,
    pieces::{TracedMessage, split_message_duration},
    usage::UsageCounts,
};
use crate::event::{ActivityToken, BarrierMessage};
use migsim_base::units::{HostId, ProcessId, Time, to_u32};
use migsim_engine::{ActivityEvent, NetworkModel, Simulation};
use migsim_platform::{Platform, Route};
use std::collections::{
    VecDeque,
    btree_map::{BTreeMap, Entry},
};

const START_NODE: u32 = 0;

#[derive(Clone, Debug)]
struct CauseNode {
    cause_node: u32,
    /// Number of references to the node from activities in progress, processes and other nodes.
    reference_count: u32,
    /// Time at which the activity ended \[s\].
    end_time: f64,
}

#[derive(Clone, Copy, Debug)]
struct TracedActivity {
    kind: PieceKind,
    superstep: usize,
    process: Option<ProcessId>,
    receiver: Option<ProcessId>,
    work: ActivityWork,
}

/// The kind of an activity in the trace, with the data that are known while the activity is in progress.
#[derive(Clone, Copy, Debug)]
enum ActivityWork {
    Computation(HostId, u32),
    Message(TracedMessage),
    Wait,
    RepeatedSuperstep(u32),
}

#[derive(Clone, Copy, Debug)]
struct RunningActivity {
    cause_node: u32,
    activity: TracedActivity,
}

/// The tree of the causes of all activities in a run, from which the critical path is derived.
#[derive(Clone, Debug)]
pub(crate) struct CauseTrace<'p> {
    platform: &'p Platform,
    network: NetworkModel,
    nodes: Vec<CauseNode>,
    /// The activity of each node; it is stored apart from the nodes because it is read much less often.
    activities: Vec<TracedActivity>,
    unused_nodes: Vec<u32>,
    activities_in_progress: BTreeMap<ActivityToken, VecDeque<RunningActivity>>,
    current_cause_node: u32,
    /// Activities that have ended at the present time, with their nodes. Each may still become the cause of new activities.
    activities_ended_now: Vec<(ActivityToken, u32)>,
    last_ended_nodes: Vec<u32>,
    host_usage: UsageCounts,
    link_usage: UsageCounts,
    /// Time at which the last simulated superstep opened \[s\]. If that superstep has been repeated, also the index in
    /// `repeated_parts` of its part of the critical path.
    last_superstep_opening: (f64, Option<u32>),
    repeated_parts: Vec<Vec<PathPiece>>,
    pub current_superstep: usize,
}

impl<'p> CauseTrace<'p> {
    pub(crate) fn new(platform: &'p Platform, network: NetworkModel) -> Self {
        let root = CauseNode {
            cause_node: START_NODE,
            reference_count: 1,
            end_time: 0.0,
        };
        let nothing = TracedActivity {
            kind: PieceKind::Wait,
            superstep: 0,
            process: None,
            receiver: None,
            work: ActivityWork::Wait,
        };
        Self {
            platform,
            network,
            nodes: vec![root],
            activities: vec![nothing],
            unused_nodes: Vec::new(),
            activities_in_progress: BTreeMap::new(),
            current_cause_node: START_NODE,
            activities_ended_now: Vec::new(),
            last_ended_nodes: Vec::new(),
            host_usage: UsageCounts::new(platform.hosts.len()),
            link_usage: UsageCounts::new(platform.links.len()),
            last_superstep_opening: (0.0, None),
            repeated_parts: Vec::new(),
            current_superstep: 0,
        }
    }

    /// Records that a superstep whose activities are simulated opens at time `now` \[s\].
    pub(crate) fn record_superstep_opening(&mut self, now: f64) {
        self.last_superstep_opening = (now, None);
    }

    /// Records the end at time `now` \[s\] of a superstep that was not simulated because it equals the last simulated superstep.
    pub(crate) fn record_repeated_superstep(&mut self, superstep: usize, now: f64) {
        let part = match self.last_superstep_opening {
            (_, Some(part)) => part,
            (opened, None) => {
                self.repeated_parts.push(self.path_part_since(opened));
                let number = to_u32(self.repeated_parts.len() - 1);
                self.last_superstep_opening.1 = Some(number);
                number
            }
        };
        let cause = self.current_cause_node;
        self.nodes[cause as usize].reference_count += 1;
        let node = CauseNode {
            cause_node: cause,
            reference_count: 0,
            end_time: now,
        };
        let activity = TracedActivity {
            kind: PieceKind::Wait,
            superstep,
            process: None,
            receiver: None,
            work: ActivityWork::RepeatedSuperstep(part),
        };
        let node = self.add_node(node, activity);
        self.set_current_cause_node(node);
    }

    /// Returns the pieces of the critical path since a superstep opened at time `opened` \[s\]; the times of the pieces count
    /// from that opening.
    fn path_part_since(&self, opened: f64) -> Vec<PathPiece> {
        let mut pieces = self.path_pieces_since(opened);
        for piece in &mut pieces {
            let after = |time: Time| {
                Time::new(time.get() - opened).expect("the pieces are after the opening")
            };
            (piece.begin, piece.end) = (after(piece.begin), after(piece.end));
        }
        pieces
    }

    /// Records the activities that have started or ended in the engine since the last call; their times are in the past, but no
    /// capacity has changed since the last end.
    pub(crate) fn record_activities(&mut self, engine: &mut Simulation<'_, ActivityToken>) {
        for (time, event) in engine.take_activities() {
            let now = time.get();
            match event {
                ActivityEvent::Execution(host, token) => {
                    self.host_usage.add_user(host.index(), now);
                    self.start_activity(token, None, ActivityWork::Computation(host, 1), now);
                }
                ActivityEvent::Message(ends, size, options, token) => {
                    let mut flight = TracedMessage::new(ends.hosts, size, options);
                    let route = self.platform.route(ends.hosts.0, ends.hosts.1);
                    flight.route_latency = route.as_ref().and_then(|route| route.latency);
                    for link in route.iter().flat_map(Route::links) {
                        self.link_usage.add_user(link.index(), now);
                    }
                    self.start_activity(token, ends.processes, ActivityWork::Message(flight), now);
                }
                ActivityEvent::Wait(token) => {
                    self.start_activity(token, None, ActivityWork::Wait, now);
                }
                ActivityEvent::End(token) => self.end_activity(token, engine, now),
            }
        }
    }

    fn start_activity(
        &mut self,
        token: ActivityToken,
        processes: Option<(ProcessId, ProcessId)>,
        work: ActivityWork,
        now: f64,
    ) {
        let is_between_processes = matches!(
            token,
            ActivityToken::MessageDelivered(_) | ActivityToken::MemoryTransferred(_)
        );
        let (from, to) = processes.filter(|_| is_between_processes).unzip();
        let process = process_of_token(&token).or(from);
        let kind = match token {
            ActivityToken::ComputationEnded(_) => PieceKind::Compute,
            ActivityToken::SendEnded(_) | ActivityToken::ReceiveEnded(_) => PieceKind::Overhead,
            ActivityToken::MessageDelivered(_) => PieceKind::Transfer,
            ActivityToken::ProcessBegins(_) | ActivityToken::BarrierActivityEnded(_) => {
                PieceKind::Barrier
            }
            ActivityToken::CallActivityEnded
            | ActivityToken::CallMessagePartEnded(..)
            | ActivityToken::ManagerActivityEnded(_) => PieceKind::Call,
            ActivityToken::ProcessPacked(_)
            | ActivityToken::MemoryTransferred(_)
            | ActivityToken::ProcessUnpacked(_)
            | ActivityToken::MigrationEnded(_) => PieceKind::Move,
        };
        let cause = self.find_cause_node(process, now);
        self.nodes[cause as usize].reference_count += 1;
        let activity = TracedActivity {
            kind,
            superstep: self.current_superstep,
            process,
            receiver: to.filter(|to| Some(*to) != process),
            work,
        };
        self.activities_in_progress
            .entry(token)
            .or_default()
            .push_back(RunningActivity {
                cause_node: cause,
                activity,
            });
    }

    /// Returns the node of the cause of an activity of `process` that starts now. The cause is the previous activity of the same
    /// process if this previous activity ends now, otherwise the activity whose end the runtime is handling.
    fn find_cause_node(&self, process: Option<ProcessId>, now: f64) -> u32 {
        let own = process.and_then(|process| self.last_ended_nodes.get(process.index()));
        let own = own.copied().filter(|own| *own != START_NODE);
        own.filter(|own| self.nodes[*own as usize].end_time == now)
            .unwrap_or(self.current_cause_node)
    }

    fn end_activity(
        &mut self,
        token: ActivityToken,
        engine: &Simulation<'_, ActivityToken>,
        now: f64,
    ) {
        let Entry::Occupied(mut entry) = self.activities_in_progress.entry(token) else {
            return;
        };
        let Some(mut running) = entry.get_mut().pop_front() else {
            return;
        };
        if entry.get().is_empty() {
            entry.remove();
        }
        match &mut running.activity.work {
            ActivityWork::Computation(host, sharing) => {
                *sharing = self.host_usage.user_count_before(host.index(), now);
                self.host_usage.remove_user(host.index(), now);
            }
            ActivityWork::Message(flight) => {
                let users = |link: usize| self.link_usage.user_count_before(link, now);
                let (from, to) = flight.end_hosts;
                let links: Vec<_> = self
                    .platform
                    .route(from, to)
                    .iter()
                    .flat_map(Route::links)
                    .collect();
                flight.complete_at_delivery(&links, self.platform, &self.network, engine, users);
                for link in links {
                    self.link_usage.remove_user(link.index(), now);
                }
            }
            ActivityWork::Wait | ActivityWork::RepeatedSuperstep(_) => {}
        }
        let node = CauseNode {
            cause_node: running.cause_node, // which was a user of its cause and still is
            reference_count: 1,
            end_time: now,
        };
        let node = self.add_node(node, running.activity);
        if let Some(process) = running.activity.receiver.or(running.activity.process) {
            if self.last_ended_nodes.len() <= process.index() {
                self.last_ended_nodes
                    .resize(process.index() + 1, START_NODE);
            }
            let before = std::mem::replace(&mut self.last_ended_nodes[process.index()], node);
            self.nodes[node as usize].reference_count += 1;
            if before != START_NODE {
                self.release_node(before);
            }
        }
        self.release_activities_ended_before(now);
        self.activities_ended_now.push((token, node));
        self.set_current_cause_node(node);
    }

    pub(crate) fn set_cause(&mut self, token: ActivityToken) {
        let found = self
            .activities_ended_now
            .iter()
            .rev()
            .find(|ended| ended.0 == token);
        if let Some(&(_, node)) = found {
            self.set_current_cause_node(node);
        }
    }

    fn set_current_cause_node(&mut self, node: u32) {
        self.nodes[node as usize].reference_count += 1;
        let before = std::mem::replace(&mut self.current_cause_node, node);
        self.release_node(before);
    }

    fn release_activities_ended_before(&mut self, now: f64) {
        if let Some(&(_, last)) = self.activities_ended_now.last()
            && self.nodes[last as usize].end_time != now
        {
            while let Some((_, node)) = self.activities_ended_now.pop() {
                self.release_node(node);
            }
        }
    }

    fn add_node(&mut self, node: CauseNode, activity: TracedActivity) -> u32 {
        if let Some(place) = self.unused_nodes.pop() {
            self.nodes[place as usize] = node;
            self.activities[place as usize] = activity;
            return place;
        }
        self.nodes.push(node);
        self.activities.push(activity);
        to_u32(self.nodes.len() - 1)
    }

    /// Removes one reference to a node. A node without references is deleted, which in turn removes its reference to the node of
    /// its cause.
    fn release_node(&mut self, mut node: u32) {
        while node != START_NODE {
            let released = &mut self.nodes[node as usize];
            released.reference_count -= 1;
            if released.reference_count > 0 {
                return;
            }
            let cause = released.cause_node;
            self.unused_nodes.push(node);
            node = cause;
        }
    }

    pub(crate) fn critical_path(&self) -> CriticalPath {
        CriticalPath {
            pieces: self.path_pieces_since(0.0),
        }
    }

    /// Returns the pieces of the critical path from the time `from` \[s\], at which some activity must have ended, to the end of
    /// the last activity.
    fn path_pieces_since(&self, from: f64) -> Vec<PathPiece> {
        let mut chain = Vec::new();
        let mut node = self.current_cause_node;
        while node != START_NODE && self.nodes[node as usize].end_time > from {
            chain.push(node);
            node = self.nodes[node as usize].cause_node;
        }
        let mut pieces = Vec::new();
        let mut begin = from;
        for node in chain.into_iter().rev() {
            let end = self.nodes[node as usize].end_time;
            self.append_pieces(&self.activities[node as usize], begin, end, &mut pieces);
            begin = end;
        }
        pieces
    }

    /// Appends the pieces of an activity that lasted from `begin` to `end` \[s\] to `pieces`.
    fn append_pieces(
        &self,
        activity: &TracedActivity,
        begin: f64,
        end: f64,
        pieces: &mut Vec<PathPiece>,
    ) {
        let mut piece = |kind, work, begin: f64, end: f64| {
            if end > begin {
                pieces.push(PathPiece {
                    kind,
                    begin: time_from_seconds(begin),
                    end: time_from_seconds(end),
                    superstep: activity.superstep,
                    process: activity.process,
                    receiver: activity.receiver,
                    resources: work,
                });
            }
        };
        match activity.work {
            ActivityWork::Computation(host, sharing) => {
                let work = if activity.kind == PieceKind::Overhead {
                    PieceResources::Overhead
                } else {
                    PieceResources::Compute {
                        host,
                        computation_count: sharing,
                    }
                };
                piece(activity.kind, work, begin, end);
            }
            ActivityWork::Wait => piece(activity.kind, PieceResources::PredefinedWait, begin, end),
            ActivityWork::RepeatedSuperstep(part) => {
                let part = &self.repeated_parts[part as usize];
                append_repeated_pieces(part, activity.superstep, begin, end, pieces);
            }
            ActivityWork::Message(flight) => {
                let is_message = activity.kind == PieceKind::Transfer;
                for (kind, work, begin, end) in split_message_duration(&flight, begin, end) {
                    let kind = if is_message { kind } else { activity.kind };
                    piece(kind, work, begin, end);
                }
            }
        }
    }

    /// Returns the number of nodes for which memory is reserved; only tests use it.
    #[cfg(test)]
    pub(super) fn reserved_node_count(&self) -> usize {
        self.nodes.len()
    }
}

fn time_from_seconds(seconds: f64) -> Time {
    Time::new(seconds).expect("the clock holds times")
}

/// Appends the pieces of a repeated superstep that lasted from `begin` to `end` \[s\] to `pieces`. `part` contains the pieces of
/// the simulated superstep that is repeated.
fn append_repeated_pieces(
    part: &[PathPiece],
    superstep: usize,
    begin: f64,
    end: f64,
    pieces: &mut Vec<PathPiece>,
) {
    let mut before = begin;
    for (piece, left) in part.iter().zip((0..part.len()).rev()) {
        let ends = if left == 0 {
            end
        } else {
            begin + piece.end.get()
        };
        // Rounding may leave nothing of a short piece.
        if ends > before && ends <= end {
            pieces.push(PathPiece {
                begin: time_from_seconds(before),
                end: time_from_seconds(ends),
                superstep,
                ..*piece
            });
            before = ends;
        }
    }
}

/// Returns the process to which the activity with this token belongs; `None` if the token contains no process.
fn process_of_token(token: &ActivityToken) -> Option<ProcessId> {
    match token {
        ActivityToken::ProcessBegins(process)
        | ActivityToken::ComputationEnded(process)
        | ActivityToken::SendEnded(process)
        | ActivityToken::ReceiveEnded(process)
        | ActivityToken::BarrierActivityEnded(BarrierMessage::LeavePermission(process)) => {
            Some(ProcessId(*process))
        }
        ActivityToken::MessageDelivered(_)
        | ActivityToken::BarrierActivityEnded(_)
        | ActivityToken::CallActivityEnded
        | ActivityToken::CallMessagePartEnded(..)
        | ActivityToken::ManagerActivityEnded(_)
        | ActivityToken::ProcessPacked(_)
        | ActivityToken::MemoryTransferred(_)
        | ActivityToken::ProcessUnpacked(_)
        | ActivityToken::MigrationEnded(_) => None,
    }
}
