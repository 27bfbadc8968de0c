//! Computes the length that a recorded run must have so that moves shorten it: a recording is usually short, while the cost of a
//! move is paid only once.
//!
//! ```text
//! saved = T_i - T_iii + calls + moves          in the recorded run [s]
//! pays from  k = moves / (saved - calls)       runs of that length
//! ```
//! `T_i` is the makespan without rescheduling, and `T_iii` the makespan with rescheduling; `calls` and `moves` are the costs of
//! the rescheduling calls and of the moves. A run that is k times as long repeats the recorded run: the number of calls grows
//! with the length, but the moves are made only once.

use super::{
    compare::{Comparison, PolicyResults},
    stats::format_short,
};

impl Comparison {
    /// Returns a sentence on the length of a run from which on the moves of a policy save more time than they cost; `None` for an
    /// application that was not recorded.
    pub(super) fn required_length_sentence(&self) -> Option<String> {
        let alone = self
            .scenario_i_makespan
            .filter(|_| self.is_application_recorded)?
            .mean;
        let moving: Vec<&PolicyResults> =
            self.policies.iter().filter(|one| one.moves > 0.0).collect();
        if moving.is_empty() {
            let text = "No policy moves a process in this recorded run, so that the comparison does not show how long a run must be for moves to pay for themselves: record more supersteps.";
            return Some(text.into());
        }
        let found = moving.into_iter().filter_map(|one| {
            let calls = one.calls_cost_s;
            let moves = one.moves_cost_s;
            let saved = alone - one.makespan_s.mean + calls + moves;
            let runs = moves / (saved - calls);
            (saved > calls).then_some((one, runs * alone))
        });
        let Some((first, least)) = found.min_by(|one, other| one.1.total_cmp(&other.1)) else {
            let text = "Even if their cost is ignored, the moves save no time, so that they would not pay for themselves in a longer run of the same kind.";
            return Some(text.into());
        };
        Some(format!(
            "The moves of `{}` cost {} s once: they pay for themselves if a run of the same kind takes about {} s or longer.",
            first.policy,
            format_short(first.moves_cost_s),
            format_short(least)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compare::{AdditionalResults, SeedResults},
        row::RunRow,
        stats::Sample,
        store::Rows,
    };
    use serde_json::json;

    /// Compares `never`, which takes 10 s, with a policy of this makespan and these costs of calls and moves \[s\].
    fn comparison(makespan: f64, costs: [f64; 2], moves: u64) -> Comparison {
        let plan = serde_json::from_value(json!({
            "schema": "migsim-plan-1", "version": "0", "sweep": { "schema": "migsim-sweep-1" },
            "names": ["policy"], "settings": [["never"], ["greedy"]], "seeds": [1], "runs": ["a", "b"],
        }));
        let row = |time| RunRow {
            makespan_s: [Some(10.0), None, Some(time)],
            ..RunRow::default()
        };
        let rows = Rows::from([("a".to_owned(), row(10.0)), ("b".to_owned(), row(makespan))]);
        let known = AdditionalResults {
            seeds: vec![SeedResults {
                is_application_recorded: true,
                ..SeedResults::default()
            }],
            ..AdditionalResults::default()
        };
        let mut found = Comparison::from_rows(&plan.unwrap(), &rows, &known);
        let moving = found.policies.iter_mut().find(|one| one.policy == "greedy");
        let moving = moving.unwrap();
        [moving.calls_cost_s, moving.moves_cost_s] = costs;
        moving.moves = moves as f64;
        found.scenario_i_makespan = Sample::from_numbers(&[10.0]);
        found
    }

    #[test]
    fn moves_pay_in_a_run_in_which_they_save_their_cost() {
        // The makespan is 12 s, with 3 s of moves and 0.2 s of calls: 1.2 s are saved, 1 s of it beyond the calls. Three runs therefore
        // pay 3 s.
        let verdict = comparison(12.0, [0.2, 3.0], 2).verdict();
        let expected = "The moves of `greedy` cost 3.00 s once: they pay for themselves if a run of the same kind takes about 30.00 s or longer.";
        assert!(verdict.ends_with(expected), "{verdict}");
        let verdict = comparison(13.5, [0.2, 3.0], 2).verdict();
        assert!(verdict.ends_with("Even if their cost is ignored, the moves save no time, so that they would not pay for themselves in a longer run of the same kind."), "{verdict}");
        let verdict = comparison(10.0, [0.0, 0.0], 0).verdict();
        assert!(verdict.ends_with("record more supersteps."), "{verdict}");
    }

    #[test]
    fn an_application_of_any_length_has_no_such_sentence() {
        let mut other = comparison(12.0, [0.2, 3.0], 2);
        other.is_application_recorded = false;
        assert!(
            !other.verdict().contains("of the same kind"),
            "{}",
            other.verdict()
        );
    }
}
