//! Makes the plan of a sweep: checks and counts it, combines its values, and leaves out duplicates.

use std::collections::BTreeSet;

use serde_json::Value;

use super::change;
use super::config::Sweep;
use super::plan::Plan;
use super::ready::Ready;
use super::run::Common;
use super::settings::{MOST_RUNS, check_count, check_parameters, settings};
use migsim_base::error::{Error, Problem};
use migsim_experiment::{Limits, Shared};

impl Plan {
    /// Makes the plan of `sweep`.
    ///
    /// # Errors
    /// Parameters, seeds or their number are wrong, a key is unknown, a parameter changes nothing, or no setting can be run.
    pub fn new(sweep: &Sweep, limits: Limits, shared: &Shared) -> Result<Self, Error> {
        Self::make(sweep, (limits, shared), None)
    }

    /// Makes the plan of `sweep` for its runs, with which it shares what it reads.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn to_run(sweep: &Sweep, limits: Limits, common: &Common) -> Result<Self, Error> {
        Self::make(sweep, (limits, &common.files), Some(&common.ready))
    }

    fn make(sweep: &Sweep, with: (Limits, &Shared), ready: Option<&Ready>) -> Result<Self, Error> {
        check_parameters(sweep)?;
        check_count(sweep, with.0)?;
        let seeds = seeds(sweep)?;
        let mut notes = Vec::new();
        let settings = settings(sweep, &mut notes)?;
        let plan = Self::of(sweep, settings, seeds, with, ready)?;
        change::check(sweep, &plan, with)?;
        notes.extend(plan.notes.iter().cloned());
        notes.extend(change::note_of_equal(&plan));
        Ok(Self { notes, ..plan })
    }
}

/// The seeds of each setting: those that were asked for, or the one of the experiment.
pub(super) fn seeds(sweep: &Sweep) -> Result<Vec<u64>, Error> {
    let hint = "seeds are whole numbers, each of them once, as in `--seeds 1..20`";
    let wrong = |message: String| Error::from(Problem::new(message).key("seed").hint(hint));
    let given: Vec<Value> = match &sweep.seeds {
        Some(spec) if spec.count() > MOST_RUNS => {
            let message = format!("there are {} seeds, more than {MOST_RUNS}", spec.count());
            return Err(wrong(message));
        }
        Some(spec) => spec.values().collect(),
        None => vec![sweep.layers().get("seed").unwrap_or_else(|| 1.into())],
    };
    let mut seen = BTreeSet::new();
    let one = |value: &Value| {
        let label = super::spec::label(value);
        let seed = value.as_u64().ok_or_else(|| {
            wrong(format!(
                "the seed `{label}` is not a whole number from 0 on"
            ))
        })?;
        if seen.insert(seed) {
            Ok(seed)
        } else {
            Err(wrong(format!("seed {seed} appears twice")))
        }
    };
    given.iter().map(one).collect()
}
