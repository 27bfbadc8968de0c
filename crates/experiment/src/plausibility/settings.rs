//! Rules about implausible settings: options of the policy, background loads, and processes that do nothing.

use serde_json::Value;

use super::{
    platform::{check_clusters_for_policy, finding_above_threshold},
    rules::{EPOCH_TIME, FRACTION, Finding, INACTIVE_PROCESSES},
};
use migsim_base::{
    units::Seconds,
    words::{format_count, singular_or_plural},
};
use migsim_bsp::Scenario;
use migsim_platform::{Platform, load::Loads};
use migsim_policies as policy;
use migsim_workloads::{Plan, Workload};

const MAX_NAMED_PROCESSES: usize = 3;

/// The parts of an experiment that are checked for implausible settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckedSettings<'a> {
    /// The rescheduling policy.
    pub policy: &'a policy::Entry,
    /// All options of the policy; options that the user did not set have their default values.
    pub policy_options: &'a Value,
    /// The background loads.
    pub loads: &'a Loads,
    /// The application.
    pub workload: &'a dyn Workload,
    /// Whether the application reads the work of its processes from files.
    pub is_work_from_files: bool,
    /// The platform of the run.
    pub platform: &'a Platform,
    /// The scenarios that are run.
    pub scenarios: &'a [Scenario],
}

/// Returns the implausible values among the settings of an experiment.
pub(crate) fn find_implausible_settings(given: CheckedSettings<'_>) -> Vec<Finding> {
    let is_asked = given.scenarios.iter().any(|one| *one != Scenario::I);
    let mut findings = Vec::new();
    if is_asked {
        findings.extend(check_clusters_for_policy(
            given.platform,
            given.policy,
            given.policy_options,
        ));
        findings.extend(check_fraction_options(given.policy, given.policy_options));
    }
    for (name, begins) in given.loads.first_positive_times() {
        findings.extend(check_load_epoch_time(&name, begins));
    }
    // The tasks of recorded ranks have other numbers than processes.
    if given.is_work_from_files && given.workload.labels().is_none() {
        findings.extend(check_inactive_processes(given.workload));
    }
    findings
}

fn check_fraction_options(policy: &policy::Entry, options: &Value) -> Vec<Finding> {
    let one = |key: &&str| {
        let value = options[*key].as_f64()?;
        // The text is the same for all values of a sweep, so that it is reported once.
        finding_above_threshold(FRACTION, value, || {
            format!(
                "`policy.{}.{key}` is a share (1 is all), but its value is above 1",
                policy.name
            )
        })
    };
    policy
        .fraction_option_keys()
        .iter()
        .filter_map(one)
        .collect()
}

/// Returns a finding if the load `name` begins so late that its times are probably seconds since 1970.
fn check_load_epoch_time(name: &str, begins: Seconds) -> Option<Finding> {
    is_epoch_time(begins)
        .then(|| Finding::new(EPOCH_TIME, format!("the load of {name} begins at {begins}")))
}

/// Returns whether a load begins so late that its times are probably seconds since 1970.
pub(super) fn is_epoch_time(begins: Seconds) -> bool {
    begins.get() >= EPOCH_TIME.threshold
}

/// Returns a finding if some processes neither compute nor send nor receive in any superstep.
fn check_inactive_processes(workload: &dyn Workload) -> Option<Finding> {
    let processes = workload.processes();
    let mut is_active = vec![false; processes];
    let mut left = processes;
    let mut plan = Plan::default();
    for superstep in 0..workload.supersteps() {
        if left == 0 {
            return None;
        }
        if superstep > 0 && workload.repeats(superstep) {
            continue;
        }
        plan.clear(processes);
        workload.fill(superstep, &mut plan);
        let computing = (0..processes).filter(|process| plan.work[*process].get() > 0.0);
        let ends = plan
            .messages
            .iter()
            .flat_map(|message| [message.from.index(), message.to.index()]);
        for process in computing.chain(ends) {
            left -= usize::from(!std::mem::replace(&mut is_active[process], true));
        }
    }
    (left as f64 >= INACTIVE_PROCESSES.threshold).then(|| {
        let mut named = (1..)
            .zip(&is_active)
            .filter(|(_, is_active)| !**is_active)
            .map(|(number, _)| format!("p{number}"))
            .take(MAX_NAMED_PROCESSES)
            .collect::<Vec<_>>()
            .join(", ");
        if left > MAX_NAMED_PROCESSES {
            named += ", ...";
        }
        let what = format!(
            "{left} of {} ({named}) {} neither work nor messages in any superstep",
            format_count(processes, "process"),
            singular_or_plural(left as u64, ["has", "have"]),
        );
        Finding::new(INACTIVE_PROCESSES, what)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registry;
    use migsim_workloads::table::Table;
    use serde_json::json;

    #[test]
    fn a_share_above_one_is_noticed() {
        let registry = Registry::standard();
        let of = |policy: &str, d: f64| {
            let policy = registry.policies().find(policy).unwrap();
            let findings = check_fraction_options(policy, &json!({ "d": d }));
            findings.first().map(Finding::note_text)
        };
        let expected =
            "`policy.migbsp.d` is a share (1 is all), but its value is above 1: write 50 % as 0.5";
        assert_eq!(of("migbsp", 1.5).as_deref(), Some(expected));
        assert!(of("migbsp-2007", 1.5).is_some());
        assert_eq!(of("migbsp", 1.0), None);
        assert_eq!(of("never", 1.5), None);
    }

    #[test]
    fn epoch_times_are_noticed() {
        let of = |begins: f64| check_load_epoch_time("`north.csv`", Seconds::of(begins));
        let note = of(1.7e9).unwrap().note_text();
        assert!(
            note.starts_with("the load of `north.csv` begins at 1700000000 s: "),
            "{note}"
        );
        assert!(note.contains("`from=first`"), "{note}");
        assert!(of(1e9).is_some());
        assert_eq!(of(999_999_999.0), None);
    }

    #[test]
    fn processes_without_work_and_messages_are_noticed() {
        let of = |work: &str, messages: Option<&str>| {
            let config = json!({ "work": "w.csv", "messages": "m.csv" });
            let config = serde_json::from_value(config).unwrap();
            let messages = messages.map(str::as_bytes);
            let table = Table::from_csv_bytes(work.as_bytes(), messages, &config).unwrap();
            check_inactive_processes(&table).map(|finding| finding.note_text())
        };
        let head = "superstep,process,work [instr]\n";
        let slipped = of(&format!("{head}1,p1,5\n1,p41,5\n"), None).unwrap();
        let expected = "39 of 41 processes (p2, p3, p4, ...) have neither work nor messages in any superstep: check whether the file has a wrong process number, since every number up to the largest becomes a process";
        assert_eq!(slipped, expected);
        let one = of(&format!("{head}1,p1,5\n2,p3,5\n"), None).unwrap();
        assert!(
            one.starts_with("1 of 3 processes (p2) has neither"),
            "{one}"
        );
        let message = "superstep,from,to,bytes\n2,p1,p2,0 B\n";
        assert_eq!(of(&format!("{head}1,p1,5\n2,p3,5\n"), Some(message)), None);
        assert_eq!(of(&format!("{head}1,p1,5\n2,p2,5\n"), None), None);
    }
}
