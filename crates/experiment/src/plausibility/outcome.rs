//! Rules about implausible results of a run: its makespan, its supersteps, loads that begin after its end, moves that take longer
//! than the whole run.

use super::{
    platform::finding_above_threshold,
    rules::{Finding, LATE_LOAD, LONG_MOVE, LONG_RUN, LONG_SUPERSTEP, SHORT_SUPERSTEP},
    settings::is_epoch_time,
};
use crate::{
    resolve::Experiment,
    run::{Results, ScenarioRun},
};
use migsim_base::{
    quantities::format_duration,
    units::{Bytes, BytesPerSecond, HostId, Seconds},
    words::format_count,
};
use migsim_bsp::{CallRecord, MemoryTransfer, MigrationCause, Scenario, SuperstepTimes};
use migsim_policies as policy;

/// Maximum number of clusters between which moves are evaluated to find the move that takes the shortest time.
const MAX_CLUSTERS: usize = 16;

impl Experiment {
    /// Returns a note for the user about each implausible result, such as a load that begins after the run or a move that takes
    /// longer than the run.
    pub fn implausible_result_notes(&self, results: &Results) -> Vec<String> {
        let calls = results.get(Scenario::Iii).map(|run| &*run.outcome.calls);
        find_implausible_results(self, results)
            .iter()
            .map(Finding::note_text)
            .chain(calls.and_then(cancelled_moves_note))
            .chain(calls.and_then(|calls| self.kept_processes_note(calls)))
            .collect()
    }

    /// Returns a note for the user if the policy kept processes on slow hosts, since it preferred their own cluster and moves no
    /// process inside it.
    pub fn kept_processes_note(&self, calls: &[CallRecord]) -> Option<String> {
        let kept = calls_with_number(calls, policy::KEPT_BY_OWN_CLUSTER_KEY);
        let most = kept.iter().map(|(_, count)| *count).max()?;
        let name = self.policy_name();
        let policy = self.registry.policies().find(name).ok()?;
        Some(format!(
            "`{name}` keeps {} at less than a tenth of the speed of another host of the same cluster (in {} of {}): the policy prefers this cluster, but moves no process inside it; to allow such moves, add `--set policy.{name}.{}`",
            format_count(most, "process"),
            kept.len(),
            format_count(calls.len(), "rescheduling call"),
            policy.option_for_moves_within_cluster()
        ))
    }
}

/// Returns the calls whose explanation has a number at `key`: the number of the superstep, counted from 1, and this number.
fn calls_with_number(calls: &[CallRecord], key: &str) -> Vec<(usize, u64)> {
    calls
        .iter()
        .filter_map(|call| {
            let number = call.decision.outline_json().get(key)?.as_u64()?;
            Some((call.superstep + 1, number))
        })
        .collect()
}

/// Returns a note if processes stayed where they are because the hosts that the policy chose for them lack memory.
fn cancelled_moves_note(calls: &[CallRecord]) -> Option<String> {
    let stayed = calls_with_number(calls, policy::STAYED_FOR_MEMORY_KEY);
    let (superstep, _) = stayed.first()?;
    let count: u64 = stayed.iter().map(|(_, count)| count).sum();
    Some(format!(
        "{} that the policy chose did not take place, since the new hosts have too little memory; this concerns {}, the first after superstep {superstep}",
        format_count(count, "move"),
        format_count(stayed.len(), "rescheduling call")
    ))
}

fn find_implausible_results(experiment: &Experiment, results: &Results) -> Vec<Finding> {
    let makespan = results
        .scenario_runs
        .iter()
        .map(|run| run.outcome.makespan.get())
        .fold(0.0, f64::max);
    let supersteps = results
        .scenario_runs
        .iter()
        .flat_map(|run| run.outcome.supersteps.iter().zip(1..));
    let unit =
        check_longest_superstep(supersteps.clone()).or_else(|| check_short_supersteps(supersteps));
    let mut findings: Vec<Finding> = experiment
        .background_load_start_times()
        .filter_map(|(name, begins)| check_load_start(&name, begins, makespan))
        .collect();
    // A superstep of a day is closer to the cause than a run of a year.
    findings.extend(unit.or_else(|| check_makespan(makespan)));
    findings.extend(check_move_duration(experiment, results));
    findings
}

