//! Records the cause of each activity for the critical path, and deletes chains of causes that cannot become part of the path.
//!
//! Each ended activity is a node with a reference to the node of its cause. A node is kept while an activity in progress, a
//! process or another node refers to it. The memory is therefore proportional to the number of processes and the length of one
//! chain of causes.

use super::pieces::{Flight, split_message};
use super::progress::InProgress;
use super::usage::Usage;
use super::{CriticalPath, Piece, PieceKind, PieceWork};
use crate::event::{BarrierMessage, Token};
use migsim_base::units::{HostId, LinkId, ProcessId, Time};
use migsim_engine::{NetworkModel, Simulation};
use migsim_platform::{Platform, Route};

/// Index of the node in the tree of causes that stands for the start of the run at time 0.
const ROOT: u32 = 0;

/// An activity that has ended, as a node in the tree of causes; the parent of a node is the cause of its activity.
#[derive(Clone, Debug)]
struct Node {
    cause: u32,
    /// Number of references to the node from activities in progress, processes and other nodes.
    references: u32,
    /// Time at which the activity ended \[s\].
    end: f64,
}

/// The description of an activity, from which the pieces of the path are created.
#[derive(Clone, Copy, Debug)]
struct Activity {
    kind: PieceKind,
    superstep: usize,
    process: Option<ProcessId>,
    to: Option<ProcessId>,
    work: ActivityWork,
}

/// The kind of an activity in the trace, with the data that are known while the activity is in progress.
#[derive(Clone, Copy, Debug)]
enum ActivityWork {
    /// A computation on a host, with the number of computations that share the host; this number is set at the end.
    Compute(HostId, u32),
    /// A message between two hosts.
    Carry(Flight),
    /// A wait whose duration a protocol or a cost model defines.
    Wait,
    /// The repetition of an earlier superstep; the number is the index in `repeated_parts` of the part of the path that is
    /// repeated.
    Repeat(u32),
}

/// An activity that is in progress, with the node of the activity that caused it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    cause: u32,
    activity: Activity,
}

/// The tree of the causes of all activities in a run, from which the critical path is derived.
#[derive(Clone, Debug)]
pub(super) struct Trace<'p> {
    platform: &'p Platform,
    network: NetworkModel,
    nodes: Vec<Node>,
    /// The activity of each node; it is stored apart from the nodes because it is read much less often.
    activities: Vec<Activity>,
    /// Indices in `nodes` of the nodes that are unused and can store further activities.
    unused_nodes: Vec<u32>,
    running: InProgress,
    /// The node of the ended activity that is the cause of the activities that start now.
    current_cause: u32,
    /// Activities that have ended at the present time, with their nodes. Each may still become the cause of new activities.
    ended_now: Vec<(Token, u32)>,
    /// For each process, the node of the activity of the process that ended last.
    last_of_process: Vec<u32>,
    /// Number of computations on each host.
    host_usage: Usage,
    /// Number of flows on each link.
    link_usage: Usage,
    /// Time at which the last simulated superstep opened \[s\]. If that superstep has been repeated, also the index in
    /// `repeated_parts` of its part of the critical path.
    opened_superstep: (f64, Option<u32>),
    /// The parts of the critical path within supersteps that are repeated; the times in a part count from the opening of the
    /// superstep.
    repeated_parts: Vec<Vec<Piece>>,
    pub(super) superstep: usize,
    pub(super) message_ends: Option<(ProcessId, ProcessId)>,
}

impl<'p> Trace<'p> {
    pub(super) fn new(platform: &'p Platform, network: NetworkModel) -> Self {
        let root = Node {
            cause: ROOT,
            references: 1,
            end: 0.0,
        };
        let nothing = Activity {
            kind: PieceKind::Wait,
            superstep: 0,
            process: None,
            to: None,
            work: ActivityWork::Wait,
        };
        Self {
            platform,
            network,
            nodes: vec![root],
            activities: vec![nothing],
            unused_nodes: Vec::new(),
            running: InProgress::default(),
            current_cause: ROOT,
            ended_now: Vec::new(),
            last_of_process: Vec::new(),
            host_usage: Usage::new(platform.hosts.len()),
            link_usage: Usage::new(platform.links.len()),
            opened_superstep: (0.0, None),
            repeated_parts: Vec::new(),
            superstep: 0,
            message_ends: None,
        }
    }

    /// Records that a superstep whose activities are simulated opens at time `now` \[s\].
    pub(super) fn open_superstep(&mut self, now: f64) {
        self.opened_superstep = (now, None);
    }

    /// Records the end at time `now` \[s\] of a superstep that was not simulated because it equals the last simulated superstep.
    pub(super) fn repeat_superstep(&mut self, superstep: usize, now: f64) {
        let part = match self.opened_superstep {
            (_, Some(part)) => part,
            (opened, None) => {
                let part = self.part_since(opened);
                self.repeated_parts.push(part);
                let number = migsim_base::units::to_u32(self.repeated_parts.len() - 1);
                self.opened_superstep.1 = Some(number);
                number
            }
        };
        let cause = self.current_cause;
        self.nodes[cause as usize].references += 1;
        let node = Node {
            cause,
            references: 0,
            end: now,
        };
        let activity = Activity {
            kind: PieceKind::Wait,
            superstep,
            process: None,
            to: None,
            work: ActivityWork::Repeat(part),
        };
        let node = self.add_node(node, activity);
        self.set_current_cause(node);
    }

