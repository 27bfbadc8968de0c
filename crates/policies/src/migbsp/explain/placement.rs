//! Placement: the offered host, the terms of t1 and t2, and what their difference includes.

use serde::Deserialize;

use super::meanings as quantity;
use crate::explain::meanings::{GO, STAY};
use crate::explain::{Meaning, Quantity, Record, Sentence, ratio, say};
use migsim_base::words::{counted, singular_or_plural};

/// The terms of t1 and t2 of MigBSP, as in its record.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Weighing {
    power_instructions_per_s: f64,
    offered_hosts: u64,
    residents: u64,
    slowdown: f64,
    /// The part of the slowdown that stands for the slowdown of the processes there; none in the record of an older run.
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

impl Weighing {
    pub(super) fn of(call: Record<'_>, process: u64) -> Option<Self> {
        let list = call.explanation.get("weighed")?.as_array()?;
        let own = list
            .iter()
            .find(|entry| entry["process"].as_u64() == Some(process))?;
        Self::deserialize(own).ok()
    }

    /// Returns the factors by which computation and communication of a superstep take longer at the destination.
    pub(super) fn changes(&self) -> [f64; 2] {
        [
            ratio(self.go_compute_s, self.stay_compute_s),
            ratio(self.go_communication_s, self.stay_communication_s),
        ]
    }

    pub(super) fn host(&self) -> Sentence {
        let residents = match self.residents {
            0 => Sentence::default(),
            some => {
                let shown = counted(some, "process");
                let verb = singular_or_plural(some, ["is", "are"]);
                let residents = quantity::RESIDENTS.count(some).shown_as(shown);
                say!("; {} {} there already", residents, verb)
            }
        };
        let shown = counted(self.offered_hosts, "host");
        let hosts = quantity::OFFERED.count(self.offered_hosts).shown_as(shown);
        let power = quantity::POWER.of(self.power_instructions_per_s);
        say!(
            " (the fastest of {}, counting load: {}{})",
            hosts,
            power,
            residents
        )
    }

    /// Describes `t1 = ..., t2 = ...`, each with its parts.
    pub(super) fn sums(&self, [stay, go]: [f64; 2]) -> [Sentence; 2] {
        let here = [
            self.times(
                "{} computation",
                quantity::STAY_COMPUTE.of(self.stay_compute_s),
            ),
            self.some(&quantity::STAY_COMMUNICATION, self.stay_communication_s),
        ];
        let computation = self.times("{} computation", quantity::GO_COMPUTE.of(self.go_compute_s));
        let there = [
            say!("{}{}", computation, self.slowed()),
            self.some(&quantity::GO_COMMUNICATION, self.go_communication_s),
            once("{} transfer", &quantity::GO_TRANSFER, self.go_transfer_s),
            once("{} move", &quantity::GO_OPERATIONS, self.go_operations_s),
        ];
        let sum = |parts: &[Sentence]| {
            let parts = parts.iter().filter(|part| !part.text().is_empty());
            Sentence::joined(parts.cloned(), " + ")
        };
        [
            say!("t1 = {} = {}", STAY.of(stay), sum(&here)),
            say!("t2 = {} = {}", GO.of(go), sum(&there)),
        ]
    }

    /// Describes the time that the candidate would save or lose, `saving`, with what it includes.
    pub(super) fn saving(&self, saving: Sentence) -> Sentence {
        let price = self.go_transfer_s + self.go_operations_s;
        let steps = match (self.supersteps > 1.0, price > 0.0) {
            (true, _) => say!("in {} supersteps", quantity::HORIZON.of(self.supersteps)),
            (false, true) => "in one superstep".into(),
            (false, false) => "per superstep".into(),
        };
        if price > 0.0 {
            let price = quantity::GO_PRICE.of(price);
            say!("{} {}, the {} of the move included.", saving, steps, price)
        } else {
            say!("{} {}, before the price of the move.", saving, steps)
        }
    }

    /// Formats a time of one superstep, in `template`, times the number of supersteps.
    fn times(&self, template: &str, part: Quantity) -> Sentence {
        if self.supersteps > 1.0 {
            let part = say!("{} x {}", quantity::HORIZON.of(self.supersteps), part);
            say!(template, part)
        } else {
            say!(template, part)
        }
    }

    /// Describes a communication time, if there is one.
    fn some(&self, meaning: &Meaning, part: f64) -> Sentence {
        if part > 0.0 {
            self.times("{} communication", meaning.of(part))
        } else {
            Sentence::default()
        }
    }

    /// Describes the factor of a shared host: the share of the process, and the slowdown of the processes there if it counts.
    fn slowed(&self) -> Sentence {
        if self.slowdown <= 1.0 {
            return Sentence::default();
        }
        let factor = quantity::SLOWDOWN.of(self.slowdown);
        if self.slowdown_inflicted <= 0.0 {
            return say!(" (times {}, since the host is shared)", factor);
        }
        let own = self.slowdown - self.slowdown_inflicted;
        say!(
            " (times {} = {} for its share of the host + {} for the harm to the {} there)",
            factor,
            quantity::SLOWDOWN_OWN.of(own),
            quantity::SLOWDOWN_INFLICTED.of(self.slowdown_inflicted),
            singular_or_plural(self.residents, ["process", "processes"])
        )
    }
}

/// Formats a time that occurs once, in `template`, if there is one.
fn once(template: &str, meaning: &Meaning, part: f64) -> Sentence {
    if part > 0.0 {
        say!(template, meaning.of(part))
    } else {
        Sentence::default()
    }
}
