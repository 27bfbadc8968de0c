//! Sentences follow from numbers: every number that `explain`, the report and `compare` print is a value of the JSON output, to the printed
//! digits. The named quantities are compared with those of a second implementation, which uses the raw records.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on stops")]

mod drawn;
mod effects;
mod parsed;
mod second;

use std::collections::BTreeMap;

use migsim::bsp::{RunOutcome, Scenario};
use migsim::experiment::{Experiment, MakespanTerm, Progress, ReschedulingPlan, Results};
use migsim::output::{
    CallExplanation, EvaluatedCall, Overview, Question, RecordedCall, Report, Run, ScenarioRecords,
};
use serde_json::{Value, json};

use self::drawn::Dice;
use self::parsed::numbers;
use self::second::{Raw, Watched};
use crate::support::{draws, migsim, succeeded};

/// The counts of checks.
#[derive(Debug, Default)]
struct Tally {
    sentences: usize,
    numbers: usize,
    /// Number of times that each named quantity was recomputed.
    recomputed: BTreeMap<String, usize>,
    policies: BTreeMap<String, usize>,
    effects: usize,
    wrong: Vec<String>,
}

impl Tally {
    /// Checks that every number of the sentence is the quantity at the same position, to the printed digits.
    fn sentence(&mut self, text: &str, quantities: &Value, verbatim: &[String], what: &str) {
        let found = numbers(text, verbatim);
        let quantities = quantities.as_array().unwrap();
        let shown = found.iter().zip(quantities).all(|(number, quantity)| {
            let value = quantity["value"].as_f64().unwrap();
            let is_whole = quantity["value"].is_u64() && number.is_whole;
            let tolerance = if is_whole { 0.0 } else { number.half_digit };
            (number.value - value).abs() <= tolerance * (1.0 + 1e-6) + 1e-12 * value.abs()
        });
        if found.len() != quantities.len() || !shown {
            let quantities = Value::from(quantities.clone());
            self.wrong.push(format!("{what}: {text}\n  {quantities}"));
        }
        self.sentences += 1;
        self.numbers += found.len();
    }

    /// Checks that the quantity equals that of the second implementation.
    fn recomputed(&mut self, name: &str, value: f64, second: f64, what: &str) {
        let scale = value.abs().max(second.abs());
        if (value - second).abs() > 1e-9 * scale + 1e-12 {
            let text = format!("{what}: `{name}` is {value}, recomputed {second}");
            self.wrong.push(text);
        }
        *self.recomputed.entry(name.to_owned()).or_default() += 1;
    }
}

/// Collects the texts of a record, whose numbers are no quantities.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.contains(' ') => found.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|one| texts(one, found)),
        Value::Object(fields) => fields.values().for_each(|one| texts(one, found)),
        _ => {}
    }
}

