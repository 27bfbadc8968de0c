//! Creates the page `rivals.md` and the table `rivals.csv` of the study: the advice, the public draw, all combinations,
//! interpretations of MigBSP, and the fresh draws.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use super::{AdviceClaim, ClaimVerdict, StudyOutcome, name_with_view};
use migsim_policies::trigger::DEFAULT_TRIGGER;
use migsim_study::bench::{BEST_START, BenchResults, PolicyStatistics, policies_csv};

/// Limitations of the study, as a Markdown list.
const LIMITATIONS: &str = "\
- Your cases: the suite is one random distribution of cases, and its weights determine the means. `migsim compare` compares policies on your platform and application.\n\
- The optimum: for each seed, the best known makespan is only the shortest among the policies that ran and the stored best. A ratio of 1 means that no other known run was faster.\n\
- Real measurements: each policy sees loads and work without noise and without delay, except in *Rankings under noise*.\n\
- A ranking of policies whose intervals overlap: intervals show only the effect of the choice of cases, and some classes have few cases.\n\
- A final verdict on MigBSP: the claims on it concern its default options. Its papers leave rules open, and *MigBSP with other readings of its papers* shows their effect. \
On a platform with one cluster it moves nothing with any of these readings.\n\
- The programs from which the policies come: the rows are reimplementations in migsim. With `exec:` you can run another program.\n\
- The costs of a real system: messages and memory transfers of calls and moves are simulated, and their fixed costs are random.\n";

/// Sentence about an earlier study, which tested other claims.
const EARLIER_STUDY: &str = "An earlier study tested 11 claims on 30 cases of each of the draws 2, 3 and 4. Three of these claims held, and they are tested here again.";

/// Returns the row of a policy in the results of a draw; `None` if the policy did not run on this draw.
pub(super) fn statistics_of_policy<'b>(
    bench: &'b BenchResults,
    policy: &str,
) -> Option<&'b PolicyStatistics> {
    bench
        .ranked_policy_statistics
        .iter()
        .find(|one| one.policy == policy)
}

/// Computes for each name (of a strategy or trigger) the mean of the mean ratios of the policies that `of` returns for the name.
/// The result is sorted by increasing mean.
pub(super) fn mean_ratio_by_name(
    bench: &BenchResults,
    names: &[String],
    of: &dyn Fn(&str) -> Vec<String>,
) -> Vec<(String, f64)> {
    let mean = |name: &String| {
        let policies = of(name);
        let means = policies
            .iter()
            .filter_map(|policy| Some(statistics_of_policy(bench, policy)?.mean_ratio));
        let means: Vec<f64> = means.collect();
        (
            name.clone(),
            means.iter().sum::<f64>() / means.len().max(1) as f64,
        )
    };
    let mut all: Vec<(String, f64)> = names.iter().map(mean).collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    all
}

/// Creates the Markdown page of the study of rivals.
pub fn markdown_page(outcome: &StudyOutcome) -> String {
    let mut text = String::from("# Rivals: which policy when?\n\n");
    text += &advice_section(outcome);
    text += "\n![performance profiles of policies](rivals-profile.svg)\n\n";
    let study = &outcome.study;
    let fresh: Vec<String> = study.fresh_draws.iter().map(u64::to_string).collect();
    let _ = write!(
        text,
        "Written by `migsim reproduce rivals --out results`, which keeps its runs in `results/rivals-runs` and continues there after an interruption. Every number is simulated. The cases come from the suite `{}`: {} random cases of draw {}, which was used to choose options and claims, \
         and as many cases of each of the draws {}, which test the claims. The claims were written into `crates/papers/src/rivals/study.json` before the new draws were simulated. \
         [The guide](../docs/guide/bench.md) explains the columns of the tables, and how to enter a policy.\n\n",
        study.suite,
        study.cases,
        study.public_draw,
        fresh.join(", ")
    );
    text += "The best known makespan of a case is the shortest of all policies of the default set. On draw 1 a stored best also counts: the shortest makespan of any strategy with any trigger. \
             Therefore ratios of different draws cannot be compared.\n\n";
    text += "## The default set\n\n";
    text += &policies_table(&outcome.public_draw_results, &|one| {
        one.is_in_default_set || one.policy == BEST_START
    });
    text += "\n`never from the best static start` is not a policy, but the application alone from the best of the built-in starts, chosen after the runs. If its ratio is below 1, \
             the start matters more than any policy.\n\n";
    text += &fixed_cases_section(outcome);
    text += &combinations_table(outcome);
    text += &interpretations_section(outcome);
    text += &paid_back_section(outcome);
    text += &noise_section(outcome);
    text += &classes_section(&outcome.public_draw_results);
    text += &verdicts_table(outcome);
    for bench in &outcome.fresh_draw_results {
        let _ = write!(text, "## Draw {}\n\n", bench.case_draw);
        text += &policies_table(bench, &|one| {
            one.is_in_default_set || one.policy == BEST_START
        });
        text.push('\n');
    }
    text += "## What this does not show\n\n";
    text += LIMITATIONS;
    text
}

