//! Sentences about the destinations of candidates: the offered host, and the terms of t1 and t2, the predicted times without and
//! with the move.

use serde::Deserialize;

use super::meanings as quantity;
use crate::explain::meanings::{TIME_MOVING, TIME_STAYING};
use crate::explain::{DecisionRecord, Meaning, Quantity, Sentence, say, time_ratio};
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

    pub(super) fn describe_offered_host(&self) -> Sentence {
        let residents = match self.residents {
            0 => Sentence::default(),
            some => {
                let shown = format_count(some, "process");
                let verb = singular_or_plural(some, ["is", "are"]);
                let residents = quantity::RESIDENTS.with_count(some).with_shown_text(shown);
                say!("; {} {} there already", residents, verb)
            }
        };
        let shown = format_count(self.offered_hosts, "host");
        let hosts = quantity::OFFERED_HOSTS
            .with_count(self.offered_hosts)
            .with_shown_text(shown);
        let power = quantity::OFFERED_POWER.with_value(self.power_instructions_per_s);
        say!(
            " (the fastest of {} when their loads are counted: {}{})",
            hosts,
            power,
            residents
        )
    }

    /// Describes `t1 = ...` and `t2 = ...` in one sentence each, with the sum of the terms of this time.
    pub(super) fn describe_times(&self, [stay, go]: [f64; 2]) -> [Sentence; 2] {
        let here = [
            self.describe_repeated_time(
                "{} computation",
                quantity::STAY_COMPUTE.with_value(self.stay_compute_s),
            ),
            self.describe_communication_time(
                &quantity::STAY_COMMUNICATION,
                self.stay_communication_s,
            ),
        ];
        let computation = self.describe_repeated_time(
            "{} computation",
            quantity::GO_COMPUTE.with_value(self.go_compute_s),
        );
        let there = [
            say!("{}{}", computation, self.describe_slowdown()),
            self.describe_communication_time(&quantity::GO_COMMUNICATION, self.go_communication_s),
            describe_single_time(
                "{} transfer of the memory",
                &quantity::GO_TRANSFER,
                self.go_transfer_s,
            ),
            describe_single_time(
                "{} operations of the move",
                &quantity::GO_OPERATIONS,
                self.go_operations_s,
            ),
        ];
        let sum = |parts: &[Sentence]| {
            let parts = parts.iter().filter(|part| !part.text().is_empty());
            Sentence::joined(parts.cloned(), " + ")
        };
        [
            say!(
                "without the move: t1 = {} = {}",
                TIME_STAYING.with_value(stay),
                sum(&here)
            ),
            say!(
                "with the move: t2 = {} = {}",
                TIME_MOVING.with_value(go),
                sum(&there)
            ),
        ]
    }

    /// Completes the sentence `saving`, about the time that the candidate would save or lose. Added are the number of supersteps
    /// for which the sentence holds, and the cost of the move that is included.
    pub(super) fn complete_saving_sentence(&self, saving: Sentence) -> Sentence {
        let price = self.go_transfer_s + self.go_operations_s;
        let steps = match (self.supersteps > 1.0, price > 0.0) {
            (true, _) => say!(
                "in {} supersteps",
                quantity::HORIZON_SUPERSTEPS.with_value(self.supersteps)
            ),
            (false, true) => "in one superstep".into(),
            (false, false) => "per superstep".into(),
        };
        if price > 0.0 {
            let price = quantity::GO_COST.with_value(price);
            say!("{} {}; t2 includes {} for the move.", saving, steps, price)
        } else {
            say!("{} {}; t2 excludes the cost of the move.", saving, steps)
        }
    }

    /// Describes a time of one superstep with the words of `template`, multiplied by the number of supersteps if this is above 1.
    fn describe_repeated_time(&self, template: &str, part: Quantity) -> Sentence {
        if self.supersteps > 1.0 {
            let part = say!(
                "{} x {}",
                quantity::HORIZON_SUPERSTEPS.with_value(self.supersteps),
                part
            );
            say!(template, part)
        } else {
            say!(template, part)
        }
    }

    /// Describes the communication time of one superstep in t1 or t2; the result is empty if the time is 0.
    fn describe_communication_time(&self, meaning: &Meaning, part: f64) -> Sentence {
        if part > 0.0 {
            self.describe_repeated_time("{} communication", meaning.with_value(part))
        } else {
            Sentence::default()
        }
    }

    /// Describes the slowdown on a shared host: the share of the process and, if included, the slowdown of the other processes.
    /// The result is empty without slowdown.
    fn describe_slowdown(&self) -> Sentence {
        if self.slowdown <= 1.0 {
            return Sentence::default();
        }
        let factor = quantity::SLOWDOWN.with_value(self.slowdown);
        if self.slowdown_inflicted <= 0.0 {
            return say!(" (times {}, since the host is shared)", factor);
        }
        let own = self.slowdown - self.slowdown_inflicted;
        say!(
            " (times {} = {} for its share of the host + {} for the slowdown of the {} there)",
            factor,
            quantity::SLOWDOWN_OWN.with_value(own),
            quantity::SLOWDOWN_INFLICTED.with_value(self.slowdown_inflicted),
            singular_or_plural(self.residents, ["process", "processes"])
        )
    }
}

/// Describes a time that occurs only once (not in each superstep) with the words of `template`; the result is empty if the time
/// is 0.
fn describe_single_time(template: &str, meaning: &Meaning, part: f64) -> Sentence {
    if part > 0.0 {
        say!(template, meaning.with_value(part))
    } else {
        Sentence::default()
    }
}