/// Returns a finding if the load `name` begins after the end of the run.
fn check_load_start(name: &str, begins: Seconds, makespan: f64) -> Option<Finding> {
    let is_late = begins.get() > LATE_LOAD.threshold * makespan && !is_epoch_time(begins);
    is_late.then(|| {
        let begins = format_duration(begins.get());
        let end = format_duration(makespan);
        let what = format!("the load of {name} begins at {begins}, but the run ends at {end}");
        Finding::new(LATE_LOAD, what)
    })
}

/// Returns a finding if the makespan \[s\] is longer than a year.
fn check_makespan(makespan: f64) -> Option<Finding> {
    finding_above_threshold(LONG_RUN, makespan, || {
        format!("the run takes {}", format_days_or_years(makespan))
    })
}

/// Returns the time from the start of a superstep until its last process has computed \[s\].
fn superstep_computation_time(dates: &SuperstepTimes) -> f64 {
    dates.last_computation_end.get() - dates.start.get()
}

fn check_longest_superstep<'r>(
    supersteps: impl Iterator<Item = (&'r SuperstepTimes, u64)>,
) -> Option<Finding> {
    let by_length =
        |a: &(f64, u64), b: &(f64, u64)| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(&a.1));
    let (longest, number) = supersteps
        .map(|(dates, number)| (superstep_computation_time(dates), number))
        .max_by(by_length)?;
    finding_above_threshold(LONG_SUPERSTEP, longest, || {
        format!(
            "the computation of superstep {number} takes {}",
            format_days_or_years(longest)
        )
    })
}

fn check_short_supersteps<'r>(
    supersteps: impl Iterator<Item = (&'r SuperstepTimes, u64)>,
) -> Option<Finding> {
    let longest = supersteps
        .map(|(dates, _)| superstep_computation_time(dates))
        .fold(0.0, f64::max);
    (longest > 0.0 && longest < SHORT_SUPERSTEP.threshold).then(|| {
        let longest = format_duration(longest);
        let what = format!("the longest computation of a superstep takes only {longest}");
        Finding::new(SHORT_SUPERSTEP, what)
    })
}

/// Formats a duration \[s\] in days or years.
fn format_days_or_years(seconds: f64) -> String {
    let (value, unit) = match seconds {
        above if above > LONG_RUN.threshold => (above / LONG_RUN.threshold, "years"),
        below => (below / LONG_SUPERSTEP.threshold, "days"),
    };
    if value < 1e6 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.1e} {unit}")
    }
}

/// Returns a finding if the shortest move takes longer than the whole run of scenario i or ii, which has no moves.
fn check_move_duration(experiment: &Experiment, results: &Results) -> Option<Finding> {
    let without = results
        .get(Scenario::I)
        .or_else(|| results.get(Scenario::Ii))?;
    let is_judged = experiment.policy_name() != policy::NEVER;
    let shortest = shortest_move_duration(results.get(Scenario::Iii).filter(|_| is_judged)?)
        .or_else(|| fastest_possible_move_duration(experiment))?;
    let run = without.outcome.makespan.get();
    let is_longer = shortest > LONG_MOVE.threshold * run;
    is_longer.then(|| {
        let shortest = format_duration(shortest);
        let run = format_duration(run);
        let what = format!(
            "the shortest move takes {shortest}, but the run without moves takes only {run}"
        );
        Finding::new(LONG_MOVE, what)
    })
}

