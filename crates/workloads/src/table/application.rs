//! The application `table`, whose work and messages were read from CSV tables.

use crate::{
    Workload,
    recorded::{StoredSupersteps, recorded_methods},
};
use migsim_base::units::Bytes;

/// The application `table`, which is read from CSV tables: see the [module](super).
///
/// ```
/// use migsim_workloads::{Workload, table::Table};
/// let work = b"superstep,process,work [Ginstr]\n1,p1,1\n1,p2,2\n";
/// let messages = b"superstep,from,to,bytes\n1,p1,p2,64 kB\n";
/// let config = serde_json::from_value(serde_json::json!({ "work": "work.csv", "messages": "messages.csv" })).unwrap();
/// let table = Table::from_csv_bytes(work, Some(messages), &config)?;
/// assert_eq!((table.processes(), table.supersteps()), (2, 1));
/// # Ok::<(), migsim_base::error::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub(super) steps: StoredSupersteps,
    /// Memory of each process; `None` if it is not known.
    pub(super) memory: Vec<Option<Bytes>>,
}

impl Workload for Table {
    recorded_methods!();
}
