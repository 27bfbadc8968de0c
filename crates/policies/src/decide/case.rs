//! The cases of an input file of `migsim decide`: barriers at which strategies place processes, and load histories for which
//! triggers decide when to balance.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    check::CaseCheck,
    history::{GrowingLoad, LoadHistory, MeasuredTimes},
    snapshot::{BarrierSnapshot, UncheckedBarrier},
};
use migsim_base::{
    document::{Document, from_value},
    error::{Error, Problem, Result},
};

/// A named case of an input file of `migsim decide`: a barrier or a load history for which decisions are computed.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of the case; by default its number in the file, counted from 1.
    pub name: String,
    /// The data of the case; its type determines which decisions are computed.
    pub content: CaseContent,
}

/// The data of a case, whose type determines the question that `migsim decide` answers.
#[derive(Clone, Debug)]
pub enum CaseContent {
    /// The state at a barrier, for which strategies decide the placement of processes.
    Barrier(Box<BarrierSnapshot>),
    /// The load of each processor in each superstep, for which triggers decide before which supersteps to balance.
    LoadHistory(LoadHistory),
    /// The maximum and average time of each superstep since the last balancing, from which the meta-balancer plans the next
    /// balancing.
    MeasuredTimes(MeasuredTimes),
    /// A load that grows steadily, for which the supersteps at which balancing minimises the total time are computed.
    GrowingLoad(GrowingLoad),
}

/// For each type of case in a file of `migsim decide`: a key that only this type has, and a hint for error messages that lists
/// all its keys.
const CASE_KINDS: [(&str, &str); 4] = [
    (
        "speeds",
        "write a barrier with the keys `speeds`, `current`, and `work` or `time`",
    ),
    (
        "increments",
        "or a load history with `average`, `residual`, `increments` and `balancing_cost`",
    ),
    (
        "strategy_cost",
        "or samples for a plan with `max`, `avg`, `strategy_cost`, `migration_cost`, `previous_period` and `first_ratio`",
    ),
    (
        "growth_per_iteration",
        "or a growing load with `processors`, `iterations`, `balancing_cost`, `initial_total_work` and `growth_per_iteration`",
    ),
];

/// Parses the cases of a file whose names are in `wanted` (all if `wanted` is empty) one after the other, and calls `visit` with
/// each. Only one case is in memory at a time.
///
/// # Errors
/// The file has no case, a case is of no known type or has values out of range, or a name in `wanted` does not exist; or an error
/// of `visit`.
pub fn for_each_case(
    document: &Document,
    wanted: &[String],
    mut visit: impl FnMut(Case) -> Result,
) -> Result {
    let whole = &document.value;
    let (list, is_list) = match (whole, whole.get("cases")) {
        (Value::Array(list), _) | (_, Some(Value::Array(list))) => (&list[..], true),
        _ => (std::slice::from_ref(whole), false),
    };
    let prefix = if whole.is_array() { "" } else { "cases" };
    if list.is_empty() {
        return Err(Error::input(
            "the list of cases is empty",
            &document.source,
            "write at least one barrier or history into the list",
        ));
    }
    let name_of = |(at, value): (usize, &Value)| {
        value
            .get("name")
            .and_then(Value::as_str)
            .map_or_else(|| (at + 1).to_string(), str::to_owned)
    };
    let names: Vec<String> = list.iter().enumerate().map(name_of).collect();
    if let Some(absent) = wanted.iter().find(|name| !names.contains(name)) {
        let problem = Problem::unknown_name("case", absent).source(&document.source);
        let names = names.iter().map(String::as_str);
        return Err(problem.with_known_names("cases", names).into());
    }
    for (at, (value, name)) in list.iter().zip(names).enumerate() {
        if wanted.is_empty() || wanted.contains(&name) {
            let place = if is_list {
                format!("{prefix}[{at}]")
            } else {
                String::new()
            };
            let content = parse_content(value, &place)
                .map_err(|error| add_lines_and_columns(document, error))?;
            visit(Case { name, content })?;
        }
    }
    Ok(())
}

fn add_lines_and_columns(document: &Document, error: Error) -> Error {
    error.map_problems(|problem| {
        let key = problem.location.key.clone().unwrap_or_default();
        Problem {
            location: document.problem_at(&key, "").location,
            ..problem
        }
    })
}

fn parse_content(value: &Value, place: &str) -> Result<CaseContent> {
    let kind = CASE_KINDS.iter().find(|(key, _)| value.get(key).is_some());
    Ok(match kind.map(|(key, _)| *key) {
        Some("speeds") => CaseContent::Barrier(Box::new(
            parse_case_as(value, place, UncheckedBarrier::check_values)?.into_snapshot(),
        )),
        Some("increments") => {
            CaseContent::LoadHistory(parse_case_as(value, place, LoadHistory::check_values)?)
        }
        Some("strategy_cost") => {
            CaseContent::MeasuredTimes(parse_case_as(value, place, MeasuredTimes::check_values)?)
        }
        Some(_) => {
            CaseContent::GrowingLoad(parse_case_as(value, place, GrowingLoad::check_values)?)
        }
        None => {
            let problem = Problem::new(
                "the case is neither a barrier, a load history, samples for a plan nor a growing load",
            );
            let kinds = CASE_KINDS.map(|(_, kind)| kind);
            return Err(problem.key(place).hint(kinds.join("; ")).into());
        }
    })
}

fn parse_case_as<T: DeserializeOwned>(
    value: &Value,
    place: &str,
    check_values: fn(&T, &mut CaseCheck<'_>),
) -> Result<T> {
    let mut value = value.clone();
    if let Value::Object(object) = &mut value {
        for key in ADDITIONAL_KEYS {
            object.shift_remove(*key);
        }
    }
    let case = from_value(&value, place)?;
    let mut check = CaseCheck::new(place);
    check_values(&case, &mut check);
    check.into_result()?;
    Ok(case)
}

/// Keys that a case of any type may have, but that decisions do not depend on: its name, comments, and the decisions of other
/// programs.
const ADDITIONAL_KEYS: &[&str] = &[
    "name",
    "note",
    "description",
    "equal_works",
    "exact_arithmetic",
    "expected",
];
