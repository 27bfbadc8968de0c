//! Reads the vt data of one rank: converts JSON into phases, tasks and messages, or reports all errors by rank, phase and task.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::config::{Broadcasts, VtConfig};
use super::files::{RankFile, decompressed_json_text};
use super::left_out::{IgnoredData, IgnoredKind};
use migsim_base::document::{Document, MOST_PROBLEMS};
use migsim_base::error::{Error, Problem};
use migsim_base::units::{Bytes, Instructions};

const KNOWN_METADATA_KEYS: [&str; 6] = [
    "type",
    "rank",
    "rank_alpha",
    "shared_node",
    "phases",
    "attributes",
];

/// Maximum number of phases, including phases that only repeat the phase before.
pub(super) const MAX_PHASES: u64 = 1_000_000;

/// The vt data of one rank: its phases, and counts of the data that is ignored.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RankData {
    /// Phases with data, by number.
    pub(super) phases: BTreeMap<u64, PhaseData>,
    /// Numbers of the phases that the data declares identical to the phase before and that therefore have no data.
    pub(super) identical_phases: BTreeSet<u64>,
    /// Numbers of ignored items of each kind of data.
    pub(super) ignored_data: IgnoredData,
}

/// The tasks and messages of one rank in one phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PhaseData {
    /// Tasks that are on the rank during the phase.
    pub(super) tasks: Vec<Task>,
    /// Messages that the data of the rank lists for the phase.
    pub(super) messages: Vec<TaskMessage>,
}

/// A task that is on a rank during one phase; it becomes a process.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Task {
    /// Number of the task in the data.
    pub(super) id: u64,
    /// JSON value by which the data identifies the task, unchanged; an export writes it again.
    pub(super) entity: Value,
    /// Whether the runtime may migrate the task.
    pub(super) is_migratable: bool,
    /// Work of the task in the phase \[instructions\]: its time, multiplied by the speed of the hosts on which it was recorded.
    pub(super) work: Instructions,
    /// Memory of the task; `None` if the data does not state it.
    pub(super) memory: Option<Bytes>,
}

/// Maximum number of messages of a rank, which bounds the memory for data with a wrong number of messages.
const MAX_MESSAGES_OF_RANK: u64 = 10_000_000;

/// Equal messages from one task to another task during one phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TaskMessage {
    /// Number of the task that sends the message.
    pub(super) sender: u64,
    /// Number of the task that receives the message.
    pub(super) receiver: u64,
    /// Number of messages.
    pub(super) count: u64,
    /// Size of one message \[B\].
    pub(super) size: Bytes,
}

/// Reads the data file of a rank, and converts its JSON into phases, tasks and messages.
///
/// # Errors
/// All problems of the file, each with its phase and task.
pub(super) fn read_rank_file(file: &RankFile, config: &VtConfig) -> Result<RankData, Error> {
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
    if reader.problems.is_empty() {
        Ok(reader.rank_data)
    } else {
        Err(Error::Input(reader.problems))
    }
}

/// The place of a value in the data of a rank, computed only for error messages: its path in JSON, and its description in words.
struct ValuePlace<'a> {
    json_path: &'a dyn Fn() -> String,
    /// Function that returns the description of the place in words.
    description: &'a dyn Fn() -> String,
}

struct Reader<'d> {
    /// The JSON document with the data of the rank.
    document: &'d Document,
    /// Number of the rank to which the file belongs, counted from 0.
    rank: usize,
    config: &'d VtConfig,
    problems: Vec<Problem>,
    /// The data of the rank that was read so far.
    rank_data: RankData,
    /// Number of messages that were read so far.
    message_count: u64,
}

/// Returns the JSON value as an object; `None` if it is missing or not an object.
fn as_object(value: Option<&Value>) -> Option<&Map<String, Value>> {
    value.and_then(Value::as_object)
}

/// Formats a JSON value for an error message, shortened if it is long.
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

/// Keys that the JSON object of a task may have.
const KNOWN_TASK_KEYS: [&str; 7] = [
    "entity",
    "node",
    "resource",
    "time",
    "subphases",
    "user_defined",
    "attributes",
];

const WHOLE_NUMBER_HINT: &str = "write a whole number of at least 0";
const NONNEGATIVE_NUMBER_HINT: &str = "write a finite number of at least 0";

