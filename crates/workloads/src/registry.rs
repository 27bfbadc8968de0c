//! The table of the built-in applications, with one row for each application.
//!
//! To add an application, write a file beside this file and add a row in `standard`. The file contains the options, a type that
//! derives `Deserialize` and `JsonSchema`, and the supersteps, a [`Workload`]. Help texts, listings and the published schema are
//! generated from the table.

use std::sync::OnceLock;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::{
    Workload,
    lbm::{Lbm, LbmConfig},
    lu::{Lu, LuConfig},
    sw::{Sw, SwConfig},
    synthetic::{Synthetic, SyntheticConfig},
    table::{Table as Tables, TableConfig},
    trace::{RecordingFacts, Trace, built_in},
    vt::{Vt, VtConfig, read_rank_files},
};
use migsim_base::{
    document::{from_value, read_bytes, sha256},
    error::{Error, Problem, Result},
    plugin::{self, FlagValues, OptionFlag, PluginFactory},
    setting::KeySetting,
    units::Bytes,
};

/// Returns the table of the built-in applications.
pub fn standard() -> Table {
    let rows = vec![
        table_entry::<LbmConfig>(
            "lbm",
            "Lattice Boltzmann on equal slices: each process computes and sends to its right neighbour",
            "da Rosa Righi et al., Analyzing the Frequency of Processes Migration Calls on BSP Application Execution, section 3",
        ),
        table_entry::<LuConfig>(
            "lu",
            "LU decomposition of a matrix of order n on a grid of processes, 2n+1 supersteps",
            "da Rosa Righi et al., Applying Process Migration on a BSP-Based LU Decomposition Application, section 4",
        ),
        table_entry::<SwConfig>(
            "sw",
            "Smith-Waterman on an n x n matrix, one process per column, 2n-1 supersteps in wavefronts",
            "da Rosa Righi et al., Applying Processes Rescheduling over Irregular BSP Application, section 3",
        ),
        table_entry::<SyntheticConfig>(
            "synthetic",
            "random work and messages by a pattern and distributions, for any number of processes",
            "-",
        ),
        table_entry::<TableConfig>(
            "table",
            "CSV tables of the work of each process in each superstep and, optionally, of the messages",
            "-",
        ),
        table_entry::<TraceConfig>(
            "trace",
            "a trace: a text file with the work, messages, memory, hosts and moves of an application (`migsim schema trace`)",
            "-",
        ),
        table_entry::<VtConfig>(
            "vt",
            "tasks recorded by DARMA/vt, in the files that LBAF reads: one JSON file per rank, plain or compressed with brotli",
            "DARMA/vt, schema LBDatafile (scripts/LBDatafile_schema.py)",
        ),
    ];
    Table::new(["application", "applications", "workload.app"], rows)
}

/// The options of an application, which an experiment states beside the key `app` in the object `workload`.
///
/// To define an application, it is enough to derive the traits of serde and schemars for the options and to implement
/// [`Self::application`]; the other items define how the command line uses the options. An option `seed` gets the seed of the
/// run, unless the user sets another value.
pub trait WorkloadOptions: Serialize + DeserializeOwned + JsonSchema {
    /// Options that can also be set by a separate command-line flag.
    const FLAGS: &'static [OptionFlag] = &[];

    /// Keys of the options whose values are paths of files.
    const FILES: &'static [&'static str] = &[];

    /// Keys of the options that determine the number of processes. If a value needs more memory than is available, it is refused
    /// before the application is created.
    const PROCESS_KEYS: &'static [&'static str] = &[];

    /// Keys of the options that determine the number of supersteps; an error about too many supersteps names one of these keys.
    const SUPERSTEP_KEYS: &'static [&'static str] = &[];

    /// Keys of the options that follow the name of the application in titles of reports: a number as `n=500`, a text unchanged.
    const TITLE_KEYS: &'static [&'static str] = &[];

    /// Creates the application with these options.
    ///
    /// # Errors
    /// Options are out of range or inconsistent; each problem has its key, as `workload.<key>`.
    fn application(self) -> Result<BuiltWorkload>;
}

/// An entry of the table of applications: name, summary, source, and how the application is created ([`WorkloadKind`]).
pub type Entry = plugin::PluginEntry<WorkloadKind>;

/// The table of applications, which are found by their names.
pub type Table = plugin::PluginTable<WorkloadKind>;