/// Returns whether a claim holds on the public draw and on every fresh draw.
fn holds_on_all_draws(outcome: &StudyOutcome, claim: &AdviceClaim) -> bool {
    let all = std::iter::once(&outcome.public_draw_results).chain(&outcome.fresh_draw_results);
    let mut verdicts = all.map(|bench| claim.check_on_draw(bench));
    verdicts.all(|verdict| verdict.is_some_and(|one| one.holds))
}

/// Creates the section with the claims that hold on all draws, and their evidence on the fresh draws.
fn advice_section(outcome: &StudyOutcome) -> String {
    let claims = outcome.study.advice.iter();
    let (held, failed): (Vec<&AdviceClaim>, Vec<&AdviceClaim>) =
        claims.partition(|one| holds_on_all_draws(outcome, one));
    if held.is_empty() {
        return format!(
            "None of {} claims from the public draw held on it and on all fresh draws.\n",
            failed.len()
        );
    }
    let (all, draws) = (failed.len() + held.len(), outcome.fresh_draw_results.len());
    let mut text = format!(
        "The *ratio* of a policy is its makespan divided by the best known makespan of the case. A policy is better than another if its mean ratio over a set of random cases, a *draw*, is lower. \
         The results on draw 1 led to {all} claims. Of these, {} failed on draw 1 or on at least one of {draws} new draws ([table](#the-advice-on-each-draw)). \
         The other {} held on all draws and are listed here. A claim may hold by chance. Therefore the brackets say on how many new draws it is significant (95 %). \
         They also say by how many percent the mean ratio of the policy is below that of the best policy with which it is compared: the smallest and the largest value over the new draws.\n\n",
        failed.len(),
        held.len()
    );
    for claim in &held {
        let _ = writeln!(text, "- {} {}", claim.text, evidence_text(outcome, claim));
    }
    let _ = writeln!(
        text,
        "\nA [strategy](../docs/guide/policy.md#all-policies) such as `refine` decides which process moves where. A [trigger](../docs/guide/policy.md#all-triggers) \
         such as `boulmier` or `menon` decides when the strategy is called. {EARLIER_STUDY}"
    );
    text
}

/// Describes in brackets the number of fresh draws on which a claim is significant, and the range of the advantage of its policy
/// on fresh draws \[%\].
///
/// The advantages are computed from the ratios with three decimals, as the page shows them.
fn evidence_text(outcome: &StudyOutcome, claim: &AdviceClaim) -> String {
    let verdicts = outcome
        .fresh_draw_results
        .iter()
        .filter_map(|bench| claim.check_on_draw(bench));
    let verdicts: Vec<ClaimVerdict> = verdicts.collect();
    let clear = verdicts.iter().filter(|one| one.is_significant).count();
    let rounded = |ratio: f64| (1000.0 * ratio).round();
    let lower = verdicts.iter().map(|one| {
        100.0 * (1.0 - rounded(one.mean_ratio) / rounded(one.lowest_compared_mean_ratio))
    });
    let (least, most) = lower.fold((f64::INFINITY, 0.0_f64), |(least, most), one| {
        (least.min(one), most.max(one))
    });
    format!(
        "(significant on {clear} of {}; lower by {least:.1} to {most:.1} %)",
        verdicts.len()
    )
}

