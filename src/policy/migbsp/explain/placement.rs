//! Placement: the offered host, and the terms of t1 and t2.

use serde::Deserialize;

use crate::policy::explain::{Record, duration, ratio};
use crate::words::counted;

/// The terms of t1 and t2 of MigBSP, as its record has them.
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
    pub(super) fn of(call: Record<'_>, process: u64) -> Option<Self> {
        let list = call.explanation.get("weighed")?.as_array()?;
        let own = list
            .iter()
            .find(|entry| entry["process"].as_u64() == Some(process))?;
        Self::deserialize(own).ok()
    }

    /// The factors by which computation and communication of a superstep take longer there.
    pub(super) fn changes(&self) -> [f64; 2] {
        [
            ratio(self.go_compute_s, self.stay_compute_s),
            ratio(self.go_communication_s, self.stay_communication_s),
        ]
    }

    pub(super) fn host(&self) -> String {
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
    pub(super) fn sums(&self, [stay, go]: [f64; 2]) -> [String; 2] {
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
