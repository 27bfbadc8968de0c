//! Placement: the destination of each candidate, t1 against t2, the verdict.

use super::question::Answer;
use crate::output::read::Call;
use crate::policy::explain::{Judged, Narrator, duration};
use crate::words::counted;

/// So many candidates are told one by one if nobody asks for one.
const TOLD: usize = 12;

impl Answer<'_> {
    pub(super) fn placement(&self, call: &Call) -> Vec<String> {
        let is_asked = |one: &&Judged| {
            self.question
                .process
                .is_none_or(|process| process == one.process)
        };
        let asked: Vec<&Judged> = call.candidates.iter().filter(is_asked).collect();
        let mut sentences = Vec::new();
        for one in asked.iter().take(TOLD) {
            candidate(self.run.narrator, call, one, &mut sentences);
        }
        if asked.len() > TOLD {
            let rest = &asked[TOLD..];
            let moved = rest.iter().filter(|one| one.accepted).count();
            sentences.push(format!(
                "{}, {moved} accepted; ask for one with --process.",
                counted(rest.len(), "more candidate")
            ));
        }
        sentences.extend(self.forced(call));
        if let Some(process) = self.question.process.filter(|_| self.question.why_not) {
            if call.migrations.iter().any(|one| one.process == process) {
                sentences.push(format!(
                    "p{process} did not stay: the call decided to move it."
                ));
            } else if asked.is_empty() {
                sentences.push(format!("p{process} was no candidate, so no host was looked for and nothing was weighed."));
            }
        }
        sentences
    }

    /// The decisions without candidates.
    fn forced(&self, call: &Call) -> Vec<String> {
        let is_told = |process: u64| call.candidates.iter().any(|one| one.process == process);
        let is_asked = |process: u64| self.question.process.is_none_or(|asked| asked == process);
        let others = call
            .migrations
            .iter()
            .filter(|one| !is_told(one.process) && is_asked(one.process));
        others
            .map(|one| {
                format!(
                    "p{} is to move from {} ({}) to {} ({}).",
                    one.process, one.from_host, one.from_cluster, one.to_host, one.to_cluster
                )
            })
            .collect()
    }
}

/// One candidate: its destination, the verdict, t1 against t2.
fn candidate(narrator: &dyn Narrator, call: &Call, one: &Judged, sentences: &mut Vec<String>) {
    let wanted = format!(
        "p{} on {} of {} asked for {}",
        one.process, one.from_host, one.from_cluster, one.to_cluster
    );
    let offered = one.to_host.as_ref().map_or_else(String::new, |host| {
        let what = narrator.offer(call.record(), one);
        format!(" and was offered {host}{what}")
    });
    let verdict = if one.accepted {
        "it is to move"
    } else {
        "it stays"
    };
    sentences.push(format!("{wanted}{offered}: {verdict} ({}).", one.reason));
    let (Some(stay), Some(go)) = (one.stay_s, one.go_s) else {
        return;
    };
    let parts = narrator.times(call.record(), one, [stay, go]);
    sentences.extend(parts.map(|part| format!("  {part}")));
    let than = if stay > go {
        "a gain of"
    } else {
        "it misses a gain by"
    };
    sentences.push(format!(
        "  t1 - t2 = {}: {than} {}.",
        duration(stay - go),
        duration((stay - go).abs())
    ));
}
