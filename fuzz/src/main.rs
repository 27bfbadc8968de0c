//! A fuzz target: the one that the program is called after.
#![no_main]

use std::sync::LazyLock;

static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(|| migsim_fuzz::target(env!("CARGO_BIN_NAME")));

libfuzzer_sys::fuzz_target!(|data: &[u8]| TARGET(data));
