//! The ground of migsim: what every other crate needs and what knows nothing of simulation.
//!
//! | module | what it is |
//! |---|---|
//! | [`units`] | quantities as types, with their text forms: [`Seconds`](units::Seconds), [`Bytes`](units::Bytes), ids from 0 |
//! | [`error`] | problems with place, key and hint |
//! | [`document`] | input files whose values know where they stand |
//! | [`quantities`] | quantities for people: four digits, in the unit of suitable size |
//! | [`random`] | named streams of one seed |
//! | [`memory`] | what a run needs of memory, before it is taken |
//! | [`plugin`] | what entries of the registry declare of themselves: flags, files |
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
