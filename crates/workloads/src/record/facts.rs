//! Describes the circumstances of a recording: its MPI library, the transport of its messages, its host, and the number of
//! processes per host.

use std::collections::BTreeMap;

use super::read::ProcessRecord;
use crate::trace::RecordingFacts;

const KNOWN_MPI_LIBRARIES: [(&str, &str); 5] = [
    ("Open MPI", "open-mpi"),
    ("MPICH", "mpich"),
    ("Intel(R) MPI", "intel-mpi"),
    ("MVAPICH", "mvapich"),
    ("CRAY MPICH", "cray-mpich"),
];

/// Returns the facts about a recording: the library and the host that rank 0 reports, the transport of messages, and the maximum
/// number of processes on one host.
pub(super) fn collect_recording_facts(records: &[ProcessRecord]) -> RecordingFacts {
    let mut recording = RecordingFacts::default();
    let Some(first) = records.first() else {
        return recording;
    };
    let fact = |key: &str| {
        first
            .library_and_host_facts
            .get(key)
            .map_or("", String::as_str)
    };
    let text = fact("version");
    if !text.is_empty() {
        recording.set_fact("library", &mpi_library_name(text));
        recording.set_fact("version", mpi_version_number(text));
    }
    recording.set_fact("collectives", fact("collectives"));
    let threads: u32 = records
        .iter()
        .filter_map(|record| record.library_and_host_facts.get("threads")?.parse().ok())
        .max()
        .unwrap_or(1);
    if threads > 1 {
        recording.set_fact("threads", &threads.to_string());
    }
    recording.set_fact("host", fact("host"));
    let mut hosts: BTreeMap<&str, usize> = BTreeMap::new();
    for record in records {
        let host = record
            .library_and_host_facts
            .get("host")
            .map_or("", String::as_str);
        *hosts.entry(host).or_default() += 1;
    }
    let ranks = hosts.values().copied().max().unwrap_or(1);
    recording.set_fact("ranks", &ranks.to_string());
    if records.len() > 1 && !text.is_empty() {
        recording.set_fact("transport", message_transport_name(first, ranks > 1));
    }
    match (fact("waits"), fact("yield")) {
        ("asleep", _) => recording.set_fact("waiting", "sleep"),
        (_, "0") => recording.set_fact("waiting", "spin"),
        (_, "1") => recording.set_fact("waiting", "yield"),
        _ => {}
    }
    recording
}

fn mpi_library_name(text: &str) -> String {
    let known = KNOWN_MPI_LIBRARIES
        .iter()
        .find(|(start, _)| text.starts_with(start));
    let first = || {
        text.split_whitespace()
            .next()
            .unwrap_or("unknown")
            .to_lowercase()
    };
    known.map_or_else(first, |(_, name)| (*name).to_owned())
}

/// Returns the version number in the version text of an MPI library: the first word of digits separated by points, possibly after
/// a `v`.
fn mpi_version_number(text: &str) -> &str {
    let words = text.split(|letter: char| letter.is_whitespace() || letter == ',');
    let is_version = |word: &&str| {
        word.starts_with(|letter: char| letter.is_ascii_digit()) && word.contains('.')
    };
    let mut words = words.map(|word| word.strip_prefix('v').unwrap_or(word));
    words.find(is_version).unwrap_or("unknown")
}

/// Returns the name of the transport of messages between processes on one host (if `is_shared`), or on different hosts.
///
/// Open MPI states the transport in the control variables `pml` and `btl`: names separated by commas, which are the allowed
/// transports or, after a `^`, the excluded transports. For other libraries the transport between hosts cannot be determined;
/// inside a host they use shared memory.
fn message_transport_name(record: &ProcessRecord, is_shared: bool) -> &'static str {
    let allows = |key: &str, name: &str| {
        let list = record
            .library_and_host_facts
            .get(key)
            .map_or("", String::as_str);
        let names = |list: &str| list.split(',').any(|one| one.trim() == name);
        match list.strip_prefix('^') {
            Some(left_out) => !names(left_out),
            None => list.is_empty() || names(list),
        }
    };
    let is_chosen = |name: &str| {
        record
            .library_and_host_facts
            .get("pml")
            .is_some_and(|list| list == name)
    };
    match () {
        () if is_chosen("ucx") => "ucx",
        () if is_chosen("cm") => "matching-network",
        () if is_shared && (allows("btl", "vader") || allows("btl", "sm")) => "shared-memory",
        () if record.library_and_host_facts.contains_key("btl") && allows("btl", "tcp") => "tcp",
        () => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(facts: &str) -> ProcessRecord {
        let facts: Vec<String> = facts.lines().map(|fact| format!("i {fact}\n")).collect();
        let facts = facts.concat();
        ProcessRecord::parse("0", &format!("migsim-record 1 0 2\n{facts}end\n")).unwrap()
    }

    fn described(facts: &str) -> String {
        collect_recording_facts(&[record(facts), record(facts)]).to_trace_lines()
    }

    #[test]
    fn open_mpi_names_its_transport_and_its_way_to_wait() {
        let text =
            "version Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4\nhost vm\nyield 0\n";
        assert_eq!(
            described(&format!("{text}btl tcp,self")),
            "recorded library open-mpi\nrecorded version 4.1.4\nrecorded transport tcp\nrecorded waiting spin\n\
             recorded host vm\nrecorded ranks 2\n"
        );
        for (btl, expected) in [
            ("btl ^uct,openib,ofi", "shared-memory"),
            ("btl ^vader,sm", "tcp"),
            ("btl vader,self", "shared-memory"),
            ("pml ucx\nbtl ", "ucx"),
            ("btl self", "unknown"),
        ] {
            let found = described(&format!("{text}{btl}"));
            assert!(
                found.contains(&format!("transport {expected}\n")),
                "{btl}: {found}"
            );
        }
    }

    #[test]
    fn a_measured_sleep_counts_more_than_the_settings() {
        let found = described("version Open MPI v4.1.4\nyield 1\nwaits asleep");
        assert!(found.contains("recorded waiting sleep\n"), "{found}");
    }

    #[test]
    fn other_libraries_have_their_names_and_versions() {
        let text = |version: &str| described(&format!("version {version}"));
        let mpich = text("MPICH Version: 4.0.2 MPICH Release date: Thu Apr 7");
        assert!(
            mpich.starts_with("recorded library mpich\nrecorded version 4.0.2\n"),
            "{mpich}"
        );
        let intel = text("Intel(R) MPI Library 2021.10 for Linux* OS");
        assert!(
            intel.starts_with("recorded library intel-mpi\nrecorded version 2021.10\n"),
            "{intel}"
        );
        let other = text("Fantasy messages");
        assert!(
            other.starts_with("recorded library fantasy\nrecorded version unknown\n"),
            "{other}"
        );
    }

    #[test]
    fn old_records_say_nothing_of_their_library() {
        let old = ProcessRecord::parse("0", "migsim-record 1 0 1\nend\n").unwrap();
        assert_eq!(
            collect_recording_facts(&[old]).to_trace_lines(),
            "recorded ranks 1\n"
        );
    }
}
