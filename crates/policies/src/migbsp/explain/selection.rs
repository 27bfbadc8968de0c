//! Sentences about the selection of candidates: PM (the potential of migration) and its terms, the ranks of the processes, and
//! the threshold for candidates.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::meanings as quantity;
use crate::explain::meanings::{CANDIDATES, superstep_quantity};
use crate::explain::{DecisionRecord, ExplainContext, Sentence, say};
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
    fn describe_terms(&self) -> Sentence {
        say!(
            "{} = {} computation + {} communication - {} memory and move",
            quantity::POTENTIAL.with_value(self.value_s),
            quantity::COMPUTATION_TERM.with_value(self.compute_s),
            quantity::COMMUNICATION_TERM.with_value(self.communication_s),
            quantity::MEMORY_TERM.with_value(self.memory_s),
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
fn describe_highest_of_each_cluster(all: &[RecordedPotential]) -> Vec<Sentence> {
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
        say!(
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
) -> Vec<Sentence> {
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
) -> Option<Sentence> {
    let last = scene.previous_call()?;
    let known = recorded_potentials(last)?;
    let is_same =
        |one: &&RecordedPotential| one.process == now.process && one.cluster == now.cluster;
    let then = known.iter().find(is_same)?;
    Some(say!(
        "At the previous call, after superstep {}, the PM of {} to {} was {}.",
        superstep_quantity(last.superstep),
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
) -> Vec<Sentence> {
    let Some(leader) = highest_potential_elsewhere(ranks) else {
        return vec![describe_no_candidate(call, ranks)];
    };
    let of_all = call
        .explanation
        .get("highest_potential_s")
        .and_then(Value::as_f64);
    let is_highest = of_all.is_none_or(|of_all| of_all <= leader.value_s);
    let (name, value) = (
        leader.process_name(),
        quantity::HIGHEST_POTENTIAL_ELSEWHERE.with_value(leader.value_s),
    );
    let highest = if is_highest {
        say!(
            "The highest PM of all is that of {} to {}, {}.",
            name,
            &leader.cluster,
            value
        )
    } else {
        say!(
            "Among the processes whose best cluster is not their own, {} has the highest PM: {}, to {}.",
            name,
            value,
            &leader.cluster
        )
    };
    let mut sentences = vec![say!(
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
) -> Sentence {
    match (first.filter(|first| first.is_there), count) {
        (Some(first), 1) => say!(
            "{} has a higher PM, {} to {}, but is already in this cluster: the process stays, and its PM does not count.",
            first.process_name(),
            quantity::HIGHEST_POTENTIAL.with_value(first.value_s),
            &first.cluster
        ),
        (Some(first), count) => say!(
            "{} have a higher PM, but to their present cluster: these processes stay, and their PM does not count (the highest of these PM is {}, that of {} to {}).",
            quantity::HIGHER_AT_PRESENT_CLUSTER
                .with_count(count)
                .with_shown_text(format_count(count, "process")),
            quantity::HIGHEST_POTENTIAL.with_value(first.value_s),
            first.process_name(),
            &first.cluster
        ),
        (None, _) => say!(
            "The highest PM of all, {}, is that of a process to its own cluster: this process stays, and its PM does not count.",
            quantity::HIGHEST_POTENTIAL.with_value(of_all.unwrap_or_default())
        ),
    }
}

/// Describes the threshold that the PM (potential of migration) of a candidate must exceed, and the number of candidates.
/// `leader` is the highest PM to another cluster.
fn describe_candidates(
    scene: &ExplainContext<'_>,
    call: DecisionRecord<'_>,
    leader: &RecordedPotential,
) -> Sentence {
    let options = scene.options;
    let count = call.candidates.len() as u64;
    let passed = match call.candidates {
        [] => "no process is a candidate".into(),
        [one] => say!("p{} alone is a candidate", one.process.to_string()),
        _ => {
            let several = CANDIDATES.with_count(count);
            say!(
                "{} are candidates",
                several.with_shown_text(format_count(count, "process"))
            )
        }
    };
    let is_by_cluster = scene.options["x_of"] == "of-cluster-maximum";
    if is_by_cluster && scene.options["heuristic"] == "one" && count > 0 {
        let x = scene.options["x"].as_f64().unwrap_or_default();
        return say!(
            "A candidate needs a PM above {} times the highest PM among the processes of its present cluster: {}.",
            quantity::OPTION_X.with_value(x),
            passed
        );
    }
    let Some(threshold) = call.explanation.get("threshold_s").and_then(Value::as_f64) else {
        return say!("{} So {}.", describe_not_positive_potential(leader), passed);
    };
    let x = options["x"]
        .as_f64()
        .map(|x| quantity::OPTION_X.with_value(x));
    if options["heuristic"] == "two" {
        return say!(
            "Only the process with the highest PM can be a candidate: {}.",
            passed
        );
    }
    if options["x_of"] == "of-processes" {
        let share = x.map_or_else(Sentence::default, |x| say!(", a share x = {} of all", x));
        let least = quantity::LOWEST_CANDIDATE_POTENTIAL.with_value(threshold);
        return say!(
            "The processes with the highest PM are candidates{}: {}, each with a PM of at least {}.",
            share,
            passed,
            least
        );
    }
    let of_highest = x.map_or_else(Sentence::default, |x| {
        if leader.value_s > 0.0 {
            say!(
                " (x = {} times the highest, {})",
                x,
                quantity::HIGHEST_POTENTIAL_ELSEWHERE.with_value(leader.value_s)
            )
        } else {
            say!(
                " (x = {}: the higher x is, the nearer to the highest PM)",
                x
            )
        }
    });
    say!(
        "A candidate needs a PM above {}{}: {}.",
        quantity::POTENTIAL_THRESHOLD.with_value(threshold),
        of_highest,
        passed
    )
}

/// Describes why the highest PM (potential of migration) to another cluster, `leader`, is not positive.
fn describe_not_positive_potential(leader: &RecordedPotential) -> Sentence {
    let promised = leader.compute_s + leader.communication_s;
    if promised > 0.0 {
        say!(
            "It is not positive, since sending the memory and moving take {}, but the better place gains only {}.",
            quantity::MEMORY_TERM.with_value(leader.memory_s),
            quantity::COMP_PLUS_COMM.with_value(promised)
        )
    } else {
        "It is not positive: the other place gains nothing.".into()
    }
}

/// Describes why no process prefers another cluster than its present one, so that the call has no candidate.
fn describe_no_candidate(call: DecisionRecord<'_>, ranks: &[&RecordedPotential]) -> Sentence {
    let number = |key: &str| call.explanation.get(key).and_then(Value::as_f64);
    if let Some(first) = ranks.first() {
        return say!(
            "For every process the highest PM is that of the cluster where it is, so no process is a candidate. The highest of all is {} of {}, in {}.",
            quantity::HIGHEST_POTENTIAL.with_value(first.value_s),
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
        (Some(count), Some(highest)) => say!(
            "The highest PM to another cluster is {}, which is not positive: no process is a candidate. The record leaves out {}.",
            quantity::HIGHEST_POTENTIAL_ELSEWHERE.with_value(highest),
            quantity::OMITTED_POTENTIALS
                .with_count(count)
                .with_shown_text(format!("{count} PM"))
        ),
        (Some(count), None) => say!(
            "No process is a candidate. The record leaves out {}.",
            quantity::OMITTED_POTENTIALS
                .with_count(count)
                .with_shown_text(format!("{count} PM"))
        ),
    }
}

/// Describes whether the process is a candidate, and why or why not; `None` if its PM (potential of migration) is unknown.
fn describe_candidacy(
    scene: &ExplainContext<'_>,
    call: DecisionRecord<'_>,
    ranks: &[&RecordedPotential],
    process: u64,
) -> Option<Sentence> {
    let name = format!("p{process}");
    if call.candidates.iter().any(|one| one.process == process) {
        return Some(say!("{} is a candidate.", name));
    }
    let best = ranks.iter().find(|best| best.process == process)?;
    let threshold = call.explanation.get("threshold_s").and_then(Value::as_f64);
    let is_alone = scene.options["heuristic"] == "two";
    let counts_processes = scene.options["x_of"] == "of-processes";
    Some(match threshold {
        _ if best.is_there => say!(
            "{} stays: its highest PM is that of the cluster where it is.",
            name
        ),
        Some(threshold) if !is_alone && !counts_processes && best.value_s <= threshold => say!(
            "{} stays: its highest PM misses the threshold by {}.",
            name,
            quantity::BELOW_THRESHOLD.with_value(threshold - best.value_s)
        ),
        _ if best.value_s <= 0.0 => say!(
            "{} stays: its highest PM misses zero by {}.",
            name,
            quantity::BELOW_ZERO.with_value(-best.value_s)
        ),
        _ if is_alone => say!(
            "{} stays: only the process with the highest PM can be a candidate.",
            name
        ),
        _ if scene.options["x_of"] == "of-cluster-maximum" => say!(
            "{} stays: its highest PM misses the threshold of its cluster.",
            name
        ),
        _ => say!("{} stays: processes with a higher PM come first.", name),
    })
}

/// Appends sentences about the PM (potential of migration) of the process to each cluster, and its rank among all processes.
fn describe_process_potentials(
    call: DecisionRecord<'_>,
    (all, ranks): (&[RecordedPotential], &[&RecordedPotential]),
    process: u64,
    sentences: &mut Vec<Sentence>,
) {
    let name = format!("p{process}");
    let own: Vec<&RecordedPotential> = all.iter().filter(|one| one.process == process).collect();
    let pinned = call.explanation.get("may_not_migrate");
    let is_pinned = pinned
        .and_then(Value::as_array)
        .is_some_and(|all| all.iter().any(|one| *one == process));
    if is_pinned {
        sentences.push(say!(
            "{} must stay on its host, as the data of the application says, so that no potential of migration (PM) is computed for this process.",
            name
        ));
        return;
    }
    if own.is_empty() {
        sentences.push(describe_omitted_potential(call, &name));
        return;
    }
    let place = present_cluster(all, &own);
    let place = place.map_or_else(String::new, |cluster| format!(", which is in {cluster}"));
    sentences.push(say!(
        "Potential of migration (PM: gain of computation and communication less the cost of the move) of {}{}, to each cluster:",
        name,
        place
    ));
    for one in &own {
        let here = if one.is_there { " (it is there)" } else { "" };
        sentences.push(say!("  {}{}: {}", &one.cluster, here, one.describe_terms()));
    }
    if let Some(rank) = ranks.iter().position(|best| best.process == process) {
        let best = &ranks[rank];
        sentences.push(say!(
            "The highest PM of this process is {}, to {}: rank {} among the highest PM of {} processes.",
            quantity::POTENTIAL.with_value(best.value_s),
            &best.cluster,
            quantity::RANK.with_count(rank as u64 + 1),
            quantity::RANKED_PROCESSES.with_count(ranks.len() as u64)
        ));
    }
}

/// Describes that the decision record has no PM (potential of migration) of the process with this name.
fn describe_omitted_potential(call: DecisionRecord<'_>, name: &str) -> Sentence {
    let count = call
        .explanation
        .get("potentials_left_out")
        .and_then(Value::as_u64);
    let others = count.map_or_else(Sentence::default, |count| {
        let shown = format_count(count, "other");
        let others = quantity::OMITTED_POTENTIALS
            .with_count(count)
            .with_shown_text(shown);
        say!(
            ", {} {} left out",
            others,
            singular_or_plural(count, ["was", "were"])
        )
    });
    say!(
        "The record has no potential of migration (PM) of {}; it has the PM of the candidates{}.",
        name,
        others
    )
}
