//! Writes the answer to a user's question about a superstep of a run as text, HTML or JSON.

use serde_json::{Map, Value, json};

use super::{
    case,
    question::{AnswerData, Question, find_scenario_to_explain},
};
use crate::{
    frame::{Page, list_html, section_html},
    read::{Run, ScenarioRecords},
    records::scenario_gloss,
    rows::RecordedCall,
};
use migsim_base::error::Problem;
use migsim_experiment::CallEffect;
use migsim_policies::explain::{ExplainContext, RecordedCandidate};

/// The answer to a user's question about the rescheduling call after a superstep: parts with a title, each of several sentences.
#[derive(Clone, Debug)]
pub struct CallExplanation<'a> {
    answer_data: AnswerData<'a>,
    /// The rescheduling call after the superstep; `None` if no call was due.
    call: Option<&'a RecordedCall>,
    titled_parts: Vec<(&'static str, Vec<String>)>,
}

impl<'a> CallExplanation<'a> {
    /// Writes the answer to a question about a run. `effect` is the effect of the moves of the rescheduling call on the makespan,
    /// or the reason why this effect is unknown.
    ///
    /// # Errors
    /// There is no such scenario, superstep or process; the error lists the scenarios, supersteps or processes that exist.
    pub fn new(
        run: &'a Run,
        question: Question,
        effect: Option<&'a Result<CallEffect, String>>,
    ) -> Result<Self, Problem> {
        let this = find_scenario_to_explain(run, question.scenario)?;
        let supersteps = this.supersteps.len() as u64;
        if !(1..=supersteps).contains(&question.superstep) {
            let problem = Problem::new(format!("there is no superstep {}", question.superstep));
            let calls: Vec<String> = this
                .calls
                .iter()
                .take(24)
                .map(|call| call.superstep.to_string())
                .collect();
            let more = if this.calls.len() > calls.len() {
                ", ..."
            } else {
                ""
            };
            let calls = match &calls[..] {
                [] => "the run has no rescheduling calls".to_owned(),
                [only] => format!("a rescheduling call took place after superstep {only}"),
                _ => format!(
                    "rescheduling calls took place after supersteps {}{more}",
                    calls.join(", ")
                ),
            };
            let hint = format!("choose a superstep from 1 to {supersteps}; {calls}");
            return Err(problem.source("--superstep").hint(hint));
        }
        let is_unknown = |process: &u64| !(1..=run.process_count).contains(process);
        if let Some(process) = question.process.filter(is_unknown) {
            let problem = Problem::new(format!("there is no process {process}"));
            let flag = if question.asks_why_not_moved {
                "--why-not"
            } else {
                "--process"
            };
            return Err(problem
                .source(flag)
                .hint(format!("choose a process from 1 to {}", run.process_count)));
        }
        let answer = AnswerData::new(run, this, question, effect);
        let mut calls = this.calls.iter();
        let call = calls.find(|call| call.superstep == question.superstep);
        let mut parts = vec![(
            "When",
            run.narrator.describe_trigger(&answer.policy_context),
        )];
        if let Some(call) = call {
            let asked: Vec<&RecordedCandidate> = call
                .candidates
                .iter()
                .filter(|one| answer.policy_context.includes_process(one.process))
                .collect();
            parts.extend(answer.describe_decision(call, &asked));
            parts.push(("What happened then", answer.describe_outcome(call)));
        }
        parts.retain(|(_, sentences)| !sentences.is_empty());
        Ok(Self {
            answer_data: answer,
            call,
            titled_parts: parts,
        })
    }

    /// Returns whether no rescheduling call took place after the superstep of the question.
    pub fn has_no_call(&self) -> bool {
        self.call.is_none()
    }

    /// Adds a part with the sentences `sentences`, which explain how long the superstep took.
    #[must_use]
    pub fn with_superstep_duration_part(mut self, sentences: Vec<String>) -> Self {
        self.titled_parts.push(("Why it took its time", sentences));
        self
    }

    fn heading(&self) -> String {
        let scene = &self.answer_data.policy_context;
        let scenario = self.answer_data.scenario_records.scenario;
        let who = scene
            .process_in_question
            .map_or_else(String::new, |process| format!(", process {process}"));
        format!(
            "Superstep {}{who}, scenario {} ({}), policy {}",
            scene.superstep_in_question,
            scenario.name(),
            scenario_gloss(scenario),
            scene.policy_name
        )
    }

