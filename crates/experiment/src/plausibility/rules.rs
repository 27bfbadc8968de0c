//! The table of rules about implausible values: for each rule its threshold, the reason for the threshold, and the advice to the
//! user.

/// The stage of a command at which a rule about implausible values is checked: after reading the platform, after reading the
/// settings, or at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleStage {
    /// The rule is checked after a platform was read, by commands that run experiments and by `migsim platform show`.
    PlatformRead,
    /// The rule is checked when the settings of an experiment are read.
    SettingsRead,
    /// The rule is checked at the end of a run.
    RunFinished,
}

/// A rule about implausible values: the user gets a note if a value is above or below the threshold of the rule.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PlausibilityRule {
    /// The name of the rule in the user manual.
    pub name: &'static str,
    /// The stage of a command at which the rule is checked.
    pub stage: RuleStage,
    /// The condition under which the note is shown. `{}` stands for the threshold; a threshold of 1 may be expressed in words
    /// instead.
    pub condition: &'static str,
    /// The threshold above or below which a value is implausible, in the unit that the text of the condition states.
    pub threshold: f64,
    /// The reason why the threshold has its value.
    pub reason: &'static str,
    /// The advice to the user with which the note ends.
    pub advice: &'static str,
}

/// Rule about hosts whose speeds differ by a very large factor.
pub(super) const HOST_SPEED_RATIO: PlausibilityRule = PlausibilityRule {
    name: "speed-ratio",
    stage: RuleStage::PlatformRead,
    condition: "the fastest host is more than {} times as fast as the slowest",
    threshold: 100.0,
    reason: "the speeds of cores built within twenty years differ by a factor of 10 at most; writing MHz instead of GHz makes a factor of 1000",
    advice: "check the units of `speed` (MHz, GHz)",
};

/// Rule about a link with a very long latency.
pub(super) const LONG_LATENCY: PlausibilityRule = PlausibilityRule {
    name: "long-latency",
    stage: RuleStage::PlatformRead,
    condition: "a link has a latency of more than {} s",
    threshold: 1.0,
    reason: "half a second is the latency of a link over a satellite; writing s instead of ms makes a factor of 1000",
    advice: "check the unit of `latency` (us, ms)",
};

/// Rule about clusters of one or two hosts that were formed from host names or zones.
pub(super) const SMALL_CLUSTERS: PlausibilityRule = PlausibilityRule {
    name: "small-clusters",
    stage: RuleStage::PlatformRead,
    condition: "the clusters found from zones or host names have {} hosts or fewer on average, and there are at least three",
    threshold: 2.0,
    reason: "the manager of a cluster offers its hosts to processes; with one or two hosts there is no choice",
    advice: "form larger clusters with `--clusters`: by a rule, or by a table of hosts and clusters (`--clusters FILE.csv`)",
};

/// Rule about a platform that has only one cluster.
pub(super) const ONE_CLUSTER: PlausibilityRule = PlausibilityRule {
    name: "one-cluster",
    stage: RuleStage::PlatformRead,
    condition: "the platform has one cluster; in a run if the policy moves processes between clusters only",
    threshold: 1.0,
    reason: "MigBSP, as its papers use it, moves processes only to other clusters, so that with one cluster no process can move",
    advice: "divide the platform into several clusters (`--clusters` for SimGrid zones, the key `clusters` in a JSON file), or choose a policy that also moves processes inside a cluster, such as `--policy refine`",
};

/// Rule about an option that should be a fraction but has a value above 1.
pub(super) const FRACTION: PlausibilityRule = PlausibilityRule {
    name: "share-above-one",
    stage: RuleStage::SettingsRead,
    condition: "an option that is a share, such as D, is above {}",
    threshold: 1.0,
    reason: "a share above 1 is possible, but the value was more likely meant in percent",
    advice: "write 50 % as 0.5",
};

/// Rule about a background load whose times look like seconds since the year 1970.
pub(super) const EPOCH_TIME: PlausibilityRule = PlausibilityRule {
    name: "dates-of-a-clock",
    stage: RuleStage::SettingsRead,
    condition: "a load begins at {} s or later",
    threshold: 1e9,
    reason: "1e9 s are 31 years of simulated time; as a Unix time they are September 2001",
    advice: "the times in the file of the load seem to be seconds since 1970; to let the load begin with the run, set `from=first`",
};

