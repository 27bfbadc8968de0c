//! Recognises the kind of an input file by its text, so that an error message can name the kind of the given file next to the
//! expected kind.
//!
//! Whether the content of the file is correct is not checked here; the reader of that kind of file does that.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::separator::Separator;
use crate::error::Problem;

/// The kinds of input files that migsim recognises by their content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A platform, as JSON or `SimGrid` XML.
    Platform,
    /// An experiment in JSON: the settings of a simulation run.
    Experiment,
    /// The description of a sweep, or the manifest that a run wrote into its folder of results; commands that take an experiment
    /// accept both files.
    Study,
    /// The input of `migsim decide`: the state of the processes at one barrier.
    Barrier,
    /// A trace: the recorded computations and messages of an application, superstep by superstep.
    Trace,
    /// A table of the amount of computation of each process in each superstep.
    Work,
    /// A table of the messages between the processes of an application.
    Messages,
    /// A table that states for each process the host on which the process starts.
    Mapping,
    /// A table of the cluster to which each host belongs.
    Clusters,
    /// A table of the measured background load of hosts or links over time.
    Load,
    /// A file in a format of another program that migsim cannot read; the string names the format.
    Foreign(&'static str),
}

/// Recognisable file formats of other programs that migsim cannot read. Each entry contains the first characters of a file in the
/// format, and the name of the format.
const FOREIGN: [(&str, &str); 7] = [
    ("Topology: (", "a topology of BRITE"),
    ("num_ranks ", "a GOAL schedule of LogGOPSim"),
    ("%EventDef", "a Paje trace"),
    ("#DIMEMAS", "a trace of Dimemas"),
    ("#Paraver", "a trace of Paraver"),
    ("; Version:", "a workload in the Standard Workload Format"),
    (";  Version:", "a workload in the Standard Workload Format"),
];

impl FileKind {
    /// Returns the kind of an input file with the given text; `None` if the text does not show the kind with certainty.
    pub fn detect_from_text(text: &str) -> Option<Self> {
        let text = text.trim_start_matches('\u{feff}').trim_start();
        if let Some((_, format)) = FOREIGN.iter().find(|(start, _)| text.starts_with(start)) {
            return Some(Self::Foreign(format));
        }
        match text.chars().next()? {
            '{' => detect_json_kind(text),
            '<' => text.contains("<platform").then_some(Self::Platform),
            _ => detect_kind_by_first_line(text),
        }
    }

    /// Returns the kind of an input file with the given bytes; `None` if they are not UTF-8 or do not show the kind with
    /// certainty.
    pub fn detect_from_bytes(bytes: &[u8]) -> Option<Self> {
        std::str::from_utf8(bytes)
            .ok()
            .and_then(Self::detect_from_text)
    }

    /// Creates the error that the file `source` has this kind although another kind was expected. The text `wanted` is the name
    /// of the expected kind with its article (`a platform`).
    pub fn wrong_kind_error(self, wanted: &str, source: &str) -> Problem {
        let name = self.name_with_article();
        let problem = Problem::new(format!("this is {name}, not {wanted}"));
        problem
            .source(source)
            .at_line_column(1, 1)
            .hint(self.usage_hint(source))
    }

    /// Returns the name of this kind of file with its article, for error messages.
    fn name_with_article(self) -> &'static str {
        match self {
            Self::Platform => "a platform",
            Self::Experiment => "an experiment",
            Self::Study => "the description of a sweep or of a run",
            Self::Barrier => "a snapshot of a barrier for `migsim decide`",
            Self::Trace => "a trace of an application",
            Self::Work => "a table of work",
            Self::Messages => "a table of messages",
            Self::Mapping => "a table of processes and their hosts",
            Self::Clusters => "a table of hosts and their clusters",
            Self::Load => "a measured load",
            Self::Foreign(format) => format,
        }
    }

    /// Returns the hint that says with which flag or command of migsim the file `source`, which has this kind, can be used.
    fn usage_hint(self, source: &str) -> String {
        match self {
            Self::Platform => format!("use `--platform {source}`"),
            Self::Experiment | Self::Study => format!("use `migsim run {source}`"),
            Self::Barrier => format!("use `migsim decide {source}`"),
            Self::Trace => format!("use `--app trace --trace {source}`"),
            Self::Work => format!("use `--app table --work {source}`"),
            Self::Messages => format!("use `--app table --messages {source}`"),
            Self::Mapping => format!("use `--mapping {source}`"),
            Self::Clusters => format!("use `--clusters {source}`"),
            Self::Load => format!("use `--load file,file={source}`"),
            Self::Foreign(_) => {
                "migsim does not read this format; see `docs/guide/files.md` for how to convert it"
                    .to_owned()
            }
        }
    }
}

