//! Families of communication patterns, such as a broadcast along a tree: the messages of an exchange between any number of
//! processes.
//!
//! A family lists the messages of each superstep of an exchange. The messages are divided into slots; all messages of a slot have
//! the same size. The supersteps of trees and chains follow the logical clock of a recording: a process sends in the superstep
//! after the superstep in which it has received.

use std::fmt;

/// A message of an exchange: the process that sends the message, the process that receives it, and the slot of the message; all
/// messages of a slot have the same size.
pub(super) type FamilyMessage = (usize, usize, usize);

/// Pattern of the messages in one exchange between all processes of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PatternFamily {
    /// Recursive doubling: in round k, each process sends to the process whose number differs in bit k. The family exists only if
    /// the number of processes is a power of two.
    RecursiveDoubling,
    /// Recursive doubling with messages that double in size in each round, as in an allgather.
    AllgatherDoubling,
    /// Recursive halving: messages that halve in size in each round, and rounds in the reverse order that double the size again,
    /// as in a large allreduce.
    RecursiveHalving,
    /// A ring: in each superstep, each process sends to the next process. One turn takes P - 1 supersteps for P processes; there
    /// are `turns` turns.
    Ring { turns: usize },
    /// All-to-all by pairs: in round k, each process sends to the process whose number is higher by k, modulo the number of
    /// processes.
    AllToAllByPairs,
    /// A grid: each process sends to its neighbours in all dimensions, in one superstep.
    Grid {
        dimensions: usize,
        is_periodic: bool,
        /// Whether the last dimension of the grid is the longest; otherwise the first dimension is the longest.
        is_last_dimension_longest: bool,
    },
    /// A cyclic shift in one superstep: each process sends to the next process, or to the previous process if not `is_forward`.
    Shift { is_forward: bool },
    /// A shift in one superstep in which the last process, or the first process if not `is_forward`, sends nothing.
    OpenShift { is_forward: bool },
    /// All-to-all in one superstep: each process sends to all other processes.
    AllToAll,
    /// A broadcast from process 0 along a binomial tree.
    Broadcast,
    /// A reduction to process 0 along a binomial tree.
    Reduction,
    /// A gather in one superstep: all other processes send to process 0.
    Gather,
    /// A scatter in one superstep: process 0 sends to all other processes.
    Scatter,
    /// A chain: in each superstep, one process sends to the next process, beginning with process 0.
    Chain,
    /// A superstep without messages, in which processes only compute.
    NoMessages,
}

/// All families, in the order of preference: if several families describe equally many supersteps of a recording, the first in
/// this list is chosen.
pub(super) const ALL_FAMILIES: [PatternFamily; 27] = [
    PatternFamily::NoMessages,
    PatternFamily::RecursiveDoubling,
    PatternFamily::AllgatherDoubling,
    PatternFamily::RecursiveHalving,
    PatternFamily::Ring { turns: 2 },
    PatternFamily::Ring { turns: 1 },
    PatternFamily::AllToAllByPairs,
    PatternFamily::grid(1, false, false),
    PatternFamily::grid(1, true, false),
    PatternFamily::grid(2, false, false),
    PatternFamily::grid(2, false, true),
    PatternFamily::grid(2, true, false),
    PatternFamily::grid(2, true, true),
    PatternFamily::grid(3, false, false),
    PatternFamily::grid(3, false, true),
    PatternFamily::grid(3, true, false),
    PatternFamily::grid(3, true, true),
    PatternFamily::Shift { is_forward: true },
    PatternFamily::Shift { is_forward: false },
    PatternFamily::OpenShift { is_forward: true },
    PatternFamily::OpenShift { is_forward: false },
    PatternFamily::AllToAll,
    PatternFamily::Broadcast,
    PatternFamily::Reduction,
    PatternFamily::Gather,
    PatternFamily::Scatter,
    PatternFamily::Chain,
];

