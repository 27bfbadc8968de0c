//! migsim
pub mod document;
pub mod engine;
pub mod error;
pub mod platform;
pub mod units;
pub mod workload;
