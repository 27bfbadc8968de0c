//! Shows the progress of long computations on standard error: a bar on a terminal. Without a terminal, some computations print
//! plain lines, and others print a single estimate of their duration.

use std::{
    collections::VecDeque,
    io::{IsTerminal, Write as _},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use super::interrupt::{self, InterruptWatch};
use crate::policy::is_answer_awaited;

/// Settings of a progress display: what it counts, and whether and how it is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgressDisplay {
    /// Plural noun for the items that are counted, such as `supersteps`.
    pub item_noun: &'static str,
    /// Total number of items; `None` if it is unknown.
    pub total_items: Option<u64>,
    /// Whether lines of text about the progress are printed if standard error is not a terminal.
    pub prints_lines_without_terminal: bool,
    /// Whether no progress is shown at all.
    pub is_quiet: bool,
}

const TICK: Duration = Duration::from_millis(100);
/// Time after the start until which no progress is shown, because most computations are shorter.
const SILENT_TIME: Duration = Duration::from_secs(2);
/// Time between two lines of text about the progress.
const LINE_INTERVAL: Duration = Duration::from_secs(5);
/// Time after the start at which a computation that prints no lines of progress prints an estimate of its duration.
const ESTIMATE_TIME: Duration = Duration::from_secs(30);
/// Length of the most recent period over which the rate of progress is measured.
const RATE_WINDOW: Duration = Duration::from_secs(10);

/// Runs `work` and shows its progress; `count` returns the number of items that `work` has finished. Ctrl-C removes the progress
/// bar and ends the process.
pub(super) fn run_with_progress<R>(
    bar: &ProgressDisplay,
    count: &(dyn Fn() -> u64 + Sync),
    work: impl FnOnce() -> R,
) -> R {
    run_with_progress_and_farewell(bar, count, &|| None, work)
}

/// Runs `work`, whose results are kept if it is interrupted, and shows its progress; `count` returns the number of finished
/// items. Ctrl-C prints the text that `farewell` returns and ends the process.
pub(super) fn run_with_progress_and_farewell<R>(
    bar: &ProgressDisplay,
    count: &(dyn Fn() -> u64 + Sync),
    farewell: &(dyn Fn() -> Option<String> + Sync),
    work: impl FnOnce() -> R,
) -> R {
    let is_terminal = std::io::stderr().is_terminal();
    let is_shown = !(bar.is_quiet || interrupt::is_left_to_host())
        && (is_terminal || bar.prints_lines_without_terminal || bar.total_items.is_some());
    let watch = InterruptWatch::begin();
    if watch.is_none() && !is_shown {
        return work();
    }
    let is_done = AtomicBool::new(false);
    let is_asked = || {
        watch
            .as_ref()
            .is_some_and(InterruptWatch::has_sigint_arrived)
    };
    let is_over = || is_done.load(Ordering::Relaxed) || is_asked();
    let watched = || {
        if is_shown {
            show_progress(bar, is_terminal, count, &is_over);
        } else {
            while !is_over() {
                std::thread::park_timeout(TICK);
            }
        }
        if !is_done.load(Ordering::Relaxed) {
            interrupt::exit_interrupted(farewell().as_deref());
        }
    };
    std::thread::scope(|scope| {
        // If no thread can be started, the work is done without a bar.
        let painter = std::thread::Builder::new().spawn_scoped(scope, watched);
        let _end = EndOfWork {
            is_done: &is_done,
            painter: painter.ok().map(|painter| painter.thread().clone()),
        };
        work()
    })
}

/// Ends the thread that shows the progress when it is dropped, also if the work panics: the scope waits for this thread.
struct EndOfWork<'a> {
    is_done: &'a AtomicBool,
    painter: Option<std::thread::Thread>,
}

impl Drop for EndOfWork<'_> {
    fn drop(&mut self) {
        self.is_done.store(true, Ordering::Relaxed);
        if let Some(painter) = &self.painter {
            painter.unpark();
        }
    }
}

/// Shows the progress until `is_over` returns true: as a bar on a terminal, otherwise as lines of text at regular intervals or as a
/// single estimate of the whole duration.
fn show_progress(
    bar: &ProgressDisplay,
    is_terminal: bool,
    count: &(dyn Fn() -> u64 + Sync),
    is_over: &dyn Fn() -> bool,
) {
    let mut drawn: Option<ProgressBar> = None;
    let mut next = if bar.prints_lines_without_terminal {
        LINE_INTERVAL
    } else {
        ESTIMATE_TIME
    };
    poll_progress(count, is_over, |time, count, rate| {
        let progress = || format_progress(bar, time, count, rate);
        if is_terminal {
            if time >= SILENT_TIME {
                let drawn = drawn.get_or_insert_with(|| create_progress_bar(bar));
                drawn.set_position(count);
                drawn.set_message(progress());
                drawn.tick();
            }
        } else if time >= next {
            let line = if bar.prints_lines_without_terminal {
                next += LINE_INTERVAL;
                Some(progress())
            } else {
                let estimate = format_estimate(bar, time, count, rate);
                next = estimate.as_ref().map_or(next, |_| Duration::MAX);
                estimate
            };
            if let Some(line) = line {
                // The work continues if the reader of stderr has gone.
                let _ = writeln!(std::io::stderr(), "{line}");
            }
        }
    });
    if let Some(drawn) = drawn {
        drawn.finish_and_clear();
    }
}

