//! The effect of the program's slips on its decisions: stored calls are decided without each slip.

use schemars::JsonSchema;
use serde::Serialize;

use super::case::{Case, Reports, StoredCall};
use migsim_base::units::Seconds;
use migsim_policies::authors_2015::{Call, Heuristic};

/// A slip in the inputs of a call, so that the call can be decided without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Slip {
    /// The term Mem counts against staying.
    Memory,
    /// Candidates of earlier calls remain candidates.
    Marks,
    /// The communication time with a Set that a process has left still counts.
    LeftBehind,
}

impl Slip {
    /// All slips.
    const ALL: [Self; 3] = [Self::Memory, Self::Marks, Self::LeftBehind];

    /// Describes the call without the slip.
    pub(super) fn mended(self) -> &'static str {
        match self {
            Self::Memory => "no Mem, which punishes staying",
            Self::Marks => "no candidates of earlier calls",
            Self::LeftBehind => "no Comm of a Set that was left",
        }
    }
}

/// The result of the stored calls without a slip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Without {
    /// The slip that is left out.
    pub slip: Slip,
    /// Number of calls with other moves.
    pub calls_changed: usize,
    /// Number of moves in all calls.
    pub moves: usize,
}

/// Decides all stored calls without each slip.
pub(super) fn without(cases: &[Case]) -> Vec<Without> {
    Slip::ALL.map(|slip| one(slip, cases)).to_vec()
}

fn one(slip: Slip, cases: &[Case]) -> Without {
    let mut without = Without {
        slip,
        calls_changed: 0,
        moves: 0,
    };
    for case in cases {
        for call in &case.calls {
            if let (Some(reports), Some(heuristic)) = (&call.reports, case.heuristic) {
                let moves = mended(slip, case, (call, reports), heuristic);
                without.calls_changed += usize::from(moves != call.moves);
                without.moves += moves.len();
            }
        }
    }
    without
}

/// Decides the moves of a call without a slip.
fn mended(
    slip: Slip,
    case: &Case,
    (call, stored): (&StoredCall, &Reports),
    heuristic: Heuristic,
) -> Vec<migsim_policies::authors_2015::Move> {
    let (mut sets, mut reports) = (case.sets.clone(), stored.by_process.clone());
    let mut marked = call.marked.clone();
    match slip {
        Slip::Memory => sets
            .iter_mut()
            .for_each(|set| set.own_latency = Seconds::default()),
        Slip::Marks => marked.fill(false),
        Slip::LeftBehind => {
            for report in &mut reports {
                let own = report.set;
                let times = report.communication.iter_mut().enumerate();
                let left = times.filter(|(set, _)| *set != own);
                left.for_each(|(_, time)| *time = Seconds::default());
            }
        }
    }
    let decided = Call {
        sets: &sets,
        reports: &reports,
        was_candidate: &marked,
        ..case.call(call, stored, heuristic)
    };
    decided.decide().moves
}
