//! The base of migsim: types and functions that every other crate needs and that are independent of simulation.
//!
//! | module | content |
//! |---|---|
//! | [`units`] | quantities as types, with their text forms: [`Seconds`](units::Seconds), [`Bytes`](units::Bytes); identifiers counted from 0 |
//! | [`error`] | errors with their position, key and hint |
//! | [`document`] | input files in which the position of each value can be found |
//! | [`quantities`] | quantities formatted for people: four digits, in a unit of suitable size |
//! | [`random`] | independent streams of random numbers from one seed |
//! | [`memory`] | an estimate of the memory of a run before it starts |
//! | [`plugin`] | declarations of policies, applications and loads: flags, files, options |
//! | [`setting`] | one setting of an experiment: key, value and origin |
//! | [`values`] | the values of a flag or parameter: `2,4,8`, `1..5`, `0.1..0.9:0.1` |
//! | [`words`] | numbers, nouns and similar names in messages |
//!
//! ```
//! use migsim_base::units::{Bytes, Seconds};
//!
//! let size: Bytes = "1 MB".parse()?;
//! assert_eq!(size, Bytes::of(1e6));
//! assert_eq!(Seconds::of(0.5).to_string(), "0.5 s");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(not(unix))]
compile_error!("migsim needs a Unix system, such as Linux or macOS; on Windows build it in WSL");

pub mod document;
pub mod error;
pub mod memory;
pub mod plugin;
pub mod quantities;
pub mod random;
pub mod setting;
pub mod units;
pub mod values;
pub mod words;
