//! Runs everything that a paper is about, in parallel, and compares.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::calls::{Calls, of};
use super::cells::CellResult;
use super::decisions::{DecisionResult, Run, ScheduleResult, compare, compare_schedule, of_rule};
use super::facts::{Cell, Config, Contradiction, Decision, Facts, expand};
use super::{PAPERS, Paper};
use crate::bsp::{CallRecord, Scenario};
use crate::error::{Error, Problem};
use crate::experiment::{Experiment, Flag, Layers, Limits, Progress, Results, built_in};

/// A finished run: the experiment and its three scenarios.
#[derive(Debug)]
pub struct Done {
    /// The experiment.
    pub experiment: Experiment,
    /// Its results.
    pub results: Results,
}

impl Done {
    /// The time of a scenario \[s\].
    pub fn time(&self, scenario: Scenario) -> f64 {
        self.results
            .get(scenario)
            .map_or(f64::NAN, |run| run.outcome.makespan.get())
    }

    /// `100 (T_i - T_iii) / T_i` \[%\].
    pub fn gain(&self) -> f64 {
        let alone = self.time(Scenario::I);
        100.0 * (alone - self.time(Scenario::Iii)) / alone
    }

    /// `100 (T_ii - T_i) / T_i` \[%\].
    pub fn overhead(&self) -> f64 {
        let alone = self.time(Scenario::I);
        100.0 * (self.time(Scenario::Ii) - alone) / alone
    }

    /// The calls of a scenario, as a paper would tell them.
    pub fn calls(&self, scenario: Scenario) -> Calls {
        of(&self.experiment, &self.results, scenario)
    }

    /// The calls of a scenario, as the run recorded them.
    pub fn records(&self, scenario: Scenario) -> &[CallRecord] {
        self.results
            .get(scenario)
            .map_or(&[], |run| &run.outcome.calls)
    }

    /// How many processes scenario iii moves.
    pub fn migrations(&self) -> usize {
        let calls = self.records(Scenario::Iii).iter();
        calls.map(|call| call.decision.migrations.len()).sum()
    }
}

/// The runs of a paper; each is simulated once, when it is first asked for.
#[derive(Debug)]
pub struct Runs<'p> {
    paper: &'p Paper,
    progress: &'p Progress,
    done: Mutex<BTreeMap<String, Arc<Done>>>,
}

impl<'p> Runs<'p> {
    fn new(paper: &'p Paper, progress: &'p Progress) -> Self {
        Self {
            paper,
            progress,
            done: Mutex::new(BTreeMap::new()),
        }
    }

    /// The run of a case.
    ///
    /// # Errors
    /// The settings are wrong or the run cannot go on.
    pub fn run(&self, case: &Case) -> Result<Arc<Done>, Error> {
        let key = case.key();
        let known = self
            .done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
            .cloned();
        if let Some(done) = known {
            return Ok(done);
        }
        let mut layers = Layers::default();
        let below = built_in(case.experiment)?
            .ok_or_else(|| Problem::new(format!("there is no experiment `{}`", case.experiment)))?;
        layers.push_file(below);
        layers.push_flags(case.flags.clone());
        let experiment = Experiment::load(&layers, Limits::default())?;
        let results = experiment.run(self.progress)?;
        let done = Arc::new(Done {
            experiment,
            results,
        });
        self.done
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key, Arc::clone(&done));
        Ok(done)
    }

    /// The run of a configuration without lists.
    pub(super) fn of_config(&self, config: &Config) -> Result<Arc<Done>, Error> {
        self.run(&(self.paper.case)(config))
    }
}

/// A run of a paper: a built-in experiment, and what is set on top of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of the experiment.
    pub experiment: &'static str,
    /// The settings.
    pub flags: Vec<Flag>,
}

impl Case {
    /// An experiment as it is.
    pub const fn new(experiment: &'static str) -> Self {
        Self {
            experiment,
            flags: Vec::new(),
        }
    }