/// What the table of applications stores about each application besides its name: how it is created from its options, and what
/// these options determine.
#[derive(Clone, Debug)]
pub struct WorkloadKind {
    /// How the application is created from its options.
    constructor: Constructor,
    process_keys: &'static [&'static str],
    superstep_keys: &'static [&'static str],
    title_keys: &'static [&'static str],
    /// Whether the application has an option `seed`; computed when it is first needed.
    has_seed: OnceLock<bool>,
    schema_generator: fn(&mut SchemaGenerator) -> Schema,
}

/// How an application is created from its options: by functions of a Rust type, or by an object.
#[derive(Clone, Copy, Debug)]
enum Constructor {
    /// By functions, because the options are described by a Rust type.
    Typed {
        build: fn(&Value) -> Result<BuiltWorkload>,
        resolve: fn(&Value) -> Result<Value>,
    },
    /// By an object, because the options are not described by a Rust type.
    Maker(&'static dyn PluginFactory<BuiltWorkload>),
}

/// Creates the entry of an application whose options have no Rust type; `maker` creates the application. The options `n` and
/// `procs`, if they exist, can be set by command-line flags.
pub fn entry_of_maker(
    maker: &'static dyn PluginFactory<BuiltWorkload>,
    name: &'static str,
    summary: &'static str,
    source: &'static str,
) -> Entry {
    const FLAGS: &[OptionFlag] = &[ORDER_FLAG, PROCESSES_FLAG];
    let options = maker.resolve_options(&Map::new()).unwrap_or_default();
    let has = |key: &str| options.contains_key(key);
    let kind = WorkloadKind {
        constructor: Constructor::Maker(maker),
        process_keys: if has("procs") { &["procs"] } else { &[] },
        superstep_keys: &["supersteps", "n"],
        title_keys: if has("n") { &["n"] } else { &[] },
        has_seed: OnceLock::from(has("seed")),
        schema_generator: SchemaGenerator::subschema_for::<Map<String, Value>>,
    };
    let mut entry = Entry::new::<Map<String, Value>>([name, summary, source], kind);
    entry.flags = match (has("n"), has("procs")) {
        (true, true) => FLAGS,
        (true, false) => &FLAGS[..1],
        (false, true) => &FLAGS[1..],
        (false, false) => &[],
    };
    entry
}

/// Creates the entry of an application whose options have the Rust type `T`.
pub fn table_entry<T: WorkloadOptions>(
    name: &'static str,
    summary: &'static str,
    source: &'static str,
) -> Entry {
    let kind = WorkloadKind {
        constructor: Constructor::Typed {
            build: |workload| read_options::<T>(workload)?.application(),
            resolve: |workload| Ok(json!(read_options::<T>(workload)?)),
        },
        process_keys: T::PROCESS_KEYS,
        superstep_keys: T::SUPERSTEP_KEYS,
        title_keys: T::TITLE_KEYS,
        has_seed: OnceLock::new(),
        schema_generator: SchemaGenerator::subschema_for::<T>,
    };
    let mut entry = Entry::new::<T>([name, summary, source], kind);
    (entry.flags, entry.file_options) = (T::FLAGS, T::FILES);
    entry
}

impl plugin::PluginKind for WorkloadKind {
    type Product = BuiltWorkload;

    const SECTION: Option<&'static str> = None;

    /// Creates the application from the object `workload` of an experiment, whose key `app` is ignored.
    fn build(&self, workload: &Value) -> Result<BuiltWorkload> {
        match self.constructor {
            Constructor::Typed { build, .. } => build(workload),
            Constructor::Maker(maker) => plugin::create_plugin(maker, &without_app_key(workload))
                .map_err(with_workload_key_prefix),
        }
    }

    /// Returns the options of the application with all defaults filled in, without the key `app`.
    fn resolve(&self, workload: &Value) -> Result<Value> {
        match self.constructor {
            Constructor::Typed { resolve, .. } => resolve(workload),
            Constructor::Maker(maker) => plugin::resolve_options(maker, &without_app_key(workload))
                .map_err(with_workload_key_prefix),
        }
    }
}

impl WorkloadKind {
    /// Returns the title of an application in reports: its name, and those options in the object `workload` of an experiment that
    /// titles show.
    pub fn title(&self, name: &str, workload: &Value) -> String {
        let shown = |key: &&str| match &workload[*key] {
            Value::String(text) => format!(" {text}"),
            Value::Null => String::new(),
            value => format!(" {key}={value}"),
        };
        let shown: String = self.title_keys.iter().map(shown).collect();
        format!("{name}{shown}")
    }

