//! Sentences about the selection of candidates: PM (the potential of migration) and its terms, the ranks of the processes, and
//! the threshold for candidates.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use crate::explain::{DecisionRecord, ExplainContext};
use migsim_base::quantities::format_time;
use migsim_base::words::{format_count, singular_or_plural};

/// PM(i,j), the potential of migration of one process to one cluster, as read from the decision record of MigBSP.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct RecordedPotential {
    pub(super) process: u64,
    cluster: String,
    /// Whether the cluster is the present cluster of the process.
    pub(super) is_there: bool,
    compute_s: f64,
    communication_s: f64,
    memory_s: f64,
    #[serde(rename = "potential_s")]
    pub(super) value_s: f64,
}

impl RecordedPotential {
    /// Describes the PM (potential of migration) as a sum of its terms.
    fn describe_terms(&self) -> String {
        format!(
            "{} = {} computation + {} communication - {} memory and move",
            format_time(self.value_s),
            format_time(self.compute_s),
            format_time(self.communication_s),
            format_time(self.memory_s),
        )
    }

    fn process_name(&self) -> String {
        format!("p{}", self.process)
    }
}

/// Reads all potentials of migration from the decision record of a call; `None` if the record has none.
pub(super) fn recorded_potentials(call: DecisionRecord<'_>) -> Option<Vec<RecordedPotential>> {
    Vec::deserialize(call.explanation.get("potentials")?).ok()
}

/// Returns the name of the present cluster of a process; `None` if it cannot be determined. `own` are the recorded potentials of
/// the process, `all` the recorded potentials of all processes.
///
/// The present cluster is marked in the record. In a record without marks it is the only cluster for which the process has no
/// potential.
fn present_cluster<'a>(
    all: &'a [RecordedPotential],
    own: &[&'a RecordedPotential],
) -> Option<&'a str> {
    if let Some(marked) = own.iter().find(|one| one.is_there) {
        return Some(&marked.cluster);
    }
    let known: BTreeSet<&str> = all.iter().map(|one| one.cluster.as_str()).collect();
    let mut others = known
        .into_iter()
        .filter(|cluster| own.iter().all(|one| one.cluster != *cluster));
    others.next().filter(|_| others.next().is_none())
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

/// Describes, for each cluster, the process with the highest PM (potential of migration) to this cluster, in decreasing order of
/// these PM.
fn describe_highest_of_each_cluster(all: &[RecordedPotential]) -> Vec<String> {
    let mut best: Vec<&RecordedPotential> = Vec::new();
    for one in all {
        match best.iter_mut().find(|best| best.cluster == one.cluster) {
            Some(known) if one.value_s > known.value_s => *known = one,
            Some(_) => {}
            None => best.push(one),
        }
    }
    best.sort_by(|a, b| b.value_s.total_cmp(&a.value_s));
    let line = |one: &&RecordedPotential| {
        let here = if one.is_there { " (it is there)" } else { "" };
        format!(
            "  {}: {}{}, {}",
            &one.cluster,
            one.process_name(),
            here,
            one.describe_terms()
        )
    };
    best.iter().map(line).collect()
}

/// Describes the PM (potential of migration) of the process that the user asks about, or else the highest PM to each cluster, and
/// then the threshold for candidates.
pub(super) fn describe_selection(
    scene: &ExplainContext<'_>,
    call: DecisionRecord<'_>,
    all: &[RecordedPotential],
) -> Vec<String> {
    let ranks = highest_potentials(all);
    let mut sentences = Vec::new();
    let shown = if let Some(process) = scene.process_in_question {
        describe_process_potentials(call, (all, &ranks), process, &mut sentences);
        ranks.iter().find(|best| best.process == process).copied()
    } else {
        if !ranks.is_empty() {
            sentences.push("The highest potential of migration (PM: gain of computation and communication less the cost of the move) to each cluster:".into());
            sentences.extend(describe_highest_of_each_cluster(all));
        }
        highest_potential_elsewhere(&ranks).or(ranks.first().copied())
    };
    sentences.extend(shown.and_then(|shown| describe_previous_potential(scene, shown)));
    sentences.extend(describe_threshold(scene, call, &ranks));
    if let Some(process) = scene.process_in_question {
        sentences.extend(describe_candidacy(scene, call, &ranks, process));
    }
    sentences
}

/// Describes the PM (potential of migration) that the process had to the same cluster at the previous call; `None` if it was not
/// recorded. `now` is the PM at the present call.
fn describe_previous_potential(
    scene: &ExplainContext<'_>,
    now: &RecordedPotential,
) -> Option<String> {
    let last = scene.previous_call()?;
    let known = recorded_potentials(last)?;
    let is_same =
        |one: &&RecordedPotential| one.process == now.process && one.cluster == now.cluster;
    let then = known.iter().find(is_same)?;
    Some(format!(
        "At the previous call, after superstep {}, the PM of {} to {} was {}.",
        last.superstep,
        now.process_name(),
        &now.cluster,
        then.describe_terms()
    ))
}

