//! Reads the vt data of one rank: converts JSON into phases, tasks and messages, or reports all errors by rank, phase and task.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{
    config::{Broadcasts, VtConfig},
    files::{RankFile, decompressed_json_text},
    left_out::{IgnoredData, IgnoredKind},
};
use migsim_base::{
    document::{Document, MOST_PROBLEMS},
    error::{Error, Problem, Result},
    units::{Bytes, Instructions},
};

const KNOWN_METADATA_KEYS: [&str; 6] = [
    "type",
    "rank",
    "rank_alpha",
    "shared_node",
    "phases",
    "attributes",
];

pub(super) const MAX_PHASES: u64 = 1_000_000;

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RankData {
    pub phases: BTreeMap<u64, PhaseData>,
    pub identical_phases: BTreeSet<u64>,
    pub ignored_data: IgnoredData,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PhaseData {
    pub tasks: Vec<Task>,
    pub messages: Vec<TaskMessage>,
}

/// A task that is on a rank during one phase; it becomes a process.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Task {
    /// Number of the task in the data.
    pub id: u64,
    /// JSON value by which the data identifies the task, unchanged; an export writes it again.
    pub entity: Value,
    /// Whether the runtime may migrate the task.
    pub is_migratable: bool,
    /// Work of the task in the phase \[instructions\]: its time, multiplied by the speed of the hosts on which it was recorded.
    pub work: Instructions,
    /// Memory of the task; `None` if the data does not state it.
    pub memory: Option<Bytes>,
}

const MAX_MESSAGES_OF_RANK: u64 = 10_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TaskMessage {
    /// Number of the task that sends the message.
    pub sender: u64,
    /// Number of the task that receives the message.
    pub receiver: u64,
    /// Number of messages.
    pub count: u64,
    /// Size of one message \[B\].
    pub size: Bytes,
}

/// Reads the data file of a rank, and converts its JSON into phases, tasks and messages.
///
/// # Errors
/// All problems of the file, each with its phase and task.
pub(super) fn read_rank_file(file: &RankFile, config: &VtConfig) -> Result<RankData> {
    let document = Document::parse(&file.source, decompressed_json_text(file)?)?;
    let mut reader = Reader {
        document: &document,
        rank: file.rank,
        config,
        problems: Vec::new(),
        rank_data: RankData::default(),
        message_count: 0,
    };
    reader.read_document();
    Error::unless_empty(reader.problems).map(|()| reader.rank_data)
}

/// Function that returns the place of a value in the data of a rank, for error messages: its path in JSON, and its description.
type Place<'a> = &'a dyn Fn() -> (String, String);

struct Reader<'d> {
    document: &'d Document,
    rank: usize,
    config: &'d VtConfig,
    problems: Vec<Problem>,
    rank_data: RankData,
    /// Number of messages that were read so far.
    message_count: u64,
}

