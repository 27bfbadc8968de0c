//! The application `vt` after the data of all ranks has been read.

use crate::recorded::{Recorded, recorded_methods};
use crate::{Labels, Workload};
use migsim_base::units::{Bytes, ProcessId};

/// The application `vt`: see the [module](super).
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
    /// The work and the messages of all supersteps.
    pub(super) steps: Recorded,
    /// Rank of the recorded run on which each process starts.
    pub(super) ranks: Vec<usize>,
    /// Whether each process may migrate.
    pub(super) movable: Vec<bool>,
    /// Memory of each process; `None` if it is not known.
    pub(super) memory: Vec<Option<Bytes>>,
    /// Names and numbers of the recorded tasks and phases, with which an export describes them.
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
