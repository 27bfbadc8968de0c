//! `lu`: the LU decomposition of a matrix on a grid of processes. "The paper" is Righi, Pilla, Carissimi, Navaux and Heiss,
//! "Applying Process Migration on a BSP-Based LU Decomposition Application", section 4.
//!
//! An n × n matrix is distributed cyclically over M × N processes P(s,t), p = M·N: element (r,c) belongs to P(r mod M, c mod N).
//! Process ids are row-major, `s·N + t`. There are 2n+1 supersteps of three types:
//!
//! | superstep | type | computation | messages |
//! |---|---|---|---|
//! | 0 | 1 | none | P(0,0): `a_00` to the M−1 other processes of its column |
//! | 2k+1 | 2(k) | t = k mod N: `rows_k(s)` divisions | t = k mod N: `rows_k(s)` elements to the N−1 other processes of its row; s = k mod M: `cols_k(t)` elements to the M−1 other processes of its column |
//! | 2k+2 | 3(k) | all: `rows_k(s)·cols_k(t)` updates | P(k+1 mod M, k+1 mod N), if k+1 < n: one element to the M−1 other processes of its column |
//!
//! k is the stage of the decomposition, from 0 to n−1. `rows_k(s)` is the number of rows k+1..n−1 that process row s owns, and
//! `cols_k(t)` the number of columns k+1..n−1 that process column t owns ([`BlockSizes`]). The messages of a superstep are
//! ordered by sender; a process sends to its row before its column, each in increasing order of ids. Stage k = n−1 has no work
//! and no messages, since messages without elements are not sent.
//!
//! The paper states neither the size of an element nor the cost of an operation nor the memory of a process. The defaults of
//! [`LuConfig`] are those of doubles and simple code; values fitted to the times of the paper are in its experiment
//! (`workloads/lu.json`). Not modelled: pivoting (the paper has none) and the values of the matrix.

mod config;
mod grid;
mod supersteps;

pub use config::{BlockSizes, LuConfig, MessagePacking};
pub use supersteps::Lu;