    /// With one more setting.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        let value = value.into();
        self.flags.push(Flag {
            key: key.to_owned(),
            flag: format!("{key}={value}"),
            value,
        });
        self
    }

    /// With the value of a key of a configuration, if it has one that is not null.
    #[must_use]
    pub fn with_given(self, key: &str, config: &Config, name: &str) -> Self {
        match config.get(name) {
            None | Some(Value::Null) => self,
            Some(value) => self.with(key, value.clone()),
        }
    }

    /// What tells it from other runs; settings in another order are the same run.
    fn key(&self) -> String {
        let pairs: BTreeSet<String> = self
            .flags
            .iter()
            .map(|flag| format!("{}={}", flag.key, flag.value))
            .collect();
        let pairs: Vec<String> = pairs.into_iter().collect();
        format!("{} {}", self.experiment, pairs.join(" "))
    }
}

/// A claim, evaluated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClaimResult {
    /// Its id.
    pub id: String,
    /// What the paper says, in our words.
    pub statement: String,
    /// `holds`, `fails` or `not checkable`.
    pub verdict: &'static str,
    /// The simulated value that says so.
    pub value: Value,
    /// Whether the published numbers themselves agree with it, where they can tell.
    pub published_numbers_agree: Option<bool>,
}

/// A constant that was fitted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Constant {
    /// What it is.
    pub what: &'static str,
    /// The keys that it sets.
    pub keys: Vec<String>,
    /// Its value, where it stands in the experiment.
    pub value: Value,
    /// What it was fitted to.
    pub evidence: String,
}

/// All comparisons of a paper.
#[derive(Clone, Debug, Serialize)]
pub struct PaperResults {
    /// The name of the paper.
    pub paper: &'static str,
    /// Authors and title.
    pub title: &'static str,
    /// The cells of its tables and the times of its figures.
    pub cells: Vec<CellResult>,
    /// Its decisions.
    pub decisions: Vec<DecisionResult>,
    /// Its call schedules.
    pub call_schedules: Vec<ScheduleResult>,
    /// Its claims.
    pub claims: Vec<ClaimResult>,
    /// What was fitted.
    pub constants: Vec<Constant>,
    /// Where the paper contradicts itself.
    pub contradictions: Vec<Contradiction>,
}

/// All papers that were asked for.
#[derive(Clone, Debug, Serialize)]
pub struct Reproduction {
    /// One entry each.
    pub papers: Vec<PaperResults>,
}

impl Reproduction {
    /// Whether every cell lies within its recorded band.
    pub fn is_within_bands(&self) -> bool {
        self.papers
            .iter()
            .flat_map(|paper| &paper.cells)
            .all(|cell| cell.within_band)
    }
}

/// Reproduces a paper, or all of them (`all`).
///
/// # Errors
/// The name is unknown, or a run cannot be done.
pub fn reproduce(name: &str, progress: &Progress) -> Result<Reproduction, Error> {
    let wanted: Vec<&Paper> = if name == "all" {
        PAPERS.iter().collect()
    } else {
        vec![super::find(name)?]
    };
    let papers = wanted
        .into_par_iter()
        .map(|paper| reproduce_one(paper, progress))
        .collect::<Result<_, _>>()?;
    Ok(Reproduction { papers })
}

fn reproduce_one(paper: &Paper, progress: &Progress) -> Result<PaperResults, Error> {
    let mut facts = Facts::parse(paper.name, paper.facts)?;
    facts.tables.extend(times_of_figures(&facts));
    let runs = Runs::new(paper, progress);
    simulate_all(paper, &facts, &runs)?;
    let cells = facts
        .tables
        .iter()
        .map(|cell| compare_cell(paper, cell, &runs))
        .collect::<Result<_, _>>()?;
    let decisions = facts
        .decisions
        .iter()
        .map(|decision| compare_decision(paper, decision, &facts, &runs))
        .collect::<Result<_, _>>()?;
    let call_schedules = facts
        .call_schedules
        .iter()
        .map(|schedule| {
            let told: Vec<Calls> = expand(&schedule.config)
                .iter()
                .map(|config| calls_of(config, &runs))
                .collect::<Result<_, _>>()?;
            Ok(compare_schedule(schedule, &told))
        })
        .collect::<Result<_, Error>>()?;
    let claims = facts
        .claims
        .iter()
        .map(|claim| evaluate(paper, claim, &runs))
        .collect::<Result<_, _>>()?;
    Ok(PaperResults {
        paper: paper.name,
        title: paper.title,
        cells,
        decisions,
        call_schedules,
        claims,
        constants: constants(paper, &runs)?,
        contradictions: facts.contradictions,
    })
}

