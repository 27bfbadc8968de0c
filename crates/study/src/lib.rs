//! Sweeps: many runs of one experiment with varied settings, on all cores; each result is stored as soon as its run has ended.
//!
//! ```text
//! flags, sweep file ─> Sweep ─> Plan ─> run ─> Store (runs.jsonl) ─> runs.csv, summary.csv, figures, page
//! ```
//! | part | modules |
//! | --- | --- |
//! | parse: keys and values | [`spec`] (notation of values), `whole` (loads and applications as texts), `keys`, [`config`] (sweep files) |
//! | plan: settings and the identities of their runs | `draw`, `settings`, `setting`, `change`, [`plan`], `planner` |
//! | store: rows of runs | [`run`], `row`, [`store`], [`folder`] |
//! | results: tables, pages, figures | [`stats`], [`goal`], `values`, [`effects`], [`summary`], `printed`, [`table`], [`figures`], `heat`, [`page`] |
//! | comparison and search | [`advise`], [`mod@bench`], [`bottlenecks`], [`compare`], [`compare_runs`], [`compare_page`], [`winners`], [`tune`], [`tune_report`] |
//!
//! A setting is a combination of values of the varied parameters. A run has an identity, a hash of everything that affects its
//! results ([`plan`]). A run with a row in the [`store`] is not repeated, whichever plan requests it. Only the rows and the plan
//! are stored; all tables and figures are generated from them.
//!
//! The central types are [`Sweep`] and [`Plan`]; [`compare`] compares policies with each other, and [`tune`] searches the options
//! of one policy. The crate `experiment` simulates the individual runs.
//!
//! ```
//! assert!(migsim_study::schema().contains("\"title\": \"SweepFile\""));
//! ```

pub mod advise;
pub mod bench;
pub mod bottlenecks;
mod cells;
mod change;
pub mod compare;
mod compare_length;
pub mod compare_page;
pub mod compare_runs;
mod compare_verdict;
pub mod config;
mod draw;
pub mod effects;
pub mod figures;
pub mod folder;
pub mod goal;
mod heat;
pub mod keys;
pub mod page;
pub mod plan;
mod planner;
mod printed;
mod row;
pub mod run;
pub mod separate;
pub mod setting;
mod settings;
mod shared;
pub mod spec;
mod static_standing;
pub mod stats;
pub mod store;
pub mod suite_tune;
pub mod summary;
pub mod table;
pub mod tune;
pub mod tune_report;
mod values;
pub mod whole;
pub mod winners;

pub use config::{Combine, Parameter, Sweep, SweepFile, schema};
pub use plan::Plan;
pub use row::RunRow;
pub use run::Shard;
pub use settings::MAX_RUNS;
pub use shared::SharedRunData;
pub use spec::ValuesSpec;
pub use static_standing::BestStaticStart;
pub use store::Store;
pub use summary::Summary;