    /// Returns the pieces of the critical path since a superstep opened at time `opened` \[s\]; the times of the pieces count
    /// from that opening.
    fn part_since(&self, opened: f64) -> Vec<Piece> {
        let mut pieces = self.pieces_since(opened);
        for piece in &mut pieces {
            let after = |time: Time| {
                Time::new(time.get() - opened).expect("the pieces are after the opening")
            };
            (piece.begin, piece.end) = (after(piece.begin), after(piece.end));
        }
        pieces
    }

    /// Records that a computation starts on a host at time `now` \[s\].
    pub(super) fn start_computation(&mut self, host: HostId, token: Token, now: f64) {
        self.host_usage.add_user(host.index(), now);
        let _ = self.start_activity(token, ActivityWork::Compute(host, 1), now);
    }

    /// Records that a message starts now.
    pub(super) fn start_message(
        &mut self,
        flight: Flight,
        token: Token,
        engine: &Simulation<'_, Token>,
    ) {
        let now = engine.now().get();
        let (from, to) = flight.end_hosts;
        let route = self.platform.route(from, to);
        let mut flight = flight;
        flight.route_latency = route.as_ref().and_then(|route| route.latency);
        for link in route.iter().flat_map(Route::links) {
            self.link_usage.add_user(link.index(), now);
        }
        let links = self.start_activity(token, ActivityWork::Carry(flight), now);
        links.extend(route.iter().flat_map(Route::links));
    }

    /// Records that a wait starts at time `now` \[s\].
    pub(super) fn start_wait(&mut self, token: Token, now: f64) {
        let _ = self.start_activity(token, ActivityWork::Wait, now);
    }

    /// Records that an activity starts at time `now` \[s\]. Returns the list of links of the activity, which is empty, so that
    /// the caller can add the links that the activity uses.
    fn start_activity(&mut self, token: Token, work: ActivityWork, now: f64) -> &mut Vec<LinkId> {
        let carried = self.message_ends.take();
        let is_carried = matches!(work, ActivityWork::Carry(_));
        let (from, to) = carried.filter(|_| is_carried).unzip();
        let process = process_of(&token).or(from);
        let kind = match token {
            Token::Computed(_) => PieceKind::Compute,
            Token::Delivered(_) => PieceKind::Transfer,
            Token::Begins(_) | Token::Barrier(_) => PieceKind::Barrier,
            Token::Call | Token::Turn(_) => PieceKind::Call,
            Token::Transferred(_) | Token::Settled(_) => PieceKind::Move,
        };
        let cause = self.find_cause(process, now);
        self.nodes[cause as usize].references += 1;
        let activity = Activity {
            kind,
            superstep: self.superstep,
            process,
            to: to.filter(|to| Some(*to) != process),
            work,
        };
        self.running
            .add_activity(token, Running { cause, activity })
    }

    /// Returns the node of the cause of an activity of `process` that starts now. The cause is the previous activity of the same
    /// process if this previous activity ends now, otherwise the activity whose end the runtime is handling.
    fn find_cause(&self, process: Option<ProcessId>, now: f64) -> u32 {
        let own = process.and_then(|process| self.last_of_process.get(process.index()));
        let own = own.copied().filter(|own| *own != ROOT);
        let ends_now = |own: &u32| self.nodes[*own as usize].end == now;
        own.filter(ends_now).unwrap_or(self.current_cause)
    }

    /// Records that the activity with this token has ended, as a new node in the tree of causes.
    pub(super) fn end_activity(&mut self, token: Token, engine: &Simulation<'_, Token>) {
        let now = engine.now().get();
        let Some((mut running, links)) = self.running.remove_activity(token) else {
            return;
        };
        match &mut running.activity.work {
            ActivityWork::Compute(host, sharing) => {
                *sharing = self.host_usage.users_before(host.index(), now);
                self.host_usage.remove_user(host.index(), now);
            }
            ActivityWork::Carry(flight) => {
                let users = |link: usize| self.link_usage.users_before(link, now);
                flight.finish(links, (self.platform, &self.network), engine, users);
                for link in links {
                    self.link_usage.remove_user(link.index(), now);
                }
            }
            ActivityWork::Wait | ActivityWork::Repeat(_) => {}
        }
        let node = Node {
            cause: running.cause, // which was a user of its cause and still is
            references: 1,
            end: now,
        };
        let node = self.add_node(node, running.activity);
        let of = running.activity.to.or(running.activity.process);
        if let Some(process) = of {
            if self.last_of_process.len() <= process.index() {
                self.last_of_process.resize(process.index() + 1, ROOT);
            }
            let before = std::mem::replace(&mut self.last_of_process[process.index()], node);
            self.nodes[node as usize].references += 1;
            if before != ROOT {
                self.release_node(before);
            }
        }
        self.forget_ended(now);
        self.ended_now.push((token, node));
        self.set_current_cause(node);
    }

