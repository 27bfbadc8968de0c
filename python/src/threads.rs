//! The threads that simulate.
//!
//! They stay registered with Python, since registering a thread takes longer than most calls of a plug-in. A forked process gets its own
//! threads, because the threads of its parent do not exist there.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use pyo3::prelude::*;
use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};

/// The threads of a process, and the id of the process.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Does work on these threads; must be called without Python's lock.
pub(crate) fn on_threads<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match pool() {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Returns the threads of this process; none if they cannot be created.
fn pool() -> Option<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let own = process::id();
    if let Some((process, pool)) = &*pool
        && *process == own
    {
        return Some(Arc::clone(pool));
    }
    // Threads that stayed in another process cannot be ended.
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
