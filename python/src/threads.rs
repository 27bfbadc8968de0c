//! The threads that simulate.
//!
//! They stay known to Python: to make a thread known takes longer than most questions to a plug-in. A process that was forked gets threads of
//! its own, since those of its parent are not there.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use pyo3::prelude::*;
use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};

/// The threads of a process, and its number.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Does work on these threads; to be called without Python's lock.
pub(crate) fn on_threads<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match pool() {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// The threads of this process; none where there can be none.
fn pool() -> Option<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let own = process::id();
    if let Some((process, pool)) = &*pool
        && *process == own
    {
        return Some(Arc::clone(pool));
    }
    // Nobody can end threads that stayed in another process.
    std::mem::forget(pool.take());
    let known = |thread: ThreadBuilder| {
        let known = || Python::attach(|py| py.detach(|| thread.run()));
        Builder::new().spawn(known).map(drop)
    };
    let made = ThreadPoolBuilder::new().spawn_handler(known).build();
    let made = Arc::new(made.ok()?);
    *pool = Some((own, Arc::clone(&made)));
    Some(made)
}
