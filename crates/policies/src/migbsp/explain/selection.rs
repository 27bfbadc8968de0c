//! Sentences about the selection of candidates: PM (the potential of migration) and its terms, the ranks of the processes, and
//! the threshold for candidates.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use crate::explain::{DecisionRecord, ExplainContext};
use migsim_base::{
    quantities::format_time,
    words::{format_count, singular_or_plural},
};

/// Key in the explanation of a call: the number of processes that stay because they prefer their own cluster and cannot move
/// inside it, although another of its hosts would be more than ten times as fast for them; absent if there are none.
pub const KEPT_BY_OWN_CLUSTER_KEY: &str = "kept_by_own_cluster";

/// PM(i,j), the potential of migration of one process to one cluster, as read from the decision record of MigBSP.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct RecordedPotential {
    pub(super) process: u64,
    cluster: String,
    is_there: bool,
    compute_s: f64,
    communication_s: f64,
    memory_s: f64,
    #[serde(rename = "potential_s")]
    pub(super) value_s: f64,
}

impl RecordedPotential {
    fn describe_terms(&self) -> String {
        let terms = [
            self.value_s,
            self.compute_s,
            self.communication_s,
            self.memory_s,
        ];
        let [value, computation, communication, memory] = terms.map(format_time);
        format!(
            "{value} = {computation} computation + {communication} communication - {memory} memory and move"
        )
    }

    fn here(&self) -> &'static str {
        if self.is_there { " (it is there)" } else { "" }
    }
}

/// Reads all potentials of migration from the decision record of a call; `None` if the record has none.
pub(super) fn recorded_potentials(call: DecisionRecord<'_>) -> Option<Vec<RecordedPotential>> {
    Vec::deserialize(call.explanation.get("potentials")?).ok()
}

/// Returns the highest recorded potential of migration of each process, in decreasing order.
pub(super) fn highest_potentials(all: &[RecordedPotential]) -> Vec<&RecordedPotential> {
    let mut ranks: Vec<&RecordedPotential> = all.iter().collect();
    ranks.sort_by(|a, b| {
        b.value_s
            .total_cmp(&a.value_s)
            .then(a.process.cmp(&b.process))
    });
    let mut seen = BTreeSet::new();
    ranks.retain(|potential| seen.insert(potential.process));
    ranks
}

/// Returns the highest potential of migration to a cluster other than the present cluster of the process; `ranks` is in
/// decreasing order. The threshold x refers to this potential.
pub(super) fn highest_potential_elsewhere<'a>(
    ranks: &[&'a RecordedPotential],
) -> Option<&'a RecordedPotential> {
    ranks.iter().find(|one| !one.is_there).copied()
}

pub(super) struct RecordedSelection<'a> {
    pub(super) scene: &'a ExplainContext<'a>,
    pub(super) call: DecisionRecord<'a>,
    pub(super) all: &'a [RecordedPotential],
    pub(super) ranks: Vec<&'a RecordedPotential>,
}

