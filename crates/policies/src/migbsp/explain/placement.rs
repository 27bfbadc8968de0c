//! Sentences about the destinations of candidates: the offered host, and the terms of t1 and t2, the predicted times without and
//! with the move.

use serde::Deserialize;

use crate::explain::{DecisionRecord, time_ratio};
use migsim_base::quantities::format_time;
use migsim_base::words::{format_count, singular_or_plural};

/// The terms of t1 and t2, the predicted times of one candidate of MigBSP without and with the move, as read from the decision
/// record.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct CandidateTimes {
    power_instructions_per_s: f64,
    offered_hosts: u64,
    residents: u64,
    slowdown: f64,
    /// The part of the slowdown factor that accounts for the slowdown of the processes already on the destination; 0 in records
    /// of older runs without this value.
    #[serde(default)]
    slowdown_inflicted: f64,
    supersteps: f64,
    stay_compute_s: f64,
    stay_communication_s: f64,
    go_compute_s: f64,
    go_communication_s: f64,
    go_transfer_s: f64,
    go_operations_s: f64,
}

impl CandidateTimes {
    /// Reads the terms of the candidate `process` (counted from 1) from the decision record of a call; `None` if they are not
    /// recorded.
    pub(super) fn from_record(call: DecisionRecord<'_>, process: u64) -> Option<Self> {
        let list = call.explanation.get("weighed")?.as_array()?;
        let own = list
            .iter()
            .find(|entry| entry["process"].as_u64() == Some(process))?;
        Self::deserialize(own).ok()
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
                let shown = format_count(some, "process");
                let verb = singular_or_plural(some, ["is", "are"]);
                let residents = shown;
                format!("; {residents} {verb} there already")
            }
        };
        let shown = format_count(self.offered_hosts, "host");
        let hosts = shown;
        let power = format!("{:.3} Ginstr/s", self.power_instructions_per_s / 1e9);
        format!(" (the fastest of {hosts} when their loads are counted: {power}{residents})")
    }

    /// Describes `t1 = ...` and `t2 = ...` in one sentence each, with the sum of the terms of this time.
    pub(super) fn describe_times(&self, [stay, go]: [f64; 2]) -> [String; 2] {
        let here = [
            self.describe_repeated_time(self.stay_compute_s, "computation"),
            self.describe_communication_time(self.stay_communication_s),
        ];
        let computation = self.describe_repeated_time(self.go_compute_s, "computation");
        let there = [
            computation + &self.describe_slowdown(),
            self.describe_communication_time(self.go_communication_s),
            describe_single_time(self.go_transfer_s, "transfer of the memory"),
            describe_single_time(self.go_operations_s, "operations of the move"),
        ];
        let sum = |parts: &[String]| {
            let parts = parts.iter().filter(|part| !part.is_empty());
            parts.cloned().collect::<Vec<_>>().join(" + ")
        };
        let (stay, go) = (format_time(stay), format_time(go));
        [
            format!("without the move: t1 = {stay} = {}", sum(&here)),
            format!("with the move: t2 = {go} = {}", sum(&there)),
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

    /// Describes a time `part` of one superstep, multiplied by the number of supersteps if this is above 1.
    fn describe_repeated_time(&self, part: f64, what: &str) -> String {
        let part = format_time(part);
        if self.supersteps > 1.0 {
            format!("{} x {part} {what}", self.supersteps)
        } else {
            format!("{part} {what}")
        }
    }

    /// Describes the communication time of one superstep in t1 or t2; the result is empty if the time is 0.
    fn describe_communication_time(&self, part: f64) -> String {
        if part > 0.0 {
            self.describe_repeated_time(part, "communication")
        } else {
            String::new()
        }
    }

    /// Describes the slowdown on a shared host: the share of the process and, if included, the slowdown of the other processes.
    /// The result is empty without slowdown.
    fn describe_slowdown(&self) -> String {
        if self.slowdown <= 1.0 {
            return String::new();
        }
        let factor = self.slowdown;
        if self.slowdown_inflicted <= 0.0 {
            return format!(" (times {factor}, since the host is shared)");
        }
        let own = self.slowdown - self.slowdown_inflicted;
        format!(
            " (times {} = {} for its share of the host + {} for the slowdown of the {} there)",
            factor,
            own,
            self.slowdown_inflicted,
            singular_or_plural(self.residents, ["process", "processes"])
        )
    }
}

/// Describes a time that occurs only once (not in each superstep); the result is empty if the time is 0.
fn describe_single_time(part: f64, what: &str) -> String {
    if part > 0.0 {
        format!("{} {what}", format_time(part))
    } else {
        String::new()
    }
}
