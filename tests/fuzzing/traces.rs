//! Traces: what is read is written and read again as the same.

use migsim::units::ProcessId;
use migsim::workload::Workload;
use migsim::workload::trace::Trace;

use super::check_told;

pub(super) fn trace(data: &[u8]) {
    const SOURCE: &str = "fuzzed.trace";
    match Trace::parse_bytes(SOURCE, data) {
        Err(error) => check_told(&error, SOURCE, &String::from_utf8_lossy(data)),
        Ok(trace) => {
            let text = written(&trace);
            let again = Trace::parse_bytes("again.trace", &text).expect("what is written is read");
            assert_eq!(written(&again), text);
        }
    }
}

fn written(trace: &Trace) -> Vec<u8> {
    let processes = (0..trace.processes()).map(ProcessId::from_index);
    let hosts: Vec<String> = processes
        .map(|process| trace.host(process).into())
        .collect();
    let (barrier, receives) = (trace.barrier(), trace.receives());
    let mut out = Vec::new();
    Trace::write(trace, &hosts, barrier, receives, &mut out).expect("what was read can be written");
    out
}
