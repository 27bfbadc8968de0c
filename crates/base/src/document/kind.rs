//! Recognises the kind of an input file by its text, so that an error message can name the kind of the given file next to the
//! expected kind.
//!
//! Whether the content of the file is correct is not checked here; the reader of that kind of file does that.

use serde::{Deserialize, de::IgnoredAny};
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
    SweepOrRunManifest,
    /// The input of `migsim decide`: the state of the processes at one barrier.
    BarrierSnapshot,
    /// A trace: the recorded computations and messages of an application, superstep by superstep.
    Trace,
    /// A table of the amount of computation of each process in each superstep.
    WorkTable,
    /// A table of the messages between the processes of an application.
    MessageTable,
    /// A table that states for each process the host on which the process starts.
    ProcessMapping,
    /// A table of the cluster to which each host belongs.
    ClusterTable,
    /// A table of the measured background load of hosts or links over time.
    MeasuredLoad,
    /// Data of DARMA/vt or LBAF about one rank.
    VtData,
    /// A table of the times of single messages.
    MessageTimes,
    /// A file in a format of another program that migsim cannot read; the string names the format.
    ForeignFormat(&'static str),
}

/// Recognisable file formats of other programs that migsim cannot read. Each entry contains the first characters of a file in the
/// format, and the name of the format.
const FOREIGN: [(&str, &str); 8] = [
    ("\u{3}BOTF2", OTF2),
    ("Topology: (", "a topology of BRITE"),
    ("num_ranks ", "a GOAL schedule of LogGOPSim"),
    ("%EventDef", "a Paje trace"),
    ("#DIMEMAS", "a trace of Dimemas"),
    ("#Paraver", "a trace of Paraver"),
    ("; Version:", "a workload in the Standard Workload Format"),
    (";  Version:", "a workload in the Standard Workload Format"),
];

/// Name of the file with which a user names an OTF2 archive.
const OTF2: &str = "the anchor of an OTF2 archive";

/// Second words of the lines of SMPI's time-independent traces, by which such a trace is recognised.
const SMPI_ACTIONS: [&str; 6] = ["init", "comm_size", "compute", "send", "isend", "irecv"];

impl FileKind {
    /// Returns the kind of an input file with the given text; `None` if the text does not show the kind with certainty.
    pub fn detect_from_text(text: &str) -> Option<Self> {
        let text = text.trim_start_matches('\u{feff}').trim_start();
        if let Some((_, format)) = FOREIGN.iter().find(|(start, _)| text.starts_with(start)) {
            return Some(Self::ForeignFormat(format));
        }
        if text.starts_with("# OSU MPI") {
            return Some(Self::MessageTimes);
        }
        match text.chars().next()? {
            '{' => detect_json_kind(text),
            '<' if text.contains("<platform") => Some(Self::Platform),
            '<' if text.contains("<adag") => {
                Some(Self::ForeignFormat("a workflow of Pegasus (DAX)"))
            }
            '<' => None,
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
        Problem::new(format!("the file is {name}, not {wanted}"))
            .source(source)
            .at_line_column(1, 1)
            .hint(self.usage_hint(source))
    }

    /// Returns the name of this kind of file with its article, for error messages.
    fn name_with_article(self) -> &'static str {
        match self {
            Self::Platform => "a platform",
            Self::Experiment => "an experiment",
            Self::SweepOrRunManifest => "the description of a sweep or of a run",
            Self::BarrierSnapshot => "a snapshot of a barrier for `migsim decide`",
            Self::Trace => "a trace of an application",
            Self::WorkTable => "a table of work",
            Self::MessageTable => "a table of messages",
            Self::ProcessMapping => "a table of processes and their hosts",
            Self::ClusterTable => "a table of hosts and their clusters",
            Self::MeasuredLoad => "a measured load",
            Self::VtData => "data of DARMA/vt",
            Self::MessageTimes => "a table of times of messages",
            Self::ForeignFormat(format) => format,
        }
    }

    /// Returns the hint that says with which flag or command of migsim the file `source`, which has this kind, can be used.
    fn usage_hint(self, source: &str) -> String {
        match self {
            Self::Platform => format!("use `--platform {source}`"),
            Self::Experiment | Self::SweepOrRunManifest => format!("use `migsim run {source}`"),
            Self::BarrierSnapshot => format!("use `migsim decide {source}`"),
            Self::Trace => format!("use `--app trace --trace {source}`"),
            Self::WorkTable => format!("use `--app table --work {source}`"),
            Self::MessageTable => format!("use `--app table --messages {source}`"),
            Self::ProcessMapping => format!("use `--mapping {source}`"),
            Self::ClusterTable => format!("use `--clusters {source}`"),
            Self::MeasuredLoad => format!("use `--load file,file={source}`"),
            Self::VtData => {
                let name = source.trim_end_matches(".br").trim_end_matches(".json");
                let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
                format!("use `--app vt --data {}`", prefix.trim_end_matches('.'))
            }
            Self::MessageTimes => {
                format!("use `migsim calibrate --platform PLATFORM --table {source}`")
            }
            Self::ForeignFormat(OTF2) => {
                format!("write a trace with `python -m migsim.otf2 {source} FILE.trace --speed SPEED`, and use that")
            }
            Self::ForeignFormat(_) => {
                "convert the file as `docs/guide/files.md` describes, since migsim does not read this format"
                    .to_owned()
            }
        }
    }
}

