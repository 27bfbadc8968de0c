//! Progress on stderr, only of work that takes a while: a bar on a terminal, and for work that asks for them plain lines elsewhere.

use std::io::{IsTerminal, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::interrupt::{self, Watch};

/// What a bar shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bar {
    /// What is counted: `supersteps`.
    pub(super) unit: &'static str,
    /// How many there are, if known.
    pub(super) total: Option<u64>,
    /// Whether plain lines are written where there is no terminal.
    pub(super) has_lines: bool,
    /// Whether nothing is to be shown.
    pub(super) is_quiet: bool,
}

const TICK: Duration = Duration::from_millis(100);
/// Work that ends within this many ticks shows nothing.
const SILENT_TICKS: u64 = 5;

/// After how many ticks a plain line is written.
const LINE_TICKS: u64 = 50;

/// Shows what `count` says while `work` runs. Ctrl-C ends the process, and nothing of the bar is left.
pub(super) fn with_bar<R: Send>(
    bar: &Bar,
    count: &(dyn Fn() -> u64 + Sync),
    work: impl FnOnce() -> R + Send,
) -> R {
    with_bar_and_farewell(bar, count, &|| None, work)
}

/// The same for work of which something is kept: Ctrl-C says what `farewell` does.
pub(super) fn with_bar_and_farewell<R: Send>(
    bar: &Bar,
    count: &(dyn Fn() -> u64 + Sync),
    farewell: &(dyn Fn() -> Option<String> + Sync),
    work: impl FnOnce() -> R + Send,
) -> R {
    let is_terminal = std::io::stderr().is_terminal();
    let is_shown = !bar.is_quiet && (is_terminal || bar.has_lines);
    let watch = Watch::begin();
    if watch.is_none() && !is_shown {
        return work();
    }
    let is_done = AtomicBool::new(false);
    let is_asked = || watch.as_ref().is_some_and(Watch::is_asked);
    let is_over = || is_done.load(Ordering::Relaxed) || is_asked();
    let watched = || {
        if !is_shown {
            while !is_over() {
                std::thread::park_timeout(TICK);
            }
        } else if is_terminal {
            paint(bar, count, &is_over);
        } else {
            write_lines(bar, count, &is_over);
        }
        if !is_done.load(Ordering::Relaxed) {
            interrupt::leave(farewell().as_deref());
        }
    };
    std::thread::scope(|scope| {
        // Where no thread can be started, the work is done without a bar.
        let painter = std::thread::Builder::new().spawn_scoped(scope, watched);
        let result = work();
        is_done.store(true, Ordering::Relaxed);
        if let Ok(painter) = painter {
            painter.thread().unpark();
        }
        result
    })
}

fn paint(bar: &Bar, count: &(dyn Fn() -> u64 + Sync), is_over: &dyn Fn() -> bool) {
    let mut shown: Option<ProgressBar> = None;
    for tick in 0_u64.. {
        if is_over() {
            break;
        }
        std::thread::park_timeout(TICK);
        if tick == SILENT_TICKS {
            shown = Some(new_bar(bar));
        }
        if let Some(shown) = &shown {
            shown.set_position(count());
            shown.tick();
        }
    }
    if let Some(shown) = shown {
        shown.finish_and_clear();
    }
}

/// A line every few seconds; the clock is the number of ticks.
fn write_lines(bar: &Bar, count: &(dyn Fn() -> u64 + Sync), is_over: &dyn Fn() -> bool) {
    let before = count();
    for tick in 1_u64.. {
        std::thread::park_timeout(TICK);
        if is_over() {
            break;
        }
        if tick % LINE_TICKS == 0 {
            let seconds = tick as f64 * TICK.as_secs_f64();
            let line = line(bar, count(), (count() - before) as f64 / seconds);
            // A reader that has gone away is no reason to stop.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }
}

fn line(bar: &Bar, count: u64, rate: f64) -> String {
    let unit = bar.unit;
    match bar.total {
        Some(total) if rate > 0.0 => {
            let left = total.saturating_sub(count) as f64 / rate;
            format!("{count} of {total} {unit}, {rate:.0}/s, {left:.0} s left")
        }
        Some(total) => format!("{count} of {total} {unit}"),
        None => format!("{count} {unit}"),
    }
}

fn new_bar(bar: &Bar) -> ProgressBar {
    let unit = bar.unit;
    let (bar, template) = match bar.total {
        Some(total) => (
            ProgressBar::new(total),
            format!("{{bar:40}} {{percent}}% of {{len}} {unit}, {{per_sec}}, {{eta}} left"),
        ),
        None => (
            ProgressBar::new_spinner(),
            format!("{{spinner}} {{pos}} {unit}, {{per_sec}}, {{elapsed}} so far"),
        ),
    };
    bar.with_style(ProgressStyle::with_template(&template).expect("the template is correct"))
}
