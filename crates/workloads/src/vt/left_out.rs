//! Counts data that a BSP application does not have.

use std::collections::BTreeMap;

use migsim_base::words::counted;

/// A kind of input data that the reader ignores, since a BSP application has nothing like it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A message of a task to itself.
    ToItself,
    /// A message from or to a task that the data does not have.
    UnknownTask,
    /// A broadcast.
    Broadcast,
    /// A communication of any other type.
    OtherCommunication,
    /// A task that is no object.
    NoObject,
    /// A list of subphases.
    Subphases,
    /// An iteration of a balancer.
    Iteration,
    /// The share of a task in a block of memory.
    SharedBlock,
    /// A value of `user_defined` or `attributes`.
    UserDefined,
    /// A key that vt's schema does not have.
    UnknownKey,
}

impl Kind {
    /// Returns its name, for one and for several.
    const fn words(self) -> [&'static str; 2] {
        match self {
            Self::ToItself => [
                "message of a task to itself",
                "messages of tasks to themselves",
            ],
            Self::UnknownTask => [
                "message with an unknown task",
                "messages with unknown tasks",
            ],
            Self::Broadcast => ["broadcast", "broadcasts"],
            Self::OtherCommunication => [
                "communication of another type",
                "communications of other types",
            ],
            Self::NoObject => ["task that is no object", "tasks that are no objects"],
            Self::Subphases => ["list of subphases", "lists of subphases"],
            Self::Iteration => ["iteration of a balancer", "iterations of a balancer"],
            Self::SharedBlock => ["use of a shared block", "uses of shared blocks"],
            Self::UserDefined => ["user-defined value", "user-defined values"],
            Self::UnknownKey => ["unknown key", "unknown keys"],
        }
    }
}

/// The number of times that each kind was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LeftOut(BTreeMap<Kind, u64>);

impl LeftOut {
    /// Counts one item.
    pub(super) fn add(&mut self, kind: Kind) {
        self.add_many(kind, 1);
    }

    /// Counts several items.
    pub(super) fn add_many(&mut self, kind: Kind, count: u64) {
        if count > 0 {
            *self.0.entry(kind).or_default() += count;
        }
    }

    /// Adds the counts of another part of the data.
    pub(super) fn merge(&mut self, other: &Self) {
        for (kind, count) in &other.0 {
            self.add_many(*kind, *count);
        }
    }

    /// Describes all counts, or `None` if nothing was left out.
    pub(super) fn words(&self) -> Option<String> {
        let one = |(kind, count): (&Kind, &u64)| {
            let [one, several] = kind.words();
            let name = if *count == 1 { one } else { several };
            let hint = match kind {
                Kind::Broadcast => " (`--set workload.broadcasts=send` keeps them)",
                _ => "",
            };
            format!("{count} {name}{hint}")
        };
        let all: Vec<String> = self.0.iter().map(one).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

/// Returns the first part of the note: the amount of data that was read.
pub(super) fn read(ranks: usize, tasks: usize, pinned: usize, phases: usize) -> String {
    let stay = match pinned {
        0 => String::new(),
        some => format!(" ({some} of them may not migrate)"),
    };
    format!(
        "{}, {}{stay}, {}",
        counted(ranks, "rank"),
        counted(tasks, "task"),
        counted(phases, "phase")
    )
}
