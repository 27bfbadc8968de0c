//! Describes the placement that a rescheduling call decided: the destination of each candidate, t1 (predicted time on the origin)
//! against t2 (predicted time on the destination), and whether the candidate moves.

use std::collections::BTreeSet;

use super::question::AnswerData;
use crate::read::RecordedCall;
use migsim_base::words::format_count;
use migsim_policies::explain::{Meaning, Narrator, RecordedCandidate, Sentence, Unit, say};

/// Maximum number of candidates of a rescheduling call that an explanation describes one by one.
const MAX_DESCRIBED_CANDIDATES: usize = 12;

/// Explanation of the number of candidates that an explanation only counts, because it describes only the first candidates one by
/// one.
const UNDESCRIBED_CANDIDATES: Meaning = Meaning::new(
    "more_candidates",
    Unit::Count,
    "the number of candidates that are not described one by one",
);

/// Explanation of the number of accepted candidates among the candidates that an explanation only counts.
const UNDESCRIBED_ACCEPTED_CANDIDATES: Meaning = Meaning::new(
    "more_accepted",
    Unit::Count,
    "the number of accepted ones among the candidates that are not described one by one",
);

impl AnswerData<'_> {
    /// Describes the destinations and verdicts of the candidates `asked` that the user's question is about, and the moves of
    /// processes that were not candidates.
    pub(super) fn describe_placement(
        &self,
        call: &RecordedCall,
        asked: &[&RecordedCandidate],
    ) -> Vec<Sentence> {
        let mut sentences = Vec::new();
        for one in asked.iter().take(MAX_DESCRIBED_CANDIDATES) {
            add_candidate_sentences(self.run.narrator, call, one, &mut sentences);
        }
        if asked.len() > MAX_DESCRIBED_CANDIDATES {
            let rest = &asked[MAX_DESCRIBED_CANDIDATES..];
            let moved = rest.iter().filter(|one| one.accepted).count() as u64;
            let count = rest.len() as u64;
            sentences.push(say!(
                "{} not shown, of which {} move; add `--process P` to see process P.",
                UNDESCRIBED_CANDIDATES
                    .with_count(count)
                    .with_shown_text(format_count(count, "more candidate")),
                UNDESCRIBED_ACCEPTED_CANDIDATES.with_count(moved)
            ));
        }
        sentences.extend(self.describe_moves_of_non_candidates(call, asked));
        if let Some(process) = self
            .question
            .process
            .filter(|_| self.question.asks_why_not_moved)
        {
            let process = process.to_string();
            let is_moved = |one: &migsim_policies::explain::RecordedMigration| {
                self.question.process == Some(one.process)
            };
            if call.migrations.iter().any(is_moved) {
                sentences.push(say!(
                    "p{} did not stay: the call decided to move this process.",
                    process
                ));
            } else if asked.is_empty() {
                sentences.push(say!(
                    "p{} was not a candidate, so that the policy neither sought a host for this process nor compared predicted times.",
                    process
                ));
            }
        }
        sentences
    }

    /// Describes the moves of processes that the user's question is about and that are not among the candidates `asked`.
    fn describe_moves_of_non_candidates(
        &self,
        call: &RecordedCall,
        asked: &[&RecordedCandidate],
    ) -> Vec<Sentence> {
        let judged: BTreeSet<u64> = asked.iter().map(|one| one.process).collect();
        let others = call.migrations.iter();
        let others = others.filter(|one| {
            self.policy_context.includes_process(one.process) && !judged.contains(&one.process)
        });
        others
            .map(|one| {
                say!(
                    "p{} is to move from {} ({}) to {} ({}).",
                    one.process.to_string(),
                    &one.from_host,
                    &one.from_cluster,
                    &one.to_host,
                    &one.to_cluster
                )
            })
            .collect()
    }
}

/// Adds sentences about one candidate: its destination, t1 (predicted time on the origin) against t2 (predicted time on the
/// destination), and whether it moves.
fn add_candidate_sentences(
    narrator: &dyn Narrator,
    call: &RecordedCall,
    one: &RecordedCandidate,
    sentences: &mut Vec<Sentence>,
) {
    let offered = one.to_host.as_ref().map_or_else(Sentence::default, |host| {
        let what = narrator.describe_offered_host(call.record(), one);
        say!(" and was offered host {}{}", host, what)
    });
    let verdict = if one.accepted { "is to move" } else { "stays" };
    sentences.push(say!(
        "p{}, on host {} of cluster {}, asked for cluster {}{}: p{} {} ({}).",
        one.process.to_string(),
        &one.from_host,
        &one.from_cluster,
        &one.to_cluster,
        offered,
        one.process.to_string(),
        verdict,
        &one.reason
    ));
    let (Some(stay), Some(go)) = (one.stay_s, one.go_s) else {
        return;
    };
    let parts = narrator.describe_times(call.record(), one, [stay, go]);
    let saving = narrator.describe_saving(call.record(), one, [stay, go]);
    let parts = parts.into_iter().chain([saving]);
    sentences.extend(parts.map(|part| say!("  {}", part)));
}
