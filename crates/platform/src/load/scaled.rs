//! A load whose share is a multiple of the share that another load takes.

use std::sync::Arc;

use super::Load;
use crate::Steps;
use migsim_base::random::Stream;

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

    fn constant_share(&self) -> Option<f64> {
        self.load.constant_share().map(|share| share * self.factor)
    }

    fn uses_seed(&self) -> bool {
        self.load.uses_seed()
    }
}
