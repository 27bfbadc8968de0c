//! Predictions of MigBSP on Grid'5000 with the applications of all papers, which two of the papers name as future work.
//!
//! ```text
//! cases x starts ─> scenarios i, ii, iii under neutral settings ─> grid5000.md, grid5000.csv
//! ```
//! No constant is fitted and no results were published, so each result is a prediction. Each gain is computed twice: relative to
//! scenario i from the same initial placement, and relative to scenario i from the best initial placement of the case. The second
//! value is needed because a bad initial placement makes any gain look large. Source: da Rosa Righi et al., the conclusions of
//! the papers on Lattice Boltzmann and on irregular Smith-Waterman.

use rayon::prelude::*;
use serde_json::json;

use super::markdown::{push_table, put};
use migsim_base::error::Error;
use migsim_bsp::Scenario;
use migsim_experiment::{Experiment, Layers, Limits, Progress};
use migsim_platform::MappingRule;

/// Name of the built-in platform on which all cases run.
const PLATFORM: &str = "grid5000";

/// A simulated case: the name of the application, its order (the problem size n), and the number of processes. `None` stands for
/// the default of the application.
type Case = (&'static str, Option<u64>, Option<u64>);

/// Applications that are simulated on Grid'5000, with sizes from the papers.
const CASES: [Case; 9] = [
    ("lu", Some(500), Some(25)),
    ("lu", Some(1000), Some(50)),
    ("lu", Some(2000), Some(50)),
    ("lu", Some(2000), Some(200)),
    ("sw", Some(50), None),
    ("sw", Some(100), None),
    ("sw", Some(200), None),
    ("sw", Some(400), None),
    ("lbm", None, None),
];

/// Value of the option `viability_communication` with which t2 of the viability test (the predicted time after a migration)
/// includes the messages of the process at its destination.
const MESSAGES_INCLUDED: &str = "uncontended";

/// Results of a case on Grid'5000 from one initial placement of its processes.
#[derive(Clone, Debug, PartialEq)]
pub struct GridRun {
    /// Name of the application with its size.
    pub case_title: String,
    /// Names of the placement rules that produce this initial placement; several rules may produce the same placement.
    pub placement_rules: Vec<&'static str>,
    /// Makespans of scenarios i, ii and iii, in this order \[s\].
    pub makespans_by_scenario_s: [f64; 3],
    /// Number of rescheduling calls in scenario iii.
    pub call_count: usize,
    /// Number of migrations in scenario iii.
    pub migration_count: usize,
    /// Makespan of scenario iii \[s\] if the viability test includes the messages of a process at its destination.
    pub makespan_with_messages_s: f64,
    /// Number of migrations in scenario iii if the viability test includes the messages of a process at its destination.
    pub migration_count_with_messages: usize,
}

/// Simulates each case once from each of its different initial placements; placement rules that produce the same placement share
/// a run.
///
/// # Errors
/// A run fails.
pub fn simulate_grid5000_runs(progress: &Progress) -> Result<Vec<GridRun>, Error> {
    let mut different: Vec<(&Case, Vec<MappingRule>)> = Vec::new();
    for case in &CASES {
        let mut placements = Vec::new();
        let first = different.len();
        for rule in MappingRule::ALL {
            let placement = create_experiment(case, rule, None)?.placement;
            let known = placements.iter().position(|one| *one == placement);
            if let Some(known) = known {
                different[first + known].1.push(rule);
            } else {
                placements.push(placement);
                different.push((case, vec![rule]));
            }
        }
    }
    different
        .par_iter()
        .map(|(case, rules)| simulate_case(case, rules, progress))
        .collect()
}

/// Creates the experiment of a case with the initial placement of `rule`. `viability` is the value of
/// `policy.migbsp.viability_communication`; `None` stands for its default.
fn create_experiment(
    (app, order, processes): &Case,
    rule: MappingRule,
    viability: Option<&str>,
) -> Result<Experiment, Error> {
    let mut settings = vec![
        ("platform", json!(PLATFORM)),
        ("mapping", json!(rule.name())),
        ("workload.app", json!(app)),
    ];
    settings.extend(order.map(|n| ("workload.n", json!(n))));
    settings.extend(processes.map(|procs| ("workload.procs", json!(procs))));
    let key = "policy.migbsp.viability_communication";
    settings.extend(viability.map(|value| (key, json!(value))));
    Experiment::load(&Layers::from_pairs(settings), Limits::default())
}

fn simulate_case(
    case: &Case,
    rules: &[MappingRule],
    progress: &Progress,
) -> Result<GridRun, Error> {
    let (app, order, processes) = *case;
    let results = create_experiment(case, rules[0], None)?.run(progress)?;
    let run = |scenario| results.get(scenario).expect("all scenarios run");
    let makespan = |scenario| run(scenario).outcome.makespan.get();
    let outcome = &run(Scenario::Iii).outcome;
    let other = create_experiment(case, rules[0], Some(MESSAGES_INCLUDED))?;
    let other = other
        .run_scenario(Scenario::Iii, progress, &mut (), None)?
        .outcome;
    Ok(GridRun {
        case_title: case_title(app, order, processes),
        placement_rules: rules.iter().map(|rule| rule.name()).collect(),
        makespans_by_scenario_s: [Scenario::I, Scenario::Ii, Scenario::Iii].map(makespan),
        call_count: outcome.calls.len(),
        migration_count: outcome.migrations.len(),
        makespan_with_messages_s: other.makespan.get(),
        migration_count_with_messages: other.migrations.len(),
    })
}

/// Returns a title for a case that names the application, its order (problem size) and its number of processes.
fn case_title(app: &str, order: Option<u64>, processes: Option<u64>) -> String {
    let name = match app {
        "lu" => "LU",
        "lbm" => "Lattice Boltzmann",
        _ => "Smith-Waterman",
    };
    let order = order.map(|n| format!(" {n}x{n}")).unwrap_or_default();
    let processes = processes.map(|procs| format!(", {procs} processes"));
    format!("{name}{order}{}", processes.unwrap_or_default())
}

/// Computes the relative change from `a` to `b` in percent: `100 (b - a) / a` \[%\].
fn percent_change(a: f64, b: f64) -> f64 {
    100.0 * (b - a) / a
}

/// Returns the shortest makespan of scenario i \[s\] among all initial placements of the case of `run`.
fn best_start_makespan_s(run: &GridRun, all: &[GridRun]) -> f64 {
    let same = all
        .iter()
        .filter(|other| other.case_title == run.case_title);
    same.map(|other| other.makespans_by_scenario_s[0])
        .fold(f64::INFINITY, f64::min)
}

/// The head line of the page and its first paragraphs.
const INTRODUCTION: &str = "# MigBSP on Grid'5000\n\n\
    Written by `migsim reproduce grid5000 --out results`. The papers on Lattice Boltzmann and on irregular Smith-Waterman name runs on Grid'5000 as future work. \
    This page has their applications and LU on the platform `grid5000`: 1528 hosts in 25 clusters at 9 sites, about 2010. The settings are neutral, that is, not \
    fitted to a paper, and there are no published results to compare with. Each application starts by each rule of `--mapping`; rules with the same start \
    share a row.\n\n\
    Before a move, MigBSP compares the predicted times of a process on its host (t1) and at its destination (t2). The papers leave open whether t2 contains the messages of the process. In the neutral settings \
    it does not. In the last columns it does (`policy.migbsp.viability_communication=uncontended`).\n";

/// Creates the Markdown page on the simulated runs on Grid'5000.
pub fn grid5000_page(all: &[GridRun]) -> String {
    let mut text = INTRODUCTION.to_owned();
    let number = all.len();
    let count =
        |is_meant: &dyn Fn(&GridRun) -> bool| all.iter().filter(|run| is_meant(run)).count();
    let best = |run: &GridRun| best_start_makespan_s(run, all);
    push_table(
        &mut text,
        &format!("scenario iii, of {number} runs | messages left out | messages counted"),
        [
            format!(
                "faster than scenario i from the same start | {} | {}",
                count(&|run| run.makespans_by_scenario_s[2] < run.makespans_by_scenario_s[0]),
                count(&|run| run.makespan_with_messages_s < run.makespans_by_scenario_s[0])
            ),
            format!(
                "slower by more than 5 % | {} | {}",
                count(&|run| run.makespans_by_scenario_s[2] > 1.05 * run.makespans_by_scenario_s[0]),
                count(&|run| run.makespan_with_messages_s > 1.05 * run.makespans_by_scenario_s[0])
            ),
            format!(
                "faster than the best start of the case without migration | {} | {}",
                count(&|run| run.makespans_by_scenario_s[2] < best(run)),
                count(&|run| run.makespan_with_messages_s < best(run))
            ),
        ],
    );
    text += "\n";
    let ratio = |run: &&GridRun| run.makespans_by_scenario_s[2] / run.makespans_by_scenario_s[0];
    let by_ratio = |a: &&GridRun, b: &&GridRun| ratio(a).total_cmp(&ratio(b));
    let extremes = [all.iter().min_by(by_ratio), all.iter().max_by(by_ratio)];
    for (word, run) in ["largest gain", "largest loss"].iter().zip(extremes) {
        let Some(run) = run else { continue };
        put!(
            text,
            "- The {word}: {} from `{}` takes {:.2} s with migration and {:.2} s without.\n",
            run.case_title,
            run.placement_rules[0],
            run.makespans_by_scenario_s[2],
            run.makespans_by_scenario_s[0]
        );
    }
    text += "\nIf a start leaves fast hosts idle, a gain over it shows only that the start was bad. Therefore `over the best start` compares \
             with the best scenario i of the case.\n";
    let columns = "case | start | i \\[s\\] | ii: overhead | iii \\[s\\] | over i | over the best start | calls | moves | \
                   iii, messages counted \\[s\\] | over i, messages counted | moves, messages counted";
    push_table(
        &mut text,
        columns,
        all.iter().map(|run| table_row(run, all)),
    );
    text
}

fn table_row(run: &GridRun, all: &[GridRun]) -> String {
    let [i, ii, iii] = run.makespans_by_scenario_s;
    format!(
        "{} | {} | {i:.2} | {:+.1} % | {iii:.2} | {:+.1} % | {:+.1} % | {} | {} | {:.2} | {:+.1} % | {}",
        run.case_title,
        run.placement_rules.join(", "),
        percent_change(i, ii),
        percent_change(i, iii),
        percent_change(best_start_makespan_s(run, all), iii),
        run.call_count,
        run.migration_count,
        run.makespan_with_messages_s,
        percent_change(i, run.makespan_with_messages_s),
        run.migration_count_with_messages
    )
}

/// Creates the CSV table with all numbers of the page on Grid'5000, one row per run.
pub fn grid5000_csv(all: &[GridRun]) -> String {
    let mut text = String::from(
        "case,starts,makespan_i_s,makespan_ii_s,makespan_iii_s,calls,moves,makespan_iii_with_messages_s,moves_with_messages\n",
    );
    for run in all {
        let [i, ii, iii] = run.makespans_by_scenario_s;
        put!(
            text,
            "\"{}\",{},{i},{ii},{iii},{},{},{},{}\n",
            run.case_title,
            run.placement_rules.join(" "),
            run.call_count,
            run.migration_count,
            run.makespan_with_messages_s,
            run.migration_count_with_messages
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_compared_with_the_best_start_of_its_case() {
        let run = |start, makespans_s| GridRun {
            case_title: "LU".into(),
            placement_rules: vec![start],
            makespans_by_scenario_s: makespans_s,
            call_count: 4,
            migration_count: 2,
            makespan_with_messages_s: 9.0,
            migration_count_with_messages: 1,
        };
        let all = [run("a", [20.0, 22.0, 10.0]), run("b", [8.0, 8.0, 8.0])];
        assert_eq!(
            table_row(&all[0], &all),
            "LU | a | 20.00 | +10.0 % | 10.00 | -50.0 % | +25.0 % | 4 | 2 | 9.00 | -55.0 % | 1"
        );
        let page = grid5000_page(&all);
        assert!(page.contains("| faster than scenario i from the same start | 1 | 1 |"));
        assert!(page.contains("| slower by more than 5 % | 0 | 1 |"));
        assert!(
            page.contains("| faster than the best start of the case without migration | 0 | 0 |")
        );
    }
}
