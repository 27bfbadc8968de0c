//! Advice for an application on a platform: from which start, and with which policy or without any, it ends first.
//!
//! ```text
//! all pairs of start and policy, first part ─> the best of them and of all starts without moves, whole application
//!   ─> all policies from the best start, whole application ─> the choice ─> other seeds, disturbed work
//! ```
//! The rounds are successive halving (Jamieson and Talwalkar, AISTATS 2016). A policy counts as better than none only if it saves
//! more than the margin of indifference; between policies within this margin of each other, the first one in the list is taken.
//! The gain is measured with seeds that did not choose, on work that is disturbed at random, against the best start without moves.

use std::{collections::BTreeSet, sync::Mutex};

use serde::Serialize;
use serde_json::{Value, json};

use super::{
    cells::{mean_cell, number_cell},
    config::Sweep,
    planner::{seeds_after, seeds_of_sweep},
    run::{lock, simulate_settings},
    separate::Indifference,
    setting::{Setting, load_experiment},
    stats::{Sample, format_short},
    store::Store,
    tune::FRESH_SEEDS,
};
use migsim_base::{
    error::{Error, Problem, Result},
    words::format_count,
};
use migsim_bsp::Scenario;
use migsim_experiment::{KeySetting, describe_prices};
use migsim_output::{
    Cell, Sheet, Table, escape_html,
    frame::{list_html, sections_page},
    number_column, text_column, with_version,
};
use migsim_platform::MappingRule;

/// The policies among which the advice chooses by default. Without rescheduling comes first, then the one with the fewest moves of
/// those that lead the suite lb-2, then the order of the suite lb-1 with shared cores.
pub const POLICIES: &str = "never,migbsp-2,refine,migpf,prefix,inform-and-transfer,greedy-refine,migbsp,greedy-comm,greedy,refine/menon,refine/every=20,inform-and-transfer/menon,greedy-refine/menon,greedy/menon,diffusion";

/// The policy that never moves a process.
pub const NEVER: &str = "never";

/// Number of pairs that are simulated over the whole application, apart from those without moves and those of the best start.
const FINALISTS: usize = 12;

/// Difference of two policies below which small errors of the description would change the advice, and below which none is
/// shown \[%\].
const NEAR_PERCENT: f64 = 2.0;
const SAME_PERCENT: f64 = 0.05;

/// How good such advice was on drawn cases that were not used to make it (`results/advise.md`).
const TRACK_RECORD: &str = "With the usual policies, on 60 drawn cases of lb-2, the advised pair took 0.8 % longer on average than the best of 25 policies from up to six starts, and at most 10 %; where it was to move nothing, that was within 0.5 % of the best in 28 of 34.";

/// Least disturbance of the work when the choice is judged (`runtime.noise`).
const DISTURBANCE: f64 = 0.02;

/// The task of an adviser.
#[derive(Debug)]
pub struct Advising<'a> {
    /// The experiment, whose parameters are the mapping and the policy.
    pub sweep: &'a Sweep,
    /// The names of the policies, of which the first wins a tie; [`NEVER`] is always among them.
    pub policies: Vec<String>,
    /// The part of the supersteps that is simulated with all pairs \[%\], from 1 to 100.
    pub first_percent: usize,
    /// Maximum number of runs.
    pub run_budget: usize,
    /// The margin of indifference.
    pub indifference: Indifference,
    /// The store of the rows of finished runs.
    pub store: &'a Mutex<Store>,
}

/// A start and a policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Pair {
    /// The mapping rule; `None` for the start of the experiment.
    pub start: Option<String>,
    /// The name of the policy.
    pub policy: String,
}

/// The times of a pair.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairTimes {
    /// The pair.
    #[serde(flatten)]
    pub pair: Pair,
    /// Mean makespan of the first part \[s\].
    pub first_part_s: f64,
    /// Mean makespan of the application \[s\]; `None` if only the first part was simulated.
    pub whole_s: Option<f64>,
    /// Makespan on disturbed work with other seeds \[s\]; `None` if the pair was not judged.
    pub judged_s: Option<Sample>,
}

