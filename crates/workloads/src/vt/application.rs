//! The application `vt`, whose work and messages were read from the load-balancing data of all ranks.

use crate::{
    VtLabels, Workload,
    recorded::{StoredSupersteps, recorded_methods},
};
use migsim_base::units::{Bytes, ProcessId};

/// The application `vt`, which is read from the data of the runtime DARMA/vt: see the [module](super).
///
/// ```
/// use migsim_workloads::{Workload, vt::{RankFile, Vt, VtConfig}};
/// let text = r#"{"type": "LBDatafile", "phases": [{"id": 0, "tasks": [
///     {"entity": {"id": 7, "home": 0, "type": "object", "migratable": true}, "node": 0, "resource": "cpu", "time": 0.5}]}]}"#;
/// let file = RankFile { rank: 0, source: "data.0.json".to_owned(), bytes: text.into() };
/// let (vt, _note) = Vt::from_files(&[file], &VtConfig::new("data"))?;
/// assert_eq!((vt.processes(), vt.supersteps()), (1, 1));
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Vt {
    pub(super) steps: StoredSupersteps,
    pub(super) initial_ranks: Vec<usize>,
    /// For each process, whether policies may migrate it.
    pub(super) is_movable: Vec<bool>,
    /// Memory of each process; `None` if it is not known.
    pub(super) memory: Vec<Option<Bytes>>,
    pub(super) task_labels: VtLabels,
}

impl Workload for Vt {
    recorded_methods!();

    fn initial_rank(&self, process: ProcessId) -> Option<usize> {
        Some(self.initial_ranks[process.index()])
    }

    fn is_movable(&self, process: ProcessId) -> bool {
        self.is_movable[process.index()]
    }

    fn labels(&self) -> Option<&VtLabels> {
        Some(&self.task_labels)
    }
}