impl PatternFamily {
    /// Creates a family of exchanges with the neighbours in a grid.
    const fn grid(dimensions: usize, is_periodic: bool, is_reversed: bool) -> Self {
        Self::Grid {
            dimensions,
            is_periodic,
            is_last_dimension_longest: is_reversed,
        }
    }

    /// Returns the messages of each superstep of an exchange between `count` processes; `None` if the family does not exist for
    /// this number of processes.
    pub(super) fn messages_by_superstep(self, count: usize) -> Option<Vec<Vec<FamilyMessage>>> {
        let all = 0..count;
        let to = |away: usize| -> Vec<FamilyMessage> {
            all.clone()
                .map(|from| (from, (from + away) % count, 0))
                .collect()
        };
        let round = |bit: usize| -> Vec<FamilyMessage> {
            all.clone()
                .map(|from| (from, from ^ (1 << bit), 0))
                .collect()
        };
        let rounds = 0..count.ilog2() as usize;
        Some(match self {
            Self::RecursiveDoubling | Self::AllgatherDoubling | Self::RecursiveHalving
                if !count.is_power_of_two() =>
            {
                return None;
            }
            Self::RecursiveDoubling | Self::AllgatherDoubling => rounds.map(round).collect(),
            Self::RecursiveHalving => rounds.clone().chain(rounds.rev()).map(round).collect(),
            Self::Ring { turns } => (0..turns * (count - 1)).map(|_| to(1)).collect(),
            Self::AllToAllByPairs => (1..count).map(to).collect(),
            Self::Grid {
                dimensions,
                is_periodic,
                is_last_dimension_longest: is_reversed,
            } => vec![neighbour_messages(
                &grid_sides(count, dimensions, is_reversed),
                is_periodic,
            )],
            Self::Shift { is_forward: true } => vec![to(1)],
            Self::Shift { is_forward: false } => vec![to(count - 1)],
            Self::OpenShift { is_forward: true } => {
                vec![(1..count).map(|to| (to - 1, to, 0)).collect()]
            }
            Self::OpenShift { .. } => vec![(1..count).map(|from| (from, from - 1, 0)).collect()],
            Self::AllToAll => vec![(1..count).flat_map(to).collect()],
            Self::Broadcast => broadcast_messages(count),
            Self::Reduction => {
                let turned = |step: Vec<FamilyMessage>| {
                    step.into_iter()
                        .map(|(from, to, slot)| (to, from, slot))
                        .collect()
                };
                schedule_reduction_messages(
                    broadcast_messages(count).into_iter().map(turned).collect(),
                    count,
                )
            }
            Self::Gather => vec![(1..count).map(|from| (from, 0, 0)).collect()],
            Self::Scatter => vec![(1..count).map(|to| (0, to, 0)).collect()],
            Self::Chain => (1..count).map(|to| vec![(to - 1, to, 0)]).collect(),
            Self::NoMessages => vec![Vec::new()],
        })
    }

    /// Returns the size of the messages in superstep `step` of the `steps` supersteps of an exchange, relative to the size of
    /// their slot.
    pub(super) fn relative_message_size(self, step: usize, steps: usize) -> f64 {
        let exponent = match self {
            Self::AllgatherDoubling => step as f64,
            Self::RecursiveHalving => -1.0 - step.min(steps - 1 - step) as f64,
            _ => 0.0,
        };
        exponent.exp2()
    }

    /// Returns the number of slots of the family, which is the number of different message sizes that it can have.
    pub(super) fn slot_count(self) -> usize {
        match self {
            Self::Grid { dimensions, .. } => dimensions,
            Self::NoMessages => 0,
            _ => 1,
        }
    }

    /// Returns the number of processes in a cross-section of the grid perpendicular to the dimension `slot`: the product of the
    /// lengths of the other dimensions; 1 for other families.
    pub(super) fn cross_section_process_count(self, slot: usize, count: usize) -> usize {
        match self {
            Self::Grid {
                dimensions,
                is_last_dimension_longest: is_reversed,
                ..
            } => count / grid_sides(count, dimensions, is_reversed)[slot],
            _ => 1,
        }
    }
}