    /// Sets the cause of all activities that start from now on: the activity with this token, which has ended at the present
    /// time.
    pub(super) fn set_cause(&mut self, token: Token) {
        let found = self.ended_now.iter().rev().find(|ended| ended.0 == token);
        if let Some(&(_, node)) = found {
            self.set_current_cause(node);
        }
    }

    fn set_current_cause(&mut self, node: u32) {
        self.nodes[node as usize].references += 1;
        let before = std::mem::replace(&mut self.current_cause, node);
        self.release_node(before);
    }

    /// Removes the references to the nodes of activities that ended before the present time.
    fn forget_ended(&mut self, now: f64) {
        if let Some(&(_, last)) = self.ended_now.last()
            && self.nodes[last as usize].end != now
        {
            while let Some((_, node)) = self.ended_now.pop() {
                self.release_node(node);
            }
        }
    }

    fn add_node(&mut self, node: Node, activity: Activity) -> u32 {
        if let Some(place) = self.unused_nodes.pop() {
            self.nodes[place as usize] = node;
            self.activities[place as usize] = activity;
            return place;
        }
        self.nodes.push(node);
        self.activities.push(activity);
        migsim_base::units::to_u32(self.nodes.len() - 1)
    }

    /// Removes one reference to a node. A node without references is deleted, which in turn removes its reference to the node of
    /// its cause.
    fn release_node(&mut self, mut node: u32) {
        while node != ROOT {
            let released = &mut self.nodes[node as usize];
            released.references -= 1;
            if released.references > 0 {
                return;
            }
            let cause = released.cause;
            self.unused_nodes.push(node);
            node = cause;
        }
    }

    /// Returns the critical path of the run up to the activity that ended last.
    pub(super) fn critical_path(&self) -> CriticalPath {
        CriticalPath {
            pieces: self.pieces_since(0.0),
        }
    }

    /// Returns the pieces of the critical path from the time `from` \[s\], at which some activity must have ended, to the end of
    /// the last activity.
    fn pieces_since(&self, from: f64) -> Vec<Piece> {
        let mut chain = Vec::new();
        let mut node = self.current_cause;
        while node != ROOT && self.nodes[node as usize].end > from {
            chain.push(node);
            node = self.nodes[node as usize].cause;
        }
        let (mut pieces, mut begin) = (Vec::new(), from);
        for node in chain.into_iter().rev() {
            let end = self.nodes[node as usize].end;
            self.add_pieces(&self.activities[node as usize], (begin, end), &mut pieces);
            begin = end;
        }
        pieces
    }

    /// Appends the pieces of an activity that lasted from `begin` to `end` \[s\] to `pieces`.
    fn add_pieces(&self, activity: &Activity, (begin, end): (f64, f64), pieces: &mut Vec<Piece>) {
        let mut piece = |kind, work, begin: f64, end: f64| {
            if end > begin {
                pieces.push(Piece {
                    kind,
                    begin: time(begin),
                    end: time(end),
                    superstep: activity.superstep,
                    process: activity.process,
                    to: activity.to,
                    work,
                });
            }
        };
        match activity.work {
            ActivityWork::Compute(host, sharing) => {
                let work = PieceWork::Compute { host, sharing };
                piece(activity.kind, work, begin, end);
            }
            ActivityWork::Wait => piece(activity.kind, PieceWork::Fixed, begin, end),
            ActivityWork::Repeat(part) => {
                let part = &self.repeated_parts[part as usize];
                add_repeated_pieces(part, activity.superstep, (begin, end), pieces);
            }
            ActivityWork::Carry(flight) => {
                let is_message = activity.kind == PieceKind::Transfer;
                for (kind, work, begin, end) in split_message(&flight, begin, end) {
                    let kind = if is_message { kind } else { activity.kind };
                    piece(kind, work, begin, end);
                }
            }
        }
    }

    /// Returns the number of nodes for which memory is reserved; only tests use it.
    #[cfg(test)]
    pub(super) fn reserved_nodes(&self) -> usize {
        self.nodes.len()
    }
}

fn time(seconds: f64) -> Time {
    Time::new(seconds).expect("the clock holds times")
}

/// Appends the pieces of a repeated superstep that lasted from `begin` to `end` \[s\] to `pieces`. `part` contains the pieces of
/// the simulated superstep that is repeated.
fn add_repeated_pieces(
    part: &[Piece],
    superstep: usize,
    (begin, end): (f64, f64),
    pieces: &mut Vec<Piece>,
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
            pieces.push(Piece {
                begin: time(before),
                end: time(ends),
                superstep,
                ..*piece
            });
            before = ends;
        }
    }
}

/// Returns the process to which the activity with this token belongs; `None` if the token contains no process.
fn process_of(token: &Token) -> Option<ProcessId> {
    match token {
        Token::Begins(process)
        | Token::Computed(process)
        | Token::Barrier(BarrierMessage::Leave(process)) => Some(ProcessId(*process)),
        _ => None,
    }
}