/// Returns the duration of the shortest move that the policy decided in a run \[s\]; `None` if it decided no moves.
fn shortest_move_duration(run: &ScenarioRun) -> Option<f64> {
    run.outcome
        .migrations
        .iter()
        .filter(|one| one.cause == MigrationCause::Policy)
        .map(|one| one.end.since(one.start).get())
        .reduce(f64::min)
}

/// Computes the duration \[s\] of the fastest possible move between two clusters: a move of the process with the least memory,
/// over the route with the highest bandwidth.
fn fastest_possible_move_duration(experiment: &Experiment) -> Option<f64> {
    let costs = experiment.config.costs.migration;
    let fixed = costs.fixed.get();
    if costs.transfer == MemoryTransfer::None {
        return Some(fixed);
    }
    let memory = experiment
        .least_memory()
        .into_iter()
        .map(Bytes::get)
        .reduce(f64::min)?;
    let platform = &experiment.platform.platform;
    let managers = || {
        platform
            .clusters
            .iter()
            .take(MAX_CLUSTERS)
            .map(|cluster| HostId(cluster.hosts.start))
    };
    let widths = managers()
        .flat_map(|from| managers().map(move |to| (from, to)))
        .filter(|(from, to)| from != to)
        .filter_map(|(from, to)| platform.route(from, to))
        .filter_map(|route| platform.bottleneck_bandwidth(&route));
    let widest = widths.map(BytesPerSecond::get).reduce(f64::max)?;
    Some(fixed + memory / widest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use migsim_base::units::Time;

    #[test]
    fn a_load_that_begins_after_the_run_is_noticed() {
        let of = |begins: f64| check_load_start("`north.csv`", Seconds::of(begins), 11.43);
        let note = of(20.0).unwrap().note_text();
        let expected = "the load of `north.csv` begins at 20 s, but the run ends at 11.43 s: let the load begin with the run (`from=first`), or simulate more supersteps, since such a load has no effect";
        assert!(note.starts_with(expected), "{note}");
        assert_eq!(of(11.43), None);
        assert_eq!(of(1e9), None); // epoch times have their own note
    }

    #[test]
    fn a_run_of_more_than_a_year_is_noticed() {
        let day = 86_400.0;
        assert_eq!(check_makespan(365.25 * day), None);
        let note = check_makespan(1046.0 * 365.25 * day).unwrap().note_text();
        assert!(
            note.starts_with("the run takes 1046.0 years: check the units"),
            "{note}"
        );
    }

    /// Makes supersteps with these computations \[s\].
    fn supersteps(computations: &[f64]) -> Vec<(SuperstepTimes, u64)> {
        let at = |seconds: f64| Time::ZERO + Seconds::of(seconds);
        let dates = |&length: &f64| SuperstepTimes {
            start: at(1.0),
            last_computation_end: at(1.0 + length),
            end: at(2.0 + length),
        };
        computations.iter().map(dates).zip(1..).collect()
    }

    #[test]
    fn slipped_units_of_work_are_noticed() {
        let long = |computations: &[f64]| {
            let all = supersteps(computations);
            check_longest_superstep(all.iter().map(|(dates, number)| (dates, *number)))
        };
        assert_eq!(long(&[86_399.0]), None);
        let note = long(&[5.0, 3.3e10, 3.3e10]).unwrap().note_text();
        assert!(
            note.starts_with("the computation of superstep 2 takes 1045.7 years: "),
            "{note}"
        );
        let short = |computations: &[f64]| {
            let all = supersteps(computations);
            check_short_supersteps(all.iter().map(|(dates, number)| (dates, *number)))
        };
        let note = short(&[0.0, 2e-7]).unwrap().note_text();
        assert!(
            note.starts_with("the longest computation of a superstep takes only 200 ns: "),
            "{note}"
        );
        assert_eq!(short(&[1e-7, 1.1e-6]), None);
        assert_eq!(short(&[0.0, 0.0]), None); // supersteps with messages only
    }
}
