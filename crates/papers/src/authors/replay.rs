//! Comparison of single rescheduling calls: the policy `authors-2015` gets the reports of a stored call, and its decision is
//! compared with the stored decision of the authors' program.

use schemars::JsonSchema;
use serde::Serialize;

use super::ComparisonCounts;
use super::case::{StoredCall, StoredCase, StoredReports};
use migsim_policies::authors_2015::{
    Heuristic, ReschedulingCallResult, count_unbalanced_processes,
};

/// Maximum number of differences of a case that are described in words.
const MAX_DESCRIBED_DIFFERENCES: usize = 8;

/// Result of deciding the calls of a case (a stored run of the authors' program) again with the policy `authors-2015`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CaseResult {
    /// Name of the case, as in its file.
    pub case: String,
    /// Scenario of the run: `i`, `ii` or `iii`.
    pub scenario: String,
    /// Heuristic that selects the processes to move; `None` if the run has no rescheduling calls.
    pub heuristic: Option<Heuristic>,
    /// Numbers of values that were compared in this case, and of values that are equal in policy and program.
    #[serde(flatten)]
    pub counts: ComparisonCounts,
    /// Descriptions of the first differences between the decisions of the policy and of the authors' program.
    pub differences: Vec<String>,
}

/// Decides those calls of a case again whose reports are stored, and compares the decisions with the stored decisions.
pub(super) fn replay_calls(case: &StoredCase) -> CaseResult {
    let mut judged = CaseComparison {
        case,
        counts: ComparisonCounts::default(),
        differences: Vec::new(),
    };
    for call in &case.calls {
        judged.compare_processes_outside_d(call);
        if let (Some(reports), Some(heuristic)) = (&call.reports, case.heuristic) {
            judged.compare_call(call, reports, heuristic);
        }
    }
    CaseResult {
        case: case.name.clone(),
        scenario: case.scenario.clone(),
        heuristic: case.heuristic,
        counts: judged.counts,
        differences: judged.differences,
    }
}

/// Intermediate state of the comparison of a case: the counts and the differences up to now.
struct CaseComparison<'a> {
    case: &'a StoredCase,
    counts: ComparisonCounts,
    differences: Vec<String>,
}

impl CaseComparison<'_> {
    /// Returns 1 if two compared values of a call are equal. Otherwise returns 0 and stores the description of the difference.
    fn count_if_equal_or_record(
        &mut self,
        is_equal: bool,
        call: &StoredCall,
        what: impl FnOnce() -> String,
    ) -> usize {
        if !is_equal && self.differences.len() < MAX_DESCRIBED_DIFFERENCES {
            let superstep = call.superstep;
            self.differences
                .push(format!("call after superstep {superstep}: {}", what()));
        }
        usize::from(is_equal)
    }

    /// Compares the number of processes whose time lies outside mean · (1 ± D), for each superstep whose times are stored.
    fn compare_processes_outside_d(&mut self, call: &StoredCall) {
        let Some(times) = &call.superstep_times else {
            return;
        };
        for (at, (times, stored)) in times.iter().zip(&call.processes_outside_d).enumerate() {
            let found = count_unbalanced_processes(times, self.case.imbalance_d);
            let what = || {
                format!(
                    "{found} processes outside D in superstep {} of the interval, stored {stored}",
                    at + 1
                )
            };
            self.counts.outside_equal +=
                self.count_if_equal_or_record(found == *stored, call, what);
            self.counts.outside += 1;
        }
    }

    fn compare_call(&mut self, call: &StoredCall, stored: &StoredReports, heuristic: Heuristic) {
        let case = self.case;
        let answer = case.call_input(call, stored, heuristic).decide();
        self.counts.calls += 1;
        self.compare_indices_and_potentials(call, stored, &answer);
        let order = answer
            .preference_order
            .iter()
            .map(|wish| (wish.process, wish.preferred_set));
        let order: Vec<_> = order.collect();
        let what = || {
            let at = first_different_index(&order, &stored.processes_sorted_by_potential);
            let shown = |order: &[(usize, Option<usize>)]| {
                order.get(at).map_or_else(
                    || "nothing".to_owned(),
                    |one| {
                        let set = one
                            .1
                            .map_or_else(|| "no Set".to_owned(), |set| format!("Set {set}"));
                        format!("rank {} for {set}", one.0 + 1)
                    },
                )
            };
            format!(
                "position {} of the order has {}, stored {}",
                at + 1,
                shown(&order),
                shown(&stored.processes_sorted_by_potential)
            )
        };
        self.counts.orders_equal += self.count_if_equal_or_record(
            order == stored.processes_sorted_by_potential,
            call,
            what,
        );
        let ranks = |flags: &[bool]| {
            let ranks = flags.iter().enumerate().filter(|(_, flag)| **flag);
            let ranks: Vec<String> = ranks
                .map(|(process, _)| (process + 1).to_string())
                .collect();
            ranks.join(", ")
        };
        let what = || {
            format!(
                "candidates {}, stored {}",
                ranks(&answer.is_candidate),
                ranks(&call.is_candidate)
            )
        };
        self.counts.candidates_equal +=
            self.count_if_equal_or_record(answer.is_candidate == call.is_candidate, call, what);
        let what = || {
            let at = first_different_index(&answer.moves, &call.moves);
            let shown = |moves: &[migsim_policies::authors_2015::Move]| {
                moves.get(at).map_or_else(
                    || "nothing".to_owned(),
                    |one| {
                        format!(
                            "rank {} to {}-{}",
                            one.process + 1,
                            case.host_prefixes[one.destination_set],
                            one.destination_host + 1
                        )
                    },
                )
            };
            format!(
                "move {} is {}, stored {}",
                at + 1,
                shown(&answer.moves),
                shown(&call.moves)
            )
        };
        self.counts.hosts_equal +=
            self.count_if_equal_or_record(answer.moves == call.moves, call, what);
        self.counts.moves += call.moves.len();
    }

    /// Compares the Set indices and the potentials of migration in the answer of the policy with the stored values, to the last
    /// bit.
    fn compare_indices_and_potentials(
        &mut self,
        call: &StoredCall,
        stored: &StoredReports,
        answer: &ReschedulingCallResult,
    ) {
        for (set, (ours, theirs)) in answer.set_indices.iter().zip(&call.iset_values).enumerate() {
            let what = || format!("ISet of Set {set} is {ours}, stored {theirs}");
            let is_equal = ours.to_bits() == theirs.to_bits();
            self.counts.indices_equal += self.count_if_equal_or_record(is_equal, call, what);
            self.counts.indices += 1;
        }
        for (process, (ours, theirs)) in answer
            .potential_terms
            .iter()
            .zip(&stored.migration_potentials)
            .enumerate()
        {
            for (set, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
                let ours = ours.potential();
                let rank = process + 1;
                let what = || format!("PM of rank {rank} for Set {set} is {ours}, stored {theirs}");
                let is_equal = ours.to_bits() == theirs.to_bits();
                self.counts.potentials_equal += self.count_if_equal_or_record(is_equal, call, what);
                self.counts.potentials += 1;
            }
        }
    }
}

/// Returns the first index at which two lists of equal length differ.
fn first_different_index<T: PartialEq>(ours: &[T], theirs: &[T]) -> usize {
    let equal = ours
        .iter()
        .zip(theirs)
        .take_while(|(ours, theirs)| ours == theirs);
    equal.count()
}
