//! migsim
pub mod document;
pub mod error;
pub mod platform;
pub mod units;
pub mod workload;
