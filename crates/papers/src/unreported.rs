//! Counts of the moves that a paper does not report, in the runs whose migrations the paper reports.
//!
//! A decision counts as reproduced if the run carries out the reported moves. The run may also move processes that the paper does
//! not mention. These moves are counted call by call, so that a reader sees which share of the moves of a run is reported.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{calls::PaperCall, decisions::reports_move_near_call, facts::PublishedDecision};

/// Numbers of reported and of unreported moves in scenario iii of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreportedMoves {
    /// Settings of the run, as keys and values with the names that the paper uses.
    pub case: String,
    /// Number of all moves in the run.
    pub moves: usize,
    /// Number of moves of the run that the paper reports.
    pub reported: usize,
    /// Unreported moves in groups: superstep of the call, cluster that the processes leave, cluster to which they move, and
    /// number of processes.
    pub others: Vec<(u64, String, String, usize)>,
}

/// Counts the reported and the unreported moves of a run; returns `None` if the published `decisions` report no migrations of
/// this run.
pub(super) fn count_unreported_moves(
    case: String,
    decisions: &[&PublishedDecision],
    calls: &[PaperCall],
) -> Option<UnreportedMoves> {
    let is_reported = |decision: &&&PublishedDecision| decision.kind == "migration";
    decisions.iter().find(is_reported)?;
    let mut result = UnreportedMoves {
        case,
        moves: 0,
        reported: 0,
        others: Vec::new(),
    };
    let mut others: BTreeMap<(u64, String, String), usize> = BTreeMap::new();
    for call in calls {
        for one in &call.moves {
            result.moves += 1;
            if decisions
                .iter()
                .any(|decision| reports_move_near_call(decision, calls, call, one))
            {
                result.reported += 1;
            } else {
                let (from, to) = (one.from_cluster.clone(), one.to_cluster.clone());
                *others.entry((call.superstep, from, to)).or_default() += 1;
            }
        }
    }
    let rows = others.into_iter();
    result.others = rows
        .map(|((superstep, from, to), count)| (superstep, from, to, count))
        .collect();
    Some(result)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::calls::PaperMove;

    #[test]
    fn a_move_counts_as_reported_at_its_call_alone() {
        let moved = |process: u64, from: &str| PaperMove {
            process,
            from_cluster: from.into(),
            to_cluster: "A".into(),
            from_host: format!("{from}-0"),
            to_host: "A-0".into(),
        };
        let call = |superstep: u64, moves: Vec<PaperMove>| PaperCall {
            superstep,
            superstep_end_s: 1.0,
            alpha_before_and_after: None,
            candidates_with_clusters: Vec::new(),
            moves,
            smallest_decision_margin_s: None,
        };
        let calls = [
            call(4, vec![moved(21, "C"), moved(1, "L")]),
            call(11, vec![moved(22, "C"), moved(2, "L"), moved(3, "L")]),
        ];
        let decision: PublishedDecision = serde_json::from_value(
            json!({ "id": "x", "config": {}, "superstep": 4, "kind": "migration", "from": "C", "to": "A", "count": 1 }),
        )
        .unwrap();
        let found = count_unreported_moves("n=1".into(), &[&decision], &calls).unwrap();
        assert_eq!((found.moves, found.reported), (5, 1));
        let rows: Vec<(u64, &str, usize)> = found
            .others
            .iter()
            .map(|(superstep, from, _, count)| (*superstep, from.as_str(), *count))
            .collect();
        assert_eq!(rows, [(4, "L", 1), (11, "C", 1), (11, "L", 2)]);
        assert_eq!(count_unreported_moves(String::new(), &[], &calls), None);
    }
}
