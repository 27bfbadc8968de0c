//! Message-passing libraries: named sets of values for the keys `network` and `runtime`, such as the overhead per message of Open
//! MPI, and for the costs of rescheduling on the machine (`costs`, `policy.decision`).
//!
//! `--library NAME|FILE` (the key `library`) selects such a set. Flags and keys that the user sets in addition override the
//! values of the library. The library overrides the values that a trace recorded and the values of the built-in experiments. A
//! library file has the format of [`BuiltInLibrary::text`], which `migsim calibrate` writes.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value};

use migsim_base::{
    document::{self, Document},
    error::{Problem, Result},
    setting::KeySetting,
};

/// A built-in message-passing library, as a named set of values for the network model and the runtime.
#[derive(Clone, Copy, Debug)]
pub struct BuiltInLibrary {
    /// The name of the library, which users write after the option `--library`.
    pub name: &'static str,
    /// One line about the library and about the conditions under which its values were measured.
    pub summary: &'static str,
    /// The source of the values of the library, such as a measurement or a publication.
    pub source: &'static str,
    /// The text of the library file, in JSON.
    pub text: &'static str,
}

/// The built-in message-passing libraries.
pub const BUILT_IN_LIBRARIES: [BuiltInLibrary; 4] = [
    BuiltInLibrary {
        name: "ideal",
        summary: "an ideal MPI library without costs: messages take only the time of the network, and barriers take no time",
        source: "-",
        text: include_str!("libraries/ideal.json"),
    },
    BuiltInLibrary {
        name: "open-mpi",
        summary: "Open MPI 4.1 over TCP with its defaults; the overhead per message was measured on one machine",
        source: "results/reality.md",
        text: include_str!("libraries/open-mpi.json"),
    },
    BuiltInLibrary {
        name: "mpich",
        summary: "MPICH over TCP as documented; not measured, without overhead",
        source: "its control variables",
        text: include_str!("libraries/mpich.json"),
    },
    BuiltInLibrary {
        name: "charm",
        summary: "Charm++ 6.8 without threads; prices of messages, moves, greedy and refine from public runs of 2018",
        source: "libraries/charm.json",
        text: include_str!("libraries/charm.json"),
    },
];

/// The version of the format of library files: the required value of their key `schema`.
pub(crate) const LIBRARY_SCHEMA: &str = "migsim-library-1";

/// A message-passing library that was read from a file, or from the built-in libraries: its settings and their sources.
#[derive(Clone, Debug)]
pub(crate) struct LoadedLibrary {
    /// The name of the library; for a file, the value of its key `name`, or the path if it has no such key.
    pub name: String,
    /// The path of the library file and the SHA-256 of this file; `None` if the library is built in.
    pub path_and_sha256: Option<(String, String)>,
    /// The settings that the library provides.
    pub settings: Vec<KeySetting>,
    /// The source of each value of the library, by the key of the value.
    pub origins: BTreeMap<String, String>,
    /// Facts about the machine on which the overhead of the library was measured, by name: `library`, `transport` and `waiting`,
    /// as in the `recorded` lines of a trace.
    pub machine_facts: BTreeMap<String, String>,
}

impl LoadedLibrary {
    /// Returns the text by which messages to the user name this library as the source of a setting.
    pub(super) fn source_text(&self) -> String {
        format!("the library {}", self.name)
    }
}

/// Returns the JSON value of the library with this name, or of the library file with this path.
///
/// # Errors
/// The library is unknown, or its file cannot be read or has errors.
pub fn read_library_json(name: &str) -> Result<Value> {
    open_library(name)?;
    Ok(library_document(name)?.0.value)
}

/// Reads the built-in library with this name, or the library file with this path.
///
/// # Errors
/// There is no such library, or its format is wrong.
pub(crate) fn open_library(name: &str) -> Result<LoadedLibrary> {
    let (document, file) = library_document(name)?;
    let mut library = parse_library_document(&document)?;
    if library.name.is_empty() {
        name.clone_into(&mut library.name);
    }
    library.path_and_sha256 = file;
    Ok(library)
}

/// Returns the JSON document of the library with this name or path; for a library file, also its path and its SHA-256.
fn library_document(name: &str) -> Result<(Document, Option<(String, String)>)> {
    let (source, text, is_file) = match BUILT_IN_LIBRARIES
        .iter()
        .find(|library| library.name == name)
    {
        Some(library) => (format!("library {name}"), library.text.to_owned(), false),
        None if document::path_of_text(name).is_file() => {
            (name.to_owned(), document::read_text(name)?, true)
        }
        None if is_file_path(name) => return Err(missing_file_problem(name).into()),
        None => {
            return Err(Problem::unknown_name("library", name)
                .key("library")
                .with_known_names(
                    "libraries",
                    BUILT_IN_LIBRARIES.iter().map(|library| library.name),
                )
                .into());
        }
    };
    let sha256 = document::sha256(text.as_bytes());
    let document = Document::parse(source.clone(), text)?;
    Ok((document, is_file.then_some((source, sha256))))
}

fn is_file_path(name: &str) -> bool {
    let suffix = Path::new(name).extension();
    name.contains(['/', '\\']) || suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case("json"))
}

