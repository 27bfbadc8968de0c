//! Sentences about the destinations of candidates: the offered host, and the terms of t1 and t2, the predicted times without and
//! with the move.

use serde::Deserialize as _;

use crate::{
    explain::{DecisionRecord, time_ratio},
    migbsp::viability::CandidateTimes,
};
use migsim_base::{
    quantities::format_time,
    words::{format_count, singular_or_plural},
};

impl CandidateTimes {
    /// Reads the terms of the candidate `process` (counted from 1) from the decision record of a call; `None` if they are not
    /// recorded.
    pub(super) fn from_record(call: DecisionRecord<'_>, process: u64) -> Option<Self> {
        let mut list = call.explanation.get("weighed")?.as_array()?.iter();
        Self::deserialize(list.find(|entry| entry["process"] == process)?).ok()
    }

    /// Returns the computation time and the communication time of a superstep at the destination, each divided by the same time
    /// on the present host.
    pub(super) fn slowdown_factors(&self) -> [f64; 2] {
        [
            time_ratio(self.go_compute_s, self.stay_compute_s),
            time_ratio(self.go_communication_s, self.stay_communication_s),
        ]
    }

    pub(super) fn describe_offered_host(&self) -> String {
        let residents = match self.residents {
            0 => String::new(),
            some => {
                let verb = singular_or_plural(some.into(), ["is", "are"]);
                format!("; {} {verb} there already", format_count(some, "process"))
            }
        };
        let hosts = format_count(self.offered_hosts, "host");
        let power = self.power_instructions_per_s / 1e9;
        format!(
            " (the fastest of {hosts} when their loads are counted: {power:.3} Ginstr/s{residents})"
        )
    }

    /// Describes `t1 = ...` and `t2 = ...` in one sentence each, with the sum of the terms of this time.
    pub(super) fn describe_times(&self, times: [f64; 2]) -> [String; 2] {
        let steps = self.supersteps;
        let repeated = |part: f64, what: &str| {
            let part = format_time(part);
            if steps > 1.0 {
                format!("{steps} x {part} {what}")
            } else {
                format!("{part} {what}")
            }
        };
        let mut here = vec![repeated(self.stay_compute_s, "computation")];
        let slowdown = self.describe_slowdown();
        let mut there = vec![repeated(self.go_compute_s, "computation") + &slowdown];
        for (terms, part) in [
            (&mut here, self.stay_communication_s),
            (&mut there, self.go_communication_s),
        ] {
            terms.extend((part > 0.0).then(|| repeated(part, "communication")));
        }
        for (part, what) in [
            (self.go_transfer_s, "transfer of the memory"),
            (self.go_operations_s, "operations of the move"),
        ] {
            there.extend((part > 0.0).then(|| format!("{} {what}", format_time(part))));
        }
        let [here, there] = [here, there].map(|terms| terms.join(" + "));
        let [t1, t2] = times.map(format_time);
        [
            format!("without the move: t1 = {t1} = {here}"),
            format!("with the move: t2 = {t2} = {there}"),
        ]
    }

    /// Completes the sentence `saving`, about the time that the candidate would save or lose. Added are the number of supersteps
    /// for which the sentence holds, and the cost of the move that is included.
    pub(super) fn complete_saving_sentence(&self, saving: &str) -> String {
        let price = self.go_transfer_s + self.go_operations_s;
        let steps = match (self.supersteps > 1.0, price > 0.0) {
            (true, _) => format!("in {} supersteps", self.supersteps),
            (false, true) => "in one superstep".into(),
            (false, false) => "per superstep".into(),
        };
        if price > 0.0 {
            let price = format_time(price);
            format!("{saving} {steps}; t2 includes {price} for the move.")
        } else {
            format!("{saving} {steps}; t2 excludes the cost of the move.")
        }
    }

    fn describe_slowdown(&self) -> String {
        if self.slowdown <= 1.0 {
            return String::new();
        }
        let (factor, inflicted) = (self.slowdown, self.slowdown_inflicted);
        if inflicted <= 0.0 {
            return format!(" (times {factor}, since the host is shared)");
        }
        let own = factor - inflicted;
        let processes = singular_or_plural(self.residents.into(), ["process", "processes"]);
        format!(
            " (times {factor} = {own} for its share of the host + {inflicted} for the slowdown of the {processes} there)"
        )
    }
}
