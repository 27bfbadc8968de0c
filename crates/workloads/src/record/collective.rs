//! Converts MPI collectives into messages by formulas, for MPI libraries whose messages the recorder does not see. Records of
//! Open MPI have the messages themselves.
//!
//! Barrier: recursive doubling. Broadcast: a binomial tree, or linear if it is large. Reduction: a binomial tree. Allreduce:
//! recursive doubling, or recursive halving and doubling (Rabenseifner) if it is large. Allgather: recursive doubling, or the
//! algorithm of Bruck if the blocks differ or the number of processes is no power of two. All-to-all: all messages at the same
//! time. Reduce-scatter: a ring. Gather and scatter: linear. Scan: a chain. Collectives of neighbours: all messages at the same
//! time.
//!
//! The formulas are simple algorithms of the textbooks. The limits of sizes are those of Open MPI 4.1.4
//! (`coll_tuned_decision_fixed.c`). Each library has its own choices, which also depend on its version and the number of processes.

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CollectiveKind {
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
    /// A collective between the neighbours in a topology; the record lists the messages of the process.
    Neighbours,
}

/// Minimum size \[B\] from which an allreduce uses recursive halving (Open MPI 4.1.4, fixed decisions for 4 to 15 processes).
const MIN_HALVING_BYTES: u64 = 8_192;
/// Minimum size \[B\] from which a broadcast is linear: the root sends to all other processes (Open MPI 4.1.4, fixed decisions
/// for 8 to 15 processes).
const MIN_LINEAR_BYTES: u64 = 32_768;
/// Range of the numbers of processes for which large broadcasts are linear (Open MPI 4.1.4, fixed decisions).
const LINEAR_PROCESSES: Range<usize> = 4..16;

impl CollectiveKind {
    /// Returns the kind of collective that has this name in a record; `None` if the name is unknown.
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

/// A collective operation from the point of view of one process: its communicator, its data, and the rank of the process.
#[derive(Clone, Debug)]
pub(super) struct Collective {
    pub kind: CollectiveKind,
    pub communicator_id: u64,
    /// Number of processes in the communicator.
    pub member_count: usize,
    pub rank: usize,
    pub root: usize,
    /// Size of the data of each process or of each message \[B\], unless a separate list states a size for each member.
    pub data_bytes: u64,
    /// Size of the data \[B\] for each member of the communicator; empty if the size is the same for all members.
    pub member_data_bytes: Vec<u64>,
    pub neighbour_messages: Vec<CollectiveMessage>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CollectiveMessage {
    Send(usize, u64),
    Receive(usize),
}
use CollectiveMessage::{Receive, Send};

impl Collective {
    /// Returns the size of the data for the member of the communicator with this rank \[B\].
    fn data_size_of(&self, member: usize) -> u64 {
        self.member_data_bytes
            .get(member)
            .copied()
            .unwrap_or(self.data_bytes)
    }

    /// Returns whether the data of all members of the communicator has the same size.
    fn has_equal_sizes(&self) -> bool {
        self.member_data_bytes
            .windows(2)
            .all(|pair| pair[0] == pair[1])
    }

    fn other_ranks(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.rank;
        (0..self.member_count).filter(move |&member| member != me)
    }

    pub(super) fn messages(&self) -> Vec<CollectiveMessage> {
        let me = self.rank;
        let root = self.root;
        match self.kind {
            CollectiveKind::Allreduce if self.data_bytes >= MIN_HALVING_BYTES => {
                self.halving_messages()
            }
            CollectiveKind::Barrier | CollectiveKind::Allreduce => {
                self.doubling_messages(|_| self.data_bytes)
            }
            CollectiveKind::Bcast
                if self.data_bytes >= MIN_LINEAR_BYTES
                    && LINEAR_PROCESSES.contains(&self.member_count) =>
            {
                self.linear_messages()
            }
            CollectiveKind::Bcast => self.tree_messages(),
            CollectiveKind::Reduce => {
                let mut moves = self.tree_messages();
                moves.reverse();
                moves
                    .into_iter()
                    .map(|step| match step {
                        Send(to, _) => Receive(to),
                        Receive(from) => Send(from, self.data_bytes),
                    })
                    .collect()
            }
            CollectiveKind::Gather if me == root => self.other_ranks().map(Receive).collect(),
            CollectiveKind::Gather => vec![Send(root, self.data_bytes)],
            CollectiveKind::Scatter => self.linear_messages(),
            CollectiveKind::Allgather
                if self.has_equal_sizes() && self.member_count.is_power_of_two() =>
            {
                self.doubling_messages(|distance| self.data_size_of(0) * distance as u64)
            }
            CollectiveKind::Allgather => self.bruck_messages(),
            CollectiveKind::ReduceScatter => self.ring_messages(),
            CollectiveKind::Alltoall => self
                .other_ranks()
                .map(|to| Send(to, self.data_size_of(to)))
                .chain(self.other_ranks().map(Receive))
                .collect(),
            CollectiveKind::Neighbours => self.neighbour_messages.clone(),
            CollectiveKind::Scan => {
                let before = (me > 0).then(|| Receive(me - 1));
                let after = (me + 1 < self.member_count).then_some(Send(me + 1, self.data_bytes));
                before.into_iter().chain(after).collect()
            }
        }
    }

