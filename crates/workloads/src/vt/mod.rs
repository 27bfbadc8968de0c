//! `vt`: the load-balancing data of DARMA/vt, which LBAF reads, too: one JSON file per rank, plain or compressed with brotli.
//!
//! | in the data | here |
//! |---|---|
//! | a task, by the `id` (or `seq_id`) of its `entity` | a process; numbered by phase, rank and place in the file in which it comes first |
//! | `migratable: false` | a process that policies leave where it is |
//! | a rank | where its tasks start: the mapping of the experiment places the ranks |
//! | a phase | a superstep, in the order of `id`; numbers that are left out count for nothing |
//! | `identical_to_previous` | the phase before once more |
//! | `time` \[s\] | work: `time · speed`, with the speed of the hosts of the recorded run |
//! | `SendRecv` from task to task | one message of `bytes` |
//! | `task_footprint_bytes`, else `task_serialized_bytes` | the memory of the process, the largest of all phases |
//!
//! What has no place in a BSP application is left out and counted: messages of a task to itself or to tasks that do not exist, broadcasts
//! (unless asked for), other communications, subphases, iterations of a balancer, shared blocks.
//! An `id` that several tasks of a phase have (data made by hand has some) is told apart by rank and place.
//!
//! Source: the schema `LBDatafile` of vt (`scripts/LBDatafile_schema.py`), and what vt's and LBAF's readers do with such files.

mod application;
mod config;
mod files;
mod join;
mod left_out;
mod rank;
mod write;

pub use application::Vt;
pub use config::{Broadcasts, VtConfig};
pub use files::{RankFile, rank_files, rank_names};
pub use write::{Export, Move, write};

#[cfg(test)]
mod tests;
