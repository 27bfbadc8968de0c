//! Replaces MPI collectives by messages, with the algorithms that Open MPI chooses for few processes.
//!
//! Barrier: recursive doubling. Broadcast and reduction: binomial trees. Allreduce: recursive doubling below 10 kB, otherwise a
//! ring. Gather and scatter: linear. Allgather and reduce-scatter: rings. All-to-all: all messages together below 3000 B,
//! otherwise by pairs. Scan: a chain. Collectives of neighbours: all messages together.

/// Kind of an MPI collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Barrier,
    Bcast,
    Reduce,
    Allreduce,
    Gather,
    Scatter,
    Allgather,
    Alltoall,
    ReduceScatter,
    Scan,
    /// A collective between the neighbours in a topology; the record lists its messages.
    Neighbours,
}

/// Minimum size \[B\] at which an allreduce uses a ring (Open MPI 4.1, fixed decisions).
const RING_MIN_BYTES: u64 = 10_000;
/// Minimum size \[B\] at which an all-to-all proceeds by pairs (Open MPI 4.1, fixed decisions).
const PAIRS_MIN_BYTES: u64 = 3_000;

impl Kind {
    /// Returns the collective with this name in a record; `None` if there is none.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "barrier" => Self::Barrier,
            "bcast" => Self::Bcast,
            "reduce" => Self::Reduce,
            "allreduce" => Self::Allreduce,
            "gather" => Self::Gather,
            "scatter" => Self::Scatter,
            "allgather" => Self::Allgather,
            "alltoall" => Self::Alltoall,
            "reduce_scatter" => Self::ReduceScatter,
            "scan" => Self::Scan,
            _ => return None,
        })
    }
}

/// The part of one process in a collective.
#[derive(Clone, Debug)]
pub(super) struct Collective {
    /// Kind of the collective.
    pub(super) kind: Kind,
    /// Id of the communicator.
    pub(super) group: u64,
    /// Number of processes in the communicator.
    pub(super) members: usize,
    /// Rank of the process in the communicator.
    pub(super) rank: usize,
    /// Rank of the root in the communicator, for kinds of collectives that have one.
    pub(super) root: usize,
    /// Size of each message \[B\], unless `sizes` is given.
    pub(super) bytes: u64,
    /// Size of the data \[B\] for each member of the communicator; empty if all sizes are `bytes`.
    pub(super) sizes: Vec<u64>,
    /// Messages of the process in a collective of neighbours; empty for other kinds.
    pub(super) neighbours: Vec<Move>,
}

/// A message of a collective, from the point of view of one process: sent to or received from a member of the communicator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Move {
    Send(usize, u64),
    Receive(usize),
}
use Move::{Receive, Send};

impl Collective {
    /// Returns the size of the data for a member \[B\].
    fn size_of(&self, member: usize) -> u64 {
        self.sizes.get(member).copied().unwrap_or(self.bytes)
    }

