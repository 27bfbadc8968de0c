//! A fuzz target: the program runs the target after which it is named.
#![no_main]

use std::sync::LazyLock;

static TARGET: LazyLock<fn(&[u8])> = LazyLock::new(|| migsim_fuzz::target(env!("CARGO_BIN_NAME")));

libfuzzer_sys::fuzz_target!(|data: &[u8]| TARGET(data));