/// The top-level keys by which the kind of a JSON file is recognised.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    schema: Option<Value>,
    #[serde(default)]
    clusters: Option<Value>,
    #[serde(default)]
    workload: Option<IgnoredAny>,
    #[serde(default)]
    extends: Option<IgnoredAny>,
    #[serde(default)]
    speeds: Option<IgnoredAny>,
    #[serde(default)]
    current: Option<IgnoredAny>,
}

/// Returns the kind of a JSON file with the given text; `None` if its top-level keys do not show the kind.
fn detect_json_kind(text: &str) -> Option<FileKind> {
    let head: Head = serde_json::from_str(text).ok()?;
    let schema = head.schema.as_ref().and_then(Value::as_str);
    match schema {
        Some("migsim-platform-1" | "migsim-zones-1") => Some(FileKind::Platform),
        Some("migsim-experiment-1") => Some(FileKind::Experiment),
        Some("migsim-sweep-1" | "migsim-run-1") => Some(FileKind::Study),
        _ if head.workload.is_some() || head.extends.is_some() => Some(FileKind::Experiment),
        _ if head.speeds.is_some() && head.current.is_some() => Some(FileKind::Barrier),
        _ if head.clusters.is_some_and(|clusters| clusters.is_array()) => Some(FileKind::Platform),
        _ => None,
    }
}

/// Returns the kind of a table or a trace, given its text; `None` if the kind is unknown. The kind is recognised by the first
/// line that is neither empty nor a comment.
fn detect_kind_by_first_line(text: &str) -> Option<FileKind> {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with('#'))?;
    if line.starts_with("migsim-trace ") || line.starts_with("bsp 1 ") {
        return Some(FileKind::Trace);
    }
    let separator = Separator::from_heading(line);
    let name = |field: &str| {
        let field = field.trim().trim_matches('"').to_ascii_lowercase();
        let end = field.find(['[', '(', '_', ' ']).unwrap_or(field.len());
        field[..end].to_owned()
    };
    let names: Vec<String> = separator.split_fields(line).map(name).collect();
    let has = |all: &[&str]| all.iter().all(|one| names.iter().any(|name| name == one));
    [
        (&["superstep", "from", "to"][..], FileKind::Messages),
        (&["superstep", "process", "work"], FileKind::Work),
        (&["process", "host"], FileKind::Mapping),
        (&["host", "cluster"], FileKind::Clusters),
        (&["date", "load"], FileKind::Load),
        (&["time", "load"], FileKind::Load),
    ]
    .iter()
    .find(|(columns, _)| has(columns))
    .map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_recognised_by_what_stands_first() {
        for (text, kind) in [
            ("{\"schema\": \"migsim-platform-1\"}", FileKind::Platform),
            ("\u{feff}\n{\"clusters\": []}", FileKind::Platform),
            (
                "<?xml version='1.0'?>\n<platform version='4'/>",
                FileKind::Platform,
            ),
            (
                "{\"clusters\": \"zone\", \"workload\": {}}",
                FileKind::Experiment,
            ),
            ("{\"schema\": \"migsim-run-1\"}", FileKind::Study),
            (
                "{\"speeds\": [1], \"current\": [0], \"clusters\": [0]}",
                FileKind::Barrier,
            ),
            ("# mine\nmigsim-trace 2\n", FileKind::Trace),
            ("bsp 1 2 3\n", FileKind::Trace),
            ("superstep;process;work [Ginstr]\n", FileKind::Work),
            ("superstep,from,to,bytes [kB]\n", FileKind::Messages),
            ("process,host\n", FileKind::Mapping),
            ("\"host\",\"cluster\"\n", FileKind::Clusters),
            ("date_s,load\n0,0.5\n", FileKind::Load),
            ("%EventDef PajeX 1\n", FileKind::Foreign("a Paje trace")),
        ] {
            assert_eq!(FileKind::detect_from_text(text), Some(kind), "{text}");
        }
        for text in ["", "{", "{}", "[1]", "0 0.5\n", "a,b\n", "24\n23\n"] {
            assert_eq!(FileKind::detect_from_text(text), None, "{text}");
        }
    }
}