/// The top-level keys by which the kind of a JSON file is recognised.
#[derive(Deserialize)]
struct TopLevelKeys {
    #[serde(default, rename = "type")]
    kind: Option<Value>,
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
    #[serde(default)]
    jobs: Option<IgnoredAny>,
    #[serde(default)]
    nb_res: Option<IgnoredAny>,
    #[serde(default)]
    nodes: Option<IgnoredAny>,
}

/// Returns the kind of a JSON file with the given text; `None` if its top-level keys do not show the kind.
fn detect_json_kind(text: &str) -> Option<FileKind> {
    let head: TopLevelKeys = serde_json::from_str(text).ok()?;
    match head.schema.as_ref().and_then(Value::as_str) {
        Some("migsim-platform-1" | "migsim-zones-1") => Some(FileKind::Platform),
        Some("migsim-experiment-1") => Some(FileKind::Experiment),
        Some("migsim-sweep-1" | "migsim-run-1") => Some(FileKind::SweepOrRunManifest),
        _ if head.kind.is_some_and(|kind| kind == "LBDatafile") => Some(FileKind::VtData),
        _ if head.workload.is_some() || head.extends.is_some() => Some(FileKind::Experiment),
        _ if head.speeds.is_some() && head.current.is_some() => Some(FileKind::BarrierSnapshot),
        _ if head.clusters.is_some_and(|clusters| clusters.is_array()) => Some(FileKind::Platform),
        _ if head.jobs.is_some() && head.nb_res.is_some() => {
            Some(FileKind::ForeignFormat("a list of jobs for Batsim"))
        }
        Some(version)
            if head.nodes.is_some() && version.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            Some(FileKind::ForeignFormat("an execution trace of Chakra"))
        }
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
    let mut words = line.split_whitespace();
    let is_rank = |word: &str| word.trim_start_matches('p').parse::<u32>().is_ok();
    if words.next().is_some_and(is_rank)
        && words
            .next()
            .is_some_and(|word| SMPI_ACTIONS.contains(&&*word.to_ascii_lowercase()))
    {
        return Some(FileKind::ForeignFormat("a time-independent trace of SMPI"));
    }
    let separator = Separator::from_heading_line(line);
    let name = |field: &str| {
        let field = field.trim().trim_matches('"').to_ascii_lowercase();
        let end = field.find(['[', '(', '_', ' ']).unwrap_or(field.len());
        field[..end].to_owned()
    };
    let names: Vec<String> = separator.split_fields(line).map(name).collect();
    let has = |all: &[&str]| all.iter().all(|one| names.iter().any(|name| name == one));
    [
        (&["superstep", "from", "to"][..], FileKind::MessageTable),
        (&["superstep", "process", "work"], FileKind::WorkTable),
        (&["process", "host"], FileKind::ProcessMapping),
        (&["host", "cluster"], FileKind::ClusterTable),
        (&["date", "load"], FileKind::MeasuredLoad),
        (&["time", "load"], FileKind::MeasuredLoad),
        (&["from", "to", "bytes", "time"], FileKind::MessageTimes),
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
            (
                "{\"schema\": \"migsim-run-1\"}",
                FileKind::SweepOrRunManifest,
            ),
            (
                "{\"speeds\": [1], \"current\": [0], \"clusters\": [0]}",
                FileKind::BarrierSnapshot,
            ),
            ("# mine\nmigsim-trace 2\n", FileKind::Trace),
            ("bsp 1 2 3\n", FileKind::Trace),
            ("superstep;process;work [Ginstr]\n", FileKind::WorkTable),
            ("superstep,from,to,bytes [kB]\n", FileKind::MessageTable),
            ("process,host\n", FileKind::ProcessMapping),
            ("\"host\",\"cluster\"\n", FileKind::ClusterTable),
            ("date_s,load\n0,0.5\n", FileKind::MeasuredLoad),
            (
                "%EventDef PajeX 1\n",
                FileKind::ForeignFormat("a Paje trace"),
            ),
            ("\u{3}BOTF2", FileKind::ForeignFormat(OTF2)),
            (
                "<?xml version='1.0'?><adag><job/></adag>",
                FileKind::ForeignFormat("a workflow of Pegasus (DAX)"),
            ),
            (
                "0 init\n0 compute 1e9\n",
                FileKind::ForeignFormat("a time-independent trace of SMPI"),
            ),
            (
                "{\"nb_res\": 4, \"jobs\": []}",
                FileKind::ForeignFormat("a list of jobs for Batsim"),
            ),
            (
                "{\"schema\": \"1.0\", \"nodes\": []}",
                FileKind::ForeignFormat("an execution trace of Chakra"),
            ),
        ] {
            assert_eq!(FileKind::detect_from_text(text), Some(kind), "{text}");
        }
        for text in ["", "{", "{}", "[1]", "0 0.5\n", "a,b\n", "24\n23\n"] {
            assert_eq!(FileKind::detect_from_text(text), None, "{text}");
        }
    }

    #[test]
    fn data_of_vt_and_times_of_messages_are_recognised() {
        for (text, kind) in [
            ("{\"type\": \"LBDatafile\"}", FileKind::VtData),
            ("from,to,bytes,time_s\n", FileKind::MessageTimes),
            ("# OSU MPI Latency Test v7.3\n", FileKind::MessageTimes),
        ] {
            assert_eq!(FileKind::detect_from_text(text), Some(kind), "{text}");
        }
        let hint = FileKind::VtData.usage_hint("nolb/data.12.json.br");
        assert_eq!(hint, "use `--app vt --data nolb/data`");
    }
}
