//! Determines the memory that is available to this process, which is the default of `--memory-limit`.
//!
//! It is the minimum of three amounts: the free memory (`MemAvailable`), the remaining memory of each control group of the
//! process (a container, a batch job), and the address space limit (`ulimit -v`) minus the address space that the process needs
//! in any case. If none of these amounts is known, as on systems other than Linux, runs are refused only if the flag is set.

use std::path::Path;

use super::{args::MemoryArguments, threads::threads_to_start};
use crate::{
    bsp::Scenario,
    memory::{ExperimentPurpose, Limits},
    units::Bytes,
};

/// Returns the limits within which a command must remain: its memory and its number of threads. Without `--memory-limit`, the
/// memory is the memory that is available before the threads start.
pub(super) fn memory_and_thread_limits(
    arguments: &MemoryArguments,
    threads: Option<usize>,
    purpose: ExperimentPurpose,
) -> Limits {
    // Without the flag, a run starts one thread per scenario.
    let most = Scenario::ALL.len();
    let asked_for = threads.filter(|threads| *threads > 0);
    let started = match purpose {
        ExperimentPurpose::Sweep => threads_to_start(threads),
        ExperimentPurpose::Run | ExperimentPurpose::Explanation | ExperimentPurpose::ResultPage => {
            asked_for.unwrap_or(most).min(most)
        }
        ExperimentPurpose::TraceFile | ExperimentPurpose::ReadingSupersteps => 1,
    };
    Limits {
        max_memory: memory_limit(arguments.memory_limit, started),
        thread_count: threads_to_start(threads),
        purpose,
        allows_outside_files: arguments.include_outside,
        allows_starting_programs: arguments.allow_exec,
        omits_terms: false,
    }
}

/// Returns the limit \[B\] that the user set, or else the memory that is available for `threads` threads; `None` if it is unknown.
pub(super) fn memory_limit(wanted: Option<Bytes>, threads: usize) -> Option<f64> {
    wanted.map(Bytes::get).or_else(|| available_memory(threads))
}

/// Computes the memory that is available for the data of all `threads` threads together \[B\]; `None` if the system does not
/// report it.
fn available_memory(threads: usize) -> Option<f64> {
    [
        read_number_after_prefix("/proc/meminfo", "MemAvailable:")
            .map(|kibibytes| kibibytes * 1024.0),
        read_number_after_prefix("/proc/self/limits", "Max address space")
            .map(|limit| (limit - needed_address_space(threads)).max(0.0)),
        remaining_memory_of_control_groups(),
    ]
    .into_iter()
    .flatten()
    .reduce(f64::min)
}

/// Computes the address space that this process needs for any simulation with `threads` threads, before it stores data \[B\]: the
/// address space in use, and the part that the threads reserve.
fn needed_address_space(threads: usize) -> f64 {
    let taken = read_number_after_prefix("/proc/self/status", "VmSize:")
        .map_or(0.0, |kibibytes| kibibytes * 1024.0);
    // A single thread is the main thread. One more thread watches for Ctrl-C and draws the progress.
    let others = if threads > 1 { threads } else { 0 } + 1;
    let spare = if threads > 1 {
        STARTUP_ADDRESS_SPACE
    } else {
        0.0
    };
    taken + others as f64 * THREAD_ADDRESS_SPACE + spare
}

/// Address space that each thread reserves \[B\]: its stack, and its separate heap in glibc.
const THREAD_ADDRESS_SPACE: f64 = 66.0 * 1024.0 * 1024.0;

/// Address space that one of several threads needs for a short time when it starts \[B\]: glibc reserves two heaps and keeps the
/// one whose address is aligned.
const STARTUP_ADDRESS_SPACE: f64 = 64.0 * 1024.0 * 1024.0;

/// Returns the first number after `start` in the first line of a file that begins with `start`; `None` if there is no such line
/// or number.
fn read_number_after_prefix(file: &str, start: &str) -> Option<f64> {
    std::fs::read_to_string(file)
        .ok()?
        .lines()
        .find_map(|line| line.strip_prefix(start))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

/// Computes the smallest remaining memory of all control groups of this process \[B\], from its innermost group up to the root,
/// in both versions of the control group interface. Returns `None` if no group has a limit.
fn remaining_memory_of_control_groups() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let mut all = Vec::new();
    for line in text.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let controllers = fields.next()?;
        let path = fields.next()?;
        let (root, most, used) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max", "memory.current"),
            "memory" => (
                "/sys/fs/cgroup/memory",
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
            ),
            _ => continue,
        };
        let own = Path::new(root).join(path.trim_start_matches('/'));
        let groups = own.ancestors().take_while(|group| group.starts_with(root));
        all.extend(groups.filter_map(|group| remaining_memory_of_control_group(group, most, used)));
    }
    all.into_iter().reduce(f64::min)
}

/// Computes the memory that remains until a control group reaches its limit \[B\]; `None` if the group has no limit. `most` and
/// `used` are the names of the files with the limit and the used memory.
fn remaining_memory_of_control_group(group: &Path, most: &str, used: &str) -> Option<f64> {
    let number = |file: &str| -> Option<f64> {
        std::fs::read_to_string(group.join(file))
            .ok()?
            .trim()
            .parse()
            .ok()
    };
    Some((number(most)? - number(used).unwrap_or(0.0)).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remaining_memory_of_a_group_is_its_limit_less_its_use() {
        let group = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| std::fs::write(group.path().join(file), text).unwrap();
        let left = || remaining_memory_of_control_group(group.path(), "most", "used");
        assert_eq!(left(), None);
        write("most", "max\n");
        assert_eq!(left(), None);
        write("most", "1000\n");
        assert_eq!(left(), Some(1000.0));
        write("used", "300\n");
        assert_eq!(left(), Some(700.0));
        write("used", "3000\n");
        assert_eq!(left(), Some(0.0));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn linux_reports_the_free_memory() {
        assert!(available_memory(1).is_some_and(|bytes| bytes > 1e6));
    }
}