/// Creates the table of results of a draw with those policies for which `is_shown` returns true.
fn policies_table(bench: &BenchResults, is_shown: &dyn Fn(&PolicyStatistics) -> bool) -> String {
    let mut text = String::from(
        "| policy | mean ratio | 95 % | median | worst (case) | wins | within 1.1 [%] | calls | moves | straight returns | calls cost [%] | moves cost [%] | failures |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for one in bench
        .ranked_policy_statistics
        .iter()
        .filter(|one| is_shown(one))
    {
        let [low, high] = one.mean_ratio_ci95;
        let _ = writeln!(
            text,
            "| `{}` | {:.3} | {low:.3} to {high:.3} | {:.3} | {:.2} ({}) | {} | {:.0} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {} |",
            one.policy,
            one.mean_ratio,
            one.median_ratio,
            one.worst_ratio,
            one.worst_case_number,
            one.win_count,
            one.percent_of_cases_within(1.1),
            one.mean_call_move_and_return_counts[0],
            one.mean_call_move_and_return_counts[1],
            one.mean_call_move_and_return_counts[2],
            one.call_and_move_cost_percent[0],
            one.call_and_move_cost_percent[1],
            one.failed_case_count
        );
    }
    text
}

/// Creates the section on the fixed cases, which are not drawn at random.
fn fixed_cases_section(outcome: &StudyOutcome) -> String {
    let bench = &outcome.fixed_case_results;
    let mut text = format!(
        "## The fixed cases\n\nThe {} fixed cases of the suite have recorded programs, applications of the papers and measured loads ([their list](../docs/guide/bench.md#the-fixed-cases)). They were chosen, \
         not drawn, and no advice was derived from them.\n\n",
        bench.case_results.len()
    );
    text += &policies_table(bench, &|_| true);
    text.push('\n');
    text
}

/// Creates the table of mean ratios with a row for each strategy and a column for each trigger.
fn combinations_table(outcome: &StudyOutcome) -> String {
    let (study, bench) = (&outcome.study, &outcome.public_draw_results);
    let strategies = mean_ratio_by_name(bench, &study.strategies, &|name| {
        study.combinations_with_strategy(name)
    });
    let triggers = mean_ratio_by_name(bench, &study.triggers, &|name| {
        study.combinations_with_trigger(name)
    });
    let mut text = format!(
        "## Strategies and triggers\n\nThe table has the mean ratios on draw {} of {} policies. Each row is a strategy (where processes go), and each column a trigger (when the strategy is called). Rows and columns are ordered by their means.\n\n| strategy |",
        bench.case_draw,
        strategies.len() * triggers.len()
    );
    for (trigger, _) in &triggers {
        let _ = write!(text, " {trigger} |");
    }
    text += " mean |\n|---|";
    text += &"---|".repeat(triggers.len() + 1);
    text.push('\n');
    for (strategy, mean) in &strategies {
        let _ = write!(text, "| `{strategy}` |");
        for (trigger, _) in &triggers {
            let cell = statistics_of_policy(bench, &format!("{strategy}/{trigger}"));
            let shown = cell.map_or("-".to_owned(), |one| format!("{:.3}", one.mean_ratio));
            let _ = write!(text, " {shown} |");
        }
        let _ = writeln!(text, " {mean:.3} |");
    }
    text += "| mean |";
    for (_, mean) in &triggers {
        let _ = write!(text, " {mean:.3} |");
    }
    text += " |\n\n";
    text
}

/// Creates the section on how the results of MigBSP vary with the interpretation of rules that its papers leave open.
fn interpretations_section(outcome: &StudyOutcome) -> String {
    let mut text = String::from(
        "## MigBSP with other readings of its papers\n\nThe papers leave some rules of MigBSP open. A *reading* is a choice of options for these rules. `neutral` has the default options, which MigBSP has on every platform that no paper used. Each other reading changes these options of `policy.migbsp`:\n\n",
    );
    for (name, options) in &outcome.study.readings {
        let shown = |(key, value): (&String, &Value)| {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            format!("`{key}={value}`")
        };
        let options: Vec<String> = options.iter().map(shown).collect();
        let _ = writeln!(text, "- {name}: {}", options.join(", "));
    }
    text += "\n| reading | draw | mean ratio | 95 % | worst | moves |\n|---|---|---|---|---|---|\n";
    let mut ranges = Vec::new();
    let all = std::iter::once(&outcome.public_draw_results).chain(&outcome.fresh_draw_results);
    for bench in all {
        let mut least = f64::INFINITY;
        let mut most: f64 = 0.0;
        let readings = outcome.study.migbsp_variants();
        let is_one = |policy: &str| readings.iter().any(|one| one.name == policy);
        let own = statistics_of_policy(bench, "migbsp").into_iter();
        let others = bench
            .ranked_policy_statistics
            .iter()
            .filter(|one| is_one(&one.policy));
        for one in own.chain(others) {
            let name = one.policy.strip_prefix("migbsp, ").unwrap_or("neutral");
            (least, most) = (least.min(one.mean_ratio), most.max(one.mean_ratio));
            let [low, high] = one.mean_ratio_ci95;
            let _ = writeln!(
                text,
                "| {name} | {} | {:.3} | {low:.3} to {high:.3} | {:.2} | {:.1} |",
                bench.case_draw,
                one.mean_ratio,
                one.worst_ratio,
                one.mean_call_move_and_return_counts[1]
            );
        }
        ranges.push(format!(
            "{least:.3} to {most:.3} (draw {})",
            bench.case_draw
        ));
    }
    let _ = write!(
        text,
        "\nRange of the mean ratio of MigBSP over its readings: {}.\n\n",
        ranges.join(", ")
    );
    text
}

/// Creates the section on the option `only_if_paid_back`, which skips rescheduling calls whose cost the rest of the run cannot
/// regain.
fn paid_back_section(outcome: &StudyOutcome) -> String {
    let mut text = String::from(
        "## Calls that the rest of the run pays back\n\nWith the option `only_if_paid_back`, a call is skipped if the remaining supersteps are too few to gain the time that the call costs.\n\n| policy | mean ratio | mean ratio with the option | calls | calls with the option |\n|---|---|---|---|---|\n",
    );
    for one in outcome.study.paid_back_variants() {
        let plain = statistics_of_policy(&outcome.public_draw_results, &one.policy);
        if let (Some(plain), Some(paid)) = (
            plain,
            statistics_of_policy(&outcome.public_draw_results, &one.name),
        ) {
            let _ = writeln!(
                text,
                "| `{}` | {:.3} | {:.3} | {:.1} | {:.1} |",
                one.policy,
                plain.mean_ratio,
                paid.mean_ratio,
                plain.mean_call_move_and_return_counts[0],
                paid.mean_call_move_and_return_counts[0]
            );
        }
    }
    text.push('\n');
    text
}

/// Creates the section on inexact reports: the mean ratio of each policy with each kind of reports, and the rank of the policy.
fn noise_section(outcome: &StudyOutcome) -> String {
    let (study, bench) = (&outcome.study, &outcome.public_draw_results);
    let mut text = String::from(
        "## Rankings under noise\n\nPolicies decide from reports of work and times, which may be exact, noisy, old, averaged or missing. The table has the mean ratio of each policy, and in brackets its rank in this table. \
         The settings are `view.noise`, `view.delay`, `view.window` and `view.missing`. If ratios are close, their order means little.\n\n| policy | exact |",
    );
    for view in study.views.keys() {
        let _ = write!(text, " {view} |");
    }
    text += "\n|---|---|";
    text += &"---|".repeat(study.views.len());
    text.push('\n');
    let exact: Vec<Option<f64>> = mean_ratios_of_policies(bench, study.viewed.iter().cloned());
    let mut columns = vec![exact];
    for view in study.views.keys() {
        let names = study.viewed.iter();
        columns.push(mean_ratios_of_policies(
            bench,
            names.map(|one| name_with_view(one, view)),
        ));
    }
    for (row, policy) in study.viewed.iter().enumerate() {
        let _ = write!(text, "| `{policy}` |");
        for column in &columns {
            let shown = column[row].map_or("-".to_owned(), |mean| {
                let rank = 1 + column
                    .iter()
                    .flatten()
                    .filter(|other| **other < mean)
                    .count();
                format!("{mean:.3} ({rank})")
            });
            let _ = write!(text, " {shown} |");
        }
        text.push('\n');
    }
    text.push('\n');
    text
}

/// Returns the mean ratio of each named policy on a draw; `None` for a policy that did not run.
fn mean_ratios_of_policies(
    bench: &BenchResults,
    names: impl Iterator<Item = String>,
) -> Vec<Option<f64>> {
    names
        .map(|name| statistics_of_policy(bench, &name).map(|one| one.mean_ratio))
        .collect()
}

/// Returns whether a policy takes part in the ranking within classes of cases. The best static start, variants such as
/// interpretations of MigBSP, and second names of policies do not take part.
fn is_ranked_within_classes(policy: &str) -> bool {
    let is_second = policy
        .strip_suffix(DEFAULT_TRIGGER)
        .is_some_and(|rest| rest.ends_with('/'));
    policy != BEST_START && !policy.contains(", ") && !is_second
}

/// Creates the section on classes of cases: the three policies with the lowest mean ratio in each class of the public draw.
fn classes_section(bench: &BenchResults) -> String {
    let mut text = String::from(
        "## Classes of cases\n\nThe table has the three policies with the lowest mean ratios in each class of cases of draw 1. A case can belong to several classes. `walk` is a random-walk load, and `dear moves` are expensive moves. With many policies and few cases, the first places are partly due to chance.\n\n| class | cases | first | second | third | `never` |\n|---|---|---|---|---|---|\n",
    );
    for (class, count) in bench.case_count_by_class() {
        let own =
            bench.policy_statistics_over_cases(|case| case.classes.iter().any(|one| one == class));
        let _ = write!(text, "| {class} | {count} |");
        for one in own
            .iter()
            .filter(|one| is_ranked_within_classes(&one.policy))
            .take(3)
        {
            let _ = write!(text, " `{}` {:.3} |", one.policy, one.mean_ratio);
        }
        let never = own.iter().find(|one| one.policy == "never");
        let _ = writeln!(
            text,
            " {} |",
            never.map_or("-".into(), |one| format!("{:.3}", one.mean_ratio))
        );
    }
    text.push('\n');
    text
}

/// Creates the table with the verdict on each claim of the advice for each draw.
fn verdicts_table(outcome: &StudyOutcome) -> String {
    let mut text = String::from(
        "## The advice on each draw\n\nA claim holds on a draw if the mean ratio of its policy is below that of each policy with which it is compared. The columns show the mean ratio of the policy, that of the best other policy, and the 95 % interval of their \
         difference, paired by case. If the difference is below 0, the policy of the claim is better. A star marks a claim that is significant in all its comparisons. ",
    );
    text += &compared_policies_text(&outcome.study.advice);
    text += "\n\n| claim | draw | cases | policy | best other | difference, 95 % | holds |\n|---|---|---|---|---|---|---|\n";
    for claim in &outcome.study.advice {
        for bench in
            std::iter::once(&outcome.public_draw_results).chain(&outcome.fresh_draw_results)
        {
            let verdict = claim
                .check_on_draw(bench)
                .map_or("- | - | - | - | not run".to_owned(), verdict_cells);
            let _ = writeln!(text, "| {} | {} | {verdict} |", claim.text, bench.case_draw);
        }
    }
    text.push('\n');
    text
}

/// Lists the policies that the claims on a class of cases compare: each different list once, with its number of policies.
fn compared_policies_text(claims: &[AdviceClaim]) -> String {
    let on_a_class = claims.iter().filter(|claim| claim.class.is_some());
    let lists: BTreeSet<BTreeSet<&str>> = on_a_class
        .map(|claim| {
            let others = claim.than.iter().map(String::as_str);
            others.chain([claim.policy.as_str()]).collect()
        })
        .collect();
    let texts = lists.iter().map(|policies| {
        let names: Vec<String> = policies.iter().map(|name| format!("`{name}`")).collect();
        format!("{} policies are {}", policies.len(), names.join(", "))
    });
    let texts: Vec<String> = texts.collect();
    format!(
        "In claims on a class of cases, the {}.",
        texts.join("; the ")
    )
}

/// Formats a verdict as cells of the table of verdicts: number of cases, two mean ratios, the interval, and whether the claim
/// holds.
fn verdict_cells(verdict: ClaimVerdict) -> String {
    let [low, high] = verdict.ratio_difference_interval;
    let holds = match (verdict.holds, verdict.is_significant) {
        (true, true) => "yes *",
        (true, false) => "yes",
        (false, _) => "no",
    };
    format!(
        "{} | {:.3} | {:.3} | {low:.3} to {high:.3} | {holds}",
        verdict.case_count, verdict.mean_ratio, verdict.lowest_compared_mean_ratio
    )
}

/// Creates the CSV table with all numbers of the study, one row per draw and policy.
pub fn csv_table(outcome: &StudyOutcome) -> String {
    let mut text = String::new();
    let draws = std::iter::once(&outcome.public_draw_results).chain(&outcome.fresh_draw_results);
    for bench in draws.chain([&outcome.fixed_case_results]) {
        let table = policies_csv(bench);
        let mut lines = table.lines();
        let heading = lines.next().unwrap_or_default();
        if text.is_empty() {
            let _ = writeln!(text, "draw,{heading}");
        }
        for line in lines {
            let _ = writeln!(text, "{},{line}", bench.case_draw);
        }
    }
    text
}
