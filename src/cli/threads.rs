//! The threads of a command.

use clap::builder::RangedU64ValueParser;

use crate::error::{Error, Problem};

/// The most threads that may be asked for: more than any machine has cores for, and few enough to be started at once.
const MOST: u64 = 1024;

/// Reads `--threads`; 0 means one per core.
pub(super) fn parser() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(0..=MOST)
}

/// So many threads; one per core if that is not said. A single one is the one that asks, so that nothing is started.
pub(super) fn threads(wanted: Option<usize>) -> Result<rayon::ThreadPool, Error> {
    let mut threads = rayon::ThreadPoolBuilder::new().num_threads(wanted.unwrap_or(0));
    if wanted == Some(1) && rayon::current_thread_index().is_none() {
        threads = threads.use_current_thread();
    }
    let started = threads.build();
    started.map_err(|error| {
        let problem = Problem::new(format!("cannot start threads: {error}"));
        problem.source("--threads").into()
    })
}
