//! Effects of known mistakes (slips) of the simulation program of MigBSP's authors on its decisions: the rescheduling calls that
//! the stored runs of this program contain are decided again, each time without one of the mistakes.

use schemars::JsonSchema;
use serde::Serialize;

use super::case::{StoredCall, StoredCase, StoredReports};
use migsim_base::units::Seconds;
use migsim_policies::authors_2015::{Heuristic, ReschedulingCall};

/// A mistake of the authors' program that affects the inputs of a rescheduling call, so that the call can be decided without the
/// mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Slip {
    /// The migration cost Mem is subtracted from the potential of migration (PM) for staying, and is 0 for all other Sets.
    /// Instead, Mem should reduce the PM for moving to another Set.
    Memory,
    /// Candidates for a move in earlier rescheduling calls remain candidates in later calls.
    Marks,
    /// The communication time of a process with a Set (cluster) is still counted after the process has left this Set.
    LeftBehind,
}

impl Slip {
    /// All known mistakes that can be corrected in the inputs of a call.
    const ALL: [Self; 3] = [Self::Memory, Self::Marks, Self::LeftBehind];

    /// Returns a short description of the correction with which calls are decided.
    pub(super) fn correction_text(self) -> &'static str {
        match self {
            Self::Memory => "no Mem, which punishes staying",
            Self::Marks => "no candidates of earlier calls",
            Self::LeftBehind => "no Comm of a Set that was left",
        }
    }
}

/// Result of deciding all stored calls without one mistake of the authors' program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ResultWithoutSlip {
    /// The mistake that is corrected.
    pub slip: Slip,
    /// Number of calls that decide other moves without the mistake than the stored moves.
    pub calls_changed: usize,
    /// Number of moves that all calls together decide without the mistake.
    pub moves: usize,
}

/// Decides all stored calls again, once without each known mistake, and returns one result per mistake.
pub(super) fn results_without_slips(cases: &[StoredCase]) -> Vec<ResultWithoutSlip> {
    Slip::ALL
        .map(|slip| replay_without_mistake(slip, cases))
        .to_vec()
}

fn replay_without_mistake(slip: Slip, cases: &[StoredCase]) -> ResultWithoutSlip {
    let mut without = ResultWithoutSlip {
        slip,
        calls_changed: 0,
        moves: 0,
    };
    for case in cases {
        for call in &case.calls {
            if let (Some(reports), Some(heuristic)) = (&call.reports, case.heuristic) {
                let moves = moves_without_mistake(slip, case, (call, reports), heuristic);
                without.calls_changed += usize::from(moves != call.moves);
                without.moves += moves.len();
            }
        }
    }
    without
}

/// Returns the moves that the policy decides in a stored call if one mistake of the program is corrected in the inputs.
fn moves_without_mistake(
    slip: Slip,
    case: &StoredCase,
    (call, stored): (&StoredCall, &StoredReports),
    heuristic: Heuristic,
) -> Vec<migsim_policies::authors_2015::Move> {
    let (mut sets, mut reports) = (case.sets.clone(), stored.process_reports.clone());
    let mut marked = call.was_candidate.clone();
    match slip {
        Slip::Memory => sets
            .iter_mut()
            .for_each(|set| set.own_latency = Seconds::default()),
        Slip::Marks => marked.fill(false),
        Slip::LeftBehind => {
            for report in &mut reports {
                let own = report.present_set;
                let times = report.aged_communication_times.iter_mut().enumerate();
                let left = times.filter(|(set, _)| *set != own);
                left.for_each(|(_, time)| *time = Seconds::default());
            }
        }
    }
    let decided = ReschedulingCall {
        sets: &sets,
        reports: &reports,
        was_candidate: &marked,
        ..case.call_input(call, stored, heuristic)
    };
    decided.decide().moves
}
