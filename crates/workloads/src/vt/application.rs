//! The application of the data of all ranks.

use crate::recorded::{Recorded, recorded_methods};
use crate::{Labels, Workload};
use migsim_base::units::{Bytes, ProcessId};

/// The application: see the [module](super).
///
/// ```
/// use migsim_workloads::{Workload, vt::{RankFile, Vt, VtConfig}};
/// let text = r#"{"type": "LBDatafile", "phases": [{"id": 0, "tasks": [
///     {"entity": {"id": 7, "home": 0, "type": "object", "migratable": true}, "node": 0, "resource": "cpu", "time": 0.5}]}]}"#;
/// let file = RankFile { rank: 0, source: "data.0.json".to_owned(), bytes: text.into() };
/// let (vt, _note) = Vt::of_files(&[file], &VtConfig::new("data"))?;
/// assert_eq!((vt.processes(), vt.supersteps()), (1, 1));
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Vt {
    pub(super) steps: Recorded,
    /// The rank on which each process starts.
    pub(super) ranks: Vec<usize>,
    pub(super) movable: Vec<bool>,
    pub(super) memory: Vec<Option<Bytes>>,
    pub(super) labels: Labels,
}

impl Workload for Vt {
    recorded_methods!();

    fn initial_rank(&self, process: ProcessId) -> Option<usize> {
        Some(self.ranks[process.index()])
    }

    fn is_movable(&self, process: ProcessId) -> bool {
        self.movable[process.index()]
    }

    fn labels(&self) -> Option<&Labels> {
        Some(&self.labels)
    }
}
