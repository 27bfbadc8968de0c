//! Writes an application as vt data for the analysis tool LBAF or, with the placement of processes during a run, for vt's offline
//! load balancer.
//!
//! vt's `OfflineLB` determines for each task which file contains it in phase k+1, and moves the task to the rank of this file at
//! the end of phase k.

use serde_json::{Value, json};

use super::config::default_speed;
use crate::{Plan, Workload};
use migsim_base::units::{Bytes, InstructionsPerSecond, ProcessId};

const EXPORTED_COLLECTION: u64 = 7;

/// An application that is exported as vt data, with the ranks on which its processes are during a run.
#[derive(Clone, Copy, Debug)]
pub struct VtExport<'a> {
    /// The application that is exported.
    pub workload: &'a dyn Workload,
    /// Number of ranks, which is the number of files.
    pub rank_count: usize,
    /// Rank on which each process starts.
    pub initial_ranks: &'a [usize],
    /// Moves of processes during the run, ordered by superstep.
    pub moves: &'a [RankMove],
}

/// A move of a process from its rank to another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankMove {
    /// Superstep after which the process moves, counted from 0.
    pub superstep: usize,
    /// The process that moves.
    pub process: ProcessId,
    /// Rank to which the process moves.
    pub new_rank: usize,
}

/// Returns the vt data of an application as the JSON text of each rank.
///
/// The time of a task is its work divided by the speed of the hosts on which the vt data was recorded, or by 1 GHz if vt did not
/// record the application. All messages from one process to another in a superstep become one communication.
pub fn to_vt_files(export: &VtExport<'_>) -> Vec<String> {
    let workload = export.workload;
    let labels = workload.labels();
    let speed = labels.and_then(|labels| labels.assumed_speed);
    let numbers: Vec<u64> = match labels {
        Some(labels) => labels.phase_numbers.clone(),
        None => (0..workload.supersteps() as u64).collect(),
    };
    let mut writer = Writer {
        workload,
        process_memory: (0..workload.processes())
            .map(|process| workload.memory(ProcessId::from_index(process)))
            .collect(),
        work_conversion_speed: speed.unwrap_or_else(default_speed),
        task_entities: (0..workload.processes())
            .map(|process| task_entity(workload, process, export.initial_ranks[process]))
            .collect(),
    };
    let mut texts: Vec<String> = (0..export.rank_count)
        .map(|rank| {
            format!(
                "{{\"metadata\":{},\"phases\":[",
                file_metadata(rank, &numbers)
            )
        })
        .collect();
    let mut places = export.initial_ranks.to_vec();
    let mut moves = export.moves.iter().peekable();
    let mut plan = Plan::default();
    for (superstep, number) in numbers.iter().enumerate() {
        while let Some(one) = moves.next_if(|one| one.superstep < superstep) {
            places[one.process.index()] = one.new_rank;
        }
        plan.clear(workload.processes());
        workload.fill(superstep, &mut plan);
        for (process, size) in workload.memory_changes(superstep) {
            writer.process_memory[process.index()] = size;
        }
        for (text, phase) in texts.iter_mut().zip(writer.phase_of_each_rank(
            *number,
            &plan,
            &places,
            export.rank_count,
        )) {
            if superstep > 0 {
                text.push(',');
            }
            text.push_str(&phase.to_string());
        }
    }
    for text in &mut texts {
        text.push_str("]}\n");
    }
    texts
}

fn task_entity(workload: &dyn Workload, process: usize, home: usize) -> Value {
    workload
        .labels()
        .and_then(|labels| labels.entity_values.get(process))
        .cloned()
        .unwrap_or_else(|| {
            json!({
                "collection_id": EXPORTED_COLLECTION,
                "home": home,
                "index": [process],
                "migratable": workload.is_movable(ProcessId::from_index(process)),
                "seq_id": process,
                "type": "object",
            })
        })
}