/// Describes the highest PM (potential of migration) to another cluster, and the threshold for candidates that follows from it.
fn describe_threshold(
    scene: &ExplainContext<'_>,
    call: DecisionRecord<'_>,
    ranks: &[&RecordedPotential],
) -> Vec<String> {
    let Some(leader) = highest_potential_elsewhere(ranks) else {
        return vec![describe_no_candidate(call, ranks)];
    };
    let of_all = call
        .explanation
        .get("highest_potential_s")
        .and_then(Value::as_f64);
    let is_highest = of_all.is_none_or(|of_all| of_all <= leader.value_s);
    let (name, value) = (leader.process_name(), format_time(leader.value_s));
    let highest = if is_highest {
        format!(
            "The highest PM of all is that of {} to {}, {}.",
            name, &leader.cluster, value
        )
    } else {
        format!(
            "Among the processes whose best cluster is not their own, {} has the highest PM: {}, to {}.",
            name, value, &leader.cluster
        )
    };
    let mut sentences = vec![format!(
        "{} {}",
        highest,
        describe_candidates(scene, call, leader)
    )];
    if !is_highest {
        let higher = ranks.iter().take_while(|one| one.value_s > leader.value_s);
        sentences.push(describe_staying_processes(
            ranks.first().copied(),
            higher.count() as u64,
            of_all,
        ));
    }
    sentences
}

/// Describes the processes whose PM (potential of migration) to their present cluster is higher than every PM to another cluster,
/// so that they stay.
///
/// `first` is the highest of all recorded PM, `count` the number of these processes, and `of_all` the highest PM of all processes
/// \[s\], which is used if `first` is missing or leads to another cluster.
fn describe_staying_processes(
    first: Option<&RecordedPotential>,
    count: u64,
    of_all: Option<f64>,
) -> String {
    match (first.filter(|first| first.is_there), count) {
        (Some(first), 1) => format!(
            "{} has a higher PM, {} to {}, but is already in this cluster: the process stays, and its PM does not count.",
            first.process_name(),
            format_time(first.value_s),
            &first.cluster
        ),
        (Some(first), count) => format!(
            "{} have a higher PM, but to their present cluster: these processes stay, and their PM does not count (the highest of these PM is {}, that of {} to {}).",
            format_count(count, "process"),
            format_time(first.value_s),
            first.process_name(),
            &first.cluster
        ),
        (None, _) => format!(
            "The highest PM of all, {}, is that of a process to its own cluster: this process stays, and its PM does not count.",
            format_time(of_all.unwrap_or_default())
        ),
    }
}

/// Describes the threshold that the PM (potential of migration) of a candidate must exceed, and the number of candidates.
/// `leader` is the highest PM to another cluster.
fn describe_candidates(
    scene: &ExplainContext<'_>,
    call: DecisionRecord<'_>,
    leader: &RecordedPotential,
) -> String {
    let options = scene.options;
    let count = call.candidates.len() as u64;
    let passed = match call.candidates {
        [] => "no process is a candidate".into(),
        [one] => format!("p{} alone is a candidate", one.process),
        _ => format!("{} are candidates", format_count(count, "process")),
    };
    let is_by_cluster = scene.options["x_of"] == "of-cluster-maximum";
    if is_by_cluster && scene.options["heuristic"] == "one" && count > 0 {
        let x = scene.options["x"].as_f64().unwrap_or_default();
        return format!(
            "A candidate needs a PM above {x} times the highest PM among the processes of its present cluster: {passed}."
        );
    }
    let Some(threshold) = call.explanation.get("threshold_s").and_then(Value::as_f64) else {
        return format!("{} So {}.", describe_not_positive_potential(leader), passed);
    };
    let x = options["x"].as_f64();
    if options["heuristic"] == "two" {
        return format!("Only the process with the highest PM can be a candidate: {passed}.");
    }
    if options["x_of"] == "of-processes" {
        let share = x.map_or_else(String::new, |x| format!(", a share x = {x} of all"));
        let least = format_time(threshold);
        return format!(
            "The processes with the highest PM are candidates{share}: {passed}, each with a PM of at least {least}."
        );
    }
    let of_highest = x.map_or_else(String::new, |x| {
        if leader.value_s > 0.0 {
            format!(
                " (x = {} times the highest, {})",
                x,
                format_time(leader.value_s)
            )
        } else {
            format!(" (x = {x}: the higher x is, the nearer to the highest PM)")
        }
    });
    format!(
        "A candidate needs a PM above {}{}: {}.",
        format_time(threshold),
        of_highest,
        passed
    )
}

/// Describes why the highest PM (potential of migration) to another cluster, `leader`, is not positive.
fn describe_not_positive_potential(leader: &RecordedPotential) -> String {
    let promised = leader.compute_s + leader.communication_s;
    if promised > 0.0 {
        format!(
            "It is not positive, since sending the memory and moving take {}, but the better place gains only {}.",
            format_time(leader.memory_s),
            format_time(promised)
        )
    } else {
        "It is not positive: the other place gains nothing.".into()
    }
}

