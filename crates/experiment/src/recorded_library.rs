//! Chooses the message-passing library for a run of a recorded trace, if the settings name no library. The first candidate of the
//! table whose condition is true is chosen:
//!
//! | candidate | chosen if |
//! |---|---|
//! | the file `app.library.json`, then `library.json`, in the folder of the trace `app.trace` | the file exists |
//! | the library that `migsim calibrate --default` has written ([`default_library_path`]) | its file exists, and it describes the MPI library with which the trace was recorded |
//! | the built-in library with the name of the MPI library with which the trace was recorded | there is such a library |
//!
//! The overhead in a library was measured on one machine. [`recorded_library_note`] states whether the recording comes from a
//! machine of the same kind.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::library::{self, BUILT_IN_LIBRARIES, LoadedLibrary};
use migsim_workloads::trace::RecordingFacts;

/// The facts about a machine that influence the overhead per message: the MPI library, the transport of messages, and how
/// processes wait.
const OVERHEAD_FACTS: [&str; 3] = ["library", "transport", "waiting"];

/// Returns the path of the library file that `migsim calibrate --default` writes: `migsim/library.json` in `$XDG_CONFIG_HOME` or
/// `~/.config`; `None` if neither folder is known.
pub fn default_library_path() -> Option<PathBuf> {
    let given = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    Some(
        given("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| given("HOME").map(|home| Path::new(&home).join(".config")))?
            .join("migsim")
            .join("library.json"),
    )
}

/// Returns the name or the path of the message-passing library for the recorded trace in the file `trace`; `None` if no library
/// fits or the trace states no MPI library.
pub(super) fn choose_library_for_recording(
    recording: &RecordingFacts,
    trace: &str,
) -> Option<String> {
    let own = recording.get("library")?;
    let trace = Path::new(trace);
    let beside = [
        trace.with_extension("library.json"),
        trace.with_file_name("library.json"),
    ];
    let is_of = |file: &Path| {
        let name = file.display().to_string();
        // A library that cannot be read is reported where it is used.
        let found = library::open_library(&name).ok();
        found.is_none_or(|found| {
            found
                .machine_facts
                .get("library")
                .is_none_or(|name| name == own)
        })
    };
    let mut files = beside
        .into_iter()
        .filter(|file| file.is_file())
        .chain(default_library_path().filter(|file| file.is_file() && is_of(file)));
    let built_in = || {
        BUILT_IN_LIBRARIES
            .iter()
            .find(|library| library.name == own)
    };
    files
        .next()
        .map(|file| file.display().to_string())
        .or_else(|| Some(built_in()?.name.to_owned()))
}

/// Returns a note for the user on whether the overhead of the library in use was measured on a machine like that of the
/// recording; `None` if the trace states no MPI library.
pub(super) fn recorded_library_note(
    recording: &RecordingFacts,
    library: Option<&LoadedLibrary>,
) -> Option<String> {
    let fact = |key: &str| recording.get(key);
    let version = fact("version").map_or_else(String::new, |version| format!(" {version}"));
    let recorded = format!(
        "{}{version}{}",
        fact("library")?,
        describe_transport_and_waiting(fact)
    );
    let measure = "to use the costs of your own MPI library, measure them with `migsim calibrate --default` (see `migsim calibrate --help`)";
    let Some(library) = library else {
        return Some(format!(
            "the trace was recorded with {recorded}, whose costs migsim does not know, so that messages are simulated without overhead; {measure}"
        ));
    };
    let name = &library.name;
    let machine = &library.machine_facts;
    let of_machine = |key: &str| machine.get(key).map(String::as_str);
    let start = format!(
        "the trace was recorded with {recorded}; the costs of messages are those of the library model `{name}`"
    );
    let differs = |key: &str| matches!((fact(key), of_machine(key)), (Some(one), Some(other)) if one != other);
    Some(if OVERHEAD_FACTS.iter().any(|key| differs(key)) {
        let measured = describe_machine(machine);
        format!(
            "{start}, whose overhead was measured on another kind of machine ({measured}); {measure}"
        )
    } else if OVERHEAD_FACTS.iter().all(|key| of_machine(key).is_some()) {
        format!("{start}, whose overhead was measured on the same kind of machine")
    } else if machine.is_empty() && library.path_and_sha256.is_none() {
        format!("{start}, whose costs are not measured; {measure}")
    } else {
        format!("{start}, which does not state on what kind of machine its costs were measured")
    })
}

/// Describes in words the machine on which a library was measured.
fn describe_machine(machine: &BTreeMap<String, String>) -> String {
    let fact = |key: &str| machine.get(key).map(String::as_str);
    let library = fact("library").unwrap_or("an unknown library");
    format!("{library}{}", describe_transport_and_waiting(fact))
}

/// Describes in words the transport of messages and how processes wait for messages; `fact` returns these facts by name, or
/// `None` if they are unknown.
fn describe_transport_and_waiting<'t>(fact: impl Fn(&str) -> Option<&'t str>) -> String {
    let over = fact("transport").map_or_else(String::new, |transport| format!(" over {transport}"));
    let waiting =
        fact("waiting").map_or_else(String::new, |way| format!(" where waiting processes {way}"));
    over + &waiting
}
