//! `constant`: a load that never changes. It is part of the platform from before the run.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Load, LoadOptions, MAX_LOAD_AVERAGE, range::ParameterChecks};
use crate::Steps;
use migsim_base::{error::Result, random::Stream};

/// Parameters of a background load of the kind `constant`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ConstantConfig {
    /// Share of the host or link that other users take, from 0 to 1; or with `values=load-average`, the number of cores that other
    /// work keeps busy.
    #[schemars(range(min = 0, max = MAX_LOAD_AVERAGE))]
    pub load: f64,
}

impl Default for ConstantConfig {
    fn default() -> Self {
        Self { load: 0.5 }
    }
}

impl LoadOptions for ConstantConfig {
    fn load(self) -> Result<Arc<dyn Load>> {
        ParameterChecks::default()
            .check_number("load", self.load, &(0.0..=MAX_LOAD_AVERAGE))
            .into_result()?;
        Ok(Arc::new(self))
    }
}

impl Load for ConstantConfig {
    fn steps(&self, _: Stream) -> Box<dyn Steps> {
        Box::new(std::iter::once((0.0, self.load)))
    }

    fn constant_value(&self) -> Option<f64> {
        Some(self.load)
    }

    fn uses_seed(&self) -> bool {
        false
    }
}
