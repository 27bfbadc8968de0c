//! The verdict of a profile: sentences that summarise which changes shorten the run, generated from the rows of its table.

use super::{CausalProfile, QuantityRow, SimulatedChange};
use crate::{compare_verdict::join_names, stats::format_short};
use migsim_experiment::{Amount, ChangedQuantity};

/// Difference below which two gains count as equal \[percentage points\].
const EQUAL_GAINS: f64 = 1e-6;

impl CausalProfile {
    /// Returns the sentences of the verdict: the changes by 10 % (or by one process per host) that shorten the makespan most, the
    /// quantities that shorten it most without a limit (a capacity without bound, a cost of 0), the number of improvements that
    /// lengthen it, and the quantities with hardly an effect.
    pub fn verdict(&self) -> String {
        [
            Some(self.best_improvement_sentence()),
            Some(self.best_limit_removal_sentence()),
            self.losses_sentence(),
            Some(self.ineffective_quantities_sentence()),
        ]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
    }

    /// Returns the gain by which a change is ranked \[%\], as a mean over the seeds.
    fn mean_ranking_gain(&self, tried: &SimulatedChange) -> f64 {
        tried.ranking_gain(self.keeps_decisions).mean
    }

    /// Returns the changes with the largest gain, if it counts as an effect, and this gain \[%\].
    fn best<'a>(
        &self,
        tried: impl Iterator<Item = &'a SimulatedChange> + Clone,
    ) -> Option<(Vec<&'a SimulatedChange>, f64)> {
        let best = tried
            .clone()
            .map(|one| self.mean_ranking_gain(one))
            .reduce(f64::max)?;
        let is_best = |one: &&SimulatedChange| best - self.mean_ranking_gain(one) < EQUAL_GAINS;
        let found = (tried.filter(is_best).collect(), best);
        (best >= super::MIN_GAIN_PERCENT).then_some(found)
    }

    /// Describes with which decisions these changes were simulated; empty if there is only one possibility.
    fn decisions(&self, tried: &[&SimulatedChange]) -> String {
        let is_held = self.keeps_decisions || tried.iter().all(|one| one.held_only);
        match (tried, is_held && self.has_held_gains) {
            ([one], true) if !one.held_only => format!(
                " with the decisions of the unchanged run ({} % if the policy decides again)",
                format_short(one.gain.mean)
            ),
            (_, true) => " with the decisions of the unchanged run".to_owned(),
            ([one], false) => one.held_gain.map_or_else(String::new, |held| {
                let held = format_short(held.mean);
                format!(" ({held} % with the decisions of the unchanged run)")
            }),
            _ => String::new(),
        }
    }

    fn best_improvement_sentence(&self) -> String {
        let time = self.makespan.format();
        let step = super::STEP_PERCENT;
        let Some((best, gain)) = self.best(self.rows.iter().map(QuantityRow::improvement)) else {
            return format!(
                "The run takes {time} s. No single change by {step} % or by one process per host makes it faster."
            );
        };
        let (verb, each) = if best.len() > 1 {
            ("shorten", " each")
        } else {
            ("shortens", "")
        };
        let names = join_names(best.iter().map(|one| &one.change));
        let gain = format_short(gain);
        let decisions = self.decisions(&best);
        format!(
            "The run takes {time} s. Of all changes by {step} % or by one process per host, {names} {verb} the run most, by {gain} %{each}{decisions}."
        )
    }

    /// Returns the sentence on the quantities that would gain most if they had no limit (an unbounded capacity, or a cost of 0).
    fn best_limit_removal_sentence(&self) -> String {
        let Some((best, gain)) = self.best(self.rows.iter().filter_map(|row| row.changes.get(1)))
        else {
            return "Even if a single quantity had no limit (a capacity without bound, a cost of 0), the run would not be faster.".to_owned();
        };
        let exceeds = |row: &QuantityRow| self.mean_ranking_gain(row.improvement()) > gain;
        // The number of processes cannot be unlimited, so the gain of its step may be larger.
        let end = if self.rows.iter().any(exceeds) {
            ""
        } else if self.omitted_quantity_count > 0 {
            ", and no other change that was tried would gain more"
        } else {
            ", and no change of a single quantity would gain more"
        };
        let names = join_names(best.iter().map(|one| &one.change.quantity));
        let gain = format_short(gain);
        let decisions = self.decisions(&best);
        let each = if best.len() > 1 { " each" } else { "" };
        format!(
            "If a single quantity had no limit (a capacity without bound, a cost of 0), {names} would gain most, {gain} % of the time{each}{decisions}{end}."
        )
    }

    /// Returns the sentence on the improvements that make the run slower; `None` if there are none. A change of the number of
    /// processes per host is no improvement.
    fn losses_sentence(&self) -> Option<String> {
        let tried = || {
            self.rows
                .iter()
                .flat_map(|row| &row.changes)
                .filter(|one| one.change.quantity != ChangedQuantity::ProcessesPerHost)
        };
        let is_loss = |gain: f64| gain <= -super::MIN_GAIN_PERCENT;
        let losses = || tried().filter(|one| is_loss(one.gain.mean));
        let by_decisions =
            losses().filter(|one| one.held_gain.is_some_and(|held| !is_loss(held.mean)));
        let all = tried().count();
        let losses = losses().count();
        let since = match by_decisions.count() {
            0 => String::new(),
            all if all == losses => ", since the policy then decides otherwise".to_owned(),
            some => format!(", {some} of them since the policy then decides otherwise"),
        };
        let verb = if losses == 1 { "makes" } else { "make" };
        (losses > 0)
            .then(|| format!("{losses} of {all} improvements {verb} the run slower{since}."))
    }

    fn ineffective_quantities_sentence(&self) -> String {
        let all = self.rows.len();
        let least = super::MIN_GAIN_PERCENT;
        let vain = || self.rows.iter().filter(|row| !row.has_effect());
        let mut others =
            vain().filter(|row| row.improvement().change.amount != Amount::ProcessCount(1));
        match others.next() {
            Some(row) => format!(
                "Without limit, {} of the {all} quantities still change the time by less than {least} %, for example `{}`.",
                vain().count(),
                row.quantity()
            ),
            None => format!("Each of the {all} quantities changes the time by {least} % or more."),
        }
    }
}