/// Calls `show` at regular times until `is_over` returns true. Its arguments are the time since the start, the number of finished
/// items and the rate of progress \[1/s\].
fn poll_progress(
    count: &(dyn Fn() -> u64 + Sync),
    is_over: &dyn Fn() -> bool,
    mut show: impl FnMut(Duration, u64, f64),
) {
    #[expect(clippy::disallowed_methods, reason = "only the progress is timed")]
    let start = Instant::now();
    let mut samples = ProgressSamples::default();
    while !is_over() {
        let time = start.elapsed();
        let count = count();
        samples.add_sample(time, count);
        // How long an external program takes is unknown: there is no estimate while it is awaited.
        let rate = if is_answer_awaited() {
            0.0
        } else {
            samples.items_per_second()
        };
        show(time, count, rate);
        std::thread::park_timeout(TICK);
    }
}

/// Samples of the number of finished items, each with the time since the start: those in the last [`RATE_WINDOW`] or in the last
/// quarter of the elapsed time, whichever is longer.
///
/// The window grows with the elapsed time because the durations of the runs of one study can differ by a factor of a thousand.
#[derive(Debug, Default)]
struct ProgressSamples(VecDeque<(Duration, u64)>);

impl ProgressSamples {
    fn add_sample(&mut self, time: Duration, count: u64) {
        let window = RATE_WINDOW.max(time / 4);
        while self.0.len() > 1 && time.saturating_sub(self.0[0].0) > window {
            self.0.pop_front();
        }
        self.0.push_back((time, count));
    }

    /// Computes the rate of progress over the window of the samples \[items/s\]; if no item was finished in the window, the rate
    /// since the start.
    fn items_per_second(&self) -> f64 {
        let (Some(first), Some(last)) = (self.0.front(), self.0.back()) else {
            return 0.0;
        };
        let (seconds, count) = if last.1 > first.1 {
            (last.0.saturating_sub(first.0), last.1 - first.1)
        } else {
            *last
        };
        if seconds.is_zero() {
            0.0
        } else {
            count as f64 / seconds.as_secs_f64()
        }
    }
}

/// Formats the progress at the time `time` after the start: the rate, the remaining time, and the whole time at this rate.
fn format_progress(bar: &ProgressDisplay, time: Duration, count: u64, rate: f64) -> String {
    let unit = bar.item_noun;
    let mut line = match bar.total_items {
        Some(total) => format!("{count} of {total} {unit}"),
        None => format!("{count} {unit}"),
    };
    if rate > 0.0 {
        line = format!("{line}, {}", format_rate(rate));
        if let Some(left) = bar.total_items.and_then(|total| total.checked_sub(count)) {
            let left = left as f64 / rate;
            let whole = format_duration(time.as_secs_f64() + left);
            line = format!("{line}, {} left of about {whole}", format_duration(left));
        }
    }
    line
}

/// Formats an estimate of the whole duration at the rate `rate` \[1/s\]. Returns `None` if the number of items is unknown or the
/// rate is 0.
fn format_estimate(bar: &ProgressDisplay, time: Duration, count: u64, rate: f64) -> Option<String> {
    let left = bar.total_items?.checked_sub(count).filter(|_| rate > 0.0)? as f64 / rate;
    let whole = format_duration(time.as_secs_f64() + left);
    let done = format_progress(bar, time, count, 0.0);
    Some(format!(
        "note: this will take about {whole} at this rate: {done} after {}",
        format_duration(time.as_secs_f64())
    ))
}

/// Formats a rate \[1/s\] with few digits and a unit that suits its size, such as `1.5 M/s`, `12 k/s` or `3.0/min`.
fn format_rate(rate: f64) -> String {
    match rate {
        1e7.. => format!("{:.0} M/s", rate / 1e6),
        1e6.. => format!("{:.1} M/s", rate / 1e6),
        1e4.. => format!("{:.0} k/s", rate / 1e3),
        10.0.. => format!("{rate:.0}/s"),
        1.0.. => format!("{rate:.1}/s"),
        _ => format!("{:.1}/min", rate * 60.0),
    }
}