/// The advice, and the times from which it follows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Advice {
    /// The pair that is advised.
    pub advised: Pair,
    /// The best pair without moves.
    pub best_start: Pair,
    /// Time that the advised pair saves of that of the best start without moves \[%\], seed by seed; `None` if they are the same.
    pub gain_percent: Option<Sample>,
    /// Time that the advised pair saves of that of the experiment's own start without moves \[%\], seed by seed.
    pub gain_over_own_start_percent: Option<Sample>,
    /// The pair that the search chose, if the gain on other seeds did not confirm it.
    pub not_confirmed: Option<Pair>,
    /// The pair that the first part alone would have chosen, if it is another one, and the time that it takes longer on the whole
    /// application \[%\].
    pub first_part_chose: Option<(Pair, f64)>,
    /// Number of supersteps of the first part and of the application.
    pub supersteps: [usize; 2],
    /// The margin of indifference.
    #[serde(rename = "indifference_percent")]
    pub indifference: Indifference,
    /// From which source the costs on processors come; `None` if the experiment was fitted to its platform.
    pub prices: Option<String>,
    /// The seeds with which pairs were compared.
    pub seeds: Vec<u64>,
    /// The seeds with which the choice was judged.
    pub judging_seeds: Vec<u64>,
    /// The disturbance of the work when the choice was judged; 0.02 is 2 %.
    pub disturbance: f64,
    /// The errors of runs that failed, each once.
    pub failures: BTreeSet<String>,
    /// Number of runs.
    pub runs: usize,
    /// All pairs, by their times of the first part.
    pub pairs: Vec<PairTimes>,
    /// The command that follows the advice; empty until it is known.
    pub command: String,
}

