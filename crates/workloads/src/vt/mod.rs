//! `vt`: an application that is read from the load-balancing data of the runtime DARMA/vt: one JSON file per rank, plain or
//! compressed with brotli. The analysis tool LBAF reads the same files.
//!
//! | in the data | in migsim |
//! |---|---|
//! | a task, by the `id` (or `seq_id`) of its `entity` | a process; processes are numbered by the phase, rank and place in the file where their tasks occur first |
//! | `migratable: false` | a process that policies do not migrate |
//! | a rank | the host on which the processes of its tasks start, which the mapping of the experiment chooses for each rank |
//! | a phase | a superstep, in the order of `id`; gaps in the numbers have no effect |
//! | `identical_to_previous` | the previous phase again |
//! | `time` \[s\] | work: `time · speed`, with the speed of the hosts of the recorded run |
//! | `SendRecv` from task to task | as many messages as `messages` says, of equal parts of `bytes` |
//! | `task_footprint_bytes`, else `task_serialized_bytes` | the memory of the process in this phase |
//!
//! Data for which BSP applications have no counterpart is ignored, and a note states its amount: messages from a task to itself
//! or to tasks that do not exist, broadcasts (unless requested), other communications, subphases, iterations of a load balancer,
//! and shared blocks of memory. If several tasks of a phase share an `id` (as in some handwritten data), their rank and their
//! place in the file distinguish them.
//!
//! Source: the schema `LBDatafile` of vt (`scripts/LBDatafile_schema.py`), and the readers of vt and LBAF for such files.

mod application;
mod config;
mod files;
mod join;
mod left_out;
mod rank;
mod write;

pub use application::Vt;
pub use config::{Broadcasts, VtConfig};
pub use files::{RankFile, rank_file_paths, read_rank_files};
pub use write::{RankMove, VtExport, to_vt_files};

#[cfg(test)]
mod tests;
