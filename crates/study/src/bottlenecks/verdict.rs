//! The verdict of a profile: three sentences that summarise which changes shorten the run.

use super::{CausalProfile, QuantityRow, SimulatedChange};
use crate::stats::{Sample, format_short};
use migsim_experiment::Amount;

impl CausalProfile {
    /// Returns the three sentences of the verdict: the quantity whose improvement by 10 % (or by one process per host) shortens
    /// the makespan most, the quantity that shortens the makespan most if it has no limit (a capacity without bound, a cost of 0), and the quantities without effect.
    pub fn verdict(&self) -> String {
        let sentences = [
            self.best_improvement_sentence(),
            self.best_limit_removal_sentence(),
            self.ineffective_quantities_sentence(),
        ];
        sentences.join(" ")
    }

    /// Returns the gain by which a change is ranked \[%\], over the seeds. It is the gain with the decisions of the unchanged run
    /// if the user requested it, otherwise the gain with new decisions.
    pub(super) fn ranking_gain(&self, tried: &SimulatedChange) -> Sample {
        let held = tried
            .gain_with_kept_decisions
            .filter(|_| self.keeps_decisions);
        held.unwrap_or(tried.gain)
    }

    /// Returns the gain by which a change is ranked \[%\], as a mean over the seeds.
    fn mean_ranking_gain(&self, tried: &SimulatedChange) -> f64 {
        self.ranking_gain(tried).mean
    }

    /// Returns the sentence on the change with the largest gain by a step of 10 % or one process per host.
    fn best_improvement_sentence(&self) -> String {
        let time = self.makespan.format();
        match self.quantity_rows.first() {
            Some(row) if self.mean_ranking_gain(&row.improvement) >= super::MIN_GAIN_PERCENT => {
                format!(
                    "The run takes {time} s. Of all changes by {step} % or by one process per host, `{name}` shortens the run most, by {gain} %.",
                    step = super::STEP_PERCENT,
                    name = row.label(),
                    gain = format_short(self.mean_ranking_gain(&row.improvement)),
                )
            }
            _ => format!(
                "The run takes {time} s. No single change by {} % or by one process per host makes it faster.",
                super::STEP_PERCENT
            ),
        }
    }

    /// Returns the sentence on the quantity that would gain most if it had no limit (an unbounded capacity, or a cost of 0).
    fn best_limit_removal_sentence(&self) -> String {
        let unlimited = self
            .quantity_rows
            .iter()
            .filter_map(|row| row.limit_removal.as_ref());
        let best = unlimited.reduce(|best, one| {
            if self.mean_ranking_gain(one) > self.mean_ranking_gain(best) {
                one
            } else {
                best
            }
        });
        match best {
            Some(one) if self.mean_ranking_gain(one) >= super::MIN_GAIN_PERCENT => {
                let gain = self.mean_ranking_gain(one);
                let exceeds = |row: &QuantityRow| self.mean_ranking_gain(&row.improvement) > gain;
                // The number of processes cannot be unlimited, so the gain of its step may be larger.
                let end = if self.quantity_rows.iter().any(exceeds) {
                    ""
                } else {
                    ", and no change of a single quantity would gain more"
                };
                format!(
                    "If a single quantity had no limit (a capacity without bound, a cost of 0), `{}` would gain most, {} % of the time{end}.",
                    one.change.quantity,
                    format_short(gain),
                )
            }
            _ => "Even if a single quantity had no limit (a capacity without bound, a cost of 0), the run would not be faster.".to_owned(),
        }
    }

    /// Returns the sentence on the quantities whose changes have no effect.
    fn ineffective_quantities_sentence(&self) -> String {
        let all = self.quantity_rows.len();
        let vain: Vec<&QuantityRow> = self
            .quantity_rows
            .iter()
            .filter(|row| !row.has_effect())
            .collect();
        let count = vain.len();
        let first = vain
            .iter()
            .find(|row| row.improvement.change.amount != Amount::ProcessCount(1));
        match first {
            Some(row) => format!(
                "Without limit, {count} of the {all} quantities still change the time by less than {} %, for example `{}`.",
                super::MIN_GAIN_PERCENT,
                row.quantity
            ),
            None => format!(
                "Each of the {all} quantities changes the time by {} % or more.",
                super::MIN_GAIN_PERCENT
            ),
        }
    }
}
