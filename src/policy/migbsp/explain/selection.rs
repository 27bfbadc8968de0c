//! The selection: PM and its terms, the ranks, the threshold.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use crate::policy::explain::{Record, Scene, duration, plain};
use crate::words::{counted, of_number};

/// PM(i,j) of MigBSP, as its record has it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct Potential {
    pub(super) process: u64,
    cluster: String,
    /// Whether the process is there already.
    is_there: bool,
    compute_s: f64,
    communication_s: f64,
    memory_s: f64,
    #[serde(rename = "potential_s")]
    value_s: f64,
}

impl Potential {
    fn told(&self) -> String {
        format!(
            "{} = {} computation + {} communication - {} memory and move",
            duration(self.value_s),
            duration(self.compute_s),
            duration(self.communication_s),
            duration(self.memory_s),
        )
    }
}

/// All potentials of a record; none if the policy has no such.
pub(super) fn potentials(call: Record<'_>) -> Option<Vec<Potential>> {
    Vec::deserialize(call.explanation.get("potentials")?).ok()
}

/// The cluster where a process is: it is marked, or the only one to which the process has no PM, since it is there.
fn place<'a>(all: &'a [Potential], own: &[&'a Potential]) -> Option<&'a str> {
    if let Some(marked) = own.iter().find(|one| one.is_there) {
        return Some(&marked.cluster);
    }
    let known: BTreeSet<&str> = all.iter().map(|one| one.cluster.as_str()).collect();
    let mut others = known
        .into_iter()
        .filter(|cluster| own.iter().all(|one| one.cluster != *cluster));
    others.next().filter(|_| others.next().is_none())
}

/// The highest potential of each process, the highest first.
pub(super) fn ranks(all: &[Potential]) -> Vec<&Potential> {
    let mut ranks: Vec<&Potential> = all.iter().collect();
    ranks.sort_by(|a, b| {
        b.value_s
            .total_cmp(&a.value_s)
            .then(a.process.cmp(&b.process))
    });
    let mut seen = BTreeSet::new();
    ranks.retain(|potential| seen.insert(potential.process));
    ranks
}

/// The highest PM to each cluster, the highest first.
fn by_cluster(all: &[Potential]) -> Vec<String> {
    let mut best: Vec<&Potential> = Vec::new();
    for one in all {
        match best.iter_mut().find(|best| best.cluster == one.cluster) {
            Some(known) if one.value_s > known.value_s => *known = one,
            Some(_) => {}
            None => best.push(one),
        }
    }
    best.sort_by(|a, b| b.value_s.total_cmp(&a.value_s));
    best.iter()
        .map(|one| format!("  {}: p{}, {}", one.cluster, one.process, one.told()))
        .collect()
}

/// The PM of the process that is asked about, or the highest to each cluster; what candidates had to pass.
pub(super) fn told(scene: &Scene<'_>, call: Record<'_>, all: &[Potential]) -> Vec<String> {
    let ranks = ranks(all);
    let mut sentences = Vec::new();
    if let Some(process) = scene.process {
        own(call, (all, &ranks), process, &mut sentences);
        let best = ranks.iter().find(|best| best.process == process);
        sentences.extend(best.and_then(|best| before(scene, best)));
    }
    if scene.process.is_none() && !ranks.is_empty() {
        sentences.push("The highest PM to each cluster:".into());
        sentences.extend(by_cluster(all));
    }
    sentences.push(threshold(scene, call, &ranks));
    if scene.process.is_none() {
        sentences.extend(ranks.first().and_then(|leader| before(scene, leader)));
    }
    if let Some(process) = scene.process
        && let Some(verdict) = verdict(call, &ranks, process)
    {
        sentences.push(verdict.replace("{}", &format!("p{process}")));
    }
    sentences
}

/// The value of a PM at the call before.
fn before(scene: &Scene<'_>, now: &Potential) -> Option<String> {
    let last = scene.last_call()?;
    let known = potentials(last)?;
    let is_same = |one: &&Potential| one.process == now.process && one.cluster == now.cluster;
    let then = known.iter().find(is_same)?;
    Some(format!(
        "At the call before, after superstep {}, that PM was {}.",
        last.superstep,
        then.told()
    ))
}

/// The highest PM of all, and what candidates had to pass.
fn threshold(scene: &Scene<'_>, call: Record<'_>, ranks: &[&Potential]) -> String {
    let Some(leader) = ranks.first() else {
        return "No process had a PM.".into();
    };
    let highest = format!(
        "The highest PM of all is that of p{} to {}, {}.",
        leader.process,
        leader.cluster,
        duration(leader.value_s)
    );
    let options = scene.options;
    let passed = match call.candidates {
        [] => "no process is a candidate".to_owned(),
        [one] => format!("p{} alone is a candidate", one.process),
        several => format!("{} are candidates", counted(several.len(), "process")),
    };
    match call.explanation.get("threshold_s").and_then(Value::as_f64) {
        Some(threshold) if options["heuristic"] == "two" => {
            format!(
                "{highest} Only the highest is a candidate ({}): {passed}.",
                duration(threshold)
            )
        }
        Some(threshold) => {
            let share = options.get("x").map_or_else(String::new, |x| {
                format!(", x = {} of the highest", plain(x))
            });
            format!(
                "{highest} Candidates need more than {}{share}: {passed}.",
                duration(threshold)
            )
        }
        None if leader.value_s <= 0.0 && leader.is_there => format!(
            "{highest} It is not positive, and it is where the process is already: no move promises anything, {passed}."
        ),
        None if leader.value_s <= 0.0 => format!(
            "{highest} It is not positive: to send the memory and to move takes {}, more than the {} that the better place promises. So {passed}.",
            duration(leader.memory_s),
            duration(leader.compute_s + leader.communication_s),
        ),
        None => format!("{highest} The best are taken, without a threshold: {passed}."),
    }
}

/// The reason why the process is no candidate; none if it is one, or its PM is unknown.
fn verdict(call: Record<'_>, ranks: &[&Potential], process: u64) -> Option<String> {
    if call.candidates.iter().any(|one| one.process == process) {
        return Some("{} is a candidate.".into());
    }
    let best = ranks.iter().find(|best| best.process == process)?;
    let told = match call.explanation.get("threshold_s").and_then(Value::as_f64) {
        _ if best.is_there => "{} stays: its highest PM is that of the cluster where it is.".into(),
        Some(threshold) if best.value_s <= threshold => format!(
            "{{}} stays: its highest PM misses the threshold by {}.",
            duration(threshold - best.value_s)
        ),
        _ if best.value_s <= 0.0 => format!(
            "{{}} stays: its highest PM misses zero by {}.",
            duration(-best.value_s)
        ),
        _ => "{} stays: others were ahead of it.".into(),
    };
    Some(told)
}

/// PM of the process to each cluster, and its rank.
fn own(
    call: Record<'_>,
    (all, ranks): (&[Potential], &[&Potential]),
    process: u64,
    sentences: &mut Vec<String>,
) {
    let own: Vec<&Potential> = all.iter().filter(|one| one.process == process).collect();
    let left_out = call
        .explanation
        .get("potentials_left_out")
        .and_then(Value::as_u64);
    let pinned = call.explanation.get("may_not_migrate");
    let is_pinned = pinned
        .and_then(Value::as_array)
        .is_some_and(|all| all.iter().any(|one| *one == process));
    if is_pinned {
        sentences.push(format!(
            "p{process} may not migrate: its data says so. No PM is computed for it."
        ));
        return;
    }
    if own.is_empty() {
        let others = left_out.map_or_else(String::new, |count| {
            let were = of_number(count, ["was", "were"]);
            format!(", {} {were} left out", counted(count, "other"))
        });
        sentences.push(format!(
            "The record has no PM of p{process}: it has those of the candidates{others}."
        ));
        return;
    }
    let place = place(all, &own);
    let place = place.map_or_else(String::new, |cluster| format!(", which is in {cluster}"));
    sentences.push(format!("PM of p{process}{place}, by cluster:"));
    for one in &own {
        let here = if one.is_there { " (it is there)" } else { "" };
        sentences.push(format!("  {}{here}: {}", one.cluster, one.told()));
    }
    if let Some(rank) = ranks.iter().position(|best| best.process == process) {
        let best = &ranks[rank];
        sentences.push(format!(
            "Its highest is {}, to {}: rank {} of {}.",
            duration(best.value_s),
            best.cluster,
            rank + 1,
            ranks.len()
        ));
    }
}
