//! Records the cause of each activity, and drops the chains that no later activity depends on.
//!
//! Each ended activity is a node with its cause. A node is kept while an activity in progress, a process or another node refers to it. So
//! memory grows with the number of processes and the length of one chain.

use std::collections::BTreeMap;

use super::pieces::{Flight, split};
use super::usage::Usage;
use super::{CriticalPath, Piece, PieceKind, PieceWork};
use crate::event::{BarrierMessage, Token};
use migsim_base::units::{Bytes, HostId, ProcessId, Time};
use migsim_engine::{NetworkModel, Simulation};
use migsim_platform::Platform;

/// The node of time 0.
const ROOT: u32 = 0;

/// An activity that has ended.
#[derive(Clone, Debug)]
struct Node {
    cause: u32,
    /// Number of activities, processes and nodes that refer to it.
    users: u32,
    /// The time of its end \[s\].
    end: f64,
    activity: Activity,
}

/// The description of an activity.
#[derive(Clone, Copy, Debug)]
struct Activity {
    kind: PieceKind,
    superstep: usize,
    process: Option<ProcessId>,
    to: Option<ProcessId>,
    work: Does,
}

/// The work of an activity, as far as it is known while it is in progress.
#[derive(Clone, Copy, Debug)]
enum Does {
    /// Computes on a host, shared by this number of computations.
    Compute(HostId, u32),
    /// Carries a message between two hosts.
    Carry(Flight),
    /// Lets time pass.
    Wait,
}

/// An activity in progress.
#[derive(Clone, Copy, Debug)]
struct Running {
    cause: u32,
    activity: Activity,
}

/// The trace of a run.
#[derive(Clone, Debug)]
pub(super) struct Trace<'p> {
    platform: &'p Platform,
    network: NetworkModel,
    nodes: Vec<Node>,
    free: Vec<u32>,
    /// The activities in progress, ordered by token and then by start.
    running: BTreeMap<(Token, u64), Running>,
    started: u64,
    /// The node of the ended activity to which the run reacts.
    current: u32,
    /// Activities that have ended at the present time, with their nodes; the run may react to them later.
    ended: Vec<(Token, u32)>,
    /// The last node of each process.
    own: Vec<u32>,
    hosts: Usage,
    links: Usage,
    pub(super) superstep: usize,
    pub(super) carried: Option<(ProcessId, ProcessId)>,
}

impl<'p> Trace<'p> {
    pub(super) fn new(platform: &'p Platform, network: NetworkModel) -> Self {
        let root = Node {
            cause: ROOT,
            users: 1,
            end: 0.0,
            activity: Activity {
                kind: PieceKind::Wait,
                superstep: 0,
                process: None,
                to: None,
                work: Does::Wait,
            },
        };
        Self {
            platform,
            network,
            nodes: vec![root],
            free: Vec::new(),
            running: BTreeMap::new(),
            started: 0,
            current: ROOT,
            ended: Vec::new(),
            own: Vec::new(),
            hosts: Usage::new(platform.hosts.len()),
            links: Usage::new(platform.links.len()),
            superstep: 0,
            carried: None,
        }
    }

    /// Records the start of a computation.
    pub(super) fn executes(&mut self, host: HostId, token: Token, now: f64) {
        self.hosts.add(host.index(), now);
        self.start(token, Does::Compute(host, 1), now);
    }

    /// Records the start of a message.
    pub(super) fn sends(
        &mut self,
        (from, to): (HostId, HostId),
        (size, has_handshake): (Bytes, bool),
        token: Token,
        engine: &Simulation<'_, Token>,
    ) {
        let now = engine.now().get();
        if let Some(route) = self.platform.route(from, to) {
            for link in route.links() {
                self.links.add(link.index(), now);
            }
        }
        let flight = Flight::new((from, to), size, has_handshake);
        self.start(token, Does::Carry(flight), now);
    }

    /// Records the start of a wait.
    pub(super) fn waits(&mut self, token: Token, now: f64) {
        self.start(token, Does::Wait, now);
    }

    fn start(&mut self, token: Token, work: Does, now: f64) {
        let carried = self.carried.take();
        let is_carried = matches!(work, Does::Carry(_));
        let (from, to) = carried.filter(|_| is_carried).unzip();
        let process = process_of(&token).or(from);
        let kind = match token {
            Token::Computed(_) => PieceKind::Compute,
            Token::Delivered(_) => PieceKind::Transfer,
            Token::Begins(_) | Token::Barrier(_) => PieceKind::Barrier,
            Token::Call | Token::Turn(_) => PieceKind::Call,
            Token::Transferred(_) | Token::Settled(_) => PieceKind::Move,
        };
        let cause = self.cause(process, now);
        self.nodes[cause as usize].users += 1;
        let activity = Activity {
            kind,
            superstep: self.superstep,
            process,
            to: to.filter(|to| Some(*to) != process),
            work,
        };
        let running = Running { cause, activity };
        self.running.insert((token, self.started), running);
        self.started += 1;
    }

