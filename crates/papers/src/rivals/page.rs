//! `rivals.md` and `rivals.csv`: what the study of rivals found, advice first.

use std::fmt::Write as _;

use super::Outcome;
use migsim_study::compare::{Comparison, Standing};
use migsim_study::stats::{Estimate, Sample, short};

/// The page.
pub fn markdown(outcomes: &[Outcome]) -> String {
    let mut text = String::from("# Rivals: which policy when?\n\n");
    text += &advice(outcomes).join("\n");
    text += "\n\n![mean makespan of each policy over the best known](rivals-means.svg)\n\n";
    text += "Written by `migsim reproduce rivals --out results`. Every number is simulated; the cases and the names of the policies are in \
             `crates/papers/src/rivals/cases.json`, and were fixed before the first run. One thing was chosen after it: strategies are called by `boulmier`, which \
             is the default since it had the least mean regret of the triggers.\n\n";
    text += "## Regret of the policies\n\nMakespan above the best that is known of the same seed, in percent, means over the seeds: the fastest policy, \
             or the plan that a search of 120 runs found in hindsight. **Bold**: no policy is shown to be faster by more \
             than 0.5 % of the best makespan. Where seeds matter, a test shows it, at 95 % and corrected for the number of comparisons by Holm's method. A single run of a \
             policy that draws shows nothing.\n\n";
    text += &regrets(outcomes, |outcome| &outcome.policies);
    text +=
        "\n![makespans of some policies over the best known, case by case](rivals-policies.svg)\n";
    text += "\n## Regret of the triggers\n\nThe same for the strategy `refine`, called by each trigger.\n\n";
    text += &regrets(outcomes, |outcome| &outcome.triggers);
    text +=
        "\n![makespans of some triggers over the best known, case by case](rivals-triggers.svg)\n";
    text += "\n## Case by case\n\n| case | what | seeds | best | gain over none [%] | calls | moves | above bound [%] |\n|---|---|---|---|---|---|---|---|\n";
    for outcome in outcomes {
        let Some(best) = outcome.policies.standings.first() else {
            continue;
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | `{}` {} s | {} | {} | {} | {} |",
            outcome.case.name,
            outcome.case.what,
            outcome.policies.basis.seeds,
            best.policy,
            best.makespan.shown(),
            interval(best.gain.map(Estimate::from)),
            short(best.calls),
            short(best.moves),
            best.above_bound.map_or("-".into(), short)
        );
    }
    text += "\n## Tuned, with the same budget for each\n\nEach policy gets a search of 60 runs (successive halving, then compass search) over the options that `migsim tune` varies, or over \
             twelve triggers; where seeds matter the search sees seeds 1 to 4 and the numbers are those of seeds 101 to 110. Makespans in seconds.\n\n\
             | case | policy | as it comes | tuned | settings |\n|---|---|---|---|---|\n";
    for outcome in outcomes {
        for tuned in &outcome.tuned {
            let _ = writeln!(
                text,
                "| {} | `{}` | {} | {} | {} |",
                outcome.case.name,
                tuned.policy,
                interval(tuned.defaults),
                interval(tuned.best),
                tuned.settings
            );
        }
    }
    text += "\n## What to keep in mind\n\n\
             - The prices of calls and moves in the papers' cases are the fitted ones of MigBSP, the same for every policy. In the others a call is simulated as messages.\n\
             - The bound counts computation alone, on all hosts of the platform. Where messages decide, everybody is far above it.\n\
             - Hindsight is a local search, and no optimum: a regret of 0 says that nothing better was found.\n\
             - The strategies are our editions, which know speeds, latencies, bandwidths and memory; the editions of the original programs decide as those do (`greedy/charm-6.10.2`).\n";
    text
}

/// All numbers of the comparisons, a row for each case and policy.
pub fn csv(outcomes: &[Outcome]) -> String {
    let mut text = String::from(
        "case,kind,policy,seeds,makespan_iii_mean_s,makespan_iii_ci95_s,behind_best_mean_s,behind_best_ci95_s,gain_mean_percent,calls,moves,calls_cost_s,moves_cost_s,regret_percent,regret_ci95_percent,above_bound_percent\n",
    );
    for outcome in outcomes {
        for (kind, comparison) in [
            ("policy", &outcome.policies),
            ("trigger", &outcome.triggers),
        ] {
            for one in &comparison.standings {
                let half = |sample: Option<Sample>| {
                    let half = sample.and_then(|sample| sample.half_width());
                    half.map_or(String::new(), |half| half.to_string())
                };
                let mean = |sample: Option<Sample>| {
                    sample.map_or(String::new(), |sample| sample.mean.to_string())
                };
                let fields = [
                    outcome.case.name.clone(),
                    kind.to_owned(),
                    one.policy.clone(),
                    comparison.basis.seeds.to_string(),
                    one.makespan.mean.to_string(),
                    half(Some(one.makespan)),
                    mean(one.behind),
                    half(one.behind),
                    mean(one.gain),
                    one.calls.to_string(),
                    one.moves.to_string(),
                    one.costs[0].to_string(),
                    one.costs[1].to_string(),
                    one.regret.mean.to_string(),
                    half(Some(one.regret)),
                    one.above_bound
                        .map_or(String::new(), |above| above.to_string()),
                ];
                text += &fields.join(",");
                text.push('\n');
            }
        }
    }
    text
}