    /// Returns whether the application has an option `seed`, which gets the seed of the run unless `workload.seed` is set.
    pub fn has_seed(&self) -> bool {
        *self.has_seed.get_or_init(|| {
            let mut generator = SchemaGenerator::default();
            let schema = (self.schema_generator)(&mut generator).to_value();
            let all = generator.take_definitions(true);
            let has_seed = |one: &Value| one.pointer("/properties/seed").is_some();
            all.values().chain([&schema]).any(has_seed)
        })
    }

    /// Returns the keys of the options that the application names in its declarations.
    pub fn declared_keys(&self) -> Vec<&'static str> {
        [self.process_keys, self.superstep_keys, self.title_keys].concat()
    }

    /// Returns the key and the value of the option in `workload` that requests the largest number of processes; `None` if no
    /// option states a number.
    pub fn requested_processes(
        &self,
        workload: &Map<String, Value>,
    ) -> Option<(&'static str, u64)> {
        self.process_keys
            .iter()
            .filter_map(|key| Some((*key, workload.get(*key)?.as_u64()?)))
            .max_by_key(|(_, count)| *count)
    }

    /// Returns the key in `workload` that an error about a too large experiment names.
    ///
    /// If `has_more_processes` is true, this is the first key that sets the number of processes, otherwise the first key that
    /// sets the number of supersteps. If no such key is set, it is a key that sets the other of these two numbers, or else `app`.
    pub fn key_determining_size(
        &self,
        workload: &Map<String, Value>,
        has_more_processes: bool,
    ) -> &'static str {
        let WorkloadKind {
            process_keys: processes,
            superstep_keys: supersteps,
            ..
        } = self;
        let (first, then) = if has_more_processes {
            (processes, supersteps)
        } else {
            (supersteps, processes)
        };
        let mut keys = first.iter().chain(*then);
        keys.find(|key| workload.contains_key(**key))
            .unwrap_or(&"app")
    }
}

/// The command-line flag `--n`, which sets the order of a matrix.
const ORDER_FLAG: OptionFlag = OptionFlag::new("n", FlagValues::Counts, "Order of the matrix");

/// The command-line flag `--procs`, which sets the number of processes.
const PROCESSES_FLAG: OptionFlag =
    OptionFlag::new("procs", FlagValues::Counts, "Number of processes");

/// An application that is ready to run, with the settings that it adds to the experiment, notes for the user, and its input
/// files.
#[derive(Debug)]
pub struct BuiltWorkload {
    /// The application itself, which states the work and messages of each superstep.
    pub workload: Box<dyn Workload>,
    /// Settings that the application adds to the experiment; a trace, for example, may set keys of the runtime.
    pub added_settings: Vec<KeySetting>,
    /// Notes for the user about how the input files of the application were interpreted, one sentence each.
    pub notes: Vec<String>,
    /// Files from which the application was read, each with its path as given and its SHA-256 in hexadecimal digits; the manifest
    /// of a run lists them.
    pub input_files_with_hashes: Vec<(String, String)>,
    /// Facts about the recording from which the application comes; empty if the application is not a recorded program.
    pub recording: RecordingFacts,
}

impl BuiltWorkload {
    /// Creates an application without settings, notes and input files, for applications that depend only on their options.
    pub fn new(workload: impl Workload + 'static) -> Self {
        Self {
            workload: Box::new(workload),
            added_settings: Vec::new(),
            notes: Vec::new(),
            input_files_with_hashes: Vec::new(),
            recording: RecordingFacts::default(),
        }
    }
}

/// Options of the application `trace`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceConfig {
    /// Path of the trace file; a relative path starts at the folder where the command runs. `built-in:comd` names a recorded
    /// program that comes with migsim.
    pub trace: String,
    /// Memory of each process for which the trace states no memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Number of processes that the trace must have; a trace with another number is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub procs: Option<usize>,
}

impl WorkloadOptions for LbmConfig {
    const FLAGS: &'static [OptionFlag] = &[PROCESSES_FLAG];
    const PROCESS_KEYS: &'static [&'static str] = &["procs"];
    const SUPERSTEP_KEYS: &'static [&'static str] = &["supersteps"];

    fn application(self) -> Result<BuiltWorkload> {
        Ok(BuiltWorkload::new(Lbm::new(&self)?))
    }
}

impl WorkloadOptions for LuConfig {
    const FLAGS: &'static [OptionFlag] = &[
        ORDER_FLAG,
        PROCESSES_FLAG,
        OptionFlag::new(
            "grid",
            FlagValues::Grids,
            "Grid of processes, rows x columns",
        )
        .with_value_name("MxN"),
    ];
    const PROCESS_KEYS: &'static [&'static str] = &["procs"];
    const SUPERSTEP_KEYS: &'static [&'static str] = &["n"];
    const TITLE_KEYS: &'static [&'static str] = &["n"];

    fn application(self) -> Result<BuiltWorkload> {
        Ok(BuiltWorkload::new(Lu::new(&self)?))
    }
}