    /// Returns the cause of an activity that a process starts now: its own last activity if that ends now, else the activity to which the run reacts.
    fn cause(&self, process: Option<ProcessId>, now: f64) -> u32 {
        let own = process.and_then(|process| self.own.get(process.index()));
        let own = own.copied().filter(|own| *own != ROOT);
        let ends_now = |own: &u32| self.nodes[*own as usize].end == now;
        own.filter(ends_now).unwrap_or(self.current)
    }

    /// Records the end of an activity.
    pub(super) fn ends(&mut self, token: Token, engine: &Simulation<'_, Token>) {
        let now = engine.now().get();
        let first = self.running.range((token, 0)..=(token, u64::MAX)).next();
        let Some(key) = first.map(|(key, _)| *key) else {
            return;
        };
        let Some(mut running) = self.running.remove(&key) else {
            return;
        };
        match &mut running.activity.work {
            Does::Compute(host, sharing) => {
                *sharing = self.hosts.until(host.index(), now);
                self.hosts.remove(host.index(), now);
            }
            Does::Carry(flight) => {
                let (from, to) = flight.ends;
                if let Some(route) = self.platform.route(from, to) {
                    let users = |link: usize| self.links.until(link, now);
                    flight.land(&route, (self.platform, &self.network), engine, users);
                    for link in route.links() {
                        self.links.remove(link.index(), now);
                    }
                }
            }
            Does::Wait => {}
        }
        let node = self.add(Node {
            cause: running.cause, // which was a user of its cause and still is
            users: 1,
            end: now,
            activity: running.activity,
        });
        let of = running.activity.to.or(running.activity.process);
        if let Some(process) = of {
            if self.own.len() <= process.index() {
                self.own.resize(process.index() + 1, ROOT);
            }
            let before = std::mem::replace(&mut self.own[process.index()], node);
            self.nodes[node as usize].users += 1;
            if before != ROOT {
                self.release(before);
            }
        }
        self.forget_ended(now);
        self.ended.push((token, node));
        self.set_current(node);
    }

    /// Records that the run reacts to an activity that has ended at the present time.
    pub(super) fn reacts_to(&mut self, token: Token) {
        let found = self.ended.iter().rev().find(|ended| ended.0 == token);
        if let Some(&(_, node)) = found {
            self.set_current(node);
        }
    }

    fn set_current(&mut self, node: u32) {
        self.nodes[node as usize].users += 1;
        let before = std::mem::replace(&mut self.current, node);
        self.release(before);
    }

    /// Releases the nodes of activities that ended before the present time.
    fn forget_ended(&mut self, now: f64) {
        if let Some(&(_, last)) = self.ended.last()
            && self.nodes[last as usize].end != now
        {
            for (_, node) in std::mem::take(&mut self.ended) {
                self.release(node);
            }
        }
    }

    fn add(&mut self, node: Node) -> u32 {
        if let Some(place) = self.free.pop() {
            self.nodes[place as usize] = node;
            return place;
        }
        self.nodes.push(node);
        migsim_base::units::to_u32(self.nodes.len() - 1)
    }

    /// Removes one reference to a node; a node without references releases its cause.
    fn release(&mut self, mut node: u32) {
        while node != ROOT {
            let released = &mut self.nodes[node as usize];
            released.users -= 1;
            if released.users > 0 {
                return;
            }
            let cause = released.cause;
            self.free.push(node);
            node = cause;
        }
    }

    /// Returns the path to the activity that ended last.
    pub(super) fn path(&self) -> CriticalPath {
        let mut chain = Vec::new();
        let mut node = self.current;
        while node != ROOT {
            chain.push(node);
            node = self.nodes[node as usize].cause;
        }
        let mut path = CriticalPath::default();
        let mut begin = 0.0;
        for node in chain.into_iter().rev() {
            let node = &self.nodes[node as usize];
            Self::describe(node, begin, &mut path.pieces);
            begin = node.end;
        }
        path
    }

    /// Adds the pieces of an activity.
    fn describe(node: &Node, begin: f64, pieces: &mut Vec<Piece>) {
        let time = |seconds: f64| Time::new(seconds).expect("the clock holds times");
        let activity = &node.activity;
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
            Does::Compute(host, sharing) => {
                let work = PieceWork::Compute { host, sharing };
                piece(activity.kind, work, begin, node.end);
            }
            Does::Wait => piece(activity.kind, PieceWork::Fixed, begin, node.end),
            Does::Carry(flight) => {
                let is_message = activity.kind == PieceKind::Transfer;
                for (kind, work, begin, end) in split(&flight, begin, node.end) {
                    piece(
                        if is_message { kind } else { activity.kind },
                        work,
                        begin,
                        end,
                    );
                }
            }
        }
    }

    /// Returns the number of nodes in use, for the test of memory.
    #[cfg(test)]
    pub(super) fn nodes(&self) -> usize {
        self.nodes.len()
    }
}

/// Returns the process of an activity, if its token names one.
fn process_of(token: &Token) -> Option<ProcessId> {
    match token {
        Token::Begins(process)
        | Token::Computed(process)
        | Token::Barrier(BarrierMessage::Leave(process)) => Some(ProcessId(*process)),
        _ => None,
    }
}