fn shortened_text(value: &Value) -> String {
    let text = match value {
        Value::Object(_) => return "an object".to_owned(),
        Value::Array(_) => return "a list".to_owned(),
        other => other.to_string(),
    };
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

const KNOWN_TASK_KEYS: [&str; 7] = [
    "entity",
    "node",
    "resource",
    "time",
    "subphases",
    "user_defined",
    "attributes",
];
const KNOWN_ENTITY_KEYS: [&str; 8] = [
    "id",
    "seq_id",
    "collection_id",
    "home",
    "index",
    "type",
    "migratable",
    "objgroup_id",
];

const WHOLE_NUMBER_HINT: &str = "write a whole number of at least 0";
const NONNEGATIVE_NUMBER_HINT: &str = "write a finite number of at least 0";

impl Reader<'_> {
    fn add_problem(&mut self, path: &str, message: String, hint: &str) {
        if self.problems.len() < MOST_PROBLEMS {
            let problem = self.document.problem_at(path, message);
            self.problems.push(problem.hint(hint));
        }
    }

    /// Stores a problem about the part `key` of the value at a place; `message` gets the description of the place.
    fn add_problem_at(
        &mut self,
        here: Place<'_>,
        key: &str,
        message: impl FnOnce(&str) -> String,
        hint: &str,
    ) {
        let (path, name) = here();
        self.add_problem(&format!("{path}{key}"), message(&name), hint);
    }

    fn ignore(&mut self, kind: IgnoredKind, count: usize) {
        self.rank_data.ignored_data.count_items(kind, count as u64);
    }

    /// Counts each key of an object that is not in `known` as ignored data.
    fn count_unknown_keys(&mut self, object: &Map<String, Value>, known: &[&str]) {
        let unknown = object.keys().filter(|key| !known.contains(&key.as_str()));
        self.ignore(IgnoredKind::UnknownKey, unknown.count());
    }

    fn read_document(&mut self) {
        let document = self.document;
        let rank = self.rank;
        let Some(top) = document.value.as_object() else {
            return self.add_problem(
                "",
                format!("the data of rank {rank} is not an object"),
                "write a JSON object, as vt does: `{\"type\": \"LBDatafile\", \"phases\": [...]}`",
            );
        };
        self.count_unknown_keys(top, &["type", "metadata", "phases"]);
        for (path, kind) in [
            ("type", top.get("type")),
            ("metadata.type", document.value.pointer("/metadata/type")),
        ] {
            if let Some(kind) = kind.filter(|kind| **kind != "LBDatafile") {
                let kind = shortened_text(kind);
                self.add_problem(
                    path,
                    format!("the type of the data of rank {rank} is {kind}, not `LBDatafile`"),
                    "name the files that vt writes with `--vt_lb_data`, not its statistics",
                );
            }
        }
        self.read_metadata(&document.value["metadata"]);
        let Some(phases) = document.value["phases"].as_array() else {
            return self.add_problem(
                "phases",
                format!("the data of rank {rank} has no list `phases`"),
                "write a list of phases: `{\"id\": 0, \"tasks\": [...], \"communications\": [...]}`",
            );
        };
        for (index, phase) in phases.iter().enumerate() {
            self.read_phase(index, phase);
            if self.problems.len() >= MOST_PROBLEMS {
                return;
            }
        }
    }

    /// Reads the metadata of the file: checks the rank, and reads which phases are identical to the phase before.
    fn read_metadata(&mut self, metadata: &Value) {
        let Some(keys) = metadata.as_object() else {
            return;
        };
        self.count_unknown_keys(keys, &KNOWN_METADATA_KEYS);
        if let Some(rank) = keys.get("rank")
            && rank.as_u64() != Some(self.rank as u64)
        {
            let message = format!(
                "the file name has rank {}, but the file itself has rank {}",
                self.rank,
                shortened_text(rank)
            );
            let hint = "rename the file, or correct `rank` in its `metadata`";
            self.add_problem("metadata.rank", message, hint);
        }
        let same = &metadata["phases"]["identical_to_previous"];
        let entries = |key: &str| same[key].as_array().into_iter().flatten();
        let path = |key: &str| format!("metadata.phases.identical_to_previous.{key}");
        for number in entries("list") {
            self.add_identical_phases(number, number, &path("list"));
        }
        for range in entries("range") {
            if let Some([first, last]) = range.as_array().map(Vec::as_slice) {
                self.add_identical_phases(first, last, &path("range"));
                continue;
            }
            let message = format!(
                "an entry of the list `range` of identical phases of rank {} is not a list of two numbers",
                self.rank
            );
            let hint = "write the first and the last phase: `[[3, 7]]`";
            self.add_problem(&path("range"), message, hint);
        }
    }

    /// Adds the phases with the numbers from `first` to `last` to the phases that are identical to the phase before.
    fn add_identical_phases(&mut self, first: &Value, last: &Value, path: &str) {
        let rank = self.rank;
        let room = MAX_PHASES - (self.rank_data.identical_phases.len() as u64).min(MAX_PHASES);
        match (first.as_u64(), last.as_u64()) {
            (Some(first), Some(last)) if first <= last && last - first < room => {
                self.rank_data.identical_phases.extend(first..=last);
            }
            (Some(first), Some(last)) if first <= last => self.add_problem(
                path,
                format!("the range of phases {first} to {last} of rank {rank} is too long"),
                &format!("reduce the number of phases to {MAX_PHASES}"),
            ),
            _ => {
                let first = shortened_text(first);
                let last = shortened_text(last);
                let message = format!(
                    "the numbers of identical phases of rank {rank}, from {first} to {last}, are not whole numbers in increasing order"
                );
                let hint = "write two whole numbers of at least 0 in increasing order";
                self.add_problem(path, message, hint);
            }
        }
    }

    /// Reads the phase that has the index `index` in the document, counted from 0.
    fn read_phase(&mut self, index: usize, value: &Value) {
        let rank = self.rank;
        let path = format!("phases[{index}]");
        let here = || {
            (
                path.clone(),
                format!("phase number {} of rank {rank}", index + 1),
            )
        };
        let hint = "write `{\"id\": 0, \"tasks\": [...]}`";
        let known = [
            "id",
            "tasks",
            "communications",
            "user_defined",
            "lb_iterations",
        ];
        let Some(phase) = self.read_object(value, &known, &here, hint) else {
            return;
        };
        let Some(id) = self.read_whole_number(phase, "id", &here) else {
            return;
        };
        self.ignore(
            IgnoredKind::BalancerIteration,
            value["lb_iterations"].as_array().map_or(0, Vec::len),
        );
        let mut read = PhaseData::default();
        let mut list = |key: &str| match &value[key] {
            Value::Null => &[],
            Value::Array(list) => &**list,
            other => {
                let message = format!(
                    "`{key}` of phase {id} of rank {rank} is {}, not a list",
                    shortened_text(other)
                );
                let hint = "write a list, which may be empty";
                self.add_problem(&format!("{path}.{key}"), message, hint);
                &[]
            }
        };
        let tasks = list("tasks");
        let edges = list("communications");
        for (at, task) in tasks.iter().enumerate() {
            read.tasks.extend(self.read_task(task, index, id, at));
        }
        for (at, edge) in edges.iter().enumerate() {
            read.messages.extend(self.read_message(edge, index, id, at));
        }
        if self.rank_data.phases.insert(id, read).is_some() {
            let message = format!("phase {id} of rank {rank} appears twice");
            let hint = "give each phase of a file a different `id`";
            self.add_problem(&format!("{path}.id"), message, hint);
        }
    }

    /// Reads a task of a phase; `None` if the task is ignored or has errors. `phase` is the index of the phase, `id` its number,
    /// and `at` the index of the task in the phase.
    fn read_task(&mut self, value: &Value, phase: usize, id: u64, at: usize) -> Option<Task> {
        let rank = self.rank;
        let entity = &value["entity"];
        let here = || {
            let task = match entity.get("id").or_else(|| entity.get("seq_id")) {
                Some(task) if task.is_u64() => format!("task {task}"),
                _ => format!("task number {}", at + 1),
            };
            let name = format!("{task} in phase {id} of rank {rank}");
            (format!("phases[{phase}].tasks[{at}]"), name)
        };
        let hint = "write a task as `{\"entity\": {...}, \"node\": 0, \"resource\": \"cpu\", \"time\": 0.5}`";
        let task = self.read_object(value, &KNOWN_TASK_KEYS, &here, hint)?;
        let number = self.read_task_number(entity, &|| {
            let (path, name) = here();
            (format!("{path}.entity"), name)
        })?;
        if entity.get("type").is_some_and(|kind| kind != "object") {
            self.ignore(IgnoredKind::NonObjectTask, 1);
            return None;
        }
        let is_migratable = entity["migratable"].as_bool();
        if is_migratable.is_none() {
            let message = |name: &str| match entity.get("migratable") {
                None => format!("{name} has no `migratable`"),
                Some(other) => format!("`migratable` of {name} is {}", shortened_text(other)),
            };
            let hint = "write `true`, or `false` if the task must stay on its rank";
            self.add_problem_at(&here, ".entity.migratable", message, hint);
        }
        let is_here = |node: &&Value| node.as_u64() == Some(rank as u64);
        if let Some(node) = task.get("node").filter(|node| !is_here(node)) {
            let node = shortened_text(node);
            let message =
                |name: &str| format!("`node` of {name} is {node}, not the rank of the file");
            let hint = "move the task to the file of its rank, or correct `node`";
            self.add_problem_at(&here, ".node", message, hint);
        }
        let seconds = self.read_nonnegative_number(task, "time", &here)?;
        let work = Instructions::new(seconds * self.config.speed.get());
        if work.is_none() {
            let message = |name: &str| format!("`time` of {name} is out of range");
            self.add_problem_at(&here, ".time", message, NONNEGATIVE_NUMBER_HINT);
        }
        let subphases = value["subphases"].as_array();
        self.ignore(
            IgnoredKind::Subphases,
            usize::from(subphases.is_some_and(|all| !all.is_empty())),
        );
        let attributes = value["attributes"].as_object();
        self.ignore(IgnoredKind::UserDefined, attributes.map_or(0, Map::len));
        let memory = value["user_defined"]
            .as_object()
            .and_then(|keys| self.read_task_memory(keys));
        Some(Task {
            id: number,
            entity: entity.clone(),
            is_migratable: is_migratable.unwrap_or_default(),
            work: work?,
            memory,
        })
    }

    /// Returns the number of the task that an entity identifies; adds a problem and returns `None` if the entity has no number.
    fn read_task_number(&mut self, entity: &Value, here: Place<'_>) -> Option<u64> {
        let Some(keys) = entity.as_object() else {
            let message = |name: &str| format!("{name} has no entity");
            let hint = "write an entity as `{\"id\": 7, \"home\": 0, \"type\": \"object\", \"migratable\": true}`";
            self.add_problem_at(here, "", message, hint);
            return None;
        };
        self.count_unknown_keys(keys, &KNOWN_ENTITY_KEYS);
        let Some(key) = ["id", "seq_id"]
            .into_iter()
            .find(|key| keys.contains_key(*key))
        else {
            let message = |name: &str| format!("{name} has neither `id` nor `seq_id`");
            self.add_problem_at(here, "", message, "give the entity an `id` or a `seq_id`");
            return None;
        };
        self.read_whole_number(keys, key, here)
    }

    /// Returns the memory of a task, which its user-defined values may state; counts all other user-defined values as ignored.
    fn read_task_memory(&mut self, keys: &Map<String, Value>) -> Option<Bytes> {
        const MEMORY_KEYS: [&str; 2] = ["task_footprint_bytes", "task_serialized_bytes"];
        let shared = keys.get("shared_id").and_then(Value::as_f64);
        self.ignore(
            IgnoredKind::SharedBlock,
            usize::from(shared.is_some_and(|id| id >= 0.0)),
        );
        let others = keys
            .keys()
            .filter(|key| !MEMORY_KEYS.contains(&key.as_str()))
            .filter(|key| !key.starts_with("shared_"));
        self.ignore(IgnoredKind::UserDefined, others.count());
        // LBAF writes -1 for unknown values.
        MEMORY_KEYS
            .into_iter()
            .find_map(|key| keys.get(key)?.as_f64().and_then(Bytes::new))
    }

    /// Reads a communication of a phase as a message; `None` if the communication is ignored or has errors. `phase` is the index
    /// of the phase, `id` its number, and `at` the index of the communication in the phase.
    fn read_message(
        &mut self,
        value: &Value,
        phase: usize,
        id: u64,
        at: usize,
    ) -> Option<TaskMessage> {
        let rank = self.rank;
        let here = || {
            let name = format!(
                "communication number {} in phase {id} of rank {rank}",
                at + 1
            );
            (format!("phases[{phase}].communications[{at}]"), name)
        };
        let hint = "write an object with `type`, `from`, `to`, `messages` and `bytes`";
        let known = ["type", "from", "to", "messages", "bytes"];
        let edge = self.read_object(value, &known, &here, hint)?;
        let Some(kind) = value["type"].as_str() else {
            let message = |name: &str| format!("{name} has no type");
            let hint =
                "add a `type`: SendRecv or Broadcast (communications of other types are ignored)";
            self.add_problem_at(&here, ".type", message, hint);
            return None;
        };
        let is_object = |key: &str| {
            let kind = value[key].get("type");
            kind.is_none_or(|kind| kind == "object")
        };
        let ignored = match kind {
            "Broadcast" if self.config.broadcasts == Broadcasts::Drop => {
                Some(IgnoredKind::Broadcast)
            }
            "SendRecv" | "Broadcast" if is_object("from") && is_object("to") => None,
            _ => Some(IgnoredKind::OtherCommunication),
        };
        if let Some(ignored) = ignored {
            self.ignore(ignored, 1);
            return None;
        }
        let mut end = |key: &str| {
            self.read_task_number(&value[key], &|| {
                let (path, name) = here();
                (format!("{path}.{key}"), format!("`{key}` of {name}"))
            })
        };
        let from = end("from");
        let to = end("to");
        let size = self
            .read_nonnegative_number(edge, "bytes", &here)
            .and_then(Bytes::new);
        let count = match value["messages"] {
            Value::Null => 1,
            _ => self.read_whole_number(edge, "messages", &here)?.max(1),
        };
        let sender = from?;
        let receiver = to?;
        let size = size?;
        if sender == receiver {
            self.ignore(IgnoredKind::MessageToItself, 1);
            return None;
        }
        self.message_count = self.message_count.saturating_add(count);
        if self.message_count > MAX_MESSAGES_OF_RANK {
            self.add_problem_at(
                &here,
                ".messages",
                |_: &str| format!("rank {rank} has more than {MAX_MESSAGES_OF_RANK} messages"),
                "correct the number of `messages`",
            );
            return None;
        }
        Some(TaskMessage {
            sender,
            receiver,
            count,
            size: Bytes::new(size.get() / count as f64)?,
        })
    }

    /// Returns the value as an object, and counts its keys that are not in `known`; adds a problem and returns `None` if the value
    /// is not an object.
    fn read_object<'v>(
        &mut self,
        value: &'v Value,
        known: &[&str],
        here: Place<'_>,
        hint: &str,
    ) -> Option<&'v Map<String, Value>> {
        if let Value::Object(object) = value {
            self.count_unknown_keys(object, known);
            return Some(object);
        }
        self.add_problem_at(here, "", |name| format!("{name} is not an object"), hint);
        None
    }

    fn read_whole_number(
        &mut self,
        keys: &Map<String, Value>,
        key: &str,
        here: Place<'_>,
    ) -> Option<u64> {
        self.read_value(keys, key, here, WHOLE_NUMBER_HINT, Value::as_u64)
    }

    fn read_nonnegative_number(
        &mut self,
        keys: &Map<String, Value>,
        key: &str,
        here: Place<'_>,
    ) -> Option<f64> {
        self.read_value(keys, key, here, NONNEGATIVE_NUMBER_HINT, |value: &Value| {
            value
                .as_f64()
                .filter(|number| number.is_finite() && *number >= 0.0)
        })
    }

    /// Reads the value of a key; adds a problem and returns `None` if the value is missing or `read` does not accept it.
    fn read_value<T>(
        &mut self,
        keys: &Map<String, Value>,
        key: &str,
        here: Place<'_>,
        hint: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        let value = keys.get(key);
        let found = value.and_then(read);
        if found.is_none() {
            match value {
                None => {
                    self.add_problem_at(here, "", |name| format!("{name} has no `{key}`"), hint);
                }
                Some(other) => {
                    let message =
                        |name: &str| format!("`{key}` of {name} is {}", shortened_text(other));
                    self.add_problem_at(here, &format!(".{key}"), message, hint);
                }
            }
        }
        found
    }
}
