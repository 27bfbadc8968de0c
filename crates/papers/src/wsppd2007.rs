//! The first paper on the scheduler: da Rosa Righi, Carissimi, Navaux, *On the Dynamic Load-Rebalancing of BSP Application Using
//! Process Migration*, WSPPD 2007. The paper publishes a model but no runs, so its rules and claims are checked on the policy
//! ([`migsim_policies::migbsp_2007`]).

use super::{
    claims::{decide, largest},
    runs::{ClaimCheck, Paper, PaperCase},
};
use migsim_policies::migbsp_2007::{MigrationMetrics, relative_to_maximum};

pub(super) const PAPER: Paper = Paper {
    name: "wsppd2007",
    title: "da Rosa Righi, Carissimi, Navaux: On the Dynamic Load-Rebalancing of BSP Application Using Process Migration",
    experiment: None,
    facts_json: include_str!("facts/wsppd2007.json"),
    case_of_config: |_| PaperCase::new(""),
    claim_checks: CLAIMS,
    switched_off_parts: "",
    notes: NOTES,
};

/// Text for the page of the paper that explains how each rule (listed as a decision) was checked.
const NOTES: &str = "\
## How the rules were checked

Each rule is compared with what the policy does in the check of a claim above. The rule matches if the claim holds.

| rule | claim | what the policy does |
|---|---|---|
| w07-d01: a call after the last superstep of each interval | w07-c02 | calls after 4, 12, 28 and 60 |
| w07-d02: α' grows after a stable superstep | w07-c01 | intervals grow if supersteps are balanced |
| w07-d03: α' falls to 1 at the lowest after unstable supersteps | w07-c03 | α' = 1 from α = 4 on |
| w07-d04: a process moves to the Set of its highest PM | w07-c12 | one migration, to ICE with the 3 partners |
| w07-d05: a process stays if no host of the Set has memory for it | w07-c18 | no host is offered |
";

const CLAIMS: &[(&str, ClaimCheck)] = &[
    ("w07-c14", |_, _| {
        let example: Vec<f64> = relative_to_maximum([10.0, 20.0, 15.0]).collect();
        decide(
            example == [0.5, 1.0, 0.75],
            format!("10, 20 and 15 s: IT = {example:?}"),
        )
    }),
    ("w07-c16", |_, _| {
        let corners = (0..8).map(|corner| MigrationMetrics {
            processing: f64::from(corner & 1),
            communication: f64::from(corner >> 1 & 1),
            memory: f64::from(corner >> 2),
        });
        let all: Vec<f64> = corners.map(MigrationMetrics::potential).collect();
        let least = all.iter().copied().fold(f64::INFINITY, f64::min);
        let most = largest(&all);
        let seen = format!("from {least} to {most} over the corners of P, C and M");
        decide(least == -1.0 && most == 2.0, seen)
    }),
];
