//! Counts the items of vt data that are ignored because BSP applications have no counterpart for them.

use std::collections::BTreeMap;

use migsim_base::words::format_count;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum IgnoredKind {
    /// A message from a task to the same task.
    MessageToItself,
    /// A message from or to a task that does not occur in the data.
    UnknownTask,
    /// A broadcast, unless the options request that broadcasts become messages.
    Broadcast,
    /// A communication of another type than a message or a broadcast between objects.
    OtherCommunication,
    /// A task that is not of the type `object` and that therefore cannot migrate.
    NonObjectTask,
    /// A list of subphases of a task.
    Subphases,
    /// An iteration of a load balancer in a phase.
    BalancerIteration,
    /// The use of a shared block of memory by a task.
    SharedBlock,
    /// A user-defined value of a task (`user_defined` or `attributes`).
    UserDefined,
    /// A key that the schema of vt does not contain.
    UnknownKey,
}

impl IgnoredKind {
    const fn singular_and_plural(self) -> [&'static str; 2] {
        match self {
            Self::MessageToItself => [
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
            Self::NonObjectTask => ["task that is not an object", "tasks that are not objects"],
            Self::Subphases => ["list of subphases", "lists of subphases"],
            Self::BalancerIteration => ["iteration of a balancer", "iterations of a balancer"],
            Self::SharedBlock => ["use of a shared block", "uses of shared blocks"],
            Self::UserDefined => ["user-defined value", "user-defined values"],
            Self::UnknownKey => ["unknown key", "unknown keys"],
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct IgnoredData(BTreeMap<IgnoredKind, u64>);

impl IgnoredData {
    /// Counts `count` more ignored items of this kind.
    pub(super) fn count_items(&mut self, kind: IgnoredKind, count: u64) {
        if count > 0 {
            *self.0.entry(kind).or_default() += count;
        }
    }

    /// Adds the counts of `other` to these counts, for example the counts of another rank.
    pub(super) fn merge(&mut self, other: &Self) {
        for (kind, count) in &other.0 {
            self.count_items(*kind, *count);
        }
    }

    /// Describes all counts in words for a note; `None` if nothing was ignored.
    pub(super) fn description(&self) -> Option<String> {
        let one = |(kind, count): (&IgnoredKind, &u64)| {
            let [one, several] = kind.singular_and_plural();
            let name = if *count == 1 { one } else { several };
            let hint = match kind {
                IgnoredKind::Broadcast => " (`--set workload.broadcasts=send` keeps them)",
                _ => "",
            };
            format!("{count} {name}{hint}")
        };
        let all: Vec<String> = self.0.iter().map(one).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

/// Describes in words how many ranks, tasks and phases were read; `pinned` is the number of tasks that may not migrate.
pub(super) fn describe_read_counts(
    ranks: usize,
    tasks: usize,
    pinned: usize,
    phases: usize,
) -> String {
    let stay = match pinned {
        0 => String::new(),
        some => format!(" ({some} of them may not migrate)"),
    };
    format!(
        "{}, {}{stay}, {}",
        format_count(ranks, "rank"),
        format_count(tasks, "task"),
        format_count(phases, "phase")
    )
}
