//! The first paper on the scheduler: da Rosa Righi, Carissimi, Navaux, *On the Dynamic Load-Rebalancing of BSP Application Using
//! Process Migration*, WSPPD 2007. The paper publishes a model but no runs. Its rules and claims are therefore checked directly
//! on the policy ([`migsim_policies::migbsp_2007`]).

pub mod model;

use serde_json::Value;

use super::claims::ClaimOutcome;
use super::runs::PaperCase;
use super::{ClaimCheck, DecisionCheck, Paper};
use model::check_claim;

/// The paper of WSPPD 2007 as an entry in the list of reproduced papers.
pub(super) const PAPER: Paper = Paper {
    name: "wsppd2007",
    title: "da Rosa Righi, Carissimi, Navaux: On the Dynamic Load-Rebalancing of BSP Application Using Process Migration",
    experiment: None,
    facts_json: include_str!("facts/wsppd2007.json"),
    case_of_config: |_| PaperCase::new(""),
    is_in_sample: |_| false,
    claim_checks: CLAIMS,
    decision_checks: RULES,
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

#[expect(clippy::unnecessary_wraps, reason = "the result of every evaluation")]
fn check_model_claim(id: &str) -> ClaimOutcome {
    Ok(check_claim(id).map_or((None, Value::Null), |claim| {
        (Some(claim.holds), claim.observation.into())
    }))
}

/// Rules of the paper about a rescheduling call, each with the check of a claim of the paper that states the same rule.
const RULES: &[(&str, DecisionCheck)] = &[
    ("w07-d01", |_| check_model_claim("w07-c02")),
    ("w07-d02", |_| check_model_claim("w07-c01")),
    ("w07-d03", |_| check_model_claim("w07-c03")),
    ("w07-d04", |_| check_model_claim("w07-c12")),
    ("w07-d05", |_| check_model_claim("w07-c18")),
];

const CLAIMS: &[(&str, ClaimCheck)] = &[
    ("w07-c01", |_, _| check_model_claim("w07-c01")),
    ("w07-c02", |_, _| check_model_claim("w07-c02")),
    ("w07-c03", |_, _| check_model_claim("w07-c03")),
    ("w07-c04", |_, _| check_model_claim("w07-c04")),
    ("w07-c05", |_, _| check_model_claim("w07-c05")),
    ("w07-c06", |_, _| check_model_claim("w07-c06")),
    ("w07-c07", |_, _| check_model_claim("w07-c07")),
    ("w07-c08", |_, _| check_model_claim("w07-c08")),
    ("w07-c09", |_, _| check_model_claim("w07-c09")),
    ("w07-c10", |_, _| check_model_claim("w07-c10")),
    ("w07-c11", |_, _| check_model_claim("w07-c11")),
    ("w07-c12", |_, _| check_model_claim("w07-c12")),
    ("w07-c13", |_, _| check_model_claim("w07-c13")),
    ("w07-c14", |_, _| check_model_claim("w07-c14")),
    ("w07-c15", |_, _| check_model_claim("w07-c15")),
    ("w07-c16", |_, _| check_model_claim("w07-c16")),
    ("w07-c17", |_, _| check_model_claim("w07-c17")),
    ("w07-c18", |_, _| check_model_claim("w07-c18")),
    ("w07-c19", |_, _| check_model_claim("w07-c19")),
    // No run can show that a programmer needs to do nothing.
    ("w07-c20", |_, _| {
        Ok((
            None,
            "an application has no call of the scheduler (trait `Workload`)".into(),
        ))
    }),
];