impl Advising<'_> {
    /// Chooses a start and a policy, and measures what they save.
    ///
    /// # Errors
    /// The experiment cannot be run, the budget is too small, or a row cannot be written.
    pub fn run(&self) -> Result<Advice> {
        let mut seeds = seeds_of_sweep(self.sweep)?;
        let own = load_experiment(self.sweep, &[None, Some(NEVER.into())], seeds[0])?;
        let count = own.workload.supersteps();
        let first = (count * self.first_percent).div_ceil(100).max(1);
        let pairs = self.pairs(seeds[0])?;
        if !own.uses_seed() {
            seeds.truncate(1);
        }
        let first_seeds = self.first_seed_count(pairs.len(), seeds.len())?;
        let mut runs = BTreeSet::new();
        let mut found = self.first_part(pairs, &seeds[..first_seeds], first, &mut runs)?;
        let first_choice = self
            .choose(&found, |one| Some(one.first_part_s))
            .ok_or_else(|| self.failure())?;
        let first_choice = found[first_choice].pair.clone();
        let is_still = |one: &PairTimes| one.pair.policy == NEVER;
        self.simulate_whole(&mut found, is_still, &seeds, &mut runs)?;
        let still = found.iter().filter(|one| is_still(one));
        let still = still.filter_map(|one| Some((&one.pair, one.whole_s?)));
        let best_start = still.min_by(|a, b| a.1.total_cmp(&b.1));
        let best_start = best_start.ok_or_else(|| self.failure())?.0.clone();
        let best = best_by_first_part(&found);
        let is_finalist = |one: &PairTimes| {
            best.contains(&one.pair)
                || one.pair == first_choice
                || one.pair.start == best_start.start
        };
        self.simulate_whole(&mut found, is_finalist, &seeds, &mut runs)?;
        let chosen = self
            .choose(&found, |one| one.whole_s)
            .ok_or_else(|| self.failure())?;
        let mut advice = Advice {
            advised: found[chosen].pair.clone(),
            best_start,
            gain_percent: None,
            gain_over_own_start_percent: None,
            not_confirmed: None,
            first_part_chose: None,
            supersteps: [first, count],
            indifference: self.indifference,
            prices: describe_prices(&self.settings_of_policies(seeds[0])),
            seeds,
            judging_seeds: Vec::new(),
            disturbance: own.config.runtime.noise.max(DISTURBANCE),
            failures: BTreeSet::new(),
            runs: 0,
            pairs: found,
            command: String::new(),
        };
        self.judge(&mut advice, &mut runs)?;
        advice.first_part_chose = longer_by(&advice.pairs, &first_choice, &advice.advised)
            .filter(|percent| *percent > self.indifference.percent())
            .map(|percent| (first_choice, percent));
        advice.runs = runs.len();
        let store = lock(self.store);
        let rows = runs.iter().filter_map(|run| store.rows.get(run));
        advice.failures = rows.filter_map(|row| row.error.clone()).collect();
        Ok(advice)
    }

    /// Returns the number of seeds with which the budget allows to simulate the first part of all pairs.
    fn first_seed_count(&self, pairs: usize, seeds: usize) -> Result<usize> {
        let whole = FINALISTS + self.policies.len() + MappingRule::ALL.len() + 2;
        let later = 3 * FRESH_SEEDS + whole * seeds;
        let affordable = self.run_budget.saturating_sub(later) / pairs;
        if affordable > 0 {
            return Ok(affordable.min(seeds));
        }
        let least = later + pairs;
        let (budget, pairs) = (self.run_budget, format_count(pairs, "pair"));
        Err(Error::input(
            format!("a budget of {budget} runs is too small for {pairs} of start and policy"),
            "--budget",
            format!("give a `--budget` of at least {least}, or fewer `--policies`"),
        ))
    }

    /// Returns the settings of the experiment with each policy.
    fn settings_of_policies(&self, seed: u64) -> Vec<Value> {
        let load = |policy: &String| {
            let setting = [None, Some(policy.as_str().into())];
            load_experiment(self.sweep, &setting, seed).ok()
        };
        let experiments = self.policies.iter().filter_map(load);
        experiments.map(|one| one.resolved_settings).collect()
    }

    /// Simulates the first supersteps of all pairs, and returns the pairs that could be simulated, the fastest first.
    fn first_part(
        &self,
        pairs: Vec<Pair>,
        seeds: &[u64],
        first: usize,
        runs: &mut BTreeSet<String>,
    ) -> Result<Vec<PairTimes>> {
        let part = [KeySetting::new("runtime.supersteps", "--first", first)];
        let times = self.times(&pairs, seeds, &part, runs)?;
        let found = pairs.into_iter().zip(times).filter_map(|(pair, times)| {
            Some(PairTimes {
                pair,
                first_part_s: Sample::from_numbers(&times?)?.mean,
                whole_s: None,
                judged_s: None,
            })
        });
        let mut found: Vec<PairTimes> = found.collect();
        found.sort_by(|a, b| a.first_part_s.total_cmp(&b.first_part_s));
        Ok(found)
    }

    /// Simulates the whole application with those pairs for which `is_meant` returns true.
    fn simulate_whole(
        &self,
        pairs: &mut [PairTimes],
        is_meant: impl Fn(&PairTimes) -> bool,
        seeds: &[u64],
        runs: &mut BTreeSet<String>,
    ) -> Result {
        let mut meant: Vec<&mut PairTimes> = pairs.iter_mut().filter(|one| is_meant(one)).collect();
        let names: Vec<Pair> = meant.iter().map(|one| one.pair.clone()).collect();
        let times = self.times(&names, seeds, &[], runs)?;
        for (one, times) in meant.iter_mut().zip(times) {
            one.whole_s = times.and_then(|times| Some(Sample::from_numbers(&times)?.mean));
        }
        Ok(())
    }

    /// Measures the gain of the choice with other seeds on disturbed work, and takes it back if the gain is not confirmed.
    fn judge(&self, advice: &mut Advice, runs: &mut BTreeSet<String>) -> Result {
        advice.judging_seeds = seeds_after(&advice.seeds, FRESH_SEEDS);
        let own = Pair {
            start: None,
            policy: NEVER.to_owned(),
        };
        let judged = [advice.advised.clone(), advice.best_start.clone(), own];
        let disturbed = [KeySetting::new(
            "runtime.noise",
            "migsim advise",
            advice.disturbance,
        )];
        let times = self.times(&judged, &advice.judging_seeds, &disturbed, runs)?;
        for (pair, times) in judged.iter().zip(&times) {
            let sample = times.as_ref().and_then(|times| Sample::from_numbers(times));
            if let Some(one) = advice.pairs.iter_mut().find(|one| one.pair == *pair) {
                one.judged_s = sample;
            }
        }
        let [chosen, best, own] = &times[..] else {
            return Err(self.failure());
        };
        let saved = |times: &Option<Vec<f64>>, than: &Option<Vec<f64>>| {
            let pairs = times.as_ref()?.iter().zip(than.as_ref()?);
            let percent = pairs.map(|(time, than)| 100.0 * (than - time) / than);
            Sample::from_numbers(&percent.collect::<Vec<_>>())
        };
        let is_move = advice.advised.policy != NEVER;
        advice.gain_percent = saved(chosen, best).filter(|_| is_move);
        let margin = self.indifference.percent();
        let is_confirmed = advice
            .gain_percent
            .is_some_and(|gain| gain.mean - gain.ci95.unwrap_or(0.0) > 0.0 && gain.mean > margin);
        advice.gain_over_own_start_percent = saved(chosen, own);
        if is_move && !is_confirmed {
            let still = advice.best_start.clone();
            advice.not_confirmed = Some(std::mem::replace(&mut advice.advised, still));
            advice.gain_over_own_start_percent = saved(best, own);
        }
        Ok(())
    }

    /// Returns all pairs, with each start that differs from the others once.
    fn pairs(&self, seed: u64) -> Result<Vec<Pair>> {
        let mut placements = Vec::new();
        let mut starts = Vec::new();
        let rules = MappingRule::ALL
            .into_iter()
            .map(|rule| Some(rule.name().to_owned()));
        for start in std::iter::once(None).chain(rules) {
            let setting = vec![start.clone().map(Value::from), Some(NEVER.into())];
            match load_experiment(self.sweep, &setting, seed) {
                Ok(experiment) if !placements.contains(&experiment.placement) => {
                    placements.push(experiment.placement);
                    starts.push(start);
                }
                Ok(_) => {}
                // A start that does not fit into the memory of hosts is none.
                Err(_) if start.is_some() => {}
                Err(error) => return Err(error),
            }
        }
        let pairs = self.policies.iter().flat_map(|policy| {
            starts.iter().map(|start| Pair {
                start: start.clone(),
                policy: policy.clone(),
            })
        });
        Ok(pairs.collect())
    }

    /// Simulates the pairs with all seeds under further settings, and returns their makespans \[s\], or `None` if a run failed;
    /// adds the identities of the runs to `runs`.
    fn times(
        &self,
        pairs: &[Pair],
        seeds: &[u64],
        settings: &[KeySetting],
        runs: &mut BTreeSet<String>,
    ) -> Result<Vec<Option<Vec<f64>>>> {
        let mut sweep = self.sweep.clone();
        sweep.fixed_flags.extend_from_slice(settings);
        let all: Vec<Setting> = pairs.iter().map(Pair::setting).collect();
        let plan = simulate_settings(&sweep, all, seeds, self.store)?;
        runs.extend(plan.runs.iter().cloned());
        let store = lock(self.store);
        let times = (0..pairs.len()).map(|setting| {
            let rows = plan.rows_of(setting, &store.rows).into_iter();
            rows.map(|row| row?.makespan(Scenario::Iii)).collect()
        });
        Ok(times.collect())
    }

    /// Returns the pair with the shortest time. Of those within the margin of indifference one without moves is taken, or that of
    /// the first policy.
    fn choose(
        &self,
        pairs: &[PairTimes],
        time: impl Fn(&PairTimes) -> Option<f64>,
    ) -> Option<usize> {
        let least = pairs.iter().filter_map(&time).min_by(f64::total_cmp)?;
        let most = least * (1.0 + self.indifference.percent() / 100.0);
        let rank = |one: &PairTimes| {
            let at = |policy: &String| *policy == one.pair.policy;
            (one.pair.policy != NEVER, self.policies.iter().position(at))
        };
        let near = pairs.iter().enumerate();
        let near =
            near.filter_map(|(at, one)| Some((at, one, time(one).filter(|time| *time <= most)?)));
        let best = near.min_by(|a, b| rank(a.1).cmp(&rank(b.1)).then(a.2.total_cmp(&b.2)));
        best.map(|(at, ..)| at)
    }

    fn failure(&self) -> Error {
        let store = lock(self.store);
        let error = store.rows.values().find_map(|row| row.error.clone());
        let problem = Problem::new(format!(
            "no pair of start and policy could be simulated; the error of the first: {}",
            error.unwrap_or_else(|| "unknown".to_owned())
        ));
        Error::SimulationFailure(problem.hint("examine one pair with `migsim run`"))
    }
}