/// Reads the process at the start of a sentence: `p15 on ...`, or `  east: p15, ...` with its cluster.
fn subject(text: &str) -> (Option<u64>, Option<String>) {
    let process = |word: &str| {
        word.trim_matches([',', ':'])
            .strip_prefix('p')?
            .parse()
            .ok()
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let first = words.first().copied().unwrap_or_default();
    let cluster = text.starts_with(' ').then(|| first.strip_suffix(':'));
    let cluster = cluster.flatten().map(str::to_owned);
    let found = words.iter().find_map(|word| process(word));
    (found, cluster)
}

/// Reads the cluster after ` to ` in a sentence.
fn destination(text: &str) -> Option<String> {
    let (_, rest) = text.split_once(" to ")?;
    let word = rest.split([',', ':', ' ']).next()?;
    Some(word.to_owned())
}

/// Checks a story: each sentence against its quantities, and each known quantity against the second implementation.
fn story(
    tally: &mut Tally,
    raw: &Raw<'_>,
    question: Question,
    story: &CallExplanation,
    what: &str,
) {
    let facts = story.to_json();
    let mut verbatim = Vec::new();
    texts(&facts["call"], &mut verbatim);
    if let Some(why) = facts["effect"]["unknown"].as_str() {
        verbatim.push(why.to_owned());
    }
    let definitions = facts["definitions"].as_object().unwrap();
    for (part, sentences) in facts["sentences"].as_object().unwrap() {
        let quantities = facts["quantities"][part].as_array().unwrap();
        assert_eq!(sentences.as_array().unwrap().len(), quantities.len());
        let mut process = question.process.unwrap_or(0);
        for (text, quantities) in sentences.as_array().unwrap().iter().zip(quantities) {
            let text = text.as_str().unwrap();
            tally.sentence(text, quantities, &verbatim, what);
            let (named, cluster) = subject(text);
            process = named.unwrap_or(process);
            let is_before = text.starts_with("At the previous call");
            let cluster = cluster.or_else(|| destination(text)).unwrap_or_default();
            for quantity in quantities.as_array().unwrap() {
                let name = quantity["name"].as_str().unwrap();
                assert!(definitions.contains_key(name), "{name} has no definition");
                let second = raw.value(name, process, &cluster).filter(|_| !is_before);
                if let Some(second) = second {
                    let value = quantity["value"].as_f64().unwrap();
                    tally.recomputed(name, value, second, &format!("{what}: {text}"));
                }
            }
        }
    }
    consistent(raw, question, &story.to_text(), what);
    let call = &facts["call"];
    let effect = facts["effect"]["realised"]["gain_s"].as_f64();
    assert_eq!(call["realised_gain_s"].as_f64(), effect, "{what}");
    if let (Some(value), Some(second)) = (
        call["gain_on_i_until_next_call_s"].as_f64(),
        raw.gain_on_i(),
    ) {
        tally.recomputed("gain_on_i_until_next_call_s", value, second, what);
    }
}

/// Checks that the statements about candidates agree with each other and with the rule.
fn consistent(raw: &Raw<'_>, question: Question, text: &str, what: &str) {
    let candidates = &raw.call.candidates;
    if text.contains("no process is a candidate") {
        assert!(candidates.is_empty(), "{what}: {text}");
    }
    if text.contains("alone is a candidate") {
        let own = format!("p{} alone", candidates[0].process);
        assert!(
            candidates.len() == 1 && text.contains(&own),
            "{what}: {text}"
        );
    }
    if let Some(expected) = raw.candidates().filter(|_| question.process.is_none()) {
        let mut found: Vec<u64> = candidates.iter().map(|one| one.process).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{what}: {text}");
    }
}

/// Runs without the moves of a call, up to the next call.
fn without(experiment: &Experiment, with: &RunOutcome, superstep: u64) -> RunOutcome {
    let mut calls = ReschedulingPlan::from_outcome(with).calls().to_vec();
    let judged = calls.iter().position(|call| call.superstep == superstep);
    let judged = judged.unwrap();
    calls.truncate(judged + 2);
    for call in &mut calls[judged..] {
        call.moves.clear();
    }
    let plan = ReschedulingPlan::new(calls);
    let run = experiment.run_with_plan(Scenario::Iii, &plan, &Progress::default(), &mut (), None);
    run.unwrap().outcome
}

/// Checks the stories of some calls of a scenario.
fn calls(tally: &mut Tally, experiment: &Experiment, results: &Results, run: &Run, index: u64) {
    let dice = &mut Dice::new(1000 + index);
    let name = run.experiment_settings["policy"]["name"].as_str().unwrap();
    let options = &run.experiment_settings["policy"][name];
    for scenario in [Scenario::Ii, Scenario::Iii] {
        let this = run.scenario(scenario).unwrap();
        let mut watched = Watched::default();
        let done = experiment.run_scenario(scenario, &Progress::default(), &mut watched, None);
        let outcome = done.unwrap().outcome;
        assert_eq!(outcome.event_hash, this.event_hash);
        let (moving, quiet): (Vec<&RecordedCall>, Vec<&RecordedCall>) = this
            .calls
            .iter()
            .partition(|call| !call.migrations.is_empty());
        for call in moving.into_iter().take(3).chain(quiet.into_iter().take(2)) {
            let candidate = call.candidates.first().map(|one| (one.process, false));
            let other = Some((1 + dice.below(run.process_count), true));
            for asked in [None, candidate, other] {
                let question = Question {
                    superstep: call.superstep,
                    process: asked.map(|(process, _)| process),
                    asks_why_not_moved: asked.is_some_and(|(_, why_not)| why_not),
                    scenario: Some(scenario),
                };
                let case = EvaluatedCall::find_by_question(run, question)
                    .unwrap()
                    .filter(|_| asked.is_none());
                let effect =
                    case.map(|case| case.simulate_effect(experiment, &Progress::default()));
                let is_known = matches!(effect, Some(Ok(_)));
                tally.effects += usize::from(is_known);
                let repeated = is_known.then(|| without(experiment, &outcome, call.superstep));
                let raw = Raw {
                    run,
                    this,
                    call,
                    options,
                    without: repeated.as_ref(),
                    watched: &watched,
                    with: &results.get(scenario).unwrap().outcome,
                };
                let told = CallExplanation::new(run, question, effect.as_ref()).unwrap();
                let what = format!("run {index}, {name}, superstep {}", call.superstep);
                story(tally, &raw, question, &told, &what);
            }
        }
        if let Some(before) = this
            .calls
            .first()
            .map(|call| call.superstep - 1)
            .filter(|one| *one > 0)
        {
            quiet_superstep(tally, run, (scenario, before), index);
        }
    }
}

/// Checks the story of a superstep without a call.
fn quiet_superstep(
    tally: &mut Tally,
    run: &Run,
    (scenario, superstep): (Scenario, u64),
    index: u64,
) {
    let question = Question {
        superstep,
        process: None,
        asks_why_not_moved: false,
        scenario: Some(scenario),
    };
    let facts = CallExplanation::new(run, question, None).unwrap().to_json();
    let (sentences, quantities) = (&facts["sentences"]["When"], &facts["quantities"]["When"]);
    for (text, quantities) in sentences
        .as_array()
        .unwrap()
        .iter()
        .zip(quantities.as_array().unwrap())
    {
        tally.sentence(
            text.as_str().unwrap(),
            quantities,
            &[],
            &format!("run {index}"),
        );
    }
}

/// Checks the overview of a scenario, the verdict of the report, and the ledger.
fn whole(tally: &mut Tally, experiment: &Experiment, results: &Results, run: &Run, index: u64) {
    let what = format!("run {index}");
    for this in run
        .scenarios
        .iter()
        .filter(|one| one.scenario != Scenario::I)
    {
        let facts = Overview::new(run, Some(this.scenario)).unwrap().to_json();
        let totals = facts["sentences"].as_array().unwrap().iter();
        let totals = totals.zip(facts["quantities"].as_array().unwrap());
        let reasons = facts["quiet"].as_array().unwrap().iter();
        let reasons = reasons.map(|group| (&group["why"], &group["quantities"]));
        for (text, quantities) in totals.chain(reasons) {
            tally.sentence(text.as_str().unwrap(), quantities, &[], &what);
            known(tally, run, this, quantities, &what);
        }
        let ledger = this.makespan_difference.as_ref().unwrap();
        let sum: f64 = ledger
            .seconds_by_term
            .iter()
            .map(|(_, seconds)| seconds)
            .sum();
        let base = run.scenario(Scenario::I).unwrap();
        tally.recomputed(
            "ledger_sum_s",
            ledger.sum_s,
            this.makespan_s - base.makespan_s,
            &what,
        );
        tally.recomputed("ledger_terms_s", ledger.sum_s, sum, &what);
        let calls = [
            MakespanTerm::CallMessages,
            MakespanTerm::CallWork,
            MakespanTerm::CallWaiting,
        ];
        let own = ledger
            .seconds_by_term
            .iter()
            .filter(|(term, _)| calls.contains(term));
        let own: f64 = own.map(|(_, seconds)| seconds).sum();
        if experiment.resolved_settings["costs"]["call"]["waiting"] != "overlapped" {
            let second: f64 = this.calls.iter().map(|call| call.cost_s).sum();
            tally.recomputed("ledger_calls_s", own, second, &what);
        }
    }
    let report = Report::from_results(experiment, results, Vec::new()).unwrap();
    let verdict = report.verdict();
    let quantities = verdict.to_json();
    tally.sentence(verdict.text(), &quantities, &[], &what);
    known(
        tally,
        run,
        run.scenario(Scenario::Iii).unwrap(),
        &quantities,
        &what,
    );
    let policy = experiment.policy_name().to_owned();
    *tally.policies.entry(policy).or_default() += 1;
}

/// Checks the known quantities of a whole run.
fn known(tally: &mut Tally, run: &Run, this: &ScenarioRecords, quantities: &Value, what: &str) {
    for quantity in quantities.as_array().unwrap() {
        let name = quantity["name"].as_str().unwrap();
        if let Some(second) = second::of_run(run, this, name) {
            tally.recomputed(name, quantity["value"].as_f64().unwrap(), second, what);
        }
    }
}

/// Checks run `index`; returns whether its settings can be run.
fn run(tally: &mut Tally, index: u64) -> bool {
    let scratch = tempfile::tempdir().unwrap();
    let Some(experiment) = drawn::experiment(index, scratch.path()) else {
        return false;
    };
    let Ok(results) = experiment.run(&Progress::default()) else {
        return false;
    };
    let run = Run::from_results(&experiment, &results).unwrap();
    calls(tally, &experiment, &results, &run, index);
    whole(tally, &experiment, &results, &run, index);
    true
}

/// Checks the verdict of a comparison of three policies.
fn comparison(tally: &mut Tally, index: u64) {
    let seeds = ["1", "1..3"][usize::try_from(index % 2).unwrap()];
    let procs = (4 + index % 7).to_string();
    let policies = [
        "never,migbsp,refine",
        "greedy,rotate,never",
        "never,diffusion",
    ];
    let policies = policies[usize::try_from(index % 3).unwrap()];
    let spread =
        ["workload.spread=0.5", "workload.spread=0.1"][usize::try_from(index % 2).unwrap()];
    let arguments = [
        "compare",
        "--platform",
        "ufrgs",
        "--app",
        "synthetic",
        "--procs",
        &procs,
        "--set",
        "workload.supersteps=12",
        "--set",
        spread,
        "--load",
        "walk",
        "--policies",
        policies,
        "--seeds",
        seeds,
        "--json",
    ];
    let output = succeeded(migsim(&arguments));
    let facts: Value = serde_json::from_slice(&output.stdout).unwrap();
    let what = format!("comparison {index}");
    tally.sentence(
        facts["verdict"].as_str().unwrap(),
        &facts["quantities"],
        &[],
        &what,
    );
    let policies = facts["policies"].as_array().unwrap();
    let mean = |policy: &Value| policy["makespan_s"]["mean"].as_f64().unwrap();
    let next = policies.iter().find(|one| one["ties_with_best"] == false);
    for quantity in facts["quantities"].as_array().unwrap() {
        let name = quantity["name"].as_str().unwrap();
        let second = match name {
            "best_makespan_s" => mean(&policies[0]),
            // The mean of differences is the difference of means.
            "behind_best_s" => mean(next.unwrap()) - mean(&policies[0]),
            "behind_best_half_width_s" => next.unwrap()["behind_best_s"]["ci95"].as_f64().unwrap(),
            "gain_percent" => policies[0]["gain_percent"]["mean"].as_f64().unwrap(),
            _ => continue,
        };
        tally.recomputed(name, quantity["value"].as_f64().unwrap(), second, &what);
    }
}

/// Checks `count` drawn runs, and a comparison for every tenth of them.
fn runs(count: u64) -> Tally {
    let mut tally = Tally::default();
    let ran = (0..count).filter(|index| run(&mut tally, *index)).count() as u64;
    assert!(10 * ran >= 9 * count, "{ran} of {count} runs can be run");
    (0..count.div_ceil(10)).for_each(|index| comparison(&mut tally, index));
    tally
}

#[test]
fn every_number_of_the_sentences_of_drawn_runs_is_a_value_of_their_json() {
    let count = draws(40, 300);
    let tally = runs(count);
    let wrong = &tally.wrong;
    let first = wrong.iter().take(20).cloned().collect::<Vec<_>>();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        first.join("\n")
    );
    assert!(
        tally.sentences as u64 > 50 * count && tally.numbers as u64 > 150 * count,
        "{tally:?}"
    );
    assert!(tally.recomputed.len() >= 25, "{:?}", tally.recomputed);
    assert!(tally.effects as u64 > count / 3, "{}", tally.effects);
    assert!(tally.policies.len() >= 15, "{:?}", tally.policies);
}

#[test]
fn names_that_an_older_folder_has_are_read() {
    let older = json!({
        "scenario": "iii", "superstep": 4, "start_s": 0.0, "cost_s": 0.0, "migration_s": 0.0, "applied": true, "policy": "migbsp",
        "candidates": [], "migrations": [], "predicted_gain_s": 0.5, "realised_gain_s": 1.5, "explanation": {},
    });
    let call: RecordedCall = serde_json::from_value(older).unwrap();
    assert_eq!(call.t1_minus_t2_sum_s, Some(0.5));
    assert_eq!(call.gain_on_i_until_next_call_s, Some(1.5));
}
