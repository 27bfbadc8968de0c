//! Handles Ctrl-C (SIGINT) during a command: the command prints which results are kept, and the process ends with exit code 130.
//!
//! If no command watches for the signal, or if it arrives a second time, the process ends immediately, as it would without this
//! module. If the signal is ignored when the process starts (`nohup`, a script in the background), it stays ignored.

use std::{
    io::Write as _,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};

/// Exit code of a process that the signal SIGINT ended, in the form that shells report: 128 + 2.
const SIGINT_EXIT_CODE: i32 = 128 + SIGINT;

/// The signals that request the end of a command: from a terminal (SIGINT), from a batch system (SIGTERM), and when a terminal is
/// closed (SIGHUP).
const END_SIGNALS: [i32; 3] = [SIGINT, SIGTERM, signal_hook::consts::SIGHUP];

/// The flags by which the handlers of SIGINT and the running command exchange information.
#[derive(Debug)]
struct SigintFlags {
    has_sigint_arrived: Arc<AtomicBool>,
    /// Whether no command watches for SIGINT, so that the signal ends the process immediately.
    is_sigint_unwatched: Arc<AtomicBool>,
}

/// A guard by which a command watches for SIGINT: while it exists, the first signal does not end the process but is only
/// recorded.
#[derive(Debug)]
pub(super) struct InterruptWatch(&'static SigintFlags);

/// Whether the handling of signals is left to the host program, such as a Python interpreter, that runs commands inside its
/// process. Commands then install no handlers.
static IS_LEFT_TO_HOST: AtomicBool = AtomicBool::new(false);

/// Leaves the handling of Ctrl-C and the display of progress from now on to the program, such as a Python interpreter, that runs commands
/// inside its process.
///
/// ```
/// migsim::cli::leave_signals_alone(); // commands that follow install no handlers and show no progress
/// ```
pub fn leave_signals_alone() {
    IS_LEFT_TO_HOST.store(true, Ordering::SeqCst);
}

/// Returns whether the program that runs commands inside its process handles Ctrl-C and shows their progress.
pub(super) fn is_left_to_host() -> bool {
    IS_LEFT_TO_HOST.load(Ordering::SeqCst)
}

impl InterruptWatch {
    /// Starts to watch for SIGINT. Returns `None` if the signal is ignored, cannot be caught, or is left to the program that runs
    /// the command inside its process.
    pub(super) fn begin() -> Option<Self> {
        static FLAGS: OnceLock<Option<SigintFlags>> = OnceLock::new();
        if is_left_to_host() {
            return None;
        }
        let flags = FLAGS.get_or_init(SigintFlags::install_handlers).as_ref()?;
        flags.is_sigint_unwatched.store(false, Ordering::SeqCst);
        Some(Self(flags))
    }

    /// Returns whether SIGINT has arrived since the process started.
    pub(super) fn has_sigint_arrived(&self) -> bool {
        self.0.has_sigint_arrived.load(Ordering::SeqCst)
    }
}

impl Drop for InterruptWatch {
    fn drop(&mut self) {
        self.0.is_sigint_unwatched.store(true, Ordering::SeqCst);
    }
}

impl SigintFlags {
    /// Installs the handlers of SIGINT. Returns `None` if the signal is ignored or cannot be caught.
    fn install_handlers() -> Option<Self> {
        let flags = Self {
            has_sigint_arrived: Arc::default(),
            is_sigint_unwatched: Arc::new(AtomicBool::new(true)),
        };
        if is_signal_ignored(SIGINT) {
            return None;
        }
        // The order matters: at the second signal, the first flag is already set.
        flag::register_conditional_shutdown(
            SIGINT,
            SIGINT_EXIT_CODE,
            Arc::clone(&flags.has_sigint_arrived),
        )
        .ok()?;
        flag::register_conditional_default(SIGINT, Arc::clone(&flags.is_sigint_unwatched)).ok()?;
        flag::register(SIGINT, Arc::clone(&flags.has_sigint_arrived)).ok()?;
        Some(flags)
    }
}

/// Recorder of the signals that request the end of a command; while this value exists, such a signal does not end the process,
/// and the command itself decides when it ends.
#[derive(Debug)]
pub(super) struct EndSignalRecorder {
    /// Number of the signal that arrived last; 0 if none has arrived.
    last_signal_number: Arc<AtomicUsize>,
    /// Whether this process catches the signals; false if they are left to the program that runs the command inside its process.
    are_signals_caught: bool,
}

impl EndSignalRecorder {
    /// Catches the signals that request the end of a command from now on, except signals that are ignored. Catches none if
    /// signals are left to the program that runs the command inside its process.
    pub(super) fn catch_signals() -> Self {
        let last = Arc::new(AtomicUsize::new(0));
        let are_caught = !is_left_to_host();
        for signal in END_SIGNALS {
            let number = usize::try_from(signal).unwrap_or_default();
            if are_caught && !is_signal_ignored(signal) {
                // A signal that cannot be caught ends the process as usual.
                let _ = flag::register_usize(signal, Arc::clone(&last), number);
            }
        }
        Self {
            last_signal_number: last,
            are_signals_caught: are_caught,
        }
    }

    /// Returns whether this process catches the signals; false if they are left to the program that runs the command inside its
    /// process.
    pub(super) fn are_signals_caught(&self) -> bool {
        self.are_signals_caught
    }

    /// Returns the number of the signal that arrived last; `None` if no signal has arrived.
    pub(super) fn last_signal_number(&self) -> Option<i32> {
        i32::try_from(self.last_signal_number.load(Ordering::SeqCst))
            .ok()
            .filter(|&signal| signal > 0)
    }
}

/// Returns whether this process ignores a signal, for example because its parent process requested this; returns `false` if the
/// system does not report it.
fn is_signal_ignored(signal: i32) -> bool {
    std::fs::read_to_string("/proc/self/status")
        .unwrap_or_default()
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Prints the text `farewell`, if there is one, to standard error and ends the process with the exit code of SIGINT.
pub(super) fn exit_interrupted(farewell: Option<&str>) -> ! {
    exit_after_signal(SIGINT, farewell)
}

/// Prints the text `farewell`, if there is one, to standard error and ends the process with the exit code of a signal: 128 plus
/// its number.
#[expect(clippy::exit, reason = "the work that is cut short cannot return")]
pub(super) fn exit_after_signal(signal: i32, farewell: Option<&str>) -> ! {
    if let Some(farewell) = farewell {
        // If stderr is closed, the message is lost.
        let _ = writeln!(std::io::stderr(), "{farewell}");
    }
    std::process::exit(128 + signal)
}