impl WorkloadOptions for SwConfig {
    const FLAGS: &'static [OptionFlag] = &[ORDER_FLAG, PROCESSES_FLAG];
    const PROCESS_KEYS: &'static [&'static str] = &["procs"];
    const SUPERSTEP_KEYS: &'static [&'static str] = &["n"];
    const TITLE_KEYS: &'static [&'static str] = &["n"];

    fn application(self) -> Result<BuiltWorkload> {
        Ok(BuiltWorkload::new(Sw::new(&self)?))
    }
}

impl WorkloadOptions for SyntheticConfig {
    const FLAGS: &'static [OptionFlag] = &[PROCESSES_FLAG];
    const FILES: &'static [&'static str] = &["messages"];
    const PROCESS_KEYS: &'static [&'static str] = &["procs"];
    const SUPERSTEP_KEYS: &'static [&'static str] = &["supersteps"];

    fn application(self) -> Result<BuiltWorkload> {
        let (application, sha256) = Synthetic::new_with_file_hash(&self)?;
        Ok(BuiltWorkload {
            input_files_with_hashes: self.messages.into_iter().zip(sha256).collect(),
            ..BuiltWorkload::new(application)
        })
    }
}

impl WorkloadOptions for TraceConfig {
    const FLAGS: &'static [OptionFlag] = &[
        PROCESSES_FLAG,
        OptionFlag::new(
            "trace",
            FlagValues::Texts,
            "The trace of `--app trace`: a text file (see `migsim schema trace`), in which processes and supersteps are counted from 0",
        )
        .with_value_name("FILE"),
    ];
    const FILES: &'static [&'static str] = &["trace"];
    const TITLE_KEYS: &'static [&'static str] = &["trace"];

    fn application(self) -> Result<BuiltWorkload> {
        let bytes = built_in::read_trace_bytes(&self.trace)
            .map_err(|problem| problem.key("workload.trace"))?;
        let mut trace = Trace::parse_bytes(&self.trace, &bytes)?;
        let processes = trace.processes();
        if self.procs.is_some_and(|wanted| wanted != processes) {
            return Err(Problem::new(format!(
                "the trace `{}` has {processes} processes, not the number that `procs` states",
                self.trace
            ))
            .key("workload.procs")
            .hint("leave out the number of processes, which the trace determines")
            .into());
        }
        if let Some(memory) = self.memory {
            trace = trace.with_default_memory(memory);
        }
        Ok(BuiltWorkload {
            added_settings: trace.settings().to_vec(),
            recording: trace.recording().clone(),
            input_files_with_hashes: vec![(self.trace, sha256(&bytes))],
            ..BuiltWorkload::new(trace)
        })
    }
}

impl WorkloadOptions for TableConfig {
    const FLAGS: &'static [OptionFlag] = &[
        OptionFlag::new(
            "work",
            FlagValues::Texts,
            "The work of `--app table`: a CSV file with the columns superstep, process, work [unit] and, if known, memory [unit]",
        )
        .with_value_name("FILE"),
        OptionFlag::new(
            "messages",
            FlagValues::Texts,
            "The messages of `--app table`: a CSV file with the columns superstep, from, to, bytes",
        )
        .with_value_name("FILE"),
    ];
    const FILES: &'static [&'static str] = &["work", "messages"];
    const TITLE_KEYS: &'static [&'static str] = &["work"];

    fn application(self) -> Result<BuiltWorkload> {
        let read = |key: &str, file: &String| {
            read_bytes(file.as_ref()).map_err(|problem| problem.key(format!("workload.{key}")))
        };
        let work = read("work", &self.work)?;
        let messages = self
            .messages
            .as_ref()
            .map(|file| read("messages", file))
            .transpose()?;
        let application = Tables::from_csv_bytes(&work, messages.as_deref(), &self)?;
        let files = [Some(self.work), self.messages].into_iter().flatten();
        let bytes = [Some(work), messages].into_iter().flatten();
        Ok(BuiltWorkload {
            input_files_with_hashes: files
                .zip(bytes)
                .map(|(file, bytes)| (file, sha256(&bytes)))
                .collect(),
            ..BuiltWorkload::new(application)
        })
    }
}

