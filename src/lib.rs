//! A deterministic discrete-event simulator of BSP applications on clusters of clusters, in which a rescheduling policy migrates
//! processes at barriers.
//!
//! It takes the place of `SimGrid`'s MSG module in the papers on MigBSP. An application runs in scenario i (application only), in
//! scenario ii (the policy is called and its calls cost time, but no process moves) and in scenario iii (processes also move,
//! which costs time).
//!
//! ```
//! use migsim::prelude::*;
//!
//! let settings = Layers::from_pairs([("workload.app", "lu".into()), ("workload.n", 1000.into()), ("workload.procs", 25.into())]);
//! let results = Experiment::load(&settings, Limits::default())?.run(&Progress::default())?;
//!
//! let moved = results.get(Scenario::Iii).ok_or("not run")?;
//! assert_eq!(moved.outcome.migrations.len(), 5); // p21 to p25 go from Corisco to Aquario after superstep 11
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Map
//!
//! ```text
//! migsim (command) ──> papers ──> study ──> output ──> experiment ──> workloads, policies ──> bsp ──> engine ──> platform ──> base
//! ```
//! Each crate uses only the crates to its right. This crate joins them and contains the command.
//!
//! | module of this crate | crate | content |
//! |---|---|---|
//! | [`units`], [`error`], [`document`], [`random`], [`memory`], [`plugin`] | `base` | quantities with units, errors with their places in files, files, random streams, memory limits, declarations of plug-ins |
//! | [`platform`], [`load`] | `platform` | clusters, hosts, links, routes; background load on hosts and links |
//! | [`engine`] | `engine` | events: activities that share the capacities of hosts and links over time |
//! | [`bsp`] | `bsp` | supersteps, barriers, rescheduling calls, migrations |
//! | [`workload`] | `workloads` | applications: what processes compute and send, superstep by superstep |
//! | [`policy`] | `policies` | MigBSP and its rivals |
//! | [`experiment`], [`Registry`] | `experiment` | reads settings, runs all scenarios, returns results; policies, applications and loads by name |
//! | [`output`], [`figure`] | `output` | run folder, summary, table, explanations, HTML report; charts for articles |
//! | [`sweep`] | `study` | many runs: plans, stores of results that survive the end of the process, tables, figures |
//! | [`paper`] | `papers` | the papers: published and simulated values |
//! | [`cli`] | - | the command; left out without the feature `cli`, which is on by default |
//!
//! # Determinism
//!
//! The same input gives the same bytes, on any number of threads and in any build profile. Runs may be parallel, but a single run
//! is not. No run depends on a clock, on the environment, on addresses or on the order of a hash table; ties are broken by
//! sequence numbers. The hash of all event times of a run is in its manifest.
#![forbid(unsafe_code)]

/// Makes the crate available to itself under its public name, so that examples written for users of the library can be included
/// unchanged.
extern crate self as migsim;

#[cfg(feature = "cli")]
pub mod cli;
pub mod prelude;

#[cfg(feature = "cli")]
use migsim_base::words;
pub use migsim_base::{document, error, memory, plugin, random, units};
pub use migsim_bsp as bsp;
pub use migsim_engine as engine;
pub use migsim_experiment as experiment;
pub use migsim_experiment::Registry;
pub use migsim_output as output;
pub use migsim_output::figure;
pub use migsim_papers as paper;
pub use migsim_platform as platform;
pub use migsim_platform::load;
pub use migsim_policies as policy;
pub use migsim_study as sweep;
pub use migsim_workloads as workload;

/// Carrier of the examples in the book (the manual): the text of the book is the documentation of this type, so that its examples
/// are compiled and run together with the tests.
#[cfg(all(doctest, feature = "cli"))]
#[doc = include_str!("../docs/guide/policy.md")]
#[derive(Debug)]
pub struct Book;