/// The times that the text quotes from figures are cells, too, unless a table has them already.
fn times_of_figures(facts: &Facts) -> Vec<Cell> {
    let scenario = |config: &Config| config.get("scenario").is_some();
    // Scenario i has no alpha, and some keys stand in tables only.
    let same = |a: &Config, b: &Config| {
        a.iter().all(|(key, value)| {
            let other = b.get(key).unwrap_or(&Value::Null);
            value.is_null() || other.is_null() || value == other
        })
    };
    let is_new = |config: &Config| !facts.tables.iter().any(|cell| same(&cell.config, config));
    facts
        .figures
        .iter()
        .filter(|figure| figure.unit == "s" && scenario(&figure.config) && is_new(&figure.config))
        .filter_map(|figure| {
            Some(Cell {
                id: figure.id.clone(),
                table: figure.figure.clone(),
                config: figure.config.clone(),
                seconds: figure.value.as_f64()?,
                note: figure.note.clone(),
            })
        })
        .collect()
}

/// Runs everything that the facts name, in parallel.
fn simulate_all(paper: &Paper, facts: &Facts, runs: &Runs<'_>) -> Result<(), Error> {
    let cells = facts.tables.iter().map(|cell| &cell.config);
    let decisions = facts.decisions.iter().map(|decision| &decision.config);
    let schedules = facts.call_schedules.iter().map(|schedule| &schedule.config);
    let mut cases: BTreeMap<String, Case> = BTreeMap::new();
    for config in cells.chain(decisions).chain(schedules).flat_map(expand) {
        let case = (paper.case)(&config);
        cases.insert(case.key(), case);
    }
    // The longest runs first, so that no core waits for one at the end: the settings of large n and p sort last.
    let cases: Vec<Case> = cases.into_values().rev().collect();
    cases
        .par_iter()
        .map(|case| runs.run(case).map(drop))
        .collect()
}

fn compare_cell(paper: &Paper, cell: &Cell, runs: &Runs<'_>) -> Result<CellResult, Error> {
    let done = runs.of_config(&cell.config)?;
    let scenario = scenario_of(&cell.config)
        .ok_or_else(|| Problem::new(format!("cell `{}` has no scenario", cell.id)))?;
    let run = done
        .results
        .get(scenario)
        .ok_or_else(|| Problem::new(format!("cell `{}` was not run", cell.id)))?;
    let simulated_s = run.outcome.makespan.get();
    let error = simulated_s / cell.seconds - 1.0;
    let reason = paper
        .unexplained
        .iter()
        .find(|(id, _)| *id == cell.id)
        .map(|(_, reason)| (*reason).to_owned());
    let note = match (cell.note.clone(), reason) {
        (Some(note), Some(reason)) => Some(format!("{note}; {reason}")),
        (note, reason) => note.or(reason),
    };
    Ok(CellResult {
        id: cell.id.clone(),
        table: cell.table.clone(),
        case: case_of(&cell.config),
        scenario: scenario.name(),
        published_s: cell.seconds,
        simulated_s,
        error,
        in_sample: (paper.in_sample)(cell),
        within_band: error.abs() <= (paper.band)(cell),
        note,
    })
}

/// What a configuration is about, in its own keys; what all configurations of a paper share is left out.
fn case_of(config: &Config) -> String {
    let keys = [
        "test",
        "mapping",
        "n",
        "procs",
        "supersteps",
        "x_seconds",
        "alpha",
    ];
    let derived = |key: &&&str| {
        **key == "supersteps" && config.contains_key("n")
            || **key == "mapping" && config.contains_key("n")
    };
    let alone = config.get("scenario").and_then(Value::as_str) == Some("i");
    let parts: Vec<String> = keys
        .iter()
        .filter(|key| !(derived(key) || alone && **key == "alpha"))
        .filter_map(|key| {
            config
                .get(*key)
                .filter(|value| !value.is_null())
                .map(|value| (key, value))
        })
        .map(|(key, value)| {
            format!(
                "{key}={}",
                value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned)
            )
        })
        .collect();
    parts.join(" ")
}

