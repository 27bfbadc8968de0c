//! Creates the thread pool of a command with the number of threads that the user requested.

use clap::builder::RangedU64ValueParser;

use crate::{
    error::{Problem, Result},
    memory::{Limits, study_plan_memory},
};

/// Maximum number of threads that the user may request: larger than the number of cores of any machine, and small enough that the
/// threads start quickly.
const MAX_THREADS: u64 = 1024;

/// Returns the parser of the value of `--threads`: a whole number from 0 to 1024; 0 means one thread per core.
pub(super) fn thread_count_parser() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(0..=MAX_THREADS)
}

/// Returns the number of threads to start. If `wanted` is absent or 0, this is the value of the environment variable
/// `RAYON_NUM_THREADS`, or one thread per core if the variable is not set.
pub(super) fn threads_to_start(wanted: Option<usize>) -> usize {
    let is_any = |threads: &usize| *threads > 0;
    let of_all_programs = || std::env::var("RAYON_NUM_THREADS").ok()?.parse().ok();
    wanted
        .filter(is_any)
        .or_else(|| of_all_programs().filter(is_any))
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Starts the requested number of threads, or fewer threads if the system does not allow this number. The results of runs do not
/// depend on the number of threads.
///
/// For a single thread, the calling thread is used, and no thread is started.
pub(super) fn start_threads(wanted: Option<usize>) -> Result<rayon::ThreadPool> {
    let mut count = threads_to_start(wanted);
    loop {
        match create_thread_pool(count) {
            Err(_) if count > 1 => count /= 2,
            pool => {
                return pool.map_err(|error| {
                    Problem::new(format!("cannot start threads: {error}"))
                        .source("--threads")
                        .hint("use fewer threads, or raise the limit of processes (`ulimit -u`)")
                        .into()
                });
            }
        }
    }
}

/// Starts the threads of a command that plans runs. If the memory limit does not even allow the plan of one run, only the calling
/// thread is used, which then reports this problem.
pub(super) fn start_planning_threads(
    wanted: Option<usize>,
    limits: Limits,
) -> Result<rayon::ThreadPool> {
    let has_room = limits
        .max_memory
        .is_none_or(|memory| memory >= study_plan_memory(1.0));
    start_threads(if has_room { wanted } else { Some(1) })
}

/// Creates a thread pool with `count` threads.
fn create_thread_pool(count: usize) -> Result<rayon::ThreadPool, rayon::ThreadPoolBuildError> {
    let mut threads = rayon::ThreadPoolBuilder::new().num_threads(count);
    if count == 1 && rayon::current_thread_index().is_none() {
        threads = threads.use_current_thread();
    }
    threads.build()
}
