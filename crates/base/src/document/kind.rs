//! The kinds of input files, recognised by their text, so that an error can name a file that is given in place of another.
//!
//! A file of the right kind is not checked here: only its reader can tell whether it is correct.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::separator::Separator;
use crate::error::Problem;

/// A kind of input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A platform, as JSON or `SimGrid` XML.
    Platform,
    /// Settings of a run.
    Experiment,
    /// A sweep or the manifest of a run; both can be given instead of an experiment.
    Study,
    /// A barrier for `migsim decide`.
    Barrier,
    /// A recorded application, superstep by superstep.
    Trace,
    /// A table of the computation of each process and superstep.
    Work,
    /// A table of messages.
    Messages,
    /// The host of each process.
    Mapping,
    /// The cluster of each host.
    Clusters,
    /// A table of load over time.
    Load,
    /// A file of another program, which migsim does not read.
    Foreign(&'static str),
}

/// The beginnings of files of other programs, each with the format.
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
    /// Returns the kind of a text; `None` unless it is certain.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim_start_matches('\u{feff}').trim_start();
        if let Some((_, format)) = FOREIGN.iter().find(|(start, _)| text.starts_with(start)) {
            return Some(Self::Foreign(format));
        }
        match text.chars().next()? {
            '{' => of_json(text),
            '<' => text.contains("<platform").then_some(Self::Platform),
            _ => of_lines(text),
        }
    }

    /// Returns the kind of the bytes of a file.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        std::str::from_utf8(bytes).ok().and_then(Self::of)
    }

    /// Creates the error of a file of this kind given in place of `wanted`, which includes an article: `a platform`.
    pub fn instead_of(self, wanted: &str, source: &str) -> Problem {
        let name = self.name();
        let problem = Problem::new(format!("this is {name}, not {wanted}"));
        problem.source(source).at(1, 1).hint(self.remedy(source))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Platform => "a platform",
            Self::Experiment => "an experiment",
            Self::Study => "the file of a sweep or of a run",
            Self::Barrier => "a barrier for `migsim decide`",
            Self::Trace => "a trace of an application",
            Self::Work => "a table of work",
            Self::Messages => "a table of messages",
            Self::Mapping => "a table of the host of each process",
            Self::Clusters => "a table of the cluster of each host",
            Self::Load => "a measured load",
            Self::Foreign(format) => format,
        }
    }

    /// Returns the way to use the file `source`.
    fn remedy(self, source: &str) -> String {
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
                "this format is not read: `docs/guide/files.md` says what to do with it".to_owned()
            }
        }
    }
}

/// The keys that distinguish the kinds of JSON files.
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

fn of_json(text: &str) -> Option<FileKind> {
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

/// Returns the kind of a text of lines, by its first line that is no comment.
fn of_lines(text: &str) -> Option<FileKind> {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with('#'))?;
    if line.starts_with("migsim-trace ") || line.starts_with("bsp 1 ") {
        return Some(FileKind::Trace);
    }
    let separator = Separator::of(line);
    let name = |field: &str| {
        let field = field.trim().trim_matches('"').to_ascii_lowercase();
        let end = field.find(['[', '(', '_', ' ']).unwrap_or(field.len());
        field[..end].to_owned()
    };
    let names: Vec<String> = separator.split(line).map(name).collect();
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
            assert_eq!(FileKind::of(text), Some(kind), "{text}");
        }
        for text in ["", "{", "{}", "[1]", "0 0.5\n", "a,b\n", "24\n23\n"] {
            assert_eq!(FileKind::of(text), None, "{text}");
        }
    }
}