impl Reader<'_> {
    /// Stores a problem about the value with this JSON path, unless the maximum number of problems is reached.
    fn add_problem(&mut self, path: &str, message: String, hint: impl Into<String>) {
        if self.problems.len() < MOST_PROBLEMS {
            let problem = self.document.problem_at(path, message);
            self.problems.push(problem.hint(hint));
        }
    }

    /// Counts each key of an object that is not in `known` as ignored data.
    fn count_unknown_keys(&mut self, object: &Map<String, Value>, known: &[&str]) {
        let unknown = object.keys().filter(|key| !known.contains(&key.as_str()));
        let count = unknown.count() as u64;
        self.rank_data
            .ignored_data
            .count_items(IgnoredKind::UnknownKey, count);
    }

    /// Reads the whole document of the rank: metadata and phases.
    fn read_document(&mut self) {
        let document = self.document;
        let Some(top) = document.value.as_object() else {
            let message = format!("the data of rank {} is not an object", self.rank);
            return self.add_problem(
                "",
                message,
                "write a JSON object, as vt does: `{\"type\": \"LBDatafile\", \"phases\": [...]}`",
            );
        };
        self.count_unknown_keys(top, &["type", "metadata", "phases"]);
        for (path, kind) in [
            ("type", top.get("type")),
            ("metadata.type", document.value.pointer("/metadata/type")),
        ] {
            if let Some(kind) = kind.filter(|kind| **kind != "LBDatafile") {
                let message = format!(
                    "the type of the data of rank {} is {}, not `LBDatafile`",
                    self.rank,
                    shortened_text(kind)
                );
                self.add_problem(
                    path,
                    message,
                    "name the files that vt writes with `--vt_lb_data`, not its statistics",
                );
            }
        }
        self.read_metadata(top.get("metadata"));
        let Some(phases) = top.get("phases").and_then(Value::as_array) else {
            let message = format!("the data of rank {} has no list `phases`", self.rank);
            return self.add_problem(
                "phases",
                message,
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
    fn read_metadata(&mut self, metadata: Option<&Value>) {
        let Some(metadata) = as_object(metadata) else {
            return;
        };
        self.count_unknown_keys(metadata, &KNOWN_METADATA_KEYS);
        if let Some(rank) = metadata.get("rank")
            && rank.as_u64() != Some(self.rank as u64)
        {
            let message = format!(
                "the file name has rank {}, but the file itself has rank {}",
                self.rank,
                shortened_text(rank)
            );
            self.add_problem(
                "metadata.rank",
                message,
                "rename the file, or correct `rank` in its `metadata`",
            );
        }
        let Some(same) = metadata
            .get("phases")
            .and_then(|phases| phases.get("identical_to_previous"))
        else {
            return;
        };
        let path = "metadata.phases.identical_to_previous";
        for number in same
            .get("list")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            self.add_identical_phases(number, number, &format!("{path}.list"));
        }
        for range in same
            .get("range")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            if let Some([first, last]) = range.as_array().map(Vec::as_slice) {
                self.add_identical_phases(first, last, &format!("{path}.range"));
                continue;
            }
            let message = format!(
                "an entry of the list `range` of identical phases of rank {} is not a list of two numbers",
                self.rank
            );
            let hint = "write the first and the last phase: `[[3, 7]]`";
            self.add_problem(&format!("{path}.range"), message, hint);
        }
    }

    /// Adds the phases with the numbers from `first` to `last` to the phases that are identical to the phase before.
    fn add_identical_phases(&mut self, first: &Value, last: &Value, path: &str) {
        let room = MAX_PHASES - (self.rank_data.identical_phases.len() as u64).min(MAX_PHASES);
        match (first.as_u64(), last.as_u64()) {
            (Some(first), Some(last)) if first <= last && last - first < room => {
                self.rank_data.identical_phases.extend(first..=last);
            }
            (Some(first), Some(last)) if first <= last => {
                let message = format!(
                    "the range of phases {first} to {last} of rank {} is too long",
                    self.rank
                );
                self.add_problem(
                    path,
                    message,
                    format!("reduce the number of phases to {MAX_PHASES}"),
                );
            }
            _ => {
                let (first, last) = (shortened_text(first), shortened_text(last));
                let message = format!(
                    "the numbers of identical phases of rank {}, from {first} to {last}, are not whole numbers in increasing order",
                    self.rank
                );
                self.add_problem(
                    path,
                    message,
                    "write two whole numbers of at least 0 in increasing order",
                );
            }
        }
    }

    /// Reads the phase that has the index `index` in the document, counted from 0.
    fn read_phase(&mut self, index: usize, value: &Value) {
        let rank = self.rank;
        let path = format!("phases[{index}]");
        let Some(phase) = value.as_object() else {
            let message = format!("phase number {} of rank {rank} is not an object", index + 1);
            return self.add_problem(&path, message, "write `{\"id\": 0, \"tasks\": [...]}`");
        };
        self.count_unknown_keys(
            phase,
            &[
                "id",
                "tasks",
                "communications",
                "user_defined",
                "lb_iterations",
            ],
        );
        let here = ValuePlace {
            json_path: &|| path.clone(),
            description: &|| format!("phase number {} of rank {rank}", index + 1),
        };
        let Some(id) = self.read_whole_number(phase, "id", &here) else {
            return;
        };
        let iterations = phase.get("lb_iterations").and_then(Value::as_array);
        self.rank_data.ignored_data.count_items(
            IgnoredKind::BalancerIteration,
            iterations.map_or(0, |all| all.len() as u64),
        );
        let mut read = PhaseData::default();
        for (at, task) in self
            .list_in_phase(phase, "tasks", id, &path)
            .iter()
            .enumerate()
        {
            read.tasks.extend(self.read_task(task, (index, id, at)));
        }
        for (at, edge) in self
            .list_in_phase(phase, "communications", id, &path)
            .iter()
            .enumerate()
        {
            read.messages
                .extend(self.read_message(edge, (index, id, at)));
        }
        if self.rank_data.phases.insert(id, read).is_some() {
            let message = format!("phase {id} of rank {rank} appears twice");
            self.add_problem(
                &format!("{path}.id"),
                message,
                "give each phase of a file a different `id`",
            );
        }
    }

    /// Returns the list with the key `key` in the JSON object of a phase; empty if there is no such key.
    fn list_in_phase<'v>(
        &mut self,
        phase: &'v Map<String, Value>,
        key: &str,
        id: u64,
        path: &str,
    ) -> &'v [Value] {
        match phase.get(key) {
            None | Some(Value::Null) => &[],
            Some(Value::Array(list)) => list,
            Some(other) => {
                let message = format!(
                    "`{key}` of phase {id} of rank {} is {}, not a list",
                    self.rank,
                    shortened_text(other)
                );
                self.add_problem(
                    &format!("{path}.{key}"),
                    message,
                    "write a list, which may be empty",
                );
                &[]
            }
        }
    }

    /// Reads a task of a phase; `None` if the task is ignored or has errors. `phase` is the index of the phase, `id` its number,
    /// and `at` the index of the task in the phase.
    fn read_task(&mut self, value: &Value, (phase, id, at): (usize, u64, usize)) -> Option<Task> {
        let rank = self.rank;
        let path = || format!("phases[{phase}].tasks[{at}]");
        let entity = value.get("entity").unwrap_or(&Value::Null);
        let name = || match task_number(entity) {
            Some(task) => format!("task {task} in phase {id} of rank {rank}"),
            None => format!("task number {} in phase {id} of rank {rank}", at + 1),
        };
        let here = ValuePlace {
            json_path: &path,
            description: &name,
        };
        let Some(task) = value.as_object() else {
            self.add_problem(
                &path(),
                format!("{} is not an object", name()),
                "write a task as `{\"entity\": {...}, \"node\": 0, \
            \"resource\": \"cpu\", \"time\": 0.5}`",
            );
            return None;
        };
        self.count_unknown_keys(task, &KNOWN_TASK_KEYS);
        let entity_path = || format!("{}.entity", path());
        let inside = ValuePlace {
            json_path: &entity_path,
            description: &name,
        };
        let number = self.read_task_number(entity, &inside)?;
        if entity.get("type").is_some_and(|kind| kind != "object") {
            self.rank_data
                .ignored_data
                .count_item(IgnoredKind::NonObjectTask);
            return None;
        }
        let is_migratable = self.read_whether_migratable(entity, &inside);
        self.check_rank_of_task(task, &here);
        let seconds = self.read_nonnegative_number(task, "time", &here)?;
        let work = Instructions::new(seconds * self.config.speed.get());
        if work.is_none() {
            let message = format!("`time` of {} is out of range", name());
            self.add_problem(
                &format!("{}.time", path()),
                message,
                NONNEGATIVE_NUMBER_HINT,
            );
        }
        self.count_subphases_and_attributes(task);
        let memory = self.read_task_memory(as_object(task.get("user_defined")));
        Some(Task {
            id: number,
            entity: entity.clone(),
            is_migratable,
            work: work?,
            memory,
        })
    }

    fn count_subphases_and_attributes(&mut self, task: &Map<String, Value>) {
        let ignored = &mut self.rank_data.ignored_data;
        let subphases = task.get("subphases").and_then(Value::as_array);
        if subphases.is_some_and(|all| !all.is_empty()) {
            ignored.count_item(IgnoredKind::Subphases);
        }
        let attributes = as_object(task.get("attributes")).map_or(0, Map::len) as u64;
        ignored.count_items(IgnoredKind::UserDefined, attributes);
    }

    /// Returns whether the task with this entity may migrate; adds a problem if the data does not state it.
    fn read_whether_migratable(&mut self, entity: &Value, here: &ValuePlace<'_>) -> bool {
        let name = (here.description)();
        let message = match entity.get("migratable") {
            Some(Value::Bool(is_migratable)) => return *is_migratable,
            None => format!("{name} has no `migratable`"),
            Some(other) => format!("`migratable` of {name} is {}", shortened_text(other)),
        };
        let hint = "write `true`, or `false` if the task must stay on its rank";
        self.add_problem(&format!("{}.migratable", (here.json_path)()), message, hint);
        false
    }

    /// Checks that the data locates a task on the rank to which the file belongs.
    fn check_rank_of_task(&mut self, task: &Map<String, Value>, here: &ValuePlace<'_>) {
        let is_here = |node: &&Value| node.as_u64() == Some(self.rank as u64);
        let Some(node) = task.get("node").filter(|node| !is_here(node)) else {
            return;
        };
        let (name, node) = ((here.description)(), shortened_text(node));
        let message = format!("`node` of {name} is {node}, not the rank of the file");
        let hint = "move the task to the file of its rank, or correct `node`";
        self.add_problem(&format!("{}.node", (here.json_path)()), message, hint);
    }

    /// Returns the number of the task that an entity identifies; adds a problem and returns `None` if the entity has no number.
    fn read_task_number(&mut self, entity: &Value, here: &ValuePlace<'_>) -> Option<u64> {
        let Some(keys) = entity.as_object() else {
            let hint = "write an entity as `{\"id\": 7, \"home\": 0, \"type\": \"object\", \"migratable\": true}`";
            self.add_problem(
                &(here.json_path)(),
                format!("{} has no entity", (here.description)()),
                hint,
            );
            return None;
        };
        self.count_unknown_keys(
            keys,
            &[
                "id",
                "seq_id",
                "collection_id",
                "home",
                "index",
                "type",
                "migratable",
                "objgroup_id",
            ],
        );
        let key = if keys.contains_key("id") {
            "id"
        } else {
            "seq_id"
        };
        if !keys.contains_key(key) {
            let message = format!("{} has neither `id` nor `seq_id`", (here.description)());
            self.add_problem(
                &(here.json_path)(),
                message,
                "give the entity an `id` or a `seq_id`",
            );
            return None;
        }
        self.read_whole_number(keys, key, here)
    }

    /// Returns the memory of a task, which its user-defined values may state; counts all other user-defined values as ignored.
    fn read_task_memory(&mut self, keys: Option<&Map<String, Value>>) -> Option<Bytes> {
        let keys = keys?;
        // LBAF writes -1 for unknown values.
        let size = |key: &str| keys.get(key)?.as_f64().and_then(Bytes::new);
        let is_left_out = |key: &&String| {
            !["task_footprint_bytes", "task_serialized_bytes"].contains(&key.as_str())
        };
        let shared = keys
            .get("shared_id")
            .and_then(Value::as_f64)
            .is_some_and(|id| id >= 0.0);
        self.rank_data
            .ignored_data
            .count_items(IgnoredKind::SharedBlock, u64::from(shared));
        let others = keys
            .keys()
            .filter(is_left_out)
            .filter(|key| !key.starts_with("shared_"));
        self.rank_data
            .ignored_data
            .count_items(IgnoredKind::UserDefined, others.count() as u64);
        size("task_footprint_bytes").or_else(|| size("task_serialized_bytes"))
    }

    /// Reads a communication of a phase as a message; `None` if the communication is ignored or has errors. `phase` is the index
    /// of the phase, `id` its number, and `at` the index of the communication in the phase.
    fn read_message(
        &mut self,
        value: &Value,
        (phase, id, at): (usize, u64, usize),
    ) -> Option<TaskMessage> {
        let rank = self.rank;
        let path = || format!("phases[{phase}].communications[{at}]");
        let name = || {
            format!(
                "communication number {} in phase {id} of rank {rank}",
                at + 1
            )
        };
        let here = ValuePlace {
            json_path: &path,
            description: &name,
        };
        let Some(edge) = value.as_object() else {
            self.add_problem(
                &path(),
                format!("{} is not an object", name()),
                "write an object with `type`, `from`, `to`, `messages` and `bytes`",
            );
            return None;
        };
        self.count_unknown_keys(edge, &["type", "from", "to", "messages", "bytes"]);
        let Some(kind) = edge.get("type").and_then(Value::as_str) else {
            self.add_problem(
                &format!("{}.type", path()),
                format!("{} has no type", name()),
                "add a `type`: SendRecv or Broadcast (communications of other types are ignored)",
            );
            return None;
        };
        if let Some(left_out) = self.ignored_kind_of_communication(kind, edge) {
            self.rank_data.ignored_data.count_item(left_out);
            return None;
        }
        let mut end = |key: &str| {
            let path = || format!("phases[{phase}].communications[{at}].{key}");
            let name = || {
                format!(
                    "`{key}` of communication number {} in phase {id} of rank {rank}",
                    at + 1
                )
            };
            self.read_task_number(
                edge.get(key).unwrap_or(&Value::Null),
                &ValuePlace {
                    json_path: &path,
                    description: &name,
                },
            )
        };
        let (from, to) = (end("from"), end("to"));
        let size = self
            .read_nonnegative_number(edge, "bytes", &here)
            .and_then(Bytes::new);
        let count = match edge.get("messages") {
            None | Some(Value::Null) => 1,
            Some(_) => self.read_whole_number(edge, "messages", &here)?.max(1),
        };
        let (from, to, size) = (from?, to?, size?);
        if from == to {
            self.rank_data
                .ignored_data
                .count_item(IgnoredKind::MessageToItself);
            return None;
        }
        self.message_count = self.message_count.saturating_add(count);
        if self.message_count > MAX_MESSAGES_OF_RANK {
            self.add_problem(
                &format!("{}.messages", path()),
                format!("rank {rank} has more than {MAX_MESSAGES_OF_RANK} messages"),
                "correct the number of `messages`",
            );
            return None;
        }
        Some(TaskMessage {
            sender: from,
            receiver: to,
            count,
            size: Bytes::new(size.get() / count as f64)?,
        })
    }

    /// Returns the kind of ignored data to which a communication belongs; `None` if it becomes a message.
    fn ignored_kind_of_communication(
        &self,
        kind: &str,
        edge: &Map<String, Value>,
    ) -> Option<IgnoredKind> {
        let is_object = |key: &str| {
            let end = edge.get(key).and_then(|end| end.get("type"));
            end.is_none_or(|kind| kind == "object")
        };
        match kind {
            "Broadcast" if self.config.broadcasts == Broadcasts::Drop => {
                Some(IgnoredKind::Broadcast)
            }
            "SendRecv" | "Broadcast" if is_object("from") && is_object("to") => None,
            _ => Some(IgnoredKind::OtherCommunication),
        }
    }

    /// Reads the value of a key as a whole number; adds a problem and returns `None` if the value is missing or not a whole
    /// number.
    fn read_whole_number(
        &mut self,
        keys: &Map<String, Value>,
        key: &str,
        here: &ValuePlace<'_>,
    ) -> Option<u64> {
        self.read_value(keys, key, here, WHOLE_NUMBER_HINT, Value::as_u64)
    }

    /// Reads the value of a key as a finite number that is not negative; adds a problem and returns `None` if the value is
    /// missing or something else.
    fn read_nonnegative_number(
        &mut self,
        keys: &Map<String, Value>,
        key: &str,
        here: &ValuePlace<'_>,
    ) -> Option<f64> {
        let read = |value: &Value| {
            value
                .as_f64()
                .filter(|number| number.is_finite() && *number >= 0.0)
        };
        self.read_value(keys, key, here, NONNEGATIVE_NUMBER_HINT, read)
    }

    fn read_value<T>(
        &mut self,
        keys: &Map<String, Value>,
        key: &str,
        here: &ValuePlace<'_>,
        hint: &str,
        read: impl Fn(&Value) -> Option<T>,
    ) -> Option<T> {
        let value = keys.get(key);
        let found = value.and_then(read);
        if found.is_none() {
            let name = (here.description)();
            let (path, message) = match value {
                None => ((here.json_path)(), format!("{name} has no `{key}`")),
                Some(other) => (
                    format!("{}.{key}", (here.json_path)()),
                    format!("`{key}` of {name} is {}", shortened_text(other)),
                ),
            };
            self.add_problem(&path, message, hint);
        }
        found
    }
}

fn task_number(entity: &Value) -> Option<u64> {
    entity.get("id").or_else(|| entity.get("seq_id"))?.as_u64()
}