    fn linear_messages(&self) -> Vec<CollectiveMessage> {
        if self.rank != self.root {
            return vec![Receive(self.root)];
        }
        self.other_ranks()
            .map(|to| Send(to, self.data_size_of(to)))
            .collect()
    }

    /// Returns the messages of the process along a ring: in each round, it sends data to the next member and receives data from
    /// the previous member.
    fn ring_messages(&self) -> Vec<CollectiveMessage> {
        let me = self.rank;
        let members = self.member_count;
        let next = (me + 1) % members;
        let before = (me + members - 1) % members;
        let part = |round: usize| self.data_size_of((me + members - round) % members);
        (0..members - 1)
            .flat_map(|round| [Send(next, part(round)), Receive(before)])
            .collect()
    }

    /// Returns the messages of the process in Bruck's allgather. At each distance d (1, 2, 4, ...), it sends at most d parts of
    /// the data to the member whose rank is d lower, modulo the number of members.
    fn bruck_messages(&self) -> Vec<CollectiveMessage> {
        let me = self.rank;
        let members = self.member_count;
        let mut moves = Vec::new();
        let mut distance = 1;
        while distance < members {
            let parts = me..me + distance.min(members - distance);
            let bytes = parts.map(|part| self.data_size_of(part % members)).sum();
            let to = (me + members - distance) % members;
            moves.extend([Send(to, bytes), Receive((me + distance) % members)]);
            distance *= 2;
        }
        moves
    }

    /// Returns the messages of the process in recursive doubling; `size` returns the size of the message \[B\] for the distance
    /// in ranks.
    fn doubling_messages(&self, size: impl Fn(usize) -> u64) -> Vec<CollectiveMessage> {
        let power = 1 << self.member_count.ilog2();
        let distances = std::iter::successors(Some(1), |distance| Some(distance * 2));
        self.exchange_messages(distances.take_while(|&distance| distance < power), size)
    }

    /// Returns the messages of the process in an allreduce: recursive halving leaves each process a part of the sum, and
    /// recursive doubling gathers the parts (Rabenseifner 2004).
    fn halving_messages(&self) -> Vec<CollectiveMessage> {
        let rounds = self.member_count.ilog2();
        let distances = (0..rounds).chain((0..rounds).rev()).map(|round| 1 << round);
        self.exchange_messages(distances, |distance| {
            self.data_bytes.div_ceil(2 * distance as u64)
        })
    }

    /// Returns the messages in which the process exchanges data with the member at each distance in ranks. Each member beyond the
    /// largest power of two first sends its data to a partner, and receives the result from this partner at the end.
    fn exchange_messages(
        &self,
        distances: impl Iterator<Item = usize>,
        size: impl Fn(usize) -> u64,
    ) -> Vec<CollectiveMessage> {
        let me = self.rank;
        let bytes = self.data_bytes;
        let power = 1 << self.member_count.ilog2();
        if me >= power {
            return vec![Send(me - power, bytes), Receive(me - power)];
        }
        let partner = (me + power < self.member_count).then_some(me + power);
        let before = partner.map(Receive);
        let after = partner.map(|partner| Send(partner, bytes));
        let rounds = distances.flat_map(|distance| {
            let other = me ^ distance;
            [Send(other, size(distance)), Receive(other)]
        });
        before.into_iter().chain(rounds).chain(after).collect()
    }

    fn tree_messages(&self) -> Vec<CollectiveMessage> {
        let count = self.member_count;
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
                moves.push(Send(member(place + distance), self.data_bytes));
            }
        }
        moves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, members: usize, me: usize, bytes: u64) -> Collective {
        Collective {
            kind: CollectiveKind::from_name(name).unwrap(),
            communicator_id: 0,
            member_count: members,
            rank: me,
            root: members / 2,
            data_bytes: bytes,
            member_data_bytes: Vec::new(),
            neighbour_messages: Vec::new(),
        }
    }

    #[test]
    fn large_collectives_take_the_algorithms_of_open_mpi() {
        // Process 1 of 4. Halving: half of the data with 0, a quarter with 3, and back.
        assert_eq!(
            part("allreduce", 4, 1, 8192).messages(),
            [
                Send(0, 4096),
                Receive(0),
                Send(3, 2048),
                Receive(3),
                Send(3, 2048),
                Receive(3),
                Send(0, 4096),
                Receive(0)
            ]
        );
        // Its own block with 0, then the blocks of 0 and 1 with 3.
        assert_eq!(
            part("allgather", 4, 1, 100).messages(),
            [Send(0, 100), Receive(0), Send(3, 200), Receive(3)]
        );
        // Blocks of 10, 20 and 40 B: 20 B to 0, then the last missing block, of 20 B, to 2.
        let mut uneven = part("allgather", 3, 1, 0);
        uneven.member_data_bytes = vec![10, 20, 40];
        assert_eq!(
            uneven.messages(),
            [Send(0, 20), Receive(2), Send(2, 20), Receive(0)]
        );
        // The root of 4 is 2. A small broadcast reaches 1 by way of 0.
        assert_eq!(part("bcast", 4, 1, 32_768).messages(), [Receive(2)]);
        assert_eq!(part("bcast", 4, 1, 32_767).messages(), [Receive(0)]);
    }

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
                for step in part(name, members, me, bytes).messages() {
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
