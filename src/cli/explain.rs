//! `migsim explain`: a run folder, or an experiment that is run first, and a question about it.

use std::io::Write;

use super::args::{ExplainArguments, ScenarioChoice};
use super::machine::limits;
use super::run::{given, layers, pairs};
use super::{print, print_json};
use crate::bsp::Scenario;
use crate::error::{Error, Problem, visible};
use crate::experiment::{Experiment, Progress};
use crate::memory::Purpose;
use crate::output::{Question, Run, Story};

pub(super) fn explain(arguments: &ExplainArguments, out: &mut dyn Write) -> Result<(), Error> {
    let scenario = match ScenarioChoice::scenarios(&arguments.settings.scenario)[..] {
        [one] => Some(one),
        _ => None,
    };
    let question = Question {
        superstep: arguments.superstep,
        process: arguments.process.or(arguments.why_not),
        why_not: arguments.why_not.is_some(),
        scenario,
    };
    let story = Story::new(&run(arguments)?, question)?;
    if arguments.json {
        print_json(out, &story.json())
    } else {
        print(out, &visible(&story.text()))
    }
}

/// The run: read, if a folder is named, else done now, with scenario i to compare.
fn run(arguments: &ExplainArguments) -> Result<Run, Error> {
    let settings = &arguments.settings;
    if let Some(folder) = settings.experiment.as_deref().filter(|path| path.is_dir()) {
        let set = given(settings).into_iter().map(|one| one.source());
        let set = set.chain(pairs(settings)?.into_iter().map(|flag| flag.flag));
        // The scenario is a part of the question.
        if let Some(flag) = set.into_iter().find(|flag| !flag.starts_with("--scenario")) {
            let problem = Problem::new("a run that is done cannot be set otherwise").source(flag);
            let hint = "leave the flag out, or name an experiment instead of a run folder";
            return Err(problem.hint(hint).into());
        }
        return Run::read(folder);
    }
    if ScenarioChoice::scenarios(&settings.scenario) == [Scenario::I] {
        let problem = Problem::new("in scenario i no policy decides: there is nothing to explain");
        let hint = "known scenarios with calls: ii, iii";
        return Err(problem.source("--scenario i").hint(hint).into());
    }
    let mut layers = layers(settings)?;
    layers.push_flags(vec![crate::experiment::Flag {
        key: "scenarios".into(),
        flag: "--scenario all".into(),
        value: serde_json::json!(["i", "ii", "iii"]),
    }]);
    let experiment = Experiment::load(
        &layers,
        limits(&settings.memory, None, Purpose::Explanation),
    )?;
    Run::of(&experiment, &experiment.run(&Progress::default())?)
}