/// Returns the best pairs with different times of the first part. `pairs` is sorted by this time.
fn best_by_first_part(pairs: &[PairTimes]) -> Vec<Pair> {
    let mut last = f64::NEG_INFINITY;
    let best = pairs.iter().filter(|one| {
        let is_new = last < one.first_part_s;
        last = one.first_part_s;
        is_new
    });
    best.take(FINALISTS).map(|one| one.pair.clone()).collect()
}

/// Returns by how much the whole application takes longer with a pair than with another one \[%\].
fn longer_by(pairs: &[PairTimes], pair: &Pair, than: &Pair) -> Option<f64> {
    let time = |pair: &Pair| pairs.iter().find(|one| one.pair == *pair)?.whole_s;
    Some(100.0 * (time(pair)? / time(than)? - 1.0))
}

fn seeds_text(seeds: &[u64]) -> String {
    match seeds {
        [first, .., last] if seeds.is_sorted() && last - first == seeds.len() as u64 - 1 => {
            format!("{first} to {last}")
        }
        _ => {
            let texts: Vec<String> = seeds.iter().map(u64::to_string).collect();
            texts.join(", ")
        }
    }
}

/// States how much time a gain saves or loses, with its interval.
fn saves(gain: Sample) -> String {
    let verb = if gain.mean < 0.0 { "loses" } else { "saves" };
    let mean = gain.mean.abs();
    format!("{verb} {} %", Sample { mean, ..gain }.format())
}