    /// Returns the ranks of the other members.
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.rank;
        (0..self.members).filter(move |&member| member != me)
    }

    /// Returns the messages that the process sends and receives, in order.
    pub(super) fn messages(&self) -> Vec<Move> {
        let (me, root) = (self.rank, self.root);
        match self.kind {
            Kind::Allreduce if self.bytes >= RING_MIN_BYTES => {
                let part = self.bytes.div_ceil(self.members as u64);
                self.ring(2 * (self.members - 1), |_| part)
            }
            Kind::Barrier | Kind::Allreduce => self.doubling(),
            Kind::Bcast => self.tree(),
            Kind::Reduce => {
                let mut moves = self.tree();
                moves.reverse();
                let turned = |step: Move| match step {
                    Send(to, _) => Receive(to),
                    Receive(from) => Send(from, self.bytes),
                };
                moves.into_iter().map(turned).collect()
            }
            Kind::Gather if me == root => self.others().map(Receive).collect(),
            Kind::Gather => vec![Send(root, self.bytes)],
            Kind::Scatter if me == root => {
                self.others().map(|to| Send(to, self.size_of(to))).collect()
            }
            Kind::Scatter => vec![Receive(root)],
            Kind::Allgather | Kind::ReduceScatter => self.ring(self.members - 1, |round| {
                let back = round % self.members;
                self.size_of((me + self.members - back) % self.members)
            }),
            Kind::Alltoall if self.largest_size() < PAIRS_MIN_BYTES => {
                let sends = self.others().map(|to| Send(to, self.size_of(to)));
                sends.chain(self.others().map(Receive)).collect()
            }
            Kind::Alltoall => (1..self.members)
                .flat_map(|away| {
                    let to = (me + away) % self.members;
                    let from = (me + self.members - away) % self.members;
                    [Send(to, self.size_of(to)), Receive(from)]
                })
                .collect(),
            Kind::Neighbours => self.neighbours.clone(),
            Kind::Scan => {
                let before = (me > 0).then(|| Receive(me - 1));
                let after = (me + 1 < self.members).then_some(Send(me + 1, self.bytes));
                before.into_iter().chain(after).collect()
            }
        }
    }

    /// Returns the largest size of the data for a member \[B\].
    fn largest_size(&self) -> u64 {
        self.sizes.iter().copied().max().unwrap_or(self.bytes)
    }

    /// Returns the messages of a ring: in each round, the process sends to the next member and receives from the previous one.
    /// `size` gives the size \[B\] in a round.
    fn ring(&self, rounds: usize, size: impl Fn(usize) -> u64) -> Vec<Move> {
        let next = (self.rank + 1) % self.members;
        let before = (self.rank + self.members - 1) % self.members;
        let rounds = 0..if self.members > 1 { rounds } else { 0 };
        (rounds.flat_map(|round| [Send(next, size(round)), Receive(before)])).collect()
    }

    /// Returns the messages of recursive doubling. Members beyond the largest power of two send to a partner at the beginning and
    /// receive from it at the end.
    fn doubling(&self) -> Vec<Move> {
        let (me, bytes) = (self.rank, self.bytes);
        let power = 1 << self.members.ilog2();
        if me >= power {
            return vec![Send(me - power, bytes), Receive(me - power)];
        }
        let partner = (me + power < self.members).then_some(me + power);
        let mut moves: Vec<Move> = partner.map(Receive).into_iter().collect();
        let mut distance = 1;
        while distance < power {
            moves.extend([Send(me ^ distance, bytes), Receive(me ^ distance)]);
            distance *= 2;
        }
        moves.extend(partner.map(|partner| Send(partner, bytes)));
        moves
    }

    /// Returns the messages of the process in a broadcast along a binomial tree from the root.
    fn tree(&self) -> Vec<Move> {
        let count = self.members;
        let place = (self.rank + count - self.root) % count;
        let member = |place: usize| (place + self.root) % count;
        let mut moves = Vec::new();
        let mut distance = 1;
        while distance < count && place & distance == 0 {
            distance *= 2;
        }
        if place > 0 {
            moves.push(Receive(member(place - distance)));
        }
        while distance > 1 {
            distance /= 2;
            if place + distance < count {
                moves.push(Send(member(place + distance), self.bytes));
            }
        }
        moves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_of_a_collective_is_sent_and_received() {
        let names = [
            "barrier",
            "bcast",
            "reduce",
            "allreduce",
            "gather",
            "scatter",
            "allgather",
            "alltoall",
            "reduce_scatter",
            "scan",
        ];
        for (name, members, bytes) in names
            .iter()
            .flat_map(|name| (1..14).flat_map(move |n| [(name, n, 8), (name, n, 1 << 20)]))
        {
            let mut balance = std::collections::BTreeMap::new();
            for me in 0..members {
                let kind = Kind::from_name(name).unwrap();
                let part = Collective {
                    kind,
                    group: 0,
                    members,
                    rank: me,
                    root: members / 2,
                    bytes,
                    sizes: Vec::new(),
                    neighbours: Vec::new(),
                };
                for step in part.messages() {
                    match step {
                        Send(to, _) => *balance.entry((me, to)).or_insert(0) += 1,
                        Receive(from) => *balance.entry((from, me)).or_insert(0) -= 1,
                    }
                }
            }
            assert!(
                balance.values().all(|&left| left == 0),
                "{name} of {members}: {balance:?}"
            );
        }
    }
}
