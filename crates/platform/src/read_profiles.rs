//! Reads the profiles of a platform in JSON. Profiles of speeds, bandwidths and latencies have the same form.

use super::{Profile, format::StepValue, read::PlatformLoader};
use migsim_base::{
    error::Problem,
    units::{BytesPerSecond, Seconds},
};

/// Quantity that the values of a profile express: fractions of the nominal speed, bandwidths or latencies.
#[derive(Clone, Copy)]
pub(super) enum ProfileQuantity {
    Factors,
    Bandwidths,
    Latencies,
}

impl ProfileQuantity {
    /// Converts the value of a step into a number in the unit of this quantity \[1, B/s or s\].
    fn convert_step_value(self, value: &StepValue) -> Result<f64, String> {
        match (self, value) {
            (Self::Factors, StepValue::Factor(factor)) if *factor >= 0.0 => Ok(*factor),
            (Self::Factors, StepValue::Factor(factor)) => Err(format!(
                "the value {factor} of the step is not a fraction of the speed, a number of at least 0"
            )),
            (Self::Factors, StepValue::Quantity(text)) => Err(format!(
                "the value `{text}` of the step is not a fraction of the speed, such as 0.5"
            )),
            (Self::Bandwidths, StepValue::Quantity(text)) => BytesPerSecond::parse(text)
                .map(BytesPerSecond::get)
                .map_err(|error| error.to_string()),
            (Self::Latencies, StepValue::Quantity(text)) => Seconds::parse(text)
                .map(Seconds::get)
                .map_err(|error| error.to_string()),
            (Self::Bandwidths, StepValue::Factor(number)) => Err(format!(
                "the value `{number}` of the step is not a bandwidth with its unit, such as \"50 Mbps\""
            )),
            (Self::Latencies, StepValue::Factor(number)) => Err(format!(
                "the value `{number}` of the step is not a latency with its unit, such as \"1 ms\""
            )),
        }
    }

    /// Guesses which quantity a profile expresses from one value of the profile, so that a profile to which no host or link
    /// refers can be checked.
    fn guess_from_value(value: &StepValue) -> Self {
        match value {
            StepValue::Factor(_) => Self::Factors,
            StepValue::Quantity(text) if Seconds::parse(text).is_ok() => Self::Latencies,
            StepValue::Quantity(_) => Self::Bandwidths,
        }
    }
}

impl PlatformLoader<'_> {
    pub(super) fn check_profiles(&mut self) {
        let file = self.file;
        for (name, entry) in &file.profiles {
            if let Some((_, value)) = entry.steps.first() {
                self.read_profile(name, ProfileQuantity::guess_from_value(value));
            } else {
                self.report(
                    &format!("profiles.{name}.steps"),
                    format!("profile `{name}` has no steps"),
                    "list at least one step, such as `[\"0 s\", 0.5]`",
                );
            }
        }
    }

    pub(super) fn profile_named(
        &mut self,
        key: &str,
        name: Option<&String>,
        values: ProfileQuantity,
    ) -> Option<Profile> {
        let name = name?;
        if self.file.profiles.contains_key(name) {
            return self.read_profile(name, values);
        }
        self.report_unknown_name(key, "profile", name, |loader| {
            loader.file.profiles.keys().map(String::as_str).collect()
        });
        None
    }

    /// Converts the profile named `name` from the file; records a problem and returns `None` if a value is not valid.
    fn read_profile(&mut self, name: &str, values: ProfileQuantity) -> Option<Profile> {
        let entry = self.file.profiles.get(name)?;
        let mut steps = Vec::with_capacity(entry.steps.len());
        for (index, (date, value)) in entry.steps.iter().enumerate() {
            match values.convert_step_value(value) {
                Ok(value) => steps.push((date.get(), value)),
                Err(message) => {
                    self.report(&format!("profiles.{name}.steps[{index}][1]"), message, "");
                    return None;
                }
            }
        }
        let report =
            |problem: Problem| self.report(&format!("profiles.{name}"), problem.message, "");
        let period = entry.period.map(Seconds::get);
        Profile::new(steps, period).map_err(report).ok()
    }
}