/// Returns the error which reports that the library file `name` does not exist.
fn missing_file_problem(name: &str) -> Problem {
    let kind = if document::path_of_text(name).is_dir() {
        "is a folder, not a file"
    } else {
        "does not exist"
    };
    let place = std::path::absolute(name).unwrap_or_else(|_| name.into());
    Problem::new(format!("the file `{name}` with the costs of an MPI library {kind}"))
        .with_unknown_name("library", name)
        .key("library")
        .hint(format!(
            "name a file that exists, or a built-in library (`migsim list libraries`); migsim searched for `{}`",
            place.display()
        ))
}

/// The keys of a library file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LibraryFile {
    #[serde(rename = "schema")]
    _schema: String,
    #[serde(default)]
    name: String,
    #[serde(default, rename = "description")]
    _description: IgnoredAny,
    #[serde(default, rename = "measured")]
    _measured: IgnoredAny,
    #[serde(default)]
    network: Map<String, Value>,
    #[serde(default)]
    runtime: Map<String, Value>,
    #[serde(default)]
    costs: Map<String, Value>,
    #[serde(default)]
    policy: Map<String, Value>,
    #[serde(default)]
    origins: BTreeMap<String, String>,
    #[serde(default)]
    machine: BTreeMap<String, String>,
}

/// Reads the settings, their sources and the facts about the machine from the document of a library.
fn parse_library_document(document: &Document) -> Result<LoadedLibrary> {
    if document.value["schema"] != LIBRARY_SCHEMA {
        let message = format!(
            "the key `schema` is not `{LIBRARY_SCHEMA}`, so that this is no file of an MPI library"
        );
        return Err(document
            .problem_at("schema", message)
            .hint("name a file that `migsim calibrate --out` has written")
            .into());
    }
    let file: LibraryFile = document.deserialize()?;
    let mut settings = Vec::new();
    let sections = [
        ("network", file.network),
        ("runtime", file.runtime),
        ("costs", file.costs),
        ("policy", file.policy),
    ];
    for (key, keys) in sections {
        push_nested_settings(document, key, &Value::Object(keys), &mut settings);
    }
    Ok(LoadedLibrary {
        name: file.name,
        path_and_sha256: None,
        settings,
        origins: file.origins,
        machine_facts: file.machine,
    })
}

/// Objects of a library file whose keys are settings of their own.
const PARTED_OBJECTS: [&str; 8] = [
    "network",
    "runtime",
    "runtime.barrier",
    "costs",
    "costs.call",
    "costs.move",
    "policy",
    "policy.decision",
];

/// Appends the settings in a JSON object of a library file to `settings`: one setting for each key of [`PARTED_OBJECTS`].
fn push_nested_settings(
    document: &Document,
    key: &str,
    value: &Value,
    settings: &mut Vec<KeySetting>,
) {
    let is_parted = PARTED_OBJECTS.contains(&key);
    match value {
        Value::Object(keys) if is_parted => {
            for (inner, value) in keys {
                push_nested_settings(document, &format!("{key}.{inner}"), value, settings);
            }
        }
        _ => {
            let place = document
                .locate(key)
                .map_or_else(String::new, |(line, column)| format!(":{line}:{column}"));
            settings.push(KeySetting::new(
                key,
                format!("{}{place}", document.source),
                value.clone(),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_that_are_built_in_are_read_under_their_names() {
        for library in BUILT_IN_LIBRARIES {
            let read = open_library(library.name).unwrap();
            assert_eq!(read.name, library.name);
            assert!(read.path_and_sha256.is_none());
            let has = |key: &str| read.settings.iter().any(|setting| setting.key == key);
            for key in ["network.model", "runtime.receives", "runtime.barrier.kind"] {
                assert!(has(key), "{}: {key}", library.name);
            }
        }
        let error = open_library("openmpi").unwrap_err().to_string();
        assert!(error.contains("charm, ideal, mpich, open-mpi"), "{error}");
        for name in ["missing.json", "folder/missing"] {
            let error = open_library(name).unwrap_err().to_string();
            let message =
                format!("the file `{name}` with the costs of an MPI library does not exist");
            assert!(error.contains(&message), "{error}");
            let place = std::path::absolute(name).unwrap();
            assert!(error.contains(place.to_str().unwrap()), "{error}");
        }
        let error = open_library("./").unwrap_err().to_string();
        assert!(error.contains("is a folder"), "{error}");
    }

    #[test]
    fn a_library_that_is_none_is_refused_with_its_place() {
        let refusal = |text: &str| {
            let document = Document::parse("mine.json", text).unwrap();
            parse_library_document(&document).unwrap_err().to_string()
        };
        let told = refusal(r#"{"schema": "migsim-library-1", "prices": {}}"#);
        assert!(
            told.contains("mine.json:1:") && told.contains("unknown key `prices`"),
            "{told}"
        );
        let told = refusal(r#"{"schema": "migsim-library-1", "network": 3}"#);
        assert!(
            told.contains("mine.json:1:")
                && told.contains("network")
                && told.contains("expected an object"),
            "{told}"
        );
        let told = refusal(r#"{"network": 3}"#);
        assert!(
            told.contains("the key `schema` is not `migsim-library-1`"),
            "{told}"
        );
    }
}