/// Rule about processes that neither compute nor exchange messages.
pub(super) const INACTIVE_PROCESSES: PlausibilityRule = PlausibilityRule {
    name: "idle-processes",
    stage: RuleStage::SettingsRead,
    condition: "a process of a table or trace neither computes nor sends nor receives",
    threshold: 1.0,
    reason: "every number up to the largest one in the file becomes a process",
    advice: "check whether the file has a wrong process number, since every number up to the largest becomes a process",
};

/// Rule about a load that begins after the run has ended.
pub(super) const LATE_LOAD: PlausibilityRule = PlausibilityRule {
    name: "late-load",
    stage: RuleStage::RunFinished,
    condition: "a load begins after the end of the run",
    threshold: 1.0,
    reason: "such a load has no effect",
    advice: "let the load begin with the run (`from=first`), or simulate more supersteps, since such a load has no effect",
};

/// Rule about a makespan of more than a year.
pub(super) const LONG_RUN: PlausibilityRule = PlausibilityRule {
    name: "long-run",
    stage: RuleStage::RunFinished,
    condition: "a makespan of more than {} s, a year",
    threshold: 31_557_600.0,
    reason: "no batch system grants a job a year",
    advice: "check the units of work, speeds, sizes and bandwidths",
};

/// Rule about a superstep that computes for more than a day.
pub(super) const LONG_SUPERSTEP: PlausibilityRule = PlausibilityRule {
    name: "long-superstep",
    stage: RuleStage::RunFinished,
    condition: "the computation of a superstep takes more than {} s, a day",
    threshold: 86_400.0,
    reason: "supersteps of programs take from microseconds to minutes; writing Ginstr instead of instr makes a factor of 1e9",
    advice: "check the unit of the work: in a table, the column `work [instr]` has single instructions, `work [Ginstr]` 1e9 instructions",
};

/// Rule about supersteps with almost no computation.
pub(super) const SHORT_SUPERSTEP: PlausibilityRule = PlausibilityRule {
    name: "short-supersteps",
    stage: RuleStage::RunFinished,
    condition: "processes compute, but in no superstep for {} s",
    threshold: 1e-6,
    reason: "a core executes some thousand instructions in a microsecond, which is less than a barrier takes; writing instr instead of Ginstr makes a factor of 1e9",
    advice: "check the unit of the work: numbers in units of 1e9 instructions need the column `work [Ginstr]`, not `work [instr]`",
};

/// Rule about runs whose shortest move takes longer than the whole run without moves.
pub(super) const LONG_MOVE: PlausibilityRule = PlausibilityRule {
    name: "move-longer-than-run",
    stage: RuleStage::RunFinished,
    condition: "the shortest move takes longer than the run without moves",
    threshold: 1.0,
    reason: "no gain in so short a run can pay for a move, so that the run shows nothing about migration",
    advice: "no move can pay for itself in so short a run; record or simulate more supersteps",
};

/// All rules about implausible values, in the order in which the user manual lists them.
pub const PLAUSIBILITY_RULES: [PlausibilityRule; 12] = [
    HOST_SPEED_RATIO,
    LONG_LATENCY,
    SMALL_CLUSTERS,
    ONE_CLUSTER,
    FRACTION,
    EPOCH_TIME,
    INACTIVE_PROCESSES,
    LATE_LOAD,
    LONG_RUN,
    LONG_SUPERSTEP,
    SHORT_SUPERSTEP,
    LONG_MOVE,
];

/// An implausible value that was found, with the rule about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule that the implausible value violates.
    pub(super) rule: PlausibilityRule,
    /// The implausible value in words; the note to the user begins with these words.
    pub(super) description: String,
}

impl Finding {
    /// Creates a finding from the rule about a value and from the description of the value in words.
    pub(super) fn new(rule: PlausibilityRule, what: String) -> Self {
        Self {
            rule,
            description: what,
        }
    }

    /// Returns the note for the user: the implausible value, followed by the advice of the rule.
    pub fn note_text(&self) -> String {
        format!("{}: {}", self.description, self.rule.advice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_has_a_name_and_an_advice_of_its_own_and_shows_its_threshold() {
        for (index, rule) in PLAUSIBILITY_RULES.iter().enumerate() {
            let shown = rule.condition.matches("{}").count();
            assert!(
                shown == 1 || shown == 0 && rule.threshold == 1.0,
                "{}",
                rule.name
            );
            for other in &PLAUSIBILITY_RULES[..index] {
                assert!(
                    rule.name != other.name && rule.advice != other.advice,
                    "{}",
                    rule.name
                );
            }
        }
    }
}