    /// Formats the answer as text for a terminal.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.heading());
        for (title, sentences) in &self.titled_parts {
            text.extend(["\n", title, "\n"]);
            for sentence in sentences {
                text.extend(["  ", sentence, "\n"]);
            }
        }
        text
    }

    /// Formats the answer as an HTML page.
    pub fn to_html(&self) -> String {
        let sections = self
            .titled_parts
            .iter()
            .zip(1..)
            .map(|((title, sentences), number)| {
                section_html(&format!("part-{number}"), title, &list_html(sentences))
            });
        Page {
            title: &self.heading(),
            body: &sections.collect::<String>(),
            ..Page::default()
        }
        .to_html()
    }

    pub(crate) fn parts(&self) -> impl Iterator<Item = (&'static str, &[String])> {
        self.titled_parts
            .iter()
            .map(|(title, sentences)| (*title, &sentences[..]))
    }

    /// Returns the answer as JSON: the sentences of each part, and the recorded numbers from which they were written.
    pub fn to_json(&self) -> Value {
        let mut fields = self.answer_data.recorded_numbers_json(self.call);
        let parts = self
            .parts()
            .map(|(title, sentences)| (title.to_owned(), json!(sentences)));
        fields.insert("sentences".into(), Value::Object(parts.collect()));
        Value::Object(fields)
    }
}

impl<'a> AnswerData<'a> {
    pub(crate) fn new(
        run: &'a Run,
        this: &'a ScenarioRecords,
        question: Question,
        effect: Option<&'a Result<CallEffect, String>>,
    ) -> Self {
        let policy = &run.experiment_settings["policy"];
        let name = policy["name"].as_str().unwrap_or("?");
        let scene = ExplainContext {
            policy_name: name,
            options: &policy[name],
            trigger_name: policy["trigger"]["name"].as_str(),
            superstep_in_question: question.superstep,
            superstep_count: this.supersteps.len() as u64,
            process_in_question: question.process,
            asks_why_not: question.asks_why_not_moved,
            calls: this.calls.iter().map(RecordedCall::record).collect(),
        };
        Self {
            run,
            scenario_records: this,
            question,
            policy_context: scene,
            effect_of_moves: effect,
        }
    }

    pub(crate) fn describe_decision(
        &self,
        call: &RecordedCall,
        asked: &[&RecordedCandidate],
    ) -> [(&'static str, Vec<String>); 2] {
        let selection = self
            .run
            .narrator
            .describe_selection(&self.policy_context, call.record());
        [
            ("Which", selection),
            ("Where and whether", self.describe_placement(call, asked)),
        ]
    }

    /// Collects the recorded numbers from which the sentences of the answer are written, as JSON. `call` is the rescheduling call
    /// after the superstep, if there was one.
    fn recorded_numbers_json(&self, call: Option<&RecordedCall>) -> Map<String, Value> {
        let scene = &self.policy_context;
        let json = json!({
            "scenario": self.scenario_records.scenario.name(),
            "superstep": scene.superstep_in_question,
            "process": scene.process_in_question,
            "policy": scene.policy_name,
            "has_call": call.is_some(),
            "last_call": scene.previous_call().map(|call| call.superstep),
            "next_call": scene.next_call().map(|call| call.superstep),
        });
        let mut facts = json.as_object().cloned().unwrap_or_default();
        if let Some(call) = call {
            self.add_call_record_json(call, &mut facts);
        }
        facts
    }

    fn add_call_record_json(&self, call: &RecordedCall, facts: &mut Map<String, Value>) {
        let mut explanation = call.explanation.clone();
        for list in explanation.values_mut().filter_map(Value::as_array_mut) {
            if let Some(process) = self.question.process {
                list.retain(|entry| entry["process"].as_u64().is_none_or(|own| own == process));
            }
        }
        let is_asked = |process: u64| self.policy_context.includes_process(process);
        let candidates: Vec<_> = call
            .candidates
            .iter()
            .filter(|one| is_asked(one.process))
            .collect();
        let migrations: Vec<_> = call
            .migrations
            .iter()
            .filter(|one| is_asked(one.process))
            .collect();
        let effect = self.effect_of_moves.and_then(|effect| effect.as_ref().ok());
        let predicted = effect
            .and_then(|effect| effect.predicted_makespans.as_ref())
            .map(|one| one.without_moves.get() - one.with_moves.get());
        facts.insert(
            "call".into(),
            json!({
                "start_s": call.start_s,
                "cost_s": call.cost_s,
                "migration_s": call.migration_s,
                "applied": call.applied,
                "candidates": candidates,
                "migrations": migrations,
                "t1_minus_t2_sum_s": call.t1_minus_t2_sum_s,
                "gain_on_i_until_next_call_s": call.gain_on_i_until_next_call_s,
                "predicted_gain_s": predicted,
                "realised_gain_s": effect.map(CallEffect::gain_s),
                "explanation": explanation,
            }),
        );
        if let Some(effect) = self.effect_of_moves {
            let effect = case::effect_to_json(effect, self.policy_context.superstep_count);
            facts.insert("effect".into(), effect);
        }
        let narrator = self.run.narrator;
        facts.extend(narrator.additional_values(&self.policy_context, call.record()));
    }
}
