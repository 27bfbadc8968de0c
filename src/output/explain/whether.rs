//! Where and whether: the destination of each candidate, t1 against t2, the verdict.

use serde::Deserialize;

use super::Scene;
use super::numbers::{duration, ratio};
use crate::output::read::{Call, Judged};
use crate::words::counted;

/// So many candidates are told one by one if nobody asks for one.
const TOLD: usize = 12;

/// What t1 and t2 of MigBSP are made of, as its record has it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Weighing {
    power_instructions_per_s: f64,
    offered_hosts: usize,
    residents: u64,
    slowdown: f64,
    supersteps: f64,
    stay_compute_s: f64,
    stay_communication_s: f64,
    go_compute_s: f64,
    go_communication_s: f64,
    go_transfer_s: f64,
    go_operations_s: f64,
}

impl Weighing {
    pub(super) fn of(call: &Call, process: u64) -> Option<Self> {
        let list = call.explanation.get("weighed")?.as_array()?;
        let own = list
            .iter()
            .find(|entry| entry["process"].as_u64() == Some(process))?;
        Self::deserialize(own).ok()
    }

    /// How many times as long computation and communication of a superstep take there.
    pub(super) fn changes(&self) -> [f64; 2] {
        [
            ratio(self.go_compute_s, self.stay_compute_s),
            ratio(self.go_communication_s, self.stay_communication_s),
        ]
    }

    fn host(&self) -> String {
        let residents = match self.residents {
            0 => String::new(),
            some => format!(", shared with {some}"),
        };
        let power = self.power_instructions_per_s / 1e9;
        format!(
            " (the best of {} by ICPU, {power:.3} G instructions/s{residents})",
            counted(self.offered_hosts, "host")
        )
    }

    /// `t1 = ..., t2 = ...`, each with its parts.
    fn sums(&self, stay: f64, go: f64) -> [String; 2] {
        let times = |part: f64| {
            if self.supersteps > 1.0 {
                format!("{} x {}", self.supersteps, duration(part))
            } else {
                duration(part)
            }
        };
        let with = |text: &mut String, part: f64, what: &str| {
            if part > 0.0 {
                text.extend([" + ", what]);
            }
        };
        let mut here = format!(
            "t1 = {} = {} computation",
            duration(stay),
            times(self.stay_compute_s)
        );
        with(
            &mut here,
            self.stay_communication_s,
            &format!("{} communication", times(self.stay_communication_s)),
        );
        let slowed = if self.slowdown > 1.0 {
            format!(" (slowed {} times)", self.slowdown)
        } else {
            String::new()
        };
        let mut there = format!(
            "t2 = {} = {} computation{slowed}",
            duration(go),
            times(self.go_compute_s)
        );
        with(
            &mut there,
            self.go_communication_s,
            &format!("{} communication", times(self.go_communication_s)),
        );
        with(
            &mut there,
            self.go_transfer_s,
            &format!("{} transfer", duration(self.go_transfer_s)),
        );
        with(
            &mut there,
            self.go_operations_s,
            &format!("{} move", duration(self.go_operations_s)),
        );
        [here, there]
    }
}

impl Scene<'_> {
    pub(super) fn whether(&self, call: &Call) -> Vec<String> {
        let is_asked = |one: &&Judged| {
            self.question
                .process
                .is_none_or(|process| process == one.process)
        };
        let asked: Vec<&Judged> = call.candidates.iter().filter(is_asked).collect();
        let mut sentences = Vec::new();
        for one in asked.iter().take(TOLD) {
            candidate(call, one, &mut sentences);
        }
        if asked.len() > TOLD {
            let rest = &asked[TOLD..];
            let moved = rest.iter().filter(|one| one.accepted).count();
            sentences.push(format!(
                "{}, {moved} accepted; ask for one with --process.",
                counted(rest.len(), "more candidate")
            ));
        }
        sentences.extend(self.forced(call));
        if let Some(process) = self.question.process.filter(|_| self.question.why_not) {
            if call.migrations.iter().any(|one| one.process == process) {
                sentences.push(format!(
                    "p{process} did not stay: the call decided to move it."
                ));
            } else if asked.is_empty() {
                sentences.push(format!("p{process} was no candidate, so no host was looked for and nothing was weighed."));
            }
        }
        sentences
    }

    /// What was decided without candidates.
    fn forced(&self, call: &Call) -> Vec<String> {
        let is_told = |process: u64| call.candidates.iter().any(|one| one.process == process);
        let is_asked = |process: u64| self.question.process.is_none_or(|asked| asked == process);
        let others = call
            .migrations
            .iter()
            .filter(|one| !is_told(one.process) && is_asked(one.process));
        others
            .map(|one| {
                format!(
                    "p{} is to move from {} ({}) to {} ({}).",
                    one.process, one.from_host, one.from_cluster, one.to_host, one.to_cluster
                )
            })
            .collect()
    }
}

/// One candidate: its destination, the verdict, t1 against t2.
fn candidate(call: &Call, one: &Judged, sentences: &mut Vec<String>) {
    let weighing = Weighing::of(call, one.process);
    let wanted = format!(
        "p{} on {} of {} asked for {}",
        one.process, one.from_host, one.from_cluster, one.to_cluster
    );
    let offered = match (&one.to_host, &weighing) {
        (Some(host), Some(weighing)) => format!(" and was offered {host}{}", weighing.host()),
        (Some(host), None) => format!(" and was offered {host}"),
        (None, _) => String::new(),
    };
    let verdict = if one.accepted {
        "it is to move"
    } else {
        "it stays"
    };
    sentences.push(format!("{wanted}{offered}: {verdict} ({}).", one.reason));
    let (Some(stay), Some(go)) = (one.stay_s, one.go_s) else {
        return;
    };
    let parts = weighing.map_or_else(
        || {
            [
                format!("t1 = {}", duration(stay)),
                format!("t2 = {}", duration(go)),
            ]
        },
        |weighing| weighing.sums(stay, go),
    );
    sentences.extend(parts.map(|part| format!("  {part}")));
    let than = if stay > go {
        "a gain of"
    } else {
        "it misses a gain by"
    };
    sentences.push(format!(
        "  t1 - t2 = {}: {than} {}.",
        duration(stay - go),
        duration((stay - go).abs())
    ));
}
