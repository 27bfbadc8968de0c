//! Ctrl-C (SIGINT) during a command: reports the results that are kept and exits with 130.
//!
//! At any other time, and a second time, it ends the process at once, as if this file did not exist. Where the signal is ignored from the
//! start (`nohup`, a script in the background), it stays so.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The exit code that a shell reports of a process ended by the signal: 128 + 2.
const EXIT_CODE: i32 = 128 + SIGINT;

/// The signals that ask a command to end: of a terminal, of a batch system, and of a terminal that is closed.
#[cfg(unix)]
const ENDS: [i32; 3] = [SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
/// The signals that ask a command to end.
#[cfg(not(unix))]
const ENDS: [i32; 2] = [SIGINT, SIGTERM];

/// The flags that the signal changes.
#[derive(Debug)]
struct Flags {
    /// Whether it has come.
    is_asked: Arc<AtomicBool>,
    /// Whether nobody watches.
    is_idle: Arc<AtomicBool>,
}

/// Holds the signal off for as long as it lives: who made it asks whether it has come.
#[derive(Debug)]
pub(super) struct Watch(&'static Flags);

/// Whether the signal is the business of the program around.
static IS_LEFT_ALONE: AtomicBool = AtomicBool::new(false);

/// Leaves Ctrl-C to the program that runs commands inside it, from now on.
///
/// ```
/// migsim::cli::leave_signals_alone(); // commands that follow install no handlers
/// ```
pub fn leave_signals_alone() {
    IS_LEFT_ALONE.store(true, Ordering::SeqCst);
}

impl Watch {
    /// Begins to watch; none where the signal is ignored, cannot be caught or is left alone.
    pub(super) fn begin() -> Option<Self> {
        static FLAGS: OnceLock<Option<Flags>> = OnceLock::new();
        if IS_LEFT_ALONE.load(Ordering::SeqCst) {
            return None;
        }
        let flags = FLAGS.get_or_init(Flags::install).as_ref()?;
        flags.is_idle.store(false, Ordering::SeqCst);
        Some(Self(flags))
    }

    /// Whether the signal has come.
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
        // In this order: the second signal finds that the first has come.
        flag::register_conditional_shutdown(SIGINT, EXIT_CODE, Arc::clone(&flags.is_asked)).ok()?;
        flag::register_conditional_default(SIGINT, Arc::clone(&flags.is_idle)).ok()?;
        flag::register(SIGINT, Arc::clone(&flags.is_asked)).ok()?;
        Some(flags)
    }
}

/// The signals that ask a command to end, held off until the process ends.
#[derive(Debug)]
pub(super) struct Signals {
    /// The number of the last one; 0 before one has come.
    last: Arc<AtomicUsize>,
    are_caught: bool,
}

impl Signals {
    /// Catches them from now on, but for those that are ignored, and none where they are left alone.
    pub(super) fn catch() -> Self {
        let last = Arc::new(AtomicUsize::new(0));
        let are_caught = !IS_LEFT_ALONE.load(Ordering::SeqCst);
        for signal in ENDS {
            let number = usize::try_from(signal).unwrap_or_default();
            if are_caught && !is_ignored(signal) {
                // A signal that cannot be caught ends the process as ever.
                let _ = flag::register_usize(signal, Arc::clone(&last), number);
            }
        }
        Self { last, are_caught }
    }

    /// Whether this process is the command, and no program around it.
    pub(super) fn are_caught(&self) -> bool {
        self.are_caught
    }

    /// The signal that has come, if one has; the last of several.
    pub(super) fn came(&self) -> Option<i32> {
        let number = self.last.load(Ordering::SeqCst);
        i32::try_from(number).ok().filter(|&signal| signal > 0)
    }
}

/// Whether whoever started the process has it ignore the signal, where the system says so.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Says `farewell` on stderr and ends the process.
pub(super) fn leave(farewell: Option<&str>) -> ! {
    leave_after(SIGINT, farewell)
}

/// The same after another signal, which the exit code names: 128 + its number.
#[expect(clippy::exit, reason = "the work that is cut short cannot return")]
pub(super) fn leave_after(signal: i32, farewell: Option<&str>) -> ! {
    if let Some(farewell) = farewell {
        // If stderr is closed, nothing can be done.
        let _ = writeln!(std::io::stderr(), "{farewell}");
    }
    std::process::exit(128 + signal)
}
