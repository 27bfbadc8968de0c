//! Describes the placement that a rescheduling call decided: the destination of each candidate, t1 (predicted time on the origin)
//! against t2 (predicted time on the destination), and whether the candidate moves.

use std::collections::BTreeSet;

use super::question::AnswerData;
use crate::rows::RecordedCall;
use migsim_base::words::format_count;
use migsim_policies::explain::{Narrator, RecordedCandidate};

/// Maximum number of candidates of a rescheduling call that an explanation describes one by one.
const MAX_DESCRIBED_CANDIDATES: usize = 12;

impl AnswerData<'_> {
    pub(super) fn describe_placement(
        &self,
        call: &RecordedCall,
        asked: &[&RecordedCandidate],
    ) -> Vec<String> {
        let mut sentences = Vec::new();
        for one in asked.iter().take(MAX_DESCRIBED_CANDIDATES) {
            add_candidate_sentences(self.run.narrator, call, one, &mut sentences);
        }
        if asked.len() > MAX_DESCRIBED_CANDIDATES {
            let rest = &asked[MAX_DESCRIBED_CANDIDATES..];
            let moved = rest.iter().filter(|one| one.accepted).count();
            let more = format_count(rest.len(), "more candidate");
            sentences.push(format!(
                "{more} not shown, of which {moved} move; add `--process P` to see process P."
            ));
        }
        sentences.extend(self.describe_moves_of_non_candidates(call, asked));
        let why_not = self.question.process;
        if let Some(process) = why_not.filter(|_| self.question.asks_why_not_moved) {
            if call.migrations.iter().any(|one| one.process == process) {
                sentences.push(format!(
                    "p{process} did not stay: the call decided to move this process."
                ));
            } else if asked.is_empty() {
                sentences.push(format!(
                    "p{process} was not a candidate, so that the policy neither sought a host for this process nor compared predicted times."
                ));
            }
        }
        sentences
    }

    fn describe_moves_of_non_candidates(
        &self,
        call: &RecordedCall,
        asked: &[&RecordedCandidate],
    ) -> Vec<String> {
        let judged: BTreeSet<u64> = asked.iter().map(|one| one.process).collect();
        let sentences = call
            .migrations
            .iter()
            .filter(|one| {
                self.policy_context.includes_process(one.process) && !judged.contains(&one.process)
            })
            .map(|one| {
                format!(
                    "p{} is to move from {} ({}) to {} ({}).",
                    one.process, one.from_host, one.from_cluster, one.to_host, one.to_cluster
                )
            });
        sentences.collect()
    }
}

fn add_candidate_sentences(
    narrator: &dyn Narrator,
    call: &RecordedCall,
    one: &RecordedCandidate,
    sentences: &mut Vec<String>,
) {
    let offered = one.to_host.as_ref().map_or_else(String::new, |host| {
        let what = narrator.describe_offered_host(call.record(), one);
        format!(" and was offered host {host}{what}")
    });
    let verdict = if one.accepted { "is to move" } else { "stays" };
    sentences.push(format!(
        "p{}, on host {} of cluster {}, asked for cluster {}{}: p{} {} ({}).",
        one.process,
        one.from_host,
        one.from_cluster,
        one.to_cluster,
        offered,
        one.process,
        verdict,
        one.reason
    ));
    let (Some(stay), Some(go)) = (one.stay_s, one.go_s) else {
        return;
    };
    let parts = narrator.describe_times(call.record(), one, [stay, go]);
    let saving = narrator.describe_saving(call.record(), one, [stay, go]);
    let parts = parts.into_iter().chain([saving]);
    sentences.extend(parts.map(|part| format!("  {part}")));
}