impl Pair {
    /// Returns the pair as a setting of the parameters mapping and policy.
    pub fn setting(&self) -> Setting {
        vec![
            self.start.clone().map(Value::from),
            Some(self.policy.clone().into()),
        ]
    }

    fn describe(&self) -> String {
        let start = self.start.as_ref();
        let start = start.map_or("the start as it is".to_owned(), |rule| {
            format!("`--mapping {rule}`")
        });
        if self.policy == NEVER {
            format!("{start} without moves")
        } else {
            format!("{start} and the policy `{}`", self.policy)
        }
    }
}

impl Advice {
    /// Returns what to do, what it gains, and what the advice rests on, in sentences.
    pub fn sentences(&self) -> Vec<String> {
        let mut all = vec![format!("Do this: {}.", self.advised.describe())];
        let margin = self.indifference.percent();
        let seeds = format!(
            "with {FRESH_SEEDS} other seeds and work that is disturbed by {} %",
            format_short(100.0 * self.disturbance)
        );
        all.push(match (&self.not_confirmed, self.gain_percent) {
            (Some(pair), Some(gain)) => format!(
                "Moves do not pay: {seeds}, {} {} of the time of this start, which is not shown to be more than {margin} %.",
                pair.describe(),
                saves(gain)
            ),
            (_, Some(gain)) => format!(
                "It {} (mean and 95 % interval, {seeds}) of the time of the best start without moves, which is {}.",
                saves(gain),
                self.best_start.describe()
            ),
            _ => format!("No policy saves more than {margin} % of the time of this start."),
        });
        if let Some(gain) = self.gain_over_own_start_percent
            && self.best_start.start.is_some()
        {
            all.push(format!(
                "It {} of the time of the start as it is without moves.",
                saves(gain)
            ));
        }
        if let Some((pair, percent)) = &self.first_part_chose {
            all.push(format!(
                "The first {} of {} supersteps alone would have chosen {}, which takes {percent:.1} % longer in all: what comes later matters.",
                self.supersteps[0],
                self.supersteps[1],
                pair.describe()
            ));
        }
        all.extend(self.next_sentence());
        all.push(TRACK_RECORD.to_owned());
        all
    }

