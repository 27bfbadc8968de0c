//! Counts input data that is ignored because BSP applications have no counterpart of it.

use std::collections::BTreeMap;

use migsim_base::words::counted;

/// Kind of input data that the reader ignores because BSP applications have no counterpart of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A message from a task to the same task.
    ToItself,
    /// A message from or to a task that is not in the data.
    UnknownTask,
    /// A broadcast, if broadcasts are not converted into messages.
    Broadcast,
    /// A communication of any type other than messages and broadcasts between objects.
    OtherCommunication,
    /// A task that is not of the type `object`, and thus cannot migrate as one.
    NoObject,
    /// A list of subphases of a task.
    Subphases,
    /// An iteration of a load balancer.
    Iteration,
    /// The use of a shared block of memory by a task.
    SharedBlock,
    /// A user-defined value of a task (`user_defined` or `attributes`).
    UserDefined,
    /// A key that is not in vt's schema.
    UnknownKey,
}

impl Kind {
    /// Returns the name of the kind for a note, in singular and plural.
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
            Self::NoObject => ["task that is not an object", "tasks that are not objects"],
            Self::Subphases => ["list of subphases", "lists of subphases"],
            Self::Iteration => ["iteration of a balancer", "iterations of a balancer"],
            Self::SharedBlock => ["use of a shared block", "uses of shared blocks"],
            Self::UserDefined => ["user-defined value", "user-defined values"],
            Self::UnknownKey => ["unknown key", "unknown keys"],
        }
    }
}

/// Number of ignored items of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LeftOut(BTreeMap<Kind, u64>);

impl LeftOut {
    /// Counts one ignored item.
    pub(super) fn add(&mut self, kind: Kind) {
        self.add_many(kind, 1);
    }

    /// Counts several ignored items.
    pub(super) fn add_many(&mut self, kind: Kind, count: u64) {
        if count > 0 {
            *self.0.entry(kind).or_default() += count;
        }
    }

    /// Adds the counts of `other` to these.
    pub(super) fn merge(&mut self, other: &Self) {
        for (kind, count) in &other.0 {
            self.add_many(*kind, *count);
        }
    }

    /// Describes all counts for a note; `None` if nothing was ignored.
    pub(super) fn description(&self) -> Option<String> {
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

/// Returns the first part of the note: the number of ranks, tasks and phases that were read. `pinned` is the number of tasks that
/// may not migrate.
pub(super) fn read_summary(ranks: usize, tasks: usize, pinned: usize, phases: usize) -> String {
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