/// Formats a duration \[s\] with few digits in seconds, minutes or hours.
fn format_duration(seconds: f64) -> String {
    let minutes = (seconds / 60.0).floor();
    match seconds {
        36_000.0.. => format!("{:.0} h", seconds / 3600.0),
        5_400.0.. => format!("{:.1} h", seconds / 3600.0),
        600.0.. => format!("{:.0} min", seconds / 60.0),
        60.0.. => format!(
            "{minutes:.0} min {:.0} s",
            (seconds - minutes * 60.0).floor()
        ),
        _ => format!("{:.0} s", seconds.ceil()),
    }
}

fn create_progress_bar(bar: &ProgressDisplay) -> ProgressBar {
    let (bar, template) = match bar.total_items {
        Some(total) => (
            ProgressBar::new(total),
            "{bar:30} {percent:>3} %  {wide_msg}",
        ),
        None => (
            ProgressBar::new_spinner(),
            "{spinner} {elapsed}  {wide_msg}",
        ),
    };
    bar.with_style(ProgressStyle::with_template(template).expect("the template is correct"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(total: Option<u64>) -> ProgressDisplay {
        ProgressDisplay {
            item_noun: "runs",
            total_items: total,
            prints_lines_without_terminal: true,
            is_quiet: false,
        }
    }

    #[test]
    fn a_panic_ends_the_progress() {
        let work = || run_with_progress(&bar(None), &|| 0, || panic!("no more"));
        let ended: Result<(), String> = migsim_base::error::catch_panic(work);
        assert_eq!(ended, Err("no more".to_owned()));
    }

    #[test]
    fn a_line_has_few_digits() {
        let after = Duration::from_secs(5);
        let of = |count, rate| format_progress(&bar(Some(6000)), after, count, rate);
        assert_eq!(of(0, 0.0), "0 of 6000 runs");
        assert_eq!(
            of(360, 400.0),
            "360 of 6000 runs, 400/s, 15 s left of about 20 s"
        );
        let ended = "6000 of 6000 runs, 12 k/s, 0 s left of about 5 s";
        assert_eq!(of(6000, 12_345.6), ended);
        // 5999 / 0.05 = 119 980 s = 33.3 h.
        assert_eq!(
            of(1, 0.05),
            "1 of 6000 runs, 3.0/min, 33 h left of about 33 h"
        );
        assert_eq!(format_progress(&bar(None), after, 7, 2.5), "7 runs, 2.5/s");
        let rates = [9_245_488.532, 768_783.197, 99.5, 10_000_000.0].map(format_rate);
        assert_eq!(rates, ["9.2 M/s", "769 k/s", "100/s", "10 M/s"]);
        let times = [0.2, 59.0, 200.0, 599.9, 3_000.0, 9_000.0].map(format_duration);
        assert_eq!(
            times,
            ["1 s", "59 s", "3 min 20 s", "9 min 59 s", "50 min", "2.5 h"]
        );
    }

    #[test]
    fn a_job_prints_one_estimate_after_its_first_item() {
        let after = Duration::from_secs(30);
        let of = |total, count, rate| format_estimate(&bar(total), after, count, rate);
        // 10 770 s remain, and 30 s have passed.
        assert_eq!(
            of(Some(36_000), 100, 35_900.0 / 10_770.0).unwrap(),
            "note: this will take about 3.0 h at this rate: 100 of 36000 runs after 30 s"
        );
        assert_eq!(of(Some(36_000), 0, 0.0), None);
        assert_eq!(of(None, 100, 1.0), None);
    }

    #[test]
    fn a_rate_is_that_of_the_last_seconds() {
        let mut samples = ProgressSamples::default();
        assert_eq!(samples.items_per_second(), 0.0);
        let seconds = Duration::from_secs;
        // A burst at the start, then 10 per second.
        samples.add_sample(seconds(0), 0);
        assert_eq!(samples.items_per_second(), 0.0);
        samples.add_sample(seconds(1), 1_000_000);
        for time in 2..=20 {
            samples.add_sample(seconds(time), 1_000_000 + 10 * (time - 1));
        }
        assert_eq!(samples.items_per_second(), 10.0);
        assert_eq!(
            format_progress(
                &bar(Some(1_000_390)),
                seconds(20),
                1_000_190,
                samples.items_per_second()
            ),
            "1000190 of 1000390 runs, 10/s, 20 s left of about 40 s"
        );
        // No item was done for longer than the window: the rate is 1 000 190 in 50 s.
        for time in 21..=50 {
            samples.add_sample(seconds(time), 1_000_190);
        }
        assert_eq!(samples.items_per_second(), 1_000_190.0 / 50.0);
        // After 200 s the window is 50 s long: a burst 40 s ago still counts.
        samples.add_sample(seconds(150), 1_000_190);
        samples.add_sample(seconds(160), 1_000_690);
        samples.add_sample(seconds(200), 1_000_690);
        assert_eq!(samples.items_per_second(), 500.0 / 50.0);
    }
}