impl fmt::Display for PatternFamily {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RecursiveDoubling => out.write_str("recursive doubling"),
            Self::AllgatherDoubling => out.write_str("allgather by recursive doubling"),
            Self::RecursiveHalving => out.write_str("allreduce by recursive halving"),
            Self::Ring { turns: 1 } => out.write_str("one round of a ring"),
            Self::Ring { .. } => out.write_str("two rounds of a ring"),
            Self::AllToAllByPairs => out.write_str("all-to-all by pairs"),
            Self::Grid {
                dimensions,
                is_periodic,
                ..
            } => {
                let edges = if *is_periodic { "periodic" } else { "open" };
                write!(
                    out,
                    "neighbours in an {edges} grid of dimension {dimensions}"
                )
            }
            Self::Shift { is_forward: true } => out.write_str("shift to the next process"),
            Self::Shift { .. } => out.write_str("shift to the previous process"),
            Self::OpenShift { is_forward: true } => {
                out.write_str("shift to the next process, except from the last one")
            }
            Self::OpenShift { .. } => {
                out.write_str("shift to the previous process, except from the first one")
            }
            Self::AllToAll => out.write_str("all-to-all in one step"),
            Self::Broadcast => out.write_str("broadcast along a tree"),
            Self::Reduction => out.write_str("reduction along a tree"),
            Self::Gather => out.write_str("gather"),
            Self::Scatter => out.write_str("scatter"),
            Self::Chain => out.write_str("chain"),
            Self::NoMessages => out.write_str("computation"),
        }
    }
}

/// Returns the lengths of the sides of a grid of `count` processes: as equal as possible, with the longest side first (as in
/// `MPI_Dims_create`), or last if `is_reversed`.
fn grid_sides(count: usize, dimensions: usize, is_reversed: bool) -> Vec<usize> {
    let mut lengths = vec![1; dimensions];
    let mut left = count;
    let mut factors = Vec::new();
    let mut factor = 2;
    while left > 1 {
        if left.is_multiple_of(factor) {
            factors.push(factor);
            left /= factor;
        } else {
            factor += 1;
        }
    }
    // The largest factors come first, each for the shortest side.
    for factor in factors.into_iter().rev() {
        if let Some(shortest) = lengths.iter_mut().min() {
            *shortest *= factor;
        }
    }
    lengths.sort_unstable();
    if !is_reversed {
        lengths.reverse();
    }
    lengths
}

/// Returns the messages that all processes of a grid send to both neighbours in each dimension; the last dimension varies
/// fastest, and the slot of a message is its dimension.
fn neighbour_messages(shape: &[usize], is_periodic: bool) -> Vec<FamilyMessage> {
    let count: usize = shape.iter().product();
    let mut sent = Vec::new();
    let mut stride = count;
    for (dimension, &length) in shape.iter().enumerate() {
        stride /= length;
        for from in 0..count {
            let at = from / stride % length;
            let place = |at: usize, to: usize| from + to * stride - at * stride;
            let before = if at > 0 {
                Some(at - 1)
            } else {
                is_periodic.then_some(length - 1)
            };
            let after = if at + 1 < length {
                Some(at + 1)
            } else {
                is_periodic.then_some(0)
            };
            let others = before.into_iter().chain(after).filter(|to| *to != at);
            sent.extend(others.map(|to| (from, place(at, to), dimension)));
        }
    }
    sent
}

/// Returns the messages of a broadcast from process 0 to `count` processes along a binomial tree: one list for each number of
/// hops along the tree from process 0 to the sender.
fn broadcast_messages(count: usize) -> Vec<Vec<FamilyMessage>> {
    let mut steps: Vec<Vec<FamilyMessage>> = Vec::new();
    for to in 1..count {
        let parent = to & (to - 1);
        let hops = parent.count_ones() as usize;
        steps.resize_with(steps.len().max(hops + 1), Vec::new);
        steps[hops].push((parent, to, 0));
    }
    steps
}

