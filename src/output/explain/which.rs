//! Which: PM and its terms, the ranks, the threshold; or what another policy says of itself.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::Scene;
use super::numbers::{duration, plain};
use super::when::{OF_INTERVAL, is_interval_told};
use crate::output::read::Call;
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
pub(super) fn potentials(call: &Call) -> Option<Vec<Potential>> {
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

impl Scene<'_> {
    pub(super) fn which(&self, call: &Call) -> Vec<String> {
        let Some(all) = self.potentials else {
            return self.in_its_words(call);
        };
        let ranks = ranks(all);
        let mut sentences = Vec::new();
        if let Some(process) = self.question.process {
            own(call, (all, &ranks), process, &mut sentences);
            let best = ranks.iter().find(|best| best.process == process);
            sentences.extend(best.and_then(|best| self.before(best)));
        }
        if self.question.process.is_none() && !ranks.is_empty() {
            sentences.push("The highest PM to each cluster:".into());
            sentences.extend(by_cluster(all));
        }
        sentences.push(self.threshold(call, &ranks));
        if self.question.process.is_none() {
            sentences.extend(ranks.first().and_then(|leader| self.before(leader)));
        }
        if let (Some(process), Some(verdict)) = (self.question.process, self.verdict(call, &ranks))
        {
            sentences.push(verdict.replace("{}", &format!("p{process}")));
        }
        sentences
    }

    /// What a PM was at the call before.
    fn before(&self, now: &Potential) -> Option<String> {
        let last = self.last_call()?;
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
    fn threshold(&self, call: &Call, ranks: &[&Potential]) -> String {
        let Some(leader) = ranks.first() else {
            return "No process had a PM.".into();
        };
        let highest = format!(
            "The highest PM of all is that of p{} to {}, {}.",
            leader.process,
            leader.cluster,
            duration(leader.value_s)
        );
        let options = &self.run.experiment["policy"]["migbsp"];
        let passed = match call.candidates.as_slice() {
            [] => "nobody is a candidate".to_owned(),
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

    /// Why the process is no candidate; none if it is one, or its PM is unknown.
    fn verdict(&self, call: &Call, ranks: &[&Potential]) -> Option<String> {
        let process = self.question.process?;
        if call.candidates.iter().any(|one| one.process == process) {
            return Some("{} is a candidate.".into());
        }
        let best = ranks.iter().find(|best| best.process == process)?;
        let told = match call.explanation.get("threshold_s").and_then(Value::as_f64) {
            _ if best.is_there => {
                "{} stays: its highest PM is that of the cluster where it is.".into()
            }
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

    /// What a policy says that has no PM in seconds.
    fn in_its_words(&self, call: &Call) -> Vec<String> {
        if call.explanation.is_empty() {
            return vec![format!("The policy `{}` gives no reasons.", call.policy)];
        }
        // What the part above has told already.
        let is_told = |key: &str| is_interval_told(call) && OF_INTERVAL.contains(&key);
        let mut sentences = vec![format!("The policy `{}` says:", call.policy)];
        for (key, value) in call.explanation.iter().filter(|(key, _)| !is_told(key)) {
            let of_process = |entry: &&Value| {
                self.question
                    .process
                    .is_some_and(|process| entry["process"].as_u64() == Some(process))
            };
            let entries = value.as_array().into_iter().flatten().filter(of_process);
            let entries: Vec<String> = entries.map(plain).collect();
            if entries.is_empty() {
                sentences.push(format!("  {key}: {}", plain(value)));
            }
            sentences.extend(entries.iter().map(|entry| format!("  {key}: {entry}")));
        }
        sentences
    }
}

/// PM of the process to each cluster, and its rank.
fn own(
    call: &Call,
    (all, ranks): (&[Potential], &[&Potential]),
    process: u64,
    sentences: &mut Vec<String>,
) {
    let own: Vec<&Potential> = all.iter().filter(|one| one.process == process).collect();
    let left_out = call
        .explanation
        .get("potentials_left_out")
        .and_then(Value::as_u64);
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
