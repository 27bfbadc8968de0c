//! The answer to a question about a superstep.

use serde_json::{Map, Value, json};

use super::case;
use super::question::{Answer, Question, scenario_of};
use crate::frame::{Page, list, section};
use crate::read::{Call, Run};
use migsim_base::error::Problem;
use migsim_experiment::Effect;
use migsim_policies::explain::{Scene, Sentence, definitions};

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Story {
    /// The heading of the section.
    heading: String,
    /// Titles and their sentences.
    parts: Vec<(&'static str, Vec<Sentence>)>,
    /// The numbers behind them.
    facts: Map<String, Value>,
}

impl Story {
    /// Answers a question about a run; `effect` is what came of the moves of the call (`Case`), or why that is not known.
    ///
    /// # Errors
    /// There is no such scenario, superstep or process; those that there are are named.
    pub fn new(
        run: &Run,
        question: Question,
        effect: Option<&Result<Effect, String>>,
    ) -> Result<Self, Problem> {
        let this = scenario_of(run, question.scenario)?;
        let supersteps = this.supersteps.len() as u64;
        let calls: Vec<String> = this
            .calls
            .iter()
            .take(24)
            .map(|call| call.superstep.to_string())
            .collect();
        if !(1..=supersteps).contains(&question.superstep) {
            let problem = Problem::new(format!("there is no superstep {}", question.superstep));
            let more = if this.calls.len() > calls.len() {
                ", ..."
            } else {
                ""
            };
            let calls = if calls.is_empty() {
                "no calls".to_owned()
            } else {
                format!("calls after {}{more}", calls.join(", "))
            };
            let hint = format!("known supersteps: 1 to {supersteps}; {calls}");
            return Err(problem.source("--superstep").hint(hint));
        }
        if let Some(process) = question
            .process
            .filter(|process| !(1..=run.processes).contains(process))
        {
            let problem = Problem::new(format!("there is no process {process}"));
            let flag = if question.why_not {
                "--why-not"
            } else {
                "--process"
            };
            return Err(problem
                .source(flag)
                .hint(format!("known processes: 1 to {}", run.processes)));
        }
        let policy = &run.experiment["policy"];
        let name = policy["name"].as_str().unwrap_or("?");
        let scene = Scene {
            policy: name,
            options: &policy[name],
            superstep: question.superstep,
            supersteps,
            process: question.process,
            why_not: question.why_not,
            calls: this.calls.iter().map(Call::record).collect(),
        };
        let answer = Answer {
            run,
            this,
            question,
            scene: &scene,
            effect,
        };
        Ok(answer.tell())
    }

    /// The answer as text.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.heading);
        for (title, sentences) in &self.parts {
            text.extend(["\n", title, "\n"]);
            for sentence in sentences {
                text.extend(["  ", sentence.text(), "\n"]);
            }
        }
        text
    }

    /// The answer as a page.
    pub fn html(&self) -> String {
        let parts = self.parts.iter().zip(1..);
        let sections = parts.map(|((title, sentences), number)| {
            section(&format!("part-{number}"), title, &list(&texts(sentences)))
        });
        Page {
            title: &self.heading,
            body: &sections.collect::<String>(),
            ..Page::default()
        }
        .html()
    }

    /// The titles of its parts with their sentences.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&'static str, Vec<String>)> {
        let parts = self.parts.iter();
        parts.map(|(title, sentences)| (*title, texts(sentences)))
    }

    /// The answer as JSON: the sentences, the quantities in each of them with their definitions, and the record behind them.
    pub fn json(&self) -> Value {
        let by_title = |of: fn(&Sentence) -> Value| -> Value {
            let parts = self.parts.iter();
            let part = |(title, sentences): &(&'static str, Vec<Sentence>)| {
                ((*title).to_owned(), sentences.iter().map(of).collect())
            };
            Value::Object(parts.map(part).collect())
        };
        let all = self.parts.iter().flat_map(|(_, sentences)| sentences);
        let mut fields = self.facts.clone();
        fields.insert("sentences".into(), by_title(|one| one.text().into()));
        fields.insert("quantities".into(), by_title(Sentence::to_json));
        fields.insert("definitions".into(), definitions(all));
        Value::Object(fields)
    }
}

/// The words of some sentences.
fn texts(sentences: &[Sentence]) -> Vec<String> {
    let texts = sentences.iter().map(|one| one.text().to_owned());
    texts.collect()
}

impl Answer<'_> {
    fn tell(self) -> Story {
        let Question {
            superstep, process, ..
        } = self.question;
        let (scene, narrator) = (self.scene, self.run.narrator);
        let policy = scene.policy;
        let who = process.map_or_else(String::new, |process| format!(", process {process}"));
        let mut facts = Map::new();
        let mut put = |key: &str, value: Value| facts.insert(key.to_owned(), value);
        put("scenario", self.this.scenario.name().into());
        put("superstep", superstep.into());
        put("process", process.into());
        put("policy", policy.into());
        put("has_call", scene.call().is_some().into());
        let last = scene.last_call().map(|call| call.superstep);
        put("last_call", last.into());
        let next = scene.next_call().map(|call| call.superstep);
        put("next_call", next.into());
        let mut parts = vec![("When", narrator.trigger(scene))];
        let mut calls = self.this.calls.iter();
        if let Some(call) = calls.find(|call| call.superstep == superstep) {
            parts.push(("Which", narrator.selection(scene, call.record())));
            parts.push(("Where and whether", self.placement(call)));
            parts.push(("What happened then", self.outcome(call)));
            self.put_call(call, &mut facts);
        }
        parts.retain(|(_, sentences)| !sentences.is_empty());
        Story {
            heading: format!(
                "Superstep {superstep}{who}, scenario {}, policy {policy}",
                self.this.scenario.name()
            ),
            parts,
            facts,
        }
    }

    /// The record of the call; of a long list only what is asked for.
    fn put_call(&self, call: &Call, facts: &mut Map<String, Value>) {
        let mut explanation = call.explanation.clone();
        for list in explanation.values_mut().filter_map(Value::as_array_mut) {
            if let Some(process) = self.question.process {
                list.retain(|entry| entry["process"].as_u64().is_none_or(|own| own == process));
            }
        }
        let is_asked = |process: u64| self.scene.is_asked(process);
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
        let effect = self.effect.and_then(|effect| effect.as_ref().ok());
        let predicted = effect.and_then(|effect| effect.predicted.as_ref());
        let predicted = predicted.map(|one| one.without.get() - one.with.get());
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
                "realised_gain_s": effect.map(Effect::gain_s),
                "explanation": explanation,
            }),
        );
        if let Some(effect) = self.effect {
            facts.insert("effect".into(), case::json(effect, self.scene.supersteps));
        }
        facts.extend(self.run.narrator.facts(self.scene, call.record()));
    }
}
