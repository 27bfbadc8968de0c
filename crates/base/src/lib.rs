//! The base of migsim: types and functions that every other crate needs and that know nothing of simulation.
//!
//! | module | content |
//! |---|---|
//! | [`units`] | quantities as types, with their text forms: [`Seconds`](units::Seconds), [`Bytes`](units::Bytes), ids from 0 |
//! | [`error`] | problems with place, key and hint |
//! | [`document`] | input files whose values know their positions |
//! | [`quantities`] | quantities for people: four digits, in the unit of suitable size |
//! | [`random`] | named streams of one seed |
//! | [`memory`] | an estimate of the memory of a run before it starts |
//! | [`plugin`] | the declarations of entries of the registry: flags, files |
//! | [`words`] | numbers and lists in sentences |
//!
//! ```
//! use migsim_base::units::{Bytes, Seconds};
//!
//! let size: Bytes = "1 MB".parse()?;
//! assert_eq!(size, Bytes::of(1e6));
//! assert_eq!(Seconds::of(0.5).to_string(), "0.5 s");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod document;
pub mod error;
pub mod memory;
pub mod plugin;
pub mod quantities;
pub mod random;
pub mod units;
pub mod words;