/// Distributes the messages of a reduction along a tree over supersteps: each message is sent in the superstep after the last
/// superstep in which its sender receives a message.
fn schedule_reduction_messages(
    steps: Vec<Vec<FamilyMessage>>,
    count: usize,
) -> Vec<Vec<FamilyMessage>> {
    let mut heights = vec![0; count];
    let mut found: Vec<Vec<FamilyMessage>> = Vec::new();
    // The order starts at the leaves: most hops first, of equal ones the largest number first.
    for message in steps
        .into_iter()
        .rev()
        .flat_map(|step| step.into_iter().rev())
    {
        let (from, to, _) = message;
        let height = heights[from];
        heights[to] = heights[to].max(height + 1);
        found.resize_with(found.len().max(height + 1), Vec::new);
        found[height].push(message);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_as_square_as_mpi_makes_them() {
        assert_eq!(grid_sides(12, 2, false), [4, 3]);
        assert_eq!(grid_sides(8, 2, true), [2, 4]);
        assert_eq!(grid_sides(64, 3, false), [4, 4, 4]);
        assert_eq!(grid_sides(7, 2, false), [7, 1]);
    }

    #[test]
    fn neighbours_are_beside_each_other() {
        // 2 x 2, the last dimension fastest: 0 1 / 2 3.
        let mut sent = neighbour_messages(&[2, 2], false);
        sent.sort_unstable();
        assert_eq!(
            sent,
            [
                (0, 1, 1),
                (0, 2, 0),
                (1, 0, 1),
                (1, 3, 0),
                (2, 0, 0),
                (2, 3, 1),
                (3, 1, 0),
                (3, 2, 1)
            ]
        );
        // A periodic side of two has its neighbour in both directions, a side of one has none.
        assert_eq!(
            neighbour_messages(&[2, 1], true),
            [(0, 1, 0), (0, 1, 0), (1, 0, 0), (1, 0, 0)]
        );
    }

    #[test]
    fn trees_follow_the_logical_clock() {
        let broadcast = PatternFamily::Broadcast.messages_by_superstep(4).unwrap();
        assert_eq!(broadcast, [vec![(0, 1, 0), (0, 2, 0)], vec![(2, 3, 0)]]);
        let reduction = PatternFamily::Reduction.messages_by_superstep(4).unwrap();
        assert_eq!(reduction, [vec![(3, 2, 0), (1, 0, 0)], vec![(2, 0, 0)]]);
    }

    #[test]
    fn sizes_double_in_an_allgather_and_halve_in_an_allreduce() {
        let factors = |family: PatternFamily, steps| {
            (0..steps).map(move |step| family.relative_message_size(step, steps))
        };
        assert!(factors(PatternFamily::AllgatherDoubling, 3).eq([1.0, 2.0, 4.0]));
        assert!(factors(PatternFamily::RecursiveHalving, 4).eq([0.5, 0.25, 0.25, 0.5]));
        let steps = PatternFamily::RecursiveHalving
            .messages_by_superstep(4)
            .unwrap();
        assert_eq!(steps[1][0], (0, 2, 0));
        assert_eq!((steps.len(), &steps[1]), (4, &steps[2]));
    }

    #[test]
    fn every_family_sends_between_known_processes() {
        for family in ALL_FAMILIES {
            for count in [2, 3, 4, 8, 12] {
                let steps = family.messages_by_superstep(count).unwrap_or_default();
                let all: Vec<FamilyMessage> = steps.into_iter().flatten().collect();
                assert!(
                    all.iter().all(|(from, to, slot)| from != to
                        && *from < count
                        && *to < count
                        && *slot < family.slot_count()),
                    "{family} {count}"
                );
                assert_eq!(
                    all.is_empty(),
                    family == PatternFamily::NoMessages
                        || family.messages_by_superstep(count).is_none()
                            && !count.is_power_of_two()
                );
            }
        }
    }
}
