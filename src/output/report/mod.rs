//! The report: one HTML file to look at, which needs no other file and no network.
//!
//! ```text
//! Report (material)   a run folder, or a run that has just been done
//!   head              what was run, scenarios, verdict, ledger           HTML
//!   gantt             rows, bars, levels of detail                       arrays
//!   series            dates of supersteps, imbalance, alpha              arrays
//!   usage             how busy hosts and links are over time             arrays
//!   potentials        PM and its terms                                   arrays
//!   decisions         calls, candidates, reasons                         facts
//!   drawing           the platform                                       SVG
//! page                the template with all of it
//! ```
//! Arrays are packed into one block (`pack.rs`), facts are JSON; the scripts of the page (`*.js` in this folder) draw them and put texts in as
//! texts only. The same run gives the same bytes. uPlot (`vendor/`, MIT) draws the line charts.

mod decisions;
mod drawing;
mod gantt;
mod head;
mod material;
mod pack;
mod page;
mod potentials;
mod series;
mod usage;

pub use material::Report;