fn scenario_of(config: &Config) -> Option<Scenario> {
    let name = config.get("scenario")?.as_str()?;
    Scenario::ALL
        .into_iter()
        .find(|scenario| scenario.name() == name)
}

fn calls_of(config: &Config, runs: &Runs<'_>) -> Result<Calls, Error> {
    let done = runs.of_config(config)?;
    Ok(done.calls(scenario_of(config).unwrap_or(Scenario::Iii)))
}

/// By the calls of its runs, or by the function that the paper's file has for it.
fn compare_decision(
    paper: &Paper,
    decision: &Decision,
    facts: &Facts,
    runs: &Runs<'_>,
) -> Result<DecisionResult, Error> {
    if let Some((_, evaluate)) = paper.rules.iter().find(|(id, _)| *id == decision.id) {
        let (holds, value) = evaluate(runs)?;
        return Ok(of_rule(decision, holds, value));
    }
    let configs = expand(&decision.config);
    let told: Vec<Calls> = configs
        .iter()
        .map(|config| calls_of(config, runs))
        .collect::<Result<_, _>>()?;
    let compared: Vec<Run<'_>> = configs
        .iter()
        .zip(&told)
        .map(|(config, calls)| Run {
            alpha: config.get("alpha").and_then(Value::as_u64),
            calls,
        })
        .collect();
    Ok(compare(decision, &facts.decisions, &compared))
}

fn evaluate(
    paper: &Paper,
    claim: &super::facts::Claim,
    runs: &Runs<'_>,
) -> Result<ClaimResult, Error> {
    let evaluation = paper.claims.iter().find(|(id, _)| *id == claim.id);
    let (holds, value) = match evaluation {
        Some((_, evaluate)) => evaluate(runs)?,
        None => (None, json!(null)),
    };
    let verdict = match holds {
        Some(true) => "holds",
        Some(false) => "fails",
        None => "not checkable",
    };
    Ok(ClaimResult {
        id: claim.id.clone(),
        statement: claim.statement.clone(),
        verdict,
        value,
        published_numbers_agree: claim.consistent_with_published_numbers,
    })
}

/// The fitted constants, with their evidence from the experiment's and the platform's files.
fn constants(paper: &Paper, runs: &Runs<'_>) -> Result<Vec<Constant>, Error> {
    if paper.constants.is_empty() {
        return Ok(Vec::new());
    }
    let done = runs.run(&Case::new(paper.experiment))?;
    let origins = &done.experiment.config.origins;
    let of_platform = &done.experiment.platform.origins;
    let one = |(keys, what): &(&'static [&'static str], &'static str)| {
        let first = keys.first().copied().unwrap_or_default();
        let evidence = match first.strip_prefix("platform:") {
            Some(key) => of_platform.get(key),
            None => origins.get(first),
        };
        let value = first
            .split('.')
            .try_fold(&done.experiment.resolved, |value, part| value.get(part));
        Constant {
            what,
            keys: keys.iter().map(|&key| key.to_owned()).collect(),
            value: value.cloned().unwrap_or_default(),
            evidence: evidence.cloned().unwrap_or_default(),
        }
    };
    Ok(paper.constants.iter().map(one).collect())
}

/// The keys of an experiment and its platform whose origin says that they were fitted (those of the platform as `platform:<key>`).
///
/// # Errors
/// The experiment of the paper cannot be run.
pub fn fitted_keys(paper: &Paper) -> Result<BTreeSet<String>, Error> {
    let mut layers = Layers::default();
    layers.push_file(
        built_in(paper.experiment)?.ok_or_else(|| {
            Problem::new(format!("there is no experiment `{}`", paper.experiment))
        })?,
    );
    let experiment = Experiment::load(&layers, Limits::default())?;
    let is_fitted = |origin: &(&String, &String)| origin.1.starts_with("fitted");
    let own = experiment.config.origins.iter().filter(is_fitted);
    let platform = experiment.platform.origins.iter().filter(is_fitted);
    let own = own.map(|(key, _)| key.clone());
    Ok(own
        .chain(platform.map(|(key, _)| format!("platform:{key}")))
        .collect())
}