impl RecordedSelection<'_> {
    pub(super) fn describe(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        let process = self.scene.process_in_question;
        let shown = if let Some(process) = process {
            sentences = self.describe_process(process);
            self.best_of(process)
        } else {
            if !self.ranks.is_empty() {
                sentences.push("The highest potential of migration (PM: gain of computation and communication less the cost of the move) to each cluster:".into());
                sentences.extend(self.describe_highest_of_each_cluster());
            }
            highest_potential_elsewhere(&self.ranks).or(self.ranks.first().copied())
        };
        sentences.extend(shown.and_then(|shown| self.describe_previous_potential(shown)));
        sentences.extend(self.describe_threshold());
        sentences.extend(process.and_then(|process| self.describe_candidacy(process)));
        if let Some(kept) = self.call.number(KEPT_BY_OWN_CLUSTER_KEY) {
            sentences.push(format!(
                "Number of processes that have their highest PM at home and cannot move inside their cluster, although another host there would be more than ten times as fast for them: {kept}."
            ));
        }
        sentences
    }

    fn best_of(&self, process: u64) -> Option<&RecordedPotential> {
        let found = self.ranks.iter().find(|best| best.process == process);
        found.copied()
    }

    fn describe_highest_of_each_cluster(&self) -> Vec<String> {
        let mut best: Vec<&RecordedPotential> = Vec::new();
        for one in self.all {
            match best.iter_mut().find(|best| best.cluster == one.cluster) {
                Some(known) if one.value_s > known.value_s => *known = one,
                Some(_) => {}
                None => best.push(one),
            }
        }
        best.sort_by(|a, b| b.value_s.total_cmp(&a.value_s));
        let line = |one: &&RecordedPotential| {
            let (cluster, process, terms) = (&one.cluster, one.process, one.describe_terms());
            format!("  {cluster}: p{process}{}, {terms}", one.here())
        };
        best.iter().map(line).collect()
    }

    /// Describes the PM that the process had to the same cluster at the previous call; `None` if it was not recorded.
    fn describe_previous_potential(&self, now: &RecordedPotential) -> Option<String> {
        let last = self.scene.previous_call()?;
        let (process, cluster, after) = (now.process, &now.cluster, last.superstep);
        let is_same = |one: &&RecordedPotential| one.process == process && one.cluster == *cluster;
        let known = recorded_potentials(last)?;
        let terms = known.iter().find(is_same)?.describe_terms();
        Some(format!(
            "At the previous call, after superstep {after}, the PM of p{process} to {cluster} was {terms}."
        ))
    }

    fn describe_threshold(&self) -> Vec<String> {
        let Some(leader) = highest_potential_elsewhere(&self.ranks) else {
            return vec![self.describe_no_candidate()];
        };
        let of_all = self.call.number("highest_potential_s");
        let is_highest = of_all.is_none_or(|of_all| of_all <= leader.value_s);
        let (process, cluster) = (leader.process, &leader.cluster);
        let (value, candidates) = (
            format_time(leader.value_s),
            self.describe_candidates(leader),
        );
        if is_highest {
            return vec![format!(
                "The highest PM of all is that of p{process} to {cluster}, {value}. {candidates}"
            )];
        }
        vec![
            format!(
                "Among the processes whose best cluster is not their own, p{process} has the highest PM: {value}, to {cluster}. {candidates}"
            ),
            self.describe_staying_processes(leader, of_all.unwrap_or_default()),
        ]
    }

    /// Describes the processes whose PM to their present cluster is higher than every PM to another cluster, so that they stay.
    ///
    /// `of_all` is the highest PM of all processes \[s\], which is used if it is not recorded as one of a process to its cluster.
    fn describe_staying_processes(&self, leader: &RecordedPotential, of_all: f64) -> String {
        let higher = self
            .ranks
            .iter()
            .take_while(|one| one.value_s > leader.value_s);
        let count = higher.count() as u64;
        let Some(first) = self.ranks.first().filter(|first| first.is_there) else {
            let highest = format_time(of_all);
            return format!(
                "The highest PM of all, {highest}, is that of a process to its own cluster: this process stays, and its PM does not count."
            );
        };
        let (process, cluster, value) = (first.process, &first.cluster, format_time(first.value_s));
        if count == 1 {
            return format!(
                "p{process} has a higher PM, {value} to {cluster}, but is already in this cluster: the process stays, and its PM does not count."
            );
        }
        let processes = format_count(count, "process");
        format!(
            "{processes} have a higher PM, but to their present cluster: these processes stay, and their PM does not count (the highest of these PM is {value}, that of p{process} to {cluster})."
        )
    }

    /// Describes the threshold that the PM of a candidate must exceed, and the number of candidates. `leader` is the highest PM to
    /// another cluster.
    fn describe_candidates(&self, leader: &RecordedPotential) -> String {
        let options = self.scene.options;
        let passed = match self.call.candidates {
            [] => "no process is a candidate".into(),
            [one] => format!("p{} alone is a candidate", one.process),
            all => format!("{} are candidates", format_count(all.len(), "process")),
        };
        let x = options["x"].as_f64();
        if options["x_of"] == "of-cluster-maximum"
            && options["heuristic"] == "one"
            && !self.call.candidates.is_empty()
        {
            let x = x.unwrap_or_default();
            return format!(
                "A candidate needs a PM above {x} times the highest PM among the processes of its present cluster: {passed}."
            );
        }
        let Some(threshold) = self.call.number("threshold_s") else {
            return format!("{} So {passed}.", describe_not_positive_potential(leader));
        };
        if options["heuristic"] == "two" {
            return format!("Only the process with the highest PM can be a candidate: {passed}.");
        }
        let least = format_time(threshold);
        if options["x_of"] == "of-processes" {
            let share = x.map_or_else(String::new, |x| format!(", a share x = {x} of all"));
            return format!(
                "The processes with the highest PM are candidates{share}: {passed}, each with a PM of at least {least}."
            );
        }
        let of_highest = x.map_or_else(String::new, |x| {
            let highest = format_time(leader.value_s);
            if leader.value_s > 0.0 {
                format!(" (x = {x} times the highest, {highest})")
            } else {
                format!(" (x = {x}: the higher x is, the nearer to the highest PM)")
            }
        });
        format!("A candidate needs a PM above {least}{of_highest}: {passed}.")
    }

    fn describe_no_candidate(&self) -> String {
        if let Some(first) = self.ranks.first() {
            let (value, process, cluster) =
                (format_time(first.value_s), first.process, &first.cluster);
            return format!(
                "For every process the highest PM is that of the cluster where it is, so no process is a candidate. The highest of all is {value} of p{process}, in {cluster}."
            );
        }
        let Some(count) = self.omitted_count() else {
            return "No potential of migration (PM) was computed for any process, so no process is a candidate.".into();
        };
        match self.call.number("highest_elsewhere_s").map(format_time) {
            Some(highest) => format!(
                "The highest PM to another cluster is {highest}, which is not positive: no process is a candidate. The record leaves out {count} PM."
            ),
            None => format!("No process is a candidate. The record leaves out {count} PM."),
        }
    }

    fn omitted_count(&self) -> Option<u64> {
        self.call.explanation.get("potentials_left_out")?.as_u64()
    }

    /// Describes whether the process is a candidate, and why or why not; `None` if its PM is unknown.
    fn describe_candidacy(&self, process: u64) -> Option<String> {
        if self
            .call
            .candidates
            .iter()
            .any(|one| one.process == process)
        {
            return Some(format!("p{process} is a candidate."));
        }
        let best = self.best_of(process)?;
        let options = self.scene.options;
        let (is_alone, x_of) = (options["heuristic"] == "two", &options["x_of"]);
        let threshold = self.call.number("threshold_s");
        let missed = threshold
            .filter(|&threshold| !is_alone && x_of != "of-processes" && best.value_s <= threshold);
        let why = if best.is_there {
            "its highest PM is that of the cluster where it is".into()
        } else if let Some(threshold) = missed {
            let gap = format_time(threshold - best.value_s);
            format!("its highest PM misses the threshold by {gap}")
        } else if best.value_s <= 0.0 {
            format!(
                "its highest PM misses zero by {}",
                format_time(-best.value_s)
            )
        } else if is_alone {
            "only the process with the highest PM can be a candidate".into()
        } else if x_of == "of-cluster-maximum" {
            "its highest PM misses the threshold of its cluster".into()
        } else {
            "processes with a higher PM come first".into()
        };
        Some(format!("p{process} stays: {why}."))
    }

    fn describe_process(&self, process: u64) -> Vec<String> {
        let pinned = self.call.explanation.get("may_not_migrate");
        let mut pinned = pinned.and_then(Value::as_array).into_iter().flatten();
        if pinned.any(|one| *one == process) {
            return vec![format!(
                "p{process} must stay on its host, as the data of the application says, so that no potential of migration (PM) is computed for this process."
            )];
        }
        let own = self.all.iter().filter(|one| one.process == process);
        let own: Vec<&RecordedPotential> = own.collect();
        if own.is_empty() {
            let others = self.omitted_count().map_or_else(String::new, |count| {
                let verb = singular_or_plural(count, ["was", "were"]);
                format!(", {} {verb} left out", format_count(count, "other"))
            });
            return vec![format!(
                "The record has no potential of migration (PM) of p{process}; it has the PM of the candidates{others}."
            )];
        }
        let place = self.present_cluster(&own);
        let place = place.map_or_else(String::new, |cluster| format!(", which is in {cluster}"));
        let mut sentences = vec![format!(
            "Potential of migration (PM: gain of computation and communication less the cost of the move) of p{process}{place}, to each cluster:"
        )];
        sentences.extend(own.iter().map(|one| {
            let (cluster, terms) = (&one.cluster, one.describe_terms());
            format!("  {cluster}{}: {terms}", one.here())
        }));
        if let Some(at) = self.ranks.iter().position(|best| best.process == process) {
            let (best, rank, count) = (self.ranks[at], at + 1, self.ranks.len());
            let (value, cluster) = (format_time(best.value_s), &best.cluster);
            sentences.push(format!(
                "The highest PM of this process is {value}, to {cluster}: rank {rank} among the highest PM of {count} processes."
            ));
        }
        sentences
    }

    /// Returns the name of the present cluster of a process with the recorded potentials `own`; `None` if it cannot be determined.
    ///
    /// The present cluster is marked in the record. In a record without marks it is the only cluster for which the process has no
    /// potential.
    fn present_cluster<'b>(&'b self, own: &[&'b RecordedPotential]) -> Option<&'b str> {
        if let Some(marked) = own.iter().find(|one| one.is_there) {
            return Some(&marked.cluster);
        }
        let known = self.all.iter().map(|one| one.cluster.as_str());
        let known: BTreeSet<&str> = known.collect();
        let is_other = |cluster: &&str| own.iter().all(|one| one.cluster != *cluster);
        let mut others = known.into_iter().filter(is_other);
        others.next().filter(|_| others.next().is_none())
    }
}

/// Describes why the highest PM to another cluster, `leader`, is not positive.
fn describe_not_positive_potential(leader: &RecordedPotential) -> String {
    let promised = leader.compute_s + leader.communication_s;
    if promised <= 0.0 {
        return "It is not positive: the other place gains nothing.".into();
    }
    let [cost, gain] = [leader.memory_s, promised].map(format_time);
    format!(
        "It is not positive, since sending the memory and moving take {cost}, but the better place gains only {gain}."
    )
}
