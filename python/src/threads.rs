//! The threads that simulate.
//!
//! They stay registered with Python, since registering a thread takes longer than most calls of a plug-in. A forked process gets its own
//! threads, because the threads of its parent do not exist there.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, Builder, Thread};
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadBuilder, ThreadPool, ThreadPoolBuilder};

use crate::plugin::lock;

/// The threads of a process, and the id of the process.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Maximum time between two checks for Ctrl-C and updates of the progress bar.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Does work on these threads, while this thread handles Ctrl-C and calls `poll`. After an exception of either it calls `stop`, waits for the
/// work to end, and raises the exception.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send,
    poll: impl Fn() -> PyResult<()>,
    stop: impl Fn(),
) -> PyResult<T> {
    let is_done = AtomicBool::new(false);
    let mut stopped_by = None;
    let outcome = thread::scope(|scope| {
        let end = End(&is_done, thread::current());
        let run = scope.spawn(|| {
            let _end = end;
            match pool() {
                Some(pool) => pool.install(work),
                None => work(),
            }
        });
        while !is_done.load(Ordering::Acquire) {
            py.detach(|| thread::park_timeout(POLL_INTERVAL));
            if stopped_by.is_none()
                && let Err(error) = py.check_signals().and_then(|()| poll())
            {
                stop();
                stopped_by = Some(error);
            }
        }
        py.detach(|| run.join())
    });
    if let Some(error) = stopped_by {
        return Err(error);
    }
    outcome.map_err(|_| PyRuntimeError::new_err("the simulation panicked: please report this"))
}

/// Wakes the thread that waits for the end of the work, even if the work fails.
struct End<'a>(&'a AtomicBool, Thread);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
        self.1.unpark();
    }
}

/// Returns the threads of this process; none if they cannot be created.
fn pool() -> Option<Arc<ThreadPool>> {
    let mut pool = lock(&POOL);
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
