//! Traces: a trace that can be read is written and reads back as the same.

use migsim::{
    document::format_typed_value,
    units::ProcessId,
    workload::{
        Workload,
        trace::{Trace, TracePreamble},
    },
};

use super::check_told;

pub(super) fn trace(data: &[u8]) {
    const SOURCE: &str = "fuzzed.trace";
    match Trace::parse_bytes(SOURCE, data) {
        Err(error) => check_told(&error, SOURCE, &String::from_utf8_lossy(data)),
        Ok(trace) => {
            let text = written(&trace);
            let again = Trace::parse_bytes("again.trace", text.as_bytes());
            let again = again.expect("what is written is read");
            assert_eq!(written(&again), text);
        }
    }
}

/// Lists the hosts that a trace names; empty if it names none.
pub(crate) fn hosts_of(trace: &Trace) -> Vec<String> {
    (0..trace.processes())
        .filter_map(|process| trace.initial_host(ProcessId::from_index(process)))
        .map(str::to_owned)
        .collect()
}

/// Lists the settings of the runtime in a trace, in the form in which they are written.
pub(crate) fn runtime_of(trace: &Trace) -> Vec<(String, String)> {
    let key = |key: &str| key.strip_prefix("runtime.").unwrap_or(key).to_owned();
    let settings = trace.settings().iter();
    settings
        .map(|one| (key(&one.key), format_typed_value(&one.value)))
        .collect()
}

/// Writes a trace as text.
pub(crate) fn written(trace: &Trace) -> String {
    let (hosts, runtime) = (hosts_of(trace), runtime_of(trace));
    let preamble = TracePreamble {
        host_names: &hosts,
        runtime_settings: &runtime,
        comments: &[],
    };
    let mut bytes = Vec::new();
    Trace::write(trace, &preamble, &mut bytes).expect("what was read can be written");
    String::from_utf8(bytes).expect("a trace is a text")
}
