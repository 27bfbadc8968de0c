//! A load whose values are a multiple of those of another load.

use std::sync::Arc;

use super::{Load, Values};
use crate::Steps;
use migsim_base::{random::Stream, units::Seconds};

#[derive(Debug)]
pub(super) struct ScaledLoad {
    pub load: Arc<dyn Load>,
    pub factor: f64,
}

impl Load for ScaledLoad {
    fn steps(&self, random: Stream) -> Box<dyn Steps> {
        let factor = self.factor;
        let steps = self.load.steps(random);
        Box::new(steps.map(move |(date, share)| (date, share * factor)))
    }

    fn loads_by_name(&self) -> Vec<(&str, Arc<dyn Load>)> {
        let factor = self.factor;
        let scaled = |load| -> Arc<dyn Load> { Arc::new(Self { load, factor }) };
        self.load
            .loads_by_name()
            .into_iter()
            .map(|(name, load)| (name, scaled(load)))
            .collect()
    }

    fn constant_value(&self) -> Option<f64> {
        self.load.constant_value().map(|value| value * self.factor)
    }

    fn values(&self) -> Option<Values> {
        self.load.values()
    }

    fn first_positive_time(&self) -> Option<Seconds> {
        self.load.first_positive_time()
    }

    fn file_and_sha256(&self) -> Option<(&str, &str)> {
        self.load.file_and_sha256()
    }

    fn notes(&self, is_reserved: bool) -> Vec<(usize, &'static str)> {
        self.load.notes(is_reserved)
    }

    fn uses_seed(&self) -> bool {
        self.load.uses_seed()
    }
}
