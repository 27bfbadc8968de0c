//! Ctrl-C (SIGINT) during a command: reports the results that are kept and exits with 130.
//!
//! At any other time, and the second time, the signal ends the process at once, as without this module. If the signal is ignored when the
//! process starts (`nohup`, a script in the background), it stays ignored.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Exit code that a shell reports for a process ended by the signal: 128 + 2.
const EXIT_CODE: i32 = 128 + SIGINT;

/// The signals that ask a command to end: from a terminal, from a batch system, and when a terminal is closed.
#[cfg(unix)]
const ENDS: [i32; 3] = [SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
/// The signals that ask a command to end.
#[cfg(not(unix))]
const ENDS: [i32; 2] = [SIGINT, SIGTERM];

/// The flags that the signal changes.
#[derive(Debug)]
struct Flags {
    /// Whether the signal has arrived.
    is_asked: Arc<AtomicBool>,
    /// Whether no command is watching for the signal.
    is_idle: Arc<AtomicBool>,
}

/// Holds the signal back while it lives; its owner asks whether the signal has arrived.
#[derive(Debug)]
pub(super) struct Watch(&'static Flags);

/// Whether the surrounding program handles the signal.
static IS_LEFT_ALONE: AtomicBool = AtomicBool::new(false);

/// Leaves Ctrl-C from now on to the program that runs commands inside it.
///
/// ```
/// migsim::cli::leave_signals_alone(); // commands that follow install no handlers
/// ```
pub fn leave_signals_alone() {
    IS_LEFT_ALONE.store(true, Ordering::SeqCst);
}

impl Watch {
    /// Begins to watch; none if the signal is ignored, cannot be caught, or is left to the surrounding program.
    pub(super) fn begin() -> Option<Self> {
        static FLAGS: OnceLock<Option<Flags>> = OnceLock::new();
        if IS_LEFT_ALONE.load(Ordering::SeqCst) {
            return None;
        }
        let flags = FLAGS.get_or_init(Flags::install).as_ref()?;
        flags.is_idle.store(false, Ordering::SeqCst);
        Some(Self(flags))
    }

    /// Whether the signal has arrived.
    pub(super) fn is_asked(&self) -> bool {
        self.0.is_asked.load(Ordering::SeqCst)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.is_idle.store(true, Ordering::SeqCst);
    }
}

impl Flags {
    fn install() -> Option<Self> {
        let flags = Self {
            is_asked: Arc::default(),
            is_idle: Arc::new(AtomicBool::new(true)),
        };
        if is_ignored(SIGINT) {
            return None;
        }
        // The order matters: at the second signal, the first flag is already set.
        flag::register_conditional_shutdown(SIGINT, EXIT_CODE, Arc::clone(&flags.is_asked)).ok()?;
        flag::register_conditional_default(SIGINT, Arc::clone(&flags.is_idle)).ok()?;
        flag::register(SIGINT, Arc::clone(&flags.is_asked)).ok()?;
        Some(flags)
    }
}

/// The signals that ask a command to end, held back until the process ends.
#[derive(Debug)]
pub(super) struct Signals {
    /// Number of the last signal; 0 before any signal.
    last: Arc<AtomicUsize>,
    are_caught: bool,
}

impl Signals {
    /// Catches the signals from now on, except ignored ones; catches none if signals are left to the surrounding program.
    pub(super) fn catch() -> Self {
        let last = Arc::new(AtomicUsize::new(0));
        let are_caught = !IS_LEFT_ALONE.load(Ordering::SeqCst);
        for signal in ENDS {
            let number = usize::try_from(signal).unwrap_or_default();
            if are_caught && !is_ignored(signal) {
                // A signal that cannot be caught ends the process as usual.
                let _ = flag::register_usize(signal, Arc::clone(&last), number);
            }
        }
        Self { last, are_caught }
    }

    /// Whether signals are caught, which is so if this process is the command and not another program around it.
    pub(super) fn are_caught(&self) -> bool {
        self.are_caught
    }

    /// Returns the last signal that has arrived, if any.
    pub(super) fn came(&self) -> Option<i32> {
        let number = self.last.load(Ordering::SeqCst);
        i32::try_from(number).ok().filter(|&signal| signal > 0)
    }
}

/// Whether the process that started this one has set the signal to be ignored, if the system reports that.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Prints `farewell` on stderr and ends the process.
pub(super) fn leave(farewell: Option<&str>) -> ! {
    leave_after(SIGINT, farewell)
}

/// Prints `farewell` and ends the process after another signal; the exit code is 128 plus the number of the signal.
#[expect(clippy::exit, reason = "the work that is cut short cannot return")]
pub(super) fn leave_after(signal: i32, farewell: Option<&str>) -> ! {
    if let Some(farewell) = farewell {
        // If stderr is closed, the message is lost.
        let _ = writeln!(std::io::stderr(), "{farewell}");
    }
    std::process::exit(128 + signal)
}