/// Describes why no process prefers another cluster than its present one, so that the call has no candidate.
fn describe_no_candidate(call: DecisionRecord<'_>, ranks: &[&RecordedPotential]) -> String {
    let number = |key: &str| call.explanation.get(key).and_then(Value::as_f64);
    if let Some(first) = ranks.first() {
        return format!(
            "For every process the highest PM is that of the cluster where it is, so no process is a candidate. The highest of all is {} of {}, in {}.",
            format_time(first.value_s),
            first.process_name(),
            &first.cluster
        );
    }
    let left_out = call
        .explanation
        .get("potentials_left_out")
        .and_then(Value::as_u64);
    match (left_out, number("highest_elsewhere_s")) {
        (None, _) => "No potential of migration (PM) was computed for any process, so no process is a candidate.".into(),
        (Some(count), Some(highest)) => format!(
            "The highest PM to another cluster is {}, which is not positive: no process is a candidate. The record leaves out {count} PM.",
            format_time(highest)
        ),
        (Some(count), None) => format!("No process is a candidate. The record leaves out {count} PM."),
    }
}

/// Describes whether the process is a candidate, and why or why not; `None` if its PM (potential of migration) is unknown.
fn describe_candidacy(
    scene: &ExplainContext<'_>,
    call: DecisionRecord<'_>,
    ranks: &[&RecordedPotential],
    process: u64,
) -> Option<String> {
    let name = format!("p{process}");
    if call.candidates.iter().any(|one| one.process == process) {
        return Some(format!("{name} is a candidate."));
    }
    let best = ranks.iter().find(|best| best.process == process)?;
    let threshold = call.explanation.get("threshold_s").and_then(Value::as_f64);
    let is_alone = scene.options["heuristic"] == "two";
    let counts_processes = scene.options["x_of"] == "of-processes";
    Some(match threshold {
        _ if best.is_there => {
            format!("{name} stays: its highest PM is that of the cluster where it is.")
        }
        Some(threshold) if !is_alone && !counts_processes && best.value_s <= threshold => format!(
            "{} stays: its highest PM misses the threshold by {}.",
            name,
            format_time(threshold - best.value_s)
        ),
        _ if best.value_s <= 0.0 => format!(
            "{} stays: its highest PM misses zero by {}.",
            name,
            format_time(-best.value_s)
        ),
        _ if is_alone => {
            format!("{name} stays: only the process with the highest PM can be a candidate.")
        }
        _ if scene.options["x_of"] == "of-cluster-maximum" => {
            format!("{name} stays: its highest PM misses the threshold of its cluster.")
        }
        _ => format!("{name} stays: processes with a higher PM come first."),
    })
}

/// Appends sentences about the PM (potential of migration) of the process to each cluster, and its rank among all processes.
fn describe_process_potentials(
    call: DecisionRecord<'_>,
    (all, ranks): (&[RecordedPotential], &[&RecordedPotential]),
    process: u64,
    sentences: &mut Vec<String>,
) {
    let name = format!("p{process}");
    let own: Vec<&RecordedPotential> = all.iter().filter(|one| one.process == process).collect();
    let pinned = call.explanation.get("may_not_migrate");
    let is_pinned = pinned
        .and_then(Value::as_array)
        .is_some_and(|all| all.iter().any(|one| *one == process));
    if is_pinned {
        sentences.push(format!(
            "{name} must stay on its host, as the data of the application says, so that no potential of migration (PM) is computed for this process."
        ));
        return;
    }
    if own.is_empty() {
        sentences.push(describe_omitted_potential(call, &name));
        return;
    }
    let place = present_cluster(all, &own);
    let place = place.map_or_else(String::new, |cluster| format!(", which is in {cluster}"));
    sentences.push(format!(
        "Potential of migration (PM: gain of computation and communication less the cost of the move) of {name}{place}, to each cluster:"
    ));
    for one in &own {
        let here = if one.is_there { " (it is there)" } else { "" };
        sentences.push(format!(
            "  {}{}: {}",
            &one.cluster,
            here,
            one.describe_terms()
        ));
    }
    if let Some(rank) = ranks.iter().position(|best| best.process == process) {
        let best = &ranks[rank];
        sentences.push(format!(
            "The highest PM of this process is {}, to {}: rank {} among the highest PM of {} processes.",
            format_time(best.value_s),
            &best.cluster,
            rank as u64 + 1,
            ranks.len() as u64
        ));
    }
}

fn describe_omitted_potential(call: DecisionRecord<'_>, name: &str) -> String {
    let count = call
        .explanation
        .get("potentials_left_out")
        .and_then(Value::as_u64);
    let others = count.map_or_else(String::new, |count| {
        let shown = format_count(count, "other");
        let others = shown;
        format!(
            ", {} {} left out",
            others,
            singular_or_plural(count, ["was", "were"])
        )
    });
    format!(
        "The record has no potential of migration (PM) of {name}; it has the PM of the candidates{others}."
    )
}