impl WorkloadOptions for VtConfig {
    const FLAGS: &'static [OptionFlag] = &[OptionFlag::new(
        "data",
        FlagValues::Texts,
        "The data of `--app vt`, as the common prefix of its files: `nolb/data` reads nolb/data.0.json, nolb/data.1.json, ...",
    )
    .with_value_name("PREFIX")];
    const FILES: &'static [&'static str] = &["data"];
    const TITLE_KEYS: &'static [&'static str] = &["data"];

    fn application(self) -> Result<BuiltWorkload> {
        let files = read_rank_files(&self.data).map_err(|error| {
            error.map_problems_without_location(|problem| problem.key("workload.data"))
        })?;
        let (application, note) = Vt::from_files(&files, &self)?;
        Ok(BuiltWorkload {
            notes: vec![note],
            input_files_with_hashes: files
                .into_iter()
                .map(|file| (file.source, sha256(&file.bytes)))
                .collect(),
            ..BuiltWorkload::new(application)
        })
    }
}

/// Reads the options of an application from the object `workload` of an experiment, whose key `app` is ignored.
///
/// # Errors
/// Keys are unknown or missing, or values cannot be read; all problems are reported together.
pub fn read_options<T: DeserializeOwned + JsonSchema>(workload: &Value) -> Result<T> {
    from_value(&without_app_key(workload), "workload").map_err(|error| {
        let schema = schemars::schema_for!(T);
        error.map_problems(|problem| {
            let key = problem.location.key.as_deref().unwrap_or_default();
            let name = match key.strip_prefix("workload.") {
                Some(path) => path.split(['[', '.']).next(),
                None => problem.message.split('`').nth(1),
            };
            match name.filter(|_| problem.hint.is_none()) {
                Some(name) => {
                    let hint = option_description(&schema, name);
                    problem.hint(hint)
                }
                None => problem,
            }
        })
    })
}

/// Returns the object `workload` without the key `app`, so that only options remain.
fn without_app_key(workload: &Value) -> Value {
    let mut options = workload.clone();
    if let Value::Object(options) = &mut options {
        options.remove("app");
    }
    options
}

/// Adds `workload.` before each key in an error.
fn with_workload_key_prefix(error: Error) -> Error {
    error.map_problems(|problem| {
        let key = problem.location.key.as_ref();
        let key = key.map_or_else(|| "workload".to_owned(), |key| format!("workload.{key}"));
        problem.key(key)
    })
}

fn option_description(schema: &Schema, key: &str) -> String {
    let description = schema
        .pointer(&format!("/properties/{key}/description"))
        .and_then(Value::as_str)
        .unwrap_or("see `migsim schema experiment`");
    format!("`{key}`: {}", description.replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(name: &str, keys: &Value) -> Vec<Problem> {
        match standard().find(name).unwrap().build(keys) {
            Err(Error::Input(problems)) => problems,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn names_are_sorted_and_unique() {
        assert!(standard().names().is_sorted());
    }

    #[test]
    fn all_unknown_and_missing_keys_are_named() {
        let found = problems("trace", &json!({ "order": 10, "N": 5, "app": "trace" }));
        let messages: Vec<&str> = found
            .iter()
            .map(|problem| problem.message.as_str())
            .collect();
        assert_eq!(
            messages,
            [
                "unknown key `order`",
                "unknown key `N`",
                "key `trace` is missing"
            ]
        );
        assert!(
            found[0]
                .hint
                .as_deref()
                .unwrap()
                .starts_with("known keys: ")
        );
        assert_eq!(problems("lu", &json!(5)).len(), 1);
    }

    #[test]
    fn a_trace_brings_its_settings_and_hash() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/moves.trace");
        let built = standard()
            .find("trace")
            .unwrap()
            .build(&json!({ "app": "trace", "trace": path }))
            .unwrap();
        let setting = |key: &str, value: &str, place: &str| {
            KeySetting::new(key, format!("{path}:{place}"), value)
        };
        assert_eq!(
            built.added_settings,
            [
                setting("runtime.barrier.kind", "ideal", "2:9"),
                setting("runtime.receives", "early", "3:6")
            ]
        );
        assert_eq!(
            built.input_files_with_hashes,
            [(path.to_owned(), sha256(&std::fs::read(path).unwrap()))]
        );
        // The digest of an empty text, as in FIPS 180-4 examples.
        assert_eq!(
            sha256(b""),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        let missing = problems("trace", &json!({ "trace": "no/such.trace" }));
        assert_eq!(missing[0].location.key.as_deref(), Some("workload.trace"));
    }
}
