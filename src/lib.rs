//! migsim
pub mod bsp;
pub mod cli;
pub mod document;
pub mod engine;
pub mod error;
pub mod experiment;
pub mod output;
pub mod platform;
pub mod policy;
pub mod random;
pub mod units;
pub mod workload;