/// Advice for each kind of case, from the numbers alone; a line each.
fn advice(outcomes: &[Outcome]) -> Vec<String> {
    let among = |is_one: &dyn Fn(&Outcome) -> bool| {
        let some: Vec<Outcome> = outcomes.iter().filter(|one| is_one(one)).cloned().collect();
        by_regret(&some, |outcome| &outcome.policies)
    };
    let first = |ranked: &[Ranked]| {
        let best = ranked.first();
        best.map_or_else(String::new, |best| {
            format!("`{}` ({} %)", best.policy, short(best.mean))
        })
    };
    let ends_with = |end: &'static str| move |outcome: &Outcome| outcome.case.name.ends_with(end);
    let ranked = among(&|_| true);
    let triggers = by_regret(outcomes, |outcome| &outcome.triggers);
    let Some(best) = ranked.first() else {
        return vec!["No case was run.".into()];
    };
    let migbsp = ranked.iter().find(|one| one.policy == "migbsp");
    let is_best = |outcome: &&Outcome| {
        standing(&outcome.policies, "migbsp").is_some_and(Standing::ties_with_best)
    };
    let is_worse = |outcome: &&Outcome| {
        let gain = standing(&outcome.policies, "migbsp").and_then(|one| one.gain);
        gain.is_some_and(|gain| gain.mean + gain.half_width().unwrap_or(0.0) < 0.0)
    };
    let names = |of: &dyn Fn(&&Outcome) -> bool| -> String {
        let names: Vec<&str> = outcomes
            .iter()
            .filter(of)
            .map(|outcome| outcome.case.name.as_str())
            .collect();
        if names.is_empty() {
            "none".into()
        } else {
            names.join(", ")
        }
    };
    vec![
        format!(
            "**On these cases `{}` has the least mean regret.** Over {} cases it is {} % above the best known plan on average, and {} % at worst. The cases that chose it judge it: on others another policy may lead, so compare on yours.",
            best.policy,
            outcomes.len(),
            short(best.mean),
            short(best.most)
        ),
        format!(
            "- Moves are cheap (1 MB each): {}. Moves are dear (500 MB each): {}. The papers' applications: {}. In brackets: mean regret.",
            first(&among(&ends_with("-cheap"))),
            first(&among(&ends_with("-dear"))),
            first(&among(&|outcome| outcome.case.group == "papers")),
        ),
        format!("- When to call a strategy: {}.", listed(&triggers)),
        format!(
            "- MigBSP is {} above the best known on average, and {} at worst. No policy is shown to be faster in: {}. It is slower than no rescheduling in: {}.",
            migbsp.map_or("-".into(), |one| format!("{} %", short(one.mean))),
            migbsp.map_or("-".into(), |one| format!("{} %", short(one.most))),
            names(&is_best),
            names(&is_worse)
        ),
        format!("- From least to most mean regret: {}.", listed(&ranked)),
    ]
}

fn listed(ranked: &[Ranked]) -> String {
    let one = |one: &Ranked| format!("`{}` {} %", one.policy, short(one.mean));
    ranked.iter().map(one).collect::<Vec<_>>().join(", ")
}

pub(super) fn standing<'a>(comparison: &'a Comparison, policy: &str) -> Option<&'a Standing> {
    let mut standings = comparison.standings.iter();
    standings.find(|one| one.policy == policy)
}

/// A policy and its regrets over some cases \[%\].
#[derive(Clone, Debug)]
pub(super) struct Ranked {
    /// Its name.
    pub(super) policy: String,
    /// The mean.
    pub(super) mean: f64,
    /// The least.
    pub(super) least: f64,
    /// The largest.
    pub(super) most: f64,
}

/// The policies with their regrets over some cases, the least mean first.
pub(super) fn by_regret(outcomes: &[Outcome], of: impl Fn(&Outcome) -> &Comparison) -> Vec<Ranked> {
    let Some(first) = outcomes.first() else {
        return Vec::new();
    };
    let of_policy = |one: &Standing| {
        let regrets = outcomes
            .iter()
            .filter_map(|outcome| Some(standing(of(outcome), &one.policy)?.regret.mean));
        let regrets: Vec<f64> = regrets.collect();
        Ranked {
            policy: one.policy.clone(),
            mean: regrets.iter().sum::<f64>() / regrets.len() as f64,
            least: regrets.iter().copied().fold(f64::INFINITY, f64::min),
            most: regrets.into_iter().fold(0.0, f64::max),
        }
    };
    let mut ranked: Vec<Ranked> = of(first).standings.iter().map(of_policy).collect();
    ranked.sort_by(|a, b| {
        a.mean
            .total_cmp(&b.mean)
            .then_with(|| a.policy.cmp(&b.policy))
    });
    ranked
}

/// A table of regrets: a row for each case, a column for each policy, in the order of their names.
fn regrets(outcomes: &[Outcome], of: impl Fn(&Outcome) -> &Comparison) -> String {
    let mut policies: Vec<&str> = Vec::new();
    for outcome in outcomes {
        for one in &of(outcome).standings {
            if !policies.contains(&one.policy.as_str()) {
                policies.push(&one.policy);
            }
        }
    }
    policies.sort_unstable();
    let mut text = format!("| case | {} |\n|---|", policies.join(" | "));
    text += &"---|".repeat(policies.len());
    text.push('\n');
    for outcome in outcomes {
        let _ = write!(text, "| {} |", outcome.case.name);
        for policy in &policies {
            let found = of(outcome)
                .standings
                .iter()
                .find(|one| one.policy == *policy);
            let shown = found.map_or("-".to_owned(), |one| {
                let regret = format!("{:.1}", one.regret.mean);
                if one.ties_with_best() {
                    format!("**{regret}**")
                } else {
                    regret
                }
            });
            let _ = write!(text, " {shown} |");
        }
        text.push('\n');
    }
    text
}

fn interval(estimate: Option<Estimate>) -> String {
    estimate.map_or("-".into(), |estimate| estimate.shown())
}