    /// Says how near the best other policy is.
    fn next_sentence(&self) -> Option<String> {
        let others = self
            .pairs
            .iter()
            .filter(|one| one.pair.policy != self.advised.policy);
        let next = others
            .filter_map(|one| Some((&one.pair, one.whole_s?)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .and_then(|(next, _)| Some((next, longer_by(&self.pairs, next, &self.advised)?)));
        let (next, percent) = next?;
        let takes = if percent.abs() < SAME_PERCENT {
            "takes as long".to_owned()
        } else if percent < 0.0 {
            format!("takes {:.1} % less", -percent)
        } else {
            format!("takes {percent:.1} % longer")
        };
        let end = if (SAME_PERCENT..NEAR_PERCENT).contains(&percent.abs()) {
            ": errors of this size in speeds, loads or prices would change the advice"
        } else {
            ""
        };
        Some(format!(
            "The best other policy, {}, {takes}{end}.",
            next.describe()
        ))
    }

    /// Returns the advice as JSON.
    pub fn to_json(&self) -> Value {
        let mut all = json!(self);
        all["sentences"] = json!(self.sentences());
        with_version(all)
    }

    /// Returns the printed output.
    pub fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::default();
        for line in self.sentences() {
            sheet.add_line(line);
        }
        sheet.add_line("");
        sheet.add_table(self.table());
        sheet.add_line("");
        sheet.add_line(self.basis());
        sheet.add_line(&self.command);
        sheet
    }

    /// Says on how many runs, seeds and prices the advice rests.
    fn basis(&self) -> String {
        let prices = self.prices.as_ref();
        let prices =
            prices.map_or_else(String::new, |prices| format!(" Processor time: {prices}."));
        format!(
            "{}; seeds {}, judged with {}.{prices}",
            format_count(self.runs, "run"),
            seeds_text(&self.seeds),
            seeds_text(&self.judging_seeds)
        )
    }

    /// Returns the page `index.html`.
    pub fn page(&self) -> String {
        let command = format!(
            "<pre class=\"wide\" aria-label=\"command\"><code>{}</code></pre>\n",
            escape_html(&self.command)
        );
        let sections = [
            (
                "advice",
                "What to do",
                list_html(&self.sentences()) + &command,
            ),
            ("pairs", "Starts and policies", self.table().to_html(25)),
        ];
        let lead = format!("<p>{}</p>\n", escape_html(&self.basis()));
        sections_page("Advice", &lead, sections, &[])
    }

    fn table(&self) -> Table {
        let columns = [
            text_column("start", "start"),
            text_column("policy", "policy"),
            number_column("first part [s]", "first_part_s"),
            number_column("whole [s]", "whole_s"),
            number_column("disturbed [s]", "judged_s"),
        ];
        let mut table = Table::new("pairs", "", &columns);
        let simulated = self.pairs.iter().filter(|one| one.whole_s.is_some());
        let mut simulated: Vec<&PairTimes> = simulated.collect();
        simulated.sort_by(|a, b| {
            a.whole_s
                .unwrap_or(0.0)
                .total_cmp(&b.whole_s.unwrap_or(0.0))
        });
        for one in simulated {
            table.push_row([
                Cell::text(one.pair.start.as_deref().unwrap_or("as it is")),
                Cell::text(&one.pair.policy),
                number_cell(one.first_part_s),
                number_cell(one.whole_s),
                mean_cell(one.judged_s),
            ]);
        }
        table
    }
}
