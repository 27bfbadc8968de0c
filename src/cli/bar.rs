//! The progress bar on stderr: on a terminal only, and only for work that takes a while.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::experiment::Progress;

/// What a bar shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bar {
    /// The supersteps of all runs, if known.
    pub(super) total: Option<u64>,
    /// Whether nothing is to be shown.
    pub(super) is_quiet: bool,
}

const TICK: Duration = Duration::from_millis(100);
/// Work that ends within this many ticks shows nothing.
const SILENT_TICKS: u64 = 5;

/// Shows `progress` while `work` runs.
pub(super) fn with_bar<R: Send>(
    bar: &Bar,
    progress: &Progress,
    work: impl FnOnce() -> R + Send,
) -> R {
    if bar.is_quiet || !std::io::stderr().is_terminal() {
        return work();
    }
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let painter = scope.spawn(|| paint(bar, progress, &is_done));
        let result = work();
        is_done.store(true, Ordering::Relaxed);
        painter.thread().unpark();
        result
    })
}

fn paint(bar: &Bar, progress: &Progress, is_done: &AtomicBool) {
    let mut shown: Option<ProgressBar> = None;
    for tick in 0_u64.. {
        if is_done.load(Ordering::Relaxed) {
            break;
        }
        std::thread::park_timeout(TICK);
        if tick == SILENT_TICKS {
            shown = Some(new_bar(bar.total));
        }
        if let Some(shown) = &shown {
            shown.set_position(progress.supersteps());
            shown.tick();
        }
    }
    if let Some(shown) = shown {
        shown.finish_and_clear();
    }
}

fn new_bar(total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (
            ProgressBar::new(total),
            "{bar:40} {percent}% of {len} supersteps, {per_sec}, {eta} left",
        ),
        None => (
            ProgressBar::new_spinner(),
            "{spinner} {pos} supersteps, {per_sec}, {elapsed} so far",
        ),
    };
    bar.with_style(ProgressStyle::with_template(template).expect("the template is correct"))
}
