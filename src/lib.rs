//! migsim
pub mod error;
pub mod platform;
pub mod units;