/// Returns the JSON metadata of the file of a rank, with a list of the numbers of phases that are missing between `numbers`,
/// because vt requires this list.
fn file_metadata(rank: usize, numbers: &[u64]) -> Value {
    let mut skipped: Vec<[u64; 2]> = Vec::new();
    let mut next = 0;
    for number in numbers {
        if *number > next {
            skipped.push([next, number - 1]);
        }
        next = number + 1;
    }
    json!({
        "type": "LBDatafile",
        "rank": rank,
        "phases": {
            "count": numbers.len(),
            "skipped": { "list": [], "range": skipped },
            "identical_to_previous": { "list": [], "range": [] },
        },
    })
}

struct Writer<'a> {
    /// The application that is exported.
    workload: &'a dyn Workload,
    /// Speed by which work is divided to get times \[instructions/s\].
    work_conversion_speed: InstructionsPerSecond,
    task_entities: Vec<Value>,
    /// Memory of each process in the present superstep.
    process_memory: Vec<Bytes>,
}

impl Writer<'_> {
    /// Returns a superstep as the JSON objects of one phase, one for each rank; `places` is the rank of each process.
    fn phase_of_each_rank(
        &self,
        number: u64,
        plan: &Plan,
        places: &[usize],
        ranks: usize,
    ) -> Vec<Value> {
        let mut tasks: Vec<Vec<Value>> = vec![Vec::new(); ranks];
        for (process, (work, rank)) in plan.work.iter().zip(places).enumerate() {
            tasks[*rank].push(self.task_json(process, self.work_to_seconds(work.get()), *rank));
        }
        let mut edges: Vec<Vec<Value>> = vec![Vec::new(); ranks];
        for (from, to, messages, bytes) in messages_by_pair(plan) {
            edges[places[from]].push(json!({
                "type": "SendRecv",
                "from": self.task_entities[from],
                "to": self.task_entities[to],
                "messages": messages,
                "bytes": bytes,
            }));
        }
        let phase = |(tasks, edges): (Vec<Value>, Vec<Value>)| {
            let mut phase = json!({ "id": number, "tasks": tasks });
            if !edges.is_empty() {
                phase["communications"] = edges.into();
            }
            phase
        };
        tasks.into_iter().zip(edges).map(phase).collect()
    }

    /// Returns a process as the JSON object of a task, with its time \[s\] and its memory.
    fn task_json(&self, process: usize, seconds: f64, rank: usize) -> Value {
        let mut task = json!({
            "entity": self.task_entities[process],
            "node": rank,
            "resource": "cpu",
            "time": seconds,
        });
        let id = ProcessId::from_index(process);
        if self.workload.is_memory_known(id) {
            let size = self.process_memory[process].get();
            task["user_defined"] =
                json!({ "task_footprint_bytes": size, "task_serialized_bytes": size });
        }
        task
    }

    /// Converts work \[instructions\] into a time \[s\], if possible a time that is converted back to exactly this work.
    fn work_to_seconds(&self, work: f64) -> f64 {
        let cycles = self.workload.cycles_per_instruction();
        let wanted = work * cycles;
        let seconds = wanted / self.work_conversion_speed.get();
        let near = [seconds, seconds.next_down(), seconds.next_up()];
        let is_exact =
            |seconds: &f64| seconds * self.work_conversion_speed.get() == wanted && *seconds >= 0.0;
        near.into_iter().find(is_exact).unwrap_or(seconds)
    }
}

/// Returns the messages of a superstep, joined by pair of processes: sender, receiver, number of messages and total size \[B\],
/// in the order of their first messages. Messages of a process to itself are left out, since they have no cost in vt.
fn messages_by_pair(plan: &Plan) -> Vec<(usize, usize, u64, f64)> {
    let mut all: Vec<(usize, usize, u64, f64)> = Vec::new();
    let mut places = std::collections::BTreeMap::new();
    for message in &plan.messages {
        let from = message.from.index();
        let to = message.to.index();
        if from == to {
            continue;
        }
        let at = *places.entry((from, to)).or_insert(all.len());
        if at == all.len() {
            all.push((from, to, 0, 0.0));
        }
        all[at].2 += 1;
        all[at].3 += message.size.get();
    }
    all
}
